"""Combinations of terms and tests on them: contrasts, linear constraints, standardised values."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.noisy_terms.sided_errors import USUAL
from tacit.estimates.terms import place_of
from tacit.estimates.total_errors import error_laws as laws
from tacit.estimates.verbs.constraints import matrix_of

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate


@shown_by_summary
@dataclass(frozen=True)
class Test:
    """Result of a test of linear constraints.

    estimate, null: left-hand sides and what they should be; p_value; statistic: estimate over standard error, or Wald's
    quadratic form of `df` constraints; method: the law used, in words.

    >>> Test("f = m", 1.2, 1, 0.23, "normal law of the total error, two-sided").summary().rows
    (('f = m', '1.200', '1', '0.230'),)
    """

    __test__ = False  # not a test case

    constraints: str
    statistic: float
    df: int
    p_value: float
    method: str

    def summary(self) -> Table:
        """One row: statistic, degrees of freedom, p-value."""
        from tacit.estimates.display import test_table

        return test_table(self)


def combine(estimate: Estimate, weights: Array, terms: tuple[str, ...], estimand: str, note: str = "") -> Estimate:
    """Linear combinations of the terms, `weights` of shape (new, old)."""
    # weights are of the shown terms, which may be combinations already: the product refers to the released ones
    matrix = weights @ (np.eye(estimate.combination.base) if estimate.matrix is None else estimate.matrix)
    kept = tuple(one for one in estimate.notes if not one.startswith("weights: "))  # said of terms as released
    notes = (*kept, note) if note else kept
    return replace(estimate, terms=terms, matrix=matrix, estimand=estimand, notes=notes, term_title="")


def _covariance(estimate: Estimate) -> Array:
    return estimate.combination.sampling_matrix() + estimate.combination.privacy_matrix()


def _as_wide_as_intervals(estimate: Estimate, matrix: Array, covariance: Array) -> Array:
    """Return the covariance of constraints, shape (m, m), with each term's error no smaller than by its interval.

    matrix: of the constraints, shape (m, terms).  Intervals allow for what few rows tell of a variance, and for laws
    with longer tails than the normal; the plain covariance does not, and rejects too often.
    """
    own = _covariance(estimate)
    # where the terms' covariance is only bounded, that of the constraints does not follow from it
    near = 1e-9 * float(np.abs(covariance).max(initial=0.0))
    if not np.allclose(matrix @ own @ matrix.T, covariance, rtol=1e-6, atol=near):
        return covariance
    apart = np.abs(estimate.intervals(USUAL) - estimate.values[:, None]).max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        wider = apart / (NormalDist().inv_cdf(0.5 + USUAL / 2) * np.sqrt(np.diag(own)))
    wider = np.where(np.isfinite(wider), np.maximum(wider, 1.0), 1.0)
    return matrix @ (own * np.outer(wider, wider)) @ matrix.T


def test(estimate: Estimate, constraints: str) -> Test:
    """See `Estimate.test`."""
    matrix, null = matrix_of(estimate.terms, constraints)
    made = combine(estimate, matrix, tuple(f"c{i}" for i in range(len(matrix))), "constraint")
    off = made.values - null
    if len(matrix) == 1:
        p = float(made.combination.p_values(null)[0])
        sd = float(made.std_errors[0])
        statistic = float(off[0]) / sd if sd > 0 else math.copysign(math.inf, off[0]) if off[0] else 0.0
        return Test(constraints, statistic, 1, p, f"{law_words(made)} law of the total error, two-sided")
    covariance = _as_wide_as_intervals(estimate, matrix, _covariance(made))
    rank = int(np.linalg.matrix_rank(covariance))
    if rank < len(matrix):
        text = f"the {len(matrix)} constraints are not independent (rank {rank})."
        raise InferenceError(text, code="I03", hint="leave out those that follow from the others", state=None)
    from scipy import stats  # pyright: ignore[reportMissingTypeStubs]

    # several constraints have no exact law at hand: Wald's quadratic form, the total errors taken as normal and, of
    # terms of few rows, as wide as their own intervals say
    chi2 = float(off @ np.linalg.solve(covariance, off))
    p = float(cast(Any, stats).chi2.sf(chi2, rank))
    return Test(constraints, chi2, rank, p, "Wald, chi-square with the total covariance (asymptotic)")


def law_words(estimate: Estimate) -> str:
    """Name of the law of the total error."""
    noisy = any(not laws.is_gaussian(block.law) for block in estimate.blocks)
    return "normal + Laplace" if noisy else "normal"


def contrast(estimate: Estimate, expression: str) -> Estimate:
    """See `Estimate.contrast`."""
    matrix, null = matrix_of(estimate.terms, expression)
    if len(matrix) != 1 or null.any():
        message = f"{described(expression)} is not one linear combination without a right-hand side."
        raise InferenceError(message, code="I03", hint='contrast("`a` - `b`"); test("`a` = `b`")', state=None)
    made = combine(estimate, matrix, (expression,), f"{expression}, {estimate.estimand}")
    return replace(made, notes=(*made.notes, joint_words(made)))


def joint_words(made: Estimate) -> str:
    """Return a note on how the sampling errors in each of these combinations depend on each other.

    It says that standard errors are added exactly where `covariance.combined_variances` adds them.
    """
    used = [(block, w) for block, w in made.combination.slices() if w.any() and block.sampling_variance.any()]
    if not used:
        return "only the noise is uncertain, and its joint law is known"
    added = "sampling standard errors are added, an upper bound"
    if any(block.shared and np.count_nonzero(w, axis=1).max() > 1 for block, w in used):
        return f"{why_shared(made, 'groups')}: {added}"
    same = [
        (one.source, other.source)
        for i, (one, first) in enumerate(used)
        for other, second in used[i + 1 :]
        if one.people == other.people and (first.any(axis=1) & second.any(axis=1)).any()
    ]
    if any(one != other for one, other in same):
        return f"the same people in different releases: {added}"
    if same:
        return f"columns of the same people: their {added}"
    if len({block.people for block, _ in used}) > 1:
        return "different people: their errors are independent"
    return "one joint release: the covariance is known"


def why_shared(estimate: Estimate, parts: str) -> str:
    """Return why the sampling errors of terms are not known to be independent; parts: groups or cells."""
    pooled = hasattr(estimate.release, "effects_of")  # of many parties
    return "how terms covary over parties is not known" if pooled else f"weighted persons may be in several {parts}"


def standardize(estimate: Estimate, weights: Mapping[str, float]) -> Estimate:
    """See `Estimate.standardize`."""
    if not isinstance(weights, Mapping):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"weights are {described(weights)}: no mapping from term to weight."
        raise InferenceError(text, code="I06", hint='{"north": 0.4, "south": 0.6}', state=None)
    row = np.zeros((1, len(estimate.terms)))
    for term, weight in weights.items():
        if isinstance(weight, bool) or not isinstance(weight, int | float) or not math.isfinite(weight) or weight < 0:  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"weight {described(weight)} of {described(term)} is not a number of 0 or more."
            raise InferenceError(text, code="I06", hint='{"north": 0.4, "south": 0.6}', state=None)
        row[0, place_of(estimate.terms, term)] = float(weight)
    total = math.fsum(row[0])
    # decimal weights such as 0.1 do not add up to 1 exactly in binary
    if abs(total - 1) > 1e-9:
        text = f"the weights add up to {total:.6g}, not 1."
        raise InferenceError(text, code="I06", hint="divide each by their sum", state=None)
    words = f"{estimate.estimand}, standardised to given weights"
    return combine(estimate, row, ("standardized",), words, "weights are taken as known")


def select(estimate: Estimate, term: str | list[str]) -> Estimate:
    """Terms by label, or all terms of one column of several by its name; exact intervals are kept."""
    if not isinstance(term, str | list | tuple):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"{described(term)} is no term, nor a list of terms."
        raise InferenceError(text, code="I02", hint=f'["{estimate.terms[0]}"]', state=None)
    if isinstance(term, str) and term not in estimate.terms and term in _columns(estimate):
        return _column(estimate, term)
    asked = [term] if isinstance(term, str) else list(term)
    index = [place_of(estimate.terms, name) for name in asked]
    made = combine(estimate, np.eye(len(estimate.terms))[index], tuple(asked), estimate.estimand)
    return replace(made, term_title=estimate.term_title)


def _columns(estimate: Estimate) -> list[str]:
    """Return the column of each term; empty for combinations, which may mix columns."""
    return [] if estimate.matrix is not None else [b.label for b in estimate.blocks for _ in range(len(b.value))]


def _column(estimate: Estimate, label: str) -> Estimate:
    """One column of several, its terms named by their cells alone."""
    from tacit.estimates.wording import estimand
    from tacit.release.parts import cell_labels

    index = [i for i, name in enumerate(_columns(estimate)) if name == label]
    words = estimand(estimate.release, estimate.target, label)
    made = combine(estimate, np.eye(len(estimate.terms))[index], cell_labels(estimate.release.levels), words)
    return replace(made, term_title=estimate.term_title)
