"""Densities from a released histogram: projected counts over widths, with intervals for every bin."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from datetime import date
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.simplex import nearest_with_sum
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.bins import BINNED, spans
from tacit.estimates.labelled import Labels
from tacit.estimates.noisy_terms.interval_inversion import Inversion
from tacit.estimates.noisy_terms.noisy_ratio import Scaled, ShareOfTotal, WholeUnitInterval, unclear
from tacit.estimates.terms import Target, check_level, check_target, place_of
from tacit.fits.cells.released_cells import cells_of
from tacit.method.histogram.estimate_margins import Margin, block_of, margin
from tacit.noise.laws import Law
from tacit.release.document import Released
from tacit.release.parts import Axis as Facts
from tacit.release.parts import cell_labels

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]


Projection: TypeAlias = Literal["simplex", "clip"]
"""How signed counts are made shares."""
SHOWN: Final = 1_000
"""Bins of a table, at most."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class DensityEstimate:
    """The density of a column as a step function on its public bins, in each of `groups`.

    shares: shape (groups, bins), the projected counts over their total: 0 or more, adding up to 1 in each group.
    lower, upper: ends of the bins, shape (bins,), in `units` (dates: days since 1970-01-01).
    values: density, share per unit, shape (groups, bins).  Of whole numbers and days: the share of one value.
    sizes: number of rows behind each group, noisy or public, shape (groups,).
    reasons: why a group says nothing, or None; its density is then taken as even, and its intervals hold all there is.

    Intervals are made from the counts as they were released, not from the projected ones: by the exact law of a
    count with its noise where the number of rows in all bins is public, by Fieller's argument where it is not
    (theory §1.5).  They hold bin by bin, for the average of the density over each bin; what a bin averages out is the
    price of bins, not of privacy.
    Source: [Wasserman & Zhou 2010] (the histogram), theory §7 (projection).

    >>> import tacit as tc
    >>> table = {"wait": [float(x * x % 97) for x in range(5_000)]}
    >>> curator = tc.Curator(table, tc.Schema({"wait": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Histogram("wait", bins={"wait": 5}), rho=0.1).density("wait")
    >>> found.values.shape, round(float((found.values * found.widths).sum()), 9)
    ((1, 5), 1.0)
    >>> found.intervals().shape, bool(found(50.0) == found.values[0, 2])
    ((1, 5, 2), True)
    """

    release: Released
    target: Target
    column: str
    kind: str
    units: str | None
    by: tuple[str, ...]
    groups: tuple[str, ...]
    labels: tuple[str, ...]
    lower: Array
    upper: Array
    shares: Array
    reasons: tuple[str | None, ...]
    inversions: tuple[Inversion, ...]
    sizes: Array
    notes: tuple[str, ...] = ()

    @property
    def widths(self) -> Array:
        """Widths of the bins, shape (bins,), in `units`; of whole numbers and days, how many there are."""
        return self.upper - self.lower

    @property
    def values(self) -> Array:
        """Density, in 1 / units, shape (groups, bins)."""
        return self.shares / self.widths

    @property
    def sampling_errors(self) -> Array:
        """Standard errors of values from sampling alone, shape (groups, bins); 0 for a table, or a reason."""
        silent = np.array([reason is not None for reason in self.reasons])[:, None]
        # of a binomial share
        variances = self.shares * (1 - self.shares) / np.maximum(self.sizes, 1.0)[:, None]
        return np.where(silent | (self.target == "table"), 0.0, np.sqrt(variances)) / self.widths

    @property
    def terms(self) -> tuple[str, ...]:
        """One label a bin, "[0, 10)"; of groups "f:[0, 10)"."""
        return tuple(f"{group}:{bin_}" if group else bin_ for group in self.groups for bin_ in self.labels)

    @property
    def estimand(self) -> str:
        """What is estimated, in words."""
        from tacit.estimates.wording import density

        return density(self.release, self.column, self.by, self.per, self.target)

    @property
    def per(self) -> str:
        """The unit of the density, in words."""
        from tacit.estimates.wording import per_value

        return per_value(self.kind, self.units)

    def intervals(self, level: float = 0.95, *, simultaneous: bool = False) -> Array:
        """Limits of every bin's average density, shape (groups, bins, 2); InferenceError I01 for a level below 0.5.

        simultaneous: hold in all bins of a group at once [Bonferroni].  They contain the density: where projection
        moved it out of its interval, the interval is longer.
        """
        level = check_level(level)
        level = 1 - (1 - level) / self.shares.shape[1] if simultaneous else level
        limits = np.zeros((*self.shares.shape, 2))
        for g, inversion in enumerate(self.inversions):
            limits[g, :, 0], limits[g, :, 1] = inversion.interval(level)
        # intervals are made from signed counts, shares from projected ones, which may lie outside
        low, high = np.minimum(limits[..., 0], self.shares), np.maximum(limits[..., 1], self.shares)
        return np.stack([np.clip(low, 0.0, 1.0), np.clip(high, 0.0, 1.0)], axis=-1) / self.widths[:, None]

    def __call__(self, x: Any) -> Array:
        """The density at `x`, in the column's own values (dates: days or ISO text), 0 outside the bins.

        Shape of `x`; of several groups (groups, *shape of x).
        """
        at = places_of(x, self.kind)
        inside = np.searchsorted(self.upper, at, side="right")  # an upper end belongs to the bin above
        if self.kind == "real":
            # the last bin of real numbers has its upper end in it
            inside = np.where(at == self.upper[-1], len(self.upper) - 1, inside)
        safe = np.minimum(inside, len(self.upper) - 1)
        known = (inside < len(self.upper)) & (at >= self.lower[safe])
        found = np.where(known, self.values[:, safe], 0.0)
        return found[0] if len(self.groups) == 1 else found

    def __getitem__(self, group: str) -> DensityEstimate:
        """One of the groups; InferenceError I02 for an unknown one."""
        at = place_of(self.groups, group)
        return replace(
            self,
            groups=(group,),
            shares=self.shares[[at]],
            sizes=self.sizes[[at]],
            reasons=(self.reasons[at],),
            inversions=(self.inversions[at],),
        )

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """from, to, density, lower, upper, share, reason: a frame indexed by bin; InferenceError I01.

        Where there is a reason, density and share are NaN.
        """
        limits = self.intervals(level).reshape(-1, 2)
        ends = [np.tile(_shown(end, self.kind), len(self.groups)) for end in (self.lower, self.upper)]
        columns: dict[str, Any] = {"from": ends[0], "to": ends[1], "density": self.values.reshape(-1)}
        columns |= {"lower": limits[:, 0], "upper": limits[:, 1], "share": self.shares.reshape(-1)}
        reasons = [reason for reason in self.reasons for _ in self.labels]
        return Labels(self.terms, ":".join((*self.by, self.column))).frame(columns, reasons, "density", "share")

    def summary(self, level: float = 0.95) -> Table:
        """Density, interval and share of every bin, as a table of at most 1,000 rows; InferenceError I01."""
        from tacit.estimates.display import facts, people_words, percent

        limits, shares = self.intervals(level).reshape(-1, 2), self.shares.reshape(-1)
        values, silent = self.values.reshape(-1), [why is not None for why in self.reasons for _ in self.labels]
        rows: list[tuple[object, ...]] = []
        for i, term in enumerate(self.terms[:SHOWN]):
            said = ("–", "–") if silent[i] else (f"{values[i]:.3g}", f"{100 * shares[i]:.1f} %")
            rows.append((term, said[0], f"{limits[i, 0]:.3g} to {limits[i, 1]:.3g}", said[1]))
        whys = [f"{group or self.column}: {why}" for group, why in zip(self.groups, self.reasons, strict=True) if why]
        left = [f"{len(values) - SHOWN:,} more bins: to_frame()"] if len(values) > SHOWN else []
        notes = (*left, *whys[:12], f"estimates: {self.estimand}", *self.notes, facts(self.release))
        by = f" by {' and '.join(self.by)}" if self.by else ""
        title = f"Density of {self.column}{by} · {people_words(self.release)}"
        columns = (":".join((*self.by, self.column)), "density", f"{percent(level)} interval", "share")
        return Table(title, columns, tuple(rows), notes, ("left", "right", "right", "right"))

    def plot(self, ax: Any = None, *, level: float = 0.95) -> Any:
        """Steps with their intervals; `.save("a.png")`.  InferenceError I01, I20 (no matplotlib), I05 (many groups)."""
        from tacit.method.histogram.estimate_pictures import density

        return density(self, ax, level=level)


