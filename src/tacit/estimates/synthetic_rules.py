"""How an analysis of synthetic sets is combined: arrays of estimates, a row for each set.

Of sets from the released table as it is (plain) and from tables that the truth may have been (drawn):

*estimate*: the mean over the plain sets;
*variance*: that over the drawn sets less that over the plain ones, which is due to the drawing of rows alone; and what
the drawing leaves in the mean;
*bias*: the mean over the drawn sets less that over the plain ones, what noise and sampling once more do to the
analysis; its square is added to the variance.

The drawn sets alone follow the rule for fully synthetic data: `raghunathan`.  Sources: [Raghunathan, Reiter & Rubin
2003] (drawn sets alone); [Efron & Tibshirani 1993, chapter 10] (bias); [Satterthwaite 1946] (degrees of freedom).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array

LEAST_SHARE: Final = 0.1
"""Of the variance over drawn sets, what is kept at least where the drawing of rows explains the rest."""
DOUBT: Final = 1.0
"""Bias in standard errors beyond which an interval is not believed."""


@dataclass(frozen=True)
class CombinedAnalyses:
    """Numbers of m terms: estimates, standard errors, degrees of freedom, biases (m,), and reasons."""

    values: Array
    std_errors: Array
    df: Array
    bias: Array
    reasons: tuple[str | None, ...]


def combined(plain: Array, drawn: Array) -> CombinedAnalyses:
    """Combine an analysis of plain sets, shape (sets, m), and of drawn ones, shape (other sets, m).

    >>> rng = np.random.default_rng(0)
    >>> plain, drawn = rng.normal(0, 0.5, (400, 1)), rng.normal(0, np.hypot(1, 0.5), (400, 1))
    >>> round(float(combined(plain, drawn).std_errors[0]), 1)
    1.0
    """
    p, m = len(plain), len(drawn)
    center = plain.mean(axis=0)
    bias = drawn.mean(axis=0) - center
    within, between = plain.var(axis=0, ddof=1), drawn.var(axis=0, ddof=1)
    variance = np.maximum(between - within, LEAST_SHARE * between)
    # a bias that the drawing of sets alone explains counts as it is: it is small
    total = variance + within / p + bias**2
    scatter = between**2 / (m - 1) + within**2 / (p - 1)
    df = np.divide(total**2, scatter, out=np.full_like(total, np.inf), where=scatter > 0)
    error = np.sqrt(total)
    # beyond what the numbers of sets leave unknown of the bias
    unknown = 2 * np.sqrt(between / m + within / p)
    reasons = tuple(
        _why(*one)
        for one in zip(center.tolist(), bias.tolist(), unknown.tolist(), np.sqrt(variance).tolist(), strict=True)
    )
    return CombinedAnalyses(center, error, np.clip(df, 1.0, m - 1.0), bias, reasons)


def raghunathan(values: Array, variances: Array) -> tuple[Array, Array, Array]:
    """Combine the frames' estimates and their own variances, shape (sets, m), as fully synthetic data are.

    Returns means, variances and degrees of freedom, shape (m,).  The variance (1 + 1/M) b - u of M sets may be below 0,
    and is then NaN: more rows in each set make u smaller.  Source: [Raghunathan, Reiter & Rubin 2003].

    >>> rng = np.random.default_rng(0)
    >>> values = rng.normal(0, np.hypot(1, 0.5), (400, 1))
    >>> round(float(raghunathan(values, np.full((400, 1), 0.25))[1][0]), 1)
    1.0
    """
    sets = len(values)
    between, within = values.var(axis=0, ddof=1), variances.mean(axis=0)
    more = (1 + 1 / sets) * between
    total = np.where(more > within, more - within, np.nan)
    with np.errstate(divide="ignore", invalid="ignore"):
        df = (sets - 1) * (1 - within / more) ** 2
    return values.mean(axis=0), total, np.maximum(df, 1.0)


def _why(center: float, bias: float, unknown: float, error: float) -> str | None:
    if not np.isfinite(center) or not np.isfinite(error) or not np.isfinite(bias):
        return "the analysis has no finite value in a part of the sets"
    if abs(bias) - unknown > DOUBT * error:
        return "noise moves this analysis by more than its standard error: its answer from noisy counts is biased"
    return None
