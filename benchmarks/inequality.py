"""Coverage of Gini coefficients and Lorenz curves from the cells of a histogram; writes docs/reference/inequality.md.

    python benchmarks/inequality.py [--sets first,kept,seen] [--repeats 200] [--only 0,3,…]
    python benchmarks/inequality.py --write

The first form simulates the designs of `inequality_designs.py` and adds a line a number to FIGURES; the second writes
the page from the last lines of each.  Tables are drawn anew for every release.  Truths are of values clamped to the
bounds, from 10,000,000 draws.
"""

from __future__ import annotations

import argparse
import json
import math
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from inequality_designs import SETS, Design

import tacit as tc
from tacit.method.histogram.estimate_from_cells.inequality import gini, lorenz
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, exact_integers, shaped

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "inequality.md"
FIGURES = Path(__file__).with_suffix(".jsonl")
AT = (0.2, 0.5, 0.9)
NAMES = ("Gini", *(f"Lorenz {p:g}" for p in AT))
MANY = 10_000_000
LEAST = 93.0


@dataclass(frozen=True)
class Table:
    """Values x of rows, and the number of each row's group."""

    x: np.ndarray
    group: np.ndarray


def drawn(design: Design, rng: np.random.Generator, n: int) -> Table:
    """Return rows; the numbers of rows of groups are fixed."""
    groups = design.groups or ((1.0, 1.0),)
    sizes = [round(share * n) for share, _ in groups]
    scale = np.repeat([one for _, one in groups], sizes)
    x = np.clip(scale * design.draw(rng, len(scale)), *design.bounds)
    return Table(x, np.repeat(np.arange(len(groups)), sizes))


def of_rows(x: np.ndarray) -> np.ndarray:
    """Return the Gini coefficient and the Lorenz curve at AT of rows, without privacy."""
    x = np.sort(x)
    n, total = len(x), float(x.sum())
    ranks = float((2 * np.arange(1, n + 1) - n - 1) @ x) / (n * total)
    return np.array([ranks, *(float(x[: round(p * n)].sum()) / total for p in AT)])


def truths(design: Design) -> np.ndarray:
    """Return the numbers of the law, the same for all groups, up to bounds: shape (groups, numbers)."""
    rng, groups = np.random.default_rng(1), design.groups or ((1.0, 1.0),)
    return np.stack([of_rows(np.clip(one * design.draw(rng, MANY), *design.bounds)) for _, one in groups])


def measured(design: Design) -> Any:
    """Return the measurement of a histogram of the column, and of its groups."""
    columns: dict[str, Any] = {"x": design.column}
    if design.groups:
        columns["g"] = tc.Category([f"g{i}" for i in range(len(design.groups))])
    bins = {} if design.bins is None else {"x": design.bins}
    query = tc.Histogram(list(columns), bins=bins)
    return shaped(query, tc.Schema(columns), design.relation, design.rows, Cost.of(**design.price))


def counts(shape: Any, table: Table) -> np.ndarray:
    """Return the exact cells of a table as `exact_integers` does, for many rows in a moment."""
    key = shape.keys[0]
    if key.kind == "bins":
        low, high = key.even or (0.0, 0.0)
        edges = low + (high - low) * np.arange(1, key.regular) / key.regular if key.even else np.array(key.edges)
        place = np.searchsorted(edges, table.x, side="right")
    else:
        place = np.searchsorted(np.array(key.levels, dtype=float), table.x)
    groups = shape.cells // key.size
    return np.bincount(place * groups + table.group, minlength=shape.cells).reshape(-1, 1)


def checked(shape: Any, design: Design, rng: np.random.Generator) -> None:
    """Compare `counts` with the integers of a release, on one table."""
    table = drawn(design, rng, min(design.rows, 2_000))
    x = table.x.astype(np.int64) if isinstance(design.column, tc.Integer) else table.x
    columns: dict[str, Any] = {"x": x, "g": np.array([f"g{i}" for i in table.group])}
    (exact,) = exact_integers(shape, columns)
    assert (exact == counts(shape, table)).all(), design.words


def simulate(design: Design, name: str, place: int, repeats: int) -> Iterator[dict[str, Any]]:
    """Yield the figures of each number, over all groups."""
    rng = np.random.default_rng(zlib.crc32(f"{name} {place} {design.words}".encode()))
    shape, truth = measured(design), truths(design)
    checked(shape, design, rng)
    by, p = "g" if design.groups else None, len(NAMES)
    said, limits, values, plain = list[Any](), list[Any](), list[Any](), list[Any]()
    for _ in range(repeats):
        table = drawn(design, rng, design.rows)
        made = simulated(shape, tuple(k[0] for k in add_noise(shape, (counts(shape, table)[None],), rng)))
        both = [of(made) for of in (partial(gini, column="x", by=by), partial(lorenz, column="x", at=AT, by=by))]
        groups = len(truth)
        # by group, then the numbers
        joined = partial(_joined, groups=groups)
        said.append(joined([np.array([why is None for why in one.reasons]) for one in both]))
        limits.append(joined([one.intervals(0.95) for one in both]))
        values.append(joined([one.values for one in both]))
        plain.append(np.stack([of_rows(table.x[table.group == g]) for g in range(groups)]))
    for i, word in enumerate(NAMES[:p]):
        ok = np.stack(said)[..., i]
        ends, value, rows = (np.stack(one)[:, :, i] for one in (limits, values, plain))
        true = np.broadcast_to(truth[:, i], ok.shape)
        held = ((ends[..., 0] <= true) & (true <= ends[..., 1]))[ok]
        off, without = (value - true)[ok], (rows - true)[ok]
        yield {
            "set": name,
            "place": place,
            "number": word,
            "repeats": int(ok.size),
            "answers": int(ok.sum()),
            "held": int(held.sum()),
            "low": int((ends[..., 0] > true)[ok].sum()),
            "width": _rounded(np.median(np.diff(ends[ok], axis=-1))) if ok.any() else None,
            "bias": _rounded(off.mean() / off.std()) if ok.sum() > 1 else None,
            "error": _rounded(math.sqrt((off**2).mean() / (without**2).mean())) if ok.any() else None,
        }


