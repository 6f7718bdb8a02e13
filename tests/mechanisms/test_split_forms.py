"""Encodings of regressions at pure prices: all pairs of rows on small grids, where bounds are attained, engines."""

from __future__ import annotations

from dataclasses import replace
from itertools import product
from pathlib import Path
from typing import cast

import numpy as np
import pytest
from every_engine import ODD_SCHEMA, assert_every_engine_adds_up, columns_of, odd_table
from test_regression_forms import FORMULAS, furthest, made, rows_of

import tacit as tc
from tacit.method.regression import mechanism as regression
from tacit.method.regression.formulas import layout as layouts
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums import norm_encoding
from tacit.method.regression.row_sums import split_score_encoding as forms
from tacit.method.regression.row_sums.encoding import ProductEncoding
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.privacy import Cost
from tacit.testing import simulated_regressions

Ints = np.ndarray
RELATIONS = ["replace-one", "add-remove"]
FACTS = [(False, False), (True, False), (False, True)]
"""Matrices of scores with and without sizes, and of residuals with the number of clipped ones."""
SMALL = {"y ~ 1": (9, 4), "y ~ a": (8, 3), "y ~ a + b": (5, 2)}
"""Formulas, with a norm and a largest score for which all rows can be listed."""
PLAIN = ("y ~ a", "y ~ a + b", "y ~ m + a", "m ~ a")
"""Formulas in which every coordinate can go from one bound to the other, all others as well."""


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (layouts, norm_encoding):
        monkeypatch.setattr(module, "H", 2)


def ball(size: int, most: int) -> Ints:
    """All integer vectors of a norm of at most `most`."""
    every = np.array(list(product(range(-most, most + 1), repeat=size)))
    return every[(every**2).sum(axis=1) <= most**2]


def largest(rows: Ints, relation: str) -> int:
    """The largest squared change: of one row replaced, absent ones included, or added or removed."""
    every = np.unique(np.vstack([rows, 0 * rows[:1]]), axis=0).astype(np.float64)
    length = np.sqrt((every**2).sum(axis=1))
    if relation == "add-remove":
        return round(float(length.max()) ** 2)

    def apart(one: Ints, other: Ints) -> float:
        return float(((one**2).sum(axis=1)[:, None] + (other**2).sum(axis=1) - 2 * one @ other.T).max())

    # no pair is further apart than this one that has a row closer to 0 than what is left of it
    reached = apart(every[length.argsort()[-300:]], every)
    left = every[length >= reached**0.5 - length.max() - 1e-6]
    return round(max(reached, *(apart(left[i : i + 500], left) for i in range(0, len(left), 500))))


