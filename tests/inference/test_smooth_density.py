"""Smooth densities: bases, coefficients from bins, curves, bands, groups, kinds of columns, and what is refused."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.densities.chosen_terms import ErrorsOfValues
from tacit.estimates.densities.projected_curve import ProjectedCurve
from tacit.estimates.densities.series_coefficients import Shares, coefficients, reactions, resolved_terms, shrinkage
from tacit.estimates.densities.series_curve import SeriesCurve, terms_of
from tacit.method.histogram.estimate_smooth import smooth_density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.rows.series_bases import BASES, functions, integrals
from tacit.rows.series_blocks import blocks
from tacit.testing.simulate import add_noise, shaped

CELLS = np.linspace(0, 1, 65)
LEVEL = 1e-6
"""False-alarm rate of each comparison."""


def drawn(rows: int, price: dict[str, float], seed: int, relation: str = "replace-one", bins: int = 64) -> tc.Release:
    """A simulated release of a histogram of Beta(2, 5)."""
    rng = np.random.default_rng(seed)
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
    shape = shaped(tc.Histogram("x", bins={"x": bins}), schema, relation, rows, Cost.of(**price))
    counts = rng.multinomial(rows, np.diff(stats.beta(2, 5).cdf(np.linspace(0, 1, bins + 1))))
    return simulated(shape, add_noise(shape, (counts[:, None],), rng))


@pytest.mark.parametrize("basis", BASES)
def test_functions_are_orthonormal_and_integrals_are_theirs(basis: str) -> None:
    terms, cells = 15, 2**14
    middles = (np.arange(cells) + 0.5) / cells
    psi = functions(basis, middles, terms)
    assert np.allclose(psi @ psi.T / cells, np.eye(terms), atol=1e-4)
    assert np.allclose(psi.mean(axis=1), 0, atol=1e-6)
    # by the midpoint rule on fine cells, exact for steps whose edges are edges of cells
    ends = np.arange(1, 17) / 16
    sums = np.cumsum(psi, axis=1)[:, cells // 16 - 1 :: cells // 16] / cells
    assert np.allclose(integrals(basis, ends, terms), sums, atol=1e-6)
    assert np.allclose(integrals(basis, np.array([0.0, 1.0]), terms), 0, atol=1e-12)


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize(
    "edges", [CELLS, np.concatenate([[0], np.sort(stats.beta(1, 2).ppf(np.arange(1, 40) / 40)), [1]])]
)
def test_a_density_in_the_basis_is_found_exactly(basis: str, edges: np.ndarray) -> None:
    """Least squares undo what bins average out, on equal bins and on others."""
    terms = resolved_terms(basis, edges)
    assert terms >= 3
    true = np.zeros(terms)
    true[:3] = [0.3, -0.1, 0.05]
    bins = len(edges) - 1
    shares = np.diff(edges) + true @ np.diff(integrals(basis, edges, terms), axis=1)
    found = coefficients(basis, Shares(edges, shares, np.zeros((bins, bins)), np.eye(bins), 1e-12), terms)
    assert np.allclose(found.values, true, atol=1e-9)
    # with three terms the last block is not 0
    assert found.resolved == (terms > 3)


def test_covariances_are_those_of_simulated_coefficients() -> None:
    """False alarms: LEVEL, by the tail of a chi-squared variable for each coefficient."""
    rng, n, bins, repeats = np.random.default_rng(0), 400, 16, 4_000
    edges = np.linspace(0, 1, bins + 1)
    p = np.diff(stats.beta(2, 5).cdf(edges))
    noise = 6.0
    sampling = (np.diag(p) - np.outer(p, p)) / n
    draws = rng.multinomial(n, p, repeats) + rng.normal(0, noise, (repeats, bins))
    many = np.array(
        [
            coefficients("cosine", Shares(edges, one / n, sampling, np.eye(bins) / n, noise**2), 8).values
            for one in draws
        ]
    )
    one = coefficients("cosine", Shares(edges, p, sampling, np.eye(bins) / n, noise**2), 8)
    assert np.allclose(one.load @ one.load.T * noise**2 + 0, one.covariance - _spread(edges, sampling), atol=1e-12)
    ratio = many.var(axis=0, ddof=1) / np.diag(one.covariance)
    low, high = stats.chi2.ppf([LEVEL / 16, 1 - LEVEL / 16], repeats - 1) / (repeats - 1)
    assert np.all((low < ratio) & (ratio < high))


def _spread(edges: np.ndarray, sampling: np.ndarray) -> np.ndarray:
    bins = len(edges) - 1
    none = Shares(edges, np.diff(edges), sampling, np.zeros((bins, bins)), 0.0)
    return coefficients("cosine", none, 8).covariance


def test_blocks_grow_and_noise_alone_is_shrunk_away() -> None:
    ends = blocks(100)
    assert ends[:4] == (1, 2, 3, 4)
    assert ends[-1] == 100
    assert all(b <= np.ceil(1.35 * a) for a, b in pairwise(ends[3:]))
    assert np.all(shrinkage(np.full(100, 0.01), np.full(100, 1e-4), ends) == 0)
    clear = shrinkage(np.full(100, 1.0), np.full(100, 1e-4), ends)
    assert np.all((clear > 0.999) & (clear <= 1))


@pytest.mark.sample(2)
@pytest.mark.parametrize("price", [{"epsilon": 0.5}, {"rho": 0.05}])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_a_curve_is_a_density(price: dict[str, float], relation: str) -> None:
    for seed in range(5):
        found = smooth_density(drawn(500, price, seed, relation), "x")
        x = (np.arange(4_000) + 0.5) / 4_000
        values = found(x)
        assert np.all(values >= 0)
        assert values.mean() == pytest.approx(1, abs=2e-3)
        whole = found.cdf(np.linspace(0, 1, 101))
        assert (whole[0], whole[-1]) == (0, 1)
        assert np.all(np.diff(whole) >= 0)
        p = np.array([0.1, 0.5, 0.9])
        assert np.allclose(found.cdf(found.quantile(p)), p, atol=1e-6)
        assert found(np.array([-0.1, 1.1])).tolist() == [0, 0]
        narrow, wide = (found.intervals(x[::40], simultaneous=band) for band in (False, True))
        told = np.isfinite(narrow[:, 1])
        assert told.mean() > 0.5
        assert np.all(wide[told, 0] <= narrow[told, 0])
        assert np.all(wide[told, 1] >= narrow[told, 1])
        assert np.all((wide[:, 0] <= values[::40]) & (values[::40] <= wide[:, 1]))


def test_of_many_rows_it_is_the_density() -> None:
    """Three standard errors at 50 places of a million rows, six of them: false alarms below LEVEL."""
    found = smooth_density(drawn(1_000_000, {"epsilon": 1.0}, 0), "x")
    x = np.linspace(0.02, 0.98, 50)
    limits = found.intervals(x, 1 - 1e-9)
    true = stats.beta(2, 5).pdf(x)
    assert found.basis == "legendre"
    assert np.all((limits[:, 0] <= true) & (true <= limits[:, 1]))
    assert np.max(np.abs(found(x) - true)) < 0.05


def test_it_is_nearer_than_the_histogram_of_any_number_of_bins() -> None:
    """In 12 releases each: mean squared error at most half of the least over numbers of bins.

    The ratio was about .15 in the study; a mean of 12 varies by a sixth of it, so that a half is 12 deviations off.
    """
    from tacit.method.histogram.estimate_densities import density

    x = (np.arange(500) + 0.5) / 500
    true = stats.beta(2, 5).pdf(x)
    price = {"epsilon": 1.0}
    steps = [
        np.mean([((density(drawn(5_000, price, seed, bins=bins), "x")(x) - true) ** 2).mean() for seed in range(12)])
        for bins in (12, 20, 32, 48)
    ]
    smooth = np.mean([((smooth_density(drawn(5_000, price, seed), "x")(x) - true) ** 2).mean() for seed in range(12)])
    assert smooth < 0.5 * min(steps)


@pytest.mark.long
@pytest.mark.parametrize("price", [{"epsilon": 0.5}, {"rho": 0.05}])
def test_limits_and_bands_cover(price: dict[str, float]) -> None:
    """Over 600 releases of 2,000 rows, beside 93 and 90%, the least asked for.  False alarms: LEVEL."""
    x = np.linspace(0.02, 0.98, 25)
    true, each, band = stats.beta(2, 5).pdf(x), 0.0, 0
    repeats = 600
    for seed in range(repeats):
        found = smooth_density(drawn(2_000, price, seed), "x")
        low, high = (found.intervals(x, simultaneous=one) for one in (False, True))
        each += ((low[:, 0] <= true) & (true <= low[:, 1])).mean()
        band += bool(((high[:, 0] <= true) & (true <= high[:, 1])).all())
    assert each / repeats > 0.93 - 5 * np.sqrt(0.07 * 0.93 / repeats)
    assert band > stats.binom.ppf(LEVEL, repeats, 0.90)


def test_coarse_bins_are_noticed() -> None:
    """A spike in wide bins: the curve says that its bins are too wide."""
    rng = np.random.default_rng(1)
    table = {"x": np.clip(np.where(rng.random(20_000) < 0.4, rng.normal(0.35, 0.01, 20_000), rng.random(20_000)), 0, 1)}
    curator = tc.Curator(table, tc.Schema({"x": tc.Real(0, 1)}), budget=tc.Budget(rho=100))
    wide, narrow = (
        curator.release(tc.Histogram("x", bins={"x": bins}), rho=10).smooth_density("x") for bins in (12, 200)
    )
    assert any("too wide" in note for note in wide.notes)
    assert not any("too wide" in note for note in narrow.notes)


@pytest.mark.sample(2)
@pytest.mark.parametrize("law", [stats.uniform(0.22, 0.5), stats.beta(0.6, 0.6)], ids=["jumps", "poles"])
def test_jumps_and_poles_are_noticed(law: Any) -> None:
    """The share of releases with the note, beside 85%, the least asked for.  False alarms: LEVEL."""
    rng, repeats, noted = np.random.default_rng(5), 60, 0
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
    shape = shaped(tc.Histogram("x", bins={"x": 64}), schema, "replace-one", 10_000, Cost.of(rho=0.01))
    for _ in range(repeats):
        counts = rng.multinomial(10_000, np.diff(law.cdf(np.linspace(0, 1, 65))))
        found = smooth_density(simulated(shape, add_noise(shape, (counts[:, None],), rng)), "x")
        noted += any("too wide" in note for note in found.notes)
    assert noted >= stats.binom.ppf(LEVEL, repeats, 0.85)


def people() -> tc.HistogramRelease:
    rng = np.random.default_rng(2)
    n = 4_000
    table = {
        "age": rng.integers(18, 91, n),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 366, n),
        "sex": np.where(rng.random(n) < 0.5, "f", "m"),
    }
    schema = tc.Schema(
        {"age": tc.Integer(18, 90), "day": tc.Date("2024-01-01", "2024-12-31"), "sex": tc.Category(["f", "m", "x"])}
    )
    curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=100, neighbors="add-remove"))
    return curator.release(tc.Histogram(["age", "day", "sex"], bins={"day": 12}), epsilon=50)


@pytest.fixture(scope="module")
def cells() -> tc.HistogramRelease:
    return people()


def test_groups_whole_numbers_and_days(cells: tc.HistogramRelease) -> None:
    ages = cells.smooth_density("age", by="sex")
    assert ages.groups == ("f", "m", "x")
    # nobody is in the third group
    assert ages.reasons[:2] == (None, None)
    assert ages.reasons[2] is not None
    assert ages(np.array([30, 50])).shape == (3, 2)
    women = ages["f"]
    every = np.arange(18, 91)
    # a density per value: the values of all add up to one, but for the middle rule
    assert women(every).sum() == pytest.approx(1, abs=0.01)
    assert women.cdf(90) == 1
    assert women.quantile(0.5) == int(women.quantile(0.5))
    assert set(women.sample(500, rng=0)["age"]) <= set(range(18, 91))
    assert np.isinf(ages.intervals([40], 0.9)[2, 0, 1])
    days = cells.smooth_density("day")
    assert days.per == "per day"
    assert days("2024-07-01") == pytest.approx(1 / 366, rel=0.3)
    assert ages.to_frame().shape == (303, 7)
    assert len(ages.summary().rows) == 42
    assert "Smooth density of age by sex" in ages.summary().title


def test_target_table_has_no_sampling_error(cells: tc.HistogramRelease) -> None:
    sampled, table = (cells.smooth_density("age", target=one).intervals([40.0]) for one in ("population", "table"))
    assert np.ptp(table) < np.ptp(sampled)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"column": "sex"}, "I60"),
        ({"column": "nobody"}, "I41"),
        ({"column": "age", "basis": "cosin"}, "I44"),
        ({"column": "age", "basis": 3}, "I44"),
        ({"column": "age", "target": "all"}, "I09"),
    ],
)
def test_what_cannot_be_asked(cells: tc.HistogramRelease, asked: dict[str, object], code: str) -> None:
    with pytest.raises(InferenceError) as caught:
        cells.smooth_density(**asked)
    assert caught.value.code == code


def test_what_a_curve_refuses(cells: tc.HistogramRelease) -> None:
    ages = cells.smooth_density("age", by="sex")
    for code, call in {
        "I05": lambda: ages.sample(5),
        "I61": lambda: ages["f"].sample(0),
        "I62": lambda: ages["f"].sample(5, rng="seed"),
        "I63": lambda: ages["x"].sample(5),
        "I02": lambda: ages["z"],
        "I01": lambda: ages.intervals([40], 0.2),
    }.items():
        with pytest.raises(InferenceError) as caught:
            call()
        assert caught.value.code == code
    with pytest.raises(InferenceError) as caught:
        ages["f"].quantile(1.5)
    assert caught.value.code == "I05"


def test_a_band_takes_noise_of_heavy_tails_into_account() -> None:
    """Of Laplace noise in few bins the largest error is larger than normal noise of the same variance has."""
    bins = 8
    edges = np.linspace(0, 1, bins + 1)
    shares = Shares(edges, np.diff(edges), np.zeros((bins, bins)), np.eye(bins), 1e-4)
    found = coefficients("haar", shares, 7)
    chosen = (terms_of("haar", reactions("haar", edges, 7)[1]),)
    errors = [ErrorsOfValues(shares.sampling, shares.noises, 1e-4, laplace) for laplace in (False, True)]
    normal, heavy = (
        ProjectedCurve("haar", one, one).limits(np.array([0.1]), 0.99, simultaneous=True)
        for one in (SeriesCurve("haar", found, 7, own, chosen) for own in errors)
    )
    assert np.ptp(heavy) > 1.1 * np.ptp(normal)


def test_distance_is_that_to_the_density() -> None:
    """The estimate of squared distance has no bias for factors that are fixed.  False alarms: six deviations."""
    rng, terms, repeats = np.random.default_rng(4), 6, 3_000
    true, error = np.array([0.5, -0.2, 0.1, 0, 0, 0]), 0.1
    factors = np.array([0.9, 0.8, 0.5, 0.2, 0.0, 0.0])
    drawn_values = true + error * rng.standard_normal((repeats, terms))
    told = (factors**2 * drawn_values**2 - 2 * factors * (drawn_values**2 - error**2)).sum(axis=1)
    real = ((factors * drawn_values - true) ** 2).sum(axis=1) - (true**2).sum()
    apart = told - real
    assert abs(apart.mean()) < 6 * apart.std() / np.sqrt(repeats)
    shares = Shares(CELLS, np.diff(CELLS), np.zeros((64, 64)), np.eye(64), 1e-4)
    one = coefficients("cosine", shares, 4)
    square, variance = one.values**2, np.diag(one.covariance)
    assert one.distance == pytest.approx(float((one.factors**2 * square - 2 * one.factors * (square - variance)).sum()))


def test_it_draws_a_picture(cells: tc.HistogramRelease) -> None:
    pytest.importorskip("matplotlib")
    drawn_curve = cells.smooth_density("age").plot()
    assert "Smooth density of age" in drawn_curve.axes.get_title() or drawn_curve.axes.figure is not None
    with pytest.raises(InferenceError):
        cells.smooth_density("age", by="sex").plot()


def test_persons() -> None:
    """With a PrivacyUnit counts are shares of persons' weights; the curve is in shares of persons."""
    rng = np.random.default_rng(3)
    table = {"who": np.repeat(np.arange(800), 3), "x": rng.beta(2, 5, 2_400)}
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "x": tc.Real(0, 1)})
    curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=100, neighbors="add-remove"))
    found = curator.release(tc.Histogram("x", bins={"x": 40}), epsilon=50).smooth_density("x")
    # 800 persons of three rows each; six standard errors of 800
    true = stats.beta(2, 5).pdf(0.3)
    assert abs(float(found(0.3)) - true) < 6 * float(np.ptp(found.intervals(0.3))) / 3.92
    assert 0.5 < float(found.cdf(0.4)) < 0.95


def test_integrals_beside_quadrature() -> None:
    """Integrals of Legendre functions beside SciPy's quadrature."""
    for j in (1, 4):
        value, _ = integrate.quad(lambda t, j=j: float(functions("legendre", np.array([t]), j)[-1, 0]), 0, 0.37)
        assert integrals("legendre", np.array([0.37]), j)[-1, 0] == pytest.approx(value, abs=1e-9)


def test_a_noisy_size_moves_all_shares() -> None:
    """More rows in a bin raise its share and lower the others, as the errors say, where their number is private."""
    release = drawn(2_000, {"rho": 5.0}, 3, "add-remove", bins=8)
    found = smooth_density(release, "x", basis="haar")
    (part,) = release.parts
    more = [(k + (40 if i == 0 else 0),) for i, (k,) in enumerate(part.integers)]
    moved = smooth_density(replace(release, parts=(replace(part, integers=more),)), "x", basis="haar")
    one, other = found.curves[0].estimate, moved.curves[0].estimate
    assert np.allclose(other.found.values - one.found.values, 40 * one.found.load[:, 0], rtol=0.05, atol=1e-3)
