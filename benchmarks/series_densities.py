"""Orthogonal series beside histograms: docs/reference/orthogonal-series.md.

    python benchmarks/series_densities.py [--repeats 200] [--quick]

Rows are drawn anew, as counts of the public bins, and coefficients perturbed anew in each simulation, by the law of a
release.  `--quick` for a look.  Deterministic: seeds are constants.  Laws and sizes were written down before any of
them was simulated; those of one column are those of `smooth_density.py`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import by_repeats
from scipy.stats import beta, multivariate_normal, norm
from smooth_density import LAWS, of_series, of_steps

import tacit as tc
from tacit.method.orthogonal_series.design import edges
from tacit.method.orthogonal_series.estimate import smooth_density
from tacit.method.orthogonal_series.estimate_joint import joint_density
from tacit.method.orthogonal_series.mechanism import sums
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, shaped

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "orthogonal-series.md"
ONE: Final = ("Beta(2,5)", "two modes", "heavy tails: t(2)", "exponential", "triangle", "claw")
"""Laws of one column."""
SIZES: Final = ((1_000, {"epsilon": 0.5}), (1_000, {"rho": 0.1}), (10_000, {"epsilon": 1.0}), (10_000, {"rho": 0.01}))
PAIR_SIZES: Final = (
    (2_000, {"epsilon": 1.0}),
    (2_000, {"rho": 0.1}),
    (20_000, {"epsilon": 1.0}),
    (20_000, {"rho": 0.1}),
)
SIDE: Final = 128
"""Bins of a column of two: the public ones."""
SIDES: Final = (2, 3, 4, 6, 8, 12, 16, 24, 32)
"""Bins of each column of the histograms beside."""
FINE: Final = 1_024
HEAD: Final = """*Error ÷* is the mean integrated squared error over the least that a histogram has over all numbers of
bins, known only afterwards (in parentheses). *Limits* are intervals at single places, at 95%, in the mean over places,
and count as right where they hold the whole density. They claim only its first terms, which they
[hold](density-limits.md): where a density has more in it they miss it, with a note (*noted*) where the last terms are
far from 0, and without where they happen to be near. Of one column the nearer series of a
histogram of 64 bins (*smooth*) is nearly always nearer, and its `smooth_density` without a basis
[nearer still](compared-densities.md)."""


@dataclass(frozen=True)
class Pair:
    """A law on the unit square: its density at the middles of the public bins, up to a constant."""

    name: str

    def density(self, side: int) -> np.ndarray:
        """Return the mean density of each of side x side cells, from 512 x 512 places."""
        t = (np.arange(512) + 0.5) / 512
        x, y = np.meshgrid(t, t, indexing="ij")
        if self.name == "independent: Beta(2,5), Beta(3,3)":
            found = beta(2, 5).pdf(x) * beta(3, 3).pdf(y)
        elif self.name == "normal, correlation .7":
            law = multivariate_normal([0.5, 0.5], [[0.02, 0.014], [0.014, 0.02]])
            found = law.pdf(np.stack([x, y], axis=-1))
        elif self.name == "two heaps":
            found = 0.6 * norm(0.3, 0.1).pdf(x) * norm(0.35, 0.1).pdf(y)
            found = found + 0.4 * norm(0.7, 0.08).pdf(x) * norm(0.65, 0.12).pdf(y)
        else:  # a ridge: y is a curve of x with little scatter
            found = beta(2, 2).pdf(x) * norm(0.2 + 0.6 * x**2, 0.06).pdf(y)
        cells = found.reshape(side, 512 // side, side, 512 // side).mean(axis=(1, 3))
        return cells / cells.mean()


PAIRS: Final = tuple(map(Pair, ("independent: Beta(2,5), Beta(3,3)", "normal, correlation .7", "two heaps", "ridge")))


@dataclass(frozen=True)
class Found:
    """Mean integrated squared error, coverage of limits over places, terms of a column, releases with a note."""

    error: float
    limits: float
    terms: int
    noted: float


def of_one(law: str, n: int, price: dict[str, float], basis: str, repeats: int, rng: np.random.Generator) -> Found:
    """Return what a series of one column is worth; its number of terms is chosen by the design."""
    shape = shaped(tc.OrthogonalSeries("x", basis), tc.Schema({"x": _whole()}), "replace-one", n, Cost.of(**price))
    (part,) = shape.columns
    chances = np.diff(LAWS[law].cdf(np.array(edges(shape.variables[0], 1))))
    x = (np.arange(FINE) + 0.5) / FINE
    true = np.diff(LAWS[law].cdf(np.linspace(0, 1, FINE + 1))) * FINE
    made = list[tuple[float, float, float]]()
    for _ in range(repeats):
        one = smooth_density(_released(shape, part, rng.multinomial(n, chances), rng))
        limits = one.intervals(x[10::20])
        covered = (limits[:, 0] <= true[10::20]) & (true[10::20] <= limits[:, 1])
        noted = any("too few" in note for note in one.notes)
        made.append((float(((one(x) - true) ** 2).mean()), float(covered.mean()), float(noted)))
    error, covered, noted = np.array(made).mean(axis=0)
    return Found(float(error), float(covered), part.form.parameters["terms"], float(noted))


def of_two(pair: Pair, n: int, price: dict[str, float], basis: str, repeats: int, rng: np.random.Generator) -> Found:
    """Return what a series of two columns is worth."""
    schema = tc.Schema({"x": _whole(), "y": _whole()})
    shape = shaped(tc.OrthogonalSeries(["x", "y"], basis), schema, "replace-one", n, Cost.of(**price))
    (part,) = shape.columns
    true = pair.density(SIDE)
    chances = (true / true.sum()).reshape(-1)
    t = (np.arange(SIDE) + 0.5) / SIDE
    grid = np.stack([one.reshape(-1) for one in np.meshgrid(t, t, indexing="ij")], axis=1)
    some = rng.choice(len(grid), 200, replace=False)
    made = list[tuple[float, float, float]]()
    for _ in range(repeats):
        one = joint_density(_released(shape, part, rng.multinomial(n, chances), rng))
        limits, at = one.intervals(grid[some]), true.reshape(-1)[some]
        covered = (limits[:, 0] <= at) & (at <= limits[:, 1])
        error = float(((one(grid) - true.reshape(-1)) ** 2).mean())
        made.append((error, float(covered.mean()), float(not one.fit.resolved)))
    error, covered, noted = np.array(made).mean(axis=0)
    return Found(float(error), float(covered), part.form.parameters["terms"], float(noted))


def of_cells(pair: Pair, n: int, price: dict[str, float], repeats: int, rng: np.random.Generator) -> tuple[float, int]:
    """Return the least error of a histogram of two columns over its number of bins, known only afterwards."""
    true, found = pair.density(256), list[tuple[float, int]]()
    for side in SIDES:
        # bins that divide no grid are taken from its finest cells
        place = np.arange(256) * side // 256
        width = np.bincount(place, minlength=side) / 256
        chances = np.zeros((side, side))
        np.add.at(chances, (place[:, None], place[None, :]), true / true.sum())
        schema = tc.Schema({"x": _whole(), "y": _whole()})
        query = tc.Histogram(["x", "y"], bins={"x": side, "y": side})
        shape = shaped(query, schema, "replace-one", n, Cost.of(**price))
        errors = list[float]()
        for _ in range(repeats):
            counts = rng.multinomial(n, chances.reshape(-1))
            (noisy,) = add_noise(shape, (counts[:, None],), rng)
            density = _projected(noisy[:, 0] / n).reshape(side, side) / np.outer(width, width)
            errors.append(float(((density[place][:, place] - true) ** 2).mean()))
        found.append((float(np.mean(errors)), side))
    return min(found)


def _projected(shares: np.ndarray) -> np.ndarray:
    """Return the nearest shares that are 0 or more and add up to 1, as `density` has them."""
    down = np.sort(shares)[::-1]
    excess = (np.cumsum(down) - 1) / np.arange(1, len(down) + 1)
    return np.maximum(shares - excess[np.flatnonzero(down > excess)[-1]], 0.0)


def _released(shape: Any, part: Any, counts: np.ndarray, rng: np.random.Generator) -> Any:
    exact = np.array([sums(shape, part, counts.astype(np.int64))], dtype=np.int64)
    return simulated(shape, add_noise(shape, (exact,), rng))


def _whole() -> tc.Real:
    """Return a column without missing values."""
    return tc.Real(0, 1, missing=0.0)


def rows_of_one(repeats: int) -> Iterator[str]:
    """Yield the lines of one column."""
    for law in ONE:
        for n, price in SIZES:
            rng = np.random.default_rng([ONE.index(law), n, 1])
            least, bins = of_steps(law, n, price, max(20, repeats // 4), rng)
            smooth = of_series(law, n, price, 64, max(20, repeats // 2), rng)
            each = [of_one(law, n, price, basis, repeats, rng) for basis in ("cosine", "legendre")]
            words = " | ".join(
                f"{one.terms} | {one.error / least:.2f} | {100 * one.limits:.1f} | {100 * one.noted:.0f}"
                for one in each
            )
            line = (
                f"| {law} | {n:,} | {Cost.of(**price)} | {least:.2g} ({bins}) | {smooth.error / least:.2f} | {words} |"
            )
            print(line, flush=True)
            yield line


def rows_of_two(repeats: int) -> Iterator[str]:
    """Yield the lines of two columns."""
    for pair in PAIRS:
        for n, price in PAIR_SIZES:
            rng = np.random.default_rng([PAIRS.index(pair), n, 2])
            least, side = of_cells(pair, n, price, max(10, repeats // 8), rng)
            each = [of_two(pair, n, price, basis, max(20, repeats // 4), rng) for basis in ("cosine", "legendre")]
            words = " | ".join(
                f"{one.terms} | {one.error / least:.2f} | {100 * one.limits:.1f} | {100 * one.noted:.0f}"
                for one in each
            )
            line = f"| {pair.name} | {n:,} | {Cost.of(**price)} | {least:.2g} ({side}²) | {words} |"
            print(line, flush=True)
            yield line


def page(repeats: int) -> str:
    """Return the page."""
    ones = "terms | error ÷ | limits, %"
    twos = f"{ones} | noted, %"
    return "\n".join(
        [
            "# Orthogonal series",
            "",
            "What `OrthogonalSeries` is worth, with the number of terms that its design chooses. Written by "
            "`python benchmarks/series_densities.py`.",
            "",
            HEAD,
            "",
            "## One column",
            "",
            f"{repeats:,} simulations a line.",
            "",
            f"| law on [0, 1] | n | price | best histogram | smooth: error ÷ | cosine: {twos} | legendre: {twos} |",
            f"|---|---:|---|---:|---:|{'---:|' * 8}",
            *rows_of_one(repeats),
            "",
            "## Two columns",
            "",
            f"{max(20, repeats // 4):,} simulations a line, limits at 200 places.",
            "",
            f"| law on the unit square | n | price | best histogram | cosine: {twos} | legendre: {twos} |",
            f"|---|---:|---|---:|{'---:|' * 8}",
            *rows_of_two(repeats),
        ]
    )


if __name__ == "__main__":
    by_repeats(PAGE, Path(__file__).name, __doc__, page)
