"""Regressions: from the question, public facts and the price to the sums of each part."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from tacit.method.regression import counts_design, scores_design
from tacit.method.regression import encoding as forms
from tacit.method.regression import person_encoding as person_forms
from tacit.method.regression.crossed_parts import Crosses, crossing, facts_of, of_columns
from tacit.method.regression.linear_pilot import start
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost, noise_for
from tacit.rows.row_products import Product, ResidualAim

VERSION: Final = "regression/1"


FIRST: Final = Fraction(3, 10)
"""Part of the price for the cross-products: intervals hardly change from 2 to 4 tenths (`benchmarks/regression.py`)."""


def design(query: Regression, public: Public, cost: Cost) -> Measurement:
    """Coordinates, forms and noise from public facts; QueryError Q10, Q12, Q86, Q87, Q89, Q106."""
    if query.model == "poisson":
        return counts_design.design(query, public, cost)
    if query.model != "linear":
        return scores_design.design(query, public, cost)
    facts = facts_of(query, public.schema)
    made, first, second = facts.layout, cost.share(FIRST), cost.share(1 - FIRST)
    form = (forms if facts.unit is None else person_forms).scores(made, cost.noise, public.neighbors)
    question = facts.scores([Product((), 2)], made.among(response=False), forms.SHIFT)
    law = noise_for(form.l1, form.l2_squared, second)
    scoring = aim_at(Crosses("scores", form, None, None, law, second, question=question), start(made, forms.CLIP))
    columns = (crossing("cross-products", facts, public.neighbors, first), scoring)
    return of_columns(query, facts, public.neighbors, public.rows, cost, VERSION, columns)


def aim_at(column: Crosses, aim: ResidualAim) -> Crosses:
    """The second part at an aim, which its form records; its sensitivity is the same for all."""
    stored = {"shift": aim.shift, **{f"weight{j}": w for j, w in enumerate(aim.weights)}}
    form = replace(column.form, parameters={**column.form.parameters, **stored})
    return replace(column, form=form, question=replace(column.question, aim=aim))
