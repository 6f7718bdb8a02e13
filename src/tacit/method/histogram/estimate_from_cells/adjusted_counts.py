"""Counts of a released histogram after adjustment steps chosen by the user; notes describe each step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, format_number, shown_by_summary
from tacit.errors import InferenceError, nearest
from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.cells.released_cells import cells_of
from tacit.noise.laws import Law
from tacit.release.document import Released
from tacit.release.parts import cell_labels

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


STEPS: Final = {
    "project": "project: the mean excess over the public number of rows is subtracted from every cell; unbiased",
    "clip": "clip: counts below 0 are 0; an empty cell gains 0.4 standard deviations of its noise on average",
    "simplex": "simplex: the nearest counts (least squares) that are 0 or more and add up to the total; biased",
    "threshold": "threshold: counts below {cut:,.4g} are 0; biased, and for cells most of which are empty by nature",
}
MOST: Final = 1_000
"""Largest number of cells shown by `summary`."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Adjusted:
    """Counts of a histogram after adjustment `steps`, in order.

    counts: shape (levels of the first column, of the second, ...), in rows (persons).  cuts: one for each threshold.
    Margins are sums of the adjusted cells, so they agree with each other unless a step is taken on a margin.  The
    linear step (project) keeps expectations, and `std_error` is the standard deviation of a count's noise; after other
    steps there is a `reason` instead.

    >>> import tacit as tc
    >>> people = {"age": list(range(18, 94)) * 20, "sex": ["f", "m"] * 760}
    >>> schema = tc.Schema({"age": tc.Real(18, 93), "sex": tc.Category(["f", "m"])})
    >>> curator = tc.Curator(people, schema, budget=tc.Budget(rho=1))
    >>> cells = curator.release(tc.Histogram(["age", "sex"], bins={"age": 5}), rho=0.1)
    >>> made = cells.adjusted("simplex")
    >>> made.steps, bool(made.counts.min() >= 0)
    (('simplex',), True)
    """

    release: Released
    cells: CellCounts
    cuts: tuple[float, ...] = ()

    @property
    def steps(self) -> tuple[str, ...]:
        """Names of the steps taken, in order."""
        return self.cells.steps

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.cells.names

    @property
    def counts(self) -> Array:
        """Counts after the steps."""
        return self.cells.counts

    @property
    def notes(self) -> tuple[str, ...]:
        """One sentence on what each step does."""
        cuts = iter(self.cuts)
        return tuple(STEPS[step].format(cut=next(cuts) if step == "threshold" else 0.0) for step in self.steps)

    @property
    def reason(self) -> str | None:
        """Why the counts have no standard error, or None."""
        biased = [step for step in self.steps if step != "project"]
        return f"counts after {biased[0]!r} are biased: they have no standard error" if biased else None

    @property
    def std_error(self) -> float | None:
        """Standard deviation of a count's noise, without sampling error; None where there is a `reason`."""
        # variance (1 - 1 / cells) after the projection: the mean of all noises is subtracted from each (theory §7)
        return None if self.reason else float(np.sqrt(self.cells.own_variance))

    def adjusted(self, step: str, **words: float | None) -> Adjusted:
        """Return the counts after one more step; InferenceError I53 as for the first."""
        return with_step(self, step, **words)

    def margin(self, columns: str | Sequence[str]) -> Adjusted:
        """Return the counts summed over all other columns; InferenceError I41 for an unknown column."""
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        return Adjusted(self.release, self.cells.margin(names), self.cuts)

    def to_frame(self) -> pd.DataFrame:
        """Return the counts as a cross-tabulation, the first column in rows and the others in columns."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        levels = dict(self.release.levels)
        first, *others = self.columns
        rest = cell_labels(tuple((name, levels[name]) for name in others)) if others else ("count",)
        flat = self.counts.reshape(len(levels[first]), -1)
        return pd.DataFrame(flat, index=pd.Index(list(levels[first]), name=first), columns=list(rest))

    def summary(self) -> Table:
        """Return a table of the counts with notes on the steps; InferenceError I48 for more than 1,000 cells."""
        from tacit.estimates.display import facts, people_words

        if self.counts.size > MOST:
            text = f"{self.counts.size:,} cells are too many for a table: at most {MOST:,}."
            raise InferenceError(text, code="I48", hint="margin(…) of fewer columns", state=None)
        levels = dict(self.release.levels)
        labels = cell_labels(tuple((name, levels[name]) for name in self.columns))
        numbers = [format_number(float(x), decimals=1) for x in self.counts.reshape(-1)]
        title = f"Counts after {' and '.join(self.steps) or 'nothing'} · {people_words(self.release)}"
        error = self.reason or f"standard deviation of a count's noise: {self.std_error:,.3g}"
        notes = (*self.notes, error, facts(self.release))
        rows = tuple(zip(labels, numbers, strict=True))
        return Table(title, (":".join(self.columns), "count"), rows, notes, ("left", "right"))


def adjusted(release: Released, step: str, *more: str, A: float | None = None, chance: float = 0.05) -> Adjusted:
    """Return counts after the steps; see `Statistics.adjusted`."""
    made = Adjusted(release, cells_of(release))
    for one in (step, *more):
        made = with_step(made, one, A=A, chance=chance)
    return made


def with_step(made: Adjusted, step: str, *, A: float | None = None, chance: float | None = 0.05) -> Adjusted:
    """Take one more step; InferenceError I53 for an unknown step or an invalid cut."""
    if step not in STEPS:
        hint = nearest(step, list(STEPS)) or ", ".join(STEPS)
        raise InferenceError(f"no step is called {step!r}.", code="I53", hint=hint, state=None)
    if step == "project" and made.cells.total is None:
        text = "the number of rows that the cells hold is not public: there is nothing to project to."
        raise InferenceError(text, code="I53", hint='"simplex" keeps the noisy total', state=None)
    # after other steps the excess over the total is no mean of noises, and to subtract it is not unbiased
    if step == "project" and made.reason:
        raise InferenceError(f"{made.reason}; project first.", code="I53", hint='"project", then the rest', state=None)
    if step != "threshold":
        cells = {"project": made.cells.project, "clip": made.cells.clip, "simplex": made.cells.simplex}[step]()
        return Adjusted(made.release, cells, made.cuts)
    cut = cut_of(made, A, chance)
    cells = made.cells.threshold(1.0, cut, np.e)  # log(e) = 1: the cut itself
    return Adjusted(made.release, cells, (*made.cuts, cut))


def cut_of(made: Adjusted, A: float | None, chance: float | None) -> float:
    """Return the cut: A * scale * log n (Lei 2011), or the least that any empty cell passes with probability <= chance.

    scale: 1 / epsilon of Laplace noise (of the same variance, where it is normal); n: rows, public or noisy.
    """
    part = made.release.parts[0]
    share = part.parameters.get("share", 1)
    if A is not None:
        if not 0 < A < np.inf:
            raise InferenceError(f"A={A!r} is not above 0.", code="I53", hint="A=2", state=None)
        scale = float(np.sqrt(part.law.variance() / 2)) / share  # Laplace of scale b: 2 b**2
        # one changed row moves two cells, so that Laplace noise has scale 2 / epsilon
        scale = scale / 2 if made.release.neighbors == "replace-one" else scale
        n = made.cells.total if made.cells.total is not None else float(made.cells.counts.sum())
        return A * scale * float(np.log(max(n, 1.0)))  # a noisy total may be below 1
    if chance is None or not 0 < chance < 1:
        raise InferenceError(f"chance={chance!r} is not between 0 and 1.", code="I53", hint="chance=0.05", state=None)
    # union bound over the cells
    return least(part.law, chance / made.cells.counts.size) / share


def least(law: Law, p: float) -> float:
    """Return the least integer k >= 1 with P(noise >= k) <= p.

    >>> from fractions import Fraction
    >>> from tacit.noise.laws import DiscreteLaplace
    >>> least(DiscreteLaplace(Fraction(2)), 0.01)
    9.0
    """
    high = 1
    while float(law.sf(high - 1)) > p:  # sf(k - 1) is P(noise >= k)
        high *= 2
    # bisection keeps P(noise >= low) > p (or low = 0) and P(noise >= high) <= p
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if float(law.sf(middle - 1)) > p else (low, middle)
    return float(high)
