"""Linear regression by noisy cross-products, and one step from sums of cut residuals.  INSIDE the wall.

Definition
    A complete row, one without a missing cell in any column of the formula (and for which `where` holds), becomes
    bounded integers z (`method.regression.layout`).  Released: first, sums of their products; then, with psi the row's
    residual from a fit to these, rounded and cut at a range that is chosen from these, sums of psi z, of psi**2, and of
    psi**2 z z'. Public: schema, query, relation, price, and under replace-one the number of rows.  Neighbours: one row
    replaced, or one added or removed.  Persons, where the schema has a PrivacyUnit, each weighing one: a person adds
    the means of these integers over her complete rows, and products of her mean scores (psi z) in place of psi**2 z z'.
    Then persons are public, replaced, added or removed, where rows are above.
Sensitivity
    Proven beside the forms, for all pairs of rows and any fit: `encoding`; of persons: `person_encoding`.
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
from typing import Final, cast

from tacit.method.regression import encoding as forms
from tacit.method.regression import mechanism_scores as regression_scores
from tacit.method.regression.design import VERSION, design, with_residual
from tacit.method.regression.formula import parse
from tacit.method.regression.layout import layout
from tacit.method.regression.linear_pilot import next_residual
from tacit.method.regression.mechanism_rows import exact_part
from tacit.method.regression.noisy_crossproducts import read_crossproducts
from tacit.method.regression.product_parts import ProductPart
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_additive import protect
from tacit.release.parts import Cells, Part
from tacit.rows.coordinates import H
from tacit.source import Source

# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS, once for each part.  Noisy sums, each aimed by those before.  Exact integers are not kept."""
    parts: tuple[Part, ...] = ()
    for column in shape.columns:
        asked = next_question(column, parts, shape)
        parts = (*parts, asked.released(protect(exact_part(asked, shape, source), asked.law)))
    return parts


def next_question(column: PartSpec, parts: tuple[Part, ...], shape: Measurement) -> ProductPart:
    """The next part's question: a function of what earlier parts released, and of public facts."""
    asked = cast(ProductPart, column)
    if not parts:
        return asked
    if shape.mechanism != VERSION:
        return regression_scores.next_question(asked, parts, shape)
    made = layout(parse(cast(Regression, shape.query).formula), shape.variables)
    noise = math.sqrt(asked.law.variance()) / (forms.RESIDUAL_WEIGHT * forms.CLIP * H)
    return with_residual(asked, next_residual(read_crossproducts(parts[0], made, shape.rows), made, forms.CLIP, noise))


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  The integers of every part, aimed as its question is, before noise: never to be shown."""
    return tuple(exact_part(column, shape, source) for column in shape.columns)


MECHANISM: Final = Mechanism(design, measure, exact)
