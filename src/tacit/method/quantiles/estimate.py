"""Estimate quantiles: each value is a selected step, and its interval lies between two other selected steps."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, Final, SupportsFloat, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates import wording
from tacit.estimates.dates import shown_dates
from tacit.estimates.terms import Target, check_target, place_of
from tacit.estimates.wording import bounds_words
from tacit.method.quantiles import cube_errors, joint_errors
from tacit.method.quantiles.design import few_rows, offset_for
from tacit.method.quantiles.estimate_cuts import is_cut, read
from tacit.method.quantiles.estimate_halved import as_points
from tacit.method.quantiles.estimate_steps import of_selections, settled
from tacit.method.quantiles.query import LEVEL
from tacit.method.quantiles.rank_errors import scale_of, share_of_ends, slack
from tacit.method.quantiles.stored import public_size
from tacit.release.document import Release, Released
from tacit.release.parts import Grid, Part, cell_labels

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

POINT_ONLY: Final = "only the point was asked for (interval=False): how far off it may be is not said"
"""Reason of a quantile without an interval."""
WITH_SLACK: Final = ("ranks-2", "joint", "joint-2", "joint-3", "joint-4")
"""Forms whose ends are in the value, and whose intervals reach further where steps are out of order."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class QuantilesRelease(Release):
    """A release of Quantiles: three selected steps for each probability, or one with interval=False.

    >>> import tacit as tc
    >>> table = {"age": [float(age) for age in range(100)] * 50}
    >>> curator = tc.Curator(table, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Quantiles("age", [0.25, 0.5]), rho=0.5).estimate()
    >>> found.terms, bool(found.values[0] < found.values[1])
    (('0.25', '0.5'), True)
    """

    kind: ClassVar[str] = "quantiles"

    def estimate(self, target: Target = "population") -> QuantileEstimate:
        """Return the quantiles with their intervals; InferenceError I09 for an unknown target.

        Source: the exponential mechanism [McSherry & Talwar 2007], or at pure prices, of steps that are selected each
        for itself, permute-and-flip [McKenna & Sheldon 2020]; intervals lie between steps of lower and higher ranks.
        """
        return estimate(self, target)

    def band(self, target: Target = "population") -> QuantileEstimate:
        """Return the quantiles with limits that hold for all of them at once; InferenceError I09 (target), I14.

        At the level of the question where many quantiles were read from cuts of the column.  Else the ends of each
        interval were selected for its own level, and m of them hold together at 1 - m (1 - level) [Bonferroni]; I14
        where that is below 0.5.

        >>> import tacit as tc
        >>> table = {"age": [float(age) for age in range(100)] * 50}
        >>> curator = tc.Curator(table, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(epsilon=1))
        >>> release = curator.release(tc.Quantiles("age", [i / 10 for i in range(1, 10)]), epsilon=0.5)
        >>> band, alone = release.band(), release.estimate()
        >>> band.level, bool((band.limits[:, 0] <= alone.limits[:, 0]).all())
        (0.95, True)
        """
        return band(self, target)

    def summary(self, level: float | None = None) -> Table:
        """Return the quantiles as a table; InferenceError I14 for a level above that of the question."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the quantile function; InferenceError I20 without matplotlib."""
        return self.estimate().plot(ax=ax)


