"""Persons and weights: what is estimated without noise, and that the intervals cover with it."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.estimates.noisy_terms.noisy_moments import moments
from tacit.method.moments import mechanism as mechanism
from tacit.method.shared import weighted_encoding as weighted
from tacit.method.shared.simulated_parts import empty_parts, simulated
from tacit.release.query import query_from_dict
from tacit.source import open_source
from tacit.testing import coverage, simulate
from tacit.testing.coverage import NONE
from tacit.testing.simulate import add_noise, exact_integers, shaped, size_of

PEOPLE = tc.Schema(
    {
        "who": tc.PrivacyUnit(max_rows=4),
        "x": tc.Real(0, 100),
        "days": tc.Integer(0, 30, missing=2),
        "ok": tc.Boolean(),
        "g": tc.Category(["a", "b"]),
    }
)
PANEL = tc.Schema({"w": tc.Real(0, 5), **PEOPLE})
SURVEY = tc.Schema({"w": tc.Real(0, 5), "x": tc.Real(0, 100), "ok": tc.Boolean(), "g": tc.Category(["a", "b"])})


def people(rng: np.random.Generator, persons: int = 300) -> dict[str, Any]:
    rows = np.repeat(np.arange(persons), rng.integers(1, 8, persons))
    n = len(rows)
    x = np.where(rng.random(n) < 0.1, np.nan, rng.normal(50, 30, n))
    return {
        "who": rows,
        "x": x,
        "days": rng.integers(0, 31, n).astype(float),
        "ok": rng.random(n) < 0.3,
        "g": rng.choice(["a", "b", "?"], n, p=[0.5, 0.4, 0.1]),
    }


def by_hand(table: dict[str, Any], column: str, low: float, high: float) -> dict[str, float]:
    """Mean of person means, mean by rows with at most 4 a person, total of at most 4 rows a person."""
    values = np.clip(np.asarray(table[column], float), low, high)
    means, counts = [], []
    for who in np.unique(table["who"]):
        own = values[table["who"] == who]
        own = own[~np.isnan(own)]
        if len(own):
            means.append(own.mean())
            counts.append(min(len(own), 4))
    m, c = np.array(means), np.array(counts)
    return {"person": m.mean(), "row": (c * m).sum() / c.sum(), "sum": (c * m).sum(), "variance": m.var(ddof=1)}


def exact(query: tc.Query, table: dict[str, Any], schema: tc.Schema, **price: Any) -> np.ndarray:
    return simulate(query, table, schema, repeats=1, **(price or {"epsilon": 1})).exact


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
def test_what_is_estimated_of_persons(price: dict[str, float]) -> None:
    table = people(np.random.default_rng(0))
    for column, low, high in (("x", 0, 100), ("days", 0, 30), ("ok", 0, 1)):
        hand, scale = by_hand(table, column, low, high), high - low
        assert exact(tc.Mean(column), table, PEOPLE, **price)[0] == pytest.approx(hand["person"], abs=1e-5 * scale)
        assert exact(tc.Mean(column, per="row"), table, PEOPLE, **price)[0] == pytest.approx(
            hand["row"], abs=1e-3 * scale
        )
        assert exact(tc.Sum(column), table, PEOPLE, **price)[0] == pytest.approx(hand["sum"], rel=1e-3)
        found = exact(tc.Variance(column), table, PEOPLE, **price)[0]
        assert found == pytest.approx(hand["variance"], rel=1e-2)  # which allows for the noise


def test_persons_in_several_groups_weigh_one_in_all() -> None:
    table = people(np.random.default_rng(1))
    inside = table["g"] != "?"
    values = np.clip(table["x"], 0, 100)
    total, size, heads = np.zeros(2), np.zeros(2), np.zeros(2)
    for who in np.unique(table["who"]):
        own = (table["who"] == who) & inside
        known = own & ~np.isnan(values)
        for i, g in enumerate(("a", "b")):
            here = known & (table["g"] == g)
            if here.any():
                share = here.sum() / known.sum()
                total[i] += share * values[here].mean()
                size[i] += share
            if own.any():
                heads[i] += (own & (table["g"] == g)).sum() / own.sum()
    assert exact(tc.Mean("x", by="g"), table, PEOPLE) == pytest.approx(total / size, rel=2e-3)
    assert exact(tc.Count(by="g"), table, PEOPLE) == pytest.approx(heads, abs=0.5)


def test_what_is_estimated_with_weights() -> None:
    rng = np.random.default_rng(2)
    n = 2_000
    table = {
        "w": rng.gamma(1, 1, n),
        "x": rng.normal(50, 30, n),
        "ok": rng.random(n) < 0.3,
        "g": rng.choice(["a", "b"], n),
    }
    table["w"][:3] = [np.nan, -1.0, 99.0]
    w = np.where(np.isnan(table["w"]), 0.0, np.clip(table["w"], 0, 5))
    for column, v in (("x", np.clip(table["x"], 0, 100)), ("ok", table["ok"].astype(float))):
        weighted_mean = (w * v).sum() / w.sum()
        assert exact(tc.Mean(column, weights="w"), table, SURVEY)[0] == pytest.approx(weighted_mean, rel=1e-4)
        assert exact(tc.Sum(column, weights="w"), table, SURVEY)[0] == pytest.approx((w * v).sum(), rel=1e-4)
    groups = [(w * np.clip(table["x"], 0, 100))[table["g"] == g].sum() / w[table["g"] == g].sum() for g in "ab"]
    assert exact(tc.Mean("x", by="g", weights="w"), table, SURVEY, rho=1) == pytest.approx(groups, rel=1e-4)


def weighed_persons(table: dict[str, Any], groups: tuple[str, ...]) -> dict[str, np.ndarray]:
    """By hand, group by group: sums of weights, weighted means and totals of x, weights and rows counted row by row."""
    x, w = np.clip(table["x"], 0, 100), np.clip(table["w"], 0, 5)
    here = np.isin(table["g"], groups) if groups != ("",) else np.ones(len(x), bool)
    found = {name: np.zeros(len(groups)) for name in ("count", "person", "person x", "row", "row x")}
    for who in np.unique(table["who"]):
        own = (table["who"] == who) & here
        known = own & ~np.isnan(w)
        if not known.any():
            continue
        times = min(known.sum(), 4)
        for i, g in enumerate(groups):
            cell = (table["g"] == g) if g else np.ones(len(x), bool)
            weight = w[known & cell].sum() / known.sum()
            found["count"][i] += weight
            values = x[own & cell & ~np.isnan(x)]
            if len(values):
                for name, a in (("person", weight), ("row", weight * times)):
                    found[name][i] += a
                    found[f"{name} x"][i] += a * values.mean()
    return found


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize("by", [None, "g"])
def test_what_is_estimated_of_persons_with_weights(price: dict[str, float], by: str | None) -> None:
    rng = np.random.default_rng(8)
    table = people(rng)
    table["w"] = np.where(rng.random(len(table["x"])) < 0.1, np.nan, rng.gamma(2, 1, len(table["x"])))
    hand = weighed_persons(table, ("a", "b") if by else ("",))
    words: dict[str, Any] = {"weights": "w", **({"by": by} if by else {})}
    expected = {
        tc.Count(**words): hand["count"],
        tc.Mean("x", **words): hand["person x"] / hand["person"],
        tc.Mean("x", per="row", **words): hand["row x"] / hand["row"],
        tc.Sum("x", **words): hand["row x"],
    }
    for query, truth in expected.items():
        assert exact(query, table, PANEL, **price) == pytest.approx(truth, rel=2e-3), query


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_weighted_counts_are_sums_of_weights(price: dict[str, float], neighbors: str) -> None:
    """Their variances, too, are those of the sums, without noise: sum w**2, less (sum w)**2 / n if n is public."""
    rng = np.random.default_rng(9)
    n = 3_000
    table = {
        "w": rng.gamma(1, 1, n),
        "x": rng.normal(50, 30, n),
        "ok": rng.random(n) < 0.3,
        "g": rng.choice([*"ab"], n),
    }
    table["w"][:3] = [np.nan, -1.0, 99.0]
    w = np.where(np.isnan(table["w"]), 0.0, np.clip(table["w"], 0, 5))
    a = table["g"] == "a"
    asked = {
        tc.Count(weights="w"): [np.ones(n, bool)],
        tc.Count(weights="w", by="g"): [a, ~a],
        tc.Count(weights="w", where="x > 60"): [table["x"] > 60],
        tc.Count(weights="w", by="g", where="ok"): [a & table["ok"], ~a & table["ok"]],
    }
    for query, kept in asked.items():
        assert simulate(query, table, SURVEY, repeats=1, neighbors=neighbors, **price).exact == pytest.approx(
            [w[k].sum() for k in kept], rel=1e-4
        )
        shape = shaped(query, SURVEY, neighbors, n, tc.Cost.of(**price))
        integers = np.stack([k.astype(np.float64) for k in exact_integers(shape, table)[0]])
        made = terms_of(
            "Count",
            replace(empty_parts(shape)[0], law=NONE),
            rows=shape.rows,
            grouped=True,
            target="population",
            cells=integers,
        )
        less = 0.0 if shape.rows is None else 1.0
        truth = [((w[k] ** 2).sum() - less * w[k].sum() ** 2 / n) * (n / (n - 1) if less else 1) for k in kept]
        assert made.sampling_variance == pytest.approx(truth, rel=2e-3)


@pytest.mark.parametrize("G", [1, 32, 2**15])
@pytest.mark.parametrize(("noise", "several"), [("laplace", False), ("laplace", True), ("gaussian", False)])
def test_moments_of_weighted_integers(G: int, noise: Any, several: bool) -> None:
    rng = np.random.default_rng(3)
    A, n = weighted.WEIGHT, 3_000
    v, a = rng.integers(0, G + 1, n), rng.integers(0, A + 1, n)
    form = weighted.weighted(G, A, noise, "replace-one", several=several)
    sums = tuple(int((p.numpy(v) * q.numpy(a)).sum()) for p, q in zip(form.polynomials, form.weights, strict=True))
    u, w = 2 * v / G - 1, a / A
    found = moments(form.name, form.parameters, np.array([[float(k) for k in form.assemble(sums)]]), None)
    assert found.size[0] == pytest.approx(w.sum(), rel=1e-9)
    assert found.total[0] == pytest.approx((w * u).sum(), abs=1e-6)
    room = 3 * n / A + (3 * n / G if G > 1 else 0)  # rounding of a**2 and of v**2
    for q in range(3):
        assert found.squares[q, 0] == pytest.approx((w**2 * u**q).sum(), abs=room)


@pytest.mark.long
@pytest.mark.sample(2)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_simulations_have_the_integers_of_the_engines(neighbors: str) -> None:
    rng = np.random.default_rng(4)
    table = people(rng, 80)
    asked: list[tuple[tc.Query, tc.Schema, dict[str, Any]]] = [
        (query, PEOPLE, table)
        for query in (
            tc.Mean(["x", "days", "ok"]),
            tc.Mean("x", by="g"),
            tc.Mean("x", by="g", per="row"),
            tc.Sum("days"),
            tc.Count(by="g"),
            tc.Variance("x", by="g"),
        )
    ]
    survey = {
        "w": rng.gamma(1, 1, 90),
        "x": rng.normal(50, 30, 90),
        "ok": rng.random(90) < 0.3,
        "g": rng.choice(["a", "b"], 90),
    }
    asked.append((tc.Mean(["x", "ok"], by="g", weights="w"), SURVEY, survey))
    asked += [(tc.Count(by="g", weights="w", where="x > 40"), SURVEY, survey), (tc.Count(weights="w"), SURVEY, survey)]
    panel = {**table, "w": np.where(rng.random(len(table["x"])) < 0.1, np.nan, rng.gamma(2, 1, len(table["x"])))}
    for query in (
        tc.Count(weights="w"),
        tc.Count(by="g", weights="w", where="days > 3"),
        tc.Mean(["x", "days"], by="g", weights="w"),
        tc.Mean("x", weights="w", per="row"),
        tc.Sum("ok", weights="w"),
    ):
        asked.append((query, PANEL, panel))
    for query, schema, data in asked:
        for price in (tc.Cost.of(epsilon=1), tc.Cost.of(rho=1)):
            shape = shaped(query, schema, neighbors, size_of(data, schema), price)
            for ours, theirs in zip(
                exact_integers(shape, data), mechanism.exact(shape, open_source(data)), strict=True
            ):
                assert ours.tolist() == [list(cell) for cell in theirs], query


def correlated(rng: np.random.Generator) -> dict[str, Any]:
    """Five rows a person, half of the variance between persons."""
    rows = np.repeat(np.arange(400), 5)
    x = rng.normal(50, 10, 400)[rows] + rng.normal(0, 10, 2_000)
    return {"who": rows, "x": x, "days": x, "ok": x > 50, "g": np.where(rows % 2 == 0, "a", "b")}


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("query", "truth"),
    [(tc.Mean("x"), 50.0), (tc.Mean("x", per="row"), 50.0), (tc.Mean("x", by="g"), (50.0, 50.0))],
    ids=["persons", "rows", "groups"],
)
def test_intervals_between_persons_cover(query: tc.Query, truth: Any) -> None:
    """400 tables: coverage below 0.89 has probability < 1e-6 where it is 0.95; row by row it is about 0.7."""
    found = coverage(query, correlated, truth=truth, schema=PEOPLE, repeats=400, epsilon=1, rng=5)
    assert (found.coverage > 0.89).all()
    naive = tc.Schema({name: column for name, column in PEOPLE.items() if name != "who"})
    rows = coverage(tc.Mean("x"), correlated, truth=50.0, schema=naive, repeats=400, epsilon=1, rng=5)
    assert rows.coverage[0] < 0.85


@pytest.mark.long
def test_weighted_intervals_cover() -> None:
    """600 tables; the truth by a million rows.  False alarm below 1e-6 a term."""

    def drawn(n: int) -> Any:
        def generator(rng: np.random.Generator) -> dict[str, Any]:
            x = rng.normal(50, 15, n)
            w = np.exp(0.6 * rng.normal(size=n) + 0.01 * (x - 50))
            return {"w": w, "x": x, "ok": rng.random(n) < 0.2, "g": rng.choice(["a", "b"], n)}

        return generator

    many = drawn(1_000_000)(np.random.default_rng(0))
    w, x = np.clip(many["w"], 0, 5), np.clip(many["x"], 0, 100)
    truth = float((w * x).sum() / w.sum())
    for query, true in ((tc.Mean("x", weights="w"), truth), (tc.Mean("x", weights="w", by="g"), (truth, truth))):
        found = coverage(query, drawn(1_000), truth=true, schema=SURVEY, repeats=600, rho=0.2, rng=6)
        assert (found.coverage > 0.9).all()
        assert (np.abs(found.ratio - 1) < 0.15).all()


def panel(rng: np.random.Generator, n: int = 600) -> dict[str, Any]:
    """Persons with a weight of their own that goes with x, seen 1 to 7 times, in one group each."""
    mean = rng.normal(50, 15, n)
    weight = np.exp(0.5 * rng.normal(size=n) + 0.01 * (mean - 50))
    rows = np.repeat(np.arange(n), rng.integers(1, 8, n))
    x = mean[rows] + rng.normal(0, 10, len(rows))
    return {"who": rows, "w": weight[rows], "x": x, "days": x, "ok": x > 50, "g": rng.choice(["a", "b"], n)[rows]}


def panel_of_any_size(rng: np.random.Generator) -> dict[str, Any]:
    return panel(rng, int(rng.poisson(600)))


@pytest.mark.long
def test_weighted_persons_cover() -> None:
    """500 tables each; the truth by 300 of them.  Below 0.89 has probability < 1e-6 where coverage is 0.95."""
    rng = np.random.default_rng(10)
    many = [panel(rng) for _ in range(300)]
    hand = [weighed_persons_quickly(table) for table in many]
    count, total = np.mean(hand, axis=0)
    truth = total / count
    error = np.std([t / c for c, t in hand]) / np.sqrt(len(hand))
    cases = (
        (tc.Mean("x", weights="w"), truth),
        (tc.Mean("x", weights="w", by="g"), (truth, truth)),
        (tc.Count(weights="w"), count),
        (tc.Count(weights="w", by="g"), (count / 2, count / 2)),
    )
    for neighbors, draw in (("replace-one", panel), ("add-remove", panel_of_any_size)):
        for query, true in cases:
            found = coverage(query, draw, true, schema=PANEL, repeats=500, rho=0.2, rng=11, neighbors=neighbors)
            assert (found.coverage > 0.89).all(), (query, found)
            assert (np.abs(found.ratio - 1) < 0.2).all(), (query, found)  # a standard deviation is known to 3.2%
            assert query != cases[0][0] or error < 0.15 * float(found.std_error[0])


def weighed_persons_quickly(table: dict[str, Any]) -> tuple[float, float]:
    """Sum of person weights, and of weight times person mean."""
    rows = np.bincount(table["who"])
    weight = np.bincount(table["who"], np.clip(table["w"], 0, 5)) / rows
    return float(weight.sum()), float((weight * np.bincount(table["who"], np.clip(table["x"], 0, 100)) / rows).sum())


def panel_in_both_groups(rng: np.random.Generator) -> dict[str, Any]:
    """The same persons, their rows in either group: errors of the two go together."""
    table = panel(rng)
    return {**table, "g": rng.choice(["a", "b"], len(table["who"]))}


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    "query",
    [tc.Count(by="g", weights="w"), tc.Mean("x", by="g", weights="w"), tc.Mean("x", by="g", per="row")],
    ids=lambda q: "-".join(map(str, q.to_dict().values())),
)
def test_combined_groups_of_weighted_persons_are_bounded(query: tc.Query) -> None:
    """300 tables.  The standard error of a sum over groups is no smaller than its standard deviation, 4.1% unknown;
    were groups independent it would be too small by a third or more where a person's rows agree."""
    rng = np.random.default_rng(12)
    shape = shaped(query, PANEL, "replace-one", 600, tc.Cost.of(rho=20))
    values, errors = [], []
    for _ in range(300):
        exact_ = exact_integers(shape, panel_in_both_groups(rng))
        made = simulated(shape, add_noise(shape, exact_, rng)).estimate().contrast("0.5 * a + 0.5 * b")
        values.append(made.values[0])
        errors.append(made.std_errors[0])
    assert np.mean(errors) > 0.8 * np.std(values)  # five times 4.1%: false alarm < 1e-6
    assert "upper bound" in made.notes[-1]
    whole = simulated(shape, add_noise(shape, exact_, rng)).estimate()
    with pytest.raises(InferenceError, match="I04"):
        _ = whole.cov
    with pytest.raises(InferenceError, match="I04"):
        whole.pairwise("simultaneous")
    assert whole["a"].cov.shape == (1, 1)
    assert whole["a"].conf_int() == tuple(whole.conf_int().loc["a"])
    for free in (whole.privacy_cov, simulated(shape, add_noise(shape, exact_, rng)).estimate("table").cov):
        assert np.isfinite(free.to_numpy()).all()


