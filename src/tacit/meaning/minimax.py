"""What privacy costs in rows: the minimax price of d means, beside the error of this library's own noise.

Rows lie in [0, 1]^d and replace-one neighbours differ in one of n.  The squared error of the best estimate of the d
means, over the worst law, is of the order d/n + d³/(n²ε²) under pure ε [Barber & Duchi 2014; lecture notes §4], and d/n
+ d²/(n²μ²) with normal noise of μ = d^(1/2)/(n σ), which no method with that guarantee beats by more than a constant.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from tacit.base.table import Table, shown_by_summary
from tacit.meaning.promise import Promise


@shown_by_summary
@dataclass(frozen=True, repr=False)
class MinimaxPrice:
    """The order of the squared error of `columns` means, and what of it is privacy, for numbers of rows.

    >>> from fractions import Fraction
    >>> made = MinimaxPrice("ε = 1", Promise(pure=Fraction(1)), (100, 10_000), 5)
    >>> made.sampling(100), made.privacy(100), made.enough
    (0.05, 0.0125, 25)
    """

    title: str
    promise: Promise
    rows: tuple[int, ...]
    columns: int

    def sampling(self, rows: int) -> float:
        """Return d/n, the order of the error without privacy."""
        return self.columns / rows

    def privacy(self, rows: int) -> float:
        """Return d³/(n²ε²), or d²/(n²μ²): the order of what privacy adds."""
        return self._unit / rows**2

    @property
    def enough(self) -> int:
        """From how many rows on privacy adds less than sampling: d²/ε², or d/μ²."""
        return math.ceil(self._unit / self.columns * (1 - 1e-12))

    @property
    def _unit(self) -> float:
        d = self.columns
        if self.promise.pure is not None:
            return d**3 / float(self.promise.pure) ** 2
        return d**2 / self.promise.normal_mu**2

    def summary(self) -> Table:
        """Return the table, one row for each number of rows."""
        law = "d³/(n²ε²)" if self.promise.pure is not None else "d²/(n²μ²)"
        columns = ("rows n", "sampling d/n", f"privacy {law}", "together ÷ sampling")
        lines = [
            (
                f"{n:,}",
                f"{self.sampling(n):.3g}",
                f"{self.privacy(n):.3g}",
                f"{1 + self.privacy(n) / self.sampling(n):.3g}",
            )
            for n in self.rows
        ]
        own = 2 if self.promise.pure is not None else 1
        notes = (
            f"privacy adds less than sampling from {self.enough:,} rows on",
            f"orders without constants; noise on all d means at once has {own} times the term for privacy",
        )
        return Table(f"Squared error of {self.columns:,} means on [0, 1] · {self.title}", columns, tuple(lines), notes)
