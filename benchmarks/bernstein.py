"""Bernstein polynomials and risk functions: docs/reference/bernstein.md.

    python benchmarks/bernstein.py [--repeats 300] [--quick] [--part rates|functions|again|bands|curves|risks|time]

Rows are drawn anew, as counts of the public bins, and integers perturbed anew in each simulation, by the law of a
release.  Deterministic but for times: seeds are constants.  All laws, sizes, prices, degrees and coefficients below
were written down, and committed, before any of them was simulated; Beta(2,5) alone was looked at while the degree's
rule was made, and risks with other coefficients while theirs were.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from compared_designs import HELD
from pages import put
from scipy import optimize, stats
from smooth_density import LAWS

import tacit as tc
from tacit.method.bernstein.estimate import cdf, density, smooth_density
from tacit.method.bernstein.estimate_lattice import of_rows
from tacit.method.bernstein.mechanism import sums as lattice_sums
from tacit.method.histogram.estimate_regression_function import classifier, regression_function
from tacit.method.risk_function.estimate import estimate, excess
from tacit.method.risk_function.linear_losses import bend_of, loss_of, slope_of
from tacit.method.risk_function.mechanism import sums as risk_sums
from tacit.method.risk_function.risk_cells import cells
from tacit.method.shared.iterated_operator import slopes, weights
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, shaped

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "bernstein.md"
SHAPES: Final = ("Beta(2,5)", "two modes", "heavy tails: t(2)", "exponential", "triangle", "claw")
"""Laws of one column."""
SIZES: Final = ((1_000, {"epsilon": 0.5}), (1_000, {"rho": 0.1}), (10_000, {"epsilon": 1.0}), (10_000, {"rho": 0.01}))
OTHERS: Final = ((2_000, {"epsilon": 1.0}), (20_000, {"epsilon": 0.5}), (5_000, {"rho": 0.05}))
"""Of laws held out (`compared_designs`): sizes and prices at which bands are simulated."""
LOWEST: Final = (
    ("triangle", 10_000, {"rho": 0.01}),
    ("claw", 1_000, {"epsilon": 0.5}),
    ("triangle", 10_000, {"epsilon": 1.0}),
)
"""Of the table of functions the lines with the lowest band, limits of the cdf, and limits of the density."""
DEGREES: Final = (4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, 256)
"""Degrees, and numbers of bins, over which the least error is looked for."""
PLACES: Final = (np.arange(400) + 0.5) / 400
SOME: Final = (np.arange(19) + 1) / 20
"""Places of limits."""


@dataclass(frozen=True)
class Task:
    """A risk: its loss, box, number of regressors, coefficients of the law, rows and price."""

    loss: str
    box: float
    c: tuple[float, ...]
    n: int
    price: dict[str, float]


TASKS: Final = (
    Task("logistic", 4, (0.3, -1.0), 1_000, {"epsilon": 1.0}),
    Task("logistic", 4, (0.3, -1.0), 1_000, {"rho": 0.1}),
    Task("logistic", 4, (-1.0, 2.0), 10_000, {"epsilon": 0.5}),
    Task("logistic", 4, (-1.0, 2.0), 10_000, {"rho": 0.1}),
    Task("logistic", 6, (0.5, 3.0), 10_000, {"rho": 0.1}),
    Task("logistic", 4, (0.0, 1.0, -1.0), 10_000, {"rho": 0.1}),
    Task("logistic", 4, (0.0, 1.0, -1.0), 10_000, {"epsilon": 1.0}),
    Task("hinge", 4, (0.2, 1.5), 10_000, {"rho": 0.1}),
    Task("squared", 1.5, (0.1, 0.5), 10_000, {"epsilon": 1.0}),
    Task("huber", 1.5, (0.1, 0.5), 10_000, {"rho": 0.1}),
)
"""The law of two levels is logistic with these coefficients, for hinge losses too; that of numbers is normal about the
linear predictor with standard deviation 1/4, cut to [-1, 1].  Regressors are Beta(2, 3), independent."""


@dataclass(frozen=True)
class Curve:
    """A regression function: the outcome's mean at x in [0, 1], whether it has two levels, bins, rows and price."""

    name: str
    levels: bool
    bins: int
    n: int
    price: dict[str, float]


