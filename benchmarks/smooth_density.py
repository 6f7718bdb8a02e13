"""Smooth densities beside histograms and series: a table of docs/reference/histogram-density.md.

    python benchmarks/smooth_density.py [--repeats 200] [--quick]

Rows are drawn anew and counts perturbed anew in each simulation, by the law of a release.  `--quick` for a look.
Deterministic: seeds are constants.  The laws of SEEN were looked at while the method was made; those of FURTHER were
written down before any of them was simulated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import by_repeats
from scipy.stats import beta, expon, gamma, norm, t, triang, uniform

import tacit as tc
from tacit.estimates.densities.series_curve import closest
from tacit.method.histogram.estimate_densities import density
from tacit.method.histogram.estimate_smooth import USUAL, smooth_density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, shaped

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "histogram-density.md"
FINE: Final = 2_000
"""Places of [0, 1] at which squared errors are averaged."""
BINS: Final = (5, 8, 12, 16, 24, 32, 48, 64, 96, 128)
"""Numbers of bins of the histograms beside."""
SMOOTHED: Final = (32, 64, 100)
"""Numbers of bins of the smooth densities."""


@dataclass(frozen=True)
class Mixture:
    """A law on [0, 1]: frozen laws of SciPy with weights, cut to [0, 1]."""

    parts: tuple[tuple[float, Any], ...]

    def cdf(self, x: np.ndarray) -> np.ndarray:
        found = sum(w * one.cdf(x) for w, one in self.parts)
        low, high = (sum(w * one.cdf(end) for w, one in self.parts) for end in (0.0, 1.0))
        return (found - low) / (high - low)


SEEN: Final = {
    "Beta(2,5)": Mixture(((1.0, beta(2, 5)),)),
    "two modes": Mixture(((0.5, norm(0.3, 0.08)), (0.5, norm(0.7, 0.1)))),
    "spike": Mixture(((0.6, norm(0.5, 0.2)), (0.4, norm(0.35, 0.015)))),
    "heavy tails: t(2)": Mixture(((1.0, t(2, loc=0.4, scale=0.04)),)),
    "uniform": Mixture(((1.0, uniform()),)),
}
FURTHER: Final = {
    "exponential": Mixture(((1.0, expon(scale=0.15)),)),
    "pole: gamma(.7)": Mixture(((1.0, gamma(0.7, scale=0.25)),)),
    "two boxes": Mixture(((0.7, uniform(0.1, 0.3)), (0.3, uniform(0.6, 0.25)))),
    "triangle": Mixture(((1.0, triang(0.3)),)),
    "claw": Mixture(((0.5, norm(0.5, 0.17)), *((0.1, norm(0.2 + 0.15 * k, 0.017)) for k in range(5)))),
    "U: Beta(.6,.6)": Mixture(((1.0, beta(0.6, 0.6)),)),
}
HELD: Final = {
    "exponential(.3)": Mixture(((1.0, expon(scale=0.3)),)),
    "step": Mixture(((0.8, uniform(0, 0.45)), (0.2, uniform(0.45, 0.55)))),
    "uniform inside": Mixture(((1.0, uniform(0.22, 0.5)),)),
    "pole: Beta(.8,2)": Mixture(((1.0, beta(0.8, 2)),)),
    "Beta(3,4)": Mixture(((1.0, beta(3, 4)),)),
    "normal(.45,.12)": Mixture(((1.0, norm(0.45, 0.12)),)),
}
"""Held out: written down before the number of terms of bands followed the terms they leave out."""
LAWS: Final = {**SEEN, **FURTHER, **HELD}
SIZES: Final = ((1_000, {"epsilon": 0.5}), (1_000, {"rho": 0.1}), (10_000, {"epsilon": 1.0}), (10_000, {"rho": 0.01}))


def releases(law: str, n: int, price: dict[str, float], bins: int, rng: np.random.Generator) -> Iterator[Any]:
    """Yield simulated releases of rows drawn anew, their number public."""
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0)})
    shape = shaped(tc.Histogram("x", bins={"x": bins}), schema, "replace-one", n, Cost.of(**price))
    chances = np.diff(LAWS[law].cdf(np.linspace(0, 1, bins + 1)))
    while True:
        counts = rng.multinomial(n, chances)
        yield simulated(shape, add_noise(shape, (counts[:, None],), rng))


def nearest_series(release: Any) -> Any:
    """Return the smooth density that is a series, of the basis that is nearer to the counts."""
    each = {basis: smooth_density(release, "x", basis=basis) for basis in USUAL}
    return each[closest(tuple((one.curves[0].estimate,) for one in each.values()), np.ones(1))[0].basis]


def truth(law: str) -> np.ndarray:
    """Return the density's average over each of FINE cells: finite at a pole."""
    return np.diff(LAWS[law].cdf(np.linspace(0, 1, FINE + 1))) * FINE


