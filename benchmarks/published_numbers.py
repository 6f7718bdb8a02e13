"""Numbers behind `bootstrap_as_published.py`: the paper's own simulations, and what is right beside them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

import numpy as np
from numpy.typing import NDArray
from scipy import stats

from tacit.method.bootstrap.estimate_replicates import (
    Errors,
    as_printed,
    bootstrap_variance,
    noise_factor,
    without_noise,
)
from tacit.privacy.bootstrap_cost import certify
from tacit.privacy.bootstrap_profiles import Resampling
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared

Floats = NDArray[np.float64]

# The designs: committed before anything was simulated ---------------------------------------------------------------

ROWS, REPLICATES, RHO = 500, 50, Fraction(1, 2)
"""Of the paper's examples."""
DELTA: Final = Fraction(1, 10**6)
KINDS: Final[tuple[Errors, ...]] = ("unbiased", "conservative", "most conservative")
NUMBERS: Final = (5, 10, 20, 35, 50, 75, 100, 150, 200)
"""Replicates of Figure 7, each with SEVENTH simulations, as there."""
SEVENTH: Final = 500
THERE, EIGHTH = 1_000, 10_000
"""Simulations of Figures 8 and 9 in the paper, and here: its own know 80% to 2.5 points only."""
CAPPED: Final = (1, 2, 3, 5, 8)
"""Most copies of a row in the capped bootstrap of §6.1 and §6.2, each with CAPS simulations."""
CAPS: Final = 2_000
BOUND: Final = 3.0
"""The normal rows of Figure 7 are clipped here: the paper does not say which rows it has, and these look alike."""
CLASS, SCORES = 25, 100.0
"""Pupils before Alice came, and the largest score, in the attack of §2.1."""
LOSSES: Final = 400_000
"""Simulated privacy losses of the lower bound."""
# End of the designs -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Replicates:
    """Noisy replicates of a mean in many simulations, shape (simulations, replicates), and public facts of them.

    noise: its variance in one replicate.  truth: the population's mean.  sampling: variance of the sample's mean.
    """

    values: Floats
    noise: float
    truth: float
    sampling: float

    @property
    def means(self) -> Floats:
        """Averages of the replicates."""
        return self.values.mean(axis=1)

    def variance(self, kind: Errors, *, printed: bool) -> Floats:
        """Equation 35 as printed, or without its noise term, floored at 0."""
        spread, k = self.values.var(axis=1, ddof=1), self.values.shape[1]
        factor = noise_factor(kind, k)
        return as_printed(spread, self.noise, k, factor) if printed else without_noise(spread, self.noise, factor)

    def coverage(self, kind: Errors, *, printed: bool) -> tuple[float, float]:
        """Coverage in percent and mean width of 95% intervals."""
        half = stats.norm.ppf(0.975) * np.sqrt(self.variance(kind, printed=printed))
        return 100 * float((np.abs(self.means - self.truth) <= half).mean()), float(2 * half.mean())

    def hidden(self) -> float:
        """Share of simulations, in percent, in which equation 30 is not above 0."""
        found = bootstrap_variance(self.values.var(axis=1, ddof=1), np.asarray(self.noise), 1.0)
        return 100 * float((found <= 0).mean())


def normal_rows(replicates: int, simulations: int) -> Replicates:
    """Figure 7: replicates of the mean of ROWS normal rows within +-BOUND."""
    rng = np.random.default_rng(replicates)
    noise = float(Fraction(2 * int(BOUND), ROWS) ** 2 * replicates / (2 * RHO))
    made = np.empty((simulations, replicates))
    for row in made:
        x = np.clip(rng.standard_normal(ROWS), -BOUND, BOUND)
        drawn = rng.multinomial(ROWS, np.full(ROWS, 1 / ROWS), size=replicates)
        row[:] = drawn @ x / ROWS + rng.normal(0, math.sqrt(noise), replicates)
    return Replicates(made, noise, 0.0, stats.truncnorm.var(-BOUND, BOUND) / ROWS)


