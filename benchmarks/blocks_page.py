"""The page and the picture of `sample_and_aggregate.py`, from the rows that it kept: nothing is written by hand."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
from blocks_study import FULL

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "sample-and-aggregate.md"
PICTURE = PAGE.with_suffix(".svg")
WAYS: Final = ("default", "winsorised", "one step", "published k", "uncorrected")
GOOD: Final = (0.93, 0.97)

TEXT: Final = """# Sample and aggregate

What estimates from blocks are worth. Page and picture are written by `python benchmarks/sample_and_aggregate.py --page`
from the rows it keeps.

One parameter of each model; boxes and true parameters are those of `benchmarks/blocks_study.py`. The price is that of
all parameters of the model: of a model with two, a row at ε = 1 is also that of one of them released alone
(`parameters=`) at ε = 0.5. In each cell: **mean squared error over the Cramér–Rao bound** of all rows without privacy;
then bias over standard deviation, coverage of the 95% interval in %, and its width over that of the interval that
attains the bound.

- *Default*: `SampleAndAggregate(…, method="tuned", bias="cox-snell")`, k blocks: the default of the versions before,
  which trusts the law.
- *Winsorised*: `winsorize=True`, in the same box, of which it makes little use.
- *One step*: `one_step=True`.
- *Published k*: n^(3/5) ε^(−2/5) blocks, as in the paper, corrected for bias.
- *Uncorrected*: as default, with `bias="none"`.

How it is simulated: blocks are independent and alike, so that a release is made of k estimates drawn from one law, and
noise. For each model and block size that law is simulated once, by {pool:,} blocks (fewer where they are large, a fifth
of models that take long, and of pilots, published k and uncorrected), each of equal size, drawn and fitted anew; their
mean is corrected by a control variate, the block's own score. Releases ({releases:,} of default, published k and
uncorrected, half as many winsorised, {steps:,} or more of one step: coverage is known to 1.0, 1.4 and 1.8 points, two
standard errors) draw k blocks from that pool, and noise from the law of the mechanism. Sums over all rows, of one step,
are drawn from their normal limit. Mean squared errors of winsorised and of one step are those of the releases, known to
9% and 12% (below 1 is luck); the others follow from the bias and the variance of the pool. At n = 1,000,000 the pool
leaves an error of about 0.3 in the bias over standard deviation of means of blocks. All rows of a method use the same
random numbers, so that their Monte-Carlo errors are alike.
"""

REASONS: Final = """
Where coverage is outside 93 to 97%, a letter says why: *b*, the bias of blocks is above a fifth of the standard
deviation (remedy: more rows a block, that is fewer `blocks=`, for more noise); *e*, standard errors are off by more
than 4% (where noise dominates they are kept from being too small, and intervals are long); *w*, blocks are too few for
their quartiles to be selected accurately at the price, as plans say beforehand; *m*, the coverage may be within these
limits: it is within two standard errors of the simulation; *l*, none of these: the law of the error is not the one
that intervals use. A width of ∞: in some releases a reason stands for the interval.
"""


def page(rows: Sequence[dict[str, Any]]) -> str:
    """The page, in Markdown."""
    ways = [one for one in rows if one["table"] == "ways"]
    ways.sort(key=lambda one: (ORDER.index(one["model"]), one["n"], one["epsilon"]))
    head = ["model, parameter", "n", "ε", "k", *WAYS]
    lines = [_line(head), "|---|" + "---:|" * (len(head) - 1)]
    for one in ways:
        k = f"{one['default']['blocks']:,}"
        cells = [_cell(one[way]) for way in WAYS]
        lines.append(_line([f"{one['model']}, {one['shown']}", f"{one['n']:,}", f"{one['epsilon']:g}", k, *cells]))
    said = TEXT.format(pool=FULL.pool, releases=FULL.releases, steps=FULL.steps)
    parts = [said, "\n".join(lines), REASONS, _counted(ways), _wide(rows), _slopes(ways)]
    return "\n".join(part.strip("\n") + "\n" for part in parts)


ORDER: Final = (
    "Bernoulli", "Poisson", "Geometric", "NegativeBinomial", "Exponential", "Gamma", "Weibull", "Lognormal", "Normal",
    "Laplace", "StudentT", "Beta",
)  # fmt: skip


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"


def _cell(one: dict[str, Any]) -> str:
    why = "" if GOOD[0] <= one["coverage"] <= GOOD[1] else f" *{_reason(one)}*"
    return f"**{_short(one['ratio'])}** {one['bias']:+.2f} {100 * one['coverage']:.1f}{why} {_short(one['width'])}"


def _short(x: float) -> str:
    if x == float("inf"):
        return "∞"
    return f"{x:,.0f}" if x >= 100 else f"{x:.2f}"


def _reason(one: dict[str, Any]) -> str:
    nearest = min(max(one["coverage"], GOOD[0]), GOOD[1])
    if abs(one["coverage"] - nearest) < 2 * (nearest * (1 - nearest) / one["releases"]) ** 0.5:
        return "m"
    if one.get("window") and one["window"] < 3:
        return "w"
    if abs(one["bias"]) > 0.2 and one["coverage"] < GOOD[0]:
        return "b"
    return "e" if abs(one["errors"] - 1) > 0.04 else "l"


def _counted(ways: Sequence[dict[str, Any]]) -> str:
    """Count the cells whose coverage is within the limits, for each method."""
    words = []
    for way in WAYS:
        found = [GOOD[0] <= one[way]["coverage"] <= GOOD[1] for one in ways]
        words.append(f"{way} {sum(found)} of {len(found)}")
    return f"Cells with coverage from 93 to 97%: {', '.join(words)}."


def _wide(rows: Sequence[dict[str, Any]]) -> str:
    found = [one for one in rows if one["table"] == "wide"]
    found.sort(key=lambda one: (ORDER.index(one["model"]), one["epsilon"]))
    head = [
        "model, parameter",
        "ε",
        "well-chosen box",
        "wide, winsorised",
        "ratio of errors",
        "coverage, %",
        "wide, as it is",
    ]
    lines = [_line(head), "|---|" + "---:|" * (len(head) - 1)]
    for one in found:
        base, win, raw = (one[way] for way in ("default", "winsorised", "wide"))
        ratio = (win["ratio"] / base["ratio"]) ** 0.5
        cells = [f"{one['model']}, {one['shown']}", f"{one['epsilon']:g}", *(_short(x["ratio"]) for x in (base, win))]
        lines.append(_line([*cells, f"**{ratio:.2f}**", f"{100 * win['coverage']:.1f}", _short(raw["ratio"])]))
    return f"""
