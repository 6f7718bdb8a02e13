"""Gamma and Huber regressions: their laws and scores, statsmodels, coverage, engines, the contract, strange tables."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
import statsmodels.api as sm
from every_engine import assert_every_engine_adds_up, columns_of
from scipy import integrate, stats

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import QueryError
from tacit.method.regression import mechanism as regression
from tacit.method.regression.bounded_scores.count_laws import CountLaw
from tacit.method.regression.bounded_scores.positive_laws import LEAST, POSITIVE_KINDS
from tacit.method.regression.bounded_scores.positive_links import PositiveLink
from tacit.method.regression.bounded_scores.robust_links import SHARE, RobustLink, law_within
from tacit.method.regression.designs.further_design import unsuitable
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.release.digests import sealed
from tacit.release.document import release_from_dict
from tacit.release.parts import Variable
from tacit.rows.piecewise_score import FINE, PIECES, PiecewiseScore
from tacit.testing.contract import contract, sensitivity
from tacit.testing.findings import PRICES
from tacit.testing.neighbouring_tables import pairs
from tacit.testing.simulated_regressions import RegressionRows, rows_of

COLUMNS: dict[str, Any] = {"a": tc.Real(-10, 10), "b": tc.Real(0, 40), "m": tc.Boolean()}
RESPONSES: dict[str, Any] = {"gamma": tc.Real(0, 60), "huber": tc.Real(-40, 60)}
TRUTH = np.array([0.5, 0.4, -0.2, 0.3])
MODELS = list(RESPONSES)
SHORT = {"gamma": (12, 5), "huber": (30, 20)}
"""Tables of short coverage tests, and how many of them have to cover at least."""


def draw(rng: np.random.Generator, n: int, model: str, *, outliers: float = 0.05) -> dict[str, np.ndarray]:
    """Correlated numbers, one of them skewed, a rare Boolean; a log-normal factor, or errors with gross outliers."""
    z = rng.normal(0, 1, n)
    a, b, m = 0.8 * z + 0.6 * rng.normal(0, 1, n), np.exp(0.6 * z), rng.random(n) < 0.08
    eta = np.column_stack([np.ones(n), a, b, m]) @ TRUTH
    if model == "gamma":
        y = np.exp(eta) * rng.gamma(1.5, 1 / 1.5, n)
    else:
        y = eta + rng.normal(0, 1, n) * np.where(rng.random(n) < outliers, 15, 1)
    return {"y": y, "a": a, "b": b, "m": m}


def schema_of(model: str) -> tc.Schema:
    return tc.Schema({"y": RESPONSES[model], **COLUMNS})


def made(model: str, n: int, cost: Cost, relation: Any = "replace-one", seed: int = 1) -> RegressionRows:
    data = draw(np.random.default_rng(seed), n, model)
    return rows_of(tc.Regression("y ~ a + b + m", model=model), data, schema_of(model), cost, relation)


# Laws and scores ------------------------------------------------------------------------------------------------------


def mixture(law: CountLaw, f: Any) -> float:
    """The mean of f(y) over a law, by quadrature over quantiles of each gamma law."""
    each = [
        stats.gamma(1 / law.spread, scale=law.spread * factor).expect(f, lb=0, ub=np.inf, limit=400)
        if factor > 0
        else f(0.0)
        for factor in law.factors
    ]
    return float(np.dot(law.shares, each))


@pytest.mark.parametrize("kind", POSITIVE_KINDS, ids=lambda kind: kind.__name__)
def test_kinds_of_law_have_mean_one_and_their_variance(kind: Any) -> None:
    for s in (LEAST, 0.3, 1.0):
        law = kind(s)
        mean = float(np.dot(law.shares, law.factors))
        second = float(np.dot(law.shares, np.square(law.factors)) * (1 + law.spread))
        assert mean == pytest.approx(1, abs=1e-9)
        # a log-normal factor has few nodes, and zeros and large means are bounded
        assert second - 1 == pytest.approx(s, rel=0.02)
    assert [x.spread for x in map(POSITIVE_KINDS[0], (0.0, 0.5))] == [LEAST, 0.5]


def test_scores_of_positive_responses_have_mean_zero_and_their_moments() -> None:
    """Against quadrature: of the assumed law, of another one, with the bounds of the column and a cut that matters."""
    link, eta = PositiveLink(0.5, 12.0, spread=0.6), np.log([0.3, 1.0, 4.0, 11.0])
    found = link.bounded(eta, 1.5)
    other = CountLaw(0.4, (0.3, 0.7), (0.2, (1 - 0.06) / 0.7))
    moments = link.moments_under(eta, found, other)
    for i, mean in list(enumerate(np.exp(eta)))[1:3]:

        def psi(r: float, i: int = i, mean: float = mean) -> float:
            return float(np.clip(found.v[i] * np.clip(r * mean, 0.5, 12.0) - found.b[i], -1, 1))

        law = CountLaw(0.6)
        assert mixture(law, psi) == pytest.approx(0, abs=1e-6)
        assert found.square[i] == pytest.approx(mixture(law, lambda r: psi(r) ** 2), rel=1e-5)
        up, down = (mixture(law, lambda r, s=s: psi(r * (1 + s))) for s in (1e-4, -1e-4))
        assert found.curve[i] == pytest.approx((up - down) / 2e-4, rel=1e-3, abs=1e-6)
        assert moments[0][i] == pytest.approx(mixture(other, psi), abs=1e-5)
        assert moments[1][i] == pytest.approx(mixture(other, lambda r: psi(r) ** 2), abs=1e-5)
    assert (found.size >= 0).all()
    assert (found.size <= 1).all()


def test_where_no_bound_is_near_a_cut_moves_no_slope() -> None:
    """Under any law of y over its mean the mean score is the same at every predictor."""
    link, eta = PositiveLink(0.0, 1e6, spread=0.5), np.log([1.0, 10.0, 100.0])
    found = link.bounded(eta, 1.0)
    for kind in POSITIVE_KINDS[1:]:
        mean = link.moments_under(eta, found, kind(1.0))[0]
        assert abs(mean[0]) > 1e-3
        assert mean == pytest.approx(mean[0], abs=1e-6)


@pytest.mark.parametrize(("sd", "far"), [(0.1, 0.0), (0.2, 0.05), (0.05, 0.1)])
def test_a_cut_is_found_from_what_lies_within_another(sd: float, far: float) -> None:
    for cut in (0.7 * sd, 1.345 * sd, 4 * sd):
        share = (1 - far) * (2 * stats.norm.cdf(cut / sd) - 1)
        inner = integrate.quad(lambda x, cut=cut: (x / cut) ** 2 * stats.norm.pdf(x, 0, sd), -cut, cut)[0]
        found, part = law_within(cut, share, (1 - far) * inner + 1 - share)
        assert found == pytest.approx(sd, rel=0.02)
        assert part == pytest.approx(far, abs=0.01)
        link = RobustLink().with_law(found, part)
        inside = (1 - far) * (2 * stats.norm.cdf(link.own_cut / sd) - 1)
        assert inside == pytest.approx(SHARE, abs=0.01)


def test_a_cut_with_its_share_within_stays_whatever_the_law() -> None:
    for law in (stats.t(3), stats.laplace(), stats.uniform(-1, 2)):
        cut = float(law.ppf((1 + SHARE) / 2)) / 50
        inner = integrate.quad(lambda x, cut=cut, law=law: (x / cut) ** 2 * 50 * law.pdf(50 * x), -cut, cut)[0]
        assert RobustLink().with_law(*law_within(cut, SHARE, inner + 1 - SHARE)).own_cut == pytest.approx(cut, rel=0.02)
    # nonsense from noise: a cut nevertheless
    for share, square in ((1.4, -0.3), (-0.2, 3.0), (0.5, 0.2)):
        found, part = law_within(0.1, share, square)
        assert math.isfinite(RobustLink().with_law(found, part).own_cut)


# Fits -----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_at_a_large_price_fits_are_those_of_statsmodels(model: str, relation: str) -> None:
    """One table of 20,000 rows, fits apart by less than half a standard error: both have their sampling error."""
    rows = made(model, 20_000, Cost.of(rho=1000), relation)
    # with what rows far out may say errors are larger
    fit = fit_release(rows.release(np.random.default_rng(0)), linear=True)
    values = (rows.z / 1024) @ rows.layout.terms.T
    x, y = values[:, :-1], values[:, -1]
    if model == "gamma":
        plain = sm.GLM(y, x, family=sm.families.Gamma(sm.families.links.Log())).fit(cov_type="HC1")
        ours = rows.ordinary()
        assert ours[0] == pytest.approx(plain.params, abs=1e-6)
    else:
        # the scale is the median's, of residuals; here it is that of 82%, the same for normal ones
        plain = sm.RLM(y, x, M=sm.robust.norms.HuberT(1.345)).fit(cov="H2")
        assert rows.ordinary()[0] == pytest.approx(plain.params, abs=0.01)
        note = next(note for note in fit.notes if "Huber's" in note)
        cut = float(note.split("residuals of ")[1].split(",")[0])
        assert cut == pytest.approx(1.345 * plain.scale, rel=0.08)
    assert (np.abs(fit.values - plain.params) / plain.bse).max() < 0.5
    assert fit.std_errors == pytest.approx(plain.bse, rel=0.12)
    assert fit.slope is not None
    assert fit.slope.value == pytest.approx(y.mean() if model == "gamma" else 1.0, rel=0.03)


@pytest.mark.parametrize(
    ("model", "n", "cost", "relation"),
    [
        ("gamma", 6_000, Cost.of(rho=0.3), "replace-one"),
        pytest.param("gamma", 10_000, Cost.of(rho=0.2), "replace-one", marks=pytest.mark.long),
        ("huber", 6_000, Cost.of(epsilon=3, delta=1e-6), "add-remove"),
        pytest.param("huber", 10_000, Cost.of(epsilon=3, delta=1e-6), "add-remove", marks=pytest.mark.long),
        pytest.param("gamma", 20_000, Cost.of(epsilon=4), "add-remove", marks=pytest.mark.long),
        pytest.param("gamma", 50_000, Cost.of(epsilon=1, delta=1e-6), "add-remove", marks=pytest.mark.long),
        pytest.param("huber", 20_000, Cost.of(epsilon=3), "replace-one", marks=pytest.mark.long),
        pytest.param("huber", 50_000, Cost.of(epsilon=1, delta=1e-6), "replace-one", marks=pytest.mark.long),
    ],
)
def test_intervals_cover_and_standard_errors_are_deviations(model: str, n: int, cost: Cost, relation: str) -> None:
    """Tables and releases, 60 of each, but for 12 of the first and 30 of the second kind of short ones.

    Where each interval covers 94%, fewer than 5 of 12, 20 of 30, or 44 of 60 do with probability below 1e-6
    (binomial).  The mean square of z over all terms is between .25 and 2.5: of 48 values or more, more than five
    deviations.
    """
    rng, z, repeats, least = np.random.default_rng(6), [], *(SHORT[model] if n == 6_000 else (60, 44))
    for seed in range(repeats):
        fit = made(model, n, cost, relation, seed).fit(rng)
        assert not any(fit.reasons)
        z.append((fit.values - TRUTH) / fit.std_errors)
    assert (np.abs(z) <= 1.96).sum(axis=0).min() >= least
    assert 0.25 < np.mean(np.square(z)) < 2.5


def of_persons(rng: np.random.Generator, persons: int, model: str) -> dict[str, np.ndarray]:
    """One to four rows of each person, with regressors of the person and errors in common."""
    who = np.repeat(np.arange(persons), rng.integers(1, 5, persons))
    own = draw(rng, persons, model)
    each = {name: column[who] for name, column in own.items() if name != "y"}
    eta = np.column_stack([np.ones(len(who)), each["a"], each["b"], each["m"]]) @ TRUTH
    if model == "gamma":
        y = np.exp(eta) * rng.gamma(3, 1 / 3, persons)[who] * rng.gamma(3, 1 / 3, len(who))
    else:
        y = eta + rng.normal(0, 0.7, persons)[who] + rng.normal(0, 0.7, len(who))
    return {"y": y, **each, "who": who}


@pytest.mark.long
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("cost", [Cost.of(rho=0.3), Cost.of(epsilon=4)], ids=str)
def test_intervals_between_persons_cover(model: str, cost: Cost) -> None:
    """60 tables: where each interval covers 94%, fewer than 44 do with probability below 1e-6 (binomial)."""
    rng, z, nothing = np.random.default_rng(7), [], 0
    schema = tc.Schema({"who": tc.PrivacyUnit(4), "y": RESPONSES[model], **COLUMNS})
    for _ in range(60):
        rows = rows_of(tc.Regression("y ~ a + b + m", model=model), of_persons(rng, 10_000, model), schema, cost)
        fit = rows.fit(rng)
        if any(fit.reasons):
            nothing += 1
        else:
            z.append((fit.values - TRUTH) / fit.std_errors)
    assert nothing <= 3
    assert (np.abs(z) <= 1.96).sum(axis=0).min() >= 44 - nothing
    assert 0.25 < np.mean(np.square(z)) < 1.75


@pytest.mark.parametrize("model", ["huber", pytest.param("gamma", marks=pytest.mark.long)])
def test_persons_have_the_errors_of_a_cluster_robust_fit(model: str) -> None:
    """Noise in the variances is at most .3 of them, or they are shrunk: errors are within .45 in all three tables."""
    rng = np.random.default_rng(11)
    schema = tc.Schema({"who": tc.PrivacyUnit(4), "y": RESPONSES[model], **COLUMNS})
    query = tc.Regression("y ~ a + b + m", model=model)
    ratios = []
    for _ in range(3):
        rows = rows_of(query, of_persons(rng, 10_000, model), schema, Cost.of(rho=500))
        fit, (values, errors) = rows.fit(rng), rows.ordinary()
        assert (np.abs(fit.values - values) < errors).all()
        ratios.append(fit.std_errors / errors)
    assert 0.55 < np.min(ratios) < np.max(ratios) < 1.45
    assert 0.85 < np.mean(ratios) < 1.25


@pytest.mark.parametrize("model", ["huber", pytest.param("gamma", marks=pytest.mark.long)])
def test_parties_combine(model: str) -> None:
    releases = {}
    for seed, name in enumerate(("one", "two", "three")):
        data = draw(np.random.default_rng(20 + seed), 4_000, model)
        curator = tc.Curator(data, schema_of(model), name=name, budget=tc.Budget(rho=2))
        releases[name] = curator.release(tc.Regression("y ~ a + b + m", model=model), rho=1)
    found = tc.combine(releases).estimate()
    best = np.min([one.fit(linear=True).std_errors for one in releases.values()], axis=0)
    # what rows far out may say is no less of all
    shared = np.max([one.fit().shared for one in releases.values()], axis=0)
    assert (np.sqrt(np.maximum(found.std_errors**2 - shared, 0.0)) < 0.85 * best).all()
    assert (np.abs(found.values - TRUTH) < 6 * found.std_errors).all()


def test_gross_errors_move_huber_little_and_least_squares_much() -> None:
    """Some rows on one side at the upper bound: least squares is moved by many errors, Huber's fit by few."""
    rng = np.random.default_rng(5)
    data = draw(rng, 20_000, "huber", outliers=0.0)
    data["y"] = np.where((rng.random(20_000) < 0.02) & (data["a"] > 1), 60.0, data["y"])
    rows, plain = (
        rows_of(tc.Regression("y ~ a + b + m", model=model), data, schema_of("huber"), Cost.of(rho=0.5))
        for model in ("huber", "linear")
    )
    fit = rows.fit(rng)
    assert abs(fit.values[1] - TRUTH[1]) < 6 * fit.std_errors[1] < 0.08 < 0.15 < abs(plain.ordinary()[0][1] - TRUTH[1])


