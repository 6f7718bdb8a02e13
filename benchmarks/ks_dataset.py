"""Whole data sets by the exponential mechanism beside histograms of the same price: docs/reference/ks-dataset.md.

    python benchmarks/ks_dataset.py [--repeats 40] [--quick]
    python benchmarks/ks_dataset.py --small 60      (a second part: small sets and sizes beyond the rule)

Rows are drawn anew in each simulation, and a data set, or noise, by the sampler of a release.  `--quick` for a look.
Estimates are seeded; data sets are drawn by the operating system's generator, so that figures differ a little each
time.  Laws, sizes and prices were written down before any of them was simulated, but for Beta(2,5) at 10,000 rows.
"""

from __future__ import annotations

import sys
import time
from fractions import Fraction
from itertools import product
from math import exp
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import by_repeats, put
from scipy.stats import beta

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.method.ks_dataset.bands import Bands
from tacit.method.ks_dataset.estimate import band, moments, quantiles
from tacit.method.ks_dataset.layers import Layers
from tacit.method.ks_dataset.mechanism import drawn
from tacit.method.ks_dataset.path_counts import Paths
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.simulated_parts import simulated
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "ks-dataset.md"
SCHEMA: Final = tc.Schema({"x": tc.Real(0, 1, missing=0.5)})
LAWS: Final = ("Beta(2,5)", "two modes", "ten heaps")
"""The last, and the sizes beyond the rule, were written down after estimates had been settled with the first two."""
DESIGNS: Final = ((1_000, 1.0), (10_000, 0.1), (10_000, 1.0), (100_000, 1.0))
"""Numbers of rows and prices in epsilon; the size goes by the rule."""
LARGER: Final = ((400, 1.0, 32), (400, 1.0, 60), (1_000, 1.0, 80), (1_000, 1.0, 200))
"""Rows, price and sizes that are beyond the rule, twice and more."""
SMALL: Final = 100
"""Most points of the designs of which more are simulated."""
HEAPS: Final = np.array([1, 4, 2, 3, 6, 5, 1, 2, 4, 2]) / 30
"""Parts of the rows in cells 5, 15, ..., 95 of 100, and none elsewhere."""
PROBS: Final = (0.1, 0.5, 0.9)
HEAPED: Final = np.stack([np.cumsum(HEAPS) - HEAPS, np.cumsum(HEAPS)], axis=1).ravel()
FINE: Final = 100_001


def rows(law: str, n: int, rng: np.random.Generator) -> Any:
    """Rows of a law on [0, 1]."""
    if law == "Beta(2,5)":
        return rng.beta(2, 5, n)
    if law == "ten heaps":
        return (rng.choice(10, n, p=HEAPS) + 0.5) / 10 + 0.005 * rng.random(n)
    return np.clip(np.where(rng.random(n) < 0.5, rng.normal(0.3, 0.03, n), rng.normal(0.7, 0.03, n)), 0, 1)


def truth(law: str) -> Any:
    """The distribution function on FINE places."""
    from scipy.stats import norm

    x = np.linspace(0, 1, FINE)
    if law == "Beta(2,5)":
        return beta(2, 5).cdf(x)
    if law == "ten heaps":
        return np.interp(x, np.repeat(np.arange(10) / 10 + 0.05, 2) + np.tile([0, 0.005], 10), HEAPED)
    return (norm(0.3, 0.03).cdf(x) + norm(0.7, 0.03).cdf(x)) / 2


def shaped(n: int, epsilon: float, **asked: Any) -> Measurement:
    """The design of a data set of n rows."""
    return design(tc.KSDataset("x", **asked), Public(SCHEMA, "replace-one", n), Cost.of(epsilon=str(epsilon)))


def released(shape: Measurement, x: Any) -> tuple[Any, Any]:
    """A release of these rows, and their counts."""
    part = shape.columns[0]
    m, k, law = part.form.parameters["cells"], part.form.parameters["G"], part.law
    counts = np.bincount(np.minimum((x * m).astype(int), m - 1), minlength=m)
    assert isinstance(law, Selection)
    points = drawn(Layers(Bands.of(counts.tolist(), k), law.rate))
    return simulated(shape, (np.array([points]),)), counts


