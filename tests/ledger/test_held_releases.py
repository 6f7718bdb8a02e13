"""Releases held against the answers that a ledger stored: whole, in single files and in files of several."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit as tc
from tacit.cli.ledger_commands import Change, budget
from tacit.errors import LedgerError, ReleaseError
from tacit.ledger import open_ledger
from tacit.release.digests import sealed
from tacit.release.document import Releases

NOTHING = Change({}, {}, None, "")


@pytest.fixture(name="home")
def a_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A ledger, a file of one release, and one of two."""
    monkeypatch.chdir(tmp_path)
    rows = {"age": [30.0, 40.0, 50.0], "sex": ["f", "m", "f"]}
    schema = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
    curator = tc.Curator(rows, schema, name="people", ledger="people.ledger", budget=tc.Budget(rho=1))
    curator.release(tc.Count(by="sex"), rho=0.1, name="sexes").save("one.json")
    curator.release({"age": tc.Mean("age"), "cells": tc.Histogram("sex")}, rho=0.2).save("two.json")
    return tmp_path


def held(*files: str) -> None:
    budget("people.ledger", list(files), NOTHING, None, as_json=True)


def edited(name: str, change: Callable[[Any], None], *, digest: bool | None = True) -> None:
    """A file with its words changed: with a digest that fits, without one (None), or with the old one."""
    words = json.loads(Path(name).read_text(encoding="utf-8"))
    change(words)
    old = words.pop("digest")
    words = sealed(words) if digest else words if digest is None else {**words, "digest": old}
    Path(name).write_text(json.dumps(words), encoding="utf-8")


def more(words: Any) -> None:
    """One more in the first count."""
    one = words["releases"][1][1] if "releases" in words else words
    one["parts"][0]["integers"][0][0] += 1


def test_what_was_bought_agrees(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    held("one.json", "two.json")
    assert json.loads(capsys.readouterr().out)["checked"] == 3


@pytest.mark.parametrize("name", ["one.json", "two.json"])
@pytest.mark.parametrize("digest", [True, None])
def test_an_edited_count_is_named(home: Path, name: str, digest: bool | None) -> None:
    """Whoever edits a file makes its digest anew, or takes it out: the stored answer says something else."""
    edited(name, more, digest=digest)
    with pytest.raises(LedgerError, match=rf"{name}: \w+ is not what charge . bought: parts") as found:
        held("one.json", "two.json")
    assert found.value.code == "L23"


def test_an_edit_under_the_old_digest_is_named(home: Path) -> None:
    edited("one.json", more, digest=False)
    with pytest.raises(ReleaseError, match=r"one\.json: this release was changed after it was saved"):
        held("one.json")


@pytest.mark.parametrize("name", ["one.json", "two.json"])
def test_a_missing_digest_alone_is_no_obstacle(home: Path, name: str) -> None:
    edited(name, lambda words: None, digest=None)
    held(name)


@pytest.mark.parametrize("field", ["date", "version", "table"])
def test_every_field_is_compared(home: Path, field: str) -> None:
    edited("one.json", lambda words: words.update({field: "2001-01-01"}))
    with pytest.raises(LedgerError, match=field):
        held("one.json")


def test_names_are_compared_where_several_were_bought(home: Path) -> None:
    """An answer that was bought alone is that of its question under any name."""

    def renamed(words: Any) -> None:
        words["releases"][0][0] = words["releases"][0][1]["name"] = "2001"

    edited("two.json", renamed)
    with pytest.raises(LedgerError, match="of that name"):
        held("two.json")
    edited("one.json", lambda words: words.update({"name": "2001"}))
    held("one.json")


def test_a_release_under_another_name_is_refused(home: Path) -> None:
    def swapped(words: Any) -> None:
        (one, _), (other, _) = words["releases"]
        words["releases"][0][0], words["releases"][1][0] = other, one

    edited("two.json", swapped)
    with pytest.raises(ReleaseError, match="in its own words"):
        held("two.json")


def test_a_charge_without_a_stored_answer_is_named(home: Path) -> None:
    """A release of a charge that bought nothing: nobody can have it from this ledger."""
    one = next(iter(Releases.load("one.json").values()))
    ledger = open_ledger("people.ledger", budget=None, unit=None)
    from tacit.ledger.chain import Request
    from tacit.privacy import Cost

    charge = ledger.charge(Request("people", (), '{"another":"question"}', Cost.of(rho="0.1")))
    words = one.to_dict() | {"charge": charge.number, "head": charge.head}
    Path("made-up.json").write_text(json.dumps(sealed(words)), encoding="utf-8")
    with pytest.raises(LedgerError, match=rf"charge {charge.number} has no stored answer") as found:
        held("made-up.json")
    assert found.value.code == "L23"


def test_an_answer_handed_to_a_study_is_the_stored_one(home: Path) -> None:
    """The same answer serves several studies: the digest of the study is the one field that may differ."""
    edited("one.json", lambda words: words.update({"study": "0" * 64}))
    held("one.json")
