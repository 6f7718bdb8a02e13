"""Levels that nobody listed: the contract, texts on every engine, documents, prices, and what is refused."""

from __future__ import annotations

import json
from fractions import Fraction
from math import floor
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.csv
import pyarrow.parquet as pq
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.errors import BudgetError, InferenceError, QueryError, ReleaseError, SchemaError, SourceError
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.unlisted_levels.design import PARTS, map_of, text_map
from tacit.method.unlisted_levels.level_thresholds import appearing
from tacit.method.unlisted_levels.mechanism import exact, released
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.rows.row_map import Unit
from tacit.rows.text_map import TextMap
from tacit.source import open_source
from tacit.source.raw_text.text_cells import CellReader
from tacit.testing.contract import contract

SCHEMA = tc.Schema({"d": tc.Text(max_length=8), "age": tc.Integer(0, 99)})
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "d": tc.Text(max_length=8), "age": tc.Integer(0, 99)})
ODD = [
    "flu", "Flu", " flu", "flu ", "fl\u00fc", "flu\u0308", "", " ", "\t", "\n", None, "NA", "nan", "None", "1", "1.0",
    "longer than eight", "longer than nine", "a\x00b", "a\x1bb", "\u202eabc", "\u2028", "\ufeffflu", "\U0001f600" * 9,
    "\u00df", "SS", "\u0130", "i\u0307", "'; --", '"', "\\", "true", "2024-01-01",
]  # fmt: skip
PRICE = {"epsilon": 2, "delta": 1e-6}


def shaped(relation: str = "replace-one", schema: tc.Schema = SCHEMA, n: int = 100, **public: Any) -> Measurement:
    given = Public(schema, relation, n if relation == "replace-one" else None, n, **public)
    return design(tc.UnlistedLevels("d"), given, Cost.of(**PRICE))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("query", "schema"),
    [
        (tc.Count(by="d"), tc.Schema({"d": tc.Text(max_length=8, trim=True, casefold=True), "age": tc.Integer(0, 99)})),
        (tc.UnlistedLevels("d", where="age > 40"), PERSONS),
        pytest.param(tc.Histogram("d", where="age > 40"), SCHEMA, marks=pytest.mark.long),
        pytest.param(tc.UnlistedLevels("d"), PERSONS, marks=pytest.mark.long),
    ],
    ids=str,
)
def test_contract(query: tc.Query, schema: tc.Schema) -> None:
    """Each noise law and each audit is wrong once in a million."""
    assert contract(query, schema, tables=60, draws=20_000).passed


# The wall ------------------------------------------------------------------------------------------------------------


def by_hand(at: TextMap, texts: list[str | None]) -> dict[str, int]:
    found: dict[str, int] = {}
    for text in texts:
        level = at.level(text)
        if level is not None:
            found[level] = found.get(level, 0) + 1
    return found


@pytest.mark.parametrize("trim", [False, True])
@pytest.mark.parametrize("casefold", [False, True])
@pytest.mark.parametrize("missing", [None, "unknown"])
def test_every_engine_finds_the_same_levels(tmp_path: Path, trim: bool, casefold: bool, missing: str | None) -> None:
    at = TextMap("d", "d", 8, trim, casefold, missing)
    texts = [text for i, text in enumerate(ODD) for _ in range(i + 1)]
    data = pa.table({"d": pa.array(texts, pa.string()), "i": np.arange(len(texts))})
    wanted = by_hand(at, texts)
    pq.write_table(data, tmp_path / "t.parquet")
    relation = duckdb.connect().from_arrow(data)
    folded = duckdb.connect()
    folded.execute("PRAGMA default_collation='NOCASE.NOACCENT'")
    frame = data.to_pandas()
    sources: dict[str, Any] = {
        "parquet": tmp_path / "t.parquet", "arrow": data, "polars": pl.from_arrow(data),
        "lazy": pl.from_arrow(data).lazy(),
        "duckdb": relation, "collated": folded.from_arrow(data), "pandas": frame,
        "categorical": frame.assign(d=frame["d"].astype("category")),
        "dictionary": data.set_column(0, "d", data["d"].dictionary_encode()),
        "dict": {"d": np.array(texts, dtype=object), "i": np.arange(len(texts))},
        "polars categorical": pl.from_arrow(data).with_columns(pl.col("d").cast(pl.Categorical)),
    }  # fmt: skip
    for name, source in sources.items():
        found = open_source(source).level_counts(at)
        assert found.rows == len(texts), name
        assert found.counts == wanted, name
        assert "" not in found.counts, name


