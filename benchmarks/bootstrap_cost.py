"""What a private bootstrap costs: docs/reference/bootstrap-cost.md.

`python benchmarks/bootstrap_cost.py` writes the page in seconds.  Nothing is simulated: all figures are computed.
"""

from __future__ import annotations

import math
import time
from fractions import Fraction
from pathlib import Path

import numpy as np
from pages import written

from tacit.privacy import Cost
from tacit.privacy.bootstrap_cost import FINE, PublishedClaim, Resampling, calibrate, certify, effective_constant
from tacit.privacy.bootstrap_profiles import mixture_profiles
from tacit.privacy.loss_distribution import composed, connect_the_dots, least_epsilon
from tacit.privacy.partition import partition_table

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "bootstrap-cost.md"
DELTA = Fraction(1, 10**6)
REPLICATES = (10, 50, 200, 1000, 20_000)
LAWS = {
    "multinomial, replace-one, 500 rows": Resampling(rows=500),
    "multinomial, replace-one, 10⁶ rows": Resampling(rows=10**6),
    "Poisson, replace-one, centred rows": Resampling("poisson", centred=True),
    "Poisson, replace-one, other rows": Resampling("poisson"),
    "Poisson, add-remove": Resampling("poisson", "add-remove"),
    "multinomial, add-remove": Resampling("multinomial", "add-remove"),
}

TOP = """# What a bootstrap costs

Written by `python benchmarks/bootstrap_cost.py`; all figures are computed, none is simulated. The proofs stand
beside the code, in `tacit.privacy.bootstrap_profiles` and `tacit.privacy.bootstrap_cost`.

A private bootstrap releases k replicates of a sum. In each a row has a secret random multiplicity M, and normal
noise of standard deviation σ is added. Its cost is the whole privacy-loss distribution of k such mixtures, each a
normal whose mean moves by M Δ, composed numerically and rounded upward throughout. A ledger of a pair (ε, δ) is
charged an *approximate part* (μ′, δ′): the profile of the bootstrap is nowhere above δ′ + (1 − δ′) times that of
μ′-GDP, so that its μ′² adds to those of other releases, and its δ′ to their δ. No ledger of ρ can be charged."""

CONSTANTS = """
## Effective constants

As many normals without resampling, with the same σ, have μ² = k Δ²/σ². The effective constant is the factor by
which their μ² must grow until they cost the same ε at δ = 1e-6 as the bootstrap is certified to cost. Here k Δ²/σ²
= 1 (claimed: ρ = 0.5). As k grows it tends to 2 − 2/e = {limit:.3f} for multinomial multiplicities [Wang, Cheng &
Awan 2022], and to 1 for Poisson multiplicities of rows that are added, or of rows whose integers are centred, so
that Δ is twice a row's largest norm: a bootstrap that costs hardly more than its noise.

| multiplicities, neighbours | {heads} |
|---|{lines}|"""

PAPER = """
## The configuration of Brawner & Honaker (2018)

n = 500 rows, k = 50 replicates, ρ = 0.5 as the paper counts, δ = 1e-6. Its claim, ρ-zCDP for all replicates
together, is false: given its multiplicity, a row of multiplicity m costs m² times what is claimed, and
zero-concentrated privacy is not amplified by chance.

| | ε at δ = 1e-6 |
|---|---:|"""

CAPPED = """
## The capped bootstrap of §6.1 and §6.2

One replicate with multiplicities cut at j and σ² = (jΔ)²(1 − 1/e)²/ρ (eq. 18), which is claimed to cost ρ = 0.5 (ε
= {claim:.2f} at δ = 1e-6; the formula lacks a factor ½, and amplifies by (1 − 1/e)²).

| cut at | certified ε, multinomial, replace-one, 500 rows | exact ε, Poisson, add-remove |
|---:|---:|---:|"""

PARTITION = """
## One release against the average of k

Noise variance in squared sensitivities for (ε, δ) = ({epsilon}, 1e-6): one release, the average of k, and their
ratio. *As printed* is ε/√(k ln(1/δ)) for each of k Laplace releases (eq. 12), a composition that no theorem grants.
Rules are at their true optimum: randomised response for any ε₀-DP releases, privacy-loss distributions for Laplace
noise, the best Rényi order for ρ. With normal noise averaging costs nothing, and gains nothing.

| rule | one release | {heads} |
|---|---:|{lines}|"""

