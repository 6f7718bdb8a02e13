"""A schema is the same after JSON and after TOML; what a file may hold beside that is refused by name."""

from __future__ import annotations

import json
import math
import pickle
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tacit.errors import FileError, SchemaError, TacitError
from tacit.schema import Boolean, Category, Date, Integer, PrivacyUnit, Real, Schema, draft

names = st.text(st.characters(exclude_categories=("C", "Z")), min_size=1, max_size=8)
finite = st.floats(-4e74, 4e74)
whole = st.integers(-(2**53), 2**53)
optional = st.none() | names


@st.composite
def reals(draw: st.DrawFn) -> Real:
    low, high = sorted((draw(finite), draw(finite)))
    assume(high - low > 1e-290)
    missing = draw(st.sampled_from(["exclude", low, high]))
    return draw(st.sampled_from([Real(units=draw(optional)), Real(low, high, units=draw(optional), missing=missing)]))


@st.composite
def integers(draw: st.DrawFn) -> Integer:
    low, high = sorted((draw(whole), draw(whole)))
    assume(low < high)
    return Integer(low, high, units=draw(optional), missing=draw(st.sampled_from(["exclude", low, high])))


@st.composite
def dates(draw: st.DrawFn) -> Date:
    low, high = sorted((draw(st.dates()), draw(st.dates())))
    assume(low < high)
    return Date(low, high, missing=draw(st.sampled_from(["exclude", low, high])))


@st.composite
def categories(draw: st.DrawFn) -> Category:
    looks_whole = st.integers(-50, 50).map(str) | st.sampled_from(
        ["01", "-0", "+1", "²", "--5", "1.0", "true", "?", ""]
    )
    code = draw(st.sampled_from([names, whole, st.booleans(), looks_whole, st.integers(0, 9).map(str)]))
    codes = draw(st.lists(code, min_size=1, max_size=5, unique=True))
    ordered, units = draw(st.booleans()), draw(optional)
    if "" not in codes and draw(st.booleans()):
        return Category(codes, ordered=ordered, units=units)
    labels = draw(st.lists(names, min_size=len(codes) + 1, max_size=len(codes) + 1, unique=True))
    missing = draw(st.sampled_from(["exclude", labels[-1]]))
    assume(missing == "exclude" or missing not in labels[:-1])
    return Category(dict(zip(codes, labels, strict=False)), ordered=ordered, units=units, missing=missing)


others = st.builds(Boolean, missing=st.sampled_from(["exclude", True, False]))
columns = reals() | integers() | dates() | categories() | others


@st.composite
def schemas(draw: st.DrawFn) -> Schema:
    made: dict[str, Any] = draw(st.dictionaries(names, columns, min_size=1, max_size=4))
    if draw(st.booleans()):
        made["whose"] = PrivacyUnit(draw(st.integers(1, 2**20)), column="the id")
    return Schema(made)


@given(schemas())
@settings(max_examples=300)
def test_nothing_is_lost_on_the_way(schema: Schema) -> None:
    for again in (
        Schema.from_dict(schema.to_dict()),
        Schema.from_dict(json.loads(json.dumps(schema.to_dict()))),
        Schema.from_toml(schema.to_toml()),
        pickle.loads(pickle.dumps(schema)),
        eval(repr(schema), None, {**TYPES, "datetime": __import__("datetime")}) if _plain(schema) else schema,
    ):
        assert list(again) == list(schema)
        assert json.dumps(again.to_dict()) == json.dumps(schema.to_dict())  # 1, 1.0 and true differ as text
        assert again == schema
        assert again.digest() == schema.digest()
        assert hash(again) == hash(schema)


TYPES = {
    "Schema": Schema,
    "Real": Real,
    "Integer": Integer,
    "Boolean": Boolean,
    "Date": Date,
    "PrivacyUnit": PrivacyUnit,
}


def _plain(schema: Schema) -> bool:
    return not any(isinstance(column, Category) for column in schema.values())


def test_the_digest_is_that_of_what_is_public() -> None:
    schema = Schema({"age": Real(0, 100), "sex": Category(["f", "m"])})
    # pinned: releases and charges of other years refer to it
    assert schema.digest() == "8c8fda92fbd118234342aa8e61304d0a59608da76c6f2541ef822555f2b905d4"
    assert schema == Schema({"sex": Category(["f", "m"]), "age": Real(0.0, 100.0)})
    for other in (
        {"age": Real(0, 100), "sex": Category(["m", "f"])},
        {"age": Integer(0, 100), "sex": Category(["f", "m"])},
        {"age": Real(0, 100, missing=0), "sex": Category(["f", "m"])},
        {"age": Real(0, 100, column="AGE"), "sex": Category(["f", "m"])},
        {"age": Real(0, 100), "sex": Category(["f", "m"], ordered=True)},
    ):
        assert Schema(other).digest() != schema.digest()
    zero, false = Schema({"a": Category({0: "no"})}), Schema({"a": Category({False: "no"})})
    assert zero != false


