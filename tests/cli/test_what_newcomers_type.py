"""What people type who know R, SQL or pandas, and what the error then tells them to type: a fix that works."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import tacit as tc
from tacit.cli.app import app
from tacit.errors import TacitError
from tacit.method.regression.formulas.formula import parse as formula
from tacit.schema.predicates.parser import parse as condition

FILE = """\
tacit = 1
[table]
name = "people"
[data]
path = "people.csv"
ledger = "people.ledger"
[budget]
rho = 0.5
[schema]
age = { type = "Real", lower = 18, upper = 93 }
[spend]
rho = 0.1
[ask.age]
query = "Mean"
columns = "age"
"""


@pytest.mark.parametrize(
    ("typed", "here"),
    [
        ("sex = 'male'", "sex == 'male'"),
        ('sex = "male"', "sex == 'male'"),
        ("age > 20 AND educ < 5", "age > 20 and educ < 5"),
        ("age > 20 && educ < 5 || married", "age > 20 and educ < 5 or married"),
        ("age <> 20", "age != 20"),
        ("region %in% c('n', 's')", "region in ['n', 's']"),
        ("region IN ('n', 's')", "region in ['n', 's']"),
        ("!married", "not married"),
        ("income IS NOT NULL", "income.notna()"),
        ("married = TRUE", "married == True"),
        ("age over 20", "age >= 18 and sex == 'female'"),
        ("age between 20 and 30", "age >= 18 and sex == 'female'"),
    ],
)
def test_a_condition_of_sql_or_r_is_written_as_one(typed: str, here: str) -> None:
    with pytest.raises(TacitError) as caught:
        condition(typed)
    assert caught.value.code == "Q60"
    assert caught.value.hint == f'where="{here}"'
    condition(here)


@pytest.mark.parametrize(
    ("typed", "here"),
    [
        ("income = age + sex", "income ~ age + sex"),
        ("income ~ age + I(age^2)", "income ~ age + I(age ** 2)"),
        ("income ~ factor(sex) + as.factor(region)", "income ~ C(sex) + C(region)"),
        ("np.log(income) ~ age^2 + np.sqrt(age)", None),
        ("income ~ np.log(age)", "income ~ log(age)"),
        ("income ~ ???", None),
    ],
)
def test_a_formula_of_r_is_written_as_one(typed: str, here: str | None) -> None:
    with pytest.raises(TacitError) as caught:
        formula(typed)
    assert caught.value.code == "Q85"
    if here is not None:
        assert (caught.value.hint or "").startswith(repr(here))
        formula(here)


@pytest.mark.parametrize(
    ("typed", "here"), [("Median", "tc.Quantiles("), ("mean", "tc.Mean("), ("lm", "tc.Regression(")]
)
def test_a_word_of_another_library_has_its_own(typed: str, here: str) -> None:
    with pytest.raises(AttributeError, match=re.escape(here)):
        getattr(tc, typed)
    assert not hasattr(tc, "spam")
    with pytest.raises(AttributeError) as caught:
        tc.Meen  # type: ignore[attr-defined]  # noqa: B018
    # from its name and module Python's traceback suggests the nearest
    assert (caught.value.name, caught.value.obj) == ("Meen", tc)


def test_a_pure_price_in_a_budget_with_delta_is_told_of_the_pair() -> None:
    schema = tc.Schema({"age": tc.Real(0, 100)})
    curator = tc.Curator({"age": [30.0, 40.0]}, schema, budget=tc.Budget(epsilon=1, delta=1e-6))
    with pytest.raises(TacitError) as caught:
        curator.release(tc.Mean("age"), epsilon=0.5)
    assert caught.value.code == "B02"
    assert (caught.value.hint or "").startswith(
        "epsilon=0.5, delta=1e-06 costs less here and fits; without a δ epsilon="
    )
    curator.release(tc.Mean("age"), epsilon=0.5, delta=1e-6)


def test_equal_bounds_are_not_advised_again() -> None:
    with pytest.raises(TacitError, match="both bounds of Real are 18") as caught:
        tc.Real(18, 18)
    assert caught.value.code == "S07"
    assert "Real(18, 18)" not in (caught.value.hint or "")


def test_a_range_without_a_name_says_where_names_are() -> None:
    with pytest.raises(TacitError, match="each number") as caught:
        tc.Statistic(lambda rows: [rows.mean()], lower=0, upper=60)
    assert caught.value.code == "M10"


def test_side_by_side_r_squared_is_called_so() -> None:
    table = {"y": [float(i % 7) for i in range(3000)], "x": [float(i % 5) for i in range(3000)]}
    schema = tc.Schema({"y": tc.Real(0, 6), "x": tc.Real(0, 4)})
    curator = tc.Curator(table, schema, budget=tc.Budget(rho=100))
    linear = curator.release(tc.Regression("y ~ x"), rho=20).estimate()
    mean = curator.release(tc.Mean("y"), rho=1).estimate()
    shown = str(tc.table(linear, mean))
    assert "R²" in shown
    assert "deviance" not in shown


@pytest.mark.parametrize("unit", [False, True])
def test_a_count_without_groups_is_called_by_what_it_counts(unit: bool) -> None:
    table = {"who": [i // 2 for i in range(400)], "age": [40.0] * 400}
    columns = {"age": tc.Real(18, 93), **({"who": tc.PrivacyUnit(max_rows=2)} if unit else {})}
    budget = tc.Budget(rho=9, neighbors="add-remove")
    curator = tc.Curator(table, tc.Schema(columns), budget=budget)
    word = "persons" if unit else "rows"
    assert tuple(curator.release(tc.Count(), rho=1).estimate().terms) == (word,)
    plan = tc.plan({"n": tc.Count()}, tc.Schema(columns), rows=400, rho=1, budget=budget)
    assert [term.term for term in plan.parts[0].terms] == [word]


@pytest.mark.parametrize(
    ("typed", "hint"),
    [(("show", "people.releas.json"), "people.release.json?"), (("check", "peopl.toml"), "people.toml?")],
)
def test_a_file_with_nearly_that_name_is_named(typed: tuple[str, str], hint: str, tmp_path: Path) -> None:
    for name in ("people.release.json", "people.toml"):
        (tmp_path / name).write_text("{}")
    said = shell(typed[0], str(tmp_path / typed[1]), code=2)
    assert f"{tmp_path / hint}" in said
    assert "FILE.release.json" in shell("show", str(tmp_path / "nothing" / "x"), code=2)


def shell(*words: str, code: int) -> str:
    found = CliRunner().invoke(app, list(words))
    problem = found.exception
    assert isinstance(problem, TacitError), found.output
    return str(problem)


def test_files_in_each_others_places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tc.examples.people(500).to_csv("people.csv", index=False)
    Path("ask.toml").write_text(FILE)
    Path("st-mary.toml").write_text('name = "st-mary"\n[data]\npath = "people.csv"\n')
    Path("answer.json").write_text('{"tacit": 1}')
    assert "it is a party's page" in shell("release", "st-mary.toml", code=2)
    assert "looks like JSON" in shell("combine", "answer.json", "answer.json", code=2)
    assert "such as FILE.release.json" in shell("show", "ask.toml", code=2)
    Path("old.toml").write_text(FILE.replace("tacit = 1\n", ""))
    assert "does not say which format it has" in shell("check", "old.toml", code=2)


def test_the_same_section_at_another_price_is_told_to_be_another_question(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    from tacit.cli.dialect import in_shell

    monkeypatch.chdir(tmp_path)
    tc.examples.people(500).to_csv("people.csv", index=False)
    Path("ask.toml").write_text(FILE)
    assert CliRunner().invoke(app, ["release", "ask.toml"]).exit_code == 0
    found = CliRunner().invoke(app, ["release", "ask.toml", "--rho", "0.2"]).exception
    assert isinstance(found, TacitError)
    assert found.code == "L09"
    assert "it was asked at ρ = 0.1, and is now at ρ = 0.2" in found.message
    assert in_shell(found.hint or "", {}) == "[ask.age-2]"
    Path("ask.toml").write_text(FILE.replace("[ask.age]", "[ask.age-2]"))
    assert CliRunner().invoke(app, ["release", "ask.toml", "--rho", "0.2"]).exit_code == 0


def test_hints_that_save_are_options_of_a_shell() -> None:
    from tacit.cli.dialect import in_shell

    assert in_shell("plot().save('picture.png')", {}) == "--plot picture.png"
    assert in_shell('study.combine("returned/*.json")', {}) == "tacit combine STUDY.toml returned/*.json"


def test_odds_ratios_of_a_logistic_model() -> None:
    from typing import cast

    import numpy as np

    rng = np.random.default_rng(5)
    x = rng.uniform(0, 1, 8_000)
    table = {"x": x, "y": rng.random(8_000) < 1 / (1 + np.exp(0.5 - x)), "z": x + rng.normal(0, 1, 8_000)}
    schema = tc.Schema({"x": tc.Real(0, 1), "y": tc.Boolean(), "z": tc.Real(-4, 5)})
    curator = tc.Curator(table, schema, budget=tc.Budget(rho=100))
    fitted = curator.release(tc.Regression("y ~ x", model="logistic"), rho=50).estimate()
    shown = fitted.summary(exponentiate=True)
    assert shown.columns[1] == "odds ratio"
    ((term, ratio, interval, _),) = shown.rows
    assert term == "x"
    low, high = (float(one) for one in str(interval).split(" to "))
    # two digits of its standard error are shown
    assert float(cast("str", ratio)) == pytest.approx(np.exp(fitted.values[1]), abs=0.005)
    assert [low, high] == pytest.approx(np.exp(fitted.conf_int().loc["x"]).to_list(), rel=1e-2)
    linear = curator.release(tc.Regression("z ~ x"), rho=1).estimate()
    with pytest.raises(TacitError, match="no logarithms of ratios") as caught:
        linear.summary(exponentiate=True)
    assert caught.value.code == "I44"


def test_an_edited_study_is_told_what_to_change(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    tc.examples.people(500).to_csv("people.csv", index=False)
    data = '[data]\npath = "people.csv"\nledger = "people.ledger"\n'
    first = FILE.replace(data, "") + "\n[parties.a]\n[parties.b]\n"
    Path("study.toml").write_text(first)
    Path("a.toml").write_text('name = "a"\n[data]\npath = "people.csv"\nledger = "a.ledger"\n')
    assert CliRunner().invoke(app, ["release", "study.toml", "--site", "a.toml"]).exit_code == 0
    more = '[ask.many]\nquery = "Count"\nwhere = "age > 40"\n[parties.a]'
    Path("study.toml").write_text(first.replace("[parties.a]", more))
    said = shell("release", "study.toml", "--site", "a.toml", code=2)
    assert "it was asked at ρ = " in said
    assert "This party answered another edition of the study." in said
    assert (
        "an edition in which every question has a new name, [ask.age-2], or a study of the new questions alone" in said
    )
