"""Post-stratification, effective sizes and design effects: values by hand, intervals that cover, what is refused."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.shared.simulated_parts import simulated
from tacit.testing.simulate import add_noise, exact_integers, shaped, simulate

SCHEMA = tc.Schema(
    {
        "w": tc.Real(0, 5),
        "x": tc.Real(0, 100, units="years"),
        "y": tc.Real(0, 1),
        "ok": tc.Boolean(),
        "g": tc.Category(["a", "b", "c"]),
    }
)
MEANS = np.array([40.0, 50.0, 65.0])
TOTALS = {"a": 5_000, "b": 3_000, "c": 2_000}
TRUE = 48.0


def sample(n: int, rng: np.random.Generator) -> dict[str, Any]:
    """A sample whose cells are not as large as in the population; the mean of x differs by cell."""
    g = rng.choice(3, n, p=[0.3, 0.3, 0.4])
    x = MEANS[g] + rng.normal(0, 12, n)
    w = rng.gamma(2, 0.5, n)
    return {"w": w, "x": x, "y": x / 100, "ok": rng.random(n) < x / 100, "g": np.array(["a", "b", "c"])[g]}


TABLE = sample(3_000, np.random.default_rng(0))


def first(query: Any, data: Any = None, neighbors: str = "replace-one", **price: Any) -> Any:
    made = simulate(query, data or TABLE, SCHEMA, repeats=1, neighbors=neighbors, **(price or {"rho": 1_000}))
    return made.release(0).estimate()


def test_value_and_standard_error_are_those_of_the_textbook() -> None:
    """[Holt & Smith 1979]: sum W_h m_h, sum W_h**2 s_h**2 / n_h; at a price whose noise is beside the point."""
    made = first(tc.Mean("x", by="g"))
    cells = [np.clip(TABLE["x"], 0, 100)[TABLE["g"] == g] for g in "abc"]
    share = np.array([0.5, 0.3, 0.2])
    found = made.poststratify(TOTALS)
    assert found.value == pytest.approx(sum(share * [c.mean() for c in cells]), rel=1e-3)
    variance = sum(share**2 * [c.var() / len(c) for c in cells])
    assert found.sampling_variances[0] == pytest.approx(variance, rel=2e-2)
    assert found.privacy_variances[0] == pytest.approx(float((share**2) @ made.privacy_variances))
    assert found.units == "years"
    shares = made.poststratify({"c": 0.2, "b": 0.3, "a": 0.5})
    assert shares.value == pytest.approx(found.value)
    total = made.poststratify(TOTALS, of="total")
    assert (total.value, total.std_error) == pytest.approx((10_000 * found.value, 10_000 * found.std_error))
    assert total.conf_int() == pytest.approx([10_000 * limit for limit in found.conf_int()])
    assert "10,000" in found.estimand
    standard = made.standardize({"a": 0.5, "b": 0.3, "c": 0.2})
    assert (standard.value, *standard.conf_int()) == pytest.approx((found.value, *found.conf_int()))


def test_several_columns_give_a_term_each() -> None:
    made = first(tc.Mean(["x", "y"], by="g"))
    found = made.poststratify(TOTALS)
    assert found.terms == ("x", "y")
    assert found.value["x"] == pytest.approx(made["x"].poststratify(TOTALS).value)
    assert made["y"].poststratify(TOTALS).conf_int() == pytest.approx(tuple(found.conf_int().loc["y"]))


def test_what_is_no_total_is_refused() -> None:
    made = first(tc.Mean("x", by="g"))
    for totals in (
        {"a": 1, "b": 1},
        {**TOTALS, "a": 0},
        {**TOTALS, "a": -1},
        {**TOTALS, "a": float("nan")},
        {**TOTALS, "a": float("inf")},
        {**TOTALS, "a": "many"},
        {**TOTALS, "a": True},
        [1, 2, 3],
        7,
    ):
        with pytest.raises(InferenceError, match="I18"):
            made.poststratify(totals)
    with pytest.raises(InferenceError, match="I02"):
        made.poststratify({**TOTALS, "d": 1})
    with pytest.raises(InferenceError, match="I18"):
        made.poststratify(TOTALS, of="sum")
    for other in (made["a"], made[["c", "b", "a"]], made.contrast("a - b"), first(tc.Mean("x"))):
        with pytest.raises(InferenceError, match="I18"):
            other.poststratify(TOTALS)
    for query in (tc.Sum("x", by="g"), tc.Count(by="g"), tc.Variance("x", by="g")):
        with pytest.raises(InferenceError, match="I18"):
            first(query).poststratify(TOTALS)


def test_a_cell_that_says_nothing_gives_its_reason() -> None:
    few = {name: column[TABLE["g"] != "c"] for name, column in TABLE.items()}
    found = first(tc.Mean("x", by="g"), few, rho=0.01).poststratify(TOTALS)
    assert found.reason is not None
    assert np.isfinite(found.conf_int()).all()


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("query", "price", "neighbors", "truth"),
    [
        (tc.Mean("x", by="g"), {"rho": 0.1}, "replace-one", TRUE),
        (tc.Mean("x", by="g"), {"epsilon": 1}, "add-remove", TRUE),
        (tc.Mean("ok", by="g"), {"rho": 0.1}, "replace-one", TRUE / 100),
        (tc.Mean("x", by="g", weights="w"), {"rho": 0.3}, "replace-one", TRUE),
    ],
    ids=str,
)
def test_post_stratified_means_cover(query: Any, price: Any, neighbors: str, truth: float) -> None:
    """300 tables: below 0.873, or all, has probability < 1e-6 where it is 0.95; the sample's own shares fail."""
    rng = np.random.default_rng(1)
    shape = shaped(query, SCHEMA, neighbors, 1_500, tc.Cost.of(**price))
    hits, naive = 0, 0
    for i in range(300):
        noisy = add_noise(shape, exact_integers(shape, sample(1_500, rng)), rng)
        made = simulated(shape, noisy).estimate()
        low, high = made.poststratify(TOTALS).conf_int()
        hits += low <= truth <= high
        if i < 20:
            low, high = made.standardize({"a": 0.3, "b": 0.3, "c": 0.4}).conf_int()
            naive += low <= truth <= high
    assert 0.873 < hits / 300 < 1
    assert naive < 15


