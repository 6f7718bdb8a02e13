"""Comparisons of groups beyond differences: ratios, odds ratios, trends, independence, simultaneous intervals."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.errors import InferenceError
from tacit.inference import covariance, laws
from tacit.inference.contrasts import Test
from tacit.inference.estimate import Estimate, combine, position
from tacit.inference.laws import Array
from tacit.inference.terms import check_level

if TYPE_CHECKING:
    from tacit.tables import Table

REACH: Final = 2.0**60
"""A ratio beyond which an interval is said to have no end."""
DRAWS: Final = 200_000
"""Draws for a studentised maximum: its 95% point is then within about 0.5% (twice the Monte-Carlo error)."""
ROOM: Final = 20_000_000
"""Numbers drawn at a time."""


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
        from tacit.inference.display import p_words
        from tacit.tables import Table

        low, high = self.conf_int(level)
        shown = f"{low:.3g} to {high:.3g}" if math.isfinite(high) else f"above {low:.3g}"
        columns = (self.name, "estimate", f"{100 * level:g}% interval", "p-value, 1")
        row = ("", f"{self.value:.4g}", shown, p_words(self.p_value))
        notes = (self.method,) if self.reason is None else (self.reason, self.method)
        return Table("Ratio", columns, (row,), notes, ("left", "right", "right", "right"))

    def __str__(self) -> str:
        return str(self.summary())

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.summary().to_html()


def ratio(estimate: Estimate, numerator: str, denominator: str) -> Ratio:
    """A / B by Fieller's argument: D(t) = A - t B is linear in all errors, whatever t is.

    The interval holds every t that the test of A = t B does not reject; without end on both sides (but at 0, for means
    that cannot be negative) where the denominator is not clearly off 0 at the level.  Of shares this is the risk ratio.
    InferenceError I02 for unknown terms.
    """
    i, j = position(estimate, numerator), position(estimate, denominator)
    a, b = float(estimate.values[i]), float(estimate.values[j])
    _same(i, j)

    def p(t: float) -> float:
        weights = np.zeros((1, len(estimate.terms)))
        weights[0, i], weights[0, j] = 1.0, -t
        made = combine(estimate, weights, ("D",), "")
        s, scales = made.law(0)
        return float(2 * laws.tail(np.abs(made.values), s, scales)[0])

    floor = 0.0 if _positive(estimate) else -math.inf
    value = math.inf if (b <= 0 and floor == 0) or b == 0 else max(a / b, floor)

    def ends(level: float) -> tuple[float, float]:
        if _unclear(estimate, j, level):
            return floor, math.inf
        low, high = _end(p, a / b, 1 - level, -1), _end(p, a / b, 1 - level, 1)
        return max(low, floor), max(high, floor)

    method = f"Fieller: {_law(estimate)} law of A - t B, for every t"
    return Ratio(f"{numerator} / {denominator}", value, p(1.0), method, _reason(estimate, i, j), ends)


def odds_ratio(estimate: Estimate, one: str, other: str) -> Ratio:
    """Odds of one share over odds of the other, on the log scale (delta method, asymptotic).

    InferenceError I02 for unknown terms, I11 where the terms are not shares of a Boolean column.
    """
    i, j = position(estimate, one), position(estimate, other)
    _same(i, j)
    if not _shares(estimate):
        text = "odds are of shares: the mean of a Boolean column."
        raise InferenceError(text, code="I11", hint="ratio(a, b) for other means", state=None)
    p, q = float(estimate.values[i]), float(estimate.values[j])
    inside = 0 < p < 1 and 0 < q < 1
    found = estimate.reasons[i] or estimate.reasons[j] or (None if inside else "a share is 0 or 1: no odds")
    name = f"odds of {one} / odds of {other}"
    method = f"log scale, {_law(estimate)} law, delta method (asymptotic)"
    if not inside:
        return Ratio(
            name, math.nan if p == q else math.inf if p > q else 0.0, 1.0, method, found, lambda _: (0.0, math.inf)
        )
    weights = np.zeros((1, len(estimate.terms)))
    weights[0, i], weights[0, j] = 1 / (p * (1 - p)), -1 / (q * (1 - q))
    s, scales = combine(estimate, weights, ("D",), "").law(0)
    log = math.log(p / (1 - p)) - math.log(q / (1 - q))
    p_value = float(2 * laws.tail(np.array([abs(log)]), s, scales)[0])

    def ends(level: float) -> tuple[float, float]:
        half = float(laws.halfwidth(level, s, scales))
        return math.exp(log - half), math.exp(log + half)

    return Ratio(name, math.exp(log), p_value, method, found, ends)


def _end(p: Callable[[float], float], center: float, alpha: float, sign: int) -> float:
    """The end of {t : p(t) >= alpha} on one side of `center`, where p is 1; infinite where there is none."""
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
    """Why a ratio's 95% interval has no end."""
    said = estimate.reasons[i] or estimate.reasons[j]
    if said or not _unclear(estimate, j, 0.95):
        return said
    return f"the denominator {float(estimate.values[j]):.4g} is not clearly off 0"


