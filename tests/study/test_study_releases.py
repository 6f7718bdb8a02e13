"""A party answers a study: at its price or less, until it closes, under its own names, bound to the study's digest."""

from __future__ import annotations

import datetime
import json
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import tacit as tc
from tacit.errors import TacitError
from tacit.release.document import releases_from_dict
from tacit.source import open_source

WORDS = """
tacit = 1
closes = 2999-12-31
[table]
rows = 300
[budget]
epsilon = 1
neighbors = "add-remove"
[schema]
patient = { type = "PrivacyUnit", max_rows = 2 }
stay = { type = "Integer", lower = 0, upper = 60, units = "days" }
wait = { type = "Real", lower = 0, upper = 240 }
sex = { type = "Category", levels = ["female", "male"] }
old = { type = "Boolean", column = "is_old" }
[spend]
epsilon = 0.5
[ask.stay]
query = "Mean"
columns = ["stay", "wait"]
by = "sex"
where = "wait < 200 and old"
share = 3
[ask.old]
query = "Mean"
columns = "old"
[parties.st-mary]
[parties.st-luke]
"""
SITE = """
name = "st-mary"
[data]
path = "rows.csv"
ledger = "st-mary.ledger"
[data.columns]
patient = { column = "PATIENT_NO" }
stay = { column = "wait" }
wait = { column = "WAIT_MIN" }
sex = { column = "GENDER" }
old = { column = "AGE65" }
"""


def study_of(*changes: tuple[str, str]) -> tc.Study:
    text = WORDS
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return tc.Study.from_toml(text)


def rows(n: int = 400) -> dict[str, Any]:
    i = np.arange(n)
    return {
        "patient": i // 2,
        "stay": i % 50,
        "wait": (i * 7 % 240).astype(float),
        "sex": np.where(i % 3 == 0, "male", "female").tolist(),
        "is_old": (i % 4 == 0).astype(int),
    }


NAMES = {"patient": "PATIENT_NO", "stay": "wait", "wait": "WAIT_MIN", "sex": "GENDER", "is_old": "AGE65"}


def at_home(folder: Path, site: str = SITE) -> tuple[tc.Study, tc.Site]:
    """The table as the hospital keeps it, its page beside it."""
    pd.DataFrame(rows()).rename(columns=NAMES).to_csv(folder / "rows.csv", index=False)
    (folder / "st-mary.toml").write_text(site)
    study = study_of()
    return study, tc.Site.load(folder / "st-mary.toml", study)


def charges(curator: tc.Curator) -> int:
    return len(list(curator.releases))


def refused(curator: tc.Curator, study: tc.Study, code: str, **words: Any) -> TacitError:
    with pytest.raises(TacitError) as caught:
        curator.release(study, **words)
    assert (caught.value.code, charges(curator)) == (code, 0)
    assert str(caught.value).endswith("Nothing was read or spent.")
    return caught.value


def test_a_study_stands_for_schema_budget_questions_and_price(tmp_path: Path) -> None:
    study = study_of()
    hospital = tc.Curator(rows(), study, name="st-mary", ledger=tmp_path / "st-mary.ledger")
    assert (hospital.schema, hospital.budget, hospital.study) == (study.schema, study.budget, study)
    found = hospital.release(study, note="board 17")
    assert list(found) == ["stay", "old"]
    assert [one.cost for one in found.values()] == [tc.Cost.of(epsilon="3/8"), tc.Cost.of(epsilon="1/8")]
    assert hospital.remaining == "left 0.50 of 1.00"
    assert {one.study for one in found.values()} == {study.digest()}
    assert {(one.table, one.schema) for one in found.values()} == {("st-mary", study.schema.digest())}
    assert found["old"].estimate().std_error > 0


