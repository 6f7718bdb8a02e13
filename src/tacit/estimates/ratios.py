"""Ratios of two terms by Fieller's argument, and of their odds on the log scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates import error_laws as laws
from tacit.estimates.contrasts import combine, law_words
from tacit.estimates.sided_errors import USUAL
from tacit.estimates.terms import check_level, place_of
from tacit.estimates.wording import ratio_words

if TYPE_CHECKING:
    from tacit.estimates.combination import LinearCombination
    from tacit.estimates.estimate import Estimate

REACH: Final = 2.0**60
"""A ratio beyond which an interval is said to have no end."""


@shown_by_summary
@dataclass(frozen=True)
class Ratio:
    """A ratio of two terms, or of their odds: `value`, `conf_int(level)`, `p_value` (of the ratio being 1).

    `reason` says why an interval has no upper end: the denominator is not clearly above 0.
    Source: [Fieller 1954] for ratios of terms, [Woolf 1955] for odds.

    >>> import tacit as tc
    >>> schema = tc.Schema({"ok": tc.Boolean(), "sex": tc.Category(["f", "m"])})
    >>> table = {"ok": [True, False, True, True] * 50, "sex": ["f", "f", "m", "m"] * 50}
    >>> release = tc.Curator(table, schema, budget=tc.Budget(rho=9)).release(tc.Mean("ok", by="sex"), rho=9)
    >>> found = release.estimate().ratio("m", "f")
    >>> found.name, bool(found.conf_int()[0] < 2 < found.conf_int(0.9999)[1])
    ('m / f', True)
    """

    name: str
    value: float
    p_value: float
    method: str
    reason: str | None
    _ends: Callable[[float], tuple[float, float]]

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper limit, infinite where there is none; InferenceError I01 for a level below 0.5."""
        return self._ends(check_level(level))

    def summary(self, level: float = 0.95) -> Table:
        """One row: estimate, interval, p-value; InferenceError I01 for a level below 0.5."""
        from tacit.estimates.display import p_words

        low, high = self.conf_int(level)
        columns = (self.name, "estimate", f"{100 * level:g}% interval", "p-value, 1")
        row = ("", *ratio_words(self.value, low, high), p_words(self.p_value))
        notes = (self.method,) if self.reason is None else (self.reason, self.method)
        return Table("Ratio", columns, (row,), notes, ("left", "right", "right", "right"))


def ratio(estimate: Estimate, numerator: str, denominator: str) -> Ratio:
    """A / B by Fieller's argument: D(t) = A - t B is linear in all errors, whatever t is.

    The interval holds every t that the test of A = t B does not reject; without end on both sides (but at 0, for means
    that cannot be negative) where the denominator is not clearly off 0 at the level.  Of shares this is the risk ratio.
    InferenceError I02 for unknown terms.
    """
    i, j = place_of(estimate.terms, numerator), place_of(estimate.terms, denominator)
    a, b = float(estimate.values[i]), float(estimate.values[j])
    _same(i, j)

    def test(level: float) -> Callable[[float], float]:
        """Return the p-value of A = t B as a function of t, for intervals at a level."""
        reached = _combined(estimate, {i: 1.0, j: -1.0}).reached(level)
        null = np.zeros(1)
        return lambda t: float(_combined(estimate, {i: 1.0, j: -t}).p_values(null, reached)[0])

    floor = 0.0 if _positive(estimate) else -math.inf
    # numbers that cannot be negative: a denominator of 0 or below is noise, and the ratio has no finite value
    value = math.inf if (b <= 0 and floor == 0) or b == 0 else max(a / b, floor)

    def ends(level: float) -> tuple[float, float]:
        # Fieller's set is then the whole line or the outside of an interval: it is reported as unbounded
        if _unclear(estimate, j, level):
            return floor, math.inf
        p = test(level)
        low, high = _end(p, a / b, 1 - level, -1), _end(p, a / b, 1 - level, 1)
        return max(low, floor), max(high, floor)

    method = f"Fieller: {law_words(estimate)} law of A - t B, for every t"
    return Ratio(f"{numerator} / {denominator}", value, test(USUAL)(1.0), method, _reason(estimate, i, j), ends)


