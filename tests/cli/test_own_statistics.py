"""Statistics of one's own at the command line: their releases are shown, and no file asks them."""

from __future__ import annotations

from pathlib import Path

from command_line import run

import tacit as tc
from tacit.method.additive.statistic import DEFINED, passed

CAPPED = tc.extend.additive("capped-x", rows=lambda cap: [tc.col("x").clip(0, cap)])
SCHEMA = tc.Schema({"x": tc.Real(0, 20)})


def test_a_release_is_shown_without_the_program_that_defined_it(tmp_path: Path) -> None:
    query = CAPPED(12)
    passed(query, SCHEMA)
    curator = tc.Curator({"x": [3.0, 5.0, 30.0] * 100}, SCHEMA, budget=tc.Budget(epsilon=1), trust=[CAPPED])
    curator.release(query, epsilon=1).save(tmp_path / "own.json")
    known = DEFINED.pop("capped-x")
    try:
        said = run(tmp_path, "show", "own.json")
    finally:
        DEFINED["capped-x"] = known
    assert "capped-x(cap=12)" in said
    assert "clip(x, 0, 12)" in said


def test_a_file_asks_questions_of_the_library_alone(tmp_path: Path) -> None:
    (tmp_path / "people.toml").write_text(
        'tacit = 1\n[table]\nname = "p"\nrows = 1000\n[budget]\nepsilon = 1\n'
        '[schema]\nx = { type = "Real", lower = 0, upper = 20 }\n'
        '[ask.own]\nquery = "Additive"\nstatistic = "capped"\nexpressions = ["clip(x, 0, 12)"]\n',
        encoding="utf-8",
    )
    said = run(tmp_path, "plan", "people.toml", "--epsilon", "1", code=2)
    assert "Q288" in said
    assert "Python" in said
