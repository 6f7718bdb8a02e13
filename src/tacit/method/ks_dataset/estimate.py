"""The release of a data set: its points, and what they tell of the distribution of the column, with both errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.densities.column_values import values_at
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import MOST_PLACES, Target, check_level, check_target
from tacit.estimates.wording import title, who
from tacit.method.ks_dataset.data_set_cells import variable_of
from tacit.method.ks_dataset.estimate_by_simulation import DataSetErrors, errors_of
from tacit.method.ks_dataset.estimate_points import (
    SIMULATED,
    cdf,
    column_of,
    cumulative_of,
    edges_of,
    moments,
    notes_of,
    points,
    sample,
)
from tacit.release.document import Release, Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

SHOWN: Final = 20
"""Most places of an estimate that names none."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class KSDatasetRelease(Release):
    """A release of KSDataset.

    >>> import tacit as tc
    >>> rng = np.random.default_rng(0)
    >>> curator = tc.Curator({"x": rng.beta(2, 5, 5_000)}, tc.Schema({"x": tc.Real(0, 1)}), budget=tc.Budget(rho=2))
    >>> release = curator.release(tc.KSDataset("x", size=150), epsilon=1)
    >>> release.points.shape, release.sample(3, rng=0).shape, bool(0.2 < release.moments().values[0] < 0.4)
    ((150,), (3, 1), True)
    >>> low, high = release.quantiles([0.5]).intervals()[0]
    >>> bool(low < 0.5 and high > 0.1)
    True
    """

    kind: ClassVar[str] = "ks-data-set"

    @property
    def counts(self) -> NDArray[np.int64]:
        """The number of points of the data set in each cell, shape (cells,)."""
        return np.array(self.parts[0].integers[0], dtype=np.int64)

    @property
    def edges(self) -> Array:
        """Edges of the cells, ends included, shape (cells + 1,); a whole number v is [v - 1/2, v + 1/2], dates are days
        since 1970-01-01, a day d being [d, d + 1].
        """
        return edges_of(self)

    @property
    def points(self) -> Array:
        """The data set itself, in order, shape (size,): of each point the middle of its cell, or the nearest value."""
        return points(self)

    def sample(self, n: int, *, rng: Any = None) -> pd.DataFrame:
        """Return n synthetic rows drawn from the data set, spread evenly over the values of their cells: a frame.

        They are nobody's, and free.  Whole numbers are integers, dates are dates.  InferenceError I61 (n), I62 (rng).
        """
        return sample(self, n, rng)

    def estimate(self, target: Target = "population") -> NormalEstimate:
        """Return the distribution function at edges of cells, at most 20; InferenceError I09 for an unknown target."""
        return estimate(self, target)

    def cdf(self, at: Any, *, target: Target = "population") -> NormalEstimate:
        """Return the share of rows at or below values, with both errors and their covariances.

        at: 1 to 1,000 numbers (dates: days since 1970-01-01).  Within a cell the points are spread evenly, which is not
        in the error.  InferenceError I05 (at), I09 (target).
        """
        return cdf(self, at, target)

    def band(self, target: Target = "population") -> DistributionBand:
        """Return the distribution function with a band for all edges at once; InferenceError I09 (target)."""
        return band(self, target)

    def quantiles(self, probs: Any, *, target: Target = "population") -> DataSetQuantiles:
        """Return quantiles with intervals between edges of cells; InferenceError I05 (probs), I09 (target)."""
        return quantiles(self, probs, target)

    def moments(self, *, target: Target = "population") -> NormalEstimate:
        """Return the mean and the variance of the column, with both errors; InferenceError I09 (target)."""
        return moments(self, target)

    def summary(self, level: float = 0.95) -> Table:
        """Return the distribution function at edges of cells as a table; InferenceError I01."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Draw the distribution function with its band; InferenceError I01, I20 without matplotlib."""
        return self.band().plot(ax, level=level)


