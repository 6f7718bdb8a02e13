"""Errors of quantiles against the table's own, beside those of other libraries: docs/reference/quantile-points.md.

    python benchmarks/quantile_points.py [--quick]

Complete columns, the number of rows public, one row replaced, pure epsilon: the same promise for all.
- diffprivlib's `quantile` and `median` (0.6): the exponential mechanism on the intervals between neighbouring rows,
  with measure their length and score -|i - p n|, i rows below; sensitivity 1 (its relation replaces a row), and
  probability proportional to length times exp(epsilon score / 2).  Its law is computed here from that definition.
- OpenDP (0.16): scores of evenly spaced candidates with their size known, and the largest of scores with exponential
  noise (`then_quantile_score_candidates`, `then_noisy_max`).  A replaced row is two of its units: for the median the
  score is |rows below - rows above| and the scale 4 / epsilon.  The law, that of permute-and-flip, is computed here,
  and `cost` asks the library for what it costs, where it is installed.

Designs were written down before any was simulated: SHAPES, SIZES, PRICES, PROBS."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import product
from pathlib import Path
from typing import Any, Final, cast

import numpy as np
from quantile_draws import checked, designed, joint, law, of_cuts
from quantile_draws import share as part_of

import tacit as tc
from tacit.method.quantiles import cube_errors
from tacit.method.quantiles.design import RUNGS, reach
from tacit.method.quantiles.estimate import few_rows_warning
from tacit.method.quantiles.estimate_steps import of_selections
from tacit.method.quantiles.rank_errors import scale_of, share_of_ends
from tacit.noise.permute_and_flip import PermuteAndFlip
from tacit.noise.selection_law import Selection

PAGE: Final = Path(__file__).parents[1] / "docs" / "reference" / "quantile-points.md"
Draw = Callable[[np.random.Generator, int], np.ndarray]
SHAPES: Final[dict[str, tuple[float, float, Draw]]] = {
    "normal, range 10 sd": (-5, 5, lambda rng, n: rng.normal(0, 1, n)),
    "normal, range 40 sd": (-20, 20, lambda rng, n: rng.normal(0, 1, n)),
    "lognormal incomes": (0, 300_000, lambda rng, n: rng.lognormal(10.5, 0.8, n)),
    "exponential waits": (0, 20, lambda rng, n: rng.exponential(1, n)),
    "incomes in whole hundreds": (0, 300_000, lambda rng, n: 100 * np.rint(rng.lognormal(10.5, 0.8, n) / 100)),
    "ages in years": (0, 110, lambda rng, n: np.rint(rng.normal(45, 18, n))),
    "scores in points": (0, 1_000, lambda rng, n: np.rint(rng.normal(500, 100, n))),
}
WHOLE: Final = ("ages in years", "scores in points")
"""Columns declared as whole numbers, which are then the candidates of all who have a grid."""
SIZES: Final = (500, 5_000, 50_000)
PRICES: Final = ("0.2", "1")
PROBS: Final = ("1/2", "9/10")
CANDIDATES: Final = (257, 4_097)
"""Numbers of evenly spaced candidates; the better of both is shown."""
KEPT: dict[tuple[str, int, str, str], str] = {}
"""Lines of selected ends that are not simulated again."""
DRAWS: Final = 100
"""Draws from each table where an error is not computed exactly."""
TABLES: Final = 100
"""Tables drawn for each cell of the page."""
LEAST_ERROR: Final = 1e-4
"""Mean absolute error, of whole numbers, below which the table's own value is all but certain for all."""


def diffprivlib(x: np.ndarray, lower: float, upper: float, p: float, epsilon: float, own: float) -> float:
    """Mean absolute error, exactly."""
    ends = np.concatenate([[lower], x, [upper]])
    low, high = ends[:-1], ends[1:]
    score = -np.abs(np.arange(len(x) + 1) - p * len(x))
    weight = (high - low) * np.exp(epsilon / 2 * (score - score.max()))
    width = np.where(high > low, high - low, 1.0)
    inside = ((own - low) ** 2 + (high - own) ** 2) / (2 * width)
    error = np.where((low < own) & (own < high), inside, np.abs((low + high) / 2 - own))
    return float(weight @ error / weight.sum())


