"""The lecture notes' rates beside measured errors: a section of docs/reference/rules-in-print.md.

`rules_in_print.py --rates` writes it.  Laws, sizes and numbers of simulations were committed before any was simulated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import exp
from typing import Final

import numpy as np
from compared_designs import Method
from compared_estimates import estimator
from compared_simulations import FINE, Case
from ks_dataset import released, shaped
from smooth_density import LAWS

import tacit as tc
from tacit.base.arrays import Array
from tacit.privacy import Cost
from tacit.testing.simulate import shaped as design

SIZES: Final = (1_000, 10_000, 100_000, 1_000_000)
EPSILONS: Final = (0.01, 0.1, 0.5, 1.0, 2.0)
DENSITIES: Final = ("Beta(2,5)", "triangle", "step")
"""Smooth; Lipschitz; with a jump: beyond what the rates are for."""
SETS: Final = ((500, 40), (1_000, 40), (2_000, 20), (4_000, 10), (8_000, 5))
"""Numbers of rows of data sets, and of simulations: they are slow."""
SCHEMA: Final = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})


def least(epsilon: float) -> float:
    """Return the bound that no release beats: of its mean absolute error, in units of the sensitivity.

    Tables that differ in k rows have values k apart.  Whoever guesses the table from the release errs with probability
    1 / (1 + e**(k epsilon)) at least, and an error of the guess is an error of the value of k / 2.

    >>> round(least(0.01) * 0.01, 3)
    0.139
    """
    return max(k / 2 / (1 + exp(min(700.0, k * epsilon))) for k in range(1, max(2, int(5 / epsilon)) + 1))


def of_a_number() -> Iterator[str]:
    """Yield the lines on one number of sensitivity 1."""
    rng = np.random.default_rng(64)
    for epsilon in EPSILONS:
        noise = rng.laplace(0, 1 / epsilon, 200_000)
        one, other = least(epsilon), float(np.abs(noise).mean())
        yield f"| {epsilon:g} | {1 / epsilon:g} | {other:.4g} | {one:.4g} | {other / one:.1f} |"


def of_means(repeats: int) -> Iterator[str]:
    """Yield the lines on one mean of a Beta(2,5) column on [0, 1], beside the notes' order."""
    law = LAWS["Beta(2,5)"]
    grid = np.linspace(0, 1, 2_001)
    chances, true = np.diff(law.cdf(grid)), float(np.trapezoid(1 - law.cdf(grid), grid))
    middles = (grid[1:] + grid[:-1]) / 2
    for n in SIZES:
        rng = np.random.default_rng([65, n])
        shape = design(tc.Mean("x"), SCHEMA, "replace-one", n, Cost.of(epsilon="0.1"))
        scale = shape.columns[0]
        exact = np.round((rng.multinomial(n, chances, repeats) @ middles) * scale.form.parameters["G"])
        noisy = exact + scale.law.sample(repeats, rng)
        error = float(((noisy / (n * scale.form.parameters["G"]) - true) ** 2).mean())
        price = tc.explain(epsilon=0.1).minimax((n,))
        order = price.sampling(n) + price.privacy(n)
        plain = float(chances @ middles**2 - (chances @ middles) ** 2) / n
        yield f"| {n:,} | {plain:.3g} | {order:.3g} | {error:.3g} | {error / order:.3f} |"


@dataclass(frozen=True)
class Way:
    """An estimator of a density with its rate in print.  rule: of n, its parameter; None: the design's choice."""

    name: str
    method: Method
    power: float | None
    rate: float | None
    rate_of: str = ""

    def value(self, n: int) -> float | None:
        """Return the parameter."""
        return None if self.power is None else float(max(1, round(n**self.power)))


WAYS: Final = (
    Way("histogram, m = n^(1/3)", Method("histogram", "bins", ()), 1 / 3, -2 / 3, "Lipschitz"),
    Way('histogram, bins="auto"', Method("histogram", "bins", ()), None, None),
    Way("cosines, m = n^(1/5)", Method("cosine", "terms", ()), 1 / 5, -4 / 5, "γ = 2"),
    Way("cosines, terms by the design", Method("cosine", "terms", ()), None, None),
    Way("kernel, bandwidth by the design", Method("kernel", "bandwidth", ()), None, None),
    Way("nearer series, of 64 bins", Method("smooth", "bins", ()), None, None),
)


def of_densities(repeats: int) -> Iterator[str]:
    """Yield the lines on densities at epsilon = 1: mean integrated squared errors and their slopes in log n."""
    for law in DENSITIES:
        true = np.diff(LAWS[law].cdf(np.linspace(0, 1, FINE + 1))) * FINE
        for way in WAYS:
            found = list[float]()
            for n in SIZES:
                rng = np.random.default_rng([66, n, len(way.name), DENSITIES.index(law)])
                case = Case(way.method, law, n, {"epsilon": 1.0}, way.value(n))
                shape, integers, ends, _ = case.drawn(_many(way, repeats), rng)
                density, _ = estimator(way.method.name)(case, shape, integers, ends)
                found.append(float(((density - true) ** 2).mean()))
            words = (law, way.name, *(f"{one:.2g}" for one in found), _slope(SIZES, found), _rate(way))
            yield f"| {' | '.join(words)} |"