CURVES: Final = (
    Curve("wave", True, 16, 1_000, {"epsilon": 1.0}),
    Curve("wave", True, 32, 10_000, {"epsilon": 1.0}),
    Curve("wave", True, 32, 10_000, {"rho": 0.01}),
    Curve("slope", True, 16, 1_000, {"rho": 0.1}),
    Curve("slope", True, 32, 10_000, {"epsilon": 0.5}),
    Curve("step", True, 32, 10_000, {"epsilon": 1.0}),
    Curve("wave", False, 32, 10_000, {"epsilon": 1.0}),
    Curve("slope", False, 16, 1_000, {"rho": 0.1}),
)
"""x is Beta(2, 3).  Outcomes of numbers are in [0, 1], in 10 bins, normal about the mean, standard deviation 0.15."""


def mean_of(name: str, x: np.ndarray) -> np.ndarray:
    """Return the mean of the outcome at x."""
    if name == "wave":
        return 0.5 + 0.35 * np.sin(2 * np.pi * x)
    return 0.15 + 0.7 * x if name == "slope" else np.where(x < 0.45, 0.2, 0.8)


# Rates --------------------------------------------------------------------------------------------------------------


def rates() -> str:
    """Return the table of the largest error without noise and without rows' error."""
    head = "| law | order | k = 16 | 64 | 256 | k to the power |\n|---|---|---|---|---|---|"
    lines = list[str]()
    for name in SHAPES:
        for order in (1, 2, 3, 4):
            errors = [_bias(name, k, order).max() for k in (16, 64, 256)]
            rate = np.log(errors[1] / errors[2]) / np.log(4)
            lines.append(f"| {name} | {order} | " + " | ".join(f"{x:.1e}" for x in errors) + f" | −{rate:.1f} |")
    return "\n".join([head, *lines])


def _bias(name: str, k: int, order: int) -> np.ndarray:
    law = LAWS[name]
    return np.abs(weights(k, order, PLACES) @ law.cdf(np.arange(k + 1) / k) - law.cdf(PLACES))


# Distribution functions and densities -------------------------------------------------------------------------------


def functions(repeats: int) -> str:
    """Return the table of errors and coverage of distribution functions and densities."""
    head = (
        "| law | rows | price | k | error ÷ | histogram ÷ | cdf | cdf, law | density | density, law | band |\n"
        "|---|---|---|---|---|---|---|---|---|---|---|"
    )
    return "\n".join([head, *_functions(repeats)])


def _functions(repeats: int) -> Iterator[str]:
    for name in SHAPES:
        for n, price in SIZES:
            rng = np.random.default_rng([SHAPES.index(name), n, 18])
            shape = shaped(tc.Bernstein("x"), _column(), "replace-one", n, Cost.of(**price))
            k = shape.columns[0].form.parameters["degree"]
            least = min(_error(name, n, price, one) for one in DEGREES)
            bins = min(_error_of_bins(name, n, price, one) for one in DEGREES)
            found = 100 * _coverage(name, n, shape, k, repeats, rng)
            words = " | ".join(f"{x:.1f}" for x in found)
            error = _error(name, n, price, k)
            line = f"| {name} | {n:,} | {Cost.of(**price)} | {k} | {error / least:.2f} | {bins / error:.2f} | {words} |"
            print(line, flush=True)
            yield line


def _column() -> tc.Schema:
    return tc.Schema({"x": tc.Real(0, 1, missing=0.0)})


