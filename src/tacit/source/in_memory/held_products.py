"""Sums of products of the coordinates of rows that are held, in NumPy.  INSIDE the wall.

The integers are those of `CrossProducts.sums`.  Steps are in float64, whose values are whole numbers below 2**52
(`CrossProducts.check`), so that they are exact; divisions by powers of two are exact, and floors therefore too.  Sums
over a block of rows stay below 2**53, so that they are BLAS's, in whatever order it adds.  Vectors that are exact in
float32 are those of `held_vectors`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.coordinates import H
from tacit.rows.norm_clip import WIDEST, NormClip
from tacit.rows.piecewise_score import FINE, PIECES, WIDTH, L, PiecewiseScore, rises
from tacit.rows.row_products import ClippedResidual, CrossProducts, Product
from tacit.rows.row_weight import STEPS
from tacit.source.in_memory.alike_products import AlikeProducts
from tacit.source.in_memory.block_factors import BlockFactors, Weight, step_of
from tacit.source.shared_blocks import Buffers

Floats = NDArray[Any]
Held = NDArray[np.int16]
Ints = NDArray[np.int64]
ROWS: Final = 2**14
"""Rows of a block at most.  Proofs that sums are exact rest on it."""


@dataclass(frozen=True)
class ProductSums:
    """The sums that a question asks for, over blocks of at most ROWS rows."""

    question: CrossProducts

    def over(self, blocks: Iterator[Held]) -> Ints:
        """READS ROWS.  Return the sum of each product over all blocks, each of shape (coordinates, rows).

        Where rows have weights, these come after the coordinates.  Returned are sums of quotients by 2**sum_shift,
        rounded down, and of remainders, shape (2, products).
        """
        buffers, total = Buffers(), np.zeros((2, len(self.question.products)), dtype=np.int64)
        shift = np.array([one.sum_shift for one in self.question.products])
        for z in blocks:
            # whole numbers below 2**53 in each block
            found = self._block(z, buffers).astype(np.int64)
            total += found >> shift, found & (1 << shift) - 1
        return total

    def _block(self, z: Held, buffers: Buffers) -> Floats:
        norm, many = self.question.norm, len(self.question.coordinates)
        x, combined = self._combined(z[:many], buffers)
        psi, sizes = self._scores(z[many - 1], combined, buffers)
        a = None if self.question.weight is None else z[many].astype(np.float64)
        if a is not None and self.question.score is not None:
            psi, sizes = weighed(psi, a), weighed(sizes, a)
        # the last factor is 1, so that sums are products, too
        factors = x if norm is None or combined is None else clipped(norm, combined, wide=self.wide)
        rows = BlockFactors(factors, psi, sizes, a, buffers, self._paired)
        out = np.empty(len(self.question.products))
        for one in self._groups:
            one.add(out, rows)
        return out

    def _combined(self, z: Held, buffers: Buffers) -> tuple[Floats, Floats | None]:
        """Return coordinates and 1, and the rounded sums of `weights` times these, if there are any.

        Where the sums alone are needed, these are in place of coordinates.
        """
        combined = None
        if self.weights is not None:
            combined = buffers.array("combined", (len(self.weights), z.shape[1]))
        if combined is not None and self.own is not None and (z[0] == H).all():
            weight, added = self.own
            np.copyto(combined[:-1], z)
            combined[-1] = combined[-2]
            combined *= weight
            combined += added
            return combined, np.floor(combined, out=combined)
        x = buffers.array("x", (len(z) + 1, z.shape[1]))
        np.copyto(x[:-1], z)
        x[-1] = 1.0
        if combined is not None and self.weights is not None:
            _combine(self.weights, x, combined)
            np.floor(combined, out=combined)
        return x, combined

    @cached_property
    def _groups(self) -> tuple[AlikeProducts, ...]:
        norm, score = self.question.norm, self.question.score
        entries, entry = (len(self.question.coordinates), H) if norm is None else (len(norm.weights), norm.most)
        return _grouped(self.question.products, entries, entry, score.clip if score else 1)

    @cached_property
    def _paired(self) -> frozenset[Weight]:
        """Weights of which products of pairs are added up."""
        return frozenset(one.weight for one in self._groups if one.square and one.whole)

    @cached_property
    def wide(self) -> bool:
        """Whether an entry of the vector may be beyond WIDEST: found once, not for each block."""
        norm, reach = self.question.norm, max(one.half for one in self.question.coordinates)
        return norm is not None and max(sum(map(abs, one)) for one in norm.weights) * reach >= WIDEST << norm.shift

    @cached_property
    def weights(self) -> Floats | None:
        """Weights of coordinates and of 1, one row for each sum of them: those of the norm's entries, then the score's.

        The floors of these sums are the rounded quotients: weights are divided by 2**shift, and 1 has the weight 1/2.
        So every summand is a multiple of 2**-shift whose size times 2**shift is below 2**53 (`check` of both), sums of
        some of them too, and all are exact.  The score's row becomes the last factor; there are two rows at least, for
        a product of matrices.
        """
        score, norm = self.question.score, self.question.norm
        if score is None and norm is None:
            return None
        none = (0,) * len(self.question.coordinates)
        rows = norm.weights if norm else (none,)
        shifts = [norm.shift if norm else 1] * len(rows) + [score.shift if score else 1]
        found = np.array([*rows, score.weights if score else none], dtype=np.float64)
        found *= 0.5 ** np.array(shifts, dtype=np.float64)[:, None]
        return np.concatenate([found, np.full((len(found), 1), 0.5)], axis=1)

    @cached_property
    def own(self) -> tuple[Floats, Floats] | None:
        """Return `weights` where each entry is of its own coordinate and of the constant z_0 = H alone, else None.

        So is every vector that is standardised without being turned.  The score is of the last coordinate then.
        Returned are the coordinate's weight and what is added, each of shape (sums, 1).
        """
        weights, norm = self.weights, self.question.norm
        if weights is None or norm is None or len(norm.weights) != len(self.question.coordinates):
            return None
        entry = np.arange(len(weights))
        place, others = np.minimum(entry, len(entry) - 2), weights.copy()
        others[entry, place] = 0.0
        if others[:, 1:-1].any():
            return None
        return weights[entry, place][:, None], (others[:, 0] * H + others[:, -1])[:, None]

    def _scores(self, response: Held, combined: Floats | None, buffers: Buffers) -> tuple[Floats, Floats]:
        """Return psi and the sizes of rows, shape (rows,) each; 1 without a score."""
        score, psi = self.question.score, buffers.array("psi", response.shape)
        if score is None or combined is None:
            psi.fill(1.0)
            return psi, psi
        np.copyto(psi, combined[-1])
        if isinstance(score, ClippedResidual):
            np.clip(psi, -score.clip, score.clip, out=psi)
            return psi, psi
        np.clip(psi, -L, L, out=psi)
        psi += L
        place = psi.astype(np.intp)
        slope, middle, *weight = self._heights
        np.multiply(slope[place], response + float(H), out=psi)
        psi -= middle[place]
        _round(psi, FINE)
        np.clip(psi, -score.clip, score.clip, out=psi)
        if score.inside:
            return psi, np.where(np.abs(psi) < score.clip, float(score.clip), 0.0)
        return psi, weight[0][place] if weight else np.abs(psi)

    @cached_property
    def _heights(self) -> list[Floats]:
        """Heights of the polygons at every place of the predictor's grid; of the weight, what is made of them."""
        score = self.question.score
        assert isinstance(score, PiecewiseScore)
        found = [_height(one) for one in score.polygons]
        for weight in found[2:]:
            _round(weight, FINE)
            np.clip(weight, 0, score.clip, out=weight)
        return found


