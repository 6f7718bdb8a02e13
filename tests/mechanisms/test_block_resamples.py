"""Variances of blocks by resampling: of a block's rows alone, at one sensitivity, and as they are said to be."""

from __future__ import annotations

import json
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit import families
from tacit.errors import TacitError
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.method.blocks import design as blocks_design
from tacit.method.blocks import mechanism_means as mechanism
from tacit.method.blocks.encoding import own_variance
from tacit.method.blocks.mechanism_labels import Blocks
from tacit.method.blocks.mechanism_own_variance import hashed, own_variances, weights_of
from tacit.method.blocks.resampling import LITTLE, VARIANCES, WITH, WITHOUT, BlockResamples
from tacit.method.shared.measurement import Measurement, Public
from tacit.models.blocks import block_mle
from tacit.models.weighted_blocks import weighted_maxima
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.source.engine_sums.row_arrays import RowArrays
from tacit.testing import contract
from tacit.testing.coverage import NONE

SCHEMA = tc.Schema({"x": tc.Real()})
EXPONENTIAL = families.Exponential(rate=(0.5, 5))
GAMMA = families.Gamma(shape=(0.5, 5), rate=(0.1, 5))
WEIBULL = families.Weibull(shape=(0.2, 5), scale=(0.05, 5))
MEDIAN = tc.Statistic("median", median=(0, 3))
WAYS = VARIANCES[1:]
SIZES = {LITTLE: 2_000, WITH: 40, WITHOUT: 50}


def asked(way: str, model: Any = EXPONENTIAL, **options: Any) -> tc.SampleAndAggregate:
    return tc.SampleAndAggregate("x", model, blocks=10, variance=way, **options)


def design(query: tc.SampleAndAggregate, rows: int = 400, neighbors: str = "replace-one") -> Measurement:
    public = rows if neighbors == "replace-one" else None
    return blocks_design.design(query, Public(SCHEMA, neighbors, public, rows), Cost.of(epsilon=5))


def blocks_of(k: int, rows: int, seed: int = 0) -> Blocks:
    values = np.sort(np.random.default_rng(seed).exponential(0.5, (k, rows)), axis=1)
    return Blocks(values[:, :, None], np.full(k, rows))


def mean_of(found: Blocks) -> np.ndarray:
    used = np.arange(found.values.shape[1]) < found.sizes[:, None]
    with np.errstate(all="ignore"):
        return (np.where(used, found.values[:, :, 0], 0).sum(axis=1) / found.sizes)[:, None]


# Sensitivity --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("G", [8, 16, 40])
@pytest.mark.parametrize(("noise", "norm"), [("laplace", 1), ("gaussian", 2)])
def test_no_two_blocks_are_further_apart_than_is_said(G: int, noise: Any, norm: int) -> None:
    """Over all values, all variances that a block may have, and a block without an estimate; attained."""
    form, H = own_variance(G, noise), G // 2
    kappa = form.parameters["presence"]
    present = [(w, j, kappa) for w in range(-H, H + 1) for j in range(H - abs(w) + 1)]
    rows = np.array([*present, (0, 0, 0)])
    most = {n: int(max((np.abs(rows - row) ** n).sum(axis=1).max() for row in rows)) for n in (1, 2)}
    assert most[norm] == {1: G, 2: G * G}[norm]
    assert most[1] <= form.l1
    assert most[2] <= form.l2_squared == G * G


@pytest.mark.parametrize("G", [2, 6, 7, 12])
def test_a_grid_without_a_proof_is_refused(G: int) -> None:
    with pytest.raises(ArithmeticError):
        own_variance(G, "laplace")


