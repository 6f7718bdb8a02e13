"""Expected precision of a histogram, from public facts."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final

import numpy as np

from tacit.estimates.noisy_terms.selected_counts import conditional
from tacit.method.histogram import sparse_design
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, regular, uniform
from tacit.method.shared.plan_shares import NOTHING, cell_shares, unknown_keys
from tacit.rows.row_map import KeyMap
from tacit.schema.autobins import advised, alpha_of
from tacit.schema.expectations import Expectations

SHOWN: Final = 40
"""Cells that are listed one by one."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return one entry a cell, or a few for all where they are many; for a sparse histogram, one cell that passes."""
    if shape.kind == sparse_design.KIND:
        return [_kept(shape, rows, level)]
    if shape.cells <= SHOWN:
        return uniform(shape, rows, level, expect)
    if len(unknown_keys(shape, expect)) == len(shape.keys):
        # equal cells have equal precision: one stands for all
        each = rows / regular(shape)
        return [replace(_cell(shape, each, level), term=f"each of {shape.cells:,} cells")]
    sizes = rows * np.sort(cell_shares(shape, expect))[::-1]
    kept = sizes[: regular(shape)]
    picked = (("largest", kept[0]), ("median", kept[len(kept) // 2]), ("smallest", kept[-1]))
    return [replace(_cell(shape, size, level), term=f"{word} of {shape.cells:,} cells") for word, size in picked]


def _cell(shape: Measurement, size: float, level: float) -> Expected:
    """Return what is expected of one cell of many that holds `size` rows: that of two such cells without the rest."""
    two = replace(shape, keys=(KeyMap("", "", "category", (0, 1), ("0", "1"), None),), axes=shape.axes[:1])
    # without the other cells the number of rows is not public: counts are taken as Poisson, as small ones are
    fewer = replace(two, rows=None, neighbors="add-remove")
    return replace(uniform(fewer, max(2, round(2 * size)), level)[0], rows=size)


def _kept(shape: Measurement, rows: int, level: float) -> Expected:
    """Return what is expected of a cell that passes: its interval is about this table, so noise alone counts."""
    (column,) = shape.columns
    facts, sd = column.form.parameters, math.sqrt(column.law.variance())
    share = facts.get("share", 1)
    # well above the threshold selection hardly matters to the interval
    y = np.array([float(2 * facts["threshold"])])
    low, high = conditional(column.law, facts["threshold"], y, level)
    width = float(high[0] - low[0]) / share
    return Expected(
        "a cell twice the threshold", float(y[0]) / share, width, 1.0, 0.0, sd / share, rows / regular(shape)
    )


SAYS_ALL: Final = True
"""Only the cautions below are shown: general ones on small cells would not fit, for cells are used in sums and fits."""


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return a caution where noise exceeds cells or bins are too many for corrected fits, with a better number."""
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
