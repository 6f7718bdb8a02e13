"""Estimate counts, sums, means and variances, with sampling and privacy errors (theory §9, §12)."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np

from tacit.base.table import Table, shown_by_summary
from tacit.estimates.estimate import Estimate
from tacit.estimates.few_present import few_present
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.estimates.noisy_terms.noisy_deviations import NOTE
from tacit.estimates.noisy_terms.noisy_moments import integers, moments
from tacit.estimates.terms import Target, check_target
from tacit.estimates.verbs import weighting
from tacit.estimates.wording import estimand, missing_words, parted, people_of, source_of, who
from tacit.release.document import Release, Released
from tacit.release.parts import Part, cell_labels

PRESENT: Final = ("exclusion", "exclusion-2", "binary-exclusion")
"""Forms that tell how many rows have a value, of a table of public size."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class MomentsRelease(Release):
    """A release of Count, Sum, Mean or Variance: noisy integers, and estimates made from them.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
    >>> table = {"age": [30.0, 40.0, 50.0] * 20, "sex": ["f", "m", "m"] * 20}
    >>> release = tc.Curator(table, schema, budget=tc.Budget(rho=1)).release(tc.Mean("age", by="sex"), rho=0.1)
    >>> release.cells, release.estimate().terms, release.estimate("table").sampling_variances
    (('f', 'm'), ('f', 'm'), array([0., 0.]))
    """

    kind: ClassVar[str] = "moments"

    def estimate(self, target: Target = "population") -> Estimate:
        """Return estimates with sampling and privacy errors.

        target="population": the table is a sample, sampling and privacy are uncertain.  target="table": the table is
        all there is, and only privacy is uncertain.  InferenceError I09 for another word.
        Source: theory §9 (standard errors), §12 (forms of the integers).
        """
        return estimate(self, target)

    def summary(self, level: float = 0.95) -> Table:
        """Return the estimates as a table; InferenceError I01 for a level below 0.5, or 1 and above."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the estimates; InferenceError I20 without matplotlib, I05 for too many terms."""
        return self.estimate().plot(ax=ax)


def estimate(release: Released, target: Target = "population") -> Estimate:
    """Return the estimate of a release of moments, real or simulated."""
    check_target(target)
    kind = type(release.query).__name__
    grouped = bool(release.levels) or getattr(release.query, "where", None) is not None
    source = source_of(release)
    blocks = tuple(
        replace(
            terms_of(kind, part, rows=release.rows, grouped=grouped, target=target, what=who(release)),
            people=people_of(release),
            source=source,
            shared=_shared(release, part),
        )
        for part in release.parts
    )
    made = Estimate(
        release,
        target,
        estimand(release, target),
        _terms(release),
        blocks,
        notes=(missing_words(release),) if kind != "Count" else (),
        units=_units(release),
        term_title=":".join(column for column, _ in release.levels),
    )
    alone = (NOTE,) if target == "population" and any(part.form == "deviations" for part in release.parts) else ()
    few = () if grouped else tuple(note for part in release.parts for note in _few(release, part))
    return replace(made, notes=(*made.notes, *weighting.notes(made), *alone, *few))


def _few(release: Released, part: Part) -> tuple[str, ...]:
    """Return a note if hardly any row has a value of a part's column."""
    if part.form not in PRESENT or release.unit is not None:
        return ()
    noisy = moments(part.form, part.parameters, integers(part), release.rows)
    noise = float(np.sqrt(part.law.variance()) * np.linalg.norm(noisy.loadings[0]))
    return few_present(part.label, float(noisy.size[0]), noise, release.rows)


def _shared(release: Released, part: Part) -> bool:
    """Return whether persons of unequal weight may be in several cells.

    Persons of equal weight need no care.  The variance in a cell is computed as if each were in that cell alone, and
    (sum a y)**2 <= sum a y**2 where the parts a of a person add up to at most 1.  The encoding's parameters say
    whether persons are in one cell only (`constant` levels): `method.shared.weighted_encoding`.
    """
    return release.unit is not None and bool(release.levels) and part.weight is not None and parted(part)


def _terms(release: Released) -> tuple[str, ...]:
    """Return the names of the terms: cells; columns without `by`; "column:cell" for several columns with `by`."""
    cells = cell_labels(release.levels)
    if not release.levels:
        return tuple(part.label or who(release) for part in release.parts)
    if len(release.parts) == 1:
        return cells
    return tuple(f"{part.label}:{cell}" for part in release.parts for cell in cells)


def _units(release: Released) -> str | None:
    """Return the units that all columns share; None where they differ or have none."""
    found = {part.grid.units for part in release.parts if part.grid is not None}
    # estimates of several columns have one heading: it may name units only if all agree
    return found.pop() if len(found) == 1 else None
