"""Coordinates of a table's complete rows, read once and held for all parts of a regression.  INSIDE the wall.

The engine makes the coordinates, as for `crossproduct_sums`; what follows is NumPy's, and adds up the same integers.
Steps are in float64, whose values are whole numbers below 2**52 (`CrossProducts.check`), so that they are exact and
sums of products without a division are BLAS's; divisions by powers of two are exact, and floors therefore too.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.rows.coordinates import H
from tacit.rows.norm_clip import WIDEST, NormClip
from tacit.rows.piecewise_score import FINE, PIECES, WIDTH, L, rises
from tacit.rows.row_map import Aggregate
from tacit.rows.row_products import ClippedResidual, CrossProducts, Product
from tacit.rows.row_weight import STEPS
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.crossproduct_sums import coordinates_of
from tacit.source.engine import Engine

Floats = NDArray[np.float64]
MOST_HELD: Final = 2**30
"""Bytes that are held at most; rows of a larger table are read anew by each part, on the engine."""
LARGEST: Final = 2**14
"""Coordinates up to this size are held, as 16-bit integers."""
BLOCK: Final = 2**13
"""Rows that are worked on together: some tens of columns of so many fit a processor's cache."""


@dataclass(frozen=True)
class HeldRows:
    """rows: number of all rows.  z: coordinates of complete rows, arrays of shape (coordinates, some rows).

    Where rows have weights, these come after the coordinates.
    """

    rows: int
    z: tuple[NDArray[np.int16], ...]

    def crossed(self, question: CrossProducts) -> Aggregate:
        """READS ROWS.  Return what `crossproduct_sums.crossed` returns for a question of the same coordinates."""
        question.check()
        if self.rows > question.most_rows:
            raise ArithmeticError("more rows than the sums are proven for")
        pieces = (one[:, at : at + BLOCK] for one in self.z for at in range(0, one.shape[1], BLOCK))

        def added(z: NDArray[np.int16]) -> NDArray[np.int64]:
            # whole numbers below 2**53 in each block
            return _sums(question, z).astype(np.int64)

        total = np.zeros(len(question.products), dtype=np.int64)
        with ThreadPoolExecutor(os.cpu_count()) as workers:
            try:
                for found in workers.map(added, pieces):
                    total += found
            except BaseException:
                workers.shutdown(cancel_futures=True)
                raise
        return Aggregate(self.rows, (tuple(int(x) for x in total[question.aside :]),))


def held(engine: Engine, question: CrossProducts, where: Predicate | None) -> HeldRows | None:
    """READS ROWS.  Return the coordinates of the question's complete rows; None where they are not to be held.

    So are rows of persons, of engines that hand out no rows, and of tables that are too large.
    """
    if question.unit is not None or max(one.half for one in question.coordinates) > LARGEST:
        return None
    frame = coordinates_of(engine, question, where)
    names = [*(f"z{j}" for j in range(len(question.coordinates))), *(() if question.weight is None else ("a",))]
    # a row that is not complete still counts; its coordinates may be anything, and are made 0
    kept = nw.col("k") == nw.lit(1)
    columns = [nw.when(kept).then(nw.col(name)).otherwise(nw.lit(0)).cast(nw.Int16()).alias(name) for name in names]
    found = engine.batches(frame.select(nw.col("k").cast(nw.Int16()), *columns))
    return None if found is None else _gathered(found, names)


def _gathered(found: Iterator[dict[str, Any]], names: Sequence[str]) -> HeldRows | None:
    """Return the complete rows of batches, or None where they are more than are held."""
    rows, size, z = 0, 0, list[NDArray[np.int16]]()
    for batch in found:
        complete = np.asarray(batch["k"]) == 1
        one = np.stack([np.asarray(batch[name], dtype=np.int16) for name in names])
        one = one if complete.all() else np.ascontiguousarray(one[:, complete])
        rows, size = rows + len(complete), size + one.nbytes
        if size > MOST_HELD:
            return None
        z.append(one)
    return HeldRows(rows, tuple(z))


def _sums(question: CrossProducts, z: NDArray[np.int16]) -> Floats:
    """Return the sum of each product over some rows, z of shape (coordinates, rows)."""
    x, a = z[: len(question.coordinates)].astype(np.float64), None
    psi, sizes = _scores(question, x)
    if question.weight is not None:
        a = z[-1].astype(np.float64)
        psi, sizes = _weighed(psi, a), _weighed(sizes, a)
    factors = x if question.norm is None else clipped(question.norm, x)
    out = np.empty(len(question.products))
    for (power, size, shift, times), places in _alike(question.products).items():
        weight = (sizes if size else psi) ** power if power else np.ones_like(x[0])
        weight = weight if a is None else weight * a**times
        _add(out, question.products, places, factors, weight, shift)
    return out


