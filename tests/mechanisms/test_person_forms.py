"""Sensitivities of persons' regressions: means of rows on small grids, every score, and what rounding adds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from test_regression_forms import ATTAINED, FORMULAS, SMALL, made, rows_of

from tacit.method.regression.formulas import layout as layouts
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums import encoding as regression_forms
from tacit.method.regression.row_sums import person_encoding as person_forms
from tacit.method.regression.row_sums import score_encoding as score_forms
from tacit.method.regression.row_sums.encoding import ProductEncoding

EXACT = 1e-12
"""What floats of the test may be off by."""
CASES = [("replace-one", False), ("replace-one", True), ("add-remove", True)]


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """A small grid, and bounds without what rounding adds: means here are not rounded."""
    for module in (layouts, regression_forms, score_forms, person_forms):
        monkeypatch.setattr(module, "H", SMALL)
    for module in (regression_forms, score_forms):
        monkeypatch.setattr(module, "CLIP", 2)
    monkeypatch.setattr(person_forms, "rounding_norms", lambda moved: (0, 0))


def people(rows: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Means over persons' rows: of every one row, of two, of three with unequal weights."""
    n = len(rows)
    pairs = rng.integers(0, n, (400, 2))
    three, share = rng.integers(0, n, (400, 3)), rng.dirichlet([0.5] * 3, 400)
    two = (rows[pairs[:, 0]] + rows[pairs[:, 1]]) / 2
    return np.concatenate([rows, two, np.einsum("ijk,ij->ik", rows[three], share)])


def furthest(vectors: np.ndarray, relation: str, leaves: bool, power: int) -> float:
    """The largest change of one person replaced, or added or removed."""
    if relation == "add-remove":
        return float((np.abs(vectors) ** power).sum(axis=1).max())
    everyone = np.concatenate([vectors, np.zeros((1, vectors.shape[1]))]) if leaves else vectors
    return max(float((np.abs(everyone - one) ** power).sum(axis=1).max()) for one in everyone)


def released(layout: Layout, form: ProductEncoding, others: Any, shift: float, rng: np.random.Generator) -> np.ndarray:
    """What persons add under any scores: weighted means of psi z and of others, then products of two mean scores."""
    z, C = np.unique(rows_of(layout)[:, :-1], axis=0), form.parameters["G"]
    rows = np.concatenate([np.column_stack([psi * z, others(psi, z)]) for psi in range(-C, C + 1)])
    found = people(rows, rng)
    if form.parameters.get("squares", 1):
        pairs = [one.pairs[0] for one in layout.all_pairs]
        found = np.column_stack([found, *(found[:, j] * found[:, k] / shift for j, k in pairs)])
    return found * np.array([row[0] for row in form.matrix])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize(("relation", "leaves"), CASES)
def test_persons_of_a_linear_regression(formula: str, relation: str, leaves: bool) -> None:
    layout, rng = made(formula), np.random.default_rng(1)
    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form = person_forms.residual_scores(layout, noise, relation)
        vectors = released(layout, form, lambda psi, z: np.full(len(z), psi * psi), 2**regression_forms.SHIFT, rng)
        reached, declared = furthest(vectors, relation, leaves, power), form.l1 if power == 1 else form.l2_squared
        assert reached <= declared * (1 + EXACT), (noise, reached, declared)
        if formula in ATTAINED:
            assert reached > 0.97 * declared, (noise, reached, declared)


@pytest.mark.sample(12)
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("squares", [False, True])
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize(("relation", "leaves"), CASES)
def test_persons_of_bounded_scores(formula: str, relation: str, leaves: bool, squares: bool) -> None:
    layout, rng = made(formula), np.random.default_rng(2)
    pairs = [one.pairs[0] for one in layout.regressor_products]
    C = score_forms.CLIP

    def sizes(psi: int, z: np.ndarray) -> np.ndarray:
        return np.column_stack([abs(psi) * z[:, j] * z[:, k] / C for j, k in pairs])

    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form = person_forms.glm_scores(layout, noise, relation, squares=squares)
        vectors = released(layout, form, sizes, C * C, rng)
        reached, declared = furthest(vectors, relation, leaves, power), form.l1 if power == 1 else form.l2_squared
        assert reached <= declared * (1 + EXACT), (noise, reached, declared)
        if formula in ATTAINED:
            assert reached > 0.97 * declared, (noise, reached, declared)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_rounding_costs_next_to_nothing_on_the_grid_of_releases(noise: Any, relation: str) -> None:
    """What is added to a norm, against it; a person of one row is as far from another as a row is."""
    layout = made("y ~ r*a + m")
    rows = regression_forms.products(layout, noise, relation, leaves=True)
    whole = person_forms.products(rows)
    assert 0 < whole.l1 - rows.l1 < 1e-3 * rows.l1 or noise == "gaussian"
    assert 1 < whole.l2_squared / rows.l2_squared < 1 + 1e-3


def test_two_persons_whose_means_are_rounded_apart() -> None:
    """The worst of rounding, on a grid so small that it counts: bounds hold with what they add for it, and need it."""
    layout, rng = made("y ~ a + m"), np.random.default_rng(3)
    form = person_forms.products(regression_forms.products(layout, "laplace", "replace-one", leaves=True))
    z = rng.integers(-2, 3, (4_000, layout.size + 1))
    z[:, 0] = 2
    entries = [one.pairs[0] for one in layout.entries]
    summands = np.stack([z[:, j] * z[:, k] for j, k in entries], axis=1)
    three = summands.reshape(-1, 4, len(entries))[:, :3].sum(axis=1)
    rounded = (2 * three + 3) // 6
    moved = np.abs(rounded - three / 3)
    assert 0.3 < moved.max() <= 0.5
    weights = np.array([row[0] for row in form.matrix])
    change = np.abs(rounded[:, None] - rounded[None]) - np.abs(three[:, None] - three[None]) / 3
    assert 0 < (change @ weights).max() <= sum(weights) + 2
