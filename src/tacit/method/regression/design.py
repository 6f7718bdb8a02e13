"""Design a regression: choose coordinates, encodings and noise of each part from the question and public facts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from tacit.method.regression.designs import cells_design, counts_design, further_design, norms_design, scores_design
from tacit.method.regression.designs.cells_or_scores import cells_are_better
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums import encoding as forms
from tacit.method.regression.row_sums import person_encoding as person_forms
from tacit.method.regression.row_sums.linear_pilot import response_residual
from tacit.method.regression.row_sums.product_parts import (
    ProductPart,
    RowFacts,
    as_measurement,
    crossproduct_part,
    row_facts,
)
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost, noise_for
from tacit.rows.row_products import ClippedResidual, Product

VERSION: Final = "regression/1"


FIRST_SHARE: Final = Fraction(3, 10)
"""Share of the price for the cross-products: intervals hardly change from 0.2 to 0.4 (`benchmarks/regression.py`)."""


def design(query: Regression, public: Public, cost: Cost) -> Measurement:
    """Return the measurement of a regression of any model; QueryError Q10, Q12, Q31, Q86, Q89, Q106, Q117, Q118."""
    # what scores cannot be asked, cells cannot either: a formula, a response
    scores = of_scores(replace(query, method="scores"), public, cost)
    if query.method == "scores" or (query.method == "auto" and not cells_design.possible(query, public)):
        return scores
    cells = cells_design.design(replace(query, method="cells"), public, cost)
    return cells if query.method == "cells" or cells_are_better(scores, cells, public) else scores


def of_scores(query: Regression, public: Public, cost: Cost) -> Measurement:
    """Return the measurement by sums over rows."""
    if query.model in ("gamma", "huber"):
        return further_design.design(query, public, cost)
    if query.model == "poisson":
        return counts_design.design(query, public, cost)
    if query.model != "linear":
        return scores_design.design(query, public, cost)
    return norms_design.design(query, row_facts(query, public.schema), public, cost)


def boxed(query: Regression, facts: RowFacts, public: Public, cost: Cost) -> Measurement:
    """Return the measurement of a linear regression whose sensitivities follow from the bounds of the coordinates."""
    made, first, second = facts.layout, cost.share(FIRST_SHARE), cost.share(1 - FIRST_SHARE)
    form = (forms if facts.unit is None else person_forms).residual_scores(made, cost.noise, public.neighbors)
    # Product((), 2) is psi**2 alone
    question = facts.score_question([Product((), 2)], made.products(response=False), forms.SHIFT)
    law = noise_for(form.l1, form.l2_squared, second)
    scoring = with_residual(
        ProductPart("scores", form, None, None, law, second, question=question, layout=made),
        # a placeholder: the mechanism replaces it by the pilot's residual once part 1 is released
        response_residual(made, forms.CLIP),
    )
    columns = (crossproduct_part("cross-products", facts, public.neighbors, first), scoring)
    return as_measurement(query, facts, public, cost, VERSION, columns)


def with_residual(column: ProductPart, score: ClippedResidual) -> ProductPart:
    """Return the second part for this residual, which its form records; the sensitivity is the same for every one."""
    stored = {"shift": score.shift, **{f"weight{j}": w for j, w in enumerate(score.weights)}}
    form = replace(column.form, parameters={**column.form.parameters, **stored})
    return replace(column, form=form, question=replace(column.question, score=score))