def _alike(products: Sequence[Product]) -> dict[tuple[int, bool, int, int], list[int]]:
    """Return the indices of products by what their coordinates are multiplied with, and what that is divided by."""
    made = dict[tuple[int, bool, int, int], list[int]]()
    for i, one in enumerate(products):
        made.setdefault((one.power, one.size, one.shift, one.times), []).append(i)
    return made


def _add(
    out: Floats, products: Sequence[Product], places: Sequence[int], factors: Floats, weight: Floats, shift: int
) -> None:
    """Set the sums of weight times coordinates over 2**shift, rounded down, of products at these places."""
    of = {i: products[i].of for i in places}
    weighted = factors * weight
    if shift == 0:
        pairs = weighted @ factors.T if any(len(one) == 2 for one in of.values()) else np.zeros((0, 0))
        alone = weighted.sum(axis=1)
        for i, one in of.items():
            out[i] = pairs[one] if len(one) == 2 else alone[one[0]] if one else weight.sum()
        return
    scale = 2.0**-shift
    for first in {one[0] for one in of.values() if len(one) == 2}:
        some = [i for i, one in of.items() if len(one) == 2 and one[0] == first]
        terms = factors[[of[i][1] for i in some]] * (weighted[first] * scale)
        out[some] = np.floor(terms, out=terms).sum(axis=1)
    for i, one in of.items():
        if len(one) < 2:
            out[i] = np.floor((weighted[one[0]] if one else weight) * scale).sum()


def _scores(question: CrossProducts, x: Floats) -> tuple[Floats, Floats]:
    """Return psi and the sizes of rows, shape (rows,) each; 1 without a score."""
    score = question.score
    if score is None:
        one = np.ones_like(x[0])
        return one, one
    if isinstance(score, ClippedResidual):
        psi = _clamped(_rounded(_combined(score.weights, x), score.shift), -score.clip, score.clip)
        return psi, psi
    place = _clamped(_rounded(_combined(score.weights, x), score.shift), -L, L) + L
    psi = _height(score.slope, place) * (x[-1] + H) - _height(score.middle, place)
    psi = _clamped(_rounded(psi, FINE), -score.clip, score.clip)
    if score.inside:
        return psi, np.where(abs(psi) < score.clip, float(score.clip), 0.0)
    if not score.weight:
        return psi, np.asarray(abs(psi), dtype=np.float64)
    return psi, _clamped(_rounded(_height(score.weight, place), FINE), 0, score.clip)


def clipped(clip: NormClip, x: Floats) -> Floats:
    """Return the norm-clipped vectors of rows, shape (entries, rows), for coordinates of shape (coordinates, rows)."""
    w = np.clip(_rounded(np.array(clip.weights, dtype=np.float64) @ x, clip.shift), -WIDEST, WIDEST)
    squares = np.einsum("ij,ij->j", w, w)
    far = np.flatnonzero(squares > clip.most**2)
    if len(far):
        root = np.floor(np.sqrt(squares[far])) + 1
        # the quotient of whole numbers below 2**52 has the floor of its rounded value
        w[:, far] = np.trunc(w[:, far] * clip.most / root)
        # the last word on the norm, in whole numbers
        some = w[:, far]
        w[:, far[np.einsum("ij,ij->j", some, some) > clip.most**2]] = 0.0
    return w


def _weighed(x: Floats, a: Floats) -> Floats:
    """Return x a / STEPS of whole numbers below 2**52, rounded to the nearest whole number, halves to even ones."""
    # NumPy rounds so itself, and the quotient by a power of two is exact
    return np.rint(x * a * (1.0 / STEPS))


def _combined(weights: Sequence[int], x: Floats) -> Floats:
    return np.array(weights, dtype=np.float64) @ x


def _clamped(x: Floats, low: int, high: int) -> Floats:
    return np.minimum(np.maximum(x, float(low)), float(high))


def _rounded(total: Floats, shift: int) -> Floats:
    """Return floor(total / 2**shift + 1/2) of whole numbers below 2**52: each step is exact."""
    return np.floor((total + 2.0 ** (shift - 1)) * 2.0**-shift)


def _height(polygon: tuple[int, ...], place: Floats) -> Floats:
    """Return the heights of a polygon at whole numbers 0, ..., 2 L."""
    piece = np.minimum(place // WIDTH, PIECES - 1).astype(np.intp)
    ends, slopes = np.array(polygon, dtype=np.float64), np.array(rises(polygon), dtype=np.float64)
    return ends[piece] + slopes[piece] * (place - piece * float(WIDTH))
