"""What a row adds to the coefficients of a series, in integers, with its sensitivity.  Public arithmetic; no data here.

Definition
    Column i has P_i public bins, in b_i of which a present row is, and m_i functions beside the constant: as many as
    were asked for, or as its bins tell apart (`own_terms`).  Function j has there the integer
        a_ij(b) = round(S psi_ij(b)),    psi_ij(b) the average of psi_j over the bin,    a_i0(b) = S,
    and the row adds the products of its columns' integers,
        T_j(b) = a_1j1(b_1) ... a_djd(b_d),    j_i from 0 to m_i,
    except T_0 = S**d, which is the same for every row; and kappa, the weight of its presence, where presence is
    released.  A row that is left out adds nothing.
Sensitivity
    Let N_i(b) = sum_j a_ij(b)**2 and K_i(b, c) = sum_j a_ij(b) a_ij(c).  As sums over j factorise,
        |T(b) - T(c)|**2 = prod N_i(b_i) + prod N_i(c_i) - 2 prod K_i(b_i, c_i),                               (1)
        |T(b)|**2        = prod N_i(b_i) - S**(2d):                                                            (2)
    in (1) T_0 cancels.  Both are computed in integers for all cells and pairs of cells (`apart`), and their maxima are
    attained.
    Replace-one: the maximum of (1) over pairs; where rows can be left out also (2) + kappa**2, and kappa is the largest
    weight that does not exceed the former, so that presence is free: the mean of (1) over c, each cell as often, is
    about (2) plus the sum of the squares of all functions, which is above (2).
    Add-remove: the maximum of (2), plus kappa**2, kappa = S**d: a function more.
    Persons: the weights of a person's cells are parts of `share` that add up to at most it.  What the person adds is
    `share` times a point of the convex hull of all T(b) and 0, and the distance of two points of a hull is at most the
    largest of its corners: the sensitivities are multiplied by `share`.
    In l1: at most the root of the number of integers times l2.
    [The printed sensitivity of the source, 2 m c_0 / n in l1 with noise of scale m c_0 / n, is half of what is needed:
    theory §3.4.]
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import isqrt, prod
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.weighted_encoding import FINE, SHARE
from tacit.rows.series_bases import integrals

POINTS: Final = {1: 1_024, 2: 128, 3: 24}
"""Most bins of a column, by the number of columns: all pairs of cells are compared."""
SCALE: Final = {1: 2**12, 2: 2**10, 3: 2**7}
"""S, by the number of columns: products of all columns stay below 2**62."""
PARTS: Final = {1: FINE, 2: SHARE, 3: SHARE}
"""`share`, by the number of columns: of one, divisible by 1 to 16, so that floors of a person's weights take next to
nothing; of more, scales of noise at small prices would be out of their bounds."""
AT_ONCE: Final = 2**22
"""Pairs of cells compared at a time."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class SeriesEncoding(Encoding):
    """An encoding whose integers are products of the columns' tables, and presence, the last, where it is released."""

    corner: tuple[int, ...] = ()
    """The integers that a row in one of the two cells furthest apart adds."""
    furthest: tuple[tuple[int, ...], tuple[int, ...] | None] = ((), None)
    """Two cells whose rows are furthest apart, as bins of each column; None for a row that is left out."""

    def row(self, v: int, weight: int | None = None) -> tuple[int, ...]:
        """Return what a row of the furthest cell adds for v = G, zeros for v = 0; weight: of a person's part."""
        whole = 1 if weight is None else weight
        return tuple(x * whole * v // self.parameters["G"] for x in self.corner)


def series(
    basis: str,
    edges: tuple[tuple[float, ...], ...],
    terms: int,
    neighbors: str,
    *,
    leaves: bool,
    persons: bool,
    former: bool = False,
) -> SeriesEncoding:
    """Return the encoding of a series.

    edges: of each column's bins, from 0 to 1.  leaves: whether a row can be left out although their number is public.
    former: with `share` as it was until version 0.2, SHARE.
    """
    d, one = len(edges), neighbors == "replace-one"
    S = SCALE[d]
    pair, two, single, alone = apart(basis, edges, terms)
    presence = leaves or not one
    kappa = (isqrt(max(0, two - single)) if one else S**d) if presence else 0
    l2_squared = max(two, single + kappa**2) if one else single + kappa**2
    tables = [table(basis, each, terms, S) for each in edges]
    far = pair if one and two >= single + kappa**2 else (alone, None)
    corner = (*vector(tables, far[0])[1:], *([kappa] if presence else []))
    share = (SHARE if former else PARTS[d]) if persons else 1
    number = len(corner)
    l1 = isqrt(l2_squared) if number == 1 else isqrt(l2_squared * number) + 1
    parameters = {"G": S, "terms": terms, "presence": kappa} | ({"share": share} if persons else {})
    matrix = tuple((1,) for _ in range(number))
    return SeriesEncoding(
        "series", parameters, (), matrix, share * l1, share**2 * l2_squared, corner=corner, furthest=far
    )


@lru_cache(maxsize=128)
def table(basis: str, edges: tuple[float, ...], terms: int, S: int) -> Ints:
    """Return the integers of a column's functions in its bins, the constant first, shape (own terms + 1, bins)."""
    ends = np.array(edges)
    own = own_terms(basis, len(edges) - 1, terms)
    averages: Array = np.diff(integrals(basis, ends, own), axis=1) / np.diff(ends)
    return np.vstack([np.full(len(edges) - 1, S), np.rint(S * averages)]).astype(np.int64)


def own_terms(basis: str, bins: int, terms: int) -> int:
    """Return how many of the terms a column has: three quarters of its bins at most, of polynomials about the root.

    >>> own_terms("cosine", 10, 16), own_terms("legendre", 10, 16), own_terms("cosine", 1_024, 16)
    (7, 6, 16)
    """
    return min(terms, max(1, isqrt(4 * bins) if basis == "legendre" else 3 * bins // 4))


def vector(tables: list[Ints], cell: tuple[int, ...]) -> tuple[int, ...]:
    """Return the products of all columns' integers in a cell, in the order of their indices: T_0 is the first."""
    made = np.ones(1, dtype=object)
    for one, b in zip(tables, cell, strict=True):
        made = np.outer(made, one[:, b].astype(object)).reshape(-1)
    return tuple(int(x) for x in made)


@lru_cache(maxsize=256)
def apart(
    basis: str, edges: tuple[tuple[float, ...], ...], terms: int
) -> tuple[tuple[tuple[int, ...], tuple[int, ...]], int, int, tuple[int, ...]]:
    """Return the furthest pair of cells and its squared distance (1), the largest norm (2), squared, and its cell."""
    S = SCALE[len(edges)]
    grams = [one.T @ one for one in (table(basis, each, terms, S) for each in edges)]
    norms = [np.diag(one) for one in grams]
    alone = tuple(int(one.argmax()) for one in norms)
    single = prod(int(one.max()) for one in norms) - S ** (2 * len(edges))
    # pairs of bins (b, c) of each column: N(b), N(c) and K(b, c), flat
    first, *others = [
        (np.repeat(n, len(n)), np.tile(n, len(n)), gram.reshape(-1)) for n, gram in zip(norms, grams, strict=True)
    ]
    rest = [np.ones(1, dtype=np.int64)] * 3
    for each in others:
        rest = [np.outer(a, b).reshape(-1) for a, b in zip(rest, each, strict=True)]
    best, place = -1, (0, 0)
    size, step = len(norms[0]), max(1, AT_ONCE // len(rest[0]))
    # of (b, c) and (c, b) in all columns one is enough
    upper = np.flatnonzero(np.arange(size * size) // size <= np.arange(size * size) % size)
    for start in range(0, len(upper), step):
        some = upper[start : start + step]
        square = sum(np.outer(a[some], b) for a, b in zip(first[:2], rest[:2], strict=True))
        square = square - 2 * np.outer(first[2][some], rest[2])
        at = int(square.argmax())
        if int(square.flat[at]) > best:
            best, place = int(square.flat[at]), (int(some[at // len(rest[0])]), at % len(rest[0]))
    cells = _cells(place, [len(n) for n in norms])
    return cells, best, single, alone


def _cells(place: tuple[int, int], sizes: list[int]) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return two cells from the place of a pair of bins of the first column, and of pairs of bins of the others."""
    found = [divmod(place[0], sizes[0])]
    others = np.unravel_index(place[1], [size * size for size in sizes[1:]]) if len(sizes) > 1 else ()
    found += [divmod(int(one), size) for one, size in zip(others, sizes[1:], strict=True)]
    return tuple(b for b, _ in found), tuple(c for _, c in found)
