"""Several questions at one price, again and again, on one ledger.

The ledgers are those of `benchmarks/joint_ledgers.py`, thinned.
"""

from __future__ import annotations

import pytest
from alone import alone
from benchmark_script import script

SCRIPT = script("joint_ledgers")


def test_purchases_are_charged_once_and_answered_together() -> None:
    found = SCRIPT.swept(2, 2)
    assert found.wrong == []
    assert min(found.ends[one] for one in ("answered", "failed", "refused L09")) > 0


@pytest.mark.long
@alone
def test_many_processes_agree_on_answers() -> None:
    found = SCRIPT.swept(12, 3)
    assert found.wrong == []
    assert found.ends["answered, at once"] > 0
