"""Logistic and probit regression by three parts of sums of bounded scores.  INSIDE the wall.

Definition
    Of releases before 0.2, which are read as they were; `mechanism_norm_scores` has what is in use.
    A complete row becomes bounded integers z, as in `method.regression.mechanism`.  Each of three parts releases the
    sums over rows of psi z and of |psi| z z', over the z_j but the response; the last part also those of psi^2 z z'.
    psi is an integer in [-C, C], C = 2^9 (`rows.piecewise_score`): in the first part the response itself, in the
    others the score of the model at coefficients computed from the parts before (`method.regression.glm_pilot`).
    Public: schema, query, relation, price, and under replace-one the number of rows.
    Neighbours: one row replaced, or one added or removed.  Persons: as in `method.regression.mechanism`.
Sensitivity
    With M and T as in `method.regression.mechanism`, without the response, and S the weight of psi z, a neighbour
    changes a part by at most
                        l2 (Gaussian)           l1 (Laplace)
        replace-one     2 S C sqrt(M)           2 S C T, or 5/2 S C T with a column of more than two levels
        add-remove      sqrt(5/4) S C sqrt(M)   5/4 S C T
    and a little more for rounding down.  Proofs, for all pairs of rows and whatever psi is: `score_encoding`; persons:
    `person_encoding`.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers.  epsilon' and rho' are the part's share of the price.
Cost
    SHARES of the price, fixed beforehand; each question is a function of earlier releases: adaptive composition, pure
    [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3].
Failures
    None depends on a row: the next part is measured whatever a part releases.  Where arithmetic on released integers
    gives no finite coefficients, the score is evaluated in the middle of the predictor's grid.  The curator hides a
    failure of the machine.
"""

from __future__ import annotations

from typing import cast

from tacit.method.regression.designs.scores_design import with_score
from tacit.method.regression.mechanism_norms import UNUSABLE
from tacit.method.regression.pilots.glm_pilot import link_of, next_score, nowhere_score
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums import score_encoding as forms
from tacit.method.regression.row_sums.noisy_scores import SCORE_WEIGHT, read_first_part, read_score_part, scaled_terms
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Measurement
from tacit.release.parts import Part
from tacit.rows.coordinates import H

# Noise --------------------------------------------------------------------------------------------------------------


def next_question(part: ProductPart, parts: tuple[Part, ...], shape: Measurement) -> ProductPart:
    """Return the next part with its score; `mechanism.measure` adds the noise."""
    layout = part.layout
    link, terms = link_of(cast(Regression, shape.query).model, layout), scaled_terms(layout)
    # matrix matrix' since the m scores have independent noises of one variance, here in units of psi <= 1
    noise = terms.matrix @ terms.matrix.T * (part.law.variance() / (SCORE_WEIGHT * forms.CLIP * H) ** 2)
    try:
        first = read_first_part(parts[0], layout, terms, shape.rows)
        last = read_score_part(parts[-1], layout, terms, link) if len(parts) > 1 else None
        return with_score(part, *next_score(first, last, terms, link, noise, forms.CLIP))
    except UNUSABLE:  # as if nothing were known
        return with_score(part, *nowhere_score(layout, link, forms.CLIP))
