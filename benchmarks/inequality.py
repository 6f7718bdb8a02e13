"""Coverage of Gini coefficients and Lorenz curves from the cells of a histogram; writes docs/reference/inequality.md.

    python benchmarks/inequality.py [--repeats 200] [--laws 0,1,…] [--read FILE] [--write]

Five laws, two sizes, three numbers of bins in turn and three prices in turn; a histogram of 1/ε-noise and its default
estimates.  The designs were committed before any was simulated.  Truths are of values clamped to the bounds, from
4,000,000 draws.  `answer`: share with an estimate; `held`: of those, 95% intervals with the truth.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import tacit as tc
from tacit.testing import simulate

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "inequality.md"
AT = (0.2, 0.5, 0.9)
SIZES = (1_000, 10_000)
BINS = (20, 50, 150)
PRICES: tuple[dict[str, Any], ...] = ({"epsilon": 1}, {"rho": 0.05}, {"epsilon": 0.3})


@dataclass(frozen=True)
class Law:
    words: str
    draw: Callable[[np.random.Generator, int], np.ndarray]
    upper: float


LAWS = (
    Law("lognormal, sd of log 0.6", lambda g, n: 30_000 * g.lognormal(0, 0.6, n), 200_000),
    Law("gamma of shape 2", lambda g, n: 12_000 * g.gamma(2, 1, n), 150_000),
    Law("uniform", lambda g, n: g.uniform(0, 100, n), 100),
    Law("30% zeros, else gamma of shape 3", lambda g, n: np.where(g.random(n) < 0.3, 0.0, g.gamma(3, 10, n)), 120),
    Law("Pareto of index 3 from 10", lambda g, n: 10 * (1 + g.pareto(3, n)), 200),
)
INTRO = """# Gini coefficients and Lorenz curves

Coverage of 95% intervals of `release.gini(column)` and `release.lorenz(column, at)` from a histogram in bins of equal
width, in per cent, ± twice the Monte-Carlo error; *answer*: share of releases without a reason; *width*: median. Bold
is below 93% by more than that error. Designs were drawn before any was simulated ({repeats} releases of new
tables a row; {done} of 20 are simulated).
The estimator was changed twice after these designs had been seen (a rough mean has a reason; heaps at bounds count),
and rows with 30% zeros are of a later run than the others: these figures are not of unseen designs.
Written by `python benchmarks/inequality.py`.

| values | rows | bins | price | number | answer | held | width |
|---|---:|---:|---|---|---:|---:|---:|
"""


def clamped(law: Law, rng: np.random.Generator, n: int) -> np.ndarray:
    return np.clip(law.draw(rng, n), 0, law.upper)


def truths(law: Law) -> np.ndarray:
    """Return the Gini coefficient and the Lorenz curve at AT."""
    x = np.sort(clamped(law, np.random.default_rng(1), 4_000_000))
    n, total = len(x), float(x.sum())
    gini = float((2 * np.arange(1, n + 1) - n - 1) @ x) / (n * total)
    return np.array([gini, *(float(x[: round(p * n)].sum()) / total for p in AT)])


def simulated(law: Law, n: int, bins: int, price: dict[str, Any], repeats: int, seed: list[int]) -> list[str]:
    rng, found = np.random.default_rng(seed), list[Any]()
    schema, truth = tc.Schema({"x": tc.Real(0, law.upper)}), truths(law)
    for _ in range(repeats):
        table = {"x": clamped(law, rng, n)}
        query = tc.Histogram("x", bins={"x": bins})
        made = simulate(query, table, schema, repeats=1, rng=rng, **price).release(0)
        one = [inequality_of(made, at) for at in (None, AT)]
        limits = np.concatenate([each.intervals(0.95) for each in one])
        found.append((np.array([why is None for each in one for why in each.reasons]), limits))
    words, rows = ", ".join(f"{k} = {v:g}" for k, v in price.items()), list[str]()
    for i, name in enumerate(("Gini", *(f"Lorenz {p:g}" for p in AT))):
        said = np.array([one[0][i] for one in found])
        ends = np.array([one[1][i] for one in found])[said]
        if not len(ends):
            rows.append(f"| {law.words} | {n:,} | {bins} | {words} | {name} | 0 | | |")
            continue
        held = float(((ends[:, 0] <= truth[i]) & (truth[i] <= ends[:, 1])).mean())
        error = 2 * math.sqrt(max(held * (1 - held), 0.25 / len(ends)) / len(ends))
        share = f"{100 * held:.1f} ± {100 * error:.1f}"
        share = f"**{share}**" if held + error < 0.93 else share
        width = float(np.median(ends[:, 1] - ends[:, 0]))
        said_ = f"{100 * said.mean():.0f} | {share} | {width:.3g}"
        rows.append(f"| {law.words} | {n:,} | {bins} | {words} | {name} | {said_} |")
    return rows


def inequality_of(made: Any, at: tuple[float, ...] | None) -> Any:
    from tacit.method.histogram.estimate_from_cells.inequality import gini, lorenz

    return gini(made, "x") if at is None else lorenz(made, "x", at)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--laws", default="0,1,2,3,4")
    parser.add_argument("--read", help="a file with what was printed before; nothing is simulated")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    rows = list[str]()
    if given.read is not None:
        said = Path(given.read).read_text(encoding="utf-8").splitlines()
        rows = [one for one in said if one.startswith("| ")]
    chosen = set(map(int, given.laws.split(",")))
    for i, law in enumerate(LAWS if given.read is None else ()):
        if i not in chosen:
            continue
        for j, n in enumerate(SIZES):
            for k in range(2):
                bins, price = BINS[(i + j + k) % 3], PRICES[(i + 2 * j + k) % 3]
                made = simulated(law, n, bins, price, given.repeats, [15, i, j, k])
                print("\n".join(made), flush=True)
                rows += made
    if given.write:
        PAGE.write_text(
            INTRO.format(repeats=given.repeats, done=len(rows) // 4) + "\n".join(rows) + "\n", encoding="utf-8"
        )


if __name__ == "__main__":
    main()
