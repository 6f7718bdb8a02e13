"""The pilot fit of a linear regression: the residual that the second part sums, from released integers of the first.

The pilot gives coefficients, and a range at which residuals are clipped: RANGE estimated standard deviations of a
residual (the pilot's own error included), more for more rows or a higher price.  Privacy does not depend on it: the
sensitivity of the second part follows from `clip` alone.  No data here.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums.noisy_crossproducts import Array, NoisyMatrix
from tacit.rows.coordinates import EXACT, SHORT, H
from tacit.rows.row_products import ClippedResidual

RANGE: Final = 3.0
"""Clipping range in standard deviations at 1,000 rows or fewer; times (n / 1,000)**(1/6) for n rows beyond."""
MARGIN: Final = 2.0
"""Standard errors that are added to the noisy residual variance, so that the range is rather too wide."""
MIN_RANGE: Final = 2.0**-12
"""Narrowest clipping range, as a part of the response's range."""
MAX_SHIFT: Final = 30
COARSEST: Final = 9
"""Least shift at which a residual's weights may be so coarse that float32 is exact: rounding that of the constant
z_0 = H moves psi by H / 2**10 = 1 at most, in a range of `clip` on either side."""
COARSEST_OF_WIDE: Final = 12
"""The same of weights as fine as engines can compute, of which there are then large ones."""


def response_residual(layout: Layout, clip: int) -> ClippedResidual:
    """Return the residual without any fit: the response itself, scaled so that H becomes `clip`."""
    # H and clip are powers of two: the shift is the logarithm of their ratio, but at least 1
    return ClippedResidual((*([0] * layout.size), max(1, 2 * clip // H)), max(1, (H // clip).bit_length() - 1), clip)


def residual_range(rows: float, noise: float) -> float:
    """Return the clipping range in standard deviations of a residual.

    It grows with the rows, so that the bias from clipping vanishes beside the standard error: where fourth moments are
    finite, the mean of the clipped-off part is of order range**-3.  noise: standard deviation of the noise in a sum of
    residuals, as a part of the range.  The range is wider where the noise would still be at most a third of the
    sampling error of a slope (of a regressor of variance 1/4).

    >>> residual_range(500, 5.0), round(residual_range(1e4, 5.0), 2), round(residual_range(1e6, 5.0), 2)
    (3.0, 4.4, 33.33)
    """
    # noise times range at most sqrt(rows / 4) / 3, solved for the range
    return max(range_of_rows(rows), math.sqrt(rows) / (6 * noise))


def range_of_rows(rows: float) -> float:
    """Return the clipping range whose bias vanishes beside the standard error of so many rows."""
    return RANGE * max(1.0, rows / 1_000) ** (1 / 6)


def next_residual(found: NoisyMatrix, layout: Layout, clip: int, noise: float) -> ClippedResidual:
    """Return the residual from the pilot fit to noisy cross-products; the response where they allow no fit.

    noise: see `residual_range`.
    """
    terms, u = layout.terms, len(layout.names)
    size = np.sqrt((terms**2).sum(axis=1))
    scaled = found.transformed(terms / size[:, None])
    rows = max(float(found.values[0, 0]), 1.0)
    try:
        b = pilot_coefficients(scaled, u)
        scale = residual_sd(scaled, b, rows)
    except np.linalg.LinAlgError:  # no eigenvalues were found: as if nothing were known
        return response_residual(layout, clip)
    # the whole range of the response
    top = 2 * float(abs(terms[u, layout.size]) / size[u])
    cut = min(max(scale * residual_range(rows, noise), MIN_RANGE * top), top)
    row = (terms[u] / size[u] - b @ (terms[:u] / size[:u, None])) / cut
    made = integer_residual(row, clip)
    return response_residual(layout, clip) if made is None else made


def integer_residual(row: Array, clip: int, *, coarse: bool = False) -> ClippedResidual | None:
    """Return the residual clip * row @ z / H with integer weights; None where engines could not compute it exactly.

    coarse: whether they may be so coarse that float32 is exact.  Where the terms are fewer than coordinates, as without
    an intercept, rounded weights are the residual of no coefficients, and what they are off by would bias all of them.
    """
    total = float(np.abs(row).sum()) * clip
    if not math.isfinite(total) or total <= 0:
        return None
    shift = min(MAX_SHIFT, math.floor(math.log2(SHORT / (2 * total))))
    if shift < COARSEST or not coarse:
        shift = min(MAX_SHIFT, math.floor(math.log2(EXACT / (4 * total))))
        # rounded weights would then move psi noticeably
        if shift < COARSEST_OF_WIDE:
            return None
    weights = tuple(int(w) for w in np.rint(row * (clip * 2.0**shift / H)))
    score = ClippedResidual(weights, shift, clip)
    return score if weights[-1] > 0 and sum(map(abs, weights)) * H + 2**shift < EXACT else None


def pilot_coefficients(found: NoisyMatrix, u: int) -> Array:
    """Return least-squares coefficients, shape (u,), from noisy cross-products of terms of unit size.

    Directions in which noise exceeds the cross-products are shrunk.
    """
    return np.asarray(raised_inverse(found, u) @ found.values[:u, u])


def residual_sd(found: NoisyMatrix, b: Array, rows: float, margin: float = MARGIN) -> float:
    """Return the root mean square of residuals from coefficients `b`, rather too large than too small.

    Since b minimises the noisy sum of squares, that sum is on average below the true one by twice what the noise in b
    adds to it; this is added back, with `margin` standard errors.
    """
    a = np.append(-b, 1.0)
    least, noise = float(a @ found.values @ a), math.sqrt(found.quadratic_variance(a))
    # tr(A^-1 Cov(N a)): what the noise in b adds to the sum of squares
    own = float(np.trace(raised_inverse(found, len(b)) @ found.covariance_times(a)[: len(b), : len(b)]))
    return math.sqrt(max(least + 2 * own + margin * noise, 0.0) / rows)


def raised_inverse(found: NoisyMatrix, u: int) -> Array:
    """Return the inverse of the regressors' cross-products, whose eigenvalues are raised to the size of their noise."""
    values, vectors = np.linalg.eigh(found.values[:u, :u])
    noise = float(np.linalg.eigvalsh(found.leading(u).noise_quadratic(np.eye(u)))[-1])
    # root mean square of the noise in the worst direction; 1 is one row
    floor = max(math.sqrt(max(noise, 0.0)), 1.0)
    return np.asarray((vectors / np.maximum(values, floor)) @ vectors.T)
