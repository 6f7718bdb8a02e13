"""The site: nothing is fetched or cut off, errors have their fixes, and parameters are lists."""

from __future__ import annotations

import ast
import doctest
import re
import runpy
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tacit.errors import CODES

ROOT = Path(__file__).parents[1]
CONFIG = (ROOT / "mkdocs.yml").read_text(encoding="utf-8")
HELP = 100  # characters of a line of the commands' help


def script(name: str) -> dict[str, Any]:
    return runpy.run_path(str(ROOT / "scripts" / name))


@pytest.fixture(name="docstrings")
def the_extension() -> dict[str, Any]:
    pytest.importorskip("griffe")
    return script("docstrings.py")


def test_what_the_site_adds_is_in_the_repository_and_fetches_nothing() -> None:
    """Search works for a page that was opened from a file: an index that is a script, and a worker that is a frame."""
    added = re.findall(r"(assets/[\w.-]+)", CONFIG)
    assert {"assets/site.css", "assets/iframe-worker.js"} <= set(added)
    assert re.search(r"^  - search\n  - offline\b", CONFIG, re.MULTILINE)
    assert "use_directory_urls: false" in CONFIG
    for path in added:
        text = (ROOT / "docs" / path).read_text(encoding="utf-8")
        assert "://" not in text.replace("https://github.com/squidfunk/iframe-worker", "")  # named, not fetched
    shim = (ROOT / "docs" / "assets" / "iframe-worker.js").read_text(encoding="utf-8")
    assert shim.startswith("/*! iframe-worker 1.0.4")
    assert "Permission is hereby granted" in shim


def test_code_is_folded_and_tables_are_as_wide_as_the_page() -> None:
    """What a browser then shows was measured once (`CHANGELOG.md`); this keeps the rules that it rests on."""
    rules = dict(re.findall(r"^([^\n@{}/*]+) \{\n([^}]*)\}", (ROOT / "docs/assets/site.css").read_text(), re.MULTILINE))
    assert "white-space: pre-wrap;" in rules[".md-typeset pre > code"]
    assert "display: table;" in rules[".md-typeset table:not([class])"]
    assert all(len(line) <= HELP for line in script("site.py")["commands"]().splitlines())


def test_every_error_has_a_fix_on_its_page() -> None:
    """Where no hint is written as a text beside the code, `WRITTEN` of scripts/error_fixes.py has one."""
    page = script("site.py")["error_codes"]()
    lines = [line for line in page.splitlines() if line.startswith("| <span")]
    assert len(lines) == len(CODES)
    assert [line for line in lines if "as the message says" in line] == []
    assert set(script("error_fixes.py")["WRITTEN"]) <= set(CODES)
    assert r"Schema(\{\"age\": Real(0, 100)\})".replace('\\"', '"') in page
    assert "&lt;" not in page.partition("## F")[0]
    for line in page.splitlines():  # three cells, whatever marks a hint has
        assert not line.startswith("|") or len(re.findall(r"(?<!\\)\|", line)) == 4


def test_hints_are_those_of_their_own_error() -> None:
    hints = script("error_fixes.py")["hints"]
    text = """
def one(x):
    hint = "the first" if x else f"{x} in full"
    raise E("a", code="S01", hint=hint)
def two(hint):
    raise E("b", code="S02", hint=hint)
def three(x):
    message, hint = "c", "a third"
    raise E(message, code="S03", hint=hint or "…")
"""
    assert list(hints(ast.parse(text))) == [("S01", "the first"), ("S01", "… in full"), ("S03", "a third")]


def test_parameters_become_lists(docstrings: dict[str, Any]) -> None:
    text = """What it does; level: no parameter of a sentence.

rows:    how many,
         where public.  names, at: of the columns.
What follows still belongs to them: a line.  Raises S01 (rows).

other: not a name of it.

>>> print("level: 1")
level: 1"""
    made = docstrings["listed"](text, frozenset(["rows", "names", "at", "level"]))
    assert made.split("\n\n") == [
        "What it does; level: no parameter of a sentence.",
        "- `rows`: how many, where public.\n"
        "- `names`, `at`: of the columns. What follows still belongs to them: a line.",
        "Raises S01 (rows).",
        "other: not a name of it.",
        '>>> print("level: 1")\nlevel: 1',
    ]
    headed = docstrings["listed"]("Attributes\n----------\nsize: rows.\n  or persons", frozenset())
    assert headed == "**Attributes**\n\n- `size`: rows. or persons"


def test_no_parameter_of_a_public_name_is_left_in_a_sentence(docstrings: dict[str, Any]) -> None:
    """Of every public class and function, each line that begins with a parameter's name is an item."""
    import inspect

    import tacit as tc

    items = 0
    for name in tc.__all__:
        found = getattr(tc, name)
        if not inspect.isclass(found) and not inspect.isfunction(found):
            continue
        try:
            names = frozenset(inspect.signature(found).parameters)
        except ValueError:
            continue
        made = docstrings["listed"](inspect.getdoc(found) or "", names)
        items += made.count("\n- `")
        prose = re.sub(r"^(- |>>> |\.\.\. ).*$", "", made, flags=re.MULTILINE)
        assert [one for one in names if re.search(rf"^{one}: ", prose, re.MULTILINE)] == [], name
    assert items > 100


@pytest.mark.parametrize("name", ["docstrings.py", "error_fixes.py"])
def test_the_examples_of_the_scripts_run(name: str) -> None:
    if name == "docstrings.py":
        pytest.importorskip("griffe")
    module = ModuleType(name)
    module.__dict__.update(script(name))
    finder = doctest.DocTestFinder()
    found = finder.find(module, name, module=False, globs=vars(module))  # type: ignore[arg-type]
    runner = doctest.DocTestRunner()
    assert sum(runner.run(one, out=sys.stdout.write).attempted for one in found) > 0
    assert runner.failures == 0
