"""Regressions at small prices beside other methods at the same price; writes a page.

    python benchmarks/frontier_peers.py [--repeats 60] [--plain]

AdaSSP [Wang 2018, Algorithm 2] is written here, with noise by the exact calibration of Gaussian differential privacy in
place of the paper's bound, which makes it better than published.  diffprivlib is used where it is installed (it is no
requirement of the tests); its regressions have pure prices, of the same epsilon: a stronger promise than the pair that
the others keep.  Both get the bounds that Tacit gets.  Deterministic but for diffprivlib: seeds are constants.
"""

from __future__ import annotations

import argparse
import importlib
import math
import warnings
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

import numpy as np
from frontier_designs import DELTA, Cell, chain_of_nine, pairs_of_ten, skewed_and_unequal
from frontier_model_designs import ten, three
from pages import put
from scipy import optimize, stats

from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "regression-frontier.md"
Array = np.ndarray
TEXT = """## Beside other methods

{repeats} repetitions: the root of the summed mean squared errors of the slopes, over that of the fit without privacy,
on the same rows and in the same bounds. Neighbouring tables differ in one row that is replaced. *AdaSSP* (Wang 2018)
has its noise calibrated exactly, which its paper does not; it has no pure price. *diffprivlib* has pure prices of the
same ε, which is a stronger promise where the price has a δ, and the same one where it has none; its logistic regression
is at its defaults, which take the largest norm of a row from the rows themselves. None of the others states an error.

"""
HEAD = (
    "| design | rows | price | Tacit | Tacit: coverage, % | AdaSSP | diffprivlib |\n|---|---:|---|---:|---:|---:|---:|"
)


def cells() -> list[Cell]:
    """The designs: linear and logistic, at (1, delta), (3, delta) and the pure price 1."""
    one, more = Cost.of(epsilon=1, delta=DELTA), Cost.of(epsilon=3, delta=DELTA)
    pure, triple = Cost.of(epsilon=1), three(", two in a pair of correlation .8", pair=0.8)
    asked: list[tuple[Any, int, Cost]] = [
        (pairs_of_ten(), 50_000, one),
        (pairs_of_ten(), 10_000, more),
        (chain_of_nine(), 50_000, one),
        (skewed_and_unequal(), 60_000, one),
        (ten("logistic", 1.0, 0.0), 50_000, one),
        (three(""), 10_000, one),
        (triple, 10_000, one),
        (three(""), 10_000, pure),
        (triple, 10_000, pure),
        (ten("logistic", 1.0, 0.0), 50_000, pure),
        (skewed_and_unequal(), 60_000, pure),
    ]
    return [Cell(study.title, study, rows, cost) for study, rows, cost in asked]


def gaussian_mu(epsilon: float, delta: float) -> float:
    """Return the largest mu whose Gaussian differential privacy implies (epsilon, delta) [Dong, Roth & Su 2022]."""

    def spent(mu: float) -> float:
        a, b = -epsilon / mu + mu / 2, -epsilon / mu - mu / 2
        return float(stats.norm.cdf(a) - math.exp(epsilon) * stats.norm.cdf(b))

    return float(optimize.brentq(lambda mu: spent(mu) - delta, 1e-4, 50))


def adassp(rng: np.random.Generator, x: Array, y: Array, epsilon: float, delta: float) -> Array:
    """Return coefficients of rows x, each within [-1, 1] in every entry, and of responses within [-1, 1]."""
    d = x.shape[1]
    # one third of the price each, of a row that is replaced: sqrt(2) B**2 for products, 2 B for products with y
    scale, square = gaussian_mu(epsilon, delta) / math.sqrt(3), float(d)
    products, least = x.T @ x, float(np.linalg.eigvalsh(x.T @ x)[0])
    upper = np.triu(rng.normal(0, 1, (d, d)))
    noise = (upper + np.triu(upper, 1).T) * math.sqrt(2) * square / scale
    least = max(least + float(rng.normal(0, 1)) * square / scale - stats.norm.ppf(1 - delta) * square / scale, 0.0)
    ridge = max(0.0, math.sqrt(d * math.log(2 * d * d / 0.05)) * square / scale - least)
    crossed = x.T @ y + rng.normal(0, 1, d) * 2 * math.sqrt(square) / scale
    return np.linalg.solve(products + noise + ridge * np.eye(d), crossed)


