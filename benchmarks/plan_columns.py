"""Plans of quantiles beside releases: 24 drawn columns, and six of real files; a part of docs/reference/plans.md.

    python benchmarks/plan_columns.py [--releases 11] [--only drawn|real] [--keep FILE] [--write FILE …]
    python benchmarks/plan_columns.py --again FILE [--told 2]

Of each column and setting (`plan_column_designs`, committed before one was simulated) the median width of released
intervals is held against plans that are told nothing, the mean and the deviation, and these with the quartiles, all to
two digits.  A range is *near* where the width is in it, or within a factor 1.5 of an end.  --keep adds a line of each
quantile to a file; --write reads such files, prints the figures and writes the page.
--again plans once more, by the code at hand (with --told 2 no quartiles, which earlier versions did not take), and
prints how these plans fit the widths that were kept.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from pages import put
from plan_column_designs import NUMBER, REAL, Column, drawn, real

import tacit as tc

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "plans.md"
FACTOR = 1.5
QUARTILES = (0.25, 0.5, 0.75)
TOLD = ("nothing", "mean and deviation", "these and quartiles")
Line = dict[str, Any]


def right(width: float, low: float, high: float) -> bool:
    """Return whether a width is within the factor of a range: below the smallest step of reals all are alike."""
    return low / FACTOR - 1e-6 <= width <= high * FACTOR + 1e-6


def lines_of(kind: str, number: int, column: Column, releases: int) -> Iterator[Line]:
    """Yield a line for each quantile of each setting of a column."""
    schema = tc.Schema({"x": column.declared})
    rng = np.random.default_rng([2026, 17, number, kind == "real"])
    for rows, price, probs in column.settings:
        query, widths, reasons = tc.Quantiles("x", list(probs)), list[np.ndarray](), np.zeros(len(probs))
        for _ in range(releases):
            curator = tc.Curator({"x": column.draw(rng, rows)}, schema, budget=tc.Budget(epsilon=100, delta=1e-6))
            made = curator.release(query, **price).estimate()
            widths.append(np.diff(np.asarray(made.conf_int(0.95), dtype=float).reshape(-1, 2))[:, 0])
            reasons += [one is not None for one in made.reasons]
        plans = planned(column, rows, price, probs, len(TOLD))
        for i, (p, width) in enumerate(zip(probs, np.median(widths, axis=0).tolist(), strict=True)):
            said = [one[i] for one in plans]
            where = {"kind": kind, "number": number, "words": column.words, "rows": rows, "p": p}
            yield {**where, "price": price, "width": width, "reasons": reasons[i] / releases, "plans": said}


def planned(
    column: Column, rows: int, price: dict[str, Any], probs: tuple[float, ...], told: int
) -> list[list[tuple[float, float, float]]]:
    """Return the middle and both ends of each quantile's width, of plans that are told more and more."""
    expects: tuple[Any, ...] = (None, {"x": column.told()}, {"x": column.told(QUARTILES)})
    query, schema = tc.Quantiles("x", list(probs)), tc.Schema({"x": column.declared})
    made = [tc.plan(query, schema, rows=rows, expect=one, **price).parts[0].terms for one in expects[:told]]
    return [[(term.width, *(term.between or (term.width,) * 2)) for term in terms] for terms in made]


def again(lines: list[Line], told: int) -> None:
    """Replace the plans of lines by those of the code at hand; the lines are in the order of the designs."""
    left = iter(lines)
    for count, make in ((NUMBER, drawn), (len(REAL), real)):
        for column in map(make, range(count)):
            for rows, price, probs in column.settings:
                made = planned(column, rows, price, probs, told)
                for i, p in enumerate(probs):
                    line = next(left)
                    assert (line["words"], line["rows"], line["p"]) == (column.words, rows, p)
                    line["plans"] = [one[i] for one in made]


def figures(lines: list[Line], told: int) -> tuple[int, int, int, float]:
    """Return how many widths are within the factor of the middle, in the range, near it; and the median of its ratio.

    The ratio is of the largest over the least width, which is 1 at least in millionths of the larger one.
    """
    plans = [(line["width"], *line["plans"][told]) for line in lines]
    middle = sum(right(width, said, said) for width, said, _, _ in plans)
    inside = sum(low - 1e-6 <= width <= high + 1e-6 for width, _, low, high in plans)
    near = sum(right(width, low, high) for width, _, low, high in plans)
    return middle, inside, near, float(np.median([high / max(low, 1e-6 * high, 1e-12) for _, _, low, high in plans]))


