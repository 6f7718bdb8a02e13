"""Regressions with weights: the fits of statsmodels at a large price, the population's truth, plans, documents."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm
from scipy.stats import binom

import tacit as tc
from tacit.errors import InferenceError, QueryError, TacitError
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.regression.row_sums.released_columns import read_columns
from tacit.privacy import Cost
from tacit.release.digests import sealed
from tacit.release.document import release_from_dict
from tacit.testing.simulated_regressions import RegressionRows, rows_of

N = 12_000
COLUMNS: dict[str, Any] = {
    "y": tc.Real(-10, 10),
    "yes": tc.Boolean(),
    "k": tc.Integer(0, 40),
    "a": tc.Real(-6, 6),
    "b": tc.Real(0, 12),
    "w": tc.Real(0, 8),
}
SCHEMA = tc.Schema(COLUMNS)
RESPONSES = {"linear": "y", "logistic": "yes", "probit": "yes", "poisson": "k"}
FAMILIES: dict[str, Any] = {
    "logistic": sm.families.Binomial(),
    "probit": sm.families.Binomial(sm.families.links.Probit()),
    "poisson": sm.families.Poisson(),
}


def draw(rng: np.random.Generator, n: int = N) -> dict[str, np.ndarray]:
    """Weights that go with a regressor, a skewed regressor, and errors that are larger at one end."""
    a, b = rng.normal(0, 1, n), np.minimum(rng.gamma(2, 1, n), 12)
    eta = -0.5 + 0.5 * a - 0.3 * b
    return {
        "y": np.clip(1 + 0.5 * a - 0.3 * b + rng.normal(0, 1, n) * (1 + 0.3 * np.abs(a)), -10, 10),
        "yes": rng.random(n) < 1 / (1 + np.exp(-eta)),
        "k": rng.poisson(np.exp(0.2 + 0.3 * a - 0.1 * b)),
        "a": a,
        "b": b,
        "w": np.minimum(np.exp(0.5 * rng.normal(0, 1, n) + 0.3 * a), 8),
    }


def reference(model: str, data: dict[str, np.ndarray], who: np.ndarray | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Coefficients of statsmodels' weighted fit, and the standard errors of the sandwich with squared weights."""
    X, y, w = sm.add_constant(np.column_stack([data["a"], data["b"]])), data[RESPONSES[model]].astype(float), data["w"]
    if model == "linear":
        found = sm.WLS(y, X, weights=w).fit()
        scores, curve = y - X @ found.params, np.ones(len(y))
    else:
        found = sm.GLM(y, X, family=FAMILIES[model], var_weights=w).fit()
        mean, eta = found.fittedvalues, X @ found.params
        family = FAMILIES[model]
        slope = 1 / family.link.deriv(mean) if model != "poisson" else np.exp(eta)
        scores, curve = (y - mean) * slope / family.variance(mean), slope**2 / family.variance(mean)
    inverse, each = np.linalg.inv((X.T * (w * curve)) @ X), X * (w * scores)[:, None]
    if who is not None:
        each = np.array([np.bincount(who, one) for one in each.T]).T
    return found.params, np.sqrt(np.diag(inverse @ each.T @ each @ inverse))


def made(
    model: str, data: Any, price: Cost, schema: tc.Schema = SCHEMA, relation: str = "replace-one"
) -> RegressionRows:
    query = tc.Regression(f"{RESPONSES[model]} ~ a + b", model=model, weights="w")
    return rows_of(query, data, schema, price, relation)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("model", RESPONSES)
def test_at_a_large_price_fits_are_those_of_statsmodels(model: str, relation: str) -> None:
    """Without noise: what is left is clipping, the grids, and standard errors as far as they are shrunk."""
    data = draw(np.random.default_rng(1))
    params, sizes = reference(model, data)
    rows = made(model, data, Cost.of(rho=300), relation=relation)
    found = fit_release(rows.expected(rows.size))
    assert (np.abs(found.values - params) < 0.35 * sizes).all(), (found.values - params) / sizes
    assert (np.abs(np.log(found.std_errors / sizes)) < 0.16).all(), found.std_errors / sizes
    # and the baseline of plans and benchmarks is the same fit, without clipping
    values, errors = rows.ordinary()
    assert values == pytest.approx(params, abs=0.02 * sizes.min())
    assert errors == pytest.approx(sizes, rel=0.01)


