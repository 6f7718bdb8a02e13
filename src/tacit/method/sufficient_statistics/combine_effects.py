"""Random effects of the parameters of a family, from the noisy sufficient statistics of many parties.

Noise is additive and nearly normal on the scale of the statistics.  There a party of few rows is only imprecise.  Its
own parameters, from inverting its own statistics, would besides be biased, and most precise by their own account where
noise made them so.  So a party's parameters are one Newton step from a place: with A = dtheta/dm there,

    y = place + A (s - m(place)) + 1/2 Q : (S (2 - S) V - (1 - S)**2 T),    place = mu + S (y - mu),

where Q = A d2m/dtheta2 is the curvature of the map, V the error covariance of y and T = tau2 on the diagonal.  Where S
is 1 that is the party's own solution, where it is 0 it is linear in the noise around the mean mu of all.  The last term
is second order: theta - place = (1 - S) (theta - mu) - S e, with the error e = A (s - m(theta)), so that the curvature
adds 1/2 Q : ((1 - S)**2 T + S**2 V) to the mean of y; and A at a place that e moves by S e adds - Q : S V.
S falls with the party's own nonlinearity, the part of the quadratic term in its error (`_own_parts`).  S and V are
computed at the mean of all parties: neither a place nor a weight is chosen by a party's own noise.
Shapes: M parties, R repetitions (1 but in simulations), p parameters and as many statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Final, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.models.mean_map import SINGULAR, MeanMap
from tacit.pooling.common_value import decorrelated_sizes, row_variance
from tacit.pooling.evidence import Evidence
from tacit.pooling.heterogeneity import Method, PooledEffects, fit_effects
from tacit.pooling.random_effects import PartyEstimates, RandomEffects

ROUNDS: Final = 4
"""Rounds of moving the places: the first is at one place for all; Newton's steps double the digits of the others."""
TRUSTED: Final = 0.1
"""Released variances of rows are shrunk to the family's as if these differed by this part of themselves in truth."""
MILD: Final = 0.35
"""A party's own place does not count where its error is this part of the length over which the map is curved."""
STEP: Final = 1e-4
"""Relative step of the numerical second derivatives."""

Maps: TypeAlias = Callable[[Array], tuple[Array, Array, Array]]
"""Parameters, shape (n, p) -> means (n, p), derivatives dm/dtheta (n, p, p) and covariances of a row (n, p, p)."""


@dataclass(frozen=True)
class Places:
    """The mean map at parameters theta, shape (..., p): `mean`, its `slope` and the covariance `cov` of a row."""

    theta: Array
    mean: Array
    slope: Array
    cov: Array


@dataclass(frozen=True)
class NearbyStatistics:
    """What parties say about p statistics near `mean`: differences s - mean and variances of their errors.

    off, noise: shape (M, R, p).  size: noisy numbers of rows, uncorrelated with `off`, shape (M, R, p).
    """

    off: Array
    noise: Array
    size: Array


def maps_of(found: MeanMap) -> Maps:
    """Return the mean map of a family at many parameters; each distinct vector is evaluated once."""

    def maps(theta: Array) -> tuple[Array, Array, Array]:
        some, back = np.unique(theta, axis=0, return_inverse=True)
        at = [found.at(one) for one in some]
        # NumPy 2.0 returns the inverse with an axis more
        mean, slope, cov = (np.array([getattr(one, name) for one in at]) for name in ("mean", "slope", "cov"))
        back = back.reshape(-1)
        return mean[back], slope[back], cov[back]

    return maps


