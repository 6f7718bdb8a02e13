"""Tests (b) and (d) of the contract for noise that is one vector of several columns, once for each in a process.

Coordinates of a vector are not independent.  Of the law of X with density proportional to exp(-|X|), the norm |X| being
the largest of |X_j|_1 / scale_j over the columns j, the sum of n norms is Gamma(n d) in d dimensions; the norm of each
vector is that of its column or of another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from tacit.noise.exact_products import draw_many
from tacit.noise.product import ProductLaplace
from tacit.testing.audit import epsilon_lower_bound
from tacit.testing.noise_law_test import FALSE_ALARM, noise_law

COORDINATES: Final = 12_000
"""Coordinates of a sample: the mean norm is then known to .9%, and a scale 10% off is 10 deviations away."""
FEWEST: Final = 400
"""Fewest vectors of a sample, for their directions."""
MANY: Final = 1_000
"""Least scale at which rounding to integers does not move a norm."""
SINGLE: Final = 20_000
"""Vectors of which one integer each is tested where a scale is smaller."""
Laws = tuple[ProductLaplace, ...]


def others(law: ProductLaplace) -> Laws:
    """Return the law of one column that has the other integers of the vector; none where there are no others."""
    rest = law.dimension - law.size
    return (ProductLaplace(Fraction(10**6), rest, law.dimension),) if rest else ()


@lru_cache(maxsize=64)
def columns(laws: Laws) -> tuple[NDArray[np.int64], ...]:
    """Return two independent samples, the same in each call: of each column, shape (2, vectors, size), read-only."""
    many = max(FEWEST, COORDINATES // laws[0].dimension)
    drawn = draw_many(laws, 2 * many)
    made = tuple(np.array([one[j] for one in drawn], dtype=np.int64) for j in range(len(laws)))
    made = tuple(one.reshape(2, many, law.size) for one, law in zip(made, laws, strict=True))
    for one in made:
        # the cache hands out one array
        one.flags.writeable = False
    return made


def norms(sample: Sequence[NDArray[np.int64]], laws: Sequence[ProductLaplace]) -> NDArray[np.float64]:
    """Return the norms of vectors, shape (vectors,); sample: of each column, shape (vectors, size)."""
    each = [np.abs(one).sum(axis=1) / float(law.scale) for one, law in zip(sample, laws, strict=True)]
    return np.max(each, axis=0)


def p_value(sample: Sequence[NDArray[np.int64]], laws: Sequence[ProductLaplace]) -> float:
    """Return a bound on the p-value of vectors under laws of many steps; sample: of each column, (vectors, size).

    >>> from tacit.noise.product import sampled_together
    >>> laws = [ProductLaplace(Fraction(10**6), 2, 3), ProductLaplace(Fraction(10**5), 1, 3)]
    >>> drawn = sampled_together(laws, 4_000, np.random.default_rng(0))
    >>> wider = [replace(law, scale=law.scale * 11 / 10) for law in laws]
    >>> p_value(drawn, laws) > 1e-3, p_value(drawn, wider) < 1e-9
    (True, True)
    """
    from scipy.special import gammainc, gammaincc  # pyright: ignore
    from scipy.stats import kstest  # pyright: ignore

    found = norms(sample, laws)
    shape, total = len(found) * laws[0].dimension, float(found.sum())
    p = [2 * min(float(gammainc(shape, total)), float(gammaincc(shape, total)))]
    for one, law in zip(sample, laws, strict=True):
        # an integer of each column, chosen beforehand, has its own law
        p.append(float(kstest(one[:, -1].astype(np.float64), law.cdf).pvalue))  # pyright: ignore
    return min(1.0, len(p) * min(p))


@lru_cache(maxsize=4096)
def wrong_columns(laws: Laws) -> tuple[str, ...]:
    """Run (b) on the columns of a vector: return failures where noise does not follow its law, or a scale 10% off
    would not be noticed.  Of scales of a few steps the first column alone is tested, by one integer of each vector.
    """
    if min(law.scale for law in laws) < MANY:
        law = laws[0]
        x = np.array([one[0][-1] for one in draw_many(laws, SINGLE)], dtype=np.int64)
        right, wide = (
            noise_law(lambda size: x[:size], one, draws=SINGLE).passed
            for one in (law, replace(law, scale=law.scale * 11 / 10))
        )
    else:
        sample, wider = [one[0] for one in columns(laws)], [replace(law, scale=law.scale * 11 / 10) for law in laws]
        right, wide = (p_value(sample, some) > FALSE_ALARM / 2 for some in (laws, wider))
    failures = [] if right else [f"(b) the noise is not {laws}"]
    return (*failures, *([f"(b) a scale 10% off {laws} was not noticed"] if wide else []))


def proven_together(laws: Laws, apart: Sequence[Sequence[int]], delta: float, confidence: float) -> float:
    """Run (d) on all columns at once: return the epsilon proven by samples, scored by their privacy loss.

    apart: the change of each column's integers by one row.
    """
    near, far = ([one[i] for one in columns(laws)] for i in (0, 1))
    moved = [one + np.array(change) for one, change in zip(far, apart, strict=True)]
    return epsilon_lower_bound(_losses(near, laws, apart), _losses(moved, laws, apart), delta, confidence)


def _losses(sample: Sequence[NDArray[np.int64]], laws: Laws, apart: Sequence[Sequence[int]]) -> NDArray[np.float64]:
    """Return the log-likelihood ratio of no change against `apart`, shape (vectors,)."""
    shifted = [one - np.array(change) for one, change in zip(sample, apart, strict=True)]
    return norms(shifted, laws) - norms(sample, laws)
