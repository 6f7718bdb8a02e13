"""Pictures of what a price means: suspicions, the best attacker, the differencing attack, composition, prices in rows.

    python benchmarks/meaning_figures.py

Writes the second half of docs/reference/meaning.md and its pictures in seconds.  The lecture notes' sections 1 to 4 by
experiment: two coins, odds, noise on a mean, a point mass, the minimax price of means.  Seeds are constants.
"""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import Final

import numpy as np
from pages import put
from published_figures import panels, saved, titled

import tacit as tc
from tacit.planning.guarantee import factor

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "meaning.md"
EPSILONS: Final = ("0.1", "0.5", "1", "2", "5")
PLACES: Final = (("10³", 10**3), ("10⁹", 10**9))
RELEASES: Final = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000)
PARTS: Final = (1, 2, 5, 10, 20, 50, 100, 200)
REPEATS: Final = 20_000


def suspicions() -> str:
    """Table of the notes' §2: what a suspicion becomes, and the best guess."""
    head = "| ε | factor e^ε | a suspicion of 50% | of 10% | of 1% | a yes or no guessed right | a PIN guessed |"
    lines = [head, "|" + "---:|" * 7]
    for epsilon in EPSILONS:
        one = tc.explain(epsilon=epsilon)
        row = one.summary().rows
        shown = [str(row[i][1]) for i in (0, 1, 2, 3, 4)]
        lines.append(f"| {epsilon} | {factor(Fraction(epsilon))} | " + " | ".join(shown) + " |")
    return "\n".join(lines)


def pictures(folder: Path) -> None:
    """Draw the pictures of the page."""
    plt, figure, ((left, right), (errors_of, people)) = panels(2, 2)
    x = np.linspace(0, 1, 201)
    values = np.unique(np.geomspace(2, 10_000, 60).round()).astype(int)
    for epsilon in EPSILONS[:4]:
        one = tc.explain(epsilon=epsilon)
        odds = [one.posterior(p)[1] for p in x]
        left.plot(x, odds, label=f"ε = {epsilon}")
        right.plot(x, [one.power(a) for a in x])
        errors_of.plot(x, [one.misses(a) for a in x])
        people.plot(values, [one.population(10_000, int(m)).on_average for m in values])
    people.plot(values, 10_000 / values, color="0.6", linestyle="--", label="by chance")
    people.set_xscale("log")
    people.set_yscale("log")
    people.legend(frameon=False, fontsize=8)
    titled(errors_of, "the same as a trade-off of errors", "false alarms", "misses, at least")
    titled(people, "10,000 people with a secret each", "values of each secret", "guessed right on average, at most")
    left.legend(frameon=False, fontsize=8)
    titled(left, "the most that a suspicion can become", "probability before", "probability after")
    titled(right, "the best test of what a row says", "false alarms", "true alarms")
    saved(plt, figure, folder / "meaning-attacker.svg")

    plt, figure, ((left, right),) = panels(1, 2)
    for epsilon in (1, 10, 100):
        found = tc.explain(epsilon=epsilon).differencing()
        errors = found.guesses - found.scores
        left.hist(errors, bins=np.linspace(-100, 100, 81), density=True, histtype="step", label=f"ε = {epsilon}")
    left.legend(frameon=False, fontsize=8)
    titled(left, "the differencing attack: best guesses", "error of Alice's score, points", "density")
    made = tc.explain(epsilon="0.1").composition(RELEASES)
    for rule in made.rules:
        right.plot(RELEASES, rule.epsilon, label=rule.rule)
    right.set_xscale("log")
    right.set_yscale("log")
    right.legend(frameon=False, fontsize=7)
    titled(right, "k releases of ε = 0.1, at δ = 10⁻⁶", "k", "ε together")
    saved(plt, figure, folder / "meaning-attack.svg")

    plt, figure, ((coin, parts),) = panels(1, 2)
    prices = np.geomspace(0.1, 5, 40).round(3)
    plans = [tc.local.Warner(epsilon=float(e)).plan(1_000, share=0.1) for e in prices]
    coin.plot(prices, [one.std_error for one in plans], label="randomised by each person")
    coin.plot(prices, [one.central for one in plans], label="a trusted curator")
    coin.plot(prices, [one.sampling for one in plans], color="0.6", linestyle="--", label="true answers")
    coin.set_xscale("log")
    coin.set_yscale("log")
    coin.legend(frameon=False, fontsize=8)
    titled(coin, "a share of 10% from 1,000 answers", "ε", "standard error")
    split = tc.explain(epsilon=1, delta=1e-6).partition(PARTS)
    for i, rule in enumerate(split.rules):
        parts.plot(PARTS, split.variance(rule), ("-", "--", ":", "-.")[i % 4], label=rule)
    parts.set_xscale("log")
    parts.set_yscale("log")
    parts.legend(frameon=False, fontsize=6)
    titled(parts, "average of k releases, ε = 1, δ = 10⁻⁶ together", "k", "variance of the noise")
    saved(plt, figure, folder / "meaning-parts.svg")


