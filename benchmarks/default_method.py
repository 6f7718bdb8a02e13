"""Parameters by the default of `SampleAndAggregate`, for docs/reference/default-method.md.

    python benchmarks/default_method.py [--repeats 100] [--part right|wrong] [--only NAME] [--quick]

Two parts.  `right`: rows follow the model; mean squared errors over the Cramér–Rao bound of all rows without privacy,
and coverage.  `wrong`: rows follow another law; coverage of the limit of the maximum-likelihood estimate, from a fit of
a million rows without privacy.  Designs were committed before any of them was simulated.  `--quick` prints three
repeats of every fourth design.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import betaln, gammaln, log_ndtr
from pages import put

import tacit as tc
from tacit import families
from tacit.models.blocks import block_mle
from tacit.privacy import Cost
from tacit.testing.simulated_block_steps import AskedBlocks, release

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "default-method.md"
SCHEMA = tc.Schema({"x": tc.Real()})
LARGE = 1_000_000

# The designs: committed before anything was simulated ---------------------------------------------------------------


def inverse_gaussian(x: Any, theta: Any) -> Any:
    """Return the log-density of an inverse Gaussian law."""
    return 0.5 * jnp.log(theta.lam / (2 * jnp.pi * x**3)) - theta.lam * (x - theta.mu) ** 2 / (2 * theta.mu**2 * x)


def gumbel(x: Any, theta: Any) -> Any:
    """Return the log-density of a Gumbel law."""
    z = (x - theta.place) / theta.scale
    return -z - jnp.exp(-z) - jnp.log(theta.scale)


def normal_above_0(x: Any, theta: Any) -> Any:
    """Return the log-density of a normal law cut off at 0."""
    z = (x - theta.mean) / theta.sd
    return -0.5 * z**2 - jnp.log(theta.sd) - 0.5 * jnp.log(2 * jnp.pi) - log_ndtr(theta.mean / theta.sd)


def beta(x: Any, theta: Any) -> Any:
    """Return the log-density of a Beta law."""
    return (theta.a - 1) * jnp.log(x) + (theta.b - 1) * jnp.log1p(-x) - betaln(theta.a, theta.b)


def generalised_gamma(x: Any, theta: Any) -> Any:
    """Return the log-density of a gamma law of a power: three parameters."""
    z = x / theta.scale
    return jnp.log(theta.p / theta.scale) + (theta.d - 1) * jnp.log(z) - z**theta.p - gammaln(theta.d / theta.p)


def logistic(x: Any, theta: Any) -> Any:
    """Return the log-density of a logistic law."""
    z = jnp.abs(x - theta.place) / theta.scale
    return -z - jnp.log(theta.scale) - 2 * jnp.log1p(jnp.exp(-z))


def counts_with_zeros(x: Any, theta: Any) -> Any:
    """Return the log-probability of a Poisson law with more zeros."""
    usual = jnp.log1p(-theta.zero) + x * jnp.log(theta.mean) - theta.mean - gammaln(x + 1)
    return jnp.where(x == 0, jnp.log(theta.zero + (1 - theta.zero) * jnp.exp(-theta.mean)), usual)


@dataclass(frozen=True)
class Design:
    """A model without a declared support, the rows' law, and the true parameters, or None where the law is another."""

    model: Any
    draw: Callable[[np.random.Generator, int], np.ndarray]
    truth: tuple[float, ...] | None = None


def _above_0(rng: np.random.Generator, n: int) -> np.ndarray:
    rows = rng.normal(1, 2, 3 * n + 100)
    return rows[rows > 0][:n]


def _extra_zeros(rng: np.random.Generator, n: int) -> np.ndarray:
    return np.where(rng.random(n) < 0.25, 0, rng.poisson(3.0, n)).astype(float)


