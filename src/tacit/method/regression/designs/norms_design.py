"""Design a linear regression of norm-clipped rows: parts at fixed shares of a price."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from tacit.method.regression.formulas.layout import all_pairs
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums import norm_encoding as forms
from tacit.method.regression.row_sums import split_score_encoding as splits
from tacit.method.regression.row_sums.encoding import ProductEncoding
from tacit.method.regression.row_sums.linear_pilot import response_residual
from tacit.method.regression.row_sums.noisy_norms import stored_products, stored_scores
from tacit.method.regression.row_sums.norm_person_encoding import of_persons
from tacit.method.regression.row_sums.product_parts import ProductPart, RowFacts, as_measurement
from tacit.method.regression.row_sums.score_encoding import SHIFTS
from tacit.method.regression.row_sums.weighted_rows import clip_of, on_finer_grid, weighted_moments, weighted_products
from tacit.method.shared.encoding import Noise
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Grid
from tacit.rows.coordinates import H
from tacit.rows.norm_clip import NormClip
from tacit.rows.row_products import ClippedResidual, CrossProducts, Product

VERSION: Final = "regression/4"


LABELS: Final = "column moments", "products"


SHARES: Final = {
    "gaussian": (Fraction(3, 20), Fraction(6, 20), Fraction(11, 20)),
    "laplace": (Fraction(10, 100), Fraction(34, 100), Fraction(44, 100), Fraction(12, 100)),
}
"""Shares of the price: of column moments, of products, of scores; of the matrices beside these at a pure price."""
MATRICES: Final = "products of scores"
"""Label of these matrices."""


def design(query: Regression, facts: RowFacts, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; the questions of its later parts are placeholders until the parts before are released."""
    made = facts.layout
    first, second, third, *fourth = (cost.share(share) for share in SHARES[cost.noise])
    if fourth:
        last = split_parts(splits.RESIDUALS, facts, public.neighbors, third, *fourth)
    else:
        counts = _counts_clipped(facts)
        form = forms.norm_scores(made, public.neighbors, far=counts)
        question = facts.score_question(_squares(facts), made.all_pairs, forms.SHIFT, whole=counts)
        last = (product_part("scores", facts, form, third, question),)
    scores = with_scores(last[0], plain(made.size, made.size + 1), response_residual(made, clip_of(last[0].question)))
    columns = (
        *first_parts(facts, public.neighbors, first, second, far=_counts_clipped(facts)),
        scores,
        *(beside(one, scores) for one in last[1:]),
    )
    return as_measurement(query, facts, public, cost, VERSION, columns)


def product_part(
    label: str, facts: RowFacts, form: ProductEncoding, share: Cost, question: CrossProducts
) -> ProductPart:
    """Return a part at its share of the price; its integers are one vector, whose norm the form bounds.

    form: of rows.  Of persons, products of mean scores (`question.between`) take the place of its last integers.
    """
    if facts.weight is not None:
        form, question = on_finer_grid(form, question)
    form = form if facts.unit is None else of_persons(form, len(question.between))
    law = noise_for(form.l1, form.l2_squared, share, dimension=len(form.matrix))
    return ProductPart(label, form, None, None, law, share, question=question, layout=facts.layout)


def split_parts(
    name: str, facts: RowFacts, neighbors: str, scores: Cost, matrices: Cost
) -> tuple[ProductPart, ProductPart]:
    """Return the last step in two parts: its scores, of form `name`, and the matrices beside them."""
    made, sizes = facts.layout, name != splits.RESIDUALS
    vectors = facts.score_question((), (), SHIFTS[1])
    alone = product_part("scores", facts, splits.score_vectors(name, made, neighbors), scores, vectors)
    asked = [Product((), 1, size=True), Product((), 2)] if sizes else _squares(facts)
    asked += [Product(one.pairs[0], 1, SHIFTS[0], size=True) for one in made.all_pairs] if sizes else []
    far = not sizes and _counts_clipped(facts)
    form = splits.score_matrices(made, neighbors, sizes=sizes, far=far)
    question = facts.score_question(asked, made.all_pairs, SHIFTS[1], beside=True, whole=far)
    return alone, product_part(MATRICES, facts, form, matrices, question)


def _squares(facts: RowFacts) -> list[Product]:
    """Return what is summed beside scores of residuals: psi**2 and, of rows, whether psi is at either end, and far."""
    ends = [Product((), 1, forms.CLIPPED, plus=one) for one in (forms.CLIP, forms.CLIP - 1)]
    plus = forms.MOST**2 // 2 - 1
    axes = [Product((j, j), shift=forms.AXIS, plus=plus) for j in range(facts.layout.size)]
    return [Product((), 2), *([*ends, *axes] if _counts_clipped(facts) else [])]


