"""The curator's file: read whole, every word known, every mistake in its place."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import tacit as tc
from tacit.errors import CODES, TacitError
from tacit.privacy import Budget, Cost
from tacit.study import curator_file as files

JOB = """
tacit = 1                                        # version of this format
title = "California adults"
contact = "data@office.example"

[table]
name = "pums-2000"
rows = 10_000

[data]
path = "pums.parquet"
ledger = "pums.ledger"

[budget]
rho = 0.5
neighbors = "replace-one"

[schema]
age = { type = "Real", lower = 18, upper = 93, units = "years" }
income = { type = "Real", lower = 0, upper = 300_000 }
sex = { type = "Category", levels = { 0 = "male", 1 = "female" } }
"Latino or Hispanic" = { type = "Boolean", column = "latino" }

[spend]
rho = 0.2

[ask.mean-age]
query = "Mean"
columns = "age"

[ask.income-by-sex]
query = "Mean"
columns = ["income"]
by = ["sex", "Latino or Hispanic"]
share = 0.2

[ask.cells]
query = "Count"
by = "sex"
share = 4
"""


def load(folder: Path, text: str) -> files.Job:
    (folder / "job.toml").write_text(text, encoding="utf-8")
    return files.load(folder / "job.toml")


def test_section_names_and_keys_are_the_python_words(tmp_path: Path) -> None:
    job = load(tmp_path, JOB)
    assert (job.title, job.contact, job.name, job.rows) == (
        "California adults",
        "data@office.example",
        "pums-2000",
        10_000,
    )
    assert (job.data, job.ledger) == (tmp_path / "pums.parquet", str(tmp_path / "pums.ledger"))
    assert job.analyst is None
    assert job.budget == Budget(rho=0.5, neighbors="replace-one")
    assert job.spend == Cost.of(rho="1/5")  # a float means the decimal it is written as
    assert job.asks == {
        "mean-age": tc.Mean("age"),
        "income-by-sex": tc.Mean("income", by=["sex", "Latino or Hispanic"]),
        "cells": tc.Count(by="sex"),
    }
    assert job.shares == {"income-by-sex": Fraction(1, 5), "cells": Fraction(4)}
    assert job.schema["sex"] == tc.Category({0: "male", 1: "female"})
    assert list(job.asks) == ["mean-age", "income-by-sex", "cells"]


EVERY_QUERY = [
    tc.Count(by="sex"),
    tc.Sum("age"),
    tc.Mean(["age", "income"], by="sex"),
    tc.Variance("age"),
    tc.Histogram(["age", "sex"], bins={"age": 5}, missing=True, outside=True),
    tc.Histogram(["age", "sex"], bins="auto", sparse=True, threshold=20),
]


@pytest.mark.parametrize("query", EVERY_QUERY, ids=lambda query: type(query).__name__)
def test_every_query_can_be_asked_in_a_file(query: tc.Query[Any], tmp_path: Path) -> None:
    words = "\n".join(f"{key} = {_toml(value)}" for key, value in query.to_dict().items())
    head = JOB.partition("[ask.")[0]
    assert load(tmp_path, f"{head}[ask.it]\n{words}\n").asks == {"it": query}


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    return str(value).lower() if isinstance(value, bool) else repr(value)


LINE = '[ask.line]\nquery = "Regression"\nformula = "{} ~ age + I(age ** 2)"\n'


def test_formulas_with_functions_can_be_asked_in_a_file(tmp_path: Path) -> None:
    found = load(tmp_path, JOB + LINE.format("log1p(income)")).asks["line"]
    assert found == tc.Regression("log1p(income) ~ age + I(age ** 2)")
    # 0 has no logarithm, and what is said is that of the function, in its place
    with pytest.raises(tc.errors.QueryError, match=r"\[ask.line\] log\(income\): it takes the logarithm") as problem:
        load(tmp_path, JOB + LINE.format("log(income)"))
    assert problem.value.code == "Q12"
    with pytest.raises(tc.errors.QueryError, match=r"\[ask.line\].*column 'incom' is not in the schema") as problem:
        load(tmp_path, JOB + LINE.format("log1p(incom)"))
    assert problem.value.code == "Q10"


def test_what_may_be_left_out(tmp_path: Path) -> None:
    job = load(tmp_path, 'tacit = 1\n[schema]\na = { type = "Boolean" }\n')
    assert (job.name, job.title, job.data, job.ledger, job.rows) == ("job", "", None, None, None)
    assert (job.budget, job.spend, job.asks, job.shares) == (None, None, {}, {})


def test_paths_are_those_of_the_file_and_servers_are_left_alone(tmp_path: Path) -> None:
    away = load(
        tmp_path,
        JOB.replace('"pums.ledger"', '"postgresql://server/ledger"').replace('"pums.parquet"', '"/far/pums.csv"'),
    )
    assert (away.data, away.ledger) == (Path("/far/pums.csv"), "postgresql://server/ledger")
    assert load(tmp_path, JOB.replace("pums.parquet", "in/pums.parquet")).data == tmp_path / "in" / "pums.parquet"


def test_who_asks_stays_at_home(tmp_path: Path) -> None:
    named = JOB.replace('ledger = "pums.ledger"', 'ledger = "pums.ledger"\nanalyst = "alice"')
    assert load(tmp_path, named).analyst == "alice"
    with pytest.raises(TacitError) as refused:
        load(tmp_path, named.replace('"alice"', "7"))
    assert refused.value.code == "F06"


SAME = [
    ('title = "California adults"', 'title = "Others"'),
    ('contact = "data@office.example"', ""),
    ('path = "pums.parquet"', 'path = "elsewhere.csv"'),
    ('ledger = "pums.ledger"', ""),
    ('ledger = "pums.ledger"', 'ledger = "pums.ledger"\nanalyst = "alice"'),
    ("# version of this format", ""),
    ('columns = ["income"]', 'columns = "income"'),
    ("rho = 0.2\n", 'rho = "1/5"\n'),
    ("lower = 18, upper = 93", "upper = 93.0, lower = 18.0"),
    ("share = 4\n", "share = 4.0\n"),
]  # fmt: skip
OTHER = [
    ("rho = 0.2\n", "rho = 0.1\n"),
    ("rho = 0.5\n", "rho = 0.6\n"),
    ("replace-one", "add-remove"),
    ("upper = 93", "upper = 94"),
    ("share = 4", "share = 5"),
    ('by = "sex"', 'by = "Latino or Hispanic"'),
    ("rows = 10_000", "rows = 9_999"),
    ("pums-2000", "pums-2001"),
    ("ask.cells", "ask.counts"),
    ('0 = "male", 1 = "female"', '1 = "female", 0 = "male"'),
]


def test_the_digest_is_that_of_what_is_public(tmp_path: Path) -> None:
    digest = load(tmp_path, JOB).digest()
    for old, new in SAME:
        assert old in JOB
        assert load(tmp_path, JOB.replace(old, new, 1)).digest() == digest, old
    head, *asks = JOB.split("[ask.")
    assert load(tmp_path, "[ask.".join([head, *(f"{ask}\n" for ask in reversed(asks))])).digest() == digest
    others = [load(tmp_path, JOB.replace(old, new, 1)).digest() for old, new in OTHER if old in JOB]
    assert len({digest, *others}) == len(OTHER) + 1


MISTAKES = [
    ("tacit = 1", "tacit = 2", "F04", "2"),
    ("tacit = 1", "tacit = true", "F04", "True"),
    ("tacit = 1", "", "F04", "tacit = 1"),
    ("[spend]", "[spned]", "F05", "spend"),
    ("rows = 10_000", "row = 10_000", "F05", "rows"),
    ("rows = 10_000", "rows = 1", "F06", "[table]"),
    ("rows = 10_000", "rows = true", "F06", "[table]"),
    ("rows = 10_000", "rows = 2.5", "F06", "[table]"),
    ('name = "pums-2000"', "name = 5", "F06", "[table]"),
    ('name = "pums-2000"', 'name = " "', "F06", "[table]"),
    ('path = "pums.parquet"', "path = 5", "F06", "[data]"),
    ('ledger = "pums.ledger"', "ledger = ['a']", "F06", "[data]"),
    ("title = ", "title = 3 #", "F06", "title"),
    ("rho = 0.5", "roh = 0.5", "F05", "rho"),
    ("rho = 0.5", "rho = nan", "B01", "[budget]"),
    ("rho = 0.5", "rho = 0.5\nepsilon = 1", "B03", "[budget]"),
    ("replace-one", "replace", "B05", "[budget]"),
    ("rho = 0.2", "rho = -1", "B01", "[spend]"),
    ("rho = 0.2", "", "B03", "[spend]"),
    ("rho = 0.2", "epsilon = inf", "B01", "[spend]"),
    ("lower = 18", "lower = 300", "S07", "[schema] column 'age'"),
    ("lower = 18", 'lower = "?"', "S16", "[schema] column 'age'"),
    ('type = "Boolean"', 'type = "Bool"', "S04", "[schema] column 'Latino or Hispanic'"),
    ("[schema]", "[schema.more]", "S0", "[schema]"),
    ('query = "Count"', 'query = "Modes"', "Q04", "[ask.cells]"),
    ('query = "Count"', "", "Q04", "[ask.cells]"),
    ('by = "sex"', 'wehre = "age < 65"', "Q05", "[ask.cells]"),
    ('by = "sex"', 'where = "age <"', "Q60", "[ask.cells]"),
    ('by = "sex"', 'where = "age == True"', "Q61", "[ask.cells]"),
    ('by = "sex"', "by = 5", "F06", "[ask.cells]"),
    ('by = "sex"', "by = { sex = 1 }", "F06", "[ask.cells]"),
    ('columns = ["income"]', 'columns = ["income", 3]', "Q01", "[ask.income-by-sex]"),
    ('columns = ["income"]', 'columns = ["income", "income"]', "Q02", "[ask.income-by-sex]"),
    ('columns = ["income"]', "", "Q03", "[ask.income-by-sex]"),
    ("share = 4", "share = 0", "F06", "[ask.cells]"),
    ("share = 4", "share = -1", "F06", "[ask.cells]"),
    ("share = 4", "share = inf", "B01", "[ask.cells]"),
    ("share = 4", 'share = "four"', "B01", "[ask.cells]"),
    ("[ask.cells]", '[ask." "]', "F06", "question"),
    ('[ask.cells]\nquery = "Count"', "[ask]\ncells = 3", "F06", "[ask.cells]"),
    ("[ask.cells]", "[parties.st-mary]", "F07", "parties"),
    ("[ask.cells]", "[combine]", "F07", "combine"),
    ("rows = 10_000", "rows = = 1", "F02", "line 8"),
]  # fmt: skip


@pytest.mark.parametrize(
    ("old", "new", "code", "says"), MISTAKES, ids=[f"{row[2]}-{i}" for i, row in enumerate(MISTAKES)]
)
def test_every_mistake_is_named_in_its_place(old: str, new: str, code: str, says: str, tmp_path: Path) -> None:
    assert old in JOB
    with pytest.raises(TacitError) as caught:
        load(tmp_path, JOB.replace(old, new, 1))
    error = caught.value
    assert error.code.startswith(code)
    assert error.code in CODES
    assert says in str(error)
    assert str(error).endswith("Nothing was read or spent.")


def test_a_file_that_is_not_there_or_not_text(tmp_path: Path) -> None:
    (tmp_path / "bytes.toml").write_bytes(b"tacit = 1\n\xff\xfe")
    for path in (tmp_path, tmp_path / "none.toml", tmp_path / "bytes.toml"):
        with pytest.raises(TacitError) as caught:
            files.load(path)
        assert caught.value.code == "F01"
