"""The figures of Brawner & Honaker (2018) again, each "as published" beside what is right.

    python benchmarks/bootstrap_as_published.py [--people FILE]

Writes docs/reference/bootstrap-as-published.md and its pictures in a few minutes.  Seeds are constants.  Ages are those
of a PUMS sample of 10,000 Californians (`--people` names the file); the paper draws from the whole 5 percent file.
"""

from __future__ import annotations

import argparse
import time
from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
import published_figures as figures
import pyarrow.parquet as pq
from numpy.typing import NDArray
from pages import written
from published_numbers import (
    BOUND,
    CAPPED,
    CAPS,
    CLASS,
    DELTA,
    EIGHTH,
    KINDS,
    NUMBERS,
    REPLICATES,
    RHO,
    ROWS,
    SCORES,
    SEVENTH,
    THERE,
    Replicates,
    ages,
    certified,
    equation_18,
    lower_bound,
    multiplicities,
    normal_rows,
    one_shot,
)

from tacit.noise.averaged_laplace import least_variance_draws
from tacit.privacy import Cost
from tacit.privacy.bootstrap_cost import PublishedClaim, calibrate, certify, effective_constant
from tacit.privacy.bootstrap_profiles import Resampling
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "bootstrap-as-published.md"
PEOPLE = Path("pums_california_10000.parquet")
EPSILONS: Final = (0.1, 0.5, 1.0, 2.0)
LOSSES_AT: Final = (1.0, 2.0, 3.0)
"""Values of epsilon at which the simulated lower bound is shown."""
PRINTED: Final = {"unbiased": (80.1, 2.77), "conservative": (97.1, 4.23), "most conservative": (100.0, 6.31)}
"""Coverage in percent and width."""

TOP = """# The bootstrap as published

Brawner & Honaker (2018), *Bootstrap inference and differential privacy: standard errors for free*, promise standard
errors at no cost. Here are their figures again, each under the label *as published*, beside what is right. Their cost
is a claim and is never charged (`published_claim()`); what is charged is certified, from the whole privacy-loss
distribution ([what a bootstrap costs](bootstrap-cost.md)). Coverage and width of all ways at one certified cost are on
[another page](bootstrap.md), averages of Laplace noise (§4) on [a third](averaged-laplace.md). Written by
`python benchmarks/bootstrap_as_published.py`.
"""
ATTACK = """## §2: the differencing attack, and the Laplace mechanism

![The differencing attack](bootstrap-as-published-attack.svg)

{size} pupils have a published mean; Alice joins, and it is published again. As printed, N′x̄′ − Nx̄ is her score,
exactly. With Laplace noise for ε on both sums of scores from 0 to {largest:g}, half of the attempts are off by more
than so many points: {misses}. Both sums together cost 2ε: what is promised for each of many releases is not promised
for all of them, and a ledger adds them up.

![Figure 1](bootstrap-as-published-1.svg)

Figure 1 and equations 1 to 5 hold as printed.
"""
NORMAL = """## §4: averages of Laplace draws

![Figure 2](bootstrap-as-published-2.svg)

Remark 2 says that an average of k Laplace releases of ε / k has less noise than a normal one of (ε, δ) for k below
ln(1.25/δ), and that it is nearly normal for k above 10 (dotted). Against noise that is calibrated exactly the first
needs far fewer draws, and hardly any k does both. At the same ε one Laplace draw has a k-th of the variance.

![Figure 3, redrawn](averaged-laplace.svg)

Figure 3 holds: tests keep normality in nine of ten samples of ten draws ([figures](averaged-laplace.md#its-shape)).
"""
CAP = """## §6.1 and §6.2: the capped bootstrap

![Figure 4 and the capped bootstrap](bootstrap-as-published-capped.svg)

Rows are drawn with replacement, none counts more than j times, and noise has the variance (jΔ)²(1 − 1/e)²/ρ
(equation 18; equation 16 is its factor (1 − 1/e)²). The factor is no theorem: zero-concentrated privacy is not
amplified by chance, and Dα/α of a row that is drawn with probability p tends to ρ, not to ρp² (right panel). The
equation lacks the ½ of the Gaussian mechanism, which makes up for it: {replicates} replicates cost *less* than the ρ
= {rho:g} that is claimed (ε = {claim:.2f} at δ = 1e-6), and one does from j = 3 on ([table](bootstrap-cost.md)).
What it lacks is use: noise grows with j², and a small j counts fewer rows than there are, so that replicates are
means of too little. {simulations:,} tables of {rows} ages, {replicates} replicates, ρ = {rho:g} as the paper counts;
intervals from equations 30 and 34, floored at 0, and 35, with the noise of equation 18: coverage in percent / width.
*Mean count*: how often a row counts, 1 where nothing is cut.

| j | certified ε | mean count | its variance | noise ÷ eq. 26 | unbiased | conservative | eq. 30 ≤ 0, % |
|---:|---:|---:|---:|---:|---:|---:|---:|"""
INTERVALS = """## §7.3: intervals

![Figure 6](bootstrap-as-published-6.svg)

![Figure 7](bootstrap-as-published-7.svg)

{simulations} tables of {rows} normal rows for each number of replicates, clipped to ±{bound:g}: the paper does not say
which rows it has. Dotted lines are the middle 90% of the standard errors. As published, unbiased intervals cover less
as replicates increase, and conservative ones cover. The right panel is not in the paper: few replicates
cost far more than the ρ = {rho:g} that is claimed. At that cost one release has the standard error of the black line.
"""
AGES = """## §8: ages

![Figure 8](bootstrap-as-published-8.svg)

As published, one release and the average of {replicates} bootstraps have the same distribution. Nearly: an average
of bootstraps varies by V / k more, here {more:.1f}% of the noise's variance and {all:.1f}% of all. At the same
certified cost, ε = {epsilon:.2f} at δ = 1e-6, the noise of one release has {ratio:.2f} times the variance of that of
the average.

![Figure 9](bootstrap-as-published-9.svg)

Figure 9 is redrawn from {simulations:,} simulations, which know 80% to ± {error:.1f} points; the {there:,} of the paper
know it to ± {theirs:.1f}. The printed figures come out without the noise term Δ²/2ρ of equation 35 (middle),
within 2 points and 3%; with it, intervals cover more (right). An estimate of the bootstrap's variance below 0 is taken
for 0. Cells are coverage in percent / width.

| standard error | published | noise term left out | equation 35 as printed |
|---|---:|---:|---:|"""
HELD = """## What holds

| statement | published | here |
|---|---|---|"""


