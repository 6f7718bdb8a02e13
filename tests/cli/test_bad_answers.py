"""Everything that may be wrong with an answer, at once: refused by the party's name and the reason, in Python and by
the command; what is right is combined all the same.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest
from command_line import typed

import tacit as tc
from tacit.base.json_text import canonical
from tacit.errors import TacitError
from tacit.release import signing
from tacit.release.digests import digest_of
from tacit.release.document import Releases

STUDY: Final = """
tacit = 1
closes = 2999-12-31
[table]
name = "hips"
[budget]
epsilon = 4
neighbors = "add-remove"
[schema]
stay = { type = "Integer", lower = 0, upper = 60, units = "days" }
sex = { type = "Category", levels = ["female", "male"] }
[spend]
epsilon = 2
[ask.stay]
query = "Mean"
columns = "stay"
[ask.cells]
query = "Histogram"
columns = ["stay", "sex"]
bins = { stay = 4 }
[combine]
effects = "common"
minimum = 2
"""
KEYED: Final = ("st-mary", "forged", "unsigned", "stranger", "copied", "moved")
PLAIN: Final = ("st-luke", "edition", "schema", "question", "edited", "dear", "grids", "units", "twice", "simulated",
                "late", "noise", "silent")  # fmt: skip
REASONS: Final = {
    "forged": "its signature is not that of what it says",
    "unsigned": "it is not signed, and the study lists a key for it",
    "stranger": "its signature is not that of what it says by the key that the study lists",
    "copied": "its signature is not that of what it says",
    "edition": "answers another study or edition",
    "schema": "'stay' is of another schema",
    "question": "'cells' answers another question",
    "edited": "changed after it was saved",
    "dear": "it cost ε = 3, and the study asks for ε = 2: weaker privacy than its floor",
    "grids": "'stay' is 0 to 365 there, 0 to 60 in the study",
    "units": "'stay' is in weeks there, days in the study",
    "twice": "it answers twice, in twice-again.json and twice.release.json",
    "simulated": "no release of tacit",
    "late": "it came on 3000-01-01, and the study closed on 2999-12-31",
    "noise": "noise that is not what its price buys",
    "nobody": "it is none of the study's parties",
    "hello": "is not JSON",
}


def text_of(keys: Mapping[str, str]) -> str:
    listed = [f'[parties.{name}]\nkey = "{keys[name]}"' for name in KEYED]
    return STUDY + "\n".join([*listed, *(f"[parties.{name}]" for name in PLAIN)]) + "\n"


def answer(study: tc.Study, name: str, seed: int = 0, **price: Any) -> Releases:
    rng = np.random.default_rng([seed, len(name)])
    table = {"stay": rng.poisson(9, 300), "sex": rng.choice(["female", "male"], 300)}
    return tc.Curator(table, study, name=name).release(study, **price)


def saved(name: str, one: Releases, change: Any = None, *, digest: bool = True, file: str | None = None) -> None:
    """An answer's file, its words changed; with a digest that fits them, unless the change is an accident."""
    words = one.to_dict()
    words["digest"] = digest_of(words)
    if change is not None:
        change(words)
        if digest:
            words["digest"] = digest_of(words)
    Path("returned", file or f"{name}.release.json").write_text(json.dumps(words), encoding="utf-8")


def at(words: Any, name: str) -> Any:
    return dict(words["releases"])[name]


def one_more(words: Any) -> None:
    at(words, "stay")["parts"][0]["integers"][0][0] += 1


def renamed(words: Any) -> None:
    for _, one in words["releases"]:
        one["table"] = "copied"


def quieter(words: Any) -> None:
    at(words, "stay")["parts"][0]["noise"]["scale"] = "1"


def bound_to(study: tc.Study, one: Releases) -> dict[str, Any]:
    """What a careless or ill-willed party would write: another study's answer under this one's digest."""

    def change(words: Any) -> None:
        for _, release in words["releases"]:
            release["study"] = study.digest()

    return {"one": one, "change": change}


def later(words: Any) -> None:
    for _, one in words["releases"]:
        one["date"] = "3000-01-01"


@pytest.fixture(name="home", scope="module")
def what_came_back(tmp_path_factory: pytest.TempPathFactory) -> Path:
    home = tmp_path_factory.mktemp("study")
    with contextlib.chdir(home):
        _write(home)
    return home


