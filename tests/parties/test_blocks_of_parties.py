"""Parties whose blocks failed, follow another law or lie at an end of their box: who weighs nothing, what is an error.

Estimates of blocks are drawn by a closed form: exponential rows of mean 1 have the rate 1, and so has the limit of the
maximum-likelihood estimate where rows follow another law.  All is seeded.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit import families
from tacit.curator.mechanisms import design
from tacit.method.blocks.combine import (
    COUNTED,
    ENDED,
    FAILED,
    KEPT,
    LAW,
    SELECTED,
    BlocksOfParties,
    Widened,
    pooled_fit,
)
from tacit.method.blocks.estimate_block_fit import BlockFit
from tacit.method.blocks.estimate_by_blocks import by_blocks, kept_means
from tacit.method.blocks.estimate_ends import BEYOND, GUESS
from tacit.method.blocks.mechanism_means import totals
from tacit.method.shared.measurement import Public
from tacit.parties.combined_columns import FEW_BLOCKS, NO_BLOCKS, Column, block_column, columns
from tacit.pooling.common_value import pooled
from tacit.pooling.kept_parties import KeptParties
from tacit.release.document import Released
from tacit.testing.simulated_parties import Answer

SCHEMA = tc.Schema({"x": tc.Real()})
ROWS, BLOCKS = 4_000, 200
WIDE = (0.2, 5.0)


def rows(seed: int, law: str = "exponential") -> Any:
    """Rows of mean 1 of each block, shape (blocks, rows)."""
    rng, shape = np.random.default_rng(seed), (BLOCKS, ROWS // BLOCKS)
    return np.exp(1.1 * rng.standard_normal(shape) - 0.605) if law == "lognormal" else rng.standard_exponential(shape)


def answer(
    seed: int, law: str = "exponential", *, failing: float = 0.0, epsilon: float = 20, box: Any = WIDE
) -> Released:
    """The release of one party; failing: the share of its blocks, those of the largest rates, without an estimate."""
    x = rows(seed, law)
    rates = np.sort((1 - 1 / x.shape[1]) / x.mean(axis=1))[::-1]
    values = np.where(np.arange(BLOCKS) < round(failing * BLOCKS), np.nan, np.clip(rates, *box))
    query = tc.SampleAndAggregate("x", families.Exponential(rate=box), blocks=BLOCKS, bias="cox-snell")
    cost = tc.Cost.of(epsilon=f"{epsilon:g}")
    shape = design(query, Public(SCHEMA, "replace-one", ROWS), cost)
    (cells,), (column,) = totals(shape, values[:, None]), shape.columns
    noise = column.law.sample(len(cells[0]), np.random.default_rng(seed + 1)).tolist()
    noisy = tuple(int(a) + int(b) for a, b in zip(cells[0], noise, strict=True))
    return Answer(query, f"party {seed}", "replace-one", ROWS, (column.released((noisy,)),), cost)


def pooled_column(given: list[Released], effects: str = "common") -> Column:
    tested = BlocksOfParties.of(given, range(len(given)))
    return block_column("rate", tested, 0, effects, "REML")


def test_a_party_of_failed_blocks_weighs_nothing_and_is_named() -> None:
    good = [answer(seed) for seed in range(4)]
    (made,) = columns([*good, answer(9, failing=0.7)], range(5), "common", "REML", True, "abcde")
    others = pooled_column(good)
    assert made.out == ((4, "about 70% of the blocks have no estimate, and may differ from the others"),)
    assert made.shares[4] == 0
    assert made.value == pytest.approx(others.value)
    assert made.variance == pytest.approx(others.variance)
    assert made.reasons == (None,)
    assert not made.parts.usable[4]
    assert made.parts.value[:4, 0] == pytest.approx(others.parts.value[:, 0])


@pytest.mark.parametrize("effects", ["common", "random"])
def test_a_party_of_another_law_weighs_nothing(effects: str) -> None:
    """At a price at which its own test of fit rejects, and its own error is less than what bias may be left."""
    given = [*(answer(seed) for seed in range(4)), answer(8, "lognormal", epsilon=200)]
    (own,) = by_blocks(given[4], "population").reasons
    assert own is not None
    made = pooled_column(given, effects)
    assert made.out == ((4, own),)
    assert made.value == pytest.approx(pooled_column(given[:4], effects).value)
    low, high = made.inversion.interval(0.95)
    assert low[0] < 1 < high[0]


def test_too_few_parties_are_left() -> None:
    bad = [answer(seed, failing=0.8) for seed in (1, 2)]
    (made,) = columns([answer(0), *bad], range(3), "random", "REML", True, "abc")
    assert made.reasons == (f"{FEW_BLOCKS}: b, c say too little",)
    (none,) = columns(bad, range(2), "common", "REML", True, "bc")
    assert none.reasons == (f"{NO_BLOCKS}: b, c say too little",)
    low, high = none.inversion.interval(0.95)
    assert (low[0], high[0]) == pytest.approx(WIDE)
    (one,) = columns([answer(0), *bad], range(3), "common", "REML", True, "abc")
    assert one.reasons == (None,)
    assert one.shares[:, 0].tolist() == [1, 0, 0]


def test_releases_about_the_same_people_weigh_nothing_together() -> None:
    """What is wrong with rows is wrong in all releases about them."""
    given = [answer(0), answer(1), answer(2), answer(2, failing=0.7)]
    tested = BlocksOfParties.of(given, (0, 1, 2, 2))
    assert [why is None for why in tested.reasons(0)] == [True, True, False]
    assert block_column("rate", tested, 0, "common", "REML").shares[2] == 0


def test_failures_too_few_for_a_party_s_own_reason_are_enough_for_that_of_all() -> None:
    """4% of the largest fail: 0.04 / sqrt(1 / 200) = 0.6 standard errors of a party, 1.6 of eight."""
    given = [answer(seed, failing=0.04) for seed in range(8)]
    assert all(by_blocks(one, "population").reasons == (None,) for one in given)
    made = pooled_column(given)
    assert made.out == ()
    assert made.reasons == (FAILED,)
    assert any("of the blocks have no estimate, and weigh nothing" in note for note in made.notes)
    # of two parties they are an error beside the others
    two = pooled_column(given[:2])
    assert two.reasons == (None,)
    spread = np.sqrt(pooled_column([answer(0), answer(1)]).variance[0] * 2 * BLOCKS)
    inner = two.inversion
    assert isinstance(inner, Widened)
    assert inner.moved == pytest.approx(0.04 * spread, rel=0.3)
    assert two.variance[0] + two.privacy[0] == pytest.approx(inner.error**2 + inner.moved**2)
    low, high = two.inversion.interval(0.95)
    plain = inner.inner.interval(0.95)
    assert (high - low)[0] == pytest.approx((plain[1] - plain[0])[0] * (1 + (inner.moved / inner.error) ** 2) ** 0.5)


def test_a_mean_of_those_that_are_kept_is_moved_by_what_is_cut_off() -> None:
    """Against 400,000 normal parties of which those between two limits stay, and where limits are far off."""
    draw = np.random.default_rng(2).standard_normal(400_000)
    for low, high in ((-np.inf, 0.3), (-1.0, np.inf), (-0.4, 1.2)):
        own = draw[(draw > low) & (draw < high)]
        kept = KeptParties(np.array([0.5, 0.5]), np.ones(2), np.full(2, low), np.full(2, high))
        both = np.isfinite(low) and np.isfinite(high)
        # both ends as if each cut alone; 5.5 standard errors of the mean
        if not both:
            assert kept.cut(0.0) == pytest.approx(own.mean(), abs=5.5 / np.sqrt(len(own)))
            assert kept.missing(float(kept.cut(0.0))) == pytest.approx(-kept.cut(0.0), abs=1e-6)
        assert np.sign(kept.cut(0.0)) == np.sign(own.mean())
    far = KeptParties(np.ones(1), np.array([0.01]), np.array([-np.inf]), np.array([1.0]))
    assert far.missing(0.5) == pytest.approx(0.0, abs=1e-9)
    assert KeptParties(np.ones(1), np.ones(1), np.array([-np.inf]), np.array([np.inf])).missing(3.0) == 0.0


def test_parties_that_noise_takes_over_an_end_leave_no_answer_to_the_others() -> None:
    """A box to 1.18, where chance says of each of twelve parties whether it stays; one to 3 leaves out none.

    In a box to 1.22 what leaving out three moves is less than the error, and counts as one.  A limit of a party's own
    mean is where its interval is given up.
    """
    given = [answer(seed, box=(0.2, 1.18)) for seed in range(12)]
    tested = BlocksOfParties.of(given, range(12))
    assert 0 < sum(why == BEYOND for why in tested.reasons(0)) <= 6
    assert block_column("rate", tested, 0, "common", "REML").reasons == (SELECTED,)
    wider = pooled_column([answer(seed, epsilon=0.7, box=(0.2, 1.22)) for seed in range(8)])
    inner = wider.inversion
    assert isinstance(inner, Widened)
    assert wider.reasons == (None,)
    assert any(KEPT in note for note in wider.notes)
    assert inner.moved > 0.5 * inner.error
    for one, test in zip(given, tested.tests, strict=True):
        _, high = kept_means(one, test, 0)
        assert (test.plain[0].value[0] > high + 0.004) <= (test.terms[0].reasons[0] == BEYOND)
        assert (test.plain[0].value[0] < high - 0.004) <= (test.terms[0].reasons[0] is None)
    wide = pooled_column([answer(seed, epsilon=1, box=(0.2, 3.0)) for seed in range(8)])
    assert wide.reasons == (None,)
    assert not any(KEPT in note for note in wide.notes)


def test_a_law_that_no_party_alone_rejects_is_rejected_by_all() -> None:
    """Ratios of eight parties have an error of a third of one's.  At a lower price what is suspected is an error."""
    given = [answer(seed, "lognormal", epsilon=10) for seed in range(8)]
    assert not any(one.fit and one.fit.rejected for one in BlocksOfParties.of(given, range(8)).tests)
    made = pooled_column(given)
    assert made.reasons == (LAW,)
    assert any(note.startswith("test of fit") for note in made.notes)
    less = pooled_column([answer(seed, "lognormal", epsilon=6) for seed in range(8)])
    assert less.reasons == (None,)
    assert any(note.endswith(COUNTED) for note in less.notes)
    inner = less.inversion
    assert isinstance(inner, Widened)
    assert inner.moved > 3 * inner.error
    low, high = less.inversion.interval(0.95)
    assert low[0] < 1 < high[0]


