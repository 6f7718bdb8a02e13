"""The exponential mechanism over candidates: spreads by all pairs, contract, bound, and what is refused."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import QueryError, ReleaseError
from tacit.method.exponential_mechanism.design import bound
from tacit.method.exponential_mechanism.mechanism import drawn
from tacit.method.exponential_mechanism.utilities import sensitivity_of, spread_of, utilities, weights_of
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.testing.contract import contract

SCHEMA = tc.Schema({"x": tc.Real(0, 1), "sex": tc.Category(["f", "m"]), "ok": tc.Boolean(), "free": tc.Real()})
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "x": tc.Real(0, 1)})
COSTS = {"a": [0, 4, 1], "b": [1, 0, 1], "c": [-2, 3, 1]}
THREE = tc.ExponentialMechanism("x", COSTS, bins=3)
NEAREST = tc.ExponentialMechanism("x", {"even": [1, 1, 1], "low": [3, 1, 0], "ends": [1, 0, 1]}, "ks", bins=3)


def shaped(query: tc.Query, relation: str = "replace-one", **price: float) -> Measurement:
    public = 400 if relation == "replace-one" else None
    return design(query, Public(SCHEMA, relation, public), Cost.of(**(price or {"epsilon": 1})))


@pytest.mark.parametrize("query", [THREE, NEAREST], ids=["sum", "ks"])
@pytest.mark.parametrize("replaces", [True, False])
@pytest.mark.parametrize("leaves", [True, False])
def test_spreads_are_the_largest_over_all_pairs(query: Any, replaces: bool, leaves: bool) -> None:
    """Over all tables of up to 4 rows in a cell: never above the declared spread; of sums it is reached."""
    weights, reached, most = weights_of(query, 3), 0, 0
    rows = np.eye(3, dtype=int).tolist()
    missing = [[0, 0, 0]]
    for base in product(range(5), repeat=3):
        found = [
            np.array(utilities(query, weights, [b + r for b, r in zip(base, row, strict=True)]))
            for row in (rows + missing if leaves or not replaces else rows)
        ]
        pairs = product(found, repeat=2) if replaces else product(found[:-1], found[-1:])
        for one, other in pairs:
            reached, most = max(reached, int(np.ptp(one - other))), max(most, int(np.abs(one - other).max()))
    facts: Any = {"replaces": replaces, "leaves": leaves}
    assert reached <= spread_of(query, weights, **facts)
    assert most <= sensitivity_of(query, weights, **facts)
    if query.utility == "sum":
        assert reached == spread_of(query, weights, **facts)
        assert most == sensitivity_of(query, weights, **facts)
    else:
        assert most == 1
        assert reached == 2


@pytest.mark.parametrize(
    ("query", "schema"),
    [
        (THREE, SCHEMA),
        pytest.param(tc.ExponentialMechanism(["sex", "x"], bins={"x": 3}), SCHEMA, marks=pytest.mark.long),
        pytest.param(tc.ExponentialMechanism("ok", where="x > 0.5"), SCHEMA, marks=pytest.mark.long),
        pytest.param(THREE, PERSONS, marks=pytest.mark.long),
    ],
)
def test_contract(query: tc.Query, schema: tc.Schema) -> None:
    assert contract(query, schema, tables=30, draws=5_000, rng=0).passed


def test_a_declared_sensitivity_is_compared_with_the_exact_one() -> None:
    query: dict[str, Any] = {"columns": "x", "candidates": COSTS, "bins": 3}
    # out of the second cell into the first candidate c loses 5
    with pytest.raises(QueryError, match="by 5") as problem:
        shaped(tc.ExponentialMechanism(**query, sensitivity=4))
    assert problem.value.code == "Q266"
    exact, wider = (shaped(tc.ExponentialMechanism(**query, sensitivity=s)) for s in (5, 50))
    assert exact.columns[0].law == wider.columns[0].law  # it is no part of the law


def test_the_bound_holds() -> None:
    """2,000 draws; the bound at 90% fails in at most 10%: a true one is below 14.1% but with probability 1e-6."""
    shape = shaped(NEAREST, epsilon=0.5)
    found = [2 * u for u in (-30, -22, -8)]
    far = bound(shape.columns[0].law, 3, 0.9)
    missed = sum(max(found) / 2 - found[drawn(found, shape.columns[0].law)] / 2 > far for _ in range(2_000))
    assert missed < 282


@pytest.mark.parametrize(
    ("code", "asked"),
    [
        ("Q264", {"candidates": {"a": [1, 2, 3]}}), ("Q264", {"candidates": {"a": [1, 2], "b": [1, 2, 3]}}),
        ("Q264", {"candidates": {"a": [1, 2, 3.5], "b": [1, 2, 3]}}), ("Q264", {"candidates": "a"}),
        ("Q264", {"candidates": {"a": [1, 2], "b": [2, 1]}}), ("Q264", {"candidates": {1: [1, 2, 3], "b": [2, 1, 1]}}),
        ("Q264", {"candidates": {"a": [0, 0, 0], "b": [2, 1, 0]}, "utility": "ks"}),
        ("Q265", {"utility": "mean"}), ("Q265", {"bins": ()}), ("Q265", {"candidates": (), "utility": "ks"}),
        ("Q266", {"sensitivity": 0}), ("Q266", {"sensitivity": 4}),
        ("Q267", {"candidates": {"a": [1, 2, 3], "b": [1, 2, 3]}}), ("Q12", {"columns": "free", "bins": 3}),
        ("Q64", {"columns": ["x", "sex"]}), ("Q10", {"columns": "none", "bins": 3}),
    ],
)  # fmt: skip
def test_bad_questions_are_refused(code: str, asked: dict[str, Any]) -> None:
    with pytest.raises(QueryError) as problem:
        shaped(tc.ExponentialMechanism(**{"columns": "x", "candidates": COSTS, "bins": 3, **asked}))
    assert problem.value.code == code


def test_documents_survive_and_changed_ones_are_refused() -> None:
    x = np.random.default_rng(0).uniform(0, 1, 400)
    table = {"x": x, "sex": ["f", "m"] * 200, "ok": x > 0.7, "free": x}
    curator = tc.Curator(table, SCHEMA, budget=tc.Budget(rho=50))
    for query in (THREE, NEAREST, tc.ExponentialMechanism(["sex", "ok"])):
        for price in ({"epsilon": 1}, {"rho": 0.1}):
            release = curator.release(query, **price)
            words = release.to_dict()
            words.pop("digest", None)
            assert release_from_dict(words).estimate().value == release.estimate().value
            words["parts"][0]["parameters"]["spread"] += 1
            with pytest.raises(ReleaseError):
                release_from_dict(words)
    assert curator.release(tc.ExponentialMechanism("ok"), epsilon=5).estimate().value == "false"
