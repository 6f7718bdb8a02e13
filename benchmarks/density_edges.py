"""Limits of smooth densities at jumps, poles and spikes: docs/reference/density-limits.md.

    python benchmarks/density_edges.py [--repeats 40] [--quick] [--parts kernel smooth cosine legendre]

Rows are drawn anew and counts or coefficients perturbed anew in each simulation, by the law of a release.  `--quick`
for a look.  Deterministic: seeds are constants.  Laws, sizes and prices were written down, and committed, before any of
them was simulated; none of them is a law of another page of densities but for the uniform one.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import asked, put
from scipy.stats import beta, expon, lomax, norm, triang, uniform
from smooth_density import Mixture

import tacit as tc
from tacit.base.arrays import Array
from tacit.estimates.densities.kernel_weights import kernel_weights
from tacit.estimates.densities.series_coefficients import Shares, coefficients
from tacit.estimates.densities.smooth_density import SmoothDensity
from tacit.fits.within_bins.cell_limits import CellAverages, CellLimits
from tacit.method.histogram import estimate_smooth
from tacit.method.kernel_density import estimate as kernel_estimate
from tacit.method.kernel_density.cells import number_of_cells
from tacit.method.kernel_density.estimate_density import KernelCurve
from tacit.method.kernel_density.estimate_kernel import ends_of
from tacit.method.orthogonal_series import estimate as series_estimate
from tacit.method.orthogonal_series.design import edges
from tacit.method.orthogonal_series.mechanism import sums
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.rows.series_bases import functions, integrals
from tacit.testing.simulate import add_noise, shaped

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "density-limits.md"
SMOOTH: Final = {
    "Beta(3,2)": Mixture(((1.0, beta(3, 2)),)),
    "normal(.6,.15)": Mixture(((1.0, norm(0.6, 0.15)),)),
    "two hills": Mixture(((0.4, norm(0.25, 0.1)), (0.6, norm(0.65, 0.09)))),
    "exponential(.22)": Mixture(((1.0, expon(scale=0.22)),)),
    "uniform": Mixture(((1.0, uniform()),)),
}
"""Held-out laws with smooth densities, jumps at the bounds of the column apart."""
ROUGH: Final = {
    "triangle(.62)": Mixture(((1.0, triang(0.62)),)),
    "step of 10%": Mixture(((0.37, uniform(0, 0.37)), (0.63 * 1.1, uniform(0.37, 0.63)))),
    "step of 20%": Mixture(((0.37, uniform(0, 0.37)), (0.63 * 1.2, uniform(0.37, 0.63)))),
    "step of 30%": Mixture(((0.37, uniform(0, 0.37)), (0.63 * 1.3, uniform(0.37, 0.63)))),
    "step of 100%": Mixture(((0.37, uniform(0, 0.37)), (0.63 * 2.0, uniform(0.37, 0.63)))),
    "box within": Mixture(((0.6, beta(2, 3)), (0.4, uniform(0.42, 0.21)))),
    "spike of 1%": Mixture(((0.95, beta(2, 2)), (0.05, uniform(0.43, 0.01)))),
    "atom": Mixture(((0.9, beta(2, 3)), (0.1, norm(0.302, 1e-7)))),
    "arcsine": Mixture(((1.0, beta(0.5, 0.5)),)),
    "Pareto": Mixture(((1.0, lomax(1.2, scale=0.04)),)),
    "sawtooth": Mixture(tuple((0.25, triang(1.0, loc=k / 4, scale=0.25)) for k in range(4))),
}
"""Held-out laws with kinks, jumps, spikes and poles; a step of 20% is to a density that is 1.2 times as high."""
LAWS: Final = {**SMOOTH, **ROUGH}
SIZES: Final = (1_000, 10_000, 100_000)
PRICES: Final = ({"epsilon": 0.5}, {"epsilon": 1.0}, {"epsilon": 1.0, "delta": 1e-6})
BINS: Final = 64
"""Bins of the histogram that smooth densities are fitted to."""
BASIS: Final = ("cosine", "legendre")
"""Bases of series, with the number of terms of the design."""
LEVEL: Final = 0.95
PLACES: Final = 50
"""Places at which limits hold one by one, and a band all at once: (k + 1/2) / PLACES."""


@dataclass(frozen=True)
class Case:
    """One estimator of one law at one size and price.  method: "kernel", "smooth", or the basis of a series."""

    method: str
    law: str
    n: int
    price: dict[str, float]

    def curves(self, rng: np.random.Generator) -> Iterator[tuple[SmoothDensity, tuple[Array, Array]]]:
        """Yield smooth densities, each with what its limits and its band resolve at the places, without end."""
        schema, law = tc.Schema({"x": tc.Real(0, 1, missing=0.0)}), LAWS[self.law]
        query: Any = tc.Histogram("x", bins={"x": BINS}) if self.method == "smooth" else tc.KernelDensity("x")
        query = tc.OrthogonalSeries("x", self.method) if self.method in BASIS else query
        shape = shaped(query, schema, "replace-one", self.n, Cost.of(**self.price))
        (part,), series = shape.columns, self.method in BASIS
        ends = np.array(edges(shape.variables[0], 1)) if series else ends_of(shape.axes[0])
        chances = np.diff(law.cdf(ends))
        while True:
            counts = rng.multinomial(self.n, chances).astype(np.int64)
            exact = np.array([sums(shape, part, counts)], dtype=np.int64) if series else counts[:, None]
            release = simulated(shape, add_noise(shape, (exact,), rng))
            made = series_estimate.smooth_density if series else kernel_estimate.smooth_density
            one = estimate_smooth.smooth_density(release, "x") if self.method == "smooth" else made(release)
            around = one.curves[0].around
            yield one, (resolved(around, ends, chances), resolved(around.at_once, ends, chances))


def resolved(curve: Any, ends: Array, chances: Array, places: int = PLACES) -> Array:
    """Return what the limits of a curve are around where there is no error, from the law's shares of the cells."""
    x = (np.arange(places) + 0.5) / places
    if isinstance(curve, CellLimits):
        return np.maximum(curve.shapes.density(x)[0] @ chances, 0.0)
    if isinstance(curve, CellAverages):
        return (chances / np.diff(ends))[np.clip(np.searchsorted(ends, x, side="right") - 1, 0, len(chances) - 1)]
    if isinstance(curve, KernelCurve):
        return np.maximum(curve.fit.full_weights(curve.fit.limiting, x[:, None]) @ chances, 0.0)
    terms, widths = len(curve.found.values), np.diff(ends)
    if len(widths) > BINS:
        found = np.diff(integrals(curve.basis, ends, terms), axis=1) / widths @ chances
    else:
        none = Shares(ends, chances, np.zeros((len(widths),) * 2), np.eye(len(widths)), 1e-12)
        found = coefficients(curve.basis, none, terms).values
    return np.maximum(1 + found[: curve.band] @ functions(curve.basis, x, curve.band), 0.0)


