"""The API reads well: what people type in the first jobs runs as typed, line by line, and the files beside it too.

What later versions bring is listed in LATER, each with its reason, and must still be refused: when it comes, its line
leaves the list and runs with the others.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
import pytest
from fourteen_jobs import ASK, HOSPITAL, PUMS, RETURNED, SCRIPT, SITE, STUDY
from in_process import inside

import tacit as tc
from tacit.errors import QueryError

LATER: Final[dict[str, str]] = {
    "import jax.numpy as jnp": "job f2, models of one's own, is what needs it",
}
"""Beginning of a line, a section or a command that is not yet served -> why."""

CHANGED: Final = {"width=2_000": "width=6_000"}
"""As typed, no price makes it: a plan sees no data, takes incomes as spread evenly over 0 to 300,000, and then sampling
alone is 4,806 wide (Q40 says so).  The line runs with a width that can be had."""


def later(text: str) -> bool:
    """Whether a statement or a command is one that later versions bring."""
    return any(text.startswith(one) for one in LATER)


def statements(script: str) -> Iterator[str]:
    """The statements of a script, as they are typed."""
    for node in ast.parse(script).body:
        yield ast.get_source_segment(script, node) or ""


def run_script(script: str, **given: Any) -> tuple[dict[str, Any], dict[str, Any]]:
    """Names and values of statements, after all that can run have run and all of LATER's have been refused."""
    names: dict[str, Any] = dict(given)
    values: dict[str, Any] = {}
    for text in statements(script):
        if text == "import jax.numpy as jnp":  # installed or not, nothing that runs here needs it
            continue
        for typed, served in CHANGED.items():
            if typed in text:
                with pytest.raises(
                    QueryError, match="no price makes the interval 2000 wide: sampling alone gives 4806"
                ):
                    exec(text, names)
                text = text.replace(typed, served)
        if later(text):
            with pytest.raises((AttributeError, NameError)):
                exec(text, names)
        elif isinstance(ast.parse(text).body[0], ast.Expr):
            values[text] = eval(text, names)
        else:
            exec(text, names)
    return names, values


def tacit(command: str, code: int = 0) -> str:
    """What `tacit ...` writes, as typed in a shell in the current folder."""
    left, out, err = inside(Path.cwd(), *shlex.split(command)[1:], columns=160)
    assert left == code, out + err
    return out + err


def commands(text: str) -> list[str]:
    """Commands in the comments of a file, without the words that explain them."""
    typed = re.findall(r"^# \$ (tacit .*)$", text, flags=re.MULTILINE)
    return [re.split(r" {2,}", one)[0] for one in typed]


def without_section(text: str, head: str) -> str:
    """A file without one of its sections."""
    start = re.search(rf"^{re.escape(head)}.*\n", text, flags=re.MULTILINE)
    assert start is not None
    end = re.search(r"^(\[|# \$)", text[start.end() :], flags=re.MULTILINE)
    return text[: start.start()] + text[start.end() + (end.start() if end else len(text)) :]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return tmp_path


# The script ---------------------------------------------------------------------------------------------------------