## A box 1,000 times too wide

n = 100,000. Mean squared error over the bound: in the box of the table above as it is (default), in one 1,000 times as
wide with `winsorize=True`, and in that one as it is; the ratio of root mean squared errors of the first two, and
the coverage of winsorised.

{chr(10).join(lines)}
"""


# The slope ----------------------------------------------------------------------------------------------------------


def slope(ways: Sequence[dict[str, Any]], model: str, epsilon: float, way: str) -> tuple[list[int], list[float]]:
    """Return sizes, and mean squared error over the bound less 1."""
    found = sorted((o["n"], o[way]["ratio"] - 1) for o in ways if o["model"] == model and o["epsilon"] == epsilon)
    return [n for n, _ in found], [max(x, 1e-4) for _, x in found]


def _fitted(sizes: Sequence[int], excess: Sequence[float]) -> float:
    return float(np.polyfit(np.log(sizes), np.log(excess), 1)[0])


def _slopes(ways: Sequence[dict[str, Any]]) -> str:
    models = [one for one in ORDER if any(o["model"] == one for o in ways)]
    head = ["model", *(f"{n:,}" for n in sorted({o["n"] for o in ways})), "slope", "of the last two"]
    lines = [_line(head), "|---|" + "---:|" * (len(head) - 1)]
    for model in models:
        sizes, excess = slope(ways, model, 1.0, "default")
        if len(sizes) > 2:
            cells = [f"{x:.2f}" for x in excess]
            lines.append(
                _line([model, *cells, f"{_fitted(sizes, excess):.2f}", f"{_fitted(sizes[1:], excess[1:]):.2f}"])
            )
    return f"""
## How the excess falls

Mean squared error over the bound, less 1, of the default at ε = 1, and its slope in n on log scales. Where the number
of blocks is a multiple of (n/ε)^(2/3), theory says −1/3: the noise and the extra variance of small blocks both fall
so, once standard errors of blocks are narrow in their box. It is steeper where the box is wide and noise dominates: its
part falls as k^-2 n, that is n^(−1/3) at the rule, n^(−1/2) where the bound on the bias makes k a multiple of
n^(3/4), and n^-1 where k is n/20.

{chr(10).join(lines)}

![Excess over the bound against n, on log scales](sample-and-aggregate.svg)
"""


def picture(rows: Sequence[dict[str, Any]]) -> str:
    """Draw the excess over the bound against n on log scales, of the default and of one step, beside the slope -1/3,
    as SVG.
    """
    ways = [one for one in rows if one["table"] == "ways"]
    width, height, left, bottom = 520, 340, 60, 300

    def x(n: float) -> float:
        return left + (np.log10(n) - 4) / 2 * 340

    def y(excess: float) -> float:
        return bottom - (np.log10(min(max(excess, 0.01), 100)) + 2) / 4 * 270

    out = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}"',
        ' font-family="sans-serif" font-size="10">',
        f'<rect width="{width}" height="{height}" fill="white"/>',
    ]
    for power in range(-2, 3):
        at = y(10.0**power)
        out.append(
            f'<path d="M{left} {at:.0f}H400" stroke="#ddd"/>'
            f'<text x="52" y="{at + 3:.0f}" text-anchor="end">{10.0**power:g}</text>'
        )
    for n in (10_000, 100_000, 1_000_000):
        out.append(f'<text x="{x(n):.0f}" y="316" text-anchor="middle">{n:,}</text>')
    for way, style in (("default", 'stroke="#2f5d99"'), ("one step", 'stroke="#b3541e" stroke-dasharray="4 3"')):
        for model in ORDER:
            sizes, excess = slope(ways, model, 1.0, way)
            if sizes:
                points = " ".join(f"{x(n):.0f},{y(e):.0f}" for n, e in zip(sizes, excess, strict=True))
                label = (
                    f'<text x="406" y="{y(excess[-1]) + 3:.0f}" fill="#2f5d99">{model}</text>'
                    if way == "default"
                    else ""
                )
                out.append(f'<polyline points="{points}" fill="none" {style}/>{label}')
    start, end = (x(1e4), y(1.0)), (x(1e6), y(100 ** (-1 / 3)))
    out.append(f'<path d="M{start[0]:.0f} {start[1]:.0f}L{end[0]:.0f} {end[1]:.0f}" stroke="black" stroke-width="2"/>')
    out.append(
        '<text x="90" y="14">excess over the bound against n, ε = 1: '
        "default (blue), one step (dashed), slope −1/3 (black)</text>"
    )
    return "\n".join([*out, "</svg>"]) + "\n"
