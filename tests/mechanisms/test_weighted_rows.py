"""Regressions of rows with weights: all pairs of rows on small grids, bounds attained, scores of any size, engines."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, cast

import duckdb
import narwhals as nw
import numpy as np
import polars as pl
import pyarrow as pa
import pytest
from every_engine import ODD_SCHEMA, assert_every_engine_adds_up, columns_of, odd_table
from test_regression_forms import FORMULAS, furthest, made, rows_of
from test_split_forms import ball, largest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.method.regression import mechanism as regression
from tacit.method.regression.formulas import layout as layouts
from tacit.method.regression.row_sums import norm_encoding, norm_person_encoding, weighted_rows
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.rows.norm_clip import NormClip
from tacit.rows.row_map import RowMap
from tacit.rows.row_products import FINER, ClippedResidual, Coordinate, CrossProducts, Product, averages
from tacit.rows.row_weight import STEPS, weighed
from tacit.source.engine_sums.engine_scores import with_weights
from tacit.source.in_memory import held_products, held_rows
from tacit.testing import simulated_regressions
from tacit.testing.contract import contract, sensitivity
from tacit.testing.findings import PRICES
from tacit.testing.neighbouring_tables import pairs

Ints = np.ndarray
RELATIONS = ["replace-one", "add-remove"]
NORMAL, PURE = Cost.of(rho=1), Cost.of(epsilon=1)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Numbers in steps of 2, and weights in steps of 4, whose squares have the sums of a whole row."""
    for module in (layouts, norm_encoding, weighted_rows):
        monkeypatch.setattr(module, "H", 2)
    monkeypatch.setattr(norm_encoding, "MOST", 4)
    for name, value in (("STEPS", 4), ("SHIFT", 2), ("ALONE", 0)):
        monkeypatch.setattr(weighted_rows, name, value)


def added(asked: tuple[Product, ...], weights: Any, z: Ints, steps: int) -> Ints:
    """What rows of these coordinates (or vectors) add with every weight there is."""
    every, a = np.repeat(z, steps + 1, axis=0), np.tile(np.arange(steps + 1), len(z))
    one = np.ones(len(every), dtype=np.int64)
    sums = np.stack([product_.numpy(every, one, one, a) for product_ in asked], axis=1)
    return sums * np.array(weights)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("formula", [*FORMULAS, "y ~ r:a + r + a + m"])
def test_column_moments_of_all_pairs_of_rows_with_all_weights(formula: str, relation: str) -> None:
    layout = made(formula)
    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form, asked = weighted_rows.weighted_moments(layout, cast(Any, noise), relation)
        released = added(asked, [row[0] for row in form.matrix], rows_of(layout), 4)
        reached = furthest(released, relation, True, power)
        declared = form.l1 if power == 1 else form.l2_squared
        # the bound allows for rounding, which is much on a small grid
        assert 0.3 * declared < reached <= declared, (noise, reached / declared)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("relation", RELATIONS)
