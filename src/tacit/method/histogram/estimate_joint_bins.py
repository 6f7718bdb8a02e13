"""Joint densities of two or three columns from a released histogram: projected counts over volumes, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.base.arguments import described, kind_of, texts
from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.bins import BINNED, spans
from tacit.estimates.densities.column_values import JointColumn, sampled_frame, values_at
from tacit.estimates.noisy_terms.interval_inversion import Inversion
from tacit.estimates.synthetic.random_numbers import check_number, generator
from tacit.estimates.terms import Target, check_level, check_target
from tacit.estimates.wording import who
from tacit.method.histogram.estimate_densities import (
    SHOWN,
    DensityEstimate,
    Projection,
    check_projection,
    density,
    group_of,
    notes_of,
    places_of,
    said_of,
)
from tacit.method.histogram.estimate_margins import margin
from tacit.release.document import Released
from tacit.release.parts import cell_labels

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

MOST_COLUMNS: Final = 3
"""Most columns of one density."""
SIDE: Final = 201
"""Places of a picture along each column."""


@dataclass(frozen=True)
class JointAxis:
    """One column of a joint density: its bins that can hold rows, with labels, and their ends in its units.

    lower, upper: shape (bins,); of dates days since 1970-01-01, a day d being [d, d + 1], and a whole number v
    [v - 1/2, v + 1/2].  multiple_of: of real numbers what they are declared to be multiples of, 0 where not known.
    """

    name: str
    kind: str
    units: str | None
    labels: tuple[str, ...]
    lower: Array
    upper: Array
    multiple_of: float = 0.0

    @property
    def values(self) -> JointColumn:
        """The column's values and their places."""
        return JointColumn(self.name, self.kind, float(self.lower[0]), float(self.upper[-1]), self.multiple_of)

    def bin_at(self, at: Array) -> tuple[Any, Any]:
        """Return the bin of each place, and whether there is one."""
        inside = np.searchsorted(self.upper, at, side="right")  # an upper end belongs to the bin above
        if self.kind == "real":
            # the last bin of real numbers has its upper end in it
            inside = np.where(at == self.upper[-1], len(self.upper) - 1, inside)
        safe = np.minimum(inside, len(self.upper) - 1)
        return safe, (inside < len(self.upper)) & (at >= self.lower[safe])

    def below(self, at: Array) -> Array:
        """Return which part of each bin is at or below each place, shape (places, bins)."""
        # of whole numbers, days and multiples all of the value is at or below it
        ends = self.values.after(at)
        return np.clip((ends[:, None] - self.lower) / (self.upper - self.lower), 0.0, 1.0)


