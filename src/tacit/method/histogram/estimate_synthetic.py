"""Sets of synthetic rows from a released histogram, each from cells that the truth may have.  Post-processing.

The truth that a release leaves open is drawn as often as sets are asked for: the released counts, moved by noise of
their own law and by the sampling of as many rows.  Each is made probabilities (`log_linear`), from which rows are
drawn.  Beside them are sets from the released counts as they are; what the two kinds differ by tells the error of any
analysis (`estimates.synthetic_sets`).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.bins import BINNED
from tacit.estimates.synthetic.drawn_frames import asked, check_sets, made_sets
from tacit.estimates.synthetic.synthetic_sets import SyntheticSets
from tacit.estimates.terms import Target
from tacit.estimates.total_errors import error_laws
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.cell_functions import AxisFunctions, functions, number_of_functions
from tacit.fits.cells.log_linear import LogLinear, fit
from tacit.fits.cells.released_cells import cells_of
from tacit.method.histogram.estimate_samples import Rng, Whole, drawn_cells, frame_of, logistic, possible_cells
from tacit.method.histogram.estimate_shapes import ColumnBins, shapes
from tacit.release.document import Released
from tacit.release.parts import Axis as Facts
from tacit.schema.logistic_bins import LogisticBins

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

MOST_NUMBERS: Final = 10_000_000
"""Cells times functions of a model, at most: what one array of eight bytes each holds."""
OFF: Final = 0.02
"""Distance of a mean of functions of size one from what is wanted, beyond which counts contradict every table."""


def synthetic_sets(release: Released, sets: int, n: int | None, order: int, target: Target, rng: Rng) -> SyntheticSets:
    """See `HistogramRelease.synthetic_sets`."""
    check_sets(sets, target)
    model = model_of(release, order)
    ask = asked(sets, n, target, rng, model.total)
    fitted = model.fitted()
    shape = model.counts.shape
    center = fitted.probabilities.reshape(shape)
    probabilities, off = list[Array](), [fitted.off]
    for _ in range(sets):
        again = fitted.again(model.means(fitted.X, model.redrawn(center, target, ask.rng)))
        probabilities.append(again.probabilities.reshape(shape))
        off.append(again.off)
    reason = None
    # a tenth of the drawn tables: so many are beyond the limits of an interval anyway
    if off[0] > OFF or float(np.quantile(off, 0.9)) > OFF:
        reason = "the noisy counts contradict every table: fewer cells, or a higher price, in a new release"
    return made_sets(
        release,
        ask,
        lambda _, rows, own: model.rows(center, rows, own),
        lambda place, rows, own: model.rows(probabilities[place], rows, own, moved=True),
        reason=reason,
        notes=_kept(model),
    )


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
    within = "within a bin values lie as the bins beside it suggest, and as far from that as they may"
    return (f"synthetic sets keep {kept}{lost}", within)


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

    def rows(self, probabilities: Array, n: int, rng: np.random.Generator, *, moved: bool = False) -> pd.DataFrame:
        """Draw n rows: cells first, and values in them; moved: as they may lie, too, for all that bins tell."""
        made = shapes(probabilities, self._bins(), self.total, rng if moved else None)
        at = drawn_cells(probabilities, n, rng)
        places = [one[cells] for one, cells in zip(self.possible, at, strict=True)]
        own = [None if shape is None else shape.at(at) for shape in made]
        return frame_of(self.axes, self.facts, self.release.ordered, places, rng, self.maps, own)

    def _bins(self) -> tuple[ColumnBins | None, ...]:
        return tuple(map(self._column, range(len(self.axes))))

    def _column(self, at: int) -> ColumnBins | None:
        axis, fact, possible = self.axes[at], self.facts[at], self.possible[at]
        # where some bins hold no whole number the others do not touch
        whole = len(possible) == axis.size
        if fact.kind not in BINNED or axis.name in self.maps or axis.edges is None or not whole or axis.bins < 2:
            return None
        return ColumnBins(axis.edges, self.variance * self.counts.size / axis.size)


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
