"""Laws of every node of a tree of levels: coverage, and standard errors beside a node's own release.

    python benchmarks/level_laws.py --repeats 100

Writes a part of docs/reference/combining.md in some ten minutes.  The trees, prices and laws below were committed
before one of them was simulated.  Seeds are constants; noise is the operating system's.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import numpy as np
import polars as pl
from pages import by_repeats

import tacit as tc
from tacit.method.sufficient_statistics.estimate import map_of

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "combining.md"
PRICES: Final[tuple[tuple[str, dict[str, Any]], ...]] = (
    ("replace-one", {"epsilon": 0.2}),
    ("replace-one", {"epsilon": 1}),
    ("add-remove", {"epsilon": 1}),
    ("replace-one", {"rho": 0.02}),
)
WAIT: Final = tc.Schema({"x": tc.Real(0, 40)})
GAMMA: Final = tc.SufficientStatistics(
    "x", tc.families.Gamma(shape=(0.3, 10), rate=(0.02, 4)), bounds={"log(x)": (-4, 4), "x": (0.02, 40)}
)
NORMAL: Final = tc.SufficientStatistics("x", tc.families.Normal(mean=(0, 100), sd=(1, 60)))
POISSON: Final = tc.SufficientStatistics("x", tc.families.Poisson(mean=(0.05, 15)))


@dataclass(frozen=True)
class Design:
    """A tree: expected rows of each school by state, parameters of each school in turn, and which levels release.

    drawn: whether the numbers of rows of schools are drawn, so that all rows are a sample of the mixture, or fixed.
    """

    name: str
    states: tuple[tuple[int, ...], ...]
    query: Any
    schema: Any
    laws: tuple[tuple[float, ...], ...]
    levels: tuple[str, ...]
    drawn: bool = False

    @property
    def schools(self) -> dict[str, tuple[int, tuple[float, ...]]]:
        """Expected rows and parameters of each school."""
        names = [(f"{i}/{j}", n) for i, rows in enumerate(self.states) for j, n in enumerate(rows)]
        return {name: (n, self.laws[k % len(self.laws)]) for k, (name, n) in enumerate(names)}

    def rows(self, rng: np.random.Generator, law: tuple[float, ...], n: int) -> Any:
        """Return a sample of one school."""
        if self.query is GAMMA:
            return rng.gamma(law[0], 1 / law[1], n)
        return rng.normal(law[0], law[1], n) if self.query is NORMAL else rng.poisson(law[0], n)


EVERY: Final = ("school", "state", "nation")
DESIGNS: Final = (
    Design("one Gamma law", ((600, 1_500), (3_000, 400, 900)), GAMMA, WAIT, ((2.0, 0.4),), EVERY),
    Design(
        "Gamma laws, drawn sizes",
        ((1_500, 2_500), (1_000, 3_000)),
        GAMMA,
        WAIT,
        ((1.0, 0.2), (3.0, 0.5), (2.0, 0.8), (5.0, 0.7)),
        EVERY,
        drawn=True,
    ),
    Design(
        "Normal laws, drawn sizes",
        ((700, 300), (500, 1_500)),
        NORMAL,
        tc.Schema({"x": tc.Real(0, 100)}),
        ((40.0, 10.0), (55.0, 15.0), (60.0, 8.0)),
        EVERY,
        drawn=True,
    ),
    Design("Normal laws, fixed sizes", ((700, 300), (500, 1_500)), NORMAL, tc.Schema({"x": tc.Real(0, 100)}),
           ((40.0, 10.0), (55.0, 15.0), (60.0, 8.0)), EVERY),
    Design(
        "Poisson rates, small schools",
        ((120,) * 5, (120,) * 5),
        POISSON,
        tc.Schema({"x": tc.Integer(0, 20)}),
        ((2.0,), (3.0,), (5.0,)),
        ("school", "nation"),
        drawn=True,
    ),
)  # fmt: skip


def level_of(node: str) -> str:
    """Return the level of a node's name."""
    return "nation" if node == "nation" else "school" if "/" in node else "state"


def truth_of(design: Design, some: Any) -> Mapping[str, Any]:
    """Return the parameters of every node: a school's own, else those of the law with the mixture's mean statistics."""
    map_ = map_of(some)
    schools = design.schools
    found: dict[str, Any] = {name: np.array(law) for name, (_, law) in schools.items()}
    for node in ("nation", *(str(i) for i in range(len(design.states)))):
        own = [one for name, one in schools.items() if node == "nation" or name.startswith(f"{node}/")]
        means = np.array([map_.at(np.array(law)).mean for _, law in own])
        mixed = np.average(means, axis=0, weights=[n for n, _ in own])
        found[node] = map_.solve(mixed, np.ones(len(mixed)) * 1e-6).theta
    return found


