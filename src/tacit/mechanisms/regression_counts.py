"""Poisson regression by cross-products and two sums of bounded scores.  INSIDE the wall.

Definition
    A complete row becomes bounded integers z, as for `regression`, the response on its own steps.  Released: sums of
    their products, and twice sums of psi z, of q z z' and of psi**2 z z': psi is the row's score, bounded in [-C, C],
    q a weight in [0, C] that is a function of the row's regressors (`linear.bend`), both at coefficients that the
    releases before tell (`linear.scoring`).  Public: schema, query, relation, price, and under replace-one the number
    of rows.  Neighbours: one row replaced, or one added or removed.  Persons are refused.
Sensitivity
    Proven beside the forms, for all pairs of rows and whatever psi and q are: `regression_forms`, `score_forms`.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the part's share of the price.
Cost
    SHARES of the price, fixed beforehand; each question is a function of earlier releases: adaptive composition, pure
    [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3].
Failures
    None depends on a row: whatever a part says, the next is asked (`regression_scores`).
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from tacit.errors import QueryError
from tacit.linear.layout import H
from tacit.linear.query import Regression
from tacit.mechanisms.moments import Design
from tacit.mechanisms.regression_rows import crossing, facts_of, of_columns
from tacit.mechanisms.regression_scores import column
from tacit.privacy import Cost
from tacit.release import Variable
from tacit.schema import Schema

VERSION: Final = "regression/3"
SHARES: Final = Fraction(10, 100), Fraction(15, 100), Fraction(15, 100), Fraction(60, 100)
"""Parts of the price: the moments, two first scores, the last."""
LABELS: Final = "moments", "first scores", "second scores", "scores"


# Definition ---------------------------------------------------------------------------------------------------------


def design(query: Regression, schema: Schema, *, neighbors: str, rows: int | None, cost: Cost) -> Design:
    """Coordinates, forms and noise from public facts; QueryError Q10, Q12, Q86, Q87, Q89, Q117, Q118."""
    facts = facts_of(query, schema)
    _response(facts.variables[0])
    first = crossing(LABELS[0], facts, neighbors, cost.share(SHARES[0]))
    scores = (
        column(label, facts, neighbors, cost.share(share), squares=True, weighed=True)
        for label, share in zip(LABELS[1:], SHARES[1:], strict=True)
    )
    return of_columns(query, facts, neighbors, rows, cost, VERSION, (first, *scores))


def _response(fact: Variable) -> None:
    """QueryError Q117 where the response counts nothing, Q118 where its bounds are too far apart for its steps."""
    if fact.kind != "integer" or fact.lower < 0:
        text = f"response {fact.name!r} of a Poisson regression is no count from 0 on."
        raise QueryError(text, code="Q117", hint=f'"{fact.name}": Integer(0, 100)')
    if fact.upper - fact.lower > H:
        text = (
            f"response {fact.name!r} of a Poisson regression has {fact.upper - fact.lower:,.0f} steps; {H:,} are kept."
        )
        hint = "a lower upper bound: counts above it are clamped, and the model knows"
        raise QueryError(text, code="Q118", hint=hint)
