"""Fits and statistics of histograms on designs drawn at random: laws, edges, models, rows and prices.

    python benchmarks/drawn_bins.py {fits,statistics} [--set N] [--repeats N] [--only TEXT] [--keep]
    python benchmarks/drawn_bins_page.py

`uneven_bins.py` has designs on which the rules within bins were made; the designs here were drawn from seeds (a set is
a seed) and committed before any was simulated.  Sets 2 and 5 to 10 show what is wrong; what is mended for it is judged
by sets 3 (statistics) and 11 (fits), which nobody simulates before.  A design: a law of the regressor on [0, 100]
(Beta, gamma, two humps, a spike at a round value, whole numbers declared whole or real), edges (round numbers as people
type them, rounded quantiles, geometric, equal, automatic), a model with its law of the response, and for each of three
numbers of rows a price.  Cells' probabilities are summed over 20,000 points of the regressor and exact in the response,
and rows and noise (Laplace of scale 2 / epsilon, replace-one) are drawn anew in each simulation.  True slopes are exact
by construction.
`--keep` adds lines to drawn_bins.jsonl, of which the other script makes the pages' tables.
"""

from __future__ import annotations

import argparse
import json
import time
import zlib
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from scipy import stats
from scipy.special import expit
from uneven_bins import chosen_edges

import tacit as tc
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.regression_fits import fit_cells
from tacit.method.histogram.estimate_from_cells.cell_moments import moments
from tacit.method.histogram.estimate_from_cells.cell_quantiles import quantiles
from tacit.method.shared.simulated_parts import simulated as simulated_release
from tacit.privacy import Cost
from tacit.schema import Real, Schema
from tacit.schema.autobins import Size, resolved
from tacit.testing.simulate import add_noise, shaped

Array = np.ndarray
ROWS = (2_000, 20_000, 100_000)
PRICES = (0.3, 1.0, 3.0)
DESIGNS = 40
GRID = 20_000
KEPT = Path(__file__).with_suffix(".jsonl")
PROBS = (0.1, 0.5, 0.9)
MOST = 100.0
TYPED = (0.0, 18, 25, 35, 50, 65, 100)
TYPED_Y = (0.0, 20, 30, 40, 50, 60, 80, 100)
DOUBLING = (0.0, 1, 2, 4, 8, 16, 32, 64, 100)
COUNTS = (-0.5, 0.5, 1.5, 2.5, 3.5, 5.5, 8.5, 12.5, 20.5, 40.5)
LAWS = ("beta", "gamma", "humps", "spike", "whole", "whole as real")
EDGES = ("typed", "quantiles", "geometric", "equal", "auto")
MODELS = ("linear", "logistic", "poisson", "huber", "quantile")


# Laws of the regressor: points and weights ---------------------------------------------------------------------------


def law_of(name: str, rng: np.random.Generator) -> tuple[Array, Array]:
    """Draw a law of this kind: points in [0, 100] and weights that add up to 1."""
    cuts = np.linspace(0, MOST, GRID + 1)
    if name == "humps":
        low, high, part = rng.uniform(15, 40), rng.uniform(55, 85), rng.uniform(0.3, 0.7)
        one, other = stats.norm(low, rng.uniform(4, 10)), stats.norm(high, rng.uniform(4, 10))
        cdf = part * one.cdf(cuts) + (1 - part) * other.cdf(cuts)
    elif name == "gamma":
        shape = rng.uniform(1, 4)
        cdf = stats.gamma(shape, scale=rng.uniform(15, 35) / shape).cdf(cuts)
    else:
        cdf = stats.beta(rng.uniform(1, 4), rng.uniform(1, 5)).cdf(cuts / MOST)
    weight = np.diff(cdf) / (cdf[-1] - cdf[0])
    x = (cuts[1:] + cuts[:-1]) / 2
    if name == "spike":
        share, place = rng.uniform(0.05, 0.2), float(rng.choice([0.0, 10.0, 20.0, 30.0, 50.0]))
        return np.append(x, place), np.append((1 - share) * weight, share)
    if name.startswith("whole"):
        # ages in years that are over: the floor
        return np.arange(101.0), np.append(weight.reshape(100, -1).sum(axis=1), 0.0)
    return x, weight