@pytest.mark.parametrize("variance", [0.0, -1.0, 1e-3, 1e300, np.inf, np.nan])
def test_a_variance_is_an_integer_within_its_bounds(variance: float) -> None:
    """Whatever a model or a device returned: from 0 to H - |w|, the largest where there is none."""
    (column,) = design(asked(WITHOUT)).columns
    assert column.grid is not None
    H, kappa = column.grid.G // 2, column.form.parameters["presence"]
    for value in (0.5, 1.0, 2.75, 5.0, 7.0):
        ((w, j, present),) = mechanism.sums(column, np.array([value]), np.array([variance]))
        assert present == kappa
        assert 0 <= j <= H - abs(w)
        assert j == (H - abs(w) if not variance < 1e299 else 0) or 0 < variance < 1
    assert mechanism.sums(column, np.array([np.nan]), np.array([1.0])) == ((0, 0, 0),)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("model", [EXPONENTIAL, MEDIAN], ids=["likelihood", "statistic"])
def test_a_row_changes_the_numbers_of_its_block_alone(way: str, model: Any) -> None:
    """And rows may come in any order: a block is a set."""
    shape = design(asked(way, model, resamples=5), rows=200)
    rng = np.random.default_rng(1)
    values, own = rng.exponential(0.5, (200, 1)), rng.permutation(np.arange(200, dtype=np.uint64) << np.uint64(56))
    order = rng.permutation(200)
    first, again = (mechanism.exact(shape, RowArrays(values[at], None), own[at]) for at in (np.arange(200), order))
    assert first == again
    found = blocks_of(6, 20)
    other = Blocks(found.values.copy(), found.sizes)
    other.values[3] *= 1.5
    how = BlockResamples(way, 5, SIZES[way] if way == LITTLE else 8)
    estimates = partial(mechanism.estimates, model, "none")
    one, changed = (own_variances(blocks, how, model, estimates) for blocks in (found, other))
    assert (np.delete(one, 3, axis=0) == np.delete(changed, 3, axis=0)).all()
    assert (one[3] != changed[3]).all()


@pytest.mark.long
@pytest.mark.parametrize("way", [WITHOUT, LITTLE])
def test_resampled_blocks_keep_the_contract(way: str) -> None:
    found = contract(tc.SampleAndAggregate("x", EXPONENTIAL, variance=way, resamples=3), SCHEMA, tables=8, draws=20_000)
    assert found.passed
    assert {one.relation for one in found.findings} == {"replace-one", "add-remove"}


# Resamples ----------------------------------------------------------------------------------------------------------


def test_draws_are_uniform_and_of_the_number_that_is_said() -> None:
    """The largest of 40 standardised counts of 40,000 draws: above 6 in fewer than 1 of 10**7 hashes."""
    made = weights_of(np.arange(20), 10, 200, np.full(20, 40), 50)
    assert made.shape == (20, 10, 50)
    assert (made.sum(axis=2) == 200).all()
    assert not made[:, :, 40:].any()
    counts = made[:, :, :40].sum(axis=(0, 1))
    assert np.abs(counts - 1_000).max() < 6 * np.sqrt(1_000)
    words = hashed(np.repeat(np.arange(30), 10), np.tile(np.arange(10), 30), 100)
    assert len(np.unique(words)) == words.size


def test_subsamples_draw_no_row_twice() -> None:
    found = Blocks(np.tile(np.arange(30.0), (8, 1))[:, :, None], np.array([30, 30, 29, 30, 1, 0, 12, 30]))
    seen: list[Blocks] = []

    def keep(blocks: Blocks) -> np.ndarray:
        seen.append(blocks)
        return mean_of(blocks)

    own = own_variances(found, BlockResamples(WITHOUT, 20, 15), MEDIAN, keep)
    assert np.isnan(own[:, 0]).tolist() == [False] * 4 + [True, True, False, False]
    for values, size in zip(seen[0].values[:, :, 0], seen[0].sizes, strict=True):
        assert len(set(values[:size])) == size
    assert set(seen[0].sizes.tolist()) == {15, 11, 0}


