"""Integer forms of weighted rows, and of persons with rows in several cells: why their sensitivities hold.

A row (or a person) has a weight a in {0, ..., A} and a value v in {0, ..., G}.  Both forms are non-negative, so under
replace-one the change is at most the sum of two rows in l1, and of their squares in squared l2, whichever cells they
are in; under add-remove it is that of one.

`shared`: rows of persons whose weights add up to at most A over all cells (`rowmap.Share`).
`weighted`: sums of a v**q and a**2 v**q, for ratios with their standard error.  Five integers (theory §12 W has nine of
the same total): with b = round(a**2 / A), m = 2 or 3, and (G - 2v + t, m(v - t), t) as in forms B and C,

    p(a - b) (G - v),   p(a - b) v,   b (G - 2v + t),   b m (v - t),   b t.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tacit.mechanisms.moment_forms import Form, Noise, square
from tacit.rowmap import IDENTITY, ONE, Polynomial

WEIGHT: Final = 2**15
"""A of a column of weights, and G of what it weighs: products stay below 2**31 a row."""


def shared(form: Form, A: int) -> Form:
    """A form of one cell a row, for persons: each of a person's cells gets a times the row of her mean there.

    sum over her cells of |a row(v)| <= sum a max |row| <= A max |row|, in any norm (triangle inequality).  Attained by
    a person with all rows in one cell.  l1 and l2_squared of `form` are for one row under the same relation, and its
    rows are non-negative: both scale, by A and A**2.
    """
    weights = (IDENTITY,) * len(form.polynomials)
    parameters = {**form.parameters, "share": A}
    return replace(form, parameters=parameters, weights=weights, l1=A * form.l1, l2_squared=A * A * form.l2_squared)


def weighted(G: int, A: int, noise: Noise, neighbors: str, *, several: bool) -> Form:
    """W: the five integers above; `several`: weights of one person add up to at most A over all cells.

    b <= a, and 2a - b <= A, for b is the nearest integer to a**2 / A and A - 2a + a**2 / A = (A - a)**2 / A >= 0.

    Pure, m = 2.  The last three add up to b G (form B), the first two to p(a - b) G.  p = 2: (2a - b) G <= A G.
    Several cells, p = 1: a G in each, at most A G together.  Attained at a = A.
    Gaussian, m = 3.  (G - v)**2 + v**2 <= G**2, and the last three weigh at most b G in l2 (form C, G >= 32).  So the
    square is at most G**2 (p**2 (a - b)**2 + b**2).  p = 3: at most G**2 A**2: see `largest`, which takes every a.
    Several cells, p = 1: at most a G in each (a - b, b >= 0 add up to a), at most A G together.
    """
    m, p = (2, 1 if several else 2) if noise == "laplace" else (3, 1 if several else 3)
    if noise == "gaussian" and 1 < G < 32:
        raise ArithmeticError(f"form W needs a grid of at least 32 steps, not {G}")
    if noise == "gaussian" and not several and largest(A, p) > A * A:
        raise ArithmeticError(f"form W is not proven for weights on {A} steps")
    b = rounded_square(A)
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
    total = A * G
    return Form("weighted", parameters, polynomials, matrix, twice * total, twice * total * total, weights)


def rounded_square(A: int) -> Polynomial:
    """The integer nearest to a**2 / A, A even."""
    return Polynomial((A // 2, 0, 1), A)


def largest(A: int, p: int) -> int:
    """Maximum of p**2 (a - b)**2 + b**2 over a in {0, ..., A}, by trying all."""
    found = _LARGEST.get((A, p))
    if found is None:
        b = rounded_square(A)
        found = max(p * p * (a - b(a)) ** 2 + b(a) ** 2 for a in range(A + 1))
        _LARGEST[A, p] = found
    return found


_LARGEST: Final[dict[tuple[int, int], int]] = {(WEIGHT, 3): WEIGHT * WEIGHT}
"""Known maxima, so that no question waits for 32,769 squares; a test tries them all."""