def test_the_same_study_is_answered_from_the_ledger(tmp_path: Path) -> None:
    words: dict[str, Any] = {"name": "st-mary", "ledger": tmp_path / "st-mary.ledger"}
    study = study_of()
    first = tc.Curator(rows(), study, **words).release(study)
    again = tc.Curator(rows(), study, **words)
    assert again.release(study) == first
    assert again.release(dict(study.asks), epsilon=0.5, shares=study.shares) == first
    assert again.releases["old"].study == study.digest()
    assert again.remaining == "left 0.50 of 1.00"


def test_an_answer_is_bound_to_the_study_that_asks_it(tmp_path: Path) -> None:
    """A later edition with the same questions at the same price is answered by what is stored, under its own digest."""
    words: dict[str, Any] = {"name": "st-mary", "ledger": tmp_path / "st-mary.ledger"}
    study, later = study_of(), study_of(("closes = 2999-12-31", "closes = 2999-12-30"))
    plain = tc.Curator(rows(), study, **words)
    unbound = plain.release(dict(study.asks), epsilon=0.5, shares=study.shares)
    assert {one.study for one in unbound.values()} == {None}
    for one in (study, later):
        found = tc.Curator(rows(), one, **words).release(one)
        assert {answer.study for answer in found.values()} == {one.digest()}
        assert [answer.parts for answer in found.values()] == [answer.parts for answer in unbound.values()]
    assert plain.remaining == "left 0.50 of 1.00"


def test_a_document_without_a_study_reads_as_ever() -> None:
    study = study_of()
    curator = tc.Curator(rows(), study, name="st-mary")
    bound = curator.release(study)
    words = bound.to_dict()
    assert releases_from_dict(words) == bound
    for _, one in words["releases"]:
        assert one.pop("study") == study.digest()
    assert {one.study for one in releases_from_dict(words).values()} == {None}
    assert "study" not in curator.release(tc.Mean("stay"), epsilon=0.1).to_dict()


def test_a_party_may_spend_less_and_never_more() -> None:
    study = study_of()
    curator = tc.Curator(rows(), study, name="st-mary")
    error = refused(curator, study, "P02", epsilon=0.51)
    assert "ε = 0.5 of each party; this price is ε = 0.51" in error.message
    refused(curator, study, "B04", rho=0.01)
    refused(curator, study, "B01", epsilon=0)
    refused(curator, study, "Q21", shares={"old": 2})
    refused(curator, study, "Q21", name="all")
    less = curator.release(study, epsilon=0.2)
    assert [one.cost for one in less.values()] == [tc.Cost.of(epsilon="0.15"), tc.Cost.of(epsilon="0.05")]
    assert {one.study for one in less.values()} == {study.digest()}


def test_prices_are_compared_as_the_budget_adds_them() -> None:
    study = study_of(("epsilon = 1\n", "rho = 0.5\n"), ("[spend]\nepsilon = 0.5", "[spend]\nrho = 0.02"))
    curator = tc.Curator(rows(), study, name="st-mary")
    refused(curator, study, "P02", epsilon="0.2001")  # a pure price is ε²/2
    assert curator.release(study, epsilon="0.2")["old"].cost == tc.Cost.of(epsilon="0.05")


class Clock(datetime.date):
    """Stands for `datetime.date`, at a day of the test's choice."""

    now = datetime.date(2999, 12, 31)

    @classmethod
    def today(cls) -> datetime.date:  # type: ignore[override]
        return cls.now


def test_a_price_is_no_more_in_the_studys_own_promise() -> None:
    """A normal of the same rho protects less than a study of pure prices asks for, whatever the ledger would admit."""
    study = study_of()
    curator = tc.Curator(rows(), study, budget=tc.Budget(rho=2, neighbors="add-remove"), name="st-mary")
    refused(curator, study, "B04", rho=0.01)
    refused(curator, study, "B04", epsilon=0.1, delta=1e-6)
    assert curator.release(study)["old"].cost == tc.Cost.of(epsilon="1/8")


