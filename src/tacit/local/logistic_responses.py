"""A logistic regression of a randomised yes or no, by maximum likelihood with the design's known probabilities.

P(answer yes | x) = q + (p - q) logistic(x'b), p and q of the design.  The information is that of the answers; without
randomisation it would be X'WX: what is lost is the answers' own randomness, the part of the variance for privacy.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import formulaic, special
from tacit.errors import QueryError
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.local.response_facts import ResponseFacts

if TYPE_CHECKING:
    from tacit.local.response_design import ResponseDesign

STEPS: Final = 100
CLOSE: Final = 1e-9
"""A step whose squared length in standard errors is below this ends the search."""
LARGEST: Final = 15.0
"""Log-odds beyond which a fit is on its way to infinity: shares of 3e-7."""
UNBOUNDED: Final = "the answers do not bound the coefficients: too few, or too much randomised"


def fit(design: ResponseDesign, formula: str, frame: Any) -> NormalEstimate:
    """Return the coefficients; QueryError Q163 for another design than of a yes or no, and for a malformed formula."""
    if not design.binary:
        text = f"a logistic regression is of a yes or no, not of {design.name}."
        raise QueryError(text, code="Q163", hint="tc.local.Warner(epsilon=1)")
    answers, rows, names = _read(design, formula, frame)
    q = float(design.channel.wrong)
    slope = float(design.channel.own) - q
    values, converged = _search(rows, answers, q, slope)
    share = special().expit(rows @ values)
    told = _inverse(rows, _weight(share, q, slope))
    alone = _inverse(rows, share * (1 - share))
    good = converged and told is not None and alone is not None and float(np.abs(rows @ values).max()) < LARGEST
    reasons = (None if good else UNBOUNDED,) * len(names)
    size = (len(names),) * 2
    sampling = alone if good and alone is not None else np.zeros(size)
    privacy = told - sampling if good and told is not None else np.zeros(size)
    facts = ResponseFacts(design, len(answers))
    title = f"Logistic regression of randomised answers, {formula} · {design}"
    words = "coefficients of the log-odds of a true yes"
    note = "maximum likelihood with the design's known probabilities; privacy: information that randomisation took"
    return NormalEstimate(facts, title, words, names, values, sampling, privacy, reasons, (note,))


def _read(design: ResponseDesign, formula: str, frame: Any) -> tuple[Array, Array, tuple[str, ...]]:
    """Return answers (1 for yes), shape (n,), the regressors, shape (n, d), and their names; QueryError Q163, Q161."""
    library = formulaic()
    left, mark, right = formula.partition("~")
    name = left.strip()
    try:
        column = list(frame[name])
    except (KeyError, TypeError, IndexError):
        column = []
    if not mark or not column:
        text = f"{formula!r} has no column of answers on its left side."
        raise QueryError(text, code="Q163", hint='logistic("answer ~ age", frame)')
    answers = np.array([float(design.supports(one) == (0,)) for one in column])
    try:
        made = library.model_matrix(right.strip(), frame)
    except Exception as problem:  # formulaic and pandas raise errors of many kinds
        text = f"{formula!r} cannot be read on this frame: {type(problem).__name__}."
        raise QueryError(text, code="Q163", hint="columns of the frame, without missing values") from None
    rows = np.asarray(made, dtype=np.float64)
    if rows.shape[0] != len(answers) or not np.isfinite(rows).all():
        text = "some regressors are missing or not finite."
        raise QueryError(text, code="Q163", hint="leave such rows out beforehand")
    return answers, rows, tuple(str(one) for one in made.columns)


def _search(rows: Array, answers: Array, q: float, slope: float) -> tuple[Array, bool]:
    """Return the maximum of the likelihood by Fisher scoring with halved steps, and whether it was found."""
    values = np.zeros(rows.shape[1])
    best = _likelihood(rows @ values, answers, q, slope)
    for _ in range(STEPS):
        share = special().expit(rows @ values)
        shown = q + slope * share
        score = rows.T @ ((answers - shown) / (shown * (1 - shown)) * slope * share * (1 - share))
        inverse = _inverse(rows, _weight(share, q, slope))
        if inverse is None:
            return values, False
        step = inverse @ score
        if float(score @ step) < CLOSE:
            return values, True
        for _ in range(STEPS):
            found = _likelihood(rows @ (values + step), answers, q, slope)
            if found >= best:
                break
            step = step / 2
        else:
            return values, False
        values, best = values + step, found
    return values, False


def _likelihood(eta: Array, answers: Array, q: float, slope: float) -> float:
    shown = q + slope * special().expit(eta)
    return float((answers * np.log(shown) + (1 - answers) * np.log1p(-shown)).sum())


def _weight(share: Array, q: float, slope: float) -> Array:
    """Return the information of each answer on its log-odds, shape (n,)."""
    shown = q + slope * share
    return (slope * share * (1 - share)) ** 2 / (shown * (1 - shown))


def _inverse(rows: Array, weight: Array) -> Array | None:
    """Return the inverse of X'WX, None where it has none."""
    whole = rows.T @ (rows * weight[:, None])
    scale = np.sqrt(np.diag(whole))
    if not (scale > 0).all() or np.linalg.cond(whole / np.outer(scale, scale)) > 1e12:
        return None
    return np.linalg.inv(whole / np.outer(scale, scale)) / np.outer(scale, scale)
