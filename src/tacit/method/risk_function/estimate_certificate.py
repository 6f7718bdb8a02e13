"""How far a coefficient's risk is above the least: a bound from the released values alone.  Plain arrays.

Let r(c) be the risk of the table's rows, each in the middle of its cell, less the public middle of all losses at c,
and r_j its lattice values.  With p_b the part of the rows in cell b, r(c) = sum_j W_j(c) r_j + sum_b p_b e_b(c) for
any public weights W, where e_b(c) is what the weights leave of the loss of cell b.  For all c and d in the box, then,

    R(d) - R(c) <= P(d) - P(c) + q s(d, c) + max_b (e_b(d) - e_b(c)),

with P(c) = middle(c) + sum_j W_j(c) times the noisy values, s(d, c) the standard deviation of the noise of P(d) - P(c),
and q the `level`-quantile of the largest ratio of that noise to s over all pairs of a grid, by draws of the noise.  As
it holds for all pairs at once it holds for a d that was chosen from the release.  The certificate is the largest right
side.  Two steps are numerical: the grid stands for the box in q, and the largest right side is looked for on grids.

The weights are those that leave least, beside their noise, on average over cells: on the same lattice a Bernstein
polynomial, whose weights would serve as well, leaves many times as much.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import product
from typing import Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.risk_function.encoding import table
from tacit.method.risk_function.estimate_mixture import Lattice, RiskFit
from tacit.method.risk_function.linear_losses import loss_of
from tacit.method.risk_function.risk_cells import cells
from tacit.release.parts import Variable

GRID: Final = {2: 21, 3: 9}
"""Points of the grid for the largest ratio, for each coefficient, by their number."""
RIDGES: Final = tuple(10.0 ** np.arange(-9, 0.0, 0.5))
"""Weights of the noise that are tried."""
DRAWS: Final = 1_000
SEED: Final = 18_38
ZOOMS: Final = 6
"""Times that the largest bound is looked for on a finer grid around where it was."""


class Weighing:
    """Weights of lattice values in a risk at any coefficients, and what they leave of each cell's loss."""

    def __init__(self, loss: str, box: float, degree: int, variables: tuple[Variable, ...], ridge: float) -> None:
        self.loss, self.made = loss, table(loss, box, degree, variables)
        self.x, self.y = cells(variables)
        self.rows: Array = self.made.integers / self.made.unit
        gram = self.rows @ self.rows.T / self.rows.shape[1]
        self.solved: Array = np.linalg.solve(gram + ridge * np.eye(len(gram)), self.rows / self.rows.shape[1])

    def at(self, c: Array) -> tuple[Array, Array, Array]:
        """Return the middle, the weights and the remainders at c, of shapes (n,), (n, m) and (n, cells)."""
        losses = loss_of(self.loss, c @ self.x.T, self.y[None, :])
        middle = (losses.max(axis=1) + losses.min(axis=1)) / 2
        losses -= middle[:, None]
        weights = losses @ self.solved.T
        return middle, weights, losses - weights @ self.rows


def certificate(fit: RiskFit, query: Any, variables: tuple[Variable, ...], d: Array, level: float) -> float:
    """Return the bound on R(d) - min R that holds with probability `level`."""
    found = fit.lattice
    weighing = _chosen(query.loss, query.box, query.steps, variables, _rounded(found))
    noise: Array = found.error * found.load
    q = _quantile(weighing, query.box, found, level)
    middle, weights, left = weighing.at(d[None, :])
    here = middle[0] + weights[0] @ found.values

    def bound(c: Array) -> Array:
        mids, others, rest = weighing.at(c)
        errors = np.sqrt(((np.asarray(weights - others) @ noise) ** 2).sum(axis=1))
        return here - mids - others @ found.values + q * errors + (left - rest).max(axis=1)

    p = len(d)
    step, grid = 2 * query.box / (GRID[p] - 1), _grid(query.box, GRID[p], p)
    # at d itself the bound is 0
    largest, best, beside = 0.0, d, step * np.array(list(product(range(-3, 4), repeat=p)))
    for _ in range(ZOOMS):
        values = bound(grid)
        if values.max() > largest:
            largest, best = float(values.max()), grid[int(values.argmax())]
        beside = beside / 3
        grid = np.clip(best + beside, -query.box, query.box)
    return largest


def _rounded(found: Lattice) -> float:
    """Return the size of the noise of a value, to a power of two, for which weights are chosen."""
    error = found.error * float(np.sqrt(np.sum(found.load[0] ** 2)))
    return 2.0 ** round(np.log2(error))


def _grid(box: float, points: int, p: int) -> Array:
    axis = np.linspace(-box, box, points)
    return np.stack([one.reshape(-1) for one in np.meshgrid(*[axis] * p, indexing="ij")], axis=1)


@lru_cache(maxsize=16)
def _chosen(loss: str, box: float, degree: int, variables: tuple[Variable, ...], error: float) -> Weighing:
    """Return the weights of least squared sum of the noise, over a grid, and of the largest remainder."""
    grid, least, best = _grid(box, 9, len(variables)), np.inf, None
    for ridge in RIDGES:
        one = Weighing(loss, box, degree, variables, ridge)
        _, weights, left = one.at(grid)
        size = error**2 * float((weights**2).sum(axis=1).mean()) + float(np.abs(left).max()) ** 2
        if size < least:
            least, best = size, one
    assert best is not None
    return best


def _quantile(weighing: Weighing, box: float, found: Lattice, level: float) -> float:
    """Return the quantile of the largest ratio of a difference of noises to its standard deviation, over all pairs."""
    p = found.table.points.shape[1]
    _, weights, _ = weighing.at(_grid(box, GRID[p], p))
    load = weights @ found.load
    squares = found.error**2 * (load**2).sum(axis=1)
    both = found.error**2 * load @ load.T
    apart = np.sqrt(np.maximum(squares[:, None] + squares[None, :] - 2 * both, 0.0))
    rows, columns = np.triu_indices(len(load), 1)
    errors = np.maximum(apart[rows, columns], 1e-9 * apart.max())
    noises = found.noise(DRAWS, SEED) @ weights.T
    largest = [float((np.abs(one[rows] - one[columns]) / errors).max()) for one in noises]
    return float(np.quantile(largest, level, method="higher"))
