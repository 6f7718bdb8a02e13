"""Exact samplers of selections among runs of points, in integers alone.  INSIDE the wall.

The exponential mechanism:
1. 64 fresh bits of the operating system's generator say in which interval of width 2**-64 a uniform p lies.
2. Cumulated integer bounds on the weights of the runs say which run holds p times their sum; where that is not the
   same for the whole interval, further words are appended  [X].
3. A position within the run is drawn uniformly, by rejection of whole words  [Y].

Permute-and-flip:
1. 64 fresh bits for each run say when about, between 0 and 1, the first of its points that is accepted comes  [P].
2. The run that comes first is found with integer bounds on its time; runs that those bits do not part get further
   words  [Q].
3. A position within the run, as above.

The distributions are exactly `tacit.noise.selection_law.Selection` and `tacit.noise.permute_and_flip.PermuteAndFlip`;
labels in brackets are sections of PROOF.md, beside this file.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate
from typing import Final

from tacit.noise.permute_and_flip import PermuteAndFlip, SelectionLaw
from tacit.noise.selection_law import Selection, check_runs
from tacit.noise.tail_bounds import Bounds, exp_minus, log_two, minus_log

WORD: Final = 64
GUARD: Final = 32
"""Extra bits to which weights are bounded: they affect how soon a run is certain, never which run it is."""


def choose(law: SelectionLaw, utility: Sequence[int], points: Sequence[int]) -> tuple[int, int]:
    """Draw (run, position), 0 <= position < points[run], with exactly the law `law`.

    utility, points: for each run, the utility and the number of its points.
    Raises NoiseError N04 for utilities or points that are not integers, or differ in number.

    >>> from fractions import Fraction
    >>> choose(Selection(Fraction(1000)), [0, 5, 1], [4, 1, 9])
    (1, 0)
    >>> choose(PermuteAndFlip(Fraction(1000)), [0, 5, 1], [4, 1, 9])
    (1, 0)
    """
    check_runs(utility, points)
    return _choose(law, utility, points, _system_word)


def _system_word() -> int:
    """Return a fresh 64-bit word of the operating system's generator."""
    return secrets.randbits(WORD)


def _choose(
    law: SelectionLaw, utility: Sequence[int], points: Sequence[int], word: Callable[[], int]
) -> tuple[int, int]:
    """Draw as `choose` does, with the source of random words as an argument, which only tests of this file pass."""
    if isinstance(law, PermuteAndFlip):
        run = _first(law, utility, points, word)
        return run, _uniform(points[run], word)
    m, bits = word(), WORD
    while (run := _run(law, utility, points, m, bits)) is None:
        m, bits = m << WORD | word(), bits + WORD
    return run, _uniform(points[run], word)


def _run(law: Selection, utility: Sequence[int], points: Sequence[int], m: int, bits: int) -> int | None:
    """[X] Return the run that holds p * (sum of weights) for all p in (m, m + 1) 2**-bits, or None where undecided."""
    best = max(utility)  # weights relative to the best are at most 1, and ratios stay the same
    # beyond it rate * (best - u) > bits + GUARD, and the bounds are 0 and 1 [E5]: no fraction is computed for most runs
    far = (bits + GUARD) * law.rate.denominator // law.rate.numerator
    # once for each utility, not for each run: exp_minus is the expensive part
    weight = {u: exp_minus(law.rate * (best - u), bits + GUARD) for u in set(utility) if best - u <= far}
    beyond = (0, 1)
    bounds = [weight.get(u, beyond) for u in utility]
    # edges of the runs, bounded from below and above: a sum of lower (upper) bounds is one of the sum
    low = [0, *accumulate(n * bound[0] for n, bound in zip(points, bounds, strict=True))]
    high = [0, *accumulate(n * bound[1] for n, bound in zip(points, bounds, strict=True))]
    run = bisect_right(high, m * low[-1] >> bits) - 1  # high[run] <= m low[-1] / 2**bits: edge `run` is below
    certain = run == len(points) - 1 or (m + 1) * high[-1] <= low[run + 1] << bits  # p < 1 ends the last run
    return run if certain else None


# Permute-and-flip ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Arrival:
    """When the first accepted point of a run comes: a uniform V in (m, m + 1) 2**-bits says it.

    points: of the run.  loss: rate * (best utility - the run's).
    """

    run: int
    points: int
    loss: Fraction
    m: int
    bits: int = WORD

    @cached_property
    def bounds(self) -> tuple[Fraction, Fraction | None]:
        """[Q] Return bounds on the time, (1 - (1 - V)**(1 / points)) / exp(-loss); None where none above is known."""
        work = self.bits + GUARD + self.points.bit_length()
        least, most = _one_minus_root(self.m, self.bits, self.points, work)
        low, high = _accepted(self.loss, work)
        return Fraction(least, high), Fraction(most, low) if low else None

    def refined(self, word: Callable[[], int]) -> _Arrival:
        """Return the same arrival with one more word of V known."""
        return replace(self, m=self.m << WORD | word(), bits=self.bits + WORD)