@pytest.mark.parametrize("schema", [SURVEY, PANEL], ids=["rows", "persons"])
def test_plans_and_words_of_weighted_counts(schema: tc.Schema) -> None:
    for query in (tc.Count(weights="w"), tc.Count(by="g", weights="w")):
        assert query_from_dict(query.to_dict()) == query
        plan = tc.plan(query, schema, rho=0.1, rows=2_000)
        assert "weighted by w" in str(plan)
        assert all(0 < one.width < 2_000 * 5 for part in plan.parts for one in part.terms)
    data = panel(np.random.default_rng(13))
    data["w"][0] = np.nan
    made = tc.Curator(data, schema, budget=tc.Budget(rho=1)).release(tc.Count(by="g", weights="w"), rho=0.5)
    words = made.estimate().estimand
    assert "clamped to 0–5" in words
    assert ("persons weighing the mean of their rows' w" in words) == (schema is PANEL)
    assert made.parts[0].grid is None
    assert (made.parts[0].weight.upper, made.parts[0].weight.missing) == (5, "exclude")  # pyright: ignore


def test_counts_of_persons_in_a_table_have_intervals_of_their_noise() -> None:
    """A count of persons is in parts of a person: its interval is in persons, as its standard error is."""
    curator = tc.Curator(people(np.random.default_rng(3)), PEOPLE, budget=tc.Budget(rho=10))
    made = curator.release(tc.Count(by="g"), rho=0.1).estimate("table")
    half = (made.intervals(0.95)[:, 1] - made.intervals(0.95)[:, 0]) / 2
    assert half == pytest.approx(1.96 * made.std_errors, rel=0.02)