def _joined(each: list[np.ndarray], groups: int) -> np.ndarray:
    return np.concatenate([one.reshape(groups, -1, *one.shape[1:]) for one in each], axis=1)


def _rounded(x: Any) -> float:
    return float(f"{float(x):.4g}")


INTRO = """# Gini coefficients and Lorenz curves

Coverage of 95% intervals of `release.gini(column)` and `release.lorenz(column, at)` from a histogram, in per cent,
± twice the Monte-Carlo error; bold is below 93% by more than that error. *answer*: share of releases without a
reason; *width*: median of intervals; *bias*: mean error in standard deviations of the errors; *error*: root mean square
of errors, divided by that of the rows' own number without privacy.  All but *answer* are of releases with an answer.
Tables are drawn anew for every release; truths are of values clamped to the bounds.
Written by `python benchmarks/inequality.py`; the designs are in `benchmarks/inequality_designs.py`.
"""
HEAD = (
    "| values | rows | bins | price | number | answer | held | width | bias | error |\n"
    "|---|---:|---:|---|---|---:|---:|---:|---:|---:|"
)
WORDS = {
    "kept": "Designs that were committed before any was simulated, and simulated with the estimator as it is.",
    "first": "Designs committed before any was simulated; the estimator was changed after they had been seen.",
    "before": "Designs committed before any was simulated, with the estimator as it was then. It was changed after they"
    " had been seen: heaps at bounds are taken halfway, multiples from 0 on have an answer and their own values, and"
    " what is not known of the density within a quantile's bin counts.",
    "seen": "Designs of the first study; the estimator was changed after they had been seen.",
}
OF = {"before": "first"}
"""Sets whose designs are those of another."""


def row(design: Design, one: dict[str, Any]) -> str:
    """Return a line of a table."""
    n = one["answers"]
    price = ", ".join(f"{k} = {v:g}" for k, v in design.price.items())
    words = design.words + (f" ({design.relation})" if design.relation != "replace-one" else "")
    bins = "a value each" if design.bins is None else design.bins
    cells = [words, f"{design.rows:,}", bins, price, one["number"], f"{100 * n / one['repeats']:.0f}"]
    if n < 20:
        return "| " + " | ".join(map(str, [*cells, "", "", "", ""])) + " |"
    held = one["held"] / n
    error = 2 * math.sqrt(max(held * (1 - held), 0.25 / n) / n)
    share = f"{100 * held:.1f} ± {100 * error:.1f}"
    share = f"**{share}**" if 100 * (held + error) < LEAST else share
    return (
        "| " + " | ".join(map(str, [*cells, share, one["width"], f"{one['bias']:.2f}", f"{one['error']:.2f}"])) + " |"
    )


def write() -> None:
    lines = map(json.loads, FIGURES.read_text(encoding="utf-8").splitlines())
    last = {(one["set"], one["place"], one["number"]): one for one in lines}
    parts = [INTRO]
    for name, words in WORDS.items():
        found = {key: one for key, one in last.items() if key[0] == name}
        if not found:
            continue
        repeats = sorted({one["repeats"] for one in found.values()})
        span = f"{repeats[0]}" if len(repeats) == 1 else f"{repeats[0]} to {repeats[-1]}"
        many = f"{len({key[1] for key in found})} of {len(SETS[OF.get(name, name)])} designs, {span} releases a row."
        parts += [f"\n## {name.capitalize()}\n\n{words} {many}\n", HEAD]
        order = sorted(found, key=lambda key: (key[1], NAMES.index(key[2])))
        parts += [row(SETS[OF.get(name, name)][key[1]], found[key]) for key in order]
    PAGE.write_text("\n".join(parts) + "\n", encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=200)
    parser.add_argument("--sets", default="first,kept,seen")
    parser.add_argument("--only", help="places of designs in their set")
    parser.add_argument("--print", action="store_true", help="print the figures and store none")
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    if given.write:
        write()
        return
    for name in given.sets.split(","):
        for place, design in enumerate(SETS[name]):
            if given.only is not None and str(place) not in given.only.split(","):
                continue
            made = list(simulate(design, name, place, given.repeats))
            print("\n".join(row(design, one) for one in made), flush=True)
            if not given.print:
                with FIGURES.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(one) + "\n" for one in made)


if __name__ == "__main__":
    main()
