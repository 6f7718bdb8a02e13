"""Logistic, probit, Poisson, gamma and Huber regression from norm-clipped rows, by parts of bounded scores.  INSIDE.

Definition
    Released are parts, each from a question that is a function of the parts before:
    1. and 2. as in `mechanism_norms`: sums of columns and of their squares, and of products of standardised rows.
    3. (and 4.) sums of psi v, of |psi|, and of |psi| v v'.  v is the vector of the regressors, turned to axes on which
       part 2 finds variance 1 and no correlation, shortened to a norm of at most C in integers (`rows.norm_clip`).  psi
       is a bounded score (`rows.piecewise_score`) at coefficients computed from the parts before.
    Last: the same, and sums of psi**2 and of psi**2 v v'.  At a pure price the last is two parts: sums of psi v, and
    all others, of the same psi and v.
    Of counts every part of scores tells the latter too, and a weight in [0, c], which is a function of the predictor,
    takes the place of |psi|.  So of positive responses (gamma), and of Huber's model, whose weight is c where
    |psi| < c and 0 elsewhere: a function of the row, whose products are the score's own curvature.
    Public: schema, query, relation, price, and under replace-one the number of rows.
    Neighbours: one row replaced, or one added or removed.  Persons: as in `mechanism_norms`.
Sensitivity
    In l2, with S the weight of psi v, c the largest |psi| and R = c C (`norm_score_encoding`; parts 1 and 2:
    `mechanism_norms`):
                                      replace-one          add-remove
        parts of scores               2 S R                sqrt(21/16) S R, of the last sqrt(22/16) S R
        of counts, gamma and Huber    sqrt(69/16) S R      sqrt(22/16) S R
        psi v alone                   2 S R                S R
        the rest at pure prices       2 U                  sqrt(5/2) U, U the weight of c R**2
    and a little more for rounding down; the last two in `split_score_encoding`.  Persons: the same, and a little more
    for the rounding of means (`norm_person_encoding`).  None depends on the axes and scores
    that released parts chose, nor on the model: the proofs ask |v| <= C, |psi| <= c and a weight in [0, c] of each row,
    whatever functions of the row psi and the weight are.
Noise
    As in `mechanism_norms`: normal for each integer; at a pure price one vector of spherical Laplace noise for each
    part but the first.
Cost
    SHARES of the price, fixed beforehand; each question is a function of the parts released before: adaptive
    composition, as in `mechanism_norms`.
Failures
    None depends on a row: a part is measured whatever the parts before say.  Where arithmetic on released integers
    gives no finite axes or coefficients, the part's vector is that of the coordinates as they are, and its score that
    in the middle of the predictor's grid.  The curator hides a failure of the machine.
"""

from __future__ import annotations

from typing import cast

from tacit.method.regression.bounded_scores.binary_links import BinaryLink
from tacit.method.regression.designs.norm_scores_design import with_norm_score
from tacit.method.regression.designs.norms_design import product_noise, with_products
from tacit.method.regression.mechanism_norms import aimed_or_plain, plain_room, room_for
from tacit.method.regression.pilots.glm_pilot import in_units, link_of, next_score
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums.linear_pilot import range_of_rows
from tacit.method.regression.row_sums.noisy_norm_scores import (
    noise_of_scores,
    noise_of_sizes,
    norm_first,
    read_last_scores,
)
from tacit.method.regression.row_sums.noisy_norms import read_standardised
from tacit.method.regression.row_sums.norm_scaling import standardised, whitened
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.regression.row_sums.released_columns import read_columns
from tacit.method.regression.row_sums.weighted_rows import clip_of
from tacit.method.shared.measurement import Measurement
from tacit.release.parts import Part


def next_question(part: ProductPart, parts: tuple[Part, ...], shape: Measurement) -> ProductPart:
    """Return the next part with its vector and score; `mechanism.measure` adds the noise."""
    return aimed_or_plain(part, lambda: _aimed(part, parts, shape))


def _aimed(part: ProductPart, parts: tuple[Part, ...], shape: Measurement) -> ProductPart:
    layout = part.layout
    columns = read_columns(parts[0], layout, shape.rows, *parts[1:2])
    if len(parts) == 1:
        return with_products(part, standardised(columns, layout, product_noise(part) / columns.row))
    products, turn = read_standardised(parts[1], layout, columns.row)
    link = link_of(cast(Regression, shape.query).model, layout)
    if isinstance(link, BinaryLink):
        # the mean of a binary response levels off as its link does
        room = plain_room(part, columns)
    else:
        # scores are cut by a rule of their own, about as residuals are
        room = room_for(part, columns, parts[1], products, range_of_rows(columns.rows))
    clip = whitened(columns, layout, products, turn, room)
    first, terms = norm_first(columns, products, turn, layout)
    terms = in_units(terms, link)
    last = read_last_scores(parts, columns, products, turn, layout, terms, link) if len(parts) > 2 else None
    noise = noise_of_scores(part, clip, terms) / columns.row**2
    loose = noise_of_sizes(part, clip) / columns.row
    return with_norm_score(part, clip, *next_score(first, last, terms, link, noise, clip_of(part.question), loose))
