"""How an analysis of synthetic sets is combined: arrays of estimates, a row for each set.

Of sets from the released table as it is (plain) and from tables that the truth may have been (drawn):

*estimate*: the mean over the plain sets;
*variance*: that over the drawn sets less that over the plain ones, which is due to the drawing of rows alone; and what
the drawing leaves in the mean;
*bias*: the mean over the drawn sets less that over the plain ones, what noise and sampling once more do to the
analysis; its square is added to the variance;
*sides*: what the truth may be lies unevenly around the estimate where the analysis is curved, as a share is by a
spread.  The limit on either side has a standard error of its own, of the squared distances of drawn sets there, and
half as many degrees of freedom: each side sees about half of the sets.

The drawn sets alone follow the rule for fully synthetic data: `raghunathan`.  Sources: [Raghunathan, Reiter & Rubin
2003] (drawn sets alone); [Efron & Tibshirani 1993, chapter 10] (bias).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array

LEAST_SHARE: Final = 0.1
"""Of the variance over drawn sets, what is kept at least where the drawing of rows explains the rest."""
OTHER_SIDE: Final = 0.1
"""Part of the other side's squares in those of a side: of few sets hardly any may lie there."""
DOUBT: Final = 1.0
"""Bias in standard errors beyond which an interval is not believed."""


@dataclass(frozen=True)
class CombinedAnalyses:
    """Numbers of m terms: estimates, standard errors, degrees of freedom, biases (m,), and reasons.

    sides: standard errors of the lower and of the upper limit, shape (m, 2).  df: degrees of freedom of limits.
    """

    values: Array
    std_errors: Array
    sides: Array
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
    error = np.sqrt(variance + within / p + bias**2)
    sides = np.stack([_side(sign * (drawn - center), within, p) for sign in (-1, 1)], axis=-1)
    # beyond what the numbers of sets leave unknown of the bias
    unknown = 2 * np.sqrt(between / m + within / p)
    reasons = tuple(
        _why(*one)
        for one in zip(center.tolist(), bias.tolist(), unknown.tolist(), np.sqrt(variance).tolist(), strict=True)
    )
    return CombinedAnalyses(center, error, sides, np.full_like(center, max((m - 1) / 2, 1.0)), bias, reasons)


def _side(away: Array, within: Array, plain: int) -> Array:
    """Return the standard error of a limit, shape (m,), from the drawn sets' distances towards its side."""
    # of a law that is even around the estimate the mean of both sides' squares is the variance
    own, other = (2 * (np.maximum(sign * away, 0.0) ** 2).sum(axis=0) / (len(away) - 1) for sign in (1, -1))
    square = (1 - OTHER_SIDE) * own + OTHER_SIDE * other
    return np.sqrt(np.maximum(square - within, LEAST_SHARE * square) + within / plain)


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
