"""One to three quantiles of few rows: selected ends beside cuts with counts between them, and which is chosen.

    python benchmarks/quantile_choice.py tried|fresh|grouped|unknown|page [--repeats N] [--only WORDS]

Rows and noise are drawn anew in each simulation; the designs are those of `quantile_choice_designs.py`.
Columns, of selected ends / of cuts / of what Tacit chooses by itself: intervals that hold the law's quantile, of those
without a reason, in per cent; releases without one, in per cent; median width of all intervals (the bounds, where there
is a reason), over that without privacy; mean absolute error from the table's quantile, over the standard deviation of
that quantile without privacy (a quarter of the width of its interval).  The means are over the probabilities.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import numpy as np
from quantile_choice_designs import LAWS, Design, fresh, grouped, tried, unknown
from quantiles import plain

import tacit as tc
from tacit.method.quantiles import design as quantiles_design

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "quantile-choice.md"
INTRODUCTION: Final = """# One to three quantiles of few rows

Two ways to a quantile with an interval: three steps selected at and on either side of it (*ends*), and cuts of the
column with noisy numbers of rows between them (*cuts*). Which one a release takes follows from public facts
([how](../howto/quantiles.md)): cuts where the ends would reach beyond all rows, or are expected to be wider. Written
by `python benchmarks/quantile_choice.py page`: {repeats} tables of each design and way, drawn anew. The
designs were committed before any was simulated, by a seed of their own; the rule was found on others, but for how
likely an interval must be to be told (`cut_tree.LIKELY`), which was set when one of the designs of groups was seen. The
rule for numbers that are not public was set when both ways had been simulated on its designs.

In each cell ends / cuts / what Tacit chooses: *held*, 95% intervals that hold the law's quantile, of those without a
reason, in per cent; *without a reason*, in per cent; *width*, the median over all intervals (where there is a reason,
that of the bounds), over that of an interval without privacy; *error*, the mean absolute error of the value from the
table's quantile, over a quarter of the width of the interval without privacy. One row is replaced, but where a number
of rows is said; several quantiles and groups are averaged. Widths and errors of columns of few values may be divided
by 0, and say nothing there.
"""
HEADINGS: Final = {
    "fresh": "## Whole columns\n",
    "grouped": "## Groups\n",
    "unknown": "## Numbers of rows that are not public\n",
}
PARTS: Final = {"tried": tried, "fresh": fresh, "grouped": grouped, "unknown": unknown}
LEAST: Final = 1e-9
"""Least width without privacy: of few values it may be 0."""
LARGE: Final = 2_000_001
WAYS: Final = ("ends", "cuts", "chosen")
HEAD: Final = (
    "| law | rows | p | price | held | without a reason | width | error | chosen |\n"
    "|---|---:|---|---|---|---|---|---|---|"
)


def forced(way: str) -> Any:
    """Return a rule of choice that always takes a way; None for Tacit's own."""
    if way == "ends":
        return lambda *_, **__: None
    if way == "cuts":
        own = quantiles_design.cut_tree.plan_of

        def always(shape: Any, size: Any, columns: Any, *, sized: bool) -> Any:
            query = shape.query
            rows = float(quantiles_design.ASSUMED if size is None else size) / shape.cells
            probs, replaces = quantiles_design.probs_of(query), shape.neighbors == "replace-one"
            return own(probs, rows, shape.cost, float(query.level), replaces=replaces, sized=sized)

        return always
    return None


def simulated(one: Design, way: str, repeats: int) -> dict[str, Any]:
    """Return what releases of one way show."""
    column, draw = LAWS[one.law]
    rng, groups = np.random.default_rng(7), [f"g{i}" for i in range(len(one.shares))]
    schema = tc.Schema({"x": column, "u": tc.Real(0, 1)} | ({"g": tc.Category(groups)} if groups else {}))
    condition = None if one.where is None else f"u < {one.where}"
    query = tc.Quantiles("x", one.probs, by="g" if groups else None, where=condition)
    about = {} if one.hint is None else {"size_hint": round(one.hint * one.rows)}
    relation = "replace-one" if one.hint is None else "add-remove"
    truth = np.quantile(draw(np.random.default_rng(0), LARGE), one.probs, method="inverted_cdf")
    truth = np.tile(truth, max(1, len(groups)))
    held, told, width, error, form = list[bool](), list[bool](), list[float](), list[float](), ""
    own, rule = quantiles_design.cuts_plan, forced(way)
    quantiles_design.cuts_plan = own if rule is None else rule
    try:
        for _ in range(repeats):
            x = draw(rng, one.rows)
            table = {"x": x, "u": rng.random(one.rows)} | (
                {"g": rng.choice(groups, one.rows, p=np.array(one.shares))} if groups else {}
            )
            budget = tc.Budget(
                **dict.fromkeys(one.price, "9") | ({"delta": "1e-3"} if "delta" in one.price else {}),
                neighbors=relation,
            )
            made = tc.Curator(table, schema, budget=budget, **about).release(query, **one.price)
            form, found = made.parts[0].form, made.estimate()
            cells = (
                [x[table["g"] == name] for name in groups]
                if groups
                else [x if one.where is None else x[table["u"] < one.where]]
            )
            bare = np.maximum([plain(y, p) for y in cells for p in one.probs], LEAST)
            exact = np.concatenate([np.quantile(y, one.probs, method="inverted_cdf") for y in cells])
            limits, known = found.limits, [reason is None for reason in found.reasons]
            told += known
            held += ((limits[:, 0] <= truth) & (truth <= limits[:, 1]))[known].tolist()
            width += ((limits[:, 1] - limits[:, 0]) / bare).tolist()
            error += (4 * np.abs(found.values - exact) / bare).tolist()
    finally:
        quantiles_design.cuts_plan = own
    return {
        "held": f"{100 * np.mean(held):.0f}" if held else "–",
        "told": f"{100 * np.mean(told):.0f}",
        "width": f"{np.median(width):.3g}",
        "error": f"{np.mean(error):.3g}",
        "form": form,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=[*PARTS, "page"], help="page: all but tried, for the documentation")
    parser.add_argument("--repeats", type=int, default=40)
    parser.add_argument("--only", default="", help="designs whose words hold these")
    given = parser.parse_args()
    page = [INTRODUCTION.format(repeats=given.repeats)]
    for part in ("fresh", "grouped", "unknown") if given.part == "page" else (given.part,):
        page += [HEADINGS.get(part, ""), *lines(PARTS[part](), given.repeats, given.only), ""]
    if given.part == "page":
        PAGE.write_text("\n".join(page).rstrip() + "\n", encoding="utf-8")


def lines(designs: list[Design], repeats: int, only: str) -> Iterator[str]:
    """Yield the lines of a table, and print them."""
    print(HEAD)
    yield HEAD
    for one in designs:
        if only not in one.words:
            continue
        made = [simulated(one, way, repeats) for way in WAYS]
        cells = [" / ".join(each[name] for each in made) for name in ("held", "told", "width", "error")]
        line = f"| {one.words} | {' | '.join(cells)} | {'cuts' if made[-1]['form'] == 'cuts' else 'ends'} |"
        print(line, flush=True)
        yield line


if __name__ == "__main__":
    main()
