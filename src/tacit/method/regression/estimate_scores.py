"""Coefficients of a logistic or probit regression with both errors, on plain arrays.  Post-processing.

Writing g for the last noisy score, aimed at b0, and B for its noisy curvature, drawn towards that of normal regressors
as far as noise is large (`method.regression.glm_pilot.drawn`), the coefficients are b = b0 + B^-1 g, and

    b - beta = B^-1 (sum of psi x at beta + noise in g + (error of B) (b - b0)),

to second order in the step b - b0.  Given B, what is in the bracket has the variance of the scores, that of the noise
in g, and that of B's error times the step: noise in B itself does not bias a standard error.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.fit import Fit
from tacit.method.regression.count_scores import CountScore
from tacit.method.regression.dispersion import Dispersion
from tacit.method.regression.estimate_counts import of_counts
from tacit.method.regression.estimate_counts import told as counted
from tacit.method.regression.estimate_effects import of_binary
from tacit.method.regression.estimate_persons import between, told
from tacit.method.regression.glm_pilot import (
    NEARBY,
    ShrunkMatrix,
    curved,
    dispersion,
    drawn,
    length,
    link_of,
    moments,
    trust,
)
from tacit.method.regression.layout import Layout
from tacit.method.regression.links import Link, bounded
from tacit.method.regression.noisy_scores import First, Scored, first_of, scored, terms_of
from tacit.method.regression.normal_regressors import PLACES, Regressors
from tacit.release.parts import Part

METHOD: Final = "one-step"
NOTES: Final = ("Standard errors are robust as far as the noise allows (sandwich).",)
LOOSEST: Final = 0.3
"""Largest noise in the curvature, against what it is where every row has the mean predictor, in any direction.

