"""An end of the box where noise hides how much blocks vary: what is put back, its error, and which parties are kept.

Estimates of blocks are drawn by a closed form, as in `test_blocks_of_parties`: rows of mean 1 have the rate 1, whatever
law they follow.  All is seeded.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit import families
from tacit.curator.mechanisms import design
from tacit.estimates.noisy_terms.column_terms import block_terms
from tacit.estimates.noisy_terms.noisy_moments import integers
from tacit.method.blocks.combine import LAW, BlocksOfParties, Widened
from tacit.method.blocks.estimate_by_blocks import by_blocks, kept_means
from tacit.method.blocks.estimate_ends import (
    BEYOND,
    GUESS,
    MOST,
    Ends,
    ends_of,
    means_without_clamp,
    noisy_block,
    terms_without_clamp,
)
from tacit.method.blocks.estimate_spread import MULTIPLES, Spreads
from tacit.method.blocks.mechanism_means import totals
from tacit.method.shared.measurement import Public
from tacit.models.blocks import Bias
from tacit.parties.combined_columns import Column, block_column
from tacit.pooling.common_value import pooled
from tacit.pooling.kept_parties import KeptParties
from tacit.release.document import Released
from tacit.testing.simulated_parties import Answer

SCHEMA = tc.Schema({"x": tc.Real()})
ROWS, EACH = 20_000, 80


def answer(seed: int, law: str, box: tuple[float, float], *, epsilon: float = 1, bias: Bias = "observed") -> Released:
    """The release of one party of 250 blocks of 80 rows."""
    rng, shape = np.random.default_rng(seed), (ROWS // EACH, EACH)
    x = 2 * rng.standard_gamma(0.5, shape) if law == "half-gamma" else rng.standard_exponential(shape)
    x = np.exp(1.1 * rng.standard_normal(shape) - 0.605) if law == "lognormal" else x
    rate = 1 / x.mean(axis=1)
    values = np.clip(rate * (1 - (1 if bias == "cox-snell" else x.var(axis=1) * rate**2) / EACH), *box)
    query = tc.SampleAndAggregate("x", families.Exponential(rate=box), blocks=shape[0], bias=bias)
    cost = tc.Cost.of(epsilon=f"{epsilon:g}")
    made = design(query, Public(SCHEMA, "replace-one", ROWS), cost)
    (cells,), (column,) = totals(made, values[:, None]), made.columns
    noise = column.law.sample(len(cells[0]), np.random.default_rng(seed + 1)).tolist()
    noisy = tuple(int(a) + int(b) for a, b in zip(cells[0], noise, strict=True))
    return Answer(query, f"party {seed}", "replace-one", ROWS, (column.released((noisy,)),), cost)


def column_of(tested: BlocksOfParties, parties: int) -> Column:
    assert len(tested.releases) == parties
    return block_column("rate", tested, 0, "common", "REML")


def test_rows_of_another_law_near_an_end_are_covered_or_have_a_reason() -> None:
    """Five parties to 1.2, whose rates vary twice as much as the law says: with its variance, two errors are left off.

    Of lognormal rows to 1.1 more than a fifth of the blocks lie beyond, which the law's variance did not say.
    """
    given = [answer(seed, "half-gamma", (0.2, 1.2)) for seed in range(5)]
    tested = BlocksOfParties.of(given, range(5))
    made = column_of(tested, 5)
    assert made.reasons == (None,)
    low, high = made.inversion.interval(0.95)
    assert low[0] < 1 < high[0]
    for test in tested.tests:
        (spreads,), (plain,) = test.spreads, test.plain
        assert spreads is not None
        # the law's variance of a rate is its square over the rows of a block
        assert 1.3 < spreads.middle[0] * EACH / plain.value[0] ** 2 < 3
    ended = [answer(seed, "lognormal", (0.2, 1.1)) for seed in range(5)]
    assert column_of(BlocksOfParties.of(ended, range(5)), 5).reasons[0] is not None


def test_what_noise_hides_of_the_variance_is_an_error_once() -> None:
    """Parties have one multiple of the model's variance in common: what it moves does not average out."""
    given = [answer(seed, "half-gamma", (0.2, 1.2)) for seed in range(5)]
    tested = BlocksOfParties.of(given, range(5))
    made = column_of(tested, 5)
    inner = made.inversion
    assert isinstance(inner, Widened)
    spreads = [one for test in tested.tests if (one := test.spread[0]) is not None]
    assert len(spreads) == 5
    chance = spreads[0].chance[:, 0]
    means = sum(made.shares[j, 0] * one.value[:, 0] for j, one in enumerate(spreads))
    error = float(np.sqrt(chance @ (means - chance @ means) ** 2))
    assert error > 0.5 * inner.error
    clamp = sum(
        made.shares[j, 0] * float((test.freed[0].value - test.plain[0].value)[0]) for j, test in enumerate(tested.tests)
    )
    assert inner.moved**2 == pytest.approx(error**2 + (GUESS * clamp) ** 2 + _kept(tested, made) ** 2, rel=1e-6)
    # in the equations of a party it is left out, because it is counted for all together
    (test,) = BlocksOfParties.of(given[:1], [0]).tests
    found, one = BlocksOfParties.of(given[:1], [0]).evidence(0), test.spread[0]
    assert one is not None
    own = (GUESS * (test.freed[0].value - test.plain[0].value)[0]) ** 2 + one.variance[0]
    assert one.variance[0] > 0.1 * own
    assert found.scale**2 * pooled(found).variance[0] == pytest.approx(test.freed[0].variance[0] - own, rel=0.02)


