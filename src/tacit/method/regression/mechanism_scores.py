"""Logistic and probit regression by three sums of bounded scores.  INSIDE the wall.

Definition
    A complete row becomes bounded integers z, as for `regression`.  Released three times: sums of psi z, of |psi| z z'
    and of psi**2 z z', where psi is the row's score, bounded in [-C, C] (`rows.piecewise_score`).  The first time psi
    is the response; then it is that of the model at coefficients that the releases before tell
    (`method.regression.glm_pilot`).  Squares stand in the last part alone.  Public: schema, query, relation, price,
    and under replace-one the number of rows.
    Neighbours: one row replaced, or one added or removed.  Of persons: as for `regression`.
Sensitivity
    Proven beside the form, for all pairs of rows and whatever psi is: `score_encoding`; of persons: `person_encoding`.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the part's share of the price.
Cost
    SHARES of the price, fixed beforehand; each question is a function of earlier releases: adaptive composition, pure
    [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3].
Failures
    None depends on a row: whatever a part says, the next is asked, aimed at a place in the middle of the grid where
    arithmetic on released integers comes to no finite end.  A failure of the machine is the curator's to hide.
"""

from __future__ import annotations

from typing import cast

from tacit.method.regression import score_encoding as forms
from tacit.method.regression.formula import parse
from tacit.method.regression.glm_pilot import next_score
from tacit.method.regression.layout import layout
from tacit.method.regression.product_parts import ProductPart
from tacit.method.regression.query import Regression
from tacit.method.regression.scores_design import with_score
from tacit.method.shared.measurement import Measurement
from tacit.release.parts import Part

# Noise --------------------------------------------------------------------------------------------------------------


def next_question(asked: ProductPart, parts: tuple[Part, ...], shape: Measurement) -> ProductPart:
    """The next part's question, whose noise is added as to every regression's (`regression.measure`)."""
    query = cast(Regression, shape.query)
    made = layout(parse(query.formula), shape.variables)
    return with_score(asked, *next_score(parts, made, query.model, shape.rows, asked.law.variance(), forms.CLIP))