def test_text_files_have_the_same_levels(tmp_path: Path) -> None:
    """An empty cell is missing, quoted or not, and one of blanks is not (unless it is trimmed)."""
    (tmp_path / "t.csv").write_text('d,i\nflu,1\n"",2\n,3\n" ",4\n"a,b",5\nNA,6\nflu,7\n', encoding="utf-8")
    found = open_source(tmp_path / "t.csv").level_counts(TextMap("d", "d", 8, False, False, None))
    assert (found.rows, found.counts) == (7, {"flu": 2, " ": 1, "a,b": 1, "NA": 1})
    (tmp_path / "empty.csv").write_text("d,i\n,1\n,2\n", encoding="utf-8")
    assert open_source(tmp_path / "empty.csv").level_counts(TextMap("d", "d", 8, False, False, None)).counts == {}


@pytest.mark.parametrize(
    "cells",
    [
        [],
        [None, None],
        [float("nan"), None],
        ["", ""],
        [1, 2.5, None, True, b"flu", "\ud800", object()],
        ["\ud800", "x"],
    ],
    ids=["empty", "none", "nan", "blank", "other kinds", "no text"],
)
def test_cells_that_are_no_text_have_no_level(cells: list[object]) -> None:
    data = {"d": np.array([*cells, None], dtype=object)[:-1], "age": np.arange(len(cells))}
    found = open_source(data).level_counts(TextMap("d", "d", 8, False, False, None))
    assert found.rows == len(cells)
    assert set(found.counts) <= {"x"}


def test_a_released_text_moves_no_cursor_and_ends_no_line() -> None:
    at = TextMap("d", "d", 1000, False, False, None)
    for text in [
        "".join(map(chr, range(0x20))),
        "\x7f\x85\x9b",
        "\u2028\u2029\u200e\u200f\u202a\u202e\u2066\u2069\u061c",
    ]:
        assert set(at.level(text) or "") == {"\ufffd"}


def test_the_order_and_the_number_of_rows_mean_nothing() -> None:
    rng = np.random.default_rng(0)
    texts = np.array([f"t{k}" for k in rng.integers(0, 30, 500)], dtype=object)
    at = TextMap("d", "d", 8, False, False, None)
    first = open_source({"d": texts}).level_counts(at)
    again = open_source({"d": rng.permutation(texts)}).level_counts(at)
    assert list(first.counts.items()) == list(again.counts.items())


