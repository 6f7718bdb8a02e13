"""Integer encodings of counts and moments, with the proofs of their sensitivities (theory §1.3, §9, §12).

An encoding maps the grid value v in {0, ..., G} of a present row to a vector of integers, and an absent row (its value
missing and left out, or in no cell) to the zero vector.  The vectors are added up in each cell of `by`.  Throughout,
H = G / 2, w = v - H, and primes mark the row in the neighbouring table.

An encoding is a plain value: `polynomials` are what an engine sums over present rows, the first always 1; `matrix`
turns these sums into the released integers.  Both are linear, so `row(v)` is what one row adds, and the sensitivities
are statements about `row` alone.  Tests check them for all pairs of v on small grids, and by running the mechanism.

    replace-one, one cell:    sup |row(v) - row(v')| over v, v' in {0..G} (or absent, where rows can be left out)
    replace-one, groups:      the same, and a row can leave one cell and enter another: sup |row(v)| + |row(v')| in l1
                              and row(v)^2 + row(v')^2 in squared l2 (rows are non-negative, so the same cell is less)
    add-remove:               sup |row(v)|
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isqrt
from typing import Final, Literal, TypeAlias

from tacit.rows.row_map import IDENTITY, ONE, Polynomial

Noise: TypeAlias = Literal["laplace", "gaussian"]

SMALLEST_GAUSSIAN_H: Final = 219
"""`plain` with Gaussian noise is proven for H >= 219 (theory §12); the grids of a schema have H >= 2**19."""

COARSE: Final = 2**12
"""Most steps of a grid whose values are raised to the fourth power: v**4 stays at or below 2**48."""

SQUARED: Final = 2**16
"""Most steps of a grid for `deviations`: a noisy integer stays within 64 bits for 2**32 rows."""

MASS: Final = 2**20
"""Largest total that one row adds to the five Bernstein sums."""


@dataclass(frozen=True)
class Encoding:
    """An integer encoding of one column, with its proven sensitivities under one neighbouring relation.

    l1 and l2_squared bound the change of all released integers of the column, over all cells together.  The one that
    the noise is scaled to is attained; the other follows from it.
    """

    name: str
    parameters: Mapping[str, int]
    polynomials: tuple[Polynomial, ...]
    matrix: tuple[tuple[int, ...], ...]
    l1: int
    l2_squared: int
    weights: tuple[Polynomial, ...] = ()
    """Where rows have weights: for each sum, the polynomial of the weight that its summands are multiplied by."""
    rows: int | None = field(default=None, kw_only=True)
    """Of `deviations` alone, which is not linear in the sums: the public number of rows."""

    def assemble(self, sums: tuple[int, ...]) -> tuple[int, ...]:
        """Return the integers to be released with noise, from exact sums of the polynomials over a cell's rows."""
        if self.rows is not None:
            _, total, squares = sums
            return ((self.rows * squares - total * total) // (self.rows - 1),)
        # Python integers: sums over 2**42 rows times entries of the matrix can exceed 64 bits
        return tuple(sum(a * s for a, s in zip(row, sums, strict=True)) for row in self.matrix)

    def row(self, v: int, weight: int | None = None) -> tuple[int, ...]:
        """Return what one present row with grid value v adds; weight: on its own grid, where rows have weights."""
        own = tuple(p(v) for p in self.polynomials)
        if weight is not None:
            own = tuple(x * q(weight) for x, q in zip(own, self.weights, strict=True))
        return self.assemble(own)


def square(center: int, divisor: int) -> Polynomial:
    """Return the polynomial floor((v - center)**2 / divisor)."""
    return Polynomial((center * center, -2 * center, 1), divisor)


def plain(G: int, noise: Noise) -> Encoding:
    """Return (w, floor(w**2 / c)) of rows that are always present; replace-one, one cell, public number of rows.

    Laplace, c = 2H: l1 = 2H.  Let d = |w - w'| and s = |w + w'|; then d + s = 2 max(|w|, |w'|) <= 2H.  s = 0: squares
    agree, and the change is d <= 2H.  s >= 1: the squares / 2H differ by ds / 2H < s, so their floors by at most s, and
    d + s <= 2H.  Attained.
    Gaussian, c = 5H/8: l2 = 2H for H >= 219 (theory §12, form Z).  Attained at w = -w' = H for both noises.
    Gaussian, l1: at most d + ds/c + 1, where d (1 + 8 (2H - d) / 5H) is largest, 441H/160, at d = 21H/16.
    """
    H = G // 2
    c = _divisor(G, noise)
    parameters = {"G": G, "divisor": c}
    # 441H/160 rounded up, since l1 must bound the change from above; + 1 for the difference of two floors
    l1 = G if noise == "laplace" else -(-441 * H // 160) + 1
    # (-H, 1, 0): the sum of w = v - H from those of 1 and v
    return Encoding("plain", parameters, (ONE, IDENTITY, square(H, c)), ((-H, 1, 0), (0, 0, 1)), l1, G * G)


def exclusion(G: int, noise: Noise) -> Encoding:
    """Return (w, floor(v (G - v) / c), kappa) of present rows, zeros of absent ones; replace-one, one cell.

    v (G - v) = H**2 - w**2 holds the square and vanishes at both bounds, where |w| is largest: presence then has the
    weight kappa = H, as if no square were released (with w**2 in its place, H / 2 would be left).
    Laplace, c = 2H, kappa = H: l1 = 2H.  Two present rows: kappa cancels, products differ by ds, d and s as in `plain`,
    their floors by at most s, and d + s <= 2H.  Present against absent: kappa, and |w| + (H**2 - w**2) / 2H, which is
    H - (H - |w|)**2 / 2H <= H.  Both are attained.
    Gaussian, c = H, kappa = floor(sqrt(3) H): l2 = 2H.  Two present rows: floors differ by at most ds / H rounded up,
    hence by at most 2s.  s <= 4H/5: d**2 + 4 s**2 <= (2H - s)**2 + 4 s**2 = 4 H**2 - s (4H - 5s).  s > 4H/5: then
    d < 6H/5 and ds <= H**2, so that the change is below 36 H**2 / 25 + (H + 1)**2 < 4 H**2 for H >= 2.  Present against
    absent: w**2 + (H**2 - w**2)**2 / H**2 <= H**2, as x + (1 - x)**2 <= 1 for x in [0, 1]; kappa**2 <= 3 H**2.
    Gaussian, l1: of present and absent at most 5H/4 + sqrt(3) H < 3H, of two present rows 9H/4 + 1 <= 3H for H >= 2.
    """
    H = G // 2
    if G % 2 or H < 2:
        raise ArithmeticError(f"no proven form on a grid of {G} steps")
    c, kappa = (G, H) if noise == "laplace" else (H, isqrt(3 * H * H))
    matrix = ((-H, 1, 0), (0, 0, 1), (kappa, 0, 0))
    inner = Polynomial((0, G, -1), c)
    parameters = {"G": G, "divisor": c, "presence": kappa}
    return Encoding(
        "exclusion-2", parameters, (ONE, IDENTITY, inner), matrix, G if noise == "laplace" else 3 * H, G * G
    )


def total(G: int, offset: int, noise: Noise, *, cells: int, neighbors: str) -> Encoding:
    """Return (y, floor(y (a + b - y) / c)) of present rows, zeros of absent ones: the sum of y = v + offset.

    Zero is what an absent row adds to a sum, so that no count is needed.  [a, b] is the shortest interval that holds 0
    and all y; S = b - a.  An absent row is y = 0, a point of [a, b] where the second integer is 0.
    Laplace, c = S: of two points of [a, b], d = |y - y'| and s = |a + b - y - y'| have d + s <= S, products differ by
    ds, floors by at most s: l1 = S.  Gaussian, c = ceil(S / 2): l2 = S, as in `exclusion` with S for 2H.  Attained at
    the ends of [a, b].  Gaussian, l1: d + 2 d (S - d) / S + 1 <= 9S/8 + 1.
    Where rows can change cells, a = 0 or b = 0 is needed: then |y| + |second| <= |y| + |y| (S - |y|) / S <= S, and in
    squares x**2 (1 + 4 (1 - x)**2) <= 1 for x = |y| / S in [0, 1].  A row adds at most S, a replaced one twice that.
    """
    a, b = min(0, offset), max(0, offset + G)
    S = b - a
    if S < 4 or ((cells > 1 or neighbors == "add-remove") and a < 0 < b):
        raise ArithmeticError(f"no proven sum on a grid of {G} steps from {offset}")
    c = S if noise == "laplace" else -(-S // 2)
    M = a + b
    second = Polynomial((offset * (M - offset), M - 2 * offset, -1), c)
    twice = 2 if neighbors == "replace-one" and cells > 1 else 1
    l1 = S if noise == "laplace" else 9 * S // 8 + 1
    parameters = {"G": G, "offset": offset, "divisor": c}
    matrix = ((offset, 1, 0), (0, 0, 1))
    return Encoding("total", parameters, (ONE, IDENTITY, second), matrix, twice * l1, twice * S * S)


def group(G: int, noise: Noise, neighbors: str) -> Encoding:
    """Return (G - 2v + t, m(v - t), t), t = floor(v**2 / G), in the row's cell; rows may enter and leave cells.

    v <= G gives t <= v, and G - 2v + t = floor((G - v)**2 / G), so all three are non-negative.  Laplace, m = 2: they
    add up to G for every v, so a row adds G in l1.  Gaussian, m = 3: a row adds at most G in l2 for G >= 32 (theory
    §12, form C), and G + v - t <= 5G/4 + 1 in l1.  Replace-one: twice that in l1, and twice its square in squared l2,
    since the vectors are non-negative.
    """
    # the middle term is that of Bernstein's polynomials, 2 v (G - v) / G, or 3/2 of it: the factor is as large as the
    # norm of a row allows, as more signal in it is less noise in the moments (theory §12, forms B and C)
    m = 2 if noise == "laplace" else 3
    if noise == "gaussian" and G < 32:
        raise ArithmeticError(f"the encoding of groups needs a grid of at least 32 steps, not {G}")
    matrix = ((G, -2, 1), (0, m, -m), (0, 0, 1))
    twice = 2 if neighbors == "replace-one" else 1
    parameters = {"G": G, "middle": m}
    l1 = G if m == 2 else 5 * G // 4 + 1
    return Encoding("group", parameters, (ONE, IDENTITY, square(0, G)), matrix, twice * l1, twice * G * G)


def bernstein(G: int, neighbors: str) -> Encoding:
    """Return five Bernstein terms of degree 4, which hold the first four moments.

    The term j = 0, ..., 4 is F_j - F_(j-1), F_j = floor(C_j / d), C_j = sum_(i<=j) binom(4, i) v**i (G - v)**(4 - i).
    C_j grows with j and C_4 = G**4, so the five integers are non-negative and add up to M = floor(G**4 / d) for every
    v: a row adds M in l1, and at most M in l2 (M at v = 0).  Replace-one: 2M, and 2 M**2 in squared l2.  Theory §1.3.
    """
    # rounded up, so that M does not exceed MASS
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
    # differences F_j - F_(j-1); F_4 = M for every row, so that it needs no polynomial of its own
    matrix = ((0, 1, 0, 0, 0), (0, -1, 1, 0, 0), (0, 0, -1, 1, 0), (0, 0, 0, -1, 1), (M, 0, 0, 0, -1))
    twice = 2 if neighbors == "replace-one" else 1
    return Encoding("bernstein", {"G": G, "divisor": d, "mass": M}, polynomials, matrix, twice * M, twice * M * M)


def deviations(G: int, rows: int) -> Encoding:
    """Return floor(D / (n - 1)), D = n sum v**2 - (sum v)**2, of n rows that are always present; replace-one, one cell.

    D is the sum of (v_i - v_j)**2 over pairs of rows.  A replaced row is in n - 1 of them, each within [0, G**2] before
    and after: D changes by at most (n - 1) G**2, D / (n - 1) by at most G**2, and so does its floor, G**2 being whole.
    Attained where all other rows are at one bound and the row goes from there to the other.  One integer: l2 = l1.
    """
    if rows < 2 or not 1 <= G <= SQUARED:
        raise ArithmeticError(f"no variance of {rows} rows on a grid of {G} steps")
    polynomials = (ONE, IDENTITY, square(0, 1))
    parameters = {"G": G, "rows": rows}
    return Encoding("deviations", parameters, polynomials, ((0, 0, 1),), G * G, G**4, rows=rows)


def binary_plain() -> Encoding:
    """Return the number of ones among rows that are always present; replace-one, one cell: 1 in any norm."""
    return Encoding("binary-plain", {"G": 1}, (ONE, IDENTITY), ((0, 1),), 1, 1)


def binary_exclusion(noise: Noise) -> Encoding:
    """Return (a (2v - 1), b) of present rows, zeros of absent ones; replace-one, one cell.

    Laplace, a = b = 1: two present rows differ by 2a = 2, present and absent by a + b = 2.
    Gaussian, a = 2, b = 3: squared, (2a)**2 = 16, and a**2 + b**2 = 13.
    """
    # b is the largest whole number for which absent rows cost no more than 2a: less noise on the number of rows
    a, b = (1, 1) if noise == "laplace" else (2, 3)
    l1 = max(2 * a, a + b)
    return Encoding(
        "binary-exclusion", {"G": 1, "sign": a, "presence": b}, (ONE, IDENTITY), ((-a, 2 * a), (b, 0)), l1, 4 * a * a
    )


def binary_group(neighbors: str) -> Encoding:
    """Return (1 - v, v) in the row's cell: a row adds exactly 1; replace-one: 2 in l1 and in squared l2."""
    twice = 2 if neighbors == "replace-one" else 1
    return Encoding("binary-group", {"G": 1}, (ONE, IDENTITY), ((1, -1), (0, 1)), twice, twice)


def count(cells: int, neighbors: str, leaves: bool) -> Encoding:
    """Return 1 in the row's cell.  Add-remove: 1.  Replace-one: 2, as a row changes cells; 1 if there is one cell.

    leaves: whether a row can be in no cell; ArithmeticError where the count is public.
    """
    twice = 2 if neighbors == "replace-one" and cells > 1 else 1
    # of sensitivity 0: all neighbours have the same number of rows
    if neighbors == "replace-one" and cells == 1 and not leaves:
        raise ArithmeticError("the number of all rows is public under replace-one")
    return Encoding("count", {"G": 1}, (ONE,), ((1,),), twice, twice)


def _divisor(G: int, noise: Noise) -> int:
    """Return c of `plain`; ArithmeticError for a G that its proof does not cover."""
    # H = G / 2 must be whole, and so must c = 5G / 16 (theory §12, form Z: 8 divides H)
    if G % 2 or (noise == "gaussian" and (G % 16 or G // 2 < SMALLEST_GAUSSIAN_H)):
        raise ArithmeticError(f"no proven form on a grid of {G} steps")
    return G if noise == "laplace" else 5 * G // 16
