"""Where the second step of a regression aims, from released integers of the first: public by then.  No data here.

Coefficients of a first fit, and a range beyond which residuals are cut: REACH standard deviations of what the residuals
and the first fit's own error are estimated to be, more for more rows or a higher price.  Whatever comes out, the second
step is as private: its sensitivity is that of `clip`, which never depends on this.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tacit.method.regression.layout import Layout
from tacit.method.regression.noisy_crossproducts import Array, NoisyMatrix
from tacit.rows.coordinates import EXACT, H
from tacit.rows.row_products import ResidualAim

RANGE: Final = 3.0
"""Standard deviations that a residual may have at 1,000 rows or fewer; beyond, (n / 1,000)**(1/6) times as many."""
MARGIN: Final = 2.0
"""Standard errors of the residual variance that are added to it."""
MIN_RANGE: Final = 2.0**-12
"""Narrowest range, as a part of the response's."""
MAX_SHIFT: Final = 30


def response_residual(layout: Layout, clip: int) -> ResidualAim:
    """The aim without any release: the response itself, H of it being `clip`."""
    return ResidualAim((*([0] * layout.size), 1), (H // clip).bit_length() - 1, clip)


def residual_range(rows: float, noise: float) -> float:
    """Range of residuals in standard deviations, which grows with the rows: what is cut off then vanishes beside the
    standard error (the mean of a cut residual is of the order reach**-3 where fourth moments are finite).

    noise: standard deviation of what is added to a sum of residuals, as a part of the range.  Where it would be a third
    of the sampling error of a slope (of a regressor of variance 1/4) at a greater range, that range is taken.

    >>> residual_range(500, 5.0), round(residual_range(1e4, 5.0), 2), round(residual_range(1e6, 5.0), 2)
    (3.0, 4.4, 33.33)
    """
    return max(RANGE * max(1.0, rows / 1_000) ** (1 / 6), math.sqrt(rows) / (6 * noise))


def next_residual(found: NoisyMatrix, layout: Layout, clip: int, noise: float) -> ResidualAim:
    """Noisy cross-products of coordinates -> Aim; the start's where they say nothing.  noise: see `reach`."""
    terms, u = layout.terms, len(layout.names)
    size = np.sqrt((terms**2).sum(axis=1))
    scaled = found.transformed(terms / size[:, None])
    rows = max(float(found.values[0, 0]), 1.0)
    try:
        b = pilot_coefficients(scaled, u)
        scale = residual_sd(scaled, b, rows)
    except np.linalg.LinAlgError:  # no eigenvalues were found: as if nothing were known
        return response_residual(layout, clip)
    top = 2 * float(abs(terms[u, layout.size]) / size[u])
    cut = min(max(scale * residual_range(rows, noise), MIN_RANGE * top), top)
    row = (terms[u] / size[u] - b @ (terms[:u] / size[:u, None])) / cut
    made = _integer_residual(row, clip)
    return response_residual(layout, clip) if made is None else made


def _integer_residual(row: Array, clip: int) -> ResidualAim | None:
    """Psi = clip * row @ z / H, in integers; None where they would not be exact."""
    total = float(np.abs(row).sum()) * clip
    if not math.isfinite(total) or total <= 0:
        return None
    shift = min(MAX_SHIFT, math.floor(math.log2(EXACT / (4 * total))))
    if shift < 12:
        return None
    weights = tuple(int(w) for w in np.rint(row * (clip * 2.0**shift / H)))
    aim = ResidualAim(weights, shift, clip)
    return aim if weights[-1] > 0 and sum(map(abs, weights)) * H + 2**shift < EXACT else None


def pilot_coefficients(found: NoisyMatrix, u: int) -> Array:
    """Least squares from noisy cross-products of terms of size 1, shape (u,); what noise fills is shrunk."""
    return np.asarray(_inverse(found, u) @ found.values[:u, u])


def residual_sd(found: NoisyMatrix, b: Array, rows: float) -> float:
    """Root mean square of what a row's residual from `b` is expected to be, rather more than less.

    The noisy sum of squares at b, which makes it least, is below the true one by twice what b's own noise adds, on
    average; to that come CARE standard errors.
    """
    a = np.append(-b, 1.0)
    least, noise = float(a @ found.values @ a), math.sqrt(found.quadratic_variance(a))
    own = float(np.trace(_inverse(found, len(b)) @ found.covariance_times(a)[: len(b), : len(b)]))
    return math.sqrt(max(least + 2 * own + MARGIN * noise, 0.0) / rows)


def _inverse(found: NoisyMatrix, u: int) -> Array:
    """Of the regressors' part, eigenvalues that noise could have made taken as large as noise makes them."""
    values, vectors = np.linalg.eigh(found.values[:u, :u])
    noise = float(np.linalg.eigvalsh(found.leading(u).noise_quadratic(np.eye(u)))[-1])
    floor = max(math.sqrt(max(noise, 0.0)), 1.0)
    return np.asarray((vectors / np.maximum(values, floor)) @ vectors.T)
