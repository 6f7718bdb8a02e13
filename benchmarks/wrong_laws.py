"""Designs for answers of blocks and of one step where rows follow another law, or lie outside the support.

The designs below were written down before any of them was simulated.  Truth under a wrong law is the limit of the
maximum-likelihood estimate, from a fit of `LARGE` rows by the library's own fit without privacy.

    python benchmarks/wrong_laws.py [--part default|one-step|blocks|winsorized]
                                    [--repeats 200] [--epsilon 1] [--design NAME]
    python benchmarks/wrong_laws.py --part pull

`--part pull` computes, without releases, how the solution of a step moves with its pilot: the norm of T' (theory §2).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np

import tacit as tc
from tacit import families
from tacit.models import scores
from tacit.models.blocks import block_mle
from tacit.privacy import Cost
from tacit.testing.simulated_block_steps import AskedBlocks, release

LARGE = 200_000
ROWS = 20_000
SCHEMA = tc.Schema({"x": tc.Real()})


def inverse_gaussian(x: Any, theta: Any) -> Any:
    """Return the log-density of an inverse Gaussian law."""
    return 0.5 * jnp.log(theta.lam / (2 * jnp.pi * x**3)) - theta.lam * (x - theta.mu) ** 2 / (2 * theta.mu**2 * x)


def contaminated(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return normal rows of which a tenth has three times the standard deviation."""
    return rng.normal(0, np.where(rng.random(n) < 0.1, 3.0, 1.0), n)


def prices(rng: np.random.Generator, n: int) -> np.ndarray:
    """Return two groups of lognormal prices, in thousands, as of goods of two kinds."""
    return np.exp(np.where(rng.random(n) < 0.4, rng.normal(-0.15, 0.45, n), rng.normal(1.35, 0.6, n)))


@dataclass(frozen=True)
class Design:
    """A model and the law that rows really follow."""

    model: Any
    draw: Callable[[np.random.Generator, int], np.ndarray]


OWN = tc.Model(inverse_gaussian, mu=(0.5, 8), lam=(0.3, 10), support="positive")
WRONG = {
    "inverse Gaussian, prices of two kinds": Design(OWN, prices),
    "inverse Gaussian, lognormal rows": Design(OWN, lambda rng, n: rng.lognormal(0.5, 0.8, n)),
    "Gamma, lognormal rows": Design(families.Gamma((0.5, 6), (0.1, 4)), lambda rng, n: rng.lognormal(0.3, 0.7, n)),
    "Gamma, prices of two kinds": Design(families.Gamma((0.5, 6), (0.1, 4)), prices),
    "Weibull, gamma rows": Design(families.Weibull((0.5, 4), (0.5, 6)), lambda rng, n: rng.gamma(4.0, 0.6, n)),
    "Lognormal, gamma rows": Design(families.Lognormal((-2, 3), (0.2, 2)), lambda rng, n: rng.gamma(1.2, 1.5, n)),
    "Exponential, Weibull rows": Design(families.Exponential((0.1, 4)), lambda rng, n: rng.weibull(0.7, n)),
    "Normal, contaminated rows": Design(families.Normal((-3, 3), (0.3, 4)), contaminated),
    "Normal, exponential rows": Design(families.Normal((-3, 5), (0.3, 4)), lambda rng, n: rng.exponential(1.5, n)),
    "Laplace, normal rows": Design(families.Laplace((-3, 3), (0.2, 4)), lambda rng, n: rng.normal(0.4, 1.2, n)),
    "Student t (5 df), skew rows": Design(
        families.StudentT((-3, 5), (0.2, 4), 5.0), lambda rng, n: rng.gamma(2.0, 1.0, n)
    ),
    "Poisson, overdispersed counts": Design(
        families.Poisson((0.2, 12)), lambda rng, n: rng.negative_binomial(2, 0.4, n).astype(float)
    ),
}
"""Models and laws that differ from them: skewed, heavy and light tails, two modes, overdispersion."""
RIGHT = {
    "inverse Gaussian": Design(OWN, lambda rng, n: rng.wald(2.0, 3.0, n)),
    "Gamma": Design(families.Gamma((0.5, 6), (0.1, 4)), lambda rng, n: rng.gamma(2.0, 0.8, n)),
    "Normal": Design(families.Normal((-3, 3), (0.3, 4)), lambda rng, n: rng.normal(0.7, 1.3, n)),
    "Exponential": Design(families.Exponential((0.1, 4)), lambda rng, n: rng.exponential(0.7, n)),
    "Lognormal": Design(families.Lognormal((-2, 3), (0.2, 2)), lambda rng, n: rng.lognormal(0.5, 0.6, n)),
}
"""The same models where they hold, for the share of false alarms."""