def density(
    release: Released,
    column: str,
    by: str | Sequence[str] | None = None,
    target: Target = "population",
    projection: Projection = "simplex",
) -> DensityEstimate:
    """A release of a histogram, or a simulated one -> the density of a column; see `HistogramRelease.density`."""
    check_target(target)
    check_projection(projection)
    made, groups = binned_margin(release, column, by)
    axis = made.axes[-1]
    lower, upper = spans(axis)
    # a bin without a possible value has width 0, and so no density
    kept = np.flatnonzero(upper > lower)
    names = [made.levels[-1][1][i] for i in kept]
    cells = made.counts.reshape(-1, made.counts.shape[-1])
    whole = not groups and not axis.extra
    found = [group_of(made, one[kept], (upper - lower)[kept], target, projection, whole=whole) for one in cells]
    return DensityEstimate(
        release=release,
        target=target,
        column=column,
        kind=axis.kind,
        units=axis.units,
        by=groups,
        groups=cell_labels(made.levels[:-1]),
        labels=tuple(names),
        lower=lower[kept],
        upper=upper[kept],
        shares=np.stack([shares for shares, _, _ in found]),
        reasons=tuple(reason for _, reason, _ in found),
        inversions=tuple(inversion for _, _, inversion in found),
        # only bins have a density: cells of missing values or beyond the bounds are not part of the size
        sizes=np.maximum(cells[:, kept].sum(axis=1), 0.0),
        notes=(*notes_of(column, axis, len(lower) - len(kept)), *(said_of(projection))),
    )


