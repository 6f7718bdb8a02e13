"""Quantiles without an interval: the whole price for the point, and nothing that pretends to know its error."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.cli.answers import check_levels
from tacit.errors import InferenceError, QueryError
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles.estimate import POINT_ONLY
from tacit.method.quantiles.mechanism import utilities
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost, range_to_mu_squared
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.testing import contract_selection as selections
from tacit.testing.neighbouring_tables import pairs
from tacit.testing.simulated_quantiles import simulate_quantiles

SCHEMA = tc.Schema(
    {"x": tc.Real(0, 100), "k": tc.Integer(0, 20, missing=3), "sex": tc.Category(["f", "m"]), "ok": tc.Boolean()}
)
SMALL = tc.Schema({"x": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
PRICES = [Cost.of(epsilon=1), Cost.of(rho="0.1"), Cost.of(epsilon=1, delta="1e-6")]


def curator(n: int = 3_000, **budget: Any) -> tc.Curator:
    rng = np.random.default_rng(0)
    table = {
        "x": rng.normal(50, 10, n),
        "k": rng.binomial(20, 0.4, n),
        "sex": rng.choice(["f", "m"], n),
        "ok": rng.random(n) < 0.5,
    }
    return tc.Curator(table, SCHEMA, name="people", budget=tc.Budget(**(budget or {"rho": 9})))


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("price", PRICES, ids=str)
def test_the_whole_price_goes_to_the_point(price: Cost, neighbors: Any) -> None:
    """One selection for each probability, and no noisy number of rows, whatever is missing or asked by group.

    A document that says what was drawn is read.
    """
    rows = 1_000 if neighbors == "replace-one" else None
    query = tc.Quantiles("x", [0.1, 0.5], interval=False)
    shape = quantiles_design.design(query, Public(SCHEMA, neighbors, rows), price)
    assert [column.form.name for column in shape.columns] == ["point", "point"]
    total = Fraction(0)
    for one, p in zip(shape.columns, (Fraction(1, 10), Fraction(1, 2)), strict=True):
        epsilon = one.law.scale**-1 * 2 * rank_utilities.sensitivity(p, neighbors)
        rho = range_to_mu_squared(epsilon) / 2 if price.kind == "approximate" else epsilon**2 / 8
        total += epsilon if price.kind == "pure" else rho
    offered = price.epsilon if price.kind == "pure" else price.zcdp
    assert offered is not None
    rounded = Fraction(1, 10**10) if price.kind == "approximate" else 0  # mu**2 is rounded up to 12 digits
    assert Fraction(999_999, 1_000_000) * offered <= total <= offered * (1 + rounded)
    kind = {"pure": {"epsilon": 9}, "zcdp": {"rho": 9}, "approximate": {"epsilon": 9, "delta": "1e-6"}}[price.kind]
    words = {"pure": {"epsilon": 1}, "zcdp": {"rho": "0.1"}, "approximate": {"epsilon": 1, "delta": "1e-6"}}[price.kind]
    made = curator(500, neighbors=neighbors, **kind).release(
        tc.Quantiles("x", [0.5], by="sex", interval=False), **words
    )
    assert release_from_dict(json.loads(made.to_json())).to_json() == made.to_json()


@pytest.mark.sample(4)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("by", [(), "sex"], ids=["all", "groups"])
def test_the_contract_of_points(relation: Any, by: Any) -> None:
    """Sensitivities are as declared and reached; the parts cost the price; samples prove no more than it."""
    query = tc.Quantiles("x", ["1/4"], by=by, interval=False)
    material = list(pairs(SMALL, relation, 72, np.random.default_rng(0)))
    found = selections.sensitivity(query, SMALL, relation, material)
    assert {one.form for one in found} == {"point"}
    assert all(one.passed for one in found)
    for price in (Cost.of(epsilon=1), Cost.of(rho=1)):
        assert selections.costs(query, SMALL, relation, price) == []
    if not by:
        assert selections.audit(query, SMALL, relation, Cost.of(epsilon=1), 2_000) == []


def test_a_point_says_that_it_has_no_interval(tmp_path: Path) -> None:
    asked = curator()
    release = asked.release(tc.Quantiles("x", [0.25, 0.5], interval=False), rho=0.5, name="points")
    found = release.estimate()
    assert np.abs(found.values - [43.26, 50]).max() < 1
    assert np.isnan(found.limits).all()
    assert found.reasons == (POINT_ONLY,) * 2
    assert np.isnan(found["0.5"].conf_int()).all()
    assert np.isnan(found["0.5"].conf_int(0.99)).all()  # no level was selected for, so that none is refused
    assert found.to_frame()["reason"].tolist() == [POINT_ONLY] * 2
    text = str(release)
    assert "interval" not in text.splitlines()[1]
    assert "nan" not in text
    assert POINT_ONLY in text
    again = release_from_dict(json.loads(release.to_json()))
    assert again.to_json() == release.to_json()
    assert again.estimate().values.tolist() == found.values.tolist()
    assert "selected without an interval" in tc.methods(found)
    assert "95%" not in tc.methods(found)
    assert "numbers of rows" not in tc.methods(found)
    whole = asked.release(tc.Quantiles("x", [0.25, 0.5], level=0.9), rho=0.5).estimate()
    assert "some were selected without an interval" in tc.methods(found, whole)
    beside = tc.table(found, whole, names=["points", "whole"])
    assert beside.rows[0][1] == f"{found.values[0]:.1f}"
    assert beside.notes[0].startswith("90% intervals in square brackets")
    assert any("only the point" in note for note in beside.notes)
    between = tc.difference(found, whole)
    assert np.isnan(between.limits).all()
    assert between.values == pytest.approx(found.values - whole.values)
    assert between.notes == (POINT_ONLY,)
    assert "–" in str(between)
    pytest.importorskip("matplotlib")
    drawn = found.plot()
    assert not drawn.axes.collections  # no bars
    assert np.isnan(drawn.lower).all()
    between.plot().save(tmp_path / "a.png")


def test_few_rows_are_told_where_their_number_is_public() -> None:
    few = {"x": np.linspace(0, 100, 40)}
    schema = tc.Schema({"x": tc.Real(0, 100, missing=0)})
    found = simulate_quantiles(tc.Quantiles("x", [0.5], interval=False), few, schema, rho=0.01)
    assert "few for this price" in (found.reasons[0] or "")
    assert np.isnan(found.limits).all()
    assert "few for this price" in str(found.summary())
    left_out = simulate_quantiles(
        tc.Quantiles("x", [0.5], interval=False), few, tc.Schema({"x": tc.Real(0, 100)}), rho=0.01
    )
    assert left_out.reasons == (POINT_ONLY,)  # how many are present is neither public nor released


def test_questions_without_intervals_in_words() -> None:
    query = tc.Quantiles("x", [0.5], interval=False)
    assert query.to_dict() == {"query": "Quantiles", "column": "x", "probs": ["1/2"], "interval": False}
    assert query_from_dict(query.to_dict()) == query
    assert "interval" not in tc.Quantiles("x", [0.5]).to_dict()
    for words in ({"interval": "no"}, {"interval": 0}, {"interval": False, "level": 0.9}):
        with pytest.raises(QueryError) as refused:
            tc.Quantiles("x", [0.5], **words)
        assert refused.value.code == "Q74", words


def test_a_level_of_the_command_line_is_of_intervals_alone() -> None:
    check_levels({"points": tc.Quantiles("x", [0.5], interval=False)}, 0.99)
    with pytest.raises(InferenceError) as refused:
        check_levels({"median": tc.Quantiles("x", [0.5])}, 0.99)
    assert refused.value.code == "I14"


def test_a_plan_of_points_is_of_their_error() -> None:
    """Replace-one, complete: sd = sqrt(p (1 - p) / n + 2 scale**2 / n**2) of the range."""
    points = curator(epsilon=9).plan(tc.Quantiles("k", [0.5], interval=False), epsilon="0.1")
    scale = 20  # 2 / epsilon ranks
    assert points.width == pytest.approx(2 * 1.959964 * np.sqrt(0.25 / 3_000 + 2 * scale**2 / 3_000**2) * 20, rel=1e-6)
    assert points.width < curator(epsilon=9).plan(tc.Quantiles("k", [0.5]), epsilon="0.1").width


def test_points_are_as_near_as_the_continuous_mechanism() -> None:
    """The law of a selected rank is that of the exponential mechanism on the whole interval, at epsilon / 2 a rank.

    The chance of each rank, from 20,000 draws of one table, by chi-square at 1e-6: an exact law of its own.
    """
    from scipy import stats

    rng = np.random.default_rng(7)
    x = np.sort(rng.uniform(0, 100, 60))
    schema = tc.Schema({"x": tc.Real(0, 100, missing=0)})
    query = tc.Quantiles("x", [0.5], interval=False)
    shape = quantiles_design.design(query, Public(schema, "replace-one", 60), Cost.of(epsilon=1))
    (column,) = shape.columns
    at = column.rowmap
    assert at is not None
    steps, many = np.unique(at.numpy(x)[0], return_counts=True)
    runs = utilities(column, dict(zip(steps.tolist(), many.tolist(), strict=True)), 0)
    law: Any = column.law
    run, place = law.sample(runs.utility, runs.points, 20_000, rng)
    drawn = (np.array(runs.first)[run] + place) / column.form.parameters["G"] * 100
    ends = np.concatenate([[0.0], x, [100.0]])
    weight = np.diff(ends) * np.exp(-0.5 * np.abs(np.arange(61) - 30))
    expected = 20_000 * weight / weight.sum()
    found = np.histogram(drawn, ends)[0]
    kept = expected > 5
    chi2 = ((found - expected)[kept] ** 2 / expected[kept]).sum()
    assert stats.chi2.sf(chi2, kept.sum() - 1) > 1e-6


@pytest.mark.parametrize("interval", [False, True])
def test_permute_and_flip_is_bought_with_epsilon_alone(interval: bool) -> None:
    """At prices in rho and mu**2, which buy a bounded range, the exponential mechanism selects, and only it is read.

    So it does where three steps are selected together, at any price.
    """
    for price in PRICES:
        for neighbors in ("replace-one", "add-remove"):
            query = tc.Quantiles("k", [0.5], by="sex", interval=interval)
            public = Public(SCHEMA, neighbors, 900 if neighbors == "replace-one" else None)
            names = {column.law.name for column in quantiles_design.design(query, public, price).columns[:1]}
            flips = price.kind == "pure" and not interval
            assert names == {"permute-and-flip" if flips else "exponential mechanism"}
    made = curator().release(tc.Quantiles("x", [0.5], interval=interval), rho=1)
    words = {key: value for key, value in json.loads(made.to_json()).items() if key != "digest"}
    assert words["parts"][0]["noise"]["law"] == "exponential mechanism"
    words["parts"][0]["noise"]["law"] = "permute-and-flip"
    with pytest.raises(tc.TacitError) as error:
        release_from_dict(words)
    assert ("joint-4" if interval else "price") in str(error.value)


def test_a_pure_release_says_how_it_was_selected() -> None:
    """A document of before, by the exponential mechanism at the same price, is read and answers as before."""
    made = curator(epsilon=9).release(tc.Quantiles("k", [0.5], interval=False), epsilon=1)
    assert made.estimate().value == 8
    assert "selected from public grids by permute-and-flip (McKenna & Sheldon, 2020)" in tc.methods(made.estimate())
    assert "permute-and-flip" in str(made.estimate())
    words = {key: value for key, value in json.loads(made.to_json()).items() if key != "digest"}
    assert {part["noise"]["law"] for part in words["parts"]} <= {"permute-and-flip", "discrete Laplace"}
    for part in words["parts"]:
        if part["noise"]["law"] == "permute-and-flip":
            part["noise"]["law"] = "exponential mechanism"
    before = release_from_dict(words)
    assert before.estimate().value == 8
    assert "by the exponential mechanism (McSherry & Talwar, 2007)" in tc.methods(before.estimate())


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_the_privacy_loss_of_permute_and_flip(neighbors: Any) -> None:
    """Over all neighbouring tables of up to four rows on four steps, at most epsilon; attained within a factor .4.

    Floats: 1e-10 is above the rounding of the quadrature.
    """
    from collections import Counter
    from itertools import combinations_with_replacement

    from tacit.noise.permute_and_flip import PermuteAndFlip

    epsilon, prob, worst = Fraction(3, 2), Fraction(1, 4), 0.0
    law = PermuteAndFlip(rank_utilities.law_for(Cost.of(epsilon=epsilon), prob, neighbors, grouped=False).rate)

    def logs(table: tuple[int, ...]) -> np.ndarray:
        runs = rank_utilities.utilities(Counter(v for v in table if v >= 0), 4, prob)
        return np.log(np.repeat(law.pmf(runs.utility, runs.points) / runs.points, runs.points))

    for size in range(4):
        for rest in combinations_with_replacement(range(-1, 4), size):
            tables = [logs((*rest, v)) for v in range(-1, 4)]
            for one in tables:
                for other in tables if neighbors == "replace-one" else [logs(rest)]:
                    worst = max(worst, float(np.abs(one - other).max()))
    assert 0.4 * float(epsilon) < worst <= float(epsilon) + 1e-10