def _error(name: str, n: int, price: dict[str, float], k: int) -> float:
    """Return the mean squared error of the distribution function over the range, exactly; order 2."""
    shape = shaped(tc.Bernstein("x", degree=k), _column(), "replace-one", n, Cost.of(**price))
    noise = float(shape.columns[0].law.variance()) / n**2
    over, values = weights(k, 2, PLACES), LAWS[name].cdf(np.arange(k + 1) / k)
    spread = np.einsum("ij,jk,ik->i", over, of_rows(values, n), over) + noise * (over[:, 1:-1] ** 2).sum(axis=1)
    return float((_bias(name, k, 2) ** 2 + spread).mean())


def _error_of_bins(name: str, n: int, price: dict[str, float], bins: int) -> float:
    """Return the same of a histogram whose counts are added up from the nearer end, and joined by straight lines."""
    shape = shaped(tc.Histogram("x", bins={"x": bins}), _column(), "replace-one", n, Cost.of(**price))
    noise, law = float(shape.columns[0].law.variance()) / n**2, LAWS[name]
    edges = np.arange(bins + 1) / bins
    place = np.minimum((PLACES * bins).astype(int), bins - 1)
    over = np.zeros((len(PLACES), bins + 1))
    over[np.arange(len(PLACES)), place + 1] = PLACES * bins - place
    over[np.arange(len(PLACES)), place] = 1 - (PLACES * bins - place)
    values = law.cdf(edges)
    # each edge is a sum of the fewer counts, which others share on their side
    load = np.array([[float(i < j) if 2 * j <= bins else -float(i >= j) for i in range(bins)] for j in range(bins + 1)])
    spread = np.einsum("ij,jk,ik->i", over, of_rows(values, n) + noise * load @ load.T, over)
    return float(((over @ values - law.cdf(PLACES)) ** 2 + spread).mean())


def _coverage(name: str, n: int, shape: Any, k: int, repeats: int, rng: np.random.Generator) -> np.ndarray:
    """Return the coverage of limits of the cdf and of the density, of polynomial and of law, and of the band."""
    law, (part,) = LAWS[name], shape.columns
    chances, values = np.diff(law.cdf(np.arange(k + 1) / k)), law.cdf(np.arange(k + 1) / k)
    step = 1e-4
    true = (law.cdf(SOME), (law.cdf(SOME + step) - law.cdf(SOME - step)) / (2 * step))
    made = (weights(k, 2, SOME) @ values, slopes(k, 2, SOME) @ values)
    whole, held = slopes(k, 2, PLACES) @ values, np.zeros(5)
    for _ in range(repeats):
        exact = np.array([lattice_sums(shape, part, rng.multinomial(n, chances).astype(np.int64))], dtype=np.int64)
        release = simulated(shape, add_noise(shape, (exact,), rng))
        for j, asked in enumerate((cdf, density)):
            limits = np.asarray(asked(release, SOME).intervals())
            for i, target in enumerate((made[j], true[j])):
                held[2 * j + i] += ((limits[:, 0] <= target) & (target <= limits[:, 1])).mean()
        band = smooth_density(release).intervals(PLACES, simultaneous=True)
        # a band is not below 0, where a polynomial may be
        held[4] += ((band[:, 0] <= np.maximum(whole, 0.0)) & (whole <= band[:, 1])).all()
    return held / repeats


def again(repeats: int) -> str:
    """Return the lowest lines of the table of functions, simulated again with other seeds, ten times as often."""
    head = "| law | rows | price | cdf | density | band | ± |\n|---|---|---|---|---|---|---|"
    lines = list[str]()
    for name, n, price in LOWEST:
        rng = np.random.default_rng([SHAPES.index(name), n, 20])
        shape = shaped(tc.Bernstein("x"), _column(), "replace-one", n, Cost.of(**price))
        k = shape.columns[0].form.parameters["degree"]
        cdf_held, _, density_held, _, band = 100 * _coverage(name, n, shape, k, 10 * repeats, rng)
        error = 200 * (0.05 * 0.95 / (10 * repeats)) ** 0.5
        held = f"{cdf_held:.1f} | {density_held:.1f} | {band:.1f} | {error:.1f}"
        lines.append(f"| {name} | {n:,} | {Cost.of(**price)} | {held} |")
        print(lines[-1], flush=True)
    return "\n".join([head, *lines])


