"""How far a step relies on a guessed curvature, and how long errors are when curvatures are noisy.  No data here.

The curvature B of a binary response is w W + (1 - w) G: W as released, A + N with A the true one and N noise of known
law, and G guessed, G = A + R.  The weight w has the least mean square over all tables.  In any one table R is the same
in every release, though: with way = beta - b0 and the step s = B^-1 g,

    s - way = B^-1 (scores and their noise - w N way - (1 - w) R way) + terms of second order,

and the last term of the bracket pulls all releases to one side, by half a standard error and more where regressors have
long tails and events are few.  W tells of R without bias, so that t B^-1 (B - W) s is added to the step, for some t in
[0, 1]: to first order it leaves

    w' N way + (1 - w') R way,      w' = w + t (1 - w).

`nearer_released` chooses w'.  The inverse is still that of B, so that the noise of W enters once, not through W^-1.

What terms of second order do.  Their mean has (2 w - w**2) A^-1 E[N A^-1 N] way in it (t = 1), known from the law of N.
It is not subtracted: the step's law is that of a ratio, whose mean is far out where W happens to be small, and with it
the standard error.  Without that mean estimates are too near b0 in most releases.  Intervals allow for the ratio as
Fieller's do (`farther_end`): they have all beta that the scores do not contradict, with the noise that N times the way
*to that beta* has, and not to where the step happened to end.
"""

from __future__ import annotations

import math
from typing import Final

import numpy as np

from tacit.method.regression.estimate_coefficients.sampling_variance import LEVEL

BIAS_COUNTS: Final = 4.0
"""As how many times its mean square the error of a guess counts, which is the same in all releases of a table."""
MOST_VARIANCE: Final = 1.1
"""Largest factor by which less of a guess makes the variance of a step larger."""
TRIED: Final = 201
LEAST_SLOPE: Final = 0.2
"""Least part of a curvature, in units of itself, that noise of LEVEL standard deviations is taken to leave."""


def nearer_released(weight: float, base: float, noise: float, guess: float) -> float:
    """Return the weight w' of the released curvature in the error of a step, from `weight` up to 1.

    base: mean square of what is in the step besides.  noise: mean square of N way.  guess: that of R way.

    >>> nearer_released(0.8, 1.0, 0.0, 0.5), nearer_released(0.5, 0.0, 1.0, 1.0)
    (1.0, 0.6575)
    >>> nearer_released(0.2, 1.0, 100.0, 25.0) < 0.4
    True
    """
    tried = np.linspace(weight, 1.0, TRIED)
    bias = guess * (1 - tried) ** 2
    whole = base + noise * tried**2 + bias
    allowed = whole <= MOST_VARIANCE * whole[0]
    return round(float(tried[np.argmin(np.where(allowed, whole + (BIAS_COUNTS - 1) * bias, np.inf))]), 12)


def farther_end(base: float, way: float, both: float, along: float) -> float:
    """Return the standard error whose interval reaches as far as the farther end of Fieller's [Fieller 1954].

    The estimate's error d has variance base + way + 2 both d + along d**2 where the truth lies d beyond the estimate,
    way being that of the curvature's error times the step.  The ends are the roots of d**2 = LEVEL**2 times that.

    >>> farther_end(1.0, 0.0, 0.0, 0.0), round(farther_end(1.0, 0.2, 0.1, 0.05), 2)
    (1.0, 1.49)
    """
    z = LEVEL
    left = max(1 - z**2 * along, LEAST_SLOPE)
    return (z * abs(both) + math.sqrt(z**2 * both**2 + left * (base + way))) / left
