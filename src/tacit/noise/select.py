"""Exact sampler of the exponential mechanism on runs of points, in integers alone.  INSIDE the wall.

1. 64 fresh bits of the operating system's generator say in which interval of width 2**-64 a uniform p lies.
2. Cumulated integer bounds on the weights of the runs say which run holds p times their sum; where that is not the
   same for the whole interval, further words are appended  [X].
3. A position within the run is drawn uniformly, by rejection of whole words  [Y].

The distribution is exactly `tacit.noise.selection_law.Selection`; labels in brackets are sections of PROOF.md, beside
this file.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from tacit.noise.selection_law import Selection, check_runs
from tacit.noise.tail_bounds import exp_minus

WORD: Final = 64
GUARD: Final = 32
"""Extra bits to which weights are bounded: they affect how soon a run is certain, never which run it is."""


def choose(law: Selection, utility: Sequence[int], points: Sequence[int]) -> tuple[int, int]:
    """Draw (run, position), 0 <= position < points[run], with exactly the law `law`.

    utility, points: for each run, the utility and the number of its points.
    Raises NoiseError N04 for utilities or points that are not integers, or differ in number.

    >>> from fractions import Fraction
    >>> choose(Selection(Fraction(1000)), [0, 5, 1], [4, 1, 9])
    (1, 0)
    """
    check_runs(utility, points)
    return _choose(law, utility, points, _system_word)


def _system_word() -> int:
    """Return a fresh 64-bit word of the operating system's generator."""
    return secrets.randbits(WORD)


def _choose(law: Selection, utility: Sequence[int], points: Sequence[int], word: Callable[[], int]) -> tuple[int, int]:
    """Draw as `choose` does, with the source of random words as an argument, which only tests of this file pass."""
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