@pytest.mark.sample(2)
@pytest.mark.parametrize("kind", ["constant", "copies", "few rows", "zeros", "one answer"])
@pytest.mark.parametrize("model", MODELS)
@pytest.mark.filterwarnings("error")
def test_strange_tables_have_an_answer_or_a_reason(model: str, kind: str) -> None:
    data = draw(np.random.default_rng(8), 3_000, model)
    if kind == "constant":
        data["a"] = np.full(3_000, 2.0)
    if kind == "copies":
        data["b"] = 10 + data["a"]
    if kind == "few rows":
        data = {name: column[:5] for name, column in data.items()}
    if kind == "zeros":
        data["y"] = np.where(np.random.default_rng(1).random(3_000) < 0.3, 0.0, data["y"])
    if kind == "one answer":
        data["y"] = np.full(3_000, 60.0)
    query = tc.Regression("y ~ a + b + m", model=model)
    known = np.zeros(4, dtype=np.bool_)
    for cost in (Cost.of(rho=0.01), Cost.of(epsilon=50), Cost.of(rho=5)):
        rows = rows_of(query, data, schema_of(model), cost)
        fit = fit_release(rows.release(np.random.default_rng(0)))
        known = np.array([reason is None for reason in fit.reasons])
        assert np.isfinite(fit.values[known]).all()
        assert (np.diag(fit.cov_sampling + fit.cov_privacy)[known] > 0).all()
    assert known.all() == (kind in ("zeros", "one answer")) or kind == "one answer"
    if kind == "zeros" and model == "gamma":
        ordinary = rows_of(query, data, schema_of(model), Cost.of(rho=5)).ordinary()
        # rows at 0 count as 0
        assert (np.abs(fit.values - ordinary[0]) < 3 * fit.std_errors).all()


