"""Estimates of blocks from exact sums of their rows' statistics: no row is moved, sorted or kept.  No noise is drawn.

Of some laws the likelihood of a block is a function of the number of its rows and the means of a few statistics T_j
(`Likelihood.numpy_statistics`).  Every row's T_j is rounded to a whole number of public steps of 2**-shift, and summed
in 64-bit integers.  So a block's sums, and its estimate, are functions of its rows as a set, bit by bit: in whatever
order, by whatever threads, and in whatever parts the rows come.

Sums stay below 2**62 since a block with a row beyond a public bound has no estimate.  The bound is at least twice the
largest expectation of T_j in the model's box, times the capacity of a block: such a row puts the mean of its block
beyond the box by itself.  No log of a float is beyond its bound.  Steps are a power of two, as small as sums allow:
where they would be above 2**-18 of the smallest expectation in the box, or 2**-30 (of counts, 1), the model is not
summed.  Errors of rounding average out over the rows of a block.

The correction "observed" needs the means of products T_j T_k, too, in integers likewise: these only move an estimate by
a part of the order of one over the number of its rows, so that steps of 2**-8 of a product will do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement, product
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import jax
from tacit.models.block_estimate import answer_from
from tacit.models.boxes import Array
from tacit.models.compiled_programs import CompiledFunction
from tacit.models.jax_config import quiet
from tacit.models.likelihood import Likelihood

Ints = NDArray[np.int64]
BATCH: Final = 2**12
"""Blocks whose estimates are computed at a time: always so many, by the same compiled code."""
BITS: Final = 62
"""Sums over a block stay below 2**BITS."""
LOGS: Final = 1500.0
"""No log of a float, or of a quotient of two, is beyond this."""
FINE: Final = 2.0**-18
"""Largest steps, in parts of the smallest expectation in the box."""
LEAST: Final = 2.0**-30
"""Steps that are fine whatever is expected."""
OF_PRODUCTS: Final = 2.0**-8
LEAST_OF_PRODUCTS: Final = 2.0**-20
"""The same of products."""
CORRECTED: Final = ("cox-snell", "observed", "none")
"""Bias corrections that need no row."""


@dataclass(frozen=True)
class StatisticSums:
    """Integer statistics of rows: T_j in steps of 2**-shifts[j], then products T_j T_k, j <= k, where shifts has more.

    bounds: of |T_j|; shape (q,).
    """

    model: Likelihood
    shifts: tuple[int, ...]
    bounds: tuple[float, ...]

    def steps(self, x: Array) -> tuple[list[Array], list[float], NDArray[np.bool_] | None]:
        """Return the integer statistics of rows within the support, arrays like x, which has one dimension.

        Whole numbers as floats, exact since they are rounded floats; bounds on the sum of their sizes; and which rows
        are beyond a bound, where some are: their integers are 0.
        """
        found = self.model.numpy_statistics(x)
        assert found is not None
        made, beyond, squares = list[Array](), None, [_squares(one) for one in found]
        for one, total, most in zip(found, squares, self.bounds, strict=True):
            # none is NaN in the support, and none is beyond the root of the sum of squares
            if not total < most**2:
                far = np.abs(one) > most
                beyond = (far if beyond is None else far | beyond) if far.any() or beyond is not None else None
        if beyond is not None:
            found = [np.where(beyond, 0.0, one) for one in found]
            squares = [_squares(one) for one in found]
        for one, shift in zip(found, self.shifts, strict=False):
            # a product with a power of two is exact
            scaled = one * 2.0**shift
            made.append(np.rint(scaled, out=scaled))
        for (j, k), shift in zip(self._pairs, self.shifts[len(found) :], strict=False):
            # rounded towards 0
            scaled = found[j] * found[k]
            scaled *= 2.0**shift
            made.append(np.trunc(scaled, out=scaled))
        # by the inequality of Cauchy and Schwarz; rounding to a step adds at most a half
        sizes = [math.sqrt(len(x) * total) for total in squares]
        sizes += [math.sqrt(squares[j]) * math.sqrt(squares[k]) for j, k in self._pairs]
        return made, [size * 2.0**shift + len(x) for size, shift in zip(sizes, self.shifts, strict=False)], beyond

    @property
    def _pairs(self) -> list[tuple[int, int]]:
        return list(combinations_with_replacement(range(len(self.bounds)), 2))

    def of_packed(self, blocks: Array, sizes: Ints) -> tuple[Ints, Ints]:
        """Return the sums, shape (k, q), and counts of rows of blocks, shape (k, capacity), whose rows come first.

        Rows outside the support are left out; a block with a row beyond a bound counts none.
        """
        with np.errstate(all="ignore"):
            kept = np.asarray(self.model.inside(blocks), dtype=np.bool_)
        kept &= np.arange(blocks.shape[1], dtype=np.int64) < sizes[:, None]
        total, counts = np.zeros((len(blocks), len(self.shifts)), dtype=np.int64), kept.sum(axis=1)
        # one at a time: no array of the size of all rows is made
        with np.errstate(all="ignore"):
            for i, one in enumerate(blocks):
                found, _, beyond = self.steps(one[kept[i]])
                total[i] = [steps.astype(np.int64).sum() for steps in found]
                counts[i] *= beyond is None
        return total, counts

    def estimates(self, sums: Ints, counts: Ints, bias: str) -> tuple[Array, NDArray[np.bool_]]:
        """Return the estimates of blocks from the sums of their rows, shape (k, p), and whether they are their own."""
        k, p = len(counts), len(self.model.parameters)
        room = -(-k // BATCH) * BATCH
        # blocks that fill a batch up, or have too few rows, are computed as if of one row
        good, many = np.zeros(room, dtype=np.bool_), np.ones(room, dtype=np.int64)
        good[:k] = counts > p
        many[:k] = np.maximum(counts, 1)
        q = len(self.bounds)
        every, means, pairs = (
            sums * 0.5 ** np.array(self.shifts) / many[:k, None],
            *map(np.zeros, ((room, q), (room, q, q))),
        )
        means[:k] = every[:, :q]
        for place, (i, j) in enumerate(self._pairs[: len(self.shifts) - q], q):
            pairs[:k, i, j] = pairs[:k, j, i] = every[:, place]
        found, own = np.empty((room, p)), np.empty(room, dtype=np.bool_)
        with quiet():
            solve = compiled(self.model, bias)
            for at in range(0, room, BATCH):
                here = slice(at, at + BATCH)
                found[here], own[here] = map(np.asarray, solve(means[here], pairs[here], many[here], good[here]))
        return found[:k], own[:k]


def _squares(x: Array) -> float:
    """Return a bound on the sum of squares, a little above it: as summed it is off by less than its 2**-20th part."""
    # not by BLAS, which would start threads of its own
    return float(np.einsum("i,i->", x, x)) * (1.0 + 2.0**-20)


@lru_cache(maxsize=64)
def statistic_sums(model: Likelihood, capacity: int, bias: str) -> StatisticSums | None:
    """Return the integer statistics for blocks of at most `capacity` rows; None where blocks need their rows.

    A function of public facts: model, capacity, and bias correction.
    """
    # a family of a user's may have changed anything: only those of Tacit's own have a name
    if bias not in CORRECTED or model.program_name() is None or model.columns != 1:
        return None
    if model.numpy_statistics(np.ones(0)) is None:
        return None
    low, high = _expected(model)
    most, least = np.maximum(np.abs(low), np.abs(high)), np.minimum(np.abs(low), np.abs(high))
    bounds = np.maximum(2 * capacity * most, LOGS)
    if not np.isfinite(bounds).all():
        return None
    asked = [(bound, max(FINE * one, LEAST)) for bound, one in zip(bounds, least, strict=True)]
    if bias == "observed":
        both = list(combinations_with_replacement(zip(bounds, least, strict=True), 2))
        asked += [(a * b, max(OF_PRODUCTS * one * other, LEAST_OF_PRODUCTS)) for (a, one), (b, other) in both]
    shifts = [BITS - math.ceil(math.log2(capacity * bound)) for bound, _ in asked]
    enough = [1.0 if model.support == "count" else step for _, step in asked]
    if any(2.0**-shift > step for shift, step in zip(shifts, enough, strict=True)):
        return None
    return StatisticSums(model, tuple(shifts), tuple(map(float, bounds)))


def _expected(model: Likelihood) -> tuple[Array, Array]:
    """Return the least and the largest expectation of each statistic at the corners of the box, shape (q,) each."""
    with quiet(), np.errstate(all="ignore"):
        # statistics of the laws in question rise or fall in each parameter
        each: Sequence[Any] = [
            np.asarray(model.expected(None, model.bind(np.array(corner))))
            for corner in product(*zip(model.lower, model.upper, strict=True))
        ]
    return np.min(each, axis=0), np.max(each, axis=0)


@lru_cache(maxsize=64)
def compiled(model: Likelihood, bias: str) -> Any:
    """Return the compiled function of BATCH blocks: (means, means of products, counts, usable) to (values, fitted)."""

    def one(u: Any, pairs: Any, count: Any, good: Any) -> Any:
        return answer_from(model, u, pairs, count, good, bias)

    return CompiledFunction(jax().vmap(one), keep=True, name=model.program_name("block sums", bias))
