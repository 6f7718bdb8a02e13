"""A population of secrets: of many people with a secret each, how many an attacker guesses right.  Public arithmetic.

Every person has one of `secrets` values, each alike and each by itself.  Even who knows all other rows guesses one
person's right with probability at most s (`attacker.found_among`), hence of N people at most N s on average.  Under a
pure ε more holds of an attacker who guesses one after the other, and may be told after each guess whether it was right:
whatever the answer was and whatever was told, the odds of any two values of the next person have moved by e^ε at most,
so that the next guess is right with probability at most s, and the number of right guesses exceeds no number with a
larger probability than a binomial count of N trials of probability s does.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from tacit.base.lazy_imports import special
from tacit.base.table import Table, shown_by_summary
from tacit.meaning import attacker
from tacit.meaning.promise import Promise
from tacit.plots.canvas import Drawn

RARELY: Final = 1e-6
"""The probability with which the number of right guesses may be larger than `at_most`."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class PopulationOfSecrets:
    """How many of `people` secrets are guessed right, each one of `secrets` values that are equally likely beforehand.

    >>> from fractions import Fraction
    >>> made = PopulationOfSecrets("ε = 1", Promise(pure=Fraction(1)), 10_000, 2)
    >>> made.by_chance, round(made.on_average, 1), made.at_most
    (5000.0, 7310.6, 7520)
    """

    title: str
    promise: Promise
    people: int
    secrets: int

    @property
    def by_chance(self) -> float:
        """Right guesses on average of whoever has seen no answer: N / m."""
        return self.people / self.secrets

    @property
    def on_average(self) -> float:
        """The most right guesses on average."""
        return self.people * attacker.found_among(self.promise, self.secrets)

    @property
    def at_most(self) -> int | None:
        """How many right guesses are exceeded with probability 1e-6 at most; None where the promise is not pure.

        Of an attacker who learns of a person's secret after that guess at most.
        """
        if self.promise.pure is None:
            return None
        each, low, high = attacker.found_among(self.promise, self.secrets), 0, self.people
        while low < high:
            middle = (low + high) // 2
            # P(more than k of N)
            beyond = float(special().bdtrc(middle, self.people, each))
            low, high = (low, middle) if beyond <= RARELY else (middle + 1, high)
        return high

    def summary(self) -> Table:
        """Return the table."""
        rows = [
            ("by chance, on average", f"{self.by_chance:,.1f}"),
            ("with the answers, on average at most", f"{self.on_average:,.1f}"),
        ]
        if (most := self.at_most) is not None:
            rows.append((f"with the answers, hardly ever ({RARELY:g}) more than", f"{most:,}"))
        notes = ("bounds on the best attacker, who may hear after each guess whether it was right",)
        title = f"{self.people:,} people, a secret of {self.secrets:,} values each · {self.title}"
        return Table(title, ("guessed right", "people"), tuple(rows), notes, ("left", "right"))

    def plot(self, ax: Any = None) -> Drawn:
        """Draw right guesses on average against the values of a secret; InferenceError I20 without matplotlib."""
        from tacit.plots.canvas import Caption
        from tacit.plots.line_plot import lines

        values = np.unique(np.geomspace(2, max(self.secrets, 1_000), 40).round())
        most = [self.people * attacker.found_among(self.promise, int(m)) for m in values]
        curves = {"with the answers, at most": np.array(most), "by chance": self.people / values}
        caption = Caption(self.title, "values of each secret", f"{self.people:,} people", "guessed right on average")
        return lines(values, curves, caption, ax, logarithmic=True)
