"""Noisy counts of some columns of a histogram, and the numbers of rows that they estimate."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError, nearest
from tacit.estimates.estimate import Estimate
from tacit.estimates.few_present import few_present
from tacit.estimates.noisy_terms.interval_inversion import CountInversion, Inversion, LinearInversion
from tacit.estimates.terms import ColumnTerms, Target, check_target
from tacit.estimates.verbs.proportions import CountedGroups, Proportions, proportions
from tacit.estimates.wording import people_of, source_of, who
from tacit.fits.cells.released_cells import counts_of
from tacit.noise.laws import LEAST, Law, RoundedNormal, rescaled
from tacit.release.document import Released
from tacit.release.parts import Axis, Levels, cell_labels

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


SHOWN: Final = 1_000
"""Cells of a table of estimates, at most."""
FOLDED: Final = 16
"""A sum of more noises than this is replaced by a sum of FOLDED wider ones of the same variance: nearly normal."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Margin:
    """Noisy counts of some columns of a histogram.

    levels, axes: of those columns.  counts: shape (levels of the first, ...), signed, in rows (persons).  added: of how
    many cells each is the sum: so many noises.

    >>> import tacit as tc
    >>> people = {"sex": ["f", "m"] * 500, "ok": [True, True, False, True] * 250}
    >>> schema = tc.Schema({"sex": tc.Category(["f", "m"]), "ok": tc.Boolean()})
    >>> curator = tc.Curator(people, schema, budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Histogram(["sex", "ok"]), rho=0.1).margin("ok")
    >>> found.counts.shape, found.added, found.estimate().terms
    ((2,), 2, ('false', 'true'))
    """

    release: Released
    levels: Levels
    axes: tuple[Axis, ...]
    counts: Array
    added: int

    def estimate(self, target: Target = "population") -> Estimate:
        """Numbers of rows, one term a cell, with both errors; InferenceError I09 (target), I48 (over 1,000 cells)."""
        check_target(target)
        if self.counts.size > SHOWN:
            text = f"{self.counts.size:,} cells are too many for a table of estimates: at most {SHOWN:,}."
            raise InferenceError(text, code="I48", hint="margin(…) of fewer columns", state=None)
        release = self.release
        block = block_of(release, self.counts.reshape(-1), self.added, target == "population")
        made = replace(block, people=people_of(release), source=_source(self))
        by = " and ".join(name for name, _ in self.levels)
        words = f"number of {who(release)} by {by}" + _where(release)
        words += f", of the {who(release)} of this table" if target == "table" else f", {_drawn(release)}"
        return Estimate(
            release,
            target,
            words,
            cell_labels(self.levels),
            (made,),
            notes=_few(self),
            term_title=by.replace(" and ", ":"),
        )

    def proportions(self, within: str | Sequence[str] | None = None, *, target: Target = "population") -> Proportions:
        """Shares of the cells among all, or within levels of some of the columns, with both errors.

        InferenceError I09 (target), I41 (no such column), I48 (over 1,000 cells).
        """
        if self.counts.size > SHOWN:
            text = f"{self.counts.size:,} cells are too many for a table of estimates: at most {SHOWN:,}."
            raise InferenceError(text, code="I48", hint="margin(…) of fewer columns", state=None)
        part = self.release.parts[0]
        share = part.parameters.get("share", 1)
        counts = CountedGroups(self.levels, self.counts.reshape(-1), part.law, self.added, share)
        return proportions(self.release, counts, within, target)

    def to_frame(self) -> pd.DataFrame:
        """The counts as pandas has cross-tabulations: the first column by the others."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        (name, first), *others = self.levels
        rest = cell_labels(tuple(others)) if others else ("count",)
        flat = self.counts.reshape(len(first), -1)
        return pd.DataFrame(flat, index=pd.Index(list(first), name=name), columns=list(rest))

    def summary(self, level: float = 0.95) -> Table:
        """The estimates as a table; InferenceError I01 (level), I48 (more than 1,000 cells)."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None, *, target: Target = "population") -> Any:
        """A histogram of one column (of levels an interval each), a heat map of two.

        InferenceError I09 (target), I20 without matplotlib, I64 for more columns, I05 for more than 1,000 levels.
        """
        from tacit.method.histogram.estimate_pictures import margin as picture

        return picture(self, ax, target=target)


