"""`tacit import`: declared text in, a typed table out, whole or not at all; what is wrong is counted."""

from __future__ import annotations

import json
import os
from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.errors import FileError, SourceError, TacitError
from tacit.schema import Boolean, Category, Column, Date, Integer, PrivacyUnit, Real, Schema
from tacit.source.raw_text import text_import as importing
from tacit.source.raw_text.text_cells import CellReader, CellTally
from tacit.source.raw_text.text_import import NULLS, ImportReport, import_table
from tacit.source.raw_text.written_cells import Written

SCHEMA = Schema(
    {
        "age": Real(0, 100),
        "n": Integer(0, 10, column="N"),
        "ok": Boolean(),
        "day": Date("2024-01-01", "2024-12-31"),
        "sex": Category({0: "male", 1: "female"}),
        "land": Category({"NA": "Namibia", "DE": "Germany"}),
        "whose": PrivacyUnit(3),
    }
)
RAW = """\
land,age,N,ok,day,sex,whose,other
DE,1.5,3,yes,2024-05-01,0,p1,x
NA, 200 ,3.0,No,2024-05-02T10:00,1,p1,"a, ""b""
c"
FR,abc,3.5,maybe,2024-02-30,7,,x
,NA,,,,,p2,x
"""


def run(
    folder: Path, raw: str | bytes, schema: Schema = SCHEMA, **words: Any
) -> tuple[ImportReport, list[dict[str, Any]]]:
    (folder / "raw.csv").write_bytes(raw if isinstance(raw, bytes) else raw.encode())
    report = import_table(folder / "raw.csv", schema, folder / "table.parquet", **words)
    assert sorted(path.name for path in folder.iterdir()) == ["raw.csv", *(["table.parquet"] if report.written else [])]
    return report, pq.read_table(folder / "table.parquet").to_pylist() if report.written else []


def test_cells_are_typed_as_the_schema_says(tmp_path: Path) -> None:
    report, rows = run(tmp_path, RAW)
    assert rows == [
        {"age": 1.5, "N": 3, "ok": True, "day": date(2024, 5, 1), "sex": 0, "land": "DE", "whose": "p1"},
        {"age": 200.0, "N": 3, "ok": False, "day": date(2024, 5, 2), "sex": 1, "land": "NA", "whose": "p1"},
        {"age": None, "N": None, "ok": None, "day": None, "sex": 7, "land": "FR", "whose": None},
        {"age": None, "N": None, "ok": None, "day": None, "sex": None, "land": None, "whose": "p2"},
    ]
    assert (report.rows, report.broken, report.written) == (4, 0, True)
    assert {name: tuple(vars(tally).values()) for name, tally in report.columns.items()} == {
        "age": (1, 1, 1, 0), "n": (1, 1, 0, 0), "ok": (1, 1, 0, 0), "day": (1, 1, 0, 0),
        "sex": (1, 0, 0, 1), "land": (1, 0, 0, 1), "whose": (1, 0, 0, 0),
    }  # fmt: skip
    assert report.texts["land"] == ["FR"]
    assert report.texts["age"] == ["abc"]
    shown = str(report.summary())
    assert "not a release" in shown
    assert "'abc'" in shown
    assert os.stat(tmp_path / "table.parquet").st_mode & 0o077 == 0  # for the curator's eyes


def test_the_typed_table_is_one_the_curator_reads(tmp_path: Path) -> None:
    from tacit.source import check_source, open_source

    run(tmp_path, RAW)
    check_source(open_source(tmp_path / "table.parquet"), SCHEMA)


TWO = Schema({"a": Integer(0, 9), "b": Category(["x", "y"])})
BROKEN = [
    ("a,b\n1,x\n2\n3,y\n", [3], 2),
    ("a,b\n1,x\n2,x,x\n3,y\n", [3], 2),
    ('a,b\n1,x\n2,"x"z\n3,y\n', [3], 2),
    ('a,b\n1,x\n2,"x\n3,y\n', [3], 1),
    (b"a,b\n1,x\n2,\xff\n3,y\n", [3], 2),
    ("a,b\r\n1,x\r\n\r\n2\r\n3,y", [4], 2),
]


@pytest.mark.parametrize(("raw", "lines", "kept"), BROKEN)
def test_broken_rows_are_refused_or_dropped_with_their_lines(
    raw: str | bytes, lines: list[int], kept: int, tmp_path: Path
) -> None:
    report, _ = run(tmp_path, raw, TWO)
    assert (report.written, report.broken, report.lines) == (False, 1, lines)
    assert not (tmp_path / "table.parquet").exists()
    assert "nothing was written" in str(report.summary())
    report, rows = run(tmp_path, raw, TWO, broken="drop")
    assert (report.written, report.broken, len(rows)) == (True, 1, kept)
    assert [row["a"] for row in rows] == [1, 3][:kept]