@shown_by_summary
@dataclass(frozen=True, repr=False)
class QuantileEstimate:
    """Quantiles at `probs` in each of `cells`: `values`, and `limits` at the level of the question.

    Shapes (terms,) and (terms, 2); a term is a probability, a cell, or both: "f:0.5", cells in the order of the levels.
    Within a cell values and both limits rise with the probability, and a value lies in its interval.

    There is no standard error, since that would need the density, which is not released.  The ends of an interval are
    steps selected at ranks on either side of the quantile's, so far away that sampling and selection errors stay
    between them with the probability of the level.  This is asymptotic: the rank error of a selection has the assumed
    law where rows are dense around the quantile.  Where the steps are out of order, or the value is much nearer to one
    end than to the other, as next to a gap between rows, the limits are further apart.  `reasons` names terms whose
    rows are too few for the price: their interval is that of the column's bounds.  With interval=False limits are NaN,
    and the reason says that only the point was asked for.
    Where many quantiles are read from cuts of the column, limits are cuts, and nothing is assumed of the rows between
    them; with target="table" noise alone is in them (`cut_errors`).
    Source: [McSherry & Talwar 2007; McKenna & Sheldon 2020].

    >>> import tacit as tc
    >>> table = {"age": [float(age) for age in range(100)] * 50}
    >>> curator = tc.Curator(table, tc.Schema({"age": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Quantiles("age", [0.5], level=0.9), rho=0.5).estimate()
    >>> low, high = found.conf_int()
    >>> low <= found.value <= high, found.reasons
    (True, (None,))
    """

    release: Released
    target: Target
    estimand: str
    level: float
    probs: tuple[Fraction, ...]
    values: Array
    limits: Array
    reasons: tuple[str | None, ...]
    cells: tuple[str, ...] = ("",)
    picked: tuple[str, ...] = ()
    simultaneous: bool = False
    """Whether the limits hold for all quantiles at once."""

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms: 0.25, 0.5, ...; with cells and one probability, the cells; else f:0.25, f:0.5, ..."""
        if self.picked:
            return self.picked
        probs = tuple(f"{float(p):g}" for p in self.probs)
        if self.cells == ("",):
            return probs
        return self.cells if len(probs) == 1 else tuple(f"{cell}:{p}" for cell in self.cells for p in probs)

    @property
    def value(self) -> Any:  # float, or Series
        """Point estimates: a float for one quantile, else a Series."""
        if len(self.values) == 1:
            return float(self.values[0])
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.Series(self.values, index=list(self.terms), name="quantile")

    def conf_int(self, level: float | None = None) -> Any:  # (float, float), or DataFrame
        """Return a pair for one quantile, else a DataFrame; NaN where only the point was asked for (interval=False).

        InferenceError I14 for a level above that of the question, for which no ends were selected.  For a lower level
        the ends are the same, and so wider than needed.
        """
        self._checked(level)
        if len(self.values) == 1:
            return float(self.limits[0, 0]), float(self.limits[0, 1])
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.DataFrame(self.limits, index=list(self.terms), columns=["lower", "upper"])

    def to_frame(self, level: float | None = None) -> pd.DataFrame:
        """Return a frame indexed by term: estimate, lower, upper, reason; quantiles of dates are timestamps.

        InferenceError I14 as `conf_int`.
        """
        self._checked(level)
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        dated = (self.dated,) * len(self.terms)
        shown = {"estimate": self.values, "lower": self.limits[:, 0], "upper": self.limits[:, 1]}
        columns: dict[str, Any] = {name: shown_dates(one, dated) for name, one in shown.items()}
        columns |= {"reason": [one or "" for one in self.reasons]}
        return pd.DataFrame(columns, index=list(self.terms))

    @property
    def dated(self) -> bool:
        """Whether the quantiles are dates, in days since 1970-01-01."""
        return _grid(self.release).kind == "date"

    def __getitem__(self, term: str | list[str]) -> QuantileEstimate:
        """Return the estimate of some of the terms, in that order; InferenceError I02 for an unknown one."""
        asked = tuple(term) if isinstance(term, list | tuple) else (term,)
        at = [place_of(self.terms, one) for one in asked]
        reasons = tuple(self.reasons[i] for i in at)
        return replace(self, values=self.values[at], limits=self.limits[at], reasons=reasons, picked=asked)

    def __len__(self) -> int:
        return len(self.terms)

    def plot(self, ax: Any = None) -> Any:
        """Plot the quantile function with its intervals; `.save("picture.png")` writes a file.

        InferenceError I20 without matplotlib, I05 for some of the terms only.
        """
        from tacit.estimates.display import facts, people_words
        from tacit.plots.canvas import Caption, Intervals
        from tacit.plots.quantile_plot import quantiles

        if self.picked:
            text = f"{len(self.terms)} picked terms are no quantile function."
            raise InferenceError(text, code="I05", hint="plot() of the whole estimate", state=None)
        release = self.release
        name = str(getattr(release, "name", None) or "")
        caption = Caption(
            title=f"{wording.title(release)} · {people_words(release)}",
            axis=self.estimand,
            note=facts(release),
            height=f"share of {wording.who(release)} at or below",
        )
        shown = Intervals(self.terms, self.values, self.limits, self.level)
        sure = [reason in (None, POINT_ONLY) for reason in self.reasons]
        groups = [label or name for label in cell_labels(release.levels)]
        return quantiles(shown, sure, np.array([float(p) for p in self.probs]), groups, caption, ax)

    def summary(self, level: float | None = None) -> Table:
        """Return a table of quantiles and intervals at the level of the question; InferenceError I14 as `conf_int`."""
        self._checked(level)
        from tacit.estimates.display import decimals, facts, interval_decimals, interval_rows, people_words

        told = interval_decimals(self.limits, self.reasons)
        digits = told if self.has_intervals else decimals(np.array([_span(self.release) / 1000]))
        rows = interval_rows(self.terms, self.values, self.limits, digits, dated=self.dated)
        title = f"{wording.title(self.release)} · {people_words(self.release)}"
        if self.has_intervals:
            said = [f"{t}: {r}" for t, r in zip(self.terms, self.reasons, strict=True) if r]
            kind = "band" if self.simultaneous else "interval"
            columns = ("", "estimate", f"{100 * self.level:.6g}% {kind}")
            law = of_limits(self.release, simultaneous=self.simultaneous)
            notes = (*said, f"estimates: {self.estimand}; {law}", facts(self.release))
            return Table(title, columns, rows, notes, ("left", "right", "right"))
        few = [f"{t}: {r}" for t, r in zip(self.terms, self.reasons, strict=True) if r and r != POINT_ONLY]
        notes = (*few, POINT_ONLY, f"estimates: {self.estimand}", facts(self.release))
        return Table(title, ("", "estimate"), tuple(row[:2] for row in rows), notes, ("left", "right"))

    @property
    def has_intervals(self) -> bool:
        """Whether intervals were asked for."""
        return asks_intervals(self.release)

    def _checked(self, level: float | None) -> None:
        if level is not None and self.has_intervals:
            within(level, self.level)


def estimate(release: Released, target: Target = "population") -> QuantileEstimate:
    """Return the estimate of a release of quantiles, real or simulated.

    Under target="table" the intervals are the same, and so wider than needed, unless they are read from cuts.
    """
    check_target(target)
    if is_cut(release):
        return _of_cuts(release, target, simultaneous=False)
    grid, query = _grid(release), cast(Any, release.query)
    parts = as_points(release, [part for part in release.parts if part.form != "size"])
    cells = cell_labels(release.levels) if release.levels else ("",)
    # shape (cells, probabilities, selections)
    steps = np.stack([np.array(one.integers, dtype=np.float64).reshape(len(cells), -1) for one in parts], axis=1)
    sizes = _sizes(release, len(cells))
    who = "rows" if release.unit is None else "persons"
    few = [few_rows_warning(part, size, float(query.level), who) for size in sizes for part in parts]
    unsure = np.array([reason is not None for reason in few]).reshape(steps.shape[:2])
    weights = np.array([_ends_share(part, size, float(query.level)) for size in sizes for part in parts])
    weights = np.where(unsure, 0.0, weights.reshape(unsure.shape))  # ends that are not believed pull no value
    values, limits = settled(*of_selections(steps, grid, weights, _slacks(parts, sizes, query.level)), unsure, grid)
    if not asks_intervals(release):
        limits, few = np.full_like(limits, np.nan), [reason or POINT_ONLY for reason in few]
    words = _words(release, parts[0], target)
    probs, level = cast("tuple[Fraction, ...]", query.probs), float(query.level)
    return QuantileEstimate(
        release, target, words, level, probs, values.reshape(-1), limits.reshape(-1, 2), tuple(few), cells
    )


def _of_cuts(release: Released, target: Target, *, simultaneous: bool) -> QuantileEstimate:
    """Return the estimate of a release of cuts and of the numbers of rows between them."""
    values, limits, reasons = read(release, target, simultaneous=simultaneous)
    query, words = cast(Any, release.query), _words(release, release.parts[0], target)
    probs, cells = cast("tuple[Fraction, ...]", query.probs), cell_labels(release.levels) if release.levels else ("",)
    return QuantileEstimate(
        release, target, words, float(query.level), probs, values.reshape(-1), limits.reshape(-1, 2), reasons, cells,
        simultaneous=simultaneous,
    )  # fmt: skip


def band(release: Released, target: Target = "population") -> QuantileEstimate:
    """Return the quantiles of a release, real or simulated, with limits that hold for all of them at once."""
    check_target(target)
    if is_cut(release):
        return _of_cuts(release, target, simultaneous=True)
    found = estimate(release, target)
    left = 1 - len(found) * (1 - found.level)
    if not asks_intervals(release) or left < 0.5:
        needed = 1 - (1 - max(found.level, LEVEL)) / len(found)
        text = f"{len(found)} intervals at {found.level:g} each, whose ends were selected, are no band."
        raise InferenceError(text, code="I14", hint=f"Quantiles(…, level={needed:.4g}) in a new release", state=None)
    # Bonferroni: intervals selected each for itself
    return replace(found, level=left, simultaneous=True)


def of_limits(release: Released, *, simultaneous: bool) -> str:
    """Return what limits assume, in words."""
    if is_cut(release):
        whole = "the band holds for all quantiles at once; " if simultaneous else ""
        return whole + "limits are cuts, and assume nothing of the rows between them"
    whole = "the band is a bound (Bonferroni); " if simultaneous else ""
    return whole + "intervals assume rows close together around each quantile (asymptotic)"


def _ends_share(part: Part, size: float | None, level: float) -> float:
    """Return the weight of the two ends in a value: 0 for points, and for "ranks", whose values were without."""
    if part.form not in WITH_SLACK or size is None:
        return 0.0
    scale = scale_of(part.parameters, part.law.scale)
    reach = _offset(part, size, scale, level)
    if part.form == "ranks-2":
        return share_of_ends(scale, reach)
    p = part.parameters["numerator"] / part.parameters["denominator"]
    together = joint_errors if part.form == "joint" else cube_errors
    return together.share_of_ends(scale, reach, size * min(p, 1 - p))


def _offset(part: Part, size: float, scale: float, level: float) -> int:
    """Return how far from the quantile, in ranks, the ends of a part were selected."""
    p = part.parameters["numerator"] / part.parameters["denominator"]
    return offset_for(part.form, part.parameters)(p, size, scale, level)


def _slacks(parts: list[Part], sizes: list[float | None], level: SupportsFloat) -> Array | None:
    """Return how much out of order steps may be, shape (cells, parts), below 0: must not be; None for other forms."""
    if parts[0].form not in WITH_SLACK:
        return None
    made = [math.inf if size is None else _slack(part, size, float(level)) for size in sizes for part in parts]
    return np.array(made).reshape(len(sizes), len(parts))


def _slack(part: Part, size: float, level: float) -> float:
    scale = scale_of(part.parameters, part.law.scale)
    if part.form == "joint":
        return 0.0  # the ends are so far out that evenly spaced rows seldom give steps out of order
    reach = _offset(part, size, scale, level)
    return slack(scale, reach) if part.form == "ranks-2" else -cube_errors.least_part(scale, reach)


def asks_intervals(release: Released) -> bool:
    """Return whether a release of quantiles has intervals."""
    return bool(cast(Any, release.query).interval)


def _span(release: Released) -> float:
    """Return the distance of the column's bounds."""
    grid = _grid(release)
    return grid.upper - grid.lower


