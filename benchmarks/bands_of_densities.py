"""Bands of the density without a number, of laws with kinks, jumps and spikes: docs/reference/density-limits.md.

    python benchmarks/bands_of_densities.py [page]

Laws are those of `band_laws`, which were written down before any band of them was simulated.  Lines are kept in
bands_of_densities.jsonl, and those that are there are not simulated again; seeds are constants.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, Final

import numpy as np
from band_laws import BANDED
from compared_simulations import LAWS, LEVEL, WHOLE, Case, in_doubt, reached
from default_densities import DEFAULT, percent
from pages import put

from tacit.base.arrays import Array

STORE: Final = Path(__file__).with_suffix(".jsonl")
PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "density-limits.md"
SIZES: Final = (1_000, 10_000)
PRICES: Final = ({"epsilon": 0.5}, {"epsilon": 1.0, "delta": 1e-6})
REPEATS: Final = 15
"""Simulations of a line, four lines a law."""
KINDS: Final = {law: kind for kind, laws in BANDED.items() for law in laws}
LAWS.update({law: one for laws in BANDED.values() for law, one in laws.items()})


def lines(store: Path = STORE) -> list[dict[str, Any]]:
    """Return stored lines."""
    return [json.loads(line) for line in store.read_text(encoding="utf-8").splitlines()] if store.exists() else []


def density_at(law: str, x: Array) -> Array:
    """Return the density of a law at places, that of jumps halfway."""
    return (LAWS[law].cdf(x + 5e-4) - LAWS[law].cdf(x - 5e-4)) / 1e-3


def inside(band: Array, true: Array) -> float:
    """Return 1 where a band has a curve within it at all places, else 0."""
    return float(((band[:, 0] <= true + 1e-9) & (true <= band[:, 1] + 1e-9)).all())


def held(case: Case, index: int) -> list[list[float]]:
    """Return of each release whether the band holds what it resolves, and the density; whether there is a doubt.

    Last the mean width of the band over that of limits of single places, where these are told.
    """
    x, found = (np.arange(WHOLE) + 0.5) / WHOLE, list[list[float]]()
    exact = density_at(case.law, x)
    shape, integers, ends, chances = case.drawn(
        REPEATS, np.random.default_rng([20, 27, index, case.n, len(case.price)])
    )
    for one in integers:
        made = case.estimated(case.release(shape, one))
        band, limits = (made.intervals(x, LEVEL, simultaneous=at_once) for at_once in (True, False))
        resolved = reached(case, made, ends, chances, x, at_once=True)
        told = np.isfinite(limits[:, 1])
        wide = float(np.ptp(band[told], axis=1).mean() / np.ptp(limits[told], axis=1).mean())
        found.append([inside(band, resolved), inside(band, exact), float(in_doubt(made)), wide])
    return found


def simulate(
    laws: Iterable[str] = KINDS, of: Callable[[Case, int], list[list[float]]] = held, store: Path = STORE
) -> None:
    """Simulate all lines that are not there."""
    done = [(one["law"], one["n"], one["price"]) for one in lines(store)]
    for index, law in enumerate(laws):
        for n in SIZES:
            for price in PRICES:
                if (law, n, price) not in done:
                    line = {"law": law, "n": n, "price": price, "held": of(Case(DEFAULT, law, n, price), index)}
                    with store.open("a", encoding="utf-8") as file:
                        file.write(json.dumps(line) + "\n")


def page() -> None:
    """Write the part of the page, of the laws that are stored."""
    stored, rows, every = lines(), list[str](), dict[str, Array]()
    for law, kind in KINDS.items():
        found = [np.array(one["held"]) for one in stored if one["law"] == law]
        if found:
            every[law] = np.concatenate(found)
            rows.append(_row(law, kind, every[law]))
    for kind in BANDED:
        own = [one for law, one in every.items() if KINDS[law] == kind]
        if own:
            rows.append(_row(f"**{kind}**", "", np.concatenate(own)))
    text = f"""
## Bands of the density without a number

`smooth_density` of `Histogram(x, bins="density")`, for {len(every)} of {len(KINDS)} laws that were drawn before any of
them was simulated, {REPEATS} releases at each of 1,000 and 10,000 rows and at ε = 0.5 and ε = 1, δ = 10⁻⁶ (fewer where
*releases* says so). Bands at 95% are held against the whole curve, at {WHOLE} places: *resolved* is what the band is
of, over all releases; where there is a doubt that is the average of the density over each bin, but at peaks. *Density*:
over releases without a doubt. *Wider*: the mean width of a band over that of limits of single places. In bins
in which there may be a jump a band reaches to both sides of it ([below](#bands-at-jumps-of-laws-drawn-at-random)):
these laws had been looked at when that was made. Bands in doubt were first without Wilson's allowance
for small counts, and held averages of the boxes too seldom; it was added then, and these laws simulated
anew.

| law | kind | releases | resolved, % | in doubt, % | density, % | ± | wider |
|---|---|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "bands_of_densities.py", text)


def _row(law: str, kind: str, own: Array) -> str:
    plain = own[own[:, 2] == 0]
    density = percent(plain[:, 1]).rstrip("%") if len(plain) else "–"
    error = f"{200 * (0.95 * 0.05 / len(plain)) ** 0.5:.1f}" if len(plain) else "–"
    each = [percent(own[:, k]).rstrip("%") for k in (0, 2)]
    return f"| {law} | {kind} | {len(own)} | {each[0]} | {each[1]} | {density} | {error} | {own[:, 3].mean():.2f} |"


if __name__ == "__main__":
    if "page" not in sys.argv[1:]:
        simulate()
    page()
