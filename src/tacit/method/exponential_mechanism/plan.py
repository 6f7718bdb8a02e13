"""Expected precision of a selection from public facts: how far below the best its utility is at most."""

from __future__ import annotations

from typing import Final

from tacit.method.exponential_mechanism.design import bound
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the bound on what the utility is below the best, in place of the width of an interval."""
    del expect
    (part,) = shape.columns
    facts = part.form.parameters
    found = bound(part.law, facts["G"] + 1, level) / facts.get("share", 1)
    return [Expected("utility below the best", found, found, 1.0, 0.0, found, rows)]


SAYS_ALL: Final = True
"""The method's own cautions replace the general ones."""


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return what the bound is of."""
    del shape, rows
    return ["of the candidate its utility alone is bounded; sampling has no part in it"]
