"""Sets of synthetic rows from a released histogram, each from cells that the truth may have.  Post-processing.

The truth that a release leaves open is drawn as often as sets are asked for: the released counts, moved by noise of
their own law and by the sampling of as many rows.  Each is made probabilities (`fits.log_linear`), from which rows are
drawn.  Beside them are sets from the released counts as they are; what the two kinds differ by tells the error of any
analysis (`estimates.synthetic_sets`).
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast, overload

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates import error_laws
from tacit.estimates.bins import BINNED
from tacit.estimates.random_numbers import check_number, generator
from tacit.estimates.synthetic_sets import SyntheticSets
from tacit.estimates.terms import Target, check_target
from tacit.fits.cell_arrays import CellAxis
from tacit.fits.cell_functions import AxisFunctions, functions, number_of_functions
from tacit.fits.log_linear import LogLinear, fit
from tacit.fits.released_cells import cells_of
from tacit.fits.within_cells import slopes_within
from tacit.method.histogram.estimate_samples import Rng, Whole, drawn_cells, frame_of, logistic, possible_cells
from tacit.release.document import Released
from tacit.release.parts import Axis as Facts
from tacit.schema.logistic_bins import LogisticBins

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

FEWEST: Final = 5
"""Sets of each kind, at least: their scatter is what errors are made of."""
MOST_NUMBERS: Final = 10_000_000
"""Cells times functions of a model, at most: what one array of eight bytes each holds."""
AT_LEAST: Final = 5_000
AT_MOST: Final = 400_000
"""Rows of a set, where none are asked for: four times the table's, within these."""
OFF: Final = 0.02
"""Distance of a mean of functions of size one from what is wanted, beyond which counts contradict every table."""


