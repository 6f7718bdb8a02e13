"""Integer encodings of weighted rows, and of persons with rows in several cells, with proofs of their sensitivities.

A row (or a person) has a weight a in {0, ..., A} and a value v in {0, ..., G}.  All integers are non-negative.  So
under replace-one the change is at most the sum of the two rows' l1 norms, and of their squared l2 norms, whichever
cells they are in; under add-remove it is the norm of one row.

Weights of one person add up to at most A over all cells (`rows.row_map.PersonWeight`): with C rows that count, s_c the
sum of the weights of those in cell c, all weights in {0, ..., A}, and m = min(C, cap),

    sum_c floor(s_c m / (cap C))  <=  (m / cap) sum_c s_c / C  <=  sum_c s_c / C  <=  A C / C  =  A,

for all rows, and it depends on the person's own rows only.  Attained where all rows have weight A, in one cell, and
C >= cap.  Without a column of weights each row has weight A.

`shared`: encodings of rows without weights, for persons with rows in several cells.
`weighted`: sums of a v**q and a**2 v**q, for ratios with their standard error.  Five integers (nine of the same total
in theory §12, form W): with b = round(a**2 / A), m = 2 or 3, and (G - 2v + t, m(v - t), t) as in `encoding.group`,

    p(a - b) (G - v),   p(a - b) v,   b (G - 2v + t),   b m (v - t),   b t.

`counted`: sums of a and a**2, for a weighted number of rows with its standard error.  Two integers: with
e = floor(a (A - a) / A), which is a - a**2 / A rounded down,

    a - j e,   k e,        j = 0 or 1,  k = 1, 2 or 3.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tacit.method.shared.encoding import Encoding, Noise, square
from tacit.rows.row_map import IDENTITY, ONE, Polynomial

WEIGHT: Final = 2**15
"""A of a column of weights, and G of the values that it weights: products stay below 2**31 in a row."""


def steps_of_rows(cap: int) -> int:
    """Return A for persons who count by their rows, `cap` at most: a whole number of units for each row, if it can be.

    Then floor(A min(C, cap) / cap) is exact: floors would make a total too small.  Even, for `rounded_square`.

    >>> steps_of_rows(4), steps_of_rows(7), steps_of_rows(2**15)
    (32768, 32760, 32768)
    """
    units = WEIGHT // cap if cap % 2 == 0 else 2 * (WEIGHT // (2 * cap))
    return units * cap or WEIGHT


COUNTED: Final = 2**20
"""A where the weights themselves are summed."""


def shared(form: Encoding, A: int) -> Encoding:
    """Return an encoding for persons in several cells: in each cell, a times `form`'s row of the person's mean there.

    In any norm, the sum over a person's cells of |a row(v)| is at most sum a max |row| <= A max |row| (triangle
    inequality).  Attained by a person with all rows in one cell.  l1 and l2_squared of `form` are for one row under the
    same relation, and its rows are non-negative, so they are multiplied by A and A**2.
    """
    weights = (IDENTITY,) * len(form.polynomials)
    parameters = {**form.parameters, "share": A}
    return replace(form, parameters=parameters, weights=weights, l1=A * form.l1, l2_squared=A * A * form.l2_squared)


def weighted(G: int, A: int, noise: Noise, neighbors: str, *, several: bool) -> Encoding:
    """Return the encoding of the five integers above.

    several: whether a person may be in several cells, with weights that add up to at most A over them.

    b <= a, and 2a - b <= A, for b is the nearest integer to a**2 / A and A - 2a + a**2 / A = (A - a)**2 / A >= 0.

    Laplace, m = 2.  The last three add up to b G (`encoding.group`), the first two to p(a - b) G.  p = 2: (2a - b) G <=
    A G.  Several cells, p = 1: a G in each, at most A G together.  Attained at a = A.
    Gaussian, m = 3.  (G - v)**2 + v**2 <= G**2, and the last three are at most b G in l2 (`encoding.group`, G >= 32).
    So the square is at most G**2 (p**2 (a - b)**2 + b**2).  p = 3: at most G**2 A**2, see `largest`, which takes every
    a.
    Several cells, p = 1: at most a G in each (a - b, b >= 0 add up to a), at most A G together.
    Gaussian, l1: p (a - b) G + b (5G/4 + 1).  p = 1: at most a (5G/4 + 1).  p = 3: 3a - 7b/4 is at most
    3a - 7 a**2 / 4A + 7/8 <= 9A/7 + 7/8.
    """
    m, p = (2, 1 if several else 2) if noise == "laplace" else (3, 1 if several else 3)
    # G = 1 has no middle term, so the condition of `encoding.group` is not needed
    if noise == "gaussian" and 1 < G < 32:
        raise ArithmeticError(f"the encoding of weighted values needs a grid of at least 32 steps, not {G}")
    if noise == "gaussian" and not several and largest(A, p) > A * A:
        raise ArithmeticError(f"the encoding of weighted values is not proven for weights on {A} steps")
    b = rounded_square(A)
    # integers are non-negative: the norms of two rows add up, in one cell or in two
    twice = 2 if neighbors == "replace-one" else 1
    parameters = {"G": G, "middle": m, "A": A, "first": p}
    if G == 1:  # v is 0 or 1, so v - t is 0: four integers
        weights, polynomials = (IDENTITY, IDENTITY, b, b), (ONE, IDENTITY, ONE, IDENTITY)
        matrix = ((p, -p, -p, p), (0, p, 0, -p), (0, 0, 1, -1), (0, 0, 0, 1))
    else:
        weights, polynomials = (IDENTITY, IDENTITY, b, b, b), (ONE, IDENTITY, ONE, IDENTITY, square(0, G))
        matrix = (
            (p * G, -p, -p * G, p, 0),
            (0, p, 0, -p, 0),
            (0, 0, G, -2, 1),
            (0, 0, 0, m, -m),
            (0, 0, 0, 0, 1),
        )
    total, l1 = A * G, A * G
    if noise == "gaussian":
        # p = 3: (9A/7 + 7/8) G for the docstring's 3a - 7b/4, and b <= A for the 1 beside 5G/4, both rounded up
        l1 = A * (5 * G // 4 + 1) if several else (9 * A // 7 + 2) * (G + 1)
    return Encoding("weighted", parameters, polynomials, matrix, twice * l1, twice * total * total, weights)


def counted(A: int, noise: Noise, neighbors: str, *, cells: int, several: bool) -> Encoding:
    """Return the encoding of the two integers above.

    several: whether a person may be in several cells, with weights that add up to at most A over them.

    0 <= e <= a, for a (A - a) / A <= a.  A row without a weight, or that does not count, has weight 0.

    Laplace, j = 0, k = 1.  a + e <= 2a - a**2 / A <= A, for A - 2a + a**2 / A = (A - a)**2 / A >= 0.  Attained at
    a = A.
    One cell, replace-one: A even, w = a - A/2, e = floor((A**2/4 - w**2) / A).  d = |a - a'|, s = |w + w'|, as in
    `encoding.plain`: d + s = 2 max(|w|, |w'|) <= A; s = 0: e = e', change d <= A; else the squares / A differ by
    ds / A < s, so their floors by at most s: change d + s <= A.  Attained between 0 and A.
    Gaussian, j = 0, k = 3, x = a / A.  a**2 + 9 e**2 <= A**2 x**2 (1 + 9 (1 - x)**2), at most A**2 where
    9 x**2 (1 - x) <= 1 + x: the left is at most 4/3 (at x = 2/3), and below 1 for x < 1/3.  Attained at a = A.
    One cell, replace-one: d <= A - s, and floors of numbers ds / A apart differ by at most ceil(ds / A), so the square
    is at most (A - s)**2 + 9 ceil((A - s) s / A)**2: see `furthest`, which takes every s.
    Several cells, Laplace, j = k = 1.  (a - e) + e = a in each: at most A together.
    Several cells, Gaussian, j = 0, k = 2.  a**2 + 4 e**2 <= a A in each, for 4 x (1 - x)**2 <= 1 - x, as
    4 x (1 - x) <= 1: at most A * A together.  A person who moves from cells to others: twice that, all being >= 0.
    Gaussian, l1: a + 3e <= 4a - 3 a**2 / A <= 4A/3; one cell, replace-one: (A - s) (1 + 3s / A) + 3 <= 4A/3 + 3;
    several cells: a + 2e <= 3a.
    """
    j, k = (int(several), 1) if noise == "laplace" else (0, 2 if several else 3)
    one = cells == 1 and not several
    # A even: a - A/2 must be whole in the proof of one cell
    if A % 2 or (noise == "gaussian" and one and furthest(A) > A * A):
        raise ArithmeticError(f"no weighted count is proven for weights on {A} steps")
    twice = 2 if neighbors == "replace-one" and not one else 1
    edge = Polynomial((0, A, -1), A)
    parameters = {"G": 1, "A": A, "less": j, "edge": k}
    matrix = ((1, -j), (0, k))
    l1 = A if noise == "laplace" else 3 * A if several else 4 * A // 3 + 3
    return Encoding("counted", parameters, (ONE, ONE), matrix, twice * l1, twice * A * A, (IDENTITY, edge))


def furthest(A: int) -> int:
    """Return the maximum of (A - s)**2 + 9 ceil((A - s) s / A)**2 over s in {1, ..., A}, and of A**2, by trying all."""
    found = _FURTHEST.get(A)
    if found is None:
        # -((s - A) * s // A) is (A - s) s / A rounded up
        found = max(A * A, *((A - s) ** 2 + 9 * (-((s - A) * s // A)) ** 2 for s in range(1, A + 1)))
        _FURTHEST[A] = found
    return found


_FURTHEST: Final[dict[int, int]] = {COUNTED: COUNTED * COUNTED}
"""Maxima computed before, so that no question waits for a million squares; a test computes them again."""


def rounded_square(A: int) -> Polynomial:
    """Return the polynomial that is the integer nearest to a**2 / A, for even A."""
    return Polynomial((A // 2, 0, 1), A)


def largest(A: int, p: int) -> int:
    """Return the maximum of p**2 (a - b)**2 + b**2 over a in {0, ..., A}, by trying all."""
    found = _LARGEST.get((A, p))
    if found is None:
        b = rounded_square(A)
        found = max(p * p * (a - b(a)) ** 2 + b(a) ** 2 for a in range(A + 1))
        _LARGEST[A, p] = found
    return found


_LARGEST: Final[dict[tuple[int, int], int]] = {(WEIGHT, 3): WEIGHT * WEIGHT}
"""Maxima computed before, so that no question waits for 32,769 squares; a test computes them again."""


SHARE: Final = 2**10
"""A for persons without a column of weights: the total weight of a person over the cells with the person's rows."""

FINE: Final = 720_720
"""A where these weights are counted.  Divisible by 1 to 16: the parts of a person with up to 16 rows have no floor, and
floors take next to nothing from those of others, where units of 1/1024 take 2% of a person who is in a hundred cells.
"""
