"""Design logistic, probit and Poisson regressions of norm-clipped rows: parts at fixed shares of a price."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from tacit.method.regression.glm_pilot import link_of, nowhere_score
from tacit.method.regression.noisy_norms import stored_axes
from tacit.method.regression.norm_score_encoding import norm_scored
from tacit.method.regression.norms_design import first_parts, plain
from tacit.method.regression.product_parts import ProductPart, RowFacts, as_measurement
from tacit.method.regression.query import Regression
from tacit.method.regression.score_encoding import CLIP, SHIFTS
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost, noise_for
from tacit.rows.norm_clip import NormClip
from tacit.rows.piecewise_score import PiecewiseScore
from tacit.rows.row_products import Product

VERSION: Final = "regression/5"

SHARES: Final = {
    False: (Fraction(10, 100), Fraction(25, 100), Fraction(15, 100), Fraction(50, 100)),
    True: (Fraction(10, 100), Fraction(15, 100), Fraction(12, 100), Fraction(13, 100), Fraction(50, 100)),
}
"""Shares of the price: of column moments, of products, and of scores, which are one part more for counts (True)."""
LABELS: Final = {False: ("first scores", "scores"), True: ("first scores", "second scores", "scores")}


def design(query: Regression, facts: RowFacts, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; the questions of its later parts are placeholders until the parts before are released."""
    counts = query.model == "poisson"
    first, second, *rest = (cost.share(share) for share in SHARES[counts])
    scores = tuple(
        score_part(label, query.model, facts, public.neighbors, share, last=label == LABELS[counts][-1])
        for label, share in zip(LABELS[counts], rest, strict=True)
    )
    columns = (*first_parts(facts, public.neighbors, first, second), *scores)
    return as_measurement(query, facts, public, cost, VERSION, columns)


def score_part(label: str, model: str, facts: RowFacts, neighbors: str, share: Cost, *, last: bool) -> ProductPart:
    """Return a part of scores at its share of the price, with the score of no fit on axes as they are.

    last: whether it is the last part, which also tells psi**2; all parts of counts do.
    """
    made, weighed = facts.layout, model == "poisson"
    # the spread that the next scores of counts assume is estimated from psi**2
    squares = last or weighed
    form = norm_scored(made, neighbors, squares=squares, weighed=weighed)
    sizes = [Product((), 1, size=True), *([Product((), 2)] if squares else [])]
    sizes += [Product(one.pairs[0], 1, SHIFTS[0], size=True) for one in made.all_pairs]
    question = facts.score_question(sizes, made.all_pairs if squares else (), SHIFTS[1])
    law = noise_for(form.l1, form.l2_squared, share)
    part = ProductPart(label, form, None, None, law, share, question=question, layout=made)
    return with_norm_score(part, plain(made.size, made.size + 1), *nowhere_score(made, link_of(model, made), CLIP))


def with_norm_score(column: ProductPart, clip: NormClip, score: PiecewiseScore, stored: dict[str, int]) -> ProductPart:
    """Return the part for this vector and score, which its form records; the sensitivity is the same for every one."""
    form = replace(column.form, parameters={**column.form.parameters, **stored, **stored_axes(clip)})
    return replace(column, form=form, question=replace(column.question, norm=clip, score=score))
