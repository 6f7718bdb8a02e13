"""A study's file: a curator's without [data], read whole, every mistake named in its place, bound by its digest."""

from __future__ import annotations

from datetime import date, timedelta
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit as tc
from tacit.errors import CODES, TacitError
from tacit.parties import validation as checking
from tacit.privacy import Cost
from tacit.study import Combine, Party, read
from tacit.study.curator_file import Job

STUDY = """
tacit = 1
title = "Stay after hip fracture, 40 hospitals"      # a comment is no part of the digest
contact = "coordination@hip-study.example"
closes = 2025-03-31

[table]
name = "hip-fracture-2024"
rows = 1_500

[budget]
epsilon = 1.0
neighbors = "add-remove"

[schema]
patient = { type = "PrivacyUnit", max_rows = 2 }
stay = { type = "Integer", lower = 0, upper = 365, units = "days" }
wait = { type = "Real", lower = 0, upper = 240, units = "hours" }
admitted = { type = "Date", lower = 2024-01-01, upper = 2024-12-31 }
age = { type = "Integer", lower = 50, upper = 110, units = "years" }
sex = { type = "Category", levels = ["female", "male"], missing = "unknown" }
readmitted = { type = "Boolean" }

[spend]
epsilon = 1.0

[ask.quality]
query = "DataQuality"
share = 0.5

[ask.stay]
query = "Mean"
columns = ["stay", "wait"]
by = "sex"

[ask.readmission]
query = "Mean"
columns = "readmitted"
where = "age >= 65"
share = 2

[combine]
effects = "random"
minimum = 25
level = 0.9

[parties.st-mary]
contact = "data@st-mary.example"
key = "ed25519:MCowBQYDK2VwAyEA0000000000000000000000000000000000000000000="

[parties.st-luke]
contact = "data@st-luke.example"
rows = 6_200
optional = true
"""


def load(folder: Path, text: str) -> tc.Study:
    (folder / "study.toml").write_text(text, encoding="utf-8")
    return tc.Study.load(folder / "study.toml")


def test_a_study_says_all_that_a_curators_file_says_and_more(tmp_path: Path) -> None:
    study = load(tmp_path, STUDY)
    assert (study.name, study.rows, study.closes) == ("hip-fracture-2024", 1_500, date(2025, 3, 31))
    assert study.budget == tc.Budget(epsilon=1, neighbors="add-remove")
    assert study.spend == tc.Cost.of(epsilon=1)
    assert study.asks["readmission"] == tc.Mean("readmitted", where="age >= 65")
    assert study.shares == {"quality": Fraction(1, 2), "readmission": Fraction(2)}
    assert study.combining == Combine("random", 25, 0.9)
    assert study.parties == {
        "st-mary": Party("data@st-mary.example", "ed25519:MCowBQYDK2VwAyEA" + "0" * 43 + "="),
        "st-luke": Party("data@st-luke.example", rows=6_200, optional=True),
    }


def test_what_a_study_may_leave_out(tmp_path: Path) -> None:
    head = STUDY.partition("[combine]")[0].replace("closes = 2025-03-31", "").replace("rows = 1_500", "")
    study = load(tmp_path, head)
    assert (study.closes, study.rows, study.combining, study.parties) == (None, None, Combine("random", 1, 0.95), {})
    assert study.party("anybody") == Party()


def test_a_file_is_a_study_where_it_has_words_of_one_and_no_data(tmp_path: Path) -> None:
    place = tmp_path / "study.toml"
    for text, kind in ((STUDY, tc.Study), (STUDY.partition("[combine]")[0].replace("closes = 2025-03-31", ""), Job)):
        place.write_text(text)
        assert type(read(place)) is kind


SAME = [
    ('title = "Stay', 'title = "Time'),
    ("# a comment is no part of the digest", ""),
    ("coordination@", "office@"),
    ("data@st-luke", "office@st-luke"),
    ('columns = "readmitted"', 'columns = ["readmitted"]'),
    ("share = 0.5", 'share = "1/2"'),
    ("level = 0.9", "level = 0.90"),
    ("epsilon = 1.0\nneighbors", "epsilon = 1\nneighbors"),
    ("[combine]\neffects = \"random\"\n", "[combine]\n"),
]  # fmt: skip
OTHER = [
    ("closes = 2025-03-31", "closes = 2025-04-01"),
    ("closes = 2025-03-31", ""),
    ("hip-fracture-2024", "hip-fracture-2025"),
    ("rows = 1_500", "rows = 1_501"),
    ("epsilon = 1.0\nneighbors", "epsilon = 2.0\nneighbors"),
    ("upper = 365", "upper = 60"),
    ("[spend]\nepsilon = 1.0", "[spend]\nepsilon = 0.9"),
    ("share = 2", "share = 3"),
    ("age >= 65", "age >= 66"),
    ("[ask.stay]", "[ask.stays]"),
    ('"random"', '"common"'),
    ("minimum = 25", "minimum = 24"),
    ("level = 0.9", "level = 0.95"),
    ("minimum = 25", "minimum = 25\nparties = 40"),
    ("[parties.st-luke]", "[parties.st-lukas]"),
    ("rows = 6_200", "rows = 6_201"),
    ("optional = true", ""),
    ("000000=", "000004="),
]