def test_an_open_quote_says_how_much_it_swallowed(tmp_path: Path) -> None:
    report, _ = run(tmp_path, 'a,b\n1,x\n2,"x\n' + "3,y\n" * 50, TWO)
    assert (report.broken, report.lines, report.lost) == (1, [3], 51)
    assert "51 lines" in str(report.summary())


def test_a_table_that_was_there_stays_when_the_new_one_is_refused(tmp_path: Path) -> None:
    run(tmp_path, "a,b\n1,x\n", TWO)
    before = (tmp_path / "table.parquet").read_bytes()
    (tmp_path / "raw.csv").write_text("a,b\n1\n")
    assert not import_table(tmp_path / "raw.csv", TWO, tmp_path / "table.parquet").written
    assert (tmp_path / "table.parquet").read_bytes() == before
    assert len(list(tmp_path.iterdir())) == 2


def test_other_dialects_are_declared(tmp_path: Path) -> None:
    schema = Schema({"size": Real(0, 10), "who": Category(["Müller", "O'Neil"])})
    raw = "size;who\n1,5;Müller\n2.5;'O''Neil'\n,5;'Müller'\n".encode("cp1252")
    report, rows = run(tmp_path, raw, schema, delimiter=";", quote="'", encoding="cp1252", decimal=",")
    assert rows == [{"size": 1.5, "who": "Müller"}, {"size": None, "who": "O'Neil"}, {"size": 0.5, "who": "Müller"}]
    assert report.texts["size"] == ["2.5"]  # a point is no decimal comma
    _, rows = run(tmp_path, "1\tx\n2\ty\n", TWO, delimiter="\t", header=False)
    assert rows == [{"a": 1, "b": "x"}, {"a": 2, "b": "y"}]
    _, rows = run(tmp_path, "a,b\n1,x\n".encode("utf-16"), TWO, encoding="utf-16")
    assert rows == [{"a": 1, "b": "x"}]
    _, rows = run(tmp_path, b"\xef\xbb\xbfa,b\n1,-9\n", TWO, nulls=("-9",))
    assert rows == [{"a": 1, "b": None}]


def test_batches_and_progress(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importing, "BATCH", 7)
    seen: list[tuple[int, int]] = []
    report, rows = run(tmp_path, "a,b\n" + "3,x\n" * 100, TWO, progress=lambda done, total: seen.append((done, total)))
    assert (report.rows, len(rows), len(seen)) == (100, 100, 15)
    assert seen[-1][0] == seen[-1][1] == len("a,b\n" + "3,x\n" * 100)
    report, rows = run(tmp_path, "a,b\n", TWO)
    assert (report.rows, rows, report.written) == (0, [], True)  # an empty table is a table


NOT_READ = [
    ("", {}, "D10"),
    ("a,c\n1,x\n", {}, "D10"),
    ("a,b,b\n1,x,y\n", {}, "D10"),
    ('"a,b\n1,x\n', {}, "F11"),
    ("a,b\n", {"delimiter": ""}, "F11"),
    ("a,b\n", {"delimiter": "ab"}, "F11"),
    ("a,b\n", {"delimiter": "\n"}, "F11"),
    ("a,b\n", {"delimiter": '"'}, "F11"),
    ("a,b\n", {"quote": ""}, "F11"),
    ("a,b\n", {"decimal": ";"}, "F11"),
    ("a,b\n", {"encoding": "uft-8"}, "F11"),
    ("a,b\n1,x\n", {"encoding": "utf-16"}, "F11"),
]


@pytest.mark.parametrize(("raw", "words", "code"), NOT_READ)
def test_what_is_declared_wrongly_leaves_nothing_behind(
    raw: str, words: dict[str, Any], code: str, tmp_path: Path
) -> None:
    with pytest.raises(TacitError) as caught:
        run(tmp_path, raw, TWO, **words)
    assert caught.value.code == code
    assert caught.value.hint
    assert [path.name for path in tmp_path.iterdir()] == ["raw.csv"]


def test_places_that_cannot_be_read_or_written(tmp_path: Path) -> None:
    raw = tmp_path / "raw.csv"
    raw.write_text("a,b\n1,x\n")
    with pytest.raises(SourceError, match="no file"):
        import_table(tmp_path / "none.csv", TWO, tmp_path / "table.parquet")
    with pytest.raises(FileError, match=r"no \.parquet file"):
        import_table(raw, TWO, tmp_path / "table.csv")
    with pytest.raises(FileError, match="cannot be written: No such file"):
        import_table(raw, TWO, tmp_path / "none" / "table.parquet")
    raw.rename(tmp_path / "raw.parquet")
    with pytest.raises(FileError, match="the raw file itself"):
        import_table(tmp_path / "raw.parquet", TWO, tmp_path / "raw.parquet")
    assert (tmp_path / "raw.parquet").read_text() == "a,b\n1,x\n"


