"""Quantities that differ from party to party: normal random effects, and how far they differ.  Pure array functions.

y_j = theta_j + e_j, theta_j ~ N(mu, tau2), Var e_j = v_j, sampling and noise together.  Shapes: M parties, T quantities
each of which is worked out alone, all at once; `use` of shape (M, T) says which parties count, 1 or 0.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.pooling.prediction import Ahead, ahead_of, height, weighted

Method: TypeAlias = Literal["REML", "DL"]
METHODS: Final = ("REML", "DL")
STEPS: Final = 200
CLOSE: Final = 1e-10


@dataclass(frozen=True)
class PooledEffects:
    """mu, its variance [Hartung & Knapp 2001], tau2, Cochran's Q on df degrees of freedom; weights of shape (M,).

    freedom: of the interval's t, at most df: where few parties are precise, tau2 is known from those few.
    wider: what the variance is multiplied by, as tau2 is estimated (`inflation`).
    ahead: what is known of one more party, None for fewer than three.
    """

    mu: float
    variance: float
    tau2: float
    Q: float
    df: int
    weights: Array
    freedom: float
    wider: float = 1.0
    ahead: Ahead | None = None

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
        return quantile(level, self.freedom) * math.sqrt(self.error)

    @property
    def error(self) -> float:
        """The variance of mu that its interval has."""
        return self.variance * self.wider

    def prediction(self, level: float) -> tuple[float, float] | None:
        """Where theta of one more party lies, all values of tau that the estimates leave possible counted in.

        None for fewer than three parties.
        """
        return None if self.ahead is None else self.ahead.interval(level)


def quantile(level: float, df: float) -> float:
    """The t with P(|T| <= t) = level.

    >>> round(quantile(0.95, 9), 4)
    2.2622
    """
    from scipy import special  # pyright: ignore[reportMissingTypeStubs]

    return float(cast(Any, special).stdtrit(df, 0.5 + level / 2))


def effects(y: Array, v: Array, method: Method = "REML") -> PooledEffects:
    """Estimates and their variances, shape (M,), M >= 2 -> Effects; see `every`.

    >>> found = effects(np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.1, 0.2, 0.1, 0.3]))
    >>> round(found.mu, 3), found.df, round(found.I2, 2)
    (2.494, 3, 0.94)
    """
    (found,) = every(y[:, None], v[:, None], np.ones((len(y), 1)), method)
    assert found is not None
    return found


def every(y: Array, v: Array, use: Array, method: Method = "REML") -> tuple[PooledEffects | None, ...]:
    """Estimates and their variances, shape (M, T) -> Effects of each of T; None where fewer than two parties count.

    REML: restricted maximum likelihood, by Fisher scoring; "DL": the moment estimator [DerSimonian & Laird 1986].
    Interval: Hartung and Knapp's, the empirical variance of the weighted estimates, with t on M - 1 degrees of freedom
    where all are equally precise; where they are not, on fewer, and wider by what an estimated tau2 adds to the
    variance (`inflation`).
    """
    count = use.sum(axis=0)
    some = np.flatnonzero(count >= 2)
    out: list[PooledEffects | None] = [None] * y.shape[1]
    if not len(some):
        return tuple(out)
    use = use[:, some]
    y, v, df = np.where(use > 0, y[:, some], 0.0), np.where(use > 0, v[:, some], 1.0), count[some] - 1
    tau2 = moment(y, v, use) if method == "DL" else restricted(y, v, use)
    w, total, mu = weighted(y, v, use, tau2)
    fixed, _, middle = weighted(y, v, use, np.zeros_like(tau2))
    Q = (fixed * (y - middle) ** 2).sum(axis=0)
    differ = tau2 > 0  # a tau2 of 0 leaves nothing to know of it
    variance = (w * (y - mu) ** 2).sum(axis=0) / (df * total)
    freedom, wider = np.where(differ, freedom_of(w, df), df), np.where(differ, inflation(w), 1.0)
    ahead = ahead_of(y, v, use, tau2)
    for j, t in enumerate(some):
        out[t] = PooledEffects(
            mu=float(mu[j]),
            variance=float(variance[j]),
            tau2=float(tau2[j]),
            Q=float(Q[j]),
            df=int(df[j]),
            weights=(w[:, j] / total[j])[use[:, j] > 0],
            freedom=float(freedom[j]),
            wider=float(wider[j]),
            ahead=ahead.of(j) if df[j] >= 2 else None,
        )
    return tuple(out)


def powers(w: Array) -> tuple[Array, Array, Array]:
    """Sums of w, w**2 and w**3 over the parties, shape (T,) each."""
    return w.sum(axis=0), (w**2).sum(axis=0), (w**3).sum(axis=0)


def information(w: Array) -> Array:
    """Of tau2 in the restricted likelihood, expected."""
    one, two, three = powers(w)
    return 0.5 * (two - 2 * three / one + two**2 / one**2)


def freedom_of(w: Array, df: Array) -> Array:
    """Degrees of freedom with which V = 1 / sum w is known where tau2 is estimated [Kenward & Roger 1997].

    2 V**2 / Var V, Var V = (sum w**2 / (sum w)**2)**2 / information: M - 1 for equal weights, about m - 1 where m
    parties have nearly all the weight, as if there were no others.

    >>> w = np.array([[1.0] * 5 + [1e-4] * 30, [1.0] * 35]).T
    >>> freedom_of(w, np.array([34, 34])).round(2)
    array([ 4., 34.])
    """
    one, two, _ = powers(w)
    return np.minimum(np.maximum(2 * information(w) * one**2 / two**2, 1.0), df)


def inflation(w: Array) -> Array:
    """What an estimated tau2 multiplies the variance by, 1 + 2 L / V [Kackar & Harville 1984; Kenward & Roger 1997].

    L = (sum w**3 / (sum w)**2 - (sum w**2)**2 / (sum w)**3) / information is what the weights' own error adds, and
    1 / sum w is too small by as much.  1 for equal weights.
    """
    one, two, three = powers(w)
    return 1 + 2 * (three / one - two**2 / one**2) / np.maximum(information(w), 1e-300)


def moment(y: Array, v: Array, use: Array) -> Array:
    """DerSimonian and Laird's tau2 = max(0, (Q - (M - 1)) / (sum w - sum w**2 / sum w)), w = 1 / v; shape (T,)."""
    w, total, mu = weighted(y, v, use, np.zeros_like(y[0]))
    Q = (w * (y - mu) ** 2).sum(axis=0)
    return np.maximum(0.0, (Q - (use.sum(axis=0) - 1)) / (total - (w**2).sum(axis=0) / total))


def restricted(y: Array, v: Array, use: Array) -> Array:
    """REML's tau2: scoring from the moment estimator, halved where a step would leave [0, inf) or lose likelihood."""
    first = _climb(y, v, use, moment(y, v, use))  # from both ends of a likelihood that may have two tops
    second = _climb(y, v, use, np.zeros_like(y[0]))
    return np.where(height(y, v, use, second) > height(y, v, use, first), second, first)


def _climb(y: Array, v: Array, use: Array, tau2: Array) -> Array:
    here = height(y, v, use, tau2)
    least: Array = v.min(axis=0)
    for _ in range(STEPS):
        w, total, mu = weighted(y, v, use, tau2)
        two = (w**2).sum(axis=0)
        score = 0.5 * ((w**2 * (y - mu) ** 2).sum(axis=0) - total + two / total)
        step: Array = score / np.maximum(information(w), 1e-300)
        while True:
            to = np.maximum(0.0, tau2 + step)
            there = height(y, v, use, to)
            close = np.abs(to - tau2) <= CLOSE * (tau2 + least)
            lost = (there < here) & ~close
            if not lost.any():
                break
            step = np.where(lost, step / 2, step)
        tau2, here = to, there
        if close.all():
            break
    return tau2
