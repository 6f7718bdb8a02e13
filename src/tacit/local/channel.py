"""`Channel`: from which answer to which, with which probability; the exact audit; what an estimate needs to know of it.

An answer *supports* a level: it names it, or has it in its set.  For every design here the probability of support is
the same for all levels: p for the own level, q for any other, so that with π_v the share of level v the share of
answers that support it is λ_v = q + (p - q) π_v.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from math import comb
from typing import Literal, TypeAlias

import numpy as np

from tacit.base.arrays import Array
from tacit.local.thresholds import GRID

Kind: TypeAlias = Literal["choice", "bits", "subset"]


@dataclass(frozen=True)
class Channel:
    """How an answer is drawn, for k = `levels` levels and in whole numbers of 1 / GRID.

    kind: "choice", one level: the own one with `truth`, else another, each alike; "bits", each level by itself: the own
    one is in the set with 1/2, another with `other`; "subset", a set of `size` levels: the own one is in it with
    `truth`, the rest of the set is any of the others, each alike.
    """

    kind: Kind
    levels: int
    truth: int
    other: int = 0
    size: int = 1

    @property
    def own(self) -> Fraction:
        """p, the probability that an answer supports its person's level."""
        return Fraction(1, 2) if self.kind == "bits" else Fraction(self.truth, GRID)

    @property
    def wrong(self) -> Fraction:
        """q, the probability that an answer supports another level."""
        if self.kind == "bits":
            return Fraction(self.other, GRID)
        # of the k - 1 others a set holds d - 1 where the own level is in it, else d
        held = self.size - self.own
        return held / (self.levels - 1)

    def largest_ratio(self) -> Fraction:
        """Return the largest likelihood ratio of one answer under two levels, exactly: at most e^ε.

        "choice" and "subset": a set with the own level has probability truth / C(k-1, d-1), one without it (1 - truth)
        / C(k-1, d); their ratio is truth (k - d) / ((1 - truth) d).  "bits": two levels differ in two independent bits,
        each kept or flipped: (1/2)(1 - q) / (q (1/2)).
        """
        if self.kind == "bits":
            return Fraction(GRID - self.other, self.other)
        held, lost = Fraction(self.truth), Fraction(GRID - self.truth)
        forward = held * (self.levels - self.size) / (lost * self.size)
        return max(forward, 1 / forward)

    def together(self) -> tuple[float, float]:
        """Return the probabilities that an answer supports two levels at once: the own one and another; two others."""
        p, q, k, d = float(self.own), float(self.wrong), self.levels, self.size
        if self.kind == "bits":
            return p * q, q * q
        # of k - 1 others d - 1 (d) are in the set, any alike
        with_own = p * (d - 1) / (k - 1)
        if k < 3:
            return with_own, 0.0
        pairs = comb(k - 1, 2)
        return with_own, p * comb(d - 1, 2) / pairs + (1 - p) * comb(d, 2) / pairs

    def support_covariance(self, shares: Array) -> Array:
        """Return the covariance of one answer's support of all levels, person and answer drawn, shape (k, k).

        shares: π, shape (k,), adding up to 1.
        """
        with_own, apart = self.together()
        p, q = float(self.own), float(self.wrong)
        shown = q + (p - q) * shares
        # E of the product: the person has one of the two levels, or neither
        either = shares[:, None] + shares[None, :]
        both = with_own * either + apart * (1 - either)
        np.fill_diagonal(both, shown)
        return both - np.outer(shown, shown)

    def noise_covariance(self, shares: Array) -> Array:
        """Return the part of `support_covariance` that is the answers' own, given the people, shape (k, k)."""
        people = np.diag(shares) - np.outer(shares, shares)
        return self.support_covariance(shares) - float(self.own - self.wrong) ** 2 * people
