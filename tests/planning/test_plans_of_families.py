"""Plans of every family by every way to ask for it, and boxes of parameters that nobody chose."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

import tacit as tc
from tacit.errors import QueryError, TacitError
from tacit.families import FAMILIES
from tacit.method.blocks.expected_errors import at_regular_parameters, sampling_variances

COLUMNS: Final = {
    "real": tc.Real(-10, 10),
    "positive": tc.Real(0, 20),
    "unit": tc.Real(0, 1),
    "count": tc.Integer(0, 9),
}
OPTIONS: Final[tuple[dict[str, Any], ...]] = (
    {},
    {"winsorize": True},
    {"one_step": True},
    {"winsorize": True, "one_step": True},
    {"variance": "subsampling"},
    {"method": "tuned"},
    {"bias": "split-half"},
)
ONE_COLUMN: Final = sorted(
    name for name, one in FAMILIES.items() if one.row_support in COLUMNS and name != "Categorical"
)


@pytest.mark.sample(9)
@pytest.mark.parametrize(
    ("name", "option", "rows"), list(itertools.product(ONE_COLUMN, OPTIONS, (1_000, 10_000, 100_000)))
)
def test_a_plan_of_a_family_is_a_plan_or_says_what_to_change(name: str, option: dict[str, Any], rows: int) -> None:
    """A winsorised step, which is what many families are asked by, had no plan but an internal error."""
    family = FAMILIES[name]
    query = tc.SampleAndAggregate("x", family(), **option)
    plan, hint = None, None
    try:
        plan = tc.plan(query, tc.Schema({"x": COLUMNS[str(family.row_support)]}), rows=rows, rho=0.5)
    except TacitError as problem:
        hint = problem.hint
    assert plan is not None or hint
    if plan is None:
        return
    assert all(one.width > 0 for part in plan.parts for one in part.terms)
    assert str(plan)


def test_a_winsorised_step_has_a_plan_with_the_range_of_its_blocks() -> None:
    plan = tc.plan(
        tc.SampleAndAggregate("x", tc.families.Gamma()), tc.Schema({"x": tc.Real(0, 100)}), rows=10_000, rho=0.5
    )
    (part,) = plan.parts
    assert [one.term for one in part.terms] == ["shape", "rate"]
    for one in part.terms:
        assert one.between is not None
        assert 0 < one.between[0] <= one.width <= one.between[1] < np.inf


def test_a_mixture_is_planned_where_its_laws_differ() -> None:
    """In the middle of equal boxes its two laws are one, and the information tells nothing of two directions."""
    mixture = tc.families.NormalMixture()
    assert sampling_variances(mixture, 1_000) is None
    moved = at_regular_parameters(mixture)
    variances = sampling_variances(moved, 1_000)
    assert variances is not None
    assert (variances > 0).all()
    assert moved.fallback[1] < moved.fallback[2]
    apart = tc.families.NormalMixture(mean1=(-10, 0), mean2=(0, 10))
    assert at_regular_parameters(apart) is apart
    plan = tc.plan(
        tc.SampleAndAggregate("x", mixture, one_step=True), tc.Schema({"x": tc.Real(-10, 10)}), rows=10_000, rho=1
    )
    assert "in the middle of the box parameters cannot be told apart" in str(plan)


UNFIT: Final = (
    ("Normal", tc.Real(0, 100), "Normal(mean=(0, 100), sd=(0.1, 50))"),
    ("Laplace", tc.Real(0, 300_000), "Laplace(location=(0, 300000), scale=(300, 150000))"),
    ("Exponential", tc.Real(0, 1_000), "Exponential(rate=(lower, upper))"),
    ("Gamma", tc.Real(0, 300_000), "Gamma(rate=(lower, upper))"),
    ("Poisson", tc.Integer(0, 5_000), "Poisson(mean=(0, 5000))"),
)
FIT: Final = (
    tc.families.Normal(mean=(0, 100), sd=(0.1, 50)),
    tc.families.Gamma(rate=(0.001, 10)),
    tc.families.Lognormal(),
    tc.families.Pareto(),
)


@pytest.mark.parametrize(("name", "column", "hint"), UNFIT)
def test_boxes_that_nobody_chose_are_held_against_the_columns_bounds(name: str, column: Any, hint: str) -> None:
    query = tc.SampleAndAggregate("x", FAMILIES[name]())
    with pytest.raises(QueryError, match="which no one chose") as caught:
        tc.plan(query, tc.Schema({"x": column}), rows=10_000, rho=1)
    assert caught.value.code == "Q390"
    assert str(caught.value.hint).startswith(hint)


@pytest.mark.parametrize("law", FIT)
def test_boxes_that_somebody_chose_or_that_reach_the_column_pass(law: Any) -> None:
    assert tc.plan(tc.SampleAndAggregate("x", law), tc.Schema({"x": tc.Real(0, 100)}), rows=10_000, rho=1).parts


def test_an_unfit_box_costs_nothing() -> None:
    people = {"x": np.random.default_rng(0).normal(50, 10, 4_000)}
    curator = tc.Curator(people, tc.Schema({"x": tc.Real(0, 100)}), name="t", budget=tc.Budget(rho=10))
    for query in (
        tc.SampleAndAggregate("x", tc.families.Normal()),
        tc.SufficientStatistics("x", tc.families.Normal()),
    ):
        with pytest.raises(QueryError, match="Q390"):
            curator.release(query, rho=1)
    assert curator.remaining == "left 10.00 of 10.00"
    found = curator.release(
        tc.SampleAndAggregate("x", tc.families.Normal(mean=(0, 100), sd=(0.1, 50))), rho=1
    ).estimate()
    assert found.reasons == (None, None)


def test_an_answer_that_was_bought_stays(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Earlier versions sold such questions: their answers are found, and only a new one is refused."""
    people = {"x": np.random.default_rng(0).normal(50, 10, 4_000)}
    schema, query = tc.Schema({"x": tc.Real(0, 100)}), tc.SampleAndAggregate("x", tc.families.Normal(), method="tuned")
    curator = tc.Curator(people, schema, name="t", budget=tc.Budget(rho=10), ledger=tmp_path / "t.ledger")
    with monkeypatch.context() as before:
        before.setattr("tacit.curator.purchase.refuse_unfit_boxes", lambda *_: None)
        bought = curator.release(query, rho=1)
    assert curator.release(query, rho=1) == bought
    with pytest.raises(QueryError, match="Q390"):
        curator.release(query, rho=1, fresh=True)


def test_a_charge_without_an_answer_is_resumed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Charged by an earlier version, and cut off before its answer was stored."""
    people = {"x": np.random.default_rng(0).normal(50, 10, 4_000)}
    schema, query = tc.Schema({"x": tc.Real(0, 100)}), tc.SampleAndAggregate("x", tc.families.Normal(), method="tuned")
    curator = tc.Curator(people, schema, name="t", budget=tc.Budget(rho=10), ledger=tmp_path / "t.ledger")

    def cut_off(*_: Any) -> None:
        raise KeyboardInterrupt

    with monkeypatch.context() as before:
        before.setattr("tacit.curator.purchase.refuse_unfit_boxes", lambda *_: None)
        before.setattr("tacit.curator.purchase._buy", cut_off)
        with pytest.raises(KeyboardInterrupt):
            curator.release(query, rho=1)
    left = curator.remaining
    assert curator.release(query, rho=1).estimate().reasons[0] is not None
    assert curator.remaining == left == "left 9.00 of 10.00"
