"""The difference of two estimates of which one at least has a joint normal law: of steps, fits, regressions.

Noises of different releases are independent.  Sampling errors are independent for different people; for the same
people, of unknown correlation, Var(a - b) is at most (1 + c) Var(a) + (1 + 1 / c) Var(b) for every c > 0, as matrices;
with c the ratio of their standard errors that is (SD(a) + SD(b))**2 for one term.
"""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.estimate import Estimate
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.verbs.subtraction import check_targets, check_terms
from tacit.estimates.wording import people_of, source_of

Either = Estimate | NormalEstimate


def normal_difference(a: Either, b: Either) -> NormalEstimate:
    """Return a - b, term by term.

    InferenceError I07 where terms or targets do not match, and for two estimates of one release.
    """
    _check(a, b)
    same = _same_people(a, b)
    own = [_sampling(one) for one in (a, b)]
    sampling = _bound(*own) if same else own[0] + own[1]
    said = (
        "the same people in different releases: sampling standard errors are added, an upper bound"
        if same
        else "different ledgers or tables: taken as independent (different people)"
    )
    single = len(a.terms) == 1 and a.terms != b.terms
    return NormalEstimate(
        a.release,
        f"Difference: {a.release.table} - {b.release.table}" if a.release.table != b.release.table else "Difference",
        f"difference: {a.estimand}, minus {b.estimand}",
        (f"{a.terms[0]} - {b.terms[0]}",) if single else a.terms,
        a.values - b.values,
        sampling,
        _noise(a) + _noise(b),
        tuple(x or y for x, y in zip(a.reasons, b.reasons, strict=True)),
        (said,),
        target=a.target,
    )


def _check(a: Either, b: Either) -> None:
    check_terms(a, b)
    check_targets(a, b)
    if source_of(a.release) == source_of(b.release):
        text = "both estimates are of one release."
        raise InferenceError(text, code="I07", hint="estimate.contrast(…), which has their joint law", state=None)


def _same_people(a: Either, b: Either) -> bool:
    """Return whether the two are of the same people, as far as is known.

    Tables of one name are, where one of them has no recorded ledger: independent errors would make intervals too short.
    """
    own, other = people_of(a.release), people_of(b.release)
    unrecorded = {own.partition(" ")[0], other.partition(" ")[0]} == {"ledger", "table"}
    return own == other or (unrecorded and a.release.table == b.release.table)


def _sampling(one: Either) -> Array:
    return one.sampling if isinstance(one, NormalEstimate) else np.diag(one.sampling_variances)


def _noise(one: Either) -> Array:
    return one.privacy if isinstance(one, NormalEstimate) else np.diag(one.privacy_variances)


def _bound(a: Array, b: Array) -> Array:
    """Return a covariance that is at least that of the difference, whatever the correlation; shape (m, m)."""
    sizes = [np.maximum(np.diag(one), 0.0) for one in (a, b)]
    if min(float(one.sum()) for one in sizes) <= 0:
        return a + b
    # one c for all terms, so that the bound holds for contrasts too; terms are weighed alike whatever their units
    whole = np.maximum(sizes[0] + sizes[1], 1e-300)
    c = float(np.sqrt((sizes[1] / whole).sum() / (sizes[0] / whole).sum()))
    return (1 + c) * a + (1 + 1 / c) * b
