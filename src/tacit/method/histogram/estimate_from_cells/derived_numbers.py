"""Result type of statistics from cells: labelled estimates with sampling and privacy errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, Literal

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.dates import shown_dates
from tacit.estimates.labelled import Labels
from tacit.estimates.noisy_terms.interval_inversion import Inversion
from tacit.estimates.terms import Target, check_level, place_of
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error, Thresholds
from tacit.privacy import Cost
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


Scale = Literal["plain", "log", "root", "fisher"]


NEAR: Final = 0.2
"""Fisher's scale is used for half-widths below this times 1 - r**2: noise, which dominates otherwise, does not shrink
with 1 - r**2 as sampling error does."""


@dataclass(frozen=True)
class TransformedDelta:
    """Intervals value -+ error quantile, on a scale on which the error is more nearly normal; cut to [low, high].

    Scales: "log" for positive values (untransformed where the error exceeds half the value); "root" for square roots of
    such values; "fisher" (atanh) for correlations (untransformed where the error is large, see `NEAR`).  Terms that are
    `unclear` have the whole range [low, high]; the others hold given that they are not: `thresholds` says what noisy
    numbers decided.
    """

    value: Array
    error: Error
    scales: tuple[Scale, ...]
    low: Array
    high: Array
    unclear: tuple[bool, ...]
    thresholds: Thresholds | None = None

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return limits, shape (terms,) each."""
        chance = np.ones_like(self.value) if self.thresholds is None else self.thresholds.chance(1 - level)
        q = self.error.given(1 - level, chance)
        low, high = self.value - q, self.value + q
        for i, scale in enumerate(self.scales):
            v = float(self.value[i])
            if scale == "log":
                low[i], high[i] = positive(v, float(q[i]))
            elif scale == "root":
                low[i], high[i] = np.sqrt(positive(v * v, 2 * v * float(q[i])))  # error of v**2: 2 v times that of v
            # delta method: the derivative of atanh at v is 1 / (1 - v**2)
            elif scale == "fisher" and q[i] < NEAR * (1 - v * v):
                step = q[i] / (1 - v * v)
                low[i], high[i] = np.tanh(np.arctanh(v) - step), np.tanh(np.arctanh(v) + step)
        none = np.array(self.unclear, dtype=bool)
        low, high = np.clip(low, self.low, self.high), np.clip(high, self.low, self.high)
        return np.where(none, self.low, low), np.where(none, self.high, high)


def positive(v: float, q: float) -> tuple[float, float]:
    """Return limits of a positive number v: on the log scale, or v -+ q where q is at least half of v.

    >>> positive(4.0, 3.0)
    (1.0, 7.0)
    """
    # on the log scale limits are v e**(-+q / v): beyond factors of e**(1/2) the normal law of the log is doubtful
    if q >= v / 2:
        return max(v - q, 0.0), max(v + q, 0.0)
    return v * math.exp(-q / v), v * math.exp(q / v)


