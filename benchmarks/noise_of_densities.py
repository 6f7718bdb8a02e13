"""What the law of noise is worth to the density without a number: compared-densities.md.

    python benchmarks/noise_of_densities.py [page]

Mean integrated squared errors of today's density, whose likelihood has noise of Laplace's law, beside that which takes
noise as normal, of the same releases of the laws of `noise_laws`; and, of LIMITS of these releases, what limits and
bands of either hold, of the density itself.  Lines are kept in noise_of_densities.jsonl; seeds are constants.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from compared_simulations import FINE, LAWS, LEVEL, PLACES, WHOLE, Case, in_doubt, truth
from default_densities import DEFAULT, PAGE
from noise_laws import LAST
from pages import put

STORE: Final = Path(__file__).with_suffix(".jsonl")
LAWS.update(LAST)
SIZES: Final = (1_000, 10_000)
PRICE: Final = {"epsilon": 0.5}
REPEATS: Final = {1_000: 40, 10_000: 12}
LIMITS: Final = 6
"""Simulations of a line of which limits are held against the density."""


def lines() -> list[dict[str, Any]]:
    """Return stored lines."""
    return [json.loads(line) for line in STORE.read_text(encoding="utf-8").splitlines()] if STORE.exists() else []


def errors(law: str, n: int, index: int) -> dict[str, list[list[float]]]:
    """Return squared errors with normal noise and today's, and what limits and bands of both hold."""
    case, at = Case(DEFAULT, law, n, PRICE), (np.arange(FINE) + 0.5) / FINE
    made: dict[str, list[list[float]]] = {"squared": [], "held": []}
    shape, integers, _, _ = case.drawn(REPEATS[n], np.random.default_rng([21, 4, index, n]))
    for k, one in enumerate(integers):
        found: Any = case.estimated(case.release(shape, one))
        both = [_as_normal(found), found]
        made["squared"].append([float(((one(at) - truth(law)[0]) ** 2).mean()) for one in both])
        if k < LIMITS and not in_doubt(found):
            made["held"].append([share for one in both for share in held(law, one)])
    return made


def _as_normal(found: Any) -> Any:
    """Return the density of the same release with noise taken as normal."""
    (curve,) = found.curves
    estimate = replace(curve.estimate, laplace=False)
    possible = estimate if curve.possible is curve.estimate else curve.possible
    return replace(found, curves=(replace(curve, estimate=estimate, possible=possible),))


def held(law: str, found: Any) -> tuple[float, float]:
    """Return the share of PLACES at which limits hold the density, and whether a band does at WHOLE places."""
    shares = list[float]()
    for many in (PLACES, WHOLE):
        x = (np.arange(many) + 0.5) / many
        true = (LAWS[law].cdf(x + 5e-4) - LAWS[law].cdf(x - 5e-4)) / 1e-3
        limits = found.intervals(x, LEVEL, simultaneous=many == WHOLE)
        inside = (limits[:, 0] <= true + 1e-9) & (true <= limits[:, 1] + 1e-9)
        shares.append(float(inside.mean() if many == PLACES else inside.all()))
    return shares[0], shares[1]


def simulate() -> None:
    """Simulate all lines that are not there."""
    done = [(one["law"], one["n"]) for one in lines()]
    for n in SIZES:
        for index, law in enumerate(LAST):
            if (law, n) not in done:
                with STORE.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"law": law, "n": n, **errors(law, n, index)}) + "\n")


def page() -> None:
    """Write the part of the page."""
    stored, rows, of_kind = lines(), list[str](), dict[tuple[str, int], list[float]]()
    for one in stored:
        normal, today = np.array(one["squared"]).T
        ratio = float(today.mean() / normal.mean())
        about = 2 * float((today - ratio * normal).std()) / normal.mean() / len(normal) ** 0.5
        for kind in (one["law"].rsplit(" ", 1)[0], "all"):
            of_kind.setdefault((kind, one["n"]), []).append(ratio)
        rows.append(
            f"| {one['law']} | {one['n']:,} | {normal.mean():.2g} | {today.mean():.2g} | {ratio:.2f} ± {about:.2f} |"
        )
    kinds = list(dict.fromkeys(kind for kind, _ in of_kind if kind != "all"))
    summed = [
        f"| {kind} | {' | '.join(_mean(of_kind.get((kind, n), [])) for n in SIZES)} |" for kind in (*kinds, "all")
    ]
    each = np.concatenate([np.array(one["held"]).reshape(-1, 4) for one in stored])
    shares = [f"{100 * share:.1f}%" for share in each.mean(axis=0)]
    text = f"""
## The law of noise

Errors of shares of bins are taken as normal sampling errors and noise of Laplace's law, where noise has it; noise was
taken as normal before. Errors of the same releases at ε = 0.5 ({REPEATS[1_000]} a line at 1,000 rows,
{REPEATS[10_000]} at 10,000) of {len(LAST)} laws that were drawn and committed before any was simulated, and the ratio
of today's and before's ± two standard errors. Means are geometric, in parentheses the largest of a kind.

Of {len(each)} of these releases without a doubt, limits at {PLACES} places hold the density in {shares[0]} before and
{shares[2]} today, bands at {WHOLE} places in {shares[1]} and {shares[3]}.

| laws | n = 1,000 | n = 10,000 |
|---|---:|---:|
{chr(10).join(summed)}

| law | n | normal noise | today's | ratio |
|---|---:|---:|---:|---:|
{chr(10).join(rows)}
"""
    put(PAGE, "noise_of_densities.py", text)


def _mean(ratios: list[float]) -> str:
    return f"{float(np.exp(np.mean(np.log(ratios)))):.3f} ({max(ratios):.2f})" if ratios else "–"


if __name__ == "__main__":
    if "page" not in sys.argv[1:]:
        simulate()
    page()
