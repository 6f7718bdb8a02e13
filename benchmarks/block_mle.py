"""Maximum likelihood in blocks: speed, bias and variance of the estimates; tables of docs/reference/block-mle.md.

    python benchmarks/block_mle.py [--quick]

Speed: 4,000 blocks of gamma rows, corrected for bias, beside one NumPy pass over the same rows and a loop of
scipy.optimize over some of the blocks.  Statistics: many blocks of 20, 50 and 200 rows.  Seeds are constants.
"""

from __future__ import annotations

import argparse
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy.optimize import minimize
from scipy.special import digamma, gammaln

import tacit as tc
from tacit import families as fam
from tacit.models.blocks import block_mle

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "block-mle.md"
INTRODUCTION = """# Maximum likelihood in blocks

What one block's estimate is worth, and what many cost. Written by `python benchmarks/block_mle.py`.
"""
BLOCKS = 4_000
LOOPED = 200
"""Blocks that the loop is timed on; its time is scaled to all of them."""


# Speed ---------------------------------------------------------------------------------------------------------------


def timed(run: Callable[[], Any], repeats: int = 3) -> float:
    """The shortest of a few runs, in seconds."""
    found: list[float] = []
    for _ in range(repeats):
        start = time.perf_counter()
        run()
        found.append(time.perf_counter() - start)
    return min(found)


def by_rows(x: np.ndarray) -> np.ndarray:
    """Gamma maximum likelihood of one block as usually written: L-BFGS-B on the logs of the parameters, over the
    rows.
    """

    def negative(place: np.ndarray) -> float:
        a, b = np.exp(place)
        return -(a * np.log(b) + (a - 1) * np.log(x) - b * x - gammaln(a)).mean()

    return np.exp(minimize(negative, [0.0, 0.0], method="L-BFGS-B").x)


def by_sums(x: np.ndarray) -> np.ndarray:
    """The same from the two sufficient sums, with the gradient: the fastest loop that is possible."""
    mean, log = x.mean(), np.log(x).mean()

    def negative(place: np.ndarray) -> tuple[float, np.ndarray]:
        a, b = np.exp(place)
        value = a * np.log(b) + (a - 1) * log - b * mean - gammaln(a)
        return -value, -np.array([a * (np.log(b) + log - digamma(a)), a - b * mean])

    return np.exp(minimize(negative, [0.0, 0.0], jac=True, method="L-BFGS-B").x)


