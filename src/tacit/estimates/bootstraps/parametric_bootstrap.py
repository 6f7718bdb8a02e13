"""The parametric bootstrap of any function of released estimates.  Post-processing: it costs nothing.

The estimate has the total error e = estimate - truth, whose law is known as far as a release tells it: sampling and
noise together (`error_draws`).  A function f of the terms then has

*percentile*: the quantiles of f(estimate - e), the truths that these errors would leave;
*basic*: 2 f(estimate) - quantiles of f(estimate + e), the estimates that would be seen were the estimate the truth;
*bias-corrected*: percentiles moved by how far the estimate is off the median of f(estimate - e) [Efron 1987, with
acceleration 0: the law of the errors does not change with the truth].

For a function that is the term itself, all three have the limits of the term's own interval.
Source: [Efron & Tibshirani 1993, chapters 12 to 14]; theory §1.4 (why it is free), §1.5 (the law of both errors).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, cast, get_args

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.lazy_imports import special
from tacit.base.table import Table, format_interval, format_number, shown_by_summary
from tacit.errors import InferenceError, nearest
from tacit.estimates.bootstraps.bootstrap_draws import Draws
from tacit.estimates.bootstraps.bootstrap_function import EXAMPLE, FunctionOfTerms
from tacit.estimates.display import decimals, facts, people_words, percent
from tacit.estimates.labelled import Labels
from tacit.estimates.terms import check_level
from tacit.privacy import Cost
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

Way: TypeAlias = Literal["percentile", "basic", "bias-corrected"]
WAYS: Final = get_args(Way)
FEWEST: Final = 99
MOST: Final = 1_000_000
TAIL: Final = 10
"""Fewest draws that lie beyond each limit of an interval."""
MIDDLE: Final = 0.6826894921370859
"""Probability of a normal variable within one standard deviation."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class ParametricBootstrap:
    """Functions of estimates, with intervals that hold sampling error and noise: what `estimate.bootstrap` returns.

    Attributes
    ----------
    terms, values: names of the m functions, and what they are of the estimates.
    method: "percentile", "basic" or "bias-corrected".
    draws: number of draws.
    failed: share of the draws at which a function has no finite value, shape (m,); such a draw counts on both sides of
    an interval, as if it were farther away than any other.
    reasons: why a function has no interval at 95%, in words, or None.
    release: the release behind the estimates.

    >>> import tacit as tc
    >>> schema = tc.Schema({"pay": tc.Real(0, 10), "sex": tc.Category(["f", "m"])})
    >>> table = {"pay": [3.0, 4.0, 5.0, 5.0] * 99, "sex": ["f", "f", "m", "m"] * 99}
    >>> pay = tc.Curator(table, schema, budget=tc.Budget(rho=9)).release(tc.Mean("pay", by="sex"), rho=9).estimate()
    >>> found = pay.bootstrap(lambda mean: mean["f"] / mean["m"])
    >>> low, high = found.conf_int()
    >>> low < found.value < high, low < 0.7 < high
    (True, True)
    """

    release: Released
    terms: tuple[str, ...]
    values: Array
    method: Way
    draws: int
    failed: Array
    privacy_shares: Array
    reasons: tuple[str | None, ...]
    notes: tuple[str, ...]
    _sorted: tuple[Array, ...]
    """Of each function what it is at the draws, in order, without those at which it is not finite."""

    def intervals(self, level: float = 0.95) -> Array:
        """Return lower and upper limits, shape (m, 2), the whole line where there is none; InferenceError I01, I83."""
        tail = (1 - check_level(level)) / 2
        if self.draws * tail < TAIL:
            text = f"{self.draws:,} draws are too few for an interval at {level:g}."
            raise InferenceError(
                text, code="I83", hint=f"draws={int(np.ceil(TAIL / tail)):,}".replace(",", "_"), state=None
            )
        limits = [
            (-np.inf, np.inf) if why and not failed else _limits(self.method, one, value, self.draws, tail)
            for one, value, failed, why in zip(self._sorted, self.values, self.failed, self.reasons, strict=True)
        ]
        return np.array(limits, dtype=np.float64).reshape(-1, 2)

    @property
    def std_errors(self) -> Array:
        """Half the width of the middle 68.3% of the draws, shape (m,): the standard error where they are normal."""
        found = (
            _limits("percentile", one, value, self.draws, (1 - MIDDLE) / 2)
            for one, value in zip(self._sorted, self.values, strict=True)
        )
        return np.array([(high - low) / 2 for low, high in found])

    @property
    def value(self) -> Any:  # float, or Series
        """What the function is of the estimates: a float for one function, else a Series."""
        return self._labels.numbers(self.values, "estimate")

    @property
    def std_error(self) -> Any:  # float, or Series
        """Standard errors, sampling and privacy together: see `std_errors`."""
        return self._labels.numbers(self.std_errors, "std_error")

    @property
    def privacy_share(self) -> Any:  # float, or Series
        """Part of the variance that is due to privacy, of the function's linear part: between 0 and 1."""
        return self._labels.numbers(self.privacy_shares, "privacy_share")

    @property
    def reason(self) -> Any:  # str | None, or Series
        """Why there is no interval at 95%, in words, or None."""
        return self._labels.reasons(self.reasons)

    def conf_int(self, level: float = 0.95) -> Any:  # (float, float), or DataFrame
        """Confidence interval: a (lower, upper) pair for one function, else a DataFrame with these two columns.

        InferenceError I01 for a level below 0.5 or not below 1, I83 for too few draws for the level.
        """
        return self._labels.pairs(self.intervals(level))

    @property
    def cost(self) -> Cost:
        """What the release cost; the bootstrap costs nothing more."""
        return self.release.cost

    def __len__(self) -> int:
        return len(self.terms)

    def summary(self, level: float = 0.95) -> Table:
        """Estimates, standard errors and intervals, as a table; InferenceError I01, I83."""
        limits, errors = self.intervals(level), self.std_errors
        rows: list[tuple[object, ...]] = []
        for i, term in enumerate(self.terms):
            if self.reasons[i]:
                rows.append((term, "–", "–", "–", "–"))
                continue
            digits = decimals(errors[i : i + 1])
            value, error = (format_number(float(one[i]), decimals=digits) for one in (self.values, errors))
            interval = format_interval(*map(float, limits[i]), decimals=digits)
            rows.append((term, value, error, interval, f"{100 * self.privacy_shares[i]:.0f} %"))
        columns = ("", "estimate", "std. error", f"{percent(level)} interval", "of which privacy")
        failed = f"at {100 * self.failed.max():.2g}% of the draws there is no finite value" if self.failed.any() else ""
        notes = (*dict.fromkeys(r for r in (*self.reasons, failed) if r), *self.notes, facts(self.release))
        title = f"Function of estimates · {people_words(self.release)}"
        return Table(title, columns, tuple(rows), notes, ("left", "right", "right", "right", "right"))

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """estimate, std_error, lower, upper, privacy_share, failed, reason: a frame; InferenceError I01, I83."""
        found = self.intervals(level)
        columns = {
            "estimate": self.values,
            "std_error": self.std_errors,
            "lower": found[:, 0],
            "upper": found[:, 1],
            "privacy_share": self.privacy_shares,
            "failed": self.failed,
        }
        return self._labels.frame(columns, self.reasons, "estimate", "std_error", "privacy_share")

    @property
    def _labels(self) -> Labels:
        return Labels(self.terms)


