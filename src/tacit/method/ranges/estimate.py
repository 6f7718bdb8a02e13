"""Estimate of a range: bounds that hold most rows, and about how many rows may lie beyond them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.terms import Target, check_target
from tacit.noise.selection_law import EMPTY_POINTS_WEIGHT, utility_gap
from tacit.release.document import Release, Released
from tacit.release.parts import Part
from tacit.schema import Real
from tacit.schema.row_maps_of_columns import WIDE

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


@shown_by_summary
@dataclass(frozen=True, repr=False)
class RangeRelease(Release):
    """A release of Range."""

    kind: ClassVar[str] = "range"

    def estimate(self, target: Target = "population") -> RangeEstimate:
        """Return the bounds, and the part of the rows that may lie beyond them; the target changes nothing (I09)."""
        return estimate(self, target)

    def summary(self, level: float = 0.95) -> Table:
        """Return the bounds as a table; `level` is ignored, since bounds have no interval."""
        return self.estimate().summary(level)


@shown_by_summary
@dataclass(frozen=True, repr=False)
class RangeEstimate:
    """Bounds from 1, 2, 5, 10, 20, ...: `lower` and `upper`, infinite where rows lie beyond all of them.

    outside: about the largest part of the rows that lies beyond both bounds; as large as the question asked where the
    price and the number of rows allow it.  rows: the noisy number of present rows.  reason: why the bounds cannot be
    used, or None.  The bounds are public once released: set a schema's bounds from them, or wider, at no further cost.
    Source: theory §1 (post-processing).
    """

    release: Released
    lower: float
    upper: float
    outside: float
    rows: float
    reason: str | None

    @property
    def column(self) -> Real:
        """Return `Real(lower, upper)` for a schema; InferenceError I17 where the bounds cannot be used."""
        if self.reason is not None:
            raise InferenceError(self.reason, code="I17", hint="a higher price, or bounds from elsewhere", state=None)
        return Real(self.lower, self.upper)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return a pandas DataFrame of one row: lower, upper, outside, reason; `level` is ignored."""
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        row = {"lower": [self.lower], "upper": [self.upper], "outside": [self.outside], "reason": [self.reason or ""]}
        return pd.DataFrame(row, index=[self.release.parts[0].label])

    def summary(self, level: float = 0.95) -> Table:
        """Return a table of the bounds; `level` is ignored."""
        from tacit.estimates.display import facts, people_words

        label = self.release.parts[0].label
        row = (label, _number(self.lower), _number(self.upper), f"{100 * self.outside:.2g} %")
        reasons = () if self.reason is None else (self.reason,)
        free = "bounds may be chosen by these at no further cost; a DataQuality question says how many rows are beyond"
        columns = ("", "lower", "upper", "beyond, at most about")
        title = f"Range of {label} · {people_words(self.release)}"
        return Table(title, columns, (row,), (*reasons, free, facts(self.release)), ("left", "right", "right", "right"))


def estimate(release: Released, target: Target = "population") -> RangeEstimate:
    """Return the estimate of a release of a range, real or simulated; InferenceError I09 for an unknown target."""
    check_target(target)
    pair, size = release.parts
    share = pair.parameters["share"]
    # a negative noisy number of rows is none
    rows = max(size.integers[0][0] / share, 0.0)
    # the selections are independent, and noise may swap them
    low, high = sorted(pair.integers[0])
    # bin i holds x from WIDE[i - 1] to below WIDE[i]; the first and the last bin are unbounded
    lower = WIDE[low - 1] if low > 0 else -math.inf
    upper = WIDE[high] if high < len(WIDE) else math.inf
    beyond = rank(pair, rows)
    reason = None
    # the target ranks T and N - T would meet or cross
    if 2 * beyond >= rows:
        # 2 margins are half of the rows at 4 margins
        who = "rows" if release.unit is None else "persons"
        reason = f"{rows:,.0f} {who} are few for this price: {4 * margin(pair):,.0f} would make a range of half of them"
    elif not math.isfinite(lower) or not math.isfinite(upper):
        reason = f"rows lie beyond {_number(WIDE[-1])}: choose bounds by what the column means, or rescale it"
    outside = min(1.0, 2 * beyond / rows) if rows > 0 else 1.0
    return RangeEstimate(release, lower, upper, outside, rows, reason)


def rank(pair: Part, rows: float) -> float:
    """Return about how many rows lie beyond each bound: p N, or the margin of `method.ranges.mechanism`."""
    p = pair.parameters["numerator"] / pair.parameters["denominator"]
    return max(p * rows, margin(pair))


def margin(pair: Part) -> float:
    """Return the margin in ranks within which empty bins beyond the rows are unlikely to be selected."""
    each = pair.parameters["denominator"] * pair.parameters["share"]
    return utility_gap(float(pair.law.scale), pair.parameters["bins"], EMPTY_POINTS_WEIGHT) / each


def _number(x: float) -> str:
    """Return a bound as text."""
    if not math.isfinite(x):
        return "–" if x < 0 else "∞"
    return f"{x:,.0f}" if x == int(x) and abs(x) < 1e15 else f"{x:g}"
