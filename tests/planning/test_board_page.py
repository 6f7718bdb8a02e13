"""The page that a board signs: what heads it, in which words, where it is signed, and as which files."""

from __future__ import annotations

import os
from datetime import date
from pathlib import Path

import pytest

import tacit as tc
from tacit.cli import actions
from tacit.errors import TacitError

SCHEMA = tc.Schema({"age": tc.Real(18, 93, units="years"), "region": tc.Category(["north", "south"])})
FILE = """
tacit = 1
title = "Ages <by> region"
contact = "A. Analyst"
[table]
name = "people-2024"
rows = 10_000
[budget]
rho = 0.5
[schema]
age = { type = "Real", lower = 18, upper = 93, units = "years" }
region = { type = "Category", levels = ["north", "south"] }
[expect]
region = { north = 0.9 }
[spend]
rho = 0.05
[ask.ages]
query = "Mean"
columns = "age"
by = "region"
"""


def page(**words: str) -> tc.planning.Plan:
    made = tc.plan({"ages": tc.Mean("age", by="region")}, SCHEMA, rows=10_000, rho=0.05, budget=tc.Budget(rho=0.5))
    return made.for_board(title="Ages <by> region", asked_by="A. Analyst", on=date(2026, 1, 2), **words)


def test_the_page_says_who_asks_for_what_and_where_to_sign() -> None:
    made = page(command="tacit release ages.toml")
    for text in (made.to_text(), made.to_html()):
        parts = ("A. Analyst", "2026-01-02", made.digest[:16], "tacit release ages.toml", "Signature", "Office")
        assert all(part in text for part in parts)
    assert made.to_text().startswith("Ages <by> region\n")
    assert "<h1>Ages &lt;by&gt; region</h1>" in made.to_html()


def test_encodings_and_rates_are_in_the_appendix_alone() -> None:
    text = page().to_text()
    body, _, appendix = text.partition("Technical appendix")
    assert "Mean of age by region" in body
    for word in ("integer form", "minimax", "rounded Gaussian", "zero-concentrated"):
        assert word not in body
        assert word in appendix
    assert body.index("Promise") < body.index("Released numbers") < body.index("Cost") < body.index("Approval")


def test_the_digest_is_that_of_the_file_and_changes_with_the_request(tmp_path: Path) -> None:
    path = tmp_path / "ages.toml"
    path.write_text(FILE)
    from tacit.study.curator_file import load

    job = load(path)
    assert (
        tc.plan(job.asks, job.schema, rows=10_000, rho="0.05", budget=job.budget, name=job.name).digest == job.digest()
    )
    assert (
        tc.plan(job.asks, job.schema, rows=10_000, rho="0.06", budget=job.budget, name=job.name).digest != job.digest()
    )
    path.write_text(FILE.replace("north = 0.9", "north = 0.6"))
    assert load(path).digest() == job.digest(), "what is expected changes no release"


def test_the_command_line_makes_the_page_of_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path, target = tmp_path / "ages.toml", tmp_path / "ages.html"
    path.write_text(FILE)
    actions.plan(str(path), {"rho": "0.01"}, None, None, [], str(target), False)
    html, text = target.read_text(), capsys.readouterr().out
    assert f"tacit release {path} --rho 0.01 --note" in html
    assert f"tacit release {path} --rho 0.01" in text
    assert "Ages &lt;by&gt; region" in html
    assert "Date of this page" in html
    actions.plan(str(path), {}, None, None, [], None, False)
    known = capsys.readouterr().out
    actions.plan(str(path), {}, None, None, [], None, False, ["region = { north = 0.99 }"])
    other = capsys.readouterr().out
    assert known != other
    with pytest.raises(TacitError, match="C03"):
        actions.plan(str(path), {}, None, None, [], None, False, ["region north"])
    path.write_text(FILE.replace("north = 0.9", "nort = 0.9"))
    with pytest.raises(TacitError, match=r"Q42.*\[expect\].*'north'"):
        actions.plan(str(path), {}, None, None, [], None, False)


def program(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    os.chmod(folder / name, 0o755)


def test_documents_by_a_program_that_is_installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tools, target = tmp_path / "bin", tmp_path / "page.docx"
    tools.mkdir()
    monkeypatch.setenv("PATH", str(tools))
    for missing in (target, tmp_path / "page.pdf"):
        with pytest.raises(TacitError, match=r"F13.*Pandoc.*save .*page\.html"):
            page().save(missing)
        assert not missing.exists()
    # it writes what it was asked for: the last argument into the one of --output
    copy = 'for one in "$@"; do case "$one" in --output=*) to="${one#--output=}";; esac; from="$one"; done\n'
    program(tools, "pandoc", copy + 'while read -r line || [ -n "$line" ]; do echo "$line"; done < "$from" > "$to"')
    page().save(target)
    assert "A. Analyst" in target.read_text()
    with pytest.raises(TacitError, match="F13"):
        page().save(tmp_path / "page.pdf")  # no engine
    program(tools, "weasyprint", "exit 0")
    page().save(tmp_path / "page.pdf")
    assert "A. Analyst" in (tmp_path / "page.pdf").read_text()
    program(tools, "pandoc", "exit 3")
    with pytest.raises(TacitError, match=r"F13.*pandoc failed"):
        page().save(tmp_path / "other.docx")
    assert not (tmp_path / "other.docx").exists()
    with pytest.raises(TacitError, match="F10"):
        page().save(tmp_path / "page.odt")