def test_nothing_new_after_the_last_day(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("datetime.date", Clock)
    monkeypatch.setattr(Clock, "now", Clock(2999, 12, 31))
    study = study_of()
    late = tc.Curator(rows(), study, name="st-luke")
    curator = tc.Curator(rows(), study, name="st-mary", ledger=tmp_path / "st-mary.ledger")
    found = curator.release(study)  # the last day counts
    Clock.now = Clock(3000, 1, 1)
    error = refused(late, study, "P01")
    assert error.message == "the study closed on 2999-12-31; today is 3000-01-01."
    assert error.hint
    assert late.remaining == "left 1.00 of 1.00"
    assert curator.release(study) == found
    assert late.release(tc.Mean("stay"), epsilon=0.1).study is None  # other questions are not the study's


def test_a_charge_of_before_is_resumed_after(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    from tacit.source.engine_table import EngineTable

    study = study_of()
    curator = tc.Curator(rows(), study, name="st-mary", ledger=tmp_path / "st-mary.ledger")
    with monkeypatch.context() as broken:
        broken.setattr(EngineTable, "aggregate", lambda *_: 1 / 0)
        with pytest.raises(TacitError) as caught:
            curator.release(study)
        assert caught.value.code == "M01"
    monkeypatch.setattr("datetime.date", Clock)
    monkeypatch.setattr(Clock, "now", Clock(3000, 1, 1))
    found = curator.release(study)
    assert found["old"].date < "2999-12-31"  # that of the charge
    assert curator.remaining == "left 0.50 of 1.00"


def test_a_study_that_is_not_the_curators() -> None:
    study, other = study_of(), study_of(("upper = 60", "upper = 61"))
    refused(tc.Curator(rows(), study, name="st-mary"), other, "P04")
    plain = tc.Curator(rows(), study.schema, budget=study.budget, name="st-mary")
    refused(plain, study, "P04")
    assert plain.study is None


def test_a_name_that_is_no_party_makes_no_ledger(tmp_path: Path) -> None:
    with pytest.raises(TacitError) as caught:
        tc.Curator(rows(), study_of(), name="st-marry", ledger=tmp_path / "st-mary.ledger")
    assert (caught.value.code, caught.value.hint) == ("P03", 'name="st-mary"')
    assert not (tmp_path / "st-mary.ledger").exists()


def test_one_ledger_for_several_studies_of_the_same_people(tmp_path: Path) -> None:
    own = tc.Budget(epsilon=3, neighbors="add-remove")
    words: dict[str, Any] = {"name": "st-mary", "ledger": tmp_path / "people.ledger"}
    first, second = (
        study_of(),
        study_of(("upper = 60", "upper = 61"), ("[ask.stay]", "[ask.s]"), ("[ask.old]", "[ask.o]")),
    )
    tc.Curator(rows(), first, budget=own, **words).release(first)
    curator = tc.Curator(rows(), second, budget=own, **words)
    curator.release(second)
    assert curator.remaining == "left 2.00 of 3.00"
    with pytest.raises(TacitError, match="promises") as caught:
        tc.Curator(rows(), first, **words)
    assert (caught.value.code, "of the ledger" in str(caught.value.hint)) == ("L01", True)
    with pytest.raises(TacitError) as caught:
        tc.Curator(rows(), first, name="st-mary", budget=tc.Budget(epsilon=1))
    assert (caught.value.code, "add-remove" in str(caught.value.hint)) == ("L01", True)


def test_a_curator_plans_a_study() -> None:
    study = study_of()
    curator = tc.Curator(rows(), study, name="st-mary")
    page = curator.plan(study)
    assert (page.cost, [part.name for part in page.parts]) == (study.spend, ["stay", "old"])
    assert curator.plan(study, epsilon=0.1).width > page.width
    with pytest.raises(TacitError) as caught:
        curator.plan(study, epsilon=0.6)
    assert caught.value.code == "P02"


def exact(data: object, study: tc.Study, site: tc.Site | None) -> list[Any]:
    """The exact integers behind every answer, as the curator computes them."""
    from tacit.curator.mechanisms import integers

    curator = tc.Curator(data, study, name="st-mary", site=site)
    return [integers(curator.design(one, study.spend), curator._source) for one in study.asks.values()]


ENGINES = {
    "dict": lambda data: data,
    "pandas": pd.DataFrame,
    "Polars": pl.DataFrame,
    "DuckDB": lambda data: duckdb.from_arrow(pa.table(data)),
    "PyArrow": lambda data: pa.table({name: pa.array(cells) for name, cells in data.items()}),
}


@pytest.mark.sample(4)
@pytest.mark.parametrize("engine", ENGINES)
def test_renamed_columns_give_the_integers_of_the_studys_own(engine: str, tmp_path: Path) -> None:
    study, site = at_home(tmp_path)
    there = {NAMES[name]: cells for name, cells in rows().items()}  # where another column is called "wait"
    assert exact(ENGINES[engine](there), study, site) == exact(rows(), study, None)


def test_renamed_columns_of_files(tmp_path: Path) -> None:
    study, site = at_home(tmp_path)
    pl.DataFrame(rows()).rename(NAMES).write_parquet(tmp_path / "rows.parquet")
    wanted = exact(rows(), study, None)
    assert [exact(tmp_path / name, study, site) for name in ("rows.csv", "rows.parquet")] == [wanted, wanted]


def test_a_site_says_name_and_ledger_and_is_no_part_of_the_answer(tmp_path: Path) -> None:
    study, site = at_home(tmp_path)
    curator = tc.Curator(site.data, study, site=site)
    found = curator.release(study)
    assert (curator.name, curator.recorded, (tmp_path / "st-mary.ledger").exists()) == ("st-mary", True, True)
    text = json.dumps(found.to_dict())
    assert not [word for word in (*NAMES.values(), "rows.csv") if f'"{word}"' in text and word != "wait"]
    assert tc.Curator(site.data, study, site=site).release(study) == found
    # rows under the study's own names cannot be told from another table, whose persons others may be
    with pytest.raises(TacitError) as caught:
        tc.Curator(rows(), study, name="st-mary", ledger=tmp_path / "st-mary.ledger")
    assert caught.value.code == "L91"


@pytest.mark.parametrize(
    ("old", "new", "code", "says"),
    [
        ('"GENDER"', '"GENDR"', "D30", "GENDER"),
        ('"GENDER"', '"_"', "D30", "PATIENT_NO, wait"),
        ('old = { column = "AGE65" }', "", "D10", "is_old"),
    ],
)
def test_a_site_that_does_not_fit_its_table(old: str, new: str, code: str, says: str, tmp_path: Path) -> None:
    assert old in SITE
    study, site = at_home(tmp_path, SITE.replace(old, new))
    with pytest.raises(TacitError) as caught:
        tc.Curator(site.data, study, site=site)
    assert (caught.value.code, says in str(caught.value)) == (code, True), str(caught.value)
    assert not (tmp_path / "st-mary.ledger").exists()


def test_a_site_needs_its_study(tmp_path: Path) -> None:
    study, site = at_home(tmp_path)
    for other in (study.schema, study_of(("upper = 60", "upper = 61"))):
        with pytest.raises(TacitError) as caught:
            tc.Curator(site.data, other, budget=study.budget, site=site)
        assert caught.value.code == "P04"


def test_a_renamed_table_is_typed_as_its_columns(tmp_path: Path) -> None:
    from tacit.source.site_table import apply

    _, site = at_home(tmp_path)
    cells = {"PATIENT_NO": ["a"], "wait": [datetime.date(2024, 1, 1)], "WAIT_MIN": [3.0], "GENDER": ["f"], "AGE65": [0]}
    types = apply(open_source({**cells, "x": ["t"]}), site.columns).types()
    held = {name: types[name].holds for name in ("patient", "stay", "wait", "sex", "is_old", "x")}
    assert held == {
        "patient": "text",
        "stay": "date",
        "wait": "number",
        "sex": "text",
        "is_old": "number",
        "x": "text",
    }
