"""Regressions at small prices beside other methods at the same price; writes a page.

    python benchmarks/frontier_peers.py [given] [papers] [few] [--repeats 60] [--plain]

The other methods are in `peers_of_regressions.py` (AdaSSP, diffprivlib), `peers_descent.py` (DP-SGD of opacus) and
`peers_binagg.py`.  diffprivlib 0.6, opacus 1.6 and torch 2 are used where they are installed, and are no requirement
of the tests.  `given` are designs of the page, `papers` and `few` those of `frontier_peer_designs.py`.  All methods get
the same rows, the same bounds and the same price.  Deterministic: seeds are constants.
"""

from __future__ import annotations

import argparse
import math
import time
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from frontier_designs import DELTA, Cell, chain_of_nine, pairs_of_ten, skewed_and_unequal
from frontier_model_designs import ten, three
from frontier_peer_designs import NORM, balls, bins, few
from pages import put
from peer_problem import Array, Problem, problem
from peers_binagg import binagg
from peers_descent import STANDARD, TRIED, descents, trained
from peers_of_regressions import adassp, by_diffprivlib

import tacit as tc
from tacit.errors import TacitError
from tacit.fits.fit_release import fit_release
from tacit.privacy import Cost
from tacit.testing import simulate
from tacit.testing.simulated_regressions import rows_of

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "regression-frontier.md"
TITLES = {
    "given": "Beside other methods: designs of this page",
    "papers": "Beside other methods: designs of their papers",
    "few": "Beside other methods: few regressors and few rows",
}
TEXT = """## {title}

{repeats} repetitions: the root of the summed mean squared errors of the slopes, over that of the fit without privacy,
on the same rows and in the same bounds; of 95% intervals, how many hold the true slope; **bold**: the least error.
*DP-SGD* has opacus's steps and accountant, Adam, large batches and the mean of the second half of its steps: in one
setting for all designs, and in the best in hindsight of {tried} settings, chosen by its error on other tables of the
same design, which nobody could do without paying for it; a replaced row is given half of its μ. *AdaSSP* (Wang 2018)
has its noise calibrated exactly, which its paper does not. *BinAgg* (Lin, Slavković and Bhoomireddy 2025) is written
anew from the paper, with noise of its feature sums for all of them together. *diffprivlib* has pure prices of the same
ε, which is a stronger promise where the price has a δ; its logistic regression takes the largest norm of a row from the
rows themselves. The others have no pure prices, and only BinAgg states an error. –: not to be had, or an answer in less
than a fifth of the repetitions; a method that is silent in more than a tenth is not set in bold.

"""
HEAD = (
    "| design | rows | price | relation | Tacit | its intervals, % | DP-SGD, one setting | DP-SGD, best in hindsight "
    "| AdaSSP | BinAgg | its intervals, % | diffprivlib |"
)
HISTOGRAM = " Tacit: fit to a histogram |"
SELDOM_SILENT, MOSTLY_SILENT = 0.1, 0.8
"""Shares of repetitions without an answer: above the first a method is not the best, above the second not shown."""


def given() -> tuple[Cell, ...]:
    """The designs: linear and logistic, at (1, delta), (3, delta) and the pure price 1."""
    one, more = Cost.of(epsilon=1, delta=DELTA), Cost.of(epsilon=3, delta=DELTA)
    pure, pair = Cost.of(epsilon=1), three(", two in a pair of correlation .8", pair=0.8)
    asked: list[tuple[Any, int, Cost]] = [
        (pairs_of_ten(), 50_000, one),
        (pairs_of_ten(), 10_000, more),
        (chain_of_nine(), 50_000, one),
        (skewed_and_unequal(), 60_000, one),
        (ten("logistic", 1.0, 0.0), 50_000, one),
        (three(""), 10_000, one),
        (pair, 10_000, one),
        (three(""), 10_000, pure),
        (pair, 10_000, pure),
        (ten("logistic", 1.0, 0.0), 50_000, pure),
        (skewed_and_unequal(), 60_000, pure),
    ]
    return tuple(Cell(study.title, study, rows, cost) for study, rows, cost in asked)


def cells_of(part: str) -> tuple[Cell, ...]:
    """Return the cells of a part of the page."""
    return {"given": given, "papers": lambda: (*bins(), *balls()), "few": few}[part]()


@dataclass
class Found:
    """Errors of slopes by method, shape (answered, slopes) each, and whether intervals held them."""

    errors: dict[str, list[Array]] = field(default_factory=dict)
    held: dict[str, list[Array]] = field(default_factory=dict)

    def add(self, name: str, error: Array | None, size: Array | None = None) -> None:
        """Add an answer, if there is one."""
        if error is not None:
            self.errors.setdefault(name, []).append(error)
        if error is not None and size is not None:
            self.held.setdefault(name, []).append(np.abs(error) < 1.96 * size)

    def size(self, name: str) -> float:
        """Return the root of the summed mean squared errors of a method."""
        made = self.errors.get(name)
        return math.sqrt(float((np.array(made) ** 2).mean(axis=0).sum())) if made else math.nan

    def covered(self, name: str) -> str:
        """Return the share of intervals that held, in words."""
        return f"{100 * np.mean(self.held[name]):.1f}" if name in self.held else "–"