@shown_by_summary
@dataclass(frozen=True, repr=False)
class DistributionBand:
    """A distribution function at the inner edges of cells, with a band that holds for all of them at once.

    edges, values: shape (m - 1,).  errors: draws of its errors.
    """

    release: Released
    target: Target
    edges: Array
    values: Array
    errors: DataSetErrors

    def half_width(self, level: float = 0.95) -> float:
        """Return half the width of the band: the quantile of the largest error; infinite where nothing is told."""
        if self.errors.reason is not None:
            return np.inf
        return float(np.quantile(np.abs(self.errors.total).max(axis=1), check_level(level), method="higher"))

    def intervals(self, level: float = 0.95) -> Array:
        """Return the band, within 0 and 1, shape (m - 1, 2); InferenceError I01."""
        half = self.half_width(level)
        return np.clip(np.stack([self.values - half, self.values + half], axis=1), 0.0, 1.0)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return a pandas DataFrame: at, cdf, lower, upper; InferenceError I01."""
        limits = self.intervals(level)
        return pandas().DataFrame({"at": self.edges, "cdf": self.values, "lower": limits[:, 0], "upper": limits[:, 1]})

    def summary(self, level: float = 0.95) -> Table:
        """Return the band at up to 20 edges as a table; InferenceError I01."""
        from tacit.estimates.display import facts, people_words, percent

        limits = self.intervals(level)
        rows = tuple(
            (f"{self.edges[i]:.6g}", f"{self.values[i]:.3f}", f"{limits[i, 0]:.3f} to {limits[i, 1]:.3f}")
            for i in shown(len(self.edges))
        )
        said = () if self.errors.reason is None else (self.errors.reason,)
        name = variable_of(self.release).name
        notes = (*said, f"the band holds at all {len(self.edges):,} edges at once; {SIMULATED}", *notes_of(self.errors))
        heading = f"{title(self.release)}: distribution function · {people_words(self.release)}"
        columns = (name, "below", f"{percent(level)} band")
        return Table(heading, columns, rows, (*notes, facts(self.release)), ("right", "right", "right"))

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Draw the distribution function with its band; InferenceError I01, I20 without matplotlib."""
        from tacit.estimates.display import facts, people_words
        from tacit.plots.curve_plot import curve

        limits, one = self.intervals(level), variable_of(self.release)
        whole = edges_of(self.release)
        ends = [np.concatenate([[0.0], x, [1.0]]) for x in (self.values, limits[:, 0], limits[:, 1])]
        return curve(
            whole, *ends, ax=ax, level=level, label="data set", band="band",
            title=f"{title(self.release)} · {people_words(self.release)}",
            words=one.name + (f" ({one.units})" if one.units else ""),
            response=f"share of {who(self.release)} at or below", caption=facts(self.release),
        )  # fmt: skip


