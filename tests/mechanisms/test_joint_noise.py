"""Columns whose noise is one vector: which they are, their price, documents, stored answers, the contract."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.method.moments import design as designs
from tacit.method.moments.design import design
from tacit.method.shared.joint_noise import with_joint_noise
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.mechanism_additive import protect, protect_parts
from tacit.method.shared.price_parts import price_parts
from tacit.noise.exact_products import draw_many
from tacit.noise.laws import DiscreteLaplace, NoiseError, RoundedNormal
from tacit.noise.product import ProductLaplace
from tacit.privacy import Cost, pld_total
from tacit.privacy.bought import Bought
from tacit.release.document import release_from_dict
from tacit.testing import column_samples
from tacit.testing.contract import contract

SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 10),
        "y": tc.Real(-5, 20, missing=0.0),
        "z": tc.Integer(0, 5, missing=2),
        "yes": tc.Boolean(missing="none"),
        "g": tc.Category(["a", "b"]),
        "w": tc.Real(0, 3),
    }
)
PURE = Cost.of(epsilon=1)
TABLE = {
    "x": [i % 11 / 1 for i in range(60)],
    "y": [i % 6 - 3.0 for i in range(60)],
    "z": [i % 6 for i in range(60)],
    "yes": [i % 3 == 0 for i in range(60)],
    "g": ["ab"[i % 2] for i in range(60)],
    "w": [i % 4 / 2 for i in range(60)],
}


def shaped(query: Any, relation: str = "replace-one", cost: Cost = PURE) -> Measurement:
    return design(query, Public(SCHEMA, relation, 60 if relation == "replace-one" else None), cost)


def independent(query: Any, relation: str = "replace-one") -> Measurement:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(designs, "with_joint_noise", lambda columns, cells: columns)
        return shaped(query, relation)


ASKED = [
    (tc.Mean(["y", "z"]), "replace-one", [2, 2]),
    (tc.Mean(["y", "z", "yes"]), "replace-one", [2, 2, 1]),
    (tc.Mean(["x", "y"], where="yes"), "replace-one", [3, 3]),
    (tc.Mean(["x", "z", "yes"]), "add-remove", [3, 3, 2]),
    (tc.Sum(["x", "y"]), "replace-one", [2, 2]),
    (tc.Variance(["y", "z"]), "replace-one", [5, 5]),
    (tc.Variance(["y", "z"], interval=False), "replace-one", [1, 1]),
    (tc.Mean(["x", "y"], weights="w"), "replace-one", [5, 5]),
]


@pytest.mark.parametrize(("query", "relation", "sizes"), ASKED, ids=str)
def test_columns_of_one_cell_share_a_vector_and_have_less_noise(query: Any, relation: str, sizes: list[int]) -> None:
    made, before = shaped(query, relation), independent(query, relation)
    for column, size in zip(made.columns, sizes, strict=True):
        assert column.law == ProductLaplace(Fraction(column.form.l1), size, sum(sizes))  # epsilon = 1 buys all of them
        assert len(column.form.matrix) == size
    assert all(a.law.variance() < b.law.variance() for a, b in zip(made.columns, before.columns, strict=True))
    assert [(a.form, a.cost) for a in made.columns] == [(b.form, b.cost) for b in before.columns]


def test_others_keep_independent_noise() -> None:
    for query in (tc.Mean("x"), tc.Mean(["x", "y"], by="g"), tc.Count(by="g")):
        assert {type(column.law) for column in shaped(query).columns} == {DiscreteLaplace}
    assert {type(column.law) for column in shaped(tc.Mean(["x", "y"]), cost=Cost.of(rho=1)).columns} == {RoundedNormal}
    # a proportion beside a mean with exclusions has 5/4 of its own noise in one vector; beside two it stays alone
    assert [type(column.law) for column in shaped(tc.Mean(["yes", "x"])).columns] == [DiscreteLaplace] * 2
    wide = tc.Schema({"a": tc.Real(0, 1), "b": tc.Real(0, 1), "yes": tc.Boolean(missing="none")})
    made = design(tc.Mean(["a", "yes", "b"]), Public(wide, "replace-one", 60), PURE)
    laws = [column.law for column in made.columns]
    G = made.columns[0].form.l1
    # two thirds of the price for the vector, one for the proportion
    assert laws == [ProductLaplace(Fraction(3 * G, 2), 3, 6), DiscreteLaplace(Fraction(3)), laws[0]]
    assert price_parts([made]) == (Bought(Cost.of(epsilon=Fraction(1, 3))), Bought(Cost.of(epsilon=Fraction(2, 3))))
    # a price so high that the scale would be below the least
    huge = Cost.of(epsilon=600)
    assert {type(one.law) for one in shaped(tc.Mean(["yes", "yes"][:1]), cost=huge).columns} == {DiscreteLaplace}
    two = tc.Schema({"a": tc.Boolean(missing="none"), "b": tc.Boolean(missing="none")})
    found = design(tc.Mean(["a", "b"]), Public(two, "replace-one", 60), Cost.of(epsilon=1_000))
    assert {one.law for one in found.columns} == {ProductLaplace(Fraction(1, 1_000), 1, 2)}
    assert with_joint_noise(found.columns[:1], 1) == found.columns[:1]


@pytest.mark.parametrize(("query", "relation", "sizes"), ASKED[:6], ids=str)
def test_all_columns_change_together_by_epsilon_at_most(query: Any, relation: str, sizes: list[int]) -> None:
    """Over all pairs of rows at bounds, in the middle and absent: max over columns of |change|_1 / scale; attained."""
    made, norms = shaped(query, relation), set[Fraction]()
    values = [
        [*(column.form.row(v) for v in (0, column.form.parameters["G"] // 2, column.form.parameters["G"]))]
        + ([(0,) * size] if column.form.name not in ("plain", "binary-plain") else [])
        for column, size in zip(made.columns, sizes, strict=True)
    ]
    absent = tuple((0,) * size for size in sizes)
    for one in product(*values):
        for other in product(*values) if relation == "replace-one" else [absent]:
            changes = [sum(abs(a - b) for a, b in zip(x, y, strict=True)) for x, y in zip(one, other, strict=True)]
            norms.add(max(Fraction(c) / column.law.scale for c, column in zip(changes, made.columns, strict=True)))
    assert max(norms) == 1


def test_noise_of_a_vector_is_drawn_whole() -> None:
    made = shaped(tc.Mean(["y", "z"]))
    laws = [column.law for column in made.columns]
    assert [len(part[0]) for part in protect_parts([((0, 0),), ((0, 0),)], laws)] == [2, 2]
    for exact, some in (
        ([((0, 0),)], laws[:1]),
        ([((0, 0),), ((0,),)], laws),
        ([((0, 0),)] * 3, [*laws, laws[0]]),
    ):
        with pytest.raises(NoiseError, match="N02"):
            protect_parts(exact, some)
    with pytest.raises(NoiseError, match="N02"):
        protect(((0, 0, 0, 0),), laws[0])


def test_a_vector_is_one_mechanism_at_the_whole_price() -> None:
    made = shaped(tc.Mean(["x", "y", "z"]))
    assert price_parts([made]) == (Bought(PURE),)
    assert sum((column.cost.epsilon or 0 for column in made.columns), Fraction(0)) == 1
    release = tc.Curator(TABLE, SCHEMA, budget=tc.Budget(epsilon=1)).release(tc.Mean(["x", "y", "z"]), epsilon=1)
    assert pld_total([release], "1e-6", interval=0.01) == pld_total([PURE], "1e-6", interval=0.01)
    # on a ledger that adds rho, the whole price is charged, as it was
    ledger = tc.Curator(TABLE, SCHEMA, budget=tc.Budget(rho=1))
    ledger.release(tc.Mean(["x", "y", "z"]), epsilon=1)
    assert ledger.spent.rho == PURE.zcdp


def document(query: Any) -> dict[str, Any]:
    release = tc.Curator(TABLE, SCHEMA, budget=tc.Budget(epsilon=1)).release(query, epsilon=1)
    words = json.loads(release.to_json())
    assert release_from_dict(words) == release
    # without the seal a changed document is read as one that was made up
    del words["digest"]
    assert release_from_dict(words) == release
    return words


def alone(part: dict[str, Any]) -> dict[str, str]:
    """The noise that one of two columns has on its own, at half the price."""
    return {"law": "discrete Laplace", "scale": str(2 * part["sensitivity"]["l1"])}


def test_documents_are_checked() -> None:
    words = document(tc.Mean(["y", "z"]))
    noise = words["parts"][0]["noise"]
    assert noise == {"law": "rounded product Laplace", "scale": "1048576", "size": 2, "dimension": 4}
    for wrong in (
        [{**noise, "dimension": 5}, None],
        [{**noise, "dimension": 3, "size": 1}, None],
        [{**noise, "scale": "1048575"}, None],
        [{**noise, "scale": "2097152"}, None],
        [alone(words["parts"][0]), None],  # one column of a vector alone
        [None, alone(words["parts"][1])],
    ):
        parts = [{**part, "noise": own or part["noise"]} for part, own in zip(words["parts"], wrong, strict=True)]
        with pytest.raises(tc.TacitError):
            release_from_dict({**words, "parts": parts})
    grouped = document(tc.Mean(["y", "z"], by="g"))
    wide = {**noise, "size": 6, "dimension": 12, "scale": "2097152"}
    parts = [{**part, "noise": wide} for part in grouped["parts"]]
    with pytest.raises(tc.TacitError, match="of a vector of noise"):
        release_from_dict({**grouped, "parts": parts})


def test_releases_with_independent_noise_are_read_as_before() -> None:
    words = document(tc.Mean(["y", "z"]))
    parts = [{**part, "noise": alone(part)} for part in words["parts"]]
    former = release_from_dict({**words, "parts": parts})
    assert former.to_dict()["parts"] == parts
    assert [part.law for part in former.parts] == [DiscreteLaplace(Fraction(2 * part.l1)) for part in former.parts]
    joint: Any = release_from_dict(words)
    assert (joint.estimate().privacy_variances < former.estimate().privacy_variances).all()  # pyright: ignore


def test_an_answer_that_is_stored_still_answers(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    curator = tc.Curator(TABLE, SCHEMA, budget=tc.Budget(epsilon=3), ledger=tmp_path / "own.ledger", name="people")
    with monkeypatch.context() as patch:
        patch.setattr(designs, "with_joint_noise", lambda columns, cells: columns)
        former = curator.release(tc.Mean(["y", "z"]), epsilon=1)
    assert {type(part.law) for part in former.parts} == {DiscreteLaplace}
    assert curator.release(tc.Mean(["y", "z"]), epsilon=1) == former
    assert curator.spent.epsilon == 1
    fresh = curator.release(tc.Mean(["y", "z"]), epsilon=1, fresh=True)
    assert {type(part.law) for part in fresh.parts} == {ProductLaplace}
    assert curator.spent.epsilon == 2


@pytest.mark.long
@pytest.mark.parametrize("query", [tc.Mean(["y", "z"]), tc.Sum(["x", "y"]), tc.Variance(["y", "z"])], ids=str)
def test_the_contract_of_columns_together(query: Any) -> None:
    keep = {"x", "y", "z", "w"}
    schema = tc.Schema({name: SCHEMA[name] for name in SCHEMA if name in keep})
    assert contract(query, schema, draws=20_000).passed


def test_the_contract_sees_wrong_noise(monkeypatch: pytest.MonkeyPatch) -> None:
    """Noise of half the scale fails in its law and in the audit, independent noise of each column in its law."""
    laws = tuple(column.law for column in shaped(tc.Mean(["y", "z"]), cost=Cost.of(epsilon=2)).columns)
    apart, right = [(2**20, 0), (2**20, 0)], draw_many

    def half(some: Any, many: int) -> Any:
        return right([replace(law, scale=law.scale / 2) for law in some], many)

    def single(some: Any, many: int) -> Any:
        drawn = [law.sample(2 * many, np.random.default_rng(j)).reshape(many, 2) for j, law in enumerate(some)]
        return [list(one) for one in zip(*(x.tolist() for x in drawn), strict=True)]

    for draws, good in ((right, True), (half, False), (single, False)):
        monkeypatch.setattr(column_samples, "draw_many", draws)
        column_samples.columns.cache_clear()
        column_samples.wrong_columns.cache_clear()
        found, proven = column_samples.wrong_columns(laws), column_samples.proven_together(laws, apart, 0.0, 1 - 1e-6)
        assert any("is not" in one for one in found) != good
        assert (proven > 2) == (draws is half)
    column_samples.columns.cache_clear()
    column_samples.wrong_columns.cache_clear()