def random_parameters(
    maps: Maps,
    found: Sequence[Evidence],
    usable: NDArray[np.bool_],
    start: Array,
    inner: tuple[Array, Array],
    limits: tuple[Array, Array],
    method: Method,
    *,
    sampled: bool = True,
) -> RandomEffects:
    """Fit random effects to each parameter; the terms are those of the first repetition, of the second, ...

    found: the evidence on each statistic, R cells each.  usable: which parties have a size clearly above its noise,
    shape (M, R); with fewer than two there is no effect.  start: where the search begins, such as the parameters of
    the pooled statistics, shape (R, p); there statistics must tell the parameters apart.  inner: ends of the box that
    the map takes; limits: ends of the box.
    """
    M, R, p = *found[0].size.shape, len(found)
    informative = np.logical_and.reduce([one.informative for one in found])
    use = np.repeat(((usable.sum(axis=0) >= 2) & informative).astype(np.float64), p, axis=1)
    first = _places(maps, start)
    center, theta, tau2 = start, np.broadcast_to(start, (M, R, p)), np.zeros((R, p))
    y, sampling, privacy, bent = (np.zeros((M, R, p)), *np.zeros((2, M, R, p)), np.zeros((M, R, p, p)))
    for _ in range(ROUNDS):
        middle = _regular(_places(maps, center), first)
        own = _regular(_places(maps, theta), middle)
        sampling, privacy, V = _errors(found, middle, sampled)
        Q = _curvature(maps, middle, inner)
        S = _own_parts(Q, V)
        y = own.theta + _times(_inverse(own.slope), _statistics(found, own.mean, middle).off)
        theta, bent = y, ((1 - S) ** 2)[..., None, None] * 0.5 * np.einsum("rkaa->rka", Q)
        y = y + 0.5 * np.einsum("rkab,mrab->mrk", Q, (S * (2 - S))[..., None, None] * V)
        made = _fitted(y, sampling + privacy, use, method)
        # the mean of all is here that of the linear parts: it does not move with tau2, and neither do V and Q
        center, tau2 = np.clip(np.where(np.isfinite(made.mu), made.mu, start), *inner), made.tau2
        theta = np.clip(center + S[..., None] * (theta - center), *inner)
    # the curvature over the parties that are not at their own places, once: T is diagonal
    y = y - np.einsum("mrka,ra->mrk", bent, tau2)
    effects = _wider(_fitted(y, sampling + privacy, use, method, predict=True), bent, use)
    low, high = (np.broadcast_to(end, (R, p)).reshape(-1) for end in limits)
    value, rows, noise = (one.reshape(M, -1) for one in (y, sampling, privacy))
    said = np.repeat(informative, p, axis=1)
    shown = PartyEstimates(np.clip(value, low, high), rows, noise, np.repeat(usable, p, axis=1))
    return RandomEffects(shown, effects, (low, high), PartyEstimates(value, rows, noise, said))


@dataclass(frozen=True)
class _Fitted:
    """Random effects of R repetitions of p parameters: `effects` in that order; mu (NaN without one), tau2: (R, p)."""

    effects: tuple[PooledEffects | None, ...]
    mu: Array
    tau2: Array


def _fitted(y: Array, v: Array, use: Array, method: Method, *, predict: bool = False) -> _Fitted:
    M, R, p = y.shape
    made = fit_effects(y.reshape(M, -1), np.maximum(v, 1e-300).reshape(M, -1), use, method, predict=predict)
    mu = np.array([np.nan if one is None else one.mu for one in made]).reshape(R, p)
    tau2 = np.array([0.0 if one is None else one.tau2 for one in made]).reshape(R, p)
    return _Fitted(made, mu, tau2)


def _wider(found: _Fitted, bent: Array, use: Array) -> tuple[PooledEffects | None, ...]:
    """Return the effects with the variance that an estimated tau2 adds to the mean through the curvature.

    The mean moves by -sum_j share_j bent_ja for each unit of tau2_a; the variance of an estimated tau2 is one over its
    information.
    """
    M, p = len(bent), int(found.mu.shape[-1])
    out = list(found.effects)
    for t, one in enumerate(found.effects):
        if one is None or not one.tau2:
            continue
        r, k = divmod(t, p)
        share = np.zeros(M)
        share[use[:, t] > 0] = one.weights
        more = 0.0
        for a in range(p):
            other: PooledEffects | None = found.effects[r * p + a]
            more += 0.0 if other is None else float(share @ bent[:, r, k, a]) ** 2 * other.tau2_variance
        out[t] = replace(one, wider=one.wider * (1 + more / max(one.error, 1e-300)))
    return tuple(out)


def _places(maps: Maps, theta: Array) -> Places:
    p = theta.shape[-1]
    mean, slope, cov = maps(theta.reshape(-1, p))
    return Places(theta, mean.reshape(theta.shape), slope.reshape(*theta.shape, p), cov.reshape(*theta.shape, p))


def _regular(found: Places, instead: Places) -> Places:
    """Return the places, others `instead` of those at which the statistics hardly tell the parameters apart."""
    slope = np.where(np.isfinite(found.slope), found.slope, 0.0)
    lengths = np.maximum(np.linalg.norm(slope, axis=-2).prod(axis=-1), 1e-300)
    good = np.isfinite(found.slope).all(axis=(-1, -2)) & (np.abs(np.linalg.det(slope)) > SINGULAR * lengths)

    def chosen(one: Array, other: Array) -> Array:
        keep = good.reshape(*good.shape, *(1,) * (one.ndim - good.ndim))
        return np.asarray(np.where(keep, one, other))

    return Places(
        chosen(found.theta, instead.theta),
        chosen(found.mean, instead.mean),
        chosen(found.slope, instead.slope),
        chosen(found.cov, instead.cov),
    )


