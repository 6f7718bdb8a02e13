"""The index of benchmarks is current, names every script once, and its links lead to files."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / "benchmarks"


def test_the_index_is_that_of_the_scripts() -> None:
    stored = (FOLDER / "README.md").read_text(encoding="utf-8")
    made = runpy.run_path(str(ROOT / "scripts" / "benchmark_index.py"))
    assert made["index"]() == stored, "run: python scripts/benchmark_index.py"


def test_every_script_is_listed_once_and_says_what_it_is() -> None:
    lines = [line for line in (FOLDER / "README.md").read_text(encoding="utf-8").splitlines() if line.startswith("- ")]
    listed = [re.findall(r"\]\((\w+\.py)\)", line)[0] for line in lines]
    assert sorted(listed) == sorted(path.name for path in FOLDER.glob("*.py"))
    assert [line for line in lines if len(line.split(": ", 1)[1]) < 20] == []


def test_pages_of_the_index_exist() -> None:
    places = re.findall(r"^## \[.*\]\((.*)\)$", (FOLDER / "README.md").read_text(encoding="utf-8"), re.M)
    assert len(places) > 30
    assert [place for place in places if not (FOLDER / place).is_file()] == []