RIGHT = {
    "inverse Gaussian": Design(
        tc.Model(inverse_gaussian, mu=(0.2, 5), lam=(0.5, 10)), lambda rng, n: rng.wald(1, 3, n), (1, 3)
    ),
    "inverse Gaussian, wide box": Design(
        tc.Model(inverse_gaussian, mu=(0.01, 500), lam=(0.01, 1_000)), lambda rng, n: rng.wald(1, 3, n), (1, 3)
    ),
    "Gumbel": Design(tc.Model(gumbel, place=(-5, 10), scale=(0.2, 8)), lambda rng, n: rng.gumbel(2, 1.5, n), (2, 1.5)),
    "normal above 0": Design(tc.Model(normal_above_0, mean=(-3, 6), sd=(0.3, 6)), _above_0, (1, 2)),
    "Beta": Design(tc.Model(beta, a=(0.5, 12), b=(0.5, 12)), lambda rng, n: rng.beta(2, 5, n), (2, 5)),
    "logistic": Design(
        tc.Model(logistic, place=(-10, 10), scale=(0.1, 5)), lambda rng, n: rng.logistic(-1, 0.8, n), (-1, 0.8)
    ),
    "Poisson with zeros": Design(
        tc.Model(counts_with_zeros, zero=(0.02, 0.8), mean=(0.5, 12)), _extra_zeros, (0.25, 3)
    ),
    "gamma of a power": Design(
        tc.Model(generalised_gamma, scale=(0.3, 5), d=(0.5, 6), p=(0.5, 4)),
        lambda rng, n: 1.5 * rng.gamma(2.0 / 1.4, 1.0, n) ** (1 / 1.4),
        (1.5, 2.0, 1.4),
    ),
    "Gamma (family)": Design(
        families.Gamma((0.5, 6), (0.1, 4)), lambda rng, n: rng.gamma(2.0, 1 / 1.25, n), (2.0, 1.25)
    ),
    "Weibull (family)": Design(
        families.Weibull((0.5, 5), (0.5, 8)), lambda rng, n: 3 * rng.weibull(1.7, n), (1.7, 3.0)
    ),
    "Student t, 5 df (family)": Design(
        families.StudentT((-5, 5), (0.2, 4), 5.0), lambda rng, n: 0.5 + 1.2 * rng.standard_t(5, n), (0.5, 1.2)
    ),
    "Negative binomial (family)": Design(
        families.NegativeBinomial((0.5, 12), (0.3, 8)),
        lambda rng, n: rng.poisson(rng.gamma(2.0, 1.5, n)).astype(float),
        (3.0, 0.5),
    ),
}
"""Eight laws of one's own, and four families."""

WRONG = {
    "inverse Gaussian, gamma rows": Design(
        RIGHT["inverse Gaussian"].model, lambda rng, n: rng.gamma(3.0, 0.5, n) + 0.05
    ),
    "Gumbel, normal rows": Design(RIGHT["Gumbel"].model, lambda rng, n: rng.normal(2.5, 1.5, n)),
    "Beta, shares with a hump": Design(
        RIGHT["Beta"].model, lambda rng, n: np.where(rng.random(n) < 0.7, rng.beta(2, 6, n), rng.beta(12, 6, n))
    ),
    "logistic, skewed rows": Design(RIGHT["logistic"].model, lambda rng, n: rng.gamma(2.0, 1.0, n) - 2),
    "Poisson with zeros, wider counts": Design(
        RIGHT["Poisson with zeros"].model, lambda rng, n: rng.poisson(rng.gamma(2.0, 2.0, n)).astype(float)
    ),
    "Gamma, lognormal rows": Design(RIGHT["Gamma (family)"].model, lambda rng, n: rng.lognormal(0.2, 0.6, n)),
    "Weibull, lognormal rows": Design(RIGHT["Weibull (family)"].model, lambda rng, n: rng.lognormal(0.8, 0.5, n)),
    "Student t, rows of two kinds": Design(
        RIGHT["Student t, 5 df (family)"].model,
        lambda rng, n: np.where(rng.random(n) < 0.8, rng.normal(0, 1, n), rng.normal(2.5, 0.7, n)),
    ),
}
"""Rows of laws that are near the model's, but not it."""
SETTINGS = ((20_000, 1.0), (100_000, 0.5))
"""Numbers of rows and prices."""

# Simulation ---------------------------------------------------------------------------------------------------------