def _many(way: Way, repeats: int) -> int:
    return repeats // 4 if way.method.name == "smooth" else repeats


def _rate(way: Way) -> str:
    return "–" if way.rate is None else f"{way.rate:+.2f} ({way.rate_of})"


def _slope(sizes: Sequence[int], errors: Sequence[float]) -> str:
    return f"{np.polyfit(np.log(sizes), np.log(errors), 1)[0]:+.2f}"


def of_distributions() -> Iterator[str]:
    """Yield the lines on distribution functions: distances from the rows', at epsilon = 1."""
    rows, sets, steps, law = list[float](), list[float](), list[float](), LAWS["Beta(2,5)"]
    for n, many in SETS:
        rng, shape = np.random.default_rng([67, n]), shaped(n, 1.0)
        m, k = (shape.columns[0].form.parameters[name] for name in ("cells", "G"))
        whole = law.cdf(np.linspace(0, 1, m + 1))
        each = list[tuple[float, float, float]]()
        for _ in range(many):
            counts = rng.multinomial(n, np.diff(whole))
            made, _ = released(shape, (np.repeat(np.arange(m), counts) + 0.5) / m)
            true = np.cumsum(counts)[:-1] / n
            noisy = np.cumsum(_shares(counts.reshape(50, -1).sum(axis=1), n, rng))[:-1]
            at = np.interp(np.linspace(0, 1, m + 1)[1:-1], np.linspace(0, 1, 51), np.concatenate([[0], noisy, [1]]))
            points = np.cumsum(made.parts[0].integers[0])[:-1] / k
            each.append(tuple(float(np.abs(a - b).max()) for a, b in ((true, whole[1:-1]), (points, true), (at, true))))
        sampled, far, beside = np.mean(each, axis=0)
        rows.append(float(sampled)), sets.append(float(far)), steps.append(float(beside))
        yield f"| {n:,} | {k} | {sampled:.4f} | {far:.4f} | {beside:.4f} | {n ** (-1 / 3):.3f} |"
    sizes = [n for n, _ in SETS]
    yield f"| slope in log n | | {_slope(sizes, rows)} | {_slope(sizes, sets)} | {_slope(sizes, steps)} | -0.33 |"


def _shares(counts: Array, n: int, rng: np.random.Generator) -> Array:
    from tacit.base.simplex import nearest_with_sum

    return nearest_with_sum((counts + rng.laplace(0, 2.0, len(counts))) / n, 1.0)


def rates_part(repeats: int) -> list[str]:
    """Return the section."""
    sizes = " | ".join(f"n = {n:,}" for n in SIZES)
    return f"""## The lecture notes: what no release beats, and rates

**A number** (§3, §4) of sensitivity Δ = 1. Laplace noise of scale Δ/ε has a mean absolute error of Δ/ε. *No release
below*: of tables that differ in k rows and whose values are kΔ apart nobody can tell which it was but with errors of
1/(1 + e^(kε)) each; the best k. Towards small ε that is 0.139 Δ/ε: the order is what privacy costs, not this noise.

| ε | Δ/ε | Laplace, simulated | no release below | ratio |
|---:|---:|---:|---:|---:|
{chr(10).join(of_a_number())}

**A mean** (§4) of Beta(2,5) on [0, 1], at ε = 0.1; the order d/n + d³/(n²ε²) for d = 1 is that of
`tc.explain(epsilon=0.1).minimax(…)`, for the worst law and without constants; {repeats:,} simulations of `Mean`. An
error below the order contradicts nothing: it is of the worst law, and this one's variance is a fortieth of 1. Noise
adds 2/(n²ε²), twice the second term.

| n | variance of a mean | 1/n + 1/(n²ε²) | mean squared error | ÷ order |
|---:|---:|---:|---:|---:|
{chr(10).join(of_means(repeats))}

**A density** (§5.2, §5.3), ε = 1: mean integrated squared errors, {repeats:,} simulations ({repeats // 4:,} of smooth
densities), and their slopes in log n beside the rate in print: n^(-2/3) for a histogram of n^(1/3) bins of a Lipschitz
density, n^(-2γ/(2γ+1)) for a series of n^(1/(2γ+1)) terms. Rules of the design have no rate in print. The histogram has
its rate. Neither law is of class γ = 2 for cosines: their derivatives are not 0 at the ends of the range, coefficients
fall as j^(-2), and with n^(1/5) terms what is left out is of the order n^(-3/5); the design's rule takes more terms. A
step is in no class that the rates are for (errors of its histograms jump: an edge of a bin is at the step or is not).

| law | estimate | {sizes} | slope | in print |
|---|---|{"---:|" * len(SIZES)}---:|---:|
{chr(10).join(of_densities(repeats))}

**A distribution function** (§5.1), ε = 1, Beta(2,5): mean distances of Kolmogorov and Smirnov. In print a data set of
n^(2/3) points is within O(n^(-1/3)) of the law; that is an upper bound, and far from what happens. *Rows*: of the rows
from the law. *Data set* (`KSDataset`, size by the rule) and *histogram* (50 bins of the same price): from the rows.

| n | size | rows from the law | data set | histogram | n^(-1/3) |
|---:|---:|---:|---:|---:|---:|
{chr(10).join(of_distributions())}
""".splitlines()
