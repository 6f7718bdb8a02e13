"""What came back to a study: checked, wrong ones refused by name and reason, the rest combined."""

from __future__ import annotations

import json
import shutil
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit as tc
from tacit.errors import TacitError
from tacit.release.digests import digest_of
from tacit.release.document import Releases

STUDY = """
tacit = 1
title = "Stay"
closes = 2999-12-31
[table]
name = "hips"
rows = 300
[budget]
epsilon = 2
neighbors = "add-remove"
[schema]
stay = { type = "Integer", lower = 0, upper = 60, units = "days" }
sex = { type = "Category", levels = ["female", "male"] }
[spend]
epsilon = 2
[ask.stay]
query = "Mean"
columns = "stay"
by = "sex"
[ask.cells]
query = "Histogram"
columns = "sex"
[ask.quartiles]
query = "Quantiles"
column = "stay"
probs = [0.5]
[ask.quality]
query = "DataQuality"
[combine]
effects = "common"
minimum = 2
[parties.st-mary]
[parties.st-luke]
[parties.st-john]
[parties.st-anne]
[parties.st-jude]
optional = true
"""
NAMES = ("st-mary", "st-luke", "st-john")


def study_of(*changes: tuple[str, str]) -> tc.Study:
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return tc.Study.from_toml(text)


def answer(study: tc.Study, name: str, rows: int = 300, **price: Any) -> Releases:
    rng = np.random.default_rng([len(name), rows])
    table = {"stay": rng.poisson(9, rows), "sex": rng.choice(["female", "male"], rows)}
    return tc.Curator(table, study, name=name).release(study, **price)


@pytest.fixture(name="good", scope="module")
def good_answers() -> dict[str, Releases]:
    return {name: answer(study_of(), name) for name in NAMES}


@pytest.fixture(name="home")
def came_back(tmp_path: Path, good: dict[str, Releases], monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "returned").mkdir()
    for name, one in good.items():
        one.save(tmp_path / "returned" / f"{name}.release.json")
    return tmp_path


def test_good_answers_are_combined(home: Path) -> None:
    study = study_of()
    for given in ("returned/*.json", "returned", Path("returned"), sorted(Path("returned").iterdir())):
        found = study.combine(given)
        assert found.refused == {}
        assert found.parties == NAMES  # in the study's order
        assert found.missing == ("st-anne",)  # st-jude is optional
        assert list(found) == ["stay", "cells", "quality"]
    stay = found["stay"].estimate()
    assert stay.terms == ("female", "male")
    assert (np.abs(stay.values - 9) < 7 * stay.std_errors).all()  # beyond with probability < 1e-6
    assert found["stay"].effects == "common"
    assert str(found["stay"].cost) == "ε = 0.5"
    assert "no answer yet from st-anne" in str(found["stay"])
    assert found["cells"].counts.shape == (2,)
    assert "selected" in found.alone["quartiles"]
    with pytest.raises(TacitError, match="C22"):
        print(found["quartiles"])
    with pytest.raises(TacitError, match=r"C22.*stay"):
        print(found["stey"])
    assert study.combine("returned", effects="random")["stay"].effects == "random"
    assert "quartiles" in str(found)
    saved = found.save("results")
    assert {one.name for one in saved} >= {"summary.txt", "summary.csv", "refused.json", "stay.parties.csv"}
    assert all(one.exists() for one in saved)
    numbers = pd.read_csv("results/summary.csv").set_index(["question", "term"])  # in full precision
    np.testing.assert_allclose(numbers.loc["stay"].loc[list(stay.terms), "estimate"], stay.values, rtol=1e-14)
    assert {"std_error", "lower", "upper", "reason"} <= set(numbers.columns)


def test_answers_in_memory_too(good: dict[str, Releases]) -> None:
    study = study_of()
    found = study.combine(good)
    assert found["stay"].parties == NAMES
    wrong: Any = {**good, "st-john": 3}
    assert "no answer" in study.combine(wrong).refused["st-john"]


def changed(home: Path, name: str, change: Any, digest: bool = True) -> None:
    """An answer's document, changed, with a digest that fits (or as it was)."""
    path = home / "returned" / f"{name}.release.json"
    words = json.loads(path.read_text(encoding="utf-8"))
    change(words)
    if digest:
        words["digest"] = digest_of(words)
    path.write_text(json.dumps(words), encoding="utf-8")