@shown_by_summary
@dataclass(frozen=True, repr=False)
class JointDensityEstimate:
    """The joint density of two or three columns as steps on the cells of their public bins.

    axes: of each column its bins.  shares: shape (bins of the first column, of the second, ...), 0 or more, adding up
    to 1.  values: density, share per product of units.  size: number of rows behind it, noisy or public.  reason: why
    nothing is known, or None; the density is then taken as even, and intervals hold all there is.

    Intervals are made from the counts as they were released: by the exact law of a count with its noise where the
    number of rows in all cells is public, by Fieller's argument where it is not (theory §1.5).  They hold cell by cell,
    or `simultaneous` in all cells at once, for the average of the density over each cell, whatever the density.
    `found(points)` is the density at points, `cdf(points)` the joint distribution function, `margin(column)` the
    density of fewer columns with its own intervals, `sample(n)` synthetic rows.
    Source: theory §7 (projection), [Bonferroni] (all cells at once).

    >>> import tacit as tc
    >>> rng = np.random.default_rng(0)
    >>> table = {"a": rng.uniform(0, 1, 5_000), "y": rng.uniform(0, 2, 5_000)}
    >>> schema = tc.Schema({"a": tc.Real(0, 1), "y": tc.Real(0, 2)})
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(rho=1))
    >>> cells = curator.release(tc.Histogram(["a", "y"], bins={"a": 4, "y": 3}), rho=0.5)
    >>> found = cells.density(["a", "y"])
    >>> found.values.shape, round(float((found.values * found.volumes).sum()), 9), found.intervals().shape
    ((4, 3), 1.0, (4, 3, 2))
    >>> found([[0.1, 0.1]]).shape, found.cdf([[1.0, 2.0]]), found.margin("y").values.shape
    ((1,), array([1.]), (1, 3))
    """

    release: Released
    target: Target
    projection: Projection
    axes: tuple[JointAxis, ...]
    shares: Array
    reason: str | None
    inversion: Inversion
    size: float
    notes: tuple[str, ...] = ()

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(one.name for one in self.axes)

    @property
    def volumes(self) -> Array:
        """Volumes of the cells, in products of units: of whole numbers and days how many there are."""
        made = np.ones(())
        for one in self.axes:
            made = made[..., None] * (one.upper - one.lower)
        return made

    @property
    def values(self) -> Array:
        """Density of each cell, shape (bins of the first column, ...)."""
        return self.shares / self.volumes

    @property
    def terms(self) -> tuple[str, ...]:
        """One label a cell, "[0, 10):[5, 8)", the last column the fastest."""
        return cell_labels(tuple((one.name, one.labels) for one in self.axes))

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        words = f"joint density of {' and '.join(self.columns)}: share of {who(self.release)} per product of units, "
        words += "in the mean over each cell"
        condition = getattr(self.release.query, "where", None)
        words += f", where {condition}" if condition else ""
        return words + (f", of the {who(self.release)} of this table" if self.target == "table" else "")

    @property
    def sampling_errors(self) -> Array:
        """Standard errors of values from sampling alone, of the shape of values; 0 for a table, or a reason."""
        if self.reason is not None or self.target == "table":
            return np.zeros(self.shares.shape)
        # of a binomial share
        return np.sqrt(self.shares * (1 - self.shares) / max(self.size, 1.0)) / self.volumes

    def intervals(self, level: float = 0.95, *, simultaneous: bool = False) -> Array:
        """Limits of every cell's average density, shape (*shape of values, 2); InferenceError I01 (level).

        simultaneous: hold in all cells at once.  They contain the density.
        """
        level = check_level(level)
        cells = self.shares.size
        limits = self.inversion.interval(1 - (1 - level) / cells if simultaneous else level)
        low, high = (one.reshape(self.shares.shape) for one in limits)
        # intervals are made from signed counts, shares from projected ones, which may lie outside
        low, high = np.minimum(low, self.shares), np.maximum(high, self.shares)
        return np.stack([np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)], axis=-1) / self.volumes[..., None]

    def __call__(self, points: Any) -> Array:
        """Return the density at points, shape (n, columns), in the columns' own values; 0 outside the bins.

        InferenceError I05 (shape).
        """
        each = [one.bin_at(at) for one, at in zip(self.axes, self._places(points), strict=True)]
        known = np.all([inside for _, inside in each], axis=0)
        return np.where(known, self.values[tuple(at for at, _ in each)], 0.0)

    def cdf(self, points: Any) -> Array:
        """Return the share of rows at or below points in every column, shape (n,); evenly spread within each cell.

        InferenceError I05 (shape).
        """
        made, places = self.shares[None, ...], self._places(points)
        for one, at in zip(self.axes, places, strict=True):
            part = one.below(at)
            made = (made * part.reshape(*part.shape, *[1] * (made.ndim - 2))).sum(axis=1)
        return made

    def margin(self, columns: str | Sequence[str]) -> DensityEstimate | JointDensityEstimate:
        """Return the density of some of the columns, from sums of the counts as they were released.

        InferenceError I41 for a column that is not among them.
        """
        names = (columns,) if isinstance(columns, str) else tuple(columns)
        for name in names:
            if name not in self.columns:
                text = f"column {name!r} is not in this density."
                raise InferenceError(text, code="I41", hint=f'margin("{self.columns[0]}")', state=None)
        if len(names) == 1:
            return density(self.release, names[0], None, self.target, self.projection)
        return joint_density(self.release, names, None, self.target, self.projection)

    def sample(self, n: int, *, rng: Any = None) -> pd.DataFrame:
        """Return n synthetic rows of the columns: a cell drawn by its share, and a place in it, evenly.  They are free.

        InferenceError I61 (n), I62 (rng), I63 (a reason).
        """
        check_number(n)
        drawn = generator(rng)
        if self.reason is not None:
            text = f"nothing to draw from: {self.reason}."
            raise InferenceError(text, code="I63", hint="a higher price in a new release", state=None)
        cells = np.unravel_index(drawn.choice(self.shares.size, int(n), p=self.shares.reshape(-1)), self.shares.shape)
        made = dict[str, Any]()
        for one, at in zip(self.axes, cells, strict=True):
            x = one.lower[at] + (one.upper - one.lower)[at] * drawn.random(int(n))
            made[one.name] = values_at(one.values, x)
        return sampled_frame(made, self.release)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """Return density, lower, upper, band_lower, band_upper and share of every cell, indexed by the columns' bins.

        InferenceError I01.
        """
        limits, band = (self.intervals(level, simultaneous=all_).reshape(-1, 2) for all_ in (False, True))
        index = pandas().MultiIndex.from_product([one.labels for one in self.axes], names=list(self.columns))
        columns = {"density": self.values.reshape(-1), "lower": limits[:, 0], "upper": limits[:, 1]}
        columns |= {"band_lower": band[:, 0], "band_upper": band[:, 1], "share": self.shares.reshape(-1)}
        return pandas().DataFrame(columns, index=index)

    def summary(self, level: float = 0.95) -> Table:
        """Return density, interval and share of every cell, as a table of at most 1,000 rows; InferenceError I01."""
        from tacit.estimates.display import facts, people_words, percent

        limits, values, shares = self.intervals(level).reshape(-1, 2), self.values.reshape(-1), self.shares.reshape(-1)
        silent = self.reason is not None
        rows = tuple(
            (
                term,
                "–" if silent else f"{values[i]:.3g}",
                f"{limits[i, 0]:.3g} to {limits[i, 1]:.3g}",
                "–" if silent else f"{100 * shares[i]:.1f} %",
            )
            for i, term in enumerate(self.terms[:SHOWN])
        )
        left = [f"{len(values) - SHOWN:,} more cells: to_frame()"] if len(values) > SHOWN else []
        why = [self.reason] if self.reason is not None else []
        notes = (*left, *why, f"estimates: {self.estimand}", *self.notes, facts(self.release))
        title = f"Joint density of {' and '.join(self.columns)} · {people_words(self.release)}"
        columns = (":".join(self.columns), "density", f"{percent(level)} interval", "share")
        return Table(title, columns, rows, notes, ("left", "right", "right", "right"))

    def plot(self, ax: Any = None) -> Any:
        """Draw the density of two columns as shades; InferenceError I64 for three, I20 without matplotlib."""
        from tacit.estimates.display import facts, people_words
        from tacit.plots.density_map import density_map

        if len(self.axes) != 2:
            text = f"{len(self.axes)} columns: a picture is of one or two."
            hint = f'margin(["{self.columns[0]}", "{self.columns[1]}"]).plot()'
            raise InferenceError(text, code="I64", hint=hint, state=None)
        # places in the middles of an even grid, so that none is on an edge
        sides = [one.lower[0] + (one.upper[-1] - one.lower[0]) * (np.arange(SIDE) + 0.5) / SIDE for one in self.axes]
        each = [one.bin_at(at) for one, at in zip(self.axes, sides, strict=True)]
        known = np.outer(each[0][1], each[1][1])
        values = np.where(known, self.values[np.ix_(each[0][0], each[1][0])], 0.0)
        ends = tuple((float(one.lower[0]), float(one.upper[-1])) for one in self.axes)
        names = tuple(one.name + (f" ({one.units})" if one.units else "") for one in self.axes)
        title = f"Joint density of {' and '.join(self.columns)} · {people_words(self.release)}"
        return density_map(values, ends, names, title, facts(self.release), ax)

    def _places(self, points: Any) -> list[Array]:
        """Return the places of each column; dates as days or ISO text."""
        given: Any = np.asarray(points)
        given = np.atleast_2d(given)
        if given.ndim != 2 or given.shape[1] != len(self.axes):
            text = f"points of shape {given.shape}: each has {len(self.axes)} values."
            raise InferenceError(text, code="I05", hint=f"[[{', '.join(['0.5'] * len(self.axes))}]]", state=None)
        try:
            return [places_of(given[:, i], one.kind) for i, one in enumerate(self.axes)]
        except (TypeError, ValueError):
            text = f"points of {kind_of(points)}: not numbers, or days."
            raise InferenceError(
                text, code="I05", hint=f"[[{', '.join(['0.5'] * len(self.axes))}]]", state=None
            ) from None


