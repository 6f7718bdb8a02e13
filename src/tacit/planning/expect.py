"""Expected precision: the real inference on the integers that a uniform column would give, without noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from tacit.inference.sparse_histogram import conditional
from tacit.mechanisms import histogram, quantiles, ranges, regression, sparse_histogram, sufficient_statistics
from tacit.mechanisms.moments import Column, Design
from tacit.planning import blocks, statistics
from tacit.queries import Quantiles
from tacit.release import cell_labels
from tacit.rowmap import KeyMap, Share
from tacit.testing.simulate import simulated

if TYPE_CHECKING:
    from tacit.inference.estimate import Estimate

ASSUMED = "values and weights spread evenly over their bounds, levels equally frequent, nothing missing"
GUESSED_ROWS = 10_000
"""Rows assumed where their number is private and not given."""
POINTS = 1_001
SHOWN = 40
"""Cells of a histogram that are listed one by one."""


@dataclass(frozen=True)
class Expected:
    """Precision of one term: width of the interval, the part of its variance that is privacy, width without privacy."""

    term: str
    value: float
    width: float
    privacy: float
    without: float
    std_error: float
    rows: float


def expected(shape: Design, rows: int, level: float) -> list[Expected]:
    """One entry a term."""
    if shape.kind == quantiles.KIND:
        return _quantiles(shape, rows)
    if shape.kind == sparse_histogram.KIND:
        return [_kept(shape, rows, level)]
    if shape.kind == histogram.KIND and shape.cells > SHOWN:
        return [replace(_cell(shape, rows, level), term=f"each of {shape.cells:,} cells")]
    if shape.kind == ranges.KIND:
        return [_range(shape, rows)]
    if shape.blocks is not None:
        return _blocks(shape, rows, level)
    if shape.kind == regression.KIND:
        from tacit.planning import regressions

        return regressions.expected(shape, rows, level)
    found = estimate(shape, rows)
    limits = found.intervals(level)
    sampling, privacy = found.sampling_variances, found.privacy_variances
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    return [
        Expected(
            term or "all",
            float(found.values[i]),
            float(limits[i, 1] - limits[i, 0]),
            float(privacy[i] / (privacy[i] + sampling[i])) if privacy[i] + sampling[i] > 0 else 0.0,
            float(z * np.sqrt(sampling[i])),
            float(np.sqrt(sampling[i] + privacy[i])),
            rows / regular(shape),
        )
        for i, term in enumerate(found.terms)
    ]


def _quantiles(shape: Design, rows: int) -> list[Expected]:
    """Ranks to width, where values spread evenly: an interval is 2 c of the rows, and 2 c / n of the range, wide."""
    chosen, sizes = quantiles.split(shape)
    query = cast(Quantiles, shape.query)
    noise = 0.0 if sizes is None else sizes.law.variance() / sizes.form.parameters.get("share", 1) ** 2
    z = NormalDist().inv_cdf(0.5 + query.level / 2)
    found: list[Expected] = []
    rows = rows // shape.cells
    for p, column in zip(cast("tuple[Fraction, ...]", query.probs), chosen, strict=True):
        at = column.rowmap
        assert at is not None
        span, c = at.upper - at.lower, quantiles.reach(column, rows, noise, query.level)
        without = 2 * z * math.sqrt(float(p * (1 - p)) / rows) * span
        width = min(2 * c / rows * span, span)
        value = at.lower + float(p) * span
        privacy = max(0.0, 1 - (without / width) ** 2) if width else 0.0
        found.append(Expected(f"{float(p):g}", value, width, privacy, without, width / (2 * z), rows))
    if not shape.keys:
        return found
    cells = cell_labels(shape.levels)
    if len(found) == 1:
        return [replace(found[0], term=cell) for cell in cells]
    return [replace(one, term=f"{cell}:{one.term}") for cell in cells for one in found]


def _cell(shape: Design, rows: int, level: float) -> Expected:
    """One cell of many alike: as if there were two of its size, and the rest were left out."""
    two = replace(shape, keys=(KeyMap("", "", "category", (0, 1), ("0", "1"), None),), axes=shape.axes[:1])
    share = 2 * rows / regular(shape)
    fewer = replace(two, rows=None, neighbors="add-remove")
    return replace(expected(fewer, max(2, round(share)), level)[0], rows=rows / regular(shape))


def regular(shape: Design) -> int:
    """Cells that rows are assumed in: not those for what is missing or out of bounds."""
    return math.prod(key.regular for key in shape.keys)


def _blocks(shape: Design, rows: int, level: float) -> list[Expected]:
    """Parameters of a model, from its information and the noise of blocks."""
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    return [
        Expected(
            name, value, width, privacy / (privacy + own), z * math.sqrt(own), math.sqrt(privacy + own), float(rows)
        )
        for name, value, width, privacy, own in blocks.precision(shape, rows, level)
    ]


def _kept(shape: Design, rows: int, level: float) -> Expected:
    """A cell that passes, about this table: noise alone, for its sampling is not what it is released for."""
    (column,) = shape.columns
    facts, sd = column.form.parameters, math.sqrt(column.law.variance())
    share = facts.get("share", 1)
    y = np.array([float(2 * facts["threshold"])])
    low, high = conditional(column.law, facts["threshold"], y, level)
    width = float(high[0] - low[0]) / share
    return Expected(
        "a cell twice the threshold", float(y[0]) / share, width, 1.0, 0.0, sd / share, rows / regular(shape)
    )


def _range(shape: Design, rows: int) -> Expected:
    """The part of the rows that may lie beyond the bounds takes the place of a width."""
    pair = shape.columns[0]
    facts = pair.form.parameters
    beyond = 2 * ranges.target(facts, float(pair.law.scale), rows) / rows
    asked = 2 * facts["numerator"] / facts["denominator"]
    privacy = 1 - asked / beyond if beyond > asked else 0.0
    return Expected("part beyond the bounds", beyond, min(beyond, 1.0), privacy, asked, beyond, rows)


def estimate(shape: Design, rows: int) -> Estimate:
    """The estimate of a table of `rows` rows as assumed, its noise drawn as zero but counted in its errors."""
    if shape.kind == sufficient_statistics.KIND:
        return simulated(shape, statistics.integers(shape, rows)).estimate()
    filled = np.ones(1, dtype=np.int64)
    for key in shape.keys:
        filled = np.outer(filled, np.arange(key.size) < key.regular).reshape(-1)
    each = tuple(_integers(column, rows / regular(shape), shape.cells) for column in shape.columns)
    return simulated(shape, tuple(one * filled[:, None] for one in each)).estimate()


def _integers(column: Column, rows: float, cells: int) -> NDArray[np.int64]:
    if column.key is not None:
        one = np.zeros(len(column.key.labels))
        one[-1] = rows * (1 if column.weight is None else column.weight.G)
    elif column.rowmap is None:
        one = np.mean([column.form.row(0, a) for a in _weights(column)], axis=0) * rows
    else:
        G = column.rowmap.G
        points = [0, 1] if G == 1 else sorted({round(G * i / (POINTS - 1)) for i in range(POINTS)})
        one = np.mean([column.form.row(v, a) for a in _weights(column) for v in points], axis=0) * rows
    return np.repeat(np.rint(one).astype(np.int64)[None, :], cells, axis=0)


def _weights(column: Column) -> list[int | None]:
    """Weights spread evenly up to their cap; persons with as many rows as count, in one cell each."""
    if column.weight is None or not column.form.weights:
        return [None]
    G = column.weight.G
    alike = isinstance(column.weight, Share) and column.weight.of is None
    return [G] if alike else [round(G * i / 10) for i in range(11)]
