"""What an analyst gains who chooses between δ of parts and noise, answers in hand: a table of explanation/ledger.md.

    python benchmarks/adaptive_delta.py

Gaussian noise of a share of μ² is bought first.  Then, by the privacy loss of the answer, either what is left of δ goes
to a part that reveals all with that probability, or what is left of μ² to Gaussian noise, whichever gives the larger δ
at ε; where δ is reserved, both.  Numbers are computed by quadrature, nothing is simulated.
"""

from __future__ import annotations

from fractions import Fraction
from itertools import pairwise
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pages import put
from scipy.integrate import quad
from scipy.stats import norm

from tacit.privacy import Budget, Spend, mu_squared_to_delta

PAGE = Path(__file__).parents[1] / "docs" / "explanation" / "ledger.md"
EPSILON, DELTA = 1, Fraction(1, 10**6)
SHARES = (Fraction(3, 10), Fraction(5, 10), Fraction(7, 10))
Array = NDArray[np.float64]


def beyond(mu: float, rest: float) -> float:
    """Return the δ of μ-GDP at ε = `rest`, which may be below 0."""
    return float(norm.cdf(mu / 2 - rest / mu) - np.exp(rest) * norm.cdf(-mu / 2 - rest / mu))


def of_choice(first: float, left: float, part: float, *, both: bool) -> float:
    """Return the δ at ε of the whole: μ² = `first`, then a part with the δ `part`, or μ² = `left`, or `both`."""
    mu, after = first**0.5, left**0.5
    losses = norm(first / 2, mu)

    def gained(loss: float) -> float:
        noise, revealed = beyond(after, EPSILON - loss), part + (1 - part) * max(-np.expm1(EPSILON - loss), 0.0)
        return part + (1 - part) * noise if both else max(noise, revealed)

    # the losses at which the choice changes lie between; beyond 12 standard deviations nothing is left of 1e-6
    ends = np.linspace(losses.mean() - 12 * mu, losses.mean() + 12 * mu, 49)
    return sum(
        quad(lambda one: losses.pdf(one) * gained(one), low, high, epsabs=1e-14, epsrel=1e-8, limit=200)[0]
        for low, high in pairwise(ends)
    )


def row(share: Fraction) -> str:
    """Return a line of the table: a share of μ², and the δ of the whole in those of the promise."""
    plain, reserving = (Budget(epsilon=EPSILON, delta=DELTA, reserved_delta=one) for one in (None, DELTA / 10))
    found = list[str]()
    for budget in (plain, reserving):
        whole = budget.limit.mu_squared
        first = whole * share
        part = budget.limit.delta or DELTA - mu_squared_to_delta(first, EPSILON)
        assert budget.holds(Spend(mu_squared=first, delta=part * Fraction(999, 1000)))
        made = of_choice(float(first), float(whole - first), float(part), both=budget.limit.delta > 0)
        found.append(f"{made / float(DELTA):.3f}")
    return f"| {float(share):.1f} | {' | '.join(found)} |"


def main() -> None:
    """Write the table."""
    lines = (
        f"δ of the whole over that of the promise (ε = {EPSILON}, δ = {float(DELTA):.0e}), where answers chose:\n",
        "| share of μ² bought first | by sums alone | δ / 10 reserved |",
        "|---:|---:|---:|",
        *map(row, SHARES),
    )
    put(PAGE, "adaptive_delta.py", "\n".join(lines))


if __name__ == "__main__":
    main()