@lru_cache(maxsize=16)
def _grouped(products: tuple[Product, ...], entries: int, entry: int, clip: int) -> tuple[AlikeProducts, ...]:
    """Return products that are alike together; entry: the largest, of so many entries; clip: largest |psi|."""
    found = dict[tuple[int, bool, int, int, int], list[int]]()
    for i, one in enumerate(products):
        found.setdefault((one.power, one.size, one.shift, one.times, one.plus), []).append(i)
    made = list[AlikeProducts]()
    for (power, size, shift, times, plus), places in found.items():
        most = entry * clip**power * STEPS**times
        low = most < 2**31 and most * entry * ROWS <= 2**53 and ROWS << shift <= 2**32
        alike = power, size, shift, times, plus
        made.append(AlikeProducts.of(products, places, entries, alike, low and not plus, clip))
    return tuple(made)


def clipped(clip: NormClip, combined: Floats, *, wide: bool = True) -> Floats:
    """Return the norm-clipped vectors of rows, and 1, shape (entries + 1, rows), in place.

    combined: the rounded sums of weights times coordinates for each entry, and one row of anything.  wide: whether a
    sum may be beyond WIDEST.
    """
    w = combined[:-1]
    if wide:
        np.clip(w, -WIDEST, WIDEST, out=w)
    far = np.flatnonzero(np.einsum("ij,ij->j", w, w) > clip.most**2)
    if len(far):
        w[:, far] = shortened(clip, np.take(w, far, axis=1).astype(np.float64))
    combined[-1] = 1.0
    return combined


def shortened(clip: NormClip, w: Floats) -> Floats:
    """Return vectors in float64, shape (entries, rows), whose norm is beyond `clip.most`, shortened to it."""
    root = np.floor(np.sqrt(np.einsum("ij,ij->j", w, w))) + 1
    # the quotient of whole numbers below 2**52 has the floor of its rounded value
    w = np.trunc(w * clip.most / root)
    # the last word on the norm, in whole numbers
    w[:, np.einsum("ij,ij->j", w, w) > clip.most**2] = 0.0
    return w


def weighed(x: Floats, a: Floats) -> Floats:
    """Return x a / STEPS of whole numbers below 2**52, rounded to the nearest whole number, halves to even ones."""
    # NumPy rounds so itself, and the quotient by a power of two is exact
    return np.rint(x * a * (1.0 / STEPS))


def _combine(weights: Floats, x: Floats, out: Floats) -> None:
    """Set weights times x, some rows at a time."""
    step = step_of(weights.size, x.shape[1])
    for at in range(0, x.shape[1], step):
        np.matmul(weights, x[:, at : at + step], out=out[:, at : at + step])


def _round(total: Floats, shift: int) -> None:
    """Set floor(total / 2**shift + 1/2) of whole numbers below 2**52: each step is exact."""
    total += 2.0 ** (shift - 1)
    total *= 2.0**-shift
    np.floor(total, out=total)


def _height(polygon: tuple[int, ...]) -> Floats:
    """Return the heights of a polygon at the whole numbers 0, ..., 2 L."""
    place = np.arange(2 * L + 1)
    # 2 L is the end of the last piece, not the start of another
    piece = np.minimum(place // WIDTH, PIECES - 1)
    ends, slopes = np.array(polygon, dtype=np.float64), np.array(rises(polygon), dtype=np.float64)
    return ends[piece] + slopes[piece] * (place - piece * WIDTH)