def at(words: Any, name: str) -> Any:
    return dict(words["releases"])[name]


def test_edited_numbers_are_found_by_the_digest(home: Path) -> None:
    def edit(words: Any) -> None:
        at(words, "stay")["parts"][0]["integers"][0][0] += 1

    changed(home, "st-luke", edit, digest=False)
    found = study_of().combine("returned/*.json")
    assert "changed after it was saved" in found.refused["st-luke"]
    assert found.parties == ("st-mary", "st-john")
    assert found["stay"].parties == ("st-mary", "st-john")
    assert "left out: st-luke" in str(found["stay"])


def _law(words: Any) -> None:
    at(words, "cells")["parts"][0]["noise"]["scale"] = "1/2"


def _query(words: Any) -> None:
    at(words, "cells")["query"]["where"] = "stay < 9"


def _price(words: Any) -> None:
    at(words, "stay")["parts"][0]["cost"]["epsilon"] = "9"
    at(words, "stay")["parts"][0]["noise"]["scale"] = "1"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (_law, "noise that is not what its price buys"),
        (_query, "'cells' answers another question"),
        (_price, "noise that is not what its price buys"),
        (lambda words: at(words, "stay").pop("study"), "'stay' answers no study"),
        (lambda words: at(words, "stay").update(schema="0" * 64), "'stay' is of another schema"),
        (lambda words: at(words, "stay").update(neighbors="replace-one"), "neighbors is replace-one, and rows is None"),
        (
            lambda words: at(words, "stay").update(date="3000-01-01"),
            "it came on 3000-01-01, and the study closed on 2999",
        ),
        (lambda words: words["releases"].pop(), "it has no answer to 'quality'"),
        (lambda words: words.update(tacit=9), "of another version"),
        (lambda words: at(words, "stay").update(kind="unheard"), "not known to this version"),
        (lambda words: at(words, "stay").update(table="st-john"), "answers of several tables"),
        (lambda words: words.clear(), "is no release"),
    ],
)
def test_wrong_documents_are_refused_by_name_and_reason(home: Path, change: Any, why: str) -> None:
    changed(home, "st-luke", change)
    found = study_of().combine("returned/*.json")
    assert list(found.refused) == ["st-luke"]
    assert why in found.refused["st-luke"]
    assert len(found["stay"].parties) == 2


def test_other_studies_are_refused_by_what_differs(home: Path) -> None:
    wide = study_of(("upper = 60", "upper = 365"))
    found = wide.combine("returned/*.json")
    assert set(found.refused.values()) == {"'stay' is 0 to 60 there, 0 to 365 in the study"}
    assert "in days there, hours in the study" in str(study_of(('"days"', '"hours"')).combine("returned").refused)
    edition = study_of(("minimum = 2", "minimum = 1"))
    assert "another study or edition" in edition.combine("returned").refused["st-mary"]
    unlisted = study_of(("[parties.st-luke]", "[parties.st-lucy]"))
    assert unlisted.combine("returned").refused["st-luke"] == "it is none of the study's parties"
    with pytest.raises(TacitError, match=r"C21.*no answer that can be used: a pooled result takes 2"):
        print(found["stay"])


def test_weaker_privacy_than_asked_for_is_refused(home: Path) -> None:
    """A party's own curator never sells it; a document that says so is refused, with noise that fits its price."""
    study = study_of()
    dear = study_of(("[spend]\nepsilon = 2", "[spend]\nepsilon = 1.9"), ("[parties.st-mary]", "[parties.st-mary]"))
    fair = {name: answer(study, name, epsilon=1) for name in ("st-mary", "st-luke")}
    assert study.combine(fair).refused == {}
    own = answer(study, "st-john")
    bound = Releases(tuple((name, replace(one, study=dear.digest())) for name, one in own.items()))
    found = dear.combine({"st-john": bound})
    assert found.refused["st-john"] == "it cost ε = 2, and the study asks for ε = 1.9: weaker privacy than its floor"


def test_late_answers_are_left_out(good: dict[str, Releases]) -> None:
    study = study_of(("closes = 2999-12-31", "closes = 2001-12-31"))
    late = {name: Releases(tuple((q, replace(r, study=study.digest())) for q, r in good[name].items()))
            for name in NAMES}  # fmt: skip
    assert "the study closed on 2001-12-31" in study.combine(late).refused["st-mary"]