def test_the_script_runs_as_typed(home: Path) -> None:
    """To job c2.  Numbers within 7 standard errors of the table's own: beyond with probability < 1e-6."""
    names, values = run_script(SCRIPT)
    people, curator = names["people"], names["curator"]
    age = names["release"].estimate()
    assert age.conf_int(0.95) == (names["low"], names["high"])
    assert abs(age.value - people["age"].mean()) < 7 * age.std_error
    income = names["income"]
    assert income.terms == ("north:male", "north:female", "south:male", "south:female")
    young = people[people["age"] < 65]
    for term in income.terms:
        region, sex = term.split(":")
        cell = young[(young["region"] == region) & (young["sex"] == (sex == "female"))]
        truth = np.average(cell["income"].clip(0, 300_000), weights=cell["weight"])
        assert abs(income[term].value - truth) < 7 * income[term].std_error
    margin = next(value for text, value in values.items() if "margin" in text)
    assert "male:false" in str(margin)
    shown = [value for text, value in values.items() if "margin" not in text]
    assert [type(one).__name__ for one in shown] == [
        *("Estimate", "Estimate", "NoneType"),  # contrast, standardize, to_csv
        *("float", "NoneType", "Cost", "Table"),  # test of a fit, save of a table of models, plan, pairwise
        *("NoneType", "Estimate"),  # save, found by name
    ]
    assert "one joint release: the covariance is known" in shown[0].notes
    assert list(pd.read_csv("income.csv", index_col=0).index) == list(income.terms)
    assert [row[0] for row in shown[6].rows] == ["north - south"]
    assert 0 <= shown[3] <= 1
    saved = Path("table1.tex").read_text(encoding="utf-8")
    assert "sex[T.female]" in saved.replace("{[}", "[")
    wide = names["wide"]["sex[T.female]"]
    clamped = people["income"].clip(0, 300_000)
    assert wide.value < -10_000 < clamped.mean()
    for fit, terms in (("ols", ["Intercept", "age", "sex[T.female]"]), ("logit", ["age:sex[T.female]"])):
        assert set(terms) <= set(names[fit].terms)
        assert set(names[fit].reasons) == {None}
    plan = tc.plan(tc.Mean("income", by="region"), names["schema"], rows=10_000, rho=shown[5].rho)
    assert plan.width <= 6_000
    assert str(names["answers"]["quartiles"].cost) == "ρ = 0.04"
    assert (np.diff(names["answers"]["quartiles"].estimate().values) >= 0).all()
    assert list(tc.Releases.load("answers.json")) == ["mean", "quartiles"]
    assert shown[-1].conf_int() == age.conf_int()
    again = tc.Curator(people, names["schema"], name="people-2024", ledger="people.ledger")  # next year
    assert again.releases["age"] == names["release"]
    assert again.remaining == curator.remaining
    assert names["training"].shape == (10_000, 4)
    assert list(names["training"]["sex"].cat.categories) == ["male", "female"]


@pytest.mark.long
def test_jobs_c1_and_c2_in_a_shell(home: Path) -> None:
    """On the people and under the ledger of the script."""
    run_script(SCRIPT)
    tc.examples.people().to_parquet("people.parquet")
    Path("ask.toml").write_text(ASK, encoding="utf-8")
    typed = re.search(r"^# c1 steward:  \$ (.*)$", SCRIPT, flags=re.MULTILINE)
    audit = re.search(r"^# c2 audit: +\$ (.*)$", SCRIPT, flags=re.MULTILINE)
    assert typed is not None
    assert audit is not None
    check, plan, release = (tacit(one.strip()) for one in typed[1].split(";"))
    assert "2 columns agree with this Parquet file; no row was read" in check
    assert "Promise" in plan
    assert "left 0.43 of 1.00" in release  # 0.47 in Python, 0.1 here
    listed = json.loads(tacit(f"{audit[1]} --json"))
    assert listed["spent"] == {"rho": "57/100"}
    assert [one["note"] for one in listed["charges"]] == ["", "", "", "", "", "board 17", "board 17"]
    assert "board 17" in tacit(audit[1])


