"""Encodings of norm-clipped regressions: all pairs of rows on small grids, every aim, and where bounds are attained."""

from __future__ import annotations

import math
from itertools import product
from typing import Any, cast

import numpy as np
import pytest
from test_regression_forms import FORMULAS, furthest, made, rows_of

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.method.regression.formulas import layout as layouts
from tacit.method.regression.row_sums import norm_encoding as forms
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.rows.norm_clip import NormClip
from tacit.rows.row_products import Product
from tacit.testing.contract import sensitivity
from tacit.testing.findings import PRICES
from tacit.testing.neighbouring_tables import pairs

SMALL = 2
RELATIONS = [("replace-one", False), ("replace-one", True), ("add-remove", True)]
SCHEMA = tc.Schema(
    {
        "y": tc.Real(0, 10),
        "x": tc.Real(-1, 1),
        "m": tc.Boolean(),
        "g": tc.Category(["a", "b", "c"]),
        "k": tc.Integer(0, 9),
    }
)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (layouts, forms):
        monkeypatch.setattr(module, "H", SMALL)
    monkeypatch.setattr(forms, "MOST", 4)
    monkeypatch.setattr(forms, "CLIP", 3)
    monkeypatch.setattr(forms, "SHIFT", 2)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("formula", [*FORMULAS, "y ~ r*q", "y ~ r:a + r + a + m"])
@pytest.mark.parametrize(("relation", "leaves"), RELATIONS)
def test_column_moments_of_all_pairs_of_rows(formula: str, relation: str, leaves: bool) -> None:
    layout = made(formula)
    form, z = forms.column_moments(layout, "gaussian", relation, leaves=leaves), rows_of(layout)
    parts = [z[:, 1:], z[:, list(forms.squared(layout))] ** 2]
    if form.parameters["count"]:
        parts.append(z[:, :1] ** 2)
    released = np.hstack(parts) * np.array([row[0] for row in form.matrix])
    reached = furthest(released, relation, leaves, 2)
    assert 0.45 * form.l2_squared < reached <= form.l2_squared, reached / form.l2_squared
    # a number that goes from one bound to the other, all others as well
    if formula in ("y ~ a", "y ~ a + b", "y ~ m + a") and not leaves:
        assert reached == form.l2_squared


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("formula", ["y ~ a", "y ~ a + b", "y ~ a*m"])
@pytest.mark.parametrize("far", [False, True])
def test_scores_of_all_vectors_in_the_ball(formula: str, relation: str, far: bool) -> None:
    layout = made(formula)
    form, size = forms.norm_scores(layout, relation, far=far), layout.size
    ball = np.array(list(product(range(-4, 5), repeat=size)) if size < 4 else [])
    if size >= 4:  # too many: those on and near the axes and the diagonals
        rng = np.random.default_rng(3)
        ball = np.vstack(
            [4 * np.eye(size, dtype=int), 2 * np.ones((1, size), dtype=int), rng.integers(-4, 5, (500, size))]
        )
    ball = ball[(ball**2).sum(axis=1) <= 16]
    found: list[np.ndarray] = []
    for psi in range(-3, 4):
        v = psi * ball
        products = [(v[:, i] * v[:, k]) >> 2 for ((i, k),) in (one.pairs for one in layouts.all_pairs(size))]
        beside = [psi * psi, *([psi == 3, -(psi == -3)] if far else [])]
        along = [ball**2 > 8] if far else []
        found.append(np.column_stack([v, np.full((len(v), len(beside)), beside), *along, *products]))
    released = np.unique(np.vstack(found), axis=0) * np.array([row[0] for row in form.matrix])
    if len(released) > 2_500:
        far = np.argsort((released.astype(float) ** 2).sum(axis=1))[-2_500:]
        released = released[far]
    reached = furthest(released, relation, relation == "add-remove", 2)
    assert 0.5 * form.l2_squared < reached <= form.l2_squared, reached / form.l2_squared


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_sums_that_are_divided_once_change_no_further(relation: str) -> None:
    """One row of two tables, whatever remainders the other rows leave: each product may change by one more."""
    layout = made("y ~ a")
    form = forms.norm_scores(layout, relation, far=True)
    ball = np.array(list(product(range(-4, 5), repeat=layout.size)))
    ball = ball[(ball**2).sum(axis=1) <= 16]
    alone, products = list[np.ndarray](), list[np.ndarray]()
    for psi in range(-3, 4):
        v = psi * ball
        beside = [psi * psi, psi == 3, -(psi == -3)]
        alone.append(np.column_stack([v, np.full((len(v), 3), beside), ball**2 > 8]))
        products.append(np.column_stack([v[:, i] * v[:, k] for ((i, k),) in (one.pairs for one in layout.all_pairs)]))
    # each row once, and none
    rows = np.vstack(
        [*(np.hstack(pair) for pair in zip(alone, products, strict=True)), np.zeros(alone[0].shape[1] + 3)]
    )
    rows, weights, m = np.unique(rows, axis=0).astype(int), np.array([row[0] for row in form.matrix]), alone[0].shape[1]
    absent, reached, more = (rows == 0).all(axis=1).argmax(), 0, 0.0
    for rest in product(range(4), repeat=3):
        left = np.hstack([rows[:, :m], (rows[:, m:] + rest) >> 2])
        others = slice(None) if relation == "replace-one" else slice(absent, absent + 1)
        change = left[:, None] - left[others]
        reached = max(reached, int(((change * weights) ** 2).sum(axis=2).max()))
        more = max(more, float(np.abs(change[:, :, m:] - (rows[:, None, m:] - rows[others, m:]) / 4).max()))
    assert 0.5 * form.l2_squared < reached <= form.l2_squared, reached / form.l2_squared
    # remainders of fourths
    assert more == 0.75


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_products_of_all_vectors_in_the_ball_and_far_responses(relation: str) -> None:
    """Every vector of a row with every place of its response; the bound is attained."""
    layout = made("y ~ a")
    form, size = forms.norm_products(layout, relation, far=True), layout.size + 1
    ball = np.array(list(product(range(-4, 5), repeat=size)))
    ball = ball[(ball**2).sum(axis=1) <= 16]
    found = [ball[:, i] * ball[:, k] for ((i, k),) in (one.pairs for one in layouts.all_pairs(size))]
    far = [np.column_stack([*found, np.full(len(ball), place)]) for place in (-1, 0, 1)]
    released = np.unique(np.vstack(far), axis=0) * np.array([row[0] for row in form.matrix])
    assert furthest(released, relation, relation == "add-remove", 2) == form.l2_squared


