"""Floors and rounding are part of the sensitivities: constants so small, or rows so near, that they count."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from math import sqrt
from typing import Any

import numpy as np
import pytest
from test_regression_forms import SMALL, furthest, made, rows_of, scored

from tacit.method.regression.formulas import layout as layouts
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums import encoding as regression_forms
from tacit.method.regression.row_sums import norm_encoding, norm_score_encoding, split_score_encoding
from tacit.method.regression.row_sums import person_encoding as person_forms
from tacit.method.regression.row_sums import score_encoding as score_forms
from tacit.method.regression.row_sums.encoding import ProductEncoding
from tacit.method.regression.row_sums.norm_person_encoding import of_persons
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.rows.coordinates import H

RELATIONS = ["replace-one", "add-remove"]
NOISES: list[moment_forms.Noise] = ["laplace", "gaussian"]


# Rows ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("formula", ["y ~ a", "y ~ a + b", "m ~ a"])
@pytest.mark.parametrize("relation", RELATIONS)
def test_floors_of_products_are_in_the_norms_of_linear_scores(
    formula: str, relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Products of at most 36, divided by 32: the norms without their floors are exceeded, by 4% ("y ~ a")."""
    for module in (layouts, regression_forms):
        monkeypatch.setattr(module, "H", SMALL)
    monkeypatch.setattr(regression_forms, "CLIP", 3)
    monkeypatch.setattr(regression_forms, "SHIFT", 5)
    layout = made(formula)
    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form = regression_forms.residual_scores(layout, noise, relation)
        reached = furthest(scored(layout, form), relation, relation == "add-remove", power)
        declared = form.l1 if power == 1 else form.l2_squared
        assert reached <= declared, (noise, reached, declared)