def test_effective_sizes_are_those_of_kish() -> None:
    w = np.clip(TABLE["w"], 0, 5)
    kish = w.sum() ** 2 / (w**2).sum()
    for query in (tc.Mean("x", weights="w"), tc.Sum("ok", weights="w"), tc.Count(weights="w")):
        made = first(query)
        assert made.effective_size == pytest.approx(kish, rel=1e-2)
        assert made.design_effect == pytest.approx(3_000 / kish, rel=1e-2)
        assert f"{made.design_effect:.2f}" in str(made)
        assert f"{5 / w.mean():.1f} times the mean weight" in str(made)
    groups = [w[TABLE["g"] == g].sum() ** 2 / (w[TABLE["g"] == g] ** 2).sum() for g in "abc"]
    by = first(tc.Mean("x", by="g", weights="w"))
    assert by.effective_size.to_list() == pytest.approx(groups, rel=2e-2)
    assert by["b"].effective_size == pytest.approx(groups[1], rel=2e-2)
    assert first(tc.Count(by="g", weights="w")).effective_size.to_list() == pytest.approx(groups, rel=2e-2)
    alike = {**TABLE, "w": np.full(3_000, 2.0)}
    assert first(tc.Mean("x", weights="w"), alike).design_effect == pytest.approx(1, abs=1e-2)


def test_effective_sizes_stay_possible_under_any_noise() -> None:
    for seed in range(30):
        for query in (tc.Mean("x", weights="w", by="g"), tc.Count(weights="w", by="g"), tc.Count(weights="w")):
            made = simulate(query, TABLE, SCHEMA, repeats=1, rho=1e-5, rng=seed).release(0).estimate()
            found = np.atleast_1d(np.asarray(made.effective_size))
            assert ((found >= 1) & (found <= 3_000)).all()
            assert np.isfinite(made.intervals()).all()


def test_effective_sizes_of_what_has_none() -> None:
    by = first(tc.Mean("x", by="g", weights="w"))
    for made in (first(tc.Mean("x")), first(tc.Count(by="g")), by.contrast("a - b"), by.poststratify(TOTALS)):
        with pytest.raises(InferenceError, match="I19"):
            _ = made.effective_size
    private = first(tc.Mean("x", weights="w"), neighbors="add-remove")
    for made in (by, by["a"], private, first(tc.Mean("x", weights="w", where="ok"))):
        assert np.all(np.asarray(made.effective_size) > 1)
        with pytest.raises(InferenceError, match="I19"):
            _ = made.design_effect
    with pytest.raises(InferenceError, match="I12"):
        first(tc.Count(by=["g", "ok"], weights="w")).independence()
