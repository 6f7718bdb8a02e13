"""Sums of products of the norm-clipped vectors of rows that are held, in float32: linear models.  INSIDE the wall.

The integers are those of `held_products`.  Whole numbers below 2**24 are exact in float32, of which NumPy computes
twice as many at a time: vectors w and residuals psi where public weights prove it (`_short`).  Sums of products w_i w_j
over some rows are BLAS's in float32 where each sum of squares of an entry is found to be below 2**24.
Then they are exact: sums of |w_i w_j| are below 2**24, too (Cauchy and Schwarz), and so is every sum of some of the
products, whose order is BLAS's.  A sum of squares that is not below is found so: rounding keeps order, and 2**24 is
exact.  Where one is not below, products are added up in float64, and so are those of psi w.

Vectors that are to be shortened, a few rows of a table, are set aside and shortened together.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from math import isqrt
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.coordinates import SHORT, H
from tacit.rows.norm_clip import WIDEST
from tacit.rows.piecewise_score import PiecewiseScore
from tacit.rows.row_products import CrossProducts, Product
from tacit.source.in_memory.block_factors import matrix, step_of
from tacit.source.in_memory.held_products import ROWS, Held, ProductSums, shortened
from tacit.source.shared_blocks import Buffers

Floats = NDArray[Any]
Ints = NDArray[np.int64]
SPAN: Final = 2**8
"""Rows of a sum in float32 at most.  Entries have a mean square of about C**2 over twice their number."""
LEAST: Final = 2**5
"""Rows of a sum in float32 at least: of fewer, float64 is as fast."""
FEW: Final = 3
"""Numbers that are told by counting rows, not by adding up, less one."""


@dataclass(frozen=True)
class VectorSums:
    """The sums of products of psi**half times the entries of vectors, over blocks of at most ROWS rows.

    plain: the same sums in float64, of which the weights are taken.
    """

    plain: ProductSums
    half: int

    @classmethod
    def of(cls, question: CrossProducts) -> VectorSums | None:
        """Return the sums of a question, or None where it asks for others."""
        if not _short(question):
            return None
        # squares of entries that are counted where they are large are of no matrix
        summed = [one for one in question.products if not _counts(one, question)]
        powers = {len(one.of): one.power for one in summed}
        half = powers[2] // 2 if 2 in powers else powers.get(1, 0)
        alike = all(one.shift == 0 and one.power == half * len(one.of) for one in summed if one.of)
        return cls(ProductSums(question), half) if alike and half < 2 and {1, 2} & set(powers) else None

    def over(self, blocks: Iterator[Held]) -> Ints:
        """READS ROWS.  Return what `ProductSums.over` returns."""
        adding = _Adding(self)
        for z in blocks:
            adding.add(z)
        return adding.all()

    @cached_property
    def places(self) -> tuple[Ints, Ints, Ints]:
        """Indices of products that are sums of products of two factors, and the places of these in their matrix.

        Factors are the entries, with half = 1 psi, and 1, which has no row of its own.
        """
        assert self.plain.question.norm is not None
        m, found = len(self.plain.question.norm.weights), list[tuple[int, int, int]]()
        for i, one in enumerate(self.plain.question.products):
            if _counts(one, self.plain.question):
                continue
            if one.of:
                second = one.of[1] if len(one.of) == 2 else m + self.half
                found.append((i, one.of[0], second))
            elif self.half and one.power == 2 and not one.shift:
                found.append((i, m, m))
        places, first, second = np.array(found, dtype=np.int64).T
        return places, first, second

    @cached_property
    def of_psi(self) -> list[tuple[int, Product]]:
        """The other products, of psi alone, with their indices."""
        there = {*self.places[0].tolist(), *(i for i, _, _ in self.counted)}
        return [(i, one) for i, one in enumerate(self.plain.question.products) if i not in there]

    @cached_property
    def counted(self) -> list[tuple[int, int, int]]:
        """Indices of numbers of rows of which an entry is far out, the entry, and the least size that is."""
        question = self.plain.question
        return [
            (i, one.of[0], isqrt(2**one.shift - one.plus - 1) + 1)
            for i, one in enumerate(question.products)
            if _counts(one, question)
        ]

    @cached_property
    def weights(self) -> Floats:
        """The weights of `plain` in float32, in which they are exact."""
        assert self.plain.weights is not None
        return self.plain.weights.astype(np.float32)

    @cached_property
    def own(self) -> tuple[Floats, Floats] | None:
        """Those of a vector that is not turned."""
        found = self.plain.own
        return None if found is None else (found[0].astype(np.float32), found[1].astype(np.float32))

    @cached_property
    def shifts(self) -> Ints:
        """By which powers of two sums are divided."""
        return np.array([one.sum_shift for one in self.plain.question.products])


class _Adding:
    """Sums of the blocks that one thread was given."""

    def __init__(self, asked: VectorSums) -> None:
        self._asked, self._buffers, self._span = asked, Buffers(), SPAN
        self._total = np.zeros((2, len(asked.shifts)), dtype=np.int64)
        self._aside, self._many = list[tuple[Floats, Floats]](), 0
        score, norm = asked.plain.question.score, asked.plain.question.norm
        assert norm is not None
        # without a score no power of psi is asked for, and psi is 0
        self._norm, self._clip = norm, score.clip if score else 0

    def add(self, z: Held) -> None:
        """READS ROWS.  Add a block of at most ROWS rows."""
        asked, w = self._asked, self._vectors(z)
        psi = self._buffers.array("psi", (z.shape[1],), np.float32)
        np.clip(w[-1], -self._clip, self._clip, out=psi)
        if asked.plain.wide:
            np.clip(w[:-1], -WIDEST, WIDEST, out=w[:-1])
        # in float32 exact up to 2**24, and beyond far above the square of C, as sums of numbers that are not negative
        far = np.flatnonzero(np.einsum("ij,ij->j", w[:-1], w[:-1]) > self._norm.most**2)
        if len(far):
            if self._many + len(far) > ROWS:
                self._shorten()
            self._aside.append((w[:-1, far], psi[far]))
            self._many += len(far)
            w[:-1, far] = 0.0
        w[-1] = 1.0
        found = np.empty(len(asked.shifts))
        for i, one in asked.of_psi:
            found[i] = self._sum_of_psi(one, psi)
        self._far_along(w, found)
        at, first, second = asked.places
        found[at] = (self._weighted(w, psi) if asked.half else self._products(w))[first, second]
        self._count(found)

    def _vectors(self, z: Held) -> Floats:
        """Return the entries of vectors before these are shortened, and the residual, shape (entries + 1, rows)."""
        weights, own = self._asked.weights, self._asked.own
        w = self._buffers.array("vectors", (len(weights), z.shape[1]), np.float32)
        if own is not None and (z[0] == H).all():
            weight, added = own
            np.copyto(w[:-1], z)
            w[-1] = w[-2]
            w *= weight
            w += added
        else:
            step = step_of(weights.size, z.shape[1])
            # coordinates and 1, of so few rows that they lie in a processor's cache beside the vectors
            x = self._close("coordinates", len(z) + 1, step, np.float32)
            x[-1] = 1.0
            for at in range(0, z.shape[1], step):
                some = x[:, : min(step, z.shape[1] - at)]
                np.copyto(some[:-1], z[:, at : at + step])
                np.matmul(weights, some, out=w[:, at : at + step])
        return np.floor(w, out=w)

    def all(self) -> Ints:
        """Return the sums of all blocks."""
        self._shorten()
        return self._total

    def _count(self, found: Floats) -> None:
        """Add sums over at most ROWS rows: whole numbers below 2**53."""
        whole, shifts = found.astype(np.int64), self._asked.shifts
        self._total[0] += whole >> shifts
        self._total[1] += whole & (1 << shifts) - 1

    def _shorten(self) -> None:
        """Add the rows that were set aside."""
        if not self._aside:
            return
        w, psi = (np.concatenate(some, axis=-1, dtype=np.float64) for some in zip(*self._aside, strict=True))
        self._aside, self._many = [], 0
        w, found = shortened(self._norm, w), np.zeros(len(self._asked.shifts))
        self._far_along(w, found)
        w = w * psi**self._asked.half
        at, first, second = self._asked.places
        # psi of these rows was added with their block
        sums = np.zeros((len(w) + self._asked.half, len(w) + self._asked.half + 1))
        sums[: len(w), : len(w)], sums[: len(w), -1] = matrix(w, w), w.sum(axis=1)
        found[at] = sums[first, second]
        self._count(found)

    def _products(self, w: Floats) -> Floats:
        """Return the sums of products of entries, and of 1, whose row is the last."""
        span, whole = self._span, w.shape[1] // self._span * self._span
        if span < LEAST or not whole:
            return self._weighted(w, None)
        spans = w[:, :whole].reshape(len(w), -1, span).transpose(1, 0, 2)
        # of two shapes: a product with itself takes BLAS longer where vectors are short
        found = np.matmul(spans[:, :-1], spans.transpose(0, 2, 1))
        # the diagonal of each
        squares = found.reshape(len(found), -1)[:, :: len(w) + 1].max(axis=1)
        total = np.zeros(found.shape[1:])
        if not squares.max() < SHORT:
            many = np.flatnonzero(squares >= SHORT)
            found[many] = 0.0
            for i in many:
                some = spans[i].astype(np.float64)
                total += some[:-1] @ some.T
            if 4 * len(many) > len(spans):
                self._span //= 2
        total += np.add.reduce(found, axis=0, dtype=np.float64)
        return total if whole == w.shape[1] else total + self._weighted(w[:, whole:], None)

    def _weighted(self, w: Floats, psi: Floats | None) -> Floats:
        """Return the sums of products of psi times entries, and of 1, in float64; of psi and 1, too, where it is given.

        psi, where given, comes after the entries.
        """
        m, rows, more = len(w) - 1, w.shape[1], int(psi is not None)
        step, total = step_of((m + more) * (m + 1 + more), rows), np.zeros((m + more, m + 1 + more))
        short = self._close("short", m, step, np.float32)
        made = self._close("made", m + 1 + more, step, np.float64)
        made[-1] = 1.0
        for at in range(0, rows, step):
            some, one = w[:-1, at : at + step], made[:, : min(step, rows - at)]
            if psi is not None:
                one[m] = psi[at : at + step]
                some = np.multiply(some, psi[at : at + step], out=short[:, : some.shape[1]])
            np.copyto(one[:m], some)
            total += one[:-1] @ one.T
        return total

    def _close(self, name: str, many: int, rows: int, dtype: Any) -> Floats:
        """Return an array of `many` times so many rows without gaps between them."""
        return self._buffers.array(name, (many * rows,), dtype).reshape(many, rows)

    def _far_along(self, w: Floats, found: Floats) -> None:
        """Set the numbers of rows of which an entry is far out, of rows within the norm."""
        for i, j, least in self._asked.counted:
            found[i] = np.count_nonzero(w[j] >= least) + np.count_nonzero(w[j] <= -least)

    def _sum_of_psi(self, one: Product, psi: Floats) -> float:
        """Return the sum of floor((psi**power + plus) / 2**shift)."""
        if one.power == 1 and one.shift:
            least, most = ((one.plus + end) >> one.shift for end in (-self._clip, self._clip))
            if most - least <= FEW:
                above = (np.count_nonzero(psi >= (at << one.shift) - one.plus) for at in range(least + 1, most + 1))
                return float(least * len(psi) + sum(above))
        x = psi.astype(np.float64)
        return float(np.floor((x**one.power + one.plus) * 2.0**-one.shift).sum())


def _counts(one: Product, question: CrossProducts) -> bool:
    """Whether a product is floor((w_j**2 + plus) / 2**shift), 1 where the entry w_j is large, and else 0."""
    norm = question.norm
    if norm is None or len(set(one.of)) != 1 or len(one.of) != 2 or one.power or one.times or one.sum_shift:
        return False
    return one.shift > 0 and one.plus >> one.shift == 0 and (norm.most**2 + one.plus) >> one.shift <= 1


def _short(question: CrossProducts) -> bool:
    """Whether vectors and residuals, the sums they are rounded from, and psi times an entry are exact in float32."""
    norm, score = question.norm, question.score
    if norm is None or isinstance(score, PiecewiseScore) or question.weight is not None:
        return False
    if score is None and any(one.power for one in question.products):
        return False
    reach = max(one.half for one in question.coordinates)
    sums = [(one, norm.shift) for one in norm.weights] + ([] if score is None else [(score.weights, score.shift)])
    # every summand times 2**shift is a whole number, and so are all sums of some of them
    most = max(sum(map(abs, one)) * reach + 2 ** (shift - 1) for one, shift in sums)
    return most < SHORT and norm.most * max(norm.most, score.clip if score else 1) < SHORT
