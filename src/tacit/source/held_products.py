"""Sums of products of the coordinates of rows that are held, in NumPy.  INSIDE the wall.

The integers are those of `CrossProducts.sums`.  Steps are in float64, whose values are whole numbers below 2**52
(`CrossProducts.check`), so that they are exact; divisions by powers of two are exact, and floors therefore too.  Sums
over a block of rows stay below 2**53, so that they are BLAS's, in whatever order it adds.

Of products a that are divided, floor(a / 2**s) = (a - a mod 2**s) / 2**s.  Sums of a are BLAS's again; a mod 2**s is
the lowest s bits of a, for which the lowest 32 bits of the factors suffice: products of 32-bit integers that wrap.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.rows.coordinates import H
from tacit.rows.norm_clip import WIDEST, NormClip
from tacit.rows.piecewise_score import FINE, PIECES, WIDTH, L, PiecewiseScore, rises
from tacit.rows.row_products import ClippedResidual, CrossProducts, Product
from tacit.rows.row_weight import STEPS
from tacit.source.shared_blocks import BLOCK, Buffers

Floats = NDArray[np.float64]
Held = NDArray[np.int16]
Ints = NDArray[np.int64]
ALONE: Final = 2**19
"""Multiplications of a product of matrices that BLAS does not share among threads of its own: these would wait for each
other, and for those of `shared_blocks`, at every block."""


@dataclass(frozen=True)
class ProductSums:
    """The sums that a question asks for, over blocks of at most BLOCK rows."""

    question: CrossProducts

    def over(self, blocks: Iterator[Held]) -> Ints:
        """READS ROWS.  Return the sum of each product over all blocks, each of shape (coordinates, rows).

        Where rows have weights, these come after the coordinates.
        """
        buffers, total = Buffers(), np.zeros(len(self.question.products), dtype=np.int64)
        for z in blocks:
            # whole numbers below 2**53 in each block
            total += self._block(z, buffers).astype(np.int64)
        return total

    def _block(self, z: Held, buffers: Buffers) -> Floats:
        norm, count, many = self.question.norm, z.shape[1], len(self.question.coordinates)
        x = buffers.array("x", (many + 1, count))
        np.copyto(x[:-1], z[:many])
        x[-1] = 1.0
        combined = None
        if self._weights is not None:
            combined = buffers.array("combined", (len(self._weights), count))
            _combine(self._weights, x, combined)
            np.floor(combined, out=combined)
        psi, sizes = self._scores(x[-2], combined, buffers)
        a = None if self.question.weight is None else z[many].astype(np.float64)
        if a is not None and self.question.score is not None:
            psi, sizes = weighed(psi, a), weighed(sizes, a)
        # the last factor is 1, so that sums are products, too
        factors = x if norm is None or combined is None else clipped(norm, combined, wide=self._wide)
        out = np.empty(len(self.question.products))
        powers = dict[tuple[bool, int], Floats]()
        for one in self._groups:
            weight = _power(powers, sizes if one.size else psi, one) if one.power else None
            if a is not None and one.times:
                weight = a**one.times if weight is None else weight * a**one.times
            one.add(out, factors, weight, buffers)
        return out

    @cached_property
    def _groups(self) -> list[AlikeProducts]:
        norm, score = self.question.norm, self.question.score
        entries, entry = (len(self.question.coordinates), H) if norm is None else (len(norm.weights), norm.most)
        found = dict[tuple[int, bool, int, int, int], list[int]]()
        for i, one in enumerate(self.question.products):
            found.setdefault((one.power, one.size, one.shift, one.times, one.plus), []).append(i)
        made = list[AlikeProducts]()
        for (power, size, shift, times, plus), places in found.items():
            most = entry * (score.clip if score else 1) ** power * STEPS**times
            low = most < 2**31 and most * entry * BLOCK <= 2**53 and BLOCK << shift <= 2**32
            low = low and not plus
            alike = power, size, shift, times, plus
            made.append(AlikeProducts.of(self.question.products, places, entries, alike, low))
        return made

    @cached_property
    def _wide(self) -> bool:
        """Whether an entry of the vector may be beyond WIDEST: found once, not for each block."""
        norm, reach = self.question.norm, max(one.half for one in self.question.coordinates)
        return norm is not None and max(sum(map(abs, one)) for one in norm.weights) * reach >= WIDEST << norm.shift

    @cached_property
    def _weights(self) -> Floats | None:
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

    def _scores(self, response: Floats, combined: Floats | None, buffers: Buffers) -> tuple[Floats, Floats]:
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
        np.multiply(slope[place], response + H, out=psi)
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


@dataclass(frozen=True)
class AlikeProducts:
    """Products with the same powers of the score and of the row's weight (`times`), and the same divisor 2**shift,
    before which the same integer is added (`plus`; 0 where remainders are taken).

    places: their indices in the question.  first, second: indices of their coordinates (entries of the vector), the
    last for none.  runs: of products of two, by the first coordinate: the second ones, and positions in `places`.
    ones: positions of the others.  low: whether remainders are those of 32-bit integers.
    """

    power: int
    size: bool
    shift: int
    times: int
    plus: int
    places: Ints
    first: Ints
    second: Ints
    runs: tuple[tuple[int, slice | Ints, Ints], ...]
    ones: Ints
    low: bool

    @classmethod
    def of(
        cls,
        products: Sequence[Product],
        places: list[int],
        none: int,
        alike: tuple[int, bool, int, int, int],
        low: bool,
    ) -> AlikeProducts:
        """Return those of `products` that are alike; none: the index of the factor that is 1."""
        two = np.array([(*products[i].of, none, none)[:2] for i in places], dtype=np.int64)
        first, second = two[:, 0], two[:, 1]
        pair = second < none
        runs = list[tuple[int, slice | Ints, Ints]]()
        for one in np.unique(first[pair]):
            at = np.flatnonzero(pair & (first == one))
            other = second[at]
            runs.append((int(one), _slice(other), at))
        return cls(*alike, np.array(places), first, second, tuple(runs), np.flatnonzero(~pair), low)

    def add(self, out: Floats, factors: Floats, weight: Floats | None, buffers: Buffers) -> None:
        """Set these sums of weight times coordinates over 2**shift, each product rounded down."""
        # all products at once, unless few are asked for
        if self.shift == 0 and len(self.places) <= 3 * len(factors):
            out[self.places] = self._few(factors, weight)
            return
        if not self.runs and self.shift:
            out[self.places] = self._alone(factors, weight)
            return
        # BLAS is slower at x x' than at x y'
        weighted = factors[:-1]
        if weight is not None or self._last == len(weighted):
            weighted = buffers.array("weighted", factors.shape)
            np.multiply(factors, 1.0 if weight is None else weight, out=weighted)
        if self.shift == 0:
            out[self.places] = _matrix(weighted, factors)[self.first, self.second]
        else:
            out[self.places] = self._divided(factors, weighted, buffers)

    def _few(self, factors: Floats, weight: Floats | None) -> Floats:
        """Return sums that are not divided, row by row."""
        found, (alone, pairs), (only, first, second) = np.empty(len(self.places)), self._by_first, self._rows_of_few
        if len(alone):
            found[alone] = np.vecdot(factors[only], factors[-1] if weight is None else weight)
        if len(pairs):
            left, right = factors[first], factors[second]
            found[pairs] = np.vecdot(left if weight is None else left * weight, right)
        return found

    def _alone(self, factors: Floats, weight: Floats | None) -> list[float]:
        """Return sums of products of at most one coordinate that are divided."""
        own = [factors[j] if weight is None else factors[j] * weight for j in self.first]
        return [float(np.floor((one + self.plus) * 2.0**-self.shift).sum()) for one in own]

    @cached_property
    def _by_first(self) -> tuple[Ints, Ints]:
        """Positions of products of one coordinate or none, and of two, by their first coordinate."""
        order = np.argsort(self.first, kind="stable")
        alone = np.isin(order, self.ones)
        return order[alone], order[~alone]

    @cached_property
    def _rows_of_few(self) -> tuple[slice | Ints, ...]:
        """Rows of factors: of products of one coordinate or none, and the first and second ones of products of two."""
        alone, pairs = self._by_first
        return tuple(_slice(one) for one in (self.first[alone], self.first[pairs], self.second[pairs]))

    @cached_property
    def _last(self) -> int:
        return int(self.first.max())

    def _divided(self, factors: Floats, weighted: Floats, buffers: Buffers) -> Floats:
        scale = 2.0**-self.shift
        if self.low and self.runs:
            # of the others, too, and set again below
            found = _matrix(weighted, factors)[self.first, self.second]
            found -= self._remainders(factors, weighted, buffers)
            found *= scale
        else:
            found = np.empty(len(self.places))
            for first, seconds, at in self.runs:
                terms = factors[seconds] * (weighted[first] * scale) + self.plus * scale
                found[at] = np.floor(terms, out=terms).sum(axis=1)
        for i in self.ones:
            found[i] = np.floor((weighted[self.first[i]] + self.plus) * scale).sum()
        return found

    def _remainders(self, factors: Floats, weighted: Floats, buffers: Buffers) -> Floats:
        """Return the sums of remainders of products of two coordinates on division by 2**shift."""
        # two's complement: the lowest bits of a product are those of the product of the lowest bits
        plain, first_ones = (_bits(one, name, buffers) for one, name in ((factors, "plain"), (weighted, "first ones")))
        found, most = np.zeros(len(self.places)), max(len(at) for _, _, at in self.runs)
        room, mask = buffers.array("remainders", (most, factors.shape[1]), np.uint32), np.uint32(2**self.shift - 1)
        for first, seconds, at in self.runs:
            terms = room[: len(at)]
            np.multiply(plain[seconds], first_ones[first], out=terms)
            np.bitwise_and(terms, mask, out=terms)
            # BLOCK remainders below 2**shift: their sum is below 2**32 where `low` is true
            found[at] = np.add.reduce(terms, axis=1, dtype=np.uint32)
        return found


def _slice(places: Ints) -> slice | Ints:
    """Return indices as a slice where they follow each other: nothing is copied then."""
    first = int(places[0]) if len(places) else 0
    return slice(first, first + len(places)) if bool((np.diff(places) == 1).all()) else places


def clipped(clip: NormClip, combined: Floats, *, wide: bool = True) -> Floats:
    """Return the norm-clipped vectors of rows, and 1, shape (entries + 1, rows), in place.

    combined: the rounded sums of weights times coordinates for each entry, and one row of anything.  wide: whether a
    sum may be beyond WIDEST.
    """
    w = combined[:-1]
    if wide:
        np.clip(w, -WIDEST, WIDEST, out=w)
    squares = np.einsum("ij,ij->j", w, w)
    far = np.flatnonzero(squares > clip.most**2)
    if len(far):
        root = np.floor(np.sqrt(squares[far])) + 1
        # the quotient of whole numbers below 2**52 has the floor of its rounded value
        some = np.trunc(w[:, far] * clip.most / root)
        # the last word on the norm, in whole numbers
        some[:, np.einsum("ij,ij->j", some, some) > clip.most**2] = 0.0
        w[:, far] = some
    combined[-1] = 1.0
    return combined


def _power(made: dict[tuple[bool, int], Floats], x: Floats, one: AlikeProducts) -> Floats:
    """Return a power of psi or sizes by products, which are exact, and once for all that ask; nobody changes it."""
    if one.power == 1:
        return x
    key = one.size, one.power
    if key not in made:
        found = x
        for _ in range(one.power - 1):
            found = found * x
        made[key] = found
    return made[key]


def weighed(x: Floats, a: Floats) -> Floats:
    """Return x a / STEPS of whole numbers below 2**52, rounded to the nearest whole number, halves to even ones."""
    # NumPy rounds so itself, and the quotient by a power of two is exact
    return np.rint(x * a * (1.0 / STEPS))


def _combine(weights: Floats, x: Floats, out: Floats) -> None:
    """Set weights times x, some rows at a time."""
    step = ALONE // weights.size
    for at in range(0, x.shape[1], step):
        np.matmul(weights, x[:, at : at + step], out=out[:, at : at + step])


def _matrix(left: Floats, right: Floats) -> Floats:
    """Return left right', some rows at a time."""
    step, found = ALONE // (len(left) * len(right)), np.zeros((len(left), len(right)))
    for at in range(0, left.shape[1], step):
        found += left[:, at : at + step] @ right[:, at : at + step].T
    return found


def _bits(numbers: Floats, name: str, buffers: Buffers) -> NDArray[np.uint32]:
    """Return whole numbers in -2**31 < x < 2**31 modulo 2**32."""
    found = buffers.array(name, numbers.shape, np.int32)
    np.copyto(found, numbers, casting="unsafe")
    return found.view(np.uint32)


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
