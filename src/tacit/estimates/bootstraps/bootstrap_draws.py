"""What a parametric bootstrap draws: the terms that the truth may have, given an estimate with its errors."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.bootstraps import error_draws
from tacit.estimates.verbs.contrasts import joint_words, law_words
from tacit.release.document import Released

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate
    from tacit.estimates.normal_estimate import NormalEstimate

Chunks = Iterator[Array]


@dataclass(frozen=True)
class Draws:
    """An estimate as a bootstrap sees it.

    terms, values, reasons: of its m terms.  errors: standard errors, over which slopes are taken, shape (m,).
    sampling, privacy: the variance of a linear function of the terms, from its weights, shape (m,).
    moved: seeded chunks of terms, shape (functions, some, m) or (1, some, m) where all functions share them, from the
    functions' slopes (functions, m), the number of draws, the generator, and whether the error is added to the estimate
    (other estimates) or taken from it (possible truths).
    notes: what is assumed of the errors.
    """

    release: Released
    terms: tuple[str, ...]
    values: Array
    reasons: tuple[str | None, ...]
    errors: Array
    sampling: Callable[[Array], float]
    privacy: Callable[[Array], float]
    moved: Callable[[Array, int, np.random.Generator, bool], Chunks]
    notes: tuple[str, ...]


def of_estimate(found: Estimate) -> Draws:
    """Return draws of normal sampling errors and of the noises' own laws, each term as far as its interval reaches."""
    from tacit.estimates.verbs.contrasts import combine

    blocks, used = error_draws.used_terms(found.combination)
    matrix = (np.eye(len(used)) if found.matrix is None else found.matrix)[:, used]

    def part(name: str) -> Callable[[Array], float]:
        return lambda weights: float(getattr(combine(found, weights[None, :], ("f",), ""), name)[0])

    def moved(slopes: Array, many: int, rng: np.random.Generator, added: bool) -> Chunks:
        own = error_draws.pieces(blocks)
        people = [one.people for one in own]
        # functions differ in their draws only where a correlation is not known
        gradients = (slopes if len(set(people)) < len(people) else slopes[:1]) @ matrix
        below, above = (one.of(used) for one in found.combination.reached())
        step = error_draws.draws_at_once(blocks, len(gradients))
        for first in range(0, many, step):
            some = min(step, many - first)
            noise = error_draws.noise_errors(blocks, some, rng)
            errors = error_draws.sampling_errors(own, gradients, some, rng) + noise
            errors = error_draws.sided(errors, below, above) @ matrix.T
            yield found.values + errors if added else found.values - errors

    notes = (f"{law_words(found)} law of the total error", *_dependence(found))
    return Draws(
        found.release,
        found.terms,
        found.values,
        found.reasons,
        found.std_errors,
        part("sampling_variances"),
        part("privacy_variances"),
        moved,
        notes,
    )


def _dependence(found: Estimate) -> tuple[str, ...]:
    """Return a note on what is known of the joint law of several terms; none for one term."""
    from tacit.estimates.verbs.contrasts import combine

    if len(found.terms) == 1:
        return ()
    return (joint_words(combine(found, np.ones((1, len(found.terms))), ("sum",), "")),)


def of_normal(found: NormalEstimate) -> Draws:
    """Return draws of the joint normal law; on the scale on which the terms' intervals are symmetric."""
    total = np.nan_to_num(found.sampling + found.privacy)
    errors = np.sqrt(np.maximum(np.diag(total), 0.0))
    root = error_draws.root(total)
    scale = found.scale

    def moved(_: Array, many: int, rng: np.random.Generator, added: bool) -> Chunks:
        step = max(1, error_draws.AT_ONCE // (2 * len(errors)))
        for first in range(0, many, step):
            drawn = rng.standard_normal((min(step, many - first), len(errors))) @ root.T
            drawn = drawn if added else -drawn
            if scale is None:
                yield (found.values + drawn)[None]
                continue
            z = np.divide(drawn, errors, out=np.zeros_like(drawn), where=errors > 0)
            yield np.array([scale.back(one) for one in scale.values + z * scale.errors])[None]

    def variance(part: Array) -> Callable[[Array], float]:
        known = np.nan_to_num(part)
        return lambda weights: max(float(weights @ known @ weights), 0.0)

    return Draws(
        found.release,
        found.terms,
        found.values,
        found.reasons,
        errors,
        variance(found.sampling),
        variance(found.privacy),
        moved,
        ("normal law of the total error",),
    )
