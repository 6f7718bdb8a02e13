"""Text files: a row is a line, no row changes another, and none can raise."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from benchmark_script import script
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.errors import SourceError
from tacit.rows.row_map import GRID, IDENTITY, ONE, KeyMap, RowMap, SumTerm
from tacit.schema import Boolean, Category, Date, Real, Schema
from tacit.schema.row_maps_of_columns import keymap, rowmap
from tacit.source import check_source, open_source
from tacit.source.reading import text_files as text
from tacit.source.reading.text_files import split

AGE = RowMap("age", "age", "real", 0.0, 2.0**20, GRID)  # v is the value itself
SEX = KeyMap("sex", "sex", "category", ("f", "é"), ("f", "é"))
SCHEMA_OF_TWO = pa.schema([("a0", pa.string()), ("a1", pa.string())])

LINES = [  # (bytes of a line, age or None, sex or None); sex None where the cell is no level
    (b"30,f", 30, "f"),
    (b"31,f\r", 31, "f"),
    (b'"32","f"', 32, "f"),
    (b"33,\xc3\xa9", 33, "é"),
    (b"abc,f", None, "f"),
    (b",f", None, "f"),
    (b"34", 34, None),
    (b"35,f,and,more", 35, "f"),
    (b'"36,f', None, "f"),  # an open quote ends with its cell
    (b'37,"f', 37, None),
    (b'38,"f"x', 38, None),
    (b'39,"f""g"', 39, None),
    (b"\xff\xfe,f", None, "f"),
    (b"40,\xc3", 40, None),
    (b"41,F", 41, None),
    (b"42, f", 42, None),
    (b" 43 ,f", 43, "f"),
    (b"1e400,f", None, "f"),
    (b"nan,f", None, "f"),
    (b"inf,f", None, "f"),
    (b"44\x00,f", None, "f"),
    (b'"1,5",f', None, "f"),
    (b'45,f,"open', 45, "f"),
    (b"4.6e1,f", 46, "f"),
]


def answer(path: Path, rows: list[tuple[bytes, int | None, str | None]]) -> None:
    source = open_source(path)
    found = source.aggregate((SEX,), (SumTerm(None), SumTerm(AGE, ONE), SumTerm(AGE, IDENTITY)))
    whole = source.aggregate((), (SumTerm(None), SumTerm(AGE, ONE), SumTerm(AGE, IDENTITY)))
    ages = [age for _, age, _ in rows if age is not None]
    assert found.rows == whole.rows == source.rows() == len(rows)
    assert whole.cells == ((len(rows), len(ages), sum(ages)),)
    for level, cell in zip(SEX.levels, found.cells, strict=True):
        inside = [age for _, age, sex in rows if sex == level]
        known = [age for age in inside if age is not None]
        assert cell == (len(inside), len(known), sum(known))


def test_every_line_by_the_declared_rules(tmp_path: Path) -> None:
    for i, one in enumerate(LINES):
        path = tmp_path / f"{i}.csv"
        path.write_bytes(b"age,sex\n" + one[0] + b"\n")
        answer(path, [one])
    path = tmp_path / "all.csv"
    path.write_bytes(b"\xef\xbb\xbfage,sex\r\n" + b"\n".join(line for line, _, _ in LINES))  # no end of the last line
    answer(path, LINES)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.sampled_from(LINES), max_size=30), st.sampled_from([1, 7, 64, 2**22]))
def test_no_line_changes_how_another_is_read(tmp_path_factory: pytest.TempPathFactory, rows: list, block: int) -> None:
    path = tmp_path_factory.mktemp("text") / "t.csv"
    path.write_bytes(b"age,sex\n" + b"".join(line + b"\n" for line, _, _ in rows))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(text, "BLOCK", block)
        answer(path, rows)


MARK = b"\xef\xbb\xbf"
CHARACTERS = st.lists(st.sampled_from([*(bytes([c]) for c in b'ab1,,""\r\n\n\xc3\xa9'), MARK]), max_size=60).map(
    b"".join
)


def rows_of(path: Path, width: int) -> list[tuple[str | None, ...]]:
    """Cells of every row, as a release reads them."""
    table = text.cells(path, ",", width, list(range(width))).read_all()
    return list(zip(*(column.to_pylist() for column in table.columns), strict=True))


@pytest.mark.parametrize("block", [1, 5, 9, 11, 2**22])
def test_a_byte_order_mark_in_a_row_is_a_character(tmp_path: Path, block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Wherever the blocks begin; one record that is replaced by a longer one moves where they do."""
    monkeypatch.setattr(text, "BLOCK", block)
    lines = [MARK + b"f,1", b"f,2", MARK + MARK + b",3", b'"' + MARK + b'f",4', MARK + b"f,5"]
    words = [("\ufefff", "1"), ("f", "2"), ("\ufeff\ufeff", "3"), ("\ufefff", "4"), ("\ufefff", "5")]
    for first in (b"m,0", b"m" * 20 + b",0", MARK + b"m,0"):
        for start in (b"", MARK):
            path = tmp_path / "t.csv"
            path.write_bytes(start + b"sex,n\n" + b"\n".join([first, *lines]) + b"\n")
            assert text.header(path, ",") == ("sex", "n")
            assert rows_of(path, 2) == [(first[:-2].decode(), "0"), *words]


