"""Maximum likelihood for one histogram column: parameters of the families in `tacit.models` that support it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import cache, lru_cache
from typing import Any, Final, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError, nearest
from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.custom_losses import Loss, minimised
from tacit.fits.fit import Fit, Method, check_method, points_for
from tacit.fits.within_bins.cell_points import Points
from tacit.models.family import Family
from tacit.models.family_registry import FAMILIES

RANGES: Final[dict[Any, tuple[float, float]]] = {
    "real": (-np.inf, np.inf),
    "positive": (0.0, np.inf),
    "unit": (0.0, 1.0),
}
"""Lower and upper end of each named support; all points of the bins must lie strictly between them."""


@cache
def histogram_families() -> Mapping[str, Family]:
    """Return families that define parameter names for histogram fits, by lower-case name, with default boxes."""
    return {name.lower(): one() for name, one in FAMILIES.items() if one.histogram_names}


def fit_family(cells: CellCounts, column: str, family: str, method: Method = "corrected") -> Fit:
    """Fit a family's parameters to one column by maximum likelihood, with sampling and privacy covariances.

    family: "normal" (mean, sd), "lognormal" (log_mean, log_sd), "exponential" (rate), "gamma" (shape, rate),
    "weibull" (shape, scale) or "beta" (a, b).  Rows outside the bins are left out.

    InferenceError I41 for a column that the cells lack, I43 for one whose bins leave the family's range, I44 for an
    unknown family or method.

    >>> from tacit.fits.cells.cell_arrays import CellAxis
    >>> y = CellAxis("y", "continuous", np.linspace(-2.0, 4.0, 13))
    >>> exact = CellCounts((y,), np.array([1.0, 4, 12, 28, 46, 50, 50, 46, 28, 12, 4, 1]), variance=0.0)
    >>> fit_family(exact, "y", "normal").values.round(2)
    array([1.  , 0.98])
    """
    check_method(method)
    known = histogram_families()
    if not isinstance(family, str) or family not in known:  # pyright: ignore[reportUnnecessaryIsInstance]
        hint = nearest(family, tuple(known))
        message = f"no family is called {described(family)}; there are {', '.join(known)}."
        raise InferenceError(message, code="I44", hint=f"{hint!r}?" if hint else None, state=None)
    law = known[family]
    low, high = RANGES.get(law.support) or cast("tuple[float, float]", law.support)
    points = points_for(cells, (column,), method)
    x = points.position(points.cells.axes[0])[0]
    # strictly: at the ends of its support a log-density may be infinite
    if not ((x > low) & (x < high)).all():
        raise InferenceError(
            f"{column!r} has bins beyond {low:g} to {high:g}, where a {family} variable lies.",
            code="I43",
            state=None,
        )
    loss = replace(_loss(family, column), start=_start(law, points, x))
    return replace(minimised(cells, loss, method, starts=0), formula=column, model=family)


def _start(law: Family, points: Points, x: Array) -> tuple[float, ...]:
    """Return a start from mean and variance of the clipped counts (of equal counts where all are 0 or less)."""
    weights = points.spread(np.maximum(points.cells.counts, 0.0), edges=False)
    weights = weights if weights.any() else np.ones_like(weights)
    mean = float(np.average(x, weights=weights))
    # a variance above 0, also where all counts but one are 0 or less
    return law.start_from_moments(mean, max(float(np.average((x - mean) ** 2, weights=weights)), 1e-300))


@lru_cache(maxsize=64)  # the same function object for a family and column: JAX compiles it only once
def _loss(family: str, column: str) -> Loss:
    """Return the negative log-density of a column as a loss."""
    law = histogram_families()[family]

    def negative(row: Any, theta: Any) -> Any:
        return -law.log_density(row[column], law.bind(theta))

    return Loss(negative, law.histogram_names)
