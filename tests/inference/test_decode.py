"""Formulas of theory §1.3, §9 and §12 against exact integers, before anything relies on them."""

from __future__ import annotations

import former_encodings
import numpy as np
import pytest
from numpy.typing import NDArray

from tacit.estimates.noisy_terms.noisy_moments import moments, powers
from tacit.method.shared import encoding as forms
from tacit.method.shared.encoding import Encoding

G = 2**20
N = 4_000


def integers(form: Encoding, v: NDArray[np.int64]) -> NDArray[np.float64]:
    sums = tuple(int(polynomial.numpy(v).sum()) for polynomial in form.polynomials)
    return np.array([[float(k) for k in form.assemble(sums)]])


GRIDS = [
    forms.plain(G, "laplace"),
    forms.plain(G, "gaussian"),
    forms.exclusion(G, "laplace"),
    forms.exclusion(G, "gaussian"),
    former_encodings.exclusion(G, "laplace"),
    former_encodings.exclusion(G, "gaussian"),
    forms.group(G, "laplace", "replace-one"),
    forms.group(G, "gaussian", "add-remove"),
]
BINARY = [
    forms.binary_plain(),
    forms.binary_exclusion("laplace"),
    forms.binary_exclusion("gaussian"),
    forms.binary_group("add-remove"),
]


@pytest.mark.parametrize("form", GRIDS, ids=lambda form: f"{form.name}-{form.matrix[1]}")
@pytest.mark.parametrize("kind", ["uniform", "low", "ends"])
def test_moments_of_exact_integers(form: Encoding, kind: str) -> None:
    rng = np.random.default_rng(0)
    v = {
        "uniform": rng.integers(0, G + 1, N),
        "low": (rng.beta(1, 30, N) * G).astype(np.int64),
        "ends": rng.choice([0, G], N),
    }[kind]
    u = (v - G / 2) / (G / 2)
    found = moments(form.name, form.parameters, integers(form, v), N)
    assert found.size[0] == pytest.approx(N, rel=1e-12)
    assert found.total[0] == pytest.approx(u.sum(), abs=1e-6)
    # floors: half a unit a row at worst (all values alike), corrected by its mean
    assert found.square[0] == pytest.approx((u**2).sum(), abs=N * 2.1 / G)


@pytest.mark.parametrize("form", BINARY, ids=lambda form: f"{form.name}-{form.matrix[0]}")
def test_binary_moments_are_exact(form: Encoding) -> None:
    v = np.random.default_rng(0).integers(0, 2, N)
    found = moments(form.name, form.parameters, integers(form, v), N)
    assert (found.size[0], found.total[0], found.square[0]) == (N, (2 * v - 1).sum(), N)


@pytest.mark.parametrize("steps", [1, 2, 16, 100, 1000, 4096])
@pytest.mark.parametrize("rows", [None, N])
def test_bernstein_sums_are_power_sums(steps: int, rows: int | None) -> None:
    v = np.random.default_rng(0).integers(0, steps + 1, N)
    form = forms.bernstein(steps, "replace-one")
    x = v / steps
    found = powers(form.parameters, integers(form, v), rows)
    for k in range(5):
        assert found.sums[0, k] == pytest.approx((x**k).sum(), abs=N * 1e-6)


@pytest.mark.parametrize("form", [*GRIDS, *BINARY, forms.count(2, "replace-one", False)], ids=lambda f: f.name)
def test_loadings_are_how_moments_react(form: Encoding) -> None:
    size = len(form.matrix)
    zero = moments(form.name, form.parameters, np.zeros((1, size)), N)
    for j in range(size):
        unit = moments(form.name, form.parameters, np.eye(size)[j : j + 1] * 1e6, N)
        change = [unit.size[0] - zero.size[0], unit.total[0] - zero.total[0], unit.square[0] - zero.square[0]]
        assert change == pytest.approx(zero.loadings[:, j] * 1e6, rel=1e-6, abs=1e-9)


@pytest.mark.parametrize("rows", [None, N])
def test_loadings_of_power_sums(rows: int | None) -> None:
    form = forms.bernstein(4096, "replace-one")
    cells = np.array([[3e5, 2e5, 1e5, 4e5, 2e5]]) * 1000
    base = powers(form.parameters, cells, rows)
    for j in range(5):
        moved = powers(form.parameters, cells + np.eye(5)[j] * 1e7, rows)
        assert (moved.sums - base.sums)[0] == pytest.approx(base.loadings[:, j] * 1e7, rel=1e-6, abs=1e-6)
    noise = (base.loadings[2] ** 2).sum()
    free = (powers(form.parameters, cells, None).loadings[2] ** 2).sum()
    assert noise < free if rows else noise == free  # the public total removes noise
