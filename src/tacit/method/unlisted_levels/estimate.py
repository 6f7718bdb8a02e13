"""Releases of levels that nobody listed: counts and shares of those that were shown, and what may have been missed."""

from __future__ import annotations

from dataclasses import dataclass
from math import sqrt
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.base.table import Table, format_interval, format_number, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.noisy_terms.selected_counts import absent, conditional, reach
from tacit.estimates.terms import Target, check_level, check_target, place_of
from tacit.method.unlisted_levels.estimate_shares import LevelShares
from tacit.release.document import Release, Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

SHOWN: Final = 20
"""Levels of a summary: those with the largest counts."""
WIDEST: Final = 40
"""Characters of a text that a summary shows."""
LEVEL: Final = 0.95
"""Level of the intervals of a picture."""
FEW: Final = "the noisy number of {} with a level is not above its noise"


@shown_by_summary
@dataclass(frozen=True, repr=False)
class UnlistedLevelsRelease(Release):
    """A release of UnlistedLevels: the texts whose noisy count reached the threshold, and two noisy sums.

    >>> import tacit as tc
    >>> schema = tc.Schema({"town": tc.Text(max_length=20)})
    >>> table = {"town": ["Bonn"] * 900 + ["Köln"] * 600 + ["Olpe"] * 2 + [None] * 40}
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=4, delta=1e-6))
    >>> release = curator.release(tc.Count(by="town"), epsilon=4, delta=1e-6)
    >>> release.texts, release.estimate().terms
    (('Bonn', 'Köln'), ('Bonn', 'Köln'))
    """

    kind: ClassVar[str] = "unlisted-levels"

    @property
    def texts(self) -> tuple[str, ...]:
        """The texts that are shown, in the order of their code points."""
        return self.parts[0].texts or ()

    @property
    def threshold(self) -> float:
        """Noisy counts from here on are shown, in rows (persons)."""
        return threshold(self)

    def estimate(self, target: Target = "population") -> LevelsEstimate:
        """Return counts and shares of the levels that are shown.

        target="population": shares are of the population that the table is a sample of; "table": of the table, so that
        only privacy is uncertain.  Counts are always of the table.  InferenceError I09 for another target.
        """
        return estimate(self, target)

    def summary(self, level: float = 0.95) -> Table:
        """Return the estimates as a table; InferenceError I01 for a level below 0.5, or 1 and above."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the counts with their intervals; InferenceError I20 without matplotlib, I05 for too many levels."""
        return self.estimate().plot(ax=ax)


