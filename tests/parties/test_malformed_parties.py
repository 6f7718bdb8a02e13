"""One party's release is malformed: what can still be read is refused, or combined, never a raw error or a number
that is not finite without a reason.  The mutations are those of `benchmarks/malformed_parties.py`, thinned.
"""

from __future__ import annotations

import pytest
from benchmark_script import script


@pytest.mark.long
def test_one_malformed_release_among_good_ones() -> None:
    found = script("malformed_parties").swept(2_000, 5)
    assert found.bad() == {}, found.cases
    assert found.counts["load: loaded"] >= 150
    assert found.counts["combine: answered"] > 0