def opendp(x: np.ndarray, lower: float, upper: float, p: Fraction, epsilon: str, own: float, many: int) -> float:
    """Mean absolute error, exactly."""
    places = np.linspace(lower, upper, many)
    below, upto = np.searchsorted(x, places, "left"), np.searchsorted(x, places, "right")
    a, b = p.numerator, p.denominator
    score = -np.abs((b - a) * below - a * (len(x) - upto))
    # a replaced row changes a score by b at most; noise of the maximum has scale 2 b / epsilon
    chosen = PermuteAndFlip(Fraction(epsilon) / (2 * b)).pmf(score, np.ones(many))
    return float(chosen @ np.abs(places - own))


def cost(scale: float) -> float | None:
    """OpenDP's own epsilon of that noise for a median, where one row of 500 is replaced; None without the library."""
    try:
        import opendp.prelude as dp
    except ImportError:
        return None
    dp.enable_features("contrib")
    rows: Any = dp.vector_domain(dp.atom_domain(bounds=(0.0, 1.0), nan=False), size=500), dp.symmetric_distance()
    score = rows >> dp.t.then_quantile_score_candidates([0.25, 0.5, 0.75], alpha=0.5)
    return float((score >> dp.m.then_noisy_max(dp.max_divergence(), scale=scale)).map(2))


def whole(column: Any, x: np.ndarray, own: float, level: float, rng: Any) -> tuple[float, float]:
    """Mean absolute errors of the value of a release with an interval, and of its middle step alone; DRAWS draws."""
    far = reach(column, len(x), level)
    if column.form.name == "joint-4":
        drawn = joint(column, x, far, DRAWS, rng)
    else:
        drawn = np.stack([law(column, x, far * rung).draw(DRAWS, rng) for rung in RUNGS[column.form.name]], axis=-1)
    steps = drawn.astype(np.float64)[:, None, :]
    few = few_rows_warning(column.released(()), len(x), level) is not None
    scale, p = scale_of(column.form.parameters, column.law.scale), float(part_of(column))
    weight = share_of_ends(scale, far)
    if column.form.name == "joint-4":
        weight = cube_errors.share_of_ends(scale, far, len(x) * min(p, 1 - p))
    weight = 0.0 if few else weight
    values = of_selections(steps, column.grid, np.full((len(steps), 1), weight))[0]
    alone = of_selections(steps, column.grid, np.zeros((len(steps), 1)))[0]
    return float(np.mean(np.abs(values - own))), float(np.mean(np.abs(alone - own)))


def by_cuts(query: Any, shape: Any, x: np.ndarray, own: float, rng: Any) -> tuple[float, float]:
    """Mean absolute error of the value that is read from cuts, which have no middle step; DRAWS draws."""
    return float(np.mean([abs(of_cuts(query, shape, x, rng).value - own) for _ in range(DRAWS)])), np.nan


def cell(name: str, n: int, epsilon: str, prob: str, tables: int) -> str:
    lower, upper, draw = SHAPES[name]
    rng, p, price = np.random.default_rng([n, len(name)]), Fraction(prob), float(epsilon)
    whole_numbers = name in WHOLE
    kind = tc.Integer(int(lower), int(upper), missing=int(lower)) if whole_numbers else None
    schema = tc.Schema({"x": kind or tc.Real(lower, upper, missing=lower)})
    grids = (int(upper - lower) + 1,) if whole_numbers else CANDIDATES
    query = tc.Quantiles("x", [prob])
    points = tc.Quantiles("x", [prob], interval=False)
    (point,) = designed(points, schema, n, "replace-one", epsilon=epsilon).columns
    shape = designed(query, schema, n, "replace-one", epsilon=epsilon)
    interval, cuts = shape.columns[0], shape.columns[0].form.name == "cuts"
    if not cuts and (name, n, epsilon, prob) in KEPT:
        return KEPT[name, n, epsilon, prob]
    exponential = replace(point, law=cast(Any, Selection(1 / point.law.scale)))
    found = []
    for i in range(tables):
        x = np.sort(np.clip(draw(rng, n), lower, upper))
        own = float(np.quantile(x, float(p), method="inverted_cdf"))
        if i == 0:
            checked(point, x, 0)
            if interval.form.name not in ("joint", "cuts"):  # which draws from the triples of a release
                checked(interval, x, 7)
        h = (upper - lower) / point.form.parameters["G"]
        found.append(
            (
                law(point, x).error(own, lower, h),
                law(exponential, x).error(own, lower, h),
                diffprivlib(x, lower, upper, float(p), price, own),
                *(opendp(x, lower, upper, p, epsilon, own, many) for many in grids),
                *(by_cuts(query, shape, x, own, rng) if cuts else whole(interval, x, own, 0.95, rng)),
            )
        )
    ours, before, other, *candidates, value, step = np.mean(found, axis=0)
    best = min(other, *candidates)
    if whole_numbers and best < LEAST_ERROR:
        return f"| {name} | {n:,} | {epsilon} | {float(p):g} | 0 | – | – | – | – | – | – |"
    ratios = " / ".join(f"{ours / one:.2f}" for one in candidates)
    return (
        f"| {name} | {n:,} | {epsilon} | {float(p):g} | {ours:.3g} | {ours / best:.2f} | {ours / other:.2f} "
        f"| {ratios} | {before / best:.2f} | {value / best:.2f} "
        f"| {'cuts' if cuts else f'{step / best:.2f}'} |"
    )


