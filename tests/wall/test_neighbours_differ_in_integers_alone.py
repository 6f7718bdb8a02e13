"""Neighbouring tables, released end to end: within the price, and alike in all but integers.

The pairs are those of `benchmarks/neighbouring_releases.py`, thinned.
"""

from __future__ import annotations

import pytest
from benchmark_script import script

SCRIPT = script("neighbouring_releases")


@pytest.mark.parametrize(
    ("pairs", "seed"), [(20, 1), pytest.param(400, 2, marks=pytest.mark.long)], ids=["thinned", "more"]
)
def test_nothing_but_integers_differs_and_these_within_the_price(pairs: int, seed: int) -> None:
    found = SCRIPT.swept(pairs, seed)
    assert found.wrong == []
    assert sum(found.pairs.values()) == pairs
    # pairs that lose nothing would find nothing: half of the kinds with additive noise reach the price
    assert sum(share > 0.99 for share in found.nearest.values()) >= (8 if pairs > 50 else 2)


@pytest.mark.long
def test_rows_that_count_twice_are_found() -> None:
    found = SCRIPT.swept(12, 1, careless=True, only=("bootstrap",))
    assert any("replicate" in one or "l1" in one for one in found.wrong)
