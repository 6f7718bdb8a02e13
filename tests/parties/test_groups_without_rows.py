"""Groups to which nobody belongs have a reason, alone and combined; groups of few rows keep their answers.

Each cell is a repetition, 1,000 of them.  Bounds are 5 standard errors of a share away: crossed by chance in fewer than
1e-6 of runs.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cache
from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.pooling.evidence import Evidence
from tacit.pooling.presence import Presence, presence, tails_apart
from tacit.pooling.random_effects import random_effects
from tacit.pooling.released_evidence import evidence
from tacit.testing import simulate

GROUPS = 1_000
LEVELS = [f"g{i}" for i in range(GROUPS)]
SCHEMA = tc.Schema({"x": tc.Real(0, 1), "g": tc.Category(LEVELS)})


def above(share: float) -> float:
    return share + 5 * math.sqrt(share * (1 - share) / GROUPS)


def release(rows: int, rng: np.random.Generator, **price: Any) -> Any:
    table = {"x": rng.beta(4, 6, rows * GROUPS), "g": np.repeat(LEVELS, rows)}
    return simulate(tc.Mean("x", by="g"), table, SCHEMA, repeats=1, rng=rng, **price).release(0)


def parties(sizes: Sequence[int], *prices: dict[str, Any]) -> Evidence:
    rng = np.random.default_rng(7)
    return evidence([release(n, rng, **prices[i % len(prices)]) for i, n in enumerate(sizes)], 0)


@cache
def of_forty(some: int) -> Evidence:
    """Return forty parties, of whom some have 30 rows in each group and the others nobody."""
    return parties([30] * some + [0] * (40 - some), {"rho": 0.5})


@pytest.mark.parametrize("price", [{"epsilon": 5}, {"rho": 2}], ids=repr)
def test_a_group_of_nobody_has_a_reason_and_one_of_four_rows_an_answer(price: dict[str, Any]) -> None:
    """Noise of a row or so in the number of rows: 2% and 94% or more."""
    rng = np.random.default_rng(3)
    shares = [np.mean([r is None for r in release(n, rng, **price).estimate().reasons]) for n in (0, 4)]
    assert shares[0] <= above(0.02)
    assert shares[1] >= 0.9


@pytest.mark.parametrize(
    ("many", "prices"),
    [(2, ({"epsilon": 1},)), (8, ({"epsilon": 1},)), (8, ({"epsilon": 0.2}, {"epsilon": 2})), (25, ({"rho": 0.5},))],
    ids=repr,
)
def test_nobody_in_any_party_is_a_reason(many: int, prices: tuple[dict[str, Any], ...]) -> None:
    found = parties([0] * many, *prices)
    assert presence(found).clear.mean() <= above(0.02)
    assert np.mean([one is not None for one in random_effects(found).effects]) <= above(0.02)


def test_few_rows_in_every_party_and_many_in_one_have_an_answer() -> None:
    """Eight parties of four rows, with noise of five rows each; and forty rows in one of them."""
    assert presence(parties([4] * 8, {"epsilon": 1})).clear.mean() > 0.5
    assert presence(parties([40] + [0] * 7, {"epsilon": 1})).clear.mean() > 0.98


def test_one_party_with_all_rows_is_no_mean_of_several() -> None:
    """30 rows in one of 40 parties: by chance other sizes are beyond their 97.5% points, mostly at most two of them.

    Of the answers that were given 65% held; now there are few.  Two parties with rows are enough.
    """
    one, two = (random_effects(of_forty(k)).effects for k in (1, 2))
    assert np.mean([made is not None for made in one]) <= above(0.05)
    assert np.mean([made is not None for made in two]) > 0.99


def test_parties_are_seen_by_what_their_sizes_do_not_share_with_their_totals() -> None:
    """Near a bound, D(x) and the size share half of their noise; a choice by the rest leaves D(x) as it is.

    Of 2,000 parties of nobody: correlations are within 5 standard errors, 5 / sqrt(2,000).
    """
    found, x = parties([0] * 2, {"rho": 0.5}), np.full(GROUPS, -0.8)
    own = found.distance(x).ravel()
    assert np.corrcoef(own, found.size.ravel())[0, 1] > 0.5
    tails = tails_apart(found, x).ravel()
    assert abs(np.corrcoef(own, tails)[0, 1]) < 5 / math.sqrt(2 * GROUPS)
    assert abs(tails.mean() - 0.5) < 5 / math.sqrt(12 * 2 * GROUPS)


def test_one_party_with_all_rows_is_not_outvoted(monkeypatch: pytest.MonkeyPatch) -> None:
    """30 rows in one of 40 parties, all of whom count: 58% held where the centre was that of equal rows, moved twice.

    With 93% of the others right, one run in a million is below the limit.
    """
    monkeypatch.setattr(Presence, "several", lambda self, tails, chance: np.ones(tails.shape[1], dtype=bool))
    low, high = random_effects(of_forty(1)).interval(0.95)
    assert ((low <= 0.4) & (high >= 0.4)).sum() >= stats.binom.ppf(1e-6, GROUPS, 0.93)


def test_a_public_size_needs_no_noise() -> None:
    """Without groups the number of rows is public: there is nothing to be told from noise."""
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0)})
    rng = np.random.default_rng(1)
    each = [simulate(tc.Mean("x"), {"x": rng.random(3)}, schema, repeats=1, rng=rng, rho=1) for _ in range(2)]
    found = presence(evidence([one.release(0) for one in each], 0))
    assert found.clear.all()
    assert found.chance(0.05).tolist() == [1.0]
