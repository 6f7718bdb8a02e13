"""How often groups to which nobody belongs have a number in place of a reason, in combined releases.

    python benchmarks/empty_groups.py [--repeats N]

Two groups have rows and a third has none, in every party.  Written down before any of it was simulated but for three
and eight parties at epsilon = 1, with which the defect was found.  Noise is drawn anew in each simulation.
`number`: share of simulations with no reason for the empty group, in per cent; `told`: of the others' means.
"""

from __future__ import annotations

import argparse

import numpy as np

import tacit as tc

SCHEMA = tc.Schema({"g": tc.Category(["a", "b", "nobody"]), "x": tc.Real(0, 100)})
QUESTIONS = {"mean": tc.Mean("x", by="g"), "variance": tc.Variance("x", by="g")}
DESIGNS = ((2, 300, 1.0), (3, 300, 1.0), (8, 300, 1.0), (8, 300, 0.2), (25, 100, 1.0), (60, 60, 0.5))
"""Parties, rows of each and epsilon."""


def simulated(
    parties: int, rows: int, epsilon: float, question: str, effects: str, repeats: int
) -> tuple[float, float]:
    """Return the shares of simulations with a number for the empty group, and of the others' means that are told."""
    rng, numbers, told = np.random.default_rng([15, parties, rows]), list[bool](), list[bool]()
    for _ in range(repeats):
        releases = {}
        for party in range(parties):
            table = {"g": rng.choice(["a", "b"], rows), "x": rng.gamma(2, 10, rows)}
            curator = tc.Curator(table, SCHEMA, name=f"p{party}", budget=tc.Budget(epsilon=1_000))
            releases[f"p{party}"] = curator.release(QUESTIONS[question], epsilon=str(epsilon))
        made = tc.combine(releases, effects=effects).estimate()
        for term, reason in zip(made.terms, made.reasons, strict=True):
            (numbers if term == "nobody" else told).append(reason is None)
    return float(np.mean(numbers)), float(np.mean(told))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=100)
    given = parser.parse_args()
    print(f"{given.repeats} simulations a row")
    print("| question | effects | parties | rows | ε | number, % | told, % |\n|---|---|---:|---:|---:|---:|---:|")
    for question in QUESTIONS:
        for effects in ("common", "random"):
            for parties, rows, epsilon in DESIGNS:
                repeats = max(10, given.repeats * 8 // max(parties, 8))
                number, told = simulated(parties, rows, epsilon, question, effects, repeats)
                words = (question, effects, str(parties), str(rows), f"{epsilon:g}")
                print(f"| {' | '.join(words)} | {100 * number:.1f} | {100 * told:.1f} |", flush=True)


if __name__ == "__main__":
    main()
