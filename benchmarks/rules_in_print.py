"""Published rules and rates beside what is right, the page docs/reference/rules-in-print.md and its picture.

    python benchmarks/rules_in_print.py [--repeats 400] [--quick] [--rates]

The sections are made by `printed_conditions`, `block_rates`, `party_rates`, `cell_rates` (with its tables) and
`penalised_logistic`, whose designs were committed before they were simulated, and by `minimax_rates`, a section of its
own (--rates: that alone).  Seeds are constants, but for data sets, drawn by the operating system's generator.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import block_rates
import party_rates
from cell_rates_tables import cells_part
from minimax_rates import rates_part
from pages import put
from penalised_logistic import penalised_part
from printed_conditions import conditions_part

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "rules-in-print.md"
PICTURE = PAGE.with_suffix(".svg")
TOP = """# Rules in print

Published rules and rates, each beside what is right ([theory](../explanation/theory.md)).
Written by `python benchmarks/rules_in_print.py`.
"""


def picture(
    smith: Mapping[tuple[float, float], Sequence[tuple[float, float]]], paths: Mapping[str, Sequence[float]]
) -> None:
    """Draw the excess of the squared error over an efficient one: Theorem 3.1 and the paths of Corollary 3.1."""
    import matplotlib as mpl

    mpl.use("svg")
    # no date and no random names, so that the file is the same on every run
    mpl.rcParams["svg.hashsalt"] = "rules-in-print"
    from matplotlib import pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    for (box, ratios), colour in zip(smith.items(), ("C0", "C1"), strict=True):
        name = f"box {box[0]} to {box[1]:g}"
        left.loglog(block_rates.SIZES, [one[0] - 1 for one in ratios], "o-", color=colour, label=f"{name}, published k")
        left.loglog(block_rates.SIZES, [one[1] - 1 for one in ratios], "s--", color=colour, label=f"{name}, default k")
    left.set_title("Smith, Theorem 3.1, ε = 1", loc="left", fontsize=10)
    left.set_xlabel("rows n")
    left.set_ylabel("squared error ÷ efficient − 1")
    for path in party_rates.PATHS:
        line = "o-" if path.right else "s--"
        right.loglog(party_rates.SIZES, [one - 1 for one in paths[path.name]], line, label=path.name)
    right.set_title("Chen & Sung, Corollary 3.1", loc="left", fontsize=10)
    right.set_xlabel("rows of a party N")
    for panel in (left, right):
        panel.legend(frameon=False, fontsize=7)
    figure.tight_layout()
    figure.savefig(PICTURE, metadata={"Date": None})
    plt.close(figure)


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__)
    asked.add_argument("--repeats", type=int, default=400)
    asked.add_argument("--quick", action="store_true", help="twenty simulations, printed only")
    asked.add_argument("--rates", action="store_true", help="the section of rates alone")
    given = asked.parse_args()
    repeats, start = 20 if given.quick else given.repeats, time.perf_counter()

    def told(part: str) -> None:
        print(f"{time.perf_counter() - start:5.0f} s  {part}", flush=True)

    rates_text = "\n".join(rates_part(repeats))
    if not given.quick:
        put(PAGE, "rules_in_print.py --rates", rates_text)
    told("rates")
    if given.rates:
        print(rates_text)
        return
    cells, parties = conditions_part(repeats)
    told("conditions")
    smith, ratios = block_rates.smith_part(repeats)
    told("blocks")
    corollary, paths = party_rates.corollary_part(repeats)
    told("parties")
    rates = cells_part(repeats // 2)
    told("cells")
    penalised = penalised_part(repeats)
    told("penalised")
    text = "\n".join([TOP, *smith, "", *parties, "", *corollary, *cells, "", *rates, "", *penalised])
    if given.quick:
        print(text)
    else:
        put(PAGE, "rules_in_print.py", text)
        picture(ratios, paths)


if __name__ == "__main__":
    main()
