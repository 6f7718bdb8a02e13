"""Levels that nobody listed: thresholds, coverage given that a level is shown, and what one unit makes appear.

    python benchmarks/unlisted_levels.py [--repeats 200] [--quick]

Writes docs/reference/unlisted-levels.md.  Thresholds, coverage of counts and probabilities of being shown are exact, by
enumeration of the noise; shares are simulated.  Deterministic: seeds are constants; the draws of the mechanism's own
sampler, of which there is no seed, are the exception, and said to be.  Prices, sizes and shares were written down
before any of them was simulated.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from math import sqrt
from pathlib import Path
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from pages import by_repeats

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.estimates.selected_counts import absent, conditional
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.unlisted_levels.design import PARTS
from tacit.method.unlisted_levels.estimate import estimate
from tacit.method.unlisted_levels.level_thresholds import appearing, least_threshold
from tacit.method.unlisted_levels.mechanism import released
from tacit.method.unlisted_levels.plan import shown_count
from tacit.noise.exact import added, draw
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "unlisted-levels.md"
LEVEL: Final = 0.95
ROWS: Final = tc.Schema({"d": tc.Text(max_length=20)})
PERSONS: Final = tc.Schema({"who": tc.PrivacyUnit(max_rows=20), "d": tc.Text(max_length=20)})


@dataclass(frozen=True)
class Design:
    """A price, a relation and who is protected."""

    price: dict[str, float]
    relation: str = "replace-one"
    persons: bool = False

    @property
    def words(self) -> str:
        return f"{Cost.of(**self.price)}, {self.relation}, {'persons' if self.persons else 'rows'}"

    def shape(self, n: int = 10_000) -> Measurement:
        schema = PERSONS if self.persons else ROWS
        public = Public(schema, self.relation, n if self.relation == "replace-one" else None, n)
        return design(tc.UnlistedLevels("d"), public, Cost.of(**self.price))


DESIGNS: Final = (
    Design({"epsilon": 1, "delta": 1e-6}),
    Design({"epsilon": 1, "delta": 1e-6}, "add-remove"),
    Design({"epsilon": 1, "delta": 1e-6}, "replace-one", True),
    Design({"epsilon": 1, "delta": 1e-6}, "add-remove", True),
    Design({"epsilon": 0.25, "delta": 1e-8}, "add-remove"),
    Design({"epsilon": 4, "delta": 1e-5}),
)
SHOWN_WITH: Final = (1e-4, 0.01, 0.1, 0.5, 0.9, 0.999)
"""Probabilities of being shown, whose counts are studied."""
SIZES: Final = (2_000, 10_000, 100_000)
"""Rows of the tables in which shares are studied."""
SHARES: Final = (0.003, 0.01, 0.03, 0.1, 0.3)
"""Shares of levels; what is left is of levels of one row each."""
OF_SHARES: Final = (DESIGNS[0], DESIGNS[1])
DELTAS: Final = (1e-3, 1e-6, 1e-10)
FEWER: Final = 60
DRAWS: Final = 200_000
"""Units drawn, rows; of persons, who have many levels each, a tenth."""


# Thresholds ----------------------------------------------------------------------------------------------------------


def of_thresholds() -> Iterator[str]:
    for one in DESIGNS:
        levels = one.shape().columns[0]
        share, least = levels.form.parameters.get("share", 1), levels.form.parameters["threshold"]
        sd = sqrt(levels.law.variance()) / share
        missed = absent(levels.law, least, 0.95) / share
        yield (
            f"| {one.words} | {sd:.1f} | {least / share:,.1f} | {shown_count(levels, 0.5):,.1f} | {missed:,.1f} | "
            f"{_laplace(one):,.1f} | {_of_parts(one, FEWER)} |"
        )


def _laplace(one: Design) -> float:
    """The threshold, in units, of discrete Laplace noise at the whole (epsilon, delta), which no ledger of mu adds."""
    l1 = 2 if one.relation == "replace-one" else 1
    parts = PARTS if one.persons else 1
    law = DiscreteLaplace(Fraction(l1 * parts) / Fraction(str(one.price["epsilon"])))
    delta = one.price["delta"]
    T = parts + 1
    step = max(1, int(law.scale) // 50)
    while max(float(law.sf(T - parts - 1)), parts * float(law.sf(T - 2))) > delta:
        T += step
    return T / parts


def _of_parts(one: Design, parts: int) -> str:
    """The threshold of persons whose weight has so many units."""
    if not one.persons:
        return "–"
    levels = one.shape().columns[0]
    law = RoundedNormal(levels.law.scale * Fraction(parts, PARTS))
    delta = one.shape().cost.delta
    assert delta is not None
    return f"{least_threshold(law, delta, parts) / parts:,.1f}"


# Counts --------------------------------------------------------------------------------------------------------------


def of_counts() -> Iterator[str]:
    for one in DESIGNS:
        levels = one.shape().columns[0]
        share, least = levels.form.parameters.get("share", 1), levels.form.parameters["threshold"]
        for probability in SHOWN_WITH:
            count = max(1, round(shown_count(levels, probability) * share))
            y = np.arange(least, max(least, count) + int(9 * float(levels.law.scale)) + 2, dtype=np.float64)
            mass = levels.law.pmf(y - count)
            low, high = conditional(levels.law, least, y, LEVEL)
            own, z = mass / mass.sum(), NormalDist().inv_cdf(0.5 + LEVEL / 2)
            plain = np.abs(y - count) <= z * sqrt(levels.law.variance())
            bias = float(own @ y - count) / share
            yield (
                f"| {one.words} | {count / share:,.1f} | {100 * float(levels.law.sf(least - 1 - count)):.4g} | "
                f"{100 * float(own @ ((low <= count) & (count <= high))):.2f} | {100 * float(own @ plain):.2f} | "
                f"{bias:+.1f} | {float(own @ (high - np.maximum(low, 1))) / share:,.1f} |"
            )


# Shares --------------------------------------------------------------------------------------------------------------


def of_shares(repeats: int) -> Iterator[str]:
    for place, one in enumerate(OF_SHARES):
        for n in SIZES:
            rng = np.random.default_rng((place, n))
            shape = one.shape(n)
            found = _simulated(shape, n, repeats, rng)
            for j, p in enumerate(SHARES):
                # of a table without the level shown nothing is said
                some = [row[j] for row in found if row[j] is not None]
                if not some:
                    yield f"| {one.words} | {n:,} | {100 * p:g} | 0 | – | – | – |"
                    continue
                held, within, width = (np.mean([row[k] for row in some]) for k in range(3))
                yield (
                    f"| {one.words} | {n:,} | {100 * p:g} | {len(some):,} | {100 * held:.1f} | {100 * within:.1f} | "
                    f"{100 * width:.2g} |"
                )
            rest = 100 * np.mean([row[-1] for row in found])
            yield f"| {one.words} | {n:,} | rows not shown | {len(found):,} | – | {rest:.1f} | – |"


def _simulated(shape: Measurement, n: int, repeats: int, rng: np.random.Generator) -> list[list[Any]]:
    """Draw tables and noise; for each level whether the share of the population, and of the table, is covered."""

    def noisy(sums: Any, law: Any) -> Any:
        return sums + law.sample(len(sums), rng)

    found: list[list[Any]] = []
    for _ in range(repeats):
        drawn = rng.multinomial(n, [*SHARES, 1 - sum(SHARES)])
        counts = {f"level {j}": int(k) for j, k in enumerate(drawn[:-1]) if k}
        counts |= {f"rare {i}": 1 for i in range(int(drawn[-1]))}
        parts = released(shape, counts, noisy)
        release = SimulatedRelease(shape.query, "t", shape.neighbors, shape.rows, (), parts, shape.cost)
        line: list[Any] = []
        limits = {target: _limits(release, target) for target in ("population", "table")}
        for j, p in enumerate(SHARES):
            name = f"level {j}"
            if name not in limits["table"]:
                line.append(None)
                continue
            (low, high), (least, most) = limits["population"][name], limits["table"][name]
            line.append((low <= p <= high, least <= drawn[j] / n <= most, high - low))
        rest = sum(k for name, k in counts.items() if name not in parts[0].texts)
        low, high = estimate(release).rest.interval(LEVEL)
        found.append([*line, low <= rest <= high])
    return found


def _limits(release: Any, target: Any) -> dict[str, tuple[float, float]]:
    made = estimate(release, target)
    limits = made.shares.intervals(LEVEL)
    return {name: (float(limits[i, 0]), float(limits[i, 1])) for i, name in enumerate(made.terms)}


# What one unit makes appear ------------------------------------------------------------------------------------------


def of_appearing() -> Iterator[str]:
    for parts in (1, PARTS):
        for delta in DELTAS:
            law = RoundedNormal(Fraction(6 * parts))
            least = least_threshold(law, Fraction(str(delta)), parts)
            one, many = float(law.sf(least - parts - 1)), parts * float(law.sf(least - 2))
            bound = float(appearing(law, least, parts))
            seen = "–"
            if delta == DELTAS[0]:
                units = DRAWS if parts == 1 else DRAWS // 10
                many_levels = np.ones(parts * units, dtype=np.int64)
                shown = (added(many_levels, draw(law, len(many_levels))) >= least).reshape(-1, parts).any(axis=1)
                seen = f"{shown.mean():.2e} ± {sqrt(bound / units):.0e}"
            yield (
                f"| {'a row' if parts == 1 else f'a person of {parts} parts'} | {delta:g} | {least / parts:.1f} | "
                f"{one:.3e} | {many:.3e} | {bound:.3e} | {seen} |"
            )


OF_THRESHOLDS: Final = """In rows or persons: the standard deviation of the noise of a count, the noisy count from which
a level is shown, the count that is shown in half of all releases, and the largest that is missed in more than 5%.
*Laplace*: the threshold of discrete Laplace noise at the whole pair, the simplest method for a single release charged
as ε and δ; a ledger of μ would be charged a multiple for it. *60 parts*: the threshold if a person's weight had
60 parts in place of 840, with which counts of persons would be rougher."""
OF_COUNTS: Final = """Exact, by enumeration of the noise, at 95%. *Covered*: how often the interval holds the true count
given that the level is shown; *naive*: how often the count ± 1.96 standard errors would; *bias*: of the noisy count,
given that it is shown. The upper end makes no use of the selection, so that intervals near the threshold cover more
than they say."""
ABOUT_SHARES: Final = """*Covered*: intervals of the share in the population, and in the table, given that the level is
shown; the last line of a size is the interval for the number of rows whose level is not shown."""
OF_UNITS: Final = """The probability that levels which nobody else has are shown, at a noise of 6 units: of one level
with all weight, of as many levels as there are parts, and the bound from which the threshold follows, at most δ′.
*Drawn*: by the sampler that protects, which has no seed, with its standard error."""


def page(repeats: int) -> str:
    """Return the page."""
    levels = ", ".join(f"{100 * p:g}%" for p in SHARES)
    return "\n".join(
        [
            "# Levels that nobody listed",
            "",
            "What `UnlistedLevels` (and `Count(by=…)` of a `Text`) shows, misses and costs. Written by",
            "`python benchmarks/unlisted_levels.py`.",
            "",
            "## Thresholds",
            "",
            OF_THRESHOLDS,
            "",
            "| price | noise | threshold | shown in half | missed in 5% | Laplace | 60 parts |",
            f"|---|{'---:|' * 6}",
            *of_thresholds(),
            "",
            "## Counts",
            "",
            OF_COUNTS,
            "",
            "| price | true count | shown, % | covered, % | naive, % | bias | mean width |",
            f"|---|{'---:|' * 6}",
            *of_counts(),
            "",
            "## Shares",
            "",
            f"{repeats:,} tables a size, with levels of {levels}; each other row has a level of its own.",
            ABOUT_SHARES,
            f"The standard error of 95% is {100 * sqrt(0.05 * 0.95 / repeats):.1f} points where all tables show it.",
            "",
            "| price | rows | share, % | shown | covered, population, % | covered, table, % | mean width, points |",
            f"|---|---:|---:|---:|{'---:|' * 3}",
            *of_shares(repeats),
            "",
            "## What one unit makes appear",
            "",
            OF_UNITS,
            f"{DRAWS:,} rows and {DRAWS // 10:,} persons were drawn, each with as many levels as it has parts.",
            "",
            "| unit | δ′ | threshold | one level | one a part | bound | drawn |",
            f"|---|---:|---:|{'---:|' * 4}",
            *of_appearing(),
        ]
    )


if __name__ == "__main__":
    by_repeats(PAGE, "unlisted_levels.py", __doc__, page)