def _write(home: Path) -> None:
    Path("returned").mkdir()
    keys = {name: signing.new_key(f"{name}.private") for name in KEYED}
    signing.new_key("nobodys.private")
    text = text_of(keys)
    (home / "study.toml").write_text(text, encoding="utf-8")
    study = tc.Study.from_toml(text)
    saved("st-mary", answer(study, "st-mary").signed("st-mary.private"))
    saved("st-luke", answer(study, "st-luke"))
    mary = answer(study, "st-mary", seed=9)  # somebody else's, under her name: hers counts all the same
    saved("st-mary", mary.signed("nobodys.private"), file="st-mary-2.json")
    saved("forged", answer(study, "forged").signed("forged.private"), one_more)
    saved("unsigned", answer(study, "unsigned"))
    saved("stranger", answer(study, "stranger").signed("nobodys.private"))
    saved("copied", answer(study, "moved").signed("moved.private"), renamed)
    edition = tc.Study.from_toml(text.replace("minimum = 2", "minimum = 3"))
    saved("edition", answer(edition, "edition"))
    schema = tc.Study.from_toml(text.replace('"female", "male"]', '"female", "male", "other"]'))
    saved("schema", **bound_to(study, answer(schema, "schema")))
    question = tc.Study.from_toml(text.replace("stay = 4", "stay = 5"))
    saved("question", **bound_to(study, answer(question, "question")))
    saved("edited", answer(study, "edited"), one_more, digest=False)
    dear = tc.Study.from_toml(text.replace("[spend]\nepsilon = 2", "[spend]\nepsilon = 3"))
    saved("dear", **bound_to(study, answer(dear, "dear")))
    for name, old, new in (("grids", "upper = 60", "upper = 365"), ("units", '"days"', '"weeks"')):
        saved(name, **bound_to(study, answer(tc.Study.from_toml(text.replace(old, new)), name)))
    saved("twice", answer(study, "twice"))
    saved("twice", answer(study, "twice"), file="twice-again.json")
    saved("late", answer(study, "late"), later)
    saved("noise", answer(study, "noise"), quieter)
    anybody = tc.Study.from_toml(STUDY)
    saved("nobody", **bound_to(study, answer(anybody, "nobody")))
    Path("returned", "hello.json").write_text("hello", encoding="utf-8")
    words = asdict(simulated())
    plain = {key: words[key] for key in ("table", "neighbors", "rows", "levels")}
    Path("returned", "simulated.release.json").write_text(json.dumps(plain), encoding="utf-8")


def simulated() -> Any:
    table = {"stay": np.arange(60), "sex": ["female", "male"] * 30}
    made = tc.testing.simulate(tc.Mean("stay"), table, tc.Study.from_toml(STUDY).schema, epsilon=1, repeats=1, rng=0)
    return made.release(0)


def told(refused: Mapping[str, str]) -> None:
    """Everybody that is refused, each by name and reason; nobody else."""
    assert set(refused) == {*REASONS, "st-mary-2.json"}
    assert {name: why for name, why in REASONS.items() if why not in refused[name]} == {}
    assert "its signature is not that" in refused["st-mary-2.json"]


def test_each_is_refused_by_name_and_reason_and_the_rest_combined(home: Path) -> None:
    found = tc.Study.load(home / "study.toml").combine(home / "returned")
    told(found.refused)
    assert found.parties == ("st-mary", "st-luke")
    assert found.signed == ("st-mary",)
    assert found.missing == ("moved", "silent")
    assert found["stay"].parties == found.parties
    assert found["cells"].counts.shape == (4, 2)
    assert "not signed: st-luke; a digest finds accidents, only a signature finds tampering" in found.notes()


def test_the_command_says_the_same_and_leaves_with_4(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    code, shown = typed(home, monkeypatch, "combine", "study.toml", "returned", "--json")
    words = json.loads(shown)
    assert code == 4
    told(words["refused"])
    assert (words["parties"], words["signed"], words["missing"]) == (
        ["st-mary", "st-luke"],
        ["st-mary"],
        ["moved", "silent"],
    )
    code, shown = typed(home, monkeypatch, "combine", "study.toml", "returned/*.json", "--save", "results")
    assert code == 4
    assert "refused unsigned: it is not signed" in shown
    assert json.loads((home / "results" / "refused.json").read_text(encoding="utf-8"))["refused"] == words["refused"]


def test_an_empty_folder_and_no_file(home: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for given in (str(tmp_path), f"{tmp_path}/*.json"):
        with pytest.raises(TacitError, match="C20"):
            tc.Study.load(home / "study.toml").combine(given)
        code, shown = typed(home, monkeypatch, "combine", "study.toml", given)
        assert (code, "[C20]" in shown) == (2, True)


def test_simulated_answers_in_memory(home: Path) -> None:
    study = tc.Study.load(home / "study.toml")
    made = simulated()
    good = answer(study, "st-luke")
    given: Any = {"st-luke": good, "simulated": made, "late": Releases((("stay", made), ("cells", made)))}
    found = study.combine(given)
    assert found.refused == dict.fromkeys(("simulated", "late"), "it is simulated, and protects nobody")
    forged: Any = {"st-mary": good, "st-luke": good}
    assert "it is not signed" in study.combine(forged).refused["st-mary"]


def test_a_signature_binds_the_whole_answer_and_nothing_else(home: Path) -> None:
    """Whatever word of a signed document is changed, its signature is that of another; layout is no part of it."""
    path = home / "returned" / "st-mary.release.json"
    study = tc.Study.load(home / "study.toml")
    words = json.loads(path.read_text(encoding="utf-8"))
    laid_out = path.with_name("laid-out.json")
    try:
        laid_out.write_text(json.dumps(dict(reversed(words.items())), indent=4), encoding="utf-8")
        assert study.combine([laid_out]).signed == ("st-mary",)
        for change in (
            lambda one: one["releases"][0][1].update(version="0.0.9"),
            lambda one: one["releases"].reverse(),
            lambda one: one.update(more=1),
            lambda one: one["releases"][0][1].update(ledger="0" * 64),
        ):
            other = json.loads(canonical(words))
            change(other)
            other["digest"] = digest_of(other)
            laid_out.write_text(json.dumps(other), encoding="utf-8")
            assert "its signature is not that" in study.combine([laid_out]).refused["st-mary"]
    finally:
        laid_out.unlink()