def own(rng: np.random.Generator, cell: Cell, rows: Any) -> tuple[Array, Array] | None:
    """Return the slopes that Tacit releases, and their standard errors."""
    fit = rows.fit(rng)
    return None if any(fit.reasons) else (fit.values[1:], fit.std_errors[1:])


def by_adassp(rng: np.random.Generator, cell: Cell, rows: Any) -> Array | None:
    """Return the slopes of AdaSSP."""
    # it has no pure price
    if cell.study.query.model != "linear" or cell.cost.delta is None:
        return None
    layout, z = rows.layout, rows.z / 1024
    b = adassp(rng, z[:, :-1], z[:, -1], float(cell.cost.epsilon), DELTA)
    terms = layout.terms
    # the response is terms[-1] of z: coefficients of z / H are turned back to those of the terms
    target = terms[-1, :-1] + terms[-1, -1] * b
    return np.linalg.lstsq(terms[:-1, :-1].T, target, rcond=None)[0][1:]


def by_diffprivlib(rng: np.random.Generator, cell: Cell, rows: Any) -> Array | None:
    """Return the slopes of diffprivlib."""
    try:
        models = importlib.import_module("diffprivlib.models")
    except ImportError:
        return None
    epsilon, terms = float(cell.cost.epsilon), rows.layout.terms
    values = (rows.z / 1024) @ terms.T
    x, y = values[:, 1:-1], values[:, -1]
    ends = [cell.study.schema[name] for name in rows.layout.formula.columns[1:]]
    low, high = (np.array([float(getattr(one, side, d)) for one in ends]) for side, d in (("lower", 0), ("upper", 1)))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        if cell.study.query.model == "linear":
            response: Any = cell.study.schema["y"]
            bounds = (float(response.lower), float(response.upper))
            made = models.LinearRegression(epsilon=epsilon, bounds_X=(low, high), bounds_y=bounds).fit(x, y)
            return np.asarray(made.coef_)
        return np.asarray(models.LogisticRegression(epsilon=epsilon).fit(x, y > 0.5).coef_)[0]


METHODS: dict[str, Callable[..., Array | None]] = {"AdaSSP": by_adassp, "diffprivlib": by_diffprivlib}


def line(place: int, repeats: int) -> str:
    """Return a line of the page."""
    cell, rng = cells()[place], np.random.default_rng([16, 4, place])
    truth = np.array(list(cell.study.truth.values()))[1:]
    errors: dict[str, list[Array]] = {name: [] for name in ("ordinary", "Tacit", *METHODS)}
    inside: list[Array] = []
    for _ in range(repeats):
        rows = rows_of(cell.study.query, cell.study.draw(rng, cell.rows), cell.study.schema, cell.cost)
        errors["ordinary"].append(rows.ordinary()[0][1:] - truth)
        found = own(rng, cell, rows)
        if found is not None:
            errors["Tacit"].append(found[0] - truth)
            inside.append(np.abs(found[0] - truth) < 1.96 * found[1])
        for name, method in METHODS.items():
            slopes = method(rng, cell, rows)
            if slopes is not None:
                errors[name].append(slopes - truth)
    base = math.sqrt(float((np.array(errors["ordinary"]) ** 2).mean(axis=0).sum()))

    def ratio(name: str) -> str:
        made = np.array(errors[name])
        if not len(made):
            return "–"
        size = math.sqrt(float((made**2).mean(axis=0).sum())) / base
        return f"{size:.2f}" if size < 1_000 else "over 1,000"

    covered = f"{100 * np.mean(inside):.1f}" if inside else "–"
    parts = [cell.words, f"{cell.rows:,}", str(cell.cost), ratio("Tacit"), covered, *map(ratio, METHODS)]
    return f"| {' | '.join(parts)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    options = parser.parse_args()
    lines = [HEAD]
    with ProcessPoolExecutor(2) as pool:
        for one in pool.map(line, range(len(cells())), [options.repeats] * len(cells())):
            lines.append(one)
            print(one, flush=True)
    if not options.plain:
        put(PAGE, "frontier_peers.py", TEXT.format(repeats=options.repeats) + "\n".join(lines))


if __name__ == "__main__":
    main()
