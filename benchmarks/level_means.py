"""Means of every node of a tree of levels: coverage, and standard errors beside a node's own release.

    python benchmarks/level_means.py --repeats 200

Writes a part of docs/reference/combining.md in a few minutes.  The trees, prices and laws below were committed before
one of them was simulated.  Seeds are constants; noise is the operating system's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
from pages import by_repeats

import tacit as tc

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "combining.md"
SCHEMA: Final = tc.Schema({"score": tc.Real(0, 100)})
PRICES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("replace-one", {"epsilon": 0.1}),
    ("replace-one", {"epsilon": 1}),
    ("add-remove", {"epsilon": 0.5}),
    ("add-remove", {"epsilon": 2}),
    ("replace-one", {"rho": 0.01}),
    ("add-remove", {"epsilon": 1, "delta": 1e-6}),
)

SYMBOLS: Final = {"epsilon": "ε", "delta": "δ", "rho": "ρ"}


@dataclass(frozen=True)
class Design:
    """A tree: rows of each school by state, the law of their scores, and which levels release."""

    name: str
    states: tuple[tuple[int, ...], ...]
    law: str
    levels: tuple[str, ...]

    def scores(self, rng: np.random.Generator, school: int, rows: int) -> Any:
        """Return a sample of one school."""
        if self.law == "normal":
            return rng.normal(35 + 5 * (school % 7), 15, rows).clip(0, 100)
        if self.law == "skewed":
            return rng.gamma(1.5, 6 + school % 4, rows).clip(0, 100)
        return 100.0 * (rng.random(rows) < 0.05 + 0.1 * (school % 5))


DESIGNS: Final = (
    Design("uneven", ((400, 60), (900, 200, 40)), "normal", ("school", "state", "nation")),
    Design("small schools", ((50,) * 6, (50,) * 6, (50,) * 6), "skewed", ("school", "nation")),
    Design("shares", ((300, 300), (300, 300)), "binary", ("school", "state", "nation")),
    Design("states alone", ((200, 100), (500,), (300, 300)), "normal", ("state",)),
)


def means_of(design: Design) -> Mapping[str, float]:
    """Return the mean of every node's law, by a million draws a school."""
    rng = np.random.default_rng(0)
    found: dict[str, float] = {}
    whole: list[tuple[float, int]] = []
    school = 0
    for i, rows in enumerate(design.states):
        own: list[tuple[float, int]] = []
        for j, n in enumerate(rows):
            found[f"{i}/{j}"] = float(design.scores(rng, school, 1_000_000).mean())
            own.append((found[f"{i}/{j}"], n))
            school += 1
        found[f"{i}"] = float(np.average([m for m, _ in own], weights=[n for _, n in own]))
        whole += own
    found["nation"] = float(np.average([m for m, _ in whole], weights=[n for _, n in whole]))
    return found


def level_of(node: str) -> str:
    """Return the level of a node's name."""
    return "nation" if node == "nation" else "school" if "/" in node else "state"


def once(design: Design, rng: np.random.Generator, neighbors: str, price: dict[str, Any]) -> tuple[Any, Any]:
    """Return the hierarchy of one draw, and the releases that made it."""
    tables: dict[str, Any] = {}
    school = 0
    for i, rows in enumerate(design.states):
        for j, n in enumerate(rows):
            tables[f"{i}/{j}"] = design.scores(rng, school, n)
            school += 1
        tables[f"{i}"] = np.concatenate([tables[f"{i}/{j}"] for j in range(len(rows))])
    tables["nation"] = np.concatenate([tables[f"{i}"] for i in range(len(design.states))])
    parents = {node: node.partition("/")[0] if "/" in node else "nation" for node in tables if node != "nation"}
    budget = tc.Budget(**price, neighbors=neighbors)
    given = {
        node: tc.Curator({"score": rows}, SCHEMA, name=node, budget=budget).release(tc.Mean("score"), **price)
        for node, rows in tables.items()
        if level_of(node) in design.levels
    }
    return tc.hierarchy(given, parents), given


def lines(repeats: int) -> Iterator[str]:
    """Yield the table."""
    yield "| tree | releases | price | level | answers | coverage | SE ÷ SD | SE ÷ its own release's |"
    yield "|---|---|---|---|---:|---:|---:|---:|"
    for design in DESIGNS:
        truth = means_of(design)
        for neighbors, price in PRICES:
            rng = np.random.default_rng(17)
            found: dict[str, list[tuple[bool, bool, float, float, float]]] = {}
            for _ in range(repeats):
                tree, given = once(design, rng, neighbors, price)
                for node, mean in truth.items():
                    one = tree.estimate(node)
                    low, high = one.conf_int()
                    own = given[node].estimate().std_error if node in given else np.nan
                    line = (
                        one.reason is None,
                        low <= mean <= high,
                        one.value - mean,
                        one.std_error,
                        one.std_error / own,
                    )
                    found.setdefault(node, []).append(line)
            said = ", ".join(f"{'ρ' if k == 'rho' else 'δ' if k == 'delta' else 'ε'} = {v:g}" for k, v in price.items())
            yield from _levels(design, f"{said}, {neighbors}", found)


def _levels(design: Design, price: str, found: Mapping[str, list[Any]]) -> Iterator[str]:
    for level in ("nation", "state", "school"):
        nodes = [node for node in found if level_of(node) == level]
        every = [one for node in nodes for one in found[node]]
        told = [one for one in every if one[0]]
        if not told:
            continue
        cover = 100 * np.mean([one[1] for one in told])
        ratios = []
        for node in nodes:
            own = [one for one in found[node] if one[0]]
            if len(own) > 10:
                ratios.append(np.mean([one[3] for one in own]) / np.std([one[2] for one in own]))
        gain = [one[4] for one in told if np.isfinite(one[4])]
        shown = f"{np.median(gain):.2f}" if gain else "–"
        ratio = f"{np.median(ratios):.2f}" if ratios else "–"
        yield (
            f"| {design.name} | {', '.join(design.levels)} | {price} | {level} | {100 * len(told) / len(every):.0f}% "
            f"| {cover:.1f} | {ratio} | {shown} |"
        )


def page(repeats: int) -> str:
    """Return the part of the page."""
    table = "\n".join(lines(repeats))
    return f"""
## Means over levels

`tc.hierarchy` of releases of `Mean`: {repeats} draws of every tree; scores from 0 to 100. *Answers*: nodes whose
number of rows is above its noise, or public; *coverage* of 95% intervals given an answer, over all nodes of the level;
*SE ÷ SD*: the median over nodes; *SE ÷ its own release's*: 1 where the other levels add nothing.

{table}
"""


if __name__ == "__main__":
    by_repeats(PAGE, "level_means.py", __doc__, page)