def _limits(way: Way, found: Array, value: float, draws: int, tail: float) -> tuple[float, float]:
    """Return the limits that leave out `tail` on either side; draws without a value count as beyond both."""
    lower, upper = tail, tail
    if way == "bias-corrected":
        below, above = _moved(found, value, draws, tail)
        lower, upper = below, above
    low = _ordered(found, draws, lower)
    high = -_ordered(-found[::-1], draws, upper)
    return (2 * value - high, 2 * value - low) if way == "basic" else (low, high)


def _moved(found: Array, value: float, draws: int, tail: float) -> tuple[float, float]:
    """Return the tails of bias-corrected percentiles: of the two tails moved by twice the bias in normal scores."""
    lost = draws - len(found)
    # a draw that equals the estimate counts half on either side, and so does one without a value
    under = (np.searchsorted(found, value, "left") + np.searchsorted(found, value, "right") + lost) / (2 * draws)
    bias = float(special().ndtri(under))
    z = float(special().ndtri(tail))
    return float(special().ndtr(2 * bias + z)), float(special().ndtr(-2 * bias + z))


def _ordered(found: Array, draws: int, tail: float) -> float:
    """Return the order statistic that has a share `tail` of the draws below it; -inf where those have no value."""
    k = int(np.floor((draws + 1) * tail)) - (draws - len(found))
    return float(found[min(k, len(found)) - 1]) if k >= 1 and np.isfinite(tail) else -np.inf


