"""The contract suite on mechanisms that ask in blocks, labels held, and wrong ones that it must notice."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit import families
from tacit.method.blocks import mechanism_equal_blocks as equal_blocks
from tacit.method.blocks import mechanism_labels as blocks
from tacit.method.blocks import mechanism_means as sample_and_aggregate
from tacit.method.blocks import mechanism_winsorized as winsorized
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared.encoding import Encoding
from tacit.privacy import Cost
from tacit.source.engine_sums.row_arrays import RowArrays
from tacit.testing import contract
from tacit.testing import contract_blocks as in_blocks
from tacit.testing.findings import PRICES
from tacit.testing.neighbouring_tables import Relation, pairs

SCHEMA = tc.Schema({"x": tc.Real(), "sex": tc.Category(["f", "m"])})
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), **SCHEMA})
EXPONENTIAL = families.Exponential(rate=(0.1, 10))
NORMAL = families.Normal(mean=(-3, 3), sd=(0.2, 5))
QUERIES: dict[str, tuple[Any, tc.Schema]] = {
    "blocks": (tc.SampleAndAggregate("x", EXPONENTIAL), SCHEMA),
    "two parameters": (tc.SampleAndAggregate("x", NORMAL), SCHEMA),
    "persons' statistic": (tc.SampleAndAggregate("x", tc.Statistic("median", m=(-1, 1))), PERSONS),
    "winsorised, persons": (tc.SampleAndAggregate("x", EXPONENTIAL, winsorize=True, where="sex == 'f'"), PERSONS),
    "one step": (tc.SampleAndAggregate("x", EXPONENTIAL, one_step=True), SCHEMA),
    "one step, two parameters": (tc.SampleAndAggregate("x", NORMAL, one_step=True), SCHEMA),
    "both": (tc.SampleAndAggregate("x", EXPONENTIAL, blocks=6, one_step=True, winsorize=True), SCHEMA),
}


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "name",
    [
        "one step",
        "winsorised, persons",
        *(
            pytest.param(name, marks=pytest.mark.long)
            for name in QUERIES
            if name not in ("one step", "winsorised, persons")
        ),
    ],
)
def test_blocks_keep_the_contract(name: str) -> None:
    query, schema = QUERIES[name]
    found = contract(query, schema, tables=24, draws=20_000)
    assert found.passed
    assert {one.relation for one in found.findings} == {"replace-one", "add-remove"}
    assert {one.norm for one in found.findings} == {"l1", "l2_squared"}


def findings(relation: Relation, query: Any = QUERIES["blocks"][0], count: int = 24) -> list[Any]:
    rng = np.random.default_rng(0)
    material = list(pairs(SCHEMA, relation, count, rng))
    return in_blocks.sensitivity(in_blocks.asked(query), SCHEMA, relation, PRICES, material, rng)


@pytest.mark.sample(2)
@pytest.mark.parametrize("factor", [0.5, 2])
def test_a_wrong_sensitivity_is_noticed(factor: float, monkeypatch: pytest.MonkeyPatch) -> None:
    """One too small is passed, one too large is not reached."""
    right = moment_forms.exclusion

    def wrong(G: int, noise: moment_forms.Noise) -> Encoding:
        form = right(G, noise)
        return replace(form, l1=int(form.l1 * factor), l2_squared=int(form.l2_squared * factor**2))

    monkeypatch.setattr(moment_forms, "exclusion", wrong)
    assert not any(one.passed for one in findings("replace-one"))


def by_count(rows: RowArrays, own: Any, k: int, room: int) -> blocks.Blocks:
    """Labels that are another draw for another number of complete rows: one left out moves all the others."""
    words = np.random.default_rng(len(own)).permutation(own)
    return right_packed(rows, words, k, room)


def left_out(found: Any, *given: Any) -> np.ndarray:
    """Blocks without an answer dropped, the others repeated in their place."""
    values = right_estimates(found, *given)
    fine = values[np.isfinite(values).all(axis=1)]
    return values if len(fine) == 0 else fine[np.arange(len(values)) % len(fine)]


right_packed, right_estimates = blocks.packed, sample_and_aggregate.estimates


def test_blocks_that_follow_the_rows_are_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """By their number, and failures that are left out: more than one block changes, and the bound is passed."""
    with monkeypatch.context() as patched:
        patched.setattr(sample_and_aggregate.blocks, "packed", by_count)
        assert any(one.reached > one.declared for one in findings("replace-one", QUERIES["persons' statistic"][0], 80))
    monkeypatch.setattr(sample_and_aggregate, "estimates", left_out)
    assert any(one.reached > one.declared for one in findings("replace-one"))


def test_a_window_that_follows_the_rows_is_noticed(monkeypatch: pytest.MonkeyPatch) -> None:
    """The ends of the window are selected privately; the blocks' own extremes would move all that is within."""
    right = winsorized.of_estimates

    def own_ends(shape: Any, values: np.ndarray, draw: Any, noise: Any) -> Any:
        places = shape.columns[0].wide.places(values[:, 0])
        ends = iter([int(places.min()), int(places.max())] * len(shape.columns))
        return right(shape, values, lambda runs, law: (draw(runs, law), next(ends))[1], noise)

    monkeypatch.setattr(winsorized, "of_estimates", own_ends)
    # of so few rows most blocks have no estimate: here they have the default, so that all eight are in the window
    monkeypatch.setattr(
        sample_and_aggregate,
        "estimates",
        lambda *given: np.nan_to_num(right_estimates(*given), nan=EXPONENTIAL.fallback[0]),
    )
    found = findings("replace-one", tc.SampleAndAggregate("x", EXPONENTIAL, blocks=8, winsorize=True))
    assert any(one.reached > one.declared for one in found if one.form == "blocks-2")


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_the_words_of_the_suite_are_used_as_a_release_uses_its_own(
    relation: Relation, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A release with the operating system's words and noise replaced has the suite's integers."""
    rng = np.random.default_rng(1)
    x, words = rng.exponential(0.5, 40), rng.integers(0, 2**64, 40, dtype=np.uint64)
    monkeypatch.setattr(blocks, "system_random_words", lambda count: words[:count])
    monkeypatch.setattr(sample_and_aggregate, "protect", lambda cells, law: cells)
    query = tc.SampleAndAggregate("x", EXPONENTIAL, blocks=5, rows=40)
    curator = tc.Curator({"x": x}, tc.Schema({"x": tc.Real()}), budget=tc.Budget(epsilon=1, neighbors=relation))
    release = curator.release(query, epsilon=1)
    shape = curator.design(query, Cost.of(epsilon=1))
    own = equal_blocks.words_of_equal_blocks(words, equal_blocks.cuts(words, 5)) if relation == "replace-one" else words
    recorder = in_blocks.Recorder()
    in_blocks.run(shape, RowArrays(x[:, None], None), own, recorder)
    assert [part.integers for part in release.parts] == recorder.seen
