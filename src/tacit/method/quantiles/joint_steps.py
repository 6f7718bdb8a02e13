"""Triples of grid steps by the ranks of their rows: how many there are at each utility, and which.  Public arithmetic.

The definition, its symbols and the proof of its sensitivity are in `mechanism_joint_selection`.

Triples whose distance is at most r make a ball.  Ranks rise with the step, so in a ball the lower end is within an
interval of steps, the point within another, whatever the ends, and the upper end from a step on that rises with the
lower end: a ball is counted run by run of the lower end.  What one ball has more than the one before it is a shell.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class RankedRuns:
    """Neighbouring steps with the same rows below and at or below them: `points[i]` steps from `first[i]` on.

    below, upto: b times the numbers L and R of rows, in units of 1/b of a rank.  steps: of the grid.
    """

    first: Integers
    points: Integers
    below: Integers
    upto: Integers
    steps: int

    def within(self, target: int, r: int) -> tuple[int, int]:
        """Return the runs, first and beyond the last, whose distance from `target` is at most r; none: last <= first.

        The distance of a step is max(b L - target, target - b R), and both L and R rise with the step.
        """
        first = int(np.searchsorted(self.upto, target - r, "left"))
        return first, max(first, int(np.searchsorted(self.below, target + r, "right")))

    def edge(self, run: int) -> int:
        """Return the first step of a run, or the number of steps for the run beyond the last."""
        return int(self.first[run]) if run < len(self.first) else self.steps

    def edges(self, run: Integers) -> Integers:
        """Return `edge` of each of several runs."""
        return np.append(self.first, self.steps)[run]

    def run_of(self, step: int | Integers) -> Integers:
        """Return the run of a step."""
        return np.asarray(np.searchsorted(self.first, step, "right") - 1)


@dataclass(frozen=True)
class Ball:
    """Triples (t1, t2, t3): t1 in the runs from `low` to before `low + len(start)`, t2 and t3 in intervals of steps.

    middle: the first step of t2, and that beyond the last.  start: of each run of t1, the first step of t3; stop: the
    step beyond the last of t3.
    """

    low: int
    middle: tuple[int, int]
    start: Integers
    stop: int

    @property
    def choices(self) -> Integers:
        """Numbers of choices of t3 for each run of t1."""
        return np.maximum(self.stop - self.start, 0)

    @property
    def width(self) -> int:
        """Number of choices of t2."""
        return self.middle[1] - self.middle[0]

    def of_run(self, run: int) -> tuple[int, int]:
        """Return the steps of t3, first and beyond the last, for a run of t1; an empty interval where there are none.

        The empty interval lies at the end of the steps, where it is within that of any larger ball.
        """
        i = run - self.low
        if not 0 <= i < len(self.start) or self.width <= 0 or self.start[i] >= self.stop:
            return self.stop, self.stop
        return int(self.start[i]), self.stop


@dataclass(frozen=True)
class JointSteps:
    """All triples of steps, by utility: `points[i]` of them have `utility[i]`, which falls with i.

    targets: of the lower end, the point and the upper end.  between: the least number of rows from the lower end to the
    upper one, `weight` the utility that each one fewer costs.  limit: the largest absolute utility; beyond it all
    triples have one.
    """

    runs: RankedRuns
    targets: tuple[int, int, int]
    between: int
    weight: int
    limit: int
    denominator: int
    utility: list[int]
    points: list[int]

    def ball(self, r: int) -> Ball:
        """Return the triples whose distance is at most r; all of them where r is the limit."""
        runs = self.runs
        if r >= self.limit:
            return Ball(0, (0, runs.steps), np.zeros(len(runs.first), dtype=np.int64), runs.steps)
        (low, high), middle, (third, last) = (runs.within(target, r) for target in self.targets)
        if not self.weight:
            start = np.full(high - low, runs.edge(third), dtype=np.int64)
            return Ball(low, (runs.edge(middle[0]), runs.edge(middle[1])), start, runs.edge(last))
        # rows from the lower end to the upper one: weight (between - R(t3) + L(t1)) <= r
        rows = self.denominator * (self.between - r // self.weight)
        least = np.searchsorted(runs.upto, runs.below[low:high] + rows, "left")
        start = runs.edges(np.maximum(least, third))
        return Ball(low, (runs.edge(middle[0]), runs.edge(middle[1])), start, runs.edge(last))

    def size(self, ball: Ball) -> int:
        """Return the number of triples of a ball."""
        points = self.runs.points[ball.low : ball.low + len(ball.start)]
        return int(points @ ball.choices) * ball.width

    def chosen(self, run: int, place: int) -> tuple[int, int, int]:
        """Return the triple number `place` of those with `utility[run]`: each of them for one number."""
        outer = self.ball(-self.utility[run])
        inner = self.ball(-self.utility[run - 1]) if run else Ball(0, (0, 0), np.zeros(0, dtype=np.int64), 0)
        shell = self._by_run(outer) - self._by_run(inner)
        ends = np.cumsum(self.runs.points * shell)
        own = int(np.searchsorted(ends, place, "right"))
        left = place - (int(ends[own - 1]) if own else 0)
        step, left = divmod(left, int(shell[own]))
        (u, v), (x, y) = outer.of_run(own), inner.of_run(own)
        first, third = int(self.runs.first[own]) + step, u
        a, width = outer.middle[0], outer.width
        x, y = (x, y) if y > x else (v, v)
        # t3 outside the inner ball with any t2, and t3 inside it with a t2 outside
        fresh = (x - u) + (v - y)
        if left < fresh * width:
            at, second = divmod(left, width)
            third = u + at if at < x - u else y + at - (x - u)
            return first, a + second, third
        at, second = divmod(left - fresh * width, width - inner.width)
        before = inner.middle[0] - a
        return first, a + second if second < before else inner.middle[1] + second - before, x + at

    def _by_run(self, ball: Ball) -> Integers:
        """Return for each run the number of pairs (t2, t3) for one step t1 of it."""
        found = np.zeros(len(self.runs.first), dtype=np.int64)
        found[ball.low : ball.low + len(ball.start)] = ball.choices * ball.width
        return found

    def at(self, first: Integers, second: Integers, third: Integers) -> Integers:
        """Return the utility of triples of steps."""
        runs = self.runs
        places = [runs.run_of(step) for step in (first, second, third)]
        far = [
            np.maximum(runs.below[place] - target, target - runs.upto[place])
            for place, target in zip(places, self.targets, strict=True)
        ]
        if self.weight:
            rows = (runs.upto[places[2]] - runs.below[places[0]]) // self.denominator
            far.append(self.weight * (self.between - rows))
        return -np.clip(np.maximum.reduce(far), -self.limit, self.limit)


def ranked_runs(counts: Mapping[int, int], steps: int, b: int) -> RankedRuns:
    """Return the runs of a grid; counts: {step: rows there}, 0 <= step < steps."""
    at = np.array(sorted(counts), dtype=np.int64)
    many = np.array([counts[int(step)] for step in at], dtype=np.int64)
    before = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(many)])
    begin = np.concatenate([np.zeros(1, dtype=np.int64), at + 1])
    gap = np.append(at, steps) - begin
    some = gap > 0
    first, order = np.unique(np.concatenate([begin[some], at]), return_index=True)
    below = np.concatenate([before[some], before[:-1]])[order]
    upto = np.concatenate([before[some], before[1:]])[order]
    points = np.concatenate([gap[some], np.ones_like(at)])[order]
    return RankedRuns(first, points, b * below, b * upto, steps)


def joint_steps(
    counts: Mapping[int, int], steps: int, prob: Fraction, offset: int, limit: int, weight: int
) -> JointSteps:
    """Return all triples by utility; offset: c, in ranks, or in parts of persons.  limit: the largest absolute utility.

    weight: of a row that is missing between the ends, where a rank has the denominator of `prob`; 0 for none.

    >>> made = joint_steps({2: 3, 5: 1}, 8, Fraction(1, 2), 1, 100, weight=2)
    >>> made.utility[0], made.points[0], made.chosen(0, 0), sum(made.points) == 8**3
    (0, 4, (2, 2, 2), True)
    """
    a, b = prob.numerator, prob.denominator
    runs = ranked_runs(counts, steps, b)
    middle = a * sum(counts.values())
    targets = (middle - b * offset, middle, middle + b * offset)
    made = JointSteps(runs, targets, 2 * offset, weight, limit, b, [], [])
    total, held = steps**3, 0
    radii = _radii(made)
    for r, size in zip(radii, _sizes(made, radii), strict=False):
        if size > held:
            made.utility.append(-r)
            made.points.append(size - held)
            held = size
        if held == total:
            break
    if held < total:
        made.utility.append(-limit)
        made.points.append(total - held)
    return made


def _sizes(made: JointSteps, radii: list[int]) -> Iterable[int]:
    """Return the number of triples of the ball of each of the radii."""
    if made.weight:
        return (made.size(made.ball(r)) for r in radii)
    # the three steps of a ball are then in intervals of their own
    far, runs, sizes = np.array(radii, dtype=np.int64), made.runs, np.ones(len(radii), dtype=np.int64)
    for target in made.targets:
        first = np.searchsorted(runs.upto, target - far, "left")
        beyond = np.searchsorted(runs.below, target + far, "right")
        sizes *= runs.edges(np.maximum(first, beyond)) - runs.edges(first)
    return sizes.tolist()


def _radii(made: JointSteps) -> list[int]:
    """Return the distances below the limit at which a ball may grow, in rising order, from the least that is needed.

    b L - T and T - b R have the remainders of -a N and a N by b, and rows that are missing are multiples of the weight.
    Where these have none, a ball grows at the distances of steps only.
    """
    first, last = _least(made), made.limit - 1
    middle, b = made.targets[1], made.denominator
    if not made.weight:
        far = [x for y in made.targets for x in (made.runs.below - y, y - made.runs.upto)]
        own = np.unique(np.concatenate([*far, [first]]))
        return own[(first <= own) & (own <= last)].tolist()
    kinds = ((0, made.weight), (middle % b, b), (-middle % b, b))
    found = {r for part, by in kinds for r in range(first + (part - first) % by, last + 1, by)}
    return sorted({*found, first} if first <= last else ())


def _least(made: JointSteps) -> int:
    """Return the least distance from -limit on at which each of the three steps has a run near its target."""
    runs = made.runs
    own = [int(np.maximum(runs.below - target, target - runs.upto).min()) for target in made.targets]
    return max(-made.limit, *own)
