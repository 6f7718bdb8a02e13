"""Smooth densities beside histograms and series: a table of docs/reference/histogram-density.md.

    python benchmarks/smooth_density.py [--repeats 200] [--quick]

Rows are drawn anew and counts perturbed anew in each simulation, by the law of a release.  `--quick` for a look.
Deterministic: seeds are constants.  The laws of SEEN were looked at while the method was made; those of FURTHER were
written down before any of them was simulated.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import put
from scipy.stats import beta, expon, gamma, norm, t, triang, uniform

import tacit as tc
from tacit.method.histogram.estimate_densities import density
from tacit.method.histogram.estimate_smooth import smooth_density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, shaped

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "histogram-density.md"
FINE: Final = 2_000
"""Places of [0, 1] at which squared errors are averaged."""
BINS: Final = (5, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Numbers of bins of the histograms beside."""
SMOOTHED: Final = (32, 64, 100)
"""Numbers of bins of the smooth densities."""


@dataclass(frozen=True)
class Mixture:
    """A law on [0, 1]: frozen laws of SciPy with weights, cut to [0, 1]."""

    parts: tuple[tuple[float, Any], ...]

    def cdf(self, x: np.ndarray) -> np.ndarray:
        found = sum(w * one.cdf(x) for w, one in self.parts)
        low, high = (sum(w * one.cdf(end) for w, one in self.parts) for end in (0.0, 1.0))
        return (found - low) / (high - low)


SEEN: Final = {
    "Beta(2,5)": Mixture(((1.0, beta(2, 5)),)),
    "two modes": Mixture(((0.5, norm(0.3, 0.08)), (0.5, norm(0.7, 0.1)))),
    "spike": Mixture(((0.6, norm(0.5, 0.2)), (0.4, norm(0.35, 0.015)))),
    "heavy tails: t(2)": Mixture(((1.0, t(2, loc=0.4, scale=0.04)),)),
    "uniform": Mixture(((1.0, uniform()),)),
}
FURTHER: Final = {
    "exponential": Mixture(((1.0, expon(scale=0.15)),)),
    "pole: gamma(.7)": Mixture(((1.0, gamma(0.7, scale=0.25)),)),
    "two boxes": Mixture(((0.7, uniform(0.1, 0.3)), (0.3, uniform(0.6, 0.25)))),
    "triangle": Mixture(((1.0, triang(0.3)),)),
    "claw": Mixture(((0.5, norm(0.5, 0.17)), *((0.1, norm(0.2 + 0.15 * k, 0.017)) for k in range(5)))),
    "U: Beta(.6,.6)": Mixture(((1.0, beta(0.6, 0.6)),)),
}
LAWS: Final = {**SEEN, **FURTHER}
SIZES: Final = ((1_000, {"epsilon": 0.5}), (1_000, {"rho": 0.1}), (10_000, {"epsilon": 1.0}), (10_000, {"rho": 0.01}))