SPEED = """
## Seconds

On the machine that wrote this page: the cost of 1,000 replicates {cost:.1f} s, noise for (1, 1e-6) and 1,000
replicates {noise:.1f} s."""


def constants() -> str:
    """Return the table of effective constants."""
    heads = " | ".join(f"k = {k:,}" for k in REPLICATES)
    text = CONSTANTS.format(limit=2 - 2 / math.e, heads=heads, lines="---:|" * (len(REPLICATES) - 1) + "---:")
    for name, law in LAWS.items():
        found = (effective_constant(certify(law, k, Fraction(1, k)), DELTA) for k in REPLICATES)
        text += f"\n| {name} | {' | '.join(f'{one:.3f}' for one in found)} |"
    return text


def needed(replicates: int) -> float:
    """Return the ε of two tables of 500 rows: one has a row at Δ, all other rows of both are 0."""
    p, mu = LAWS["multinomial, replace-one, 500 rows"].probabilities(), replicates**-0.5
    orders = mixture_profiles(p[:-1], np.arange(len(p) - 1) * mu, float(p[-1]))
    both = (orders, orders[::-1])
    return max(
        least_epsilon(composed(connect_the_dots(*one, mu / FINE), replicates, float(DELTA)), float(DELTA))
        for one in both
    )


def paper() -> str:
    """Return the cost of the configuration of the paper, beside its claim."""
    each, claim = Fraction(1, 50), PublishedClaim.of(replicates=50, mu_squared=Fraction(1, 50))
    certified = certify(LAWS["multinomial, replace-one, 500 rows"], 50, each)
    rows = {
        "claimed (not certified), as one normal": claim.gaussian_epsilon(DELTA),
        "claimed (not certified), by conversion of ρ": claim.epsilon(DELTA),
        "needed by one pair of tables: a row 0 or Δ, all others 0": needed(50),
        "**certified**, multinomial, replace-one": certified.epsilon(DELTA),
        "certified, Poisson, add-remove (exact)": certify(LAWS["Poisson, add-remove"], 50, each).epsilon(DELTA),
        "certified, Poisson, replace-one, centred rows": certify(
            LAWS["Poisson, replace-one, centred rows"], 50, each
        ).epsilon(DELTA),
    }
    part = certified.part(Fraction(1, 10**7))
    table = "".join(f"\n| {name} | {float(epsilon):.2f} |" for name, epsilon in rows.items())
    return f"{PAPER}{table}\n\nWith multinomial multiplicities a ledger of (ε, δ) is charged the part {part}."


def capped() -> str:
    """Return the cost of the capped bootstrap."""
    rho = Fraction(1, 2)
    text = CAPPED.format(claim=float(PublishedClaim(rho).epsilon(DELTA)))
    for most in (1, 2, 3, 5, 8):
        each = rho / (most**2 * Fraction(1 - math.exp(-1)).limit_denominator(10**9) ** 2)
        drawn = certify(Resampling(rows=500, most=most), 1, each).epsilon(DELTA)
        added = certify(Resampling("poisson", "add-remove", most=most), 1, each).epsilon(DELTA)
        text += f"\n| {most} | {float(drawn):.2f} | {float(added):.2f} |"
    return text


def partition(epsilon: Fraction) -> str:
    """Return the table of one release against the average of k."""
    counts = (10, 50, 1000)
    heads = " | ".join(f"k = {k:,} | ratio" for k in counts)
    text = PARTITION.format(epsilon=epsilon, heads=heads, lines="---:|" * (2 * len(counts) - 1) + "---:")
    tables = [partition_table(epsilon, DELTA, k) for k in counts]
    for same in zip(*tables, strict=True):
        cells = " | ".join(f"{one.average:,.1f} | {one.inflation:,.1f}" for one in same)
        text += f"\n| {same[0].rule} | {same[0].one_shot:,.1f} | {cells} |"
    return text


def speed() -> str:
    """Return how long the cost and the noise of 1,000 replicates take."""
    law, began = Resampling(rows=501), time.perf_counter()
    certify(law, 1000, Fraction(1, 1001)).epsilon(DELTA)
    middle = time.perf_counter()
    calibrate(law, replicates=1000, price=Cost.of(epsilon=1, delta="1e-6"))
    return SPEED.format(cost=middle - began, noise=time.perf_counter() - middle)


if __name__ == "__main__":
    written(PAGE, [TOP, constants(), paper(), capped(), partition(Fraction(1)), speed()])