@pytest.mark.parametrize("model", ["gamma", "huber"])
def test_gamma_and_huber_models_have_their_weighted_fits(model: str) -> None:
    """At a large price: the fit without privacy, whose gamma coefficients are those of statsmodels."""
    rng, data = np.random.default_rng(13), draw(np.random.default_rng(14))
    mean = np.exp(1 + 0.3 * data["a"] - 0.1 * data["b"])
    data = {**data, "y": rng.gamma(2, mean / 2) if model == "gamma" else data["y"] + 0.5 * rng.standard_t(3, N)}
    schema = tc.Schema({**COLUMNS, "y": tc.Real(0, 60) if model == "gamma" else tc.Real(-40, 40)})
    rows = rows_of(tc.Regression("y ~ a + b", model=model, weights="w"), data, schema, Cost.of(rho=300))
    params, sizes = rows.ordinary()
    if model == "gamma":
        X = sm.add_constant(np.column_stack([data["a"], data["b"]]))
        law = sm.families.Gamma(sm.families.links.Log())
        assert sm.GLM(data["y"], X, family=law, var_weights=data["w"]).fit().params == pytest.approx(params, abs=2e-3)
    found = rows.fit(rng)
    assert (np.abs(found.values - params) < 0.6 * sizes).all(), (found.values - params) / sizes
    assert (np.abs(np.log(found.std_errors / sizes)) < 0.2).all(), found.std_errors / sizes


@pytest.mark.parametrize("model", ["linear", "logistic", "poisson"])
def test_persons_have_the_clustered_fit(model: str) -> None:
    """Two rows of a person, of one weight: the cluster-robust fit, or errors that are a little too large."""
    data = draw(np.random.default_rng(2))
    who = np.arange(N) // 2
    data = {**data, "w": data["w"][2 * who], "who": who}
    params, sizes = reference(model, data, who)
    rows = made(model, data, Cost.of(rho=300), tc.Schema({**COLUMNS, "who": tc.PrivacyUnit(2)}))
    found = rows.fit(np.random.default_rng(3))
    assert (np.abs(found.values - params) < 0.6 * sizes).all(), (found.values - params) / sizes
    ratio = found.std_errors / sizes
    assert ((ratio > 0.85) & (ratio < 1.6)).all(), ratio
    assert any("Weighted by w clamped to 0\u20138" in note and "persons" in note for note in found.notes)


def test_weights_at_their_cap_are_no_weights() -> None:
    data = draw(np.random.default_rng(3), 500)
    data = {**data, "w": np.full(500, 8.0)}
    whole, plain = (
        rows_of(tc.Regression("y ~ a + b", weights=w), data, SCHEMA, Cost.of(rho=1), "add-remove") for w in ("w", None)
    )
    # of products: the same integers, but for the responses far from their mean, counted of rows without weights alone;
    # of columns: the same, then the number of rows and of squared weights
    assert whole.sums(whole.shape.columns[1]) == plain.sums(plain.shape.columns[1])[:-1]
    first, unit = whole.sums(whole.shape.columns[0]), plain.sums(plain.shape.columns[0])
    assert first[:-1] == unit
    facts = whole.shape.columns[0].form.parameters
    assert first[-2:] == (500 * facts["count"] * 2**20, 500 * facts["squares"] * 2**20)
    columns = read_columns(whole.expected(500).parts[0], whole.layout, None)
    assert (columns.rows, columns.row) == pytest.approx((500, 1.0))


@pytest.mark.parametrize("cap", [8.0, 40.0])
def test_the_effective_number_of_rows_is_kishs(cap: float) -> None:
    data = draw(np.random.default_rng(4))
    schema = tc.Schema({**COLUMNS, "w": tc.Real(0, cap)})
    fit = made("linear", data, Cost.of(rho=100), schema).fit(np.random.default_rng(5))
    kish = data["w"].sum() ** 2 / (data["w"] ** 2).sum()
    assert fit.criteria["effective_size"] == pytest.approx(kish, rel=0.05)
    assert fit.criteria["design_effect"] == pytest.approx(N / kish, rel=0.05)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_a_cap_that_is_far_too_high_promises_no_more_rows_than_there_are(relation: str) -> None:
    """Squares of weights that noise hides, of either sign: the effective number is rather too small."""
    data, rng = draw(np.random.default_rng(4)), np.random.default_rng(5)
    rows = made("linear", data, Cost.of(rho=1), tc.Schema({**COLUMNS, "w": tc.Real(0, 1_000)}), relation)
    kish, signs = data["w"].sum() ** 2 / (data["w"] ** 2).sum(), set[bool]()
    for _ in range(20):
        part = rows.release(rng).parts[0]
        signs.add(part.integers[0][-1] > 0)
        assert read_columns(part, rows.layout, rows.shape.rows).rows < 1.1 * kish
    assert signs == {True, False}


