"""The question of a risk function, as plain values.  No data here."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

from tacit.base.arguments import described
from tacit.errors import QueryError
from tacit.release.query import Needed, Query
from tacit.release.query_checks import condition as _condition
from tacit.release.query_checks import names as _names

if TYPE_CHECKING:
    from tacit.method.risk_function.estimate import RiskFunctionRelease  # noqa: F401

LOSSES: Final = ("logistic", "hinge", "squared", "huber")
"""The first two are of an outcome of two levels, the others of numbers."""
MOST_DEGREE: Final = {1: 8, 2: 6}
"""Largest degree, by the number of regressors."""
NUMBERS: Final = {"squared": 2, "huber": 4}
"""Degrees of losses of numbers where none is given; a squared loss is known from three values of each coefficient."""
MOST_BOX: Final = 20.0
"""Largest coefficient that a box may allow."""


@dataclass(frozen=True)
class RiskFunction(Query["RiskFunctionRelease"]):
    """The mean loss of a linear predictor as a function of its coefficients, from noisy values on a lattice of them.

    outcome: of two levels for the losses "logistic" and "hinge" (a Boolean, or a Category, whose second level counts
    as 1), of numbers for "squared" and "huber".  on: one or two columns of numbers, or Booleans.  The predictor is
    z = c0 + c1 u1 + c2 u2, with each regressor on [-1, 1]: its lower bound is -1, its upper bound 1; so is an outcome
    of numbers.  loss: log(1 + exp(-yz)); (1 - yz)**2 / 2 for yz from 0 to 1, 0 beyond 1 and 1/2 - yz below 0;
    (y - z)**2 / 2; the same up to |y - z| = 1/2, and a straight line from there; y = -1 or 1 of two levels.  All are
    convex in the coefficients.  box: no coefficient is larger, above 0 and at most 20.  degree: k, from 2 to 8 (6 with
    two regressors); the risk is released at k + 1 values of each coefficient, from -box to box.  Where none is given it
    is the box rounded, at least 3, for "logistic", 2 more for "hinge", 2 for "squared" and 4 for "huber".
    where: of the rows for which a condition holds.  A row with a missing value is left out.  With a PrivacyUnit persons
    are counted: a person's rows weigh one in all.

    Raises QueryError Q01 to Q03, Q370 (loss=), Q371 (box=), Q372 (degree=), Q373 (on=); when planned or released Q10,
    Q12, Q13, Q374 (an outcome that does not fit the loss).  Source: Aldà & Rubinstein 2017, with the exact
    sensitivity, and the risk functions that a table can have in place of Bernstein polynomials.

    >>> RiskFunction("ok", "age", box=3).to_dict()
    {'query': 'RiskFunction', 'outcome': 'ok', 'on': ['age'], 'loss': 'logistic', 'box': 3.0}
    """

    needed: ClassVar = Needed(
        ("outcome", "on"), "RiskFunction needs an outcome and regressors.", 'outcome = "ok", on = ["age"]'
    )

    outcome: str
    on: Any
    loss: str = "logistic"
    box: float = 4.0
    degree: int | None = None
    where: str | None = None

    def __post_init__(self) -> None:
        outcome, on = _names("RiskFunction", "outcome", self.outcome), _names("RiskFunction", "on", self.on)
        if len(outcome) != 1:
            raise QueryError(f"RiskFunction has one outcome, not {len(outcome)}.", code="Q03", hint='outcome="ok"')
        if not 1 <= len(on) <= 2 or outcome[0] in on:
            text = f"RiskFunction of {outcome[0]!r} on {len(on)} columns: one or two others."
            raise QueryError(text, code="Q373", hint='on=["age"]')
        object.__setattr__(self, "outcome", outcome[0])
        object.__setattr__(self, "on", on)
        if not isinstance(self.loss, str) or self.loss not in LOSSES:  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"loss of RiskFunction is {described(self.loss)}: none of {', '.join(LOSSES)}."
            raise QueryError(text, code="Q370", hint='loss="logistic"')
        object.__setattr__(self, "box", _box(self.box))
        most, given = MOST_DEGREE[len(on)], self.degree
        if given is not None and (not isinstance(given, int) or isinstance(given, bool) or not 2 <= given <= most):  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"degree of RiskFunction is {described(given)}: not from 2 to {most}."
            raise QueryError(text, code="Q372", hint="degree=3, or leave it out")
        _condition(self)

    @property
    def steps(self) -> int:
        """The degree that is used, from the box and the loss where none is given."""
        if self.degree is not None:
            return self.degree
        if self.loss in NUMBERS:
            return NUMBERS[self.loss]
        return max(3, min(MOST_DEGREE[len(self.on)], round(self.box) + (2 if self.loss == "hinge" else 0)))


def _box(given: Any) -> float:
    number = isinstance(given, int | float) and not isinstance(given, bool)
    if not number or not math.isfinite(given) or not 1e-3 <= given <= MOST_BOX:
        text = f"box of RiskFunction is {described(given)}: not from 0.001 to {MOST_BOX:g}."
        raise QueryError(text, code="Q371", hint="box=4")
    return float(given)
