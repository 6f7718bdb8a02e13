"""Orthogonal series beside histograms: docs/reference/orthogonal-series.md.

    python benchmarks/series_densities.py [--repeats 200] [--quick]

Rows are drawn anew, as counts of the public bins, and coefficients perturbed anew in each simulation, by the law of a
release.  `--quick` for a look.  Deterministic: seeds are constants.  Laws and sizes were written down before any of them
was simulated; those of one column are those of `smooth_density.py`.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import numpy as np
from scipy.stats import beta, multivariate_normal, norm

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "orthogonal-series.md"
ONE: Final = ("Beta(2,5)", "two modes", "heavy tails: t(2)", "exponential", "triangle", "claw")
"""Laws of one column."""
SIZES: Final = ((1_000, {"epsilon": 0.5}), (1_000, {"rho": 0.1}), (10_000, {"epsilon": 1.0}), (10_000, {"rho": 0.01}))
PAIR_SIZES: Final = (
    (2_000, {"epsilon": 1.0}),
    (2_000, {"rho": 0.1}),
    (20_000, {"epsilon": 1.0}),
    (20_000, {"rho": 0.1}),
)
SIDE: Final = 128
"""Bins of a column of two: the public ones."""
SIDES: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Bins of each column of the histograms beside."""
FINE: Final = 1_024


@dataclass(frozen=True)
class Pair:
    """A law on the unit square: its density at the middles of the public bins, up to a constant."""

    name: str

    def density(self, side: int) -> np.ndarray:
        """Return the mean density of each of side x side cells, from 512 x 512 places."""
        t = (np.arange(512) + 0.5) / 512
        x, y = np.meshgrid(t, t, indexing="ij")
        if self.name == "independent: Beta(2,5), Beta(3,3)":
            found = beta(2, 5).pdf(x) * beta(3, 3).pdf(y)
        elif self.name == "normal, correlation .7":
            law = multivariate_normal([0.5, 0.5], [[0.02, 0.014], [0.014, 0.02]])
            found = law.pdf(np.stack([x, y], axis=-1))
        elif self.name == "two heaps":
            found = 0.6 * norm(0.3, 0.1).pdf(x) * norm(0.35, 0.1).pdf(y)
            found = found + 0.4 * norm(0.7, 0.08).pdf(x) * norm(0.65, 0.12).pdf(y)
        else:  # a ridge: y is a curve of x with little scatter
            found = beta(2, 2).pdf(x) * norm(0.2 + 0.6 * x**2, 0.06).pdf(y)
        cells = found.reshape(side, 512 // side, side, 512 // side).mean(axis=(1, 3))
        return cells / cells.mean()


PAIRS: Final = tuple(map(Pair, ("independent: Beta(2,5), Beta(3,3)", "normal, correlation .7", "two heaps", "ridge")))
