"""Columns on the right side of a fitted formula: bounds and default values, for curves and for notes on predictions."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.fits.cells.cell_arrays import CellCounts
from tacit.release.parts import Variable

if TYPE_CHECKING:
    from tacit.fits.fitted_model import FittedModel

POINTS = 101
"""Number of places along a continuous column at which the curve is evaluated."""


@dataclass(frozen=True)
class Regressor:
    """A column on the right side of a formula, from public facts and released counts.

    places: where a curve along it is evaluated, None for levels.  default: the value at which other curves hold it.
    bounds: between which the model was fitted; None for levels and dates.
    """

    places: Array | None
    default: Any
    units: str | None = None
    bounds: tuple[float, float] | None = None


def regressors(model: FittedModel) -> dict[str, Regressor]:
    """Return the columns on the right side; InferenceError I45 where there is no fit, or no right side."""
    work = model.fit.work
    if work is not None:
        cells = work.points.cells
        names = sorted({str(name) for name in work.design.spec.required_variables})
        return {name: _of_axis(cells, name) for name in names}
    if model.fit.evaluator is not None:
        # a release of a regression has no cells: public bounds say where its columns lie
        return {one.name: _of_variable(one) for one in model.fit.evaluator.inputs}
    why = next((reason for reason in model.reasons if reason), None)
    why = why or "it has no regressors, along which a curve would run"
    raise InferenceError(f"{model.formula!r} has no curve: {why}.", code="I45", state=None)


def _of_axis(cells: CellCounts, name: str) -> Regressor:
    """Return a column of a histogram, held at its first level or at the mean of the noisy counts."""
    axis = cells.axis(name)
    if axis.kind == "levels" and axis.numbers is None:
        return Regressor(None, (axis.labels or ("",))[0], axis.units)
    # clipped, so that the mean lies within the column's bounds; it only chooses which curve is drawn
    counts = np.maximum(cells.margin((name,)).counts, 0.0)
    middle = float(np.average(axis.centers, weights=counts)) if counts.any() else float(axis.centers.mean())
    if axis.kind != "continuous":
        ends = (float(axis.centers.min()), float(axis.centers.max()))
        return Regressor(axis.centers, middle, axis.units, ends)
    ends = (float(axis.bounds[0]), float(axis.bounds[-1]))
    return Regressor(np.linspace(*ends, POINTS), middle, axis.units, ends)


def _of_variable(one: Variable) -> Regressor:
    """Return a column of a released regression, held at its first level or in the middle of its bounds."""
    if one.kind == "levels":
        return Regressor(None, one.labels[0])
    if one.kind == "boolean":
        return Regressor(None, False)
    if one.kind == "date":
        # predictions take dates, and a curve runs along numbers
        return Regressor(None, date.fromordinal(int(one.lower + one.upper) // 2 + date(1970, 1, 1).toordinal()))
    ends = (one.lower, one.upper)
    return Regressor(np.linspace(*ends, POINTS), sum(ends) / 2, one.units, ends)


def beyond(model: FittedModel, rows: Any) -> tuple[str, ...]:
    """Return a note for each column whose values, at the rows of a prediction, lie outside the bounds of the fit.

    rows: a pandas frame, or a mapping of columns.
    """
    notes: list[str] = []
    for name, one in regressors(model).items():
        values = _numbers(rows, name) if one.bounds is not None else None
        if one.bounds is None or values is None:
            continue
        low, high = one.bounds
        far = (values < low) | (values > high)
        if far.any():
            units = f" {one.units}" if one.units else ""
            worst = values[far][np.argmax(np.abs(values[far] - (low + high) / 2))]
            notes.append(
                f"{name} = {worst:.6g} is outside {low:.6g} to {high:.6g}{units}, where the model was fitted: the line "
                "is drawn on, and no standard error has in it that it may bend"
            )
    return tuple(notes)


def _numbers(rows: Any, name: str) -> Array | None:
    """Return the values of a column of the rows of a prediction; None where they are no numbers."""
    if name not in rows:
        return None
    try:
        return np.atleast_1d(np.asarray(rows[name], dtype=np.float64))
    except (TypeError, ValueError):
        return None