def enumerated() -> str:
    """The largest discrepancy of any probability of 24 tiny problems from enumeration."""
    rng, worst, many = np.random.default_rng(2026), 0.0, 0
    for _ in range(24):
        m, k, c = int(rng.integers(2, 6)), int(rng.integers(1, 6)), Fraction(int(rng.integers(1, 40)), 10)
        bands = Bands.of(rng.integers(0, 6, m).tolist(), k)
        held = [one for one in product(range(k + 1), repeat=m) if sum(one) == k]
        weights = {one: exp(-float(c) * bands.level(one)) for one in held}
        whole, many = sum(weights.values()), many + len(held)
        bounds, _ = Layers(bands, c).weights(0)
        for side in (0, 1):
            found, ends = dict.fromkeys(held, 0.0), [one[side] for one in bounds]
            for level, end in enumerate(ends):
                paths = Paths(bands, level)
                for number in range(paths.total):
                    found[paths.points(number)] += float(Fraction(end, sum(ends))) / paths.total
            worst = max(worst, *(abs(found[one] - weights[one] / whole) for one in held))
    return f"Of 24 tiny problems, {many:,} probabilities in all, the largest discrepancy from enumeration: {worst:.1e}."


def timed(repeats: int) -> str:
    """Time and distance at 10,000 rows, a forced size and 1,000 cells."""
    rng, times, far = np.random.default_rng(464), list[float](), list[float]()
    shape = shaped(10_000, 1.0, size=464, cells=1_000)
    for _ in range(repeats):
        x = rng.beta(2, 5, 10_000)
        start = time.perf_counter()
        made, counts = released(shape, x)
        times.append(time.perf_counter() - start)
        points = np.cumsum(made.parts[0].integers[0])
        far.append(float(np.abs(points / 464 - np.cumsum(counts) / 10_000).max()))
    return (
        f"10,000 rows of Beta(2,5), ε = 1, 464 points (the rule says 400), 1,000 cells: {np.median(times):.1f} s for a "
        f"data set, at most {max(times):.1f} s; mean distance from the rows {np.mean(far):.4f} "
        f"(standard error {np.std(far) / len(far) ** 0.5:.4f}; {repeats} data sets)."
    )


def line(law: str, n: int, epsilon: float, repeats: int, size: int | None = None) -> str:
    """One line of the table."""
    rng, shape = np.random.default_rng(n + len(law)), shaped(n, epsilon, size=size)
    k, m = shape.columns[0].form.parameters["G"], shape.columns[0].form.parameters["cells"]
    whole = truth(law)
    places = np.linspace(0, 1, m + 1)[1:-1]
    at = np.interp(places, np.linspace(0, 1, FINE), whole)
    wanted = np.interp(PROBS, whole, np.linspace(0, 1, FINE))
    mean = float(np.trapezoid(1 - whole, dx=1 / (FINE - 1)))
    far, beside, banded, each, covered, means = [], [], [], [], [], []
    for _ in range(repeats):
        made, counts = released(shape, rows(law, n, rng))
        true = np.cumsum(counts)[:-1] / n
        far.append(np.abs(np.cumsum(made.parts[0].integers[0])[:-1] / k - true).max())
        beside.append(np.abs(histogram(counts, epsilon, rng) - true).max())
        curve = band(made)
        found, half = curve.intervals(), np.quantile(np.abs(curve.errors.total), 0.95, axis=0, method="higher")
        # within half a step of a point every data set is off
        each.append((np.abs(curve.values - at) <= half)[(at > 0.5 / k) & (at < 1 - 0.5 / k)])
        banded.append(bool(((found[:, 0] <= at) & (at <= found[:, 1])).all()))
        limits = quantiles(made, PROBS).intervals()
        covered.append((limits[:, 0] <= wanted) & (wanted <= limits[:, 1]))
        low, high = moments(made).intervals()[0]
        means.append(low <= mean <= high)
    shares = [f"{100 * np.mean(one):.0f} %" for one in (banded, each, covered, means)]
    words = (law, f"{n:,}", f"{epsilon:g}", f"{k:,}", f"{np.mean(far):.4f}", f"{np.mean(beside):.4f}", *shares)
    return f"| {' | '.join(words)} |"


