"""Expected precision of a range, from public facts."""

from __future__ import annotations

from tacit.method.ranges.design import target
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected part of the rows beyond the bounds, in place of the width of an interval."""
    del level, expect
    pair = shape.columns[0]
    facts = pair.form.parameters
    beyond = 2 * target(facts, float(pair.law.scale), rows) / rows
    asked = 2 * facts["numerator"] / facts["denominator"]
    # what noise adds: without it the part beyond the bounds is what the question asks for
    privacy = 1 - asked / beyond if beyond > asked else 0.0
    return [Expected("part beyond the bounds", beyond, min(beyond, 1.0), privacy, asked, beyond, rows)]
