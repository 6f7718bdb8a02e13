"""The variance of a linear model's residuals in the table, with its noise and what clipping hides.  Post-processing.

Released are the sum of squared residuals that count up to the range c, and, with far more noise, that of all of them.
The first is too small by D, the sum of t**2 + 2 c |t| over the N rows beyond the range, t being what is clipped off a
residual.  For exponential tails of mean tau, D is N (2 tau**2 + 2 c tau).  N is released with noise; tau is not, and
gets an exponential prior whose mean is TYPICAL times the larger of a standard deviation and the excess of a Pareto
tail.  The first sum plus the mean of D, and the second sum, are then averaged by their variances.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from tacit.base.lazy_imports import special
from tacit.method.regression.bounded_scores.clipped_shares import TAIL
from tacit.method.regression.estimate_coefficients.clipping_bias import rows_beyond
from tacit.method.regression.estimate_coefficients.sampling_variance import (
    ErrorVariance,
    positive_part,
    squares_of_residuals,
)
from tacit.method.regression.row_sums.noisy_crossproducts import ResidualScores

if TYPE_CHECKING:
    from tacit.method.regression.estimate_coefficients.linear_step import LinearStep

TYPICAL: Final = 0.5
"""Mean excess over the range, relative to the largest that is usual: errors may be normal or have long tails."""
LEVEL: Final = 0.95
"""Of the interval of the residual standard deviation."""


def residual_variance(step: LinearStep, scores: ResidualScores, errors: ErrorVariance) -> ErrorVariance:
    """Return the variance of the table's residuals; errors: that of clipped residuals, averaged with the other sum."""
    clip = scores.residual.clip / step.unit
    if clip >= 0.99 * step.full_range:
        return errors
    rows, (squares, noises) = step.rows - step.u, squares_of_residuals(step, scores)
    mean, spread = _clipped_off(*_beyond(step, scores, clip, errors), clip, math.sqrt(errors.value))
    own = noises[0] + spread
    # of rows with weights the sums differ by more than clipping: one has weights, the other their squares
    weight = 1.0 if scores.weighted else noises[1] / (noises[1] + own)
    observed, noise = weight * (squares[0] + mean) + (1 - weight) * squares[1], weight * own
    value, left = positive_part(observed, noise)
    return ErrorVariance(value / rows, left / rows**2, observed / rows, noise / rows**2)


def _beyond(step: LinearStep, scores: ResidualScores, clip: float, errors: ErrorVariance) -> tuple[float, float]:
    """Return mean and root mean square of the number of rows beyond the range."""
    if scores.far is not None:
        return rows_beyond(scores, step.rows)
    # not released: as many as exponential errors of this variance have, give or take as many
    number = step.rows * math.exp(-1 - clip / math.sqrt(errors.value))
    return number, math.sqrt(2) * number


def _clipped_off(mean: float, size: float, clip: float, sd: float) -> tuple[float, float]:
    """Return mean and variance of D; mean, size: mean and root mean square of the number of rows beyond the range.

    >>> _clipped_off(0.0, 0.0, 3.0, 1.0), _clipped_off(10.0, 10.0, 2.0, 1.0)
    ((0.0, 0.0), (30.0, 1700.0))
    """
    tau = TYPICAL * max(sd, TAIL * clip)
    # moments of an exponential law: E tau**k is k! times the k-th power of its mean
    first = 4 * tau**2 + 2 * clip * tau
    second = 96 * tau**4 + 48 * clip * tau**3 + 8 * (clip * tau) ** 2
    return mean * first, size**2 * second - (mean * first) ** 2


def residual_spread(found: ErrorVariance, unit: float) -> Mapping[str, float]:
    """Return the residual standard deviation of the table and the ends of its interval; unit: of the variance.

    The variance has a normal law that is cut off at 0.

    >>> made = residual_spread(ErrorVariance(4.0, 0.04, 4.0, 0.04), 1.0)
    >>> {name: round(value, 2) for name, value in made.items()}
    {'scale': 2.0, 'scale_lower': 1.9, 'scale_upper': 2.1}
    """
    sd = math.sqrt(found.spread)
    above = float(special().ndtr(found.observed / sd)) if sd else 1.0
    ends = list[float]()
    for share in ((1 - LEVEL) / 2, (1 + LEVEL) / 2):
        # from the upper tail, which is precise where the law lies far below 0
        z = -float(special().ndtri(above * (1 - share)))
        ends.append(math.sqrt(max(found.observed + sd * z, 0.0) * unit))
    return {"scale": math.sqrt(found.value * unit), "scale_lower": ends[0], "scale_upper": ends[1]}