def edges_of(name: str, x: Array, weight: Array) -> tuple[float, ...] | None:
    """Return edges of this kind on [0, 100] for a law; None for automatic ones."""
    if name == "typed":
        return TYPED
    if name == "quantiles":
        order = np.argsort(x)
        found = np.interp((0.1, 0.25, 0.5, 0.75, 0.9), np.cumsum(weight[order]), x[order])
        return (0.0, *sorted({float(e) for e in found.round()} - {0.0, MOST}), MOST)
    if name == "geometric":
        return (0.0, *(MOST / 2**k for k in range(5, -1, -1)))
    if name == "doubling":
        return DOUBLING
    return tuple(np.linspace(0, MOST, 13)) if name == "equal" else None


# Residuals: mean 0 (or a quantile of 0), between -3 and 3 standard deviations of the whole law ------------------------


@dataclass(frozen=True)
class Residual:
    """A law cut to [-3, 3] by its distribution function, shifted by `middle` and scaled by `sd`."""

    name: str
    sd: float
    middle: float = 0.0

    def cdf(self, e: Array) -> Array:
        law = {"normal": stats.norm(), "laplace": stats.laplace(scale=2**-0.5), "skewed": SKEWED}[self.name]
        low, high = law.cdf(-3.0), law.cdf(3.0)
        return np.clip((law.cdf(e / self.sd + self.middle) - low) / (high - low), 0, 1)


SKEWED = stats.gamma(2, loc=-(2**0.5), scale=2**-0.5)


def residual(name: str, sd: float, tau: float | None = None) -> Residual:
    """Return the residual with mean 0, or with its tau-quantile at 0."""
    cuts = np.linspace(-3, 3, 60_001)
    p = np.diff(Residual(name, 1.0).cdf(cuts))
    middle = float(p @ (cuts[1:] + cuts[:-1]) / 2) if tau is None else float(np.interp(tau, np.cumsum(p), cuts[1:]))
    return Residual(name, sd, middle)