def by_chance() -> str:
    """Return in words how often the lowest of the table's bands, all of which hold in 95%, is seen as low as it was."""
    lines, of, held = len(SHAPES) * len(SIZES), 50, 44
    chance = 1 - (1 - stats.binom.cdf(held, of, 0.95)) ** lines
    return (
        f"Of {lines} bands that hold in 95% the lowest in {of} simulations is {100 * held / of:.0f}% or less with "
        f"probability {chance:.2f}."
    )


def bands(repeats: int) -> str:
    """Return the table of bands of laws, sizes and prices that were written down when their law of noise changed."""
    head = "| law | rows | price | k | band |\n|---|---|---|---|---|"
    lines = list[str]()
    for name in HELD:
        for n, price in OTHERS:
            rng = np.random.default_rng([list(HELD).index(name), n, 19])
            shape = shaped(tc.Bernstein("x"), _column(), "replace-one", n, Cost.of(**price))
            (part,) = shape.columns
            k = part.form.parameters["degree"]
            values, held = HELD[name].cdf(np.arange(k + 1) / k), 0
            # the law is cut to [0, 1], and cells at the ends take what is beyond
            values = np.concatenate([[0.0], values[1:-1], [1.0]])
            whole = slopes(k, 2, PLACES) @ values
            for _ in range(repeats):
                exact = np.array([lattice_sums(shape, part, rng.multinomial(n, np.diff(values)).astype(np.int64))])
                release = simulated(shape, add_noise(shape, (exact.astype(np.int64),), rng))
                band = smooth_density(release).intervals(PLACES, simultaneous=True)
                held += bool(((band[:, 0] <= np.maximum(whole, 0.0)) & (whole <= band[:, 1])).all())
            lines.append(f"| {name} | {n:,} | {Cost.of(**price)} | {k} | {100 * held / repeats:.1f} |")
            print(lines[-1], flush=True)
    return "\n".join([head, *lines])


# Risks --------------------------------------------------------------------------------------------------------------