def test_a_byte_order_mark_at_the_real_edge_of_a_block(tmp_path: Path) -> None:
    """A row that is replaced changes one row's reading, in a file of 8 MB: no other row's level comes or goes."""
    key = KeyMap("sex", "sex", "category", ("f", "m"), ("f", "m"))
    counts: list[tuple[tuple[int, ...], ...]] = []
    rows = text.BLOCK // 8 * 2
    for first in (b"m,111\n", MARK + b"m,11\n", b"m,1\n"):
        (tmp_path / "t.csv").write_bytes(b"sex,n\n" + first + (MARK + b"f,12\n") * rows)
        found = open_source(tmp_path / "t.csv").aggregate((key,), (SumTerm(None),))
        assert found.rows == rows + 1
        counts.append(found.cells)
    assert counts == [((0,), (1,)), ((0,), (0,)), ((0,), (1,))]


def test_a_line_is_read_by_its_own_bytes() -> None:
    """Files against lines alone, and pairs of files that differ in one line; all in `benchmarks/text_fuzz.py`."""
    found = script("text_fuzz").fuzz(100, 1, 5)
    assert found["files"] == found["pairs"] == 100
    assert found["files that read otherwise"] == 0
    assert found["pairs in which another row moved"] == 0
    assert found["long files that read otherwise"] == 0


