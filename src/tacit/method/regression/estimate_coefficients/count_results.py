"""Results of regressions of weighed scores beside coefficients: notes on cut and dispersion, and the mean slope."""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.fit import MeanSlope
from tacit.method.regression.bounded_scores.count_links import CountLink
from tacit.method.regression.bounded_scores.links import Link
from tacit.method.regression.bounded_scores.normal_regressors import Regressors
from tacit.method.regression.bounded_scores.positive_links import PositiveLink
from tacit.method.regression.bounded_scores.robust_links import CUT, SHARE, RobustLink
from tacit.method.regression.pilots.dispersion import SPREADS, Dispersion
from tacit.method.regression.row_sums.noisy_scores import FirstPart, ScaledTerms, ScorePart
from tacit.rows.coordinates import H


def count_notes(link: Link, varied: Dispersion, cut: float) -> tuple[str, ...]:
    """Return notes for readers: where scores are cut, which law was assumed, and how much counts vary against it."""
    if isinstance(link, RobustLink):
        return (
            f"Scores are cut at residuals of {cut * link.unit:.4g}, within which about {100 * SHARE:.0f}% of them lie "
            f"({CUT} standard deviations of a normal law): coefficients are those of Huber's regression with this cut.",
        )
    if isinstance(link, PositiveLink):
        return (_note_of_positive(varied, cut),)
    if not isinstance(link, CountLink):
        return ()
    law = "Poisson"
    if varied.spread:
        within = f"{varied.low:.2g} to {varied.high:.2g} within a standard error"
        law = f"negative binomial, variance mean + {varied.spread:.2g} mean\u00b2 ({within}; at most {SPREADS[-1]:g})"
    return (
        f"Scores are cut for counts more than {cut:.3g} from their middle; a correction for it assumes the law {law}. "
        "What other laws with the same squared scores would correct differently is part of the standard errors.",
        f"Squared scores are {varied.ratio:.2f} times (\u00b1 {2 * varied.error:.2f}) those of the assumed law.",
    )


def _note_of_positive(varied: Dispersion, cut: float) -> str:
    """Return the note on where the scores of a positive response are cut."""
    middle, low, high = (100 * x**0.5 for x in (varied.spread, varied.low, varied.high))
    return (
        f"Scores are cut for responses more than {cut:.3g} means from their middle; a correction for it assumes a "
        f"gamma law with a coefficient of variation of {middle:.0f}% ({low:.0f} to {high:.0f} within one standard "
        "error). What other laws with the same squared scores would correct differently is part of the standard errors."
    )


def mean_slope_of_counts(
    first: FirstPart, terms: ScaledTerms, found: Regressors, inverse: Array, last: ScorePart
) -> MeanSlope:
    """Return the mean slope of counts or positive responses, which is their mean (clamped to their bounds).

    Its covariance with the coefficients is that of a Poisson law: mean(x dpsi) / n, and so 1 / n of the constant; or of
    a gamma law, whose score in the predictor is (y - mean) / (spread mean).
    """
    # unit: d y / d r, r = z_m / H
    rows, unit = found.rows, terms.response[1] * H
    mean = max(found.response, 0.0)
    # Var(y) = E y^2 - (E y)^2, in units of r first
    squares = max(first.response_squares / rows - (first.response_sum / rows) ** 2, 0.0) * unit**2
    at, link = found.predictor_values(last.b), last.link
    curve = link.bounded(at, last.cut).curve
    positive = isinstance(link, PositiveLink)
    if positive:
        # Cov(psi, y) = spread mean d E psi / d eta
        curve = curve * link.spread * link.mean(at)
    # Cov(psi, y) = d E psi / d eta for a Poisson law; B c = sum of curve x where x'c = 1
    along = inverse @ found.weighted_sum(last.b, curve) if terms.constant is None or positive else terms.constant
    # delta method for the ratio of two noisy sums
    noise = (first.response_noise**2 + (first.response_sum / rows * first.rows_noise) ** 2) * (unit / rows) ** 2
    nothing = np.zeros_like(last.b)
    # a count varies at least as a Poisson count: noise must not make its variance smaller; a person's mean count varies
    # no more, and how it goes with mean scores is not told
    known = None if last.persons else np.asarray(terms.back @ along / rows)
    least = 0.0 if positive else mean
    return MeanSlope(mean, nothing, max(squares, least) / rows, noise, known)
