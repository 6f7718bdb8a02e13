"""Expected precision of quantiles, from public facts."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import cast

from tacit.method.quantiles.design import reach, split
from tacit.method.quantiles.query import Quantiles
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.release.parts import cell_labels


def expected(shape: Measurement, rows: int, level: float) -> list[Expected]:
    """Return the expected precision of each quantile, for values that are spread evenly over the bounds.

    An interval reaches from rank p n - c to p n + c, so its width is 2 c / n of the range.  `level` is ignored: the
    intervals are released, at the level of the question.
    """
    del level
    chosen, sizes = split(shape)
    query = cast(Quantiles, shape.query)
    noise = 0.0 if sizes is None else sizes.law.variance() / sizes.form.parameters.get("share", 1) ** 2
    z = NormalDist().inv_cdf(0.5 + query.level / 2)
    found: list[Expected] = []
    rows = max(1, rows // shape.cells)  # with more cells than rows the width is that of the bounds
    for p, column in zip(cast("tuple[Fraction, ...]", query.probs), chosen, strict=True):
        at = column.rowmap
        assert at is not None
        span, c = at.upper - at.lower, reach(column, rows, noise, query.level)
        # a sample quantile has standard deviation sqrt(p (1 - p) / n) / f, with the density f = 1 / span
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
