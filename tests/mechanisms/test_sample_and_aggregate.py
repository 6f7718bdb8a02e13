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
from tacit.method.shared.block_numbers import blocks_for
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.release.query import query_from_dict
from tacit.source.engine_sums.row_arrays import RowArrays
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
    return np.array([k for cells in found for k in cells[0]], dtype=np.int64)


# Sensitivity --------------------------------------------------------------------------------------------------------


def test_a_block_without_an_answer_weighs_nothing() -> None:
    """Empty, too small, all rows outside the support: absent, and not among the blocks that are counted."""
    shape = design(tc.SampleAndAggregate("x", EXPONENTIAL, blocks=3, rows=60), Cost.of(epsilon=1))
    own = np.zeros(5, dtype=np.uint64)  # all rows in the first block
    fine = integers(shape, np.full((5, 1), 0.5), own)
    bad = integers(shape, np.full((5, 1), -1.0), own)
    none = integers(shape, np.zeros((0, 1)), own[:0])
    assert bad.tolist() == none.tolist() == [0, 0, 0]
    assert fine[2] == shape.columns[0].form.parameters["presence"]


@pytest.mark.parametrize(
    "model", [EXPONENTIAL, families.Weibull(shape=(0.5, 5), scale=(0.1, 10))], ids=["sums", "rows"]
)
def test_rows_outside_the_support_are_left_out_of_their_block(model: Any) -> None:
    """As rows with a missing cell are: a block answers as if it had only the others, by its sums or row by row."""
    shape = design(tc.SampleAndAggregate("x", model, blocks=2, rows=60), Cost.of(epsilon=1))
    rng = np.random.default_rng(3)
    # fewer rows than the blocks have room for, so that none is left out of a full one
    values, own = rng.exponential(0.5, (42, 1)), np.arange(42, dtype=np.uint64) % 2 << np.uint64(63)
    dirty = values.copy()
    dirty[::7] = [[-1e-9], [-3.0], [np.inf]] * 2
    kept = (dirty[:, 0] > 0) & np.isfinite(dirty[:, 0])
    assert integers(shape, dirty, own).tolist() == integers(shape, values[kept], own[kept]).tolist()


