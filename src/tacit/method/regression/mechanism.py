"""Linear regression by noisy cross-products and one step from sums of clipped residuals.  INSIDE the wall.

Definition
    Of releases before 0.2, which are read as they were; `mechanism_norms` has what is in use.
    A row is complete if no table cell in a column of the formula is missing (and `where` holds); other rows add
    nothing.  An expression of the formula is a computed column: a function of one row, clamped to bounds that follow
    from those of the columns it reads (`schema.row_expressions`).
    A complete row becomes integers z_0, ..., z_m with |z_j| <= B_j <= H = 2^10, z_0 = H and z_m the response
    (`method.regression.layout`).  Released are two parts:
    1. the sums over rows of the products z_j z_k;
    2. the sums of psi z, psi^2 and psi^2 z z' over the z_j but the response.  psi is the row's residual from a fit to
       part 1, rounded and clipped to [-C, C], C = 2^9, on a scale that is chosen from part 1.
    Each sum is released times a public integer weight; the weights make the bounds below hold for all sums together.
    Public: schema, query, relation, price, and under replace-one the number of rows.
    Neighbours: one row replaced, or one added or removed.
    With a PrivacyUnit a person adds the means of these integers over the person's complete rows, and products of two
    mean scores psi z in place of psi^2 z z'.  Persons then take the place of rows in all of the above.
Sensitivity
    Coordinates that differ only in the level of a column (of more than two levels) form a group, of which at most one
    is not 0; every other coordinate but z_0 is a group of its own.  With B the bound of a group, M = H^2 + sum of B^2
    and T = H + sum of B over the groups (part 2: without the response).  F is the weight of psi z.  A neighbour changes
    the released integers by at most
                              l2 (Gaussian)           l1 (Laplace)
        part 1, replace-one   2 M                     T^2, or min((T + T')^2, 2 T^2), T' the sum over larger groups
        part 1, add-remove    M                       T^2
        part 2, replace-one   2 F C sqrt(M)           2 F C T, or 9/4 F C T with larger groups
        part 2, add-remove    sqrt(11/8) F C sqrt(M)  9/8 F C T
    and a little more in part 2, for rounding down.  Proofs, for all pairs of rows and every fit: `encoding`.  Persons
    have 5/2 and 5/4 in place of 9/4 and 9/8, and a little more for the rounding of their means: `person_encoding`.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers.  epsilon' and rho' are the part's share of the price.
Cost
    FIRST_SHARE of the price for part 1 and the rest for part 2, whose question is a function of part 1's release:
    adaptive composition, pure [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3].
Failures
    None depends on a row: part 2 is measured whatever part 1 releases, and its sensitivity depends on the clipping
    alone.  The fit is computed from released integers, with a fixed fallback where they allow none.  The curator hides
    a failure of the machine.
"""

from __future__ import annotations

import math
from typing import Final, cast

from tacit.method.regression import mechanism_cells, mechanism_norm_scores, mechanism_norms, mechanism_scores
from tacit.method.regression.design import VERSION, design, with_residual
from tacit.method.regression.designs import cells_design, norm_scores_design, norms_design
from tacit.method.regression.designs.norms_design import beside
from tacit.method.regression.mechanism_rows import exact_part, rows_held
from tacit.method.regression.row_sums import encoding as forms
from tacit.method.regression.row_sums import split_score_encoding
from tacit.method.regression.row_sums.linear_pilot import next_residual
from tacit.method.regression.row_sums.noisy_crossproducts import read_crossproducts
from tacit.method.regression.row_sums.norm_person_encoding import of_rows
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_additive import protect
from tacit.release.parts import Cells, Part
from tacit.rows.coordinates import H
from tacit.source import Source

# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Return noisy sums; each question is chosen from the parts released before; or counts of cells."""
    if shape.kind == cells_design.KIND:
        return mechanism_cells.measure(shape, source)
    parts: tuple[Part, ...] = ()
    rows = rows_held(shape, source)
    for column in shape.columns:
        question = next_question(column, parts, shape)
        # sums are taken for each part only after the noise of the part before was drawn
        parts = (*parts, question.released(protect(exact_part(question, shape, source, rows), question.law)))
    return parts


def next_question(column: PartSpec, parts: tuple[Part, ...], shape: Measurement) -> ProductPart:
    """Return the next part with its question: a function of the released parts and of public facts alone."""
    part = cast(ProductPart, column)
    if not parts:
        return part
    if of_rows(part.form.name) in split_score_encoding.OF_MATRICES:
        # of the scores that were released just before
        return beside(part, next_question(shape.columns[len(parts) - 1], parts[:-1], shape))
    if shape.mechanism == norms_design.VERSION:
        return mechanism_norms.next_question(part, parts, shape)
    if shape.mechanism == norm_scores_design.VERSION:
        return mechanism_norm_scores.next_question(part, parts, shape)
    if shape.mechanism != VERSION:
        return mechanism_scores.next_question(part, parts, shape)
    # standard deviation of a sum's noise, in units of the clipping range
    noise = math.sqrt(part.law.variance()) / (forms.RESIDUAL_WEIGHT * forms.CLIP * H)
    crossproducts = read_crossproducts(parts[0], part.layout, shape.rows)
    return with_residual(part, next_residual(crossproducts, part.layout, forms.CLIP, noise))


def exact(shape: Measurement, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  Return the integers of every part before noise, for the questions as they are: never to be shown."""
    if shape.kind == cells_design.KIND:
        return mechanism_cells.exact(shape, source)
    return tuple(exact_part(column, shape, source) for column in shape.columns)


MECHANISM: Final = Mechanism(design, measure, exact)
