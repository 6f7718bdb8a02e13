"""Where a score is cut: between the noise, which grows with the cut, and what the cut loses.  No data here.

A cut loses precision, and of counts more than that: the correction for it assumes a law of counts, and which law holds
is known by its squared scores alone.  What laws with the same squared scores would correct differently is an error of
the coefficients (`method.regression.dispersion`), so that the cut is chosen with it.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.method.regression.bounded_scores.bounded_score import Array, BoundedScore
from tacit.method.regression.bounded_scores.count_laws import Kind
from tacit.method.regression.bounded_scores.count_links import CountLink
from tacit.method.regression.bounded_scores.links import Link
from tacit.method.regression.bounded_scores.normal_regressors import NODE_WEIGHTS, Regressors
from tacit.method.regression.bounded_scores.positive_links import PositiveLink
from tacit.method.regression.pilots.dispersion import LawfulLink, kinds_of, longest, spreads_of

DOUBT_OF_LEVEL: Final = 0.5
"""Weight, when a cut is chosen, of what kinds of law disagree on for positive responses: it moves the level alone.

Half of it makes slopes a tenth more precise, and costs the intercept next to nothing."""


FULL_WEIGHT_FROM: Final = (1.5, 2.0, 2.5, 3.0, 4.0)
"""Standard deviations of the predictor above its mean from which the weights of products are 1 and scores of counts
have less weight: the largest at which products are known well enough, or else the least."""
MOST_LOOSE: Final = 0.05
"""Largest noise in a sum of products, relative to the sum of weights, at which more than the least is taken."""


def full_weight_from(b: Array, found: Regressors, loose: float) -> float:
    """Return from how many standard deviations on scores of counts have less weight; loose: see `next_score`."""
    least, *more = FULL_WEIGHT_FROM
    eta = found.predictor_values(b)
    for one in reversed(more):
        weights = np.exp(np.minimum(eta - found.mean @ b - one * found.predictor_sd(b), 0.0))
        if loose <= MOST_LOOSE * max(found.rows, 1.0) * float(NODE_WEIGHTS @ weights):
            return one
    return least


def choose_cut(b: Array, found: Regressors, link: Link, noise: Array, spread: float) -> float:
    """Return the widest cut whose expected error, for normal regressors, is at most `cut_tolerance` times the least.

    The error is the trace of the coefficients' covariance times the Fisher information.  noise: covariance of the noise
    in sums of a score of at most 1.  spread: which laws of counts to allow for.
    """
    eta = found.predictor_values(b)
    fisher = found.weighted_products(b, link.information(eta))
    sizes: dict[float, float] = {}
    cuts, k = link.cuts(), len(eta)
    # all cuts at once, shape (cuts k,): one pass of the centering's iterations
    made = link.bounded(np.tile(eta, len(cuts)), np.repeat(cuts, k))
    weight = DOUBT_OF_LEVEL if isinstance(link, PositiveLink) else 1.0
    doubts = weight * law_doubts(link, np.tile(eta, len(cuts)), made, spread).reshape(-1, len(cuts), k)
    each = zip(cuts, made.curve.reshape(-1, k), made.square.reshape(-1, k), doubts.swapaxes(0, 1), strict=True)
    for cut, curve, square, doubt in each:
        inverse = np.asarray(np.linalg.pinv(found.weighted_products(b, curve), hermitian=True), dtype=np.float64)
        aside = longest([found.weighted_sum(b, one) for one in doubt], inverse)
        error = inverse @ (found.weighted_products(b, square) + noise + np.outer(aside, aside)) @ inverse
        sizes[cut] = float(np.sum(fisher * error))
    least = min(sizes.values())
    # no size qualifies where all are NaN
    return max((cut for cut, size in sizes.items() if size <= link.cut_tolerance * least), default=1.0)


def law_doubts(link: Link, eta: Array, made: BoundedScore, spread: float) -> Array:
    """Return what other kinds of law of the same mean squared score change in mean scores, shape (kinds, cuts k).

    eta and `made`: predictors at the nodes of `found`, once for each cut, shape (cuts k,).  spread: of the negative
    binomial law that the others are compared with.
    """
    if not isinstance(link, CountLink | PositiveLink):
        return np.zeros((1, len(eta)))
    assumed, *others = kinds_of(link)
    first, square = link.moments_under(eta, made, assumed(spread))
    return np.array([_matched(link, eta, made, other, _by_cut(square)) - first for other in others])


def _matched(link: LawfulLink, eta: Array, made: BoundedScore, kind: Kind, squares: Array) -> Array:
    """Return mean scores, shape (cuts k,), under laws of one kind: for each cut the one with these mean squares."""
    spreads = spreads_of(link)
    tried = [link.moments_under(eta, made, kind(x)) for x in spreads]
    sums = np.array([first.reshape(len(squares), -1) for first, _ in tried])
    # np.interp needs increasing places
    there: Array = np.maximum.accumulate(np.array([_by_cut(square) for _, square in tried]), axis=0)
    found = np.zeros_like(sums[0])
    for j in range(len(squares)):
        place = float(np.interp(float(squares[j]), there[:, j], np.arange(len(spreads), dtype=float)))
        low = min(int(place), len(spreads) - 2)
        found[j] = sums[low, j] + (place - low) * (sums[low + 1, j] - sums[low, j])
    return found.ravel()


def _by_cut(values: Array) -> Array:
    """Return means over the rows, shape (cuts,), of values at the nodes for each cut."""
    return values.reshape(-1, len(NODE_WEIGHTS)) @ NODE_WEIGHTS