def bootstrap(
    given: Draws, function: Callable[..., Any], draws: int, method: str, rng: int | np.random.Generator
) -> ParametricBootstrap:
    """See `Estimate.bootstrap`."""
    way = _checked(function, draws, method)
    asked = FunctionOfTerms(function, given.terms)
    # what a function says of numbers far away (a warning, an overflow) is told by its value alone
    with np.errstate(all="ignore"):
        values = asked.at_estimate(given.values)
        names = asked.names
        odd = None if np.isfinite(values).all() else "the function has no finite value at the estimate"
        if why := _unusable(given, asked) or odd:
            return _without(given, names, values, way, draws, why)
        slopes = asked.slopes(given.values, given.errors)
        chunks = [
            # functions that share their draws are called once for all of them
            np.array([asked.at(one) for one in each[0]]).T
            if len(each) == 1
            else np.array([[asked.at(one)[i] for one in own] for i, own in enumerate(each)])
            for each in given.moved(slopes, draws, np.random.default_rng(rng), way == "basic")
        ]
    if why := _unusable(given, asked):
        return _without(given, names, values, way, draws, why)
    found = np.concatenate(chunks, axis=1)
    finite = np.isfinite(found)
    kept, failed = tuple(np.sort(row[ok]) for row, ok in zip(found, finite, strict=True)), 1 - finite.mean(axis=1)
    sampling, noise = (np.array([part(one) for one in slopes]) for part in (given.sampling, given.privacy))
    shares = np.divide(noise, sampling + noise, out=np.zeros_like(noise), where=sampling + noise > 0)
    reasons = tuple(_reason(*one, draws, way) for one in zip(kept, values.tolist(), failed.tolist(), strict=True))
    notes = (f"parametric bootstrap, {way}, {draws:,} draws", *given.notes)
    return ParametricBootstrap(given.release, names, values, way, draws, failed, shares, reasons, notes, kept)


def _checked(function: Callable[..., Any], draws: int, method: str) -> Way:
    """Return the method; InferenceError I81, I82, I83 for arguments that are none."""
    if not callable(function):
        text = f"{described(function)} is no function of the estimates."
        raise InferenceError(text, code="I81", hint=EXAMPLE, state=None)
    if method not in WAYS:
        guess = nearest(method, WAYS) or WAYS[0]
        text = f"method {described(method)} is none of {', '.join(WAYS)}."
        raise InferenceError(text, code="I82", hint=f'method="{guess}"', state=None)
    if isinstance(draws, bool) or not isinstance(draws, int) or not FEWEST <= draws <= MOST:  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"draws {described(draws)} is no whole number from {FEWEST} to {MOST:,}."
        raise InferenceError(text, code="I83", hint="draws=9_999", state=None)
    return cast(Way, method)


def _unusable(given: Draws, asked: FunctionOfTerms) -> str | None:
    """Return the reason of the first term that the function has read and that says nothing, or None."""
    return next((r for term, r in zip(given.terms, given.reasons, strict=True) if r and term in asked.read), None)


def _reason(found: Array, value: float, failed: float, draws: int, way: Way) -> str | None:
    """Return why a 95% interval has no end, or None."""
    if np.isfinite(_limits(way, found, value, draws, 0.025)).all():
        return None
    if failed > 0:
        return f"the function has no finite value at {100 * failed:.3g}% of the draws"
    return "nearly all draws are on one side of the estimate"


def _without(
    given: Draws, names: tuple[str, ...], values: Array, way: Way, draws: int, why: str
) -> ParametricBootstrap:
    """Return what says nothing of any function: one of them has no value, or uses a term with a reason."""
    zero, nothing = np.zeros(len(names)), tuple(np.zeros(0) for _ in names)
    reasons = (why,) * len(names)
    return ParametricBootstrap(given.release, names, values, way, draws, zero, zero, reasons, given.notes, nothing)
