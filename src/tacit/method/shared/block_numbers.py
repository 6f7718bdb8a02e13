"""The default number of blocks of a question, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Final

from tacit.privacy import Cost

LEAST: Final = 20
"""Fewest rows of a block where the number of blocks is chosen here; or ten for each parameter, where that is more."""


SKEW: Final = 1 / 3
"""Largest bias of a mean of blocks, over parties where there are several, in its own standard errors: 95% intervals
then cover 93.7%.
"""


TRUST: Final = 0.3
"""Smallest b assumed for one party: real rows depart from a model even where its corrected estimates have no bias."""


def price_of_one(cost: Cost, parameters: int) -> float:
    """Return the epsilon at which Laplace noise is as wide as the noise for one parameter's share of the price.

    Laplace of scale 1 / epsilon has the variance 2 / epsilon**2, a Gaussian of rho 1 / (2 rho).
    """
    if cost.noise == "laplace" and cost.epsilon is not None:
        return float(cost.epsilon) / parameters  # pure prices of the parameters add up
    # 2 / epsilon**2 = 1 / (2 rho'), solved for epsilon at rho' = rho / parameters
    return 2 * sqrt(float(cost.zcdp) / parameters)


def blocks_for(
    rows: int,
    epsilon: float,
    parameters: int,
    width: float = 1.0,
    second: tuple[float, float] = (4.0, 1.0),
    parties: int | None = None,
    each: Sequence[tuple[float, float]] = (),
) -> int:
    """Return the k that minimises 2 n w**2 / (k epsilon)**2 + v k / n + M b**2 k**4 / n**3 (theory §2, §6).

    That is MSE M n I - 1 of the mean over M parties of n rows: noise and second-order variance average out over them,
    bias does not.  At w = 1, v = 4, b = 0 of one party it is (n / epsilon)**(2/3).  Blocks are so large that the bias,
    sqrt(M) b k**2 / n**(3/2), is at most SKEW standard errors of that mean, sqrt(1 + 2 n w**2 / (k epsilon)**2 + v k /
    n), all in standard errors of an estimate from all rows without privacy.

    One party: blocks have at least 20 rows, and ten for each parameter, and b is at least TRUST.  Several parties:
    blocks have at least ten rows for each parameter.

    width: w = box sqrt(I), the box in standard deviations of one row.  second: v and b.  each: w and b of each
    parameter released, where these differ; the k is that of the largest, and the bias of each is held against its own
    error.  All are public.

    >>> blocks_for(100_000, 0.5, 2), blocks_for(100_000, 0.5, 2, 3.0), blocks_for(100_000, 0.001, 2, 3.0, (4.0, 0.0))
    (2499, 3693, 5000)
    >>> blocks_for(10_000, 1.0, 1, 4.8, (2.5, 0.0), 50), blocks_for(10_000, 1.0, 1, 4.8, (2.5, 1.0), 50)
    (1000, 329)
    """
    v, b = second
    each = each or ((width, b),)
    most = rows / (SHORTEST * parameters)
    if parties is None:
        b, most = max(b, TRUST), rows / max(LEAST, 10 * parameters)
        each = [(w, max(own, TRUST)) for w, own in each]

    def squares(k: float, w: float, b: float) -> tuple[float, float]:
        return 2 * rows * (w / (k * epsilon)) ** 2 + v * k / rows, (parties or 1) * b**2 * k**4 / rows**3

    def excess(k: float) -> float:
        return sum(squares(k, width, b))

    def biased(k: float) -> bool:
        both = [squares(k, *one) for one in each]
        return any(bias > SKEW**2 * (1 + more) for more, bias in both)

    low, high = 2.0, max(2.0, most)
    # a third is cut off each time: less than 1e-13 of the range is left, (2/3)**80
    for _ in range(80):  # one minimum: the sum is convex in k
        a, c = low + (high - low) / 3, high - (high - low) / 3
        low, high = (low, c) if excess(a) < excess(c) else (a, high)
    low = 2.0 if biased(high) else high
    for _ in range(80):  # bias in standard errors rises with k
        middle = (low + high) / 2
        low, high = (low, middle) if biased(middle) else (middle, high)
    # 1e-6: a minimum at a whole number, approached from below, is not rounded down to the number before
    return max(2, int(low + 1e-6))


def published_blocks(rows: int, epsilon: float) -> int:
    """Return the published number of blocks of one party, n**(3/5) epsilon**(-2/5) [Smith 2008, Lemma 3.3; theory E3].

    >>> published_blocks(10_000, 1.0)
    251
    """
    return max(1, min(rows, round(rows**0.6 * epsilon**-0.4)))


def published_for_parties(rows: int, epsilon: float, parties: int, box: float) -> int:
    """Return the k that minimises N L**2 / (k epsilon)**2 + k**2 M / N**2 [Chen & Sung, Theorem 3.2; theory E18].

    >>> published_for_parties(10_000, 1.0, 50, 4.8)
    824
    """
    # the derivative is 0 where k**4 = N**3 L**2 / (M epsilon**2)
    return max(1, min(rows, round((rows**3 * box**2 / (parties * epsilon**2)) ** 0.25)))


SHORTEST: Final = 10
"""Fewest rows of a block for each parameter, where the blocks of many parties are averaged."""
