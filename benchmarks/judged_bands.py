"""Bands of the density without a number, of a third set of laws: docs/reference/density-limits.md.

    python benchmarks/judged_bands.py [page]

Laws are those of `judged_band_laws`, drawn and committed before any of them was simulated, to judge a third rule of
narrower bands, which was not taken either.  Lines are kept in judged_bands.jsonl, and those that are there are not
simulated again; seeds are constants.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from bands_at_jumps import share_held
from bands_of_densities import PAGE, PRICES, SIZES, density_at, inside, lines
from compared_simulations import LAWS, WHOLE, Case, in_doubt, reached
from default_densities import DEFAULT
from judged_band_laws import JUDGED, JUMPY, SMOOTH
from jump_laws import described
from pages import put

STORE: Final = Path(__file__).with_suffix(".jsonl")
BATCHES: Final = {"": (4, 181), "again": (6, 182)}
"""Simulations of a line, four lines a law, and a seed."""
LEVELS: Final = (0.95, 0.8, 0.99)
KINDS: Final = {law: kind for kind, laws in JUDGED.items() for law in laws}
TOGETHER: Final = {**{kind: (kind,) for kind in JUDGED}, "all smooth": SMOOTH, "all with jumps": JUMPY}
"""Kinds that a row of the table puts together."""
LAWS.update({law: one for laws in JUDGED.values() for law, one in laws.items()})


def held(case: Case, index: int, many: int, seed: int) -> list[list[float]]:
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


def simulate() -> None:
    """Simulate all lines that are not there."""
    done = [(one["batch"], one["law"], one["n"], one["price"]) for one in lines(STORE)]
    for batch, (many, seed) in BATCHES.items():
        for index, law in enumerate(KINDS):
            for n, price in ((n, price) for n in SIZES for price in PRICES):
                if (batch, law, n, price) not in done:
                    own = held(Case(DEFAULT, law, n, price), index, many, seed)
                    with STORE.open("a", encoding="utf-8") as file:
                        line = {"batch": batch, "law": law, "n": n, "price": price, "held": own}
                        file.write(json.dumps(line) + "\n")


def page() -> None:
    """Write the part of the page, of the lines that are stored."""
    stored, rows, many = lines(STORE), list[str](), sum(one for one, _ in BATCHES.values())
    for law in KINDS:
        rows += _row(f"{law}: {described(LAWS[law])}", "", [one for one in stored if one["law"] == law])
    for name, kinds in TOGETHER.items():
        for n in (*SIZES, 0):
            own = [one for one in stored if KINDS[one["law"]] in kinds and n in (0, one["n"])]
            rows += _row(f"**{name}**", f"{n:,}" if n else "all", own)
    text = f"""
### Bands of a third set of laws

{len({one["law"] for one in stored})} laws, drawn and committed before any of them was simulated,
to judge a third rule of narrower bands:
{many} releases at each of 1,000 and 10,000 rows and at ε = 0.5 and ε = 1, δ = 10⁻⁶. Columns are those of the
table above, and bands those of today. The rule that was tried, bands of cosines by their own series alone with
both sides of more possible jumps, made bands a tenth narrower and held smooth laws about as often (98.6%),
those with jumps in 97.1, with kinks in 96.5 and with spikes in 93.7% (tried once, with these releases); but
that sides of jumps make up for the rest rests on simulation alone, of laws looked at before some with kinks
were held in 92%, and a first batch of releases did not show what had been demanded beforehand. It was not
taken. Half of what bands hold too often is the allowance for whichever series is chosen, half are the sides of
jumps (tried once).

| law | n | releases | in doubt, % | held, % | ± | at 80%, % | at 99%, % | resolved, % |
|---|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "judged_bands.py", text)


def _row(name: str, n: str, stored: list[dict[str, Any]]) -> list[str]:
    """Return a row of the table, or none where nothing is stored."""
    if not stored:
        return []
    own = np.concatenate([np.array(one["held"]) for one in stored])
    plain = own[own[:, 0] == 0]
    error = f"{200 * (0.95 * 0.05 / len(plain)) ** 0.5:.1f}" if len(plain) else "–"
    shares = [share_held(own[:, 0]), share_held(plain[:, 1]), error]
    shares += [share_held(plain[:, 2]), share_held(plain[:, 3]), share_held(own[:, 4])]
    return [f"| {name} | {n} | {len(own)} | {' | '.join(shares)} |"]


if __name__ == "__main__":
    if "page" not in sys.argv[1:]:
        simulate()
    page()