def test_weights_of_persons_against_python() -> None:
    rng = np.random.default_rng(1)
    who, d = rng.integers(0, 40, 300), rng.choice(np.array([*"abcdef", None], dtype=object), 300)
    found = open_source({"who": who, "d": d}).level_counts(
        TextMap("d", "d", 8, False, False, None), Unit("who", "who"), None, PARTS
    )
    wanted: dict[str, int] = {}
    for person in set(who.tolist()):
        own = [x for x in d[who == person] if x is not None]
        below = 0
        for x in sorted(set(own)):
            half = Fraction(len(own) // 2, len(own))
            ends = [floor(Fraction(PARTS * k, len(own)) + half) for k in (below, below + own.count(x))]
            wanted[x] = wanted.get(x, 0) + ends[1] - ends[0]
            below += own.count(x)
        assert below == len(own)
    assert (found.rows, found.counts) == (len(set(who.tolist())), {k: v for k, v in sorted(wanted.items()) if v})


def test_texts_that_become_one_level_are_added_before_a_person_is_divided() -> None:
    at = TextMap("d", "d", 8, True, True, None)
    data = {"who": np.zeros(7, dtype=int), "d": ["a", "A", " a", "b", "c", "", " "]}
    assert open_source(data).level_counts(at, Unit("who", "who"), None, PARTS).counts == {
        "a": 504,
        "b": 168,
        "c": 168,
    }


def test_levels_of_persons_are_not_counted_too_low() -> None:
    """Floors of parts would take about half a unit from each level of each person: 2,000 units from a level."""
    rng, persons = np.random.default_rng(3), 4_000
    who = np.repeat(np.arange(persons), rng.integers(9, 40, persons))
    d = rng.choice(np.array([*"abcdefg"], dtype=object), len(who))
    found = open_source({"who": who, "d": d}).level_counts(
        TextMap("d", "d", 8, False, False, None), Unit("who", "who"), None, PARTS
    )
    assert sum(found.counts.values()) == PARTS * persons
    own = 1 / np.bincount(who)[who]
    # one seed; errors of persons are of both signs and at most 1, so that their sum is of the order of a root
    for level, weight in found.counts.items():
        assert abs(weight - PARTS * own[d == level].sum()) < 5.4 * persons**0.5


def test_a_masked_cell_is_missing() -> None:
    """The value below a mask may be a valid text, and NumPy's own fill value of objects is a question mark."""
    table = {"d": ["flu"] * 50 + [None] * 50, "age": [30] * 100}
    assert exact(shaped(), open_source(table))[0] == {"flu": 50}


# The mechanism -------------------------------------------------------------------------------------------------------


def test_levels_pass_where_the_noisy_count_reaches_the_threshold() -> None:
    shape = shaped("add-remove")
    least = shape.columns[0].form.parameters["threshold"]
    counts = {"z": least, "b": least + 5, "a": least - 1, "c": 1}
    levels, every, rest = released(shape, counts, lambda sums, law: sums)
    assert (levels.texts, levels.integers) == (("b", "z"), ((least + 5,), (least,)))
    assert (every.integers, rest.integers) == (((sum(counts.values()),),), ((least,),))


def test_the_noisy_count_decides() -> None:
    shape = shaped("add-remove")
    least = shape.columns[0].form.parameters["threshold"]
    counts = {"few": 1, "many": 10 * least}
    moved = released(shape, counts, lambda sums, law: sums + np.where(sums == 1, least, -10 * least))
    assert moved[0].texts == ("few",)
    assert moved[0].integers == ((least + 1,),)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("schema", [SCHEMA, PERSONS], ids=["rows", "persons"])
@pytest.mark.parametrize("accounting", ["gdp", "basic"])
def test_the_parts_cost_the_approximate_part_of_the_price(relation: str, schema: tc.Schema, accounting: str) -> None:
    shape = shaped(relation, schema, accounting=accounting)
    used = sum(one.form.l2_squared / one.law.scale**2 for one in shape.columns)
    part = shaped(relation, schema).cost
    assert float(used) <= float(part.mu_squared) <= float(used) * (1 + 1e-9)
    levels = shape.columns[0]
    units = levels.form.parameters.get("share", 1)
    assert units == (1 if schema is SCHEMA else PARTS)
    assert appearing(levels.law, levels.form.parameters["threshold"], units) <= part.delta
    assert appearing(levels.law, levels.form.parameters["threshold"] - 1, units) > part.delta
    assert shape.cost == (part if accounting == "gdp" else Cost.of(**PRICE))


def test_a_ledger_is_charged_mu_and_delta() -> None:
    table = {"d": ["flu"] * 500 + ["gout"] * 3, "age": [30] * 503}
    curator = tc.Curator(table, SCHEMA, budget=tc.Budget(**PRICE))
    release = curator.release(tc.Count(by="d"), **PRICE)
    assert release.texts == ("flu",)
    assert release.cost.delta is not None
    assert release.cost.mu_squared is not None
    with pytest.raises(BudgetError):
        curator.release(tc.Mean("age"), epsilon=0.1, delta=1e-7)
    # the same question, in other words, is the same answer
    assert curator.release(tc.UnlistedLevels("d"), **PRICE) == release
    assert curator.release(tc.Histogram("d"), **PRICE) == release
    with pytest.raises(BudgetError):
        tc.Curator(table, SCHEMA, budget=tc.Budget(rho=1)).release(tc.Count(by="d"), **PRICE)
    basic = tc.Curator(table, SCHEMA, budget=tc.Budget(**PRICE, accounting="basic"))
    assert basic.release(tc.Count(by="d"), **PRICE).cost == Cost.of(**PRICE)


def test_an_empty_table_and_one_without_texts_release_an_empty_list() -> None:
    for texts in ([], [None] * 30, [""] * 30):
        table = {"d": np.array([*texts, None], dtype=object)[:-1], "age": np.full(len(texts), 3)}
        curator = tc.Curator(table, SCHEMA, budget=tc.Budget(**PRICE, neighbors="add-remove"))
        release = curator.release(tc.Count(by="d"), **PRICE)
        assert (release.texts, release.estimate().terms) == ((), ())
        assert len(release.estimate().to_frame()) == 0
        assert "levels" in str(release).lower()
        assert release_from_dict(json.loads(release.to_json())) == release


# Documents -----------------------------------------------------------------------------------------------------------


def document(schema: tc.Schema = SCHEMA) -> dict[str, Any]:
    table = {"d": ["flu"] * 500 + ["gout"] * 400, "age": [30] * 900, "who": np.arange(900)}
    curator = tc.Curator(table, schema, budget=tc.Budget(**PRICE))
    return json.loads(curator.release(tc.Count(by="d"), **PRICE).to_json())


def spoiled(words: dict[str, Any], change: Any) -> dict[str, Any]:
    made = json.loads(json.dumps(words))
    change(made)
    made.pop("digest", None)
    return made


@pytest.mark.parametrize("schema", [SCHEMA, PERSONS], ids=["rows", "persons"])
def test_documents_that_were_changed_are_refused(schema: tc.Schema) -> None:
    words = document(schema)
    part = words["parts"][0]
    assert part["texts"] == ["flu", "gout"]
    assert release_from_dict(spoiled(words, lambda made: None))

    def of_part(**new: Any) -> Any:
        return lambda made: made["parts"][0].update(new)

    least = part["parameters"]["threshold"]
    wrong = [
        of_part(texts=["gout", "flu"]),
        of_part(texts=["flu"]),
        of_part(texts=["", "gout"]),
        of_part(texts=["flu", "x" * 1001]),
        of_part(integers=[[least - 1], part["integers"][1]]),
        of_part(parameters={**part["parameters"], "threshold": least - 1}),
        lambda made: made["parts"][0].pop("texts"),
        lambda made: made["parts"][1].update(texts=["a"]),
        lambda made: made["parts"].pop(),
        lambda made: made["parts"].reverse(),
    ]
    for change in wrong:
        with pytest.raises(ReleaseError):
            release_from_dict(spoiled(words, change))


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "price", "code"),
    [
        (tc.Count(by="d"), {"epsilon": 1}, "Q250"),
        (tc.Count(by="d"), {"rho": 0.1}, "Q250"),
        (tc.UnlistedLevels("age"), PRICE, "Q251"),
        (tc.UnlistedLevels("sex"), PRICE, "Q251"),
        (tc.UnlistedLevels("nothing"), PRICE, "Q10"),
        (tc.Count(by=["d", "sex"]), PRICE, "Q252"),
        (tc.Count(by="d", weights="age"), PRICE, "Q252"),
        (tc.Histogram(["d", "sex"]), PRICE, "Q252"),
        (tc.Histogram("d", missing=True), PRICE, "Q252"),
        (tc.Mean("age", by="d"), PRICE, "Q253"),
        (tc.Quantiles("age", [0.5], by="d"), PRICE, "Q253"),
        (tc.Regression("age ~ d"), PRICE, None),
        (tc.Mean("d"), PRICE, "Q11"),
        (tc.DataQuality("d"), PRICE, "Q11"),
        (tc.Count(by="d", where="d == 'flu'"), PRICE, "Q61"),
    ],
    ids=str,
)
def test_what_has_no_answer_is_refused_before_it_costs(
    query: tc.Query, price: dict[str, float], code: str | None
) -> None:
    schema = tc.Schema({**dict(SCHEMA.items()), "sex": tc.Category(["f", "m"])})
    table = {"d": ["flu"] * 50, "age": [3] * 50, "sex": ["f"] * 50}
    budget = (
        tc.Budget(epsilon=9)
        if set(price) == {"epsilon"}
        else tc.Budget(rho=9)
        if "rho" in price
        else tc.Budget(**PRICE)
    )
    curator = tc.Curator(table, schema, budget=budget)
    before = curator.remaining
    with pytest.raises(QueryError) as problem:
        curator.release(query, **price)
    assert code in (None, problem.value.code)
    assert curator.remaining == before


