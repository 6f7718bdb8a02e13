"""Expected precision of a question: by the plan of its method's room, or of evenly spread values."""

from __future__ import annotations

from typing import Any

from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected, uniform
from tacit.planning import expected_regressions
from tacit.release.registry import opened, room_of


def plan_of(shape: Measurement) -> Any:
    """The module that plans a question; None where evenly spread values tell its precision."""
    room = room_of(shape.query)
    # a regression's plan makes rows up and simulates both its steps, which stands above the rooms of methods
    return expected_regressions if room == "regression" else opened(str(room), "plan", optional=True)


def expected(shape: Measurement, rows: int, level: float) -> list[Expected]:
    """One entry a term."""
    plan = plan_of(shape)
    return uniform(shape, rows, level) if plan is None else plan.expected(shape, rows, level)


def cautions(shape: Measurement, rows: int) -> list[str]:
    """What a careful colleague would say of a method, from public facts."""
    plan = plan_of(shape)
    return plan.cautions(shape, rows) if hasattr(plan, "cautions") else []


def says_all(shape: Measurement) -> bool:
    """Whether these are all its cautions: others would judge its terms by what does not hold for the method."""
    return getattr(plan_of(shape), "SAYS_ALL", False)
