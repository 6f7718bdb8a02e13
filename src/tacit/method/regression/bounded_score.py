"""A bounded score at given predictors, as numbers.  No data here."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]


@dataclass(frozen=True)
class BoundedScore:
    """A bounded score at given predictors: psi = clamp(v y - b, -1, 1), each shape (k,).

    curve: the derivative of its mean in the true predictor.  square: the mean of psi**2.  size: what products of
    regressors are weighted by: the mean of |psi|, or a weight that is a function of the predictor.
    """

    v: Array
    b: Array
    curve: Array
    size: Array
    square: Array
