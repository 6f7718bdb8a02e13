"""Lei's bandwidths beside automatic bins, and his Theorems 3-5 and Corollary 6 by experiment, for `rules_in_print`.

Rows lie in the unit cube; cells are perturbed by Laplace(2 / alpha) noise, as he prints and as is right (theory E21).
The design was committed before it was simulated.  Seeds are constants.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from uneven_bins import chosen_edges

from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.regression_fits import fit_cells
from tacit.schema import Boolean, Real, Schema
from tacit.schema.autobins import AUTO, Size, resolved

Floats = NDArray[np.float64]

# The design: committed before anything was simulated -----------------------------------------------------------------

SIZES = (10**3, 10**4, 10**5)
ALPHAS = (0.1, 0.3, 1.0)
ONE_SIZE, ONE_ALPHA = 10**4, 1.0
"""The number of rows at which prices vary, and the price at which rows vary."""
BETA = 2.0
"""Of Lei's example: P(y = 1) = logistic(BETA x), no intercept."""
SLOPES = {2: 0.5, 3: 0.3}
"""Of a regressor in [0, 1], by the number of columns: the response is one of them."""
SPACE = {1: (-10.0, 10.0), 2: (-2.0, 2.0), 3: (-2.0, 2.0)}
"""Lei's compact Theta: estimates outside count as its nearest point."""
MEDIAN = 0.26444998329566005
"""Of Beta(2, 5)."""
OURS_OF = 4
"""Fits with automatic bins are slow: one in so many repetitions."""


def smooth_bins(n: float, d: int) -> int:
    """Bins by the bandwidth of Theorems 3 and 4 and Corollary 6, (sqrt(log n) / n)**(2 / (2 + d)).

    >>> smooth_bins(250_070, 2)
    266
    """
    return max(1, round((math.sqrt(math.log(n)) / n) ** (-2 / (2 + d))))


def clipped_bins(n: float, d: int) -> int:
    """Bins by the bandwidth of Theorem 5, (log n / n)**(1 / (1 + d)).

    >>> clipped_bins(250_070, 2)
    27
    """
    return max(1, round((math.log(n) / n) ** (-1 / (1 + d))))


def automatic_bins(n: float, alpha: float, d: int, others: int = 1) -> int:
    """Bins of each of d real columns in [0, 1], as `bins="auto"` has them; others: cells of the columns beside."""
    names = tuple("abc"[:d])
    schema = Schema({name: Real(0, 1) for name in names} | {"y": Boolean()})
    bins = resolved(schema, names, dict.fromkeys(names, AUTO), Size(n, alpha, 10**7), others, 0)
    return len(chosen_edges(bins[names[0]], 0.0, 1.0)) - 1


def smooth_rate(n: float, d: int) -> float:
    """Return the rate of Theorems 3 and 4 and Corollary 6."""
    return max(n**-0.5, (math.sqrt(math.log(n)) / n) ** (2 / (2 + d)))


def clipped_rate(n: float, d: int) -> float:
    """Return the rate of Theorem 5."""
    return (math.log(n) / n) ** (1 / (1 + d))


# Rows, cells and estimates -------------------------------------------------------------------------------------------


def rows_of(problem: str, n: int, rng: np.random.Generator) -> Floats:
    """Rows in the unit cube, shape (n, columns); the last column is the response."""
    if problem == "median":
        return rng.beta(2, 5, (n, 1))
    if problem == "logistic":
        x = rng.random(n)
        return np.column_stack([x, (rng.random(n) < 1 / (1 + np.exp(-BETA * x))).astype(float)])
    d = int(problem[-1])
    X = rng.random((n, d - 1))
    reach = (1 - SLOPES[d] * (d - 1)) / 2  # residuals are triangular and keep the response in [0, 1]
    y = reach + SLOPES[d] * X.sum(axis=1) + reach * (rng.random(n) + rng.random(n) - 1)
    return np.column_stack([X, y])


def counted(rows: Floats, bins: list[int]) -> Floats:
    """Exact counts of cells of equal width."""
    at = [np.minimum((column * k).astype(int), k - 1) for column, k in zip(rows.T, bins, strict=True)]
    flat = np.ravel_multi_index(at, bins)
    return np.bincount(flat, minlength=math.prod(bins)).reshape(bins).astype(float)


def logistic(counts: Floats, integral: bool, penalty: float = 0.0) -> float:
    """Minimise Lei's logistic contrast over cells, shape (bins, 2): at their centres, or its integral over them."""
    k, total = len(counts), counts.sum()
    nodes, weights = np.polynomial.legendre.leggauss(3 if integral else 1)
    x = (np.arange(k)[:, None] + 0.5 + nodes / 2) / k
    w = weights / 2
    all_, ones = counts.sum(axis=1), float((counts[:, 1] * (x @ w)).sum())

    def contrast(beta: float) -> float:
        return float(all_ @ (np.logaddexp(0, beta * x) @ w) - beta * ones) / total + penalty * beta**2 / 2

    found = minimize_scalar(contrast, bounds=SPACE[1], method="bounded", options={"xatol": 1e-6})
    return float(found.x)


