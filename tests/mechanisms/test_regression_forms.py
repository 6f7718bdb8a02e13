"""Sensitivities of cross-products and scores: all pairs of rows on small grids, every aim, and where attained."""

from __future__ import annotations

from itertools import product
from typing import Any

import numpy as np
import pytest

from tacit.method.regression.formulas import layout as layouts
from tacit.method.regression.formulas.formula import parse
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.row_sums import encoding as forms
from tacit.release.parts import Variable
from tacit.rows.coordinates import SIGN

SMALL = 2
A = Variable("a", "real", 0.0, 1.0, half=SMALL)
B = Variable("b", "integer", 0.0, 1.0, half=1)
Y = Variable("y", "real", 0.0, 1.0, half=SMALL)
M = Variable("m", "boolean")
R = Variable("r", "levels", labels=("n", "e", "s"))
Q = Variable("q", "levels", labels=("t", "u", "v"))
FORMULAS = [
    "y ~ a",
    "y ~ a + b",
    "y ~ m + a",
    "y ~ r",
    "y ~ r + a",
    "y ~ r + m",
    "y ~ r*a",
    "y ~ r + q",
    "y ~ a*m",
    "m ~ a",
]
ATTAINED = ("y ~ a", "y ~ a + b", "y ~ m + a", "m ~ a")


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in (layouts, forms):
        monkeypatch.setattr(module, "H", SMALL)
    monkeypatch.setattr(forms, "CLIP", 2)
    monkeypatch.setattr(forms, "SHIFT", 1)


def made(formula: str) -> Layout:
    facts = {one.name: one for one in (A, B, Y, M, R, Q)}
    parsed = parse(formula)
    return layouts.layout(parsed, [facts[name] for name in parsed.columns])


def rows_of(layout: Layout) -> np.ndarray:
    """Every row that there can be, shape (rows, coordinates); formulas with at most one number a coordinate."""
    facts = {one.name: one for one in (A, B, Y, M, R, Q)}
    names = layout.formula.columns
    cells: list[Any] = []
    for name in names:
        fact = facts[name]
        if fact.kind == "levels":
            cells.append(range(len(fact.labels)))
        else:
            cells.append((0, 1) if fact.kind == "boolean" else range(-fact.half, fact.half + 1))
    found: list[list[int]] = []
    for values in product(*cells):
        cell = dict(zip(names, values, strict=True))
        row: list[int] = []
        for numbers, marks in layout.coordinates:
            z = 1 if numbers else SMALL
            for name in numbers:
                z *= cell[name]
            for name, level in marks:
                z *= (1 if cell[name] else -1) if level == SIGN else int(cell[name] == level)
            row.append(z)
        found.append(row)
    return np.array(found)


def released(layout: Layout, form: forms.ProductEncoding, *, counted: bool) -> np.ndarray:
    z = rows_of(layout)
    pairs = [one.pairs[0] for one in layout.entries if counted or not one.is_row_count]
    return np.stack([w[0] * z[:, j] * z[:, k] for w, (j, k) in zip(form.matrix, pairs, strict=True)], axis=1)


def furthest(vectors: np.ndarray, relation: str, leaves: bool, power: int) -> int:
    """The largest change of one row replaced, or added or removed."""
    absent = np.zeros((1, vectors.shape[1]), dtype=np.int64)
    if relation == "add-remove":
        return int((np.abs(vectors) ** power).sum(axis=1).max())
    everyone = np.concatenate([vectors, absent]) if leaves else vectors
    everyone = np.unique(everyone, axis=0)
    return max(int((np.abs(everyone - one) ** power).sum(axis=1).max()) for one in everyone)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize(("relation", "leaves"), [("replace-one", False), ("replace-one", True), ("add-remove", True)])
def test_cross_products_of_all_pairs_of_rows(formula: str, relation: str, leaves: bool) -> None:
    layout = made(formula)
    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form = forms.products(layout, noise, relation, leaves=leaves)
        counted = form.parameters["count"] > 0
        assert counted == (leaves or relation == "add-remove")
        reached = furthest(released(layout, form, counted=counted), relation, leaves, power)
        declared = form.l1 if power == 1 else form.l2_squared
        assert reached <= declared, (noise, reached, declared)
        if formula in ATTAINED and (noise == "laplace" or relation == "add-remove"):
            assert reached == declared, (noise, reached, declared)


@pytest.mark.usefixtures("small")
def test_the_squared_norm_is_attained_where_rows_can_be_orthogonal() -> None:
    layout = made("y ~ m + a")
    form = forms.products(layout, "gaussian", "replace-one", leaves=True)
    assert furthest(released(layout, form, counted=True), "replace-one", True, 2) == form.l2_squared


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("formula", FORMULAS)
def test_squares_weigh_as_much_as_they_can_and_no_more(formula: str) -> None:
    """The free weight of squares: a third more of it would be paid for, or is beyond what the proof gives."""
    layout = made(formula)
    form = forms.products(layout, "gaussian", "replace-one", leaves=True)
    single, several = layout.group_bounds(response=True)
    total = SMALL**2 + sum(x * x for x in (*single, *several))
    diag = form.parameters["diag"]
    assert (diag / 2) ** 2 <= 1 + total / (2 * SMALL**2) < ((diag + 1) / 2) ** 2


def scored(layout: Layout, form: forms.ProductEncoding) -> np.ndarray:
    """What rows add under every residual that an aim could give them: any integer of at most C."""
    z = rows_of(layout)[:, :-1]
    z = np.unique(z, axis=0)
    found: list[np.ndarray] = []
    for psi in range(-forms.CLIP, forms.CLIP + 1):
        columns = [psi * z[:, j] for j in range(layout.size)]
        columns.append(np.full(len(z), psi * psi))
        for entry in layout.products(response=False):
            j, k = entry.pairs[0]
            columns.append(psi * psi * z[:, j] * z[:, k] >> forms.SHIFT)
        found.append(np.stack(columns, axis=1))
    return np.concatenate(found) * np.array([row[0] for row in form.matrix])


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize(("relation", "leaves"), [("replace-one", False), ("replace-one", True), ("add-remove", True)])
def test_scores_of_all_pairs_of_rows_under_any_aim(formula: str, relation: str, leaves: bool) -> None:
    layout = made(formula)
    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form = forms.residual_scores(layout, noise, relation)
        reached = furthest(scored(layout, form), relation, leaves, power)
        declared = form.l1 if power == 1 else form.l2_squared
        assert reached <= declared, (noise, reached, declared)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("formula", ["y ~ a", "y ~ a + m"])
def test_scores_on_the_grid_of_releases_are_nearly_attained(formula: str, relation: str) -> None:
    full = {one.name: one for one in (Variable("a", "real", half=1024), Variable("y", "real", half=1024), M)}
    parsed = parse(formula)
    layout = layouts.layout(parsed, [full[name] for name in parsed.columns])
    for noise, power in (("laplace", 1), ("gaussian", 2)):
        form = forms.residual_scores(layout, noise, relation)
        reached = sum(abs(x) ** power for x in form.extreme)
        if relation == "replace-one":  # the residual changes sign: scores do, their products do not
            reached = sum(abs(2 * x) ** power for x in form.extreme[: layout.size])
        declared = form.l1 if power == 1 else form.l2_squared
        assert 0.99 * declared < reached <= declared, (noise, reached, declared)
