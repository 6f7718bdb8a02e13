"""What the weights of norm-clipped rows that float32 can add up exactly do to linear regressions.

    python benchmarks/coarse_weights.py [--tables 100]

Vectors and residuals are made with integer weights on a power of two.  They are as coarse as float32 needs where that
is fine enough (`norm_scaling.COARSEST`, `linear_pilot.COARSEST`), and are stored, so that nothing is estimated from
what they would have been.  Each table of each design is released twice from the same random numbers, with weights as
they are and with the finest that engines compute.  Printed are the root mean square of the difference between the two
coefficients, in standard errors, the ratio of root mean squared errors against the truth and of mean standard errors,
and how many releases of a hundred had coarse weights in both of their vectors.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from unittest.mock import patch

import numpy as np

import tacit as tc
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.row_sums import linear_pilot, norm_scaling
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

FINE = 99
"""No shift is so large: all weights are as fine as engines compute."""


@dataclass(frozen=True)
class Design:
    """rows: their number.  pairs: of regressors, correlated by `rho`.  wide: bounds, in standard deviations.  price."""

    name: str
    rows: int
    pairs: int
    rho: float
    wide: float
    price: Cost

    def table(self, rng: np.random.Generator) -> tuple[dict[str, np.ndarray], np.ndarray]:
        """Return a table, every third regressor of which is skewed, with unequal errors, and the true coefficients."""
        n, many = self.rows, 2 * self.pairs
        one = rng.normal(0, 1, (n, self.pairs))
        other = self.rho * one + (1 - self.rho**2) ** 0.5 * rng.normal(0, 1, (n, self.pairs))
        x = np.column_stack([one, other])
        x[:, ::3] = np.exp(x[:, ::3] / 2) - np.exp(1 / 8)
        truth = np.append(0.5, np.linspace(-0.4, 0.5, many))
        y = truth[0] + x @ truth[1:] + rng.normal(0, 1, n) * np.exp(x[:, 0] / 4)
        return {**{f"x{j}": x[:, j] for j in range(many)}, "y": y}, truth

    @property
    def schema(self) -> tc.Schema:
        """Bounds on either side of 0."""
        ends = -self.wide, self.wide
        return tc.Schema(
            {**{f"x{j}": tc.Real(*ends) for j in range(2 * self.pairs)}, "y": tc.Real(2 * ends[0], 2 * ends[1])}
        )


DESIGNS = (
    Design("ten regressors, pairs of correlation 0.8", 10_000, 5, 0.8, 6.0, Cost.of(rho="0.5")),
    Design("ten regressors, bounds ten times wider", 10_000, 5, 0.8, 60.0, Cost.of(rho="0.5")),
    Design("two regressors of correlation 0.999", 20_000, 1, 0.999, 6.0, Cost.of(rho=1)),
    Design("four regressors, pure price", 20_000, 2, 0.5, 6.0, Cost.of(epsilon=8)),
    Design("twenty regressors, much noise", 20_000, 10, 0.8, 6.0, Cost.of(rho="0.1")),
)
"""Drawn before any of them was simulated."""


@contextmanager
def finest() -> Iterator[None]:
    """Make all weights as fine as engines compute."""
    coarsest = (norm_scaling, "COARSEST"), (norm_scaling, "WHOLE"), (linear_pilot, "COARSEST")
    with ExitStack() as stack:
        for place in coarsest:
            stack.enter_context(patch.object(*place, FINE))
        yield


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tables", type=int, default=100)
    tables = parser.parse_args().tables
    print("| design | tables | moved, SE | RMSE ratio | SE ratio | coarse, % |\n|---|---:|---:|---:|---:|---:|")
    for k, design in enumerate(DESIGNS):
        moved, errors, sizes, coarse, said = list[float](), list[list[float]](), list[list[float]](), 0, 0
        query = tc.Regression(f"y ~ {' + '.join(f'x{j}' for j in range(2 * design.pairs))}")
        for seed in range(tables):
            data, truth = design.table(np.random.default_rng((k, seed)))
            rows = rows_of(query, data, design.schema, design.price)
            now = rows.release(np.random.default_rng((k, seed, 1)))
            with finest():
                fine = rows.release(np.random.default_rng((k, seed, 1)))
            fits = [fit_release(one) for one in (now, fine)]
            vectors = [part.parameters.get("turn", part.parameters.get("shift", 30)) for part in now.parts[1:3]]
            coarse += max(vectors) < 20
            if any(reason is not None for fit in fits for reason in fit.reasons):
                continue
            said += 1
            found = [
                (np.asarray(fit.values), np.sqrt(np.diag(fit.cov_sampling) + np.diag(fit.cov_privacy))) for fit in fits
            ]
            moved.append(float(np.mean(((found[0][0] - found[1][0]) / found[1][1]) ** 2)))
            errors.append([float(((value - truth) ** 2).mean()) for value, _ in found])
            sizes.append([float(se.mean()) for _, se in found])
        if not said:
            print(f"| {design.name} | 0 of {tables} | – | – | – | {100 * coarse / tables:.0f} |", flush=True)
            continue
        rmse, size = np.sqrt(np.mean(errors, axis=0)), np.mean(sizes, axis=0)
        cells = f"{np.sqrt(np.mean(moved)):.3f}", f"{rmse[0] / rmse[1]:.3f}", f"{size[0] / size[1]:.3f}"
        print(f"| {design.name} | {said} of {tables} | {' | '.join(cells)} | {100 * coarse / tables:.0f} |", flush=True)


if __name__ == "__main__":
    main()
