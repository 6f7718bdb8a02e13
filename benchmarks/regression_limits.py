"""Where a reason takes the place of numbers: whether intervals would hold beyond the limits of noise that are in use.

    python benchmarks/regression_limits.py [--repeats 200] [--processes 2]

Designs at the edge of having an answer.  Each release is read with narrow limits and with wider ones; of the releases
that only a wider limit answers, the share of intervals that hold the coefficient is what decides about it.
Prints to the terminal.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

import tacit as tc
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.estimate_coefficients import linear_coefficients, linear_step, score_coefficients
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

Z = 1.959964
TIERS: tuple[tuple[float, dict[bool, tuple[float, float]]], ...] = (
    (0.25, {False: (1.0, 2.0), True: (0.6, 1.0)}),
    (0.35, {False: (1.3, 2.0), True: (0.8, 1.0)}),
    (0.50, {False: (1.8, 2.0), True: (1.1, 1.0)}),
    (0.75, {False: (2.5, 2.0), True: (1.5, 1.0)}),
)
"""Limits: of products of linear models; of curvature and last step, True for those of counts.  The first are those of
linear models, and were those of all; the third are those of other models.
"""

IN_USE = {"linear": 0, "logistic": 2, "poisson": 2}
"""The widest of them in use.  Of one design, releases that a narrow limit answers are those whose noise made the
curvature seem large, and cover too rarely; those that only a wider one answers cover too often: all together count.
"""


@dataclass(frozen=True)
class Cell:
    """A design: model, regressors, their correlation in pairs, rows, price."""

    model: str
    regressors: int
    correlation: float
    rows: int
    price: dict[str, Any]


FIRST = (
    Cell("linear", 5, 0.8, 1_500, {"rho": 0.05}),
    Cell("linear", 10, 0.8, 4_000, {"rho": 0.05}),
    Cell("linear", 10, 0.8, 4_000, {"epsilon": 1, "delta": 1e-6}),
    Cell("linear", 4, 0.8, 4_000, {"epsilon": 1}),
    Cell("linear", 4, 0.0, 1_500, {"epsilon": 1}),
    Cell("logistic", 5, 0.8, 1_500, {"rho": 0.05}),
    Cell("logistic", 10, 0.8, 4_000, {"rho": 0.05}),
    Cell("logistic", 3, 0.8, 3_000, {"epsilon": 1}),
    Cell("logistic", 3, 0.0, 1_500, {"epsilon": 1}),
    Cell("poisson", 5, 0.8, 2_500, {"rho": 0.05}),
    Cell("poisson", 3, 0.0, 2_500, {"epsilon": 1}),
    Cell("poisson", 8, 0.8, 5_000, {"epsilon": 1, "delta": 1e-6}),
)
SECOND = (
    Cell("linear", 6, 0.7, 2_500, {"rho": 0.05}),
    Cell("linear", 3, 0.5, 1_200, {"rho": 0.02}),
    Cell("linear", 12, 0.6, 6_000, {"epsilon": 1, "delta": 1e-6}),
    Cell("linear", 2, 0.9, 4_000, {"epsilon": 1}),
    Cell("linear", 4, 0.3, 4_000, {"epsilon": 1}),
    Cell("linear", 3, 0.0, 800, {"epsilon": 2}),
    Cell("logistic", 6, 0.7, 1_500, {"rho": 0.05}),
    Cell("logistic", 3, 0.5, 700, {"rho": 0.02}),
    Cell("logistic", 4, 0.3, 3_000, {"epsilon": 1}),
    Cell("logistic", 2, 0.9, 2_500, {"epsilon": 1}),
    Cell("poisson", 6, 0.7, 1_500, {"rho": 0.05}),
    Cell("poisson", 3, 0.5, 700, {"rho": 0.03}),
    Cell("poisson", 2, 0.5, 2_500, {"epsilon": 1}),
)
"""A second set, drawn up after the first was looked at, nearer to the limits."""


def truth(cell: Cell) -> np.ndarray:
    """Return the intercept and slopes."""
    size = {"linear": 0.3, "logistic": 0.4, "poisson": 0.15}[cell.model]
    slopes = size * np.where(np.arange(cell.regressors) % 2, -0.7, 1.0)
    return np.append(0.5 if cell.model == "poisson" else 0.2, slopes)


def drawn(cell: Cell, rng: np.random.Generator) -> dict[str, np.ndarray]:
    """Return a table: normal regressors in correlated pairs, the last one skewed."""
    n, d, r = cell.rows, cell.regressors, cell.correlation
    x = rng.normal(0, 1, (n, d))
    for j in range(1, d, 2):
        x[:, j] = r * x[:, j - 1] + np.sqrt(1 - r * r) * x[:, j]
    if d % 2 or d > 4:
        x[:, -1] = np.minimum(rng.gamma(2, 1, n) - 2, 8) / np.sqrt(2)
    b = truth(cell)
    eta = b[0] + x @ b[1:]
    y: Any = eta + rng.normal(0, 1, n)
    if cell.model == "logistic":
        y = rng.random(n) < 1 / (1 + np.exp(-eta))
    if cell.model == "poisson":
        y = np.minimum(rng.poisson(np.exp(eta)), 40)
    return {"y": y, **{f"x{j}": x[:, j] for j in range(d)}}


def schema_of(cell: Cell) -> tc.Schema:
    """Return bounds that are wider than the values."""
    response = {"linear": tc.Real(-15, 15), "logistic": tc.Boolean(), "poisson": tc.Integer(0, 40)}[cell.model]
    return tc.Schema({"y": response, **{f"x{j}": tc.Real(-6, 6) for j in range(cell.regressors)}})


def told(cell: Cell, repeats: int, seed: int) -> np.ndarray:
    """Return of each release the tier that first answers (len(TIERS) for none) and the part of slopes covered."""
    rng, b, schema = np.random.default_rng([16, 9, seed]), truth(cell), schema_of(cell)
    query = tc.Regression("y ~ " + " + ".join(f"x{j}" for j in range(cell.regressors)), model=cell.model)
    out = np.full((repeats, 3), np.nan)
    for i in range(repeats):
        release = rows_of(query, drawn(cell, rng), schema, Cost.of(**cell.price)).release(rng)
        out[i, 0] = len(TIERS)
        for tier, (most, limits) in enumerate(TIERS):
            linear_coefficients.MAX_OF_NORMS = linear_step.MAX_OF_NORMS = most
            score_coefficients.OF_NORMS = limits
            fit = fit_release(release)
            if fit.reasons[0] is None:
                held = np.abs(fit.values - b) <= Z * fit.std_errors
                out[i] = tier, held[1:].mean(), float(np.median(fit.std_errors[1:]))
                break
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--second", action="store_true", help="the second set of designs")
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--processes", type=int, default=2)
    options = parser.parse_args()
    cells = SECOND if options.second else FIRST
    with ProcessPoolExecutor(options.processes) as pool:
        seeds = range(100 * options.second, 100 * options.second + len(cells))
        jobs = pool.map(told, cells, [options.repeats] * len(cells), seeds)
        for cell, found in zip(cells, jobs, strict=True):
            each = []
            for tier in range(len(TIERS)):
                some = found[found[:, 0] == tier]
                words = f"{100 * some[:, 1].mean():5.1f}% (error {np.median(some[:, 2]):.2f})" if len(some) else "–"
                each.append(f"{len(some):4d}: {words}")
            none, used = int((found[:, 0] == len(TIERS)).sum()), found[found[:, 0] <= IN_USE[cell.model]]
            whole = f"{len(used)}: {100 * used[:, 1].mean():.1f}%" if len(used) else "–"
            print(f"{cell}: {' | '.join(each)} | none {none} | in use {whole}", flush=True)


if __name__ == "__main__":
    main()