def risks(repeats: int) -> str:
    """Return the table of risk functions."""
    head = (
        "| loss | box | regressors | rows | price | k | limits | error, privacy | of sampling |"
        " polynomial | excess | bound | held | no limits |\n|---|---|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    return "\n".join([head, *(_risk(task, i, repeats) for i, task in enumerate(TASKS))])


def _risk(task: Task, place: int, repeats: int) -> str:
    rng, levels = np.random.default_rng([place, 37]), task.loss in ("logistic", "hinge")
    names = ["x", "w"][: len(task.c) - 1]
    kinds: dict[str, Any] = {"y": tc.Boolean(missing=False) if levels else tc.Real(-1, 1, missing=0.0)}
    schema = tc.Schema(kinds | {name: tc.Real(0, 1, missing=0.0) for name in names})
    query = tc.RiskFunction("y", names, task.loss, box=task.box)
    shape = shaped(query, schema, "replace-one", task.n, Cost.of(**task.price))
    x, y = cells(shape.variables)
    law = _law(task, shape.variables)
    truth = _least(task, x, y, law)
    bends, each = _bends(task, x, y, law, truth), x * slope_of(task.loss, x @ truth, y)[:, None]
    inverse = np.linalg.inv(bends)
    sampling = np.sqrt(np.diag(inverse @ ((each * law[:, None]).T @ each) @ inverse) / task.n)
    held, none, bounds, over, far, of_polynomial = list[np.ndarray](), 0, list[float](), list[float](), [], []
    for repeat in range(repeats):
        counts = rng.multinomial(task.n, law)
        exact = np.array([risk_sums(shape, shape.columns[0], counts.astype(np.int64))], dtype=np.int64)
        release = simulated(shape, add_noise(shape, (exact,), rng))
        found = estimate(release)
        if found.reasons[0] is not None:
            none += 1
            continue
        limits = np.atleast_2d(np.asarray(found.intervals()))
        held.append((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
        own = _least(task, x, y, counts / task.n, truth)
        far.append(found.values - own)
        if repeat % 5 == 0:
            of_polynomial.append(_of_polynomial(task, shape, release) - own)
            over.append(_mean(task, x, y, counts, found.values) - _mean(task, x, y, counts, own))
            bounds.append(excess(release))
    ok = np.mean([a <= b + 1e-9 for a, b in zip(over, bounds, strict=True)])
    rms = [np.sqrt((np.array(one) ** 2).mean(axis=0)).max() for one in (far, of_polynomial)]
    line = (
        f"| {task.loss} | {task.box:g} | {len(names)} | {task.n:,} | {Cost.of(**task.price)} | {query.steps} "
        f"| {100 * np.array(held).mean(axis=0).min():.1f} | {rms[0]:.3f} | {sampling.max():.3f} | {rms[1]:.3f} "
        f"| {np.mean(over):.1e} | {np.median(bounds):.1e} | {100 * ok:.0f} | {100 * none / repeats:.0f} |"
    )
    print(line, flush=True)
    return line


def _law(task: Task, variables: Any) -> np.ndarray:
    """Return the chance of every cell, from a fine grid of regressors and the law of the outcome."""
    from scipy.stats import beta, norm

    x, y = cells(variables)
    sizes = [len(np.unique(x[:, j])) for j in range(1, x.shape[1])]
    chances = np.ones(len(y))
    for j, size in enumerate(sizes, start=1):
        index = np.rint((x[:, j] + 1) / 2 * size - 0.5).astype(int)
        chances *= np.diff(beta(2, 3).cdf(np.arange(size + 1) / size))[index]
    z = x @ np.array(task.c)
    if task.loss in ("logistic", "hinge"):
        return chances / (1 + np.exp(-y * z))
    half = 1 / len(np.unique(y))
    low = np.where(y - half <= -1 + 1e-9, -np.inf, y - half)
    high = np.where(y + half >= 1 - 1e-9, np.inf, y + half)
    return chances * (norm(z, 0.25).cdf(high) - norm(z, 0.25).cdf(low))


def _mean(task: Task, x: np.ndarray, y: np.ndarray, counts: np.ndarray, c: np.ndarray) -> float:
    return float(counts @ loss_of(task.loss, x @ c, y)) / float(counts.sum())


def _bends(task: Task, x: np.ndarray, y: np.ndarray, law: np.ndarray, c: np.ndarray) -> np.ndarray:
    return (x * (law * bend_of(task.loss, x @ c, y))[:, None]).T @ x


def _least(task: Task, x: np.ndarray, y: np.ndarray, law: np.ndarray, start: Any = None) -> np.ndarray:
    """Return the coefficients of least mean loss within the box."""
    p = x.shape[1]
    found = optimize.minimize(
        lambda c: (law @ loss_of(task.loss, x @ c, y), (law * slope_of(task.loss, x @ c, y)) @ x),
        np.zeros(p) if start is None else start,
        jac=True,
        bounds=[(-task.box, task.box)] * p,
        options={"ftol": 1e-14, "gtol": 1e-10},
    )
    return found.x


def _of_polynomial(task: Task, shape: Any, release: Any) -> np.ndarray:
    """Return where the iterated Bernstein polynomial of the same lattice values, order 3, is least, from a grid."""
    from tacit.method.risk_function.estimate_mixture import lattice

    found, p = lattice(release), len(task.c)
    k, axis = shape.query.steps, np.linspace(0, 1, 81 if p == 2 else 31)
    one = weights(k, 3, axis)
    values = (found.values + found.table.middles).reshape((k + 1,) * p)
    for _ in range(p):
        # the first axis is summed, and that of places put last
        values = np.tensordot(values, one, axes=([0], [1]))
    at = np.unravel_index(int(values.argmin()), values.shape)
    return np.array([task.box * (2 * axis[i] - 1) for i in at])


# Regression functions and classifiers -------------------------------------------------------------------------------


def curves(repeats: int) -> str:
    """Return the table of regression functions and classifiers from histograms."""
    head = (
        "| mean | outcome | bins | rows | price | limits, ratio | limits, mean | band, ratio | error ÷ bins | wrong "
        "| limits | least possible |\n|---|---|---|---|---|---|---|---|---|---|---|---|"
    )
    return "\n".join([head, *(_curve(one, i, repeats) for i, one in enumerate(CURVES))])


def _curve(one: Curve, place: int, repeats: int) -> str:
    from scipy.stats import beta, norm

    rng, fine = np.random.default_rng([place, 38]), 64
    x = (np.arange(one.bins * fine) + 0.5) / (one.bins * fine)
    law, mean = beta(2, 3).pdf(x) / beta(2, 3).pdf(x).sum(), mean_of(one.name, x)
    kind: Any = tc.Boolean(missing=False) if one.levels else tc.Real(0, 1, missing=0.0)
    bins = {"x": one.bins} | ({} if one.levels else {"y": 10})
    if one.levels:
        chances, values = np.stack([1 - mean, mean], axis=1), np.array([0.0, 1.0])
    else:
        edges, values = np.concatenate([[-np.inf], np.arange(1, 10) / 10, [np.inf]]), (np.arange(10) + 0.5) / 10
        chances = np.diff(norm(mean[:, None], 0.15).cdf(edges[None, :]), axis=1)
    cells_of = (law[:, None] * chances).reshape(one.bins, fine, -1).sum(axis=1)
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0), "y": kind})
    shape = shaped(tc.Histogram(["x", "y"], bins=bins), schema, "replace-one", one.n, Cost.of(**one.price))
    some = SOME[1:-1]
    true = np.interp(some, x, chances @ values)
    without = simulated(shape, (np.rint(1e12 * cells_of).astype(np.int64).reshape(-1, 1),))
    ratio = regression_function(without, "y", "x", some, None, 2, "table").values
    held, squares, wrong = list[tuple[float, float, float]](), list[tuple[float, float]](), list[tuple[float, float]]()
    for _ in range(repeats):
        counts = rng.multinomial(one.n, cells_of.reshape(-1))
        release = simulated(shape, add_noise(shape, (counts[:, None],), rng))
        found = regression_function(release, "y", "x", some, None, 2, "population")
        limits, band = np.asarray(found.intervals()), np.asarray(found.intervals(simultaneous=True))
        inside = [
            ((one_[:, 0] <= t) & (t <= one_[:, 1])) for one_, t in ((limits, ratio), (limits, true), (band, ratio))
        ]
        held.append((float(inside[0].mean()), float(inside[1].mean()), float(inside[2].all())))
        noisy = np.array([cell[0] for cell in release.parts[0].integers], dtype=float).reshape(one.bins, -1)
        at = np.minimum((some * one.bins).astype(int), one.bins - 1)
        of_bins = np.clip((noisy @ values)[at] / np.maximum(noisy.sum(axis=1)[at], 1.0), 0.0, 1.0)
        squares.append((float(((found.values - true) ** 2).mean()), float(((of_bins - true) ** 2).mean())))
        if one.levels:
            rule = classifier(release, "y", "x", None, 0.5, 2, "population")
            own = float(np.where(rule.predicted, cells_of[:, 0], cells_of[:, 1]).sum())
            low, high = np.asarray(rule.error.intervals()).reshape(-1)
            wrong.append((own, float(low <= own <= high)))
    a, b, c = 100 * np.array(held).mean(axis=0)
    quotient = np.array(squares).mean(axis=0)
    words = " | | |"
    if one.levels:
        own, inside_ = np.array(wrong).mean(axis=0)
        words = f"{own:.3f} | {100 * inside_:.1f} | {np.minimum(cells_of[:, 0], cells_of[:, 1]).sum():.3f} |"
    outcome = "two levels" if one.levels else "numbers"
    line = (
        f"| {one.name} | {outcome} | {one.bins} | {one.n:,} | {Cost.of(**one.price)} | {a:.1f} | {b:.1f} | {c:.1f} "
        f"| {quotient[0] / quotient[1]:.2f} | {words}"
    )
    print(line, flush=True)
    return line


