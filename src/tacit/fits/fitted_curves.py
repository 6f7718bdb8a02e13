"""Curve of a fitted model along one column, with the mean response in each released bin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.fits.cell_arrays import CellAxis, CellCounts

if TYPE_CHECKING:
    from tacit.fits.fit import FitWork
    from tacit.fits.fitted_model import FittedModel
    from tacit.plots.canvas import Drawn

POINTS = 101
"""Number of places along a continuous column at which the curve is evaluated."""


def curve(model: FittedModel, column: str, at: Mapping[str, Any] | None, ax: Any, level: float) -> Drawn:
    """Plot the curve; see `FittedModel.curve`."""
    from tacit.estimates.display import facts, people_words
    from tacit.plots.curve_plot import curve as draw

    work = _work(model)
    axis = work.points.cells.axis(column)
    used = sorted({str(name) for name in work.design.spec.required_variables})
    x = _places(axis, column, used, model.formula)
    held = {name: _default_value(work.points.cells, name) for name in used if name != column} | dict(at or {})
    found = model.predict({column: x, **{name: [value] * len(x) for name, value in held.items()}})
    limits = found.intervals(level)
    words = f"{column} ({axis.units})" if axis.units else column
    others = ", ".join(
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}" for name, value in held.items()
    )
    title = f"{model.coefficients.title}{f' at {others}' if others else ''} · {people_words(model.release)}"
    return draw(
        x,
        found.values,
        np.where(np.isfinite(limits[:, 0]), limits[:, 0], np.nan),
        np.where(np.isfinite(limits[:, 1]), limits[:, 1], np.nan),
        observed=None if held else _observed(work, column),
        ax=ax,
        level=level,
        title=title,
        words=words,
        response=model.formula.split("~")[0].strip(),
        caption=facts(model.release),
    )


def _work(model: FittedModel) -> FitWork:
    """Return what a curve needs of a fit; InferenceError I45 where it has none."""
    work = model.fit.work
    if work is None:
        why = model.reasons[0] or "only formulas have curves"
        raise InferenceError(f"{model.formula!r} has no curve: {why}.", code="I45", state=None)
    return work


def _places(axis: CellAxis, column: str, used: list[str], formula: str) -> Array:
    """Return the places where the curve is evaluated; InferenceError I41 for a factor, or a column not a regressor."""
    if column not in used:
        raise InferenceError(f"{column!r} is not on the right side of {formula!r}.", code="I41", state=None)
    if axis.kind == "levels" and axis.numbers is None:
        text = f"{column!r} has levels, and a curve runs along numbers."
        raise InferenceError(text, code="I41", hint="predict(…)", state=None)
    if axis.kind != "continuous":
        return axis.centers
    return np.linspace(float(axis.bounds[0]), float(axis.bounds[-1]), POINTS)


def _default_value(cells: CellCounts, name: str) -> Any:
    """Return the value at which another column is held: the first level of a factor, the mean of the noisy counts."""
    axis = cells.axis(name)
    if axis.kind == "levels" and axis.numbers is None:
        return (axis.labels or ("",))[0]
    # clipped, so that the mean lies within the column's bounds; it only chooses which curve is drawn
    counts = np.maximum(cells.margin((name,)).counts, 0.0)
    return float(np.average(axis.centers, weights=counts)) if counts.any() else float(axis.centers.mean())


def _observed(work: FitWork, column: str) -> tuple[Array, Array, Array] | None:
    """Return places, mean responses and noisy numbers of rows by bin; None where the response is not a bare column."""
    response = work.design.axis
    if response is None:
        return None
    cells = work.points.cells
    counts = cells.margin((column, response.name)).counts
    # the coding of a response of two levels in `model_matrix.design`
    y = np.array([0.0, 1.0]) if response.kind == "levels" and response.numbers is None else response.centers
    rows = counts.sum(axis=1)
    means = np.divide(counts @ y, rows, out=np.full_like(rows, np.nan), where=rows > 0)
    return cells.axis(column).centers, means, rows
