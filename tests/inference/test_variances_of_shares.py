"""Errors that shares, their ratios and combinations of terms state, against simulated ones.  All is seeded."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from averages import agrees, covaries, varies
from scipy import optimize, stats

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.estimates.combination import LinearCombination
from tacit.estimates.error_laws import halfwidth, tail
from tacit.estimates.interval_inversion import LinearInversion, of_sums
from tacit.estimates.noisy_ratio import ShareOfTotal
from tacit.estimates.terms import ColumnTerms
from tacit.method.quality.estimate import share
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import empty_parts
from tacit.noise.laws import DiscreteLaplace, Law, RoundedNormal
from tacit.privacy import Cost
from tacit.testing.simulate import exact_integers, simulate

R = 40_000
QUALITY = {"x": tc.Real(0, 1), "who": tc.PrivacyUnit(max_rows=4)}
X = np.repeat([0.5, -1.0, 2.0, np.nan], [120, 36, 24, 60])
WHO = np.arange(240) // 3


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("persons", [False, True], ids=["rows", "persons"])
def test_noise_of_shares_of_classes(persons: bool, neighbors: str) -> None:
    """Their variance by privacy, rows public or not; a person of several rows is one in all, in parts of a weight.

    Where the size is noisy, by 2% or less, a linear error leaves out the square of that.
    """
    schema = tc.Schema(QUALITY if persons else {"x": QUALITY["x"]})
    table = {"x": X, "who": WHO} if persons else {"x": X}
    rows = (80 if persons else 240) if neighbors == "replace-one" else None
    shape = design(tc.DataQuality("x"), Public(schema, neighbors, rows), Cost.of(rho=2))
    (column,), (part,), (exact,) = shape.columns, empty_parts(shape), exact_integers(shape, table)
    noise = column.law.sample(exact.size * R, np.random.default_rng(1)).reshape(R, exact.shape[1])
    for i, truth in enumerate((0.25, 0.15, 0.1)):
        made = share(part, i, rows, True, "rows", (exact + noise).astype(float))
        agrees(made.value, truth, 2e-3 * truth)
        varies(made.value, made.privacy_variance.mean(), 0.0 if rows else 0.01)
        calm = share(part, i, rows, True, "rows", exact.astype(float))
        assert calm.sampling_variance[0] == pytest.approx(truth * (1 - truth) / (80 if persons else 240), rel=1e-3)


def test_odds_ratios_have_the_variance_of_woolf_and_of_the_noise() -> None:
    """1 / (n p q) of each share; and 10,000 simulated releases of one table have the spread that is told of them."""
    rng = np.random.default_rng(2)
    sex, ok = rng.integers(0, 2, 4_000), np.zeros(4_000, dtype=bool)
    ok[:] = rng.random(4_000) < np.where(sex == 1, 0.7, 0.2)
    schema = tc.Schema({"ok": tc.Boolean(missing=False), "sex": tc.Category({0: "m", 1: "f"})})
    many = simulate(tc.Mean("ok", by="sex"), {"ok": ok, "sex": sex}, schema, rho=0.02, repeats=10_000)
    logit = np.log(many.estimates / (1 - many.estimates))
    found = [many.release(i).estimate("table").odds_ratio("f", "m") for i in range(60)]
    told = np.mean([(np.log(one.conf_int()[1] / one.conf_int()[0]) / 2 / 1.959964) ** 2 for one in found])
    varies(logit[:, 1] - logit[:, 0], told, 0.03)
    agrees(logit[:, 1] - logit[:, 0], math.log(ok[sex == 1].mean() / (1 - ok[sex == 1].mean()))
           - math.log(ok[sex == 0].mean() / (1 - ok[sex == 0].mean())), 2e-3)  # fmt: skip
    calm = simulate(tc.Mean("ok", by="sex"), {"ok": ok, "sex": sex}, schema, rho=500, repeats=1).release(0).estimate()
    low, high = calm.odds_ratio("f", "m").conf_int(0.9)
    counts = [(ok & (sex == s)).sum() for s in (0, 1)] + [(~ok & (sex == s)).sum() for s in (0, 1)]
    woolf = sum(1 / n for n in counts)
    assert (math.log(high / low) / 2 / 1.644854) ** 2 == pytest.approx(woolf, rel=0.01)
    i = np.arange(90)
    few = {"ok": i // 2 < np.where(i % 2 == 1, 27, 18), "sex": i % 2}
    few = simulate(tc.Mean("ok", by="sex"), few, schema, rho=1, repeats=1).release(0).estimate().odds_ratio("f", "m")
    assert 0.01 < few.p_value < 0.5
    assert min(abs(math.log(end)) for end in few.conf_int(1 - few.p_value)) < 1e-6  # both are two-sided


def test_a_ratio_s_interval_ends_where_its_test_rejects() -> None:
    """Fieller by hand: at both ends A - t B is as far off 0 as A and t B reach, two-sided; not at half the level."""
    schema = tc.Schema({"x": tc.Real(0, 10), "g": tc.Category(["a", "b"])})
    rng = np.random.default_rng(4)
    table = {"x": rng.uniform(2, 8, 600), "g": np.array(["a", "b"])[rng.integers(0, 2, 600)]}
    made = simulate(tc.Mean("x", by="g"), table, schema, rho=0.1, repeats=1).release(0).estimate()
    found = made.ratio("a", "b")
    a, b = made.values
    for level, q in ((0.95, 1.959964), (0.5, 0.674490)):
        (low_a, high_a), (low_b, high_b) = made.intervals(level)
        low, high = found.conf_int(level)
        assert a - low * b == pytest.approx(math.hypot(a - low_a, low * (high_b - b)), rel=1e-5)
        assert high * b - a == pytest.approx(math.hypot(high_a - a, high * (b - low_b)), rel=1e-5)
        for t in (low, high):  # few rows reach a little further than their standard errors
            z = abs(a - t * b) / math.hypot(made.std_errors[0], t * made.std_errors[1])
            assert z == pytest.approx(q, rel=0.02)
    assert found.p_value == made.test("a = b").p_value


def test_intervals_of_a_difference_reach_as_far_as_those_of_its_terms() -> None:
    """By hand where noise is normal: root of the sum of squares on either side; a test rejects just outside."""
    schema = tc.Schema({"ok": tc.Boolean(), "g": tc.Category(["a", "b", "c"])})
    rng = np.random.default_rng(6)
    group = rng.integers(0, 3, 900)
    table = {"ok": rng.random(900) < np.array([0.1, 0.95, 0.5])[group], "g": np.array(["a", "b", "c"])[group]}
    made = simulate(tc.Mean("ok", by="g"), table, schema, rho=0.5, repeats=1).release(0).estimate()
    values = made.values
    ends = np.stack(of_sums(made.blocks[0].inversion).interval(0.95), axis=-1)
    down, up = values - ends[:, 0], ends[:, 1] - values
    alone = made.intervals(0.95)  # with an allowance for counting in whole rows
    assert (alone[:, 0] < ends[:, 0]).all()
    assert (alone[:, 1] > ends[:, 1]).all()
    assert abs(up / down - 1).max() > 0.1  # of shares near 0 and 1
    found = made.contrast("a - b")
    low, high = found.conf_int()
    assert found.value - low == pytest.approx(math.hypot(down[0], up[1]), rel=1e-6)
    assert high - found.value == pytest.approx(math.hypot(up[0], down[1]), rel=1e-6)
    for end, sign in ((low, -1), (high, 1)):
        assert made.test(f"a - b = {end:.15f}").p_value == pytest.approx(0.05, rel=1e-5)
        assert made.test(f"a - b = {end + 0.001 * sign:.15f}").p_value < 0.05
    three = made.contrast("a - 0.5 * b - 0.5 * c")
    far = math.sqrt(down[0] ** 2 + 0.25 * up[1] ** 2 + 0.25 * up[2] ** 2)
    assert three.value - three.conf_int()[0] == pytest.approx(far, rel=1e-6)


def newcombe(found: Any, p: np.ndarray, low: np.ndarray, high: np.ndarray, rel: float) -> None:
    """The interval of p[0] - p[1] is the estimate -+ roots of the sums of squared distances to the limits."""
    down, up = p - low, high - p
    limits = found.conf_int()
    assert p[0] - p[1] - limits[0] == pytest.approx(math.hypot(down[0], up[1]), rel=rel)
    assert limits[1] - p[0] + p[1] == pytest.approx(math.hypot(up[0], down[1]), rel=rel)


def mid_limit(k: int, n: int, tail: float) -> float:
    """The p with P(S < k) + P(S = k) / 2 = tail."""
    both = lambda p: (stats.binom.cdf(k, n, p) + stats.binom.cdf(k - 1, n, p)) / 2 - tail  # noqa: E731
    return optimize.brentq(both, 1e-9, 1 - 1e-9, xtol=1e-14)


def test_differences_of_shares_without_noise_are_those_of_newcombe() -> None:
    """Groups: his method 10, of Wilson's intervals.  Two whole tables: the same of mid-P intervals, by root finding.

    Noise is 0.05 rows, so that a count is off by one with a probability below 1e-20; its variance is left out by hand.
    """
    hits, n = np.array([4, 30]), np.array([100, 150])
    x, g = np.repeat([True, False, True, False], [4, 96, 30, 120]), np.repeat(["a", "b"], n)
    schema = tc.Schema({"ok": tc.Boolean(missing=False), "g": tc.Category(["a", "b"])})
    made = simulate(tc.Mean("ok", by="g"), {"ok": x, "g": g}, schema, rho=1_000, repeats=1).release(0).estimate()
    z, p = 1.959964, hits / n
    center, half = (p + z**2 / 2 / n) / (1 + z**2 / n), z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + (z / 2 / n) ** 2)
    newcombe(made.contrast("a - b"), p, center - half, center + half, 1e-3)

    schema = tc.Schema({"ok": tc.Boolean(missing=False)})
    alone = [simulate(tc.Mean("ok"), {"ok": x[g == one]}, schema, rho=1_000, repeats=1).release(0) for one in "ab"]
    first, other = (replace(one, table=name).estimate() for one, name in zip(alone, "ab", strict=True))  # other people
    ends = [[mid_limit(k, m, tail) for tail in (0.975, 0.025)] for k, m in zip(hits, n, strict=True)]
    newcombe(tc.difference(first, other), p, *np.array(ends).T, 1e-4)


def test_a_term_at_a_bound_lies_within_it_for_certain() -> None:
    """Its own law on that side, or its bound and the errors of the others alone: the nearer limit counts."""
    few = own([0.1, 0.9], [0.01, 0.25], [0.0, 0.0], np.zeros((2, 1)))
    few = replace(few, inversion=LinearInversion(few.value, few.variance, few.loadings, LAW, 0.0, 1.0))
    ((low, high),) = LinearCombination((few,), np.array([[1.0, -1.0]])).intervals(0.95)
    own_a, own_b = 1.959964 * 0.1, 1.959964 * 0.5
    assert low == pytest.approx(0.0 - 1.0)  # 0 less 1 in place of -0.8 - hypot(own_a, own_b)
    assert high == pytest.approx(-0.8 + math.hypot(own_a, own_b), rel=1e-6)  # here nothing is at a bound but b, below
    p = LinearCombination((few,), np.array([[1.0, -1.0]])).p_values(np.array([-1.1]))
    assert p[0] == 0.0


@pytest.mark.parametrize("law", [RoundedNormal(Fraction(12)), DiscreteLaplace(Fraction(8))], ids=lambda law: law.name)
def test_the_noise_of_a_share_of_a_noisy_total(law: Law) -> None:
    """k - p K of counts that add up to K: 4 cells of 2 noises each, in halves; variance and quantile of its own law."""
    found = ShareOfTotal(np.array([50.0, 40.0, 30.0, 80.0]), 200.0, law, 2, 2, True)
    p = found.count / found.size
    s, b = found._noise(p)  # pyright: ignore[reportPrivateUsage]
    z = law.sample(2 * 4 * R, np.random.default_rng(5)).reshape(R, 4, 2).sum(axis=2) / 2
    off = z - p * z.sum(axis=1, keepdims=True)
    varies(off, s**2 + 2 * (b**2).sum(axis=-1))
    low, high = found.interval(0.9)
    for t, end in ((0, low), (3, high)):
        at = np.full(4, end[t])
        s, b = found._noise(at)  # pyright: ignore[reportPrivateUsage]
        spread = np.sqrt(found.size * at * (1 - at) + s**2)
        distance = abs(found.count[t] - end[t] * found.size) - 0.5
        assert 2 * tail(np.full(4, distance), spread, b)[0] == pytest.approx(0.1, rel=1e-4)


# Combinations -------------------------------------------------------------------------------------------------------

LAW = RoundedNormal(Fraction(2))
JOINT = np.array([[4.0, 1.5, -1.0], [1.5, 3.0, 0.5], [-1.0, 0.5, 2.0]])
LOADS = np.array([[1.0, 0.2], [-0.5, 0.8], [0.3, -1.1]])
MATRIX = np.array([[1.0, -1.0, 0.0, 0.5, 0.0], [0.2, 0.3, 0.5, -1.0, 1.0]])


def own(value: Any, variance: Any, rank_one: Any, loadings: Any, **more: Any) -> ColumnTerms:
    m = len(value)
    inversion = LinearInversion(np.array(value), np.array(variance) - np.array(rank_one) ** 2, loadings, LAW, -np.inf,
                                np.inf)  # fmt: skip
    words: dict[str, Any] = {"people": "a", "source": "a", **more}
    return ColumnTerms(words.pop("label", "x"), np.array(value), np.array(variance), np.array(rank_one), loadings, LAW,
                 inversion, (None,) * m, **words)  # fmt: skip


def two() -> tuple[ColumnTerms, ColumnTerms]:
    """Three parameters fitted together, and two counts of one table of public size, of other people."""
    joint = own([1.0, 2.0, 3.0], np.diag(JOINT), np.zeros(3), LOADS, joint=JOINT)
    counts = own([60.0, 40.0], [60.0, 40.0], [6.0, 4.0], np.ones((2, 1)), people="b", source="b", label="n")
    return joint, counts


def test_combinations_have_the_variances_of_what_they_combine() -> None:
    """20,000 draws of sampling errors and noises, against covariances, variances and the law of one combination."""
    blocks, rng = two(), np.random.default_rng(6)
    fitted = rng.multivariate_normal(np.zeros(3), JOINT, 20_000)
    counts = rng.multinomial(100, [0.6, 0.4], 20_000) - np.array([60.0, 40.0])
    sampling = np.concatenate([fitted, counts], axis=1)
    z = LAW.sample(20_000 * 4, rng).reshape(20_000, 4)
    noise = np.concatenate([z[:, :2] @ LOADS.T, z[:, 2:]], axis=1)
    plain, mixed = LinearCombination(blocks), LinearCombination(blocks, MATRIX)
    covaries(sampling, plain.sampling_matrix())
    covaries(noise, plain.privacy_matrix())
    covaries(sampling @ MATRIX.T, mixed.sampling_matrix())
    covaries(noise @ MATRIX.T, mixed.privacy_matrix())
    for one in (plain, mixed):
        assert one.sampling_variances == pytest.approx(np.diag(one.sampling_matrix()))
        assert one.privacy_variances == pytest.approx(np.diag(one.privacy_matrix()))
        for i in range(len(one)):
            s, b = one.law(i)
            assert s**2 + 2 * (b**2).sum() == pytest.approx(one.sampling_variances[i] + one.privacy_variances[i])


def test_an_interval_of_a_combination_is_two_sided() -> None:
    made = LinearCombination(two(), MATRIX)
    total = made.sampling_variances + made.privacy_variances
    for level, z in ((0.95, 1.959964), (0.8, 1.281552)):
        ends = made.intervals(level)
        assert (ends[:, 1] - ends[:, 0]) / 2 == pytest.approx(z * np.sqrt(total), rel=1e-5)
        assert ends.mean(axis=1) == pytest.approx(MATRIX @ np.array([1.0, 2.0, 3.0, 60.0, 40.0]))


def test_where_a_correlation_is_not_known_standard_errors_add() -> None:
    """Of the same people in two blocks, and of persons in several cells: absolute weights times standard errors."""
    joint, counts = two()
    same = LinearCombination((joint, replace(counts, people="a")), MATRIX)
    first = np.sqrt(np.einsum("ci,ij,cj->c", MATRIX[:, :3], JOINT, MATRIX[:, :3]))
    pulled = np.diag([60.0, 40.0]) - np.outer([6.0, 4.0], [6.0, 4.0])
    second = np.sqrt(np.einsum("ci,ij,cj->c", MATRIX[:, 3:], pulled, MATRIX[:, 3:]))
    assert same.sampling_variances == pytest.approx((first + second) ** 2)
    shared = LinearCombination((replace(joint, joint=None, shared=True),), MATRIX[:, :3])
    assert shared.sampling_variances == pytest.approx((np.abs(MATRIX[:, :3]) @ np.sqrt(np.diag(JOINT))) ** 2)


@pytest.mark.parametrize("times", [20, 0.05])
def test_simultaneous_quantiles_have_the_joint_law(times: float) -> None:
    """Of parameters of one fit, whose errors go together: draws of the largest |error| / SE, against others' own.

    Once nearly all of the error is sampling's, once noise's.  A 95% point of 20,000 draws has a relative standard error
    of 0.5% or less: 3% is six of these.
    """
    from tacit.estimates.comparisons import studentised_maximum
    from tacit.estimates.contrasts import combine

    release = simulate(tc.Mean("x"), {"x": np.arange(9.0)}, tc.Schema({"x": tc.Real(0, 9)}), rho=1, repeats=1).release(
        0
    )
    joint, _ = two()
    joint = replace(joint, joint=times * JOINT)
    base = replace(release.estimate(), terms=("a", "b", "c"), blocks=(joint,))
    pairs = np.array([[1.0, -1.0, 0.0], [1.0, 0.0, -1.0], [0.0, 1.0, -1.0]])
    found = studentised_maximum(base, combine(base, pairs, ("ab", "ac", "bc"), ""), 7)
    rng = np.random.default_rng(8)
    errors = (
        rng.multivariate_normal(np.zeros(3), times * JOINT, 20_000) + LAW.sample(40_000, rng).reshape(-1, 2) @ LOADS.T
    )
    covariance = pairs @ (times * JOINT + LOADS @ LOADS.T * LAW.variance()) @ pairs.T
    largest = np.abs(errors @ pairs.T / np.sqrt(np.diag(covariance))).max(axis=1)
    assert np.quantile(found, 0.95) == pytest.approx(np.quantile(largest, 0.95), rel=0.03)
    assert halfwidth(0.95, np.array(1.0), np.zeros(1)) < np.quantile(found, 0.95)


def test_intervals_of_all_pairs_are_bonferroni_s_and_two_sided() -> None:
    """Three pairs: each at level 1 - 0.05 / 3 and so the plan of them; one at a time without adjustment."""
    schema = tc.Schema({"x": tc.Real(0, 10), "g": tc.Category(["a", "b", "c"])})
    table = {"x": np.linspace(1, 9, 900), "g": np.array(["a", "b", "c"])[np.arange(900) % 3]}
    made = simulate(tc.Mean("x", by="g"), table, schema, rho=1, repeats=1).release(0).estimate()
    for adjust, z in (("bonferroni", 2.393980), ("holm", 2.393980), (None, 1.959964)):
        found = made.pairwise(adjust)
        assert found.quantile(0.95) == pytest.approx(z, abs=1e-6)
        ends = found.intervals(0.95)
        reach = made.intervals(1 - 0.05 / (3 if adjust else 1)) - made.values[:, None]
        assert found.estimate.values - ends[:, 0] == pytest.approx([
            math.hypot(reach[i, 0], reach[j, 1]) for i, j in ((0, 1), (0, 2), (1, 2))
        ])  # fmt: skip
        assert (ends[:, 1] - ends[:, 0]) / 2 == pytest.approx(z * found.estimate.std_errors, rel=0.03)