def test_estimates_are_clamped_to_their_grid() -> None:
    """By integers: what is beyond to the end that is nearer; what is no number adds nothing."""
    (column,) = design(tc.SampleAndAggregate("x", EXPONENTIAL, blocks=3), Cost.of(epsilon=1)).columns
    assert column.grid is not None
    low, high, G = column.grid.lower, column.grid.upper, column.grid.G
    odd = np.array([low - 1, -1e300, high + 1, 1e300, low, high])
    clamped = np.array([low, low, high, high, low, high])
    for one, other in zip(odd, clamped, strict=True):
        found = mechanism.sums(column, np.array([one]))
        assert found == mechanism.sums(column, np.array([other]))
        assert found[0][0] == (G // 2 if other == high else -G // 2)
    for none in (np.nan, np.inf, -np.inf):
        assert mechanism.sums(column, np.array([none])) == ((0, 0, 0),)


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
    assert integers(one, values, own).tolist() == integers(whole, values, own).tolist()[3:]
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


@pytest.mark.parametrize("seed", range(60))
def test_bias_hides_behind_a_third_of_each_error_and_no_more_blocks_would(seed: int) -> None:
    """The chosen number at random prices, boxes and orders, against the formulas of theory §2, in full."""
    rng = np.random.default_rng(seed)
    n, epsilon = round(10 ** rng.uniform(3, 6)), float(10 ** rng.uniform(-2, 1))
    parties = None if seed % 2 else int(rng.integers(1, 200))
    p = int(rng.integers(1, 4))
    each = [(float(10 ** rng.uniform(-1, 2)), float(rng.choice([0.0, 1.0, 8.0, 400.0]))) for _ in range(p)]
    w, b = (max(one) for one in zip(*each, strict=True))
    k = blocks_for(n, epsilon, p, w, (4.0, b), parties, each)
    least = 0.3 if parties is None else 0.0

    def ratios(k: int) -> list[float]:
        """Bias of each parameter in standard errors of the mean over parties."""
        return [
            (parties or 1) ** 0.5 * max(b, least) * k**2 / n**1.5
            / np.sqrt(1 + 2 * n * (w / (k * epsilon)) ** 2 + 4 * k / n)
            for w, b in each
        ]  # fmt: skip

    def excess(k: int) -> float:
        return float(2 * n * (w / (k * epsilon)) ** 2 + 4 * k / n + (parties or 1) * max(b, least) ** 2 * k**4 / n**3)

    most = n // (max(20, 10 * p) if parties is None else 10 * p)
    assert 2 <= k <= max(2, most)
    assert k == 2 or max(ratios(k)) <= 1 / 3 + 1e-6
    # one block in twenty more is too many, or brings too much bias, or is no better
    more = k + max(1, k // 20)
    assert more > most or max(ratios(more)) > 1 / 3 or excess(more) > 0.99 * excess(k)


def test_how_many_blocks_there_are_is_for_the_parameters_that_are_released() -> None:
    """Degrees of freedom want long blocks, a location alone does not; a correction that trusts no law wants longer."""
    law = families.StudentT(location=(-3, 3), scale=(0.2, 5), df=(1, 10))

    def rows_of_a_block(**words: Any) -> float:
        query = tc.SampleAndAggregate("x", **({"model": law, "bias": "cox-snell"} | words))
        plan = design(query, Cost.of(epsilon=1), rows=100_000).blocks
        assert isinstance(plan, mechanism_design.BlockPlan)
        return 100_000 / plan.blocks

    assert 200 < rows_of_a_block() < 500
    assert rows_of_a_block(parameters="location") < 50
    assert rows_of_a_block(model=families.StudentT(df=4)) < 50
    assert 50 < rows_of_a_block(parameters="location", bias="observed") < 500
    assert rows_of_a_block(model=families.Gamma()) < rows_of_a_block(model=families.Gamma(), bias="observed") < 500


# Rows outside the support, blocks without an estimate ----------------------------------------------------------------


LOGNORMAL = families.Lognormal(mean=(-3, 4), sd=(0.2, 3))


def release_of(x: np.ndarray, query: tc.SampleAndAggregate, epsilon: float = 20.0) -> Any:
    return tc.Curator({"x": x}, SCHEMA, budget=tc.Budget(epsilon=100)).release(query, epsilon=epsilon)


def test_zeros_among_lognormal_rows_are_left_out_and_said() -> None:
    """One row in a hundred is 0: blocks of 40 rows used to fail by a third, and count as the middle of the box."""
    rng = np.random.default_rng(5)
    x = rng.lognormal(0.5, 0.7, 16_000)
    x[rng.random(16_000) < 0.01] = 0.0
    found = release_of(x, tc.SampleAndAggregate("x", LOGNORMAL, blocks=400), 90.0).estimate()
    assert found.reasons == (None, None)
    # 5.5 standard errors for each of two: wrong once in 13 million
    assert (abs(found.values - [0.5, 0.7]) < 5.5 * found.std_errors).all()
    assert (found.std_errors < [0.009, 0.007]).all()
    assert any("have no estimate, and weigh nothing" in note for note in found.notes)
    assert "rows outside the law's support (above 0) are left out" in found.notes


@pytest.mark.parametrize("words", [{}, {"winsorize": True}, {"one_step": True}], ids=["blocks", "winsorised", "step"])
@pytest.mark.parametrize("cell", [np.nan, -2.0], ids=["missing", "negative"])
def test_no_row_that_can_be_used_is_a_reason_and_no_answer(words: dict[str, bool], cell: float) -> None:
    query = tc.SampleAndAggregate("x", LOGNORMAL, blocks=400, **words)
    found = release_of(np.full(16_000, cell), query).estimate()
    assert all(found.reasons), found


def test_many_blocks_without_an_estimate_are_a_reason() -> None:
    """Rows of a block are all alike in three blocks of ten: the others are no fair sample."""
    shape = design(tc.SampleAndAggregate("x", LOGNORMAL, blocks=400, rows=16_000), Cost.of(epsilon=20), rows=16_000)
    rng = np.random.default_rng(6)
    values = np.column_stack([rng.normal(0.5, 0.11, 400), rng.normal(0.7, 0.08, 400)])

    def estimate(share: float) -> Any:
        fine = np.where(np.arange(400)[:, None] < 400 * share, np.nan, values)
        noisy = [np.array(mechanism.sums(c, fine[:, j])) for j, c in enumerate(shape.columns)]
        return simulated(shape, tuple(noisy)).estimate()

    assert estimate(0.0).reasons == (None, None)
    whole, most = estimate(0.0), estimate(0.3)
    assert np.allclose(estimate(0.01).values, whole.values, atol=0.01)  # they weigh nothing
    assert all("30% of the blocks have no estimate" in str(reason) for reason in most.reasons)


def test_bounds_without_a_number_of_the_support_are_refused_before_any_charge() -> None:
    curator = tc.Curator({"x": np.ones(60)}, tc.Schema({"x": tc.Real(-5, 0)}), budget=tc.Budget(epsilon=1))
    with pytest.raises(TacitError) as caught:
        curator.release(tc.SampleAndAggregate("x", LOGNORMAL, blocks=2), epsilon=1)
    assert caught.value.code == "Q95"
    assert "every row would be left out" in str(caught.value)
    assert str(curator.remaining) == "left 1.00 of 1.00"


# Rows of another law -------------------------------------------------------------------------------------------------


def test_blocks_that_vary_as_the_law_does_not_are_a_reason_where_it_matters() -> None:
    """Logs of gamma rows: sd varies about twice what a normal law says, and its bias in 20 rows is not the law's.

    Blocks are drawn anew: by how much it is too large is six deviations from what is tolerated.  The mean of logs has
    no bias under any law, and keeps its interval.
    """
    rng, query = np.random.default_rng(7), tc.SampleAndAggregate("x", LOGNORMAL, blocks=800, bias="cox-snell")
    wrong = release_of(rng.gamma(0.8, 1.5, 16_000), query, 90.0).estimate()
    right = release_of(rng.lognormal(0.5, 0.7, 16_000), query, 90.0).estimate()
    assert wrong.reasons[0] is None
    assert "rows follow another law" in str(wrong.reasons[1])
    assert any("rows follow another law" in note for note in wrong.notes)
    # 0.15 and 3.3 standard errors from 1: by chance less than once in 1,000 under the law
    assert right.reasons == (None, None)
    assert any("times what the law says" in note and "another" not in note for note in right.notes)


def test_blocks_trust_no_law_unless_asked() -> None:
    """Documents of earlier releases, which say nothing of it, were corrected as for rows of the law."""
    own = tc.Model(lambda x, theta: -((x - theta.mu) ** 2), mu=(0, 1))
    query = tc.SampleAndAggregate("x", own)
    assert (query.bias, query.to_dict()["bias"]) == ("observed", "observed")
    assert query_from_dict(query.to_dict()) == query
    earlier = {name: word for name, word in query.to_dict().items() if name != "bias"}
    assert query_from_dict(earlier) == tc.SampleAndAggregate("x", own, bias="cox-snell")
    assert tc.SampleAndAggregate("x", EXPONENTIAL).bias == "observed"
    kinked = families.Laplace(location=(-1, 1), scale=(0.1, 5))
    assert tc.SampleAndAggregate("x", kinked).bias == "split-half"
    assert tc.SampleAndAggregate("x", tc.Statistic("median", median=(0, 1))).bias == "split-half"
