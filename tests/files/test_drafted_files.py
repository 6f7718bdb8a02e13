"""`tacit schema` drafts a whole file: types of text are suggested, values never; what is open is refused by name."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from in_process import inside

import tacit as tc
from tacit.schema.drafted_file import draft_file
from tacit.schema.drafting import FOUND_MARK, suggested_lines, typed_lines
from tacit.source.raw_text import suggested_types
from tacit.source.raw_text.suggested_types import FEW, suggest
from tacit.source.raw_text.text_cells import CellReader, CellTally
from tacit.source.raw_text.text_import import NULLS
from tacit.source.raw_text.written_cells import Written
from tacit.source.reading import text_files
from tacit.study.curator_file import load, schema_of

ROWS = 1_200
TYPES = {
    "boolean": tc.Boolean(), "codes": tc.Integer(0, 9), "padded": tc.Integer(0, 9), "whole": tc.Integer(0, 9),
    "number": tc.Real(0, 1), "day": tc.Date("2000-01-01", "2030-01-01"),
}  # fmt: skip


def run(home: Path, *words: str, code: int = 0) -> str:
    left, out, err = inside(home, *words)
    assert left == code, out + err
    return out + err


def columns(rng: np.random.Generator) -> dict[str, list[str]]:
    """Cells of one column of each kind, by the word that belongs to it."""
    whole = rng.integers(10**6, 10**9, ROWS)
    number = np.char.mod("%.4f", rng.normal(0, 1e4, ROWS))
    texts = [f"person {i}" for i in whole]
    day = np.datetime_as_string(np.datetime64("1990-01-01") + rng.integers(0, 9_000, ROWS), "D")
    made: dict[str, Any] = {
        "boolean": rng.choice(["yes", "No", "TRUE", "f"], ROWS), "codes": rng.choice(["7301", "7302", "7303"], ROWS),
        "whole": whole.astype(str), "number": number, "comma": [f'"{one.replace(".", ",")}"' for one in number],
        "mostly number": ["refused" if i % 50 == 7 else one for i, one in enumerate(number)], "day": day,
        "padded": rng.choice(["0731", "0732", "7310"], ROWS),
        "mostly marked": [f'"{"k.A." if i % 50 == 7 else f"{one:,}"}"' for i, one in enumerate(whole)],
        "mostly other day": ["o. A." if i % 50 == 7 else ".".join(one.split("-")[::-1]) for i, one in enumerate(day)],
        "mostly day": ["unknown" if i % 50 == 7 else one for i, one in enumerate(day)],
        "few": rng.choice(["Zürich", "東京", "Lima"], ROWS), "many": texts, "empty": [""] * ROWS,
    }  # fmt: skip
    return {name: [str(one) for one in cells] for name, cells in made.items()}


def written(path: Path, table: dict[str, list[str]], delimiter: str = ",") -> Path:
    lines = [delimiter.join(table), *(delimiter.join(row) for row in zip(*table.values(), strict=True))]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


@pytest.fixture(name="table")
def a_table() -> dict[str, list[str]]:
    """Every twentieth cell is missing, in one of the ways that `tacit import` knows."""
    made = columns(np.random.default_rng(20_261_123))
    return {name: [NULLS[i % len(NULLS)] if i % 20 == 3 else one for i, one in enumerate(made[name])] for name in made}


def test_each_kind_of_text_has_its_word(
    table: dict[str, list[str]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = written(tmp_path / "t.csv", table)
    assert suggest(path).kinds == {name: name for name in table}
    monkeypatch.setattr(text_files, "BLOCK", 2_000)  # the same where a batch is a few lines
    assert suggest(path).kinds == {name: name for name in table}
    assert suggest(written(tmp_path / "t.txt", table, ";"), ";").kinds == {name: name for name in table}


SAMPLES = ("1", "0", "yes", "F", "007", "+12", "-3", "4.0", "4.", ".5", "1e5", "1E-3", "2024-02-29", "2024-02-29 10:30",
           "2024-02-29T10:30:01.5Z", "12,5", "1,5e3", "NaN", " 8 ", "1_000", "٣", "0x1F", "inf", "2024-13-01",
           "north", "9" * 18, "9" * 19, "1e", "--1", "1.2.3")  # fmt: skip


@given(st.lists(st.sampled_from(SAMPLES), min_size=1, max_size=4))
def test_what_is_suggested_is_what_an_import_can_read(
    tmp_path_factory: pytest.TempPathFactory, cells: list[str]
) -> None:
    """And where nothing but text is suggested, no type reads all of it."""
    path = tmp_path_factory.getbasetemp() / "cells.csv"
    path.write_text("a;b\n" + "".join(f"{cell};x\n" for cell in cells), encoding="utf-8")
    word = suggest(path, ";").kinds["a"]

    def unreadable(column: Any, decimal: str = ".") -> int:
        tally = CellTally()
        CellReader(column, tally, NULLS, Written(decimal)).read(cells)
        return tally.unreadable

    if word in TYPES:
        assert unreadable(TYPES[word]) == 0
    elif word == "comma":
        assert unreadable(TYPES["number"], ",") == 0
    else:
        assert word == "empty" or all(unreadable(column) for column in TYPES.values())


def test_no_value_of_a_row_is_in_the_draft(table: dict[str, list[str]], tmp_path: Path) -> None:
    """The draft is a function of names and kinds: other rows of the same kinds give the same text, byte by byte."""
    drafts: list[str] = []
    for seed in (1, 2):
        home = tmp_path / str(seed)
        home.mkdir()
        other = columns(np.random.default_rng(seed))
        written(home / "t.csv", {name: cells[: ROWS - 300 * seed] for name, cells in other.items()})
        drafts.append(run(home, "schema", "t.csv"))
        for cell in {cell for name, cells in other.items() if name not in ("boolean", "empty") for cell in cells}:
            assert cell not in drafts[-1]
    assert drafts[0] == drafts[1]


def test_a_draft_becomes_a_release(tmp_path: Path) -> None:
    tc.examples.people(500).to_csv(tmp_path / "people.csv", index=False)
    run(tmp_path, "schema", "people.csv", "--save", "people.toml")
    text = (tmp_path / "people.toml").read_text()
    assert tomllib.loads(text)["data"] == {"path": "people.parquet", "ledger": "people.ledger"}
    asked = "tacit import people.csv --schema people.toml --out people.parquet"
    assert asked in text
    words = ("import", *asked.split()[2:])
    assert "[F03]" in run(tmp_path, *words, code=2)  # no column is declared before a person has decided it

    def filled(*pairs: tuple[str, str]) -> None:
        nonlocal text
        for old, new in pairs:
            assert old in text, old
            text = text.replace(old, new)
        (tmp_path / "people.toml").write_text(text)

    filled(("# age = ", "age = "), ("# region = ", "region = "))
    assert "[S16] [schema] column 'age': lower is still open" in run(tmp_path, *words, code=2)
    bounds = 'lower = "?", upper = "?"'
    filled((f'age = {{ type = "Integer", {bounds}', 'age = { type = "Integer", lower = 18, upper = 93'))
    filled(('levels = "?"', 'levels = ["north", "south"]'))
    assert "500 rows written" in run(tmp_path, *words)  # [budget] and [spend] are still open
    for section, price in (("budget", "1"), ("spend", "0.5")):
        assert f"[F06] [{section}] epsilon is still open" in run(tmp_path, "check", "people.toml", code=2)
        text = text.replace('epsilon = "?"', f"epsilon = {price}", 1)
        filled()
    checked = run(tmp_path, "check", "people.toml")
    assert "still has 8 comments" in checked
    assert "[F09]" in run(tmp_path, "plan", "people.toml", code=2)
    start = text.index("# [ask.")
    filled((text[start:], text[start:].replace("# ", "")), ("# rows = ", "rows = 500 # "))
    assert list(load(tmp_path / "people.toml").asks) == ["mean-age", "quartiles-age", "quality"]
    run(tmp_path, "plan", "people.toml")
    run(tmp_path, "release", "people.toml")
    decided = "\n".join(line.split(FOUND_MARK)[0] for line in text.splitlines())
    (tmp_path / "people.toml").write_text(decided)
    assert "comments" not in run(tmp_path, "check", "people.toml")


@pytest.mark.parametrize(
    "broken",
    ['[ask.a]\nquery = "Maen"\n', '[ask.a]\nquery = "Mean"\ncolumns = "nobody"\n', "[ask]\na = 1\n",
     "[spend]\nrho = '?'\n", "[nonsense]\nx = 1\n", "[parties.x]\nkey = 3\n"],
)  # fmt: skip
def test_an_import_reads_the_schema_alone(tmp_path: Path, broken: str) -> None:
    text = 'tacit = 1\n[schema]\nage = { type = "Integer", lower = 0, upper = 99 }\n' + broken
    (tmp_path / "job.toml").write_text(text)
    (tmp_path / "raw.csv").write_text("age\n30\n40\n")
    run(tmp_path, "check", "job.toml", code=2)
    assert "2 rows written" in run(tmp_path, "import", "raw.csv", "--schema", "job.toml", "--out", "t.parquet")
    assert list(schema_of(tmp_path / "job.toml")) == ["age"]
    (tmp_path / "job.toml").write_text(text.replace("tacit = 1", "tacit = 7"))
    assert "[F04]" in run(tmp_path, "import", "raw.csv", "--schema", "job.toml", "--out", "t.parquet", code=2)


def test_a_draft_replaces_no_file_and_reads_no_row_unasked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    written(tmp_path / "t.csv", {"age": ["30"], "name of street": ["x"]})
    (tmp_path / "filled.toml").write_text("the work of a day")
    assert "[R07]" in run(tmp_path, "schema", "t.csv", "--save", "filled.toml", code=2)
    assert (tmp_path / "filled.toml").read_text() == "the work of a day"
    tc.examples.people(5).to_parquet(tmp_path / "p.parquet")
    assert "[C06]" in run(tmp_path, "schema", "p.parquet", "--delimiter", ";", code=2)
    assert "[F11]" in run(tmp_path, "schema", "t.csv", "--delimiter", "::", code=2)

    def unread(*_: object) -> None:
        raise AssertionError("a row was read")

    monkeypatch.setattr(text_files, "cells", unread)
    shown = run(tmp_path, "schema", "t.csv", "--no-rows")
    assert '# "name of street" = { type = "?" }\n' in shown
    assert FOUND_MARK not in shown
    typed = run(tmp_path, "schema", "p.parquet")
    assert '\nage = { type = "Real", lower = "?", upper = "?" }\n' in typed
    assert FOUND_MARK not in typed


def test_paths_of_a_draft_are_those_of_its_own_folder(tmp_path: Path) -> None:
    (tmp_path / "raw").mkdir()
    (tmp_path / "asked").mkdir()
    written(tmp_path / "raw" / "t.csv", {"age": ["30"]})
    run(tmp_path, "schema", "raw/t.csv", "--save", "asked/t.toml")
    text = (tmp_path / "asked" / "t.toml").read_text()
    assert tomllib.loads(text)["data"]["path"] == "../raw/t.parquet"
    assert "tacit import raw/t.csv --schema asked/t.toml --out raw/t.parquet" in text


def test_another_delimiter_is_suspected_before_anything_is_read(tmp_path: Path) -> None:
    for mark, hint in ((";", "--delimiter ';'"), ("|", "--delimiter '|'"), ("\t", r"--delimiter $'\t'")):
        path = written(tmp_path / "t.csv", {"age": ["30"], "day": ["2024-01-31"]}, mark)
        shown = run(tmp_path, "schema", "t.csv", code=2)
        assert "[D04]" in shown
        assert hint in shown
        assert "found: days" in run(tmp_path, "schema", "t.csv", "--delimiter", mark)
    path.write_text("a;b\n1\n")
    assert '"a;b" = ' in run(tmp_path, "schema", "t.csv", "--delimiter", ",")
    assert "[D02]" in run(tmp_path, "schema", "none.csv", code=2)
    path.write_text("a,a\n1,2\n")
    assert "[D04]" in run(tmp_path, "schema", "t.csv", code=2)


def test_odd_names_are_quoted_or_named_as_unusable(tmp_path: Path) -> None:
    names = {'say "x"': "whole", "a\nb": "whole", "back\\slash": "few", "naïve": "number"}
    text = draft_file(suggested_lines(names), name='t"1', path="a\\b.parquet")  # type: ignore[arg-type]
    assert tomllib.loads(text)["table"]["name"] == 't"1'
    opened = "\n".join(line.removeprefix("# ") if " = {" in line else line for line in text.splitlines())
    assert list(tomllib.loads(opened)["schema"]) == ['say "x"', "back\\slash", "naïve"]
    assert "# 'a\\nb': a column needs a printable name" in text
    assert tomllib.loads(draft_file(typed_lines({"a b": "String"}), name="t", path="t"))["schema"]["a b"]


def test_few_is_few(tmp_path: Path) -> None:
    for count, word in ((FEW, "few"), (FEW + 1, "many")):
        path = written(tmp_path / "t.csv", {"a": [f"level {i % count}" for i in range(500)]})
        assert suggest(path).kinds["a"] == word
    assert suggested_types.MOST < 1


def test_multiples_are_suggested_in_a_comment_alone(tmp_path: Path) -> None:
    cells = {"fee": ["1.5", "20", "", "0.5"], "wage": ["1200", "+300", "0", "NA"], "kg": ["71.3", "0.123", "8", "2"],
             "mixed": ["1.5", "x", "2", "3"]}  # fmt: skip
    found = suggest(written(tmp_path / "t.csv", cells))
    assert found.multiples == {"fee": 0.5, "wage": 100.0}
    lines = suggested_lines({**found.kinds, "wage": "whole"}, found.multiples)
    assert lines["fee"].endswith("all of them multiples of 0.5: multiple_of = 0.5, if that is how they are recorded")
    assert 'type = "Real" with multiple_of = 100' in lines["wage"].split("# found:")[1]
    assert all("multiple_of" not in line.split("# found:")[0] for line in lines.values())


@pytest.mark.parametrize(("name", "hint"), [("people.csv.gz", "unpack it first"), ("people.xlsx", "read_excel")])
def test_files_of_another_kind_have_the_way_to_open_them(tmp_path: Path, name: str, hint: str) -> None:
    (tmp_path / name).write_bytes(bytes(range(256)))
    (tmp_path / "job.toml").write_text('tacit = 1\n[schema]\nage = { type = "Real", lower = 0, upper = 99 }\n')
    for words in (("schema", name), ("schema", name, "--delimiter", ";")):
        shown = run(tmp_path, *words, code=2)
        assert "[D01]" in shown
        assert hint in shown
    shown = run(tmp_path, "import", name, "--schema", "job.toml", "--out", "typed.parquet", code=2)
    assert hint in shown
