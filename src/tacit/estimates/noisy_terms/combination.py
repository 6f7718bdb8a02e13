"""Linear combinations of released terms: values, variances, laws of the total error, intervals.  Pure array functions.

The error of a term is sampling error plus L z, the z independent integer noises whose laws are known; every interval
and p-value uses that sum (theory §1.5).  A combination (contrast, standardised value, difference) keeps the noises of
its terms, so that its law is exact too.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.noisy_terms import covariance
from tacit.estimates.noisy_terms.sided_errors import USUAL, ReachOfTerms, SidedErrors, reaches, sides
from tacit.estimates.terms import ColumnTerms, check_level
from tacit.estimates.total_errors import error_laws as laws
from tacit.noise.product import ProductLaplace

LARGEST: Final = 4_000
"""More terms than this have no dense covariance."""


@dataclass(frozen=True)
class LinearCombination:
    """Combinations matrix @ base, `base` the terms of all blocks one after the other; without a matrix, base itself.

    blocks: terms of each released column.  matrix: shape (terms, base terms), or None.
    """

    blocks: tuple[ColumnTerms, ...]
    matrix: Array | None = None

    def __len__(self) -> int:
        return self.base if self.matrix is None else len(self.matrix)

    @property
    def base(self) -> int:
        """Number of terms of all blocks."""
        return sum(len(block.value) for block in self.blocks)

    @property
    def values(self) -> Array:
        """Point estimates, shape (terms,)."""
        base = np.concatenate([block.value for block in self.blocks])
        return base if self.matrix is None else self.matrix @ base

    @property
    def sampling_variances(self) -> Array:
        """Variance due to sampling, shape (terms,); zero for target="table".

        Standard errors are added between columns of the same people, and between cells that one weighted person may be
        in (`ColumnTerms.shared`): their correlation is not known (theory §9).
        """
        if self.matrix is None:
            return np.concatenate([block.sampling_variance for block in self.blocks])
        return covariance.combined_variances(self)

    @property
    def privacy_variances(self) -> Array:
        """Variance due to the noise, shape (terms,)."""
        if self.matrix is None:
            return np.concatenate([block.privacy_variance for block in self.blocks])
        return np.add.reduce(
            [
                # cells have noises of their own: squared weights add; parameters of one fit
                # share their noises: loadings add
                (weights**2) @ block.privacy_variance
                if block.joint is None
                else ((weights @ block.loadings) ** 2).sum(axis=-1) * block.law.variance()
                for block, weights in self.slices()
            ]
        )

    @property
    def reasons(self) -> tuple[str | None, ...]:
        """Why a term says nothing, in words, or None; one entry a term."""
        base = [reason for block in self.blocks for reason in block.reasons]
        if self.matrix is None:
            return tuple(base)
        return tuple(
            next((base[j] for j in np.flatnonzero(row) if base[j]), None)
            for row in cast("list[Array]", list(self.matrix))
        )

    def intervals(self, level: float = 0.95) -> Array:
        """Lower and upper limits, shape (terms, 2).  InferenceError I01 for a level below 0.5, or 1 and above.

        By the exact law of normal plus noise (theory §1.5), or the inversion of a count's or a proportion's law.
        """
        level = check_level(level)
        if self.matrix is None:
            pairs = [block.limits(level) for block in self.blocks]
            return np.concatenate([np.stack(pair, axis=-1) for pair in pairs])
        values = self.values
        out = np.empty((len(values), 2))
        plain = self.picked()
        # a combination that picks one term keeps its interval, which may be an inverted one and not symmetric
        base = replace(self, matrix=None).intervals(level) if any(at is not None for at in plain) else out
        kept = [at for at in plain if at is not None]
        if len(kept) == len(plain):
            return base[kept]
        lower, upper = self._sides(self.reached(level))
        for i, at in enumerate(plain):
            if at is not None:
                out[i] = base[at]
            else:
                out[i] = values[i] - self._distance(lower, i, level), values[i] + self._distance(upper, i, level)
        return out

    def reached(self, level: float = USUAL) -> tuple[ReachOfTerms, ReachOfTerms]:
        """Return how far the intervals of the base terms that are used reach below and above (`sided_errors`)."""
        used = np.ones(self.base, dtype=bool) if self.matrix is None else (self.matrix != 0).any(axis=0)
        return reaches(self.blocks, used, level)

    def p_values(self, null: Array, reached: tuple[ReachOfTerms, ReachOfTerms] | None = None) -> Array:
        """Return two-sided p-values of combinations being `null`, shape (terms,).

        reached: of 95% intervals where not given, which leave out the hypothesis just where its p-value is below .05.
        """
        off = self.values - null
        lower, upper = self._sides(self.reached() if reached is None else reached)
        # below the estimate lies what the errors towards the lower limit may reach
        either = [lower if one > 0 else upper for one in off]
        return np.array([self._p_value(side, i, abs(float(off[i]))) for i, side in enumerate(either)])

    def _sides(self, reached: tuple[ReachOfTerms, ReachOfTerms]) -> tuple[SidedErrors, SidedErrors]:
        """Return the errors towards the lower and the upper limits."""
        return sides(np.eye(self.base) if self.matrix is None else self.matrix, *reached)

    def _distance(self, side: SidedErrors, i: int, level: float) -> float:
        """Return the distance of a limit of combination i; infinite where a term's interval has no end."""
        if not np.isfinite(side.whole[i]).all():
            return math.inf
        return min(taken + float(laws.halfwidth(level, *self._errors(row))) for taken, row in side.ways(i))

    def _p_value(self, side: SidedErrors, i: int, distance: float) -> float:
        """Return the chance that the error of combination i exceeds a distance, on one side twice."""
        if not np.isfinite(side.whole[i]).all():
            return 1.0
        beyond = [(max(distance - taken, 0.0), row) for taken, row in side.ways(i)]
        return min(float(2 * laws.tail(np.asarray(x), *self._errors(row))) for x, row in beyond)

    def _errors(self, row: Array) -> tuple[Array, Array]:
        """Return the law of a weighted sum of the terms' errors, as `law` does."""
        return LinearCombination(self.blocks, row[None, :]).law(0)

    def picked(self) -> list[int | None]:
        """Return, for each combination, the index of the one term that it repeats, whose interval is kept; or None."""
        if self.matrix is None:
            return list(range(len(self)))
        # one weight that is not 0, and a sum of 1: the weight is 1
        one = (np.count_nonzero(self.matrix, axis=1) == 1) & (self.matrix.sum(axis=1) == 1)
        return [int(np.argmax(row)) if yes else None for row, yes in zip(self.matrix, one, strict=True)]

    def used(self) -> list[ColumnTerms]:
        """Return the columns' terms that have a weight in some combination."""
        if self.matrix is None:
            return list(self.blocks)
        return [block for block, weights in self.slices() if weights.any()]

    def columns(self) -> list[tuple[str, ...]]:
        """Return the labels of the columns that have a weight in each combination."""
        if self.matrix is None:
            return [(block.label,) for block in self.blocks for _ in block.value]
        entered = [weights.any(axis=1) for _, weights in self.slices()]
        labels = [block.label for block in self.blocks]
        return [
            tuple(label for label, yes in zip(labels, row, strict=True) if yes) for row in zip(*entered, strict=True)
        ]

    def law(self, i: int) -> tuple[Array, Array]:
        """Total error of term i: normal standard deviation, shape (), and Laplace scales, shape (k,)."""
        if self.matrix is None:
            rows, variance = [self._one(i)], float(self.sampling_variances[i])
        else:
            one = LinearCombination(self.blocks, self.matrix[[i]])
            rows = [(block, weights[0]) for block, weights in one.slices()]
            variance = float(one.sampling_variances[0])
        # one scale of 0, so that the array is not empty where all noise is normal
        scales = [np.zeros(1)]
        found: list[tuple[Array, Array]] = []
        vectors: dict[str, list[tuple[ProductLaplace, Array]]] = {}
        for block, weights in rows:
            used = np.flatnonzero(weights)
            if isinstance(block.law, ProductLaplace):
                # columns of one release have noise of one vector: their weighted sum has a law of its own
                vectors.setdefault(block.source, []).append((block.law, weights @ block.loadings))
                continue
            if block.joint is None:
                # noises of different cells are independent: each (term, noise) is a summand of its own
                found.append(laws.split(block.law, (weights[used, None] * block.loadings[used]).reshape(-1)))
            else:
                # all terms react to the same k noises, so their loadings are added first
                found.append(laws.split(block.law, weights @ block.loadings))
        for s, b in (*found, *map(laws.split_together, vectors.values())):
            # rounded Gaussian noise joins the normal part (`error_laws`)
            variance += float(s) ** 2
            scales.append(b)
        return np.asarray(math.sqrt(variance)), np.concatenate(scales)

    def slices(self) -> Iterator[tuple[ColumnTerms, Array]]:
        """Yield each column's terms with its part of `matrix`, shape (terms, m)."""
        at = 0
        matrix = cast(Array, self.matrix)
        for block in self.blocks:
            yield block, matrix[:, at : at + len(block.value)]
            at += len(block.value)

    def _one(self, i: int) -> tuple[ColumnTerms, Array]:
        """Return the column that base term i belongs to, and the unit vector that picks it, shape (m,)."""
        for block in self.blocks:
            if i < len(block.value):
                return block, np.eye(1, len(block.value), i)[0]
            i -= len(block.value)
        raise IndexError(i)

    def sampling_matrix(self) -> Array:
        """Sampling covariance as an array; InferenceError I04 where it was not released, I05 where it is too large."""
        self._small()
        # two columns with sampling error of the same people: how they covary is not in the release
        known = [block.people for block in self.used() if block.variance.any()]
        if len(set(known)) < len(known):
            raise _unknown("different columns of the same people", "one column at a time")
        if covariance.divided(self):
            raise _unknown("groups with persons or parties in common", "one group at a time")
        full = covariance.of_blocks(self.blocks)
        return full if self.matrix is None else self.matrix @ full @ self.matrix.T

    def privacy_matrix(self) -> Array:
        """Noise covariance, shape (terms, terms); InferenceError I05 for more than 4,000 terms."""
        self._small()
        full = covariance.noise_of_blocks(self.blocks)
        return full if self.matrix is None else self.matrix @ full @ self.matrix.T

    def _small(self) -> None:
        """Raise InferenceError I05 for more terms than a dense covariance can have."""
        if len(self) > LARGEST:
            text = f"{len(self):,} terms are too many for a covariance matrix (at most {LARGEST:,})."
            raise InferenceError(text, code="I05", hint="std_error, conf_int and contrast need none", state=None)


def _unknown(what: str, hint: str) -> InferenceError:
    text = f"the sampling covariance of {what} was not released."
    return InferenceError(text, code="I04", hint=f"{hint}, estimate[...]; contrast() bounds it", state=None)
