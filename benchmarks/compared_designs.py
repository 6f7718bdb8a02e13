"""Designs of `compared_densities.py`: laws, sizes, prices and estimators, written down before they were simulated.

ASKED has the four laws that the comparison is of; other pages looked at them while methods were made.  HELD has laws of
no other page, drawn before any rule was changed for the sake of this one: no rule may be chosen by them.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

from scipy.stats import beta, cauchy, norm
from smooth_density import SEEN, Mixture

import tacit as tc

ASKED: Final = {name: SEEN[name] for name in ("Beta(2,5)", "two modes", "spike", "heavy tails: t(2)")}
HELD: Final = {
    "Beta(6,2)": Mixture(((1.0, beta(6, 2)),)),
    "three hills": Mixture(((0.3, norm(0.2, 0.05)), (0.4, norm(0.5, 0.09)), (0.3, norm(0.8, 0.06)))),
    "needle": Mixture(((0.8, beta(2, 2)), (0.2, norm(0.62, 0.02)))),
    "Cauchy": Mixture(((1.0, cauchy(0.55, 0.03)),)),
}
LAWS: Final = {**ASKED, **HELD}
SIZES: Final = (1_000, 10_000)
PRICES: Final = ({"epsilon": 0.5}, {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 1e-6})
BASES: Final = ("cosine", "legendre", "fourier", "haar")
SMOOTHED: Final = 64
"""Bins of smooth densities, as the page on densities says: they have no rule of their own."""


@dataclass(frozen=True)
class Method:
    """An estimator and its question.  parameter: what is varied.  grid: its values, of which the best is sought."""

    name: str
    parameter: str
    grid: tuple[float, ...]

    def query(self, value: float | None) -> Any:
        """Return the question; None is what the design chooses."""
        if self.name in BASES:
            return tc.OrthogonalSeries("x", self.name, terms=None if value is None else int(value))
        if self.name == "kernel":
            return tc.KernelDensity("x", bandwidth="auto" if value is None else float(value))
        if self.name == "Bernstein":
            return tc.Bernstein("x", degree=None if value is None else int(value))
        if self.name == "data set":
            return tc.KSDataset("x", size="auto" if value is None else int(value))
        usual = SMOOTHED if self.name == "smooth" else "auto"
        return tc.Histogram("x", bins={"x": usual if value is None else int(value)})


TERMS: Final = (1, 2, 3, 4, 5, 6, 8, 10, 12, 14, 17, 20, 24, 28, 34, 40, 48, 56, 64)
BINS: Final = (4, 5, 6, 8, 10, 12, 14, 16, 20, 24, 28, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224)
METHODS: Final = (
    Method("histogram", "bins", BINS),
    Method("smooth", "bins", tuple(k for k in BINS if k >= 8)),
    *(Method(basis, "terms", TERMS) for basis in BASES),
    Method("kernel", "bandwidth", tuple(round(0.1 * 1.2**-k, 5) for k in range(18))),
    Method("Bernstein", "degree", (3, 4, 6, 8, 10, 12, 16, 20, 26, 32, 42, 54, 70, 90, 120, 160, 210, 256)),
)
DATA_SETS: Final = Method("data set", "size", (10, 15, 20, 30, 40, 60, 100, 200, 300, 400))
"""A data set has no density: its distribution function alone is compared."""