def odds_ratio(estimate: Estimate, one: str, other: str) -> Ratio:
    """Odds of one share over odds of the other, on the log scale (delta method, asymptotic).

    InferenceError I02 for unknown terms, I11 where the terms are not shares of a Boolean column.
    """
    i, j = place_of(estimate.terms, one), place_of(estimate.terms, other)
    _same(i, j)
    if not _shares(estimate):
        text = "odds are of shares: the mean of a Boolean column."
        raise InferenceError(text, code="I11", hint="ratio(a, b) for other means", state=None)
    p, q = float(estimate.values[i]), float(estimate.values[j])
    inside = 0 < p < 1 and 0 < q < 1
    found = estimate.reasons[i] or estimate.reasons[j] or (None if inside else "a share is 0 or 1: no odds")
    name = f"odds of {one} / odds of {other}"
    method = f"log scale, {law_words(estimate)} law, delta method (asymptotic)"
    if not inside:
        return Ratio(
            name, math.nan if p == q else math.inf if p > q else 0.0, 1.0, method, found, lambda _: (0.0, math.inf)
        )
    weights = np.zeros((1, len(estimate.terms)))
    # delta method: the derivative of log(p / (1 - p)) is 1 / (p (1 - p))
    weights[0, i], weights[0, j] = 1 / (p * (1 - p)), -1 / (q * (1 - q))
    s, scales = combine(estimate, weights, ("D",), "").combination.law(0)
    log = math.log(p / (1 - p)) - math.log(q / (1 - q))
    p_value = float(2 * laws.tail(np.array([abs(log)]), s, scales)[0])

    def ends(level: float) -> tuple[float, float]:
        half = float(laws.halfwidth(level, s, scales))
        return math.exp(log - half), math.exp(log + half)

    return Ratio(name, math.exp(log), p_value, method, found, ends)


def _end(p: Callable[[float], float], center: float, alpha: float, sign: int) -> float:
    """The end of {t : p(t) >= alpha} on one side of `center`, where p is 1; infinite where there is none."""
    # steps double until the test rejects, which brackets the end between inner (accepted) and outer (rejected)
    step = max(abs(center), 1e-9) * 1e-3
    inner = center
    while p(outer := center + sign * step) >= alpha:
        if step > REACH * max(abs(center), 1e-9):
            return sign * math.inf
        inner, step = outer, 2 * step
    from scipy import optimize  # pyright: ignore[reportMissingTypeStubs]

    def above(t: float) -> float:
        return p(t) - alpha

    return float(cast(Any, optimize).brentq(above, inner, outer, xtol=abs(outer - inner) * 2.0**-40))


def _reason(estimate: Estimate, i: int, j: int) -> str | None:
    """Return why a ratio's 95% interval has no upper end, or None."""
    said = estimate.reasons[i] or estimate.reasons[j]
    if said or not _unclear(estimate, j, 0.95):
        return said
    return f"the denominator {float(estimate.values[j]):.4g} is not clearly off 0"


def _unclear(estimate: Estimate, j: int, level: float) -> bool:
    """Return whether a term may be 0: its interval holds 0, it has a reason, or it is negative and should not be."""
    made, value = _combined(estimate, {j: 1.0}), float(estimate.values[j])
    may_be_zero = float(made.p_values(np.zeros(1), made.reached(level))[0]) >= 1 - level
    wrong_side = value <= 0 and _positive(estimate)
    return estimate.reasons[j] is not None or may_be_zero or wrong_side


def _combined(estimate: Estimate, weights: Mapping[int, float]) -> LinearCombination:
    """Return one linear combination of the terms at some places."""
    row = np.zeros((1, len(estimate.terms)))
    for place, weight in weights.items():
        row[0, place] = weight
    return combine(estimate, row, ("D",), "").combination


def _same(i: int, j: int) -> None:
    if i == j:
        raise InferenceError("a term over itself is 1.", code="I02", hint="two terms", state=None)


def _positive(estimate: Estimate) -> bool:
    """Return whether no term can be negative: the released ones cannot, and combinations do not subtract."""
    kinds = type(estimate.release.query).__name__
    adds = estimate.matrix is None or bool((estimate.matrix >= 0).all())
    return adds and (
        kinds in ("Count", "Variance", "DataQuality")
        or all(part.grid is not None and part.grid.lower >= 0 for part in estimate.release.parts)
    )


def _shares(estimate: Estimate) -> bool:
    """Return whether every term is a share: the released ones are, and combinations are weighted averages."""
    kind = type(estimate.release.query).__name__
    boolean = all(part.grid is not None and part.grid.kind == "boolean" for part in estimate.release.parts)
    matrix = estimate.matrix
    mean = matrix is None or bool((matrix >= 0).all() and np.allclose(matrix.sum(axis=1), 1))
    return mean and (kind == "DataQuality" or (kind == "Mean" and boolean))
