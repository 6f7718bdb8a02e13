"""Bands of the density without a number, of laws drawn when bands had been made: docs/reference/density-limits.md.

    python benchmarks/fresh_bands.py [page]

Laws are those of `fresh_band_laws`, drawn and committed before any of them was simulated, when bands had been made.
Two other rules of how wide a band is were judged by them and not taken; bands were not changed.  Lines are kept in
fresh_bands.jsonl, and those that are there are not simulated again; seeds are constants.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from bands_at_jumps import share_held
from bands_of_densities import PAGE, SIZES, density_at, inside, lines, simulate
from compared_simulations import LAWS, WHOLE, Case, in_doubt, reached
from fresh_band_laws import FRESH_BANDS
from jump_laws import described
from pages import put

STORE: Final = Path(__file__).with_suffix(".jsonl")
REPEATS: Final = 3
"""Simulations of a line, four lines a law."""
LEVELS: Final = (0.95, 0.8, 0.99)
KINDS: Final = {law: kind for kind, laws in FRESH_BANDS.items() for law in laws}
LAWS.update({law: one for laws in FRESH_BANDS.values() for law, one in laws.items()})


def held(case: Case, index: int, many: int = REPEATS, seed: int = 118) -> list[list[float]]:
    """Return of each release whether there is a doubt, whether bands hold the density, and what it resolves.

    Columns: a doubt; at LEVELS, whether the band holds the density; at the first, whether it holds what the release
    resolves.
    """
    x, found = (np.arange(WHOLE) + 0.5) / WHOLE, list[list[float]]()
    exact = density_at(case.law, x)
    rng = np.random.default_rng([20, seed, index, case.n, len(case.price)])
    shape, integers, ends, chances = case.drawn(many, rng)
    for one in integers:
        made = case.estimated(case.release(shape, one))
        bands = [made.intervals(x, level, simultaneous=True) for level in LEVELS]
        resolved = inside(bands[0], reached(case, made, ends, chances, x, at_once=True))
        found.append([float(in_doubt(made)), *(inside(band, exact) for band in bands), resolved])
    return found


def page() -> None:
    """Write the part of the page, of the lines that are stored."""
    stored, rows = lines(STORE), list[str]()
    for law in KINDS:
        rows += row(f"{law}: {described(LAWS[law])}", "", [one for one in stored if one["law"] == law])
    for kind in FRESH_BANDS:
        for n in (*SIZES, 0):
            own = [one for one in stored if KINDS[one["law"]] == kind and n in (0, one["n"])]
            rows += row(f"**{kind}**", f"{n:,}" if n else "all", own)
    text = f"""
### Bands of laws drawn later

{len({one["law"] for one in stored})} laws, half of them smooth, drawn and committed before any of them was simulated,
when bands had been made; {REPEATS} releases at each of 1,000 and 10,000 rows and at ε = 0.5 and ε = 1, δ = 10⁻⁶. Bands
are held against the density at {WHOLE} places, over releases without a doubt (at 95%, 80% and 99%); *resolved*: what a
band of 95% is of, over all releases. Of smooth laws a band holds more often than it says: it is for whichever number of
terms and basis the counts choose, and on both sides of what may be jumps. Two narrower rules were judged by these
laws: both held too few of those with jumps, and bands stay as they were.

| law | n | releases | in doubt, % | held, % | ± | at 80%, % | at 99%, % | resolved, % |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "fresh_bands.py", text)


def row(name: str, n: str, stored: list[dict[str, Any]]) -> list[str]:
    """Return a row of the table, or none where nothing is stored."""
    if not stored:
        return []
    own = np.concatenate([np.array(one["held"]) for one in stored])
    plain = own[own[:, 0] == 0]
    error = f"{200 * (0.95 * 0.05 / len(plain)) ** 0.5:.1f}" if len(plain) else "–"
    each = [
        share_held(own[:, 0]),
        share_held(plain[:, 1]),
        error,
        share_held(plain[:, 2]),
        share_held(plain[:, 3]),
        share_held(own[:, 4]),
    ]
    return [f"| {name} | {n} | {len(own)} | {' | '.join(each)} |"]


if __name__ == "__main__":
    if "page" not in sys.argv[1:]:
        simulate(KINDS, held, STORE)
    page()
