"""The density of a column as a smooth curve with a band: what users see of curves on [0, 1]."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.column_values import JointColumn, sampled_frame, values_at
from tacit.estimates.projected_curve import ProjectedCurve
from tacit.estimates.recorded_notes import recorded_as
from tacit.estimates.terms import Target, check_level, place_of
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

ROWS: Final = 21
"""Places of a summary."""
POINTS: Final = 101
"""Places of a frame and of a picture."""
BEYOND: Final = "at a jump, a spike or a pole the density itself may be outside"
"""What limits of a density as far as it is resolved do not say."""
IN_DOUBT: Final = (
    "the counts say more than is resolved there, as at a jump, a spike or a pole: "
    "at a peak of them no limits are told, and a band has none in all of them unless it is of averages over bins"
)
"""What is said of doubts."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class SmoothDensity:
    """The density of a column as a smooth curve, in each of `groups`.

    lower, upper: ends of the column's support, in `units` (dates: days since 1970-01-01; of whole numbers half a unit
    beyond the first and the last).  multiple_of: of real numbers what they are declared to be multiples of, each of
    which has the unit around it; 0 where that is not known.  basis: of the series.  reasons: why a group says nothing,
    or None.
    Density per unit, per whole number or per day.

    `found(x)` is the density at x, `found.cdf(x)` the distribution function, `found.quantile(p)` its inverse;
    `intervals(x)` a band, for each place or for all at once; `sample(n)` draws values.
    Limits and bands hold for `limits_of`: the density as far as the release resolves it, which is what they would be
    around in a release without either error, and 0 where that is below.  For any law that is covered; where the
    density is smooth it is the density itself, but for a difference that is small beside the error.  At a jump, a spike
    or a pole it is not: no band that follows the data holds a density that may have them [Low 1997; Genovese &
    Wasserman 2008].  doubts: ranges of the column, of each group, where the counts say more than is resolved, as at a
    large jump; smaller ones stay unnoticed.  peaks: of these where no limits are told (0 to infinity); a band has
    none in all of them.  averaged: of which groups a band is of the averages of the density over bins, which has none
    in peaks alone.  untold: why limits of a group are told nowhere, or None.  exactly: whether limits_of has no such
    places.
    Of histograms a band holds both sides of a jump in the bins in which counts say that there may be one.
    Source: [Čencov 1962] (series), [Cavalier & Tsybakov 2001] (shrinkage), theory §3.4.

    >>> import tacit as tc
    >>> table = {"wait": [float(x * x % 97) for x in range(5_000)]}
    >>> curator = tc.Curator(table, tc.Schema({"wait": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Histogram("wait", bins={"wait": 40}), rho=0.5).smooth_density("wait")
    >>> found([25.0, 50.0]).shape, found.intervals([25.0, 50.0]).shape, bool(10 < found.quantile(0.5) < 80)
    ((2,), (2, 2), True)
    """

    release: Released
    target: Target
    column: str
    kind: str
    units: str | None
    by: tuple[str, ...]
    groups: tuple[str, ...]
    lower: float
    upper: float
    curves: tuple[ProjectedCurve, ...]
    sizes: Array
    reasons: tuple[str | None, ...]
    notes: tuple[str, ...] = field(default=())
    limits_of: str = "the density"
    exactly: bool = False
    doubts: tuple[tuple[tuple[float, float], ...], ...] = ()
    multiple_of: float = 0.0
    untold: tuple[str | None, ...] = ()
    peaks: tuple[tuple[tuple[float, float], ...], ...] = ()
    averaged: tuple[bool, ...] = ()

    @property
    def doubtful(self) -> tuple[str, ...]:
        """What limits hold, and where the density itself may be outside, in words."""
        holds = f"limits are of {self.limits_of}"
        if self.exactly:
            return (holds,)
        found = list[str]()
        each_untold = zip(self.groups, self.untold, strict=False)
        whys = tuple(f"{group}: {why}" if group else why for group, why in each_untold if why)[:12]
        for group, each in zip(self.groups, self.doubts, strict=False):
            at = ", ".join(f"from {_end(a, self.kind)} to {_end(b, self.kind)}" for a, b in each)
            found += [f"{group}: {at}" if group else at] if at else []
        shown = "; ".join([*found[:12], *([f"and {len(found) - 12:,} more groups"] if len(found) > 12 else [])])
        return (holds, BEYOND, *whys, *([f"{shown}: {IN_DOUBT}"] if shown else []))

    @property
    def basis(self) -> str:
        """Name of the basis, or of the kernel."""
        return self.curves[0].basis

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        from tacit.estimates.wording import density

        return density(self.release, recorded_as(self.column, self.multiple_of), self.by, self.per, self.target)

    @property
    def per(self) -> str:
        """The unit of the density, in words."""
        from tacit.estimates.wording import per_value

        return per_value(self.kind, self.units)

    def __call__(self, x: Any) -> Array:
        """Return the density at x (dates: days or ISO text), 0 outside the support; of several groups one row each."""
        t, inside = self._places(x)
        values = [np.where(inside, one.density(t), 0.0) / (self.upper - self.lower) for one in self.curves]
        return self._shaped(values)

    def cdf(self, x: Any) -> Array:
        """Return the share of rows at or below x; of several groups one row each."""
        # of whole numbers, days and multiples all of the value is at or below it
        ends = self._values.after(self._numbers(x))
        t = np.clip((ends - self.lower) / (self.upper - self.lower), 0.0, 1.0)
        return self._shaped([one.cdf(t) for one in self.curves])

    def quantile(self, p: Any) -> Any:
        """Return quantiles, in the column's units; of several groups one row each.

        Of dates: days since 1970-01-01; of whole numbers, days and multiples the value.  InferenceError I05 for p
        outside [0, 1].
        """
        given = np.asarray(p, dtype=np.float64)
        if not ((given >= 0) & (given <= 1)).all():
            text = f"{p!r} is not a probability, or a list of some."
            raise InferenceError(text, code="I05", hint="quantile([0.25, 0.5, 0.75])", state=None)
        found = self._shaped([self._back(one.quantile(given)) for one in self.curves])
        return float(found) if found.ndim == 0 else found

    def intervals(self, x: Any, level: float = 0.95, *, simultaneous: bool = False) -> Array:
        """Return limits of the density at x, shape (*shape of x, 2); of several groups (groups, ..., 2).

        They hold for `limits_of`; simultaneous: for the whole curve of a group at once.  Where none are told, 0 and
        infinity.  InferenceError I01 for a level below 0.5.
        """
        level = check_level(level)
        t, inside = self._places(x)
        made, nothing = list[Array](), np.stack([np.zeros(t.shape), np.full(t.shape, np.inf)], axis=-1)
        for g, (one, reason) in enumerate(zip(self.curves, self.reasons, strict=True)):
            limits = one.limits(t.reshape(-1), level, simultaneous=simultaneous).reshape(*t.shape, 2)
            hidden = np.full(t.shape, reason is not None or any(self.untold[g : g + 1]))
            # one place in doubt of a whole curve is enough for a band to miss it, unless it is of averages
            averaged = any(self.averaged[g : g + 1])
            without = self.doubts if simultaneous and not averaged else self.peaks
            for low, high in without[g] if g < len(without) else ():
                hidden |= (t >= self._share(low)) & (t <= self._share(high))
            limits = np.where(hidden[..., None], nothing, limits)
            made.append(np.where(inside[..., None], limits, 0.0) / (self.upper - self.lower))
        return self._shaped(made)

    def __getitem__(self, group: str) -> SmoothDensity:
        """Return one of the groups; InferenceError I02 for an unknown one."""
        at = place_of(self.groups, group)
        chosen = {"groups": (group,), "curves": (self.curves[at],), "sizes": self.sizes[[at]]}
        chosen |= {"doubts": self.doubts[at : at + 1], "untold": self.untold[at : at + 1]}
        chosen |= {"peaks": self.peaks[at : at + 1], "averaged": self.averaged[at : at + 1]}
        return replace(self, **chosen, reasons=(self.reasons[at],))

    def sample(self, n: int, *, rng: Any = None) -> pd.DataFrame:
        """Return n synthetic rows drawn from the density of the only group, a frame of the column: nobody's, and free.

        Whole numbers are integers, dates are dates, multiples are multiples.  `frame.attrs["note"]` says what an
        inference from them ignores.  InferenceError I61 (n), I62 (rng), I63 (a reason), I05 (several groups).
        """
        from tacit.estimates.random_numbers import check_number, generator

        check_number(n)
        drawn = generator(rng)
        if len(self.groups) > 1:
            text = f"a sample is of one group; there are {len(self.groups):,}."
            raise InferenceError(
                text, code="I05", hint=f'smooth_density(…)["{self.groups[0]}"].sample({n})', state=None
            )
        if self.reasons[0] is not None:
            text = f"nothing to draw from: {self.reasons[0]}."
            raise InferenceError(text, code="I63", hint="a higher price in a new release", state=None)
        share = self.curves[0].quantile(drawn.random(int(n)))
        values = values_at(self._values, self.lower + (self.upper - self.lower) * share)
        return sampled_frame({self.column: values}, self.release)

    def to_frame(self, level: float = 0.95, *, points: int = POINTS) -> pd.DataFrame:
        """Return x, density, limits for each place and for all places at once, and cdf; groups one after another."""
        x = np.linspace(self.lower, self.upper, points)
        frames = list[Any]()
        for group in self.groups:
            one = self[group] if len(self.groups) > 1 else self
            limits, band = one.intervals(x, level), one.intervals(x, level, simultaneous=True)
            columns = {"x": x, "density": one(x), "lower": limits[:, 0], "upper": limits[:, 1]}
            columns |= {"band_lower": band[:, 0], "band_upper": band[:, 1], "cdf": one.cdf(x)}
            frames.append(pandas().DataFrame(columns))
        return frames[0] if not self.by else pandas().concat(frames, keys=self.groups, names=[":".join(self.by), None])

    def summary(self, level: float = 0.95) -> Table:
        """Return density and interval at 21 places as a table; InferenceError I01."""
        from tacit.estimates.display import facts, people_words, percent

        x = np.linspace(self.lower, self.upper, ROWS)
        rows: list[tuple[object, ...]] = []
        for group, reason in zip(self.groups, self.reasons, strict=True):
            one = self[group] if len(self.groups) > 1 else self
            limits, values, shares = one.intervals(x, level), one(x), one.cdf(x)
            for i in range(ROWS if reason is None else 0):
                place = f"{group}:{x[i]:.4g}" if group else f"{x[i]:.4g}"
                ends = f"{limits[i, 0]:.3g} to {limits[i, 1]:.3g}" if np.isfinite(limits[i, 1]) else "–"
                said = (f"{values[i]:.3g}", ends, f"{100 * shares[i]:.1f} %")
                rows.append((place, *said))
        whys = [f"{group or self.column}: {why}" for group, why in zip(self.groups, self.reasons, strict=True) if why]
        notes = (*whys[:12], f"estimates: {self.estimand}", *self.doubtful, *self.notes, facts(self.release))
        by = f" by {' and '.join(self.by)}" if self.by else ""
        columns = (":".join((*self.by, self.column)), "density", f"{percent(level)} interval", "at or below")
        title = f"Smooth density of {self.column}{by} · {people_words(self.release)}"
        return Table(title, columns, tuple(rows), notes, ("left", "right", "right", "right"))

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Draw the curve with its band for all places at once; InferenceError I01, I05 (several groups), I20."""
        from tacit.estimates.pictures import smooth_density

        return smooth_density(self, ax, level=check_level(level))

    def _numbers(self, x: Any) -> Array:
        """Return values as numbers; dates: days since 1970-01-01."""
        given: Any = np.asarray(x)
        if self.kind == "date" and not np.issubdtype(given.dtype, np.number):
            given = given.astype("datetime64[D]").astype(np.float64)
        return np.asarray(given, dtype=np.float64)

    def _places(self, x: Any) -> tuple[Array, Any]:
        """Return places in [0, 1], and whether values lie in the support."""
        # a day d is [d, d + 1], a whole number v is [v - 1/2, v + 1/2]
        at = self._numbers(x) + {"date": 0.5, "integer": 0.0}.get(self.kind, 0.0)
        t = (at - self.lower) / (self.upper - self.lower)
        return np.clip(t, 0.0, 1.0), (t >= 0) & (t <= 1)

    def _share(self, end: float) -> float:
        """Return the place in [0, 1] of an end of a doubt."""
        return (end - self.lower) / (self.upper - self.lower)

    @property
    def _values(self) -> JointColumn:
        return JointColumn(self.column, self.kind, self.lower, self.upper, self.multiple_of)

    def _back(self, t: Array) -> Array:
        """Return values at places in [0, 1]: of whole numbers and days the one whose interval holds the place."""
        found = self.lower + (self.upper - self.lower) * t
        if self.kind == "real":
            return np.asarray(values_at(self._values, found))
        last = self.upper - (0.5 if self.kind == "integer" else 1.0)
        return np.minimum(np.floor(found + (0.5 if self.kind == "integer" else 0.0)), last)

    def _shaped(self, found: list[Array]) -> Array:
        return found[0] if not self.by or len(self.groups) == 1 else np.stack(found)


def _end(x: float, kind: str) -> str:
    """Return the end of a range, as a number or a day."""
    return str(np.datetime64(int(np.floor(x)), "D")) if kind == "date" else f"{x:.4g}"
