"""Random-effects meta-analysis: the mean of quantities that differ from party to party, and how far they differ.

Model: y_j = theta_j + e_j, theta_j ~ N(mu, tau2), Var e_j = v_j, the sum of sampling and noise variance.  Functions of
arrays for M parties and T quantities, which are independent of each other; `use`, shape (M, T), is 1 for the parties
that count and 0 for the others.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.pooling.prediction import PredictiveMixture, predictive_mixture
from tacit.pooling.restricted_likelihood import information, powers, restricted_log_likelihood, weighted

Method: TypeAlias = Literal["REML", "DL"]
METHODS: Final = ("REML", "DL")
STEPS: Final = 200
CLOSE: Final = 1e-10


@dataclass(frozen=True)
class PooledEffects:
    """A fitted random-effects model of one quantity.

    mu, variance: the mean and its variance [Hartung & Knapp 2001].  tau2: variance between parties.  Q: Cochran's, on
    df degrees of freedom.  weights: of the parties that count, adding up to 1.
    freedom: degrees of freedom of the t interval, at most df; fewer where few parties carry most of the weight.
    wider: factor of the variance that allows for the estimation of tau2 (`inflation`).
    ahead: predictive distribution of a new party's quantity, None for fewer than three parties.
    tau2_variance: the variance of tau2, one over its information.
    """

    mu: float
    variance: float
    tau2: float
    Q: float
    df: int
    weights: Array
    freedom: float
    wider: float = 1.0
    ahead: PredictiveMixture | None = None
    tau2_variance: float = 0.0

    @property
    def I2(self) -> float:
        """Share of variation between estimates that their errors do not explain [Higgins & Thompson 2002].

        max(0, (Q - df) / Q).
        """
        return max(0.0, (self.Q - self.df) / self.Q) if self.Q > 0 else 0.0

    @property
    def p_value(self) -> float:
        """The p-value of Q under the hypothesis that all parties have the same quantity."""
        from scipy import special  # pyright: ignore[reportMissingTypeStubs]

        return float(cast(Any, special).chdtrc(self.df, self.Q))

    def half(self, level: float) -> float:
        """Half the width of the interval for mu: t with `freedom` degrees of freedom."""
        return quantile(level, self.freedom) * math.sqrt(self.error)

    @property
    def error(self) -> float:
        """The variance of the estimated mu that its interval uses: `variance` times `wider`."""
        return self.variance * self.wider

    def prediction(self, level: float) -> tuple[float, float] | None:
        """Return the prediction interval for theta of a new party, averaged over the plausible values of tau.

        None for fewer than three parties.
        """
        return None if self.ahead is None else self.ahead.interval(level)


def quantile(level: float, df: float) -> float:
    """Return the t with P(|T| <= t) = level for Student's t with df degrees of freedom.

    >>> round(quantile(0.95, 9), 4)
    2.2622
    """
    from scipy import special  # pyright: ignore[reportMissingTypeStubs]

    return float(cast(Any, special).stdtrit(df, 0.5 + level / 2))


def effects(y: Array, v: Array, method: Method = "REML") -> PooledEffects:
    """Fit random effects to one quantity's estimates and variances, shape (M,), M >= 2; see `fit_effects`.

    >>> found = effects(np.array([1.0, 2.0, 4.0, 3.0]), np.array([0.1, 0.2, 0.1, 0.3]))
    >>> round(found.mu, 3), found.df, round(found.I2, 2)
    (2.494, 3, 0.94)
    """
    (found,) = fit_effects(y[:, None], v[:, None], np.ones((len(y), 1)), method)
    assert found is not None
    return found


def fit_effects(
    y: Array, v: Array, use: Array, method: Method = "REML", *, predict: bool = True
) -> tuple[PooledEffects | None, ...]:
    """Fit random effects to each of T quantities from estimates y and variances v, shape (M, T).

    None where fewer than two parties count.  predict=False: without the prediction of a new party.
    method "REML": restricted maximum likelihood, by Fisher scoring; "DL": moment estimator [DerSimonian & Laird 1986].
    The interval is Hartung and Knapp's: the empirical variance of the weighted estimates, with t on M - 1 degrees of
    freedom where all parties are equally precise.  Where they are not, t has fewer degrees of freedom
    (`degrees_of_freedom`) and the variance is multiplied by what the estimation of tau2 adds (`inflation`).
    """
    count = use.sum(axis=0)
    some = np.flatnonzero(count >= 2)
    out: list[PooledEffects | None] = [None] * y.shape[1]
    if not len(some):
        return tuple(out)
    use = use[:, some]
    # parties that do not count may hold NaN: any finite value will do, as their weight is 0
    y, v, df = np.where(use > 0, y[:, some], 0.0), np.where(use > 0, v[:, some], 1.0), count[some] - 1
    tau2 = moment_tau2(y, v, use) if method == "DL" else reml_tau2(y, v, use)
    w, total, mu = weighted(y, v, use, tau2)
    # Cochran's Q has the weights 1 / v, without tau2: under equal quantities it is chi-square with df
    fixed, _, middle = weighted(y, v, use, np.zeros_like(tau2))
    Q = (fixed * (y - middle) ** 2).sum(axis=0)
    differ = tau2 > 0  # both corrections are for the error of tau2; at its boundary 0 Hartung and Knapp's is kept
    variance = (w * (y - mu) ** 2).sum(axis=0) / (df * total)
    freedom, wider = np.where(differ, degrees_of_freedom(w, df), df), np.where(differ, inflation(w), 1.0)
    ahead, known = predictive_mixture(y, v, use, tau2) if predict else None, information(w)
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
            # of two parties the likelihood says next to nothing of tau: the prior alone would be the interval
            ahead=ahead.of(j) if ahead is not None and df[j] >= 2 else None,
            tau2_variance=float(1 / max(known[j], 1e-300)),
        )
    return tuple(out)


def degrees_of_freedom(w: Array, df: Array) -> Array:
    """Return degrees of freedom of the estimated variance V = 1 / sum w, as tau2 is estimated [Kenward & Roger 1997].

    They are 2 V**2 / Var V, Var V = (sum w**2 / (sum w)**2)**2 / information: M - 1 for equal weights, and about m - 1
    where m parties have nearly all the weight.

    >>> w = np.array([[1.0] * 5 + [1e-4] * 30, [1.0] * 35]).T
    >>> degrees_of_freedom(w, np.array([34, 34])).round(2)
    array([ 4., 34.])
    """
    one, two, _ = powers(w)
    return np.minimum(np.maximum(2 * information(w) * one**2 / two**2, 1.0), df)


def inflation(w: Array) -> Array:
    """Return the factor 1 + 2 L / V of the variance V of mu [Kackar & Harville 1984; Kenward & Roger 1997].

    L = (sum w**3 / (sum w)**2 - (sum w**2)**2 / (sum w)**3) / information is what the error of estimated weights adds
    to V = 1 / sum w; V is besides too small by about L on average.  The factor is 1 for equal weights.
    """
    one, two, three = powers(w)
    return 1 + 2 * (three / one - two**2 / one**2) / np.maximum(information(w), 1e-300)


def moment_tau2(y: Array, v: Array, use: Array) -> Array:
    """Return DerSimonian and Laird's max(0, (Q - (M - 1)) / (sum w - sum w**2 / sum w)), w = 1 / v; shape (T,)."""
    w, total, mu = weighted(y, v, use, np.zeros_like(y[0]))
    Q = (w * (y - mu) ** 2).sum(axis=0)
    # E Q = M - 1 + tau2 (sum w - sum w**2 / sum w), solved for tau2
    return np.maximum(0.0, (Q - (use.sum(axis=0) - 1)) / (total - (w**2).sum(axis=0) / total))


