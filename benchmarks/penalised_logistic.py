"""Penalised logistic regression (Lei 2011, section 1.1): by a perturbed objective, and from perturbed cells.

The one coefficient of Lei's example with a penalty of lambda / 2 times its square.  The perturbed objective is that of
Chaudhuri & Monteleoni 2008, which Lei names, with the price of the change of variables as Chaudhuri, Monteleoni &
Sarwate 2011 (Algorithm 2) put it right.  The design was committed before it was simulated.  Seeds are constants.
"""

from __future__ import annotations

import math

import numpy as np
from cell_rates import BETA, SPACE, Floats, automatic_bins, counted, logistic, rows_of, smooth_bins
from scipy.optimize import brentq
from scipy.special import expit

# The design: committed before anything was simulated -----------------------------------------------------------------

SIZES = (1_000, 10_000)
ALPHAS = (0.1, 1.0)
PENALTIES = (0.001, 0.01, 0.1)
CURVATURE = 0.25
"""Largest second derivative of the logistic loss."""


def perturbation(n: int, alpha: float, penalty: float) -> tuple[float, float]:
    """Return the scale of the Laplace noise in the objective's slope, and the penalty with what has to be added.

    The density of the noise is exp(-alpha' |b| / 2): one row changed moves the slope by at most 2 (|x| at most 1).
    alpha' is alpha less log(1 + 2c / (n penalty) + (c / (n penalty))**2), c = CURVATURE; where less than nothing is
    left, the penalty is raised until alpha / 2 is.
    """
    part = CURVATURE / (n * penalty)
    left = alpha - math.log1p(2 * part + part**2)
    if left > 0:
        return 2 / left, penalty
    # the larger penalty L has 2 log(1 + c / (n L)) = alpha / 2
    return 4 / alpha, CURVATURE / (n * math.expm1(alpha / 4))


def minimised(x: Floats, y: Floats, penalty: float, tilt: float = 0.0) -> float:
    """Minimise the mean logistic loss + penalty beta**2 / 2 + tilt beta; the nearest point of SPACE where outside."""

    def gradient(beta: float) -> float:
        return float(x @ (expit(beta * x) - y)) / len(x) + penalty * beta + tilt

    low, high = SPACE[1]
    if gradient(low) >= 0 or gradient(high) <= 0:
        return low if gradient(low) >= 0 else high
    return float(brentq(gradient, low, high, xtol=1e-9))


def penalised_part(repeats: int) -> list[str]:
    """The section of the page."""
    lines = ["| n | α | λ | penalised fit − truth | objective | cells, published bins | cells, automatic bins |"]
    lines.append("| ---: " * 7 + "|")
    for i, n in enumerate(SIZES):
        for j, alpha in enumerate(ALPHAS):
            bins = smooth_bins(n, 1), automatic_bins(n, alpha, 1, 2)
            rng = np.random.default_rng(35_000 + 10 * i + j)
            off: dict[float, list[list[float]]] = {penalty: [] for penalty in PENALTIES}
            for _ in range(repeats):
                rows = rows_of("logistic", n, rng)
                x, y = rows.T
                noisy = [(counts := counted(rows, [k, 2])) + rng.laplace(0, 2 / alpha, counts.shape) for k in bins]
                for penalty in PENALTIES:
                    plain = minimised(x, y, penalty)
                    scale, more = perturbation(n, alpha, penalty)
                    fits = [minimised(x, y, more, rng.laplace(0, scale) / n)]
                    fits += [logistic(counts, False, penalty) for counts in noisy]
                    off[penalty].append([plain - BETA, *(one - plain for one in fits)])
            for penalty in PENALTIES:
                rms = np.sqrt((np.array(off[penalty]) ** 2).mean(axis=0))
                cells = " | ".join(f"{one:.3g}" for one in rms)
                lines.append(f"| {n:,} | {alpha} | {penalty} | {cells} |")
    head = f"""## Lei (2011), §1.1: penalised logistic regression

Lei names the penalised fit of Chaudhuri and Monteleoni (2008) as the other private way, a perturbed objective that
needs a strictly convex penalty. The same coefficient as above with λβ²/2 added: root mean squared distances from the
penalised fit of the same rows, by the perturbed objective (its price of the change of variables as put right by
Chaudhuri, Monteleoni and Sarwate, 2011) and from perturbed cells as their centres, which answer any λ at one
price; first the penalised fit's own distance from the truth, {BETA:g}. {repeats} tables a line.
"""
    return [head, *lines]