def of_steps(law: str, n: int, price: dict[str, float], repeats: int, rng: np.random.Generator) -> tuple[float, int]:
    """Return the least mean integrated squared error of a histogram over its number of bins, known only afterwards."""
    x, true = (np.arange(FINE) + 0.5) / FINE, truth(law)
    found = list[tuple[float, int]]()
    for bins in BINS:
        made = releases(law, n, price, bins, rng)
        found.append(
            (float(np.mean([((density(next(made), "x")(x) - true) ** 2).mean() for _ in range(repeats)])), bins)
        )
    return min(found)


@dataclass(frozen=True)
class Smooth:
    """Of smooth densities: mean integrated squared error, coverage of limits and of bands, and how often a note says
    that the bins are too wide.  The coverage of bands is over releases without that note.
    """

    error: float
    limits: float
    band: float
    noted: float


def of_series(law: str, n: int, price: dict[str, float], bins: int, repeats: int, rng: np.random.Generator) -> Smooth:
    """Return what smooth densities of so many bins are worth."""
    x, true = (np.arange(FINE) + 0.5) / FINE, truth(law)
    places = np.arange(FINE // 100, FINE, FINE // 50)
    made, found = releases(law, n, price, bins, rng), list[tuple[float, float, float, float]]()
    for _ in range(repeats):
        one = nearest_series(next(made))
        noted = len(one.notes) > 1 or any(one.doubts)
        low, high = (one.intervals(x[places], 0.95, simultaneous=band) for band in (False, True))
        inside, whole = ((a[:, 0] <= true[places]) & (true[places] <= a[:, 1]) for a in (low, high))
        found.append(
            (((one(x) - true) ** 2).mean(), np.nan if noted else inside.mean(), np.nan if noted else whole.all(), noted)
        )
    error, limits, band, noted = (np.nanmean(one) if np.isfinite(one).any() else np.nan for one in np.array(found).T)
    return Smooth(float(error), float(limits), float(band), float(noted))


def rows(repeats: int) -> Iterator[str]:
    """Yield the lines of the table."""
    for law in LAWS:
        for n, price in SIZES:
            rng = np.random.default_rng([list(LAWS).index(law), n])
            least, bins = of_steps(law, n, price, max(20, repeats // 4), rng)
            each = [of_series(law, n, price, one, repeats, rng) for one in SMOOTHED]
            words = " | ".join(
                f"{one.error / least:.2f} | {_percent(one.limits)} | {_percent(one.band)} | {100 * one.noted:.0f}"
                for one in each
            )
            name = f"{law}{' *' if law in SEEN else ''}"
            line = f"| {name} | {n:,} | {Cost.of(**price)} | {least:.2g} ({bins}) | {words} |"
            print(line, flush=True)
            yield line


def _percent(share: float) -> str:
    return "–" if np.isnan(share) else f"{100 * share:.1f}"


def page(repeats: int) -> str:
    """Return the part of the page."""
    head = "error ÷ | limits, % | band, % | noted, %"
    columns = " | ".join(f"{bins} bins: {head}" for bins in SMOOTHED)
    lines = [
        "## Smooth densities",
        "",
        'The nearer of `release.smooth_density(…, basis="legendre")` and `"cosine"`, of which limits are without a '
        "basis, too; the estimate without one is on [the page that compares](compared-densities.md). Beside the best "
        "histogram: its mean integrated squared error, over the least that "
        "a histogram of any of 5 to 128 bins has (`density`, the number of bins chosen afterwards, in parentheses); "
        f"{repeats:,} simulations. The basis is the nearer by the release. *Limits* hold for each place, the *band* "
        "for the whole curve at once, at 95%: how often they hold the density itself at 50 places, over releases "
        "without the note that bins are too wide and without doubts, which are *noted*; what they are said to hold is "
        "on the "
        "page of [limits](density-limits.md). Laws with * were looked at while the method was made, the others not.",
        "",
        f"| law on [0, 1] | n | price | best histogram (bins) | {columns} |",
        f"|---|---:|---|---:|{'---:|' * 4 * len(SMOOTHED)}",
        *rows(repeats),
    ]
    return "\n".join(lines)


if __name__ == "__main__":
    by_repeats(PAGE, Path(__file__).name, __doc__, page)
