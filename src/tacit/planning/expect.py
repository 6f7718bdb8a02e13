"""Expected precision: the real inference on the integers that a uniform column would give, without noise."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from statistics import NormalDist
from typing import TYPE_CHECKING, cast

import numpy as np
from numpy.typing import NDArray

from tacit.mechanisms import quantiles
from tacit.mechanisms.moments import Column, Design
from tacit.queries import Quantiles
from tacit.release import cell_labels
from tacit.rowmap import Share
from tacit.testing.simulate import simulated

if TYPE_CHECKING:
    from tacit.inference.estimate import Estimate

ASSUMED = "values and weights spread evenly over their bounds, levels equally frequent, nothing missing"
GUESSED_ROWS = 10_000
"""Rows assumed where their number is private and not given."""
POINTS = 1_001


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
            rows / shape.cells,
        )
        for i, term in enumerate(found.terms)
    ]


def _quantiles(shape: Design, rows: int) -> list[Expected]:
    """Ranks to width, where values spread evenly: an interval is 2 c of the rows, and 2 c / n of the range, wide."""
    chosen, sizes = quantiles.split(shape)
    query = cast(Quantiles, shape.query)
    noise = 0.0 if sizes is None else sizes.law.variance()
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


def estimate(shape: Design, rows: int) -> Estimate:
    """The estimate of a table of `rows` rows as assumed, its noise drawn as zero but counted in its errors."""
    cells = shape.cells
    return simulated(shape, tuple(_integers(column, rows / cells, cells) for column in shape.columns)).estimate()


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
