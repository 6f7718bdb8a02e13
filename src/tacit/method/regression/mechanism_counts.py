"""Poisson regression by cross-products and three parts of sums of bounded scores.  INSIDE the wall.

Definition
    Of releases before 0.2, which are read as they were; `mechanism_norm_scores` has what is in use.
    A complete row becomes bounded integers z, as in `method.regression.mechanism`, with the response on its own steps
    where these are few enough.  Released are four parts: the sums over rows of the products z_j z_k, and three times
    the sums of psi z, q z z' and psi^2 z z' over the z_j but the response.  psi is the row's score, an integer in
    [-C, C]; q is an integer weight in [0, C], a function of the row's regressors (`rows.piecewise_score`).  Both are
    evaluated at coefficients computed from the parts before (`method.regression.glm_pilot`).
    Public: schema, query, relation, price, and under replace-one the number of rows.
    Neighbours: one row replaced, or one added or removed.  A schema with a PrivacyUnit is refused.
Sensitivity
    The products: as part 1 of `method.regression.mechanism`.  With M, T and S as in `mechanism_scores`, a neighbour
    changes a part of scores by at most
                        l2 (Gaussian)              l1 (Laplace)
        replace-one     sqrt(17/4) S C sqrt(M)     17/8 S C T, or 5/2 S C T with a column of more than two levels
        add-remove      sqrt(5/4) S C sqrt(M)      5/4 S C T
    and a little more for rounding down.  Proofs, for all pairs of rows and whatever psi and q are: `encoding`,
    `score_encoding` (`weighed`).
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers.  epsilon' and rho' are the part's share of the price.
Cost
    SHARES of the price, fixed beforehand; each question is a function of earlier releases: adaptive composition, pure
    [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3].
Failures
    None depends on a row: the next part is measured whatever a part releases, as in `mechanism_scores`.
"""

from __future__ import annotations
