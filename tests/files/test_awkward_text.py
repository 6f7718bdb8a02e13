"""`tacit schema` and `tacit import` on files as offices have them: other marks, signs, days and encodings."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import tacit as tc
from tacit.cli.app import app
from tacit.errors import FileError
from tacit.schema import Category, Date, Integer, Real, Schema
from tacit.source.raw_text.suggested_types import suggest
from tacit.source.raw_text.text_import import import_table
from tacit.source.raw_text.written_cells import Written, advice

SCHEMA = Schema(
    {
        "pay": Real(0, 9e6, column="Einkommen (€)"),
        "share": Real(0, 100, column="Quote"),
        "n": Integer(0, 10**7, column="Stück"),
        "day": Date("2023-01-01", "2024-12-31", column="Tag"),
        "sex": Category(["w", "m"], column="G"),
    }
)
ROWS = """\
Einkommen (€);Quote;Stück;Tag;G;Bemerkung
6.000,00 €;14,42%;1.200;07.04.2023;w;"eins
zwei"
450,50 €;5 %;7;13.10.2023;m;Müller

1.713.000,25 €;0,5%;1.000.000;3.1.2024;w;ok
"""
WORDS = {"delimiter": ";", "decimal": ",", "thousands": ".", "strip": "%€", "dates": "%d.%m.%Y"}


def test_marks_signs_and_days_are_read_as_declared(tmp_path: Path) -> None:
    for encoding in ("utf-8-sig", "cp1252"):
        (tmp_path / "raw.csv").write_bytes(ROWS.replace("\n", "\r\n").encode(encoding))
        report = import_table(tmp_path / "raw.csv", SCHEMA, tmp_path / "t.parquet", encoding=encoding, **WORDS)  # type: ignore[arg-type]
        assert [tuple(row.values()) for row in pq.read_table(tmp_path / "t.parquet").to_pylist()] == [
            (6000.0, 14.42, 1200, date(2023, 4, 7), "w"),
            (450.5, 5.0, 7, date(2023, 10, 13), "m"),
            (1713000.25, 0.5, 1000000, date(2024, 1, 3), "w"),
        ]
        assert report.advice == {}
        assert not any(one.unreadable for one in report.columns.values())


def test_codes_of_missing_cells_are_declared_for_all_columns_or_for_one(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_text("a=b,cold,sex\n-9,-9,k.A.\n 3 ,-1,f\n,4,-9\n")
    schema = tc.Schema(
        {"a=b": tc.Integer(0, 9), "cold": tc.Integer(-20, 9), "sex": tc.Category(["f", "m", "-9"], missing="unknown")}
    )
    out = tmp_path / "t.parquet"
    report = import_table(tmp_path / "raw.csv", schema, out, missing=("a=b=-9", "k.A."))
    assert [tuple(row.values()) for row in pq.read_table(out).to_pylist()] == [
        (None, -9, None),
        (3, -1, "f"),
        (None, 4, "-9"),
    ]
    assert [one.missing for one in report.columns.values()] == [2, 0, 1]
    import_table(tmp_path / "raw.csv", schema, out, missing=["-9"])
    # a listed level is never missing
    assert [tuple(row.values()) for row in pq.read_table(out).to_pylist()] == [
        (None, None, "k.A."),
        (3, -1, "f"),
        (None, 4, "-9"),
    ]


@pytest.mark.parametrize(
    ("words", "text", "value"),
    [
        ({}, "1,234", "1,234"),
        ({"thousands": ","}, "1,234", "1234"),
        ({"thousands": ","}, "1,23", "1,23"),
        ({"thousands": ","}, "12,345,678.9", "12345678.9"),
        ({"thousands": "'"}, "-1'234.5", "-1234.5"),
        ({"thousands": " ", "decimal": ","}, "1 234,5", "1234.5"),
        ({"thousands": ".", "decimal": ","}, "1.23,5", "1_23.5"),
        ({"decimal": ","}, "1.234", "1_234"),
        ({"strip": "$"}, "$ 12", "12"),
    ],
)
def test_a_mark_that_is_not_where_thousands_are_is_no_number(words: dict[str, Any], text: str, value: str) -> None:
    assert Written(**words).plain(text) == value


@pytest.mark.parametrize(
    ("text", "found"),
    [("07.04.2023", date(2023, 4, 7)), ("7.4.2023", date(2023, 4, 7)), ("31.02.2023", None), ("2023-04-07", None),
     ("07.04.23", None), ("07x04x2023", None)],
)  # fmt: skip
def test_days_have_the_declared_form(text: str, found: date | None) -> None:
    assert Written(dates="%d.%m.%Y").day(text) == found


def test_two_digit_years_and_hours() -> None:
    assert Written(dates="%m/%d/%y").day("12/31/69") == date(1969, 12, 31)
    assert Written(dates="%m/%d/%y").day("12/31/68") == date(2068, 12, 31)
    assert Written(dates="%d.%m.%Y %H:%M").day("1.2.2024 10:59") == date(2024, 2, 1)
    assert Written(dates="%d.%m.%Y %H:%M").day("1.2.2024 24:00") is None


@pytest.mark.parametrize(
    ("words", "says"),
    [({"thousands": "x"}, "no mark"), ({"thousands": "."}, "decimal mark, too"), ({"strip": "%0"}, "a part of numbers"),
     ({"dates": "%d.%Y"}, "a month"), ({"decimal": ";"}, "not a point")],
)  # fmt: skip
def test_what_cannot_be_declared_is_refused(words: dict[str, str], says: str) -> None:
    with pytest.raises(FileError, match=says):
        Written(**words)


@pytest.mark.parametrize(
    ("texts", "options"),
    [
        (["166,37", "155,36"], "--decimal ,"),
        (["6.000,00", "450,50"], "--decimal , --thousands ."),
        (["1,234.50", "12,000.00"], "--thousands ,"),
        (["1'234.5"], '--thousands "\'"'),
        (["14,42%", "5 %"], "--strip '%' --decimal ,"),
        (["€ 12"], "--strip '€'"),
        (["n/a", "??"], None),
    ],
)
def test_what_could_not_be_read_has_its_options(texts: list[str], options: str | None) -> None:
    assert advice(Real(0, 1), texts) == options


def test_the_order_of_days_and_months_is_seen_where_one_is_above_twelve() -> None:
    days = Date("2023-01-01", "2024-12-31")
    assert advice(days, ["07/04/2023", "10/13/2023"]) == "--dates %m/%d/%Y"
    assert advice(days, ["07/04/2023", "13/10/2023"]) == "--dates %d/%m/%Y"
    assert advice(days, ["7-4-23"]) == "--dates %d-%m-%y"
    assert advice(days, ["soon"]) is None


def shell(folder: Path, *words: str, code: int = 0) -> str:
    found = CliRunner().invoke(app, list(words))
    assert found.exit_code == code, found.output
    return found.output


def test_advice_of_a_report_is_what_reads_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("raw.csv").write_text(ROWS, encoding="utf-8-sig")
    Path("job.toml").write_text("tacit = 1\n" + SCHEMA.to_toml())
    words = ("import", "raw.csv", "--schema", "job.toml", "--out", "t.parquet", "--delimiter", ";")
    shown = shell(tmp_path, *words)
    assert "pay: no cell can be read as declared; --strip '€' --decimal , --thousands . would read those shown" in shown
    assert "day: no cell can be read as declared; --dates %d.%m.%Y would read those shown" in shown
    good = shell(tmp_path, *words, "--strip", "€%", "--decimal", ",", "--thousands", ".", "--dates", "%d.%m.%Y")
    assert "would read" not in good
    assert "no cell" not in good


def test_an_encoding_is_named_where_bytes_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "raw.csv").write_bytes(ROWS.encode("cp1252"))
    with pytest.raises(FileError, match="cp1252"):
        import_table(tmp_path / "raw.csv", SCHEMA, tmp_path / "t.parquet", delimiter=";")
    schema = Schema({"a": Real(0, 9), "b": Category(["ü"])})
    (tmp_path / "raw.csv").write_bytes("a,b\n1,ü\n2,x\n".encode("cp1252"))
    report = import_table(tmp_path / "raw.csv", schema, tmp_path / "t.parquet")
    assert (report.broken, report.undecoded, report.written) == (1, 1, False)
    assert "--encoding cp1252" in str(report.summary())


def test_a_draft_knows_such_columns_and_says_how_to_import_them(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("raw.csv").write_text(ROWS.replace('"eins\nzwei"', "x"), encoding="utf-8-sig")
    kinds = suggest(Path("raw.csv"), ";").kinds
    assert {name: kinds[name] for name in ("Einkommen (€)", "Quote", "Stück", "Tag")} == {
        "Einkommen (€)": "marked", "Quote": "marked", "Stück": "marked", "Tag": "other day",
    }  # fmt: skip
    shown = shell(tmp_path, "schema", "raw.csv", "--delimiter", ";")
    assert "tacit import raw.csv --schema FILE.toml --out raw.parquet --delimiter ';'" in shown
    assert 'Tag = { type = "Date"' in shown
