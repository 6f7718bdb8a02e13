"""Estimates after one step: the parameters whose expected clipped scores equal the released means (theory §2 (ii)).

Given the pilot theta0, the mean m of clipped scores of rows drawn at theta has expectation M(theta), known without
data; theta is estimated by solving M(theta) = m.  With J = M'(theta), the errors of theta are J^-1 times those of m:
sampling error (the variances of clipped scores are released with their means at no further price; their correlations
are the model's) and noise.  The pilot's own error moves M and m alike: it costs efficiency, of second order, and adds
no bias.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError, ModelError
from tacit.estimates.noisy_terms.column_terms import block_terms, terms_of
from tacit.estimates.noisy_terms.noisy_moments import integers
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.wording import title
from tacit.method.blocks.estimate_failed import failed_blocks
from tacit.method.blocks.estimate_pilot import doubt_of_law, judged, of_blocks_instead, pilot_alone
from tacit.method.blocks.estimate_step_fit import fit_of_step, kept_of_pilot, score_parts
from tacit.method.blocks.support_rules import rule
from tacit.models import scores
from tacit.release.document import Released
from tacit.release.parts import OF_BLOCKS, Grid

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate
    from tacit.method.blocks.query import SampleAndAggregate
    from tacit.models.likelihood import Likelihood

NOTES: Final = "one step from estimates in {k:,} blocks: clipped scores of all rows, matched with their expectation"


def estimate(release: Released, model: Likelihood) -> NormalEstimate | Estimate:
    """Return the estimates of a release with one_step, real or simulated, with covariances of sampling and noise.

    Where the step was taken by the default of `method`, and rows follow another law, those of the pilot's blocks.
    """
    query = cast("SampleAndAggregate", release.query)
    p = len(model.names)
    steps = score_parts(release, p)
    made = [terms_of("Mean", part, rows=release.rows, grouped=False, target="population") for part in steps]
    mean, variance, noise = (
        np.array([float(np.asarray(one)[0]) for one in kind])
        for kind in (
            [one.value for one in made],
            [one.sampling_variance for one in made],
            [one.privacy_variance for one in made],
        )
    )
    reason = next((one.reasons[0] for one in made if one.reasons[0]), None)
    solution, words = matched(model, scores.pilot(release.parts, model), mean, variance, noise)
    values, covariances = solution.theta, (solution.sampling, solution.privacy)
    fit = None if solution.law is None else fit_of_step(release, solution.law, values, solution.privacy)
    doubt = ""
    if query.method == "auto":
        pilot = pilot_alone(release)
        verdict = judged(fit, pilot, values, np.diag(sum(covariances)))
        if verdict.rejected or words is not None:
            return of_blocks_instead(pilot, words or verdict.why)
        if verdict.doubtful:
            covariances, doubt = (covariances[0] + doubt_of_law(pilot, values), covariances[1]), verdict.note
    elif fit is not None and fit.rejected and solution.law is not None:
        covariances = (solution.sampling + kept_of_pilot(solution.law, _pilot_variances(release)), solution.privacy)
    k = next(part.parameters["blocks"] for part in release.parts if part.form in OF_BLOCKS)
    what = ", ".join(query.what)
    name = query.model.words.get("name", query.model.words["family"])
    estimand = f"parameters of {name}, the law of {what}" + (f", where {query.where}" if query.where else "")
    failed = failed_blocks(release.parts)
    if failed is not None and failed.most:  # a pilot of few blocks guides no step
        reason = reason or failed.reason
    told = ["" if release.unit is None else "a person's score is the mean of her rows' scores"]
    told += [
        doubt or ("" if fit is None else fit.note),
        *(["", ""] if failed is None else [failed.note, rule(model) or ""]),
    ]
    notes = (NOTES.format(k=k), *(note for note in told if note))
    return NormalEstimate(
        release,
        title(release),
        estimand,
        model.names,
        values,
        *covariances,
        (reason or words,) * p,
        notes,
        tested=False,
    )


@dataclass(frozen=True)
class Matched:
    """The solution of a step: theta, shape (p,), its covariances due to sampling and to noise, and the law of scores.

    law: None, and covariances NaN, where there are none.
    """

    theta: Array
    sampling: Array
    privacy: Array
    law: scores.ScoreLaw | None


def matched(model: Likelihood, at: Array, mean: Array, variance: Array, noise: Array) -> tuple[Matched, str | None]:
    """Return the solution of a step from the pilot `at`, shape (p,), and a reason where it is none.

    mean, variance, noise: the released mean of each clipped score, its sampling variance and its noise variance, (p,).
    """
    p = len(model.names)
    nothing = np.full((p, p), np.nan)
    try:
        law = scores.law(scores.scaling_at(model, at), scores.CLIP, at)
        theta, arrived = scores.solve(law, mean)
        _, slope, spread = law.mean(theta)
    except (ModelError, ArithmeticError, ValueError, np.linalg.LinAlgError):
        return Matched(at, nothing, nothing, None), "what the scores are expected to be cannot be had at the pilot"
    # released variances, the model's correlations: D^½ R D^½, as scores release no covariances
    size = np.sqrt(np.maximum(np.diag(spread), 1e-300))
    own = np.sqrt(variance)
    sampling = spread / np.outer(size, size) * np.outer(own, own)
    # beyond, the inverse would be made of rounding errors, and its standard errors too
    if not (np.isfinite(slope).all() and np.linalg.cond(slope) < 1e10):
        return Matched(theta, nothing, nothing, None), "the scores say nothing of some parameter at the pilot"
    turn = np.linalg.inv(slope)  # J^-1: the delta method, since theta solves M(theta) = m
    found = Matched(theta, turn @ sampling @ turn.T, turn @ np.diag(noise) @ turn.T, law)
    return found, None if arrived else "no parameters of the box make the released scores expected"


def _pilot_variances(release: Released) -> Array:
    """Return the variances of the pilot, sampling and noise, shape (p,); its error is at most half the box."""
    found: list[float] = []
    for part in release.parts:
        if part.form in OF_BLOCKS:
            made, grid = block_terms(part, integers(part), True), cast(Grid, part.grid)
            whole = float((made.variance + made.privacy_variance)[0])
            found.append(min(whole, ((grid.upper - grid.lower) / 2) ** 2))
    return np.array(found)


def model_of(release: Released, given: Any) -> Likelihood:
    """Return the model of a release, or the given one where a file holds only its digest; InferenceError I75."""
    from tacit.method.shared.asked_model import AskedModel

    query = cast("SampleAndAggregate", release.query)
    asked = query.model if given is None else AskedModel.of(given)
    if asked.words != query.model.words:
        text = "the model that is given is not that of the release: another function, or other boxes."
        raise InferenceError(text, code="I75", hint="the function as it was asked", state=None)
    if asked.law is None:
        text = f"model {asked.words.get('name')!r} is a function, and the release's file has its digest alone."
        raise InferenceError(text, code="I75", hint="model=tc.Model(…), as it was asked", state=None)
    return cast("Likelihood", asked.law)