@pytest.mark.parametrize("way", WAYS)
def test_the_variance_of_a_mean_is_that_of_its_rows(way: str) -> None:
    """S**2 / t of 30 blocks, each by 400 resamples: the mean ratio is known to sqrt(2 / 12,000), and six times that."""
    found, rows = blocks_of(30, 100), SIZES[way] if way != LITTLE else 300
    own = own_variances(found, BlockResamples(way, 400, rows), MEDIAN, mean_of)
    ratio = own[:, 0] / (found.values[:, :, 0].var(axis=1, ddof=1) / 100)
    assert abs(ratio.mean() - 1) < 6 * np.sqrt(2 / (30 * 400))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "model",
    [EXPONENTIAL, WEIBULL, pytest.param(GAMMA, marks=pytest.mark.long)],
    ids=["closed form", "search over rows", "search from means"],
)
def test_weighted_rows_are_fitted_as_repeated_ones(model: Any) -> None:
    found, rows = blocks_of(3, 40), 120
    made, sizes = weighted_maxima(model, found.values, found.sizes, 4, rows, weights_of)
    assert sizes.tolist() == [40] * 3
    weights = weights_of(np.arange(3), 4, rows, found.sizes, 40).astype(np.int64)
    for block in range(3):
        repeated = [np.repeat(found.values[block, :, 0], one) for one in weights[block]]
        brute = block_mle(model, np.array(repeated), [rows] * 4, bias="none")
        assert brute.fitted.all()
        assert np.abs(made[block] / brute.values - 1).max() < 1e-6


def test_a_block_of_failures_has_the_largest_variance() -> None:
    """Half of the resamples without an estimate: none; fewer than half: that of the others."""
    found = blocks_of(4, 30)

    def failing(share: float, blocks: Blocks) -> np.ndarray:
        made = mean_of(blocks)
        made[: int(share * len(made))] = np.nan
        return made

    for share, known in ((0.4 / 4, True), (0.6 / 4, False)):
        own = own_variances(found, BlockResamples(WITH, 20, 10), MEDIAN, partial(failing, share))
        assert np.isfinite(own[0, 0]) == known
        assert np.isfinite(own[1:]).all()


# What is said of the blocks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", [Cost.of(epsilon=5), Cost.of(rho=5)], ids=str)
def test_the_standard_error_is_that_of_the_released_variances(cost: Cost) -> None:
    """Told of no noise: the mean variance of a block over the number of blocks, to a step of its unit."""
    shape = blocks_design.design(asked(WITH), Public(SCHEMA, "replace-one", 400), cost)
    column = shape.columns[0]
    assert column.form.name == "blocks-resampled"
    # the last block has no estimate, and weighs nothing
    (cells,) = mechanism.totals(shape, np.array([[1.5, 0.04], [2.0, 0.09], [2.5, 0.05], [np.nan, 0.5]]))
    part = replace(column.released(cells), law=NONE)
    made = terms_of("SampleAndAggregate", part, rows=400, grouped=False, target="population")
    assert abs(made.value[0] - 2.0) < 1e-4
    assert abs(made.variance[0] - 0.06 / 3) < 1e-5