def truth(law: str) -> Array:
    """Return the density at the places: its average over a thousandth of the range around each."""
    x = (np.arange(PLACES) + 0.5) / PLACES
    return (LAWS[law].cdf(x + 5e-4) - LAWS[law].cdf(x - 5e-4)) / 1e-3


@dataclass(frozen=True)
class Found:
    """Shares of releases and of places, each with nan where there is none.

    limits, band: that hold the density itself, over releases without a doubt or a note.  resolved, resolved_band: that
    hold what the release resolves of it, over all releases.  noted: releases with a doubt or a note.  width: of limits.
    """

    limits: float
    band: float
    resolved: float
    resolved_band: float
    noted: float
    width: float


def measured(case: Case, repeats: int) -> Found:
    """Simulate one case."""
    rng = np.random.default_rng([list(LAWS).index(case.law), case.n, len(case.price), int(10 * case.price["epsilon"])])
    x, true, rows = (np.arange(PLACES) + 0.5) / PLACES, truth(case.law), list[tuple[float, ...]]()
    made = case.curves(rng)
    for _ in range(repeats):
        one, blurred = next(made)
        noted = any(one.doubts) or any(one.untold) or isinstance(one.curves[0].around, CellLimits)
        each = [one.intervals(x, LEVEL, simultaneous=band) for band in (False, True)]
        pairs = [*((a, true) for a in each), *zip(each, blurred, strict=True)]
        inside, whole, near, all_near = ((a[:, 0] <= b + 1e-12) & (b <= a[:, 1] + 1e-12) for a, b in pairs)
        own = (np.nan, np.nan) if noted else (inside.mean(), float(whole.all()))
        width = float((each[0][:, 1] - each[0][:, 0]).mean())
        rows.append((*own, near.mean(), float(all_near.all()), float(noted), width))
    columns = [float(np.nanmean(one)) if np.isfinite(one).any() else np.nan for one in np.array(rows).T]
    return Found(*columns)


