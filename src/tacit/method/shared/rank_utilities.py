"""Utilities of grid steps by rank, how much a neighbour changes them, and the law of a selection.

The proofs, and the symbols a, b, L, R, T and c, are in `mechanism_rank_selection`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.privacy.bought import range_for
from tacit.privacy.budget import Neighbors


@dataclass(frozen=True)
class Runs:
    """Neighbouring steps of equal utility, in order: run i begins at step `first[i]` and has `points[i]` steps."""

    first: list[int]
    points: list[int]
    utility: list[int]

    def chosen(self, run: int, place: int) -> int:
        """Return the step number `place` of a run."""
        return self.first[run] + place


def sensitivity(prob: Fraction, neighbors: Neighbors) -> int:
    """Return the most by which a neighbour changes any step's utility.

    >>> sensitivity(Fraction(1, 2), "add-remove"), sensitivity(Fraction(1, 2), "replace-one")
    (1, 2)
    """
    a, b = prob.numerator, prob.denominator
    # replaced: T stays, and L and R move by at most 1; added or removed: b L - T moves by -a or b - a, or the reverse
    return b if neighbors == "replace-one" else max(a, b - a)


def reached(prob: Fraction, neighbors: Neighbors, *, grouped: bool) -> tuple[int, int]:
    """Return the most by which a neighbour changes utilities, summed over the cells: the changes, and their squares.

    >>> reached(Fraction(1, 4), "replace-one", grouped=True), reached(Fraction(1, 2), "replace-one", grouped=True)
    ((6, 18), (2, 4))
    """
    one, leaving = sensitivity(prob, neighbors), sensitivity(prob, "add-remove")
    if not grouped or neighbors == "add-remove":
        return one, one * one
    # the corners of a convex sum: the row stays in its cell, or leaves one cell and enters another
    return max(one, 2 * leaving), max(one * one, 2 * leaving * leaving)


def law_for(cost: Cost, prob: Fraction, neighbors: Neighbors, *, grouped: bool) -> Selection:
    """Return the law of selections, one in each cell, that cost `cost` in all.

    grouped: whether a replaced row may change cells.

    >>> law_for(Cost.of(epsilon=1), Fraction(1, 4), "replace-one", grouped=True).scale
    Fraction(12, 1)
    """
    one, moving = sensitivity(prob, neighbors), grouped and neighbors == "replace-one"
    leaving = sensitivity(prob, "add-remove")
    if cost.noise == "laplace":
        most = max(one, 2 * leaving) if moving else one
        # epsilons of the changed cells add up, and so do the most that their utilities change
        return Selection((cost.epsilon or Fraction(0)) / (2 * most))
    # either one cell changes, by `one` at the whole price, or two do, by `leaving` at half of it each
    rate = range_for(cost) / (2 * one)
    return Selection(min(rate, range_for(cost.share(Fraction(1, 2))) / (2 * leaving)) if moving else rate)


def utilities(counts: Mapping[int, int], steps: int, prob: Fraction, offset: int = 0) -> Runs:
    """Return the utilities of all steps; counts: {step: rows there}, 0 <= step < steps.  offset: c, in ranks.

    >>> utilities({2: 3, 5: 1}, steps=8, prob=Fraction(1, 2))
    Runs(first=[0, 2, 3, 5, 6], points=[2, 1, 2, 1, 2], utility=[-4, 2, -2, -2, -4])
    """
    a, b = prob.numerator, prob.denominator
    target = a * sum(counts.values()) + b * offset
    first, points, utility = list[int](), list[int](), list[int]()
    # invariant: the steps before `at` are in the lists, and `below` rows are on them
    below = at = 0
    for step in sorted(counts):
        if step > at:  # none between neighbouring steps that both have rows
            first.append(at)
            points.append(step - at)
            utility.append(-abs(b * below - target))
        rows = counts[step]
        first.append(step)
        points.append(1)
        # at each step of a run L = below and R = below + rows, as only runs of one step have rows
        utility.append(-max(b * below - target, target - b * (below + rows)))
        below, at = below + rows, step + 1
    if steps > at:
        first.append(at)
        points.append(steps - at)
        utility.append(-abs(b * below - target))
    return Runs(first, points, utility)


SIZE: Final = Fraction(1, 20)
"""Share of the price for noisy numbers of rows, where they are not public."""
