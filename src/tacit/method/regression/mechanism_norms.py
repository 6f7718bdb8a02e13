"""Linear regression from norm-clipped rows: column moments, products, and one step of clipped residuals.  INSIDE.

Definition
    A complete row is integers z as in `mechanism`.  Released are parts, each from a question that is a function of the
    parts before:
    1. sums of z_j and z_j**2;
    2. sums of the products of all entries of w, a vector of the constant, the regressors and the response, each less
       its mean and over its standard deviation, both from part 1.  Of rows without weights also the sum of
       floor(q / c), q an integer of the response, |q| <= c: 1 for one far above its mean, -1 for one far below;
    3. sums of psi v, psi**2 and psi**2 v v'.  v is the vector of the regressors, turned to axes on which part 2 finds
       variance 1 and no correlation; psi is the row's residual from a fit to part 2, rounded and clipped.  Of rows
       without weights also the numbers of those with psi = c and with psi = -c, whose residual is clipped, and for
       each axis j that of those with v_j**2 > C**2 / 2, of which a row can be one on one axis at most.
    At a pure price 3. is two parts: sums of psi v, and all the others of the same psi and v.
    w and v are shortened to a norm of at most C, in integers and as the last step (`rows.norm_clip`).
    Public: schema, query, relation, price, and under replace-one the number of rows.
    Neighbours: one row replaced, or one added or removed.
    With a PrivacyUnit a person adds the means of these integers over the person's complete rows, rounded, and products
    of two mean scores psi v in place of psi**2 v v'.  Persons then take the place of rows in all of the above.
Sensitivity
    In l2, with F a weight, B the bounds of part 1, c the largest |psi| and R = c C (`norm_encoding`):
                      replace-one                          add-remove
        part 1        F sqrt(4 sum of B**2)                F sqrt(5/4 sum of B**2), and the number of rows
        part 2        sqrt(50) C**2, entries times 5, 7    5 C**2
             counted  sqrt(54) C**2                        sqrt(26) C**2
        part 3        2 F R, counted: sqrt(68/16) F R      sqrt(11/8) F R, counted: sqrt(24/16) F R
        psi v alone   2 F R                                F R
        the rest      sqrt(2) U, counted: sqrt(36/16) U    sqrt(5/4) U, counted: sqrt(22/16) U
    with U the weight of c R**2; counted: where far or clipped rows are; and a little more in parts 1 (groups of
    levels) and 3 (rounding down); the last two of pure prices (`split_score_encoding`).  In l1, part 1: F times 2 sum
    of B (replace-one), 3/2 sum of B and the number of rows.
    Persons: the same, and a little more for the rounding of means (`norm_person_encoding`).  Rows with weights are
    between themselves and absent rows (`weighted_rows`).
    None depends on the scales, axes and fit that the released parts chose, nor on the bounds of the columns in parts 2
    and 3.
Noise
    Independent for each integer: normal of the standard deviation that the part's share of the price buys for its l2
    sensitivity, rounded to integers.  At a pure price: part 1, discrete Laplace of scale l1 / epsilon'; the others, one
    vector of density proportional to exp(-|x| epsilon' / l2), rounded to integers (`mechanism_additive`).
Cost
    SHARES of the price, fixed beforehand; each question is a function of the parts released before: adaptive
    composition [pure: Dwork, Rothblum & Vadhan 2010; Bun & Steinke 2016, Lemma 2.3; Dong, Roth & Su 2022, Theorem 3.2].
Failures
    None depends on a row: a part is measured whatever the parts before say.  Where arithmetic on released integers
    gives no finite scales or axes, the part's vector is that of the coordinates as they are, and the residual the
    response.  The curator hides a failure of the machine.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

import numpy as np

from tacit.method.regression.bounded_scores.heavy_tails import FAR
from tacit.method.regression.designs.norms_design import product_noise, score_noise, with_products, with_scores
from tacit.method.regression.pilots.far_rows import far_rows, room_with_far_rows, told_slopes
from tacit.method.regression.row_sums.linear_pilot import response_residual
from tacit.method.regression.row_sums.noisy_crossproducts import NoisyMatrix
from tacit.method.regression.row_sums.noisy_norms import reach_of_products, read_standardised, read_tail
from tacit.method.regression.row_sums.norm_encoding import CLIP
from tacit.method.regression.row_sums.norm_scaling import next_residual, reach, response_tail, standardised, whitened
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.regression.row_sums.released_columns import Columns, read_columns, sizes
from tacit.method.regression.row_sums.row_reach import chosen_room
from tacit.method.regression.row_sums.weighted_rows import clip_of
from tacit.method.shared.measurement import Measurement
from tacit.release.parts import Part

UNUSABLE: Final = (np.linalg.LinAlgError, ArithmeticError, ValueError)
"""What arithmetic on released integers raises where these allow no scales, axes or fit."""


def next_question(part: ProductPart, parts: tuple[Part, ...], shape: Measurement) -> ProductPart:
    """Return the next part with its vector and residual; `mechanism.measure` adds the noise."""
    return aimed_or_plain(part, lambda: _aimed(part, parts, shape))


def aimed_or_plain(part: ProductPart, aimed: Callable[[], ProductPart]) -> ProductPart:
    """Return the part that released integers aim, or the part as it is where they allow none."""
    try:
        made = aimed()
        # what engines could not compute exactly is refused here, before a row is read for it
        made.question.check()
        return made
    except UNUSABLE:
        return part


def _aimed(part: ProductPart, parts: tuple[Part, ...], shape: Measurement) -> ProductPart:
    layout = part.layout
    columns = read_columns(parts[0], layout, shape.rows, *parts[1:2])
    if len(parts) == 1:
        clip = standardised(columns, layout, product_noise(part) / columns.row)
        if part.question.score is None:
            return with_products(part, clip)
        far = response_tail(columns, layout, CLIP)
        # where that cannot be computed the response stays as it is, and tells nothing of tails
        return with_products(part, clip, far or response_residual(layout, CLIP), FAR if far else 0)
    products, turn = read_standardised(parts[1], layout, columns.row)
    # the whole range of the response
    widest = 2 * layout.bounds[-1] / float(columns.sd[-1])
    room = room_for(part, columns, parts[1], products, widest)
    noise = score_noise(part) / columns.row * reach(columns, layout, room, response=False)
    # of rows the release counts what is clipped, and standard errors follow it
    counted = part.question.unit is None and part.question.weight is None
    clip, tail = clip_of(part.question), read_tail(parts[1])
    residual = next_residual(columns, layout, products, turn, clip, noise, counted=counted, tail=tail)
    return with_scores(part, whitened(columns, layout, products, turn, room), residual)


def room_for(part: ProductPart, columns: Columns, told: Part, products: NoisyMatrix, widest: float) -> float:
    """Return the room of a part of scores, from its noise and from released parts alone.

    It is that of the noise and the number of rows (`row_reach`), or longer, by what products tell of tails and slopes:
    the mean may not be linear far out (`far_rows`).
    told, products: the part of products, as released and as `read_standardised` returns it.  widest: the largest |psi|
    that there may be, in standard deviations of the response.
    """
    room, noise = plain_room(part, columns), score_noise(part) / columns.row
    known = far_rows(columns, part.layout, products, reach_of_products(told, part.layout))
    slopes = told_slopes(products.of_rows(columns.rows), columns.rows)
    return room_with_far_rows(known, *slopes, room, noise, columns, widest)


def plain_room(part: ProductPart, columns: Columns) -> float:
    """Return the room of a part of scores by its noise and the number of rows alone."""
    return chosen_room(*sizes(columns, part.layout), score_noise(part) / columns.row, columns.rows)
