"""Design regressions of norm-clipped rows by bounded scores: parts at fixed shares of a price."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from tacit.method.regression.designs.norms_design import beside, first_parts, plain, product_part, split_parts
from tacit.method.regression.formulas.layout import Layout
from tacit.method.regression.pilots.glm_pilot import link_of, nowhere_score
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums.noisy_norms import stored_axes
from tacit.method.regression.row_sums.norm_score_encoding import norm_scored
from tacit.method.regression.row_sums.product_parts import ProductPart, RowFacts, as_measurement
from tacit.method.regression.row_sums.score_encoding import SHIFTS
from tacit.method.regression.row_sums.split_score_encoding import COUNT_SCORES, SCORES
from tacit.method.regression.row_sums.weighted_rows import clip_of
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.rows.norm_clip import NormClip
from tacit.rows.piecewise_score import PiecewiseScore
from tacit.rows.row_products import Product

VERSION: Final = "regression/5"

WEIGHED: Final = ("gamma", "huber", "poisson")
"""Models whose products of regressors have a weight of their own."""
SHARES: Final = {
    ("gaussian", False): (10, 25, 15, 50),
    ("gaussian", True): (10, 15, 12, 13, 50),
    ("laplace", False): (8, 17, 15, 48, 12),
    ("laplace", True): (8, 15, 13, 14, 38, 12),
}
"""Percent of the price: of column moments, of products, and of scores, of which WEIGHED models (True) have one part
more; last, at a pure price, of the matrices beside the scores."""
LABELS: Final = {False: ("first scores", "scores"), True: ("first scores", "second scores", "scores")}


def design(query: Regression, facts: RowFacts, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; the questions of its later parts are placeholders until the parts before are released."""
    counts = query.model in WEIGHED
    first, second, *rest = (cost.share(Fraction(part, 100)) for part in SHARES[cost.noise, counts])
    # at a pure price there is one share more than parts of scores
    scores = [
        score_part(label, query.model, facts, public.neighbors, share, last=label == LABELS[counts][-1])
        for label, share in zip(LABELS[counts], rest, strict=False)
    ]
    if len(rest) > len(scores):
        alone, matrices = split_parts(COUNT_SCORES if counts else SCORES, facts, public.neighbors, *rest[-2:])
        scores[-1] = with_norm_score(alone, *nowhere(query.model, facts.layout, clip_of(alone.question)))
        scores.append(beside(matrices, scores[-1]))
    columns = (*first_parts(facts, public.neighbors, first, second), *scores)
    return as_measurement(query, facts, public, cost, VERSION, columns)


def score_part(label: str, model: str, facts: RowFacts, neighbors: str, share: Cost, *, last: bool) -> ProductPart:
    """Return a part of scores at its share of the price, with the score of no fit on axes as they are.

    last: whether it is the last part, which also tells psi**2; all parts of counts do.
    """
    made, weighed = facts.layout, model in WEIGHED
    # the spread that the next scores of counts assume is estimated from psi**2
    squares = last or weighed
    form = norm_scored(made, neighbors, squares=squares, weighed=weighed)
    sizes = [Product((), 1, size=True), *([Product((), 2)] if squares else [])]
    sizes += [Product(one.pairs[0], 1, SHIFTS[0], size=True) for one in made.all_pairs]
    question = facts.score_question(sizes, made.all_pairs if squares else (), SHIFTS[1])
    return with_norm_score(product_part(label, facts, form, share, question), *nowhere(model, made, clip_of(question)))


def nowhere(model: str, layout: Layout, clip: int) -> tuple[NormClip, PiecewiseScore, dict[str, int]]:
    """Return the vector on axes as they are and the score of no fit: of a part not yet aimed."""
    return plain(layout.size, layout.size + 1), *nowhere_score(layout, link_of(model, layout), clip)


def with_norm_score(column: ProductPart, clip: NormClip, score: PiecewiseScore, stored: dict[str, int]) -> ProductPart:
    """Return the part for this vector and score, which its form records; the sensitivity is the same for every one."""
    form = replace(column.form, parameters={**column.form.parameters, **stored, **stored_axes(clip)})
    return replace(column, form=form, question=replace(column.question, norm=clip, score=score))