@pytest.mark.parametrize("block", [3, 16])
def test_a_line_that_is_too_long_is_a_row_without_cells(
    block: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(text, "BLOCK", block)
    monkeypatch.setattr(text, "LONGEST", 16)
    for end in (b"\n", b"\r\n"):
        for size in (13, 14, 15, 40, 400):
            (tmp_path / "t.csv").write_bytes(b"age,sex\n1,f" + end + b"2," + b"g" * size + end + b"3,f")
            whole = ("2", "g" * size) if size + 2 <= 16 else (None, None)
            assert rows_of(tmp_path / "t.csv", 2) == [("1", "f"), whole, ("3", "f")]


@settings(max_examples=400, deadline=None)
@given(CHARACTERS)
def test_the_fast_way_gives_the_cells_of_the_rules(raw: bytes) -> None:
    block = raw + b"\n"
    fast = text._fast(block, ",", 2, [1, 0], SCHEMA_OF_TWO)
    if fast is not None:
        assert fast.to_pylist() == text._slow(block, ",", [1, 0], SCHEMA_OF_TWO).to_pylist()


@settings(max_examples=100, deadline=None)
@given(st.lists(st.tuples(*[st.text("ab ,;'é", max_size=5)] * 2), min_size=1, max_size=8), st.booleans())
def test_quoted_files_take_the_fast_way(rows: list[tuple[str, str]], windows: bool) -> None:
    end = "\r\n" if windows else "\n"
    block = "".join(f'"{a}","{b}"{end}' for a, b in rows).encode()
    fast = text._fast(block, ",", 2, [0, 1], SCHEMA_OF_TWO)
    assert fast is not None
    assert [tuple(row.values()) for row in fast.to_pylist()] == rows
    assert fast.to_pylist() == text._slow(block, ",", [0, 1], SCHEMA_OF_TWO).to_pylist()


@given(st.lists(st.text(max_size=6).filter(lambda cell: "\n" not in cell), min_size=1, max_size=5))
def test_split_undoes_quotes(cells: list[str]) -> None:
    line = ",".join('"' + cell.replace('"', '""') + '"' for cell in cells)
    assert split(line, ",") == cells


def test_types_are_declared_not_sniffed(tmp_path: Path) -> None:
    (tmp_path / "t.tsv").write_text(
        "code\tok\tday\n1\ttrue\t2024-02-29\n01\tFALSE\t2024-02-29 23:59:59\n1.0\t1\t2024-02-29T23:59:59+05:00\n"
        "2\t0.0\t29/02/2024\n7\tyes\tinfinity\n\t\t\n1\t\t1969-12-31\n"
    )
    schema = Schema({"code": Category({1: "one", 2: "two"}), "ok": Boolean(), "day": Date("1960-01-01", "2024-12-31")})
    source = open_source(tmp_path / "t.tsv")
    check_source(source, schema)
    assert [one[0] for one in source.aggregate((keymap(schema, "code"),), (SumTerm(None),)).cells] == [4, 1]
    # yes is true wherever a table is text, as an import reads it
    assert [one[0] for one in source.aggregate((keymap(schema, "ok"),), (SumTerm(None),)).cells] == [2, 3]
    day = rowmap(schema, "day")
    leap, before = (int(day.numpy(np.array([x]))[0][0]) for x in (19782.0, -1.0))
    assert source.aggregate((), (SumTerm(day), SumTerm(day, IDENTITY))).cells == ((4, 3 * leap + before),)


def test_a_long_file_is_streamed_in_blocks(tmp_path: Path) -> None:
    rows = 300_000
    ages = np.arange(rows) % 1000
    lines = [f"{age},{'f' if age % 2 else 'é'}" for age in ages.tolist()]
    lines[123_456] = '"spoiled,f'
    (tmp_path / "t.csv").write_text("age,sex\n" + "\n".join(lines) + "\n", encoding="utf-8")
    found = open_source(tmp_path / "t.csv").aggregate((), (SumTerm(None), SumTerm(AGE, ONE), SumTerm(AGE, IDENTITY)))
    assert found.cells == ((rows, rows - 1, int(ages.sum()) - int(ages[123_456])),)


@pytest.mark.parametrize(
    ("raw", "code"),
    [
        (b"", "D04"),
        (b"\n1,2\n", "D04"),
        (b"age,\n1,2\n", "D04"),
        (b"secret,secret\n1,2\n", "D04"),
        ("age,sex\n".encode("utf-16"), "D03"),
        (b"\xff\xfeage\n", "D03"),
        (b"secret," * 2**18, "D04"),
    ],
)
def test_a_first_line_that_names_no_columns(raw: bytes, code: str, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(raw)
    with pytest.raises(SourceError) as refused:
        open_source(tmp_path / "t.csv")
    assert refused.value.code == code
    assert "secret" not in str(refused.value)


def test_a_file_without_names_does_not_quote_its_first_row(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"41,secret\n42,f\n")
    with pytest.raises(SourceError) as refused:
        check_source(open_source(tmp_path / "t.csv"), Schema({"age": Real(0, 100)}))
    assert refused.value.code == "D10"
    assert "secret" not in str(refused.value)


def test_a_file_whose_names_changed_is_not_ready(tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_bytes(b"age,sex\n42,f\n")
    source = open_source(tmp_path / "t.csv")
    source.ready()
    (tmp_path / "t.csv").write_bytes(b"sex,age\n42,f\n")
    with pytest.raises(SourceError) as refused:
        source.ready()
    assert refused.value.code == "D08"
