"""Kernel densities beside histograms, series and Gaussian processes: docs/reference/kernel-densities.md.

    python benchmarks/kernel_densities.py [--repeats 200] [--quick]

Rows are drawn anew, as counts of the public cells, and counts perturbed anew in each simulation, by the law of a
release.  `--quick` for a look.  Deterministic: seeds are constants.  Laws, sizes and prices were written down before any
of them was simulated; laws with * were looked at, at other sizes, while the method was made.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

from scipy.stats import beta, norm
from series_densities import PAIRS
from smooth_density import LAWS as KNOWN
from smooth_density import Mixture

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "kernel-densities.md"
SEEN: Final = ("Beta(2,5)", "uniform", "two modes", "exponential")
LAWS: Final = {
    **KNOWN,
    "Beta(8,2)": Mixture(((1.0, beta(8, 2)),)),
    "normal within": Mixture(((1.0, norm(0.5, 0.12)),)),
}
"""Laws of one column."""


@dataclass(frozen=True)
class Design:
    """Number of rows, price and neighbouring relation; under add-remove the number of rows is private."""

    n: int
    price: dict[str, float]
    relation: str = "replace-one"


SIZES: Final = (
    Design(1_000, {"epsilon": 0.5}),
    Design(1_000, {"rho": 0.1}),
    Design(10_000, {"epsilon": 1.0, "delta": 1e-6}),
    Design(10_000, {"rho": 0.001}, "add-remove"),
    Design(100_000, {"epsilon": 0.1}),
)
"""Of one column."""
PAIR_SIZES: Final = (Design(2_000, {"rho": 0.1}), Design(20_000, {"epsilon": 1.0}), Design(20_000, {"rho": 0.1}))
"""Of two columns."""
OF_PAIRS: Final = PAIRS
WIDTHS: Final = ((1, 0.01), (1, 0.02), (1, 0.05), (1, 0.1), (2, 0.05), (2, 0.1), (3, 0.1))
"""Numbers of columns and bandwidths at which the noise of several releases is compared."""
PRINTED: Final = ((1, 0.3), (1, 0.1), (1, 0.03), (2, 0.3), (2, 0.1))
"""Numbers of columns and bandwidths of the printed calibration."""
TARGET: Final = 0.0026
"""Mean integrated squared error that was to be reached for Beta(2,5), 10,000 rows, epsilon = 1 and delta = 1e-6."""
