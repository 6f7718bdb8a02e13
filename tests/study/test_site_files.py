"""A site file: where a party's rows are and how its words map to the study's; every mistake named in its place."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit as tc
from tacit.errors import CODES, TacitError
from tacit.study import ColumnMap

STUDY = """
tacit = 1
[budget]
epsilon = 1
neighbors = "add-remove"
[schema]
patient = { type = "PrivacyUnit", max_rows = 2 }
stay = { type = "Integer", lower = 0, upper = 365, units = "days" }
wait = { type = "Real", lower = 0, upper = 240, units = "hours" }
admitted = { type = "Date", lower = 2024-01-01, upper = 2024-12-31 }
sex = { type = "Category", levels = { 1 = "male", 2 = "female" }, missing = "unknown" }
arm = { type = "Category", levels = ["old", "new"] }
"was readmitted" = { type = "Boolean", column = "readmitted" }
[spend]
epsilon = 1
[ask.stay]
query = "Mean"
columns = "stay"
[parties.st-mary]
[parties.st-luke]
"""
SITE = """
name = "st-mary"                        # as the study lists it

[data]
path = "exports/hip_2024.csv"
ledger = "st-mary.ledger"

[data.columns]
patient = { column = "PATIENT_NO" }
stay = { column = "LOS", recode = { none = 0, long = 365 } }
wait = { column = "WAIT_MIN", multiply = 0.016666666666666666 }
admitted = { column = "ADM_DT", format = "%d/%m/%Y" }
sex = { column = "GENDER", recode = { F = "female", W = "female", M = "male", X = "unknown" } }
arm = { recode = { A = "new" } }
"was readmitted" = { column = "READM30", recode = { J = true, N = false } }
"""


def load(folder: Path, text: str) -> tc.Site:
    (folder / "st-mary.toml").write_text(text, encoding="utf-8")
    return tc.Site.load(folder / "st-mary.toml", tc.Study.from_toml(STUDY))


def test_words_become_maps_in_the_codes_of_the_study(tmp_path: Path) -> None:
    site = load(tmp_path, SITE)
    assert (site.name, site.data, site.ledger) == (
        "st-mary",
        tmp_path / "exports" / "hip_2024.csv",
        str(tmp_path / "st-mary.ledger"),
    )
    assert site.columns == {
        "patient": ColumnMap("patient", "patient", "PATIENT_NO"),
        "stay": ColumnMap("stay", "stay", "LOS", recode={"none": 0, "long": 365}),
        "wait": ColumnMap("wait", "wait", "WAIT_MIN", multiply=1 / 60),
        "admitted": ColumnMap("admitted", "admitted", "ADM_DT", format="%d/%m/%Y"),
        "sex": ColumnMap("sex", "sex", "GENDER", recode={"F": 2, "W": 2, "M": 1, "X": None}),
        "arm": ColumnMap("arm", "arm", "arm", recode={"A": "new"}),
        "was readmitted": ColumnMap("was readmitted", "readmitted", "READM30", recode={"J": True, "N": False}),
    }
    assert site.study == tc.Study.from_toml(STUDY).digest()
    assert [name for name, one in site.columns.items() if one.renames_only] == ["patient"]


def test_what_a_site_may_leave_out(tmp_path: Path) -> None:
    site = load(tmp_path, 'name = "st-luke"\n[data]\npath = "/far/rows.parquet"\n')
    assert (site.data, site.ledger, site.columns) == (Path("/far/rows.parquet"), None, {})
    assert load(tmp_path, SITE.replace("st-mary.ledger", "postgresql://server/l")).ledger == "postgresql://server/l"


def test_columns_may_swap_their_names(tmp_path: Path) -> None:
    swap = 'stay = { column = "wait" }\nwait = { column = "stay" }\n'
    site = load(tmp_path, SITE.partition("[data.columns]")[0] + "[data.columns]\n" + swap)
    assert {name: one.column for name, one in site.columns.items()} == {"stay": "wait", "wait": "stay"}


@pytest.mark.parametrize("text", ["%d.%m.%y", "%Y%m%d", "%m/%d/%Y %H:%M:%S", "(%Y-%m-%d)"])
def test_formats_of_dates(text: str, tmp_path: Path) -> None:
    assert load(tmp_path, SITE.replace("%d/%m/%Y", text)).columns["admitted"].format == text


WAIT, STAY, ADMITTED = "multiply = 0.016666666666666666", 'column = "LOS"', 'format = "%d/%m/%Y"'
MISTAKES = [
    ('name = "st-mary"', 'nmae = "st-mary"', "F05", "name"),
    ('name = "st-mary"', "", "F09", "name"),
    ('name = "st-mary"', "name = 5", "F06", "name"),
    ('name = "st-mary"', 'name = "st-marie"', "P03", "st-mary"),
    ('name = "st-mary"', 'tacit = 2\nname = "st-mary"', "F04", "tacit = 1"),
    ("[data]", "[date]", "F05", "data"),
    ('path = "exports/hip_2024.csv"', "", "F09", "path"),
    ('path = "exports/hip_2024.csv"', 'file = "x.csv"', "F05", "path"),
    ('ledger = "st-mary.ledger"', 'key = "st-mary.private"', "C29", "st-mary.private cannot be read"),
    ('ledger = "st-mary.ledger"', "key = 3", "F06", "[data] key"),
    ('ledger = "st-mary.ledger"', "ledger = 3", "F06", "[data] ledger"),
    ("[data.columns]", "columns = 3\n[data.column]", "F05", "columns"),
    ("stay = {", "stya = {", "Q10", "'stay'"),
    ("stay = {", "LOS = {", "Q10", "[data.columns]"),
    (STAY, 'colunm = "LOS"', "F05", "column"),
    (STAY, "column = 5", "F06", "[data.columns] stay column"),
    (STAY, 'column = ""', "F06", "[data.columns] stay column"),
    (STAY, 'column = "WAIT_MIN"', "F20", "'stay' and 'wait' are both 'WAIT_MIN'"),
    (STAY, 'column = "arm"', "F20", "'stay' and 'arm' are both 'arm'"),
    ('{ column = "PATIENT_NO" }', "{}", "F20", "names no column of the table"),
    ('{ column = "PATIENT_NO" }', '"PATIENT_NO"', "F20", "names no column of the table"),
    ('column = "PATIENT_NO"', "multiply = 2", "F20", "PrivacyUnit"),
    ('column = "PATIENT_NO"', 'recode = { a = "b" }', "F20", "whose row it is stays as it is"),
    ('column = "PATIENT_NO"', 'format = "%d%m%Y"', "F20", "PrivacyUnit"),
    (WAIT, "multiply = 0", "F06", "[data.columns] wait multiply"),
    (WAIT, "multiply = inf", "F06", "[data.columns] wait multiply"),
    (WAIT, "multiply = nan", "F06", "[data.columns] wait multiply"),
    (WAIT, "multiply = true", "F06", "[data.columns] wait multiply"),
    (WAIT, 'multiply = "1/60"', "F06", "[data.columns] wait multiply"),
    (WAIT, f"multiply = 1{'0' * 400}", "F06", "[data.columns] wait multiply"),
    (WAIT, "multiply = 2, recode = { none = 0 }", "F20", "which comes first"),
    (WAIT, ADMITTED, "F20", "multiply = 0.001"),
    (ADMITTED, WAIT, "F20", "format = "),
    (ADMITTED, "recode = { x = 2024-01-01 }", "F20", "Date"),
    ("recode = { J = true", "multiply = 2, recode = { J = true", "F20", "Boolean"),
    ("%d/%m/%Y", "%d/%b/%Y", "F06", "%b is not known"),
    ("%d/%m/%Y", "%d/%m/%Y%", "F06", "is not known"),
    ("%d/%m/%Y", "%d/%m/%Y%%", "F06", "is not known"),
    ("%d/%m/%Y", "%d/%m/%Y %d", "F06", "%d occurs twice"),
    ("%d/%m/%Y", "%d/%m", "F06", "one year"),
    ("%d/%m/%Y", "%d/%m/%Y %y", "F06", "one year"),
    ("%d/%m/%Y", "%m/%Y", "F06", "needs a day"),
    ("%d/%m/%Y", "%Y-%m-%dT%H", "F06", "'T' is neither"),
    ("%d/%m/%Y", "%Y–%m–%d", "F06", "neither punctuation"),
    ('"%d/%m/%Y"', "3", "F06", "format is 3"),
    ("F = \"female\"", "F = \"femal\"", "F20", "Hint: female"),
    ("F = \"female\"", "F = 2", "F20", "recode of 'F' is 2"),
    ("F = \"female\"", "F = true", "F20", "recode of 'F' is True"),
    ('A = "new"', 'A = "exclude"', "F20", "recode of 'A'"),
    ("J = true", "J = 1", "F20", "true or false"),
    ("J = true", 'J = "true"', "F20", "true or false"),
    ("none = 0", 'none = "0"', "F20", "is a number"),
    ("none = 0", "none = true", "F20", "is a number"),
    ("none = 0", "none = 0.5", "F20", "a whole number"),
    ("none = 0", "none = -1", "F20", "outside the study's 0 to 365"),
    ("none = 0", "none = nan", "F20", "is a number"),
    ("recode = { none = 0, long = 365 }", "recode = {}", "F06", "recode"),
    ("recode = { none = 0, long = 365 }", "recode = [1]", "F06", "recode"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "code", "says"), MISTAKES, ids=[f"{row[2]}-{i}" for i, row in enumerate(MISTAKES)]
)
def test_every_mistake_of_a_site_is_named_in_its_place(
    old: str, new: str, code: str, says: str, tmp_path: Path
) -> None:
    assert old in SITE
    with pytest.raises(TacitError) as caught:
        load(tmp_path, SITE.replace(old, new, 1))
    error = caught.value
    assert (error.code, error.code in CODES) == (code, True), str(error)
    assert says in str(error)
    assert error.hint
    assert str(error).endswith("Nothing was read or spent.")
