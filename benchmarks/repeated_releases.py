"""Repeated releases of one quantity: the tables of docs/reference/repeated-releases.md.

    python benchmarks/repeated_releases.py [--repeats 1000] [--parts splitting coverage]

*splitting*: the variance of the average of k releases of equal price beside one release at the whole price, under
each rule of composition.  *coverage*: 95% intervals of `tc.average`, with real noise.  The designs were committed
before any of them was simulated.
"""

from __future__ import annotations

import math
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from dp_accounting.pld import privacy_loss_distribution as pld
from pages import Part, asked, part_by_part, put
from scipy import optimize, stats
from selected_answers import GROUPS, LEAST, Law, column, of, price, share

import tacit as tc
from tacit.privacy.gaussian import epsilon_delta_to_mu_squared

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "repeated-releases.md"
INTRO = """# Repeated releases of one quantity

Several releases of one quantity of the same people, averaged by `tc.average(…)` with weights inverse to the variances
of their noises.  Written by `python benchmarks/repeated_releases.py`, whose designs were committed before one of them
was simulated.
"""
DELTA, EPSILON = 1e-6, 1.0
NUMBERS = (1, 2, 5, 10, 20, 50, 100, 200)
LAWS = {"share .3": share(0.3), "Beta(2, 2)": of(stats.beta(2, 2))}
SPLITS = {
    "ε = 1 in 2": ("epsilon=0.5",) * 2,
    "ε = 1 in 5": ("epsilon=0.2",) * 5,
    "ε = .1, .2, .7": ("epsilon=0.1", "epsilon=0.2", "epsilon=0.7"),
    "ρ = .05 in 5": ("rho=0.01",) * 5,
    "ε = .3 and ρ = .02": ("epsilon=0.3", "rho=0.02"),
}
SIZES = (100, 1_000)
SPLIT_HEAD = (
    "| k | pure | advanced, as printed | advanced, by its theorem | exact composition | zero-concentrated |\n"
    "|---:|---:|---:|---:|---:|---:|"
)
SPLIT_TEXT = f"""## One release, or k of equal price

Variance of the average of k releases of one sum over the variance of a single Laplace release at ε = {EPSILON:g}.

- *Pure*: ε / k each.
- *Advanced*: the factor ln(1/δ) that [Brawner & Honaker 2018, equation 12] prints, and what the theorem of advanced
  composition gives for ε = {EPSILON:g}, δ = 10⁻⁶.
- *Exact composition*: the largest ε of each of k Laplace releases whose composition is ({EPSILON:g}, 10⁻⁶), from its
  privacy-loss distribution.
- *Zero-concentrated*: of normal noise with the ρ of a single normal release at that pair, which the number of releases
  does not change.
"""
COVER_HEAD = (
    "| law of rows | rows of each group | prices | one question, % | estimates, % | noise, one release = 1 "
    "| as expected | no answer, % |\n"
    "|---|---:|---|---:|---:|---:|---:|---:|"
)
COVER_TEXT = """## Coverage

95% intervals of means of groups, of releases averaged as answers to one question and as estimates; rows are a sample.
*Noise*: the variance of the error that is due to noise, beside one release at the whole price (of the last design: at
the sum of its ρ), and what the weights promise.  ± is twice the error of the simulation; bold is clearly below 93%.
"""


def advanced(k: int) -> float:
    """Return the largest ε of each of k releases by Dwork, Rothblum and Vadhan's theorem, or by adding up."""

    def total(e: float) -> float:
        return min(k * e, math.sqrt(2 * k * math.log(1 / DELTA)) * e + k * e * math.expm1(e))

    return float(optimize.brentq(lambda e: total(e) - EPSILON, 1e-9, EPSILON, xtol=1e-12))


def exact(k: int) -> float:
    """Return the largest ε of each of k Laplace releases whose composition has the pair."""

    def delta(e: float) -> float:
        one = pld.from_laplace_mechanism(1 / e, value_discretization_interval=1e-4)
        return one.self_compose(k).get_delta_for_epsilon(EPSILON)

    if k == 1:
        return float(
            optimize.brentq(lambda e: math.log(max(delta(e), 1e-30) / DELTA), EPSILON, 1.1 * EPSILON, xtol=1e-5)
        )
    return float(optimize.brentq(lambda e: math.log(max(delta(e), 1e-30) / DELTA), EPSILON / k, EPSILON, xtol=1e-5))


