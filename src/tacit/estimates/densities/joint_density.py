"""Joint densities of two or three columns, from whatever estimates them with both errors."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Final, Protocol

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.densities.column_values import JointColumn, sampled_frame, values_at
from tacit.estimates.synthetic.random_numbers import check_number, generator
from tacit.estimates.terms import Target, check_level
from tacit.estimates.total_errors.simultaneous import simultaneous_factor
from tacit.estimates.wording import who
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

SIDE: Final = {1: 101, 2: 21, 3: 7}
"""Places of a frame along each column, by the number of columns."""


class JointEstimate(Protocol):
    """An estimate of a density on the unit cube, and the density that it is made: arrays of places, shape (n, columns).

    ends: edges of the cells of a grid on which it is a density, and `cells` its values there.  reason: why nothing is
    known, or None.  said: how it was made, in words.
    """

    @property
    def ends(self) -> tuple[Array, ...]: ...  # noqa: D102

    @property
    def cells(self) -> Array: ...  # noqa: D102

    @property
    def reason(self) -> str | None: ...  # noqa: D102

    @property
    def said(self) -> tuple[str, ...]: ...  # noqa: D102

    def density(self, t: Array) -> Array:
        """Return the density at places, shape (n,)."""
        ...

    def centers(self, t: Array) -> Array:
        """Return what limits are around, which need be no density, shape (n,)."""
        ...

    def spread(self, t: Array) -> Array:
        """Return the covariance of `centers`, shape (n, n)."""
        ...


@shown_by_summary
@dataclass(frozen=True, repr=False)
class JointDensity:
    """The joint density of several columns.

    `found(points)` is the density at points, an array with a column for each column of the table, in their units (days
    since 1970-01-01 for dates); `intervals(points)` limits with both errors, of each point or of all at once;
    `sample(n)` synthetic rows.  Density per product of units.  reason: why nothing is known, or None.
    """

    release: Released
    target: Target
    variables: tuple[JointColumn, ...]
    fit: JointEstimate

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return tuple(one.name for one in self.variables)

    @property
    def reason(self) -> str | None:
        """Why nothing is known, or None."""
        return self.fit.reason

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        words = f"joint density of {' and '.join(self.columns)}: share of {who(self.release)} per product of units"
        condition = getattr(self.release.query, "where", None)
        words += f", where {condition}" if condition else ""
        return words + (f", of the {who(self.release)} of this table" if self.target == "table" else "")

    def __call__(self, points: Any) -> Array:
        """Return the density at points, shape (n, columns); 0 outside the support.  InferenceError I05 (shape)."""
        t, inside = self._places(points)
        return np.where(inside, self.fit.density(t), 0.0) / self._volume

    def intervals(self, points: Any, level: float = 0.95, *, simultaneous: bool = False) -> Array:
        """Return limits of the density at points, shape (n, 2), around what is not yet made a density.

        simultaneous: for all these points at once.  InferenceError I01 (level), I05 (shape).
        """
        level = check_level(level)
        t, inside = self._places(points)
        joint = self.fit.spread(t)
        error = np.sqrt(np.maximum(np.diag(joint), 0.0))
        factor = simultaneous_factor(joint, level) if simultaneous else NormalDist().inv_cdf(0.5 + level / 2)
        center, made = self.fit.centers(t), self(points) * self._volume
        low = np.maximum(np.minimum(center - factor * error, made), 0.0)
        # an estimate below 0 is as wrong as it is below; its error is not smaller for that
        high = np.maximum(np.maximum(center, 0.0) + factor * error, made)
        if self.reason is not None:
            low, high = np.zeros(len(t)), np.full(len(t), np.inf)
        return np.where(inside[:, None], np.stack([low, high], axis=1), 0.0) / self._volume

    def sample(self, n: int, *, rng: Any = None) -> pd.DataFrame:
        """Return n synthetic rows: a cell drawn by its share, and a place in it, evenly.  They are nobody's, and free.

        InferenceError I61 (n), I62 (rng), I63 (a reason).
        """
        check_number(n)
        drawn = generator(rng)
        if self.reason is not None:
            text = f"nothing to draw from: {self.reason}."
            raise InferenceError(text, code="I63", hint="a higher price in a new release", state=None)
        shares = self.fit.cells.reshape(-1) * _volumes(self.fit.ends)
        cells = np.unravel_index(drawn.choice(len(shares), int(n), p=shares / shares.sum()), self.fit.cells.shape)
        made = dict[str, Any]()
        for one, ends, at in zip(self.variables, self.fit.ends, cells, strict=True):
            x = one.lower + (one.upper - one.lower) * (ends[at] + np.diff(ends)[at] * drawn.random(int(n)))
            made[one.name] = values_at(one, x)
        return sampled_frame(made, self.release)

    def to_frame(self, level: float = 0.95, *, points: int | None = None) -> pd.DataFrame:
        """Return the density and its limits on a grid; points: along each column.  InferenceError I01."""
        grid = self._grid(SIDE[len(self.variables)] if points is None else points)
        limits = self.intervals(grid, level)
        made = {one.name: grid[:, i] for i, one in enumerate(self.variables)}
        return pandas().DataFrame({**made, "density": self(grid), "lower": limits[:, 0], "upper": limits[:, 1]})

    def summary(self, level: float = 0.95) -> Table:
        """Return the density at five places of each column as a table; InferenceError I01."""
        from tacit.estimates.display import facts, people_words, percent

        grid = self._grid(5 if len(self.variables) < 3 else 3)
        values, limits = self(grid), self.intervals(grid, level)
        rows = tuple(
            (", ".join(f"{x:.4g}" for x in grid[i]), f"{values[i]:.3g}", f"{limits[i, 0]:.3g} to {limits[i, 1]:.3g}")
            for i in range(len(grid))
        )
        why = (self.reason,) if self.reason is not None else ()
        notes = (*why, f"estimates: {self.estimand}", *self.fit.said)
        title = f"Joint density of {' and '.join(self.columns)} · {people_words(self.release)}"
        columns = (", ".join(self.columns), "density", f"{percent(level)} interval")
        return Table(title, columns, rows, (*notes, facts(self.release)), ("left", "right", "right"))

    def plot(self, ax: Any = None) -> Any:
        """Draw the density of two columns as shades; InferenceError I64 for three, I20 without matplotlib."""
        from tacit.estimates.display import facts, people_words
        from tacit.plots.density_map import density_map

        if len(self.variables) != 2:
            text = f"{len(self.variables)} columns: a picture is of one or two."
            raise InferenceError(text, code="I64", hint="to_frame()", state=None)
        points = 101
        values = self(self._grid(points)).reshape(points, points)
        title = f"Joint density of {' and '.join(self.columns)} · {people_words(self.release)}"
        return density_map(values, self._ends, self.columns, title, facts(self.release), ax)

    @property
    def _volume(self) -> float:
        return float(np.prod([one.upper - one.lower for one in self.variables]))

    @property
    def _ends(self) -> tuple[tuple[float, float], ...]:
        return tuple((one.lower, one.upper) for one in self.variables)

    def _grid(self, points: int) -> Array:
        sides = [np.linspace(*ends, points) for ends in self._ends]
        return np.stack([one.reshape(-1) for one in np.meshgrid(*sides, indexing="ij")], axis=1)

    def _places(self, points: Any) -> tuple[Array, Any]:
        """Return points on the unit cube, and whether they are in the support."""
        given = np.atleast_2d(np.asarray(points, dtype=np.float64))
        if given.ndim != 2 or given.shape[1] != len(self.variables):
            text = f"points of shape {given.shape}: each has {len(self.variables)} numbers."
            raise InferenceError(text, code="I05", hint=f"[[{', '.join(['0.5'] * len(self.variables))}]]", state=None)
        ends = np.array(self._ends)
        # the middle of a day
        moved = given + np.array([0.5 if one.kind == "date" else 0.0 for one in self.variables])
        t = (moved - ends[:, 0]) / (ends[:, 1] - ends[:, 0])
        return np.clip(t, 0.0, 1.0), ((t >= 0) & (t <= 1)).all(axis=1)


def _volumes(ends: tuple[Array, ...]) -> Array:
    """Return the volumes of the cells of a grid, one after another."""
    made = np.ones(1)
    for one in ends:
        made = np.outer(made, np.diff(one)).reshape(-1)
    return made
