"""Limits of `KernelDensity` and `Bernstein` where a few cells hold most rows: kernel-densities.md and bernstein.md.

    python benchmarks/crowded_cells.py [--of kernels|bernstein]

Laws, sizes and prices are drawn with a constant seed, and were written down before any of them was simulated: skewed
laws within bounds that fit all but a few of 10,000 rows, of which a few cells hold most, and as many hills.  Seeds are
constants.  Limits at 95% of the density, of a polynomial's distribution function too, are held against it at nine
quantiles, of places that have some; the same with what cells hide left out, of the same releases.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from holding_designs import heavy_law
from pages import put
from scipy import stats

import tacit as tc
from tacit.fits.within_bins import cell_shapes
from tacit.method.bernstein import estimate as bernstein
from tacit.method.kernel_density import estimate as kernel_density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, exact_integers, shaped

PAGES: Final = Path(__file__).parents[1] / "docs" / "reference"
PROBS: Final = (0.05, 0.1, 0.2, 0.35, 0.5, 0.65, 0.8, 0.9, 0.95)
SKEWED: Final = 10
HILLS: Final = 5
REPEATS: Final = 8


@dataclass(frozen=True)
class Drawn:
    """A column.  name: its law in words."""

    name: str
    law: Any
    lower: float
    upper: float
    rows: int
    epsilon: float


@dataclass(frozen=True)
class Method:
    """Whose limits.  page: its name.  seed: of columns.  question: of a column x.  told: limits, at places."""

    page: str
    seed: int
    question: Any
    told: tuple[tuple[str, Callable[..., np.ndarray], Callable[..., np.ndarray]], ...]


def drawn(seed: int) -> tuple[Drawn, ...]:
    """Return the columns."""
    rng, found = np.random.default_rng(seed), list[Drawn]()
    for k in range(SKEWED + HILLS):
        rows, epsilon = int(10 ** rng.uniform(2.4, 3.7)), float(rng.choice([0.5, 1.0, 3.0]))
        if k < SKEWED:
            words, law = heavy_law(rng)
            lower = 0.0
        else:
            spread = round(float(rng.uniform(0.08, 0.2)), 2)
            words, law = f"normal, spread {spread:g}", stats.norm(0.5, spread)
            lower = float(law.ppf(1e-4))
        found.append(Drawn(words, law, lower, float(law.ppf(1 - 1e-4)), rows, epsilon))
    return tuple(found)


METHODS: Final = {
    "kernels": Method(
        "kernel-densities.md",
        20_33,
        tc.KernelDensity("x"),
        (("density", lambda release, at: kernel_density.smooth_density(release).intervals(at), lambda law: law.pdf),),
    ),
    "bernstein": Method(
        "bernstein.md",
        20_35,
        tc.Bernstein("x"),
        (
            ("distribution function", lambda release, at: bernstein.cdf(release, at).intervals(), lambda law: law.cdf),
            ("density", lambda release, at: bernstein.smooth_density(release).intervals(at), lambda law: law.pdf),
        ),
    ),
}


def held(method: Method, one: Drawn, seed: int) -> np.ndarray:
    """Return of each release and kind of limits whether they hold, with what cells hide and without, and lengths.

    Shape (releases, kinds, 4, places); lengths of a density are parts of it.
    """
    rng, found = np.random.default_rng([*divmod(method.seed, 1_000), seed]), list[np.ndarray]()
    schema = tc.Schema({"x": tc.Real(one.lower, one.upper)})
    shape = shaped(method.question, schema, "replace-one", one.rows, Cost.of(epsilon=one.epsilon))
    places = one.law.ppf(PROBS)
    for _ in range(REPEATS):
        table = {"x": one.law.rvs(one.rows, random_state=rng)}
        release = simulated(shape, add_noise(shape, exact_integers(shape, table), rng))
        each = list[list[np.ndarray]]()
        for words, limits_of, truth in method.told:
            true, own = truth(one.law)(places), list[np.ndarray]()
            for part in (cell_shapes.CROWDED, np.inf):
                usual, cell_shapes.CROWDED = cell_shapes.CROWDED, part
                limits = limits_of(release, places)
                cell_shapes.CROWDED = usual
                inside = (limits[:, 0] <= true) & (true <= limits[:, 1])
                lengths = np.ptp(limits, axis=1) / (true if words == "density" else 1.0)
                own += [np.where(np.isfinite(limits[:, 1]), inside, np.nan), lengths]
            each.append(own)
        found.append(np.array(each))
    return np.array(found)


def main() -> None:
    """Simulate, and write the part of the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--of", choices=tuple(METHODS), default="kernels")
    method = METHODS[parser.parse_args().of]
    columns, kinds = drawn(method.seed), [words for words, _, _ in method.told]
    every = [held(method, one, seed) for seed, one in enumerate(columns)]
    tables = list[str]()
    for k, words in enumerate(kinds):
        rows = [
            _row(f"{one.name} | {one.rows:,} | {one.epsilon:g}", found[:, k])
            for one, found in zip(columns, every, strict=True)
        ]
        for name, own in (("skewed", every[:SKEWED]), ("hills", every[SKEWED:])):
            rows.append(_row(f"**{name}** | | ", np.concatenate(own)[:, k]))
        length = "length as a part of it" if words == "density" else "length"
        tables.append(f"""The {words}, with its {length}:

| law | rows | ε | held, % | at worst, % | length | before: held, % | at worst, % | length |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}""")
    text = f"""
## Where a few cells hold most rows

A curve follows the counts of a few cells whatever is within them, and no residual tells of a peak there. Limits in a
cell of a fifth of the rows or more allow for what the counts of its neighbours do not tell of its shape. Columns drawn
at random, which were written down before any of them was simulated, within bounds that hold all but one row in 10,000
at either end; {REPEATS} releases each. Limits at 95%, at {len(PROBS)} quantiles: the share of those told that holds
(at the worst place, too), with that allowance and *before*, without it, and the median length.

{(chr(10) * 2).join(tables)}
"""
    put(PAGES / method.page, "crowded_cells.py", text)


def _row(words: str, found: np.ndarray) -> str:
    each = list[str]()
    for k in (0, 2):
        inside, length = found[:, k], found[:, k + 1]
        if np.isnan(inside).all():
            each.append("none told | – | –")
            continue
        worst = 100 * min(float(np.nanmean(own)) for own in inside.T if not np.isnan(own).all())
        told = length[np.isfinite(length)]
        each.append(f"{100 * np.nanmean(inside):.1f} | {worst:.0f} | {np.median(told):.2f}")
    return f"| {words} | {' | '.join(each)} |"


if __name__ == "__main__":
    main()