def test_a_far_response_is_one_or_minus_one() -> None:
    psi = np.arange(-forms.CLIP, forms.CLIP + 1)
    told = Product((), 1, forms.SIGNED).numpy(np.zeros((len(psi), 0), dtype=np.int64), psi, psi)
    assert told.tolist() == [-1] * forms.CLIP + [0] * forms.CLIP + [1]


def test_a_row_is_counted_along_one_axis_at_most() -> None:
    """The products that `norms_design` asks for, of entries that may be as large as C, and of vectors within C."""
    query, public = tc.Regression("y ~ x"), Public(SCHEMA, "replace-one", 100)
    edge = math.isqrt(forms.MOST**2 // 2)
    rows = np.array([[forms.MOST, 0], [0, -forms.MOST], [edge + 1, -edge + 2], [edge, edge], [0, 0], [3, -edge - 1]])
    assert ((rows**2).sum(axis=1) <= forms.MOST**2).all()
    one = np.ones(len(rows), dtype=np.int64)
    for cost in (Cost.of(rho=1), Cost.of(epsilon=9)):
        question = cast(ProductPart, design(query, public, cost).columns[-1]).question
        axes = [some for some in question.products if some.plus and some.of]
        assert [some.of for some in axes] == [(0, 0), (1, 1)]
        found = np.column_stack([some.numpy(rows, one, one) for some in axes])
        assert found.tolist() == [[1, 0], [0, 1], [1, 0], [0, 0], [0, 0], [0, 1]]


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_rows_on_and_between_axes_are_no_further_apart_than_declared(relation: str) -> None:
    """The products that `norms_design` asks for, of the longest vectors on axes and between two, and of 0."""
    C, public = forms.MOST, Public(SCHEMA, relation, 100 if relation == "replace-one" else None)
    half = math.isqrt(C * C // 2)
    w = np.vstack([np.zeros((1, 4)), C * np.eye(4)])
    between = np.zeros((3, 4))
    for i in range(3):
        between[i, [0, i + 1]] = half
    # a little further along the first than along the other
    w = np.vstack([w, between, np.add(between, [1, -2, -2, -2])]).astype(np.int64)
    w = np.unique(np.vstack([w, -w]), axis=0)
    w = w[(w**2).sum(axis=1) <= C * C]
    for cost in (Cost.of(rho=1), Cost.of(epsilon=9)):
        column = cast(ProductPart, design(tc.Regression("y ~ x + m + k"), public, cost).columns[-1])
        assert column.layout.size == 4
        asked, found = column.question.products, list[np.ndarray]()
        for psi in (-forms.CLIP, 0, forms.CLIP):
            each = np.full(len(w), psi, dtype=np.int64)
            found.append(np.column_stack([one.numpy(w, each, each) >> one.sum_shift for one in asked]))
        released = np.vstack(found) * np.array([row[0] for row in column.form.matrix])
        reached = furthest(released, relation, relation == "add-remove", 2)
        assert 0.95 * column.form.l2_squared < reached <= column.form.l2_squared, reached / column.form.l2_squared


def test_a_clipped_residual_is_counted_on_its_side() -> None:
    """The products that `norms_design` asks for: 1 at one end, -1 at the other, 0 in between."""
    psi = np.arange(-forms.CLIP, forms.CLIP + 1)
    query, public = tc.Regression("y ~ x"), Public(SCHEMA, "replace-one", 100)
    for cost in (Cost.of(rho=1), Cost.of(epsilon=9)):
        question = cast(ProductPart, design(query, public, cost).columns[-1]).question
        above, below = (one for one in question.products if one.plus and not one.of)
        none = np.zeros((len(psi), 0), dtype=np.int64)
        assert above.numpy(none, psi, psi).tolist() == [0] * (2 * forms.CLIP) + [1]
        assert below.numpy(none, psi, psi).tolist() == [-1] + [0] * (2 * forms.CLIP)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_on_the_grid_of_releases_bounds_are_nearly_attained(relation: str) -> None:
    layout = made("y ~ a + b")
    scores = forms.norm_scores(layout, relation), forms.norm_scores(layout, relation, far=True)
    products = forms.norm_products(layout, relation), forms.norm_products(layout, relation, far=True)
    for form in (*products, *scores):
        first = np.array(form.extreme, dtype=object)
        reached = int((first**2).sum())
        if relation == "replace-one" and form in scores:
            # the residual goes from end to end: scores change sign, their products do not, both counts change,
            # and so do those of two axes, of a vector between them that goes over to the other by a little
            reached = sum((2 * x) ** 2 for x in form.extreme[: layout.size]) + 4 * form.parameters.get("far", 0) ** 2
        elif relation == "replace-one":  # on another axis, and far on the other side
            reached = 2 * reached + 2 * form.parameters.get("far", 0) ** 2
        assert 0.99 * form.l2_squared < reached <= form.l2_squared, (form.name, reached / form.l2_squared)


@pytest.mark.parametrize("relation", ["replace-one", pytest.param("add-remove", marks=pytest.mark.long)])
def test_no_pair_of_tables_is_further_apart_than_declared(relation: str) -> None:
    material = list(pairs(SCHEMA, relation, 12, np.random.default_rng(1)))
    query = tc.Regression("y ~ x*m + g + k + I(x**2)", where="m or x > -0.5")
    found = sensitivity(query, SCHEMA, relation, PRICES, material)
    split = {"residual-vectors", "residual-matrices-4"}
    assert {one.form for one in found} == {"column-moments", "norm-products-3", "norm-scores-5"} | split
    for one in found:
        assert 0.05 * one.declared < one.reached <= one.declared, one


def test_a_part_that_is_not_aimed_is_still_bounded() -> None:
    """The fallback vector, of rows at all bounds."""
    clip = NormClip(tuple(tuple(2 * (i == j) for j in range(5)) for i in range(4)), 1, forms.MOST)
    clip.check()
    rows = 1024 * np.array(list(product((-1, 0, 1), repeat=5)))
    assert ((clip.numpy(rows) ** 2).sum(axis=1) <= forms.MOST**2).all()


def test_rows_and_persons_have_norms_at_every_price() -> None:
    rng = np.random.default_rng(0)
    data = {"y": rng.uniform(0, 10, 300), "x": rng.uniform(-1, 1, 300)}
    data |= {"m": rng.random(300) < 0.5, "g": rng.choice(["a", "b", "c"], 300), "k": rng.integers(0, 9, 300)}
    query, first = tc.Regression("y ~ x + g"), ["column-moments", "norm-products-3"]
    pure = tc.Curator(data, SCHEMA, budget=tc.Budget(epsilon=20)).release(query, epsilon=5)
    assert [one.form for one in pure.parts] == [*first, "residual-vectors", "residual-matrices-4"]
    # sums of columns have noises of their own; each other part is one vector
    assert [one.law.name for one in pure.parts] == ["discrete Laplace", *["rounded spherical Laplace"] * 3]
    noisy = tc.Curator(data, SCHEMA, budget=tc.Budget(rho=5)).release(query, rho=2)
    assert [one.form for one in noisy.parts] == [*first, "norm-scores-5"]
    persons = tc.Schema({**SCHEMA, "who": tc.PrivacyUnit(3)})
    data["who"] = np.arange(300) // 2
    for kind, last in (("rho", ["person-norm-scores"]), ("epsilon", ["residual-vectors", "person-score-matrices"])):
        price: dict[str, Any] = {kind: 5}
        one = tc.Curator(data, persons, budget=tc.Budget(**price)).release(query, **price)
        # of persons far responses are not counted
        assert [part.form for part in one.parts] == [first[0], "norm-products-2", *last]
    assert Cost.of(rho=1).noise == "gaussian"
