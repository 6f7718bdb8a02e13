"""Ratios of two terms by Fieller's argument, and of their odds on the log scale."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from functools import cache
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, TypeAlias, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.noisy_terms.sided_errors import USUAL
from tacit.estimates.terms import check_level, place_of
from tacit.estimates.verbs.contrasts import combine, law_words
from tacit.estimates.verbs.ratio_profile import Reaches, reaches
from tacit.estimates.wording import ratio_words

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate
    from tacit.estimates.noisy_terms.combination import LinearCombination

Limits: TypeAlias = Callable[[float], Array]
"""Lower and upper limits of all terms at a level, shape (terms, 2)."""
LARGEST_LOG: Final = 700.0
"""Beyond this a number is taken as infinite."""
REFINED: Final = 3
"""Times that a p-value is found again, with its own level among those of the terms' intervals."""
SMALLEST: Final = 1e-4
"""Below this a p-value is extrapolated."""
REACH: Final = 2.0**60
"""A ratio beyond which an interval is said to have no end."""


@shown_by_summary
@dataclass(frozen=True)
class Ratio:
    """A ratio of two terms, or of their odds: `value`, `conf_int(level)`, `p_value` (of the ratio being 1).

    `reason` says why an interval holds every number, or None.  `note` says why there is no upper end: the denominator
    is not clearly above 0.  A lower limit alone is an answer; were it none, answers would be those releases whose
    denominator is too large, and their intervals too low.
    Source: [Fieller 1954] for ratios of terms, [Woolf 1955], [Zou & Donner 2008] for odds.

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
    note: str | None = None

    def conf_int(self, level: float = 0.95) -> tuple[float, float]:
        """Lower and upper limit, infinite where there is none; InferenceError I01 for a level below 0.5."""
        return self._ends(check_level(level))

    def summary(self, level: float = 0.95) -> Table:
        """One row: estimate, interval, p-value; InferenceError I01 for a level below 0.5."""
        from tacit.estimates.display import p_words

        low, high = self.conf_int(level)
        columns = (self.name, "estimate", f"{100 * level:g}% interval", "p-value of 1")
        row = ("", *ratio_words(self.value, low, high), p_words(self.p_value))
        said = self.reason or self.note
        notes = (self.method,) if said is None else (said, self.method)
        return Table("Ratio", columns, (row,), notes, ("left", "right", "right", "right"))


def ratio(estimate: Estimate, numerator: str, denominator: str) -> Ratio:
    """A / B by Fieller's argument: D(t) = A - t B is linear in all errors, whatever t is.

    The interval holds every t that the test of A = t B does not reject; without end on both sides where the denominator
    is not clearly off 0 at the level (without an upper end, and from the logarithms' own limits, for means that cannot
    be negative).  Of shares this is the risk ratio.
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
        # Fieller's set is then the whole line or the outside of an interval: it is reported as without an upper end
        if _unclear(estimate, j, level):
            return _least(estimate, [i, j], level) if floor == 0 else floor, math.inf
        p = test(level)
        low, high = _end(p, a / b, 1 - level, -1), _end(p, a / b, 1 - level, 1)
        return max(low, floor), max(high, floor)

    method = f"Fieller: {law_words(estimate)} law of A - t B, for every t"
    reason, note = _told(estimate, i, j, ends)
    return Ratio(f"{numerator} / {denominator}", value, test(USUAL)(1.0), method, reason, ends, note)


