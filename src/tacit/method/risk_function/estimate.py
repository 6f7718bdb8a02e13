"""The release of a risk function, the coefficients of least risk, and how far above the least they may be."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import MOST_PLACES, Target, check_level, check_target, numbers_of
from tacit.estimates.wording import title, who
from tacit.method.risk_function.estimate_certificate import certificate
from tacit.method.risk_function.estimate_mixture import RiskFit, fitted
from tacit.method.risk_function.query import RiskFunction
from tacit.release.document import Release, Released

EDGE: Final = 1e-3
"""A coefficient so near to the end of its box, as part of it, is at the end."""
AT_EDGE: Final = 0.05
"""Largest part of draws of the noise whose least risk is at the edge."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class RiskFunctionRelease(Release):
    """A release of RiskFunction.

    >>> import tacit as tc
    >>> rng = np.random.default_rng(0)
    >>> x = rng.uniform(0, 10, 5_000)
    >>> rows = {"x": x, "ok": rng.random(5_000) < 1 / (1 + np.exp(5 - x))}
    >>> schema = tc.Schema({"x": tc.Real(0, 10), "ok": tc.Boolean()})
    >>> curator = tc.Curator(rows, schema, budget=tc.Budget(rho=1))
    >>> release = curator.release(tc.RiskFunction("ok", "x", box=8), rho=0.5)
    >>> found = release.estimate()
    >>> found.terms, bool(abs(found.values[1] - 5) < 1)
    (('Intercept', 'x'), True)
    >>> release.excess() < 0.1
    True
    """

    kind: ClassVar[str] = "risk-function"

    def estimate(self, target: Target = "population") -> NormalEstimate:
        """Return the coefficients of least risk within the box, with both errors and their covariances.

        Regressors are on [-1, 1] (`RiskFunction`).  Rows count as if each regressor, and an outcome of numbers, were in
        the middle of its bin.  Sampling errors are those of a minimiser whatever the law of the outcome ("sandwich").
        What values on a lattice leave unknown of the function between them is not in the errors; `excess` includes it.
        Coefficients at the edge of the box have no limits, and a reason.  InferenceError I09 for the target.
        """
        return estimate(self, target)

    def risk(self, at: Any, *, target: Target = "population") -> NormalEstimate:
        """Return the mean loss at coefficients, with both errors and their covariances.

        at: one vector of coefficients, the intercept first, or several as rows.  InferenceError I05 (other shapes, more
        than 1,000, beyond the box), I09 (target).
        """
        return risk(self, at, target)

    def excess(self, level: float = 0.95) -> float:
        """Return a bound on how far the risk of `estimate().values` in this table is above the least in the box.

        It holds with probability `level` over the noise, whatever the rows, which count as in `estimate`; infinite
        where the number of rows is not clearly above 0.  InferenceError I01 for the level.
        """
        return excess(self, level)

    def summary(self, level: float = 0.95) -> Table:
        """Return the coefficients as a table; InferenceError I01."""
        return self.estimate().summary(level)


def estimate(release: Released, target: Target = "population") -> NormalEstimate:
    """Return the coefficients of least risk of a release, real or simulated."""
    check_target(target)
    fit, query = fitted(release), cast(RiskFunction, release.query)
    least = fit.mixture.least()
    draws = fit.least_of_draws(least)
    privacy, sampling = np.cov(draws.T, ddof=1), np.zeros((len(least), len(least)))
    bends, reason = fit.mixture.curvature(least), fit.lattice.reason
    if reason is None and (_edge(least, query.box) or np.mean([_edge(one, query.box) for one in draws]) > AT_EDGE):
        reason = (
            "the least risk is at the edge of the box, or noise may have moved it from there: a wider box, or more rows"
        )
    if reason is None and np.linalg.cond(bends) > 1e8:
        reason = "the risk is flat at its least value"
    if reason is None and target == "population":
        inverse = np.linalg.inv(bends)
        sampling = inverse @ fit.mixture.spread(least) @ inverse / fit.lattice.size
    words = f"coefficients of least {query.loss} risk of {query.outcome}, regressors on [-1, 1]"
    notes = (f"no coefficient is beyond {query.box:g}; {_rounded(query)}",)
    terms = ("Intercept", *query.on)
    return _normal(release, words, terms, least, sampling, privacy, reason, notes, target)


def risk(release: Released, at: Any, target: Target = "population") -> NormalEstimate:
    """Return the mean loss of a release, real or simulated, at coefficients."""
    check_target(target)
    query = cast(RiskFunction, release.query)
    given, fit = _given(at, query), fitted(release)
    losses, weights = fit.mixture.values(given), fit.mixture.weights
    values: Array = losses @ weights
    privacy = np.atleast_2d(np.cov(losses @ fit.draws.T, ddof=1))
    spread = (losses * weights) @ losses.T - np.outer(values, values)
    sampling = np.zeros_like(spread) if target == "table" else spread / fit.lattice.size
    terms = tuple(", ".join(f"{x:.6g}" for x in one) for one in given)
    words = f"mean {query.loss} loss of {query.outcome}"
    return _normal(release, words, terms, values, sampling, privacy, fit.lattice.reason, (_rounded(query),), target)


def excess(release: Released, level: float = 0.95) -> float:
    """Return the certificate of a release, real or simulated."""
    check_level(level)
    fit: RiskFit = fitted(release)
    if fit.lattice.reason is not None:
        return float("inf")
    variables: Any = getattr(release, "variables", ())
    return certificate(fit, release.query, tuple(variables), fit.mixture.least(), level)


# Parts --------------------------------------------------------------------------------------------------------------


def _edge(c: Array, box: float) -> bool:
    return bool((np.abs(c) >= box * (1 - EDGE)).any())


def _rounded(query: RiskFunction) -> str:
    both = "" if query.loss in ("logistic", "hinge") else " and the outcome"
    return f"rows count with the regressors{both} in the middle of their bins"


def _given(at: Any, query: RiskFunction) -> Array:
    p = 1 + len(query.on)
    given = np.atleast_2d(numbers_of(at, f"risk({[0.0] * p})"))
    fits = given.ndim == 2 and given.shape[1] == p and 1 <= len(given) <= MOST_PLACES
    if not fits or not (np.abs(given) <= query.box).all():
        text = f"coefficients of shape {given.shape}: rows of {p} numbers from {-query.box:g} to {query.box:g}."
        raise InferenceError(text, code="I05", hint=f"risk({[0.0] * p})", state=None)
    return given


def _normal(
    release: Released, words: str, terms: tuple[str, ...], values: Array, sampling: Array, privacy: Array,
    reason: str | None, notes: tuple[str, ...], target: Target,
) -> NormalEstimate:  # fmt: skip
    condition = getattr(release.query, "where", None)
    words += f", where {condition}" if condition else ""
    words += f", of the {who(release)} of this table" if target == "table" else ""
    return NormalEstimate(
        release, title(release), words, terms, values, sampling, privacy, (reason,) * len(terms), notes,
        tested=False, target=target,
    )  # fmt: skip
