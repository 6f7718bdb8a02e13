"""Which columns of a question have noise of one vector at a pure price: decided from public facts.  No data here.

Of p columns, each bounded in l1 by its own sensitivity, all may change at once.  Their change lies in a product of l1
balls, and noise whose density follows that product (`noise.product`) costs epsilon once, where independent noises cost
epsilon / p each.  Of column j with k integers, of d in all, the variance over that of independent noise is
    (d + 1) (d + 2) / (p**2 (k + 1) (k + 2)),
below 1 where all columns have equally many integers: .38 for ten means, k = 2.  A column of few integers beside others
of many can lose; it keeps noise of its own, at its own share.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction

from tacit.method.shared.measurement import PartSpec
from tacit.noise.laws import LEAST, DiscreteLaplace
from tacit.noise.product import MOST_DIMENSIONS, ProductLaplace


def with_joint_noise(columns: tuple[PartSpec, ...], cells: int) -> tuple[PartSpec, ...]:
    """Return the columns, with noise of one vector for those to which it adds less.

    Columns in several cells keep independent noises: their integers are many, and little would be gained.
    """
    pure = all(isinstance(column.law, DiscreteLaplace) and column.cost.kind == "pure" for column in columns)
    together = _together([len(column.form.matrix) for column in columns]) if pure and cells == 1 else []
    if not together:
        return columns
    whole = sum((columns[j].cost.epsilon or Fraction(0) for j in together), Fraction(0))
    dimension = sum(len(columns[j].form.matrix) for j in together)
    # the scale that `laplace_scale` gives for the price of all of them
    scales = {j: columns[j].form.l1 / whole for j in together}
    if dimension > MOST_DIMENSIONS or min(scales.values()) < LEAST:
        return columns
    made = list(columns)
    for j, scale in scales.items():
        law = ProductLaplace(scale, len(columns[j].form.matrix), dimension)
        made[j] = replace(columns[j], law=law)
    return tuple(made)


def _together(sizes: list[int]) -> list[int]:
    """Return the places of the columns, of so many integers each, that have less noise in one vector; none or several.

    >>> _together([2, 2]), _together([1, 3]), _together([1, 3, 3]), _together([1, 2, 2])
    ([0, 1], [], [1, 2], [0, 1, 2])
    """
    kept = list(range(len(sizes)))
    while len(kept) > 1:
        d = sum(sizes[j] for j in kept)
        # the column of the fewest integers gains least
        least = min(kept, key=lambda j: sizes[j])
        if (d + 1) * (d + 2) < len(kept) ** 2 * (sizes[least] + 1) * (sizes[least] + 2):
            return kept
        kept.remove(least)
    return []
