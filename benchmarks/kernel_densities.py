"""Kernel densities beside histograms, series and Gaussian processes: docs/reference/kernel-densities.md.

    python benchmarks/kernel_densities.py [--repeats 200] [--quick]

Rows are drawn anew, as counts of the public cells, and counts perturbed anew in each simulation, by the law of a
release.  `--quick` for a look.  Deterministic: seeds are constants.  Laws, sizes and prices were written down before
any of them was simulated; laws with * were looked at, at other sizes, while the method was made.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, pi, sqrt
from pathlib import Path
from typing import Final

import numpy as np
from pages import by_repeats
from scipy.stats import beta, norm
from series_densities import PAIRS, Pair, of_cells
from series_densities import of_two as of_two_series
from smooth_density import LAWS as KNOWN
from smooth_density import Mixture, of_series, of_steps

import tacit as tc
from tacit.estimates.densities.kernel_weights import kernel_weights
from tacit.method.kernel_density.cells import CELL, number_of_cells
from tacit.method.kernel_density.estimate import joint_density, smooth_density
from tacit.method.kernel_density.estimate_kernel import ends_of
from tacit.method.shared.simulated_parts import simulated
from tacit.noise.laws import RoundedNormal
from tacit.privacy import Cost, noise_for
from tacit.testing.simulate import add_noise, shaped

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "kernel-densities.md"
SEEN: Final = ("Beta(2,5)", "uniform", "two modes", "exponential")
LAWS: Final = {
    **KNOWN,
    "Beta(8,2)": Mixture(((1.0, beta(8, 2)),)),
    "normal within": Mixture(((1.0, norm(0.5, 0.12)),)),
}
"""Laws of one column."""


@dataclass(frozen=True)
class Design:
    """Number of rows, price and neighbouring relation; under add-remove the number of rows is private."""

    n: int
    price: dict[str, float]
    relation: str = "replace-one"


SIZES: Final = (
    Design(1_000, {"epsilon": 0.5}),
    Design(1_000, {"rho": 0.1}),
    Design(10_000, {"epsilon": 1.0, "delta": 1e-6}),
    Design(10_000, {"rho": 0.001}, "add-remove"),
    Design(100_000, {"epsilon": 0.1}),
)
"""Of one column."""
PAIR_SIZES: Final = (Design(2_000, {"rho": 0.1}), Design(20_000, {"epsilon": 1.0}), Design(20_000, {"rho": 0.1}))
"""Of two columns."""
OF_PAIRS: Final = PAIRS
WIDTHS: Final = ((1, 0.01), (1, 0.02), (1, 0.05), (1, 0.1), (2, 0.05), (2, 0.1), (3, 0.1))
"""Numbers of columns and bandwidths at which the noise of several releases is compared."""
PRINTED: Final = ((1, 0.3), (1, 0.1), (1, 0.03), (2, 0.3), (2, 0.1))
"""Numbers of columns and bandwidths of the printed calibration."""
TARGET: Final = 0.0026
"""Mean integrated squared error that was to be reached for Beta(2,5), 10,000 rows, epsilon = 1 and delta = 1e-6."""
FINE: Final = 1_000
"""Places of [0, 1] at which squared errors are averaged."""
HEAD: Final = """*Error* is the mean integrated squared error of the estimate; beside it over the least that a histogram
has over all numbers of bins, known only afterwards, and over that of the nearer series of 64 bins
(`smooth_density` with a basis). *Limits* are
intervals at 50 places, the *band* is for all of them at once, at 95%: how often they hold the density itself, over
releases without doubts, which are *noted*; what they are said to hold, the density as far as it is resolved, is on the
page of [limits](density-limits.md). *Smoothed* are limits for the density that the released kernel has smoothed, over
all releases. Bandwidths are "auto",
by n and the price."""

OF_NOISE: Final = f"""Variance of the noise of a kernel estimate of bandwidth h, in the mean over the unit cube,
replace-one, at one ρ. *Process*: a Gaussian process of the kernel's own covariance, with the amplitude that it needs,
√2 / (n (2πh²)^(d/2)), in units of s²/n², s the noise of a sensitivity of 1. Over it: the same where the estimate is
made locally linear, without which it is wrong at the ends of the range; locally linear estimates from counts of cells
{CELL:g} h wide, which is what is released; the bound that no linear mechanism is below (theory §3.5); and counts of
1,024 cells a column."""


@dataclass(frozen=True)
class Found:
    """Of kernel densities: bandwidth, cells, error, coverage of limits, of the band, of smoothed limits; notes."""

    bandwidth: float
    cells: int
    error: float
    limits: float
    band: float
    smoothed: float
    noted: float


def _whole() -> tc.Real:
    """Return a column without missing values."""
    return tc.Real(0, 1, missing=0.0)


def of_one(law: str, design: Design, repeats: int, rng: np.random.Generator) -> Found:
    """Return what kernel densities of one column are worth."""
    query = tc.KernelDensity("x")
    shape = shaped(query, tc.Schema({"x": _whole()}), "replace-one", design.n, Cost.of(**design.price))
    if design.relation != "replace-one":
        width = 1 / (CELL * shape.cells)
        query = tc.KernelDensity("x", bandwidth=width * 1.000001)
        shape = shaped(query, tc.Schema({"x": _whole()}), design.relation, design.n, Cost.of(**design.price))
    edges = ends_of(shape.axes[0])
    chances = np.diff(LAWS[law].cdf(edges))
    x = (np.arange(FINE) + 0.5) / FINE
    true = np.diff(LAWS[law].cdf(np.linspace(0, 1, FINE + 1))) * FINE
    places = np.arange(FINE // 100, FINE, FINE // 50)
    h, found = 1 / (CELL * shape.cells), list[tuple[float, ...]]()
    blurred = np.maximum(kernel_weights(edges, x[places], h, 1) @ chances, 0.0)
    for _ in range(repeats):
        n = design.n if design.relation == "replace-one" else rng.poisson(design.n)
        release = simulated(shape, add_noise(shape, (rng.multinomial(n, chances)[:, None],), rng))
        one, other = smooth_density(release), smooth_density(release, smoothed=True)
        noted = any(one.doubts)
        low, high = (one.intervals(x[places], 0.95, simultaneous=band) for band in (False, True))
        inside, whole = ((a[:, 0] <= true[places]) & (true[places] <= a[:, 1]) for a in (low, high))
        again = other.intervals(x[places])
        held = (again[:, 0] <= blurred + 1e-12) & (blurred <= again[:, 1] + 1e-12)
        error = float(((one(x) - true) ** 2).mean())
        coverage = (np.nan, np.nan) if noted else (inside.mean(), float(whole.all()))
        found.append((error, *coverage, held.mean(), float(noted)))
    columns = [np.nanmean(one) if np.isfinite(one).any() else np.nan for one in np.array(found).T]
    return Found(h, shape.cells, *map(float, columns))


def of_process(law: str, design: Design, repeats: int, rng: np.random.Generator) -> tuple[float, float]:
    """Return the least error of Hall, Rinaldo and Wasserman's process over bandwidths, known afterwards, and which.

    Its amplitude is what the kernel's own space needs, sqrt(2) / (n sqrt(2 pi) h) under replace-one, not the printed.
    """
    scale = spread(design.price)
    x = (np.arange(256) + 0.5) / 256
    fine = np.diff(LAWS[law].cdf(np.linspace(0, 1, 1_025)))
    middles = (np.arange(1_024) + 0.5) / 1_024
    true, found = fine.reshape(256, 4).sum(axis=1) * 256, list[tuple[float, float]]()
    for h in np.geomspace(0.01, 0.15, 10):
        kernel = np.exp(-((x[:, None] - middles) ** 2) / (2 * h * h)) / (sqrt(2 * pi) * h)
        covariance = np.exp(-((x[:, None] - x) ** 2) / (2 * h * h))
        # jitter is added, so that no direction is without noise
        root = np.linalg.cholesky(covariance + 1e-8 * np.eye(256))
        amplitude = scale * sqrt(2) / (design.n * sqrt(2 * pi) * h)
        errors = list[float]()
        for _ in range(repeats):
            made = kernel @ (rng.multinomial(design.n, fine) / design.n)
            errors.append(float(((made + amplitude * root @ rng.standard_normal(256) - true) ** 2).mean()))
        found.append((float(np.mean(errors)), float(h)))
    return min(found)


def spread(price: dict[str, float]) -> float:
    """Return the standard deviation of normal noise for a sensitivity of 1, at a price that has it."""
    law = noise_for(1, 1, Cost.of(**price))
    assert isinstance(law, RoundedNormal)
    # without what rounding adds
    return float(law.scale)


def of_two(pair: Pair, design: Design, repeats: int, rng: np.random.Generator) -> Found:
    """Return what kernel densities of two columns are worth."""
    schema = tc.Schema({"x": _whole(), "y": _whole()})
    shape = shaped(tc.KernelDensity(["x", "y"]), schema, "replace-one", design.n, Cost.of(**design.price))
    side = shape.keys[0].size
    fine = pair.density(512) / 512**2
    place = np.arange(512) * side // 512
    chances = np.zeros((side, side))
    np.add.at(chances, (place[:, None], place[None, :]), fine)
    true = pair.density(128)
    t = (np.arange(128) + 0.5) / 128
    grid = np.stack([one.reshape(-1) for one in np.meshgrid(t, t, indexing="ij")], axis=1)
    some = rng.choice(len(grid), 200, replace=False)
    found = list[tuple[float, ...]]()
    for _ in range(repeats):
        counts = rng.multinomial(design.n, chances.reshape(-1))
        one = joint_density(simulated(shape, add_noise(shape, (counts[:, None],), rng)))
        noted = bool(one.fit.said)
        at = true.reshape(-1)[some]
        low, high = (one.intervals(grid[some], simultaneous=band) for band in (False, True))
        inside, whole = ((a[:, 0] <= at) & (at <= a[:, 1]) for a in (low, high))
        error = float(((one(grid) - true.reshape(-1)) ** 2).mean())
        coverage = (np.nan, np.nan) if noted else (inside.mean(), float(whole.all()))
        found.append((error, *coverage, np.nan, float(noted)))
    columns = [np.nanmean(one) if np.isfinite(one).any() else np.nan for one in np.array(found).T]
    return Found(1 / (CELL * side), side, *map(float, columns))


# Noise --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Noise:
    """Variances of noise, in the mean over the unit cube, in units of s**2 / n**2, s that of a sensitivity of 1.

    process: of the kernel's covariance; level: the same, the estimate made locally linear, so that it holds at the ends
    too.  cells, fine: of locally linear estimates from counts of cells CELL bandwidths wide, and of 1,024 a column.
    least: what no linear mechanism is below, for the kernel reflected at the ends.
    """

    process: float
    level: float
    cells: float
    fine: float
    least: float


def noise_of(columns: int, h: float) -> Noise:
    """Return the noise of what could be released under replace-one, at one price."""
    x = (np.arange(256) + 0.5) / 256
    each = [
        float((kernel_weights(np.linspace(0, 1, m + 1), x, h, 1) ** 2).sum(axis=1).mean())
        for m in (number_of_cells("real", 0, 1, h), 1_024)
    ]
    kept = 1 + sum(exp(-((pi * j * h) ** 2) / 2) for j in range(1, 5_000))
    process = 2 / (2 * pi * h * h) ** columns
    return Noise(
        process,
        2 * leveled(h, x) ** columns,
        2 * each[0] ** columns,
        2 * each[1] ** columns,
        2 * (kept**columns - 1) ** 2,
    )


def leveled(h: float, x: np.ndarray) -> float:
    """Return the mean variance at places x of a locally linear estimate from a path of the process, of one column.

    The path is the kernel of bandwidth h / sqrt(2) laid on white noise, whose covariance is the kernel of bandwidth h:
    with the derivative of the path it tells what local linear weights need.
    """
    root = h / sqrt(2)
    g = np.arange(-6 * h, 1 + 6 * h, root / 2)
    cells = (np.arange(2_048) + 0.5) / 2_048
    rows = np.exp(-((g[:, None] - cells) ** 2) / (2 * root**2))
    u = (g - x[:, None]) / h
    over = np.exp(-((g - x[:, None]) ** 2) / (2 * root**2))[:, None, :] * np.stack([np.ones_like(u), u], axis=1)
    v = (cells - x[:, None]) / h
    gram = (over @ rows) @ np.stack([np.ones_like(v), v], axis=2) / len(cells)
    weights = (over * np.linalg.solve(gram, np.broadcast_to([[1.0], [0.0]], (len(x), 2, 1)))).sum(axis=1)
    return float((weights**2).sum(axis=1).mean() * (rows**2).sum(axis=0).max())


def printed(columns: int, h: float, epsilon: float = 1.0, delta: float = 1e-6) -> float:
    """Return the delta at epsilon of the process with amplitude c h**(-d/2) / n, c that which is right for h = 1.

    Two rows far apart move the estimate by the whole norm of its space: the release is then as far as two normal laws
    mu apart, mu = h**(-d/2) of what the price allows.
    """
    mu = h ** (-columns / 2) / spread({"epsilon": epsilon, "delta": delta})
    # of two normal laws mu apart [Balle & Wang 2018, Theorem 8]
    return float(norm.cdf(mu / 2 - epsilon / mu) - exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


# Page ---------------------------------------------------------------------------------------------------------------


def rows_of_one(repeats: int) -> Iterator[str]:
    """Yield the lines of one column."""
    for law in LAWS:
        for design in SIZES:
            rng = np.random.default_rng([list(LAWS).index(law), design.n, len(design.price), 1])
            found = of_one(law, design, repeats, rng)
            least, smooth = (np.nan, np.nan)
            if law in KNOWN and design.relation == "replace-one":
                least, _ = of_steps(law, design.n, design.price, max(10, repeats // 10), rng)
                smooth = of_series(law, design.n, design.price, 64, max(10, repeats // 5), rng).error
            public = "" if design.relation == "replace-one" else ", n private"
            name = f"{law}{' *' if law in SEEN else ''}"
            line = f"| {name} | {design.n:,} | {Cost.of(**design.price)}{public} | {found.bandwidth:.3f} | "
            line += f"{found.error:.2g} | {_ratio(found.error, least)} | {_ratio(found.error, smooth)} | "
            line += (
                " | ".join(map(_percent, (found.limits, found.band, found.smoothed))) + f" | {100 * found.noted:.0f} |"
            )
            print(line, flush=True)
            yield line


def rows_of_two(repeats: int) -> Iterator[str]:
    """Yield the lines of two columns."""
    for pair in OF_PAIRS:
        for design in PAIR_SIZES:
            rng = np.random.default_rng([PAIRS.index(pair), design.n, len(design.price), 2])
            found = of_two(pair, design, repeats, rng)
            least, _ = of_cells(pair, design.n, design.price, max(5, repeats // 8), rng)
            series = of_two_series(pair, design.n, design.price, "cosine", max(5, repeats // 4), rng).error
            line = f"| {pair.name} | {design.n:,} | {Cost.of(**design.price)} | {found.bandwidth:.3f} | "
            line += f"{found.error:.2g} | {_ratio(found.error, least)} | {_ratio(found.error, series)} | "
            line += f"{_percent(found.limits)} | {_percent(found.band)} | {100 * found.noted:.0f} |"
            print(line, flush=True)
            yield line


def rows_of_noise() -> Iterator[str]:
    """Yield the lines of noise: all over that of the process."""
    for columns, h in WIDTHS:
        one = noise_of(columns, h)
        beside = [one.level / one.process, one.cells / one.process, one.cells / one.level, one.least / one.process]
        words = " | ".join(f"{x:.2f}" for x in beside)
        yield f"| {columns} | {h:g} | {one.process:.3g} | {words} | {one.fine / one.process:.2g} |"


def rows_of_printed() -> Iterator[str]:
    """Yield the lines of the printed calibration."""
    for columns, h in PRINTED:
        yield f"| {columns} | {h:g} | {printed(columns, h):.2g} |"


def _ratio(error: float, other: float) -> str:
    return f"{error / other:.2f}" if np.isfinite(other) else "–"


def _percent(share: float) -> str:
    return f"{100 * share:.1f}" if np.isfinite(share) else "–"


def page(repeats: int) -> str:
    """Return the page."""
    target = Design(10_000, {"epsilon": 1.0, "delta": 1e-6})
    process, width = of_process("Beta(2,5)", target, repeats, np.random.default_rng(3))
    ours = of_one("Beta(2,5)", target, repeats, np.random.default_rng(4))
    said = (
        f"Of Beta(2,5), {target.n:,} rows at {Cost.of(**target.price)}: mean integrated squared error {ours.error:.2g}"
    )
    said += (
        f" (to be reached was {TARGET}); of Hall, Rinaldo and Wasserman's process with the amplitude that it needs, at"
    )
    said += f" its best bandwidth, {width:.3f}, which is known only afterwards: {process:.2g}."
    return "\n".join(
        [
            "# Kernel densities",
            "",
            "What `KernelDensity` is worth. Written by `python benchmarks/kernel_densities.py`.",
            "",
            said,
            "",
            "## Noise of what could be released",
            "",
            OF_NOISE,
            "",
            "| columns | h | process | locally linear ÷ | cells ÷ | cells ÷ locally linear | bound ÷ | 1,024 cells ÷ |",
            "|---:|---:|---:|---:|---:|---:|---:|---:|",
            *rows_of_noise(),
            "",
            "The printed calibration, C h^(-d/2) / (n ε), with the C that is right at h = 1: the true δ at ε = 1, "
            "where 10⁻⁶ is claimed.",
            "",
            "| columns | h | true δ |",
            "|---:|---:|---:|",
            *rows_of_printed(),
            "",
            "## One column",
            "",
            HEAD,
            "",
            f"{repeats:,} simulations a line: the standard error of a *band* that holds 95% is "
            f"{100 * sqrt(0.05 * 0.95 / repeats):.1f} points.",
            "",
            "| law on [0, 1] | n | price | h | error | ÷ best histogram | ÷ series of 64 bins | limits, % | band, % | "
            "smoothed, % | noted, % |",
            f"|---|---:|---|{'---:|' * 8}",
            *rows_of_one(repeats),
            "",
            "## Two columns",
            "",
            f"{max(20, repeats // 4):,} simulations a line, limits at 200 places; the series has cosines, as many as "
            "its design chooses.",
            "",
            "| law on the unit square | n | price | h | error | ÷ best histogram | ÷ series | limits, % | band, % | "
            "noted, % |",
            f"|---|---:|---|{'---:|' * 7}",
            *rows_of_two(max(20, repeats // 4)),
        ]
    )


if __name__ == "__main__":
    by_repeats(PAGE, Path(__file__).name, __doc__, page)