def _first(law: PermuteAndFlip, utility: Sequence[int], points: Sequence[int], word: Callable[[], int]) -> int:
    """[P] Return the run of the point that is accepted first."""
    best = max(utility)
    if len(utility) == 1:
        return 0  # the only run, whenever its first point is accepted
    far = (WORD + GUARD) * law.rate.denominator // law.rate.numerator  # [E5] beyond it the bounds are 0 and 1
    kinds = {best - u for u in utility if best - u <= far}
    accepted = {gap: _accepted(law.rate * gap, WORD + GUARD)[1] for gap in kinds}
    first: _Arrival | None = None
    soon = 0  # the first arrival so far comes before soon * 2**-WORD
    # the likeliest first: most of the others are then decided by one multiplication; the law is that of any order
    for run in sorted(range(len(utility)), key=utility.__getitem__, reverse=True):
        gap, m = best - utility[run], word()
        # [Q] V >= points * p * time implies that the run comes later
        if first is not None and m << (WORD + GUARD) >= points[run] * accepted.get(gap, 1) * soon:
            continue
        new = _Arrival(run, points[run], law.rate * gap, m)
        first = new if first is None else _sooner(first, new, word)
        upper = first.bounds[1]
        soon = (upper.numerator << WORD) // upper.denominator + 1 if upper is not None else 1 << (WORD + GUARD + WORD)
    assert first is not None
    return first.run


def _sooner(one: _Arrival, other: _Arrival, word: Callable[[], int]) -> _Arrival:
    """[Q] Return the arrival that comes sooner, whatever the digits that are not known."""
    while True:
        (low, high), (least, most) = one.bounds, other.bounds
        if high is not None and high <= least:
            return one
        if most is not None and most <= low:
            return other
        one, other = one.refined(word), other.refined(word)


def _one_minus_root(m: int, bits: int, points: int, work: int) -> Bounds:
    """[Q] Return bounds on 1 - (1 - V)**(1 / points), m 2**-bits < V < (m + 1) 2**-bits, with `work` >= bits bits."""
    one, left, spare = 1 << work, (1 << bits) - m, work - bits
    if points == 1:
        return m << spare, (m + 1) << spare
    # 1 - m / 2**bits = f / 2**k with 1/2 < f <= 1, so that -ln of it is k ln 2 - ln f
    k = bits - (left - 1).bit_length()
    beyond = one - (left << (spare + k))
    log, two = minus_log((beyond, beyond), work), log_two(work)
    low, high = (Fraction(k * two[i] + log[i], points << work) for i in (0, 1))
    # exp(-x) falls: its upper bound at the lower bound of x bounds the result from below
    least, most = one - exp_minus(low, work)[1], one - exp_minus(high, work)[0]
    if left == 1:
        return least, one  # V may be as near to 1 as one likes
    # over the interval it rises by at most its width times the slope at its end, below 1 / (points (1 - V))
    return least, min(one, most + (one // (points * (left - 1))) + 1)


@lru_cache(maxsize=4096)
def _accepted(loss: Fraction, bits: int) -> Bounds:
    """Return `exp_minus`, cached: selections of a request, and of a simulation, share their losses."""
    return exp_minus(loss, bits)


def _uniform(n: int, word: Callable[[], int]) -> int:
    """[Y] Draw uniformly from 0 ... n - 1."""
    # whole words only, rounded up: at most half of the values are rejected
    words = -(-n.bit_length() // WORD)
    span = 1 << (WORD * words)
    while True:
        value = 0
        for _ in range(words):
            value = value << WORD | word()
        # above the largest multiple of n the first remainders would be likelier than the last
        if value < span - span % n:
            return value % n


# Weights known by bounds ---------------------------------------------------------------------------------------------


def choose_bounded(weights: Callable[[int], tuple[Sequence[Bounds], int]]) -> int:
    """Draw run i with exactly the probability w_i / (w_0 + w_1 + ...), w known by bounds that can be narrowed.

    weights: of a stage 0, 1, 2, ... returns integer bounds on the weights of the first runs, all in one unit that may
    change with the stage, and an upper bound on the sum of all further weights, 0 where there are none.  Bounds must
    narrow, and further weights vanish, as the stage rises.

    >>> choose_bounded(lambda stage: ([(0, 0), (5, 7)], 0))
    1
    """
    return _choose_bounded(weights, _system_word)


def uniform(n: int) -> int:
    """Draw uniformly from 0 ... n - 1, n an integer of any length.

    >>> uniform(1)
    0
    """
    return _uniform(n, _system_word)


def _choose_bounded(weights: Callable[[int], tuple[Sequence[Bounds], int]], word: Callable[[], int]) -> int:
    """[X] Draw as `choose_bounded` does, with the source of random words as an argument."""
    stage, m, bits = 0, word(), WORD
    while (run := _bounded_run(*weights(stage), m, bits)) is None:
        stage, m, bits = stage + 1, m << WORD | word(), bits + WORD
    return run


def _bounded_run(bounds: Sequence[Bounds], further: int, m: int, bits: int) -> int | None:
    """[X] Return the run that holds p * (sum of weights) for all p in (m, m + 1) 2**-bits, or None where undecided."""
    low = [0, *accumulate(bound[0] for bound in bounds)]
    high = [0, *accumulate(bound[1] for bound in bounds)]
    run = bisect_right(high, m * low[-1] >> bits) - 1  # edge `run` is below p times the sum
    if run >= len(bounds):
        return None
    last = run == len(bounds) - 1 and not further  # p < 1 ends the last run
    return run if last or (m + 1) * (high[-1] + further) <= low[run + 1] << bits else None
