"""The support of a user's law of one column, found from its log-density where it is not given.  No data here.

A density adds up to 1 over its support and over nothing much larger.  The log-density is added up over each support
that has a name, at several public parameters of the box; where exactly one fits at all of them it is the law's.
Several may fit by chance of the box, as the positive numbers do for a normal law far from 0: whether there is a density
below 0, or above 1, then decides.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.models import quadrature
from tacit.models.boxes import Array

if TYPE_CHECKING:
    from tacit.models.likelihood import Likelihood

LINES: Final = ("real", "positive", "unit")
"""Supports of continuous laws, the larger first."""
BELOW: Final = np.array([-0.5, -1.5, -30.5])
"""Places below 0 that are no whole numbers; those below are."""
WHOLE: Final = np.array([-1.0, -2.0, -30.0])
ABOVE: Final = np.array([1.5, 2.0, 30.0])
"""Places above the unit interval."""
OTHER: Final = 1e-3
"""Distance from 1 from which a sum is not one of rounding, or of a constant with few digits: blocks go by it, too."""


def found_support(model: Likelihood, places: Array, log_density: Callable[[Array, Array], Array]) -> str | None:
    """Return "real", "positive", "unit" or "count" where the density adds up to 1 over it at all places; else None.

    places: parameters, shape (places, p).  log_density: from rows, shape (n,), and parameters, to logs, shape (n,).
    """
    if model.columns > 1:
        return None
    densities = [_at(place, log_density) for place in places]
    lines = [one for one in LINES if all(_is_one(one, logs) for logs in densities)]
    # adding up counts of another law takes longest: only where its answer matters
    if (not lines or _of_counts(densities)) and all(_is_one("count", logs) for logs in densities):
        return "count"
    while lines:
        beyond = {"real": None, "positive": BELOW, "unit": ABOVE}
        smaller = lines[1] if len(lines) > 1 else None
        # the larger support stands if there is a density in what it has beyond the smaller one
        if smaller is None or _somewhere(densities, beyond[smaller]):
            return lines[0]
        lines = lines[1:]
    return None


def other_sum(
    support: object, places: Array, log_density: Callable[[Array, Array], Array]
) -> tuple[Array, float] | None:
    """Return the first place at which a density surely does not add up to 1 over a support, and its sum; else None."""
    for place in places:
        found = quadrature.sure_total(support, _at(place, log_density))
        if found is not None and abs(found - 1) > OTHER:
            return place, found
    return None


def _at(place: Array, log_density: Callable[[Array, Array], Array]) -> Callable[[Array], Array]:
    """Return the log-density at a place as a function of rows, -inf where it is no number."""

    def logs(rows: Array) -> Array:
        with np.errstate(all="ignore"):
            found = np.asarray(log_density(rows, place), dtype=np.float64)
        return np.where(np.isnan(found), -np.inf, found)

    return logs


def _is_one(support: str, logs: Callable[[Array], Array]) -> bool:
    """Return whether a density adds up to 1 over a support."""
    with np.errstate(all="ignore"):
        return bool(abs(quadrature.total(support, logs) - 1) < quadrature.WRONG)


def _somewhere(densities: list[Callable[[Array], Array]], rows: Any) -> bool:
    """Return whether a density is above 0 at one of the rows."""
    return any(bool((logs(rows) > -np.inf).any()) for logs in densities)


def _of_counts(densities: list[Callable[[Array], Array]]) -> bool:
    """Return whether the law is of counts though its formula has an integral of 1 too.

    A formula with factorials, as gamma functions, has values between the whole numbers below 0, and none at these.
    """
    return not _somewhere(densities, WHOLE) and _somewhere(densities, BELOW)