# Time ---------------------------------------------------------------------------------------------------------------


def times(rows: int) -> str:
    """Return the table of times beside a histogram's, of the whole release; the least of three."""
    rng = np.random.default_rng(0)
    data = {"x": rng.beta(2, 5, rows), "w": rng.beta(2, 3, rows), "y": rng.random(rows) < 0.4}
    schema = tc.Schema({"x": tc.Real(0, 1), "w": tc.Real(0, 1), "y": tc.Boolean()})
    asked: dict[str, Any] = {
        "Histogram of x, 64 bins": tc.Histogram("x", bins={"x": 64}),
        "Bernstein of x, degree 64": tc.Bernstein("x", degree=64),
        "OrthogonalSeries of x": tc.OrthogonalSeries("x"),
        "KernelDensity of x": tc.KernelDensity("x"),
        "Histogram of y and x, 64 bins": tc.Histogram(["y", "x"], bins={"x": 64}),
        "RiskFunction of y on x": tc.RiskFunction("y", "x"),
        "Histogram of y, x and w, 64 bins each": tc.Histogram(["y", "x", "w"], bins={"x": 64, "w": 64}),
        "RiskFunction of y on x and w": tc.RiskFunction("y", ["x", "w"]),
    }
    found, beside, lines = (
        list[float](),
        1.0,
        [f"| of {rows:,} rows | seconds | ÷ the histogram above |", "|---|---|---|"],
    )
    for name, query in asked.items():
        seconds = list[float]()
        for _ in range(3):
            curator = tc.Curator(data, schema, budget=tc.Budget(rho=1))
            start = time.perf_counter()
            curator.release(query, rho=0.1)
            seconds.append(time.perf_counter() - start)
        found.append(min(seconds))
        beside = found[-1] if name.startswith("Histogram") else beside
        ratio = "" if name.startswith("Histogram") else f"{found[-1] / beside:.2f}"
        lines.append(f"| {name} | {found[-1]:.2f} | {ratio} |")
        print(lines[-1], flush=True)
    return "\n".join(lines)


def main() -> None:
    """Write the parts of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=300)
    parser.add_argument("--quick", action="store_true", help="ten simulations, printed only")
    parser.add_argument("--part", choices=("rates", "functions", "again", "bands", "curves", "risks", "time"))
    given = parser.parse_args()
    repeats = 10 if given.quick else given.repeats
    parts = {
        "rates": rates,
        "functions": lambda: functions(repeats),
        "again": lambda: again(repeats),
        "bands": lambda: bands(repeats),
        "curves": lambda: curves(repeats),
        "risks": lambda: risks(repeats),
        "time": lambda: times(100_000 if given.quick else 10_000_000),
    }
    for name, made in parts.items():
        if given.part in (None, name):
            note = f"\n\n{repeats:,} simulations." if name in ("functions", "bands", "curves", "risks") else ""
            if name == "again":
                note = f"\n\n{10 * repeats:,} simulations. {by_chance()}"
            text = made() + note
            if given.quick:
                print(text)
            else:
                put(PAGE, f"bernstein.py: {name}", text)


if __name__ == "__main__":
    main()