def test_the_population_is_covered_where_weights_go_with_the_response() -> None:
    """40 tables of a linear and a logistic model, in which those with a low response are rarely included.

    Of 3 coefficients each at least binom.ppf(1e-7, 40, .93) are covered, and an unweighted fit would be far off.
    """
    rng, truth = np.random.default_rng(6), np.array([0.5, 0.6, -0.4])
    hits, biased = np.zeros((2, 3)), np.zeros((2, 40, 3))
    schema = tc.Schema({**COLUMNS, "a": tc.Real(-4, 4), "b": tc.Real(-4, 4), "w": tc.Real(0, 4)})
    for i in range(40):
        a, b = np.clip(rng.normal(0, 1, (2, 9_000)), -4, 4)
        eta = truth @ [np.ones(9_000), a, b]
        for j, model in enumerate(("linear", "logistic")):
            y = eta + rng.normal(0, 1, 9_000) if model == "linear" else rng.random(9_000) < 1 / (1 + np.exp(-eta))
            # the response alone decides, or with a regressor, who is in the table
            chance = np.where(y > 0.5, 1.0, 0.25 if model == "linear" else np.where(a > 0, 0.25, 1.0))
            kept = rng.random(9_000) < chance
            data = {RESPONSES[model]: y[kept], "a": a[kept], "b": b[kept], "w": 1 / chance[kept]}
            empty = {name: np.zeros(int(kept.sum())) for name in ("y", "yes", "k") if name not in data}
            rows = made(model, {**data, **empty}, Cost.of(rho=1), schema)
            fit = rows.fit(rng)
            hits[j] += np.abs(fit.values - truth) < 1.96 * fit.std_errors
            plain = replace(rows, weights=None).ordinary()
            biased[j, i] = (plain[0] - truth) / plain[1]
    assert (hits >= binom.ppf(1e-7, 40, 0.93)).all(), hits
    assert (np.abs(biased.mean(axis=1)).max(axis=1) > 5).all()


@pytest.mark.parametrize("price", [Cost.of(rho=0.5), Cost.of(epsilon=3)])
def test_a_plan_that_knows_weights_keeps_its_promise(price: Cost) -> None:
    data = draw(np.random.default_rng(7))
    told = {name: {"mean": float(data[name].mean()), "sd": float(data[name].std())} for name in ("y", "a", "b", "w")}
    query = tc.Regression("y ~ a + b", weights="w")
    bought = {"rho": price.rho} if price.rho else {"epsilon": price.epsilon}
    plan = tc.plan(query, SCHEMA, rows=N, expect=told, **bought)
    rng, rows = np.random.default_rng(8), made("linear", data, price)
    actual = np.median([rows.fit(rng).std_errors for _ in range(9)], axis=0)
    planned = np.array([one.width for one in plan.parts[0].terms]) / (2 * 1.959964)
    # weights and regressors go together in the table, and are independent in the plan
    assert (np.abs(np.log(planned / actual)) < np.log(1.5)).all(), planned / actual
    # weights alike need fewer rows than weights that vary
    even = tc.plan(query, SCHEMA, rows=N, expect={**told, "w": {"mean": told["w"]["mean"], "sd": 0.01}}, **bought)
    assert even.parts[0].terms[1].without < plan.parts[0].terms[1].without


# Documents, words and what is refused ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def released() -> Any:
    curator = tc.Curator(draw(np.random.default_rng(9)), SCHEMA, budget=tc.Budget(rho=9))
    return curator.release(tc.Regression("y ~ a + b", weights="w"), rho=1)


