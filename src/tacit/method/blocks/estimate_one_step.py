"""Estimates after one step: the parameters whose expected clipped scores equal the released means (theory §2 (ii)).

Given the pilot theta0, the mean m of clipped scores of rows drawn at theta has expectation M(theta), known without
data; theta is estimated by solving M(theta) = m.  With J = M'(theta), the errors of theta are J^-1 times those of m:
sampling error (the variances of clipped scores are released with their means at no further price; their correlations
are the model's) and noise.  The pilot's own error moves M and m alike: it costs efficiency, of second order, and adds
no bias.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError, ModelError
from tacit.estimates.column_terms import terms_of
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.wording import title
from tacit.method.blocks.estimate_failed import failed_blocks
from tacit.method.blocks.support_rules import rule
from tacit.models import scores
from tacit.release.document import Released
from tacit.release.parts import OF_BLOCKS

if TYPE_CHECKING:
    from tacit.method.blocks.query import SampleAndAggregate
    from tacit.models.likelihood import Likelihood

NOTES: Final = "one step from estimates in {k:,} blocks: clipped scores of all rows, matched with their expectation"


def estimate(release: Released, model: Likelihood) -> NormalEstimate:
    """Return the estimates of a release with one_step, real or simulated, with covariances of sampling and noise."""
    query = cast("SampleAndAggregate", release.query)
    p = len(model.names)
    # the pilot's parts come first, the scores' last (`one_step_design`)
    steps = release.parts[-p:]
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
    values, covariances, words = matched(model, scores.pilot(release.parts, model), mean, variance, noise)
    k = next(part.parameters["blocks"] for part in release.parts if part.form in OF_BLOCKS)
    what = ", ".join(query.what)
    name = query.model.words.get("name", query.model.words["family"])
    estimand = f"parameters of {name}, the law of {what}" + (f", where {query.where}" if query.where else "")
    failed = failed_blocks(release.parts)
    if failed is not None and failed.most:  # a pilot of few blocks guides no step
        reason = reason or failed.reason
    told = ["" if release.unit is None else "a person's score is the mean of her rows' scores"]
    told += ["" if failed is None else failed.note, failed and rule(model) or ""]
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


def matched(
    model: Likelihood, at: Array, mean: Array, variance: Array, noise: Array
) -> tuple[Array, tuple[Array, Array], str | None]:
    """Return theta, shape (p,), its covariances due to sampling and to noise, and a reason where there are none.

    mean, variance, noise: the released mean of each clipped score, its sampling variance and its noise variance, (p,).
    """
    p = len(model.names)
    nothing = np.full((p, p), np.nan)
    try:
        law = scores.law(scores.scaling_at(model, at), scores.CLIP, at)
        theta, arrived = scores.solve(law, mean)
        _, slope, spread = law.mean(theta)
    except (ModelError, ArithmeticError, ValueError, np.linalg.LinAlgError):
        return at, (nothing, nothing), "what the scores are expected to be cannot be had at the pilot"
    # released variances, the model's correlations: D^½ R D^½, as scores release no covariances
    size = np.sqrt(np.maximum(np.diag(spread), 1e-300))
    own = np.sqrt(variance)
    sampling = spread / np.outer(size, size) * np.outer(own, own)
    # beyond, the inverse would be made of rounding errors, and its standard errors too
    if not (np.isfinite(slope).all() and np.linalg.cond(slope) < 1e10):
        return theta, (nothing, nothing), "the scores say nothing of some parameter at the pilot"
    turn = np.linalg.inv(slope)  # J^-1: the delta method, since theta solves M(theta) = m
    covariances = turn @ sampling @ turn.T, turn @ np.diag(noise) @ turn.T
    return theta, covariances, None if arrived else "no parameters of the box make the released scores expected"


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