def table(lines: list[Line]) -> str:
    """Return the table of both kinds of columns."""
    head = (
        "| columns | told | widths | within 1.5 of the middle | in the range | within 1.5 of the range "
        "| largest ÷ least, median |\n|---|---|---:|---:|---:|---:|---:|"
    )
    rows = list[str]()
    kinds = {"drawn": "24 drawn columns", "real": "6 columns of real files"}
    for kind, words in kinds.items():
        own = [line for line in lines if line["kind"] == kind]
        for told, said in enumerate(TOLD[: len(own[0]["plans"]) if own else 0]):
            middle, inside, near, ratio = figures(own, told)
            shares = " | ".join(f"{100 * one / len(own):.0f}%" for one in (middle, inside, near))
            rows.append(f"| {words} | {said} | {len(own)} | {shares} | {ratio:.1f} |")
    return "\n".join([head, *rows])


def by_column(lines: list[Line]) -> str:
    """Return the table of each column, told the mean and the deviation."""
    head = (
        "| column | widths | within 1.5 of the middle | of the range | largest ÷ least, median "
        "| with quartiles: of the range | ratio |\n|---|---:|---:|---:|---:|---:|---:|"
    )
    rows = list[str]()
    for key in dict.fromkeys((line["kind"], line["number"], line["words"]) for line in lines):
        own = [line for line in lines if (line["kind"], line["number"], line["words"]) == key]
        middle, _, near, ratio = figures(own, 1)
        _, _, more, less = figures(own, 2)
        rows.append(f"| {key[2]} | {len(own)} | {middle} | {near} | {_ratio(ratio)} | {more} | {_ratio(less)} |")
    return "\n".join([head, *rows])


def _ratio(x: float) -> str:
    return f"{x:.1f}" if x < 100 else "over 100"


def section(lines: list[Line], releases: int) -> str:
    """Return the part of the page."""
    none = sum(line["reasons"] > 0.5 for line in lines)
    return f"""## Quantiles: the range that a plan says

A quantile's interval is as wide as values lie apart there, which a mean and a standard deviation do not say. Plans of
quantiles take laws that agree with what is told, weighed by how common such columns are, and say the middle width and
the shortest range with 85% of the weight; what is recorded in whole numbers, days, declared multiples or declared heaps
is planned as recorded. Here are two settings of rows and price, three quantiles each, of 24 columns whose law,
recording, bounds and settings were drawn, and four settings of five quantiles of six columns of
real files (Californians of a census sample, flights), from which tables were drawn; medians of {releases} releases.
Designs were committed before one of them was simulated, and simulated once; the laws' weights were set on the ten laws
of this page and on columns of other public data. {none} of the {len(lines)} quantiles have a reason in place of an
interval in most releases. With quartiles told ranges are narrower, and hold somewhat less than they say.

{table(lines)}

Of each column, told the mean and the deviation, and told the quartiles as well:

{by_column(lines)}
"""


def main() -> None:
    """Simulate columns, keep their lines; or write the page from kept ones."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--releases", type=int, default=11)
    parser.add_argument("--only", choices=["drawn", "real"])
    parser.add_argument("--keep")
    parser.add_argument("--write", nargs="*")
    parser.add_argument("--again")
    parser.add_argument("--told", type=int, default=len(TOLD))
    given = parser.parse_args()
    lines = list[Line]()
    if given.again:
        lines = [json.loads(one) for one in Path(given.again).read_text(encoding="utf-8").splitlines()]
        again(lines, given.told)
        print(table(lines))
        return
    if given.write:
        kept = (one for name in given.write for one in Path(name).read_text(encoding="utf-8").splitlines())
        lines = [json.loads(one) for one in kept]
        text = section(lines, given.releases)
        print(text)
        put(PAGE, Path(__file__).name, text)
        return
    for kind, count, make in (("drawn", NUMBER, drawn), ("real", len(REAL), real)):
        for number in range(count) if given.only in (None, kind) else ():
            found = list(lines_of(kind, number, make(number), given.releases))
            lines += found
            for line in found:
                words = f"{kind} {number}, {line['words']}, {line['rows']:,} rows, {line['price']}, {line['p']:g}"
                said = ", ".join(f"{middle:.4g} [{low:.4g}, {high:.4g}]" for middle, low, high in line["plans"])
                print(f"{words}: {line['width']:.4g}; plans {said}", flush=True)
                if given.keep:
                    with Path(given.keep).open("a", encoding="utf-8") as file:
                        file.write(json.dumps(line) + "\n")
    print(table(lines))


if __name__ == "__main__":
    main()