def arguments() -> argparse.Namespace:
    """Return the arguments of the command line."""
    made = argparse.ArgumentParser(description=__doc__)
    made.add_argument("--people", type=Path, default=PEOPLE, help="the PUMS sample")
    return made.parse_args()


def picture(name: str) -> Path:
    """Return the file of a figure."""
    return PAGE.with_name(f"{PAGE.stem}-{name}.svg")


def attack() -> str:
    """Redraw the attack of §2.1 and Figure 1."""
    figures.attack(picture("attack"), SCORES, EPSILONS[1:])
    figures.laplace_pair(picture("1"))
    # the median of |a difference of two Laplace draws of scale 1|: (1 + x / 2) exp(-x) = 1/2
    x = np.linspace(0, 5, 500_001)
    median = float(x[np.argmin(np.abs((1 + x / 2) * np.exp(-x) - 0.5))])
    misses = ", ".join(f"{min(median * SCORES / one, 9_999):,.0f} at ε = {one:g}" for one in EPSILONS)
    return ATTACK.format(size=CLASS, largest=SCORES, misses=misses)


def normal_noise() -> str:
    """Redraw Figure 2."""
    deltas = np.geomspace(1e-2, 1e-10, 33)
    exact = {
        f"exact, ε = {epsilon:g}": np.array(
            [
                least_variance_draws(epsilon, float(epsilon_delta_to_mu_squared(str(epsilon), f"{delta:.3e}")))
                for delta in deltas
            ],
            dtype=np.float64,
        )
        for epsilon in EPSILONS
    }
    figures.draws_below_normal(picture("2"), deltas, exact)
    return NORMAL


def capped(people: NDArray[np.int64]) -> str:
    """Redraw Figure 4, and answer with the capped bootstrap of §6.1 and §6.2."""
    costs = [certified(REPLICATES, most) for most in CAPPED]
    claim = float(PublishedClaim(RHO).epsilon(DELTA))
    figures.capped(picture("capped"), CAPPED, claim, costs)
    facts = {"replicates": REPLICATES, "rho": float(RHO), "claim": claim, "simulations": CAPS, "rows": ROWS}
    text = CAP.format(**facts)
    for most, cost in zip(CAPPED, costs, strict=True):
        found, (mean, variance) = ages(people, CAPS, most), multiplicities(most)
        hits = [found.coverage(kind, printed=True) for kind in KINDS[:2]]
        cells = " | ".join(f"{hit:.1f} / {width:.2f}" for hit, width in hits)
        text += f"\n| {most} | {cost:.2f} | {mean:.3f} | {variance:.3f} | {equation_18(most):.1f} | {cells} "
        text += f"| {found.hidden():.1f} |"
    return text