def hindsight(rng: np.random.Generator, cell: Cell, truth: Array, norm: float | None, tables: int = 8) -> Any:
    """Return the setting of DP-SGD with the least error on tables of this design."""
    drawn = [problem(cell, cell.study.draw(rng, cell.rows), norm) for _ in range(tables)]
    settings = TRIED[drawn[0].model]
    sums = [float(((descents(rng, drawn, one) - truth) ** 2).sum()) for one in settings]
    return settings[int(np.nanargmin(sums))]


def from_cells(rng: np.random.Generator, cell: Cell, table: Any, terms: Array) -> Array | None:
    """Return the slopes of Tacit's fit to a histogram of all columns at the same price."""
    price: dict[str, Any] = {"epsilon": cell.cost.epsilon, "delta": cell.cost.delta}
    query = tc.Histogram(list(table), bins="auto")
    made = simulate(query, table, cell.study.schema, repeats=1, rng=rng, neighbors=cell.neighbors, **price)
    try:
        fit: Any = fit_release(made.release(0), cell.study.query.formula, model=cell.study.query.model)
    except TacitError:
        return None
    return None if any(fit.coefficients.reasons) else fit.coefficients.values[-len(terms) :]


def peers(rng: np.random.Generator, found: Found, one: Problem, truth: Array) -> None:
    """Add what other methods find, DP-SGD aside."""

    def less(slopes: Array | None) -> Array | None:
        return None if slopes is None else slopes - truth

    found.add("AdaSSP", less(adassp(rng, one)))
    binned = binagg(rng, one)
    if binned is not None:
        found.add("BinAgg", binned[0] - truth, binned[1])
    found.add("diffprivlib", less(by_diffprivlib(rng, one)))


def line(part: str, place: int, repeats: int) -> str:
    """Return a line of the page."""
    cell, rng, found = cells_of(part)[place], np.random.default_rng([16, 4, place]), Found()
    terms = {name: value for name, value in cell.study.truth.items() if name != "Intercept"}
    truth, many = np.array(list(terms.values())), len(terms)
    norm = NORM if "sphere" in cell.words else None
    given = list[Problem]()
    for _ in range(repeats):
        table = cell.study.draw(rng, cell.rows)
        rows = rows_of(cell.study.query, table, cell.study.schema, cell.cost, cell.neighbors)
        found.add("ordinary", rows.ordinary()[0][-many:] - truth)
        fit = rows.fit(rng)
        if not any(fit.reasons):
            found.add("Tacit", fit.values[-many:] - truth, fit.std_errors[-many:])
        given.append(problem(cell, table, norm))
        peers(rng, found, given[-1], truth)
        if part == "few":
            slopes = from_cells(rng, cell, table, truth)
            found.add("histogram", None if slopes is None else slopes - truth)
    if trained() and cell.cost.delta is not None:
        ways = {"one setting": STANDARD[given[0].model], "hindsight": hindsight(rng, cell, truth, norm)}
        for name, setting in ways.items():
            for slopes in descents(rng, given, setting):
                found.add(name, slopes - truth)
    return row(part, cell, found, repeats)


def row(part: str, cell: Cell, found: Found, repeats: int) -> str:
    """Return a line of the table from what was found."""
    names = ["Tacit", "one setting", "hindsight", "AdaSSP", "BinAgg", "diffprivlib"]
    names += ["histogram"] if part == "few" else []
    silent = {name: 1 - len(found.errors.get(name, ())) / repeats for name in names}
    sizes = {name: found.size(name) / found.size("ordinary") for name in names if silent[name] <= MOSTLY_SILENT}
    least = min(f"{sizes[name]:8.2f}" for name in sizes if silent[name] <= SELDOM_SILENT)

    def told(name: str) -> str:
        if name not in sizes:
            return "–"
        text = f"{sizes[name]:.2f}" if sizes[name] < 1_000 else "over 1,000"
        text = f"**{text}**" if f"{sizes[name]:8.2f}" == least and silent[name] <= SELDOM_SILENT else text
        return text + (f" ({100 * silent[name]:.0f}% no answer)" if silent[name] else "")

    covered = {name: found.covered(name) if name in sizes else "–" for name in ("Tacit", "BinAgg")}
    parts = [cell.words, f"{cell.rows:,}", str(cell.cost), cell.neighbors, told("Tacit"), covered["Tacit"]]
    parts += [told(name) for name in names[1:5]] + [covered["BinAgg"]] + [told(name) for name in names[5:]]
    return f"| {' | '.join(parts)} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", default=list(TITLES))
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    options = parser.parse_args()
    for part in options.parts:
        many, start = len(cells_of(part)), time.monotonic()
        head = HEAD + (HISTOGRAM if part == "few" else "")
        lines = [head, "|---|---:|---|---|" + "---:|" * (head.count("|") - 5)]
        with ProcessPoolExecutor(options.processes) as pool:
            for one in pool.map(line, [part] * many, range(many), [options.repeats] * many):
                lines.append(one)
                print(f"{time.monotonic() - start:5.0f} s  {one}", flush=True)
        if not options.plain:
            text = TEXT.format(title=TITLES[part], repeats=options.repeats, tried=len(TRIED["linear"]))
            put(PAGE, f"frontier_peers.py {part}", text + "\n".join(lines))


if __name__ == "__main__":
    main()
