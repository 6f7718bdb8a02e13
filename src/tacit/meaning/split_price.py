"""One price spent at once or in k equal parts: the noise of an average of k releases.  Figures for reading.

Brawner & Honaker 2018, §3: `privacy.partition` has each rule of composition at its true optimum, and what is printed.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.base.table import Table, shown_by_summary
from tacit.plots.canvas import Drawn
from tacit.privacy.partition import Partition, partition_table


@shown_by_summary
@dataclass(frozen=True, repr=False)
class SplitPrice:
    """Variance of the noise on the average of k releases of a number of sensitivity 1, that together cost (ε, δ).

    releases: the numbers k.  partitions: for each k the rules, of the same names in the same order.

    >>> made = split_price(Fraction(1), Fraction("1e-6"), (1, 50))
    >>> [round(one, 2) for one in made.variance("normals, exact")]
    [17.85, 17.85]
    >>> [round(one, 2) for one in made.variance("pure, ε / k each")]
    [2.0, 100.0]
    """

    epsilon: Fraction
    delta: Fraction
    releases: tuple[int, ...]
    partitions: tuple[tuple[Partition, ...], ...]

    @property
    def rules(self) -> tuple[str, ...]:
        """The names of the rules."""
        return tuple(one.rule for one in self.partitions[0])

    def variance(self, rule: str) -> tuple[float, ...]:
        """Return the variance of the average under one rule, for each number of releases; KeyError for no rule."""
        return tuple({one.rule: one.average for one in some}[rule] for some in self.partitions)

    def summary(self) -> Table:
        """Return the table, a line for each rule."""
        rows = [(rule, *(f"{x:.3g}" for x in self.variance(rule))) for rule in self.rules]
        columns = ("each release by the rule", *(f"k = {k:,}" for k in self.releases))
        notes = ("variance of the noise, in squared sensitivities; the rule as printed has no proof",)
        return Table(f"Average of k releases · {self._price}", columns, tuple(rows), notes)

    def plot(self, ax: Any = None) -> Drawn:
        """Draw the variances against k, one line for each rule; InferenceError I20 without matplotlib."""
        from tacit.plots.canvas import Caption
        from tacit.plots.line_plot import lines

        curves = {rule: np.array(self.variance(rule)) for rule in self.rules}
        caption = Caption(f"Average of k releases · {self._price}", "k", "", "variance of the noise")
        return lines(np.array(self.releases, dtype=float), curves, caption, ax, logarithmic=True)

    @property
    def _price(self) -> str:
        return f"ε = {float(self.epsilon):g}, δ = {float(self.delta):g} together"


def split_price(epsilon: Fraction, delta: Fraction, releases: Sequence[int]) -> SplitPrice:
    """Return the variances of one price for each number of releases."""
    found = tuple(partition_table(epsilon, delta, k) for k in releases)
    return SplitPrice(epsilon, delta, tuple(releases), found)
