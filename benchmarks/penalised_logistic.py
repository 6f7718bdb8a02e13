"""Penalised logistic regression (Lei 2011, section 1.1): by a perturbed objective, and from perturbed cells.

The one coefficient of Lei's example with a penalty of lambda / 2 times its square.  The perturbed objective, due to
Chaudhuri & Monteleoni 2008, whom Lei names, is calibrated as in Chaudhuri, Monteleoni & Sarwate 2011 (Algorithm 2), and
as tightly as one coefficient allows.  The design was committed before it was simulated.  Seeds are constants.
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
MOVED = 1.06
"""At least the most that one changed row moves the slope of the loss, x in [0, 1] and y 0 or 1.

For beta >= 0 that is s(beta) + max x / (1 + exp(beta x)), s the logistic function.  The second part is 1 - s(beta) up
to beta = 1.28 and then at most 0.27847 / beta; the sum is at most 1.053, near beta = 4.1.  Likewise for beta < 0.
"""


def perturbation(n: int, alpha: float, penalty: float, tight: bool) -> tuple[float, float]:
    """Return the scale of the Laplace noise in the objective's slope, and the penalty with what has to be added.

    The density of the noise is exp(-alpha' |b| / 2): one row changed moves the slope by at most 2 (|x| at most 1).
    alpha' is alpha less 2 log(1 + c / (n penalty)), c = CURVATURE, for the change of variables; where nothing is left,
    the penalty is raised until alpha / 2 is.  tight: MOVED instead of 2, and the logarithm once: one row changes one
    second derivative, by at most c.
    """
    moved, times = (MOVED, 1) if tight else (2.0, 2)
    left = alpha - times * math.log1p(CURVATURE / (n * penalty))
    if left > 0:
        return moved / left, penalty
    # the larger penalty L has times log(1 + c / (n L)) = alpha / 2
    return 2 * moved / alpha, CURVATURE / (n * math.expm1(alpha / (2 * times)))


def minimised(x: Floats, y: Floats, penalty: float, tilt: float = 0.0) -> float:
    """Minimise the mean logistic loss + penalty beta**2 / 2 + tilt beta; the nearest point of SPACE where outside."""

    def gradient(beta: float) -> float:
        return float(x @ (expit(beta * x) - y)) / len(x) + penalty * beta + tilt

    low, high = SPACE[1]
    if gradient(low) >= 0 or gradient(high) <= 0:
        return low if gradient(low) >= 0 else high
    return float(brentq(gradient, low, high, xtol=1e-9))  # pyright: ignore


def penalised_part(repeats: int) -> list[str]:
    """The section of the page."""
    lines = [
        "| n | α | λ | penalised fit − truth | objective | objective, tight "
        "| cells, published bins | cells, automatic bins |"
    ]
    lines.append("| ---: " * 8 + "|")
    all_rms: list[Floats] = []
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
                    fits = []
                    for tight in (False, True):
                        scale, more = perturbation(n, alpha, penalty, tight)
                        fits.append(minimised(x, y, more, rng.laplace(0, scale) / n))
                    fits += [logistic(counts, False, penalty) for counts in noisy]
                    off[penalty].append([plain - BETA, *(one - plain for one in fits)])
            for penalty in PENALTIES:
                rms = np.sqrt((np.array(off[penalty]) ** 2).mean(axis=0))
                all_rms.append(rms)
                cells = " | ".join(f"{one:.3g}" for one in rms)
                lines.append(f"| {n:,} | {alpha} | {penalty} | {cells} |")
    head = f"""## Lei (2011), §1.1: penalised logistic regression

Lei names the penalised fit of Chaudhuri and Monteleoni (2008) as the other private way, a perturbed objective that
needs a strictly convex penalty. The same coefficient as above with λβ²/2 added: root mean squared distances from the
penalised fit of the same rows, by the perturbed objective and from perturbed cells as their centres; first the
penalised fit's own distance from the truth, {BETA:g}. {repeats} tables a line. The objective is calibrated as in
Chaudhuri, Monteleoni and Sarwate (2011, Algorithm 2), which pays for the change of variables; where that takes all
of α (n = 1,000, α = 0.1, λ = 0.001), the penalty is raised. *Tight* is the same with what one coefficient needs: a row
moves the slope by at most 1.053, not 2. Cells answer any λ, and other questions, at one price; with more columns they
multiply, and the objective does not.
"""

    def span(one: int, other: int) -> str:
        ratios = [rms[one] / rms[other] for rms in all_rms]
        return f"{min(ratios):.1f} to {max(ratios):.1f}"

    tail = f"""
Published bins cost {span(3, 1)} times the objective, automatic bins {span(4, 1)} times, and {span(4, 2)} times the
tight objective. A penalty that makes privacy cheap is paid for in bias, the fourth column.
"""
    return [head, *lines, tail]
