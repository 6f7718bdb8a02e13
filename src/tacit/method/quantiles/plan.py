"""Expected precision of quantiles, from public facts."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import cast

from tacit.method.quantiles.design import reach, split
from tacit.method.quantiles.query import Quantiles
from tacit.method.quantiles.rank_errors import scale_of
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.plan_expected import Expected
from tacit.release.parts import cell_labels


def expected(shape: Measurement, rows: int, level: float) -> list[Expected]:
    """Return the expected precision of each quantile, for values that are spread evenly over the bounds.

    An interval reaches from rank p n - c to p n + c, so its width is 2 c / n of the range.  `level` is ignored: the
    intervals are released, at the level of the question.  Of points alone (interval=False) the width is that of the
    interval of `level` that would hold their error, which is not released.
    """
    query = cast(Quantiles, shape.query)
    level = query.level if query.interval else level
    z = NormalDist().inv_cdf(0.5 + level / 2)
    found: list[Expected] = []
    rows = max(1, rows // shape.cells)  # with more cells than rows the width is that of the bounds
    for p, column in zip(cast("tuple[Fraction, ...]", query.probs), split(shape)[0], strict=True):
        at = column.rowmap
        assert at is not None
        span = at.upper - at.lower
        # a sample quantile has standard deviation sqrt(p (1 - p) / n) / f, with the density f = 1 / span
        without = 2 * z * math.sqrt(float(p * (1 - p)) / rows) * span
        width = min(2 * _half(column, rows, level, z) / rows * span, span)
        value = at.lower + float(p) * span
        privacy = max(0.0, 1 - (without / width) ** 2) if width else 0.0
        found.append(Expected(f"{float(p):g}", value, width, privacy, without, width / (2 * z), rows))
    if not shape.keys:
        return found
    cells = cell_labels(shape.levels)
    if len(found) == 1:
        return [replace(found[0], term=cell) for cell in cells]
    return [replace(one, term=f"{cell}:{one.term}") for cell in cells for one in found]


def _half(column: PartSpec, rows: int, level: float, z: float) -> float:
    """Return the half-width of an interval in ranks; of a point alone, z standard deviations of its error."""
    if column.form.name != "point":
        return reach(column, rows, level)
    facts = column.form.parameters
    p, scale = facts["numerator"] / facts["denominator"], scale_of(facts, column.law.scale)
    # a Laplace error has variance 2 scale**2
    return z * math.sqrt(rows * p * (1 - p) + 2 * scale**2)
