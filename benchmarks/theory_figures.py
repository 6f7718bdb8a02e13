"""Figures of docs/explanation, theory.md and epsilon.md, that no other script prints.

    python benchmarks/theory_figures.py

Of §1.8, many quantiles by halving: the rank errors of evenly spaced points over those of an equal split, and what
prices of the levels that are not equal would gain at most, by numerical search.  Of one step from a released pilot:
what the clip of scores adds to the variance of each parameter, by quadrature.  Of a ledger of a pair: how many
selections and normal noises at prices in ρ it buys, against one that adds ρ.  No simulation.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction
from typing import Final

import numpy as np
from scipy import stats
from scipy.optimize import minimize

from tacit.method.quantiles.many_steps import Halving, halvings, levels, rank_errors, rate_for
from tacit.privacy import Budget, Cost
from tacit.privacy.bought import Bought

ONE: Final = Cost.of(epsilon=1)
POINTS: Final = (3, 5, 7, 10, 15, 20, 31, 50, 99)


def evenly(m: int) -> tuple[Fraction, ...]:
    """Return m evenly spaced probabilities."""
    return tuple(Fraction(i, m + 1) for i in range(1, m + 1))


def of_equal_split(m: int, *, replaces: bool) -> float:
    """Return the mean rank error by halving over that of an equal split of ε = 1."""
    rate = Fraction(1, 2 * m)
    alone = [Halving(0, -1, 1, 0, p).scale(rate, replaces=replaces) * 2**0.5 for p in evenly(m)]
    return float(np.mean(rank_errors(evenly(m), rate_for(ONE, m), replaces=replaces)) / np.mean(alone))


def gain(m: int, *, replaces: bool) -> float:
    """Return by which part the best prices of levels lower the mean rank error below that of equal ones."""
    depth = levels(m)

    def error(prices: Sequence[float]) -> float:
        parts = np.exp(prices) / np.exp(prices).sum() * depth
        weights, own = np.zeros((m + 2, m)), np.zeros(m)
        for one in halvings(evenly(m)):
            w = float(one.share)
            weights[one.at] = (1 - w) * weights[one.low] + w * weights[one.high]
            weights[one.at, one.at] = 1.0
            own[one.at] = 2 * (one.scale(rate_for(ONE, m), replaces=replaces) / parts[one.level]) ** 2
        return float(np.mean(np.sqrt(weights[:m] ** 2 @ own)))

    even = error(np.zeros(depth))
    return 1 - float(minimize(error, np.zeros(depth), method="Nelder-Mead", options={"maxiter": 2_000}).fun) / even


CLIP: Final = 3.0
Logpdf = Callable[[np.ndarray, np.ndarray], np.ndarray]
LAWS: Final[dict[str, tuple[Logpdf, tuple[float, ...], tuple[str, ...], tuple[float, float]]]] = {
    "normal": (lambda x, t: stats.norm.logpdf(x, t[0], t[1]), (0, 1), ("mean", "sd"), (-12, 12)),
    "exponential": (lambda x, t: stats.expon.logpdf(x, 0, 1 / t[0]), (1,), ("rate",), (0, 50)),
    "gamma": (lambda x, t: stats.gamma.logpdf(x, t[0], 0, 1 / t[1]), (2, 1), ("shape", "rate"), (0, 60)),
    "Weibull": (lambda x, t: stats.weibull_min.logpdf(x, t[0], 0, t[1]), (1.5, 1), ("shape", "scale"), (0, 30)),
    "beta": (lambda x, t: stats.beta.logpdf(x, t[0], t[1]), (2, 3), ("a", "b"), (0, 1)),
    "Laplace": (lambda x, t: stats.laplace.logpdf(x, t[0], t[1]), (0, 1), ("location", "scale"), (-45, 45)),
    "Student's t": (
        lambda x, t: stats.t.logpdf(x, t[2], t[0], t[1]),
        (0, 1, 5),
        ("location", "scale", "df"),
        (-2e3, 2e3),
    ),
}


def clipped(law: str) -> dict[str, float]:
    """Return the variance of each parameter, by clipped scores, over that by whole ones."""
    logpdf, at, names, (low, high) = LAWS[law]
    # finer in the middle: cubes of an even grid, and halfway between its points
    u = np.linspace(-1, 1, 400_001)
    u = (u[1:] + u[:-1]) / 2
    x = (low + high) / 2 + (high - low) / 2 * (u**3 if low < 0 else u)
    theta = np.array(at, dtype=float)
    p = np.exp(logpdf(x, theta)) * (3 * u**2 if low < 0 else 1.0)
    p /= p.sum()
    steps = 1e-5 * np.eye(len(theta))
    s = np.stack([(logpdf(x, theta + h) - logpdf(x, theta - h)) / 2e-5 for h in steps])
    s -= (s * p).sum(axis=1, keepdims=True)
    information = (s * p) @ s.T
    size = np.sqrt(np.diag(information))
    values, turn = np.linalg.eigh(information / np.outer(size, size))
    root = turn @ np.diag(values**-0.5) @ turn.T / size
    psi = np.clip(root @ s, -CLIP, CLIP)
    psi -= (psi * p).sum(axis=1, keepdims=True)
    inverse = np.linalg.inv((psi * p) @ s.T)
    reached = np.diag(inverse @ ((psi * p) @ psi.T) @ inverse.T)
    return dict(zip(names, reached / np.diag(np.linalg.inv(information)), strict=True))


def main() -> None:
    """The command."""
    print("points  halving / equal split   best prices of levels gain")
    for m in POINTS:
        found = [(of_equal_split(m, replaces=replaces), gain(m, replaces=replaces)) for replaces in (True, False)]
        replaced, added = ((f"{part:.0%}", f"{more:.1%}") for part, more in found)
        print(f"{m:>6}  {replaced[0]} replaced, {added[0]} added   {replaced[1]} replaced, {added[1]} added")
    print("\nprices in ρ that a ledger of a pair buys, against one that adds ρ")
    price = Cost.of(rho="0.0001")
    for pair in ({"epsilon": 1, "delta": "1e-6"}, {"epsilon": 2, "delta": "1e-5"}, {"epsilon": 4, "delta": "1e-7"}):
        ours, other = Budget(**pair), Budget(**pair, accounting="zcdp")
        most = other.limit.rho / price.zcdp
        found = [ours.limit.mu_squared / ours.spend(price, [Bought(price, n)]).mu_squared / most - 1 for n in (1, 0)]
        print(f"{ours!s:<20} selections {float(found[0]):+.1%}, normal noise {float(found[1]):+.1%}")
    print("\nvariance that clipped scores add")
    for law in LAWS:
        print(f"{law:<12} " + ", ".join(f"{name} {part - 1:.1%}" for name, part in clipped(law).items()))


if __name__ == "__main__":
    main()
