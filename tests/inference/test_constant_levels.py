"""Levels that are constant: a person is in one group, whatever the table says; what that changes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import QueryError, SchemaError
from tacit.method.moments import mechanism as mechanism
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import mechanism as quantiles
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import simulated
from tacit.release.document import release_from_dict
from tacit.source import open_source
from tacit.testing import contract
from tacit.testing.reference_table import columns_of
from tacit.testing.simulate import add_noise, exact_integers, shaped, size_of
from tacit.testing.simulated_quantiles import counted

LEVELS = ["b", "a", "c"]


def schema(*, constant: bool, missing: str = "exclude") -> tc.Schema:
    return tc.Schema(
        {
            "who": tc.PrivacyUnit(max_rows=7),
            "x": tc.Real(0, 100),
            "w": tc.Real(0, 5),
            "g": tc.Category(LEVELS, constant=constant, missing=missing),
            "device": tc.Category(["phone", "desk"]),
        }
    )


CONSTANT, FREE = schema(constant=True), schema(constant=False)


def panel(rng: np.random.Generator, persons: int = 600) -> dict[str, Any]:
    """Persons seen 1 to 7 times, always in the same group, with weights of their own."""
    who = np.repeat(np.arange(persons), rng.integers(1, 8, persons))
    x = rng.normal(50, 15, persons)[who] + rng.normal(0, 5, len(who))
    weight = np.exp(0.5 * rng.normal(size=persons))[who]
    g = np.array(LEVELS)[rng.integers(0, 3, persons)][who]
    return {"who": who, "x": x, "w": weight, "g": g, "device": rng.choice(["phone", "desk"], len(who))}


def careless(rng: np.random.Generator, persons: int = 80) -> dict[str, Any]:
    """The same, with levels that change, are missing or not listed."""
    table = panel(rng, persons)
    g = np.array([None, "?", *LEVELS], dtype=object)[rng.integers(0, 5, len(table["who"]))]
    return {**table, "g": g, "w": np.where(rng.random(len(g)) < 0.2, np.nan, table["w"])}


QUERIES = [
    tc.Count(by="g"),
    tc.Count(by="g", weights="w"),
    tc.Mean("x", by="g", where="x > 20"),
    tc.Mean("x", by="g", weights="w"),
    tc.Sum("x", by=["g", "device"]),
]


@pytest.mark.long
@pytest.mark.sample(2)
@pytest.mark.parametrize("query", [QUERIES[0], QUERIES[2]], ids=str)
def test_one_person_moves_no_more_than_a_row(query: Any) -> None:
    """Rows of a person in several groups included: they are in the first.  Without shares: no factor of 1,024."""
    found = contract(query, CONSTANT, tables=90, draws=20_000)
    assert all(one.declared < 1_024 for one in found.findings if one.form == "count")
    chosen = shaped(tc.Quantiles("x", [0.5], by="g"), CONSTANT, "replace-one", 9, tc.Cost.of(rho=1)).columns[0]
    assert (chosen.form.l1, chosen.weight) == (2, None)


@pytest.mark.sample(2)
@pytest.mark.parametrize("missing", ["exclude", "unknown"])
def test_simulations_have_the_integers_of_the_engines(missing: str) -> None:
    rng = np.random.default_rng(0)
    data, words = careless(rng), schema(constant=True, missing=missing)
    for query in QUERIES:
        for price in (tc.Cost.of(epsilon=1), tc.Cost.of(rho=1)):
            shape = shaped(query, words, "replace-one", size_of(data, words), price)
            theirs = mechanism.exact(shape, open_source(data))
            for ours, found in zip(exact_integers(shape, data), theirs, strict=True):
                assert ours.tolist() == [list(cell) for cell in found], query
    query = tc.Quantiles("x", [0.5], by="g")
    shape = quantiles_design.design(query, Public(words, "add-remove", None), price)
    assert quantiles.exact(shape, open_source(data)) == counted(shape, columns_of(data, words))


@pytest.mark.long
@pytest.mark.sample(3)
@pytest.mark.parametrize("query", [QUERIES[1], QUERIES[3], tc.Mean("x", by="g", per="row")], ids=str)
def test_groups_of_weighted_persons_are_told_apart(query: Any) -> None:
    """Where nobody is in two groups, a difference has the errors of independent groups: narrower, and they cover.

    300 tables: coverage at 95% below .88 has probability < 1e-6; a standard deviation is off by 4.1%, five times that
    at most as often.
    """
    rng, held, widths, values = np.random.default_rng(1), 0, [], []
    shapes = [shaped(query, words, "replace-one", 600, tc.Cost.of(rho=20)) for words in (CONSTANT, FREE)]
    for _ in range(300):
        data = panel(rng)
        made = [
            simulated(shape, add_noise(shape, exact_integers(shape, data), rng)).estimate().contrast("a - b")
            for shape in shapes
        ]
        low, high = made[0].conf_int()
        held += low <= 0 <= high
        values.append(made[0].values[0])
        widths.append([one.std_errors[0] for one in made])
    assert held / 300 > 0.88
    narrow, wide = np.mean(widths, axis=0)
    assert 0.8 < narrow / np.std(values) < 1.25
    assert narrow < 0.85 * wide  # independent parts: 1 / sqrt(2) of their sum where they are equal; numbers: more
    assert not any("upper bound" in note for note in made[0].notes)
    assert any("upper bound" in note for note in made[1].notes)


def test_a_person_is_in_the_first_group_that_any_row_has() -> None:
    """b before a, as the schema says; whoever has no listed level is in none."""
    data = {"who": [1, 1, 2, 3, 3, 4], "g": ["a", "b", "a", "c", None, "?"], "x": [1.0] * 6}
    words = tc.Schema({name: CONSTANT[name] for name in ("who", "g", "x")})
    curator = tc.Curator(data, words, budget=tc.Budget(epsilon=900))
    release = curator.release(tc.Count(by="g"), epsilon=400)
    assert release.estimate().values.round().tolist() == [1, 1, 1]
    assert release_from_dict(release.to_dict()).estimate().values.tolist() == release.estimate().values.tolist()


def test_the_schema_keeps_the_word() -> None:
    again = tc.Schema.from_dict(CONSTANT.to_dict())
    assert again == CONSTANT
    assert again.digest() != FREE.digest()
    assert tc.Schema.from_toml(CONSTANT.to_toml()) == CONSTANT
    assert "constant" not in FREE.to_toml()
    with pytest.raises(SchemaError) as wrong:
        tc.Category(["a"], constant="yes")  # pyright: ignore
    assert wrong.value.code == "S15"


def test_without_persons_the_word_says_nothing() -> None:
    data, words = {"g": ["a", "b"] * 50}, {"g": tc.Category(LEVELS, constant=True)}
    release = tc.Curator(data, tc.Schema(words), budget=tc.Budget(epsilon=900)).release(tc.Count(by="g"), epsilon=400)
    assert release.estimate().values.round().tolist() == [50, 50, 0]


def test_codes_that_no_engine_can_number_are_refused() -> None:
    apart = tc.Category({i * i: str(i) for i in range(70)}, constant=True)
    words = tc.Schema({"who": tc.PrivacyUnit(2), "g": apart})
    with pytest.raises(QueryError) as refused:
        shaped(tc.Count(by="g"), words, "replace-one", 10, tc.Cost.of(epsilon=1))
    assert refused.value.code == "Q90"
    together = tc.Schema({"who": tc.PrivacyUnit(2), "g": tc.Category({i: str(i) for i in range(70)}, constant=True)})
    data = {"who": [1, 1, 2], "g": [69, 3, 40]}
    shape = shaped(tc.Count(by="g"), together, "replace-one", 2, tc.Cost.of(epsilon=1))
    (cells,) = mechanism.exact(shape, open_source(data))
    assert [i for i, (n,) in enumerate(cells) if n] == [3, 40]
