"""How far clipping moved the level of a linear regression, as a posterior law.  Post-processing, on plain arrays.

Of n rows a share `share` is beyond the range c, and tau is the mean of what each of them loses.  With s the share above
the range less that below, clipping lowers the level by tau s.  What is known:

- of tau, before: an exponential law of mean LONGER times the usual excess (`clipping_bias`).  Gross errors lose more
  than the tails of usual laws do: normal ones ten times as large as others 0.7 to 1.4 times the range;
- of s, before: a normal law of mean 0 and standard deviation `share`.  All on one side are one deviation away;
- D / N, how much clipping lowers the sum of squares per row beyond the range: 2 tau (tau + c), with normal noise;
- s itself, from the signs of clipped residuals, with normal noise; and tau s, from the mean residual.

Given tau all of these are normal in s, and the posterior law is a mixture over a grid of tau.  Its mean is taken back
and its variance stays as an error.  Where signs are even hardly anything is taken back, whatever tau may be.

Clipped residuals that are told by their sign vary from table to table.  A level that got a part k of tau s back has,
beside the sampling variance of clipped residuals, that of k t and twice the covariance of both: in each row
k**2 t**2 + 2 k c |t|, whose mean is k share (2 k tau**2 + 2 c tau) for exponential t.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array

LONGER: Final = 1.5
"""Mean of the excess before, over the usual one."""
EXCESSES: Final[Array] = np.geomspace(1e-3, 60, 500)
"""Excesses relative to the usual one, over which a posterior is summed."""
LEAST_NOISE: Final = 1e-12
"""Least variance of the noise in s, relative to the square of the share: signs may be exact."""


@dataclass(frozen=True)
class ClippedRows:
    """What is known before of the rows beyond the range, in units of the step's response.

    share: of all rows.  usual: their usual excess.  range_: c.  most: the largest excess.
    """

    share: float
    usual: float
    range_: float
    most: float


@dataclass(frozen=True)
class ToldLevel:
    """The mean of what clipping takes from the level, and its variance; chance: sampling variance of a row that comes
    with taking it back.
    """

    value: float
    variance: float
    chance: float


def told_level_of(
    rows: ClippedRows,
    lost: tuple[float, float],
    signed: tuple[float, float],
    residual: tuple[float, float] | None = None,
) -> ToldLevel:
    """Return the posterior law of tau s; each observation with the variance of its noise.

    lost: D / N.  signed: s.  residual: tau s.

    Signs on one side, of rows whose excess is known to be 2 or hardly known at all:

    >>> rows = ClippedRows(0.01, 2.0, 5.0, 50.0)
    >>> known = told_level_of(rows, (2 * 2 * (2 + 5), 1e-4), (0.01, 1e-9))
    >>> round(known.value, 3), round(known.variance**0.5, 4)
    (0.02, 0.0001)
    >>> vague = told_level_of(rows, (0.0, 1e9), (0.01, 1e-9))
    >>> round(vague.value, 3), round(vague.variance**0.5, 3)
    (0.03, 0.03)

    Signs that are even take nothing back:

    >>> round(told_level_of(rows, (0.0, 1e9), (0.0, 1e-9)).value, 3)
    0.0
    """
    tau = rows.usual * EXCESSES
    tau = tau[tau <= max(rows.most, tau[0])]
    away = lost[0] - 2 * tau * (tau + rows.range_)
    # on a geometric grid a density counts tau times
    log = np.log(tau) - tau / (LONGER * rows.usual) - away**2 / (2 * max(lost[1], 1e-300))
    square = rows.share**2
    noise = max(signed[1], LEAST_NOISE * square)
    kept = square / (square + noise)
    s, doubt = kept * signed[0] + 0 * tau, kept * noise + 0 * tau
    if residual is not None:
        seen = residual[1] + tau**2 * doubt
        off = residual[0] - tau * s
        log = log - off**2 / (2 * seen) - np.log(seen) / 2
        gain = tau * doubt / seen
        s, doubt = s + gain * off, doubt * (1 - gain * tau)
    weight = np.exp(log - log.max())
    weight = weight / weight.sum()
    value = float(weight @ (tau * s))
    variance = float(weight @ (tau**2 * doubt + (tau * s - value) ** 2))
    # the part of s that is told
    k = 1 - np.clip(doubt / square, 0.0, 1.0)
    chance = rows.share * float(weight @ (2 * k**2 * tau**2 + 2 * k * rows.range_ * tau))
    return ToldLevel(value, variance, chance)