@pytest.mark.long
def test_a_hospital_runs_the_study_in_python_and_the_answers_are_combined(home: Path) -> None:
    """Jobs d1 and d2 as typed, on made-up records named as the study has them; six hospitals answer, one wrongly."""
    text = STUDY.replace(f'key = "{LISTED}"\n', "")  # what is typed there signs nothing
    Path("study.toml").write_text(open_study(text), encoding="utf-8")
    Path("returned").mkdir()
    study = tc.Study.load("study.toml")
    study.schema.example(800, rng=0).to_csv("records.csv", index=False)
    names, values = run_script(HOSPITAL)
    assert "study.plan().summary()" in values
    found = tc.Releases.load("returned/st-mary.json")
    assert list(found) == ["quality", "stay", "readmission", "wait-law"]
    assert found["stay"].study == names["study"].digest()
    others_answer(study, text)
    names, values = run_script(RETURNED, study=names["study"])
    assert values["result.refused"] == {"st-luke": "'stay' is 0 to 60 there, 0 to 365 in the study"}
    assert len(names["result"].parties) == 5
    drawn = next(value for text, value in values.items() if "plot()" in text)
    assert len(drawn.terms) == 6
    assert "one more party" in drawn.axes.get_legend_handles_labels()[1]


# The files ----------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_the_curators_file_runs_as_written(home: Path) -> None:
    Path("pums.toml").write_text(PUMS, encoding="utf-8")
    text = PUMS
    made_up_pums().to_parquet("pums_california_10000.parquet")
    said: dict[str, str] = {}
    for command in commands(text):
        said[command] = tacit(command, code=2 if later(command) else 0)
    assert "6 columns agree" in said["tacit check pums.toml"]
    assert "10,000 rows" in said["tacit plan pums.toml"]
    assert "left 0.30 of 0.50" in said["tacit release pums.toml"]
    fit = next(words for command, words in said.items() if command.startswith("tacit fit"))
    assert "Logistic regression · married ~ age + sex · pums-california-2000" in fit
    assert r"\begin{tabular}" in Path("table1.tex").read_text(encoding="utf-8")
    shown = said["tacit show pums.release.json"]
    asked = ("quality", "mean-age", "income-by-sex", "income-quartiles", "cells")
    for name in asked:
        assert re.search(rf"^{name}$", shown, flags=re.MULTILINE), shown
    assert "male:false" in shown
    assert "income: missing" in shown
    assert "ρ = 0.2" in said["tacit budget pums.ledger"]
    saved = Path("pums.release.json").read_text(encoding="utf-8")
    assert "left 0.30 of 0.50" in tacit("tacit release pums.toml")  # again is free
    assert Path("pums.release.json").read_text(encoding="utf-8") == saved
    found = tc.Releases.load("pums.release.json")
    assert tuple(found) == asked
    assert found["cells"].counts.shape == (15, 8, 2, 2)
    assert found["cells"].margin(["sex", "married"]).estimate(target="table").terms[0] == "male:false"
    share = found["quality"].estimate()["income: missing"]
    assert abs(share.value - 0.1) < 7 * share.std_error  # beyond with probability < 1e-6


@pytest.mark.long
def test_the_study_and_a_hospitals_page_run_as_written(home: Path) -> None:
    Path("study.toml").write_text(STUDY, encoding="utf-8")
    text = STUDY
    Path("st-mary.toml").write_text(SITE, encoding="utf-8")
    Path("exports").mkdir()
    made_up_hips().to_csv("exports/hip_2024.csv", index=False)
    plan, release, combine = commands(text)
    assert "Promise" in tacit(plan)
    assert "C29" in tacit(release, code=2)  # there is no key yet
    public = json.loads(tacit("tacit keys new st-mary --json"))["public"]
    assert "C30" in tacit(release, code=2)  # the page's key is nobody's
    text = text.replace(LISTED, public)
    Path("study.toml").write_text(text, encoding="utf-8")
    assert "P01" in tacit(release, code=2)  # it closed in 2025
    # a refused first release leaves no empty ledger behind
    assert not Path("st-mary.ledger").exists()
    Path("study.toml").write_text(open_study(text), encoding="utf-8")
    assert "no row was read" in tacit("tacit check study.toml --site st-mary.toml")
    shown = tacit(release)
    assert "saved to st-mary.release.json" in shown
    found = tc.Releases.load("st-mary.release.json")
    stay = found["stay"].estimate()
    assert stay.terms[:3] == ("stay:female", "stay:male", "stay:unknown")
    assert abs(stay["wait:female"].value - 24) < 7 * stay["wait:female"].std_error  # minutes became hours
    assert found["stay"].study == tc.Study.load("study.toml").digest()
    assert found["wait-law"].estimate().terms == ("shape", "rate")
    Path("returned").mkdir()
    Path("st-mary.release.json").rename("returned/st-mary.release.json")
    others_answer(tc.Study.load("study.toml"), text)
    assert found.signature is not None
    said = tacit(combine, code=4)
    assert "not signed: hospital-0, hospital-1" in said  # and not st-mary
    assert "refused st-luke: 'stay' is 0 to 60 there, 0 to 365 in the study" in said
    assert "stay: wait:female" in said
    assert "saved to results/" in said
    assert Path("results/summary.csv").exists()


