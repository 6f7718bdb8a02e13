"""What a row adds to the values of a risk on a lattice, in integers, with its sensitivity.  No data here.

Definition
    Coefficients c_j, j = 1, ..., m = (k + 1)^p, are the public points of a lattice on the box.  A present row is in one
    public cell b, of bins of the regressors and a level or bin of the outcome, whose values are x_b and y_b.  With
    l_j(b) the loss of (c_j, x_b, y_b), and mid_j the middle between its least and its largest value over all cells, the
    row adds the integers
        a_j(b) = round(S (l_j(b) - mid_j)),    S = G / max_j max_b |l_j(b) - mid_j|,
    and the public integer q where presence is released.  A row that is left out adds nothing.  Taking off mid_j, which
    is public, changes nothing between two present rows, and halves what a row can add.
Sensitivity
    D1 = max |a(b) - a(c)|_1 and D2 = max |a(b) - a(c)|_2^2 over all pairs of cells, and A1, A2 the same beside 0: each
    found by trying all (`apart`), in integers.
    Replace-one, all rows present and public in number: D1 and D2, attained.
    Replace-one otherwise, persons included: also a row beside none: max(D1, A1 + q), max(D2, A2 + q^2), attained.
    Add-remove: A1 + q, A2 + q^2, attained.
    q is public: a quarter of A1 (half the root of A2 for normal noise), and under replace-one the largest number for
    which presence costs nothing, D1 - A1 (the root of D2 - A2), where that is more.
    Persons: their weights, parts of `share`, add up to at most it over all cells.  What a person adds is `share` times
    a point of the convex hull of 0 and all vectors of cells, and two points of a hull are in any norm no further apart
    than two of its corners.  l1 is multiplied by `share`, l2^2 by its square.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from math import isqrt
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.method.risk_function.linear_losses import loss_of
from tacit.method.risk_function.risk_cells import cells
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.weighted_encoding import SHARE
from tacit.release.parts import Variable

G: Final = 2**12
"""Largest integer that a row adds to a value."""


@dataclass(frozen=True)
class RiskTable:
    """Losses of every cell at every lattice point.

    points: coefficients, shape (m, p).  middles: mid_j, shape (m,).  unit: S.  integers: a_j(b), shape (m, cells).
    """

    points: Array
    middles: Array
    unit: float
    integers: NDArray[np.int64]


@dataclass(frozen=True)
class RiskEncoding(Encoding):
    """An encoding whose integers are a risk on a lattice; presence, the last, where it is released."""

    furthest: tuple[int, int | None] = (0, None)
    """The two cells whose rows are furthest apart in the norm of the noise; None: no cell."""
    corner: tuple[int, ...] = ()
    """The change between them."""

    def row(self, v: int, weight: int | None = None) -> tuple[int, ...]:
        """Return the largest change for v = G, zeros for v = 0; weight: of a person's part."""
        whole = 1 if weight is None else weight
        return tuple(x * whole * v // self.parameters["G"] for x in self.corner)


@lru_cache(maxsize=32)
def table(loss: str, box: float, degree: int, variables: tuple[Variable, ...]) -> RiskTable:
    """Return the table of a risk, the outcome being the first of the columns."""
    x, y = cells(variables)
    axis = np.linspace(-box, box, degree + 1)
    points = np.stack([one.reshape(-1) for one in np.meshgrid(*[axis] * x.shape[1], indexing="ij")], axis=1)
    losses = loss_of(loss, points @ x.T, y[None, :])
    middles = (losses.max(axis=1) + losses.min(axis=1)) / 2
    unit = G / float(np.abs(losses - middles[:, None]).max())
    integers = np.rint(unit * (losses - middles[:, None])).astype(np.int64)
    integers.setflags(write=False)
    return RiskTable(points, middles, unit, integers)


@dataclass(frozen=True)
class Apart:
    """D1, D2, A1 and A2, each with the cells where it is attained."""

    d1: tuple[int, int, int]
    d2: tuple[int, int, int]
    a1: tuple[int, int]
    a2: tuple[int, int]


def apart(integers: NDArray[np.int64]) -> Apart:
    """Return the largest distances of two cells, and of a cell and none; integers: shape (m, cells)."""
    rows = np.ascontiguousarray(integers.T.astype(np.int32))
    first = second = (-1, 0, 0)
    for b in range(len(rows)):
        far = np.abs(rows[b:] - rows[b])
        l1 = far.sum(axis=1, dtype=np.int64)
        l2 = np.einsum("ij,ij->i", far, far, dtype=np.int64)
        i, j = int(l1.argmax()), int(l2.argmax())
        # of several pairs the first
        first = max(first, (int(l1[i]), b, b + i), key=lambda one: one[0])
        second = max(second, (int(l2[j]), b, b + j), key=lambda one: one[0])
    alone, squares = np.abs(integers).sum(axis=0), (integers**2).sum(axis=0)
    i, j = int(alone.argmax()), int(squares.argmax())
    return Apart(first, second, (int(alone[i]), i), (int(squares[j]), j))


@lru_cache(maxsize=64)
def risk(
    loss: str, box: float, degree: int, variables: tuple[Variable, ...], neighbors: str, noise: str, leaves: bool
) -> RiskEncoding:
    """Return the encoding of a risk without persons.  leaves: whether a row can be left out of a public number."""
    integers = table(loss, box, degree, variables).integers
    found = _apart(loss, box, degree, variables)
    l1, l2_squared, laplace = found.d1[0], found.d2[0], noise == "laplace"
    presence, furthest = 0, (found.d1 if laplace else found.d2)[1:]
    if leaves or neighbors != "replace-one":
        free = found.d1[0] - found.a1[0] if laplace else isqrt(max(found.d2[0] - found.a2[0], 0))
        small = max(1, found.a1[0] // 4 if laplace else isqrt(found.a2[0]) // 2)
        presence = max(free, small) if neighbors == "replace-one" else small
        alone = (found.a1[0] + presence, found.a2[0] + presence**2)
        if neighbors != "replace-one":
            l1, l2_squared = alone
            furthest = (found.a1 if laplace else found.a2)[1], None
        else:
            if (alone[0] > l1) if laplace else (alone[1] > l2_squared):
                furthest = (found.a1 if laplace else found.a2)[1], None
            l1, l2_squared = max(l1, alone[0]), max(l2_squared, alone[1])
    one, other = furthest
    change = integers[:, one] - (0 if other is None else integers[:, other])
    last = [presence if other is None else 0] if presence else []
    corner = (*map(int, change), *last)
    parameters = {"G": G, "degree": degree, "presence": presence}
    return RiskEncoding(
        "risk", parameters, (), tuple((1,) for _ in corner), l1, l2_squared, furthest=furthest, corner=corner
    )


def of_persons(form: RiskEncoding) -> RiskEncoding:
    """Return the encoding of persons, whose weights are parts of SHARE; presence must be among its integers."""
    assert form.parameters["presence"]
    more = {**form.parameters, "share": SHARE}
    return replace(form, parameters=more, l1=SHARE * form.l1, l2_squared=SHARE**2 * form.l2_squared)


@lru_cache(maxsize=32)
def _apart(loss: str, box: float, degree: int, variables: tuple[Variable, ...]) -> Apart:
    return apart(table(loss, box, degree, variables).integers)
