"""Yes and no in text files: read where an import reads them, and what is said where they are not."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit as tc
from tacit.cli.file_checks import answers_of_text
from tacit.source.reading.truth_words import FALSE, TRUE

SCHEMA = tc.Schema({"ok": tc.Boolean()})
WORDS = [(one, True) for one in (*TRUE, "YES", " True ", "Y ")] + [(one, False) for one in (*FALSE, "No", " N")]


def curator(path: Path, words: list[str]) -> tc.Curator:
    path.write_text("ok,other\n" + "".join(f"{word},1\n" for word in words), encoding="utf-8")
    return tc.Curator(path, SCHEMA, name="answers", budget=tc.Budget(rho=900), ledger=path.with_suffix(".ledger"))


@pytest.mark.parametrize("part", [True, False])
def test_a_text_file_is_read_as_an_import_reads_it(tmp_path: Path, part: bool) -> None:
    """Noise of standard deviation 0.05 rounds to 0: another number in one of 1e22 cases."""
    words = [word for word, value in WORDS if value is part]
    found = curator(tmp_path / "a.csv", [*words, "ja", "", "maybe"]).release(tc.Count(by="ok"), rho=200)
    counts = dict(zip(found.cells, (cell[0] for cell in found.parts[0].integers), strict=True))
    assert counts == {"true": len(words) * part, "false": len(words) * (not part)}


def test_columns_of_which_nothing_can_be_read_have_a_note(tmp_path: Path) -> None:
    """Noise far below a row, as above."""
    one = curator(tmp_path / "b.csv", ["ja", "nein"] * 50)
    for query in (tc.Mean("ok"), tc.Histogram("ok")):
        notes = one.release(query, rho=200).estimate().notes
        assert any(note.startswith("hardly any of the 100 rows has a value of ok") for note in notes)
    two = curator(tmp_path / "c.csv", ["yes", "no"] * 50)
    for query in (tc.Mean("ok"), tc.Histogram("ok")):
        assert not any("hardly any" in note for note in two.release(query, rho=200).estimate().notes)


def test_check_says_which_words_a_text_file_is_read_by() -> None:
    (said,) = answers_of_text(SCHEMA, "text file")
    assert said.startswith("Read of ok: true/false, t/f, yes/no, y/n, 1/0, in any case;")
    assert answers_of_text(SCHEMA, "Parquet file") == ()
    assert (
        answers_of_text(tc.Schema({"age": tc.Real(0, 1), "old": tc.Boolean(computed="age > 0.5")}), "text file") == ()
    )