def matrices(layout: Layout, form: ProductEncoding, w: Ints, psi: Ints, size: Ints) -> Ints:
    """What rows of these vectors, scores and sizes add to the part of matrices."""
    pairs = [one.pairs[0] for one in layout.all_pairs]
    along = [1 * (2 * w[:, i] ** 2 > forms.MOST**2) for i in range(layout.size)]
    far = [1 * (psi == forms.CLIP), -1 * (psi == -forms.CLIP), *along] if "far" in form.parameters else []
    squares = [psi**2, *far, *(psi**2 * w[:, i] * w[:, k] // forms.CLIP**2 for i, k in pairs)]
    if form.parameters["size"]:
        sizes = [size * w[:, i] * w[:, k] // forms.CLIP for i, k in pairs]
        squares = [size, squares[0], *sizes, *squares[1:]]
    return np.stack(squares, axis=1) * np.array([row[0] for row in form.matrix])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("formula", SMALL)
def test_scores_and_matrices_of_all_vectors_in_the_ball(
    formula: str, relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every vector, every score, and every size, those that are |psi| among them."""
    C, c = SMALL[formula]
    monkeypatch.setattr(forms, "MOST", C)
    monkeypatch.setattr(forms, "CLIP", c)
    layout = made(formula)
    w = ball(layout.size, C)
    for name in forms.VECTORS:
        form = forms.score_vectors(name, layout, relation)
        scores = np.vstack([psi * w for psi in range(-c, c + 1)]) * np.array([row[0] for row in form.matrix])
        assert largest(scores, relation) == form.l2_squared
    every = np.array([(i, psi, size) for i in range(len(w)) for psi in range(-c, c + 1) for size in range(c + 1)])
    for sizes, far in FACTS:
        form = forms.score_matrices(layout, relation, sizes=sizes, far=far)
        rows = matrices(layout, form, w[every[:, 0]], every[:, 1], every[:, 2])
        reached = largest(rows, relation)
        # the bound allows for rounding, which is much on a small grid: without what it allows it is attained
        room = forms.OFF * (int(len(rows[0]) ** 0.5) + 2)
        assert (form.l2_squared**0.5 - room) ** 2 * 0.98 < reached <= form.l2_squared, reached / form.l2_squared


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize(("sizes", "far"), FACTS)
def test_on_the_grid_of_releases_bounds_are_nearly_attained(sizes: bool, far: bool, relation: str) -> None:
    layout, C, c = made("y ~ a + b"), norm_encoding.MOST, forms.CLIP
    axes, one = C * np.eye(3, dtype=np.int64), relation == "replace-one"
    for name in forms.VECTORS:
        form = forms.score_vectors(name, layout, relation)
        rows = np.outer([-c, c], axes[0]) * np.array([row[0] for row in form.matrix])
        assert largest(rows, relation) == form.l2_squared == (4 if one else 1) * sum(x * x for x in form.extreme)
    form = forms.score_matrices(layout, relation, sizes=sizes, far=far)
    # on two axes, of scores of opposite sign: their squares are alike, and their matrices at right angles; both are
    # clipped, on either side
    rows = matrices(layout, form, axes[:2], np.array([c, -c]), np.array([c, c]))
    assert rows[0].tolist() == list(form.extreme)
    reached = int(((rows[0] - rows[1]) ** 2).sum()) if one else sum(x * x for x in form.extreme)
    assert 0.98 * form.l2_squared <= reached <= form.l2_squared, reached / form.l2_squared
    # of a row against none the sums of squares and sizes make up for the second matrix
    assert reached * 0.99 < largest(rows, relation) <= form.l2_squared


@pytest.mark.parametrize("sizes", [False, True])
def test_changes_of_matrices_in_all_directions_on_the_grid_of_releases(sizes: bool) -> None:
    """20,000 pairs, most near the worst: vectors at right angles or alike, scores and sizes at their bounds."""
    rng, C, c, n, layout = np.random.default_rng(8), norm_encoding.MOST, forms.CLIP, 20_000, made("y ~ a + b")
    form, rows = forms.score_matrices(layout, "replace-one", sizes=sizes), list[Ints]()
    first = rng.normal(0, 1, (n, 3))
    for vector in (first, np.cross(first, rng.normal(0, 1, (n, 3))) + rng.choice([0, 0.1, 2], (n, 1)) * first):
        length = C * np.where(rng.random((n, 1)) < 0.6, 1.0, rng.random((n, 1)))
        w = np.trunc(vector / np.linalg.norm(vector, axis=1, keepdims=True) * length).astype(np.int64)
        psi = np.where(rng.random(n) < 0.6, rng.choice([-c, 0, c], n), rng.integers(-c, c + 1, n))
        own = np.where(rng.random(n) < 0.6, rng.choice([0, c], n), rng.integers(0, c + 1, n))
        rows.append(matrices(layout, form, w, psi, np.where(rng.random(n) < 0.5, abs(psi), own)))
    reached = int(((rows[0] - rows[1]) ** 2).sum(axis=1).max())
    assert 0.95 * form.l2_squared < reached <= form.l2_squared, reached / form.l2_squared


@pytest.mark.parametrize("sizes", [False, True])
def test_floors_of_products_are_in_the_norm(sizes: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Short vectors, entries of one step: small negative products become -1, without an allowance beyond the norm."""
    monkeypatch.setattr(forms, "MOST", 2)
    monkeypatch.setattr(forms, "CLIP", 16)
    layout = made("y ~ r + a")
    form = forms.score_matrices(layout, "replace-one", sizes=sizes)
    w = np.array(list(product([-1, 1], repeat=4)))
    every = np.array([(i, psi, size) for i in range(len(w)) for psi in (0, 1, 15, 16) for size in (0, 1, 15, 16)])
    rows = matrices(layout, form, w[every[:, 0]], every[:, 1], every[:, 2])
    bare = (1 + sizes) * forms.OFF**2 * 2**4
    assert 1.4 * bare < largest(rows, "replace-one") <= form.l2_squared
    assert largest(rows, "add-remove") <= forms.score_matrices(layout, "add-remove", sizes=sizes).l2_squared


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("formula", [*FORMULAS, "y ~ r*q", "y ~ r:a + r + a + m"])
@pytest.mark.parametrize(
    ("relation", "leaves"), [("replace-one", False), ("replace-one", True), ("add-remove", False), ("add-remove", True)]
)
def test_column_moments_of_all_pairs_of_rows_in_l1(formula: str, relation: str, leaves: bool) -> None:
    layout = made(formula)
    form, z = norm_encoding.column_moments(layout, "laplace", relation, leaves=leaves), rows_of(layout)
    parts = [z[:, 1:], z[:, list(norm_encoding.squared(layout))] ** 2]
    assert (form.parameters["count"] > 0) == (leaves or relation == "add-remove")
    if form.parameters["count"]:
        parts.append(z[:, :1] ** 2)
    released = np.hstack(parts) * np.array([row[0] for row in form.matrix])
    reached = furthest(released, relation, leaves, 1)
    assert 0.5 * form.l1 < reached <= form.l1, reached / form.l1
    if formula in PLAIN:
        assert reached > 0.99 * form.l1, reached / form.l1
    # where noise of another law were drawn, its norm would do as well
    assert furthest(released, relation, leaves, 2) <= form.l2_squared


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("model", "formula"),
    [
        ("linear", "x ~ m + g"),
        ("logistic", "y ~ x + m"),
        pytest.param("poisson", "k ~ x*m + g", marks=pytest.mark.long),
        pytest.param("probit", "y ~ x*m + g", marks=pytest.mark.long),
    ],
)
def test_every_engine_adds_up_the_same_parts(model: str, formula: str, tmp_path: Path) -> None:
    """Each part's question as a release's integers aim it, at a table with nulls, NaN, infinities and values beyond."""
    data, query, price = odd_table(), tc.Regression(formula, model=model), Cost.of(epsilon=60)
    rows = simulated_regressions.rows_of(query, columns_of(data), ODD_SCHEMA, price, "add-remove")
    release, plain = rows.release(np.random.default_rng(1)), [cast(ProductPart, one) for one in rows.shape.columns]
    asked = [regression.next_question(one, release.parts[:i], rows.shape) for i, one in enumerate(plain)]
    # aimed, not the placeholders; the matrices are of the vector and the score that were released just before
    assert all(one.question.norm != other.question.norm for one, other in zip(asked[1:], plain[1:], strict=True))
    name = "residual-matrices-4" if model == "linear" else "score-matrices"
    assert (asked[-1].form.name, asked[-1].form) == (name, plain[-1].form)
    assert (asked[-1].question.norm, asked[-1].question.score) == (asked[-2].question.norm, asked[-2].question.score)
    # nor do these follow from the scores' own noisy integers
    other = replace(release.parts[-2], integers=(tuple(-x for x in release.parts[-2].integers[0]),))
    assert regression.next_question(plain[-1], (*release.parts[:-2], other), rows.shape) == asked[-1]
    expected = [(rows.sums(one),) for one in asked]
    assert all(len({abs(x) for x in one[0]}) > 2 for one in expected)
    assert_every_engine_adds_up(expected, asked, rows.shape, data, ODD_SCHEMA, tmp_path)
