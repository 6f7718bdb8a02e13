"""Parameters of a family from the noisy sufficient statistics of many parties [Chen & Sung, Algorithm 4; theory §6].

Common effects: statistics are pooled, with weights inverse to their variances, and the pooled means are mapped to
parameters once.  Random effects: parties' own parameters vary, and are linear in the noise (`combine_effects`).
Shapes: M parties, p statistics and as many parameters.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.terms import ColumnTerms
from tacit.method.sufficient_statistics.combine_effects import maps_of, random_parameters
from tacit.method.sufficient_statistics.estimate import INDISTINCT, Means, fitted, map_of
from tacit.models.mean_map import At, MeanMap
from tacit.pooling.common_value import Pooled, noises, pooled
from tacit.pooling.evidence import Evidence, merge_same_people
from tacit.pooling.heterogeneity import Method
from tacit.pooling.random_effects import PartyEstimates, RandomEffects, party_estimates
from tacit.pooling.released_evidence import evidence
from tacit.release.document import Released


def statistics_of(releases: Sequence[Released], index: Sequence[int]) -> tuple[MeanMap, list[Evidence]]:
    """Return the mean map of a query, and the evidence on each statistic; releases of the same people are one party."""
    found = [merge_same_people(evidence(releases, at), index) for at in range(len(releases[0].parts))]
    return map_of(releases[0]), found


def common(
    releases: Sequence[Released], index: Sequence[int], sampled: bool
) -> tuple[ColumnTerms, PartyEstimates, Array]:
    """Fit one law to all parties.

    Return its parameters, the parties' own parameters (by the map linearised at the common ones), and the weights of
    parties in each parameter, shape (M, p).
    """
    map_, found = statistics_of(releases, index)
    made = [pooled(one, sampled=sampled) for one in found]
    # statistics are pooled before they are mapped: means are unbiased, parameters mapped party by party are not
    means = pooled_means(found, made)
    at = map_.solve(means.value, means.spread)
    words = next((one.reasons[0] for one in made if one.unclear[0]), None)
    block = fitted(map_, means, at, "population" if sampled else "table", words)
    inverse = at.inverse
    # where statistics do not tell parameters apart, parties' own parameters are all shown at the common place
    inverse = np.zeros((len(at.theta),) * 2) if inverse is None else inverse
    each = _stacked([party_estimates(one, sampled=sampled) for one in found])
    # one Newton step from the common parameters: its error in a party is linear in that of the party's statistics
    theta = at.theta + (each.value - at.mean) @ inverse.T
    parts = _with_delta_errors(map_, each, theta, [at] * len(theta), sampled)
    pull = np.abs(inverse) * means.spread  # how much each statistic moves each parameter
    pull = pull / np.maximum(pull.sum(axis=1), 1e-300)[:, None]  # of no derivatives: 0, not 0 / 0
    return block, parts, np.stack([one.shares[:, 0] for one in made], axis=1) @ pull.T


def varied(
    releases: Sequence[Released], index: Sequence[int], method: Method, sampled: bool
) -> tuple[RandomEffects, str | None]:
    """Return random effects of the parties' parameters (`combine_effects`), and why there are none, or None."""
    map_, found = statistics_of(releases, index)
    # all rows alike, so that the place where the search begins does not follow the noise in any weights
    means = pooled_means(found, [pooled(one, equal=True) for one in found])
    at = map_.solve(means.value, means.spread)
    usable = np.logical_and.reduce([party_estimates(one).usable for one in found])
    limits = (map_.model.lower, map_.model.upper)
    if at.inverse is None:
        M, p = len(usable), len(at.theta)
        zero = np.zeros((M, p))
        none = PartyEstimates(np.tile(at.theta, (M, 1)), zero, zero, np.zeros((M, p), dtype=np.bool_))
        return RandomEffects(none, (None,) * p, limits, none), INDISTINCT
    start = at.theta[None, :]
    made = random_parameters(maps_of(map_), found, usable, start, map_.inner, limits, method, sampled=sampled)
    return made, None


def pooled_means(found: Sequence[Evidence], made: Sequence[Pooled]) -> Means:
    """Return pooled statistics with their errors; the noises of all parties are summarised by a few (`noises`)."""
    # pooling is on the scale [-1, 1] of each statistic: variances go to its own units by the square
    scale = np.array([one.scale for one in found]) ** 2
    sampling, privacy, excess = (
        scale * np.array([getattr(one, name)[0] for one in made]) for name in ("variance", "noise", "excess")
    )
    law, each = noises(privacy, excess)
    p, k = each.shape
    loadings = np.zeros((p, p * k))
    # block diagonal, shape (p, p k): noises of different statistics are independent
    for j in range(p):
        loadings[j, j * k : (j + 1) * k] = each[j]
    value = np.array([one.value[0] for one in made])
    # noisy sizes may add up to less than a row
    size = np.array([max(float(one.size.sum()), 1.0) for one in found])
    # the interval of one pooled mean is mapped to the parameter as it is (`estimate.MonotoneMap`)
    exact = made[0] if p == 1 else None
    return Means(value, sampling, np.ones(p), size, loadings, law, exact, _correlation_factors(found, made))


def _correlation_factors(found: Sequence[Evidence], made: Sequence[Pooled]) -> Array:
    """Return factors of the correlations of pooled statistics, shape (p, p): below 1 where parties' weights differ."""
    size = np.sqrt(np.maximum(found[0].size[:, 0], 1.0))[:, None]
    part = np.stack([one.shares[:, 0] for one in made], axis=1) / size
    # with weights w_js of means of N_j rows the covariance of statistics s, t is theirs in a row, times
    # sum_j w_js w_jt / N_j; divided by the two standard deviations, a cosine
    product = part.T @ part
    length = np.sqrt(np.maximum(np.diag(product), 1e-300))
    return product / np.outer(length, length)


def _stacked(each: Sequence[PartyEstimates]) -> PartyEstimates:
    """Return the parties' statistics side by side, shape (M, p)."""
    value, sampling, privacy, usable = (
        np.concatenate([getattr(one, name) for one in each], axis=1)
        for name in ("value", "sampling", "privacy", "usable")
    )
    return PartyEstimates(value, sampling, privacy, usable)


def _with_delta_errors(
    map_: MeanMap, each: PartyEstimates, theta: Array, places: Sequence[At], sampled: bool
) -> PartyEstimates:
    """Return the parties' parameters with errors by the delta method, each at its place in `places`."""
    sampling, privacy = np.zeros_like(theta), np.zeros_like(theta)
    usable = np.tile(each.usable.all(axis=1, keepdims=True), (1, theta.shape[1]))
    for j, at in enumerate(places):
        inverse = at.inverse
        if inverse is None:
            usable[j] = False
            continue
        sd = np.sqrt(each.sampling[j])
        # variances are the parties' own, correlations the model's, as no release holds them
        own = at.correlation * np.outer(sd, sd) if sampled else np.zeros((len(sd),) * 2)
        sampling[j] = np.diag(inverse @ own @ inverse.T)
        privacy[j] = inverse**2 @ each.privacy[j]  # independent noises: no covariances
    value = np.clip(theta, map_.model.lower, map_.model.upper)
    return PartyEstimates(value, np.maximum(sampling, 0.0), privacy, usable)
