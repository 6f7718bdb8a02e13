"""Plans: the width they promise is the width a release has, and the price they find reaches the width."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit.errors import QueryError

SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 100, missing=50),
        "sex": tc.Category(["f", "m"]),
        "many": tc.Category([str(i) for i in range(300)]),
    }
)


@pytest.mark.parametrize("price", [{"rho": 0.05}, {"epsilon": 0.5}, {"epsilon": 1, "delta": 1e-6}], ids=str)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("query", [tc.Mean("x"), tc.Mean("x", by="sex"), tc.Variance("x"), tc.Count(by="sex")], ids=str)
def test_the_planned_width_is_what_a_release_shows(query: tc.Query, neighbors: str, price: dict[str, float]) -> None:
    """Uniform data as assumed: widths agree within 10%, five standard errors of an estimated variance at this n."""
    n = 4_000
    rng = np.random.default_rng(4)
    rows = {"x": rng.uniform(0, 100, n), "sex": np.array(["f", "m"])[np.arange(n) % 2], "many": ["1"] * n}
    budget = tc.Budget(rho=10, neighbors=neighbors)  # pyright: ignore
    curator = tc.Curator(rows, SCHEMA, budget=budget)
    page = tc.plan(query, SCHEMA, rows=n, neighbors=neighbors, **price)
    frame = curator.release(query, **price).estimate().to_frame()
    assert np.allclose(frame["upper"] - frame["lower"], page.width, rtol=0.1)
    assert page.width >= page.width_without_privacy


def test_a_budget_says_what_neighbours_are() -> None:
    """A board was promised replace-one where the ledger was to be made with add-remove."""
    budget = tc.Budget(rho=1, neighbors="add-remove")
    page = tc.plan(tc.Mean("x"), SCHEMA, rows=4_000, rho=0.1, budget=budget)
    assert page.neighbors == "add-remove"
    assert "is in the table" in page.guarantee
    assert tc.plan(tc.Mean("x"), SCHEMA, rows=4_000, rho=0.1, budget=tc.Budget(rho=1)).neighbors == "replace-one"
    with pytest.raises(QueryError) as refused:
        tc.plan(tc.Mean("x"), SCHEMA, rows=4_000, rho=0.1, budget=budget, neighbors="replace-one")
    assert refused.value.code == "Q394"


def test_the_price_for_a_width_reaches_it_and_no_more() -> None:
    made = tc.plan(tc.Mean("x"), SCHEMA, rows=4_000, width=2.2)
    assert made.width <= 2.2
    assert tc.plan(tc.Mean("x"), SCHEMA, rows=4_000, rho=made.cost.zcdp * 8 / 10).width > 2.2


def test_a_price_beside_a_width_and_rows_that_are_no_number_are_refused() -> None:
    for words in ({"rho": 0.5, "width": 50, "rows": 1_000}, {"rho": 0.1, "rows": "10"}, {"rho": 0.1, "rows": 10.5}):
        with pytest.raises(QueryError) as refused:
            tc.plan(tc.Mean("x"), SCHEMA, **words)  # pyright: ignore
        assert refused.value.code in ("Q40", "Q41")


def test_a_width_for_a_budget_in_epsilon_has_a_price_in_epsilon() -> None:
    made = tc.plan(tc.Mean("x"), SCHEMA, rows=4_000, width=2.2, budget=tc.Budget(epsilon=1))
    assert made.cost.kind == "pure"
    assert made.width <= 2.2


def test_the_factor_is_never_printed_as_less_than_it_is() -> None:
    for epsilon, words in (("0.2", "a factor 1.23."), ("800", "a factor 2.73e+347.")):
        assert words in tc.plan(tc.Mean("x"), SCHEMA, rows=100, epsilon=epsilon).guarantee


def test_a_width_that_sampling_forbids() -> None:
    with pytest.raises(QueryError) as refused:
        tc.plan(tc.Mean("x"), SCHEMA, rows=100, width=0.1)
    assert refused.value.code == "Q40"


def test_the_page_in_words(tmp_path) -> None:
    made = tc.plan({"m": tc.Mean("x", by="many"), "c": tc.Count(by="many")}, SCHEMA, rows=1_000, rho=0.001)
    text = made.to_text()
    for heading in ("Promise", "Released numbers", "Cost", "Expected precision", "Cautions", "Stored"):
        assert heading in text
    assert "noise larger than most counts" in text
    assert made.numbers == 300 * 3 + 300
    assert "minimax rate" in text
    made.save(tmp_path / "plan.html")
    assert "Promise" in (tmp_path / "plan.html").read_text()
    with pytest.raises(tc.TacitError):
        made.save(tmp_path / "plan.pdf")


def test_a_plan_spends_nothing_and_knows_what_is_left() -> None:
    curator = tc.Curator({"x": [1.0, 2.0], "sex": ["f", "m"], "many": ["1", "2"]}, SCHEMA, budget=tc.Budget(rho=0.1))
    made = curator.plan(tc.Mean("x"), rho=0.2)
    assert not made.fits
    assert "refused" in made.to_text()
    assert curator.spent.rho == 0


@pytest.mark.parametrize(
    ("price", "words"),
    [({"epsilon": 1}, "a factor 2.72."), ({"epsilon": 1, "delta": 1e-6}, "1e-06"), ({"rho": 0.1}, "implies ε")],
    ids=str,
)
def test_the_guarantee_in_one_sentence(price: dict[str, float], words: str) -> None:
    assert words in tc.plan(tc.Mean("x"), SCHEMA, rows=100, **price).guarantee


def test_a_plan_of_more_groups_than_rows_is_made() -> None:
    """No group is expected to have a row: an interval may be as wide as the bounds."""
    schema = tc.Schema({"x": tc.Real(0, 100), "many": tc.Category([str(i) for i in range(200)])})
    made = tc.plan(tc.Quantiles("x", [0.5], by="many"), schema, rows=60, rho=0.1)
    assert made.width == pytest.approx(100)


def test_a_part_of_a_pure_price_is_a_part_of_epsilon() -> None:
    page = tc.plan({"a": tc.Mean("x"), "b": tc.Mean("x")}, SCHEMA, rows=4_000, epsilon=1)
    assert [one.cost for one in page._at(tc.privacy.Cost.of(epsilon=2))] == [tc.privacy.Cost.of(epsilon=1)] * 2


def test_noise_is_compared_with_counts_of_persons_whose_weight_is_divided() -> None:
    """A person in several groups adds parts of a whole to each: as integers these are no more people."""
    schema = tc.Schema({"x": tc.Real(0, 100), "sex": tc.Category(["f", "m"]), "who": tc.PrivacyUnit(max_rows=3)})
    page = tc.plan(tc.Mean("x", by="sex"), schema, rows=10_000, rho=0.05)
    assert page.privacy_share < 0.5
    assert page.cautions() == ()
    few = tc.plan(tc.Mean("x", by="sex"), schema, rows=8, rho=0.05)
    assert any("noise larger than most counts" in one for one in few.cautions())
