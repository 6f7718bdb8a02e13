"""The tables of `drawn_bins.py` on docs/reference/histogram-fits.md and histogram-stats.md, from the kept lines.

python benchmarks/drawn_bins_page.py
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from drawn_bins import DESIGNS, KEPT, designs
from pages import put
from scipy import stats

DOCS = Path(__file__).parents[1] / "docs" / "reference"
FITS, STATISTICS = DOCS / "histogram-fits.md", DOCS / "histogram-stats.md"
Line = dict[str, Any]
SETS = {"fits": 11, "statistics": 12}
"""Sets that judge: fits answer in wide bins since set 2 and sets 5 to 10 were looked at, so that set 11 is theirs;
quantiles have limits of whole bins since set 3 was looked at, so that set 12 is theirs."""
HEAD = (
    "| | cells | releases | covered given an answer, % | reasons, % | cells below 93, significantly | SE / SD, median |"
)


def row(name: str, lines: list[Line]) -> str:
    """Return a row of a table: several cells of the study together."""
    answers, covered = sum(x["answers"] for x in lines), sum(x["covered"] for x in lines)
    total = sum(x["repeats"] for x in lines)
    # of so many answers, fewer hold the truth in 1 of 100 where 93% do
    low = [x for x in lines if x["answers"] and stats.binom.cdf(x["covered"], x["answers"], 0.93) < 0.01]
    ratio = [x["se"] for x in lines if "se" in x and x["answers"] >= 10]
    share = f"{100 * covered / answers:.1f}" if answers else "–"
    middle = f"{np.median(ratio):.2f}" if ratio else "–"
    silent = 100 * (1 - answers / total)
    return f"| {name} | {len(lines)} | {total:,} | {share} | {silent:.0f} | {len(low)} | {middle} |"


def tables(lines: list[Line], by: dict[str, Callable[[Line], str]]) -> str:
    """Return one table with a block of rows for each way of sorting the cells, and a list of those that do not hold."""
    out = [HEAD, "|---|---:|---:|---:|---:|---:|---:|", row("**all**", lines)]
    for of in by.values():
        out += [row(name, [x for x in lines if of(x) == name]) for name in sorted({of(x) for x in lines})]
    low = [x for x in lines if x["answers"] and stats.binom.cdf(x["covered"], x["answers"], 0.93) < 0.01]
    out += ["\nCells that do not hold:\n"] if low else ["\nEvery cell holds.\n"]
    for x in low:
        given = f"{x['covered']} of {x['answers']} covered"
        out.append(f"- {x['design']}; {x['n']:,} rows, ε = {x['epsilon']:g}; {x['what']}: {given}")
    return "\n".join(out)


def write() -> None:
    """Write the tables of both pages from the kept lines of sets that nobody had simulated before."""
    lines = [json.loads(one) for one in KEPT.read_text(encoding="utf-8").splitlines()]
    found = {one.name: one for seed in SETS.values() for one in designs(seed)}
    by: dict[str, Callable[[Line], str]] = {
        "rows": lambda x: f"{x['n']:,} rows",
        "edges": lambda x: f"edges: {found[x['design']].edges}",
        "law": lambda x: f"law: {found[x['design']].law}",
    }
    about = (
        "Laws, edges, models and prices drawn from a seed and written down before any was simulated "
        "(`benchmarks/drawn_bins.py`, set {}). Edges: 0, 18, 25, 35, 50, 65, 100 as people type them; rounded "
        "quantiles; geometric; 12 equal bins; automatic. *Below 93, significantly*: cells of the study whose "
        "coverage given an answer is below 93% with an error of at most 1 in 100."
    )
    fitted = [x for x in lines if x["part"] == "fits" and x["set"] == SETS["fits"]]
    some = f" Of the set's {3 * DESIGNS} cells of designs, rows and price those are here that there was time for.\n"
    spikes = (
        "\n*Spike*: 5 to 20% of the rows at one round value, which shares its bin: it must have a bin of its own.\n"
    )
    made = tables(fitted, {"model": lambda x: f"model: {found[x['design']].model}"} | by)
    own = about.format(SETS["fits"])
    put(FITS, "drawn_bins.py fits", f"## Designs drawn at random\n\n{own}{some}{spikes}\n{made}")
    some += (
        "\nA quantile in the first or the last bin, or in one that is coarse for so many rows, had a reason until "
        "version 0.2.0 and has the limits of the whole bin since. *Whole as real*: whole numbers declared "
        "`Real`, which are half a unit below what their bins say; declared `Integer` they hold.\n"
    )
    column = [x for x in lines if x["part"] == "statistics" and x["set"] == SETS["statistics"]]
    made = tables(column, {"what": lambda x: f"statistic: {x['what']}"} | by)
    put(
        STATISTICS,
        "drawn_bins.py statistics",
        f"## Statistics of columns drawn at random\n\n{about.format(SETS['statistics'])}{some}\n{made}",
    )


if __name__ == "__main__":
    write()
