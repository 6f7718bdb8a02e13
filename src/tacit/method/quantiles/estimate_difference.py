"""Differences of quantiles, whose intervals are combined without an assumption on their dependence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates import wording
from tacit.estimates.terms import Target
from tacit.method.quantiles.estimate import POINT_ONLY, QuantileEstimate
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


BOUND: Final = "a bound whatever the two have in common (Bonferroni)"


@shown_by_summary
@dataclass(frozen=True, repr=False)
class QuantileDifference:
    """Quantiles of one estimate minus those of another: `values`, `limits` at `level`, shapes (terms,) and (terms, 2).

    An interval reaches from the least to the largest difference of two points, one in each interval.  Where both hold
    the true quantiles, it holds their difference: at levels of 95% each, at least 90% of the time, however the two
    depend on each other (Bonferroni, [Dunn 1961]).  `notes` says so.  Where only the points of one were asked for
    (interval=False) the limits are NaN.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
    >>> table = {"age": [float(age) for age in range(100)] * 50, "sex": ["f", "m"] * 2500}
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(rho=9))
    >>> groups = curator.release(tc.Quantiles("age", [0.5], by="sex", level=0.975), rho=1).estimate()
    >>> found = tc.difference(groups["f"], groups["m"])
    >>> found.terms, found.level
    (('f - m',), 0.95)
    """

    release: Released
    others: tuple[Released, ...]
    target: Target
    estimand: str
    level: float
    terms: tuple[str, ...]
    values: Array
    limits: Array
    reasons: tuple[str | None, ...]
    notes: tuple[str, ...]

    @property
    def value(self) -> Any:  # float, or Series
        """The point estimates: a float for one term, else a Series."""
        if len(self.values) == 1:
            return float(self.values[0])
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.Series(self.values, index=list(self.terms), name="difference")

    def conf_int(self, level: float | None = None) -> Any:  # (float, float), or DataFrame
        """Return a pair for one term, else a DataFrame; InferenceError I14 for a level above `level`."""
        self._checked(level)
        if len(self.values) == 1:
            return float(self.limits[0, 0]), float(self.limits[0, 1])
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.DataFrame(self.limits, index=list(self.terms), columns=["lower", "upper"])

    def to_frame(self, level: float | None = None) -> pd.DataFrame:
        """Return a frame indexed by term: difference, lower, upper, reason.  InferenceError I14 as `conf_int`."""
        self._checked(level)
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        columns = {"difference": self.values, "lower": self.limits[:, 0], "upper": self.limits[:, 1]}
        columns |= {"reason": [one or "" for one in self.reasons]}
        return pd.DataFrame(columns, index=list(self.terms))

    def summary(self, level: float | None = None) -> Table:
        """Return the differences and their intervals as a table; InferenceError I14 as `conf_int`."""
        self._checked(level)
        from tacit.estimates.display import facts, interval_decimals, interval_rows, people_words, percent

        said = [f"{t}: {r}" for t, r in zip(self.terms, self.reasons, strict=True) if r not in (None, POINT_ONLY)]
        title = f"Differences · {wording.title(self.release)} · {people_words(self.release)}"
        columns = ("", "difference", f"{percent(self.level)} interval")
        rows = interval_rows(self.terms, self.values, self.limits, interval_decimals(self.limits, self.reasons))
        notes = (*said, f"estimates: {self.estimand}", *self.notes, facts(self.release))
        return Table(title, columns, rows, notes, ("left", "right", "right"))

    def plot(self, ax: Any = None) -> Any:
        """Plot the differences with a line at 0; `.save("a.png")` writes it.  InferenceError I20 (no matplotlib)."""
        from tacit.estimates.display import facts, people_words
        from tacit.plots.canvas import Caption, Intervals
        from tacit.plots.quantile_plot import quantile_difference

        few = [t for t, reason in zip(self.terms, self.reasons, strict=True) if reason not in (None, POINT_ONLY)]
        notes = (*self.notes, *([f"few rows for this price: {', '.join(few)}"] if few else []), facts(self.release))
        title = f"Differences · {wording.title(self.release)} · {people_words(self.release)}"
        caption = Caption(title, self.estimand, " · ".join(notes))
        return quantile_difference(Intervals(self.terms, self.values, self.limits, self.level), caption, ax)

    def __len__(self) -> int:
        return len(self.terms)

    def _checked(self, level: float | None) -> None:
        if level is not None and not 0.5 <= level <= self.level:
            text = f"level {level!r}: this difference has an interval at {self.level:g} and below only."
            hint = f"Quantiles(…, level={(1 + level) / 2:.6g}) in new releases"
            raise InferenceError(text, code="I14", hint=hint, state=None)


def difference(a: QuantileEstimate, b: QuantileEstimate, terms: tuple[str, ...]) -> QuantileDifference:
    """Return a minus b, term by term; `tacit.difference` has matched the terms."""
    # Bonferroni: 1 - (1 - a) - (1 - b); rounded, since 0.95 + 0.95 - 1 is 0.8999999999999999 in floats
    level = round(a.level + b.level - 1, 12)
    if level < 0.5:
        text = f"levels {a.level:g} and {b.level:g} leave {level:g} for a difference: less than one half."
        raise InferenceError(text, code="I14", hint="Quantiles(…, level=0.975) in new releases", state=None)
    from tacit.estimates.display import percent

    # the least difference is of a's lower and b's upper end, the largest the other way round
    limits = np.stack([a.limits[:, 0] - b.limits[:, 1], a.limits[:, 1] - b.limits[:, 0]], axis=-1)
    bounded = f"intervals at {percent(a.level)} and {percent(b.level)} make one at {percent(level)} or more: {BOUND}"
    points = not (a.has_intervals and b.has_intervals)
    return QuantileDifference(
        release=a.release,
        others=() if b.release is a.release else (b.release,),
        target=a.target,
        estimand=f"difference: {a.estimand}, minus {b.estimand}",
        level=level,
        terms=terms,
        values=a.values - b.values,
        limits=limits,
        reasons=tuple(one or other for one, other in zip(a.reasons, b.reasons, strict=True)),
        notes=(POINT_ONLY if points else bounded,),
    )
