"""Expected precision of a question: from its method's `plan.py`, or for values as expected (evenly, else)."""

from __future__ import annotations

from typing import Any

from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, uniform
from tacit.method.shared.plan_shares import NOTHING
from tacit.planning import expected_blocks, expected_cells, expected_regressions
from tacit.release.registry import room_module, room_of
from tacit.schema.expectations import Expectations


def plan_of(shape: Measurement) -> Any:
    """Return the module that plans a question; None where `uniform` (evenly spread values) does."""
    room = room_of(shape.query)
    # plans of regressions and of blocks simulate with `tacit.testing`, which stands above the rooms of methods
    if expected_cells.by_cells(shape):
        return expected_cells
    if room == "blocks":
        return expected_blocks
    return expected_regressions if room == "regression" else room_module(str(room), "plan", optional=True)


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each term; rows: number of rows, level: of the intervals."""
    plan = plan_of(shape)
    return uniform(shape, rows, level, expect) if plan is None else plan.expected(shape, rows, level, expect)


def as_expected(shape: Measurement, expect: Expectations) -> Measurement:
    """Return the design of a question as its plan takes it to be: a law at the parameters that are expected."""
    plan = plan_of(shape)
    return plan.as_expected(shape, expect) if hasattr(plan, "as_expected") else shape


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return the method's own cautions, from public facts."""
    plan = plan_of(shape)
    return plan.cautions(shape, rows) if hasattr(plan, "cautions") else []


def has_groups(shape: Measurement) -> bool:
    """Whether cells are groups with answers of their own: those of a density are bins of its columns."""
    return getattr(plan_of(shape), "GROUPS", True)


def says_all(shape: Measurement) -> bool:
    """Whether the method's own cautions replace the general ones, whose assumptions do not hold for it."""
    return getattr(plan_of(shape), "SAYS_ALL", False)