def _unclear(estimate: Estimate, j: int, level: float) -> bool:
    """Whether a term may be 0: its interval at the level holds it, or it says nothing."""
    s, scales = combine(estimate, np.eye(len(estimate.terms))[[j]], ("B",), "").law(0)
    value = float(estimate.values[j])
    may_be_zero = 2 * float(laws.tail(np.abs(value), s, scales)) >= 1 - level
    wrong_side = value <= 0 and _positive(estimate)
    return estimate.reasons[j] is not None or may_be_zero or wrong_side


def _same(i: int, j: int) -> None:
    if i == j:
        raise InferenceError("a term over itself is 1.", code="I02", hint="two terms", state=None)


def _positive(estimate: Estimate) -> bool:
    kinds = type(estimate.release.query).__name__
    return kinds in ("Count", "Variance", "DataQuality") or all(
        part.grid is not None and part.grid.lower >= 0 for part in estimate.release.parts
    )


def _shares(estimate: Estimate) -> bool:
    kind = type(estimate.release.query).__name__
    boolean = all(part.grid is not None and part.grid.kind == "boolean" for part in estimate.release.parts)
    return kind == "DataQuality" or (kind == "Mean" and boolean)


def _law(estimate: Estimate) -> str:
    from tacit.inference.contrasts import law_words

    return law_words(estimate)


# Trend --------------------------------------------------------------------------------------------------------------


def trend(estimate: Estimate, scores: Sequence[float] | None = None) -> Estimate:
    """Least-squares slope over the terms in their order, a linear contrast: change for one more of the score.

    scores: public, one a term, 0, 1, 2, ... where not given.  InferenceError I06 for scores that do not fit.
    """
    size = len(estimate.terms)
    s = np.arange(size, dtype=np.float64) if scores is None else np.asarray(scores, dtype=np.float64)
    if s.shape != (size,) or not np.isfinite(s).all() or size < 2 or np.ptp(s) == 0:
        text = f"a trend needs {size} finite scores that differ, and at least 2 terms."
        raise InferenceError(text, code="I06", hint="trend([0, 1, 2])", state=None)
    off = s - s.mean()
    words = f"slope over {size} terms, {estimate.estimand}"
    return combine(estimate, (off / (off @ off))[None, :], ("trend",), words, "terms weigh alike, scores are public")


# Independence -------------------------------------------------------------------------------------------------------