def test_a_full_disk_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(importing.os, "fsync", full)
    with pytest.raises(FileError, match="No space left") as caught:
        run(tmp_path, "a,b\n1,x\n", TWO)
    assert caught.value.code == "F12"
    assert [path.name for path in tmp_path.iterdir()] == ["raw.csv"]


CELLS: list[tuple[Column, str, object, str]] = [
    (Real(0, 9), "1e3", 1000.0, "outside"),
    (Real(0, 9), "+.5", 0.5, ""),
    (Real(0, 9), "1_0", None, "unreadable"),
    (Real(0, 9), "inf", None, "unreadable"),
    (Real(0, 9), "1e999", None, "unreadable"),
    (Real(0, 9), "٣", None, "unreadable"),
    (Real(0, 9), "0x10", None, "unreadable"),
    (Real(0, 9), "1,5", None, "unreadable"),
    (Real(), "1e300", 1e300, ""),
    (Real(0, 9), "nan", None, "missing"),
    (Integer(0, 9), "-0", 0, ""),
    (Integer(0, 9), "4.", 4, ""),
    (Integer(0, 9), "1e1", 10, "outside"),
    (Integer(0, 9), str(2**63 - 1), 2**63 - 1, "outside"),
    (Integer(0, 9), str(2**63), None, "unreadable"),
    (Integer(0, 9), "9" * 30, None, "unreadable"),
    (Integer(0, 9), "1e400", None, "unreadable"),
    (Boolean(), "TRUE", True, ""),
    (Boolean(), "2", None, "unreadable"),
    (Date("2024-01-01", "2024-12-31"), "2023-12-31", date(2023, 12, 31), "outside"),
    (Date("2024-01-01", "2024-12-31"), "2024-05-01 10:00:00+02:00", date(2024, 5, 1), ""),
    (Date("2024-01-01", "2024-12-31"), "2024-05-01x", None, "unreadable"),
    (Date("2024-01-01", "2024-12-31"), "20240501", None, "unreadable"),
    (Date("2024-01-01", "2024-12-31"), "2024-W05-1", None, "unreadable"),
    (Category([1, 2]), "01", 1, ""),
    (Category([1, 2]), "2.0", 2, ""),
    (Category([1, 2]), "x", None, "unreadable"),
    (Category([1, 2]), "3", 3, "unlisted"),
    (Category(["1", "2"]), "1.0", "1.0", "unlisted"),
    (Category(["."]), " . ", ".", ""),
    (Category({True: "yes", False: "no"}), "n", False, ""),
    (Category({True: "yes"}), "0", False, "unlisted"),
    (Category({"": "blank", "a": "a"}), "", "", ""),
    (PrivacyUnit(2), " 007 ", "007", ""),
]


@pytest.mark.parametrize(("column", "text", "value", "found"), CELLS)
def test_one_cell(column: Column, text: str, value: object, found: str) -> None:
    cells = CellReader(column, CellTally(), NULLS, Written())
    assert cells.read([text, text]) == [value, value]
    assert [type(one) for one in cells.read([text])] == [type(value)]
    assert vars(cells.tally) == {key: 3 * (key == found) for key in vars(cells.tally)}
    assert cells.texts == ([text.strip()] if found in ("unreadable", "unlisted") else [])


@given(st.lists(st.text(max_size=6)), st.sampled_from([column for column, *_ in CELLS]))
def test_any_text_is_read_without_an_error(texts: list[str], column: Column) -> None:
    cells = CellReader(column, CellTally(), NULLS, Written())
    values = cells.read(texts)
    assert len(values) == len(texts)
    nothing = cells.tally.missing + cells.tally.unreadable
    assert sum(value is None for value in values) == nothing


@pytest.mark.parametrize(
    ("cells", "levels"),
    [("ja nein ja", '["nein", "ja"]'), ("sí no sí", '["no", "sí"]'), ("OUI NON OUI", '["NON", "OUI"]')],
)
def test_yes_and_no_of_other_languages_are_told_how_they_are_read(cells: str, levels: str, tmp_path: Path) -> None:
    raw = "ok\n" + "\n".join(cells.split()) + "\n"
    report, _ = run(tmp_path, raw, Schema({"ok": Boolean()}))
    assert report.columns["ok"].unreadable > 0
    said = f'ok = {{ type = "Category", levels = {levels} }} in [schema] would read those shown'
    assert said in str(report.summary())
    # what it says is true
    labels = json.loads(levels)
    report, rows = run(tmp_path, raw, Schema({"ok": Category(labels)}))
    assert report.columns["ok"].unreadable + report.columns["ok"].unlisted == 0
    assert [row["ok"] for row in rows] == cells.split()


def test_other_words_in_a_boolean_get_no_advice(tmp_path: Path) -> None:
    report, _ = run(tmp_path, "ok\nja\nvielleicht\n", Schema({"ok": Boolean()}))
    assert "would read" not in str(report.summary())