def test_the_digest_is_that_of_what_binds(tmp_path: Path) -> None:
    digest = load(tmp_path, STUDY).digest()
    for old, new in SAME:
        assert old in STUDY
        assert load(tmp_path, STUDY.replace(old, new, 1)).digest() == digest, old
    head, mary, luke = STUDY.partition("[parties.st-mary]")[0], *STUDY.split("[parties.")[1:]
    assert load(tmp_path, f"{head}[parties.{luke}\n[parties.{mary}").digest() == digest
    assert all(old in STUDY for old, _ in OTHER)
    others = [load(tmp_path, STUDY.replace(old, new, 1)).digest() for old, new in OTHER]
    assert len({digest, *others}) == len(OTHER) + 1


def test_a_digest_is_the_same_for_ever(tmp_path: Path) -> None:
    """Answers are bound to it: computed once, when this was written."""
    assert load(tmp_path, STUDY).digest() == "0bf06e4c96c464ca5e5cc723c9f40053ece7343f631b47b66dbeb5b1b870d076"


MISTAKES = [
    ("tacit = 1", "tacit = 2", "F04", "2"),
    ("[combine]", "[combin]", "F05", "combine"),
    ("[parties.st-mary]", "[party.st-mary]", "F05", "parties"),
    ("closes = 2025-03-31", "close = 2025-03-31", "F05", "closes"),
    ("closes = 2025-03-31", 'closes = "2025-03-31"', "F06", "closes"),
    ("closes = 2025-03-31", "closes = 2025-03-31T12:00:00", "F06", "closes"),
    ("closes = 2025-03-31", "closes = 2025-02-30", "F02", "line 5"),
    ("[table]", "[data]\npath = 'x.csv'\n[table]", "F07", "site file"),
    ("[budget]\nepsilon = 1.0\nneighbors = \"add-remove\"\n", "", "F09", "[budget]"),
    ("[spend]\nepsilon = 1.0\n", "", "F09", "[spend]"),
    ("[spend]\nepsilon = 1.0", "[spend]\nepsilon = 1.01", "F06", "[spend]"),
    ("[spend]\nepsilon = 1.0", "[spend]\nrho = 0.1", "B04", "[spend]"),
    ("upper = 365", "upper = 0", "S07", "[schema] column 'stay'"),
    ('columns = "readmitted"', 'columns = "readmited"', "Q10", "[ask.readmission]"),
    ('query = "DataQuality"', 'query = "Jackknife"', "Q04", "[ask.quality]"),
    ("share = 2", "share = 0", "F06", "[ask.readmission]"),
    ('effects = "random"', 'effect = "random"', "F05", "effects"),
    ('effects = "random"', 'effects = "fixed"', "F06", "common"),
    ('effects = "random"', "effects = 3", "F06", "common"),
    ("minimum = 25", "minimum = 0", "F06", "[combine] minimum"),
    ("minimum = 25", "minimum = 2.5", "F06", "[combine] minimum"),
    ("minimum = 25", "minimum = true", "F06", "[combine] minimum"),
    ("minimum = 25", "minimum = 25\nparties = 0", "F06", "[combine] parties"),
    ("minimum = 25", "minimum = 25\nparties = true", "F06", "[combine] parties"),
    ("minimum = 25", "minimum = 25\nparties = 24", "F06", "nothing would be pooled"),
    ("level = 0.9", "level = 90", "F06", "[combine] level"),
    ("level = 0.9", "level = 0.4", "F06", "[combine] level"),
    ("level = 0.9", "level = nan", "F06", "[combine] level"),
    ("level = 0.9", "level = true", "F06", "[combine] level"),
    ("[combine]", "combine = 3\n[combined]", "F05", "combine"),
    ("contact = \"data@st-mary", "contakt = \"data@st-mary", "F05", "[parties.st-mary]"),
    ("contact = \"data@st-mary.example\"", "contact = 5", "F06", "[parties.st-mary] contact"),
    ("ed25519:MCow", "rsa:MCow", "F06", "[parties.st-mary] key"),
    ("ed25519:MCow", "ed25519:MCox", "F06", "tacit keys new"),
    ("0000=", "=", "F06", "no Ed25519 public key"),
    ("ed25519:MCow", "ed25519:M Cow", "F06", "[parties.st-mary] key"),
    ("ed25519:MCow", "ed25519:MÖow", "F06", "[parties.st-mary] key"),
    ("rows = 6_200", "rows = 1", "F06", "[parties.st-luke] rows"),
    ("optional = true", "optional = 1", "F06", "[parties.st-luke] optional"),
    ("[parties.st-luke]", '[parties." "]', "F06", "party"),
    ("[parties.st-mary]\ncontact", "[parties]\nst-mary = 4\n[parties.st-mark]\ncontact", "F06", "[parties.st-mary]"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "code", "says"), MISTAKES, ids=[f"{row[2]}-{i}" for i, row in enumerate(MISTAKES)]
)
def test_every_mistake_of_a_study_is_named_in_its_place(
    old: str, new: str, code: str, says: str, tmp_path: Path
) -> None:
    assert old in STUDY
    with pytest.raises(TacitError) as caught:
        load(tmp_path, STUDY.replace(old, new, 1))
    error = caught.value
    assert error.code == code
    assert error.code in CODES
    assert says in str(error)
    assert error.hint
    assert str(error).endswith("Nothing was read or spent.")