def limit(design: Design) -> np.ndarray:
    """Return the limit of the maximum-likelihood estimate, from LARGE rows."""
    rows = design.draw(np.random.default_rng(7), LARGE)
    return block_mle(design.model, rows[None], [LARGE], bias="none").values[0]


def study(design: Design, query: Any, repeats: int, epsilon: float, seed: int, truth: np.ndarray) -> str:
    """Return one line: ratio of reported to real errors, coverage, reasons, rejections of the fit."""
    rng, found = np.random.default_rng(seed), []
    asked = AskedBlocks(query, SCHEMA, "replace-one", Cost.of(epsilon=epsilon))
    for _ in range(repeats):
        table = {"x": design.draw(rng, ROWS)}
        made = release(asked, table, rng).estimate()
        told = any("another law" in note for note in made.notes)
        bad = any(reason is not None for reason in made.reasons)
        found.append((made.values, made.std_errors, made.intervals(0.95), told, bad))
    values, errors, limits = (np.array([one[i] for one in found]) for i in range(3))
    told, bad = (np.array([one[i] for one in found]) for i in (3, 4))
    good = ~bad
    hit = ((limits[..., 0] <= truth) & (truth <= limits[..., 1]))[good].mean(axis=0) if good.any() else np.nan * truth
    sd = values[good].std(axis=0, ddof=1) if good.sum() > 1 else np.nan * truth
    ratio = errors[good].mean(axis=0) / sd if good.any() else np.nan * truth
    off = (values[good].mean(axis=0) - truth) / sd if good.any() else np.nan * truth
    cells = [f"{100 * a:.0f}% (SE/SD {b:.2f}, off {c:+.1f} SD)" for a, b, c in zip(hit, ratio, off, strict=True)]
    return f"{'; '.join(cells)} | told {100 * told.mean():.0f}% | reason {100 * bad.mean():.0f}%"


def pull(design: Design, at: np.ndarray, rows: int = 60_000) -> str:
    """Return the norm of T' at the limit, and the ratios of the variances of scores to the law's."""
    model, x = design.model, design.draw(np.random.default_rng(8), rows)

    def solution(pilot: np.ndarray) -> tuple[np.ndarray, Any]:
        law = scores.law(scores.scaling_at(model, pilot), scores.CLIP, pilot)
        return scores.solve(law, scores.clipped(law.scaling, x, scores.CLIP).mean(axis=0))[0], law

    middle, law = solution(at)
    turn = np.linalg.inv(law.scaling.root.T)
    moves = 0.1 * np.linalg.inv(turn)  # columns: a tenth of a standard deviation of one row's estimate
    slope = np.array([(solution(at + move)[0] - solution(at - move)[0]) / 0.2 for move in moves.T])
    ratio = scores.clipped(law.scaling, x, scores.CLIP).var(axis=0) / law.moments(middle)[0]
    return f"pull {np.linalg.norm(turn @ slope.T, 2):.2f}; variances {', '.join(f'{one:.2f}' for one in ratio)}"


def main() -> None:
    """Print one line for each design."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--epsilon", type=float, default=1.0)
    parser.add_argument("--part", choices=("default", "one-step", "blocks", "winsorized", "pull"), default="one-step")
    parser.add_argument("--design", default="")
    given = parser.parse_args()
    ways: dict[str, dict[str, Any]] = {"one-step": {"one_step": True}, "winsorized": {"winsorize": True}, "default": {}}
    words = ways.get(given.part, {"method": "tuned"})
    for kind, designs in (("wrong", WRONG), ("right", RIGHT)):
        for i, (name, design) in enumerate(designs.items()):
            if given.part == "pull" and given.design in name:
                print(f"{kind} | {name} | {pull(design, limit(design))}", flush=True)
            elif given.design in name:
                query = tc.SampleAndAggregate("x", design.model, **words)
                line = study(design, query, given.repeats, given.epsilon, i, limit(design))
                print(f"{given.part} | {kind} | {name} | {line}", flush=True)


if __name__ == "__main__":
    main()
