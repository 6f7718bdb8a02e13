"""Poisson regression by cross-products and two sums of bounded scores.  INSIDE the wall.

Definition
    A complete row becomes bounded integers z, as for `regression`, the response on its own steps.  Released: sums of
    their products, and twice sums of psi z, of q z z' and of psi**2 z z': psi is the row's score, bounded in [-C, C],
    q a weight in [0, C] that is a function of the row's regressors (`rows.piecewise_score`), both at coefficients that
    the releases before tell (`method.regression.glm_pilot`).  Public: schema, query, relation, price, and under
    replace-one the number of rows.  Neighbours: one row replaced, or one added or removed.  Persons are refused.
Sensitivity
    Proven beside the forms, for all pairs of rows and whatever psi and q are: `encoding`, `score_encoding`.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the part's share of the price.
Cost
    SHARES of the price, fixed beforehand; each question is a function of earlier releases: adaptive composition, pure
    [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3].
Failures
    None depends on a row: whatever a part says, the next is asked (`mechanism_scores`).
"""

from __future__ import annotations