@shown_by_summary
@dataclass(frozen=True, repr=False)
class LevelsEstimate:
    """Estimates of the levels that were shown, the most frequent first.

    terms: their texts.  values: their noisy counts, in rows of the table (persons), shape (m,).
    A level is shown because its count or its noise is large, so that the count of a level just above the threshold is
    too large on average.  Intervals are conditional on that: among shown levels of the same true count (share), at
    least the level of them hold it.
    Source: theory §7; intervals of shares: Lee, Sun, Sun & Taylor 2016, for one normal truncated on one side.
    """

    release: Released
    target: Target
    terms: tuple[str, ...]
    values: Array

    @property
    def threshold(self) -> float:
        """Noisy counts from here on were shown, in rows (persons)."""
        return threshold(self.release)

    @property
    def std_errors(self) -> Array:
        """Standard errors of the counts, shape (m,): the noise, since counts are of this table."""
        return np.full(len(self.terms), sqrt(self.release.parts[0].law.variance()) / _share(self.release))

    def intervals(self, level: float = 0.95) -> Array:
        """Return limits for the true counts, shape (m, 2), each given that the level was shown; InferenceError I01."""
        check_level(level)
        part, share = self.release.parts[0], _share(self.release)
        low, high = conditional(part.law, part.parameters["threshold"], self.values * share, level)
        # a level that nobody has is never shown
        low, high = np.maximum(low, 1.0) / share, np.maximum(high, 1.0) / share
        most = np.inf if self.release.rows is None else float(self.release.rows)
        return np.stack([np.minimum(low, most), np.minimum(high, most)], axis=-1)

    def conf_int(self, level: float = 0.95) -> pd.DataFrame:
        """Return the same limits as a pandas DataFrame with columns lower and upper; InferenceError I01."""
        limits = self.intervals(level)
        return pandas().DataFrame({"lower": limits[:, 0], "upper": limits[:, 1]}, index=list(self.terms))

    @property
    def shares(self) -> LevelShares:
        """Shares of the levels among all rows (persons) that have a level, with their errors and intervals."""
        levels, every, _ = self.release.parts
        share = _share(self.release)
        total = every.integers[0][0] / share
        noise, known = sqrt(levels.law.variance()) / share, sqrt(every.law.variance()) / share
        reason = FEW.format(self._people) if total <= 3 * known else None
        least = (levels.parameters["threshold"] - 0.5) / share
        return LevelShares(self.values, total, noise, known, least, 0.5 / share, self.target == "population", reason)

    @property
    def every(self) -> SumOfLevels:
        """The number of rows (persons) that have a level, shown or not."""
        return _sum(self.release, 1)

    @property
    def rest(self) -> SumOfLevels:
        """The number of rows (persons) whose level was not shown.  How many such levels there are is not known."""
        return _sum(self.release, 2)

    def missed(self, count: float) -> float:
        """Return the probability that a level of so many rows (persons) is not shown; InferenceError I250."""
        if isinstance(count, bool) or not isinstance(count, int | float | np.number) or not 0 <= count < 2**53:  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"count is {described(count)}: not a number from 0 on."
            raise InferenceError(text, code="I250", hint="missed(20)", state=None)
        part = self.release.parts[0]
        # a level that no row has is not in the table, and cannot be shown
        if count == 0:
            return 1.0
        return float(part.law.cdf(part.parameters["threshold"] - 1 - round(count * _share(self.release))))

    def largest_missed(self, probability: float = 0.05) -> float:
        """Return the largest count that a level may have and not be shown with more than this probability.

        InferenceError I250 for a probability that is not between 0 and 1.
        """
        if not isinstance(probability, float) or not 0 < probability < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"probability is {described(probability)}: not between 0 and 1."
            raise InferenceError(text, code="I250", hint="largest_missed(0.05)", state=None)
        part = self.release.parts[0]
        return absent(part.law, part.parameters["threshold"], 1 - probability) / _share(self.release)

    def place(self, term: str) -> int:
        """Return the place of a level among `terms`; InferenceError I02 where it was not shown."""
        return place_of(self.terms, term)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return a pandas DataFrame of the levels: count, its std_error, lower and upper, and the same of the share.

        InferenceError I01 (level).
        """
        limits, shares = self.intervals(level), self.shares
        within = shares.intervals(level)
        columns = {
            "count": self.values,
            "std_error": self.std_errors,
            "lower": limits[:, 0],
            "upper": limits[:, 1],
            "share": shares.values,
            "share_std_error": shares.std_errors,
            "share_lower": within[:, 0],
            "share_upper": within[:, 1],
        }
        return pandas().DataFrame(columns, index=list(self.terms))

    def summary(self, level: float = 0.95) -> Table:
        """Return a table of the most frequent levels, and of what is known of the others; InferenceError I01."""
        from tacit.estimates.display import facts, people_words, percent
        from tacit.estimates.wording import title

        frame, shares = self.to_frame(level), self.shares
        rows: list[tuple[object, ...]] = []
        for term, *numbers in frame.head(SHOWN).itertuples():
            count, error, low, high, part, _, least, most = map(float, numbers)
            own = ("–", "–") if shares.reason else (f"{100 * part:.3g} %", _percents(least, most))
            said = (format_number(count, decimals=0), format_number(error, decimals=1))
            rows.append((_short(term), *said, format_interval(low, high, decimals=0), *own))
        columns = ("level", "count", "std. error", f"{percent(level)} interval", "share", f"{percent(level)} interval")
        notes = (*self._notes(level), *([] if shares.reason is None else [shares.reason]), facts(self.release))
        heading = f"{title(self.release)} · {people_words(self.release)}"
        return Table(heading, columns, tuple(rows), notes, ("left", "right", "right", "right", "right", "right"))

    def _notes(self, level: float) -> tuple[str, ...]:
        from tacit.estimates.display import percent

        hidden = len(self.terms) - SHOWN
        low, high = self.rest.interval(level)
        rest = f"{self._people} whose level is not shown: {self.rest.value:,.0f}, {percent(level)} interval "
        return (
            *([f"{hidden:,} more levels are shown: `to_frame`"] if hidden > 0 else []),
            f"a level is shown where its noisy count is {self.threshold:,.4g} or more; one of "
            f"{self.largest_missed():,.4g} {self._people} is missed with probability 5 %",
            f"{rest}{low:,.0f} to {high:,.0f}; how many levels they have is not known",
            "intervals hold among levels that are shown",
        )

    @property
    def _people(self) -> str:
        return "rows" if self.release.unit is None else "persons"

    def plot(self, ax: Any = None) -> Any:
        """Plot the counts with their intervals, and the threshold as a line; InferenceError I20, I05 (too many)."""
        from tacit.estimates.display import facts
        from tacit.estimates.wording import title
        from tacit.plots.canvas import Caption, Intervals
        from tacit.plots.intervals import estimate as drawn

        terms = tuple(_short(term) for term in self.terms)
        shown = Intervals(terms, self.values, self.intervals(LEVEL), LEVEL)
        caption = Caption(
            title(self.release), f"number of {self._people}, given that a level is shown", facts(self.release)
        )
        return drawn(shown, caption, ax, line=self.threshold)


@dataclass(frozen=True)
class SumOfLevels:
    """A noisy sum over levels: its value and standard error, in rows (persons) of this table."""

    release: Released
    place: int

    @property
    def value(self) -> float:
        """The noisy sum; below 0 where noise is larger than the sum."""
        return self.release.parts[self.place].integers[0][0] / _share(self.release)

    @property
    def std_error(self) -> float:
        """Standard error: the noise."""
        return sqrt(self.release.parts[self.place].law.variance()) / _share(self.release)

    def interval(self, level: float = 0.95) -> tuple[float, float]:
        """Return limits for the true sum, exact for the law of the noise; InferenceError I01."""
        check_level(level)
        part, share = self.release.parts[self.place], _share(self.release)
        far, y = reach(part.law, (1 - level) / 2), part.integers[0][0]
        most = np.inf if self.release.rows is None else float(self.release.rows)
        low, high = (min(max(0.0, y + end) / share, most) for end in (-far, far))
        return low, high


def estimate(release: Released, target: Target = "population") -> LevelsEstimate:
    """Return the estimate of a release of levels, real or simulated; InferenceError I09 for an unknown target."""
    check_target(target)
    part = release.parts[0]
    texts = part.texts or ()
    counts = np.array([cell[0] for cell in part.integers], dtype=np.float64) / _share(release)
    # texts ascend already, so that equal counts stay in their order
    order = np.argsort(-counts, kind="stable")
    return LevelsEstimate(release, target, tuple(texts[int(i)] for i in order), counts[order])


def threshold(release: Released) -> float:
    """Return the threshold in rows (persons)."""
    return release.parts[0].parameters["threshold"] / _share(release)


def _share(release: Released) -> int:
    """Return the units of weight of a person, 1 of rows."""
    return release.parts[0].parameters.get("share", 1)


def _sum(release: Released, place: int) -> SumOfLevels:
    return SumOfLevels(release, place)


def _short(text: str) -> str:
    return text if len(text) <= WIDEST else text[: WIDEST - 1] + "…"


def _percents(low: float, high: float) -> str:
    return format_interval(100 * low, 100 * high, decimals=1) + " %"
