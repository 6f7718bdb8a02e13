"""A party's file is taken with its digest and its signature, or not at all."""

from __future__ import annotations

import json
from pathlib import Path

import tacit as tc
from tacit.parties.incoming import Arrival, _genuine, files_of, read_answers  # pyright: ignore[reportPrivateUsage]
from tacit.release.document import Releases

STUDY = """
tacit = 1
title = "Stay"
[table]
name = "hips"
rows = 20
[budget]
epsilon = 2
[schema]
stay = { type = "Integer", lower = 0, upper = 60 }
[spend]
epsilon = 2
[ask.stay]
query = "Mean"
columns = "stay"
[parties.st-mary]
"""


def test_a_file_without_its_digest_is_refused(tmp_path: Path) -> None:
    study = tc.Study.from_toml(STUDY)
    path = tmp_path / "st-mary.release.json"
    tc.Curator({"stay": list(range(20))}, study, name="st-mary").release(study).save(path)
    refused: dict[str, str] = {}
    assert list(read_answers(study, str(path), refused)) == ["st-mary"]
    words = json.loads(path.read_text(encoding="utf-8"))
    del words["digest"]
    path.write_text(json.dumps(words), encoding="utf-8")
    assert not read_answers(study, str(path), refused)
    assert list(refused) == ["st-mary"]


def test_each_file_counts_once(tmp_path: Path) -> None:
    for name in ("b.json", "a.json"):
        (tmp_path / name).write_text("{}")
    given = [str(tmp_path), str(tmp_path / "*.json"), str(tmp_path / "a.json")]
    assert [one.name for one in files_of(given)] == ["a.json", "b.json"]


def test_what_is_not_by_the_party_it_names_is_left_out() -> None:
    """Beside the party's own answer the file is named, else the party."""
    true, false = Arrival("a.json", "st-mary", Releases(()), None), Arrival("b.json", "st-mary", Releases(()), "forged")
    refused: dict[str, str] = {}
    assert _genuine([false, true], refused) == [true]
    assert refused == {"b.json": "forged"}
    refused.clear()
    assert _genuine([false], refused) == []
    assert refused == {"st-mary": "forged"}