def _words(release: Released, part: Part, target: Target) -> str:
    """Return the estimand in words."""
    words = f"quantiles of {part.label}" + ("" if release.unit is None else ", of person means")
    words += " in each group, persons counting by the part of their rows there" if "share" in part.parameters else ""
    words += f", values clamped ({bounds_words(part)})" if bounds_words(part) else ""
    condition = getattr(release.query, "where", None)
    words += f", where {condition}" if condition else ""
    return words + (f", of the {wording.who(release)} of this table" if target == "table" else "")


def within(level: float, selected: float) -> None:
    """Raise InferenceError I14 for a level above `selected`, the one that the ends were selected for."""
    if not 0.5 <= level <= selected:
        text = f"level {level!r}: these intervals were selected for {selected:g}."
        raise InferenceError(text, code="I14", hint=f"Quantiles(…, level={level}) in a new release", state=None)


def few_rows_warning(part: Part, size: float | None, level: float, who: str = "rows") -> str | None:
    """Return why an interval may be wrong (few rows for the price, so steps far from all are selected), or None.

    See `design.few_rows`.  size: None where nothing is known of it.  who: what is counted.
    """
    if size is None:
        return None
    needed = few_rows(part.form, part.parameters, part.law.scale, size, level)
    if needed is None:
        return None
    return f"{size:,.0f} {who} are few for this price: {needed:,.0f} would make it reliable"


def _sizes(release: Released, cells: int) -> list[float | None]:
    """Return the public or noisy number of rows in each cell; of persons in several cells, the sum of their weights.

    None where it is neither public nor released.
    """
    last = release.parts[-1]
    if last.form == "size":
        return [max(n / last.parameters.get("share", 1), 0.0) for (n,) in last.integers]
    return [float(release.rows or 0) if public_size(release) else None] * cells


def _grid(release: Released) -> Grid:
    return cast(Grid, release.parts[0].grid)
