"""One person's randomised answer, drawn where the person is.  INSIDE the wall: it sees one true answer.

Definition
    A true level v, one of k public ones, gives an answer of a finite set: a level, or a set of levels (`channel`).
    Neighbours are any two levels of one person: nobody else's answer is involved, and no curator is trusted.
Sensitivity
    All of the answer: a person may change any level to any other.
Noise
    The law of `Channel`, in whole numbers of 2^-48, drawn from the operating system's generator: a number below 2^48
    decides whether the own level is kept; others are drawn without modulo, each alike.
Cost
    ε, for every two levels v, w and every answer z: P(z | v) <= e^ε P(z | w), where `Channel.largest_ratio` is the
    largest ratio, an exact rational, and at most a lower bound on e^ε by the choice of `truth` and `other`
    (`thresholds`). The bound holds for each answer: whoever answers twice spends 2 ε.
Failures
    A level that is not listed is refused with the public list, before anything is drawn.  Nothing is stored, and no
    answer is repeated.  How long the draw takes may depend on which levels are drawn, as the answer itself does.
"""

from __future__ import annotations

import secrets

from tacit.local.channel import Channel


def respond(channel: Channel, level: int) -> tuple[int, ...]:
    """Return the levels that one answer supports, in order, for a person of this level (both by number)."""
    if channel.kind == "bits":
        # the own bit is kept with probability 1/2, the others are raised with `other`
        chances = (secrets.randbits(48) for _ in range(channel.levels))
        half = 1 << 47
        return tuple(i for i, u in enumerate(chances) if u < (half if i == level else channel.other))
    kept = secrets.randbits(48) < channel.truth
    others = _some(channel.levels - 1, channel.size - kept)
    found = [i + (i >= level) for i in others]  # the others are numbered without the own level
    return tuple(sorted([*found, *([level] if kept else [])]))


def _some(number: int, wanted: int) -> list[int]:
    """Return `wanted` of the numbers below `number`, every set alike (Floyd's algorithm)."""
    found: set[int] = set()
    for top in range(number - wanted, number):
        pick = secrets.randbelow(top + 1)
        found.add(top if pick in found else pick)
    return sorted(found)
