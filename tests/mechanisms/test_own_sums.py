"""A user's own additive statistic: sensitivity by all pairs, every engine, persons, admission, what is refused."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace
from itertools import combinations, product
from typing import Any, cast

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit as tc
from tacit.curator.mechanisms import design, integers
from tacit.errors import QueryError, ReleaseError
from tacit.method.additive import statistic as admission
from tacit.method.additive.design import AdditivePart
from tacit.method.additive.encoding import RowReach, fineness, in_units, product_box, sensitivity, unit
from tacit.method.additive.query import Additive
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.query import query_from_dict
from tacit.source import open_source
from tacit.testing.findings import Contract
from tacit.testing.neighbouring_tables import Row
from tacit.testing.reference_table import columns_of
from tacit.testing.simulate import exact_integers
from tacit.testing.worst_case_integers import integers as of_rows

SCHEMA = tc.Schema(
    {
        "x": tc.Integer(-3, 4),
        "y": tc.Real(0, 5, missing=2.0),
        "sex": tc.Category(["f", "m"]),
        "ok": tc.Boolean(),
        "d": tc.Date("2024-01-01", "2024-01-31"),
    }
)
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "x": tc.Integer(-3, 4), "y": tc.Real(0, 5)})
CAPPED = tc.extend.additive(
    "capped-total",
    rows=lambda column, cap: [tc.col(column).clip(0, cap)],
    sensitivity=lambda column, cap: tc.Sensitivity(l1=cap, l2=cap),
    estimate=lambda release: release.integers[0],
)
TEXTS = tc.extend.additive("texts", rows=lambda texts: texts)
"""Any expressions, without a declared sensitivity."""
DECLARED = tc.extend.additive(
    "declared", rows=lambda texts, l1, l2: texts, sensitivity=lambda texts, l1, l2: tc.Sensitivity(l1, l2)
)


def table(n: int = 300, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.integers(-9, 10, n).astype(np.float64)
    x[:4] = [np.nan, np.inf, -np.inf, 1e300]
    y = rng.normal(2, 3, n)
    y[4:7] = [np.nan, np.inf, 2.5]
    return {
        "x": x,
        "y": y,
        "sex": rng.choice(["f", "m", "?"], n),
        "ok": rng.random(n) < 0.5,
        "d": np.datetime64("2024-01-01") + rng.integers(-3, 40, n),
    }


def shaped(query: tc.Query, relation: str = "replace-one", schema: tc.Schema = SCHEMA, n: int = 300) -> Measurement:
    return design(query, Public(schema, relation, n if relation == "replace-one" else None), Cost.of(epsilon=1))


@pytest.fixture
def admitted() -> Iterator[None]:
    """Whatever a test records as passed is forgotten after it."""
    before = set(admission.PASSED)
    yield
    admission.PASSED.clear()
    admission.PASSED.update(before)


# Sensitivity --------------------------------------------------------------------------------------------------------

NUMBERS = ("x", "y", "clip(x, -1, 2)", "x * y", "x ** 2", "x * x", "abs(x) - y", "y / 2", "sqrt(x)", "day(d)")
CONDITIONS = ("x > 0", "sex == 'f'", "ok", "x.isna()", "y >= 2 and not ok")
EVERY = st.lists(st.sampled_from([*NUMBERS, *CONDITIONS]), min_size=1, max_size=3, unique=True)
CELLS: list[list[object]] = [
    [-3.0, 4.0, 0.0, 1.0, None, 99.0],
    [0.0, 5.0, 2.5, None, 1e300],
    ["f", "m", None, "?"],
    [True, False, None],
    [None],
]
GRID = cast("list[Row]", list(product(*CELLS)))


def furthest(query: tc.Query, relation: str) -> tuple[int, int]:
    """The largest change of the sums in l1 and squared l2, over all pairs of rows of a grid, by brute force."""
    made = np.unique(of_rows(shaped(query, relation), SCHEMA, GRID), axis=0)
    apart = made if relation == "add-remove" else (made[:, None, :] - made[None, :, :]).reshape(-1, made.shape[1])
    return int(np.abs(apart).sum(axis=1).max()), int((apart**2).sum(axis=1).max())


@settings(max_examples=60, deadline=None)
@given(texts=EVERY, relation=st.sampled_from(["replace-one", "add-remove"]), grouped=st.booleans(), where=st.booleans())
def test_no_pair_of_rows_changes_sums_by_more_than_computed(
    texts: list[str], relation: str, grouped: bool, where: bool
) -> None:
    query = TEXTS(texts, by="sex" if grouped else (), where="ok" if where else None)
    part = shaped(query, relation).columns[0]
    l1, l2_squared = furthest(query, relation)
    assert l1 <= part.form.l1
    assert l2_squared <= part.form.l2_squared


@settings(max_examples=40, deadline=None)
@given(texts=EVERY, relation=st.sampled_from(["replace-one", "add-remove"]), off=st.integers(1, 5), which=st.booleans())
def test_whatever_is_declared_below_the_computed_sensitivity_fails(
    texts: list[str], relation: str, off: int, which: bool
) -> None:
    part = shaped(TEXTS(texts), relation).columns[0]
    l1, l2_squared = part.form.l1, part.form.l2_squared
    fine = DECLARED(texts, l1, f"{l1}")
    assert shaped(fine, relation).columns[0].form.l1 == l1
    low = replace(fine, l1=max(1, l1 - off)) if which else replace(fine, l2_squared=max(1, l2_squared - off))
    if (low.l1, low.l2_squared) == (l1, l1**2):
        return
    if cast(int, low.l1) >= l1 and cast(int, low.l2_squared) >= l2_squared:
        return
    with pytest.raises(QueryError) as caught:
        shaped(low, relation)
    assert caught.value.code == "Q282"
    # the hint is enough
    hint = caught.value.hint or ""
    l2 = hint.split("l2=")[1].split(")")[0]
    assert shaped(DECLARED(texts, l1, l2), relation).columns[0].form.l1 == l1


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("grouped", [False, True])
@pytest.mark.parametrize(
    "texts", [["x"], ["clip(x, 0, 3)"], ["x", "y"], ["x * y"], ["x", "ok"], ["2 * y - 1", "sex == 'f'"]]
)
def test_computed_sensitivities_are_reached_where_integers_are_free(
    texts: list[str], relation: str, grouped: bool
) -> None:
    # columns that both an integer and the cell read are not free
    texts = [one for one in texts if not (grouped and "sex" in one)]
    query = TEXTS(texts, by="sex" if grouped else ())
    part = shaped(query, relation).columns[0]
    assert furthest(query, relation) == (part.form.l1, part.form.l2_squared)


def test_boxes_of_products_hold_and_are_reached() -> None:
    """Over all pairs of integers of small boxes, with and without rows that can be left out."""
    boxes = [(-3, 4), (0, 5), (2, 6), (-4, -1)]
    for replaces, cells, leaves in product((True, False), repeat=3):
        reach = RowReach(replaces, cells, leaves)
        moved = [0 if not replaces or leaves or cells else (low + high) // 2 for low, high in boxes]
        for (a, shift), (b, other) in combinations(list(zip(boxes, moved, strict=True)), 2):
            values = [(u - shift) * (v - other) for u in range(a[0], a[1] + 1) for v in range(b[0], b[1] + 1)]
            assert product_box(a, b, reach, same=False) == (min(values), max(values))
        for a, shift in zip(boxes, moved, strict=True):
            squares = [(u - shift) ** 2 for u in range(a[0], a[1] + 1)]
            assert product_box(a, a, reach, same=True) == (min(squares), max(squares))


@settings(max_examples=200, deadline=None)
@given(
    boxes=st.lists(st.tuples(st.integers(-6, 5), st.integers(1, 6)), min_size=1, max_size=3),
    facts=st.tuples(st.booleans(), st.booleans(), st.booleans()),
)
def test_sensitivities_of_free_integers_by_all_corners(boxes: list[tuple[int, int]], facts: tuple[bool, ...]) -> None:
    boxes = [(low, low + width) for low, width in boxes]
    reach = RowReach(*facts)
    corners: list[tuple[int, ...]] = list(product(*boxes))
    # a row that is left out; integers that are left out alone, as undefined roots are
    free = list(product(*((low, high, 0) for low, high in boxes))) if reach.leaves else corners
    one_cell = [tuple(a - b for a, b in zip(u, v, strict=True)) for u in free for v in free]
    two_cells = [(*u, *(-b for b in v)) for u in free for v in free]
    changes = [*one_cell, *(two_cells if reach.cells else [])] if reach.replaces else free
    l1 = max(sum(map(abs, change)) for change in changes)
    l2_squared = max(sum(x * x for x in change) for change in changes)
    found = sensitivity(boxes, reach)
    assert (found.l1, found.l2_squared) == (l1, l2_squared)


def test_a_wrong_declaration_fails_the_contract_and_is_never_charged(admitted: None) -> None:
    wrong = tc.extend.additive(
        "wrong", rows=lambda: [tc.col("x").clip(0, 3)], sensitivity=lambda: tc.Sensitivity(l1=2, l2=3)
    )
    with pytest.raises(AssertionError, match="declared as l1 2"):
        tc.testing.contract(wrong(), SCHEMA, tables=36, draws=2_000)
    curator = tc.Curator(table(), SCHEMA, budget=tc.Budget(epsilon=1), trust=[wrong])
    with pytest.raises(QueryError) as caught:
        curator.release(wrong(), epsilon=1)
    assert caught.value.code == "Q282"
    assert curator.spent.epsilon == 0


def test_more_than_needed_is_used_and_told(admitted: None) -> None:
    query = DECLARED(["x > 0"], l1=4, l2=2)
    shape = shaped(query)
    assert (shape.columns[0].form.l1, shape.columns[0].form.l2_squared) == (4, 4)
    assert shape.columns[0].law.variance() > 15 * shaped(TEXTS(["x > 0"], moments=True)).columns[0].law.variance()
    said = tc.testing.contract(query, SCHEMA, tables=36, draws=20_000)
    assert said.passed
    assert any("noise for 4 in l1" in note for note in said.notes)
    curator = tc.Curator(table(), SCHEMA, budget=tc.Budget(epsilon=1), trust=[DECLARED])
    assert any("4 times what the bounds need" in note for note in curator.release(query, epsilon=1).totals().notes)
    assert "4 times what the bounds need" in str(curator.plan(query, epsilon=1))


def test_contracts_of_several_integers_of_groups_and_of_persons(admitted: None) -> None:
    for query, schema in (
        (TEXTS(["x", "y", "x * y"]), SCHEMA),
        (CAPPED("x", 3, by="sex", where="ok"), SCHEMA),
        (TEXTS(["clip(x, 0, 2)", "x > y"]), PERSONS),
    ):
        assert tc.testing.contract(query, schema, tables=15, draws=20_000).passed


# Exact sums ---------------------------------------------------------------------------------------------------------

ENGINES = {
    "dict": lambda rows: rows,
    "pandas": pd.DataFrame,
    "polars": pl.DataFrame,
    "arrow": lambda rows: pa.Table.from_pandas(pd.DataFrame(rows)),
    "duckdb": lambda rows: duckdb.from_arrow(pa.Table.from_pandas(pd.DataFrame(rows))),
}


@pytest.mark.sample(3)
@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize(
    "query",
    [
        TEXTS([*NUMBERS[:4], *CONDITIONS[:4]]),
        TEXTS(["x", "day(d)", "sqrt(x)"], by="sex", where="ok"),
        TEXTS(["1000000 * y", "clip(x, -1, 2)"]),
    ],
)
def test_every_engine_has_the_integers_of_the_reference(engine: str, query: Additive) -> None:
    shape, rows = shaped(query), table()
    expected = exact_integers(shape, columns_of(rows, SCHEMA))
    found = integers(shape, open_source(ENGINES[engine](rows)))
    for own, reference in zip(found, expected, strict=True):
        assert [list(cell) for cell in own] == reference.tolist()


def test_sums_by_hand() -> None:
    rows = {
        "x": [-9.0, 2.0, np.nan, 3.4],
        "y": [1.0, np.nan, 3.0, 4.6],
        "sex": ["f"] * 4,
        "ok": [True] * 4,
        "d": [None] * 4,
    }
    rows["d"] = pd.array([pd.Timestamp("2024-01-05")] * 4)  # type: ignore[assignment]
    shape = shaped(TEXTS(["x", "x * y", "x > 2"]), n=4)
    sums, *products = integers(shape, open_source(pd.DataFrame(rows)))
    # x is clamped to -3 .. 4 first; a missing x leaves the row out, a missing y counts as 2
    assert sums == ((-3 + 2 + 3, -3 + 4 + round(3.4 * 4.6), 1),)
    assert [one[0][0] for one in products] == [9 + 4 + 9, 9 + 8 + 48, 3, 9 + 16 + 256, 16, 1]


def test_persons_by_hand() -> None:
    """Each person adds the mean of the rows times their number, at most max_rows = 3."""
    rows = pd.DataFrame({"who": [1, 1, 2, 2, 2, 2, 3], "x": [4.0, 1.0, 2, 2, 2, 2, np.nan], "y": [1.0] * 7})
    query = TEXTS(["x"])
    shape = shaped(query, schema=PERSONS, n=3)
    fine = shape.columns[0].form.parameters["G"]
    assert fine == fineness([(-3, 4)], 3) == 1_024
    (sums,), (squares,) = integers(shape, open_source(rows))
    assert sums == (fine * (5 + 6),)
    step = unit((-3, 4), 3, persons=True)
    assert squares == (int((5 / step) ** 2 + (6 / step) ** 2),)


@settings(max_examples=100, deadline=None)
@given(low=st.integers(-(2**26), 2**26), width=st.integers(1, 2**26), cap=st.integers(1, 1_000), persons=st.booleans())
def test_units_of_products_cover_the_bounds_and_fit_into_floats(low: int, width: int, cap: int, persons: bool) -> None:
    box = (low, min(low + width, 2**26))
    if box[0] >= box[1]:
        return
    step = unit(box, cap, persons)
    a, b = in_units(box, step)
    assert a * step <= box[0]
    assert box[1] <= b * step
    assert float(a * step) == a * step
    assert max(abs(a), abs(b)) * (cap if persons else 1) <= 2**13


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.1}, {"epsilon": 1, "delta": 1e-6}])
def test_parts_cost_the_price_in_all(price: dict[str, float]) -> None:
    cost = Cost.of(**price)
    shape = design(TEXTS(["x", "y"]), Public(SCHEMA, "replace-one", 1_000), cost)
    assert len(shape.columns) == 4
    if "delta" not in price:
        total = sum((one.cost.epsilon or one.cost.zcdp) for one in shape.columns)  # type: ignore[arg-type]
        assert total == (cost.epsilon or cost.zcdp)


# Admission ----------------------------------------------------------------------------------------------------------


def refused(code: str, ask: Any) -> QueryError:
    with pytest.raises(QueryError) as caught:
        ask()
    assert caught.value.code == code, caught.value
    return caught.value


def test_only_a_trusted_statistic_whose_contract_passed_reaches_the_rows(admitted: None) -> None:
    query = CAPPED(column="x", cap=3)
    nobody = tc.Curator(table(), SCHEMA, budget=tc.Budget(epsilon=1))
    assert "capped-total" in refused("Q284", lambda: nobody.release(query, epsilon=1)).message
    curator = tc.Curator(table(), SCHEMA, budget=tc.Budget(epsilon=1), trust=[CAPPED])
    refused("Q285", lambda: curator.release(query, epsilon=1))
    assert curator.spent.epsilon == nobody.spent.epsilon == 0
    assert tc.testing.contract(query, SCHEMA, tables=36, draws=20_000).passed
    assert abs(curator.release(query, epsilon="0.5").estimate().value - 400) < 400
    # neither other arguments, nor other groups, nor another schema were examined
    refused("Q285", lambda: curator.release(CAPPED(column="x", cap=4), epsilon="0.1"))
    refused("Q285", lambda: curator.release(CAPPED(column="x", cap=3, where="ok"), epsilon="0.1"))


def test_a_question_under_a_trusted_name_is_not_enough(admitted: None) -> None:
    query = CAPPED(column="x", cap=3)
    curator = tc.Curator(table(), SCHEMA, budget=tc.Budget(epsilon=1), trust=[CAPPED])
    for forged in (
        replace(query, expressions=("1000 * x",), l1=None, l2_squared=None),
        replace(query, l1=None, l2_squared=None),
        replace(query, arguments={"column": "y", "cap": 3}),
    ):
        admission.passed(forged, SCHEMA)
        refused("Q284", lambda forged=forged: curator.release(forged, epsilon=1))


def test_two_statistics_of_one_name_are_two_questions(admitted: None) -> None:
    one = tc.extend.additive("same", rows=lambda: ["x"])
    other = tc.extend.additive("same", rows=lambda: ["clip(x, 0, 4)"])
    assert one().to_dict() != other().to_dict()
    assert not one.makes(other())
    for query in (one(), other()):
        admission.passed(query, SCHEMA)
    rows = table()
    first = tc.Curator(rows, SCHEMA, budget=tc.Budget(epsilon=1), trust=[one]).release(one(), epsilon=1)
    # the last definition counts: the first's release opens, and is not estimated by the other's function
    assert "has not been defined" in refused("Q286", first.estimate).message
    assert first.estimate(statistic=one).terms == ("x",)
    refused("Q289", lambda: tc.Curator(rows, SCHEMA, budget=tc.Budget(epsilon=1), trust=[one, other]))
    refused("Q289", lambda: tc.Curator(rows, SCHEMA, budget=tc.Budget(epsilon=1), trust=[len]))


def test_a_release_opens_without_the_users_code(admitted: None) -> None:
    query = CAPPED(column="x", cap=3)
    admission.passed(query, SCHEMA)
    release = tc.Curator(table(), SCHEMA, budget=tc.Budget(epsilon=1), trust=[CAPPED]).release(query, epsilon=1)
    words = json.loads(release.to_json())
    known = admission.DEFINED.pop("capped-total")
    try:
        again = release_from_dict(words)
        assert again == release
        assert "capped-total" in str(again)
        assert "clip(x, 0, 3)" in str(again)
        assert again.totals().value == release.sums[0].integers[0]
        assert "capped-total" in refused("Q286", again.estimate).message
        # a plan, too, is of the sums then
        assert "not defined in this program" in str(tc.plan(query, SCHEMA, rows=1_000, epsilon=1))
        assert again.estimate(statistic=CAPPED).terms == ("capped-total",)
    finally:
        admission.DEFINED["capped-total"] = known
    assert release_from_dict(words).estimate().terms == ("capped-total",)


@pytest.mark.parametrize("persons", [False, True])
def test_changed_documents_are_refused(admitted: None, persons: bool) -> None:
    schema, query = (PERSONS, TEXTS(["x", "y"])) if persons else (SCHEMA, TEXTS(["x", "y"]))
    admission.passed(query, schema)
    rows = {**table(), "who": np.arange(300) // 2}
    release = tc.Curator(rows, schema, budget=tc.Budget(rho=1), trust=[TEXTS]).release(query, rho="0.5")
    words = release.to_dict()
    assert release_from_dict(json.loads(json.dumps(words))) == release

    def changed(*path: Any, to: Any) -> None:
        made = json.loads(json.dumps(words))
        at = made
        for key in path[:-1]:
            at = at[key]
        at[path[-1]] = to
        with pytest.raises(ReleaseError):
            release_from_dict(made)

    changed("query", "expressions", 0, to="y / 2")
    changed("variables", 0, "upper", to=400.0)
    changed("variables", 0, "lower", to=-2.5)
    changed("parts", 0, "sensitivity", "l1", to=3)
    changed("parts", 0, "parameters", "leaves", to=7)
    changed("parts", 0, "parameters", "G", to=2)
    changed("parts", 1, "sensitivity", "l2_squared", to=4)
    for part in (0, 1):  # noise at a price in rho does not follow from it
        changed("parts", part, "sensitivity", "l1", to=words["parts"][part]["sensitivity"]["l1"] + 1)
    changed("parts", 1, "parameters", "first", to=1)
    changed("parts", to=words["parts"][:1])
    changed("query", "moments", to=False)
    changed("query", "l1", to=1)


# What is refused ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("code", "ask"),
    [
        ("Q280", lambda: tc.extend.additive("", rows=lambda: ["x"])),
        ("Q280", lambda: tc.extend.additive("a", rows="x")),  # type: ignore[arg-type]
        ("Q280", lambda: tc.extend.additive("a", rows=lambda by: ["x"])),
        ("Q280", lambda: tc.extend.additive("a", rows=lambda *columns: ["x"])),
        ("Q280", lambda: tc.extend.additive("a", row=lambda: ["x"])),  # type: ignore[call-arg]
        ("Q281", lambda: TEXTS([])),
        ("Q281", lambda: TEXTS(["x", " x "])),
        ("Q281", lambda: TEXTS(["x +"])),
        ("Q281", lambda: TEXTS([f"x + {i}" for i in range(9)])),
        ("Q281", lambda: tc.extend.additive("a", rows=lambda: 3)()),
        ("Q281", lambda: tc.extend.additive("a", rows=lambda: [3])()),
        ("Q281", lambda: tc.extend.additive("a", rows=lambda: 1 / 0)()),
        ("Q281", lambda: CAPPED("x", {"a": 3})),
        ("Q281", lambda: CAPPED("x", float("nan"))),
        ("Q05", lambda: CAPPED("x")),
        ("Q05", lambda: CAPPED("x", 3, color=1)),
        ("Q282", lambda: tc.Sensitivity(0, 1)),
        ("Q282", lambda: tc.Sensitivity(1, float("inf"))),
        ("Q282", lambda: tc.extend.additive("a", rows=lambda: ["x"], sensitivity=lambda: 3)()),  # type: ignore[arg-type]
        ("Q10", lambda: shaped(TEXTS(["z"]))),
        ("Q283", lambda: shaped(TEXTS(["100000000 * x"]))),
        ("Q283", lambda: shaped(TEXTS(["x / 100"]))),
        ("Q12", lambda: shaped(TEXTS(["1 / x"]))),
        ("Q12", lambda: shaped(TEXTS(["log(x)"]))),
        ("Q61", lambda: shaped(TEXTS(["clip(x, 3, 1)"]))),
        ("Q61", lambda: shaped(TEXTS(["x + ok"]))),
        ("Q281", lambda: shaped(TEXTS(["cut(x, [1])"]))),
        ("Q61", lambda: 0 < tc.col("x") < 3),
        ("Q61", lambda: tc.col("x") + "y"),
        ("Q61", lambda: tc.col("x") ** 7),
        ("Q01", lambda: tc.col(3)),  # type: ignore[arg-type]
        ("Q288", lambda: query_from_dict(CAPPED("x", 3).to_dict(), asked=True)),
        ("Q81", lambda: CAPPED("x", 3, moments=1)),
    ],
)
def test_what_cannot_be_asked_is_told(code: str, ask: Any) -> None:
    assert refused(code, ask).hint


def test_persons_in_several_groups_are_refused() -> None:
    schema = tc.Schema({**PERSONS, "sex": tc.Category(["f", "m"]), "born": tc.Category(["a", "b"], constant=True)})
    assert "several cells" in refused("Q287", lambda: shaped(TEXTS(["x"], by="sex"), schema=schema)).message
    assert shaped(TEXTS(["x"], by="born"), schema=schema).cells == 2


def test_a_part_asks_one_sum_for_each_integer() -> None:
    part = cast(AdditivePart, shaped(TEXTS(["x", "ok"])).columns[0])
    assert len(part.terms) == 2
    assert part.form.row(0) == (-3, 0)


def test_errors_of_groups_say_what_is_asked_and_that_their_sizes_are_private(admitted: None) -> None:
    share = tc.extend.additive("share", rows=lambda: [tc.col("x")], estimate=lambda sums: sums.integers[0] / sums.n)
    curator = tc.Curator(table(), SCHEMA, budget=tc.Budget(epsilon=1), trust=[share])
    wanted = share(by="sex", where="ok")
    unknown = refused("Q285", lambda: curator.release(wanted, epsilon=1))
    assert "the contract of share() by sex where ok has not" in unknown.message
    tc.testing.contract(wanted, SCHEMA, tables=12, draws=2_000)
    release = curator.release(wanted, epsilon="0.5")
    wrong = refused("Q286", lambda: release.estimate())
    assert "notna()" in str(wrong.hint)
    assert "Nothing was read or spent" not in str(wrong)  # the release was paid for


def test_a_contract_is_printed_as_a_table(admitted: None) -> None:
    found = tc.testing.contract(CAPPED(column="x", cap=3), SCHEMA, tables=12, draws=2_000)
    title, heads, *rows = str(found).splitlines()
    assert title == "Contract · passed"
    assert heads.split() == ["neighbours", "price", "part", "norm", "declared", "reached"]
    assert len(rows) >= len(found.findings)
    few = replace(found.findings[0], reached=1, declared=100, loose=False)
    with pytest.raises(AssertionError, match=r"rows reach 1 in l1, of 100 that are declared: .* too few tables"):
        Contract((few,), ()).check()
    with pytest.raises(AssertionError, match="the noise is too small"):
        Contract((replace(few, reached=101),), ()).check()
