"""`tc.average`: several releases of one quantity of the same people.  Post-processing: costs nothing more.

Each release has noise of its own, and all have the sampling error of the same rows.  With weights w that add up to 1,
    Var(sum w_i estimate_i) = sampling variance + sum w_i**2 noise_i,
which is least for weights inverse to the variances of the noises alone [Brawner & Honaker 2018, equation 6].  These are
known; weights that followed the sampling variance would be no better, and would follow the noise in it.

Answers to one question are averaged as `tc.combine` averages those of one ledger: their sums, before any ratio is
taken.  Answers of different methods (a mean, and the mean of a histogram) are averaged as estimates: standard errors of
sampling are added with the weights, an upper bound that is attained where it is one and the same statistic.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import reduce
from typing import Any, Final, TypeAlias, cast

import numpy as np

from tacit.base.arguments import kind_of
from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.estimate import Estimate
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import Target, check_target
from tacit.estimates.verbs.subtraction import check_targets, check_terms, merged, spread_over
from tacit.method.histogram.combine import added
from tacit.method.histogram.estimate import HistogramRelease
from tacit.parties.combined import Combined
from tacit.pooling.compatibility import check_compatible, source_in_ledger
from tacit.release.document import Release

Either: TypeAlias = Estimate | NormalEstimate
DECLARED: Final = "not recorded in one ledger: that they are of the same people is the caller's word"
ADDED: Final = "the same people: noises are averaged, sampling standard errors added with the weights, an upper bound"


def average(answers: Sequence[Any], *, target: Target = "population") -> Estimate | NormalEstimate:
    """Average releases, or estimates, of one quantity of the same people: the noise gets less, the rows stay the same.

    answers: releases of one question, whatever their prices and noises; or estimates that have the same terms (or one
    term each), of any methods: that these estimate the same quantity is the caller's word.  target: of releases.
    Checked is what releases say in public: the table's name, the schema, the number of rows, the privacy unit, the
    neighbouring relation, and the ledger where both have one.  Their costs were paid, and add up, in the ledger.
    For different people use `tc.combine`; it averages releases of one ledger too, with those of others.
    InferenceError C10 (no release), C13 (a release given twice), C35 (not the same table), C36 (fewer than two), I07
    (terms or targets that do not match, estimates that have no average), I09 (target).
    Source: [Brawner & Honaker 2018, section 3]; theory §6.

    >>> import tacit as tc
    >>> table, schema = {"age": [float(x) for x in range(100)] * 9}, tc.Schema({"age": tc.Real(0, 100)})
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=9))
    >>> twice = [curator.release(tc.Mean("age"), epsilon=price) for price in (0.1, 0.2)]
    >>> found = average(twice)
    >>> bool(found.std_error < twice[1].estimate().std_error)
    True
    """
    check_target(target)
    listed = list(answers)
    if len(listed) < 2:
        text = f"{len(listed)} {'answer is' if len(listed) == 1 else 'answers are'} nothing to average."
        raise InferenceError(text, code="C36", hint="average([one, other])", state=None)
    behind = [_releases_of(one, place) for place, one in enumerate(listed, 1)]
    notes = _check_same_table([one for some in behind for one in some])
    question = [one for one in listed if isinstance(one, Release)]
    if len(question) == len(listed) and _one_question(question):
        return _of_question(question, target, notes)
    found = [_estimated(one, target, place) for place, one in enumerate(listed, 1)]
    _check_terms(found)
    weights = _weights(found)
    if all(isinstance(one, Estimate) for one in found):
        return _linear(cast("list[Estimate]", found), weights, notes)
    return _normal(found, weights, notes)


def _releases_of(answer: Any, place: int) -> tuple[Release, ...]:
    """Return the releases behind an answer; InferenceError C10 for what is none, or is simulated or combined."""
    own = [answer] if not isinstance(answer, Estimate | NormalEstimate) else [answer.release]
    own += list(answer.others) if isinstance(answer, Estimate) else []
    for one in own:
        # a place in a chain without a charge: made from other releases, which could then count twice
        if not isinstance(one, Release) or (one.head and not one.charge):
            text = f"answer {place} is {kind_of(one)}, which no curator released."
            raise InferenceError(text, code="C10", hint="releases that a curator made, or their estimates", state=None)
    return tuple(cast("list[Release]", own))


def _check_same_table(releases: Sequence[Release]) -> tuple[str, ...]:
    """Return notes on what is not known; InferenceError C35 for releases of other people, C13 for one given twice."""
    first, seen = releases[0], set[object]()
    for one in releases:
        facts = {
            "table": (first.table, one.table),
            "schema": (first.schema, one.schema),
            "number of rows": (first.rows, one.rows),
            "privacy unit": (first.unit, one.unit),
            "neighbouring relation": (first.neighbors, one.neighbors),
        }
        if first.recorded and one.recorded and first.ledger and one.ledger:
            facts["ledger"] = (first.ledger, one.ledger)
        if odd := next((name for name, (own, other) in facts.items() if own != other), None):
            text = f"the releases are not of the same table: the {odd} differs."
            raise InferenceError(text, code="C35", hint="combine([…]) for different people", state=None)
        source = source_in_ledger(one)
        if source in seen:
            text = f"the release with charge {one.charge} of {one.table} is given twice."
            raise InferenceError(text, code="C13", hint="each release once", state=None)
        seen.add(source)
    known = len({one.ledger for one in releases}) == 1 and first.ledger and all(one.recorded for one in releases)
    return () if known else (DECLARED,)


def _one_question(releases: Sequence[Release]) -> bool:
    """Whether the releases answer one question, of a kind that `tc.combine` averages."""
    try:
        check_compatible(_names(releases), releases)
    except InferenceError:
        return False
    return True


def _names(releases: Sequence[Release]) -> tuple[str, ...]:
    return tuple(f"release {place}" for place in range(1, len(releases) + 1))


def _of_question(releases: Sequence[Release], target: Target, notes: tuple[str, ...]) -> Estimate | NormalEstimate:
    """Return the estimate of one party that holds all releases."""
    made = Combined(tuple(releases), _names(releases), (0,) * len(releases), "common", notes=notes)
    if isinstance(releases[0], HistogramRelease):
        return replace(added(made, made.parties).estimate(target), notes=notes)
    return made.estimate(target)


def _estimated(answer: Any, target: Target, place: int) -> Either:
    """Return an estimate with a covariance; InferenceError I07 for what has none."""
    found = answer.estimate(target) if isinstance(answer, Release) else answer  # pyright: ignore
    if isinstance(found, Estimate | NormalEstimate):
        return found
    text = f"answer {place} gives {kind_of(found)}, which has no standard error."  # pyright: ignore
    hint = "fit.coefficients, or estimates of means, counts, parameters"
    raise InferenceError(text, code="I07", hint=hint, state=None)


def _check_terms(found: Sequence[Either]) -> None:
    """Raise InferenceError I07 for estimates that do not go together."""
    for one in found[1:]:
        check_terms(found[0], one)
        check_targets(found[0], one, "all")


def _weights(found: Sequence[Either]) -> Array:
    """Return weights inverse to the variances of the noises, shape (answers,): one for all terms of an answer.

    Noise of a ratio depends on the noisy size of its group: the median over terms hardly does.
    """
    noise = np.array([one.privacy_variances for one in found])
    usual = noise.mean(axis=0)
    relative = np.divide(noise, usual, out=np.ones_like(noise), where=usual > 0)
    worth = 1 / np.maximum(np.median(relative, axis=1), 1e-9)
    return worth / worth.sum()


def _linear(found: Sequence[Estimate], weights: Array, notes: tuple[str, ...]) -> Estimate:
    """Return the weighted mean of linear estimates: the noises keep their laws, sampling errors count as common."""
    first = found[0]
    # one name for the people of all: sampling standard errors are then added, not their squares
    same = [
        replace(one, blocks=tuple(replace(block, people=first.blocks[0].people) for block in one.blocks))
        for one in found
    ]
    blocks = reduce(lambda all_, one: merged(all_, one.blocks)[0], same, ())
    size = sum(len(block.value) for block in blocks)
    matrix = np.zeros((len(first.terms), size))
    for weight, one in zip(weights, same, strict=True):
        own = np.zeros_like(matrix)
        spread_over(one, own, merged(blocks, one.blocks)[1], blocks)
        matrix += weight * own
    others = tuple(release for one in found[1:] for release in (one.release, *one.others))
    return replace(
        first,
        blocks=blocks,
        matrix=matrix,
        others=(*first.others, *cast("tuple[Release, ...]", others)),
        notes=(_shares(weights), ADDED, *notes),
        joined="averaged with",
    )


def _normal(found: Sequence[Either], weights: Array, notes: tuple[str, ...]) -> NormalEstimate:
    """Return the weighted mean of jointly normal estimates.

    Whatever the correlation of sampling errors e_i, Var(sum w_i e_i) is at most sum w_i Var(e_i), as matrices: the
    square is convex.
    """
    first = found[0]
    several = list(zip(weights, found, strict=True))
    reasons = (tuple(one.reasons) for one in found)
    return NormalEstimate(
        first.release,
        f"Average of {len(found)} estimates",
        first.estimand,
        first.terms,
        np.sum([w * one.values for w, one in several], axis=0),
        np.sum([w * _covariance(one, "sampling") for w, one in several], axis=0),
        np.sum([w**2 * _covariance(one, "privacy") for w, one in several], axis=0),
        tuple(next((why for why in some if why), None) for some in zip(*reasons, strict=True)),
        (_shares(weights), ADDED, *notes),
        target=first.target,
    )


def _covariance(one: Either, part: str) -> Array:
    """Return the covariance due to sampling or to noise, shape (terms, terms)."""
    if isinstance(one, NormalEstimate):
        return one.sampling if part == "sampling" else one.privacy
    made = one.combination
    return made.sampling_matrix() if part == "sampling" else made.privacy_matrix()


def _shares(weights: Array) -> str:
    return f"weights, inverse to the variances of the noises: {', '.join(f'{w:.2f}' for w in weights[:12])}"