def _kept(tested: BlocksOfParties, made: Column) -> float:
    return tested._kept(0, made.shares[:, 0], range(5))


def test_the_law_is_tested_where_an_end_is_near() -> None:
    """The correction by the law is of another one's bias: eight parties see that their blocks vary too much."""
    given = [answer(seed, "half-gamma", (0.2, 1.25), epsilon=8, bias="cox-snell") for seed in range(8)]
    tested = BlocksOfParties.of(given, range(8))
    assert any(note for test in tested.tests for note in test.notes)
    made = column_of(tested, 8)
    fits = [test.fit for test in tested.tests if test.fit is not None]
    assert len(fits) == 8
    assert any(one is not None for fit in fits for one in fit.hidden)
    assert made.reasons == (LAW,)
    own = by_blocks(given[0], "population")
    assert any(note.startswith("test of fit") for note in own.notes)


def test_terms_have_the_variance_that_is_known_and_an_error_where_it_is_not() -> None:
    release = answer(3, "exponential", (0.2, 1.15))
    (part,) = release.parts
    made = block_terms(part, integers(part), True)
    ends = Ends(0.2, 1.15, -1 / 3)
    one = noisy_block(made, part)
    assert not one.clear[0]
    known = np.full((len(MULTIPLES), 1), 1 / EACH)
    sure = np.zeros_like(known)
    sure[16] = 1.0
    by_law = terms_without_clamp(made, part, ends, Spreads(known * MULTIPLES[:, None], sure))
    wanted = means_without_clamp(made.value, known[0], ends, free=True)
    assert by_law.terms.value == pytest.approx(wanted.value)
    assert wanted.value[0] - made.value[0] > 0.003
    assert by_law.spread is not None
    assert by_law.spread.variance[0] == pytest.approx(0, abs=1e-15)
    wide = np.full_like(known, 1 / len(known))
    unknown = terms_without_clamp(made, part, ends, Spreads(known * MULTIPLES[:, None] / 4, wide))
    assert unknown.spread is not None
    more = unknown.terms.variance - by_law.terms.variance
    assert more[0] > 0.5 * unknown.spread.variance[0] > 0
    assert unknown.terms.value == pytest.approx(unknown.spread.expected)
    lost = terms_without_clamp(made, part, ends, Spreads(known * 30, sure))
    assert lost.terms.reasons == (BEYOND,)
    # far more than the box, so that it weighs nothing beside others
    assert lost.terms.variance[0] > 0.95**2


def test_loadings_are_the_derivatives_of_the_corrected_mean_in_the_noises() -> None:
    """At a price that shows the variance of blocks, both moments have noise."""
    release = answer(5, "exponential", (0.2, 1.15), epsilon=100)
    (part,) = release.parts
    ends = Ends(0.2, 1.15, -1 / 3)

    def at(cells: Any) -> Any:
        one = replace(part, integers=(tuple(int(x) for x in cells),))
        plain = block_terms(one, integers(one), True)
        assert noisy_block(plain, one).clear[0]
        return terms_without_clamp(plain, one, ends, None).terms

    cells, made = integers(part)[0], at(integers(part)[0])
    assert made.reasons == (None,)
    for i in range(len(cells)):
        step = 2e-4 * float(part.parameters["blocks"] * part.parameters["G"]) * np.eye(len(cells))[i]
        slope = (at(cells + step).value[0] - at(cells - step).value[0]) / (2 * step[i])
        # within what kinks of the rule move
        assert made.loadings[0, i] == pytest.approx(slope, rel=0.05, abs=0.01 * np.abs(made.loadings).max())


def test_an_end_of_the_domain_takes_nothing_off() -> None:
    """Rates are positive: blocks cannot lie below a box from 0, and may lie above its upper end."""
    release = answer(1, "exponential", (0.2, 1.2))
    part = replace(release.parts[0], grid=replace(release.parts[0].grid, lower=0.0))
    found = ends_of(families.Exponential(rate=(0.2, 1.2)), {"family": "Exponential"}, part)
    assert found is not None
    assert (found.low, found.high) == (-np.inf, 1.2)
    whole = ends_of(families.Exponential(rate=(0.2, 1.2)), {"family": "Exponential"}, release.parts[0])
    assert whole is not None
    assert whole.low == 0.2


def test_limits_of_means_that_are_kept_are_where_a_fifth_lies_beyond() -> None:
    release = answer(2, "exponential", (0.2, 1.15))
    test = BlocksOfParties.of([release], [0]).tests[0]
    low, high = kept_means(release, test, 0)
    (spreads,) = test.spreads
    assert spreads is not None
    assert low == -np.inf
    ends = Ends(0.2, 1.15, families.Exponential(rate=(0.2, 1.15)).order("rate").power)
    share = means_without_clamp(np.array([high - 0.001, high + 0.006]), np.repeat(spreads.middle, 2), ends, free=True)
    assert share.share[0] <= MOST < share.share[1]


def test_what_leaving_out_parties_moves_has_the_parameter_s_units() -> None:
    """Errors, limits and means ten times as small move a mean by a tenth."""
    ends = np.array([-np.inf, -np.inf]), np.array([0.3, 0.5])
    whole = KeptParties(np.array([0.4, 0.6]), np.array([1.0, 2.0]), *ends)
    small = KeptParties(whole.weight, whole.error / 10, whole.low, whole.high / 10)
    assert whole.cut(0.1) < -0.3
    assert small.cut(0.01) == pytest.approx(whole.cut(0.1) / 10)
    assert small.missing(-0.05) == pytest.approx(whole.missing(-0.5) / 10, rel=1e-6)
