"""Design a linear regression of norm-clipped rows: three parts at fixed shares of a price of normal noise."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from tacit.method.regression import norm_encoding as forms
from tacit.method.regression.layout import all_pairs
from tacit.method.regression.linear_pilot import response_residual
from tacit.method.regression.noisy_norms import stored_products, stored_scores
from tacit.method.regression.product_parts import ProductPart, RowFacts, as_measurement
from tacit.method.regression.query import Regression
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost, noise_for
from tacit.rows.coordinates import H
from tacit.rows.norm_clip import NormClip
from tacit.rows.row_products import ClippedResidual, CrossProducts, Product

VERSION: Final = "regression/4"


LABELS: Final = "column moments", "products"


SHARES: Final = Fraction(3, 20), Fraction(6, 20), Fraction(11, 20)
"""Shares of the price: of column moments, of products, of scores."""


def design(query: Regression, facts: RowFacts, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; the questions of its later parts are placeholders until the parts before are released."""
    made = facts.layout
    first, second, third = (cost.share(share) for share in SHARES)
    form = forms.norm_scores(made, public.neighbors)
    # Product((), 2) is psi**2 alone
    question = facts.score_question([Product((), 2)], made.all_pairs, forms.SHIFT)
    law = noise_for(form.l1, form.l2_squared, third)
    scores = with_scores(
        ProductPart("scores", form, None, None, law, third, question=question, layout=made),
        plain(made.size, made.size + 1),
        response_residual(made, forms.CLIP),
    )
    columns = (*first_parts(facts, public.neighbors, first, second), scores)
    return as_measurement(query, facts, public, cost, VERSION, columns)


def first_parts(facts: RowFacts, neighbors: str, first: Cost, second: Cost) -> tuple[ProductPart, ProductPart]:
    """Return the parts of column moments and of products of standardised rows, at their shares of the price."""
    made = facts.layout
    moments = forms.column_moments(made, neighbors, leaves=facts.leaves)
    asked = [Product((j,)) for j in range(1, made.size + 1)] + [Product((j, j)) for j in forms.squared(made)]
    asked += [Product((0, 0))] if moments.parameters["count"] else []
    products = tuple(Product(one.pairs[0]) for one in all_pairs(made.size + 1))
    questions = CrossProducts(facts.coordinates, tuple(asked)), CrossProducts(facts.coordinates, products)
    encodings = moments, forms.norm_products(made, neighbors)
    one, two = (
        ProductPart(
            label, form, None, None, noise_for(form.l1, form.l2_squared, share), share, question=question, layout=made
        )
        for label, form, share, question in zip(LABELS, encodings, (first, second), questions, strict=True)
    )
    return one, with_products(two, plain(made.size + 1, made.size + 1))


def plain(entries: int, coordinates: int) -> NormClip:
    """Return the vector of the first coordinates as they are, shortened to the norm C: of a part not yet aimed."""
    return NormClip(tuple(tuple(2 * (i == j) for j in range(coordinates)) for i in range(entries)), 1, forms.MOST)


def with_products(column: ProductPart, clip: NormClip) -> ProductPart:
    """Return the part of products of this vector, which its form records; the sensitivity is the same for every one."""
    form = replace(column.form, parameters={**column.form.parameters, **stored_products(clip)})
    return replace(column, form=form, question=replace(column.question, norm=clip))


def with_scores(column: ProductPart, clip: NormClip, residual: ClippedResidual) -> ProductPart:
    """Return the part of scores of this vector and residual, which its form records."""
    form = replace(column.form, parameters={**column.form.parameters, **stored_scores(clip, residual)})
    return replace(column, form=form, question=replace(column.question, norm=clip, score=residual))


def score_noise(column: ProductPart) -> float:
    """Return the standard deviation of the noise in a sum of psi w, in units of the clipping range and of C."""
    return float(column.law.variance()) ** 0.5 / (forms.RESIDUAL_WEIGHT * forms.CLIP * H)