def synthetic_sets(release: Released, sets: int, n: int | None, order: int, target: Target, rng: Rng) -> SyntheticSets:
    """See `HistogramRelease.synthetic_sets`."""
    check_target(target)
    if isinstance(sets, bool) or not isinstance(sets, int) or sets < FEWEST:  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"{described(sets)} is no number of sets from {FEWEST} on."
        raise InferenceError(text, code="I85", hint="synthetic_sets(40)", state=None)
    model = model_of(release, order)
    long = min(max(4 * round(model.total), AT_LEAST), AT_MOST) if n is None else n
    check_number(long)
    drawn = generator(rng)
    fitted = model.fitted()
    shape = model.counts.shape
    probabilities, off = list[Array](), [fitted.off]
    for _ in range(sets):
        again = fitted.again(model.means(fitted.X, model.redrawn(fitted.probabilities.reshape(shape), target, drawn)))
        probabilities.append(again.probabilities.reshape(shape))
        off.append(again.off)
    seeds = drawn.spawn(2)
    plain = DrawnFrames(model, (fitted.probabilities.reshape(shape),) * max(sets // 2, FEWEST), int(long), seeds[0])
    frames = DrawnFrames(model, tuple(probabilities), int(long), seeds[1])
    reason = None
    # a tenth of the drawn tables: so many are beyond the limits of an interval anyway
    if off[0] > OFF or float(np.quantile(off, 0.9)) > OFF:
        reason = "the noisy counts contradict every table: fewer cells, or a higher price, in a new release"
    return SyntheticSets(release, frames, plain, target, reason, _kept(model))


def _kept(model: CellModel) -> tuple[str, ...]:
    """Return what the sets keep of the release, in words."""
    names = [axis.name for axis in model.axes]
    order = model.order
    kept = f"of each column its mean, mean square and the shares of levels and of groups of bins ({', '.join(names)})"
    if order > 1:
        kept += "; of two columns the products of these"
    if order > 2:
        kept += "; of three the products of means and levels"
    lost = "" if order == len(names) and order < 2 else "; other relations of columns are not in them"
    return (f"synthetic sets keep {kept}{lost}", "within a bin the density rises as from bin to bin")


def _note(model: CellModel) -> str:
    """Return what a frame says of itself."""
    from tacit.estimates.wording import title

    what = title(model.release)
    words = (
        f"Synthetic rows, one of several sets drawn from the noisy {what[0].lower() + what[1:]} of",
        f"{model.release.table}. They are nobody's, and cost nothing more. Standard errors, intervals and p-values",
        "from one set are wrong: sets.analyse(…) has those that hold. " + "; ".join(_kept(model)) + ".",
    )
    return textwrap.fill(" ".join(words), 120, break_on_hyphens=False)


class DrawnFrames(Sequence["pd.DataFrame"]):
    """Sets of rows from one array of probabilities each, drawn when they are asked for, the same each time."""

    def __init__(self, model: CellModel, probabilities: tuple[Array, ...], rows: int, rng: np.random.Generator) -> None:
        """rng: what the seeds of the frames are drawn with, here."""
        self.rows = rows
        self._model, self._probabilities = model, probabilities
        self._seeds = [int(one) for one in rng.integers(2**63, size=len(probabilities))]

    def __len__(self) -> int:
        return len(self._probabilities)

    @overload
    def __getitem__(self, place: int) -> pd.DataFrame: ...

    @overload
    def __getitem__(self, place: slice) -> list[pd.DataFrame]: ...

    def __getitem__(self, place: int | slice) -> pd.DataFrame | list[pd.DataFrame]:
        if isinstance(place, slice):
            return [self[i] for i in range(*place.indices(len(self)))]
        made = self._model.rows(self._probabilities[place], self.rows, np.random.default_rng(self._seeds[place]))
        made.attrs["note"] = _note(self._model)
        return made


@dataclass(frozen=True)
class CellModel:
    """The released counts of cells that can hold rows, and how sets of rows are drawn from them.

    counts: signed, shape (cells of the first column, ...), with noise of `variance` in each, less their mean where
    `projected`.  total: rows, public or as the counts say.  order: of how many columns together functions are kept.
    """

    axes: tuple[CellAxis, ...]
    facts: tuple[Facts, ...]
    possible: tuple[Whole, ...]
    counts: Array
    variance: float
    projected: bool
    total: float
    release: Released
    order: int
    maps: dict[str, LogisticBins]

    def fitted(self) -> LogLinear:
        """Return the model of the released counts; InferenceError I47 where it is too large."""
        noise = float(self.variance) ** 0.5
        made = list[AxisFunctions]()
        for i, axis in enumerate(self.axes):
            margin = self.counts.sum(axis=tuple(j for j in range(self.counts.ndim) if j != i))
            made.append(AxisFunctions(axis, self.possible[i], margin, noise * (self.counts.size / len(margin)) ** 0.5))
        size = number_of_functions(tuple(made), self.order) * self.counts.size
        if size > MOST_NUMBERS:
            text = f"{self.counts.size:,} cells are too many for sets of rows with errors."
            raise InferenceError(text, code="I47", hint="a Histogram of fewer cells, or sample(n)", state=None)
        X = functions(tuple(made), self.order)
        return fit(X, self.means(X, self.counts))

    def means(self, X: Array, counts: Array) -> Array:
        """Return means of the functions under counts."""
        return X.T @ counts.reshape(-1) / float(counts.sum())

    def redrawn(self, fitted: Array, target: Target, rng: np.random.Generator) -> Array:
        """Return counts that might have been released instead; their mean is what was released."""
        part = self.release.parts[0]
        noise = error_laws.drawn(part.law, 1, self.counts.shape, rng) / part.parameters.get("share", 1)
        found = self.counts + (noise - noise.mean() if self.projected else noise)
        if target == "population":
            size = round(self.total)
            found = found + rng.multinomial(size, fitted.reshape(-1)).reshape(fitted.shape) - size * fitted
        return found

    def rows(self, probabilities: Array, n: int, rng: np.random.Generator) -> pd.DataFrame:
        """Draw n rows: cells first, and values in them whose density rises as from one cell to the next."""
        at = drawn_cells(probabilities, n, rng)
        rises = slopes_within(probabilities, tuple(map(self._widths, self.axes, self.facts, self.possible)))
        places = [one[cells] for one, cells in zip(self.possible, at, strict=True)]
        own = [None if rise is None else rise[at] for rise in rises]
        return frame_of(self.axes, self.facts, self.release.ordered, places, rng, self.maps, own)

    def _widths(self, axis: CellAxis, fact: Facts, possible: Whole) -> Array | None:
        if fact.kind not in BINNED or axis.name in self.maps or axis.edges is None:
            return None
        return axis.widths[possible[possible < axis.bins]]


def model_of(release: Released, order: int) -> CellModel:
    """Return the released cells ready to be drawn from; InferenceError I63 (all noise), I85 (order)."""
    cells = cells_of(release).project()
    facts = cast("tuple[Facts, ...]", getattr(release, "axes", ()))
    if isinstance(order, bool) or order not in (1, 2, 3):
        text = f"order {described(order)} is none of 1, 2 and 3, the columns whose relations are kept."
        raise InferenceError(text, code="I85", hint="order=2", state=None)
    possible = tuple(possible_cells(axis, fact) for axis, fact in zip(cells.axes, facts, strict=True))
    counts = cells.counts[np.ix_(*possible)]
    total = cells.total if cells.total is not None else float(counts.sum())
    if total < 1:
        text = f"the noisy counts add up to {total:,.0f}: this release is all noise, and there is nothing to draw from."
        raise InferenceError(text, code="I63", hint="a higher price, or fewer cells, in a new release", state=None)
    maps = dict(logistic(release))
    projected = cells.shared > 0
    order = min(order, counts.ndim)
    return CellModel(cells.axes, facts, possible, counts, cells.variance, projected, total, release, order, maps)
