"""Tables in six forms, escaped; nothing lost on the way to a file."""

from __future__ import annotations

import csv
import json

import pytest

from tacit.errors import FileError
from tacit.tables import Table, format_interval, format_number

TABLE = Table("Mean & <more>", ("term", "ε_1"), (("a|b", 1), ("50% $", None)), ("note #1",))


def test_every_form_escapes(tmp_path) -> None:
    assert "Mean &amp; &lt;more&gt;" in TABLE.to_html()
    assert "a\\|b" in TABLE.to_markdown()
    assert r"50\% \$" in TABLE.to_latex()
    assert r"$\varepsilon$\_1" in TABLE.to_latex()
    assert next(csv.reader(TABLE.to_csv().splitlines()[1:])) == ["a|b", "1"]
    assert json.loads(TABLE.to_json())["rows"] == [["a|b", "1"], ["50% $", ""]]
    for suffix in ("txt", "html", "md", "tex", "csv", "json"):
        TABLE.save(tmp_path / f"t.{suffix}")
        assert (tmp_path / f"t.{suffix}").stat().st_size > 10
    with pytest.raises(FileError):
        TABLE.save(tmp_path / "t.docx")
    assert str(TABLE) == TABLE.to_text()


def test_numbers() -> None:
    assert format_number(-0.0004, decimals=3) == "0.000"
    assert format_number(1234567.891, decimals=2) == "1,234,567.89"
    assert format_interval(-1, 2.5, decimals=1) == "-1.0 to 2.5"