def test_columns_of_text() -> None:
    for bad in (0, 1001, -3, 2.5, "40", None, True, 10**30):
        with pytest.raises(SchemaError) as problem:
            tc.Text(max_length=bad)  # type: ignore[arg-type]
        assert problem.value.code in ("S19", "S08")
    with pytest.raises(SchemaError) as problem:
        tc.Text(max_length=5, trim=1)  # type: ignore[arg-type]
    assert problem.value.code == "S15"
    with pytest.raises(SourceError) as refused:
        tc.Curator({"d": [1, 2, 3]}, tc.Schema({"d": tc.Text(max_length=4)}), budget=tc.Budget(**PRICE))
    assert refused.value.code == "D11"
    text = tc.Schema({"d": tc.Text(max_length=4, trim=True, casefold=True, missing="unknown", column="DIAG")}).to_toml()
    assert tc.Schema.from_toml(text)["d"] == tc.Text(
        max_length=4, trim=True, casefold=True, missing="unknown", column="DIAG"
    )
    frame = SCHEMA.example(200, rng=0)
    assert frame["d"].str.len().max() <= 8


def test_the_label_of_missing_cells_is_a_level_only_where_it_passes() -> None:
    schema = tc.Schema({"d": tc.Text(max_length=12, missing="not recorded")})
    for many, passes in ((500, True), (3, False)):
        table = {"d": np.array(["flu"] * 500 + [None] * many, dtype=object)}
        release = tc.Curator(table, schema, budget=tc.Budget(**PRICE)).release(tc.Count(by="d"), **PRICE)
        assert ("not recorded" in release.texts) == passes


def test_the_map_is_that_of_the_schema() -> None:
    assert map_of(shaped()) == text_map(SCHEMA, "d") == TextMap("d", "d", 8, False, False, None)


def test_text_is_imported_as_it_is() -> None:
    from tacit.source.raw_text.text_cells import CellTally
    from tacit.source.raw_text.written_cells import Written

    cells = CellReader(tc.Text(max_length=3), CellTally(), ("", "NA"), Written())
    assert cells.read(["flu", " gout ", "NA", ""]) == ["flu", "gout", None, None]


def test_questions_of_what_was_missed() -> None:
    table = {"d": ["flu"] * 500, "age": [3] * 500}
    found = tc.Curator(table, SCHEMA, budget=tc.Budget(**PRICE)).release(tc.Count(by="d"), **PRICE).estimate()
    assert found.missed(0) == 1
    # a single row is shown with a probability below the tenth of delta
    assert 0 <= 1 - found.missed(1) <= 1e-7
    last = found.largest_missed()
    assert found.missed(last) > 0.05 >= found.missed(last + 1)
    for bad in (-1, float("nan"), True, "x"):
        with pytest.raises(InferenceError) as problem:
            found.missed(bad)  # type: ignore[arg-type]
        assert problem.value.code == "I250"
