"""What the law of noise is worth to the density without a number: compared-densities.md.

    python benchmarks/noise_of_densities.py [bins | page]

Mean integrated squared errors of today's density, whose likelihood has noise of Laplace's law, beside that which takes
noise as normal, of the same releases of the laws of `noise_laws`; and, of LIMITS of these releases, what limits and
bands of either hold, of the density itself.  `bins`: today's density of other numbers of bins than the rule's, of laws
that the estimate was made with: what the noise of its bins costs.  Lines are kept in noise_of_densities.jsonl; seeds
are constants.
"""

from __future__ import annotations

import json
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any, Final

import numpy as np
from bands_of_densities import KINDS
from compared_designs import ASKED
from compared_simulations import FINE, LAWS, LEVEL, PLACES, WHOLE, Case, in_doubt, truth
from default_densities import DEFAULT, PAGE
from jump_models import WAITS
from noise_laws import LAST
from pages import put

STORE: Final = Path(__file__).with_suffix(".jsonl")
LAWS.update(LAST)
SIZES: Final = (1_000, 10_000)
PRICE: Final = {"epsilon": 0.5}
REPEATS: Final = {1_000: 40, 10_000: 12}
LIMITS: Final = 6
"""Simulations of a line of which limits are held against the density."""

FEWER: Final = (14, 20, 28, 40)
"""Numbers of bins, the last that of the rule at 1,000 rows and the price."""
KNOWN: Final = (*ASKED, *KINDS, *WAITS, "claw", "two decays", "three modes")
"""Laws whose errors are compared by the number of bins."""
OF_BINS: Final = 16


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
    done = [(one["law"], one["n"]) for one in lines() if "squared" in one]
    for n in SIZES:
        for index, law in enumerate(LAST):
            if (law, n) not in done:
                with STORE.open("a", encoding="utf-8") as file:
                    file.write(json.dumps({"law": law, "n": n, **errors(law, n, index)}) + "\n")


def bins() -> None:
    """Simulate errors of all numbers of bins that are not there."""
    done, at = [one["law"] for one in lines() if "bins" in one], (np.arange(FINE) + 0.5) / FINE
    for index, law in enumerate(KNOWN):
        if law not in done:
            each = list[list[float]]()
            for number in FEWER:
                case = Case(DEFAULT, law, 1_000, PRICE, number)
                shape, integers, _, _ = case.drawn(OF_BINS, np.random.default_rng([21, 5, index]))
                found = [case.estimated(case.release(shape, one)) for one in integers]
                each.append([float(((one(at) - truth(law)[0]) ** 2).mean()) for one in found])
            with STORE.open("a", encoding="utf-8") as file:
                file.write(json.dumps({"law": law, "bins": each}) + "\n")


def of_bins() -> str:
    """Return the table of numbers of bins."""
    rows = list[str]()
    for one in lines():
        if "bins" in one:
            each = np.array(one["bins"])
            errors, spread = each.mean(axis=1), each.std(axis=1) / each.mean(axis=1) / each.shape[1] ** 0.5
            about = 2 * np.hypot(spread, spread[-1]) * errors / errors[-1]
            shown = [f"{a / errors[-1]:.2f} ± {b:.1g}" for a, b in zip(errors[:-1], about, strict=False)]
            rows.append(f"| {one['law']} | {' | '.join(shown)} | {errors[-1]:.2g} |")
    return f"""
Why a kernel or a series of the right number is sometimes ahead at 1,000 rows: noise of a price is the same in each bin,
so that of {FEWER[0]} bins the noise has about a third of the variance of {FEWER[-1]} in all that is smooth, and a
kernel's bandwidth that is best for a smooth law has as few. Errors of today's density at ε = 0.5 with fewer bins,
beside those of the rule's {FEWER[-1]} ({OF_BINS} simulations each, ± two standard errors): smooth laws mostly gain,
those with narrow peaks and jumps lose far more.

| law | {" | ".join(f"{number} bins" for number in FEWER[:-1])} | error, {FEWER[-1]} bins |
|---|---:|---:|---:|---:|
{chr(10).join(rows)}
"""


def page() -> None:
    """Write the part of the page."""
    stored, rows, of_kind = (
        [one for one in lines() if "squared" in one],
        list[str](),
        dict[tuple[str, int], list[float]](),
    )
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
    put(PAGE, "noise_of_densities.py", text + of_bins())


def _mean(ratios: list[float]) -> str:
    return f"{float(np.exp(np.mean(np.log(ratios)))):.3f} ({max(ratios):.2f})" if ratios else "–"


if __name__ == "__main__":
    if "page" not in sys.argv[1:]:
        simulate()
    if "bins" in sys.argv[1:]:
        bins()
    page()