def test_where_noise_hides_the_law_a_note_says_so() -> None:
    made = pooled_column([answer(seed, epsilon=1) for seed in range(8)])
    assert made.reasons == (None,)
    assert any("noise hides whether rows follow the law" in note for note in made.notes)
    clear = pooled_column([answer(seed, epsilon=200) for seed in range(2)])
    assert not any("noise hides" in note for note in clear.notes)


def test_parties_of_the_law_have_no_reason() -> None:
    """Of 8 exponential parties, at four prices: nobody is left out, and there is an answer."""
    for epsilon in (1, 5, 20, 200):
        made = pooled_column([answer(100 + seed, epsilon=epsilon) for seed in range(8)])
        assert (made.out, made.reasons) == ((), (None,))


def test_pooled_ratios_weigh_by_their_errors() -> None:
    zero = np.zeros(1)
    found = pooled_fit(
        [BlockFit(np.array([1.0]), np.array([0.1]), zero), BlockFit(np.array([2.0]), np.array([0.2]), zero)]
    )
    assert found.ratio[0] == pytest.approx((100 * 1 + 25 * 2) / 125)
    assert found.error[0] == pytest.approx(125**-0.5)


def test_what_a_box_takes_off_is_put_back_in_the_equations() -> None:
    """Of one party, the equations have the value and the two variances of its own estimate."""
    release = answer(3, epsilon=50, box=(0.2, 1.25))
    tested = BlocksOfParties.of([release], [0])
    (test,) = tested.tests
    freed, plain = test.freed[0], test.plain[0]
    assert freed.reasons == (None,)
    assert freed.value[0] - plain.value[0] > 0.3 * np.sqrt(plain.variance[0])
    found = tested.evidence(0)
    made = pooled(found)
    assert made.value[0] == pytest.approx(freed.value[0])
    assert found.scale**2 * made.noise[0] == pytest.approx(freed.privacy_variance[0])
    guess = (GUESS * (freed.value - plain.value)[0]) ** 2
    assert found.scale**2 * made.variance[0] == pytest.approx(freed.variance[0] - guess, rel=0.02)


