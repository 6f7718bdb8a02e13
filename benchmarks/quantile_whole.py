"""Quantiles of columns of few values: a part of docs/reference/quantile-gaps.md.

    python benchmarks/quantile_whole.py [--repeats 60] [--plain] [--before]

The widest gap that is allowed for has as many steps as the column's grid, at most 4,096, so that the ends of columns of
whole numbers between near bounds need not lie so far out.  --before: ends as far out as of 4,096 steps.  Designs were
committed before any was simulated (`quantile_whole_designs`).
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from functools import partial
from typing import Any

import quantile_gaps
from pages import Part, put, worked
from quantile_gaps import PAGE, SIMULATED_LIMIT, Found, text
from quantile_whole_designs import SETTINGS, SIZES, WHOLE, Setting

import tacit as tc
from tacit.method.quantiles import cube_errors, mechanism_joint_selection

HEAD = "| values | n | " + " | ".join(SETTINGS) + " |\n|---|---:|" + "---:|" * len(SETTINGS)


def whole(setting: Setting, lower: float, upper: float) -> tc.Schema:
    """The schema of a table whose column holds whole numbers."""
    columns: dict[str, Any] = {"x": tc.Integer(int(lower), int(upper), missing=int(lower))}
    return tc.Schema(columns | {"g": tc.Category([str(i) for i in range(len(setting.groups))])})


def cell(name: str, n: int, setting: Setting, repeats: int, *, before: bool) -> Found:
    """Simulate one design; before: with ends as far out as of GAP_STEPS."""
    mechanism_joint_selection.LIMIT = SIMULATED_LIMIT  # type: ignore[misc]
    quantile_gaps.schema_of, quantile_gaps.ALL = whole, WHOLE  # type: ignore[misc]
    right = cube_errors.far_offset
    if before:
        cube_errors.far_offset = lambda *given, steps, **named: right(*given, **named)
    try:
        return quantile_gaps.cell(name, n, setting, repeats)
    finally:
        cube_errors.far_offset = right


def row(name: str, n: int, repeats: int, *, before: bool) -> str:
    """Coverage and width of a design at each price."""
    found = [cell(name, n, setting, repeats, before=before) for setting in SETTINGS.values()]
    shown = [f"{text(one)} · {'–' if one.width != one.width else f'{one.width:.1f}'}" for one in found]
    return f"| {name} | {n:,} | {' | '.join(shown)} |"


def parts(repeats: int, *, before: bool) -> Iterator[Part]:
    yield "## Columns of few values\n"
    yield (
        f"{repeats} simulations a cell.  Coverage given an answer, in percent (in parentheses reasons, in percent), "
        "and after the point the median width,\nthat without privacy being 1 (–: where that is one value).\n"
    )
    yield HEAD
    for name in WHOLE:
        for n in SIZES:
            yield partial(row, name, n, repeats, before=before)


def main() -> None:
    """Simulate all designs."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repeats", type=int, default=60)
    parser.add_argument("--plain", action="store_true", help="to the terminal only")
    parser.add_argument("--before", action="store_true", help="ends as far out as of 4,096 steps; to the terminal")
    options = parser.parse_args()
    made = worked(list(parts(options.repeats, before=options.before)), processes=1)
    if options.plain or options.before:
        print(made)
    else:
        put(PAGE, "quantile_whole.py", made)


if __name__ == "__main__":
    main()