def limit(design: Design) -> np.ndarray:
    """Return the limit of the maximum-likelihood estimate, from LARGE rows."""
    rows = design.draw(np.random.default_rng(7), LARGE)
    return block_mle(design.model, rows[None], [LARGE], bias="none").values[0]


def simulated(design: Design, n: int, epsilon: float, repeats: int, seed: int) -> dict[str, Any]:
    """Return values, limits, standard errors, reasons and verdicts of repeated releases."""
    asked = AskedBlocks(tc.SampleAndAggregate("x", design.model), SCHEMA, "replace-one", Cost.of(epsilon=epsilon))
    chosen: Any = asked.design(n).query
    asked = AskedBlocks(chosen, SCHEMA, "replace-one", Cost.of(epsilon=epsilon))
    rng, found = np.random.default_rng([seed, n]), []
    for _ in range(repeats):
        made = release(asked, {"x": design.draw(rng, n)}, rng).estimate()
        told = any("rows follow another law" in note for note in made.notes)
        unsure = any("rows may follow another law" in note for note in made.notes)
        bad = any(reason is not None for reason in made.reasons)
        found.append((made.values, made.intervals(0.95), made.std_errors, bad, told, unsure))
    words = "one step" if chosen.one_step else "blocks"
    words += ", winsorised" if chosen.winsorize else ""
    names = ("values", "limits", "errors", "bad", "told", "unsure")
    return {name: np.array([one[i] for one in found]) for i, name in enumerate(names)} | {"way": words}


def row(name: str, design: Design, setting: tuple[int, float], repeats: int, seed: int) -> str:
    """Return one line of a table."""
    n, epsilon = setting
    found = simulated(design, n, epsilon, repeats, seed)
    truth = limit(design) if design.truth is None else np.array(design.truth, dtype=float)
    good = ~found["bad"]
    low, high = np.moveaxis(found["limits"][good], -1, 0)
    hit = ((low <= truth) & (truth <= high)).mean(axis=0)
    off = found["values"][good] - truth
    ratio = found["errors"][good].mean(axis=0) / found["values"][good].std(axis=0, ddof=1)
    covered, size = (", ".join(f"{100 * one:.0f}" for one in hit), ", ".join(f"{one:.2f}" for one in ratio))
    said = f"{100 * found['told'].mean():.0f} | {100 * found['unsure'].mean():.0f} | {100 * found['bad'].mean():.0f}"
    start = f"| {name} | {n:,} | {epsilon:g} | {found['way']} |"
    if design.truth is None:
        return f"{start} {covered} | {size} | {said} |"
    bound = np.diag(np.linalg.inv(design.model.fisher(truth))) / n
    mse = ", ".join(f"{one:.2f}" for one in (off**2).mean(axis=0) / bound)
    return f"{start} **{mse}** | {covered} | {size} | {said} |"


HEADS = {
    "right": "| law | rows | ε | way | squared error over the bound | coverage, % | SE/SD | told another law, % | "
    "in doubt, % | reason, % |\n|---|---:|---:|---|---|---|---|---:|---:|---:|",
    "wrong": "| model, rows | rows | ε | way | coverage, % | SE/SD | told another law, % | in doubt, % | reason, % |\n"
    "|---|---:|---:|---|---|---|---:|---:|---:|",
}


def main() -> None:
    """Print every line, and write it into the page unless it is a quick run or one of some designs."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--part", choices=("right", "wrong"))
    parser.add_argument("--only", default="")
    parser.add_argument("--quick", action="store_true")
    given = parser.parse_args()
    for part, designs in (("right", RIGHT), ("wrong", WRONG)):
        if given.part not in (None, part):
            continue
        lines = [HEADS[part]]
        print(lines[0], flush=True)
        for seed, (name, design) in enumerate(designs.items()):
            if given.only not in name or (given.quick and seed % 4):
                continue
            for setting in SETTINGS[: 1 if given.quick else None]:
                lines.append(row(name, design, setting, 3 if given.quick else given.repeats, seed))
                print(lines[-1], flush=True)
                if not (given.quick or given.only):  # line by line, so that what was simulated is kept
                    put(PAGE, f"default_method.py {part}", "\n".join([*lines, "", f"{given.repeats} releases a line."]))


if __name__ == "__main__":
    main()