# Designs -------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """One draw: law and edges by name, the regressor's points and weights, the response's cells given a regressor.

    given: edges of the response -> probabilities of its bins at each point, shape (points, bins).
    """

    name: str
    law: str
    edges: str
    model: str
    x: Array
    weight: Array
    x_edges: tuple[float, ...] | None
    y_edges: tuple[float, ...] | None
    given: Callable[[Array], Array]
    slope: float
    words: dict[str, Any]
    prices: tuple[float, ...]

    def axes(self, n: int, epsilon: float) -> tuple[CellAxis, CellAxis]:
        whole_y = self.model == "poisson"
        auto = {"x": self.x_edges is None, "y": self.y_edges is None}
        edges = {"x": self.x_edges, "y": self.y_edges}
        wanted = tuple(name for name, one in auto.items() if one)
        if wanted:
            schema = Schema({name: Real(0, MOST) for name in wanted})
            cells = 2 if self.model == "logistic" else len(self.y_edges) - 1 if self.y_edges else 1
            bins = resolved(schema, wanted, dict.fromkeys(wanted, "auto"), Size(float(n), epsilon, 10**7), cells, 0)
            edges |= {name: chosen_edges(bins[name], 0.0, MOST) for name in wanted}
        e = np.array(edges["x"], dtype=float)
        if self.law == "whole":
            e = np.unique(np.round(e)) - 0.5
            e[-1] = MOST + 0.5
        x = CellAxis("x", "continuous", e, step=float(self.law == "whole"))
        if self.model == "logistic":
            return x, CellAxis("y", "levels", labels=("no", "yes"))
        return x, CellAxis("y", "continuous", np.array(edges["y"], dtype=float), step=float(whole_y))

    def probabilities(self, axes: tuple[CellAxis, CellAxis]) -> Array:
        """Return those of all cells, shape (bins, bins)."""
        at = np.clip(np.searchsorted(axes[0].bounds, self.x, side="right") - 1, 0, axes[0].bins - 1)
        y = axes[1].bounds if axes[1].kind == "continuous" else np.zeros(0)
        p = np.zeros((axes[0].bins, axes[1].bins))
        np.add.at(p, at, self.weight[:, None] * self.given(y))
        return p / p.sum()


def designs(seed: int) -> list[Design]:
    """Draw a set: every law and kind of edges with every model about equally often."""
    rng = np.random.default_rng([seed, 20261123])
    order = [(m, MODELS[m % 5], EDGES[(m // 5 + m) % 5], LAWS[m % 6]) for m in range(DESIGNS)]
    return [drawn(*one, rng) for one in order]


def drawn(
    number: int,
    model: str,
    edges: str,
    law: str,
    rng: np.random.Generator,
    laws: Callable[[str, np.random.Generator], tuple[Array, Array]] = law_of,
) -> Design:
    """Draw one design of a model, edges and law by name; laws: draws points and weights of the regressor."""
    x, weight = laws(law, rng)
    own = edges_of(edges, x, weight)
    prices = tuple(float(rng.choice(PRICES)) for _ in ROWS)
    sign, words = float(rng.choice([-1, 1])), dict[str, Any]()
    start = 30.0 if sign > 0 else 70.0
    slope, sd = sign * float(rng.uniform(0.2, 0.4)), float(rng.uniform(5, 9))
    kind = str(rng.choice(["normal", "laplace", "skewed"]))
    y_name = str(rng.choice(["equal 12", "equal 20", "typed"]))
    y_edges: tuple[float, ...] | None = {
        "equal 12": tuple(np.linspace(0, MOST, 13)),
        "equal 20": tuple(np.linspace(0, MOST, 21)),
        "typed": TYPED_Y,
    }[y_name]
    if edges == "auto":
        y_name, y_edges = "auto", None
    if model == "logistic":
        c, slope = -float(rng.uniform(0.5, 2)), sign * float(rng.uniform(0.02, 0.06))
        y_name, y_edges, p = "", (), expit(c * sign + slope * x)

        def given(_: Array) -> Array:
            return np.stack([1 - p, p], axis=1)
    elif model == "poisson":
        c, slope = float(rng.uniform(-0.3, 0.5)), float(rng.uniform(0.008, 0.018))
        y_name = str(rng.choice(["values", "coarse"]))
        y_edges = COUNTS if y_name == "coarse" else tuple(np.arange(-0.5, 26))
        mean = np.exp(c + slope * x)

        def given(e: Array) -> Array:
            return np.diff(stats.poisson(mean[:, None]).cdf(np.append(e[:-1], 1e9)[None, :] - 0.25), axis=1)
    else:
        tau = float(rng.choice([0.25, 0.5, 0.75])) if model == "quantile" else None
        if model == "huber" and kind == "skewed":
            kind = "normal"
        e0 = residual(kind, sd, tau)
        words = {"tau": tau} if tau else {"k": round(1.345 * sd, 1)} if model == "huber" else {}
        line = start + slope * x

        def given(e: Array) -> Array:
            inner = e0.cdf(e[None, 1:-1] - line[:, None])
            return np.diff(np.pad(inner, ((0, 0), (1, 1)), constant_values=(0.0, 1.0)), axis=1)

    place = f" {x[-1]:g}" if law == "spike" else ""
    told = f", {kind}, sd {sd:.1f}" if model in ("linear", "huber", "quantile") else ""
    name = f"{number + 1}. {model}{told}; {law}{place}; x {edges}" + (f", y {y_name}" if y_name else "")
    return Design(name, law, edges, model, x, weight, own, y_edges, given, slope, words, prices)


def fits(design: Design, n: int, epsilon: float, repeats: int) -> list[dict[str, Any]]:
    """Return one line: coverage given an answer, share of reasons, bias and SE in standard deviations."""
    axes = design.axes(n, epsilon)
    p, rng = design.probabilities(axes), np.random.default_rng([n, zlib.crc32(design.name.encode())])
    found: list[tuple[float, float, bool]] = []
    for _ in range(repeats):
        counts = rng.multinomial(n, p.reshape(-1)).reshape(p.shape) + rng.laplace(0, 2 / epsilon, p.shape)
        cells = CellCounts(axes, counts, 8 / epsilon**2, float(n))
        fit = fit_cells(cells, "y ~ x", design.model, **design.words)
        found.append((fit.values[1], fit.std_errors[1], fit.reasons[1] is not None))
    return [{"what": "slope"} | summed(*zip(*found, strict=True), truth=design.slope)]


def statistics(design: Design, n: int, epsilon: float, repeats: int) -> list[dict[str, Any]]:
    """Return lines for the mean, sd and three quantiles of the regressor alone, from its own histogram."""
    (axis, _), whole = design.axes(n, epsilon), design.law == "whole"
    order = np.argsort(design.x, kind="stable")
    mean = float(design.weight @ design.x)
    truths = [mean, float(np.sqrt(design.weight @ (design.x - mean) ** 2))]
    at = np.searchsorted(np.cumsum(design.weight[order]), PROBS)
    truths += [float(design.x[order][i]) for i in at]
    bins = np.clip(np.searchsorted(axis.bounds, design.x, side="right") - 1, 0, axis.bins - 1)
    p = np.bincount(bins, design.weight, axis.bins)[None, :]
    column = tc.Integer(0, 100) if whole else tc.Real(0, MOST)
    query = tc.Histogram("x", bins=[float(e) for e in axis.bounds[1:-1]] if whole else [float(e) for e in axis.bounds])
    schema = tc.Schema({"x": column, "id": tc.Integer(0, 1)})
    shape = shaped(query, schema, "replace-one", n, Cost.of(epsilon=epsilon))
    rng = np.random.default_rng([n, zlib.crc32(design.name.encode())])
    found: list[list[tuple[float, float, bool, bool]]] = [[] for _ in truths]
    for _ in range(repeats):
        counts = rng.multinomial(n, p[0] / p.sum()).reshape(1, -1, 1)
        release = simulated_release(shape, tuple(k[0] for k in add_noise(shape, (counts,), rng)))
        several = moments(release, "x")[["mean", "sd"]]
        middle = quantiles(release, "x", PROBS)
        ends = np.concatenate([several.intervals(), middle.intervals()])
        errors = np.concatenate([several.std_errors, np.diff(middle.intervals())[:, 0] / 2 / 1.959964])
        values, reasons = np.concatenate([several.values, middle.values]), (*several.reasons, *middle.reasons)
        for i, truth in enumerate(truths):
            hit = ends[i, 0] - 1e-9 <= truth <= ends[i, 1] + 1e-9
            found[i].append((values[i], errors[i], reasons[i] is not None, bool(hit)))
    names = ("mean", "sd", *(f"quantile {q:g}" for q in PROBS))
    lines: list[dict[str, Any]] = []
    for name, truth, one in zip(names, truths, found, strict=True):
        value, error, silent, hit = zip(*one, strict=True)
        lines.append({"what": name} | summed(value, error, silent, truth, hit))
    return lines


def summed(value: Any, error: Any, silent: Any, truth: float, hit: Any = None) -> dict[str, Any]:
    """Return what one cell of the study says; hit: whether intervals hold, by default those of 1.96 errors."""
    value, error, silent = np.array(value), np.array(error), np.array(silent, dtype=bool)
    given = ~silent & np.isfinite(value)
    hit = np.abs(value - truth) <= 1.959964 * error if hit is None else np.array(hit)
    one: dict[str, Any] = {"answers": int(given.sum()), "covered": int(hit[given].sum()), "repeats": len(value)}
    if given.sum() > 1 and value[given].std() > 0:
        sd = float(value[given].std())
        one |= {"bias": float(value[given].mean() - truth) / sd, "se": float(np.median(error[given])) / sd}
        # of a quantile that is 0 there is no relative deviation
        one |= {"sd": sd / abs(truth)} if truth else {}
    return {key: round(v, 4) if isinstance(v, float) else v for key, v in one.items()}


def simulated(part: str, seed: int, repeats: int, only: str) -> Iterable[dict[str, Any]]:
    make = {"fits": fits, "statistics": statistics}[part]
    for design in designs(seed):
        for n, epsilon in zip(ROWS, design.prices, strict=True):
            if only in design.name:
                where = {"part": part, "set": seed, "design": design.name, "n": n, "epsilon": epsilon}
                for line in make(design, n, epsilon, repeats):
                    yield where | line


def told(line: dict[str, Any]) -> str:
    """Return a line for the terminal."""
    given, silent = "-", line["repeats"] - line["answers"]
    if line["answers"]:
        given = f"{100 * line['covered'] / line['answers']:.0f}"
    ratio = f"{line.get('bias', 0):6.2f} {line.get('se', 0):5.2f}"
    return f"{given:>4} {silent:>4} {ratio} {line['n']:>7} {line['epsilon']:g} {line['what']} {line['design']}"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=["fits", "statistics"])
    parser.add_argument("--set", type=int, default=2)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--only", default="", help="only designs whose name has this text")
    parser.add_argument("--keep", action="store_true", help="add the lines to drawn_bins.jsonl")
    options = parser.parse_args()
    start = time.monotonic()
    for line in simulated(options.part, options.set, options.repeats, options.only):
        print(f"{time.monotonic() - start:5.0f} s {told(line)}", flush=True)
        if options.keep:
            with KEPT.open("a", encoding="utf-8") as file:
                file.write(json.dumps(line) + "\n")


if __name__ == "__main__":
    main()
