"""Curve of a fitted model along one column, with the mean response in each released bin."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arrays import Array
from tacit.base.json_text import shown_value
from tacit.errors import InferenceError
from tacit.fits.cell_arrays import CellCounts
from tacit.release.parts import Variable

if TYPE_CHECKING:
    from tacit.fits.fit import FitWork
    from tacit.fits.fitted_model import FittedModel
    from tacit.plots.canvas import Drawn

POINTS = 101
"""Number of places along a continuous column at which the curve is evaluated."""


@dataclass(frozen=True)
class Regressor:
    """A column on the right side of a formula, from public facts and released counts.

    places: where a curve along it is evaluated, None for levels.  default: the value at which other curves hold it.
    """

    places: Array | None
    default: Any
    units: str | None = None


def curve(model: FittedModel, column: str, at: Mapping[str, Any] | None, ax: Any, level: float) -> Drawn:
    """Plot the curve; see `FittedModel.curve`."""
    from tacit.estimates.display import facts, people_words
    from tacit.plots.curve_plot import curve as draw

    known = _regressors(model)
    x = _places(known, column, model.formula)
    held = {name: one.default for name, one in known.items() if name != column} | dict(at or {})
    found = model.predict({column: x, **{name: [value] * len(x) for name, value in held.items()}})
    limits = found.intervals(level)
    units = known[column].units
    others = ", ".join(
        f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}" for name, value in held.items()
    )
    title = f"{model.coefficients.title}{f' at {others}' if others else ''} · {people_words(model.release)}"
    return draw(
        x,
        found.values,
        np.where(np.isfinite(limits[:, 0]), limits[:, 0], np.nan),
        np.where(np.isfinite(limits[:, 1]), limits[:, 1], np.nan),
        observed=None if held or model.fit.work is None else _observed(model.fit.work, column),
        ax=ax,
        level=level,
        title=title,
        words=f"{column} ({units})" if units else column,
        response=model.formula.split("~")[0].strip(),
        caption=facts(model.release),
    )


def _regressors(model: FittedModel) -> dict[str, Regressor]:
    """Return the columns on the right side; InferenceError I45 where there is no fit, or no right side."""
    work = model.fit.work
    if work is not None:
        cells = work.points.cells
        names = sorted({str(name) for name in work.design.spec.required_variables})
        return {name: _of_axis(cells, name) for name in names}
    if model.fit.evaluator is not None:
        # a release of a regression has no cells: public bounds say where its columns lie
        return {one.name: _of_variable(one) for one in getattr(model.release, "variables", ())[1:]}
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
        return Regressor(axis.centers, middle, axis.units)
    return Regressor(np.linspace(float(axis.bounds[0]), float(axis.bounds[-1]), POINTS), middle, axis.units)


def _of_variable(one: Variable) -> Regressor:
    """Return a column of a released regression, held at its first level or in the middle of its bounds."""
    if one.kind == "levels":
        return Regressor(None, one.labels[0])
    if one.kind == "boolean":
        return Regressor(None, False)
    if one.kind == "date":
        # predictions take dates, and a curve runs along numbers
        return Regressor(None, date.fromordinal(int(one.lower + one.upper) // 2 + date(1970, 1, 1).toordinal()))
    return Regressor(np.linspace(one.lower, one.upper, POINTS), (one.lower + one.upper) / 2, one.units)


def _places(known: Mapping[str, Regressor], column: str, formula: str) -> Array:
    """Return the places where the curve is evaluated; InferenceError I41 for a factor, or a column not a regressor."""
    if column not in known:
        raise InferenceError(f"{shown_value(column)} is not on the right side of {formula!r}.", code="I41", state=None)
    places = known[column].places
    if places is None:
        text = f"{column!r} has no numbers along which a curve could run."
        raise InferenceError(text, code="I41", hint="predict(…)", state=None)
    return places


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