def test_a_party_that_answers_twice(home: Path) -> None:
    shutil.copy("returned/st-mary.release.json", "returned/again.json")
    found = study_of().combine("returned/*.json")
    assert found.parties == NAMES  # a copy counts once
    assert "it is the answer of st-mary again" in next(iter(found.refused.values()))
    answer(study_of(), "st-mary").save("returned/again.json")  # other noise
    found = study_of().combine("returned/*.json")
    assert found.parties == ("st-luke", "st-john")
    assert found.refused["st-mary"] == "it answers twice, in again.json and st-mary.release.json"


def test_a_stale_file_does_not_evict_a_good_answer(home: Path) -> None:
    """Beside st-mary's answer: one to an earlier edition, one dated too late, one cut short under the party's name."""
    earlier = study_of(("minimum = 2", "minimum = 1"))
    answer(earlier, "st-mary").save("returned/a-first-try.json")
    Path("returned/st-mary.release.json").rename("returned/zz.json")
    Path("returned/st-mary.release.json").write_text(Path("returned/zz.json").read_text()[:300])
    shutil.copy("returned/zz.json", "returned/late.json")
    words = json.loads(Path("returned/late.json").read_text())
    for _, one in words["releases"]:
        one["date"] = "3000-01-01"
    words["digest"] = digest_of(words)
    Path("returned/late.json").write_text(json.dumps(words))
    found = study_of().combine("returned/*.json")
    assert found.parties == NAMES
    assert set(found.refused) == {"a-first-try.json", "late.json", "st-mary.release.json"}
    assert "another study or edition" in found.refused["a-first-try.json"]
    assert "the study closed" in found.refused["late.json"]
    assert found.incomplete  # st-anne has not answered
    three = study_of(("[parties.st-anne]\n", ""))
    assert not three.combine({name: answer(three, name) for name in NAMES}).incomplete
    Path("returned/zz.json").unlink()
    found = study_of().combine("returned/*.json")
    assert found.parties == ("st-luke", "st-john")
    assert "st-mary" in found.refused
    assert "st-mary" not in found.missing


def test_files_that_are_none(home: Path) -> None:
    Path("returned/notes.json").write_text("hello")
    Path("returned/list.json").write_text("[]")
    found = study_of().combine("returned")
    assert set(found.refused) == {"notes", "list"}
    assert found.parties == NAMES
    gone = study_of().combine(["returned/st-mary.release.json", "returned/st-lucia.json"])
    assert "cannot be read" in gone.refused["st-lucia"]
    Path("empty").mkdir()
    for given in ("empty", "empty/*.json", []):
        with pytest.raises(TacitError, match="C20"):
            study_of().combine(given)
    wrong: Any = "all"
    with pytest.raises(TacitError, match="C17"):
        study_of().combine("returned", effects=wrong)


def test_the_study_says_whether_people_are_in_several_parties() -> None:
    study = study_of(("minimum = 2", "minimum = 2\noverlap = true"))
    found = study.combine({name: answer(study, name) for name in NAMES})
    assert str(found["stay"].cost) == "ε = 1.5"
    assert study.digest() != study_of().digest()
    assert study_of(("minimum = 2", "minimum = 2\noverlap = false")).digest() == study_of().digest()
    linear = study_of(("minimum = 2", "minimum = 2\nlinear = true"))
    assert linear.combining.linear
    assert linear.digest() != study_of().digest()
    assert study_of(("minimum = 2", "minimum = 2\nlinear = false")).digest() == study_of().digest()
    with pytest.raises(TacitError, match="F06"):
        study_of(("minimum = 2", 'overlap = "yes"'))
    with pytest.raises(TacitError, match=r"F06.*linear"):
        study_of(("minimum = 2", 'linear = "yes"'))


def test_one_ledger_under_two_names_is_one_population(tmp_path: Path) -> None:
    study = study_of(("[budget]\nepsilon = 2", "[budget]\nepsilon = 4"))
    table = {"stay": list(range(50)) * 4, "sex": ["female", "male"] * 100}
    where = str(tmp_path / "one.ledger")
    answers = {name: tc.Curator(table, study, name=name, ledger=where).release(study) for name in NAMES[:2]}
    assert study.combine(answers)["stay"].parties == ("st-mary and st-luke",)
