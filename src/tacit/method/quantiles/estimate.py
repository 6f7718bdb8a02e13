"""Estimate quantiles: each value is a selected step, and its interval lies between two other selected steps."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates import wording
from tacit.estimates.monotone import rising
from tacit.estimates.terms import Target, check_target, place_of
from tacit.estimates.wording import bounds_words
from tacit.noise.selection_law import utility_gap
from tacit.release.document import Release, Released
from tacit.release.parts import Grid, Part, cell_labels

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


@shown_by_summary
@dataclass(frozen=True, repr=False)
class QuantilesRelease(Release):
    """A release of Quantiles: three selected steps for each probability.

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

        Source: the exponential mechanism [McSherry & Talwar 2007]; intervals lie between steps selected at lower and
        higher ranks.
        """
        return estimate(self, target)

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
    law where rows are dense around the quantile; `reasons` names terms where they are not.  Source: [McSherry & Talwar
    2007].

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
        """Return a pair for one quantile, else a DataFrame.

        InferenceError I14 for a level above that of the question, for which no ends were selected.  For a lower level
        the ends are the same, and so wider than needed.
        """
        self._checked(level)
        if len(self.values) == 1:
            return float(self.limits[0, 0]), float(self.limits[0, 1])
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        return pd.DataFrame(self.limits, index=list(self.terms), columns=["lower", "upper"])

    def to_frame(self, level: float | None = None) -> pd.DataFrame:
        """Return a frame indexed by term: estimate, lower, upper, reason.  InferenceError I14 as `conf_int`."""
        self._checked(level)
        import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

        columns = {"estimate": self.values, "lower": self.limits[:, 0], "upper": self.limits[:, 1]}
        columns |= {"reason": [one or "" for one in self.reasons]}
        return pd.DataFrame(columns, index=list(self.terms))

    def __getitem__(self, term: str | list[str]) -> QuantileEstimate:
        """Return the estimate of some of the terms, in that order; InferenceError I02 for an unknown one."""
        asked = [term] if isinstance(term, str) else list(term)
        at = [place_of(self.terms, one) for one in asked]
        reasons = tuple(self.reasons[i] for i in at)
        return replace(self, values=self.values[at], limits=self.limits[at], reasons=reasons, picked=tuple(asked))

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
        sure = [reason is None for reason in self.reasons]
        groups = [label or name for label in cell_labels(release.levels)]
        return quantiles(shown, sure, np.array([float(p) for p in self.probs]), groups, caption, ax)

    def summary(self, level: float | None = None) -> Table:
        """Return a table of quantiles and intervals at the level of the question; InferenceError I14 as `conf_int`."""
        self._checked(level)
        from tacit.estimates.display import facts, interval_rows, people_words

        rows = interval_rows(self.terms, self.values, self.limits)
        said = [f"{t}: {r}" for t, r in zip(self.terms, self.reasons, strict=True) if r]
        title = f"{wording.title(self.release)} · {people_words(self.release)}"
        columns = ("", "estimate", f"{100 * self.level:g}% interval")
        law = "intervals assume rows close together around each quantile (asymptotic)"
        notes = (*said, f"estimates: {self.estimand}; {law}", facts(self.release))
        return Table(title, columns, rows, notes, ("left", "right", "right"))

    def _checked(self, level: float | None) -> None:
        if level is not None:
            within(level, self.level)


def estimate(release: Released, target: Target = "population") -> QuantileEstimate:
    """Return the estimate of a release of quantiles, real or simulated.

    Under target="table" the intervals are the same, and so wider than needed.
    """
    check_target(target)
    grid, query = _grid(release), cast(Any, release.query)
    parts = [part for part in release.parts if part.form == "ranks"]
    cells = cell_labels(release.levels) if release.levels else ("",)
    drawn = [np.array(part.integers, dtype=np.float64).reshape(len(cells), 3) for part in parts]
    steps = np.stack(drawn, axis=1)  # cells, probabilities, (below, at, above)
    h = (grid.upper - grid.lower) / grid.G
    # noise may select the lower end above the upper one: the order of the two is restored
    ends = np.sort(steps[..., [0, 2]], axis=-1)
    limits = ends + np.array([-0.5, 0.5])  # a step stands for half a step on either side
    # rows are clamped to the bounds, and so are all quantiles
    limits = np.clip(grid.lower + h * limits, grid.lower, grid.upper)
    # a value selected beyond its own ends is moved to the nearer of them
    middle = grid.lower + h * np.clip(steps[..., 1], ends[..., 0], ends[..., 1])
    # the selections of several probabilities are independent, and may come out of order
    values, limits = rising(middle, limits)
    probs = cast("tuple[Fraction, ...]", query.probs)
    sizes = _sizes(release, len(cells))
    reasons = tuple(few_rows_warning(part, size, float(query.level)) for size in sizes for part in parts)
    words = _words(release, parts[0], target)
    level = float(query.level)
    return QuantileEstimate(
        release, target, words, level, probs, values.reshape(-1), limits.reshape(-1, 2), reasons, cells
    )


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


def few_rows_warning(part: Part, size: float, level: float) -> str | None:
    """Return why an interval may be wrong (few rows for the price, so steps far from all are selected), or None.

    A step r ranks off has weight exp(-r / scale); beyond the first and last ranks all G + 1 steps together must have
    little weight.
    """
    p = part.parameters["numerator"] / part.parameters["denominator"]
    scale = float(part.law.scale) / (part.parameters["denominator"] * part.parameters.get("share", 1))
    # the quantile is size min(p, 1 - p) ranks from the nearer end of the rows, beyond which the steps are empty
    needed = utility_gap(scale, part.parameters["G"] + 1, 1 - level)
    if size * min(p, 1 - p) >= needed:
        return None
    who = "persons" if "share" in part.parameters else "rows"
    return f"{size:,.0f} {who} are few for this price: {needed / min(p, 1 - p):,.0f} would make the interval reliable"


def _sizes(release: Released, cells: int) -> list[float]:
    """Return the public or noisy number of rows in each cell; of persons in several cells, the sum of their weights."""
    last = release.parts[-1]
    if last.form == "ranks":
        return [float(release.rows or 0)] * cells
    return [max(n / last.parameters.get("share", 1), 0.0) for (n,) in last.integers]


def _grid(release: Released) -> Grid:
    return cast(Grid, release.parts[0].grid)
