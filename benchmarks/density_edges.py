"""Limits of smooth densities at jumps, poles and spikes: docs/reference/density-limits.md.

    python benchmarks/density_edges.py [--repeats 40] [--quick]

Rows are drawn anew and counts or coefficients perturbed anew in each simulation, by the law of a release.  `--quick`
for a look.  Deterministic: seeds are constants.  Laws, sizes and prices were written down, and committed, before any of
them was simulated; none of them is a law of another page of densities but for the uniform one.
"""

from __future__ import annotations

from typing import Final

from scipy.stats import beta, expon, lomax, norm, triang, uniform
from smooth_density import Mixture

SMOOTH: Final = {
    "Beta(3,2)": Mixture(((1.0, beta(3, 2)),)),
    "normal(.6,.15)": Mixture(((1.0, norm(0.6, 0.15)),)),
    "two hills": Mixture(((0.4, norm(0.25, 0.1)), (0.6, norm(0.65, 0.09)))),
    "exponential(.22)": Mixture(((1.0, expon(scale=0.22)),)),
    "uniform": Mixture(((1.0, uniform()),)),
}
"""Held-out laws with smooth densities, jumps at the bounds of the column apart."""
ROUGH: Final = {
    "triangle(.62)": Mixture(((1.0, triang(0.62)),)),
    "step of 10%": Mixture(((0.37, uniform(0, 0.37)), (0.63 * 1.1, uniform(0.37, 0.63)))),
    "step of 20%": Mixture(((0.37, uniform(0, 0.37)), (0.63 * 1.2, uniform(0.37, 0.63)))),
    "step of 30%": Mixture(((0.37, uniform(0, 0.37)), (0.63 * 1.3, uniform(0.37, 0.63)))),
    "step of 100%": Mixture(((0.37, uniform(0, 0.37)), (0.63 * 2.0, uniform(0.37, 0.63)))),
    "box within": Mixture(((0.6, beta(2, 3)), (0.4, uniform(0.42, 0.21)))),
    "spike of 1%": Mixture(((0.95, beta(2, 2)), (0.05, uniform(0.43, 0.01)))),
    "atom": Mixture(((0.9, beta(2, 3)), (0.1, norm(0.302, 1e-7)))),
    "arcsine": Mixture(((1.0, beta(0.5, 0.5)),)),
    "Pareto": Mixture(((1.0, lomax(1.2, scale=0.04)),)),
    "sawtooth": Mixture(tuple((0.25, triang(1.0, loc=k / 4, scale=0.25)) for k in range(4))),
}
"""Held-out laws with kinks, jumps, spikes and poles; a step of 20% is to a density that is 1.2 times as high."""
LAWS: Final = {**SMOOTH, **ROUGH}
SIZES: Final = (1_000, 10_000, 100_000)
PRICES: Final = ({"epsilon": 0.5}, {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 1e-6})
BINS: Final = 64
"""Bins of the histogram that smooth densities are fitted to."""
BASIS: Final = ("cosine", "legendre")
"""Bases of series, with the number of terms of the design."""
LEVEL: Final = 0.95
PLACES: Final = 50
"""Places at which limits hold one by one, and a band all at once: (k + 1/2) / PLACES."""