def independence(estimate: Estimate, *, draws: int = 9_999, rng: int | np.random.Generator = 0) -> Test:
    """Chi-square test of independence of two factors, from noisy counts of their cells.

    The statistic sum (n - e)**2 / (e + v), e from the noisy margins, v the variance of the noise, has no chi-square law
    once noise is added; its law under independence is simulated, noise and all, at the estimated margins (parametric
    bootstrap, seeded by `rng`).  InferenceError I12 for anything but a Count by two factors.
    """
    release = estimate.release
    plain = type(release.query).__name__ == "Count" and release.parts[0].form == "count"
    if not plain or len(release.levels) != 2 or estimate.matrix is not None:
        text = "independence is tested on a Count by two factors."
        raise InferenceError(text, code="I12", hint='Count(by=["sex", "region"])', state=None)
    block = estimate.blocks[0]
    shape = tuple(len(labels) for _, labels in release.levels)
    part, law = release.parts[0], block.law
    share = part.parameters.get("share", 1)
    noise = law.variance() / share**2
    found = np.array([float(cell[0]) / share for cell in part.integers]).reshape(shape)
    generator = np.random.default_rng(rng)
    expected = _expected(found[None])[0]
    null = expected / expected.sum()
    size = round(release.rows if release.rows is not None else max(found.sum(), 1.0))
    statistic = float(_chi2(found[None], noise)[0])
    above, done = 0, 0
    while done < draws:
        now = min(draws - done, max(1, ROOM // found.size))
        if release.rows is None:
            cells = generator.poisson(size * null, (now, *shape)).astype(np.float64)
        else:
            cells = generator.multinomial(size, null.reshape(-1), now).reshape(now, *shape).astype(np.float64)
        cells += law.sample(cells.size, generator).reshape(cells.shape) / share
        above += int((_chi2(cells, noise) >= statistic).sum())
        done += now
    p = (1 + above) / (1 + draws)
    df = (shape[0] - 1) * (shape[1] - 1)
    words = f"law under independence simulated with its noise, {draws:,} draws"
    return Test(" and ".join(name for name, _ in release.levels) + " independent", statistic, df, p, words)


def _expected(cells: Array) -> Array:
    """Counts under independence at the margins, none below 0; shape (..., r, c)."""
    rows = np.maximum(cells.sum(axis=-1, keepdims=True), 1e-9)
    columns = np.maximum(cells.sum(axis=-2, keepdims=True), 1e-9)
    return rows * columns / np.maximum(rows.sum(axis=-2, keepdims=True), 1e-9)


def _chi2(cells: Array, noise: float) -> Array:
    expected = _expected(cells)
    return ((cells - expected) ** 2 / (expected + noise)).sum(axis=(-1, -2))


# Simultaneous intervals ---------------------------------------------------------------------------------------------


def studentised_maximum(base: Estimate, made: Estimate, rng: int = 0) -> Array:
    """Sorted draws of max |error| / SE over linear combinations `made` of `base`: sampling normal, noise its own law.

    InferenceError I04 where the covariance of the terms was not released.
    """
    assert made.matrix is not None
    generator = np.random.default_rng(rng)
    blocks = base.blocks
    size = sum(len(block.value) for block in blocks)
    people = [block.people for block in base.used() if block.variance.any()]
    if len(set(people)) < len(people) or covariance.divided(base):
        what = "groups that one weighted person may be in" if covariance.divided(base) else "columns of the same people"
        text = f"the joint law of different {what} was not released."
        raise InferenceError(text, code="I04", hint='adjust="holm"', state=None)
    spread, axes = np.linalg.eigh(covariance.of_blocks(blocks))
    root = axes * np.sqrt(np.maximum(spread, 0.0))
    errors = np.where(made.std_errors > 0, made.std_errors, 1.0)
    width = max(block.loadings.shape[1] for block in blocks) + 1
    step = max(1, ROOM // (size * width))
    found: list[Array] = []
    for start in range(0, DRAWS, step):
        now = min(step, DRAWS - start)
        total = generator.standard_normal((now, size)) @ root.T
        at = 0
        for block in blocks:
            m, k = block.loadings.shape
            z = block.law.sample(now * m * k, generator).reshape(now, m, k)
            total[:, at : at + m] += (z * block.loadings).sum(axis=2)
            at += m
        found.append(np.abs((total @ made.matrix.T) / errors).max(axis=1))
    return np.sort(np.concatenate(found))
