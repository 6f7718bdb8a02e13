"""Expected precision of a histogram, from public facts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from tacit.method.histogram import sparse_design
from tacit.method.histogram.estimate_sparse import conditional
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, regular, uniform
from tacit.rows.row_map import KeyMap
from tacit.schema.autobins import advised, alpha_of

SHOWN: Final = 40
"""Cells that are listed one by one."""


def expected(shape: Measurement, rows: int, level: float) -> list[Expected]:
    """One entry a cell, or one for all where there are many; of a sparse histogram one for a cell that passes."""
    if shape.kind == sparse_design.KIND:
        return [_kept(shape, rows, level)]
    if shape.cells > SHOWN:
        return [replace(_cell(shape, rows, level), term=f"each of {shape.cells:,} cells")]
    return uniform(shape, rows, level)


def _cell(shape: Measurement, rows: int, level: float) -> Expected:
    """One cell of many alike: as if there were two of its size, and the rest were left out."""
    two = replace(shape, keys=(KeyMap("", "", "category", (0, 1), ("0", "1"), None),), axes=shape.axes[:1])
    share = 2 * rows / regular(shape)
    fewer = replace(two, rows=None, neighbors="add-remove")
    return replace(uniform(fewer, max(2, round(share)), level)[0], rows=rows / regular(shape))


def _kept(shape: Measurement, rows: int, level: float) -> Expected:
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


SAYS_ALL: Final = True
"""Of a histogram many cells may be small: what is made of them is what it is for."""


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Cells that noise fills, and bins a column by the mean-squared-error rule of corrected fits."""
    if shape.kind == sparse_design.KIND:
        return []
    (column,) = shape.columns
    cells = regular(shape)
    spread = math.sqrt(column.law.variance()) / column.form.parameters.get("share", 1)
    binned = [len(axis.edges) - 1 for axis in shape.axes if axis.edges]
    enough = advised(rows, alpha_of(spread), len(binned)) if binned else 0
    if spread <= rows / cells and all(bins <= 3 * enough for bins in binned):
        return []
    advice = f"; about {enough} bins a column would do" if binned else "; fewer columns or levels would do"
    noise = f"noise of standard deviation {spread:.2g} in each, and {rows / cells:.2g} rows"
    return [f"{cells:,} cells for {rows:,} rows: {noise}{advice}"]
