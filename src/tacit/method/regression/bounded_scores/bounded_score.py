"""A bounded score at given predictors, and its moments.  No data here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BoundedScore:
    """A bounded score psi = clamp(v y - b, -1, 1) of a response y at k given predictors; each array has shape (k,).

    curve: derivative of its mean in the true predictor.  size: what products of regressors are weighted by, the mean of
    |psi| or a function of the predictor.  square: mean of psi**2.
    """

    v: Array
    b: Array
    curve: Array
    size: Array
    square: Array