def test_products_of_all_vectors_in_the_ball_with_all_weights(relation: str) -> None:
    layout = made("y ~ a")
    form, asked = weighted_rows.weighted_products(layout, relation)
    reached = largest(added(asked, [row[0] for row in form.matrix], ball(3, 4), 4), relation)
    assert 0.6 * form.l2_squared < reached <= form.l2_squared, reached / form.l2_squared


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("price", [NORMAL, PURE])
def test_on_the_grid_of_releases_bounds_are_nearly_attained(price: Cost, relation: str) -> None:
    """Rows at their bounds, of all weights or none: two rows, or one and none, are as far apart as is declared."""
    columns = design(QUESTIONS["linear"], public(relation), price).columns
    moments, products = (cast(ProductPart, one) for one in columns[:2])
    z = np.array([(1024, *one) for one in product((-1024, 0, 1024), repeat=3)])
    for part, rows, power in ((moments, z, 1 if price is PURE else 2), (products, 1024 * np.eye(4, dtype=np.int64), 2)):
        released = np.vstack([added_by(part, rows, a=np.full(len(rows), a)) for a in (0, STEPS // 2, STEPS)])
        reached = furthest(released, relation, True, power)
        declared = part.form.l1 if power == 1 else part.form.l2_squared
        assert 0.99 * declared < reached <= declared, reached / declared


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("noise", ["gaussian", "laplace"])
def test_sums_of_squared_weights_are_in_the_bound(noise: Any, relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Squares of so large a weight that they decide: all pairs of 65 weights, of rows alike, opposite, or none."""
    monkeypatch.setattr(weighted_rows, "SQUARES", 60)
    layout, power = layout_of("linear"), 1 if noise == "laplace" else 2
    form, asked = weighted_rows.weighted_moments(layout, noise, relation)
    weights = [row[0] for row in form.matrix]
    assert weights[-1] == 60
    z = np.array([[1024, 1024, 1024, 1024], [1024, -1024, -1024, -1024], [1024, 0, 0, 0]])
    every, a = np.repeat(z, 65, axis=0), np.tile(np.arange(65) * (STEPS // 64), len(z))
    one = np.ones(len(every), dtype=np.int64)
    released = np.stack([each.numpy(every, one, one, a) for each in asked], axis=1) * np.array(weights)
    reached, declared = furthest(released, relation, True, power), form.l1 if power == 1 else form.l2_squared
    assert 0.25 * declared < reached <= declared, reached / declared


QUESTIONS = {
    "linear": tc.Regression("y ~ a + b", weights="w"),
    "logistic": tc.Regression("m ~ a + b", model="logistic", weights="w"),
    "poisson": tc.Regression("k ~ a + b", model="poisson", weights="w"),
}
COLUMNS: dict[str, Any] = {
    "y": tc.Real(0, 10),
    "m": tc.Boolean(),
    "k": tc.Integer(0, 16),
    "a": tc.Real(-1, 1),
    "b": tc.Real(-1, 1),
    "w": tc.Real(0, 5),
}


def public(relation: Any, *, persons: bool = False) -> Public:
    schema = tc.Schema(COLUMNS | ({"who": tc.PrivacyUnit(4)} if persons else {}))
    return Public(schema, relation, 10 if relation == "replace-one" else None)


def layout_of(name: str) -> Any:
    return cast(ProductPart, design(QUESTIONS[name], public("replace-one"), NORMAL).columns[0]).layout


def added_by(
    part: ProductPart, w: Ints, *, a: Ints, psi: Ints | None = None, size: Ints | None = None, who: Ints | None = None
) -> Ints:
    """What rows (or persons) of these vectors, weights, and scores with these weights in them add to a part."""
    one = np.ones(len(w), dtype=np.int64)
    psi, size = (one if x is None else x for x in (psi, size))
    found = [each.numpy(w, psi, size, a) for each in part.question.products]
    found = found if who is None else averages(found, who)
    found = [*found[part.question.aside :], *(each.numpy(found) for each in part.question.between)]
    return np.stack(found, axis=1) * np.array([row[0] for row in part.form.matrix])


# Scores: whatever psi is, on the finer grid --------------------------------------------------------------------------


@pytest.mark.parametrize("persons", [False, True])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("price", [NORMAL, PURE])
@pytest.mark.parametrize("name", QUESTIONS)
def test_no_pair_of_scored_rows_is_further_apart_than_declared(
    name: str, price: Cost, relation: str, persons: bool
) -> None:
    """6,000 pairs of rows, and of persons of two rows: many on axes and at the ends of scores, which have weights."""
    rng, n = np.random.default_rng(5), 6_000
    shape = design(QUESTIONS[name], public(relation, persons=persons), price)
    for column in shape.columns[2:]:
        part, c = cast(ProductPart, column), norm_encoding.CLIP * FINER
        assert weighted_rows.clip_of(part.question) == c
        part.question.check()
        first, reached = drawn(rng, n, c, own=name == "poisson"), 0
        for kind in range(3):
            other = turned(rng, first, c, kind, own=name == "poisson")
            one, two = (sums_of(part, rows, persons=persons) for rows in (first, other))
            change = one if relation == "add-remove" else one - two
            assert abs(change).sum(axis=1).max() <= part.form.l1
            reached = max(reached, int((change.astype(float) ** 2).sum(axis=1).max()))
        assert 0.75 * part.form.l2_squared < reached <= part.form.l2_squared, reached / part.form.l2_squared


def drawn(rng: np.random.Generator, n: int, c: int, *, own: bool) -> tuple[Ints, Ints, Ints]:
    """Vectors of two rows each, their scores, and the weights of products."""
    axes = 1024 * np.eye(3, dtype=np.int64)[rng.integers(0, 3, (n, 2))]
    any_ = rng.normal(0, 1, (n, 2, 3))
    any_ = np.trunc(1024 * any_ / np.linalg.norm(any_, axis=2, keepdims=True)).astype(np.int64)
    w = np.where(rng.random((n, 1, 1)) < 0.6, axes, any_)
    psi = np.where(rng.random((n, 2)) < 0.8, rng.choice([-c, c], (n, 2)), rng.integers(-c, c + 1, (n, 2)))
    size = np.where(rng.random((n, 2)) < 0.6, rng.choice([0, c], (n, 2)), rng.integers(0, c + 1, (n, 2)))
    # two equal rows have the mean of one
    same = rng.random((n, 1)) < 0.7
    w, psi = np.where(same[..., None], w[:, :1], w), np.where(same, psi[:, :1], psi)
    return w, psi, np.where(same, size[:, :1], size) if own else abs(psi)


def turned(
    rng: np.random.Generator, rows: tuple[Ints, Ints, Ints], c: int, kind: int, *, own: bool
) -> tuple[Ints, Ints, Ints]:
    """Rows far from these: scores of the other sign, on the same or another axis; or any others."""
    w, psi, size = rows
    other = c - size if own else abs(psi)
    return ((w, -psi, other), (np.roll(w, 1, axis=2), psi, other), drawn(rng, len(w), c, own=own))[kind]


def sums_of(part: ProductPart, rows: tuple[Ints, Ints, Ints], *, persons: bool) -> Ints:
    w, psi, size = rows
    if not persons:
        return added_by(part, w[:, 0], a=0 * psi[:, 0], psi=psi[:, 0], size=size[:, 0])
    who = np.repeat(np.arange(len(w)), 2)
    return added_by(part, w.reshape(-1, 3), a=0 * psi.ravel(), psi=psi.ravel(), size=size.ravel(), who=who)


def rounded(part: ProductPart) -> ProductPart:
    """The part with products that are divided in each row, not once in their sum."""
    products = tuple(replace(one, shift=one.shift + one.sum_shift, sum_shift=0) for one in part.question.products)
    return replace(part, question=replace(part.question, products=products))


@pytest.mark.parametrize("name", QUESTIONS)
@pytest.mark.parametrize("price", [NORMAL, PURE])
def test_sums_mean_the_same_as_without_weights(name: str, price: Cost) -> None:
    """A score on the grid of rows without weights, FINER times as fine: the same integers, exactly."""
    rng, query = np.random.default_rng(6), QUESTIONS[name]
    plain = design(tc.Regression(query.formula, model=query.model), public("replace-one"), price)
    weighed = design(query, public("replace-one"), price)
    w, psi, size = drawn(rng, 500, norm_encoding.CLIP, own=name == "poisson")
    for one, other in zip(plain.columns[2:], weighed.columns[2:], strict=True):
        for unit in ("G", "score", "size", "square", "off", "diag"):
            assert one.form.parameters.get(unit) == other.form.parameters.get(unit), unit
        found = sums_of(rounded(cast(ProductPart, one)), (w, psi, size), persons=False)
        again = sums_of(cast(ProductPart, other), (w, FINER * psi, FINER * size), persons=False)
        if "far" in one.form.parameters:
            # rows that are clipped are counted where they have no weights, just after psi**2
            place = [each.power == 2 for each in cast(ProductPart, one).question.products].index(True) + 1
            # those above, those below, and those far along each axis
            found = np.delete(found, np.arange(place, place + 2 + cast(ProductPart, one).layout.size), axis=1)
            # of matrices alone these add 4 sixteenths to 2, the most of any form; rounding down takes a little
            assert 0.999 * 8 / 9 * one.form.l2_squared < other.form.l2_squared < one.form.l2_squared
        else:
            assert one.form.name == other.form.name
            assert one.form.l2_squared <= other.form.l2_squared < 1.001 * one.form.l2_squared
        assert np.array_equal(found, again)


@pytest.mark.parametrize("relation", RELATIONS)
def test_persons_of_moments_and_products(relation: str) -> None:
    """Two rows of a person, of any weights: no pair of persons is further apart than declared, means rounded."""
    rng, n = np.random.default_rng(7), 8_000
    shape = design(QUESTIONS["linear"], public(relation, persons=True), NORMAL)
    who, a = np.repeat(np.arange(n), 2), rng.choice([0, 1, STEPS // 3, STEPS - 1, STEPS], 2 * n)
    z = rng.choice([-1024, 1024], (2 * n, 4))
    z[:, 0] = 1024
    w = 1024 * np.eye(4, dtype=np.int64)[rng.integers(0, 4, 2 * n)]
    # every second person has two equal rows
    second = np.arange(3, 2 * n, 4)
    for one in (a, z, w):
        one[second] = one[second - 1]
    assert norm_person_encoding.of_rows(shape.columns[0].form.name) == "weighted-moments"
    for column, rows in zip(shape.columns[:2], (z, w), strict=True):
        part = cast(ProductPart, column)
        found = added_by(part, rows, a=a, who=who)
        change = found if relation == "add-remove" else found - found[rng.permutation(n)]
        reached = float((change.astype(float) ** 2).sum(axis=1).max())
        assert 0.9 * part.form.l2_squared < reached <= part.form.l2_squared, reached / part.form.l2_squared


# Every engine ---------------------------------------------------------------------------------------------------------

WEIGHTED_SCHEMA = tc.Schema({**ODD_SCHEMA, "w": tc.Real(0, 3)})


def weighted_table() -> pa.Table:
    """The table of odd cells with weights: 0, halves of the cap, beyond it, negative, not finite and missing."""
    data, rng = odd_table(), np.random.default_rng(4)
    w: list[Any] = np.where(rng.random(len(data)) < 0.4, rng.choice([0.0, 1.5, 3.0, 0.75], len(data)), 0).tolist()
    w = [x or float(rng.gamma(2)) for x in w]
    w[:12] = [0.0, -1.0, np.nan, np.inf, -np.inf, None, 7.0, 1e-9, 0.0, 3.0, 1e300, -0.0]
    order = rng.permutation(len(w))
    return data.append_column("w", pa.array([w[i] for i in order], pa.float64()))


@pytest.mark.parametrize(
    ("query", "price"),
    [
        (tc.Regression("x ~ m + g", weights="w", where="y or x > 0"), Cost.of(rho=8)),
        pytest.param(tc.Regression("k ~ x", model="poisson", weights="w"), Cost.of(rho=8), marks=pytest.mark.long),
        pytest.param(
            tc.Regression("y ~ x*m", model="logistic", weights="w"), Cost.of(epsilon=20), marks=pytest.mark.long
        ),
    ],
    ids=["linear", "poisson", "logistic"],
)
def test_every_engine_adds_up_the_same_integers(query: tc.Regression, price: Cost, tmp_path: Path) -> None:
    data = weighted_table()
    rows = simulated_regressions.rows_of(query, columns_of(data), WEIGHTED_SCHEMA, price, "add-remove")
    assert rows.weights is not None
    assert {0, STEPS // 2, STEPS} <= set(rows.weights.tolist())
    release = rows.release(np.random.default_rng(1))
    asked = [
        regression.next_question(cast(ProductPart, column), release.parts[:i], rows.shape)
        for i, column in enumerate(rows.shape.columns)
    ]
    assert all(one.question.norm is not None for one in asked[1:])
    expected = [(rows.sums(one),) for one in asked]
    assert_every_engine_adds_up(expected, asked, rows.shape, data, WEIGHTED_SCHEMA, tmp_path)


@pytest.mark.long
def test_persons_with_weights_on_every_engine(tmp_path: Path) -> None:
    data = weighted_table().append_column("who", pa.array(np.random.default_rng(2).integers(0, 130, 400)))
    schema = tc.Schema({**WEIGHTED_SCHEMA, "who": tc.PrivacyUnit(5)})
    query = tc.Regression("y ~ x + g", model="logistic", weights="w")
    rows = simulated_regressions.rows_of(query, columns_of(data), schema, Cost.of(rho=8), "add-remove")
    release = rows.release(np.random.default_rng(1))
    asked = [
        regression.next_question(cast(ProductPart, column), release.parts[:i], rows.shape)
        for i, column in enumerate(rows.shape.columns)
    ]
    expected = [(rows.sums(one),) for one in asked]
    assert_every_engine_adds_up(expected, asked, rows.shape, data, schema, tmp_path)


def test_scores_are_weighed_alike_by_engines_and_held_rows() -> None:
    """All scores up to 40 and a few large ones, at weights that make halves, nearly halves, nothing and all."""
    large = [2**13, 2**13 - 1, 5_001]
    psi = np.array([*range(-40, 41), *large, *(-x for x in large)])
    a = np.array([0, 1, STEPS // 4, STEPS // 2 - 1, STEPS // 2, STEPS // 2 + 1, 3 * STEPS // 4, STEPS])
    x, y = (one.ravel() for one in np.meshgrid(psi, a))
    expected = weighed(x, y)
    # Python's own rounding of exact fractions goes to even numbers, too
    assert expected.tolist() == [round(Fraction(int(p) * int(q), STEPS)) for p, q in zip(x, y, strict=True)]
    assert (abs(expected) <= abs(x)).all()
    assert np.array_equal(held_products.weighed(x.astype(float), y.astype(float)), expected)
    table = pa.table({"psi": x, "size": abs(x), "a": y})
    for frame in (pl.from_arrow(table).lazy(), duckdb.connect().from_arrow(table)):
        found = with_weights(nw.from_native(frame), ("psi", "size")).select("psi", "size", "a")
        rows = found.collect()
        got = sorted(zip(*(rows[name].to_list() for name in ("psi", "size", "a")), strict=True))
        assert got == sorted(zip(expected.tolist(), abs(expected).tolist(), y.tolist(), strict=True))


@pytest.mark.parametrize("seed", [0, pytest.param(1, marks=pytest.mark.long)])
def test_held_rows_add_up_any_products_with_weights(seed: int) -> None:
    """Random scores, vectors and powers of weights: NumPy's sums over held rows are those of the reference."""
    rng = np.random.default_rng(seed)
    at = RowMap("w", "w", "real", 0.0, 1.0, STEPS)
    for _ in range(40):
        m = int(rng.integers(2, 6))
        norm = NormClip(tuple(map(tuple, rng.integers(-900, 900, (m, m)).tolist())), 9, int(rng.choice([300, 1024])))
        score = ClippedResidual(tuple(rng.integers(-90_000, 90_000, m).tolist()), 12, int(rng.choice([512, 2**13])))
        asked = list[Product]()
        for power, times in ((0, 1), (0, 2), (1, 0), (2, 0), (2, 1)):
            for of in ((), (0,), (0, m - 1)):
                most = (norm.most ** len(of) * score.clip**power * STEPS**times).bit_length()
                if most < 52:
                    asked.append(Product(of, power, max(0, most - 24 + int(rng.integers(0, 3))), times=times))
        one = CrossProducts((Coordinate(),) * m, tuple(asked), score, norm=norm, weight=at)
        z, a = rng.integers(-1024, 1025, (400, m)), rng.integers(0, STEPS + 1, 400)
        a[:90] = rng.choice([0, STEPS // 2, STEPS // 4, STEPS], 90)
        held = np.ascontiguousarray(np.column_stack([z, a]).T.astype(np.int16))
        assert held_rows.HeldRows(400, (held[:, :150], held[:, 150:])).crossed(one).cells == (one.sums(z, a=a),)


def test_weights_on_another_grid_or_of_no_rows_are_refused() -> None:
    at, one = RowMap("w", "w", "real", 0.0, 1.0, STEPS), CrossProducts((Coordinate(),), (Product((0,), times=1),))
    replace(one, weight=at).check()
    for wrong in (one, replace(one, weight=replace(at, steps=STEPS // 2)), replace(one, weight=at, products=(HUGE,))):
        with pytest.raises(ArithmeticError):
            wrong.check()
    # what a row may add is more, and rows are fewer
    assert replace(one, weight=at).most_rows * FINER == one.most_rows


HUGE = Product((0, 0), shift=9, times=1)


@pytest.mark.parametrize("declared", ["exclude", 1.5])
def test_a_missing_weight_follows_the_schema_and_a_weight_of_0_adds_nothing(declared: Any) -> None:
    data = {"y": [1.0, 9.0, 4.0, 2.0], "a": [0.2, -0.9, 0.1, 0.5], "w": [1.5, np.nan, 0.0, -2.0]}
    schema = tc.Schema({"y": tc.Real(0, 10), "a": tc.Real(-1, 1), "w": tc.Real(0, 3, missing=declared)})
    rows = simulated_regressions.rows_of(tc.Regression("y ~ a", weights="w"), data, schema, NORMAL)
    part = rows.shape.columns[0]
    kept = {name: [x for x, w in zip(cells, data["w"], strict=True) if w > 0] for name, cells in data.items()}
    if declared != "exclude":
        kept = {"y": [1.0, 9.0], "a": [0.2, -0.9], "w": [1.5, 1.5]}
    alone = simulated_regressions.rows_of(tc.Regression("y ~ a", weights="w"), kept, schema, NORMAL)
    assert rows.sums(part) == alone.sums(part)
    assert rows.sums(part)[-2] == part.form.parameters["count"] * 2**20 * (1 if declared == "exclude" else 2) // 2


# The whole release ----------------------------------------------------------------------------------------------------

PLAIN = tc.Schema({"y": tc.Real(0, 10), "x": tc.Real(-1, 1), "m": tc.Boolean(), "w": tc.Real(0, 4)})


@pytest.mark.parametrize("relation", ["replace-one", pytest.param("add-remove", marks=pytest.mark.long)])
def test_no_pair_of_tables_is_further_apart_than_declared(relation: Any) -> None:
    material = list(pairs(PLAIN, relation, 12, np.random.default_rng(1)))
    found = sensitivity(tc.Regression("y ~ x*m", where="m or x > -0.5", weights="w"), PLAIN, relation, PRICES, material)
    assert "weighted-moments" in {one.form for one in found}
    for one in found:
        assert 0.05 * one.declared < one.reached <= one.declared, one


@pytest.mark.long
@pytest.mark.parametrize(
    "query", [tc.Regression("y ~ x + m", weights="w"), tc.Regression("m ~ x", "probit", weights="w")]
)
def test_the_contract(query: Any) -> None:
    found = contract(query, PLAIN, tables=40, draws=40_000)
    assert "weighted-moments" in {one.form for one in found.findings}
