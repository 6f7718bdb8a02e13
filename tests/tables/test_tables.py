"""Tables in six forms: escaped, aligned, the same every time; nothing lost on the way to a file."""

from __future__ import annotations

import csv
import json
import re
from html.parser import HTMLParser
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.base.table import SUFFIXES, Table, display_width, format_interval, format_number
from tacit.errors import FileError

TABLE = Table("Mean & <more>", ("term", "ε_1"), (("a|b", 1), ("50% $", None)), ("note #1",))
PRINTABLE = st.text(st.characters(codec="utf-8", exclude_categories=("C", "Z")), max_size=12)
TABLES = st.integers(1, 4).flatmap(
    lambda n: st.builds(
        Table,
        PRINTABLE,
        st.tuples(*[PRINTABLE] * n),
        st.lists(st.tuples(*[PRINTABLE] * n), max_size=4).map(tuple),
        st.lists(PRINTABLE, max_size=2).map(tuple),
    )
)


def test_every_form_escapes(tmp_path: Path) -> None:
    assert "Mean &amp; &lt;more&gt;" in TABLE.to_html()
    assert "a\\|b" in TABLE.to_markdown()
    assert r"50\% \$" in TABLE.to_latex()
    assert r"$\varepsilon$\_1" in TABLE.to_latex()
    assert next(csv.reader(TABLE.to_csv().splitlines()[1:])) == ["a|b", "1"]
    assert json.loads(TABLE.to_json())["rows"] == [["a|b", "1"], ["50% $", ""]]
    for suffix in SUFFIXES:
        TABLE.save(tmp_path / f"t{suffix}")
        assert (tmp_path / f"t{suffix}").stat().st_size > 10
    with pytest.raises(FileError) as refused:
        TABLE.save(tmp_path / "t.docx")
    assert refused.value.code == "F10"
    assert str(TABLE) == TABLE.to_text()
    assert TABLE._repr_html_() == TABLE.to_html()


@given(TABLES)
def test_csv_and_json_read_back(table: Table) -> None:
    wanted = [list(table.columns), *[[str(cell) for cell in row] for row in table.rows]]
    assert [row or [""] for row in csv.reader(table.to_csv().splitlines())] == [row or [""] for row in wanted]
    words = json.loads(table.to_json())
    assert [words["columns"], *words["rows"]] == wanted
    assert (words["title"], tuple(words["notes"])) == (table.title, table.notes)


@given(TABLES)
def test_html_reads_back(table: Table) -> None:
    found: list[str] = []

    class Cells(HTMLParser):
        def handle_starttag(self, tag: str, attrs: object) -> None:
            if tag in ("td", "th", "caption"):
                found.append("")

        def handle_data(self, data: str) -> None:
            found[-1] += data

    reader = Cells(convert_charrefs=True)
    reader.feed(table.to_html())
    reader.close()
    cells = [*table.columns, *(cell for row in table.rows for cell in row), *table.notes]
    assert found == [*([table.title] if table.title else []), *cells]


@given(TABLES)
def test_markdown_rows_have_as_many_cells_as_columns(table: Table) -> None:
    rows = [line for line in table.to_markdown().splitlines() if line.startswith("| ")]
    assert len(rows) >= 2 + len(table.rows)
    for row in rows[: 2 + len(table.rows)]:
        bare = re.sub(r"\\.", "", row)  # an escaped mark is no border
        assert bare.count("|") == len(table.columns) + 1


@given(TABLES)
def test_latex_rows_have_as_many_cells_as_columns(table: Table) -> None:
    text = table.to_latex()
    body = text[text.index(r"\midrule") : text.index(r"\bottomrule")].splitlines()[1:]
    assert len(body) == len(table.rows)
    for row in body:
        assert len(re.findall(r"(?<!\\)&", row)) == len(table.columns) - 1
        assert not re.search(r"(?<!\\)[%#]", row)
        assert row.endswith(r" \\")
        assert not row.startswith("[")
    assert text.count("{") - text.count(r"\{") == text.count("}") - text.count(r"\}")


@given(TABLES)
def test_text_is_aligned_and_forms_are_the_same_every_time(table: Table) -> None:
    again = Table(table.title, table.columns, table.rows, table.notes)
    for form in ("text", "html", "markdown", "latex", "csv", "json"):
        assert getattr(table, f"to_{form}")() == getattr(again, f"to_{form}")()
    columns, rows = (*table.columns, "end"), tuple((*row, "end") for row in table.rows)
    lines = Table("", columns, rows).to_text().splitlines()
    assert len({display_width(line) for line in lines}) == 1


