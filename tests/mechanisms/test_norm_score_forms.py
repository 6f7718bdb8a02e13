"""Encodings of bounded scores of norm-clipped rows: all pairs of rows on small grids, and where bounds are attained."""

from __future__ import annotations

from itertools import product
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from every_engine import ODD_SCHEMA, assert_every_engine_adds_up, columns_of, odd_table
from test_regression_forms import furthest, made

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.method.regression import mechanism as regression
from tacit.method.regression.formulas import layout as layouts
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums import norm_encoding, norm_score_encoding
from tacit.method.regression.row_sums.encoding import ProductEncoding
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

KINDS = [(False, False), (True, False), (True, True), (False, True)]
"""Whether squares are released, and whether products have weights of their own."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (layouts, norm_encoding):
        monkeypatch.setattr(module, "H", 2)
    monkeypatch.setattr(norm_score_encoding, "MOST", 4)
    monkeypatch.setattr(norm_score_encoding, "CLIP", 3)


def released(layout: Layout, form: ProductEncoding, ball: np.ndarray, weighed: bool) -> np.ndarray:
    """What rows of these vectors add, under every score (and every weight) that there could be."""
    C, found = 3, list[np.ndarray]()
    pairs = [one.pairs[0] for one in layouts.all_pairs(layout.size)]
    for psi in range(-C, C + 1):
        for size in range(C + 1) if weighed else (abs(psi),):
            columns = [psi * ball, np.full((len(ball), 1), size)]
            squares = [psi * psi * ball[:, i] * ball[:, k] // C**2 for i, k in pairs]
            sizes = [size * ball[:, i] * ball[:, k] // C for i, k in pairs]
            if form.parameters["squares"]:
                columns += [np.full((len(ball), 1), psi * psi), np.column_stack(sizes), np.column_stack(squares)]
            else:
                columns.append(np.column_stack(sizes))
            found.append(np.hstack(columns))
    weights = np.array([row[0] for row in form.matrix], dtype=object)
    return np.unique(np.vstack(found), axis=0) * weights


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("squares", "weighed"), KINDS)
@pytest.mark.parametrize("formula", ["y ~ a - 1", "y ~ a"])
def test_scores_of_all_vectors_in_the_ball(formula: str, squares: bool, weighed: bool, relation: str) -> None:
    layout = made(formula)
    form = norm_score_encoding.norm_scored(layout, relation, squares=squares, weighed=weighed)
    ball = np.array(list(product(range(-4, 5), repeat=layout.size)))
    ball = ball[(ball**2).sum(axis=1) <= 16]
    rows = released(layout, form, ball, weighed).astype(float)
    if len(rows) > 2_500:
        rows = rows[np.argsort((rows**2).sum(axis=1))[-2_500:]]
    reached = furthest(rows, relation, relation == "add-remove", 2)
    # products are rounded to the steps of a grid of 4, for which the bound allows
    assert 0.3 * form.l2_squared < reached <= form.l2_squared, reached / form.l2_squared


@pytest.mark.parametrize("squares", [False, True])
def test_floors_of_products_are_in_the_norm(squares: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Vectors of length 1, scores a step below their bounds: without floors the norm is exceeded, by 12%."""
    monkeypatch.setattr(norm_score_encoding, "MOST", 1)
    layout, C = made("y ~ a - 1"), norm_score_encoding.CLIP
    form, pairs = norm_score_encoding.norm_scored(layout, "replace-one", squares=squares), layout.all_pairs
    ball, found = np.vstack([sign * np.eye(layout.size, dtype=np.int64) for sign in (-1, 1)]), list[np.ndarray]()
    for psi in (sign * (C - step) for step in range(3) for sign in (-1, 1)):
        products = np.stack([ball[:, i] * ball[:, k] for ((i, k),) in (one.pairs for one in pairs)], axis=1)
        square = [np.full((len(ball), 1), psi**2), abs(psi) * products // C, psi**2 * products // C**2]
        parts = square if squares else [square[1]]
        found.append(np.hstack([psi * ball, np.full((len(ball), 1), abs(psi)), *parts]))
    rows = np.vstack(found) * np.array([row[0] for row in form.matrix])
    reached, bare = furthest(rows, "replace-one", False, 2), 4 * (form.parameters["score"] * C) ** 2
    assert 1.1 * bare < reached <= form.l2_squared


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize(("squares", "weighed"), KINDS)
def test_on_the_grid_of_releases_bounds_are_nearly_attained(squares: bool, weighed: bool, relation: str) -> None:
    layout = made("y ~ a + b")
    form = norm_score_encoding.norm_scored(layout, relation, squares=squares, weighed=weighed)
    reached = sum(x * x for x in form.extreme)
    if relation == "replace-one":  # the score changes its sign, and a weight of its own falls to 0
        reached = sum((2 * x) ** 2 for x in form.extreme[: layout.size])
        if weighed:
            rest = [*form.extreme[layout.size :]]
            own = [rest[0], *rest[1 + squares :][: len(layout.all_pairs)]]
            reached += sum(x * x for x in own)
    assert 0.98 * form.l2_squared < reached <= form.l2_squared, reached / form.l2_squared


@pytest.mark.parametrize("weighed", [False, True])
def test_changes_of_scores_in_all_directions_on_the_grid_of_releases(weighed: bool) -> None:
    """40,000 pairs, most near the worst: vectors alike or opposite, scores turned over or of different size."""
    rng, C, R, d, n = np.random.default_rng(8), 512, 1024, 3, 40_000
    layout = made("y ~ a + b")
    assert layout.size == d
    form = norm_score_encoding.norm_scored(layout, "replace-one", squares=True, weighed=weighed)
    first = rng.normal(0, 1, (n, d))
    other = np.where(rng.random((n, 1)) < 0.7, first * rng.choice([-1, 1], (n, 1)), 0)
    other = other + rng.choice([0.0, 0.01, 1.0], (n, 1)) * rng.normal(0, 1, (n, d))
    rows: list[np.ndarray] = []
    for vector in (first, other):
        length = R * np.where(rng.random((n, 1)) < 0.6, 1.0, rng.random((n, 1)))
        w = np.trunc(vector / np.maximum(np.linalg.norm(vector, axis=1, keepdims=True), 1e-9) * length).astype(np.int64)
        psi = np.where(rng.random(n) < 0.6, rng.choice([-C, C], n), rng.integers(-C, C + 1, n))
        size = np.where(rng.random(n) < 0.6, rng.choice([0, C], n), rng.integers(0, C + 1, n)) if weighed else abs(psi)
        pairs = [w[:, i] * w[:, k] for ((i, k),) in (one.pairs for one in layout.all_pairs)]
        parts = [psi[:, None] * w, size[:, None], (psi**2)[:, None]]
        parts += [np.stack([size * one >> 9 for one in pairs], 1), np.stack([psi**2 * one >> 18 for one in pairs], 1)]
        rows.append(np.hstack(parts) * np.array([row[0] for row in form.matrix]))
    furthest_pair = int(np.argmax(((rows[0] - rows[1]).astype(float) ** 2).sum(axis=1)))
    gap = rows[0][furthest_pair] - rows[1][furthest_pair]
    reached = sum(int(x) ** 2 for x in gap)
    assert 0.9 * form.l2_squared < reached <= form.l2_squared, reached / form.l2_squared


@pytest.mark.parametrize(
    ("model", "formula"),
    [
        ("poisson", "k ~ x*m"),
        pytest.param("logistic", "y ~ x*m + g", marks=pytest.mark.long),
    ],
)
def test_every_engine_adds_up_the_same_scores(model: str, formula: str, tmp_path: Path) -> None:
    """Each part's question as a release's integers aim it, at a table with nulls, NaN, infinities and values beyond."""
    data, query = odd_table(), tc.Regression(formula, model=model)
    rows = rows_of(query, columns_of(data), ODD_SCHEMA, Cost.of(rho=8), "add-remove")
    release = rows.release(np.random.default_rng(1))
    asked = [
        regression.next_question(cast(ProductPart, column), release.parts[:i], rows.shape)
        for i, column in enumerate(rows.shape.columns)
    ]
    expected = [(rows.sums(one),) for one in asked]
    assert all(one.question.norm is not None for one in asked[1:])
    assert len({abs(x) for x in expected[-1][0]}) > 20
    assert_every_engine_adds_up(expected, asked, rows.shape, data, ODD_SCHEMA, tmp_path)


def test_rows_and_persons_have_norms_at_every_price() -> None:
    rng = np.random.default_rng(0)
    data = {"x": rng.uniform(-1, 1, 400), "y": rng.random(400) < 0.5, "k": rng.poisson(2, 400)}
    schema = tc.Schema({"x": tc.Real(-1, 1), "y": tc.Boolean(), "k": tc.Integer(0, 20)})
    persons, first = tc.Schema({**schema, "who": tc.PrivacyUnit(3)}), ["column-moments", "norm-products-2"]
    data["who"] = np.arange(400) // 2
    for model, formula, scores, alone in (
        ("logistic", "y ~ x", ["norm-scored"] * 2, "score-vectors"),
        ("poisson", "k ~ x", ["norm-weighed"] * 3, "count-score-vectors"),
    ):
        query = tc.Regression(formula, model=model)
        for table, size, prefix in ((schema, 400, ""), (persons, 200, "person-")):
            norms = [*first, *(prefix + one for one in scores)]
            split = [*norms[:-1], alone, f"{prefix}score-matrices"]
            pair = Cost.of(epsilon=3, delta=1e-6)
            for price, forms in ((Cost.of(epsilon=5), split), (pair, norms), (Cost.of(rho=2), norms)):
                shape = design(query, Public(table, "replace-one", size), price)
                assert [one.form.name for one in shape.columns] == forms
            pure = model == "poisson"
            asked: dict[str, Any] = {"epsilon": 9} if pure else {"rho": 5}
            made = tc.Curator(data, table, budget=tc.Budget(**asked)).release(query, **asked)
            assert [one.form for one in made.parts] == (split if pure else norms)