# Integers, costs, documents ------------------------------------------------------------------------------------------


def test_sizes_of_scores_within_their_bounds() -> None:
    unit = 8 * 2**FINE
    score = PiecewiseScore((0, 0), 1, 8, (unit // 1024,) * (PIECES + 1), (unit,) * (PIECES + 1), (), inside=True)
    z = np.array([[1024, k] for k in (-1024, -1023, 0, 900, 1024)])
    psi = score.numpy(z)
    assert psi.tolist() == [-8, -8, 0, 7, 8]
    assert score.sizes(z, psi).tolist() == [0, 0, 8, 8, 0]


def odd_table(rows: int = 400) -> pa.Table:
    """Rows with nulls, NaN, infinities, and values beyond the schema; each person has up to four."""
    rng = np.random.default_rng(3)
    data = draw(rng, rows, "huber")
    data["y"][:4], data["a"][:3] = [np.nan, np.inf, -np.inf, 1e300], [np.nan, np.inf, -1e300]
    who = pa.array([None if i % 60 == 5 else int(k) for i, k in enumerate(rng.integers(0, 160, rows))], pa.int64())
    mine = pa.array([None if i % 50 == 7 else bool(b) for i, b in enumerate(data["m"])])
    return pa.table(
        {"y": pa.array(data["y"]), "a": pa.array(data["a"]), "b": pa.array(data["b"]), "m": mine, "who": who}
    )


@pytest.mark.parametrize(
    ("model", "unit", "cost"),
    [
        ("huber", False, Cost.of(rho=8)),
        pytest.param("gamma", True, Cost.of(epsilon=9), marks=pytest.mark.long),
        pytest.param("huber", True, Cost.of(epsilon=9), marks=pytest.mark.long),
        pytest.param("gamma", False, Cost.of(rho=8), marks=pytest.mark.long),
    ],
)
def test_every_engine_adds_up_the_same_scores(model: str, unit: bool, cost: Cost, tmp_path: Path) -> None:
    data, response = odd_table(), {"gamma": tc.Real(0, 9), "huber": tc.Real(-3, 9)}[model]
    schema = tc.Schema({"y": response, **COLUMNS, **({"who": tc.PrivacyUnit(3)} if unit else {})})
    data = data if unit else data.drop_columns("who")
    rows = rows_of(tc.Regression("y ~ a*m", model=model), columns_of(data), schema, cost, "add-remove")
    release = rows.expected(rows.size)
    asked = [
        regression.next_question(cast(ProductPart, column), release.parts[:i], rows.shape)
        for i, column in enumerate(rows.shape.columns)
    ]
    assert all(cast(PiecewiseScore, one.question.score).inside == (model == "huber") for one in asked[2:])
    expected = [(rows.sums(one),) for one in asked]
    assert len({abs(x) for x in expected[-1][0]}) > 10
    assert_every_engine_adds_up(expected, asked, rows.shape, data, schema, tmp_path)


@pytest.mark.parametrize(
    ("model", "relation"),
    [
        ("huber", "replace-one"),
        pytest.param("huber", "add-remove", marks=pytest.mark.long),
        pytest.param("gamma", "replace-one", marks=pytest.mark.long),
        pytest.param("gamma", "add-remove", marks=pytest.mark.long),
    ],
)
def test_no_pair_of_tables_has_scores_further_apart_than_declared(model: str, relation: Any) -> None:
    schema = tc.Schema({"y": tc.Real(0, 10), "x": tc.Real(-1, 1)})
    found = sensitivity(
        tc.Regression("y ~ x", model=model),
        schema,
        relation,
        PRICES,
        list(pairs(schema, relation, 6, np.random.default_rng(0))),
    )
    assert {one.form for one in found} >= {"norm-weighed", "count-score-vectors", "score-matrices"}
    for one in found:
        assert 0.1 * one.declared < one.reached <= one.declared, one


@pytest.mark.long
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("model", MODELS)
def test_the_contract(model: str, unit: bool) -> None:
    who: dict[str, Any] = {"who": tc.PrivacyUnit(3)} if unit else {}
    schema = tc.Schema({**who, "y": tc.Real(0, 10), "x": tc.Real(-1, 1)})
    found = contract(tc.Regression("y ~ x", model=model), schema, tables=18, draws=20_000)
    start = "person-" if unit else ""
    assert {one.form for one in found.findings} == {
        "column-moments", "norm-products-2", f"{start}norm-weighed", "count-score-vectors", f"{start}score-matrices"
    }  # fmt: skip


@pytest.mark.parametrize("model", MODELS)
@pytest.mark.parametrize("price", [{"rho": 2}, {"epsilon": 8}])
def test_from_a_table_to_coefficients(model: str, price: dict[str, Any]) -> None:
    data = draw(np.random.default_rng(2), 8_000, model)
    curator = tc.Curator(data, schema_of(model), budget=tc.Budget(**dict.fromkeys(price, 9)))
    release = curator.release(tc.Regression("y ~ a + b + m", model=model), **price)
    again = release_from_dict(json.loads(json.dumps(release.to_dict())))
    assert again.fit().values.tolist() == release.fit().values.tolist()
    found = release.estimate()
    assert (np.abs(found.values - TRUTH) < 6 * found.std_errors).all()
    title = {"gamma": "Gamma regression, log link", "huber": "Huber regression"}[model]
    assert str(found).startswith(title)
    assert found.test("a = 0, b = 0").p_value < 0.001
    at = {"a": [0.0, 1.0], "b": 1.0, "m": False}
    predicted = found.predict(at)
    eta = np.column_stack([np.ones(2), [0.0, 1.0], np.ones(2), np.zeros(2)]) @ found.values
    assert predicted.values == pytest.approx(np.exp(eta) if model == "gamma" else eta)
    effects = found.marginal_effects()
    # The slope times the mean response, which the release knows with noise of its own: six of its standard errors,
    # false alarm 2e-9.
    expected = found.values[1] * (data["y"].mean() if model == "gamma" else 1.0)
    assert abs(effects.values[0] - expected) < 6 * effects.std_errors[0]
    assert len(found.curve("a").values) > 10
    both = tc.table(found, found)
    assert "a" in str(both)
    assert title.split(",")[0].split()[0].lower() in tc.methods(found).lower()
    damaged = json.loads(json.dumps(release.to_dict()))
    damaged["query"]["model"] = "logistic"
    with pytest.raises(tc.TacitError):
        release_from_dict(sealed(damaged))


def test_unsuitable_responses_are_refused_before_the_charge() -> None:
    data = {"y": np.ones(9), "x": np.ones(9), "m": np.ones(9, dtype=bool)}
    schema = tc.Schema({"y": tc.Real(-1, 1), "x": tc.Real(0, 1), "m": tc.Boolean()})
    curator = tc.Curator(data, schema, budget=tc.Budget(rho=1))
    for formula, model in (("y ~ x", "gamma"), ("m ~ x", "gamma"), ("m ~ x", "huber")):
        with pytest.raises(QueryError) as refused:
            curator.release(tc.Regression(formula, model=model), rho=1)
        assert refused.value.code == "Q124"
        assert curator.spent.rho == 0
    assert unsuitable("gamma", Variable("y", "real", 0.0, 1e13, half=1024)) is not None
    assert unsuitable("gamma", Variable("y", "integer", 0.0, 9.0, half=1024)) is None
    assert unsuitable("huber", Variable("y", "real", -1.0, 1.0, half=1024)) is None
    with pytest.raises(QueryError, match="gama"):
        tc.Regression("y ~ x", model="gama")
    shape = design(tc.Regression("x ~ y", model="gamma"), Public(schema, "replace-one", 9), Cost.of(rho=1))
    assert [one.form.name for one in shape.columns] == ["column-moments", "norm-products-2", *["norm-weighed"] * 3]


@pytest.mark.parametrize("model", MODELS)
def test_a_plan_has_the_width_of_releases(model: str) -> None:
    """Told the spreads; the plan knows no effect and no outlier, so that both agree within a factor 1.5."""
    n, rng = 20_000, np.random.default_rng(3)
    x = rng.normal(0, 1, n)
    y = 2 * rng.gamma(1.5, 1 / 1.5, n) if model == "gamma" else rng.normal(0, 1, n)
    schema = tc.Schema({"y": RESPONSES[model], "x": tc.Real(-5, 5)})
    query, cost = tc.Regression("y ~ x", model=model), Cost.of(rho=0.1)
    spreads: Any = {"x": {"mean": 0, "sd": 1}, "y": {"mean": float(y.mean()), "sd": float(y.std())}}
    plan = tc.plan(query, schema, rows=n, rho=0.1, expect=spreads)
    width = next(one.width for part in plan.parts for one in part.terms if one.term == "x")
    fit = rows_of(query, {"x": x, "y": y}, schema, cost).fit(rng)
    assert 1 / 1.5 < width / (2 * 1.96 * fit.std_errors[1]) < 1.5
    assert ("gamma model" in str(tc.plan(query, schema, rows=n, rho=0.1))) == (model == "gamma")