def intervals() -> str:
    """Redraw Figures 6 and 7."""
    found = [normal_rows(k, SEVENTH) for k in NUMBERS]
    figures.example(picture("6"), found[NUMBERS.index(REPLICATES)])
    figures.by_replicates(picture("7"), found, [certified(k) for k in NUMBERS], 2 * BOUND / ROWS)
    return INTERVALS.format(simulations=SEVENTH, rows=ROWS, bound=BOUND, rho=float(RHO))


def of_ages(found: Replicates) -> str:
    """Redraw Figures 8 and 9."""
    epsilon = certified(REPLICATES)
    figures.released(picture("8"), found, epsilon)
    figures.errors_and_scores(picture("9"), found)
    once = one_shot(epsilon) * (100 / ROWS) ** 2
    each = found.noise / REPLICATES
    facts = {"more": 100 * found.sampling / REPLICATES / each, "epsilon": epsilon, "ratio": once / each}
    facts["error"], facts["theirs"] = (200 * (0.8 * 0.2 / many) ** 0.5 for many in (EIGHTH, THERE))
    facts["all"] = 100 * found.sampling / REPLICATES / (found.sampling + each)
    text = AGES.format(replicates=REPLICATES, simulations=EIGHTH, there=THERE, **facts)
    for kind, (hit, width) in PRINTED.items():
        made = [found.coverage(kind, printed=one) for one in (False, True)]  # pyright: ignore[reportArgumentType]
        # what is promised: the printed figures come out within 2 points and 3%
        assert abs(made[0][0] - hit) < 2
        assert abs(made[0][1] / width - 1) < 0.03
        cells = " | ".join(f"{covered:.1f} / {wide:.2f}" for covered, wide in made)
        text += f"\n| {kind} | {hit:.1f} / {width:.2f} | {cells} |"
    return text


def held() -> str:
    """Return the table of statements on cost: published, and as they come out."""
    law, each = Resampling(rows=ROWS), Fraction(1, REPLICATES)
    cost, claim = certify(law, REPLICATES, each), PublishedClaim(RHO)
    rows = [
        (
            "cost of 50 replicates, ρ = 0.5 (Result 1)",
            f"ε = {float(claim.gaussian_epsilon(DELTA)):.2f} to {float(claim.epsilon(DELTA)):.2f} at δ = 1e-6",
            f"ε = {float(cost.epsilon(DELTA)):.2f}, certified",
        )
    ]
    for epsilon in LOSSES_AT:
        least, error = lower_bound(epsilon)
        normal = claim_delta(epsilon)
        rows.append(
            (
                f"δ at ε = {epsilon:g}",
                f"{normal:.2e}",
                f"{least:.2e} ± {error:.1e} of one pair, simulated; {float(cost.delta(str(epsilon))):.2e}, certified",
            )
        )
    for k in (REPLICATES, 1_000, 20_000):
        constant = effective_constant(certify(law, k, Fraction(1, k)), DELTA)
        rows.append((f"effective constant, k = {k:,}, δ = 1e-6", "1", f"{constant:.3f} (limit 2 − 2/e = 1.264)"))
    begun = time.perf_counter()
    certify(Resampling(rows=ROWS + 1), 1_000, Fraction(1, 1_001)).epsilon(DELTA)
    middle = time.perf_counter()
    calibrate(Resampling(rows=ROWS + 1), replicates=1_000, price=Cost.of(epsilon=1, delta="1e-6"))
    rows.append(("seconds to account for 1,000 replicates, and to find their noise", "–", ""))
    took = f"{middle - begun:.1f} and {time.perf_counter() - middle:.1f}"
    rows[-1] = (*rows[-1][:2], took)
    return HELD + "".join(f"\n| {' | '.join(row)} |" for row in rows)


def claim_delta(epsilon: float) -> float:
    """Return the delta at epsilon of one normal at the claimed rho: the least that the claim could mean."""
    from scipy.stats import norm

    mu = float(2 * RHO) ** 0.5
    return float(norm.cdf(mu / 2 - epsilon / mu) - np.exp(epsilon) * norm.cdf(-mu / 2 - epsilon / mu))


def main() -> None:
    """Write the page and its pictures."""
    people = np.clip(np.asarray(pq.read_table(arguments().people, columns=["age"])["age"]), 0, 100).astype(np.int64)
    parts = [TOP, attack(), normal_noise(), capped(people), "", intervals(), of_ages(ages(people, EIGHTH)), "", held()]
    written(PAGE, parts)


if __name__ == "__main__":
    main()