@pytest.mark.parametrize("way", [WITH, pytest.param(WITHOUT, marks=pytest.mark.long)])
def test_intervals_cover_and_are_narrower_than_those_of_few_blocks(way: str) -> None:
    """200 tables: fewer than 87.7% in less than one of 10**6 repetitions at 95%."""

    def draw(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {"x": rng.exponential(0.5, 1_000)}

    own, between = (
        tc.testing.coverage(asked(variance), draw, 2.0, epsilon=5, repeats=200, rng=0) for variance in (way, "blocks")
    )
    assert own.coverage[0] > 0.877
    assert own.width[0] < 0.75 * between.width[0]


def release(query: tc.SampleAndAggregate, rows: Any, **price: Any) -> Any:
    curator = tc.Curator({"x": rows}, SCHEMA, name="t", budget=tc.Budget(epsilon=100))
    return curator.release(query, **(price or {"epsilon": 20}))


def test_a_release_says_how_and_survives_its_file() -> None:
    rows = np.random.default_rng(0).exponential(0.5, 2_000)
    query = asked(WITH, resamples=20, resample_rows=60)
    made = release(query, rows)
    words = json.loads(json.dumps(made.to_dict()))
    again = release_from_dict(words)
    assert again.query == query
    found = again.estimate()
    assert abs(found.value - 2) < 6 * found.std_error < 0.6
    assert any("20 resamples in each" in note for note in found.notes)
    words["query"].pop("variance")
    for key in ("resamples", "resample_rows"):
        words["query"].pop(key)
    with pytest.raises(TacitError):
        release_from_dict(words)


def test_blocks_beyond_an_end_of_the_box_have_no_interval() -> None:
    """Resamples of a block at the end hardly vary: their variance is no measure of its error."""
    rows = np.random.default_rng(0).exponential(0.5, 400)
    found = release(asked(WITHOUT, families.Exponential(rate=(0.1, 2.1))), rows, epsilon=80).estimate()
    assert found.reasons[0] is not None
    assert "beyond an end" in found.reasons[0]


def test_stored_questions_are_as_they_were() -> None:
    assert set(tc.SampleAndAggregate("x", EXPONENTIAL, blocks=5).to_dict()) == {
        "query",
        "what",
        "model",
        "blocks",
        "bias",
    }
    assert asked(LITTLE).to_dict()["resamples"] == 50
    assert tc.SampleAndAggregate("x", EXPONENTIAL, variance=LITTLE).method == "tuned"


@pytest.mark.parametrize(
    "options",
    [
        {"variance": "bootstrap"},
        {"variance": WITH, "resamples": 1},
        {"variance": WITH, "resamples": True},
        {"variance": WITH, "resample_rows": 1.5},
        {"variance": LITTLE, "resample_rows": 50},
        {"resamples": 50},
        {"variance": WITH, "winsorize": True},
        {"variance": WITH, "one_step": True},
        {"variance": WITH, "method": "auto"},
    ],
    ids=str,
)
def test_what_makes_no_variance_is_refused(options: dict[str, Any]) -> None:
    with pytest.raises(TacitError) as raised:
        tc.SampleAndAggregate("x", EXPONENTIAL, **options)
    assert raised.value.code == "Q140"


def test_designs_without_a_variance_are_refused() -> None:
    """Persons of several rows, resamples of too few rows, and more rows in all than can be drawn."""
    persons = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "x": tc.Real()})
    refused: list[Any] = [
        (asked(WITH), Public(persons, "replace-one", 400)),
        (asked(WITHOUT, resample_rows=40), Public(SCHEMA, "replace-one", 400)),
        (asked(WITHOUT, GAMMA, resample_rows=3), Public(SCHEMA, "replace-one", 400)),
        (asked(LITTLE, resamples=10_000), Public(SCHEMA, "replace-one", 1_000_000)),
    ]
    for query, public in refused:
        with pytest.raises(TacitError) as raised:
            blocks_design.design(query, public, Cost.of(epsilon=1))
        assert raised.value.code == "Q140"
    single = tc.Schema({"who": tc.PrivacyUnit(max_rows=1), "x": tc.Real()})
    assert blocks_design.design(asked(WITH), Public(single, "replace-one", 400), Cost.of(epsilon=1)).columns


def test_parties_do_not_combine_and_plans_say_when_blocks_do_as_well() -> None:
    rows = np.random.default_rng(0).exponential(0.5, 1_000)
    two = [release(asked(WITHOUT), rows) for _ in range(2)]
    with pytest.raises(TacitError, match="do not combine"):
        tc.combine(two)
    few, many = (
        " ".join(
            tc.plan(
                tc.SampleAndAggregate("x", EXPONENTIAL, blocks=k, variance=WITH), SCHEMA, rows=5_000, epsilon=1
            ).cautions()
        )
        for k in (10, 150)
    )
    assert "nearly as good" in many
    assert "nearly as good" not in few
    assert "known poorly" not in few