HEAD: Final = (
    (
        "| values | n | ε | p | error | ÷ the best peer's | ÷ diffprivlib's | ÷ OpenDP's, {few} / {many} candidates "
        "| by the exponential mechanism: ÷ the best peer's | with an interval: ÷ the best peer's "
        "| its middle step alone |\n"
        "|---|---:|---:|---:|---:|---:|---:|---:|---:|---:|---:|"
    )
    .replace("{few}", f"{CANDIDATES[0]:,}")
    .replace("{many}", f"{CANDIDATES[1]:,}")
)


def cells(tables: int) -> Iterator[str]:
    yield HEAD
    for name in SHAPES:
        for n in SIZES:
            for epsilon in PRICES:
                for prob in PROBS:
                    yield cell(name, n, epsilon, prob, tables)


INTRODUCTION: Final = """# Errors of quantiles

Mean absolute error of a released quantile against that of the table itself, with and without an interval, beside two
other libraries at the same cost. Written by `python benchmarks/quantile_points.py`: {tables} tables a cell.

Columns are complete, the number of rows is public, one row is replaced, and prices are pure ε, for all alike.
`interval=False` spends the whole price on the point: *error*, and its ratios to the others' errors. The last two
columns are of a release with its 95% interval, whose price pays for three steps: of its value, which uses all three,
and of the middle step alone, which was the value in 0.1; of few rows at a low price values are read from
[cuts](quantile-choice.md).

*diffprivlib* (0.6): the exponential mechanism on the intervals between rows, computed from its definition (sensitivity
1, exp(ε score / 2)). *OpenDP* (0.16): evenly spaced candidates and the largest noisy score; of columns of real numbers
{few} and {many} candidates, between whom a user has to choose before anything is known of the rows; *the best peer* is
the better one, known only afterwards. Candidates one or two times as far apart as a selection errs lower its error, by
15% at most, and ones further apart raise it without limit: either number fixed for all columns is somewhere 4 to 100
times worse than none. Points of several spacings at once, the coarser ones favoured, gain 3 to 5% at best (tried).
Where many rows are equal (whole hundreds) the intervals between rows miss the value that most rows have, and a grid
does not.

At pure prices Tacit, as OpenDP, selects by permute-and-flip; until 0.2 it was the exponential mechanism, whose error is
in a column of its own. The two differ where few candidates are near: on columns of whole numbers (*ages*, *scores*),
whose grid is theirs. A column of real numbers has a grid so fine that both are one law; which coarser grid would suit
its rows no public fact says.

Of equal rows Tacit's utility looks at the nearer end of their ranks, and OpenDP's score at the rank a part p of the way
through them: for a median much the same, and elsewhere OpenDP may prefer a value beside the table's own.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--tables", type=int, default=TABLES)
    parser.add_argument("--cuts", action="store_true", help="simulate lines of cuts, and keep the page's others")
    options = parser.parse_args()
    if options.cuts:
        lines = [line for line in PAGE.read_text(encoding="utf-8").splitlines() if line.startswith("| ")]
        for line, (name, n, epsilon, prob) in zip(lines[1:], product(SHAPES, SIZES, PRICES, PROBS), strict=True):
            assert line.startswith(f"| {name} | {n:,} | {epsilon} | {float(Fraction(prob)):g} |"), line
            KEPT[name, n, epsilon, prob] = line
    tables, start = (4 if options.quick else options.tables), time.monotonic()
    own = cost(4 / 0.2)
    assert own is None or abs(own - 0.2) < 1e-6, own
    few, many = (f"{number:,}" for number in CANDIDATES)
    page = [INTRODUCTION.format(tables=tables, few=few, many=many)]
    for line in cells(tables):
        print(line, flush=True)
        page.append(line)
    if not options.quick:
        PAGE.write_text("\n".join(page) + "\n", encoding="utf-8")
    print(f"{time.monotonic() - start:.0f} s")


if __name__ == "__main__":
    main()