def notes_figures(folder: Path) -> None:
    """Draw the notes' figure 1, and what their §3 and §4 say, as pictures."""
    plt, figure, ((answers, noise), (place, price)) = panels(2, 2)
    z = np.linspace(42, 62, 401)
    for mean, words in ((50.0, "table D"), (51.0, "its neighbour D′")):
        answers.plot(z, np.exp(-np.abs(z - mean)) / 2, label=words)
    answers.legend(frameon=False, fontsize=8)
    titled(answers, "an answer on two neighbouring tables, ε = 1", "answer", "density: a factor of e at most")
    n = np.geomspace(10, 100_000, 60)
    for half in (1, 10, 100):
        # the mean of values in [-B, B] moves by 2B/n: Laplace noise of that scale over ε = 1
        noise.plot(n, np.sqrt(2) * 2 * half / n, label=f"B = {half}")
    noise.plot(n, n**-0.5, color="0.6", linestyle="--", label="1/√n, sampling at sd 1")
    noise.set_xscale("log")
    noise.set_yscale("log")
    noise.legend(frameon=False, fontsize=8)
    titled(noise, "noise on a mean of values in [−B, B], ε = 1", "n", "standard deviation")
    rows = range(1, 61)
    for name, places in PLACES:
        place.plot(rows, [tc.explain(epsilon=1).point_mass(k, places) for k in rows], label=f"{name} places")
    place.legend(frameon=False, fontsize=8)
    titled(place, "a point mass found, at most, ε = 1", "rows", "probability")
    for d, colour in ((1, "tab:blue"), (10, "tab:orange")):
        made = tc.explain(epsilon=1).minimax(columns=d)
        price.plot(n, [made.sampling(k) for k in n.astype(int)], color=colour, label=f"d = {d}: sampling, d/n")
        price.plot(n, [made.privacy(k) for k in n.astype(int)], "--", color=colour, label=f"d = {d}: privacy, d³/(nε)²")
    price.set_xscale("log")
    price.set_yscale("log")
    price.legend(frameon=False, fontsize=7)
    titled(price, "the minimax price of d means, ε = 1", "n", "squared error, order")
    saved(plt, figure, folder / "meaning-notes.svg")


def point_mass() -> str:
    """Table of the notes' §4: whether any release can tell where a point mass lies."""
    lines = ["| places | rows | probability of the right place, at most |", "|---:|---:|---:|"]
    for rows in (10, 20, 50, 100):
        lines += [
            f"| {name} | {rows} | {tc.explain(epsilon=1).point_mass(rows, places):.3g} |" for name, places in PLACES
        ]
    return "\n".join(lines)


def coins() -> str:
    """Table of the notes' §1: a coin that forces a yes beside Warner's, at one probability θ of being asked."""
    lines = [
        "| θ | forced yes: P(no \\| yes) | forced yes: ε | either, by a fair coin: ε | SE, 1,000 answers, 10% yes |",
        "|---:|---:|---:|---:|---:|",
    ]
    for theta in ("0.1", "0.25", "0.5", "0.75"):
        design = tc.local.ForcedResponse(truth=theta)
        error = design.plan(1_000, share=0.1).std_error
        lines.append(f"| {theta} | 0 | none | {float(design.epsilon):.3f} | {error:.3f} |")
    return "\n".join(lines)


def means() -> str:
    """Table of the notes' §3 and §4: squared error of d means with Laplace noise, over the order."""
    rng = np.random.default_rng(4)
    lines = ["| d | n | d/n | d³/(n²ε²) | noise, simulated | over the order |", "|---:|---:|---:|---:|---:|---:|"]
    for d in (1, 10):
        made = tc.explain(epsilon=1).minimax(columns=d)
        for n in (100, 10_000):
            noise = rng.laplace(0, d / n, (REPEATS, d))
            error = float((noise**2).sum(axis=1).mean())
            order = made.privacy(n)
            lines.append(f"| {d} | {n:,} | {made.sampling(n):.3g} | {order:.3g} | {error:.3g} | {error / order:.2f} |")
    return "\n".join(lines)


def page() -> str:
    """Return the part of the page."""
    return f"""
## The lecture notes in pictures

Their figure 1 (§2), and what §3 and §4 say of a mean, a point mass and d means; §1 is the section that follows.

![Answers on two tables, noise on a mean, a point mass, the minimax price](meaning-notes.svg)

## Two coins

The lecture notes' §1 asks a question with probability θ and has everybody else say *yes*. Whoever says *no* has then
proven innocence: the likelihood ratio of a *no* is infinite, and no ε holds. Forced by a fair coin to either answer,
both answers are deniable.

{coins()}

Left: what it costs to trust nobody. Right: one price spent at once or in k equal parts, rule by rule
[Brawner & Honaker 2018, §3] (`tc.explain(epsilon=1, delta=1e-6).partition()`).

![Randomised answers beside a curator's noise, and a price in parts](meaning-parts.svg)

## Suspicions

{suspicions()}

Replace-one, pure ε. A secret of 10,000 equally likely values (a PIN) is guessed with 0.01 % by chance.
Below: what a suspicion can become, the best attacker's ROC and trade-off curves, and a population of secrets.

![The best attacker](meaning-attacker.svg)

## The differencing attack and composition

Left: errors of the attacker's best guess of one person's score from two published class means [Brawner & Honaker 2018,
§2.1]; without noise every error is 0. Right: what k releases cost together, rule by rule.

![The differencing attack, and composition](meaning-attack.svg)

## A point mass

All rows lie at one of so many places. The probability with which *any* answer of ε = 1 names the place is at most
e^(nε) / (m - 1 + e^(nε)): with a continuum of places it is nothing for any n, as the lecture notes' §4 says; with
finitely many places it is 1 as soon as nε is well above ln m, so on a fixed grid the statement is false.

{point_mass()}

## Means

Noise on d means of values in [0, 1], replace-one, Laplace of scale d/(nε) each; {REPEATS:,} draws. The order
d/n + d³/(n²ε²) is the lecture notes' §4 [Barber & Duchi 2014]; independent noise has twice its second term.

{means()}
"""


if __name__ == "__main__":
    pictures(PAGE.parent)
    notes_figures(PAGE.parent)
    put(PAGE, "meaning_figures.py", page())