BLOCKS = """
[ask.law]
query = "SampleAndAggregate"
what = "wait"
model = { family = "Exponential", rate = [0.001, 1] }
rows = 1_000
[ask.own]
query = "SampleAndAggregate"
what = "wait"
model = { family = "Exponential", rate = [0.001, 1] }
blocks = 40
rows = 1_000
[ask.few]
query = "SampleAndAggregate"
what = "wait"
model = { family = "Exponential", rate = [0.001, 1] }
parties = 3
rows = 1_000
[combine]
"""


def test_how_many_parties_is_said_once(tmp_path: Path) -> None:
    """Blocks that suit the mean over 40 parties, but where a question says otherwise; the plan tells of both."""
    plain = load(tmp_path, STUDY.replace("[combine]", BLOCKS))
    said = load(tmp_path, STUDY.replace("[combine]", f"{BLOCKS}parties = 40"))
    asked = {name: said.asks[name] for name in ("law", "own", "few")}
    assert [getattr(one, "parties", 0) for one in asked.values()] == [40, None, 3]
    assert [getattr(one, "blocks", 0) for one in asked.values()] == [None, 40, None]
    assert said.asks["law"] == tc.SampleAndAggregate("wait", asked["law"].model, rows=1_000, parties=40)  # type: ignore[attr-defined]
    assert said.asks["stay"] == plain.asks["stay"]
    assert said.digest() != plain.digest()
    for study, line in ((said, "mean over 40 parties"), (plain, "'law' has as many blocks as suit one party")):
        page = study.plan()
        assert page.parties is not None
        assert [line in one for one in page.parties.lines()].count(True) == 1


def test_a_plan_reckons_with_the_parties_that_are_expected(tmp_path: Path) -> None:
    text = STUDY.partition("[parties.st-mary]")[0].replace('"random"', '"common"')
    none = load(tmp_path, text).plan().parties
    forty = load(tmp_path, text.replace("minimum = 25", "minimum = 25\nparties = 40")).plan().parties
    assert none is not None
    assert forty is not None
    assert (none.together, forty.together) == (False, True)
    assert "40 expected" in forty.lines()[0]
    one, all_ = forty.pools[0].variance((1_500,)), forty.pools[0].variance((1_500,) * 40)
    assert all_ == pytest.approx(one / 40)
    width = forty.pooled("readmission", "readmitted")
    assert width is not None
    assert width > 0


def test_a_study_without_questions_is_none(tmp_path: Path) -> None:
    text = STUDY.partition("[ask.quality]")[0] + "[combine]\n"
    with pytest.raises(TacitError, match="no question") as caught:
        load(tmp_path, text)
    assert caught.value.code == "F09"


def test_a_name_that_is_no_party(tmp_path: Path) -> None:
    study = load(tmp_path, STUDY)
    assert study.party("st-luke").optional
    for name, says in (("st-marie", 'name="st-mary"'), ("xyz", "coordination@hip-study.example")):
        with pytest.raises(TacitError) as caught:
            study.party(name)
        assert (caught.value.code, says in str(caught.value)) == ("P03", True)


def plans(folder: Path, *changes: tuple[str, str], **words: Any) -> tc.Plan:
    text = STUDY
    for old, new in changes:
        assert old in text
        text = text.replace(old, new, 1)
    return load(folder, text).plan(**words)


COMMON = ('"random"', '"common"')
ALIKE = ("rows = 6_200", "rows = 1_500")


