"""`tacit keys`, and a release that is signed, as they are typed."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from command_line import typed

import tacit as tc

STUDY = """
tacit = 1
[table]
name = "ages"
[budget]
epsilon = 1
[schema]
age = { type = "Real", lower = 18, upper = 93 }
[spend]
epsilon = 1
[ask.age]
query = "Mean"
columns = "age"
[combine]
effects = "common"
[parties.st-mary]
key = "KEY"
"""
SITE = 'name = "st-mary"\n[data]\npath = "rows.csv"\nkey = "st-mary.private"\n'


def test_from_a_key_to_a_signed_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tc.examples.people(400)[["age"]].to_csv(tmp_path / "rows.csv", index=False)
    (tmp_path / "st-mary.toml").write_text(SITE)

    def tacit(*words: str, code: int = 0) -> str:
        left, shown = typed(tmp_path, monkeypatch, *words)
        assert left == code, shown
        return shown

    made = json.loads(tacit("keys", "new", "st-mary", "--json"))
    assert set(made) == {"private", "public"}
    assert (tmp_path / "st-mary.private").stat().st_mode & 0o777 == 0o600
    shown = tacit("keys", "show", "st-mary.private")
    assert f'[parties.st-mary]\n  key = "{made["public"]}"' in shown
    assert "[C28]" in tacit("keys", "new", "st-mary", code=2)
    assert "[C29]" in tacit("keys", "show", "st-luke.private", code=2)
    (tmp_path / "study.toml").write_text(STUDY.replace("KEY", made["public"]))
    at = ("release", "study.toml", "--site", "st-mary.toml")
    assert "[R07]" in tacit(*at, "--save", "st-mary.private", code=2)
    tacit(*at)
    saved = (tmp_path / "st-mary.release.json").read_text()
    assert json.loads(saved)["signature"].startswith("ed25519:")
    tacit(*at)
    assert (tmp_path / "st-mary.release.json").read_text() == saved
    assert json.loads(tacit("combine", "study.toml", "st-mary.release.json", "--json"))["signed"] == ["st-mary"]
    (tmp_path / "other.private").write_text((tmp_path / "st-mary.private").read_text())
    (tmp_path / "other.private").chmod(0o644)
    (tmp_path / "st-mary.toml").write_text(SITE.replace("st-mary.private", "other.private"))
    assert "[C29]" in tacit("check", "study.toml", "--site", "st-mary.toml", code=2)
    (tmp_path / "st-mary.toml").write_text(SITE.replace('key = "st-mary.private"\n', ""))
    assert "[C30]" in tacit(*at, code=2)