Not against the curvature at the coefficients: those that are too steep by chance would then be left out more often.
"""
FURTHEST: Final = 1.0
"""Largest root mean square of what the last step adds to the predictor."""
OTHER: Final = 0.75
"""Standard errors by which the law of counts may move a coefficient where scores are cut."""
FAR: Final = 1.0
"""Standard errors by which the law that fits may move a coefficient from where the assumed law has it."""
STEEP: Final = 0.9
"""Part of the steepest predictor of an aim from which coefficients are taken to have no end."""


def fit(formula: str, model: str, layout: Layout, parts: Sequence[Part], rows: int | None) -> Fit:
    """Released parts -> Fit, with a reason in each term where they say too little."""
    terms = terms_of(layout)
    chosen = link_of(model, layout, terms)
    first, last = first_of(parts[0], layout, terms, rows), scored(parts[-1], layout, terms, chosen)
    try:
        step = _step(last, moments(first, terms))
        inverse = np.asarray(np.linalg.inv(step.curve.matrix), dtype=np.float64)
        if isinstance(step.link, CountScore):
            slope = of_counts(first, terms, step.found, inverse, last)
        else:
            slope = of_binary(last, terms, step.b, step.found, inverse)
        reason = _reason(step, first) or _law(step, last)
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):
        step, slope, reason = (
            None,
            None,
            "noise leaves no numbers to work with: more rows or a larger budget are needed",
        )
    if step is None or reason is not None:
        p = len(layout.names)
        nothing = np.full((p, p), np.nan)
        return Fit(formula, model, cast(Any, METHOD), layout.names, np.full(p, np.nan), nothing, nothing, (reason,) * p)
    both = np.outer(1 / terms.size, 1 / terms.size)
    sampling, privacy = step.covariances(last)
    return Fit(
        formula,
        model,
        cast(Any, METHOD),
        layout.names,
        step.b / terms.size,
        sampling * both,
        privacy * both,
        (None,) * len(layout.names),
        (*counted(step.link, step.varied, last.cut), *step.notes),
        {"rows": step.found.rows},
        slope=slope,
    )


def _law(step: ScoreStep, last: Scored) -> str | None:
    """Why a cut of counts leaves coefficients to a law that is not known well enough."""
    errors = np.sqrt(np.diag(sum(step.covariances(last))))
    if max(np.abs(step.either) / errors) <= OTHER and max(np.abs(step.moved) / errors) <= FAR:
        return None
    how = f"{step.varied.ratio:.2f} times what was assumed, in squares of cut scores"
    return (
        f"counts vary {how}, and how much is not known well enough for scores that are cut: more rows or a larger "
        "budget are needed"
    )


@dataclass(frozen=True)
class ScoreStep:
    """The last step, in terms of size 1.  b: where it ends; way: from where it began; meat: of the scores."""

    b: Array
    way: Array
    curve: ShrunkMatrix
    meat: Array
    found: Regressors
    link: Link
    varied: Dispersion
    moved: Array
    either: Array
    loose: float
    notes: tuple[str, ...]

    def covariances(self, last: Scored) -> tuple[Array, Array]:
        """Due to sampling, and due to privacy."""
        inverse = np.asarray(np.linalg.inv(self.curve.matrix), dtype=np.float64)
        rows, u = self.found.rows, len(self.b)
        sampling = inverse @ self.meat @ inverse * (rows / max(rows - u, 1.0))
        way = self.way @ self.curve.to
        error = self.curve.to @ last.sizes.between(np.outer(way, way)) @ self.curve.to.T * self.curve.weight**2
        whole = self.curve.matrix
        trusted = trust(self.link, self.found)
        error = error + whole * float(self.way @ whole @ self.way) * ((1 - self.curve.weight) * trusted) ** 2
        sampling = sampling + np.outer(self.either, self.either)
        return sampling, inverse @ (last.noise + error) @ inverse


def _step(last: Scored, found: Regressors) -> ScoreStep:
    assert last.meat is not None
    link = last.link
    made = bounded(link, found.predictor(last.b), last.cut)
    curve, square = curved(last, found), found.total(last.b, made.square)
    varied = dispersion(last, found)
    square = square * max(varied.ratio, 1.0)
    inverse = np.asarray(np.linalg.inv(curve.matrix), dtype=np.float64)
    if last.persons:
        meat, weight = between(last.meat, square, inverse)
    else:
        meat, weight = drawn(last.meat, square, square, trust(link, found)).matrix, 1.0
    way = np.asarray(np.linalg.solve(curve.matrix, last.score), dtype=np.float64)
    flat = np.zeros_like(last.b)
    level = bounded(link, np.full(len(PLACES), found.mean @ last.b), last.cut)
    guess = found.total(flat, level.size)
    moved, either = (inverse @ (one + np.zeros_like(way)) for one in (varied.moved, varied.either))
    loose = drawn(last.sizes, guess, guess).loose
    notes = told(weight) if last.persons else NOTES
    return ScoreStep(last.b + way - moved, way, curve, meat, found, link, varied, moved, either, loose, notes)


def _reason(step: ScoreStep, first: First) -> str | None:
    """Why the coefficients say nothing, from the release alone."""
    found, u = step.found, len(step.b)
    noise = math.sqrt(first.moments.variance(np.eye(u)[0]))
    if found.rows < max(4 * noise, 5 * u):
        rows = f"about {found.rows:,.0f} complete rows"
        return f"{rows}, with noise of {noise:,.0f}; more rows or a larger budget are needed"
    if not np.isfinite(step.b).all():
        return "noise leaves no numbers to work with: more rows or a larger budget are needed"
    loose = max(step.loose, found.loose * (0.5 if isinstance(step.link, CountScore) else 1.0))
    if not loose <= LOOSEST:
        how = "more than there is" if loose >= 1 else f"{100 * loose:.0f}%"
        return (
            f"noise moves the curvature by {how} (at most {100 * LOOSEST:.0f}% is safe): fewer "
            "regressors, narrower bounds, more rows or a larger budget are needed"
        )
    if found.spread(step.b) > STEEP * step.link.steepest:
        return (
            "the linear predictor varies so much that the response may be separated, or noise makes it seem so: more "
            "rows, a larger budget or a simpler formula are needed"
        )
    counts = isinstance(step.link, CountScore)
    if length(step.way, found) > (NEARBY if counts else FURTHEST):
        return "the last step is too long to have come to an end: more rows or a larger budget are needed"
    return None
