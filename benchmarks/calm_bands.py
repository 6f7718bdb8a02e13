"""Bands that hold both sides of possible jumps, judged once by laws drawn beforehand: docs/reference/density-limits.md.

    python benchmarks/calm_bands.py [before | page]

Laws are those of `calm_band_laws`, drawn and committed before any of them was simulated.  Lines are kept in
calm_bands.jsonl, and those that are there are not simulated again; seeds are constants.  CALM judged a first rule,
whose lines are called first; it failed at steps, and LATER judges what replaced it.  `before`: the first releases of
each line with the library as it was before both, in a checkout of the commit that drew CALM, with this file beside it.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from bands_at_jumps import described
from bands_of_densities import PAGE, PRICES, SIZES, density_at, inside, lines
from calm_band_laws import CALM, LATER
from compared_simulations import LAWS, WHOLE, Case, in_doubt, reached
from default_densities import DEFAULT
from pages import put
from smooth_density import Mixture

from tacit.base.arrays import Array

STORE: Final = Path(__file__).with_suffix(".jsonl")
REPEATS: Final = 10
"""Simulations of a line, four lines a law."""
BEFORE: Final = 4
"""Of these, with the library as it was."""
LEVELS: Final = (0.95, 0.8, 0.99)
KINDS: Final = {law: kind for each in (CALM, LATER) for kind, laws in each.items() for law in laws}
DRAWN: Final = {law: one for each in (CALM, LATER) for laws in each.values() for law, one in laws.items()}
LAWS.update(DRAWN)


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
        if law not in {law for laws in LATER.values() for law in laws}:
            continue
        for n in SIZES:
            for price in PRICES:
                if (part, law, n, price) not in done:
                    own = held(Case(DEFAULT, law, n, price), index, BEFORE if part == "before" else REPEATS)
                    with STORE.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"part": part, "law": law, "n": n, "price": price, "held": own}) + "\n")


def page() -> None:
    """Write the part of the page, of the lines that are stored."""
    names = (
        "law | n | releases | in doubt, % | held, % | ± | at 80%, % | at 99%, % | resolved, % | before, % | ± | width"
    )
    head = f"| {names} |\n|---|{'---:|' * 11}"
    later, first = (sum(len(laws) for laws in each.values()) for each in (LATER, CALM))
    text = f"""
### Bands of further laws, judged once

How many standard errors a band takes, and where it holds both sides of possible jumps, was chosen by other laws.
{later} laws, half of them smooth, were drawn and committed before any of them was simulated; {REPEATS} releases at
each of 1,000 and 10,000 rows and at ε = 0.5 and ε = 1, δ = 10⁻⁶. Bands are held against the density at {WHOLE} places,
over releases without a doubt (at 95%, 80% and 99%); *resolved*: what the band is of, over all releases. *Before*: bands
of the library as it was, of the first {BEFORE} releases of each line, and *width*: that of now over that of before, in
the mean over the releases without a doubt of both.

{head}
{chr(10).join(_rows(LATER, "now"))}

The same of {first} laws drawn before, which judged a first rule: models of any likelihood told of jumps, a band
reached within one bin of them, and had as few standard errors as the draws needed. It held too few steps; these laws
were looked at then, and are not simulated with what replaced it.

{head}
{chr(10).join(_rows(CALM, "first"))}
"""
    put(PAGE, "calm_bands.py", text)


def _rows(each: dict[str, dict[str, Mixture]], part: str) -> list[str]:
    """Return the rows of some laws, of a part and what was before."""
    mine = [one for one in lines(STORE) if one["part"] in (part, "before")]
    rows = list[str]()
    for laws in each.values():
        for law in laws:
            rows += _row(f"{law}: {described(DRAWN[law])}", "", [one for one in mine if one["law"] == law], part)
    kinds = {kind: list(laws) for kind, laws in each.items()}
    kinds["all with jumps or kinks"] = [law for kind, laws in each.items() if kind != "smooth" for law in laws]
    for name, laws in kinds.items():
        for n in (*SIZES, 0):
            own = [one for one in mine if one["law"] in laws and n in (0, one["n"])]
            rows += _row(f"**{name}**", f"{n:,}" if n else "all", own, part)
    return rows


def _row(name: str, n: str, stored: list[dict[str, Any]], now_part: str) -> list[str]:
    """Return a row of the table, or none where nothing is stored."""
    now, before = (_releases(stored, part) for part in (now_part, "before"))
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
