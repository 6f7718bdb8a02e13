"""Linear regression by noisy cross-products, and one step from sums of cut residuals.  INSIDE the wall.

Definition
    A complete row, one without a missing cell in any column of the formula (and for which `where` holds), becomes
    bounded integers z (`linear.layout`).  Released: first, sums of their products; then, with psi the row's residual
    from a fit to these, rounded and cut at a range that is chosen from these, sums of psi z, of psi**2, and of psi**2 z
    z'. Public: schema, query, relation, price, and under replace-one the number of rows.  Neighbours: one row replaced,
    or one added or removed.
    Persons, where the schema has a PrivacyUnit, each weighing one: a person adds the means of these integers over her
    complete rows, and products of her mean scores (psi z) in place of psi**2 z z'.  Then persons are public, replaced,
    added or removed, where rows are above.
Sensitivity
    Proven beside the forms, for all pairs of rows and any fit: `regression_forms`; of persons: `person_forms`.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the part's share of the price.
Cost
    FIRST of the price for the first part, the rest for the second, whose question is a function of the first part's
    release: adaptive composition, pure [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3].
Failures
    None depends on a row: whatever the first part says, the second is asked, and its sensitivity is that of the cut.
    The aim is made of released integers by arithmetic that no value of theirs stops.  A failure of the machine is the
    curator's to hide.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Final, cast

from tacit.curator.source import Source
from tacit.linear.aim import aimed, start
from tacit.linear.formula import parse
from tacit.linear.layout import H, layout
from tacit.linear.noisy import crossed
from tacit.linear.query import Regression
from tacit.linear.rows import Aim, Product
from tacit.mechanisms import person_forms, regression_counts, regression_scores
from tacit.mechanisms import regression_forms as forms
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moments import Column, Design
from tacit.mechanisms.regression_rows import (
    KIND,
    Crosses,
    columns,
    crossing,
    exact,
    facts_of,
    of_columns,
    part_of,
    regrid,
)
from tacit.privacy import Cost, noise_for
from tacit.release import Part
from tacit.schema import Schema

__all__ = ["KIND", "Crosses", "aim_at", "columns", "design", "exact", "following", "measure", "part_of", "regrid"]

VERSION: Final = "regression/1"
FIRST: Final = Fraction(3, 10)
"""Part of the price for the cross-products: intervals hardly change from 2 to 4 tenths (`benchmarks/regression.py`)."""


# Definition ---------------------------------------------------------------------------------------------------------


def design(query: Regression, schema: Schema, *, neighbors: str, rows: int | None, cost: Cost) -> Design:
    """Coordinates, forms and noise from public facts; QueryError Q10, Q12, Q86, Q87, Q89, Q106."""
    if query.model == "poisson":
        return regression_counts.design(query, schema, neighbors=neighbors, rows=rows, cost=cost)
    if query.model != "linear":
        return regression_scores.design(query, schema, neighbors=neighbors, rows=rows, cost=cost)
    facts = facts_of(query, schema)
    made, first, second = facts.layout, cost.share(FIRST), cost.share(1 - FIRST)
    form = (forms if facts.unit is None else person_forms).scores(made, cost.noise, neighbors)
    question = facts.scores([Product((), 2)], made.among(response=False), forms.SHIFT)
    law = noise_for(form.l1, form.l2_squared, second)
    scoring = aim_at(Crosses("scores", form, None, None, law, second, question=question), start(made, forms.CLIP))
    columns = (crossing("cross-products", facts, neighbors, first), scoring)
    return of_columns(query, facts, neighbors, rows, cost, VERSION, columns)


# Sensitivity --------------------------------------------------------------------------------------------------------


def aim_at(column: Crosses, aim: Aim) -> Crosses:
    """The second part at an aim, which its form records; its sensitivity is the same for all."""
    stored = {"shift": aim.shift, **{f"weight{j}": w for j, w in enumerate(aim.weights)}}
    form = replace(column.form, parameters={**column.form.parameters, **stored})
    return replace(column, form=form, question=replace(column.question, aim=aim))


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS, once for each part.  Noisy sums, each aimed by those before.  Exact integers are not kept."""
    parts: tuple[Part, ...] = ()
    for column in shape.columns:
        asked = following(column, parts, shape)
        parts = (*parts, part_of(asked, protect(exact(asked, shape, source), asked.law)))
    return parts


def following(column: Column, parts: tuple[Part, ...], shape: Design) -> Crosses:
    """The next part's question: a function of what earlier parts released, and of public facts."""
    asked = cast(Crosses, column)
    if not parts:
        return asked
    if shape.mechanism != VERSION:
        return regression_scores.following(asked, parts, shape)
    made = layout(parse(cast(Regression, shape.query).formula), shape.variables)
    noise = math.sqrt(asked.law.variance()) / (forms.FINE * forms.CLIP * H)
    return aim_at(asked, aimed(crossed(parts[0], made, shape.rows), made, forms.CLIP, noise))
