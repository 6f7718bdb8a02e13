"""Squares and interactions less what their own factors say, as linear functions of a row's coordinates.  No data here.

A square of a column far from 0, or its product with an indicator, goes up and down with the column itself: once both
are standardised, they would differ by little more than noise.  With c the means of the factors,

    prod_i (f_i - c_i) = sum over subsets S of prod_{i in S} (-c_i) times the coordinate of the other factors,

a linear function of coordinates, which a formula has as a rule: an interaction stands beside the terms that it is made
of.  Where one of them is missing, the coordinate stays as it is.  Mean and variance are those of independent factors,
numbers as if normal: released products then tell how they really go together.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import combinations
from typing import Final, TypeAlias

import numpy as np

from tacit.base.arrays import Array
from tacit.method.regression.formulas.layout import Layout, Mark, Monomial

Factor: TypeAlias = str | Mark
"""A column of numbers, or an indicator."""
MOMENTS: Final = (1.0, 0.0, 1.0, 0.0, 3.0, 0.0, 15.0)
"""Moments of a standard normal number, by order."""


@dataclass(frozen=True)
class Centred:
    """A coordinate as a linear function of coordinates, in units of x = z / H: weights of shape (m + 1,), mean, sd."""

    weights: Array
    mean: float
    sd: float


def centred(layout: Layout, place: int, mean: Array, sd: Array) -> Centred:
    """Return the coordinate at `place` less what its factors say; means and deviations of z / H, the first of them 1.

    mean, sd: shape (m + 1,), of all coordinates.

    >>> from tacit.method.regression.formulas.formula import parse
    >>> from tacit.method.regression.formulas.layout import layout
    >>> from tacit.release.parts import Variable
    >>> facts = Variable("y", "real", 0, 1, half=1024), Variable("a", "real", 0, 4, half=1024)
    >>> made = layout(parse("y ~ a + I(a**2)"), facts)
    >>> found = centred(made, 2, np.array([1.0, 0.5, 0.27, 0.0]), np.array([0.0, 0.1, 0.1, 0.3]))
    >>> found.weights.tolist(), round(found.mean, 3), round(found.sd, 4)  # (a - .5)**2 = a**2 - a + .25
    ([0.25, -1.0, 1.0, 0.0], 0.01, 0.0141)
    """
    (numbers, marks), places = layout.coordinates[place], {one: j for j, one in enumerate(layout.coordinates)}
    factors: tuple[Factor, ...] = (*numbers, *marks)
    alone = {one: places.get(_monomial((one,))) for one in factors}
    plain = Centred(np.eye(len(mean))[place], float(mean[place]), float(sd[place]))
    if len(factors) < 2 or any(j is None for j in alone.values()):
        return plain
    known = {one: j for one, j in alone.items() if j is not None}
    weights = np.zeros(len(mean))
    for size in range(len(factors) + 1):
        for left in combinations(range(len(factors)), size):
            at = places.get(_monomial(tuple(factors[i] for i in left)))
            if at is None:
                return plain
            rest = (mean[known[factors[i]]] for i in range(len(factors)) if i not in left)
            weights[at] += math.prod(-float(c) for c in rest)
    powers = {one: factors.count(one) for one in known}
    first = math.prod(MOMENTS[k] * sd[known[one]] ** k for one, k in powers.items())
    second = math.prod(MOMENTS[2 * k] * sd[known[one]] ** (2 * k) for one, k in powers.items())
    return Centred(weights, float(first), math.sqrt(max(float(second - first**2), 0.0)))


def _monomial(factors: tuple[Factor, ...]) -> Monomial:
    """Return the product of factors, in its own order."""
    numbers = tuple(sorted(one for one in factors if isinstance(one, str)))
    return numbers, tuple(sorted(one for one in factors if not isinstance(one, str)))