def joint_density(
    release: Released,
    columns: Sequence[str],
    by: object = None,
    target: Target = "population",
    projection: Projection = "simplex",
) -> Any:
    """Return the density of columns of a histogram, released or simulated; see `HistogramRelease.density`."""
    check_target(target)
    check_projection(projection)
    names = texts(columns)
    if names is None:
        text = f"{kind_of(columns)} names no columns."
        raise InferenceError(text, code="I41", hint='density(["age", "income"])', state=None)
    if len(names) == 1:
        return density(release, names[0], cast(Any, by), target, projection)
    if len(names) > MOST_COLUMNS or by is not None:
        what = f"a density of {len(names)} columns" + (f" within each {described(by)}" if by is not None else "")
        hint = f'density(["{names[0]}", "{names[1]}"])' if names else 'density("age")'
        raise InferenceError(f"{what}: of one within groups, or of two or three.", code="Q271", hint=hint, state=None)
    made, axes, kept = margin(release, names), list[JointAxis](), list[Any]()
    for (name, labels), axis in zip(made.levels, made.axes, strict=True):
        if axis.kind not in BINNED:
            text = f"{name!r} has levels, and so no density."
            raise InferenceError(text, code="I60", hint=f'margin("{name}").estimate()', state=None)
        lower, upper = spans(axis)
        # a bin without a possible value has width 0, and so no density
        own = np.flatnonzero(upper > lower)
        kept.append(own)
        named = tuple(labels[i] for i in own)
        axes.append(JointAxis(name, axis.kind, axis.units, named, lower[own], upper[own], axis.multiple_of or 0.0))
    cells = made.counts[np.ix_(*kept)]
    volumes = np.ones(())
    for one in axes:
        volumes = volumes[..., None] * (one.upper - one.lower)
    # only cells of bins have a density: those of missing values or beyond the bounds are not part of the size
    whole = not any(axis.extra for axis in made.axes)
    found = group_of(made, cells.reshape(-1), volumes.reshape(-1), target, projection, whole=whole)
    notes = [
        note
        for one, axis in zip(axes, made.axes, strict=True)
        for note in notes_of(one.name, axis, len(axis.edges) - 1 - len(one.lower))
    ]
    return JointDensityEstimate(
        release=release,
        target=target,
        projection=projection,
        axes=tuple(axes),
        shares=found[0].reshape(cells.shape),
        reason=found[1],
        inversion=found[2],
        size=float(max(cells.sum(), 0.0)),
        notes=(*notes, *said_of(projection)),
    )
