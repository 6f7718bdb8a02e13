"""Bands of the density without a number at jumps, of laws drawn at random: docs/reference/density-limits.md.

    python benchmarks/bands_at_jumps.py [page]

Laws are those of `jump_laws`, written down and committed before any of them was simulated.  Bands are held against
the whole curve, as they are and as they were before they held both sides of possible jumps, of the same releases.
Lines are kept in bands_at_jumps.jsonl, and those that are there are not simulated again; seeds are constants.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from bands_of_densities import PAGE, SIZES, density_at, inside, lines, simulate
from compared_simulations import LAWS, LEVEL, WHOLE, Case, in_doubt
from jump_laws import DRAWN, described
from pages import put

from tacit.base.arrays import Array

STORE: Final = Path(__file__).with_suffix(".jsonl")
REPEATS: Final = 8
"""Simulations of a line, four lines a law."""
KINDS: Final = {law: kind for kind, laws in DRAWN.items() for law in laws}
LAWS.update({law: one for laws in DRAWN.values() for law, one in laws.items()})


def held(case: Case, index: int) -> list[list[float]]:
    """Return of each release whether there is a doubt, whether bands hold the density, before and now, and how wide.

    The last is the mean width of the band over that of before, where that is told.
    """
    x, found = (np.arange(WHOLE) + 0.5) / WHOLE, list[list[float]]()
    exact = density_at(case.law, x)
    shape, integers, _, _ = case.drawn(REPEATS, np.random.default_rng([20, 31, index, case.n, len(case.price)]))
    for one in integers:
        made = case.estimated(case.release(shape, one))
        earlier = replace(made, curves=tuple(replace(curve, possible=None) for curve in made.curves))
        before, now = (each.intervals(x, LEVEL, simultaneous=True) for each in (earlier, made))
        told = np.isfinite(before[:, 1])
        wider = float(np.ptp(now[told], axis=1).mean() / np.ptp(before[told], axis=1).mean()) if told.any() else 1.0
        found.append([float(in_doubt(made)), inside(before, exact), inside(now, exact), wider])
    return found


def page() -> None:
    """Write the part of the page, of the lines that are stored."""
    stored, rows = lines(STORE), list[str]()
    for law, kind in KINDS.items():
        own = [one for one in stored if one["law"] == law]
        if own:
            rows.append(_row(f"{law}: {described(DRAWN[kind][law])}", "", own))
    for kind in DRAWN:
        for n in SIZES:
            own = [one for one in stored if KINDS[one["law"]] == kind and one["n"] == n]
            rows += [_row(f"**{kind}**", f"{n:,}", own)] if own else []
        own = [one for one in stored if KINDS[one["law"]] == kind]
        rows += [_row(f"**{kind}**", "all", own)] if own else []
    text = f"""
### Bands at jumps, of laws drawn at random

Bands of the density without a number hold, in bins in which there may be a jump, the density on both sides of it. The
same for {len({one["law"] for one in stored})} laws drawn at random (boxes on a bed, and hills), which were written
down before any of them was simulated, {REPEATS} releases a line at each of 1,000 and 10,000 rows and at ε = 0.5 and
ε = 1, δ = 10⁻⁶. *Before*: the same bands without that, of the same releases. Bands at 95% are held against the density
at {WHOLE} places, over releases without a doubt, and over the others, whose bands are of averages over bins and have
no limits at peaks in doubt. *Wider*: the mean width of a band over that of before, over releases without a doubt.

| law | n | releases | in doubt, % | held before, % | held, % | ± | wider | in doubt: held before, % | held, % |
|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "bands_at_jumps.py", text)


def _row(name: str, n: str, stored: list[dict[str, Any]]) -> str:
    own = np.concatenate([np.array(one["held"]) for one in stored])
    plain, doubtful = own[own[:, 0] == 0], own[own[:, 0] == 1]
    error = f"{200 * (0.95 * 0.05 / len(plain)) ** 0.5:.1f}" if len(plain) else "–"
    wider = f"{plain[:, 3].mean():.2f}" if len(plain) else "–"
    shares = [share_held(part[:, k]) for part in (plain, doubtful) for k in (1, 2)]
    return (
        f"| {name} | {n} | {len(own)} | {share_held(own[:, 0])} | {shares[0]} | {shares[1]} | {error} | {wider} "
        f"| {shares[2]} | {shares[3]} |"
    )


def share_held(held: Array) -> str:
    """Return the share of releases, of True or 1, in percent; a dash of none."""
    return f"{100 * held.mean():.1f}" if len(held) else "–"


if __name__ == "__main__":
    if "page" not in sys.argv[1:]:
        simulate(KINDS, held, STORE)
    page()
