"""How many blocks a question has where it does not say: public arithmetic."""

from __future__ import annotations

from math import sqrt
from typing import Final

from tacit.privacy import Cost

LEAST: Final = 20
"""Rows of a block, at least, where the number of blocks is ours to choose; ten a parameter where that is more."""


SKEW: Final = 1 / 3
"""Bias of a mean of blocks, in standard errors of all rows without privacy, at most: 95% intervals cover 93.7% with it
where nothing else made them wider.
"""


TRUST: Final = 0.3
"""The least b of one party: a law of which corrected estimates have no bias is not quite that of anybody's rows."""


def price_of_one(cost: Cost, parameters: int) -> float:
    """The epsilon at which Laplace noise is as wide as the noise of one parameter's share of the price.

    Laplace of scale 1 / epsilon has the variance 2 / epsilon**2, a Gaussian of rho 1 / (2 rho).
    """
    if cost.noise == "laplace" and cost.epsilon is not None:
        return float(cost.epsilon) / parameters
    return 2 * sqrt(float(cost.zcdp) / parameters)


def blocks_for(
    rows: int,
    epsilon: float,
    parameters: int,
    width: float = 1.0,
    second: tuple[float, float] = (4.0, 1.0),
    parties: int | None = None,
) -> int:
    """The k that minimises 2 n w**2 / (k epsilon)**2 + v k / n + M b**2 k**4 / n**3 (theory §2, §6), w, v, b public.

    That is MSE M n I - 1 of the mean over M parties of n rows: noise and second-order variance average out over them,
    bias does not.  At w = 1, v = 4, b = 0 of one party it is (n / epsilon)**(2/3).

    Of one party blocks have at least 20 rows, and ten a parameter; and so many more that the bias, b k**2 / n**(3/2)
    standard errors of all rows without privacy, is at most SKEW of these, with b at least TRUST.  Of several parties
    they have at least ten rows, and ten a parameter.

    width: of the box, in standard deviations w = box sqrt(I) of one row.  second: v and b.

    >>> blocks_for(100_000, 0.5, 2), blocks_for(100_000, 0.5, 2, 3.0), blocks_for(100_000, 0.001, 2, 3.0, (4.0, 0.0))
    (2499, 3246, 5000)
    >>> blocks_for(10_000, 1.0, 1, 4.8, (2.5, 0.0), 50), blocks_for(10_000, 1.0, 1, 4.8, (2.5, 1.0), 50)
    (1000, 406)
    """
    v, b = second
    most = rows / (SHORTEST * parameters)
    if parties is None:
        b = max(b, TRUST)
        most = min(rows / max(LEAST, 10 * parameters), sqrt(SKEW / b) * rows**0.75)

    def excess(k: float) -> float:
        return 2 * rows * (width / (k * epsilon)) ** 2 + v * k / rows + (parties or 1) * b**2 * k**4 / rows**3

    low, high = 2.0, max(2.0, most)
    for _ in range(80):  # one minimum: the sum is convex in k
        a, c = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, c) if excess(a) < excess(c) else (a, high)
    return max(2, int(high + 1e-6))


def published_blocks(rows: int, epsilon: float) -> int:
    """The number of blocks that is printed for one party, n**(3/5) epsilon**(-2/5) [Smith 2008, Lemma 3.3; theory E3].

    >>> published_blocks(10_000, 1.0)
    251
    """
    return max(1, min(rows, round(rows**0.6 * epsilon**-0.4)))


def published_for_parties(rows: int, epsilon: float, parties: int, box: float) -> int:
    """What minimises N L**2 / (k epsilon)**2 + k**2 M / N**2 as printed [Chen & Sung, Theorem 3.2; theory E18].

    >>> published_for_parties(10_000, 1.0, 50, 4.8)
    824
    """
    return max(1, min(rows, round((rows**3 * box**2 / (parties * epsilon**2)) ** 0.25)))


SHORTEST: Final = 10
"""Rows of a block, and of a block for each parameter, where the blocks of many parties are averaged."""