METHODS: Final = {
    "kernel": "`KernelDensity`, bandwidth by the design",
    "smooth": f"`smooth_density` of a histogram of {BINS} bins",
    "cosine": "`OrthogonalSeries`, cosines, number of terms by the design",
    "legendre": "`OrthogonalSeries`, Legendre polynomials, number of terms by the design",
}
HEAD: Final = """# Limits of smooth densities

What limits and bands of `KernelDensity`, `OrthogonalSeries` and `smooth_density` hold, for laws with jumps, spikes and
poles too. Written by `python benchmarks/density_edges.py`.

No band whose width follows the data holds every density that may have jumps or spikes: those too small or too narrow
to be seen are not allowed for by any narrow band (Low 1997, *Annals of Statistics* 25). Limits here are of what can be
promised for any law, the density *as far as the release resolves it* (Genovese & Wasserman 2008, *Annals of Statistics*
36, call such an estimand a surrogate): what they would be around in a release without sampling error and without
noise, or 0 where that is below. `limits_of` says what it is, in words, and so do summary
and picture. Where the density is smooth it is the density itself, but for a difference that is small beside the error.
`doubts` lists the ranges in which the counts say more than is resolved, as at a large jump. A series has no counts of
cells: what its terms do not reach, its release does not show, and a density of which they see nothing has no note.
The price of the surrogate is nothing: limits are as wide as before."""
OF_REACH: Final = """## How far a jump is seen

The density as far as it is resolved, beside one with a single jump in the middle of the range: at what distance from
the jump the two are within a twentieth of its height, and within a hundredth; and the largest difference beyond half a
bandwidth, or half of 1 / terms, of it. No simulation. A kernel forgets a jump after some bandwidths; of a series all of
the range remembers it."""
OF_COVERAGE: Final = """## Coverage

Limits at 95% at 50 places, one by one (*limits*, in the mean over places) or all at once (*band*). *Resolved*: they
hold the density as far as it is resolved, over all releases. *Density*: they hold the density itself, over releases
with neither a doubt nor a note; *doubts* are the others, – where there were no more. Sizes of 1,000, 10,000 and 100,000
rows, each at three prices: ε = 0.5, ε = 1, and ε = 1 with δ = 10⁻⁶; replace-one. Laws with * are smooth, jumps at the
bounds of the column apart."""


def reached(weights: Callable[[Array, float], Array], unit: float) -> tuple[float, float, float]:
    """Return distances beyond which a jump of 1 in the middle is within .05 and .01, and the largest difference.

    weights: from places and the place of the jump, the density as far as it is resolved of 0 before it and 1 after.
    unit: in which distances are returned.
    """
    x = np.linspace(0.0, 1.0, 2_001)
    apart = np.abs(weights(x, 0.5) - (x > 0.5))
    away = np.abs(x - 0.5)
    beyond = [float(away[apart > share].max()) / unit for share in (0.05, 0.01)]
    return beyond[0], beyond[1], float(apart[away > unit / 2].max())


