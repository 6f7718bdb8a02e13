"""Every integer sensitivity of theory §12, over all pairs of grid values, for both relations: equal, not bounded."""

from __future__ import annotations

from itertools import product

import numpy as np
import pytest

from tacit.method.shared import encoding as forms
from tacit.method.shared.encoding import Encoding
from tacit.rows.row_map import GRID

EVEN = [2, 4, 6, 16, 48, 96, 250, 256, 512, 1000]
Z_GRIDS = [448, 464, 480, 512, 768]
GROUP_GRIDS = [32, 33, 47, 64, 100, 250, 512]


def rows_of(form: Encoding) -> np.ndarray:
    return np.array([form.row(v) for v in range(form.parameters["G"] + 1)], dtype=object).astype(np.int64)


def change(rows: np.ndarray, others: np.ndarray, norm: int) -> int:
    """Largest l1 (norm 1) or squared l2 (norm 2) distance over all pairs."""
    best = 0
    for row in rows:
        distance = np.abs(others - row)
        best = max(best, int((distance**norm).sum(axis=1).max()))
    return best


def cell_to_cell(rows: np.ndarray, norm: int) -> int:
    """A record leaves one cell and enters another: the two vectors stand side by side."""
    weight = int((np.abs(rows) ** norm).sum(axis=1).max())
    return max(2 * weight, change(rows, rows, norm))


@pytest.mark.parametrize("G", EVEN)
def test_plain_pure_is_exactly_the_range(G: int) -> None:
    rows = rows_of(form := forms.plain(G, "laplace"))
    assert change(rows, rows, 1) == form.l1 == G


@pytest.mark.parametrize("G", Z_GRIDS)
def test_plain_gaussian_is_exactly_the_range(G: int) -> None:
    rows = rows_of(form := forms.plain(G, "gaussian"))
    assert change(rows, rows, 2) == form.l2_squared == G * G


@pytest.mark.parametrize("G", EVEN[1:])
def test_exclusion_pure_costs_nothing_more(G: int) -> None:
    rows = rows_of(form := forms.exclusion(G, "laplace"))
    with_absent = np.vstack([rows, np.zeros((1, 3), dtype=np.int64)])
    assert change(rows, with_absent, 1) == form.l1 == G


@pytest.mark.parametrize("G", Z_GRIDS)
def test_exclusion_gaussian_costs_nothing_more(G: int) -> None:
    rows = rows_of(form := forms.exclusion(G, "gaussian"))
    with_absent = np.vstack([rows, np.zeros((1, 3), dtype=np.int64)])
    assert change(rows, with_absent, 2) == form.l2_squared == G * G
    heaviest = int((rows**2).sum(axis=1).max())
    assert heaviest <= G * G
    assert heaviest > 0.99 * G * G  # presence has all the weight that is free


def test_exclusion_needs_no_less_than_a_grid_of_four() -> None:
    for G in (2, 5):
        with pytest.raises(ArithmeticError):
            forms.exclusion(G, "gaussian")


OFFSETS = [(3, 2), (16, 0), (16, 5), (16, -16), (16, -21), (33, 100), (100, -250), (257, 0)]
BOTH_SIGNS = [(4, -1), (16, -8), (33, -11), (100, -99), (257, -64)]


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
@pytest.mark.parametrize(("G", "offset"), [*OFFSETS, *BOTH_SIGNS])
def test_totals_move_by_the_furthest_bound(G: int, offset: int, noise: forms.Noise) -> None:
    """In one cell by the longest way between 0 and all values; in cells that rows change, by twice that (or once)."""
    norm, S = 1 if noise == "laplace" else 2, max(0, offset + G) - min(0, offset)
    form = forms.total(G, offset, noise, cells=1, neighbors="replace-one")
    rows = rows_of(form)
    with_absent = np.vstack([rows, np.zeros((1, 2), dtype=np.int64)])
    assert rows[:, 0].tolist() == list(range(offset, offset + G + 1))
    assert change(with_absent, with_absent, norm) == S**norm == (form.l1 if norm == 1 else form.l2_squared)
    assert change(with_absent, with_absent, 1) <= form.l1
    if (G, offset) in BOTH_SIGNS:
        return
    added = forms.total(G, offset, noise, cells=1, neighbors="add-remove")
    assert int((np.abs(rows) ** norm).sum(axis=1).max()) == (added.l1 if norm == 1 else added.l2_squared)
    assert int(np.abs(rows).sum(axis=1).max()) <= added.l1
    moved = forms.total(G, offset, noise, cells=3, neighbors="replace-one")
    assert cell_to_cell(rows, norm) == (moved.l1 if norm == 1 else moved.l2_squared)
    assert cell_to_cell(rows, 1) <= moved.l1


@pytest.mark.parametrize(("G", "offset"), BOTH_SIGNS)
def test_totals_of_both_signs_have_no_proof_where_rows_change_cells(G: int, offset: int) -> None:
    for cells, neighbors in ((2, "replace-one"), (1, "add-remove")):
        with pytest.raises(ArithmeticError):
            forms.total(G, offset, "laplace", cells=cells, neighbors=neighbors)


@pytest.mark.parametrize(("G", "noise"), list(product(GROUP_GRIDS, ["laplace", "gaussian"])))
def test_group_rows_weigh_exactly_the_grid(G: int, noise: forms.Noise) -> None:
    form = forms.group(G, noise, "add-remove")
    rows = rows_of(form)
    assert rows.min() >= 0
    if noise == "laplace":
        assert set(rows.sum(axis=1)) == {G}
        assert form.l1 == G
    assert int((rows**2).sum(axis=1).max()) == form.l2_squared == G * G


