"""The differencing attack of Brawner & Honaker 2018, §2.1, played on made-up people, without and with privacy.

A class mean is published before and after Alice joins.  Who knows the number of pupils finds her score in the
difference of the two sums. With noise on both sums the difference holds her score and two draws; the attacker's best
guess weighs every score by how well it explains the difference.  Draws are seeded: a picture for teaching, that
protects nobody.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tacit.base.lazy_imports import special
from tacit.base.table import Table, shown_by_summary
from tacit.meaning.attacker import Floats
from tacit.meaning.promise import Promise
from tacit.plots.canvas import Drawn

LARGEST: Final = 100
"""Scores are whole points from 0 to this."""
NEAR: Final = 5
"""A guess within so many points counts as found."""
PLAYED: Final = 10_000
"""How often the attack is played."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class DifferencingAttack:
    """Errors of the attacker's guesses of Alice's score, in points, over `played` classes.

    scale: of the noise on each of the two sums, its law in `noise` ("laplace" or "normal").  scores, differences,
    guesses: shape (played,), what Alice had, what the two noisy sums differ by, the attacker's best guess.
    """

    title: str
    people: int
    noise: str
    scale: float
    scores: Floats
    differences: Floats
    guesses: Floats

    def summary(self) -> Table:
        """Return the table: how far guesses lie from the score, and how many within five points."""
        blind = np.full_like(self.scores, LARGEST / 2)
        ways = (
            ("means without noise", self.scores),
            ("means with noise, their difference", self.differences),
            ("means with noise, the best guess", self.guesses),
            ("a guess without looking", blind),
        )
        rows = [(name, *_errors(found - self.scores)) for name, found in ways]
        classes = f"{len(self.scores):,} classes of {self.people:,} and Alice; scores from 0 to {LARGEST} points"
        notes = (classes, f"noise on each sum: {self.noise}, scale {self.scale:,.4g} points")
        return Table(self.title, ("the attacker has", "typical error", f"within {NEAR} points"), tuple(rows), notes)

    def plot(self, ax: Any = None) -> Drawn:
        """Draw the density of the errors of all guesses; InferenceError I20 without matplotlib."""
        from tacit.plots.canvas import Caption
        from tacit.plots.line_plot import lines

        edges = np.linspace(-LARGEST, LARGEST, 81)
        middles = (edges[1:] + edges[:-1]) / 2
        found = {
            "the difference": self.differences - self.scores,
            "the best guess": self.guesses - self.scores,
            "without looking": LARGEST / 2 - self.scores,
        }
        width = edges[1] - edges[0]
        curves = {name: np.histogram(one, edges)[0] / (len(one) * width) for name, one in found.items()}
        note = "without noise the error is 0"
        return lines(middles, curves, Caption(self.title, "error of the score found, points", note, "density"), ax)


def attack(promise: Promise, title: str, people: int, rng: int) -> DifferencingAttack:
    """Play the attack on two sums that together keep the promise; rng: a seed."""
    draws = np.random.default_rng(rng)
    # a class, and whoever joins it: sums, because the number of pupils is known
    scores = draws.integers(0, LARGEST + 1, (PLAYED,)).astype(np.float64)
    noise, scale = noise_of(promise)
    pair = draws.laplace(0, scale, (2, PLAYED)) if noise == "laplace" else draws.normal(0, scale, (2, PLAYED))
    differences = scores + pair[1] - pair[0]
    return DifferencingAttack(title, people, noise, scale, scores, differences, _best(differences, noise, scale))


def noise_of(promise: Promise) -> tuple[str, float]:
    """Return the law and the scale of the noise on each of two sums of scores that together keep the promise.

    One score moves each sum by at most LARGEST.  Laplace: ε/2 each.  Normal: two sums of sensitivity LARGEST are one
    vector of ℓ2 sensitivity √2 LARGEST.
    """
    if promise.pure is not None:
        return "laplace", 2 * LARGEST / float(promise.pure)
    return "normal", math.sqrt(2) * LARGEST / promise.normal_mu


def _best(differences: Floats, noise: str, scale: float) -> Floats:
    """Return the mean of all scores, weighed by the density of the noise that each would need."""
    candidates = np.arange(LARGEST + 1)
    apart = np.abs(differences[:, None] - candidates)
    # of two Laplace draws: (1 + |x|/b) e^(-|x|/b) / (4 b)
    logs = np.log1p(apart / scale) - apart / scale if noise == "laplace" else -(apart**2) / (4 * scale**2)
    weights = special().softmax(logs, axis=1)
    return weights @ candidates


def _errors(errors: Floats) -> tuple[str, str]:
    """Return the root mean square of errors, and the share within NEAR."""
    return f"{math.sqrt(float((errors**2).mean())):,.1f}", f"{100 * float((np.abs(errors) <= NEAR).mean()):.1f} %"
