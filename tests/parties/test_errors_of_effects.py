"""Errors of combined estimates, against simulated studies and by their formulas.  All is seeded."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy import stats
from scipy.optimize import brentq

import tacit as tc
from tacit.method.regression import combine as regressions
from tacit.method.regression.combine import Coefficients
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.parties.totals import average_totals, party_totals, totals
from tacit.pooling.common_value import law, pooled
from tacit.pooling.evidence import merge_same_people
from tacit.pooling.heterogeneity import degrees_of_freedom, effects, fit_effects, inflation
from tacit.pooling.noise_sum import sum_of_noises
from tacit.pooling.random_effects import PartyEstimates, effects_of_estimates, party_estimates, random_effects
from tacit.pooling.released_evidence import evidence, quality_evidence
from tacit.testing.simulated_parties import Answer, answers

SCHEMA = tc.Schema({"x": tc.Real(-2, 6, missing=0), "yes": tc.Boolean(missing=False)})
R = 6_000


def varies(drawn: Any, variance: Any, rest: float = 0.0) -> None:
    """Squared deviations have the mean stated: 5 standard errors, beyond with probability 6e-7; rest: a part of it."""
    squares = (np.asarray(drawn) - np.mean(drawn)) ** 2
    error = squares.std(ddof=1) / math.sqrt(len(squares))
    assert abs(squares.mean() - variance) < 5 * error + rest * variance, (squares.mean(), variance, error)


def drawn(
    query: Any, tables: list[np.ndarray], prices: list[Any], neighbors: str = "replace-one", repeats: int = R
) -> list[Answer]:
    """Releases of the same tables, as cells."""
    values = {j: np.broadcast_to(x, (repeats, len(x))) for j, x in enumerate(tables)}
    return answers(query, SCHEMA, lambda g, j, r, n: values[j], [len(x) for x in tables], prices,
                   neighbors=neighbors, repeats=repeats, rng=4)  # fmt: skip


def tables(*sizes: int) -> list[np.ndarray]:
    rng = np.random.default_rng(5)
    return [np.clip(rng.normal(3, 1, n), -2, 6) for n in sizes]


# One quantity -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_the_noise_of_a_pooled_mean(neighbors: str) -> None:
    """The variance by privacy that is told, of parties at two prices; and its part of the error where rows count.

    Weights follow the noise a little where sizes are private, and size noise is 2%: 2% are left for both.
    """
    given = drawn(tc.Mean("x"), tables(150, 400, 900), [{"rho": "0.1"}, {"epsilon": 1}, {"rho": "0.05"}], neighbors)
    made = pooled(evidence(given, 0), sampled=False)
    varies(made.value, 64 / 4 * made.noise.mean(), 0.02)
    assert not made.variance.any()
    both = pooled(evidence(given, 0))
    varies(both.value, 16 * both.noise.mean(), 0.04)


def test_the_sampling_error_of_a_pooled_mean_is_that_of_its_rows() -> None:
    """At a price whose noise is nothing: s**2 over all rows, of parties that weigh alike a row."""
    rows = tables(40, 60)
    given = drawn(tc.Mean("x"), rows, [{"rho": 900}] * 2)
    made = pooled(evidence(given, 0), equal=True)
    every_row = np.concatenate(rows)
    squares = ((every_row - every_row.mean()) ** 2).sum() / 99 / 100
    assert 16 * made.variance.mean() == pytest.approx(squares, rel=0.005)
    low, high = made.interval(0.95)

    def beyond(m: float) -> float:
        """Standard errors less 1.96: the variance is that around m, with one row unseen of the largest there is."""
        spread = ((every_row - m) ** 2).sum() * 100 / 99 + (6 - m) * (m + 2)
        return abs(every_row.sum() - 100 * m) / math.sqrt(spread) - 1.959964

    mean = every_row.mean()
    ends = brentq(beyond, -2, mean), brentq(beyond, mean, 6)
    assert (low.mean(), high.mean()) == pytest.approx(ends, rel=0.005)


def test_releases_of_the_same_people_have_their_noise_averaged() -> None:
    """Three releases of one table: the variance of the weighted mean, not of one and not of the sum."""
    same = tables(200) * 3
    given = drawn(tc.Mean("x"), same, [{"rho": "0.05"}, {"rho": "0.05"}, {"rho": "0.2"}])
    made = pooled(merge_same_people(evidence(given, 0), [0, 0, 0]), sampled=False)
    each = [16 * pooled(evidence([release], 0), sampled=False).noise.mean() for release in given]
    varies(made.value, 1 / sum(1 / v for v in each))
    assert 16 * made.noise.mean() == pytest.approx(1 / sum(1 / v for v in each), rel=1e-6)


def test_shares_of_classes_have_the_noise_of_one_count_where_rows_are_public() -> None:
    schema = tc.Schema({"g": tc.Category(["a", "b"])})
    curator = tc.Curator({"g": ["a"] * 150 + ["c"] * 50}, schema, budget=tc.Budget(rho=9))
    release = curator.release(tc.DataQuality("g"), rho=2)
    found = quality_evidence([release], 0, 1)
    made = pooled(found, sampled=False)
    assert found.scale**2 * made.noise[0] == pytest.approx(release.parts[0].law.variance() / 200**2)
    (own,) = [block for block in release.estimate("table").blocks if block.label == "g: unlisted"]
    assert found.scale**2 * made.noise[0] == pytest.approx(own.privacy_variance[0])


def test_laws_of_sums_keep_variance_and_fourth_cumulant() -> None:
    """Of two noises counted three times each and one Laplace noise: sums of squared multipliers times variances."""
    laplace, normal = DiscreteLaplace(Fraction(4)), RoundedNormal(Fraction(5))
    found = sum_of_noises([(laplace, 3, 2), (normal, 2, 1), (laplace, 1, 1)])
    each = np.array([9 * laplace.variance()] * 2 + [laplace.variance()])
    whole = each.sum() + 4 * normal.variance()
    assert found.variance() == pytest.approx(whole)
    assert float(found.laplace) * whole == pytest.approx(math.sqrt((each**2).sum()))
    varies(found.sample(40_000, np.random.default_rng(8)), whole)
    s, b = law(np.array([7.0]), np.array([whole]), np.array([math.sqrt((each**2).sum())]))
    assert s[0] ** 2 + 2 * b[0, 0] ** 2 == pytest.approx(7 + whole)
    assert 12 * b[0, 0] ** 4 == pytest.approx(3 * (each**2).sum())


# Totals -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_totals_have_the_variances_of_their_rows_and_noises(neighbors: str) -> None:
    """n s**2 of a public size and sum x**2 of a private one, free of the noise in squares: of small, noisy parties."""
    rows = tables(12, 15)
    given = drawn(tc.Sum("x"), rows, [{"rho": 1}, {"rho": "0.5"}], neighbors)
    for release, x in zip(given, rows, strict=True):
        made = party_totals(release, release.parts[0], True)
        truth = (x**2).sum() if neighbors == "add-remove" else len(x) * x.var(ddof=1)
        error = made.sampling.std() / math.sqrt(R)
        assert abs(made.sampling.mean() - truth) < 5 * error + 0.002 * truth
        varies(made.value, made.noise[0])
        if neighbors == "add-remove":
            varies(made.sampling, made.own[0])
        else:
            # normal noise, exactly: the noisy mean adds 4 (noise / n)**2 to what is stated, the second order is 2 of it
            varies(made.sampling, made.own.mean() - 2 * (made.noise[0] / (len(x) - 1)) ** 2, 0.01)
    for release, x in zip(drawn(tc.Sum("x"), rows, [{"rho": 900}] * 2, neighbors, 50), rows, strict=True):
        truth = (x**2).sum() if neighbors == "add-remove" else len(x) * x.var(ddof=1)
        assert party_totals(release, release.parts[0], True).sampling.mean() == pytest.approx(truth, rel=0.02)
    whole = totals([party_totals(release, release.parts[0], True) for release in given], given[0].parts[0], True)
    varies(whole.value, whole.noise[0])
    assert whole.noise[0] == pytest.approx(sum(party_totals(r, r.parts[0], True).noise[0] for r in given))


def test_totals_of_the_same_people_are_averaged() -> None:
    (x,) = tables(300)
    given = drawn(tc.Sum("x"), [x, x], [{"rho": "0.1"}, {"epsilon": 1}])
    made = average_totals([party_totals(release, release.parts[0], True) for release in given])
    varies(made.value, made.noise[0])
    each = [party_totals(release, release.parts[0], True).noise[0] for release in given]
    assert made.noise[0] == pytest.approx(1 / sum(1 / v for v in each))
    assert made.sampling.mean() == pytest.approx(300 * x.var(ddof=1), rel=0.02)
    assert made.fourth[0] == pytest.approx(
        (each[0] / sum(each)) ** 4 * party_totals(given[1], given[1].parts[0], True).fourth[0]
    )


# Parties that differ ------------------------------------------------------------------------------------------------

UNEQUAL = np.array([0.02, 0.02, 0.05, 0.5, 1.0, 2.0, 2.0])


def study(repeats: int, tau: float = 0.3) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(6)
    v = np.repeat(UNEQUAL[:, None], repeats, axis=1)
    return 1 + rng.standard_normal(v.shape) * np.sqrt(v + tau**2), v


def test_the_error_of_a_mean_over_parties_is_that_of_hartung_and_knapp_and_wider() -> None:
    """By hand, of a few studies: t of fewer degrees of freedom, the variance inflated for an estimated tau2."""
    y, v = study(8)
    wide = []
    for t in range(8):
        found = effects(y[:, t], v[:, t])
        w = 1 / (v[:, t] + found.tau2)
        mu = (w * y[:, t]).sum() / w.sum()
        knapp = (w * (y[:, t] - mu) ** 2).sum() / 6 / w.sum()
        differ = found.tau2 > 0
        wider = float(inflation(w[:, None])[0]) if differ else 1.0
        freedom = float(degrees_of_freedom(w[:, None], np.array([6]))[0]) if differ else 6.0
        assert found.mu == pytest.approx(mu)
        assert found.variance == pytest.approx(knapp)
        assert found.error == pytest.approx(knapp * wider)
        for level in (0.95, 0.8):
            half = stats.t.ppf(0.5 + level / 2, freedom) * math.sqrt(knapp * wider)
            assert found.half(level) == pytest.approx(half)
        own = 1 / v[:, t]
        Q = (own * (y[:, t] - (own * y[:, t]).sum() / own.sum()) ** 2).sum()
        assert pytest.approx(Q) == found.Q
        assert found.p_value == pytest.approx(stats.chi2.sf(Q, 6))
        assert pytest.approx(max(0, 1 - 6 / Q)) == found.I2
        wide.append(wider)
    assert max(wide) > 1.1


def test_intervals_of_parties_that_differ_have_that_error() -> None:
    """Of estimates as they are: the variance, its part by noise, and t on both sides; some parties left out."""
    y, v = study(5)
    usable = np.ones_like(y, dtype=bool)
    usable[0, 2] = False
    parts = PartyEstimates(y, 0.7 * v, 0.3 * v, usable)
    made = effects_of_estimates(parts, (np.array(-50.0), np.array(50.0)), "REML")
    low, high = made.interval(0.9)
    for t, found in enumerate(fit_effects(y, v, usable.astype(float))):
        assert found is not None
        assert found.df == (5 if t == 2 else 6)
        assert made.value[t] == pytest.approx(found.mu)
        assert made.variance[t] == pytest.approx(max(found.error, made.privacy[t]))
        assert made.privacy[t] == pytest.approx((made.shares[:, t] ** 2 * 0.3 * v[:, t]).sum())
        assert (high[t] - low[t]) / 2 == pytest.approx(found.half(0.9) * math.sqrt(made.variance[t] / found.error))
        assert (high[t] + low[t]) / 2 == pytest.approx(found.mu)
        assert made.shares[:, t].sum() == pytest.approx(1)
    assert made.shares[0, 2] == 0


def test_one_more_party_differs_by_tau_and_the_error_of_the_mean() -> None:
    """By brute force: every tau as likely as the restricted likelihood and its prior say, a normal law for each.

    Of seven parties and of the three of middling errors, whose tau may be a hundred times as large.
    """
    y, v = study(3)
    for t, some in ((0, slice(None)), (1, slice(None)), (2, slice(None)), (0, slice(2, 5)), (2, slice(2, 5))):
        own, found = y[some, t], effects(y[some, t], v[some, t])
        tau = np.geomspace(1e-6, 4_000, 50_001)[:, None]
        w = 1 / (v[some, t] + tau**2)
        total = w.sum(axis=1)
        mu = (w @ own) / total
        log = -0.5 * ((w * (own - mu[:, None]) ** 2).sum(axis=1) - np.log(w).sum(axis=1) + np.log(total))
        one, two, three = ((w**k).sum(axis=1) for k in (1, 2, 3))
        prior = (0.5 * (two - 2 * three / one + two**2 / one**2)) ** 0.25
        part = np.exp(log - log.max()) * prior * np.gradient(tau[:, 0])
        sd = np.sqrt(tau[:, 0] ** 2 + 1 / total)
        ends = found.prediction(0.9)
        assert ends is not None
        for end, prob in zip(ends, (0.05, 0.95), strict=True):
            assert part @ stats.norm.cdf((end - mu) / sd) / part.sum() == pytest.approx(prob, abs=2e-3)


def test_each_party_s_own_error_has_its_noise() -> None:
    """A party's estimate varies over releases of one table as its privacy part says; sizes private, noise of 3%."""
    given = drawn(tc.Mean("x"), tables(250, 400), [{"rho": "0.2"}, {"epsilon": 2}], "add-remove")
    made = random_effects(evidence(given, 0))
    for j in range(2):
        varies(made.parts.value[j], made.parts.privacy[j].mean(), 0.02)
        varies(made.centred.value[j], made.centred.privacy[j].mean(), 0.04)


