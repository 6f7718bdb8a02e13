"""Trends by a factor, and ratios of all pairs."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.shared.simulated_parts import simulated
from tacit.release.document import release_from_dict
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulate import add_noise, exact_integers, shaped

SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 100),
        "ok": tc.Boolean(),
        "educ": tc.Category({3: "low", 1: "middle", 2: "high"}, ordered=True, missing="unknown"),
        "region": tc.Category(["north", "south"]),
        "age": tc.Integer(20, 80),
    }
)
SLOPE = {"north": 5.0, "south": 10.0}


def draw(rng: np.random.Generator, n: int) -> dict[str, Any]:
    """Means 40, 45, 50 in the north and 30, 40, 50 in the south, from low to high; shares 0.2, 0.4, 0.6."""
    level, south = rng.integers(0, 3, n), rng.random(n) < 0.5
    middle = np.where(south, 30 + 10 * level, 40 + 5 * level)
    return {
        "x": np.clip(rng.normal(middle, 8), 0, 100),
        "ok": rng.random(n) < 0.2 + 0.2 * level,
        "educ": np.array([3, 1, 2])[level],
        "region": np.where(south, "south", "north"),
        "age": rng.integers(20, 81, n),
    }


def releases(query: tc.Query[Any], n: int, repeats: int, seed: int, **price: Any) -> list[SimulatedRelease]:
    rng = np.random.default_rng(seed)
    shape = shaped(query, SCHEMA, "replace-one", n, tc.Cost.of(**price))
    return [simulated(shape, add_noise(shape, exact_integers(shape, draw(rng, n)), rng)) for _ in range(repeats)]


def one(query: tc.Query[Any], seed: int = 0) -> Any:
    return releases(query, 4_000, 1, seed, rho=1)[0].estimate()


def refused(make: Any) -> InferenceError:
    with pytest.raises(InferenceError) as found:
        make()
    return found.value


def test_slopes_are_those_of_least_squares_and_cover() -> None:
    """150 tables, two slopes each: below .83 of 150 with probability < 1e-6 where it is .95."""
    held = np.zeros(2)
    for release in releases(tc.Mean("x", by=["region", "educ"]), 2_000, 150, 1, rho=0.2):
        made = release.estimate()
        found = made.trend(by="educ")
        assert found.terms == ("north", "south")
        assert found.term_title == "region"
        limits = found.intervals()
        held += (limits[:, 0] <= [5, 10]) & (limits[:, 1] >= [5, 10])
    assert (held / 150 > 0.83).all()
    cells = made.values.reshape(2, 4)[:, :3]  # the level for missing cells has no place in the order
    for i in range(2):
        assert found.values[i] == pytest.approx(np.polyfit([0, 1, 2], cells[i], 1)[0])
        assert made.trend([1, 2, 10], by="educ").values[i] == pytest.approx(np.polyfit([1, 2, 10], cells[i], 1)[0])
    assert found.contrast("south - north").value == pytest.approx(found.values[1] - found.values[0])
    assert made.trend({"low": 0, "high": 2}, by="educ").values[0] == pytest.approx((cells[0, 2] - cells[0, 0]) / 2)


def test_the_order_is_the_schemas_in_every_release() -> None:
    query = tc.Mean("x", by=["region", "educ", "ok"])
    curator = tc.Curator(draw(np.random.default_rng(2), 3_000), SCHEMA, budget=tc.Budget(rho=9))
    release = curator.release(query, rho=1)
    assert release.ordered == (("educ", ("low", "middle", "high")), ("ok", ("false", "true")))
    again = release_from_dict(json.loads(release.to_json()))
    assert again == release
    assert again.to_json() == release.to_json()
    found = again.estimate().trend(by="educ")
    assert found.terms == ("north:false", "north:true", "south:false", "south:true")
    cells = again.estimate().values.reshape(2, 4, 2)[:, :3]
    expected = np.moveaxis(cells, 1, -1).reshape(4, 3) @ np.array([-0.5, 0, 0.5])
    assert found.values == pytest.approx(expected)
    bins = curator.release(tc.Mean(["x", "ok"], by=["age", "region"], bins={"age": 3}), rho=1)
    assert [name for name, _ in bins.ordered] == ["age"]
    made = bins.estimate()
    assert made.trend(by="age").terms == ("x:north", "x:south", "ok:north", "ok:south")
    assert made["ok"].trend(by="age").terms == ("north", "south")
    assert "ordered" not in curator.release(tc.Mean("x", by="region"), rho=1).to_dict()
    assert curator.release(tc.Mean("x"), rho=1).ordered == ()


def test_levels_without_an_order_need_scores() -> None:
    by_region, both = one(tc.Mean("x", by="region")), one(tc.Mean("x", by=["region", "educ"]))
    for make in (by_region.trend, lambda: by_region.trend(by="region"), lambda: both.trend(by="region")):
        error = refused(make)
        assert error.code == "I16"
        assert "no order" in error.message
        assert "scores=[0, 1" in str(error.hint)
    a, b = by_region.values
    assert by_region.trend([0, 1]).value == pytest.approx(b - a)
    assert both.trend([0, 1], by="region").terms == ("low", "middle", "high", "unknown")
    assert str(refused(both.trend).hint) == 'trend(by="educ")'
    assert one(tc.Mean(["x", "ok"])).trend().terms == ("trend",)  # without factors: of the terms


def test_releases_that_name_no_order_need_scores() -> None:
    curator = tc.Curator(draw(np.random.default_rng(3), 500), SCHEMA, budget=tc.Budget(rho=9))
    words = json.loads(curator.release(tc.Mean("x", by="educ"), rho=1).to_json())
    del words["ordered"], words["digest"]  # as versions before both wrote it
    made = release_from_dict(words).estimate()
    assert refused(made.trend).code == "I16"
    assert made.trend({"low": 0, "middle": 1, "high": 2}).terms == ("trend",)


def test_factors_and_scores_that_are_none() -> None:
    made = one(tc.Mean("x", by=["region", "educ"]))
    for scores in ([0, 1], [1, 1, 1], [0, 1, math.nan], ["a", "b", "c"], {"low": 0}, {"low": 0, "none": 1}, []):
        assert refused(lambda scores=scores: made.trend(scores, by="educ")).code == "I06", scores
    assert made.trend(np.array([0, 1, 2]), by="educ").values == pytest.approx(made.trend(by="educ").values)
    assert refused(lambda: made.trend(by="eduk")).hint == 'trend(by="educ") of the whole estimate'
    for make in (
        lambda: made[["north:low", "north:high"]].trend(by="educ"),
        lambda: one(tc.Mean("x")).trend(by="educ"),
    ):
        assert refused(make).code == "I16"
    assert made[["north:low", "north:high"]].trend().value == pytest.approx(made.values[2] - made.values[0])


@pytest.mark.long
def test_ratios_of_all_pairs_hold_at_once() -> None:
    """120 tables, three risk ratios at once: below .82 with probability < 1e-6 where it is .95 or more."""
    shares = np.array([0.2, 0.4, 0.6])
    odds = shares / (1 - shares)
    truth = {"ratio": [0.5, 1 / 3, 2 / 3], "odds": [odds[0] / odds[1], odds[0] / odds[2], odds[1] / odds[2]]}
    held = {"ratio": 0, "odds": 0}
    for release in releases(tc.Mean("ok", by="educ"), 1_500, 120, 4, rho=0.1):
        made = release.estimate()[["low", "middle", "high"]]
        for of, true in truth.items():
            limits = made.pairwise(of=of).intervals()
            held[of] += bool(((limits[:, 0] <= true) & (true <= limits[:, 1])).all())
    assert min(held.values()) / 120 > 0.82


def test_ratios_of_pairs_are_the_single_ones_adjusted() -> None:
    made = one(tc.Mean("ok", by="educ"), 5)[["low", "middle", "high"]]
    found = made.pairwise(of="ratio")
    alone = [made.ratio("low", "middle"), made.ratio("low", "high"), made.ratio("middle", "high")]
    assert [one.name for one in found.ratios] == [one.name for one in alone]
    each = 1 - 0.1 / 3
    assert found.intervals(0.9).tolist() == [list(one.conf_int(each)) for one in alone]
    assert made.pairwise(None, of="ratio").intervals(0.9).tolist() == [list(one.conf_int(0.9)) for one in alone]
    raw = np.array([one.p_value for one in alone])
    assert found.adjusted() == pytest.approx(
        np.minimum(np.maximum.accumulate(np.sort(raw) * [3, 2, 1]), 1)[np.argsort(np.argsort(raw))]
    )
    frame = found.to_frame()
    assert list(frame.columns) == ["ratio", "lower", "upper", "p_value", "reason"]
    assert list(found.p_values.index) == list(frame.index) == ["low / middle", "low / high", "middle / high"]
    assert "intervals by Bonferroni" in str(found)
    assert "Fieller" in str(found)
    assert "no adjustment" in str(made.pairwise(None, of="odds"))
    assert made.pairwise(of="difference").estimate.terms == made.pairwise().estimate.terms


def test_pairs_that_cannot_be_compared() -> None:
    made = one(tc.Mean("x", by="educ"))
    for make, code in (
        (lambda: made.pairwise(of="risk"), "I15"),
        (lambda: made.pairwise("simultaneous", of="ratio"), "I08"),
        (lambda: made.pairwise(of="odds"), "I11"),
        (lambda: made["low"].pairwise(of="ratio"), "I05"),
        (lambda: one(tc.Mean("x", by="age", bins={"age": 30})).pairwise(of="ratio"), "I05"),
        (lambda: made.pairwise(of="ratio").intervals(0.3), "I01"),
    ):
        assert refused(make).code == code
    unknown = one(tc.Mean("ok", by="educ")).ratio("low", "unknown")  # an empty cell
    assert unknown.conf_int()[1] == math.inf
    assert "above" in str(one(tc.Mean("ok", by="educ")).pairwise(of="ratio"))


def test_slopes_and_differences_may_be_negative() -> None:
    """Of columns that cannot be: a ratio of slopes has no floor at 0, and slopes of shares have no odds."""
    made = one(tc.Mean(["x", "ok"], by=["region", "educ"]))
    falling = made["x"].trend([2, 1, 0], by="educ")
    rising = made["x"].trend(by="educ")
    assert falling.ratio("south", "north").value == pytest.approx(rising.ratio("south", "north").value)
    low, high = made["x"].contrast("`north:low` - `north:high`").values[0], rising.values[0]
    assert low < 0 < high
    mixed = rising[["north", "south"]].ratio("south", "north")
    assert mixed.conf_int()[0] > 0
    assert refused(lambda: made["ok"].trend(by="educ").odds_ratio("north", "south")).code == "I11"
    averages = made["ok"].standardize({"north:low": 0.5, "south:low": 0.5})
    assert 0 < averages.value < 1