def test_wide_letters_are_counted_as_they_are_shown() -> None:
    lines = Table("", ("市", "n"), (("東京", "1"), ("Zürich", "20"))).to_text().splitlines()
    assert {display_width(line) for line in lines} == {10}


def test_numbers() -> None:
    assert format_number(-0.0004, decimals=3) == "0.000"
    assert format_number(1234567.891, decimals=2) == "1,234,567.89"
    assert format_number(-12.5, decimals=1) == "-12.5"
    assert format_interval(-1, 2.5, decimals=1) == "-1.0 to 2.5"


def test_latex_has_a_command_for_every_greek_letter() -> None:
    """Notes say costs in μ, which pdflatex does not know as it is."""
    text = Table("γ-GT · Δ", ("`a`", "φ"), (("λ", "∞"),), ("cost μ = 0.1, δ = 1e-07",)).to_latex()
    assert re.search("[α-ωΑ-Ω∞`]", text) is None
    for sign in (r"$\gamma$-GT $\cdot$ $\Delta$", r"\textasciigrave{}a", r"$\lambda$ & $\infty$", r"cost $\mu$ = 0.1"):
        assert sign in text


def test_latex_is_centred_with_caption_and_label() -> None:
    table = Table("Mean of age, 50% · people-2024", ("sex", "mean"), (("f", "45.02"),), ("made up",))
    lines = table.to_latex().splitlines()
    assert lines[:5] == [
        r"\begin{table}[htbp]",
        r"\centering",
        r"\caption{Mean of age, 50\% $\cdot$ people-2024}",
        r"\label{tab:mean-of-age-50}",
        r"\begin{tabular}{lr}",
    ]
    own = table.to_latex(caption="Ages & more", label="tab:ages")
    assert r"\caption{Ages \& more}" in own
    assert r"\label{tab:ages}" in own
    nameless = Table("", ("sex", "mean"), (("f", "45.02"),))
    assert r"\caption" not in nameless.to_latex()
    assert r"\label" not in nameless.to_latex(label="tab:ages")  # \ref would print the number of a section
    assert r"\label{tab:ages}" in nameless.to_latex(caption="Ages", label="tab:ages")
    assert r"\label" not in Table("東京", ("n",), ()).to_latex()


def test_a_saved_caption_stands_in_every_format(tmp_path: Path) -> None:
    for suffix in set(SUFFIXES) - {".csv"}:
        TABLE.save(tmp_path / f"t{suffix}", caption="Ages of all", label="tab:own")
        text = (tmp_path / f"t{suffix}").read_text(encoding="utf-8")
        assert "Ages of all" in text
        assert ("tab:own" in text) == (suffix == ".tex")
        assert "Mean" not in text
    page = (tmp_path / "t.html").read_text(encoding="utf-8")
    assert page.startswith("<!doctype html>")
    assert '<meta charset="utf-8">' in page


def test_html_has_no_colour_of_its_own_and_numbers_on_one_line() -> None:
    shown = Table("t", ("sex", "95% interval"), (("f", "44.5 to 45.6"),), ("n",))._repr_html_()
    assert "color" not in shown  # a dark page stays readable
    cells = re.findall(r'<t[dh][^>]*style="([^"]*)"', shown)
    assert ["nowrap" in one for one in cells] == [False, True, False, True, False]
    assert shown.startswith('<div style="overflow-x:auto">')  # a wide table scrolls, and nothing is cut off


def test_a_long_name_does_not_draw_the_columns_apart() -> None:
    name = "How content are you with all of it, from 1 (not at all) to 10 (very), in points"
    table = Table(f"Histogram of {name}", (f"{name}:東京", "estimate"), (("1:a", 5), ("10:b", 7)))
    shown = table.to_text().splitlines()
    assert shown[0].endswith(name)
    assert shown[1].startswith("How content are you with all of it, from 1")
    assert "…  estimate" in shown[1]
    assert {display_width(line) for line in shown[1:]} == {display_width(shown[1])}
    assert display_width(shown[1]) <= 48 + 2 + len("estimate")
    # a term of that length has the heading as long as it is
    long = Table("", (name, "n"), (("x" * 60, 1),)).to_text().splitlines()
    assert long[0].startswith(name[:58])