PUMS = """
tacit = 1
[schema]
age = { type = "Real", lower = 18, upper = 93, units = "years" }
income = { type = "Real", lower = 0, upper = 300_000, units = "USD a year", missing = "exclude" }
educ = { type = "Integer", lower = 1, upper = 16, units = "level" }
sex = { type = "Category", levels = { 0 = "male", 1 = "female" } }
married = { type = "Boolean" }
"Latino or Hispanic" = { type = "Boolean", column = "latino" }
admitted = { type = "Date", lower = 2024-01-01, upper = 2024-12-31 }
patient = { type = "PrivacyUnit", max_rows = 2 }
county = { type = "Category", levels = { "01" = "Alameda", 10 = "Fresno" } }
grade = { type = "Category", levels = [["1", "one"], ["2", "two"]], ordered = true }
"""


def test_the_words_of_a_file_are_those_of_python(tmp_path: Path) -> None:
    schema = Schema(
        {
            "age": Real(18, 93, units="years"),
            "income": Real(0, 300_000, units="USD a year"),
            "educ": Integer(1, 16, units="level"),
            "sex": Category({0: "male", 1: "female"}),
            "married": Boolean(),
            "Latino or Hispanic": Boolean(column="latino"),
            "admitted": Date("2024-01-01", "2024-12-31"),
            "patient": PrivacyUnit(max_rows=2),
            "county": Category({"01": "Alameda", "10": "Fresno"}),
            "grade": Category({"1": "one", "2": "two"}, ordered=True),
        }
    )
    assert Schema.from_toml(PUMS) == schema
    assert (schema.unit, schema.source("Latino or Hispanic"), schema.source("age")) == ("patient", "latino", "age")
    (tmp_path / "pums.toml").write_bytes(b"\xef\xbb\xbf" + PUMS.encode())  # as some editors save it
    assert Schema.load(tmp_path / "pums.toml") == schema


def test_what_is_written_reads_like_the_page() -> None:
    schema = Schema.from_toml(PUMS)
    lines = schema.to_toml().splitlines()
    assert lines[0] == "[schema]"
    for line in (
        'age = { type = "Real", lower = 18, upper = 93, units = "years" }',
        'sex = { type = "Category", levels = { 0 = "male", 1 = "female" } }',
        '"Latino or Hispanic" = { type = "Boolean", column = "latino" }',
        'admitted = { type = "Date", lower = 2024-01-01, upper = 2024-12-31 }',
        'county = { type = "Category", levels = { 01 = "Alameda", 10 = "Fresno" } }',
        'grade = { type = "Category", levels = [["1", "one"], ["2", "two"]], ordered = true }',
    ):
        assert line in lines


WRONG = [
    ("", "F03", "[schema]"),
    ("[schemas]\na = 1", "F03", "[schemas]"),
    ("[schema]", "F03", "[schema]"),
    ("schema = 3", "F03", "[schema]"),
    ("[schema]\na = = 1", "F02", "line 2"),
    ("[schema]\na = 2024-13-01", "F02", "line 2"),
    ("[schema]\na = { type = 'Boolean' }\na = { type = 'Boolean' }", "F02", "overwrite"),
    ("a = " + "9" * 5000, "F02", "digits"),
    ("a = " + "[" * 5000, "F02", "TOML"),
    ("[schema]\na = 1", "S04", "'a'"),
    ("[schema]\na = {}", "S04", "'a'"),
    ("[schema]\na = { type = 'Reel' }", "S04", "Reel"),
    ("[schema]\na = { type = ['Real'] }", "S04", "'a'"),
    ("[schema]\na = { type = 'Real', lowr = 1, upper = 2 }", "S05", "lowr"),
    ("[schema]\na = { type = 'Date', units = 'days' }", "S05", "units"),
    ("[schema]\na = { type = 'Integer', upper = 2 }", "S05", "lower"),
    ("[schema]\na = { type = 'Category' }", "S05", "levels"),
    ("[schema]\na = { type = 'PrivacyUnit' }", "S05", "max_rows"),
    ("[schema]\na = { type = 'Real', lower = nan, upper = 2 }", "S06", "'a'"),
    ("[schema]\na = { type = 'Real', lower = 0, upper = inf }", "S06", "'a'"),
    ("[schema]\na = { type = 'Date', lower = 2024-01-01, upper = 2024-01-02T00:00:00 }", "S06", "'a'"),
    ("[schema]\na = { type = 'Real', lower = 3, upper = 2 }", "S07", "'a'"),
    ("[schema]\na = { type = 'Category', levels = [['x', 'y'], 'z'] }", "S10", "'a'"),
    ("[schema]\na = { type = 'Category', levels = [[[1], 'y']] }", "S10", "'a'"),
    ("[schema]\na = { type = 'Category', levels = [{ code = 1 }] }", "S10", "'a'"),
    ("[schema]\na = { type = 'Category', levels = [[true, 'y'], [1, 'z']] }", "S09", "'a'"),
    ("[schema]\na = { type = 'Category', levels = [['x', 'y'], ['x', 'z']] }", "S09", "'a'"),
    ("[schema]\na = { type = 'Category', levels = { x = 1 } }", "S10", "'a'"),
    ("[schema]\na = { type = 'Category', levels = {} }", "S10", "'a'"),
    ("[schema]\na = { type = 'Category', levels = 'x' }", "S10", "'a'"),
]