def least_squares(counts: Floats, integral: bool) -> float:
    """First slope of least squares with an intercept over cells; the integral adds h**2 / 12 to regressors' squares."""
    d, k = counts.ndim, len(counts)
    centres = (np.arange(k) + 0.5) / k
    moments = np.empty((d + 1, d + 1))
    axes = range(d)
    moments[0, 0] = counts.sum()
    for i in axes:
        one = counts.sum(axis=tuple(a for a in axes if a != i))
        moments[0, i + 1] = moments[i + 1, 0] = one @ centres
        moments[i + 1, i + 1] = one @ (centres**2 + (1 / (12 * k**2) if integral else 0))
        for j in range(i):
            two = counts.sum(axis=tuple(a for a in axes if a not in {i, j}))
            moments[i + 1, j + 1] = moments[j + 1, i + 1] = centres @ two @ centres
    slope = np.linalg.solve(moments[:d, :d], moments[:d, d])[1]
    return float(np.clip(slope, *SPACE[d]))


def median(counts: Floats) -> float:
    """Minimise the absolute contrast over centres of cells, with signed counts: any minimiser of Corollary 6."""
    k = len(counts)
    centres = (np.arange(k) + 0.5) / k
    below, left = np.cumsum(counts), np.cumsum(counts * centres)
    contrast = centres * below - left + (left[-1] - left) - centres * (below[-1] - below)
    return float(centres[contrast.argmin()])


def ours(counts: Floats, n: int, alpha: float, problem: str) -> float:
    """The corrected fit to the cells, tacit's default."""
    names = [*"ab"[: counts.ndim - 1], "y"]
    axes: list[CellAxis] = [
        CellAxis(name, "continuous", np.linspace(0, 1, k + 1)) for name, k in zip(names, counts.shape, strict=True)
    ]
    formula, model = f"y ~ {' + '.join(names[:-1])}", "linear"
    if problem == "logistic":
        axes[-1] = CellAxis("y", "levels", labels=("no", "yes"))
        formula, model = "y ~ a - 1", "logistic"
    fit = fit_cells(CellCounts(tuple(axes), counts, 8 / alpha**2, float(n)), formula, model)
    return float(np.clip(fit.values[fit.names.index("a")], *SPACE[columns(problem)]))


def columns(problem: str) -> int:
    """Return d, the number of columns in bins."""
    return int(problem[-1]) if problem[-1].isdigit() else 1


@dataclass(frozen=True)
class Rule:
    """A theorem: its bins, from n, alpha, d and cells beside; its estimate from exact and noisy counts; its rate."""

    name: str
    bins: Callable[[float, float, int, int], int]
    estimate: Callable[[str, Floats, int, float], float]
    rate: Callable[[float, int], float] | None
    problems: tuple[str, ...]


def _estimate(integral: bool, clip: bool) -> Callable[[str, Floats, int, float], float]:
    def made(problem: str, noisy: Floats, n: int, alpha: float) -> float:
        counts = np.maximum(noisy, 0) if clip else noisy
        if problem == "median":
            return median(counts)
        return logistic(counts, integral) if problem == "logistic" else least_squares(counts, integral)

    return made


REGRESSIONS = ("logistic", "line 2", "plane 3")
RULES = (
    Rule("Theorem 3", lambda n, a, d, o: smooth_bins(n, d), _estimate(True, False), smooth_rate, REGRESSIONS),
    Rule("Theorem 4", lambda n, a, d, o: smooth_bins(n, d), _estimate(False, False), smooth_rate, REGRESSIONS),
    Rule("Theorem 5", lambda n, a, d, o: clipped_bins(n, d), _estimate(False, True), clipped_rate, REGRESSIONS),
    Rule("Corollary 6", lambda n, a, d, o: smooth_bins(n, d), _estimate(False, False), smooth_rate, ("median",)),
    Rule("**automatic**", automatic_bins, lambda p, c, n, a: ours(c, n, a, p), None, REGRESSIONS),
)
TRUTH = {"logistic": BETA, "line 2": SLOPES[2], "plane 3": SLOPES[3], "median": MEDIAN}


def exact(problem: str, rows: Floats) -> float:
    """The estimate from the rows themselves."""
    if problem == "median":
        return float(np.median(rows))
    if problem == "logistic":
        fine = counted(rows, [20_000, 2])  # so fine that cells are rows
        return logistic(fine, False)
    X = np.column_stack([np.ones(len(rows)), rows[:, :-1]])
    return float(np.linalg.solve(X.T @ X, X.T @ rows[:, -1])[1])


def errors(problem: str, n: int, alphas: tuple[float, ...], repeats: int, seed: int) -> dict[Any, float]:
    """Root mean squared errors by (rule, alpha), and without privacy by "rows"."""
    rng = np.random.default_rng(seed)
    d, others = columns(problem), 2 if problem == "logistic" else 1
    squares: dict[Any, list[float]] = {}
    for i in range(repeats):
        rows = rows_of(problem, n, rng)
        squares.setdefault("rows", []).append((exact(problem, rows) - TRUTH[problem]) ** 2)
        for rule in RULES:
            if problem not in rule.problems or (rule.rate is None and i % OURS_OF):
                continue
            for alpha in alphas:
                bins = [rule.bins(n, alpha, d, others)] * d + [2] * (problem == "logistic")
                counts = counted(rows, bins)
                noisy = counts + rng.laplace(0, 2 / alpha, counts.shape)
                off = rule.estimate(problem, noisy, n, alpha) - TRUTH[problem]
                squares.setdefault((rule.name, alpha), []).append(off**2)
    return {key: math.sqrt(float(np.mean(values))) for key, values in squares.items()}
