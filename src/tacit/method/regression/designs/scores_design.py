"""Design logistic and probit regressions: choose the sums of each part from the question and public facts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from tacit.errors import QueryError
from tacit.method.regression.designs import norm_scores_design
from tacit.method.regression.formulas.layout import is_binary
from tacit.method.regression.pilots.glm_pilot import response_score
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums import person_encoding as person_forms
from tacit.method.regression.row_sums import score_encoding as forms
from tacit.method.regression.row_sums.product_parts import ProductPart, RowFacts, as_measurement, row_facts
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Variable
from tacit.rows.piecewise_score import PiecewiseScore
from tacit.rows.row_products import Product

VERSION: Final = "regression/2"


SHARES: Final = Fraction(15, 100), Fraction(15, 100), Fraction(70, 100)
"""Shares of the price, in the order of LABELS."""


LABELS: Final = "moments", "first scores", "scores"
"""Labels of the parts: moments of the regressors, scores at a pilot fit, scores after one step from it."""


def design(query: Regression, public: Public, cost: Cost) -> Measurement:
    """Return the measurement of a logistic or probit regression; QueryError Q10, Q12, Q86, Q89, Q106."""
    facts = row_facts(query, public.schema)
    _check_response(query.model, facts.variables[0])
    return norm_scores_design.design(query, facts, public, cost)


def boxed(query: Regression, facts: RowFacts, public: Public, cost: Cost) -> Measurement:
    """Return the measurement whose sensitivities follow from the bounds of the coordinates."""
    columns = tuple(
        score_part(label, facts, public.neighbors, cost.share(share), squares=label == LABELS[-1])
        for label, share in zip(LABELS, SHARES, strict=True)
    )
    return as_measurement(query, facts, public, cost, VERSION, columns)


def _check_response(model: str, fact: Variable) -> None:
    """Raise QueryError Q106 where the response has more than two values."""
    if not is_binary(fact):
        text = f"response {fact.name!r} of a {model} regression is not true or false, nor one of two levels."
        raise QueryError(text, code="Q106", hint=f'"{fact.name}": Boolean(), or Category(["no", "yes"])')


def score_part(
    label: str, facts: RowFacts, neighbors: str, share: Cost, *, squares: bool, weighed: bool = False
) -> ProductPart:
    """Return a part of scores at its share of the price; until a fit is chosen its score is the response itself.

    squares: whether psi**2 z z' is released too.  weighed: whether products z z' are weighted by a function of the
    regressors in place of |psi|.
    """
    made = facts.layout
    if facts.unit is None:
        form = forms.glm_scores(made, share.noise, neighbors, squares=squares, weighed=weighed)
    else:
        form = person_forms.glm_scores(made, share.noise, neighbors, squares=squares)
    # otherwise the number of rows is public and exact
    counted = int(facts.leaves or neighbors == "add-remove")
    # placeholders of the facts that `with_score` fills in: the names never depend on a release
    stored = {"counted": counted, "cut": 0, "shift": 1} | (
        {"center": 0, "reach": 1, "full": 0, "spread": 0} if weighed else {}
    )
    stored |= {f"weight{j}": 0 for j in range(made.size + 1)}
    form = replace(form, parameters={**form.parameters, **stored})
    sizes = [Product(one.pairs[0], 1, forms.SHIFTS[0], size=True) for one in made.regressor_products]
    question = facts.score_question(sizes, made.regressor_products if squares else (), forms.SHIFTS[1])
    question = replace(question, score=response_score(made, forms.CLIP))
    law = noise_for(form.l1, form.l2_squared, share)
    return ProductPart(label, form, None, None, law, share, question=question, layout=facts.layout)


def with_score(column: ProductPart, score: PiecewiseScore, stored: dict[str, int]) -> ProductPart:
    """Return the part for this score, whose facts its form records; the sensitivity is the same for every score."""
    form = replace(column.form, parameters={**column.form.parameters, **stored})
    return replace(column, form=form, question=replace(column.question, score=score))
