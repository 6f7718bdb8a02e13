"""The contract suite on mechanisms that select, and wrong ones that it must notice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.special import chdtri

import tacit as tc
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import mechanism as quantiles
from tacit.method.shared import mechanism_rank_selection as ranks
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.rank_utilities import Runs
from tacit.noise.permute_and_flip import PermuteAndFlip
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.testing import contract, contract_joint
from tacit.testing import contract_selection as selections
from tacit.testing.findings import PRICES
from tacit.testing.neighbouring_tables import Relation, pairs

SCHEMA = tc.Schema({"x": tc.Real(0, 100), "k": tc.Integer(0, 20, missing=3), "sex": tc.Category(["f", "m"])})
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), **SCHEMA})
QUERIES = [
    ("median", tc.Quantiles("x", [0.5]), SCHEMA),
    ("groups", tc.Quantiles("k", ["1/4"], by="sex", where="k != 7"), SCHEMA),
    ("persons", tc.Quantiles("x", [0.5], by="sex"), PERSONS),
    ("range", tc.Range("x", outside=0.5), SCHEMA),
    ("persons' range", tc.Range("x"), PERSONS),
]
FEW, ALL = 24, 72
"""Neighbouring tables: a sample in `make test`, all that there are in `make test-all`."""
TIERS = [
    *(
        pytest.param(query, schema, FEW, id=f"{name}, few")
        for name, query, schema in QUERIES
        if name in ("median", "range")
    ),
    *(pytest.param(query, schema, ALL, id=name, marks=pytest.mark.long) for name, query, schema in QUERIES),
]


@pytest.mark.sample(2)
@pytest.mark.parametrize(("query", "schema", "tables"), TIERS)
def test_selections_keep_the_contract(query: Any, schema: tc.Schema, tables: int) -> None:
    found = contract(query, schema, tables=tables, draws=20_000 if tables == ALL else 10_000)
    assert found.passed
    assert {one.norm for one in found.findings} == {"l1", "l2_squared"}
    assert len({(one.relation, one.price, one.form) for one in found.findings}) == 8  # utilities and sizes


@pytest.mark.parametrize("law", [Selection(Fraction(1, 2)), PermuteAndFlip(Fraction(1, 2))], ids=["selection", "flips"])
def test_a_contract_misses_a_rate_a_third_off_once_in_a_billion(law: Any) -> None:
    """Pearson's statistic of as many selections as `laws` makes, simulated: its limit is 6 deviations below it."""
    runs = Runs([0, 3, 4, 6], [3, 1, 2, 4], [-4, 0, -2, -6])
    wrong = replace(law, rate=law.rate * Fraction(13, 10))
    drawn, tested = (np.repeat(one.pmf(runs.utility, runs.points) / runs.points, runs.points) for one in (law, wrong))
    many = selections.ENOUGH
    counts = np.random.default_rng(0).multinomial(many, drawn / drawn.sum(), size=20_000)
    found = ((counts - many * tested) ** 2 / (many * tested)).sum(axis=1)
    assert found.mean() - 6 * found.std() > chdtri(len(tested) - 1, 1e-6)


def material(schema: tc.Schema, relation: Relation) -> list[Any]:
    return list(pairs(schema, relation, 32, np.random.default_rng(0)))


@pytest.mark.sample(4)
@pytest.mark.parametrize("factor", [Fraction(1, 2), Fraction(2)])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_a_wrong_sensitivity_is_noticed(relation: Relation, factor: Fraction, monkeypatch: pytest.MonkeyPatch) -> None:
    """One too small is passed, one too large is not reached."""
    right = rank_utilities.reached

    def wrong(prob: Fraction, neighbors: Any, *, grouped: bool) -> tuple[int, int]:
        most, squared = right(prob, neighbors, grouped=grouped)
        return int(most * factor), int(squared * factor**2)

    monkeypatch.setattr(rank_utilities, "reached", wrong)
    found = selections.sensitivity(tc.Quantiles("x", [0.25]), SCHEMA, relation, material(SCHEMA, relation))
    assert all(one.passed == (one.form == "size") for one in found)


@pytest.mark.sample(2)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_persons_who_weigh_one_in_each_group_are_noticed(relation: Relation, monkeypatch: pytest.MonkeyPatch) -> None:
    """Without shares a person in both groups would count twice, and cost twice as much."""
    right = quantiles.exact

    def whole(shape: Measurement, source: Any) -> Sequence[Mapping[int, int]]:
        return [{step: 1_024 * (weight > 0) for step, weight in cell.items()} for cell in right(shape, source)]

    monkeypatch.setattr(quantiles, "exact", whole)
    query = tc.Quantiles("x", [0.5], by="sex")
    found = selections.sensitivity(query, PERSONS, relation, material(PERSONS, relation))
    assert any(one.reached > one.declared for one in found if one.form == "joint-4")


@pytest.mark.long
@pytest.mark.parametrize(
    ("relation", "price"),
    [
        ("replace-one", PRICES[1]),
        *(
            pytest.param(relation, price, marks=pytest.mark.long)
            for relation in ("replace-one", "add-remove")
            for price in PRICES
            if (relation, price) != ("replace-one", PRICES[1])
        ),
    ],
    ids=str,
)
def test_a_selection_at_twice_the_price_is_noticed(
    relation: Relation, price: Cost, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By its cost where the law says so; by its samples where the law says otherwise: the audit has teeth."""
    query, right, bought = tc.Quantiles("x", [0.5]), ranks.select, rank_utilities.law_for

    def sharper(runs: Runs, law: Selection) -> int:
        return right(runs, Selection(2 * law.rate))

    shape = quantiles_design.design(query, Public(SCHEMA, relation, 1_000), price)
    assert selections.audit(query, SCHEMA, relation, price, 4_000) == []
    assert selections.costs(query, SCHEMA, relation, price) == []
    with monkeypatch.context() as patched:
        patched.setattr(selections, "select", sharper)
        patched.setattr(contract_joint, "select", sharper)
        (failure,) = selections.audit(query, SCHEMA, relation, price, 4_000)[-1:]
        assert failure.startswith("(d) x: samples prove epsilon >= ")
        assert any(one.startswith("(b)") for one in selections.laws(shape, 4_000))

    def doubled(*given: Any, **words: Any) -> Selection:
        return Selection(2 * bought(*given, **words).rate)

    monkeypatch.setattr(rank_utilities, "law_for", doubled)
    assert all(one.startswith("(c)") for one in selections.costs(query, SCHEMA, relation, price))
    assert selections.costs(query, SCHEMA, relation, price)