@pytest.mark.parametrize("effects", ["common", "random"])
def test_a_box_that_ends_near_moves_no_combination(effects: str) -> None:
    """A sixth of the blocks lie beyond: the clamped mean of 12 parties is far too low, the other is not."""
    given = [answer(seed, epsilon=20, box=(0.2, 1.2)) for seed in range(12)]
    made = pooled_column(given, effects)
    clamped = np.mean([one.plain[0].value[0] for one in BlocksOfParties.of(given, range(12)).tests])
    error = float(np.sqrt(made.variance + made.privacy)[0])
    assert clamped - 1 < -2.5 * error
    assert made.value[0] - 1 == pytest.approx(0, abs=3 * error)
    assert made.reasons == (None,)
    assert any("what an end of the box took off is put back" in note for note in made.notes)
    # a box that more than a fifth of the blocks are beyond is no answer
    assert pooled_column([answer(seed, box=(0.2, 1.05)) for seed in range(3)], effects).reasons[0] is not None


def test_where_most_parties_end_with_the_box_the_others_are_no_answer() -> None:
    """Two of three, whose noise does not hide it: the third one's box is wider."""
    ended = [answer(seed, epsilon=200, box=(0.2, 1.05)) for seed in range(2)]
    within = [answer(7, epsilon=200), answer(8, epsilon=200)]
    assert pooled_column([*ended, within[0]]).reasons == (ENDED,)
    assert pooled_column([*ended, *within]).reasons == (None,)


