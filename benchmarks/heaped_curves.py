"""Limits of density curves of columns with declared heaps, of designs drawn at random: heaped-values.md.

    python benchmarks/heaped_curves.py [page]

Laws, distances and shares of heaps are drawn with a constant seed, and were committed before any of them was simulated.
Lines are kept in heaped_curves.jsonl; those that are there are not simulated again.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import put
from recorded_densities import EPSILON, METHODS, column, truth_of
from recorded_multiples import Design
from scipy import stats

import tacit as tc

STORE: Final = Path(__file__).with_suffix(".jsonl")
PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "heaped-values.md"
SIZES: Final = (1_000, 20_000)
ASKED: Final = ("kernel", "Bernstein", "bins")
REPEATS: Final = 40
SEED: Final = 20_28
LAWS: Final = (
    ("gamma", lambda k: stats.gamma(k, scale=6)),
    ("lognormal", lambda k: stats.lognorm(k / 6, scale=20)),
    ("normal", lambda k: stats.norm(45, 4 * k)),
)


def designs() -> tuple[Design, ...]:
    """Return two designs of each law, on a range from 0 to 90."""
    rng, found = np.random.default_rng(SEED), list[Design]()
    for name, law in LAWS:
        for _ in range(2):
            shape, heap = round(float(rng.uniform(2, 4)), 1), float(rng.choice([2.5, 5.0, 10.0]))
            share = round(float(rng.uniform(0.2, 0.8)), 2)
            words = f"{name}({shape:g}), {100 * share:.0f}% at {heap:g}s"
            found.append(Design(words, law(shape), 0, 90, 0.5, False, 0.5, (), heap, share))
    return tuple(found)


def lines() -> list[dict[str, Any]]:
    """Return stored lines."""
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()] if STORE.exists() else []


def simulated(design: Design, rows: int, method: str) -> dict[str, Any]:
    """Return of each release the share of nine values with limits, and of these that hold; and whether the band does.

    The band is held against the density where it is told, that of nowhere is left out.
    """
    truth, schema = truth_of(design), tc.Schema({"x": column(design, "declared")})
    rng, band = np.random.default_rng([20, 28, rows, *design.name.encode()]), list[float]()
    told, held = list[float](), list[float]()
    for _ in range(REPEATS):
        curator = tc.Curator({"x": design.draw(rng, rows)}, schema, budget=tc.Budget(epsilon=1_000))
        release = curator.release(METHODS[method], epsilon=EPSILON)
        curve = release.smooth_density() if method == "Bernstein" else release.smooth_density("x")
        limits, whole = (curve.intervals(truth.values, simultaneous=at_once) for at_once in (False, True))
        inside = [(one[:, 0] <= truth.density) & (truth.density <= one[:, 1]) for one in (limits, whole)]
        known = np.isfinite(limits[:, 1])
        told.append(float(known.mean()))
        if known.any():
            held.append(float(inside[0][known].mean()))
        if np.isfinite(whole[:, 1]).all():
            band.append(float(inside[1].all()))
    return {"told": told, "held": held, "band": band}


def simulate() -> None:
    """Simulate all lines that are not there."""
    done = [(one["design"], one["rows"], one["method"]) for one in lines()]
    for design in designs():
        for rows in SIZES:
            for method in ASKED:
                if (design.name, rows, method) not in done:
                    made = simulated(design, rows, method)
                    with STORE.open("a", encoding="utf-8") as file:
                        file.write(json.dumps({"design": design.name, "rows": rows, "method": method, **made}) + "\n")


def page() -> None:
    """Write the part of the page."""
    rows = list[str]()
    for one in lines():
        held, band = (f"{100 * np.mean(one[key]):.0f}" if one[key] else "–" for key in ("held", "band"))
        share = 100 * np.mean(one["told"])
        bands = 100 * len(one["band"]) / len(one["told"])
        rows.append(
            f"| {one['design']} | {one['rows']:,} | {one['method']} | {share:.0f} | {held} | {bands:.0f} | {band} |"
        )
    text = f"""
## Curves of columns with declared heaps

Designs drawn at random, six in all, before any of them was simulated, on a range from 0 to 90, told to 0.5,
ε = {EPSILON:g}; {REPEATS} releases a line.
*Limits*: the share of nine values at which limits of the density are told, and of these that
hold the density of the law that was told; *band*: the share of releases with a band at all nine, and of these that hold
it at all of them.

| design | rows | density | limits told, % | held, % | band told, % | held, % |
|---|---:|---|---:|---:|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "heaped_curves.py", text)


if __name__ == "__main__":
    if "page" not in sys.argv[1:]:
        simulate()
    page()
