"""Design Poisson regressions: choose the sums of each part from the question and public facts."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from tacit.errors import QueryError
from tacit.method.regression.designs import norm_scores_design
from tacit.method.regression.designs.scores_design import score_part
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums.product_parts import RowFacts, as_measurement, crossproduct_part, row_facts
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.release.parts import Variable
from tacit.rows.coordinates import H

VERSION: Final = "regression/3"


# the last part makes the coefficients; those before only say where to evaluate it
SHARES: Final = Fraction(10, 100), Fraction(15, 100), Fraction(15, 100), Fraction(60, 100)
"""Shares of the price, in the order of LABELS."""


LABELS: Final = "moments", "first scores", "second scores", "scores"


def design(query: Regression, public: Public, cost: Cost) -> Measurement:
    """Return the measurement of a Poisson regression; QueryError Q10, Q12, Q86, Q89, Q117, Q118."""
    facts = row_facts(query, public.schema)
    _check_response(facts.variables[0])
    return norm_scores_design.design(query, facts, public, cost)


def boxed(query: Regression, facts: RowFacts, public: Public, cost: Cost) -> Measurement:
    """Return the measurement whose sensitivities follow from the bounds of the coordinates."""
    first = crossproduct_part(LABELS[0], facts, public.neighbors, cost.share(SHARES[0]))
    scores = (
        # psi**2 in every part: the spread that the next scores assume is estimated from it
        score_part(label, facts, public.neighbors, cost.share(share), squares=True, weighed=True)
        for label, share in zip(LABELS[1:], SHARES[1:], strict=True)
    )
    return as_measurement(query, facts, public, cost, VERSION, (first, *scores))


def _check_response(fact: Variable) -> None:
    """Raise QueryError Q117 where the response is no count, Q118 where its bounds are too far apart for its steps."""
    if fact.kind != "integer" or fact.lower < 0:
        text = f"response {fact.name!r} of a Poisson regression is no count from 0 on."
        raise QueryError(text, code="Q117", hint=f'"{fact.name}": Integer(0, 100)')
    # with more steps counts would be rounded to a coarser grid, and the law of the rounded count is not the model's
    if fact.upper - fact.lower > H:
        text = (
            f"response {fact.name!r} of a Poisson regression has {fact.upper - fact.lower:,.0f} steps; {H:,} are kept."
        )
        hint = "a lower upper bound: counts above it are clamped, and the model knows"
        raise QueryError(text, code="Q118", hint=hint)