def test_a_plan_of_a_study_is_that_of_one_party(tmp_path: Path) -> None:
    study, page = load(tmp_path, STUDY), plans(tmp_path)
    words: dict[str, Any] = {"rows": 1_500, "epsilon": 1, "shares": study.shares, "level": 0.9}
    same = tc.plan(study.asks, study.schema, neighbors="add-remove", **words)
    assert [part.terms for part in page.parts] == [part.terms for part in same.parts]
    assert (page.cost, page.level, page.fits) == (study.spend, 0.9, True)
    assert page.summary().columns[-1] == "without privacy"


def test_a_plan_of_other_words(tmp_path: Path) -> None:
    small = (
        ('columns = ["stay", "wait"]\nby = "sex"', 'columns = "stay"'),
        ('query = "DataQuality"', 'query = "Mean"\ncolumns = "age"'),
    )
    page = plans(tmp_path, *small)
    assert plans(tmp_path, *small, rows=6_000).width_without_privacy < page.width_without_privacy
    assert plans(tmp_path, *small, epsilon=0.5).width > page.width
    assert not plans(tmp_path, *small, epsilon=2).fits
    assert plans(tmp_path, *small, level=0.99).width > page.width


def test_a_pooled_width_is_foretold_only_where_it_is_known(tmp_path: Path) -> None:
    page = plans(tmp_path, COMMON, ALIKE)
    table = page.summary()
    assert table.columns[-1] == "pooled over 2"
    # terms that are alike share a line, "stay: missing … stay: … (3 alike)"
    at = {(row[0], str(row[1]).split(" … ")[0]): (row[2], row[-1]) for row in table.rows}
    width, pooled = at["stay", "stay:female"]
    assert float(str(pooled)) == pytest.approx(float(str(width)) / 2**0.5, rel=0.01)
    assert at["quality", "stay: missing"][1] == "–"
    assert "pooled over 2" in page.to_html()
    unknown = plans(tmp_path, ALIKE)
    assert unknown.parties is not None
    assert unknown.parties.pooled("stay", "stay:female") is None
    assert unknown.summary().columns[-1] == "without privacy"
    assert any("may differ" in line for line in unknown.parties.lines())
    assert "nothing will be pooled" in page.to_text()
    assert "answers count until 2025-03-31" in page.to_text()


def test_a_plan_under_replace_one_needs_rows(tmp_path: Path) -> None:
    changes = (("rows = 1_500", ""), ("add-remove", "replace-one"))
    with pytest.raises(TacitError) as caught:
        plans(tmp_path, *changes)
    assert caught.value.code == "Q41"
    assert plans(tmp_path, *changes, rows=900).rows == 900


def test_a_study_of_any_day(tmp_path: Path) -> None:
    day = date.today() + timedelta(days=1)
    assert load(tmp_path, STUDY.replace("2025-03-31", day.isoformat())).closes == day


PAIR = """tacit = 1
title = "t"
[table]
name = "n"
rows = 100
[budget]
epsilon = 1
delta = 1e-6
{accounting}
[schema]
x = {{ type = "Real", lower = 0, upper = 1 }}
[spend]
epsilon = 1
delta = 1e-6
[ask.m]
query = "Mean"
columns = "x"
[combine]
effects = "common"
"""


def test_the_digest_of_a_study_with_a_pair_is_that_of_before(tmp_path):
    """As the version before μ printed it for this file, at a price of a half, so that answers to it still count."""
    found = {}
    for words in ("", 'accounting = "gdp"', 'accounting = "zcdp"', 'accounting = "basic"'):
        text = PAIR.format(accounting=words).replace("[spend]\nepsilon = 1", "[spend]\nepsilon = 0.5")
        (tmp_path / "study.toml").write_text(text, encoding="utf-8")
        found[words] = tc.Study.load(tmp_path / "study.toml").digest()
    assert found[""] == "f7726045e302dab164a5bcab95d61570d77df8e21dc5f3149c4345396cb21839"
    assert found['accounting = "gdp"'] == found[""]  # the same promise
    assert len(set(found.values())) == 3


def test_a_study_may_ask_for_all_of_its_pair_and_answers_in_shares_of_rho_count(tmp_path):
    (tmp_path / "study.toml").write_text(PAIR.format(accounting=""), encoding="utf-8")
    study = tc.Study.load(tmp_path / "study.toml")  # [spend] is [budget]: refused before, under ρ
    assert study.budget.kind == "gdp"
    half = study.spend.share(Fraction(1, 2))
    for cost in (half, Cost(rho=half.zcdp)):
        costs = (("a", cost, (cost,)), ("b", cost, (cost,)))
        assert checking._price(study.budget, study.spend, costs) is None
        said = checking._price(study.budget, study.spend, (*costs, ("c", cost, ())))
        assert said is not None
        assert "at δ = 1e-06" in said
        assert "weaker privacy" in said
