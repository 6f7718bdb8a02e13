"""Randomised answers: variance against theory, coverage and width of intervals, beside a curator's noise.

    python benchmarks/local_responses.py --repeats 50000

Writes the tables of docs/reference/local.md in a quarter of an hour.  The designs, all combinations of sizes, prices
and shares below, were committed before one of them was simulated.  Seeds are constants.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pages import by_repeats

import tacit as tc
from tacit.local.binomial_limits import limits
from tacit.local.response_design import ResponseDesign

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "local.md"
SIZES: Final = (50, 1_000, 100_000)
EPSILONS: Final = ("0.2", "1", "4")
SHARES: Final = (0.005, 0.1, 0.5)
LEVELS: Final = 8
COEFFICIENTS: Final = (-0.5, 0.8)
"""Intercept and slope of the regressions, in log-odds."""
FEWER: Final = 25
"""Regressions and weighted surveys are simulated so many times less often."""
GEOMETRIC: Final = 0.6
"""Shares of several levels fall by this factor."""
Floats = NDArray[np.float64]


def intervals(design: ResponseDesign, counts: Floats, n: int, part: float | Floats) -> Floats:
    """Return limits of the share for each count, shape (repeats, 2)."""
    p, q = float(design.channel.own), float(design.channel.wrong)
    if isinstance(part, float):
        values, back = np.unique(counts, return_inverse=True)
        found = limits(values, np.full(len(values), float(n)), 0.95, part)[back]
    else:
        found = limits(counts, np.full(len(counts), float(n)), 0.95, part)
    return np.clip((found - q) / (p - q), 0, 1)


def binary(repeats: int) -> Iterator[str]:
    """Yield the lines of Warner's design."""
    heads = ("n", "ε", "share", "variance ÷ theory", "mid-p", "exact", "randomised")
    yield f"| {' | '.join(heads)} | width, mid-p | of true answers | curator, same ε |"
    yield "|" + "---:|" * 10
    rng = np.random.default_rng(2026)
    for n in SIZES:
        for epsilon in EPSILONS:
            design = tc.local.Warner(epsilon)
            p, q = float(design.channel.own), float(design.channel.wrong)
            for share in SHARES:
                yes = rng.binomial(n, share, repeats)
                counts = (rng.binomial(yes, p) + rng.binomial(n - yes, q)).astype(np.float64)
                plan = design.plan(n, share=share)
                ratio = ((counts / n - q) / (p - q)).var() / plan.std_error**2
                ways = {
                    "mid-p": intervals(design, counts, n, 0.5),
                    "exact": intervals(design, counts, n, 1.0),
                    "randomised": intervals(design, counts, n, rng.random(repeats)),
                }
                cover = [f"{100 * np.mean((w[:, 0] <= share) & (share <= w[:, 1])):.1f}" for w in ways.values()]
                width = float(np.mean(ways["mid-p"][:, 1] - ways["mid-p"][:, 0]))
                z = 2 * 1.959964
                yield (
                    f"| {n:,} | {epsilon} | {share:g} | {ratio:.3f} | {' | '.join(cover)} | {width:.3f} "
                    f"| {z * plan.sampling:.3f} | {z * plan.central:.3f} |"
                )


def several(repeats: int) -> Iterator[str]:
    """Yield the lines of the designs for several levels."""
    heads = ("design", "n", "ε", "variance ÷ theory, worst level", "mid-p, lowest", "highest")
    yield f"| {' | '.join(heads)} | randomised, lowest | highest | SE of the rarest level |"
    yield "|---|" + "---:|" * 8
    rng = np.random.default_rng(7)
    names = [str(i) for i in range(LEVELS)]
    shares = GEOMETRIC ** np.arange(LEVELS)
    shares /= shares.sum()
    makers: Any = (tc.local.KaryResponse, tc.local.UnaryEncoding, tc.local.SubsetSelection)
    for maker in makers:
        for n in SIZES:
            for epsilon in EPSILONS:
                design = maker(names, epsilon)
                p, q = float(design.channel.own), float(design.channel.wrong)
                truth = rng.multinomial(n, shares, repeats)
                # a level's support: of its own people with p, of all others with q, each person by itself
                counts = (rng.binomial(truth, p) + rng.binomial(n - truth, q)).astype(np.float64)
                theory = np.diag(design.channel.support_covariance(shares)) / n / (p - q) ** 2
                ratio = ((counts / n - q) / (p - q)).var(axis=0) / theory
                worst = ratio[np.argmax(np.abs(np.log(ratio)))]
                told = f"| {design.name} | {n:,} | {epsilon} | {worst:.3f} |"
                # limits with a random number each take long: where answers are few, which is where they differ
                for part in (0.5, rng.random(repeats)) if n == SIZES[0] else (0.5,):
                    cover = []
                    for j in range(LEVELS):
                        found = intervals(design, counts[:, j], n, part)
                        cover.append(100 * np.mean((found[:, 0] <= shares[j]) & (shares[j] <= found[:, 1])))
                    told += f" {min(cover):.1f} | {max(cover):.1f} |"
                told += "" if n == SIZES[0] else " | |"
                yield f"{told} {math.sqrt(theory[-1]):.4f} |"