@pytest.mark.parametrize(("text", "code", "names"), WRONG, ids=[f"{code}-{i}" for i, (_, code, _) in enumerate(WRONG)])
def test_a_wrong_file_is_refused_by_name(text: str, code: str, names: str) -> None:
    with pytest.raises(TacitError) as caught:
        Schema.from_toml(text)
    assert caught.value.code == code
    assert names in str(caught.value) or names in (caught.value.hint or "")
    assert caught.value.__cause__ is None


def test_the_nearest_word_is_named() -> None:
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict({"a": {"type": "Real", "lowr": 1, "upper": 2}})
    assert caught.value.hint == "lower = …"
    with pytest.raises(SchemaError) as caught:
        Schema.from_dict({"a": {"type": "Integr", "lower": 1, "upper": 2}})
    assert caught.value.hint == 'type = "Integer"'


@pytest.mark.parametrize("given", [5, {"a": 5}, {"a": None}, ["a"]])
def test_what_is_no_schema_at_all(given: Any) -> None:
    with pytest.raises(SchemaError):
        Schema.from_dict(given)


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    (tmp_path / "latin.toml").write_bytes(b"[schema]\n# caf\xe9\n")
    for path, says in (
        (tmp_path / "none.toml", "No such file"),
        (tmp_path, "directory"),
        (tmp_path / "latin.toml", "line 2"),
    ):
        with pytest.raises(FileError, match=says) as caught:
            Schema.load(path)
        assert caught.value.code == "F01"


def test_a_draft_knows_types_and_leaves_the_rest_open() -> None:
    text = draft(
        {
            "age": "DOUBLE", "n": "Int64", "ok": "BOOLEAN", "day": "Date", "at": "TIMESTAMP", "sex": "VARCHAR",
            "a b": "String", "span": "INTERVAL", "parts": "STRUCT(a INTEGER)", "many": "INTEGER[]", "x\ny": "INTEGER",
        }
    )  # fmt: skip
    assert 'age = { type = "Real", lower = "?", upper = "?" }' in text
    assert '\n"a b" = { type = "Category", levels = "?" }' in text
    assert '\nok = { type = "Boolean" }' in text
    for open_line in ("day", "at"):
        assert f'\n{open_line} = {{ type = "Date", lower = "?", upper = "?" }}' in text
    for unserved in ("span", "parts", "many", "'x\\ny'"):
        assert f"\n# {unserved}" in text
    with pytest.raises(SchemaError, match="'age': lower is still open") as caught:
        Schema.from_toml(text)
    assert caught.value.code == "S16"


@pytest.mark.parametrize("column", ["Integer", "Real", "Date"])
def test_every_open_place_is_refused(column: str) -> None:
    for words in ({"lower": "?", "upper": "?"}, {"lower": 0, "upper": "?"}):
        with pytest.raises(SchemaError, match="still open") as caught:
            Schema.from_dict({"a": {"type": column, **words}})
        assert caught.value.code == "S16"
    with pytest.raises(SchemaError, match="still open"):
        Schema.from_dict({"a": {"type": "Category", "levels": "?"}})
    with pytest.raises(SchemaError, match="still open"):
        Schema.from_dict({"a": {"type": "Category", "levels": ["?"]}})
    with pytest.raises(SchemaError, match="still open"):
        Schema.from_dict({"a": {"type": "PrivacyUnit", "max_rows": "?"}})


def test_a_draft_of_a_frame_is_that_of_its_types() -> None:
    import numpy as np
    import polars as pl
    import pyarrow as pa

    from tacit.examples import people

    wanted = {"age": "Integer", "income": "Real", "educ": "Integer", "region": "Category", "married": "Boolean"}
    frame = people(20)[list(wanted)].astype({"age": int})
    for table in (frame, pl.from_pandas(frame), pl.from_pandas(frame).lazy(), pa.Table.from_pandas(frame)):
        lines = draft(table).split("[schema]\n")[1].splitlines()
        assert [line.split('"')[1] for line in lines] == list(wanted.values())
    arrays = draft({"x": np.arange(3.0), "s": np.array(["secret"])})
    assert 'x = { type = "Real"' in arrays
    assert "secret" not in arrays
    for nothing in ("people.csv", 5, {}):
        with pytest.raises(SchemaError):
            draft(nothing)


def test_dates_and_numbers_of_the_whole_range() -> None:
    schema = Schema({"day": Date(date.min, date.max), "x": Real(-math.pi * 1e70, 2.5e-310)})
    assert Schema.from_toml(schema.to_toml()) == schema