def reml_tau2(y: Array, v: Array, use: Array) -> Array:
    """Return the REML estimate of tau2, shape (T,): the better of two runs of Fisher scoring."""
    # the likelihood may have two maxima: one run starts at the moment estimate, the other at 0
    first = _scoring(y, v, use, moment_tau2(y, v, use))
    second = _scoring(y, v, use, np.zeros_like(y[0]))
    return np.where(
        restricted_log_likelihood(y, v, use, second) > restricted_log_likelihood(y, v, use, first), second, first
    )


def _scoring(y: Array, v: Array, use: Array, tau2: Array) -> Array:
    """Maximise the restricted likelihood from tau2 by Fisher scoring; steps that lower it are halved."""
    here = restricted_log_likelihood(y, v, use, tau2)
    least: Array = v.min(axis=0)
    for _ in range(STEPS):
        w, total, mu = weighted(y, v, use, tau2)
        two = (w**2).sum(axis=0)
        # derivative in tau2: (y' P P y - trace P) / 2, with trace P = sum w - sum w**2 / sum w
        score = 0.5 * ((w**2 * (y - mu) ** 2).sum(axis=0) - total + two / total)
        step: Array = score / np.maximum(information(w), 1e-300)
        # the loop ends: halved steps become `close` sooner or later, and what they lose is then rounding
        while True:
            # tau2 is a variance: at the boundary the step is cut, not the scoring
            to = np.maximum(0.0, tau2 + step)
            there = restricted_log_likelihood(y, v, use, to)
            close = np.abs(to - tau2) <= CLOSE * (tau2 + least)
            lost = (there < here) & ~close
            if not lost.any():
                break
            step = np.where(lost, step / 2, step)
        tau2, here = to, there
        if close.all():
            break
    return tau2