def test_a_release_survives_and_says_how_rows_are_weighted(released: Any) -> None:
    assert release_from_dict(json.loads(released.to_json())) == released
    assert released.query.to_dict() == {"query": "Regression", "formula": "y ~ a + b", "weights": "w"}
    assert [part.form for part in released.parts] == ["weighted-moments", "norm-products-2", "norm-scores"]
    assert (released.parts[0].weight.upper, released.parts[0].weight.G) == (8.0, 2**14)
    found = released.estimate()
    assert found.coefficients.estimand == "coefficients of the population, weights w clamped to 0\u20138"
    assert "effective rows" in str(found)
    assert "weights (w clamped to 0\u20138)" in tc.methods(found)
    assert found.predict({"a": [0.0], "b": [1.0]}).std_errors[0] > 0


def test_a_document_with_other_parts_than_its_weights_is_refused(released: Any) -> None:
    words = released.to_dict()
    for change in ({"query": {"query": "Regression", "formula": "y ~ a + b"}}, {"parts": without_squares(words)}):
        with pytest.raises(TacitError):
            release_from_dict(sealed({**words, **change}))


def without_squares(words: dict[str, Any]) -> list[Any]:
    first, *others = words["parts"]
    return [{**first, "integers": [first["integers"][0][:-1]]}, *others]


def test_questions_without_weights_are_as_before() -> None:
    query = tc.Regression("y ~ a + b")
    assert query.to_dict() == {"query": "Regression", "formula": "y ~ a + b"}
    shape = rows_of(query, draw(np.random.default_rng(1), 50), SCHEMA, Cost.of(rho=1)).shape
    for column in shape.columns:
        assert isinstance(column, ProductPart)
        assert column.question.weight is None
        assert not any(one.times for one in column.question.products)


def test_what_is_no_column_of_weights_is_refused() -> None:
    curator = tc.Curator(draw(np.random.default_rng(1), 50), SCHEMA, budget=tc.Budget(rho=9))
    for wrong, code in (("yes", "Q72"), ("a", "Q72"), ("v", "Q10")):
        with pytest.raises(QueryError) as found:
            curator.release(tc.Regression("y ~ b", weights=wrong), rho=1)
        assert found.value.code == code
    with pytest.raises(QueryError, match="Q01"):
        tc.Regression("y ~ b", weights=3)  # pyright: ignore[reportArgumentType]
    # weights may be a column of the formula, too
    assert curator.release(tc.Regression("y ~ b + w", weights="w"), rho=1).parts[0].form == "weighted-moments"
    # and that is all that was spent
    assert curator.spent.rho == 1


def test_the_tables_own_fit_is_refused(released: Any) -> None:
    with pytest.raises(InferenceError, match="rows with weights"):
        released.estimate(target="table")


def test_weighted_regressions_of_parties_combine(released: Any) -> None:
    schema = SCHEMA
    other = tc.Curator(draw(np.random.default_rng(10)), schema, name="other", budget=tc.Budget(rho=9))
    again = other.release(released.query, rho=1)
    both = tc.combine({"one": released, "other": again}).estimate()
    assert both.terms == ("Intercept", "a", "b")
    # noise moves each party's own error by a tenth; of the mean of both the largest ratio is .709, sd .003: 13 of them
    fits = [one.fit(linear=True) for one in (released, again)]
    mean = np.sqrt(sum(one.std_errors**2 for one in fits) / 2)
    # what rows further out may say is no less of both
    shared = np.max([one.fit().shared for one in (released, again)], axis=0)
    assert (np.sqrt(np.maximum(both.std_errors**2 - shared, 0.0)) < 0.75 * mean).all()


def test_the_mean_slope_is_weighted() -> None:
    """Of a logistic model: the population's mean slope, weights that go with a regressor."""
    data = draw(np.random.default_rng(11))
    rows = made("logistic", data, Cost.of(rho=300))
    fit = rows.fit(np.random.default_rng(12))
    params, _ = reference("logistic", data)
    p = 1 / (1 + np.exp(-(params @ [np.ones(N), data["a"], data["b"]])))
    weighted, plain = np.average(p * (1 - p), weights=data["w"]), (p * (1 - p)).mean()
    assert fit.slope is not None
    assert abs(fit.slope.value - weighted) < 0.25 * abs(plain - weighted)
