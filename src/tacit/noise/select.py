"""Exact selection by the operating system's generator: one point, by integer utilities.  INSIDE the wall.

    words       64 fresh bits: in which interval of width 2**-64 a uniform p lies
    runs        cumulated enclosures of the weights: one run for all p of the interval, or undecided: append words   [X]
    place       a uniform place within the run, by rejection of whole words                                         [Y]

The law is `tacit.noise.selection_law.Selection` exactly, without a float; labels are proven in PROOF.md, beside this
file.
"""

from __future__ import annotations

import secrets
from bisect import bisect_right
from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import Final

from tacit.noise.selection_law import Selection, checked
from tacit.noise.tail_bounds import exp_minus

WORD: Final = 64
GUARD: Final = 32
"""Bits of the weights beyond those of p: they decide how soon a run is certain, never which."""


def choose(law: Selection, utility: Sequence[int], points: Sequence[int]) -> tuple[int, int]:
    """One draw: (run, place), 0 <= place < points[run], with exactly the law `law`.

    Raises NoiseError N04 for utilities or points that are no integers, or do not match.

    >>> from fractions import Fraction
    >>> choose(Selection(Fraction(1000)), [0, 5, 1], [4, 1, 9])
    (1, 0)
    """
    checked(utility, points)
    return _choose(law, utility, points, _system_word)


def _system_word() -> int:
    """A fresh word of the operating system's generator."""
    return secrets.randbits(WORD)


def _choose(law: Selection, utility: Sequence[int], points: Sequence[int], word: Callable[[], int]) -> tuple[int, int]:
    """`choose` with the source of words as an argument, for tests of this file only."""
    m, bits = word(), WORD
    while (run := _run(law, utility, points, m, bits)) is None:
        m, bits = m << WORD | word(), bits + WORD
    return run, _uniform(points[run], word)


def _run(law: Selection, utility: Sequence[int], points: Sequence[int], m: int, bits: int) -> int | None:
    """[X] The run that holds p * (sum of weights) for all p in (m, m + 1) 2**-bits, or None."""
    best = max(utility)
    weight = {u: exp_minus(law.rate * (best - u), bits + GUARD) for u in set(utility)}
    low = [0, *accumulate(n * weight[u][0] for u, n in zip(utility, points, strict=True))]
    high = [0, *accumulate(n * weight[u][1] for u, n in zip(utility, points, strict=True))]
    run = bisect_right(high, m * low[-1] >> bits) - 1  # high[run] <= m low[-1] / 2**bits: edge `run` is below
    certain = run == len(points) - 1 or (m + 1) * high[-1] <= low[run + 1] << bits  # p < 1 ends the last run
    return run if certain else None


def _uniform(n: int, word: Callable[[], int]) -> int:
    """[Y] Uniform on 0 ... n - 1."""
    words = -(-n.bit_length() // WORD)
    span = 1 << (WORD * words)
    while True:
        value = 0
        for _ in range(words):
            value = value << WORD | word()
        if value < span - span % n:
            return value % n