def regressions(repeats: int) -> Iterator[str]:
    """Yield the lines of logistic regressions: of two coefficients, intercept and slope of a normal regressor."""
    yield "| n | ε | coverage, intercept | slope | SD ÷ mean SE, intercept | slope | no answer |"
    yield "|" + "---:|" * 7
    rng = np.random.default_rng(31)
    truth = np.array(COEFFICIENTS)
    for n in (1_000, 10_000):
        for epsilon in EPSILONS[1:]:
            design = tc.local.Warner(epsilon)
            p, q = float(design.channel.own), float(design.channel.wrong)
            values, errors, covered = [], [], []
            for _ in range(repeats):
                x = rng.normal(size=n)
                yes = rng.random(n) < 1 / (1 + np.exp(-(truth[0] + truth[1] * x)))
                frame = pd.DataFrame({"x": x, "answer": rng.random(n) < np.where(yes, p, q)})
                found = design.logistic("answer ~ x", frame)
                limits_ = found.intervals()
                covered.append((limits_[:, 0] <= truth) & (truth <= limits_[:, 1]))
                if found.reasons[0] is None:
                    values.append(found.values)
                    errors.append(found.std_errors)
            cover = 100 * np.mean(covered, axis=0)
            ratio = np.std(values, axis=0) / np.mean(errors, axis=0)
            none = 100 * (1 - len(values) / repeats)
            yield (
                f"| {n:,} | {epsilon} | {cover[0]:.1f} | {cover[1]:.1f} | {ratio[0]:.3f} | {ratio[1]:.3f} "
                f"| {none:.1f}% |"
            )


def weighed(repeats: int) -> Iterator[str]:
    """Yield the lines of survey weights: two strata, of which the rarer counts three times."""
    yield "| n | ε | variance ÷ mean estimated | coverage, normal limits |"
    yield "|" + "---:|" * 4
    rng = np.random.default_rng(57)
    for n in (300, 3_000):
        for epsilon in EPSILONS[1:]:
            design = tc.local.Warner(epsilon)
            p, q = float(design.channel.own), float(design.channel.wrong)
            values, variances, covered = [], [], []
            for _ in range(repeats):
                rare = rng.random(n) < 0.3
                weights, share = np.where(rare, 3.0, 1.0), np.where(rare, 0.6, 0.1)
                shown = rng.random(n) < np.where(rng.random(n) < share, p, q)
                found = design.estimate(shown.tolist(), weights=weights.tolist())
                truth = (0.3 * 3 * 0.6 + 0.7 * 0.1) / (0.3 * 3 + 0.7)
                low, high = found.intervals()[0]
                values.append(found.value)
                variances.append(found.std_error**2)
                covered.append(low <= truth <= high)
            yield f"| {n:,} | {epsilon} | {np.var(values) / np.mean(variances):.3f} | {100 * np.mean(covered):.1f} |"


def page(repeats: int) -> str:
    """Return the part of the page."""
    error, fewer = 100 * math.sqrt(0.05 * 0.95 / repeats), max(20, repeats // FEWER)
    return f"""
## Coverage

{repeats:,} simulations a cell, of people and of their answers; errors of simulation (2 standard errors): coverage
±{2 * error:.1f} points, variance ±{200 * math.sqrt(2 / repeats):.1f}%. *Exact* limits never cover less than 95%,
*mid-p* ones (the default) are near it on average over shares, *randomised* ones are exactly at it for every share, by
one more random number; `conf_int(method=…)` chooses.

Limits that follow from the count alone cannot be at 95% for every share: how often they hold a share is a sum of the
probabilities of those counts whose limits do, and it jumps as the share moves. With few answers the jumps are wide. Of
50 answers to Warner's coin at ε = 4, where 0.5% are a yes, no set of counts whatsoever has a probability between 94.5%
and 95.5%: one with all of 0 to 3 has at least 97.2%, one without any of them at most 92.2%. Whoever needs 95% there
takes the randomised limits.

A yes or no, Warner's design (`ForcedResponse` of the same ε draws from the same law):

{chr(10).join(binary(repeats))}

{LEVELS} levels whose shares fall by a factor {GEOMETRIC} each, limits of all of them:

{chr(10).join(several(repeats))}

Logistic regressions of Warner's answers on a normal regressor, log-odds {COEFFICIENTS[0]} + {COEFFICIENTS[1]} x, normal
limits; {fewer:,} simulations a cell, coverage ±{200 * math.sqrt(0.05 * 0.95 / fewer):.1f} points. A regression that its
answers do not bound has no answer: limits without end, which cover.

{chr(10).join(regressions(fewer))}

Survey weights: two strata of 70% and 30%, weights 1 and 3, shares 10% and 60%; {fewer:,} simulations a cell.

{chr(10).join(weighed(fewer))}
"""


if __name__ == "__main__":
    by_repeats(PAGE, "local_responses.py", __doc__, page)
