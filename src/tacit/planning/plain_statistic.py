"""Whether the plain question would tell more than its bootstrap at the same price, which it nearly always does."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from tacit.curator.mechanisms import design
from tacit.errors import TacitError
from tacit.method.bootstrap.query import Bootstrap
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.plan_expected import Expected, uniform
from tacit.privacy import Cost
from tacit.schema.expectations import Expectations

LEVEL: Final = 0.95
"""Of the intervals that are compared; their ratio depends on it little."""


def plainer(
    shape: Measurement, terms: Sequence[Expected], public: Public, rows: int, expect: Expectations
) -> str | None:
    """Return in words that the statistic itself is more precise than its replicates; None where it is not."""
    if not isinstance(shape.query, Bootstrap):
        return None
    # of an approximate part its mu: that much of the price buys what needs no delta of its own
    cost = shape.cost if shape.cost.mu_squared is None else Cost(mu_squared=shape.cost.mu_squared)
    try:
        found = uniform(design(shape.query.statistic, public, cost), rows, LEVEL, expect)
    except TacitError:  # what cannot be asked is no advice
        return None
    errors = [(one.std_error, other.std_error) for one, other in zip(found, terms, strict=True)]
    if any(math.isinf(one.width) for one in found) or not all(one < other for one, other in errors):
        return None
    kind = type(shape.query.statistic).__name__
    ratio = math.sqrt(sum((one / other) ** 2 for one, other in errors) / len(errors))
    return (
        f"the plain {kind} at the same price has a standard error of its own, with intervals {ratio:.2f} times as wide"
    )
