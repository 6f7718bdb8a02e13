"""What a row adds to the lattice values of a distribution function, in integers, with its sensitivity.  No data here.

Definition
    The column's support is [0, 1], cut into public bins, in b of which a present row is.  At the lattice value j / k
    the row adds the integer
        a_j(b) = round(S times the share of bin b that is below j / k),    j = 1, ..., k - 1:
    0 or S where lattice values are edges of bins (real columns: S = 1); a ramp where a bin, one whole number or day, is
    wider than the lattice or lies across a value of it.  a_k(b) = S is released where presence is; a_0(b) = 0 never.
    A row that is left out adds nothing.
Sensitivity
    a_j(b) falls in b and rises in j, and is from 0 to S.  For bins b <= c
        |a(b) - a(c)|_1 = sum_j a_j(b) - a_j(c) <= sum_j a_j(0) - a_j(last),
    and term by term for squares: the pair of the first and the last bin is furthest apart in both norms, attained.
    `apart` compares all pairs in integers nevertheless.  S = 1: l1 = l2^2 = k - 1.
    Replace-one: the pair; where rows can be left out also a row of the first bin beside none, which is S in j = k
    further.  Add-remove: a row of the first bin, S in j = k included.  S = 1: l1 = l2^2 = k.
    [The source's bound is k + 1, the supremum of the function's change times the number of all lattice values.]
    Persons: the weights w_b of a person's rows are parts of `share` that add up to at most it.  What the person adds is
    `share` times a point of the convex hull of all a(b) and 0, and the distance of two points of a hull is in any norm
    at most the largest of its corners.  Where presence is released, 0 is one of the corners above: l1 is multiplied by
    `share`, l2^2 by its square.  Where it is not, every row of a person is in a bin, and each of the B weights is
    rounded down (`rows.row_map.PersonWeight`), so that they lose less than B together: share - (B - 1) <= sum w_b <=
    share.  As a_j(b) falls in b,
        (share - (B - 1)) a_j(last) <= sum_b w_b a_j(b) <= share a_j(0),
    and two persons differ in j by at most share (a_j(0) - a_j(last)) + (B - 1) a_j(last).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.method.shared.encoding import Encoding
from tacit.method.shared.weighted_encoding import FINE as OF_PERSON
from tacit.method.shared.weighted_encoding import SHARE

FINE: Final = 2**10
"""S of whole numbers and days."""
Ints = NDArray[np.int64]


@dataclass(frozen=True)
class LatticeEncoding(Encoding):
    """An encoding whose integers are a distribution function on a lattice; presence, the last, where it is released."""

    corner: tuple[int, ...] = ()
    """The largest change by one row."""

    def row(self, v: int, weight: int | None = None) -> tuple[int, ...]:
        """Return the largest change for v = G, zeros for v = 0; weight: of a person's part."""
        whole = 1 if weight is None else weight
        return tuple(x * whole * v // self.parameters["G"] for x in self.corner)


def lattice(
    edges: tuple[float, ...], degree: int, S: int, neighbors: str, *, leaves: bool, persons: bool, former: bool = False
) -> LatticeEncoding:
    """Return the encoding of a distribution function.

    edges: of the bins, from 0 to 1.  leaves: whether a row can be left out although their number is public.
    former: with `share` as it was until version 0.2, SHARE.
    """
    values = steps(edges, degree, S)
    presence = int(leaves or neighbors != "replace-one")
    two, alone = apart(edges, degree, S)
    if presence:
        l1, l2_squared = alone[0] + S, alone[1] + S**2
        corner = (*map(int, values[:, 0]), S)
    else:
        l1, l2_squared = two
        corner = tuple(map(int, values[:, 0] - values[:, -1]))
    parameters = {"G": S, "degree": degree, "presence": presence}
    if persons:
        share = parameters["share"] = SHARE if former else parts(S)
        l1, l2_squared = (share * l1, share**2 * l2_squared) if presence else _of_persons(values, share)
    return LatticeEncoding("lattice", parameters, (), tuple((1,) for _ in corner), l1, l2_squared, corner=corner)


def parts(S: int) -> int:
    """Return `share`: divisible by 1 to 16, or to 12, so that floors of a person's weights take next to nothing.

    Of a larger S fewer, so that scales of noise at small prices stay within their bounds.
    """
    return OF_PERSON if S == 1 else 27_720


def _of_persons(values: Ints, share: int) -> tuple[int, int]:
    """Return the largest distance of two persons, whose weights are rounded down, in l1 and squared l2."""
    first, last = values[:, 0].astype(object), values[:, -1].astype(object)
    far = share * (first - last) + (values.shape[1] - 1) * last
    return int(far.sum()), int((far**2).sum())


@lru_cache(maxsize=128)
def steps(edges: tuple[float, ...], degree: int, S: int) -> Ints:
    """Return a_j(b), j from 1 to k - 1, shape (k - 1, bins).

    >>> steps((0.0, 0.25, 0.5, 0.75, 1.0), 4, 1).tolist()
    [[1, 0, 0, 0], [1, 1, 0, 0], [1, 1, 1, 0]]
    """
    ends, places = np.array(edges), np.arange(1, degree) / degree
    below = (places[:, None] - ends[None, :-1]) / np.diff(ends)
    return np.rint(S * np.clip(below, 0.0, 1.0)).astype(np.int64)


@lru_cache(maxsize=128)
def apart(edges: tuple[float, ...], degree: int, S: int) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return the largest distance of two bins in l1 and squared l2, and that of a bin and none, presence left out."""
    values = steps(edges, degree, S)
    first = second = 0
    for b in range(values.shape[1]):
        far = np.abs(values[:, b:] - values[:, [b]])
        first, second = max(first, int(far.sum(axis=0).max())), max(second, int((far**2).sum(axis=0).max()))
    return (first, second), (int(values.sum(axis=0).max()), int((values**2).sum(axis=0).max()))
