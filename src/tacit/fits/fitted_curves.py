"""Curve of a fitted model along one column, with the mean response in each released bin."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.fits.regressors import Regressor, regressors

if TYPE_CHECKING:
    from tacit.fits.fit import FitWork
    from tacit.fits.fitted_model import FittedModel
    from tacit.plots.canvas import Drawn


def curve(
    model: FittedModel, column: str, at: Mapping[str, Any] | None, ax: Any, level: float, *, simultaneous: bool = False
) -> Drawn:
    """Plot the curve; see `FittedModel.curve`."""
    from tacit.estimates.display import facts, people_words
    from tacit.plots.curve_plot import curve as draw

    known = regressors(model)
    if at is not None and not isinstance(at, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"at is {described(at)}: no mapping of columns to values."
        raise InferenceError(text, code="I41", hint='at={"sex": "female"}', state=None)
    x = _places(known, column, model.formula)
    held = {name: one.default for name, one in known.items() if name != column} | dict(at or {})
    found = model.predict({column: x, **{name: [value] * len(x) for name, value in held.items()}})
    limits = found.intervals(level, simultaneous=simultaneous)
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
        band="simultaneous band" if simultaneous else "interval",
    )


def _places(known: Mapping[str, Regressor], column: str, formula: str) -> Array:
    """Return the places where the curve is evaluated; InferenceError I41 for a factor, or a column not a regressor."""
    if not isinstance(column, str) or column not in known:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InferenceError(f"{described(column)} is not on the right side of {formula!r}.", code="I41", state=None)
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