def binned_margin(release: Released, column: str, by: str | Sequence[str] | None) -> tuple[Margin, tuple[str, ...]]:
    """Return the counts of a column's bins within each group, and the columns of `by`; InferenceError I41, I60."""
    groups = () if by is None else (by,) if isinstance(by, str) else tuple(by)
    made = margin(release, (*groups, column))
    if made.axes[-1].kind not in BINNED:
        text = f"{column!r} has levels, and so no density."
        hint = f'margin("{column}").estimate(), or density of one of {_numeric(release)}'
        raise InferenceError(text, code="I60", hint=hint, state=None)
    return made, groups


def notes_of(column: str, axis: Facts, empty: int) -> Iterator[str]:
    """Yield notes on what is left out and what the end bins hold."""
    gone = (*axis.extra, *(("missing",) if axis.missing == "exclude" and "missing" not in axis.extra else ()))
    if gone:
        yield f"{column} {' or '.join(gone)}: left out"
    if "below" not in axis.extra:
        yield f"values of {column} beyond its bounds are in the first and the last bin"
    if empty:
        yield f"{empty:,} bins of {column!r} hold no whole number, and so no rows"


def group_of(
    made: Margin, k: Array, widths: Array, target: Target, projection: Projection, *, whole: bool
) -> tuple[Array, str | None, Inversion]:
    """Return projected shares of one group, a reason or None, and intervals of shares, from its signed counts.

    k: counts of the cells that can hold rows, shape (cells,).  widths: of the cells.  whole: whether all rows that are
    in a cell are in these.
    """
    release = made.release
    # the shares' divisor is public only where all rows are in the bins of a single group
    total = cells_of(release).total if whole else None
    if total is not None:
        scaled = block_of(release, k, made.added, target == "population").inversion
        # divided by a number without noise: the exact interval of the count, in other units
        return projected(k, total, projection), None, Scaled(scaled, 1 / total)
    part = release.parts[0]
    size, share = float(k.sum()), part.parameters.get("share", 1)
    reason = unclear(size, part.law, made.added * len(k), share)
    if reason is not None:
        return widths / widths.sum(), reason, WholeUnitInterval(len(k))
    noise: tuple[Law, int, int] = (part.law, made.added, share)
    counted = np.clip(k, 0.0, size)
    return projected(k, size, projection), None, ShareOfTotal(counted, size, *noise, target == "population")


def projected(counts: Array, total: float, projection: Projection = "simplex") -> Array:
    """Return non-negative shares of a positive total, from signed counts (theory §7).

    projection: "simplex", the nearest that add up to it; or "clip", as published (lecture notes §5.2): what is below 0
    is 0, and the others are divided by their sum, whatever the total.

    >>> projected(np.array([61.0, 43.0, -4.0]), 100.0)
    array([0.59, 0.41, 0.  ])
    >>> projected(np.array([61.0, 43.0, -4.0]), 100.0, "clip").round(3)
    array([0.587, 0.413, 0.   ])
    """
    if projection == "clip" and (counts > 0).any():
        kept = np.maximum(counts, 0.0)
        return kept / kept.sum()
    found = nearest_with_sum(counts, total)
    # the total again, but for rounding
    return found / found.sum()


def check_projection(projection: Projection) -> None:
    """Raise InferenceError Q270 for what is no projection."""
    if projection not in ("simplex", "clip"):
        text = f"projection is {described(projection)}: neither 'simplex' nor 'clip'."
        raise InferenceError(text, code="Q270", hint='projection="simplex"', state=None)


def said_of(projection: Projection) -> tuple[str, ...]:
    """Return a note on a projection that is not the usual one."""
    return ("negative counts are 0, and the others divided by their sum, as published",) if projection == "clip" else ()


def _numeric(release: Released) -> str:
    """Return the names of the columns with bins, in words."""
    axes = getattr(release, "axes", ())
    names = [name for (name, _), axis in zip(release.levels, axes, strict=True) if axis.kind in BINNED]
    return ", ".join(repr(name) for name in names) or "the columns with bins, of which this release has none"


def places_of(x: Any, kind: str) -> Array:
    """Values as numbers; days, or their ISO text, as days since 1970-01-01."""
    given: Any = np.asarray(x)
    if kind != "date" or np.issubdtype(given.dtype, np.number):
        return np.asarray(given, dtype=np.float64)
    return given.astype("datetime64[D]").astype(np.float64)


def _shown(ends: Array, kind: str) -> Any:
    """Return ends of bins for a frame: dates where the column holds dates."""
    if kind != "date":
        return ends
    origin = date(1970, 1, 1).toordinal()
    return np.array([date.fromordinal(int(day) + origin) for day in ends], dtype=object)
