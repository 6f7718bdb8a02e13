"""Limits of `KernelDensity` where a few cells hold most rows, of drawn columns: docs/reference/kernel-densities.md.

    python benchmarks/crowded_cells.py

Laws, sizes and prices are drawn with a constant seed, and were written down before any of them was simulated: skewed
laws within bounds that fit all but a few of 10,000 rows, of which a few cells hold most, and as many hills.  Seeds are
constants.  Limits at 95% of the density are held against it at nine quantiles, of places that have some; the same
with what cells hide left out, of the same releases.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from holding_designs import heavy_law
from pages import put
from scipy import stats

import tacit as tc
from tacit.fits import cell_shapes
from tacit.method.kernel_density.estimate import smooth_density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, exact_integers, shaped

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "kernel-densities.md"
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


def drawn() -> tuple[Drawn, ...]:
    """Return the columns."""
    rng, found = np.random.default_rng(20_33), list[Drawn]()
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


def held(one: Drawn, seed: int) -> np.ndarray:
    """Return of each place and release whether limits hold, with what cells hide and without, and their lengths."""
    rng, found = np.random.default_rng([20, 33, seed]), list[np.ndarray]()
    schema = tc.Schema({"x": tc.Real(one.lower, one.upper)})
    shape = shaped(tc.KernelDensity("x"), schema, "replace-one", one.rows, Cost.of(epsilon=one.epsilon))
    places = one.law.ppf(PROBS)
    true = one.law.pdf(places)
    for _ in range(REPEATS):
        table = {"x": one.law.rvs(one.rows, random_state=rng)}
        release = simulated(shape, add_noise(shape, exact_integers(shape, table), rng))
        each = list[np.ndarray]()
        for part in (cell_shapes.CROWDED, np.inf):
            usual, cell_shapes.CROWDED = cell_shapes.CROWDED, part
            limits = smooth_density(release).intervals(places)
            cell_shapes.CROWDED = usual
            inside = (limits[:, 0] <= true) & (true <= limits[:, 1])
            each += [np.where(np.isfinite(limits[:, 1]), inside, np.nan), np.ptp(limits, axis=1) / true]
        found.append(np.array(each))
    return np.array(found)


def main() -> None:
    """Simulate, and write the part of the page."""
    rows, every = list[str](), list[np.ndarray]()
    for seed, one in enumerate(drawn()):
        every.append(held(one, seed))
        rows.append(_row(f"{one.name} | {one.rows:,} | {one.epsilon:g}", every[-1]))
    for words, own in (("skewed", every[:SKEWED]), ("hills", every[SKEWED:])):
        rows.append(_row(f"**{words}** | | ", np.concatenate(own)))
    text = f"""
## Where a few cells hold most rows

A curve follows the counts of a few cells whatever is within them, and no residual tells of a peak there. Limits in a
cell of a fifth of the rows or more allow for what the counts of its neighbours do not tell of its shape. Columns drawn
at random, which were written down before any of them was simulated, within bounds that hold all but one row in 10,000
at either end; {REPEATS} releases each. Limits of the density at 95%, at {len(PROBS)} quantiles: the share that holds it
(of the worst place of these, too), with that allowance and *before*, and the median length as a part of the density.

| law | rows | ε | held, % | at worst, % | length | before: held, % | at worst, % | length |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "crowded_cells.py", text)


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
