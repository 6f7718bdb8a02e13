"""Quick versions of two fuzzers, `benchmarks/malformed_*.py`: no exit 70, no raw error, no time-out, no difference."""

from __future__ import annotations

from pathlib import Path

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"


def test_mutated_toml_files(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import malformed_files as script

    found = script.swept(60, seed=21, release=30)
    assert found.bad() == {}, found.cases
    assert sum(count for name, count in found.counts.items() if name.startswith("check: exit")) > 30


@pytest.mark.long
def test_mutated_releases_at_the_command_line(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    import malformed_releases as script

    found = script.swept(40, 8, seed=22)
    assert found.bad() == {}, found.cases
    assert found.counts["show: exit 2"] + found.counts["show: exit 0"] == 40
    assert found.counts["combine: exit 4"] > 0