@dataclass(frozen=True)
class Steps:
    """The function of `column`, between 0 and 1, whose values at each of `at` are the terms, group by group.

    start, end: known (place, value) before the first and after the last of `at`, or None.  height: label of its values.
    band: what its intervals are called.
    """

    column: str
    at: tuple[float, ...]
    groups: tuple[str, ...]
    height: str
    start: tuple[float, float] | None = None
    end: tuple[float, float] | None = None
    band: str = "interval"


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Derived:
    """Labelled estimates from the cells of a histogram, with sampling and privacy errors.

    Attributes
    ----------
    release: the release they were computed from.  target: "population" (errors include sampling) or "table".
    title, estimand: a heading, and what is estimated, in words.
    terms, values: a label and an estimate each.
    sampling, privacy: both parts of the covariance, shape (terms, terms), or None where there is no standard error.
    reasons: why a term supports no or only limited inference, or None.  notes: caveats for the reader.

    One term gives floats and a pair; several give pandas Series and DataFrames indexed by term.  Source: theory §7.

    >>> import tacit as tc
    >>> table = {"age": [float(age) for age in range(100)] * 50}
    >>> curator = tc.Curator(table, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> cells = curator.release(tc.Histogram("age", bins={"age": 20}), rho=0.5)
    >>> found = cells.moments("age")
    >>> low, high = found["mean"].conf_int()
    >>> found.terms, low < found["mean"].value < high
    (('mean', 'variance', 'sd'), True)
    """

    release: Released
    target: Target
    title: str
    estimand: str
    terms: tuple[str, ...]
    values: Array
    inversion: Inversion
    sampling: Array | None = None
    privacy: Array | None = None
    reasons: tuple[str | None, ...] = ()
    notes: tuple[str, ...] = ()
    term_title: str = ""
    picked: tuple[int, ...] = ()
    dates: tuple[str, ...] = ()
    """Terms that are dates, in days since 1970-01-01."""
    steps: Steps | None = None

    def __post_init__(self) -> None:
        if not self.reasons:
            object.__setattr__(self, "reasons", (None,) * len(self.terms))
        if not self.picked:
            object.__setattr__(self, "picked", tuple(range(len(self.terms))))

    @property
    def std_errors(self) -> Array:
        """Standard errors, sampling and privacy together, shape (terms,); InferenceError I04 where there are none."""
        both = self._covariance(self.sampling) + self._covariance(self.privacy)
        return np.sqrt(np.maximum(np.diag(both), 0.0))

    @property
    def privacy_shares(self) -> Array:
        """Part of the variance that is due to privacy, shape (terms,); InferenceError I04 where there is none."""
        noise, total = np.diag(self._covariance(self.privacy)), self.std_errors**2
        return np.divide(noise, total, out=np.zeros_like(total), where=total > 0)  # 0 without any variance

    def intervals(self, level: float = 0.95) -> Array:
        """Return lower and upper limits, shape (terms, 2); InferenceError I01 for a level below 0.5, or 1 and above."""
        # the inversion knows all terms of the whole estimate; `picked` are those left by selection
        ends = np.stack(self.inversion.interval(check_level(level)), axis=-1)
        return ends[list(self.picked)]

    @property
    def value(self) -> Any:  # float, or Series
        """Point estimates: a float for one term, else a Series."""
        return self._labels.numbers(self.values, "estimate")

    @property
    def std_error(self) -> Any:  # float, or Series
        """Standard errors: a float for one term, else a Series; InferenceError I04 where there are none."""
        return self._labels.numbers(self.std_errors, "std_error")

    @property
    def privacy_share(self) -> Any:  # float, or Series
        """Part of the total variance that is due to privacy, between 0 and 1; InferenceError I04."""
        return self._labels.numbers(self.privacy_shares, "privacy_share")

    def conf_int(self, level: float = 0.95) -> Any:  # (float, float), or DataFrame
        """Return confidence intervals: a pair for one term, else a DataFrame; InferenceError I01 for a wrong level."""
        return self._labels.pairs(self.intervals(level))

    @property
    def cov(self) -> pd.DataFrame:
        """Total covariance of the terms (sampling plus privacy); InferenceError I04 where there is none."""
        both = self._covariance(self.sampling) + self._covariance(self.privacy)
        return self._labels.square(both)

    @property
    def cost(self) -> Cost:
        """The privacy cost of the release; statistics computed from it are free."""
        return self.release.cost

    def __getitem__(self, term: str | list[str]) -> Derived:
        """Return some of the terms, in the given order; InferenceError I02 for an unknown one."""
        asked = list(term) if isinstance(term, list | tuple) else [term]
        at = [place_of(self.terms, one) for one in asked]
        kept = replace(self, terms=tuple(asked), values=self.values[at], reasons=tuple(self.reasons[i] for i in at))
        both = [None if part is None else part[np.ix_(at, at)] for part in (self.sampling, self.privacy)]
        kept = replace(kept, steps=None)  # some of the terms are no whole curve
        return replace(kept, sampling=both[0], privacy=both[1], picked=tuple(self.picked[i] for i in at))

    def __len__(self) -> int:
        return len(self.terms)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return estimate, std_error, lower, upper, privacy_share, reason, indexed by term; InferenceError I01.

        std_error and privacy_share are left out where there is no covariance, and NaN where there is a reason.
        """
        found, dated = self.intervals(level), [term in self.dates for term in self.terms]
        columns: dict[str, Any] = {"estimate": shown_dates(self.values, dated)}
        columns |= {"std_error": self.std_errors} if self.privacy is not None else {}
        columns |= {"lower": shown_dates(found[:, 0], dated), "upper": shown_dates(found[:, 1], dated)}
        columns |= {"privacy_share": self.privacy_shares} if self.privacy is not None else {}
        return self._labels.frame(columns, self.reasons, "std_error", "privacy_share")

    def summary(self, level: float = 0.95) -> Table:
        """Return a table of estimates, standard errors and intervals; InferenceError I01 (level)."""
        from tacit.method.histogram.estimate_from_cells.derived_table import summary

        return summary(self, level)

    def plot(self, ax: Any = None) -> Any:
        """Plot intervals, one row for each term, or a whole curve as steps with a band.  `.save("picture.png")`.

        InferenceError I20 without matplotlib, I05 for a curve of more than four groups, or more than 1,000 terms.
        """
        from tacit.method.histogram.estimate_pictures import derived, step_functions

        return derived(self, ax) if self.steps is None else step_functions(self, ax)

    def _covariance(self, part: Array | None) -> Array:
        if part is None:
            text = f"{self.title}: there is no standard error, only intervals."
            raise InferenceError(text, code="I04", hint="conf_int(0.95)", state=None)
        return part

    @property
    def _labels(self) -> Labels:
        return Labels(self.terms, self.term_title)
