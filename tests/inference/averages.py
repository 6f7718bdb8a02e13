"""Means of simulated numbers against what they should be."""

from __future__ import annotations

from typing import Any

import numpy as np


def agrees(drawn: Any, truth: Any, sums: float = 0.0) -> None:
    """The mean of the draws, along the first axis, is the truth: within 5 of its own standard errors.

    Beyond by chance with probability 6e-7 a number.  sums: rounding errors that are allowed, absolute.
    """
    drawn = np.asarray(drawn, dtype=np.float64)
    error = drawn.std(axis=0, ddof=1) / np.sqrt(len(drawn))
    off = np.abs(drawn.mean(axis=0) - truth)
    assert (off <= 5 * error + sums).all(), (drawn.mean(axis=0), truth, error)


def varies(drawn: Any, variance: Any, rest: float = 0.0) -> None:
    """The variance of the draws, along the first axis, is the one stated: their squared deviations agree with it.

    rest: what a linearisation leaves out, as a part of it.
    """
    drawn = np.asarray(drawn, dtype=np.float64)
    squares = (drawn - drawn.mean(axis=0)) ** 2
    agrees(squares, variance, rest * np.max(variance))


def covaries(drawn: Any, covariance: Any, rest: float = 0.0) -> None:
    """The same of a covariance matrix, shape (p, p); draws of shape (R, p)."""
    drawn = np.asarray(drawn, dtype=np.float64)
    off = drawn - drawn.mean(axis=0)
    agrees(off[:, :, None] * off[:, None, :], covariance, rest * np.max(np.diag(covariance)))
