"""Sensitivities of bounded scores: all pairs of rows on small grids, every score, and where attained."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats
from test_regression_forms import SMALL, furthest, made, rows_of

from tacit.method.regression.bounded_scores.count_links import CountLink
from tacit.method.regression.bounded_scores.links import bounded, link, polygons
from tacit.method.regression.formulas import layout as layouts
from tacit.method.regression.formulas.formula import parse
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums import encoding as regression_forms
from tacit.method.regression.row_sums import score_encoding as score_forms
from tacit.method.regression.row_sums.encoding import ProductEncoding
from tacit.release.parts import Variable
from tacit.rows.piecewise_score import PiecewiseScore, height, rises

FORMULAS = ["m ~ a", "y ~ a + b", "m ~ r", "y ~ r + a", "y ~ r*a", "y ~ a*m"]
FREE = ("m ~ a", "y ~ a + b", "y ~ a*m")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (layouts, regression_forms, score_forms):
        monkeypatch.setattr(module, "H", SMALL)
    monkeypatch.setattr(score_forms, "CLIP", 2)


def scored(layout: Layout, form: ProductEncoding) -> np.ndarray:
    """What rows add under every score that there could be; unfloored sizes divided by C, squares by C squared.

    Sizes are those of the scores, or, of the form `weighed`, whatever weights there could be.
    """
    z = np.unique(rows_of(layout)[:, :-1], axis=0)
    found: list[np.ndarray] = []
    C = score_forms.CLIP
    weighed = form.name == "weighed"
    sizes = [(p, q) for p in range(-C, C + 1) for q in (range(C + 1) if weighed else (abs(p),))]
    for psi, size in sizes:
        products = [z[:, j] * z[:, k] for one in layout.regressor_products for j, k in one.pairs[:1]]
        columns = [psi * z[:, j] for j in range(layout.size)]
        columns += [size * one // score_forms.CLIP for one in products]
        columns += [psi * psi * one // score_forms.CLIP**2 for one in products] if form.parameters["squares"] else []
        found.append(np.stack(columns, axis=1))
    return np.concatenate(found) * np.array([row[0] for row in form.matrix])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize(("squares", "weighed"), [(False, False), (True, False), (False, True), (True, True)])
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize(("relation", "leaves"), [("replace-one", False), ("replace-one", True), ("add-remove", True)])
def test_all_pairs_of_rows_under_any_score(
    formula: str, relation: str, leaves: bool, squares: bool, weighed: bool
) -> None:
    layout = made(formula)
    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form = score_forms.glm_scores(layout, noise, relation, squares=squares, weighed=weighed)
        reached = furthest(scored(layout, form), relation, leaves, power)
        declared = form.l1 if power == 1 else form.l2_squared
        assert reached <= declared, (noise, reached, declared)


def full(formula: str) -> Layout:
    known = Variable("a", "real", half=1024), Variable("b", "real", half=1024), Variable("m", "boolean")
    facts = {one.name: one for one in known}
    facts |= {"q": Variable("q", "boolean"), "r": Variable("r", "levels", labels=("n", "e", "s"))}
    parsed = parse(formula)
    return layouts.layout(parsed, [facts[name] for name in parsed.columns])


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("formula", ["m ~ a", "m ~ a + b + q"])
def test_on_the_grid_of_releases_the_bound_is_nearly_attained(formula: str, relation: str, squares: bool) -> None:
    layout = full(formula)
    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form = score_forms.glm_scores(layout, noise, relation, squares=squares)
        reached = sum(abs(x) ** power for x in form.extreme)
        if relation == "replace-one":  # the score turns over: its size does not
            reached = sum(abs(2 * x) ** power for x in form.extreme[: layout.size])
        declared = form.l1 if power == 1 else form.l2_squared
        assert 0.99 * declared < reached <= declared, (noise, reached, declared)


@pytest.mark.parametrize("formula", ["m ~ a", "m ~ a + b + q"])
def test_with_weights_of_their_own_the_bound_is_nearly_attained(formula: str) -> None:
    """A score turns over while the weight falls from 1 to 0, regressors being at their bounds."""
    layout = full(formula)
    m, inner = layout.size, len(layout.regressor_products)
    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form = score_forms.glm_scores(layout, noise, "replace-one", squares=True, weighed=True)
        reached = sum(abs(2 * x) ** power for x in form.extreme[:m])
        reached += sum(abs(x) ** power for x in form.extreme[m : m + inner])
        declared = form.l1 if power == 1 else form.l2_squared
        assert 0.98 * declared < reached <= declared, (noise, reached / declared)


@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("formula", ["m ~ a", "m ~ a + b + q", "m ~ r*a"])
def test_random_pairs_on_the_grid_of_releases(formula: str, squares: bool) -> None:
    """20,000 pairs, most near the worst: regressors alike, scores turned over or of different size."""
    rng = np.random.default_rng(5)
    layout = full(formula)
    n, C = 20_000, score_forms.CLIP

    def rows(like: np.ndarray | None) -> np.ndarray:
        a, b = rng.integers(-1024, 1025, (2, n)) if like is None else like
        near = rng.integers(-40, 41, (2, n)) * (like is not None)
        a, b = np.clip(np.stack([a, b]) + near, -1024, 1024)
        q, r = 2 * rng.integers(0, 2, n) - 1, rng.integers(0, 3, n)
        values = {"a": a, "b": b}
        z: list[np.ndarray] = []
        for numbers, marks in layout.coordinates[:-1]:
            one = np.ones(n, dtype=np.int64) if numbers else np.full(n, 1024)
            for name in numbers:
                one = one * values[name]
            for name, level in marks:
                one = one * (q if name == "q" else r == level)
            z.append(one)
        return np.stack(z, axis=1), np.stack([a, b])

    def added(z: np.ndarray, psi: np.ndarray, form: ProductEncoding) -> np.ndarray:
        products = [z[:, j] * z[:, k] for one in layout.regressor_products for j, k in one.pairs[:1]]
        columns = [psi * z[:, j] for j in range(layout.size)] + [np.abs(psi) * one >> 9 for one in products]
        columns += [psi * psi * one >> 18 for one in products] if squares else []
        return np.stack(columns, axis=1) * np.array([row[0] for row in form.matrix])

    corners = rng.choice([-1024, 1024], (2, n))
    for start in (None, corners):
        one, like = rows(start)
        other, _ = rows(like)
        psi, sign = rng.integers(C // 2, C + 1, n), rng.choice([-1, 1], n)
        psi_other = -sign * np.minimum(C, rng.integers(0, 2 * C, n))
        for noise, power in (("laplace", 1), ("gaussian", 2)):
            form = score_forms.glm_scores(layout, noise, "replace-one", squares=squares)
            change = np.abs(added(one, sign * psi, form) - added(other, psi_other, form)).astype(float)
            declared = form.l1 if power == 1 else form.l2_squared
            assert (change**power).sum(axis=1).max() <= declared


def test_polygons_are_exact_in_integers_and_hardly_move_where_a_score_is_zero() -> None:
    """By less than 0.03 of a predictor anywhere, and by 0.004 on average over a piece."""
    for name in ("logistic", "probit"):
        chosen = link(name)
        cut, response = chosen.cuts()[1], (0.0, 1 / 2048)
        (slope, middle), _ = polygons(chosen, cut, 512, response)
        score = PiecewiseScore((0, 1, 0), 1, 512, slope, middle)
        score.check()
        e = np.arange(-4096, 4097)
        assert height(slope, e)[0] == slope[0]
        assert all(isinstance(one, int) for one in rises(slope))
        eta = chosen.reach * e / 4096
        v = height(slope, e) / (512 * 2.0**28) / response[1]
        moved = ((height(middle, e) / (512 * 2.0**28) / v - chosen.mean(eta)) / chosen.slope(eta))[np.abs(eta) < 4]
        assert np.abs(moved).max() < 0.03, name
        assert np.abs(np.convolve(moved, np.ones(256) / 256, "valid")).max() < 0.004, name


def test_scores_have_mean_zero_and_their_curve_is_its_derivative() -> None:
    """By the law of the response itself."""
    eta = np.linspace(-2, 2, 9)
    for name in ("logistic", "probit"):
        chosen = link(name)
        for cut in chosen.cuts():
            made = bounded(chosen, eta, cut)
            high, low = made.v - made.b, -made.b
            mean = chosen.mean(eta)
            assert np.abs(mean * high + (1 - mean) * low).max() < 1e-12
            assert max(np.abs(high).max(), np.abs(low).max()) <= 1 + 1e-12
            assert made.curve == pytest.approx((high - low) * chosen.slope(eta))
            assert made.size == pytest.approx(mean * np.abs(high) + (1 - mean) * np.abs(low))


@pytest.mark.parametrize("spread", [0.0, 0.7])
def test_scores_of_counts_have_mean_zero_under_their_law_as_bounds_clamp_it(spread: float) -> None:
    """By the law's own probabilities (scipy), summed; the curve is the derivative of the mean, by differences."""
    counts, eta = CountLink(1, 12, full=1.0, spread=spread), np.log([0.2, 1.0, 3.0, 8.0])
    y = np.arange(400)

    def mass(at: np.ndarray) -> np.ndarray:
        mean = np.exp(at)[:, None]
        return stats.nbinom.pmf(y, 1 / spread, 1 / (1 + spread * mean)) if spread else stats.poisson.pmf(y, mean)

    for cut in (1.0, 2.5, 11.0):
        made = bounded(counts, eta, cut)
        psi = np.clip(made.v[:, None] * np.clip(y, 1, 12) - made.b[:, None], -1, 1)
        assert np.abs((psi * mass(eta)).sum(axis=1)).max() < 2e-5, cut  # Newton's steps end at a mean of 2e-5
        assert (psi**2 * mass(eta)).sum(axis=1) == pytest.approx(made.square, abs=1e-9)
        differences = (psi * (mass(eta + 1e-5) - mass(eta - 1e-5))).sum(axis=1) / 2e-5
        assert made.curve == pytest.approx(differences, abs=1e-5)


def test_weights_of_counts_are_their_curvature_and_scores_hardly_move_where_they_are_zero() -> None:
    """In integers: weights by an eighth of a piece of 1/8, at their kink, scores by 0.01 of a predictor."""
    link_ = CountLink(0, 40).with_grid(-1.5, 2.5, 1.4, 0.0)
    response = (0.0, 40 / 2000)  # 50 steps for each count
    (slope, middle), weight = polygons(link_, 3.0, 512, response)
    score = PiecewiseScore((0, 1, 0), 1, 512, slope, middle, weight)
    score.check()
    e = np.arange(-4096, 4097)
    eta = link_.center + link_.reach * e / 4096
    made, unit = bounded(link_, eta, 3.0), 512 * 2.0**28
    assert np.abs(height(weight, e) / unit - made.curve * 3 / np.exp(1.4)).max() < 1 / 64
    v = height(slope, e) / unit / response[1]
    moved = (height(middle, e) / unit - link_.centering(eta, v)) / made.curve
    assert np.abs(moved).max() < 0.01
