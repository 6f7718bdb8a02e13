"""Quantities that differ from party to party: normal random effects, and how far they differ.  Pure array functions.

y_j = theta_j + e_j, theta_j ~ N(mu, tau2), Var e_j = v_j, sampling and noise together.  Shapes: M parties.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np

from tacit.inference.laws import Array

Method: TypeAlias = Literal["REML", "DL"]
METHODS: Final = ("REML", "DL")
STEPS: Final = 200
CLOSE: Final = 1e-10


@dataclass(frozen=True)
class Effects:
    """mu, its variance [Hartung & Knapp 2001], tau2, Cochran's Q on df degrees of freedom; weights of shape (M,).

    freedom: of the interval's t, at most df: where few parties are precise, tau2 is known from those few.
    """

    mu: float
    variance: float
    tau2: float
    Q: float
    df: int
    weights: Array
    freedom: float

    @property
    def I2(self) -> float:
        """Share of the variation between estimates that is no error: max(0, (Q - df) / Q) [Higgins & Thompson 2002]."""
        return max(0.0, (self.Q - self.df) / self.Q) if self.Q > 0 else 0.0

    @property
    def p_value(self) -> float:
        """Of Q, if all parties had the same quantity."""
        from scipy import special  # pyright: ignore[reportMissingTypeStubs]

        return float(cast(Any, special).chdtrc(self.df, self.Q))

    def half(self, level: float) -> float:
        """Half the interval of mu: t with `freedom` degrees of freedom."""
        return quantile(level, self.freedom) * math.sqrt(self.variance)

    def prediction(self, level: float) -> tuple[float, float] | None:
        """Where theta of one more party lies: mu -+ t(freedom - 1) sqrt(tau2 + variance) [Higgins et al. 2009].

        None for fewer than three parties.
        """
        if self.df < 2:
            return None
        half = quantile(level, max(self.freedom - 1, 1.0)) * math.sqrt(self.tau2 + self.variance)
        return self.mu - half, self.mu + half


def quantile(level: float, df: float) -> float:
    """The t with P(|T| <= t) = level.

    >>> round(quantile(0.95, 9), 4)
    2.2622
    """
    from scipy import special  # pyright: ignore[reportMissingTypeStubs]

    return float(cast(Any, special).stdtrit(df, 0.5 + level / 2))


def effects(y: Array, v: Array, method: Method = "REML") -> Effects:
    """Estimates and their variances, shape (M,), M >= 2 -> Effects.

    REML: restricted maximum likelihood, by Fisher scoring; "DL": the moment estimator [DerSimonian & Laird 1986].
    Interval: Hartung and Knapp's, the empirical variance of the weighted estimates, with t on M - 1 degrees of freedom
    where all are equally precise and fewer where they are not.

    >>> found = effects(np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.1, 0.2, 0.1, 0.3]))
    >>> round(found.mu, 3), found.df, round(found.I2, 2)
    (2.494, 3, 0.94)
    """
    tau2 = moment(y, v) if method == "DL" else restricted(y, v)
    w = 1 / (v + tau2)
    mu = float((w * y).sum() / w.sum())
    fixed = 1 / v
    middle = float((fixed * y).sum() / fixed.sum())
    Q = float((fixed * (y - middle) ** 2).sum())
    df = len(y) - 1
    variance = float((w * (y - mu) ** 2).sum() / (df * w.sum()))
    return Effects(mu, variance, tau2, Q, df, w / w.sum(), freedom_of(w) if tau2 > 0 else float(df))


def freedom_of(w: Array) -> float:
    """Degrees of freedom with which V = 1 / sum w is known where tau2 is estimated [Kenward & Roger 1997].

    2 V**2 / Var V, Var V = (sum w**2 / (sum w)**2)**2 / information: M - 1 for equal weights, about m - 1 where m
    parties have nearly all the weight, as if there were no others.  (A tau2 of 0 leaves
    nothing to know: then M - 1.)

    >>> round(freedom_of(np.ones(10)), 6), round(freedom_of(np.array([1.0] * 5 + [1e-4] * 30)), 2)
    (9.0, 4.0)
    """
    one, two, three = (float((w**k).sum()) for k in (1, 2, 3))
    information = 0.5 * (two - 2 * three / one + two**2 / one**2)
    return min(max(2 * information * one**2 / two**2, 1.0), len(w) - 1.0)


def moment(y: Array, v: Array) -> float:
    """DerSimonian and Laird's tau2 = max(0, (Q - (M - 1)) / (sum w - sum w**2 / sum w)), w = 1 / v."""
    w = 1 / v
    mu = (w * y).sum() / w.sum()
    Q = float((w * (y - mu) ** 2).sum())
    return max(0.0, (Q - (len(y) - 1)) / float(w.sum() - (w**2).sum() / w.sum()))


def restricted(y: Array, v: Array) -> float:
    """REML's tau2: scoring from the moment estimator, halved where a step would leave [0, inf) or lose likelihood."""
    tau2, best = 0.0, -math.inf
    for start in (moment(y, v), 0.0):  # both ends of a likelihood that may have two tops
        found = _climb(y, v, start)
        height = likelihood(y, v, found)
        if height > best:
            tau2, best = found, height
    return tau2


def _climb(y: Array, v: Array, tau2: float) -> float:
    here = likelihood(y, v, tau2)
    for _ in range(STEPS):
        w = 1 / (v + tau2)
        total = float(w.sum())
        mu = float((w * y).sum()) / total
        score = 0.5 * float((w**2 * (y - mu) ** 2).sum() - w.sum() + (w**2).sum() / total)
        information = 0.5 * float((w**2).sum() - 2 * (w**3).sum() / total + (w**2).sum() ** 2 / total**2)
        step = score / max(information, 1e-300)
        while True:
            to = max(0.0, tau2 + step)
            there = likelihood(y, v, to)
            if there >= here or abs(to - tau2) <= CLOSE * (tau2 + float(v.min())):
                break
            step /= 2
        done = abs(to - tau2) <= CLOSE * (tau2 + float(v.min()))
        tau2, here = to, there
        if done:
            break
    return tau2


def likelihood(y: Array, v: Array, tau2: float) -> float:
    """The restricted log-likelihood, but for a constant."""
    w = 1 / (v + tau2)
    total = float(w.sum())
    mu = float((w * y).sum()) / total
    return -0.5 * float((w * (y - mu) ** 2).sum() - np.log(w).sum() + math.log(total))