def once(design: Design, rng: np.random.Generator, neighbors: Any, price: dict[str, Any]) -> tuple[Any, Any]:
    """Return the hierarchy of one draw, and the releases that made it."""
    schools = design.schools
    sizes = [n for n, _ in schools.values()]
    if design.drawn:
        sizes = rng.multinomial(sum(sizes), np.array(sizes) / sum(sizes)).tolist()
    tables = {name: design.rows(rng, law, n) for (name, (_, law)), n in zip(schools.items(), sizes, strict=True)}
    for i, rows in enumerate(design.states):
        tables[f"{i}"] = np.concatenate([tables[f"{i}/{j}"] for j in range(len(rows))])
    tables["nation"] = np.concatenate([tables[f"{i}"] for i in range(len(design.states))])
    parents = {node: node.partition("/")[0] if "/" in node else "nation" for node in tables if node != "nation"}
    budget = tc.Budget(**price, neighbors=neighbors)
    given = {
        node: tc.Curator(pl.DataFrame({"x": rows}), design.schema, name=node, budget=budget).release(
            design.query, **price
        )
        for node, rows in tables.items()
        if level_of(node) in design.levels
    }
    return tc.hierarchy(given, parents), given


def lines(repeats: int) -> Iterator[str]:
    """Yield the table."""
    yield "| tree | releases | price | level | parameter | answers | coverage | SE ÷ SD | SE ÷ its own release's |"
    yield "|---|---|---|---|---|---:|---:|---:|---:|"
    for design in DESIGNS:
        for neighbors, price in PRICES:
            rng = np.random.default_rng(18)
            found: dict[tuple[str, str], list[Any]] = {}
            truth: Mapping[str, Any] = {}
            for _ in range(repeats):
                tree, given = once(design, rng, neighbors, price)
                truth = truth or truth_of(design, next(iter(given.values())))
                for node, value in truth.items():
                    one = tree.estimate(node)
                    ends = np.asarray(one.conf_int()).reshape(-1, 2)
                    own = given[node].estimate().std_errors if node in given else np.full(len(value), np.nan)
                    for k, term in enumerate(one.terms):
                        line = (
                            one.reasons[k] is None,
                            ends[k][0] <= value[k] <= ends[k][1],
                            one.values[k] - value[k],
                            one.std_errors[k],
                            one.std_errors[k] / own[k],
                        )
                        found.setdefault((node, term), []).append(line)
            said = ", ".join(f"{'ρ' if k == 'rho' else 'ε'} = {v:g}" for k, v in price.items())
            yield from _levels(design, f"{said}, {neighbors}", found)


def _levels(design: Design, price: str, found: Mapping[tuple[str, str], list[Any]]) -> Iterator[str]:
    terms = dict.fromkeys(term for _, term in found)
    for level, term in ((level, term) for level in ("nation", "state", "school") for term in terms):
        nodes = [own for (node, name), own in found.items() if level_of(node) == level and name == term]
        every = [one for own in nodes for one in own]
        told = [one for one in every if one[0]]
        if not told:
            continue
        ratios: list[float] = []
        for node in nodes:
            own = [one for one in node if one[0]]
            if len(own) > 10:
                ratios.append(float(np.median([one[3] for one in own]) / np.std([one[2] for one in own])))
        gain = [one[4] for one in told if np.isfinite(one[4])]
        shown = f"{np.median(gain):.2f}" if gain else "–"
        ratio = f"{np.median(ratios):.2f}" if ratios else "–"
        cover = 100 * np.mean([one[1] for one in told])
        yield (
            f"| {design.name} | {', '.join(design.levels)} | {price} | {level} | {term} "
            f"| {100 * len(told) / len(every):.0f}% | {cover:.1f} | {ratio} | {shown} |"
        )


def page(repeats: int) -> str:
    """Return the part of the page."""
    table = "\n".join(lines(repeats))
    return f"""
## Laws over levels

`tc.hierarchy` of releases of `SufficientStatistics`: {repeats} draws of every tree. A state's and the nation's
parameters are those of the law with the mean statistics of all their rows. *Answers*: nodes whose number of rows is
above its noise, or public; *coverage* of 95% intervals given an answer, over all nodes of the level; *SE ÷ SD*: the
median standard error, the median over nodes; *SE ÷ its own release's*: 1 where the other levels add nothing. With
drawn sizes all rows are a sample of the mixture, as the intervals take them; with fixed sizes less varies, and
intervals of a mixture are conservative.

{table}
"""


if __name__ == "__main__":
    by_repeats(PAGE, "level_laws.py", __doc__, page)