@pytest.mark.parametrize(("G", "noise"), list(product(GROUP_GRIDS, ["laplace", "gaussian"])))
def test_group_replace_one(G: int, noise: forms.Noise) -> None:
    form = forms.group(G, noise, "replace-one")
    rows = rows_of(form)
    norm = 1 if noise == "laplace" else 2
    assert cell_to_cell(rows, norm) == (form.l1 if norm == 1 else form.l2_squared)


def test_group_gaussian_refuses_a_grid_below_the_proof() -> None:
    with pytest.raises(ArithmeticError):
        forms.group(31, "gaussian", "add-remove")


@pytest.mark.parametrize("G", [1, 2, 3, 15, 16, 99, 100, 365, 1000, 4096])
def test_bernstein_rows_have_one_mass(G: int) -> None:
    one, two = forms.bernstein(G, "add-remove"), forms.bernstein(G, "replace-one")
    rows = rows_of(one)
    M = one.parameters["mass"]
    assert rows.min() >= 0
    assert set(rows.sum(axis=1)) == {M}
    assert one.l1 == M
    assert int((rows**2).sum(axis=1).max()) == one.l2_squared == M * M
    assert cell_to_cell(rows, 1) == two.l1 == 2 * M
    assert cell_to_cell(rows, 2) == two.l2_squared == 2 * M * M


@pytest.mark.parametrize("G", [1, 15, 100, 4096])
def test_bernstein_gives_the_four_moments(G: int) -> None:
    """sum_j [j]_k / [4]_k B_j = M (v/G)^k up to the floors (theory §1.3)."""
    form = forms.bernstein(G, "add-remove")
    M, d = form.parameters["mass"], form.parameters["divisor"]
    rows = rows_of(form)
    v = np.arange(G + 1) / G
    weights = {1: (0, 1 / 4, 2 / 4, 3 / 4, 1), 2: (0, 0, 1 / 6, 3 / 6, 1), 3: (0, 0, 0, 1 / 4, 1), 4: (0, 0, 0, 0, 1)}
    slack = (0 if d == 1 else 5 / M) + 1e-12
    for k, w in weights.items():
        np.testing.assert_allclose(rows @ np.array(w) / M, v**k, atol=slack)


@pytest.mark.parametrize("noise", ["laplace", "gaussian"])
def test_binary_forms(noise: forms.Noise) -> None:
    norm = 1 if noise == "laplace" else 2
    plain, exclusion = forms.binary_plain(), forms.binary_exclusion(noise)
    assert change(rows_of(plain), rows_of(plain), norm) == plain.l1 == plain.l2_squared == 1
    with_absent = np.vstack([rows_of(exclusion), np.zeros((1, 2), dtype=np.int64)])
    assert change(with_absent, with_absent, 1) == exclusion.l1
    assert change(with_absent, with_absent, 2) == exclusion.l2_squared
    for neighbors, twice in (("add-remove", 1), ("replace-one", 2)):
        form = forms.binary_group(neighbors)
        rows = rows_of(form)
        assert set(rows.sum(axis=1)) == {1}
        assert form.l1 == form.l2_squared == twice
        assert cell_to_cell(rows, 2) == 2


def test_counts() -> None:
    assert forms.count(5, "replace-one", leaves=False).l1 == 2
    assert forms.count(5, "add-remove", leaves=True).l1 == 1
    assert forms.count(1, "replace-one", leaves=True).l1 == 1
    with pytest.raises(ArithmeticError):
        forms.count(1, "replace-one", leaves=False)


@pytest.mark.parametrize("G", [3, 20, 2 * 216])
def test_gaussian_plain_refuses_grids_outside_the_proof(G: int) -> None:
    with pytest.raises(ArithmeticError):
        forms.plain(G, "gaussian")


def test_polynomials_are_exact_on_the_largest_grids() -> None:
    for G in (GRID, 16 * 69920, 2**24):
        for form in (
            forms.plain(G, "laplace"),
            forms.exclusion(G, "gaussian"),
            forms.group(G, "gaussian", "add-remove"),
            forms.total(G, 2**24 - G, "laplace", cells=2, neighbors="replace-one"),
            forms.total(G, -G // 3, "gaussian", cells=1, neighbors="replace-one"),
        ):
            v = np.array([0, 1, 2, G // 2 - 1, G // 2, G // 2 + 1, G - 1, G], dtype=np.int64)
            for polynomial in form.polynomials:
                polynomial.check(G)
                assert polynomial.numpy(v).tolist() == [polynomial(int(k)) for k in v]


@pytest.mark.parametrize("G", Z_GRIDS)
def test_both_norms_are_bounds_whatever_the_noise_is_made_for(G: int) -> None:
    """A release states both; the one that its noise is not made for is a bound, and not far from what is reached."""
    for form in (forms.plain(G, "gaussian"), forms.exclusion(G, "gaussian")):
        rows = rows_of(form)
        absent = np.zeros((1, rows.shape[1]), dtype=np.int64)
        others = rows if form.name == "plain" else np.vstack([rows, absent])
        assert 0.98 * form.l1 < change(rows, others, 1) <= form.l1
    for neighbors in ("add-remove", "replace-one"):
        form = forms.group(G, "gaussian", neighbors)
        rows = rows_of(form)
        reached = int(np.abs(rows).sum(axis=1).max()) if neighbors == "add-remove" else cell_to_cell(rows, 1)
        assert 0.98 * form.l1 < reached <= form.l1
    for form in (forms.plain(G, "laplace"), forms.exclusion(G, "laplace")):
        assert change(rows_of(form), rows_of(form), 2) <= form.l2_squared