def test_notes_of_a_combination_name_who_is_left_out() -> None:
    """End to end: most rows of one party are outside the law's support."""
    query = tc.SampleAndAggregate("x", families.Exponential(rate=WIDE), blocks=100)
    given: dict[str, Any] = {}
    for i, name in enumerate(("st-mary", "st-luke", "st-john")):
        x = np.random.default_rng(i).standard_exponential(3_000)
        x = np.where(np.arange(3_000) % 50 == 0, x, -1) if name == "st-luke" else x
        curator = tc.Curator({"x": x}, SCHEMA, name=name, budget=tc.Budget(epsilon=4))
        given[name] = curator.release(query, epsilon=4)
    found = tc.combine(given)
    made = found.estimate()
    assert any(note.startswith("left out: st-luke (") for note in made.notes)
    assert abs(made.value - 1) < 6 * made.std_error
    assert "–" in str(found.by_party())
    assert found.to_frame()["weight"].tolist()[1] == 0
    few = tc.combine({name: given[name] for name in ("st-mary", "st-luke")}, effects="random").estimate()
    assert few.reasons == (f"{FEW_BLOCKS}: st-luke say too little",)
    # where the tables are all there is, noise is the only error, and blocks that are there are all that is asked for
    assert found.estimate("table").reasons == (None,)
