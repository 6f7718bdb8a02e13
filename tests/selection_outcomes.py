"""What selections that are drawn one after another can come to, with probabilities; and small neighbouring tables."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterator
from itertools import combinations_with_replacement
from typing import Any


class UndrawnError(Exception):
    """A selection whose outcome is not given."""

    def __init__(self, runs: Any, law: Any) -> None:
        super().__init__()
        self.runs, self.law = runs, law


def outcomes_of(made: Callable[[Any], Any]) -> dict[Any, float]:
    """The probability of each outcome of a function of a release, which is given what draws, draw by draw."""
    found: dict[Any, float] = defaultdict(float)

    def follow(given: tuple[int, ...], chance: float) -> None:
        left = list(given)

        def draw(runs: Any, law: Any) -> int:
            if not left:
                raise UndrawnError(runs, law)
            return left.pop(0)

        try:
            outcome = made(draw)
        except UndrawnError as one:
            each = one.law.pmf(one.runs.utility, one.runs.points)
            for first, points, p in zip(one.runs.first, one.runs.points, each, strict=True):
                for place in range(first, first + points):
                    follow((*given, place), chance * p / points)
            return
        found[outcome] += chance

    follow((), 1.0)
    return found


def neighbours(steps: int, most: int, relation: str) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    """All pairs of neighbouring tables of up to `most` rows; -1 is a missing row."""
    for size in range(most):
        for rest in combinations_with_replacement(range(-1, steps), size):
            if relation == "add-remove":
                yield from ((rest, (*rest, v)) for v in range(steps))
            else:
                yield from (((*rest, v), (*rest, w)) for v in range(-1, steps) for w in range(v + 1, steps))
