"""Logistic and probit regression by three sums of bounded scores.  INSIDE the wall.

Definition
    A complete row becomes bounded integers z, as for `regression`.  Released three times: sums of psi z, of |psi| z z'
    and of psi**2 z z', where psi is the row's score, bounded in [-C, C] (`linear.bend`).  The first time psi is the
    response; then it is that of the model at coefficients that the releases before tell (`linear.scoring`).  Squares
    stand in the last part alone.  Public: schema, query, relation, price, and under replace-one the number of rows.
    Neighbours: one row replaced, or one added or removed.  Of persons: as for `regression`.
Sensitivity
    Proven beside the form, for all pairs of rows and whatever psi is: `score_forms`; of persons: `person_forms`.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the part's share of the price.
Cost
    SHARES of the price, fixed beforehand; each question is a function of earlier releases: adaptive composition, pure
    [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3].
Failures
    None depends on a row: whatever a part says, the next is asked, aimed at a place in the middle of the grid where
    arithmetic on released integers comes to no finite end.  A failure of the machine is the curator's to hide.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final, cast

from tacit.errors import QueryError
from tacit.linear.bend import Bend
from tacit.linear.formula import parse
from tacit.linear.layout import layout
from tacit.linear.query import Regression
from tacit.linear.rows import Product
from tacit.linear.scoring import aimed, start
from tacit.mechanisms import person_forms
from tacit.mechanisms import score_forms as forms
from tacit.mechanisms.moments import Design
from tacit.mechanisms.regression_rows import Crosses, Facts, facts_of, of_columns
from tacit.privacy import Cost, noise_for
from tacit.release import Part, Variable
from tacit.schema import Schema

VERSION: Final = "regression/2"
SHARES: Final = Fraction(15, 100), Fraction(15, 100), Fraction(70, 100)
"""Parts of the price: the moments, a first score, the last."""
LABELS: Final = "moments", "first scores", "scores"


# Definition ---------------------------------------------------------------------------------------------------------


def design(query: Regression, schema: Schema, *, neighbors: str, rows: int | None, cost: Cost) -> Design:
    """Coordinates, forms and noise from public facts; QueryError Q10, Q12, Q86, Q87, Q89, Q106."""
    facts = facts_of(query, schema)
    _response(query.model, facts.variables[0])
    columns = tuple(
        column(label, facts, neighbors, cost.share(share), squares=label == LABELS[-1])
        for label, share in zip(LABELS, SHARES, strict=True)
    )
    return of_columns(query, facts, neighbors, rows, cost, VERSION, columns)


def _response(model: str, fact: Variable) -> None:
    """QueryError Q106 where the model has no law for the response."""
    if fact.kind != "boolean":
        text = f"response {fact.name!r} of a {model} regression is not true or false."
        raise QueryError(text, code="Q106", hint=f'"{fact.name}": Boolean()')


def column(label: str, facts: Facts, neighbors: str, share: Cost, *, squares: bool, weighed: bool = False) -> Crosses:
    """A part of scores, aimed nowhere yet, at its share of the price."""
    made = facts.layout
    if facts.unit is None:
        form = forms.scored(made, share.noise, neighbors, squares=squares, weighed=weighed)
    else:
        form = person_forms.scored(made, share.noise, neighbors, squares=squares)
    counted = int(facts.leaves or neighbors == "add-remove")
    stored = {"counted": counted, "cut": 0, "shift": 1} | (
        {"center": 0, "reach": 1, "full": 0, "spread": 0} if weighed else {}
    )
    stored |= {f"weight{j}": 0 for j in range(made.size + 1)}
    form = replace(form, parameters={**form.parameters, **stored})
    sizes = [Product(one.pairs[0], 1, forms.SHIFTS[0], size=True) for one in made.inner]
    question = facts.scores(sizes, made.inner if squares else (), forms.SHIFTS[1])
    question = replace(question, aim=start(made, forms.CLIP))
    law = noise_for(form.l1, form.l2_squared, share)
    return Crosses(label, form, None, None, law, share, question=question)


# Sensitivity --------------------------------------------------------------------------------------------------------


def aim_at(column: Crosses, aim: Bend, stored: dict[str, int]) -> Crosses:
    """A part at an aim, which its form records; its sensitivity is the same for all."""
    form = replace(column.form, parameters={**column.form.parameters, **stored})
    return replace(column, form=form, question=replace(column.question, aim=aim))


# Noise --------------------------------------------------------------------------------------------------------------


def following(asked: Crosses, parts: tuple[Part, ...], shape: Design) -> Crosses:
    """The next part's question, whose noise is added as to every regression's (`regression.measure`)."""
    query = cast(Regression, shape.query)
    made = layout(parse(query.formula), shape.variables)
    return aim_at(asked, *aimed(parts, made, query.model, shape.rows, asked.law.variance(), forms.CLIP))
