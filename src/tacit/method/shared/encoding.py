"""Integer forms of counts and moments: the sensitivity arguments behind `moments` (theory §1.3, §9, §12).

A form maps the grid value v in {0, ..., G} of a present row to a vector of integers, an absent row (missing and left
out, or in no cell) to the zero vector, and adds the vectors up, within each cell of `by`.  H = G / 2, w = v - H.

A form is a value: `polynomials` are what an engine sums over present rows, the first always 1; `matrix` turns those
sums into the released integers.  Both are linear, so `row(v)` is what one row adds, and the sensitivities below are
statements about `row` alone: they are checked over all pairs of v on small grids, and by running the mechanism.

    replace-one, one cell:    sup |row(v) - row(v')| over v, v' in {0..G} (or absent, where rows can be left out)
    replace-one, groups:      the same, and a row can leave one cell and enter another: sup |row(v)| + |row(v')| in l1
                              and row(v)^2 + row(v')^2 in squared l2 (rows are non-negative, so the same cell is less)
    add-remove:               sup |row(v)|
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

from tacit.rows.row_map import IDENTITY, ONE, Polynomial

Noise: TypeAlias = Literal["laplace", "gaussian"]

SMALLEST_GAUSSIAN_H: Final = 219
"""Form Z is proven for H >= 219 (theory §12); the grids of a schema have H >= 2**19."""

COARSE: Final = 2**12
"""Steps of a grid for fourth powers: v**4 stays below 2**48."""

MASS: Final = 2**20
"""Total that one row spreads over the five Bernstein sums (at most)."""


@dataclass(frozen=True)
class Encoding:
    """An integer form with its proven sensitivities under one relation.

    l1 and l2_squared bound the change of all released integers of one column, over all cells together: the one that
    the noise is made for is attained, the other is what follows from it.
    """

    name: str
    parameters: Mapping[str, int]
    polynomials: tuple[Polynomial, ...]
    matrix: tuple[tuple[int, ...], ...]
    l1: int
    l2_squared: int
    weights: tuple[Polynomial, ...] = ()
    """Where rows have weights: of each sum, the polynomial of the weight that its summands are multiplied by."""

    def assemble(self, sums: tuple[int, ...]) -> tuple[int, ...]:
        """Exact sums of the polynomials over the rows of a cell -> the integers to be released with noise."""
        return tuple(sum(a * s for a, s in zip(row, sums, strict=True)) for row in self.matrix)

    def row(self, v: int, weight: int | None = None) -> tuple[int, ...]:
        """What one present row with grid value v adds; `weight` on its own grid where rows have weights."""
        own = tuple(p(v) for p in self.polynomials)
        if weight is not None:
            own = tuple(x * q(weight) for x, q in zip(own, self.weights, strict=True))
        return self.assemble(own)


def square(center: int, divisor: int) -> Polynomial:
    """floor((v - center)**2 / divisor)."""
    return Polynomial((center * center, -2 * center, 1), divisor)


def plain(G: int, noise: Noise) -> Encoding:
    """P, Z: (w, floor(w**2 / c)) of rows that are always present; replace-one, public size.

    Pure, c = 2H: l1 = 2H.  d = |w - w'|, s = |w + w'|, d + s = 2 max(|w|, |w'|) <= 2H.  s = 0: squares agree, change
    d <= 2H.  s >= 1: the squares / 2H differ by ds / 2H < s, so their floors by at most s; d + s <= 2H.  Attained.
    Gaussian, c = 5H/8: l2 = 2H for H >= 219 (theory §12 Z).  Attained at w = -w' = H in both.
    Gaussian, l1: d + ds/c + 1 at most, d (1 + 8 (2H - d) / 5H) being largest, 441H/160, at d = 21H/16.
    """
    H = G // 2
    c = _divisor(G, noise)
    parameters = {"G": G, "divisor": c}
    l1 = G if noise == "laplace" else -(-441 * H // 160) + 1
    return Encoding("plain", parameters, (ONE, IDENTITY, square(H, c)), ((-H, 1, 0), (0, 0, 1)), l1, G * G)


def exclusion(G: int, noise: Noise) -> Encoding:
    """E: (w, floor(w**2 / c), kappa) of present rows, zero of absent ones; replace-one, one cell.

    Two present rows: as P and Z, since kappa cancels.  Present against absent, pure, kappa = H/2:
    |w| + w**2 / 2H + H/2 <= 2H.  Gaussian, kappa = floor(21H/32): H**2 (1 + (8/5)**2 + (21/32)**2) < 4 H**2;
    l1: H (1 + 8/5 + 21/32) = 521H/160, more than of two present rows.
    """
    H = G // 2
    c = _divisor(G, noise)
    kappa = H // 2 if noise == "laplace" else 21 * H // 32
    parameters = {"G": G, "divisor": c, "presence": kappa}
    matrix = ((-H, 1, 0), (0, 0, 1), (kappa, 0, 0))
    l1 = G if noise == "laplace" else 521 * H // 160
    return Encoding("exclusion", parameters, (ONE, IDENTITY, square(H, c)), matrix, l1, G * G)


def group(G: int, noise: Noise, neighbors: str) -> Encoding:
    """B, C: (G - 2v + t, m(v - t), t), t = floor(v**2 / G), in the row's cell; rows may enter and leave cells.

    v <= G gives t <= v, and G - 2v + t = floor((G - v)**2 / G): all non-negative.  Pure, m = 2: they add up to G for
    every v, so a row weighs G in l1.  Gaussian, m = 3: a row weighs at most G in l2 for G >= 32 (theory §12 C), and
    G + v - t <= 5G/4 + 1 in l1.  Replace-one: twice that in l1, and in squared l2, the vectors being non-negative.
    """
    m = 2 if noise == "laplace" else 3
    if noise == "gaussian" and G < 32:
        raise ArithmeticError(f"form C needs a grid of at least 32 steps, not {G}")
    matrix = ((G, -2, 1), (0, m, -m), (0, 0, 1))
    twice = 2 if neighbors == "replace-one" else 1
    parameters = {"G": G, "middle": m}
    l1 = G if m == 2 else 5 * G // 4 + 1
    return Encoding("group", parameters, (ONE, IDENTITY, square(0, G)), matrix, twice * l1, twice * G * G)


def bernstein(G: int, neighbors: str) -> Encoding:
    """Degree 4: B_j = F_j - F_(j-1), F_j = floor(C_j / d), C_j = sum_(i<=j) binom(4, i) v**i (G - v)**(4 - i), F_4 = M.

    C_j grows with j and C_4 = G**4, so the five integers are non-negative and add up to M = floor(G**4 / d) for every
    v: a row weighs M in l1, at most M in l2 (M at v = 0).  Replace-one: 2M, and 2 M**2 in squared l2.  Theory §1.3.
    """
    d = max(1, -(-(G**4) // MASS))
    M = G**4 // d
    # C_0 = (G-v)^4, C_1 = (G-v)^3 (G+3v), C_2 = (G-v)^2 (G^2+2Gv+3v^2), C_3 = G^4 - v^4, expanded
    cumulative = (
        (G**4, -4 * G**3, 6 * G**2, -4 * G, 1),
        (G**4, 0, -6 * G**2, 8 * G, -3),
        (G**4, 0, 0, -4 * G, 3),
        (G**4, 0, 0, 0, -1),
    )
    polynomials = (ONE, *(Polynomial(c, d) for c in cumulative))
    matrix = ((0, 1, 0, 0, 0), (0, -1, 1, 0, 0), (0, 0, -1, 1, 0), (0, 0, 0, -1, 1), (M, 0, 0, 0, -1))
    twice = 2 if neighbors == "replace-one" else 1
    return Encoding("bernstein", {"G": G, "divisor": d, "mass": M}, polynomials, matrix, twice * M, twice * M * M)


def binary_plain() -> Encoding:
    """Number of ones among rows that are always present; replace-one: 1 in any norm."""
    return Encoding("binary-plain", {"G": 1}, (ONE, IDENTITY), ((0, 1),), 1, 1)


def binary_exclusion(noise: Noise) -> Encoding:
    """(a (2v - 1), b) of present rows, zero of absent ones; replace-one, one cell.

    Pure, a = b = 1: two present rows differ by 2a = 2, present and absent by a + b = 2.
    Gaussian, a = 2, b = 3: squared, (2a)**2 = 16, and a**2 + b**2 = 13.
    """
    a, b = (1, 1) if noise == "laplace" else (2, 3)
    l1 = max(2 * a, a + b)
    return Encoding(
        "binary-exclusion", {"G": 1, "sign": a, "presence": b}, (ONE, IDENTITY), ((-a, 2 * a), (b, 0)), l1, 4 * a * a
    )


def binary_group(neighbors: str) -> Encoding:
    """(1 - v, v) in the row's cell: a row weighs exactly 1; replace-one moves one row: 2 in l1 and in squared l2."""
    twice = 2 if neighbors == "replace-one" else 1
    return Encoding("binary-group", {"G": 1}, (ONE, IDENTITY), ((1, -1), (0, 1)), twice, twice)


def count(cells: int, neighbors: str, leaves: bool) -> Encoding:
    """1 in the row's cell.  Add-remove: 1.  Replace-one: a row changes cell, 2; with one cell it can only leave, 1."""
    twice = 2 if neighbors == "replace-one" and cells > 1 else 1
    if neighbors == "replace-one" and cells == 1 and not leaves:
        raise ArithmeticError("the number of all rows is public under replace-one")
    return Encoding("count", {"G": 1}, (ONE,), ((1,),), twice, twice)


def _divisor(G: int, noise: Noise) -> int:
    """C of P and Z; what the proofs ask of G is checked here, so that no form exists outside them."""
    if G % 2 or (noise == "gaussian" and (G % 16 or G // 2 < SMALLEST_GAUSSIAN_H)):
        raise ArithmeticError(f"no proven form on a grid of {G} steps")
    return G if noise == "laplace" else 5 * G // 16