def _counts_clipped(facts: RowFacts) -> bool:
    """Return whether rows whose residual is clipped are counted.

    A person's mean would be rounded to none or one; psi of a row with a weight does not tell whether it was clipped.
    """
    return facts.unit is None and facts.weight is None


def beside(column: ProductPart, scores: ProductPart) -> ProductPart:
    """Return the part of matrices beside these scores: their vector and score, which their own part records."""
    aim = scores.question
    return replace(column, question=replace(column.question, norm=aim.norm, score=aim.score))


def first_parts(
    facts: RowFacts, neighbors: str, first: Cost, second: Cost, *, far: bool = False
) -> tuple[ProductPart, ProductPart]:
    """Return the parts of column moments and of products of standardised rows, at their shares of the price.

    far: whether the latter tells how many responses lie far from their mean, of rows without weights.
    """
    made, weight = facts.layout, facts.weight
    if weight is None:
        moments, asked = plain_moments(facts, first.noise, neighbors)
        products = (
            forms.norm_products(made, neighbors, far=far),
            (*(Product(one.pairs[0]) for one in all_pairs(made.size + 1)), *([Product((), 1, forms.SIGNED)] * far)),
        )
    else:
        moments, asked = weighted_moments(made, first.noise, neighbors)
        products = weighted_products(made, neighbors)
    questions = [CrossProducts(facts.coordinates, one, unit=facts.unit, weight=weight) for one in (asked, products[1])]
    moments = moments if facts.unit is None else of_persons(moments)
    # sums of columns have their sensitivity in each: independent noises
    law = noise_for(moments.l1, moments.l2_squared, first)
    one = ProductPart(LABELS[0], moments, None, None, law, first, question=questions[0], layout=made)
    if weight is not None:
        kind = "exclude" if weight.missing is None else "declared"
        one = replace(one, weight_grid=Grid("real", 0.0, weight.upper, weight.G, missing=kind))
    two = product_part(LABELS[1], facts, products[0], second, questions[1])
    response = response_residual(made, forms.CLIP) if far else None
    return one, with_products(two, plain(made.size + 1, made.size + 1), response)


def plain_moments(facts: RowFacts, noise: Noise, neighbors: str) -> tuple[ProductEncoding, tuple[Product, ...]]:
    """Return the encoding of column moments of rows without weights, and their sums."""
    made, moments = facts.layout, forms.column_moments(facts.layout, noise, neighbors, leaves=facts.leaves)
    asked = [Product((j,)) for j in range(1, made.size + 1)] + [Product((j, j)) for j in forms.squared(made)]
    asked += [Product((0, 0))] if moments.parameters["count"] else []
    return moments, tuple(asked)


def plain(entries: int, coordinates: int) -> NormClip:
    """Return the vector of the first coordinates as they are, shortened to the norm C: of a part not yet aimed."""
    return NormClip(tuple(tuple(2 * (i == j) for j in range(coordinates)) for i in range(entries)), 1, forms.MOST)


def with_products(
    column: ProductPart, clip: NormClip, response: ClippedResidual | None = None, tail: int = 0
) -> ProductPart:
    """Return the part of products of this vector, which its form records; the sensitivity is the same for every one.

    response, tail: what tells responses far from their mean, and from how many standard deviations on (0: not known).
    """
    stored = stored_products(clip) | ({} if response is None else {"tail": tail})
    form = replace(column.form, parameters={**column.form.parameters, **stored})
    return replace(column, form=form, question=replace(column.question, norm=clip, score=response))


def with_scores(column: ProductPart, clip: NormClip, residual: ClippedResidual) -> ProductPart:
    """Return the part of scores of this vector and residual, which its form records."""
    form = replace(column.form, parameters={**column.form.parameters, **stored_scores(clip, residual)})
    return replace(column, form=form, question=replace(column.question, norm=clip, score=residual))


def product_noise(column: ProductPart) -> float:
    """Return the standard deviation of the noise in a sum of products of two entries, in units of C**2."""
    return float(column.law.variance()) ** 0.5 / (column.form.parameters["off"] * H * H)


def score_noise(column: ProductPart) -> float:
    """Return the standard deviation of the noise in a sum of psi w, in units of the clipping range and of C."""
    return float(column.law.variance()) ** 0.5 / (column.form.parameters["score"] * forms.CLIP * H)
