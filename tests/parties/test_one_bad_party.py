"""One party's file, however malformed, is left out by name and reason; the others are combined."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import tacit as tc
from tacit.parties import incoming as arrivals
from tacit.parties import study_result as returned
from tacit.release.digests import sealed

STORED = Path(__file__).parents[1] / "documents" / "study_0.1.json"


@pytest.fixture(name="study")
def a_study(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tc.Study:
    """A study with the answers of three parties, in files."""
    monkeypatch.chdir(tmp_path)
    words = json.loads(STORED.read_text(encoding="utf-8"))
    Path("returned").mkdir()
    for name, one in words["answers"].items():
        Path("returned", f"{name}.release.json").write_text(json.dumps(one), encoding="utf-8")
    return tc.Study.from_toml(words["study"])


def edited(change: Callable[[dict[str, Any]], None], *, digest: bool = True) -> None:
    """The answers of st-mary, by question, changed."""
    place = Path("returned", "st-mary.release.json")
    words = json.loads(place.read_text(encoding="utf-8"))
    change(dict(words["releases"]))
    del words["digest"]
    place.write_text(json.dumps(sealed(words) if digest else words), encoding="utf-8")


def stretched(answers: dict[str, Any]) -> None:
    """Bins that go further: consistent in itself, and not the study's."""
    answers["cells"]["axes"][0]["edges"][-1] = 600.0


def more_labels(answers: dict[str, Any]) -> None:
    answers["model"]["variables"][1]["labels" if "labels" in answers["model"]["variables"][1] else "units"] = "weeks"


def grouped(answers: dict[str, Any]) -> None:
    answers["stay"]["levels"][0][1] = ["female", "men"]


CHANGES: list[tuple[Callable[[dict[str, Any]], None], bool, str]] = [
    (lambda answers: None, False, "lost its digest"),
    (lambda answers: answers["stay"]["parts"][0]["integers"].pop(), True, "cells of integers"),
    (lambda answers: answers["model"]["variables"][0].update(half=-5), True, "half"),
    (lambda answers: answers["spread"]["parts"][0]["parameters"].update(G=2**20), True, "G = 1048576"),
    (stretched, True, "does not go with the others"),
    (more_labels, True, "columns of its regression"),
    (grouped, True, "does not go with the others"),
]


@pytest.mark.parametrize(("change", "digest", "reason"), CHANGES, ids=[reason for _, _, reason in CHANGES])
def test_it_is_refused_and_the_others_are_combined(study: tc.Study, change: Any, digest: bool, reason: str) -> None:
    edited(change, digest=digest)
    found = study.combine("returned")
    assert list(found.refused) == ["st-mary"]
    assert reason in found.refused["st-mary"]
    assert found.parties == ("st-luke", "st-john")
    assert found["stay"].estimate().terms == ("female", "male")


def test_answers_of_version_0_1_are_to_the_study_that_it_read(study: tc.Study) -> None:
    """A family's blocks had the correction of their law by default; a study that says which has one edition."""
    assert study.asks["blocks"].bias == "observed"  # type: ignore[attr-defined]
    own, before = study.editions
    assert own is study
    assert before.asks["blocks"].bias == "cox-snell"  # type: ignore[attr-defined]
    assert study.combine("returned").study.digest() == before.digest() != study.digest()
    text = json.loads(STORED.read_text(encoding="utf-8"))["study"]
    said = text.replace("[ask.blocks]", '[ask.blocks]\nbias = "cox-snell"')
    (only,) = tc.Study.from_toml(said).editions
    assert only.digest() == before.digest()


def test_where_two_disagree_nobody_can_tell(study: tc.Study) -> None:
    Path("returned", "st-john.release.json").unlink()
    edited(grouped)
    found = study.combine("returned")
    assert set(found.refused) == {"st-mary", "st-luke"}
    with pytest.raises(tc.TacitError, match="a pooled result takes 2") as problem:
        found.summary()
    assert problem.value.code == "C21"


def test_what_nobody_thought_of_is_one_partys(study: tc.Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """An error of Python while a file is read, checked or combined."""
    real = arrivals.releases_from_dict

    def read(words: Any) -> Any:
        if words["releases"][0][1]["table"] == "st-mary":
            raise ZeroDivisionError
        return real(words)

    with monkeypatch.context() as here:
        here.setattr(arrivals, "releases_from_dict", read)
        assert study.combine("returned").refused == {"st-mary": "it cannot be read (ZeroDivisionError)"}
    checked = returned.refusal_reason

    def check(study: Any, digest: str, schema: str, party: str, found: Any) -> Any:
        return 1 / 0 if party == "st-mary" else checked(study, digest, schema, party, found)

    with monkeypatch.context() as here:
        here.setattr(returned, "refusal_reason", check)
        assert study.combine("returned").refused == {"st-mary": "it cannot be checked (ZeroDivisionError)"}
    combine = returned.combined

    def together(names: Any, *more: Any, **words: Any) -> Any:
        return 1 / 0 if "st-mary" in names else combine(names, *more, **words)

    with monkeypatch.context() as here:
        here.setattr(returned, "combined", together)
        result = study.combine("returned")
        assert result.refused == {"st-mary": "it cannot be combined with the others (ZeroDivisionError)"}
        assert len(result["stay"].parties) == 2