def odds_ratio(estimate: Estimate, one: str, other: str, limits: Limits | None = None) -> Ratio:
    """Odds of one share over odds of the other, on the log scale, from both shares' own intervals.

    limits: of all terms by level, where they are kept for several ratios.  InferenceError I02 for unknown terms, I11
    where the terms are not shares of a Boolean column.
    """
    i, j = place_of(estimate.terms, one), place_of(estimate.terms, other)
    _same(i, j)
    if not _shares(estimate):
        text = "odds are of shares: the mean of a Boolean column."
        raise InferenceError(text, code="I11", hint="ratio(a, b) for other means", state=None)
    kept, pair = limits or kept_limits(estimate), [i, j]
    p, q = (float(estimate.values[at]) for at in pair)
    inside = 0 < p < 1 and 0 < q < 1
    value = p / (1 - p) * (1 - q) / q if inside else math.nan if p == q else math.inf if p > q else 0.0
    apart = independent(estimate, pair)

    def reached(level: float) -> Reaches:
        return reaches(lambda at: kept(at)[pair], _log_odds, estimate.values[pair], apart, level)

    def ends(level: float) -> tuple[float, float]:
        low, high = reached(level).limits(NormalDist().inv_cdf(0.5 + level / 2))
        return _exp(low), _exp(high)

    reason = estimate.reasons[i] or estimate.reasons[j]
    if not reason and (math.isnan(value) or ends(USUAL) == (0.0, math.inf)):
        reason = "shares that may be 0 or 1: their odds ratio may be any number"
    p_value = 1.0 if reason else _p_value(reached)
    method = "log scale, from both shares' own intervals"
    return Ratio(f"odds of {one} / odds of {other}", value, p_value, method, reason, ends)


def _p_value(reached: Callable[[float], Reaches]) -> float:
    """Return the p-value of a log ratio of 0, at whose level the interval ends there."""
    p = reached(USUAL).p_value()
    for _ in range(REFINED):
        # reaches at the p-value's own level, not interpolated
        p = reached(1 - p).p_value() if SMALLEST < p < 0.5 else p
    return p


def kept_limits(estimate: Estimate) -> Limits:
    """Return the limits of all terms by level as they reach within a ratio, each level computed once."""
    made = estimate.combination
    blocks = tuple(block.summed for block in made.blocks)

    def limits(level: float) -> Array:
        return replace(made, blocks=blocks).intervals(level)

    return cache(limits)


def _least(estimate: Estimate, pair: list[int], level: float) -> float:
    """Return the lower limit of a ratio of numbers that cannot be negative, from both numbers' own intervals."""
    kept = kept_limits(estimate)

    def limits(at: float) -> Array:
        return np.maximum(kept(at)[pair], 0.0)

    found = reaches(limits, np.log, np.maximum(estimate.values[pair], 0.0), independent(estimate, pair), level)
    return _exp(found.limits(NormalDist().inv_cdf(0.5 + level / 2))[0])


def independent(estimate: Estimate, pair: list[int]) -> bool:
    """Return whether the errors of two terms are known to be uncorrelated."""
    weights = np.eye(len(estimate.terms))[pair]
    made = combine(estimate, weights, ("a", "b"), "").combination
    try:
        both = made.sampling_matrix() + made.privacy_matrix()
    except InferenceError:
        return False
    return abs(float(both[0, 1])) <= 1e-9 * math.sqrt(float(both[0, 0] * both[1, 1]))


def _log_odds(share: Array) -> Array:
    """Return log odds, infinite at 0 and 1."""
    return np.log(share) - np.log1p(-share)


def _exp(log: float) -> float:
    return math.exp(log) if log < LARGEST_LOG else math.inf


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


def _told(
    estimate: Estimate, i: int, j: int, ends: Callable[[float], tuple[float, float]]
) -> tuple[str | None, str | None]:
    """Return why a ratio's 95% interval says nothing, or None, and why it has no upper end, or None."""
    said = estimate.reasons[i] or estimate.reasons[j]
    if said or not _unclear(estimate, j, USUAL):
        return said, None
    unclear = f"the denominator {float(estimate.values[j]):.4g} is not clearly off 0"
    low, _ = ends(USUAL)
    return (None, f"no upper end: {unclear}") if low > 0 else (unclear, None)


def _unclear(estimate: Estimate, j: int, level: float) -> bool:
    """Return whether a term may be 0: its interval holds 0, it has a reason, or it is negative and should not be.

    Its own interval is that given an answer and allows for whole rows; Fieller's test of 0 does neither, and of few
    rows it would take as clear what may be any number.
    """
    made, value = _combined(estimate, {j: 1.0}), float(estimate.values[j])
    low, high = made.intervals(level)[0]
    may_be_zero = low <= 0 <= high or float(made.p_values(np.zeros(1), made.reached(level))[0]) >= 1 - level
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