def rows_of_reach() -> Iterator[str]:
    """Yield the lines of the table of what a jump does."""
    for h in (0.01, 0.03, 0.1):
        ends = np.linspace(0, 1, number_of_cells("real", 0, 1, h) + 1)

        def of_kernel(x: Array, at: float, h: float = h, ends: Array = ends) -> Array:
            return kernel_weights(ends, x, h, 2) @ np.diff(np.maximum(ends - at, 0.0))

        near, far, most = reached(of_kernel, h)
        yield f"| kernel of standard deviation {h:g} | {near:.1f} of it | {far:.1f} of it | {most:.2f} |"
    for basis in BASIS:
        for m in (10, 20, 40):

            def of_terms(x: Array, at: float, basis: str = basis, m: int = m) -> Array:
                whole = integrals(basis, np.array([at, 1.0]), m)
                return (1 - at) + (whole[:, 1] - whole[:, 0]) @ functions(basis, x, m)

            near, far, most = reached(of_terms, 1 / m)
            words = " | ".join(
                "all of the range" if one > 0.45 * m else f"{one / m:.2f} of the range" for one in (near, far)
            )
            yield f"| {m} {basis} terms | {words} | {most:.2f} |"


def rows(method: str, repeats: int) -> Iterator[str]:
    """Yield the lines of one estimator: each law, then sizes over the laws of a kind."""
    every = dict[tuple[str, int], list[Found]]()
    for law in LAWS:
        for n in SIZES:
            every[law, n] = [measured(Case(method, law, n, price), repeats) for price in PRICES]
        own = [one for n in SIZES for one in every[law, n]]
        line = f"| {law}{' *' if law in SMOOTH else ''} | {_words(own)} |"
        print(method, line, flush=True)
        yield line
    for name, kept in (("smooth laws", SMOOTH), ("other laws", ROUGH)):
        for n in SIZES:
            yield f"| **{name}**, n = {n:,} | {_words([one for law in kept for one in every[law, n]])} |"
        yield f"| **{name}** | {_words([one for law in kept for n in SIZES for one in every[law, n]])} |"


def _words(each: list[Found]) -> str:
    """Return coverage over several cases, each with as many simulations; of the density over those without doubts."""
    clear = 1 - np.array([one.noted for one in each])
    words = [f"{100 * np.mean([one.resolved for one in each]):.1f}"]
    words += [f"{100 * np.mean([one.resolved_band for one in each]):.1f}", f"{100 * (1 - clear.mean()):.0f}"]
    for values in ([one.limits for one in each], [one.band for one in each]):
        kept = clear > 0
        found = np.average(np.array(values)[kept], weights=clear[kept]) if kept.any() else np.nan
        words.append("–" if np.isnan(found) else f"{100 * found:.1f}")
    return " | ".join(words)


def part(method: str, repeats: int) -> str:
    """Return the part of the page on one estimator."""
    head = "| law on [0, 1] | resolved: limits, % | band, % | doubts, % | density: limits, % | band, % |"
    cells = len(SIZES) * len(PRICES)
    few = f"{cells * repeats:,} simulations of each law, {repeats:,} at each size and price."
    return "\n".join([f"### {METHODS[method]}", "", few, "", head, f"|---|{'---:|' * 5}", *rows(method, repeats)])


def page(methods: list[str], repeats: int) -> None:
    """Write the parts of the page."""
    made = [HEAD, "", OF_REACH, "", "| estimate | within 5% | within 1% | largest |", "|---|---:|---:|---:|"]
    put(PAGE, Path(__file__).name, "\n".join([*made, *rows_of_reach(), "", OF_COVERAGE]))
    for method in methods:
        put(PAGE, f"{Path(__file__).name} {method}", part(method, repeats))


if __name__ == "__main__":
    given = asked(__doc__, METHODS, 40)
    if given.quick:
        print("\n".join(part(method, max(1, given.repeats // 20)) for method in given.parts))
    else:
        page(given.parts, given.repeats)
