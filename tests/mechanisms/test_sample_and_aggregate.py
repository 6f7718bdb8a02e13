"""Sample and aggregate: one row moves the integers by at most the declared sensitivity, whatever the rows are."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pytest

import tacit as tc
from tacit import families
from tacit.errors import TacitError
from tacit.method.blocks import block_sizes
from tacit.method.blocks import design as mechanism_design
from tacit.method.blocks import mechanism_means as mechanism
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.source.row_arrays import RowArrays
from tacit.testing.reference_table import columns_of
from tacit.testing.simulated_blocks import complete

EXPONENTIAL = families.Exponential(rate=(0.1, 10))
NORMAL = families.Normal(mean=(-3, 3), sd=(0.1, 3))
SCHEMA = tc.Schema({"x": tc.Real()})


def design(query: tc.SampleAndAggregate, cost: Cost, neighbors: str = "replace-one", rows: int = 60) -> Measurement:
    public = rows if neighbors == "replace-one" else None
    return mechanism_design.design(query, Public(SCHEMA, neighbors, public), cost)


def integers(shape: Measurement, values: np.ndarray, own: np.ndarray) -> np.ndarray:
    found = mechanism.exact(shape, RowArrays(values, None), own)
    return np.array([k for ((k, t),) in found for k in (k, t)], dtype=np.int64)


# Sensitivity --------------------------------------------------------------------------------------------------------


def test_a_block_without_an_answer_counts_as_the_default() -> None:
    """Empty, too small, outside the support: never left out."""
    shape = design(tc.SampleAndAggregate("x", EXPONENTIAL, blocks=3, rows=60), Cost.of(epsilon=1))
    own = np.zeros(5, dtype=np.uint64)  # all rows in the first block
    fine = integers(shape, np.full((5, 1), 0.5), own)
    bad = integers(shape, np.full((5, 1), -1.0), own)
    none = integers(shape, np.zeros((0, 1)), own[:0])
    assert bad.tolist() == none.tolist()
    assert fine.tolist() != none.tolist()


def test_estimates_are_clamped_to_their_grid() -> None:
    """By integers: of what is no number to its lower end, of what is beyond to the end that is nearer."""
    (column,) = design(tc.SampleAndAggregate("x", EXPONENTIAL, blocks=3), Cost.of(epsilon=1)).columns
    assert column.grid is not None
    low, high, G = column.grid.lower, column.grid.upper, column.grid.G
    odd = np.array([np.nan, np.inf, -np.inf, low - 1, -1e300, high + 1, 1e300, low, high])
    clamped = np.array([low, low, low, low, low, high, high, low, high])
    for one, other in zip(odd, clamped, strict=True):
        found = mechanism.sums(column, np.array([one]))
        assert found == mechanism.sums(column, np.array([other]))
        assert found[0][0] == (G // 2 if other == high else -G // 2)


# Law and price ------------------------------------------------------------------------------------------------------


def test_the_price_is_shared_by_the_parameters() -> None:
    shape = design(tc.SampleAndAggregate("x", NORMAL, blocks=5), Cost.of(epsilon=1))
    assert [column.cost.epsilon for column in shape.columns] == [Fraction(1, 2)] * 2
    assert [column.law.scale for column in shape.columns] == [column.form.l1 * 2 for column in shape.columns]
    gauss = design(tc.SampleAndAggregate("x", NORMAL, blocks=5), Cost.of(rho=1))
    for column in gauss.columns:
        assert column.law.variance() >= column.form.l2_squared / 2 / (1 / 2)
        assert column.law.variance() < 1.001 * column.form.l2_squared / 2 / (1 / 2)


def test_a_price_may_buy_one_parameter_of_several() -> None:
    """The others are estimated in each block all the same, and never leave."""
    whole = design(tc.SampleAndAggregate("x", NORMAL, blocks=5), Cost.of(epsilon=1))
    one = design(tc.SampleAndAggregate("x", NORMAL, blocks=5, parameters="sd"), Cost.of(epsilon=1))
    assert [column.label for column in one.columns] == ["sd"]
    assert one.columns[0].law.scale * 2 == whole.columns[1].law.scale
    rng = np.random.default_rng(0)
    values, own = rng.normal(size=(60, 1)), rng.integers(0, 2**64, 60, dtype=np.uint64)
    assert integers(one, values, own).tolist() == integers(whole, values, own).tolist()[2:]
    words = tc.SampleAndAggregate("x", NORMAL, parameters="sd").to_dict()
    assert words["parameters"] == ["sd"]


def test_both_relations_have_the_same_blocks_and_noise() -> None:
    """Labels are independent where rows come and go; where their number is public, blocks are of equal size."""
    query = tc.SampleAndAggregate("x", EXPONENTIAL, rows=60)
    one, other = (design(query, Cost.of(epsilon=1), neighbors).blocks for neighbors in ("replace-one", "add-remove"))
    assert isinstance(one, mechanism_design.BlockPlan)
    assert isinstance(other, mechanism_design.BlockPlan)
    assert (one.rows, other.rows, one.capacity) == (60, None, 60 // one.blocks)
    assert other.capacity > one.capacity
    assert replace(other, rows=60, capacity=one.capacity) == one
    columns = [design(query, Cost.of(epsilon=1), neighbors).columns for neighbors in ("replace-one", "add-remove")]
    assert columns[0] == columns[1]


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_a_block_has_room_for_all_rows_of_its_persons(neighbors: str) -> None:
    """Whose number in a block is that of independent labels: their rows are up to `max_rows` times as many."""
    query = tc.SampleAndAggregate("x", EXPONENTIAL, blocks=5, rows=200)
    rows = 200 if neighbors == "replace-one" else None
    for most in (1, 7):
        schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=most), "x": tc.Real()})
        plan = mechanism_design.design(query, Public(schema, neighbors, rows), Cost.of(epsilon=1)).blocks
        assert isinstance(plan, mechanism_design.BlockPlan)
        assert (plan.rows, plan.capacity) == (None, block_sizes.capacity(200, 5) * most)


# Engines, persons, files --------------------------------------------------------------------------------------------


def test_complete_rows_are_the_same_on_every_engine(tmp_path: Path) -> None:
    table = pd.DataFrame(
        {
            "id": ["a", "b", "a", None, "c", None],
            "x": [1.0, 2.5, np.nan, np.inf, -4, 7],
            "y": [1, None, 20, 3, 4, 5.0],
            "sex": ["f", "m", "x", "f", "m", "f"],
        }
    )
    schema = tc.Schema(
        {
            "id": tc.PrivacyUnit(max_rows=3),
            "x": tc.Real(),
            "y": tc.Real(0, 10, missing=3),
            "sex": tc.Category(["f", "m"]),
        }
    )
    table.to_parquet(tmp_path / "t.parquet")
    table.to_csv(tmp_path / "t.csv", index=False)
    query = tc.SampleAndAggregate(["y", "x"], families.LinearRegression(regressors=1), blocks=2, rows=9)
    shape = mechanism_design.design(
        tc.SampleAndAggregate("x", NORMAL, blocks=2, where="sex == 'f' or y > 3"),
        Public(schema, "replace-one", 6),
        Cost.of(epsilon=1),
    )
    assert isinstance(query.to_dict(), dict)
    plan: Any = shape.blocks
    expected = complete(shape, columns_of(table, schema))
    order = np.argsort(expected.values[:, 0])
    assert expected.values[order, 0].tolist() == [-4, 1, 7]
    from tacit.source.open_table import open_source

    for data in (table, pl.from_pandas(table), str(tmp_path / "t.parquet"), str(tmp_path / "t.csv")):
        found = open_source(data, schema).complete(plan.cells, shape.unit, shape.where)
        assert np.sort(found.values[:, 0]).tolist() == [-4, 1, 7]
        assert found.owners is not None
        assert len(set(found.owners.tolist())) == 3


def test_a_release_goes_into_a_file_and_comes_back(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    curator = tc.Curator({"x": rng.exponential(0.5, 4_000)}, SCHEMA, name="waits", budget=tc.Budget(epsilon=4))
    query = tc.SampleAndAggregate("x", EXPONENTIAL)
    release = curator.release(query, epsilon=2)
    release.save(tmp_path / "waits.json")
    again = tc.Release.load(tmp_path / "waits.json")
    assert again == release
    assert curator.release(tc.SampleAndAggregate("x", EXPONENTIAL), epsilon=2) == release  # found, not paid again
    found = again.estimate()  # type: ignore[attr-defined]
    assert abs(found.value - 2) < 7 * found.std_error + 0.02  # beyond with probability 1e-11; bias below .02
    assert "Exponential law of x" in str(found)


def test_persons_are_in_one_block_with_all_their_rows() -> None:
    """Five alike rows a person: errors between persons, not rows; the interval has the truth 5 errors wide."""
    rng = np.random.default_rng(2)
    levels = np.repeat(rng.normal(0, 1, 3_000), 5)
    table = {"id": np.repeat(np.arange(3_000), 5), "x": levels + rng.normal(0, 0.1, 15_000)}
    schema = tc.Schema({"id": tc.PrivacyUnit(max_rows=5), "x": tc.Real()})
    curator = tc.Curator(table, schema, name="persons", budget=tc.Budget(epsilon=50))
    model = families.Normal(mean=(-3, 3), sd=1.005)
    found = curator.release(tc.SampleAndAggregate("x", model, blocks=150), epsilon=50).estimate()
    assert abs(found.value) < 5.5 * found.std_error
    assert 0.75 < found.std_error / np.sqrt(1 / 3_000) < 1.35  # of 150 blocks: +-5.5 / sqrt(300), with a little noise


# Bad input ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"what": []}, "Q03"),
        ({"what": ["x", "x"]}, "Q02"),
        ({"model": "Gamma"}, "Q95"),
        ({"model": {"family": "Gama"}}, "M11"),
        ({"model": {"family": "Gamma", "shape": [5, 0.5], "rate": [0.01, 1]}}, "M10"),
        ({"blocks": 1}, "Q97"),
        ({"blocks": 40}, "Q97"),
        ({"rows": 1.5}, "Q97"),
        ({"bias": "twice"}, "Q95"),
        ({"bias": "observed", "model": families.Laplace()}, "Q95"),
        ({"parameters": "mean"}, "Q95"),
        ({"what": ["x", "z"]}, "Q10"),
        ({"what": "z"}, "Q10"),
        ({"where": "z > 1"}, "Q10"),
        ({"model": {"family": "Model", "name": "mine", "digest": "0" * 64, "parameters": {"mu": [0, 1]}}}, "Q95"),
    ],
)
def test_what_is_wrong_is_refused_and_costs_nothing(words: dict[str, Any], code: str) -> None:
    curator = tc.Curator({"x": np.ones(60)}, SCHEMA, name="ones", budget=tc.Budget(epsilon=1))
    with pytest.raises(TacitError) as caught:
        curator.release(tc.SampleAndAggregate(**({"what": "x", "model": EXPONENTIAL} | words)), epsilon=1)
    assert caught.value.code == code
    assert str(curator.remaining) == str(tc.Budget(epsilon=1)) or "1" in str(curator.remaining)


def test_a_private_number_of_rows_needs_a_public_guess() -> None:
    curator = tc.Curator({"x": np.ones(60)}, SCHEMA, name="ones", budget=tc.Budget(epsilon=1, neighbors="add-remove"))
    with pytest.raises(TacitError, match="Q96"):
        curator.release(tc.SampleAndAggregate("x", EXPONENTIAL), epsilon=1)
    made = curator.release(tc.SampleAndAggregate("x", EXPONENTIAL, rows=100), epsilon=1)
    assert made.rows is None
    hinted = tc.Curator(
        {"x": np.ones(60)},
        SCHEMA,
        name="ones",
        budget=tc.Budget(epsilon=1, neighbors="add-remove"),
        size_hint=80,
    )
    assert hinted.release(tc.SampleAndAggregate("x", EXPONENTIAL), epsilon=1).parts[0].parameters["blocks"] == 4
    with pytest.raises(TacitError, match="Q41"):
        tc.Curator({"x": [1.0]}, SCHEMA, budget=tc.Budget(epsilon=1, neighbors="add-remove"), size_hint=0)


def test_how_many_blocks_there_are_is_for_the_parameters_that_are_released() -> None:
    """Degrees of freedom want long blocks, a location alone does not; a correction that trusts no law wants longer."""
    law = families.StudentT(location=(-3, 3), scale=(0.2, 5), df=(1, 10))

    def rows_of_a_block(**words: Any) -> float:
        query = tc.SampleAndAggregate("x", **({"model": law} | words))
        plan = design(query, Cost.of(epsilon=1), rows=100_000).blocks
        assert isinstance(plan, mechanism_design.BlockPlan)
        return 100_000 / plan.blocks

    assert rows_of_a_block() > 500
    assert rows_of_a_block(parameters="location") < 50
    assert rows_of_a_block(model=families.StudentT(df=4)) < 50
    assert 50 < rows_of_a_block(parameters="location", bias="observed") < 500
    assert rows_of_a_block(model=families.Gamma()) < rows_of_a_block(model=families.Gamma(), bias="observed") < 500