@shown_by_summary
@dataclass(frozen=True, repr=False)
class DataSetQuantiles:
    """Quantiles of a released data set, and the edges of cells between which those of the rows lie.

    probs, values: shape (q,).  There is no standard error, since that would need the density.
    """

    release: Released
    target: Target
    probs: tuple[float, ...]
    values: Array
    cumulative: Array
    errors: DataSetErrors

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the terms: 0.25, 0.5, ..."""
        return tuple(f"{p:g}" for p in self.probs)

    def intervals(self, level: float = 0.95) -> Array:
        """Return limits, shape (q, 2), the column's bounds where nothing is told; InferenceError I01.

        An edge is below the quantile where the limits of the distribution function there are below the probability, and
        above it where they are not below.
        """
        whole = edges_of(self.release)
        if self.errors.reason is not None:
            check_level(level)
            return np.tile(whole[[0, -1]], (len(self.probs), 1))
        half = np.quantile(np.abs(self.errors.total), check_level(level), axis=0, method="higher")
        # limits of a distribution function rise
        upper = np.maximum.accumulate(self.cumulative + half)
        lower = np.minimum.accumulate((self.cumulative - half)[::-1])[::-1]
        at = np.array(self.probs)
        first, last = np.searchsorted(upper, at, side="left"), np.searchsorted(lower, at, side="left")
        return np.stack([whole[first], whole[last + 1]], axis=1)

    def conf_int(self, level: float = 0.95) -> Any:  # (float, float), or DataFrame
        """Return a pair for one quantile, else a DataFrame; InferenceError I01."""
        limits = self.intervals(level)
        if len(self.probs) == 1:
            return float(limits[0, 0]), float(limits[0, 1])
        return pandas().DataFrame(limits, index=list(self.terms), columns=["lower", "upper"])

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return a pandas DataFrame indexed by term: estimate, lower, upper; InferenceError I01."""
        limits = self.intervals(level)
        columns = {"estimate": self.values, "lower": limits[:, 0], "upper": limits[:, 1]}
        return pandas().DataFrame(columns, index=list(self.terms))

    def summary(self, level: float = 0.95) -> Table:
        """Return quantiles and intervals as a table; InferenceError I01."""
        from tacit.estimates.display import facts, people_words, percent

        limits = self.intervals(level)
        rows = tuple(
            (term, f"{value:.6g}", f"{low:.6g} to {high:.6g}")
            for term, value, (low, high) in zip(self.terms, self.values, limits, strict=True)
        )
        said = () if self.errors.reason is None else (self.errors.reason,)
        heading = f"{title(self.release)}: quantiles · {people_words(self.release)}"
        notes = (*said, f"limits are edges of cells; {SIMULATED}", *notes_of(self.errors), facts(self.release))
        return Table(heading, ("", "estimate", f"{percent(level)} interval"), rows, notes, ("left", "right", "right"))


# Functions of a release ---------------------------------------------------------------------------------------------


def estimate(release: Released, target: Target = "population") -> NormalEstimate:
    """Return the distribution function at some edges of a release, real or simulated."""
    check_target(target)
    inner = edges_of(release)[1:-1]
    at = inner[shown(len(inner))]
    # the last value below an edge of whole numbers, days or multiples
    one = column_of(release)
    last = values_at(one, at - one.unit / 2) if one.kind == "real" else at - {"integer": 0.5, "date": 1.0}[one.kind]
    return cdf(release, last, target)


def shown(many: int) -> list[int]:
    """Return the places of at most SHOWN of many edges, evenly."""
    number = min(many, SHOWN)
    return sorted({round(i * (many + 1) / (number + 1)) - 1 for i in range(1, number + 1)})


def band(release: Released, target: Target = "population") -> DistributionBand:
    """Return the band of a release, real or simulated."""
    check_target(target)
    inner = edges_of(release)[1:-1]
    return DistributionBand(release, target, inner, cumulative_of(release), errors_of(release, target))


def quantiles(release: Released, probs: Any, target: Target = "population") -> DataSetQuantiles:
    """Return quantiles of a release, real or simulated."""
    check_target(target)
    given = np.asarray(probs, dtype=np.float64).reshape(-1)
    if not 1 <= len(given) <= MOST_PLACES or not ((given > 0) & (given < 1)).all():
        text = f"{len(given):,} probabilities: 1 to {MOST_PLACES:,} numbers between 0 and 1."
        raise InferenceError(text, code="I05", hint="quantiles([0.25, 0.5, 0.75])", state=None)
    cumulative, whole = cumulative_of(release), edges_of(release)
    rising = np.concatenate([[0.0], cumulative, [1.0]])
    cell = np.clip(np.searchsorted(rising, given, side="left") - 1, 0, len(whole) - 2)
    part = (given - rising[cell]) / np.maximum(rising[cell + 1] - rising[cell], 1e-300)
    values = whole[cell] + np.diff(whole)[cell] * np.clip(part, 0.0, 1.0)
    one = column_of(release)
    if one.kind == "real":
        values = values_at(one, values)
    else:
        values = np.minimum(np.floor(values + (0.5 if one.kind == "integer" else 0.0)), variable_of(release).upper)
    errors = errors_of(release, target)
    return DataSetQuantiles(release, target, tuple(given.tolist()), values, cumulative, errors)