def ages(people: NDArray[np.int64], simulations: int, most: int | None = None) -> Replicates:
    """§8, or with multiplicities cut at `most` and the noise of equation 18: replicates of the mean of ROWS ages."""
    rng, k = np.random.default_rng(most or 0), REPLICATES
    noise = float(Fraction(100, ROWS) ** 2 * k / (2 * RHO)) * (1 if most is None else equation_18(most))
    made = np.empty((simulations, k))
    for row in made:
        x = rng.choice(people, ROWS, replace=False)
        drawn = rng.multinomial(ROWS, np.full(ROWS, 1 / ROWS), size=k)
        drawn = drawn if most is None else np.minimum(drawn, most)
        row[:] = drawn @ x / ROWS + rng.normal(0, math.sqrt(noise), k)
    return Replicates(made, noise, float(people.mean()), float(people.var()) / ROWS)


def equation_18(most: int) -> float:
    """The noise variance of equation 18 over that of equation 26: (j Delta)**2 (1 - 1/e)**2 / rho, without a half."""
    return 2 * most**2 * (1 - math.exp(-1)) ** 2


def certified(replicates: int, most: int | None = None) -> float:
    """The certified epsilon at DELTA of the replicates of the paper, or of the capped ones."""
    each = 2 * RHO / replicates
    each = each if most is None else each / Fraction(equation_18(most)).limit_denominator(10**9)
    return float(certify(Resampling(rows=ROWS, most=most), replicates, each).epsilon(DELTA))


def one_shot(epsilon: float) -> float:
    """The noise variance, in squared sensitivities, of one normal release at (epsilon, DELTA)."""
    return 1 / float(epsilon_delta_to_mu_squared(Fraction(epsilon).limit_denominator(10**6), DELTA))


def multiplicities(most: int | None = None) -> tuple[float, float]:
    """Mean and variance of a row's multiplicity, cut at `most`."""
    m = np.arange(ROWS + 1)
    p, cut = stats.binom.pmf(m, ROWS, 1 / ROWS), np.minimum(m, ROWS if most is None else most)
    mean = float(p @ cut)
    return mean, float(p @ cut**2) - mean**2


def renyi(order: Floats, share: float, rho: float) -> Floats:
    """D_a / a of a normal release of a row that is drawn with probability `share`, against one without the row.

    By quadrature: P = (1 - p) N(0, 1) + p N(mu, 1), Q = N(0, 1), mu**2 = 2 rho [Bun & Steinke 2016, Definition 1.1].
    """
    mu = math.sqrt(2 * rho)
    x = np.linspace(-12, 12 + 2 * mu * float(order.max()), 200_001)
    log_q, ratio = stats.norm.logpdf(x), np.logaddexp(math.log1p(-share), math.log(share) + mu * x - mu**2 / 2)
    step = x[1] - x[0]
    found = [float(np.logaddexp.reduce(log_q + a * ratio)) + math.log(step) for a in order]
    return np.array(found) / (order - 1) / order


def lower_bound(epsilon: float) -> tuple[float, float]:
    """Simulated delta at epsilon of one pair of tables, a row at Delta or 0 and all others 0, and twice its error."""
    rng, mu = np.random.default_rng(1), REPLICATES**-0.5
    grid = np.linspace(-8, 16, 24_001)
    m = np.arange(13)
    p = stats.binom.pmf(m, ROWS, 1 / ROWS)
    table = np.log(np.exp(grid[:, None] * m * mu - (m * mu) ** 2 / 2) @ p)
    total = np.zeros(LOSSES)
    for _ in range(REPLICATES):
        copies = rng.binomial(ROWS, 1 / ROWS, LOSSES)
        total += np.interp(copies * mu + rng.standard_normal(LOSSES), grid, table)
    part = np.maximum(1 - np.exp(epsilon - total), 0)
    return float(part.mean()), 2 * float(part.std()) / math.sqrt(LOSSES)
