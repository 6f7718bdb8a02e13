"""Bands that hold both sides of possible jumps, judged once by laws drawn beforehand: docs/reference/density-limits.md.

    python benchmarks/calm_bands.py [before | page]

Laws are those of `calm_band_laws`, drawn and committed before any of them was simulated.  Lines are kept in
calm_bands.jsonl, and those that are there are not simulated again; seeds are constants.  `before`: the first releases
of each line with the library as it was before widths came from draws about the estimate, in a checkout of the commit
that drew the laws, with this file beside them.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from bands_at_jumps import described
from bands_of_densities import PAGE, PRICES, SIZES, density_at, inside, lines
from calm_band_laws import CALM
from compared_simulations import LAWS, WHOLE, Case, in_doubt, reached
from default_densities import DEFAULT
from pages import put

from tacit.base.arrays import Array

STORE: Final = Path(__file__).with_suffix(".jsonl")
REPEATS: Final = 10
"""Simulations of a line, four lines a law."""
BEFORE: Final = 4
"""Of these, with the library as it was."""
LEVELS: Final = (0.95, 0.8, 0.99)
KINDS: Final = {law: kind for kind, laws in CALM.items() for law in laws}
LAWS.update({law: one for laws in CALM.values() for law, one in laws.items()})


def held(case: Case, index: int, many: int) -> list[list[float]]:
    """Return of each release whether there is a doubt, what bands hold, and how wide they are.

    Columns: a doubt; at LEVELS, whether the band holds the density; at the first, whether it holds what the release
    resolves, and its mean width where it is told.
    """
    x, found = (np.arange(WHOLE) + 0.5) / WHOLE, list[list[float]]()
    exact = density_at(case.law, x)
    shape, integers, ends, chances = case.drawn(
        REPEATS, np.random.default_rng([20, 118, index, case.n, len(case.price)])
    )
    for one in integers[:many]:
        made = case.estimated(case.release(shape, one))
        bands = [made.intervals(x, level, simultaneous=True) for level in LEVELS]
        resolved = inside(bands[0], reached(case, made, ends, chances, x, at_once=True))
        told = np.isfinite(bands[0][:, 1])
        wide = float(np.ptp(bands[0][told], axis=1).mean()) if told.any() else np.nan
        found.append([float(in_doubt(made)), *(inside(band, exact) for band in bands), resolved, wide])
    return found


def simulate(part: str) -> None:
    """Simulate all lines of a part, now or before, that are not there."""
    done = [(one["part"], one["law"], one["n"], one["price"]) for one in lines(STORE)]
    for index, law in enumerate(KINDS):
        for n in SIZES:
            for price in PRICES:
                if (part, law, n, price) not in done:
                    own = held(Case(DEFAULT, law, n, price), index, BEFORE if part == "before" else REPEATS)
                    with STORE.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"part": part, "law": law, "n": n, "price": price, "held": own}) + "\n")


def page() -> None:
    """Write the part of the page, of the lines that are stored."""
    stored, rows = lines(STORE), list[str]()
    for law, kind in KINDS.items():
        rows += _row(f"{law}: {described(CALM[kind][law])}", "", [one for one in stored if one["law"] == law])
    for name, kinds in (*((kind, (kind,)) for kind in CALM), ("all with jumps or kinks", tuple(list(CALM)[:-1]))):
        for n in (*SIZES, 0):
            own = [one for one in stored if KINDS[one["law"]] in kinds and n in (0, one["n"])]
            rows += _row(f"**{name}**", f"{n:,}" if n else "all", own)
    text = f"""
### Bands of further laws, judged once

{len(KINDS)} laws, half of them smooth, drawn and committed before any of them was simulated, {REPEATS} releases at each
of 1,000 and 10,000 rows and at ε = 0.5 and ε = 1, δ = 10⁻⁶. How wide bands are, and where they hold both sides of
possible jumps, was chosen by other laws. Bands are held against the density at {WHOLE} places, over releases without a
doubt (at 95%, 80% and 99%); *resolved*: what the band is of, over all releases. *Before*: the bands of the library as
it was, of the first {BEFORE} releases of each line, and *width*, that of now over that of before, in the mean over
the releases without a doubt of both.

| law | n | releases | in doubt, % | held, % | ± | at 80%, % | at 99%, % | resolved, % | before, % | ± | width |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "calm_bands.py", text)


def _row(name: str, n: str, stored: list[dict[str, Any]]) -> list[str]:
    """Return a row of the table, or none where nothing is stored."""
    now, before = (_releases(stored, part) for part in ("now", "before"))
    if not now:
        return []
    own = np.concatenate(list(now.values()))
    plain = own[own[:, 0] == 0]
    pairs = [(now[key][: len(one)], one) for key, one in before.items() if key in now]
    first, last = (np.concatenate([pair[k] for pair in pairs]) if pairs else np.zeros((0, 6)) for k in (0, 1))
    both = (first[:, 0] == 0) & (last[:, 0] == 0)
    earlier = last[last[:, 0] == 0]
    width = f"{(first[both, 5] / last[both, 5]).mean():.2f}" if both.any() else "–"
    each = [_share(plain[:, 1]), _error(plain), *(_share(plain[:, k]) for k in (2, 3)), _share(own[:, 4])]
    cells = [name, n, str(len(own)), _share(own[:, 0]), *each, _share(earlier[:, 1]), _error(earlier), width]
    return [f"| {' | '.join(cells)} |"]


def _releases(stored: list[dict[str, Any]], part: str) -> dict[str, Array]:
    """Return what is stored of a part, by law, size and price."""
    every = [one for one in stored if one["part"] == part]
    return {json.dumps([one["law"], one["n"], one["price"]]): np.array(one["held"]) for one in every}


def _share(held: Array) -> str:
    return f"{100 * held.mean():.1f}" if len(held) else "–"


def _error(own: Array) -> str:
    return f"{200 * (0.95 * 0.05 / len(own)) ** 0.5:.1f}" if len(own) else "–"


if __name__ == "__main__":
    if "page" not in sys.argv[1:]:
        simulate("before" if "before" in sys.argv[1:] else "now")
    page()
