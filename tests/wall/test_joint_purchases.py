"""Several questions at one price, of neighbouring tables: within the price and the charge, all together.

The purchases are those of `benchmarks/joint_purchases.py`, thinned.
"""

from __future__ import annotations

import pytest
from benchmark_script import script

SCRIPT = script("joint_purchases")
LIGHT = ("mean", "sum", "count", "histogram", "quality", "own", "variance")


@pytest.mark.parametrize(
    ("trials", "only"), [(15, LIGHT), pytest.param(100, (), marks=pytest.mark.long)], ids=["thinned", "more"]
)
def test_all_parts_together_lose_no_more_than_the_price(trials: int, only: tuple[str, ...]) -> None:
    found = SCRIPT.swept(trials, 4, only=only)
    assert found.wrong == []
    assert sum(found.trials.values()) > trials / 2
    # purchases that lose nothing would find nothing
    assert max(found.nearest.values()) > 0.95


def test_noise_for_a_higher_price_than_was_paid_is_found() -> None:
    found = SCRIPT.swept(12, 4, careless=True, only=LIGHT)
    assert any(" of " in one for one in found.wrong)
