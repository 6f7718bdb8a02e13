"""Estimate the shares of table cells that are missing, out of bounds or unlisted, with both errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.estimates import pictures
from tacit.estimates.display import facts, heading
from tacit.estimates.estimate import Estimate
from tacit.estimates.noisy_terms.column_terms import noisy_size_mean_terms
from tacit.estimates.noisy_terms.interval_inversion import CountInversion, Inversion, LinearInversion
from tacit.estimates.noisy_terms.noisy_moments import Moments
from tacit.estimates.terms import ColumnTerms, Target, check_target
from tacit.estimates.wording import bounds_words, people_of, source_of, who
from tacit.noise.laws import rescaled
from tacit.release.document import Release, Released
from tacit.release.parts import Grid, Part

CLASSES: Final = {4: ("missing", "below", "above"), 3: ("missing", "unlisted")}
"""Names of the classes of a column, by how many there are; the last class, as declared, has no name."""
ASK: Final = {
    "below": "are the bounds or the units right?",
    "above": "are the bounds or the units right?",
    "unlisted": "are the codes right?",
    "missing": "left out of answers, or counted as declared",
}
LEVEL: Final = 0.95
"""Level of the intervals in a picture."""
WORTH: Final = {"missing": 0.05}
"""A share is pointed out where the lower end of its interval is above this; 0.01 for classes not listed."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class QualityRelease(Release):
    """A release of DataQuality: for each column, noisy counts of the classes of its table cells.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100)})
    >>> curator = tc.Curator({"age": [30.0, 40.0, 500.0] * 20}, schema, budget=tc.Budget(rho=100))
    >>> release = curator.release(tc.DataQuality(), rho=50)
    >>> print(release.summary().notes[0])
    age: ... % above (bounds 0 to 100): are the bounds or the units right?
    """

    kind: ClassVar[str] = "quality"

    def estimate(self, target: Target = "population") -> Estimate:
        """Return the share of each class of each column, as "age: missing"; InferenceError I09 for an unknown target.

        Source: theory §12 (Counts); with a public number of rows the interval is the exact inversion of a count's law.
        """
        return estimate(self, target)

    def summary(self, level: float = 0.95) -> Table:
        """Return the shares as a table, with notes on those too large; InferenceError I01 for a level below 0.5."""
        return summary(self.estimate(), level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the shares; InferenceError I20 without matplotlib, I05 for too many terms."""
        return self.estimate().plot(ax=ax)


class QualityEstimate(Estimate):
    """Shares of the classes of each column; the picture has a panel for each column."""

    def plot(self, ax: Any = None) -> Any:
        """Plot all shares by column, with those marked that are too large; selected or combined terms as any estimate.

        InferenceError I20 (no matplotlib), I05 (too many terms).
        """
        if self.matrix is not None:
            return super().plot(ax)
        from tacit.plots.canvas import Caption
        from tacit.plots.quality_plot import quality

        shown = pictures.shown(self, self.intervals(LEVEL), LEVEL)
        known = [reason is None for reason in self.reasons]
        caption = Caption(heading(self), self.estimand, facts(self.release))
        return quality(shown, known, worth_a_look(self, LEVEL), caption, ax)


def estimate(release: Released, target: Target = "population") -> Estimate:
    """Return the estimate of a release of data quality, real or simulated.

    With a public number n of rows a share is a count divided by n, and its interval is exact; otherwise it is a ratio
    of noisy counts.  The shares of one column are of the same rows; their joint law is not used, so the standard error
    of a contrast between them is an upper bound.
    """
    check_target(target)
    blocks: list[ColumnTerms] = []
    terms: list[str] = []
    for part in release.parts:
        for i, name in enumerate(CLASSES[part.parameters["classes"]]):
            made = share(part, i, release.rows, target == "population", who(release))
            label = f"{part.label}: {name}"
            blocks.append(replace(made, label=label, people=people_of(release), source=f"{source_of(release)}/{label}"))
            terms.append(label)
    words = f"shares of {who(release)} whose cell is missing, outside its bounds or no level"
    where = "of this table" if target == "table" else "in the population"
    return QualityEstimate(release, target, f"{words}, {where}", tuple(terms), tuple(blocks))


def share(part: Part, i: int, rows: int | None, sampling: bool, what: str, cells: Array | None = None) -> ColumnTerms:
    """Return the share of class i among all rows, as one term.

    sampling: whether the rows are a sample.  cells: integers in place of the part's, shape (m, classes), for the m
    repetitions of a simulation; the result then has m terms.
    """
    parts_of = part.parameters.get("share", 1)
    counts = np.array([[float(k) for k in part.integers[0]]] if cells is None else cells, dtype=np.float64) / parts_of
    if rows is None:
        return _ratio(part, counts, i, sampling, what, parts_of)
    # persons are counted in parts of a whole, and the noise is in these units
    k, law = counts[:, i], rescaled(part.law, parts_of)
    value, none = np.clip(k / rows, 0.0, 1.0), np.zeros_like(k)
    loadings = np.full((len(k), 1), 1.0 / (rows * parts_of))
    # binomial variance p / n - p**2 / n: the first is `variance`, the second the square of `rank_one`
    variance, pull = (value / rows, value / np.sqrt(rows)) if sampling else (none, none)
    inversion: Inversion = LinearInversion(value, none, loadings, part.law, 0.0, 1.0)
    if sampling:
        # the exact law is one of whole counts
        inversion = CountInversion(np.rint(k), rows, law, 0.0, 1.0)
    return ColumnTerms(part.label, value, variance, pull, loadings, part.law, inversion, (None,) * len(k))


def _ratio(part: Part, counts: Array, i: int, sampling: bool, what: str, parts_of: int) -> ColumnTerms:
    """Return the share of class i where the number of rows is noisy: a proportion, class i against all others."""
    # u = 1 in class i and -1 in all others: the binary case of `noisy_moments`, where sums of u**2 are the size
    signs = np.full(counts.shape[1], -1.0)
    signs[i] = 1.0
    load = np.array([np.ones_like(signs), signs, np.ones_like(signs)]) / parts_of
    size, total = counts.sum(axis=1), counts @ signs
    squares = np.array([size, total, size])
    noisy = Moments(size, total, size, load, False, squares, load)
    # class i against the others is what a Boolean column is, of the same integers
    proportion = replace(part, form="binary-group", grid=Grid("boolean", 0.0, 1.0, 1))
    return noisy_size_mean_terms(proportion, noisy, sampling, what)


def summary(found: Estimate, level: float = 0.95) -> Table:
    """Return the table of an estimate; the first notes name the shares that are too large."""
    made = found.summary(level)
    return replace(made, notes=(*hints(found, level), *made.notes))


def worth_a_look(found: Estimate, level: float = 0.95) -> tuple[bool, ...]:
    """Return, for each term, whether the lower end of its interval is above the usual share."""
    low = found.intervals(level)[:, 0]
    usual = [WORTH.get(term.rpartition(": ")[2], 0.01) for term in found.terms]
    return tuple(reason is None and float(x) > most for reason, x, most in zip(found.reasons, low, usual, strict=True))


def hints(found: Estimate, level: float = 0.95) -> tuple[str, ...]:
    """Return one sentence for each share that is clearly larger than usual."""
    limits = found.intervals(level)
    said: list[str] = []
    grids = {part.label: part for part in found.release.parts}
    for i, (term, worth) in enumerate(zip(found.terms, worth_a_look(found, level), strict=True)):
        column, _, name = term.rpartition(": ")
        low, high = (100 * float(x) for x in limits[i])
        if worth:
            bounds = bounds_words(grids[column]) if name in ("below", "above") else ""
            place = f" ({bounds})" if bounds else ""
            said.append(f"{column}: {low:.1f} to {high:.1f} % {name}{place}: {ASK[name]}")
    return tuple(said)