def speed(rows: int, generic: bool) -> str:
    rng = np.random.default_rng(1)
    x = rng.gamma(2.0, 1 / 1.5, (BLOCKS, rows // BLOCKS))
    counts = np.full(BLOCKS, x.shape[1])
    one_pass = timed(lambda: (x.sum(axis=1), np.log(x).sum(axis=1)), 5)
    loops = [timed(lambda f=f: [f(one) for one in x[:LOOPED]], 2) * BLOCKS / LOOPED for f in (by_rows, by_sums)]
    lines: list[str] = []

    def gamma(row: Any, theta: Any) -> Any:
        import jax

        log = jax.numpy.log
        a, b = theta.shape, theta.rate
        return a * log(b) + (a - 1) * log(row) - b * row - jax.scipy.special.gammaln(a)

    models: list[tuple[str, Any]] = [("`Gamma`", fam.Gamma(shape=(0.5, 5), rate=(0.1, 10)))]
    if generic:
        own = tc.Model(gamma, shape=(0.5, 5), rate=(0.1, 10), support="positive")
        models.append(("the same law as one's own `Model`", own))
    for name, model in models:
        first = timed(lambda model=model: block_mle(model, x, counts), 1)
        later = timed(lambda model=model: block_mle(model, x, counts), 5)
        cells = [f"{rows:,}", name, f"{first:.2f}", f"{later:.2f}", f"{one_pass:.2f}", f"{later / one_pass:.1f}"]
        cells += [f"{loops[0]:.1f}", f"{loops[0] / later:.0f}", f"{loops[1]:.1f}", f"{loops[1] / later:.0f}"]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines)


# Bias and variance ----------------------------------------------------------------------------------------------------


def normal_variance(row: Any, theta: Any) -> Any:
    import jax

    return -0.5 * jax.numpy.log(2 * np.pi * theta.variance) - 0.5 * (row - theta.mean) ** 2 / theta.variance


CASES: list[tuple[str, Any, list[float], int, float | None]] = [
    # label, model, truth, parameter that is looked at, v2 of the theory
    ("exponential rate", fam.Exponential(rate=(0.01, 100)), [1.0], 0, 2.1),
    (
        "normal variance",
        tc.Model(normal_variance, mean=(-9, 9), variance=(0.01, 99), support="real"),
        [0.0, 1.0],
        1,
        0.9,
    ),
    ("normal sd", fam.Normal(), [0.0, 1.0], 1, None),
    ("gamma shape", fam.Gamma(), [2.0, 1.0], 0, 5.4),
    ("Weibull shape", fam.Weibull(), [2.0, 1.0], 0, 3.5),
    ("Poisson log-mean", fam.PoissonRegression(regressors=0), [1.0], 0, 0.3),
    ("beta a", fam.Beta(), [2.0, 5.0], 0, None),
    ("Laplace scale", fam.Laplace(), [0.0, 1.0], 1, None),
    ("Student t scale, df 4 known", fam.StudentT(df=4), [0.0, 1.0], 1, None),
    ("negative binomial dispersion", fam.NegativeBinomial(dispersion=(0.001, 10)), [3.0, 0.5], 1, None),
    ("logistic slope", fam.LogisticRegression(regressors=1), [0.5, 1.0], 1, None),
    ("probit slope", fam.ProbitRegression(regressors=1), [0.5, 1.0], 1, None),
    ("Poisson slope", fam.PoissonRegression(regressors=1), [0.5, 0.5], 1, None),
    ("gamma regression shape", fam.GammaRegression(regressors=1), [0.5, 0.5, 2.0], 2, None),
]
WAYS = ("none", "cox-snell", "split-half")


def statistics(blocks: int) -> str:
    """Bias and variance by block size. All sizes are padded to one capacity, so that each correction is compiled
    once for each law.
    """
    lines: list[str] = []
    for label, model, truth, at, v2 in CASES:
        for t in (20, 50, 200):
            rng = np.random.default_rng(t)
            z = rng.standard_normal((blocks * t, 1)) if model.is_regression and model.columns > 1 else None
            own = label == "normal variance"
            x = rng.standard_normal(blocks * t) if own else model.sample(truth, blocks * t, rng, z)
            rows = np.full((blocks, 200, *x.shape[1:]), np.nan)
            rows[:, :t] = x.reshape(blocks, t, *x.shape[1:])
            inverse = np.linalg.inv(model.fisher(truth, z))[at, at]
            cells = [label if t == 20 else "", str(t)]
            for way in WAYS:
                found = block_mle(model, rows, np.full(blocks, t), bias=way).values[:, at]  # type: ignore[arg-type]
                off = (found.mean() - truth[at]) * t
                cells += [f"{off:+.2f} ± {found.std() * t / np.sqrt(blocks):.2f}", f"{found.var() * t / inverse:.3f}"]
            cells.append("" if v2 is None else f"{1 + v2 / t:.3f}")
            lines.append(f"| {' | '.join(cells)} |")
            print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    parts = [
        INTRODUCTION,
        f"## Speed\n\nGamma rows in {BLOCKS:,} blocks, corrected for bias; seconds. *First* holds the",
        "compilation; both it and *later* sort the rows of each block. *Pass* is one NumPy pass that computes Σx and",
        "Σlog x; *rows* is a loop of `scipy.optimize` (L-BFGS-B) over the rows of each block, *sums* the same with",
        f"gradient on the two sums, as fast as it can be; both without correction, timed on {LOOPED} blocks. The pass",
        f"and the loops use one core, *first* and *later* all {os.cpu_count()}; load {os.getloadavg()[0]:.0f}.\n",
        "| rows | model | first | later | pass | later ÷ pass | rows | rows ÷ later | sums | sums ÷ later |",
        "|---:|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        speed(1_000_000, not quick),
    ]
    print(parts[-1], flush=True)
    parts += [] if quick else [speed(10_000_000, False)]
    print(parts[-1], flush=True)
    parts += [
        "\n## Bias and variance of one block's answer\n",
        "Bias × t (± one standard error of the simulation) and variance × t × Fisher information, by rows t of a",
        "block, uncorrected, by Cox and Snell, and by halves.",
        "The last column is 1 + v₂ ÷ t with the v₂ of the theory (§2).\n",
        "| | t | none: bias | variance | Cox–Snell: bias | variance | halves: bias | variance | theory |",
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|",
        statistics(1_000 if quick else 8_000),
    ]
    if not quick:
        PAGE.write_text("\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