def margin(release: Released, columns: tuple[str, ...]) -> Margin:
    """Sum a released or simulated histogram over all columns that are not named; axes are in the order of `columns`."""
    names = [name for name, _ in release.levels]
    for name in columns:
        if name not in names:
            hint = nearest(name, names) or ", ".join(names)
            text = f"column {name!r} is not in this release."
            raise InferenceError(text, code="I41", hint=hint, state="Another column takes another release.")
    if not columns or len(set(columns)) < len(columns):
        raise InferenceError("margin: name each column once.", code="I41", hint=f"margin({names[0]!r})", state=None)
    counts = counts_of(release)
    others = tuple(i for i, name in enumerate(names) if name not in columns)
    kept = [name for name in names if name in columns]
    # the sum keeps the release's order of axes; the transpose brings them into that of `columns`
    summed = counts.sum(axis=others).transpose([kept.index(name) for name in columns])
    places = [names.index(name) for name in columns]
    axes = cast("tuple[Axis, ...]", getattr(release, "axes", ()))
    # of no other columns: the empty product, 1
    added = int(np.prod([counts.shape[i] for i in others], dtype=np.int64))
    return Margin(release, tuple(release.levels[i] for i in places), tuple(axes[i] for i in places), summed, added)


def block_of(release: Released, k: Array, added: int, sampling: bool) -> ColumnTerms:
    """Return the terms of counts k, shape (m,), each the sum of `added` cells: binomial where the number of rows is
    public, Poisson otherwise.
    """
    part = release.parts[0]
    share = part.parameters.get("share", 1)
    noises = min(added, FOLDED)
    # the variance of `added` noises, spread over as many or FOLDED loadings
    load = np.sqrt(added / noises) / share
    loadings = np.full((len(k), noises), load)
    top = np.inf if release.rows is None else float(release.rows)
    value = np.clip(k, 0.0, top)
    variance, rank_one = np.zeros_like(value), np.zeros_like(value)
    inversion: Inversion = LinearInversion(value, variance, loadings, part.law, 0.0, top)
    if sampling:
        variance = value
        # multinomial n p - n p**2 with a public n; independent Poisson counts without
        rank_one = np.zeros_like(value) if release.rows is None else value / np.sqrt(release.rows)
        # limits are of a proportion p with a public n, of the Poisson mean itself without
        rows, factor = release.rows, 1.0 if release.rows is None else float(release.rows)
        inversion = CountInversion(np.rint(k), rows, _law(part.law, added, share), 0.0, factor)
    return ColumnTerms(part.label, value, variance, rank_one, loadings, part.law, inversion, (None,) * len(value))


def _law(law: Law, added: int, share: int) -> Law:
    """Return the law of a sum of `added` noises in rows (persons); a rounded normal for more than one."""
    if added == 1:
        return law if share == 1 else rescaled(law, share)
    # the exact inversion needs a law of integers: a rounded normal of the same variance
    scale = float(np.sqrt(added * law.variance())) / share
    return RoundedNormal(max(Fraction(scale).limit_denominator(10**6), LEAST))


def _source(made: Margin) -> str:
    """Margins of one release share noises; only cells of one margin are known to be independent of each other."""
    return f"{source_of(made.release)}/{'×'.join(name for name, _ in made.levels)}"


def _few(margin: Margin) -> tuple[str, ...]:
    """Return a note if hardly any row has a value of the columns."""
    release, part = margin.release, margin.release.parts[0]
    if getattr(release.query, "where", None) is not None or release.unit is not None or part.weight is not None:
        return ()
    noise = math.sqrt(part.law.variance() * margin.counts.size * margin.added)
    names = " and ".join(name for name, _ in margin.levels)
    return few_present(names, float(margin.counts.sum()), noise, release.rows)


def _where(release: Released) -> str:
    condition = getattr(release.query, "where", None)
    return f", where {condition}" if condition else ""


def _drawn(release: Released) -> str:
    if release.rows is not None:
        return f"expected in a table of {release.rows:,} {who(release)} drawn like this one"
    return f"expected in a table of {who(release)} drawn like this one, their number itself random (Poisson)"