def split(k: int) -> str:
    """Return the row of k releases; the mean of k Laplace variables of scale 1 / e has variance 2 / (k e**2)."""
    whole = 2 / EPSILON**2
    mu_squared = float(epsilon_delta_to_mu_squared(1, "1e-6"))
    found = (
        float(k),
        math.log(1 / DELTA) if k > 1 else 1.0,
        2 / (k * advanced(k) ** 2) / whole,
        2 / (k * exact(k) ** 2) / whole,
        1 / mu_squared / whole,
    )
    return f"| {k} | " + " | ".join(f"{one:.2f}" for one in found) + " |"


def cover(name: str, n: int, split_: str, repeats: int) -> str:
    """Return the row of one law, size and split of the price."""
    law: Law = LAWS[name]
    levels = [f"g{i}" for i in range(GROUPS)]
    schema = tc.Schema({"x": column(law), "g": tc.Category(levels)})
    rng = np.random.default_rng(len(name) + n + len(split_))
    prices = [price(said) for said in SPLITS[split_]]
    pure = all("epsilon" in one for one in prices)
    rho = sum(one.get("rho", one.get("epsilon", 0.0) ** 2 / 2) for one in prices)
    whole = {"epsilon": sum(one["epsilon"] for one in prices)} if pure else {"rho": rho}
    hits: list[np.ndarray] = []
    noise: list[np.ndarray] = []
    promised: list[float] = []
    missing = 0.0
    for _ in range(math.ceil(repeats / GROUPS)):
        x = law.draw(rng, n * GROUPS)
        table = {"x": x > 0.5 if law.share else x, "g": np.repeat(levels, n)}
        budget: Any = tc.Budget(rho=1e3)
        curator = tc.Curator(table, schema, budget=budget)
        several = [curator.release(tc.Mean("x", by="g"), fresh=True, **one) for one in prices]
        once = curator.release(tc.Mean("x", by="g"), fresh=True, **whole).estimate()
        made = [tc.average(several), tc.average([one.estimate() for one in several])]
        told = np.array([all(why is None for why in some) for some in zip(*(one.reasons for one in made), strict=True)])
        missing += float((~told).mean())
        limits = [one.intervals()[told] for one in made]
        hits.append(np.array([(one[:, 0] <= law.mean) & (law.mean <= one[:, 1]) for one in limits]))
        own = x.reshape(GROUPS, n).mean(axis=1)
        noise.append(np.stack([made[0].values - own, once.values - own])[:, told])
        promised.append(float(np.median(made[0].privacy_variances / once.privacy_variances)))
    hit = np.concatenate(hits, axis=1)
    held, error = hit.mean(axis=1), 200 * np.sqrt(0.05 * 0.95 / hit.shape[1])
    shown = [f"{100 * p:.1f} ± {error:.1f}" for p in held]
    shown = [f"**{text}**" if 100 * p + error < LEAST else text for text, p in zip(shown, held, strict=True)]
    ratio = np.concatenate(noise, axis=1).var(axis=1)
    tail = (f"{ratio[0] / ratio[1]:.2f}", f"{np.mean(promised):.2f}", f"{100 * missing / len(hits):.0f}")
    return "| " + " | ".join((name, f"{n:,}", split_, *shown, *tail)) + " |"


def splitting() -> str:
    """Return the part that is computed, not simulated."""
    return "\n".join([SPLIT_TEXT, SPLIT_HEAD, *(split(k) for k in NUMBERS)])


def coverage(repeats: int) -> list[Part]:
    some = [(name, n, said) for name in LAWS for n in SIZES for said in SPLITS]
    return [COVER_TEXT, COVER_HEAD, *(partial(cover, *one, repeats) for one in some)]


def main() -> None:
    options = asked(__doc__, ("splitting", "coverage"), 1_000)
    if not PAGE.exists():
        PAGE.write_text(INTRO, encoding="utf-8")
    if "splitting" in options.parts:
        put(PAGE, "repeated_releases.py splitting", splitting())
    options.parts = [part for part in options.parts if part != "splitting"]
    part_by_part(options, PAGE, "repeated_releases.py", {"coverage": coverage}, INTRO)


if __name__ == "__main__":
    main()