def histogram(counts: Any, epsilon: float, rng: np.random.Generator) -> Any:
    """The distribution function of 50 cells with Laplace noise of the same price, projected, at the edges of all."""
    from tacit.base.simplex import nearest_with_sum

    few = counts.reshape(50, -1).sum(axis=1) + rng.laplace(0, 2 / epsilon, 50)
    shares = np.concatenate([[0.0], np.cumsum(nearest_with_sum(few / counts.sum(), 1.0))])
    return np.interp(np.arange(1, len(counts)) / len(counts), np.linspace(0, 1, 51), shares)


def text(repeats: int) -> str:
    """The page."""
    table = [line(law, n, epsilon, repeats) for law in LAWS for n, epsilon in DESIGNS]
    return f"""# Data sets by the exponential mechanism

What `KSDataset` is worth. Written by `python benchmarks/ks_dataset.py`, with the code of version {tc.__version__}.

{enumerated()}

{timed(min(repeats, 20))}

*Distance* is the mean distance of Kolmogorov and Smirnov from the rows, at the edges of 100 cells; *histogram* that of
a histogram of 50 bins of the same price, whose noisy counts are projected. Coverage of the truth by the band at all
edges, at each edge for itself (of those where the truth is at least half a point from 0 and 1), by the intervals of
the quantiles at 0.1, 0.5 and 0.9 (all three together), and by that of the mean, at 95%;
{repeats} simulations for each line, replace-one.

| law | rows | ε | size | distance | histogram | band | pointwise | quantiles | mean |
|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(table)}

The ten heaps lie in the first halves of their cells, which their means are not told of: points stand for whole cells.
Where points show heaps, that is in the errors of mean and variance; a law that is moved alike in every cell shows none.
Of means and variances, what data sets lean by towards even ones, as the simulation at the released data set has it, is
taken off once. One and a half times as much counts as not known, since of rough laws the data set is moved less than
their rows were; and a second simulation, at data sets of the first, says by how much the error is larger than the data
set's ([drawn columns](#means-and-variances-of-drawn-columns)).

The histogram is nearer to the rows where its bins are no wider than what the law has in it: 50 bins do for Beta(2,5),
and hide the two modes, so that beyond 10,000 rows of these the bins are all of its error. The data set is for those who
need one: a few hundred points that belong to nobody, whose distribution function is near to that of the rows.
"""


def small(repeats: int) -> str:
    """The second part: designs of at most SMALL points, which are quick."""
    few = [(n, epsilon) for n, epsilon in DESIGNS if shaped(n, epsilon).columns[0].form.parameters["G"] <= SMALL]
    table = [line(law, n, epsilon, repeats) for n, epsilon in few for law in LAWS]
    beyond = [line(law, n, epsilon, max(1, repeats // 3), k) for n, epsilon, k in LARGER for law in LAWS]
    error = 100 * (0.95 * 0.05 / repeats) ** 0.5
    return f"""## More simulations of small data sets

{repeats} simulations for each line: a coverage of 95% has a standard error of {error:.1f} points.

| law | rows | ε | size | distance | histogram | band | pointwise | quantiles | mean |
|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(table)}

Where values are spread smoothly bands hold more often than they say; at heaps with nothing between them intervals of
single edges hold less often, as the mechanism puts points between heaps, which its simulation at the released data set
does not fully tell.

## Sizes beyond the rule

{max(1, repeats // 3)} simulations for each line: a standard error of {error * 3**0.5:.1f} points at 95%.
Of twice the points of the rule and more, what is drawn is moved towards even data sets by as much as the
price tells of the rows. The distribution that would be moved
to the released one is then not found from it alone: where the law is rough, bands and intervals may hold much less
often than they say, and estimates of such sizes say so. Those of three times the rule's or more (60 and 200 here) have
a reason and no limits, which hold whatever is true; *pointwise* shows what the errors that are drawn would hold.

| law | rows | ε | size | distance | histogram | band | pointwise | quantiles | mean |
|---|---|---|---|---|---|---|---|---|---|
{chr(10).join(beyond)}
"""


if __name__ == "__main__" and "--small" in sys.argv:
    put(PAGE, "ks_dataset.py --small", small(int(sys.argv[sys.argv.index("--small") + 1])))
elif __name__ == "__main__":
    by_repeats(PAGE, "ks_dataset.py", __doc__, text)