def _statistics(found: Sequence[Evidence], mean: Array, middle: Places) -> NearbyStatistics:
    """Return the parties' statistics near `mean`, shape (M, R, p) or (R, p), which is linear in the noise."""
    rows: list[tuple[Array, Array, Array]] = []
    for k, one in enumerate(found):
        x = (np.broadcast_to(mean, (*one.size.shape, len(found)))[..., k] - one.shift) / one.scale
        c = middle.cov[..., k, k] / one.scale**2
        size = decorrelated_sizes(one, x, c)
        rows.append((one.scale * one.distance(x) / size, one.scale**2 * one.privacy(x) / size**2, size))
    off, noise, size = (np.stack([row[i] for row in rows], axis=-1) for i in range(3))
    return NearbyStatistics(off, noise, size)


def _errors(found: Sequence[Evidence], middle: Places, sampled: bool) -> tuple[Array, Array, Array]:
    """Return the parties' variances by sampling and by noise, shape (M, R, p), and their covariances (M, R, p, p).

    All are at one place for all parties.  Sampling variances of statistics are those released, pooled over the parties
    and shrunk to the family's; their correlations are the family's, as no release holds them.
    """
    made = _statistics(found, middle.mean, middle)
    inverse = _inverse(middle.slope)
    noise = inverse @ _diagonal(made.noise) @ np.swapaxes(inverse, -1, -2)
    rows = np.zeros_like(noise)
    if sampled:
        wanted = np.stack([_row_variance(one, middle, k) for k, one in enumerate(found)], axis=-1)
        sd = np.sqrt(wanted / made.size)
        model = np.sqrt(np.maximum(np.einsum("...kk->...k", middle.cov), 1e-300))
        correlation = middle.cov / (model[..., :, None] * model[..., None, :])
        rows = inverse @ (correlation * sd[..., :, None] * sd[..., None, :]) @ np.swapaxes(inverse, -1, -2)
    return np.einsum("...kk->...k", rows), np.einsum("...kk->...k", noise), rows + noise


def _row_variance(one: Evidence, middle: Places, k: int) -> Array:
    """Return the variance of statistic k in a row: released by all parties together, shrunk to the family's; (R,)."""
    model = middle.cov[..., k, k]
    x, every = (middle.mean[..., k] - one.shift) / one.scale, np.ones_like(one.size)
    size = np.maximum(one.size.sum(axis=0), 1.0)
    said = one.scale**2 * row_variance(one, every, x)
    error = one.scale**2 * np.sqrt(one.sampling_noise(x).sum(axis=0)) / size
    # empirical Bayes, as in one release: the squared difference is (true difference)**2 + error**2 on average
    true = np.maximum((said - model) ** 2 - error**2, (TRUSTED * model) ** 2)
    trust = true / np.maximum(true + error**2, 1e-300)
    return trust * said + (1 - trust) * model


def _curvature(maps: Maps, middle: Places, inner: tuple[Array, Array]) -> Array:
    """Return Q_kab = sum_l A_kl d2m_l / dtheta_a dtheta_b, shape (R, p, p, p): differences of the first derivatives."""
    inverse, columns = _inverse(middle.slope), list[Array]()
    for b in range(middle.theta.shape[-1]):
        step = np.zeros_like(middle.theta)
        step[..., b] = STEP * np.maximum(np.abs(middle.theta[..., b]), STEP)
        ends = [_places(maps, np.clip(middle.theta + sign * step, *inner)) for sign in (1.0, -1.0)]
        width = (ends[0].theta - ends[1].theta)[..., b]
        columns.append(inverse @ (ends[0].slope - ends[1].slope) / width[..., None, None])
    found = np.stack(columns, axis=-1)
    return 0.5 * (found + np.swapaxes(found, -1, -2))


def _own_parts(Q: Array, V: Array) -> Array:
    """Return S of each party, shape (M, R): (1 - (r / MILD**2)**2)**2, r the largest ratio tr(Q_k V Q_k V) / V_kk.

    The ratio is the variance of e Q_k e, twice, beside that of the error e_k itself: with errors of covariance V, which
    is V / kappa**2 for a map of one parameter that is curved over a length kappa = 1 / |Q|.
    """
    QV = np.einsum("rkab,mrbc->mrkac", Q, V)
    ratio = np.einsum("mrkac,mrkca->mrk", QV, QV) / np.maximum(np.einsum("mrkk->mrk", V), 1e-300)
    # 0 beyond, exactly: an outlier of a party that says little, followed by Newton's steps, becomes a worse one
    return np.maximum(1 - (ratio.max(axis=-1) / MILD**2) ** 2, 0.0) ** 2


def _diagonal(values: Array) -> Array:
    """Return diagonal matrices, shape (..., p, p)."""
    return values[..., None] * np.eye(values.shape[-1])


def _inverse(matrix: Array) -> Array:
    """Return inverse matrices, shape (..., p, p)."""
    return np.asarray(np.linalg.inv(matrix), dtype=np.float64)


def _times(matrix: Array, vector: Array) -> Array:
    """Return products of matrices, shape (..., p, p), and vectors, shape (..., p)."""
    return np.asarray((matrix @ vector[..., None])[..., 0])