def near_the_ends(layout: Layout, form: ProductEncoding) -> np.ndarray:
    """What rows add whose scores are within three steps of their bounds."""
    z, C = np.unique(rows_of(layout)[:, :-1], axis=0), score_forms.CLIP
    products = [z[:, j] * z[:, k] for one in layout.regressor_products for j, k in one.pairs[:1]]
    found: list[np.ndarray] = []
    for psi in (sign * (C - k) for k in range(4) for sign in (-1, 1)):
        columns = [psi * z[:, j] for j in range(layout.size)] + [abs(psi) * one // C for one in products]
        columns += [psi * psi * one // C**2 for one in products] if form.parameters["squares"] else []
        found.append(np.stack(columns, axis=1))
    return np.concatenate(found) * np.array([row[0] for row in form.matrix])


@pytest.mark.parametrize("squares", [False, True])
def test_floors_of_sizes_and_squares_are_in_the_norms_of_bounded_scores(
    squares: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A score one step below its bound lowers every size by one: the norms without floors are exceeded, by 0.5%."""
    for module in (layouts, regression_forms, score_forms):
        monkeypatch.setattr(module, "H", SMALL)
    layout = made("m ~ a")
    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form = score_forms.glm_scores(layout, noise, "replace-one", squares=squares)
        reached = furthest(near_the_ends(layout, form), "replace-one", False, power)
        declared = form.l1 if power == 1 else form.l2_squared
        assert reached <= declared, (noise, reached, declared)


@pytest.mark.parametrize("several", [False, True])
@pytest.mark.parametrize(("G", "A"), [(32, 2), (33, 2), (33, 6), (35, 14), (48, 8)])
def test_l1_of_weighted_rows_with_normal_noise(G: int, A: int, several: bool) -> None:
    """On grids so coarse that what squares are rounded by counts; half the bound is reached at least."""
    form = weighted_forms.weighted(G, A, "gaussian", "add-remove", several=several)
    rows = np.array([form.row(v, a) for a in range(A + 1) for v in range(G + 1)])
    assert form.l1 // 2 <= np.abs(rows).sum(axis=1).max() <= form.l1


# Persons ------------------------------------------------------------------------------------------------------------

PARTS = 12
"""Means are multiples of 1 / PARTS here: of as many rows at most."""


def rounded(x: int) -> int:
    """The integer nearest to x / PARTS, as `curator.source.persons` rounds means."""
    return (2 * x + PARTS) // (2 * PARTS)


def spread(moved: Iterator[float]) -> float:
    """How far two persons can be moved from each other, each by one of these."""
    found = list(moved)
    return max(found) - min(found)


MEAN = spread(rounded(x) - x / PARTS for x in range(-PARTS, PARTS))
"""Of a mean: each of two persons by a half, nearly."""
FLOORED = spread(rounded(x) - x / PARTS - low / PARTS for x in range(PARTS) for low in range(PARTS))
"""Of a mean of floors, whose numbers were up to 1 higher."""


@cache
def product_of(most: int, shift: int) -> float:
    """Of floor(v w / 2**shift), v and w rounded means of at most `most`, near their bounds."""
    ends = [sign * (PARTS * most - k) for k in range(2 * PARTS) for sign in (-1, 1)]
    return spread((rounded(v) * rounded(w) >> shift) - v * w / PARTS**2 / 2**shift for v in ends for w in ends)


def test_what_rounding_moves_by_is_nearly_what_the_proofs_say() -> None:
    assert 0.9 < MEAN <= 1
    assert 1.8 < FLOORED <= 2
    assert 2.5 < product_of(regression_forms.CLIP * H, regression_forms.SHIFT) <= 3


def covers(form: ProductEncoding, bare: ProductEncoding, moved: list[float], *, first: bool = True) -> bool:
    """Whether the norms of a form are above those of the same numbers unrounded by what rounding can add."""
    added = [row[0] * by for row, by in zip(form.matrix, moved, strict=True)]
    one = form.l1 - bare.l1 >= sum(added) if first else form.l1 > bare.l1
    return one and sqrt(form.l2_squared) - sqrt(bare.l2_squared) >= sqrt(sum(x * x for x in added))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("noise", NOISES)
def test_rounding_of_persons_is_in_the_norms_of_cross_products(noise: Any, relation: str) -> None:
    layout = made("y ~ r*a + m")
    rows = regression_forms.products(layout, noise, relation, leaves=True)
    assert covers(person_forms.products(rows), rows, [MEAN] * len(rows.matrix))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("kind", ["scores", "scored", "squares"])
def test_rounding_of_persons_is_in_the_norms_of_scores(
    kind: str, noise: Any, relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of means, of means of floors, and of products of two rounded means."""
    layout = made("y ~ r*a + m")
    pair = len(layout.all_pairs)

    def form() -> ProductEncoding:
        if kind == "scores":
            return person_forms.residual_scores(layout, noise, relation)
        return person_forms.glm_scores(layout, noise, relation, squares=kind == "squares")

    if kind == "scores":
        most = regression_forms.CLIP * H
        moved = [MEAN] * (layout.size + 1) + [product_of(most, regression_forms.SHIFT)] * pair
    else:
        most = score_forms.CLIP * H
        moved = [MEAN] * layout.size + [FLOORED] * len(layout.regressor_products)
        moved += [product_of(most, score_forms.SHIFTS[1])] * pair if kind == "squares" else []
    whole = form()
    monkeypatch.setattr(person_forms, "rounding_norms", lambda moved: (0, 0))
    bare = form()
    assert covers(whole, bare, moved, first=noise == "laplace")  # of normal noise l1 follows from the other


@pytest.mark.parametrize("relation", RELATIONS)
def test_rounding_of_persons_is_in_the_norms_of_norm_clipped_rows(relation: str) -> None:
    """Of means and of products of two rounded means; the norms of rows hold what floors add, 1 for each product."""
    layout = made("y ~ r*a + m")
    pairs, whole = len(layout.all_pairs), product_of(norm_encoding.CLIP * norm_encoding.MOST, norm_encoding.SHIFT)
    assert 4.5 < whole <= 5
    bounded, matrices = norm_score_encoding.norm_scored, split_score_encoding.score_matrices
    products = [
        norm_encoding.norm_scores(layout, relation),
        *(bounded(layout, relation, squares=True, weighed=weighed) for weighed in (False, True)),
        *(matrices(layout, relation, sizes=sizes) for sizes in (False, True)),
    ]
    means = [norm_encoding.norm_products(layout, relation), bounded(layout, relation, squares=False)]
    means += [split_score_encoding.score_vectors(name, layout, relation) for name in split_score_encoding.VECTORS]
    for rows, between in (*((one, pairs) for one in products), *((one, 0) for one in means)):
        moved = [MEAN] * (len(rows.matrix) - between) + [whole - 1] * between
        assert covers(of_persons(rows, between), rows, moved), rows.name
    for noise in NOISES:
        rows = norm_encoding.column_moments(layout, noise, relation, leaves=True)
        assert covers(of_persons(rows), rows, [MEAN] * len(rows.matrix))