def test_the_bias_of_a_party_s_ratio_is_undone() -> None:
    """Noise of 10% of the size: S / N alone is off by 12 of the standard errors of a mean of 60,000."""
    x = np.random.default_rng(7).uniform(3.5, 5, 20)
    found = evidence(drawn(tc.Mean("x"), [x, x], [{"rho": "0.3"}] * 2, "add-remove", 30_000), 0)
    off = party_estimates(found).value - x.mean()
    error = off.std() / math.sqrt(off.size)
    assert (2 + 4 * found.total / found.size - x.mean()).mean() > 8 * error
    assert abs(off.mean()) < 5 * error


# Regressions --------------------------------------------------------------------------------------------------------


def test_coefficients_weigh_by_their_variances_and_add_up() -> None:
    """Three parties whose noise and rows differ, one that says nothing: weights and both variances by hand."""
    rows, noise = np.array([100.0, 400.0, 900.0, 50.0]), np.array([1.0, 2.0, 0.5, 1.0])
    sampling, privacy = 3 / rows[:, None], 50 * noise[:, None] / rows[:, None] ** 2
    usable = np.array([[True], [True], [True], [False]])
    parts = PartyEstimates(np.array([[1.0], [2.0], [4.0], [np.nan]]), sampling, privacy, usable)
    shared = np.array([[0.1], [0.2], [0.1], [0.0]])
    found = Coefficients(parts, rows, noise, shared)
    assert found.stable_variances() == pytest.approx(sampling + privacy)
    made = regressions.common(found)
    worth = np.where(usable, 1 / (sampling + privacy), 0.0)[:, 0]
    share = worth / worth.sum()
    assert made.shares[:, 0] == pytest.approx(share)
    assert made.value[0] == pytest.approx(share[:3] @ [1.0, 2.0, 4.0])
    # an error that all share has no mean that is smaller
    common = (share @ np.sqrt(shared[:, 0])) ** 2
    assert made.sampling[0] == pytest.approx((share**2 * sampling[:, 0]).sum() + common)
    assert found.shown.sampling == pytest.approx(sampling + shared)
    assert made.privacy[0] == pytest.approx((share**2 * privacy[:, 0]).sum())
    low, high = made.interval(0.95)
    assert (high - low)[0] / 2 == pytest.approx(1.959964 * math.sqrt(made.sampling[0] + made.privacy[0]), rel=1e-6)