LISTED: Final = "ed25519:MCowBQYDK2VwAyEA0000000000000000000000000000000000000000000="
"""The key of the page, which stands for one that a hospital makes."""


def open_study(text: str) -> str:
    """The study, open until a day that no test will see, and answered by four."""
    assert "closes = 2025-03-31" in text
    assert "# … 38 more" in text
    more = "\n".join(f"[parties.hospital-{i}]" for i in range(38))
    return (
        text.replace("closes = 2025-03-31", "closes = 9999-03-31")
        .replace("# … 38 more", more)
        .replace("minimum = 25", "minimum = 4")
    )


def others_answer(study: tc.Study, text: str, count: int = 4) -> None:
    """Answers of hospitals beside st-mary, and one of st-luke to a study with other bounds."""
    for i in range(count):
        table = study.schema.example(600, rng=i + 1)
        tc.Curator(table, study, name=f"hospital-{i}").release(study).save(f"returned/hospital-{i}.json")
    other = tc.Study.from_toml(open_study(text).replace("upper = 365", "upper = 60"))
    tc.Curator(other.schema.example(600, rng=0), other, name="st-luke").release(other).save("returned/st-luke.json")


def made_up_pums(rows: int = 10_000) -> pd.DataFrame:
    """Nobody's rows, named as in the file: a tenth of the incomes is missing."""
    rng = np.random.default_rng(0)
    income = np.where(rng.random(rows) < 0.1, np.nan, np.round(rng.lognormal(10.2, 0.9, rows)))
    return pd.DataFrame(
        {
            "age": rng.integers(18, 94, rows),
            "income": income,
            "educ": rng.integers(1, 17, rows),
            "sex": rng.integers(0, 2, rows),
            "married": rng.random(rows) < 0.5,
            "latino": rng.random(rows) < 0.3,
        }
    )


def made_up_hips(rows: int = 1_500) -> pd.DataFrame:
    """Nobody's admissions in a hospital's own words: waits are in minutes, a day on average."""
    rng = np.random.default_rng(1)
    day = pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 366, rows), unit="D")
    return pd.DataFrame(
        {
            "PATIENT_NO": rng.integers(0, rows // 2, rows),
            "LOS": rng.poisson(9, rows),
            "WAIT_MIN": rng.integers(12 * 60, 36 * 60, rows, endpoint=True),
            "ADM_DT": pd.Series(day).dt.strftime("%d/%m/%Y"),
            "age": rng.integers(50, 100, rows),
            "GENDER": rng.choice(["F", "W", "M", "X"], rows),
            "READM30": rng.choice(["J", "N", ""], rows),
        }
    )


# The list itself ----------------------------------------------------------------------------------------------------


def test_what_comes_later_is_on_the_page_and_still_refused() -> None:
    everything = "\n".join((SCRIPT, re.sub(r"(\[\S+\]) +#.*", r"\1", PUMS + STUDY), SITE, *commands(PUMS + STUDY)))
    assert [one for one in LATER if one not in everything] == []
    assert "wait-law" in tc.Study.from_toml(STUDY).asks
