"""The release of a kernel density: noisy counts of cells, and the densities that kernels make of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.densities.column_values import JointColumn
from tacit.estimates.densities.joint_density import JointDensity
from tacit.estimates.densities.local_doubts import in_units
from tacit.estimates.densities.projected_curve import ProjectedCurve
from tacit.estimates.densities.recorded_notes import WIDER, hidden_by_heaps, recorded_as, recorded_notes
from tacit.estimates.densities.smooth_density import SmoothDensity
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import MOST_PLACES, Target, check_target, given_places, numbers_of, place_of
from tacit.estimates.wording import column_notes, title, who
from tacit.fits.heaps.heaped_cells import unknown_heaps
from tacit.method.kernel_density.estimate_cumulative import below, first_moments
from tacit.method.kernel_density.estimate_density import TOO_WIDE, UNRESOLVED, JointKernels, KernelCurve
from tacit.method.kernel_density.estimate_kernel import KernelFit, ends_of, fitted
from tacit.release.document import Release, Released
from tacit.release.parts import Axis

if TYPE_CHECKING:
    from collections.abc import Sequence

SHOWN: Final = {1: 21, 2: 5, 3: 3}
"""Places along each column of an estimate that names none, by the number of columns."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class KernelDensityRelease(Release):
    """A release of KernelDensity.

    >>> import tacit as tc
    >>> rng = np.random.default_rng(0)
    >>> curator = tc.Curator({"x": rng.beta(2, 5, 5_000)}, tc.Schema({"x": tc.Real(0, 1)}), budget=tc.Budget(rho=1))
    >>> release = curator.release(tc.KernelDensity("x"), rho=0.5)
    >>> found = release.density([0.2, 0.5])
    >>> found.terms, found.std_errors.shape
    (('x=0.2', 'x=0.5'), (2,))
    >>> release.smooth_density().sample(3, rng=0).shape, bool(0.2 < release.moments().values[0] < 0.4)
    ((3, 1), True)
    """

    kind: ClassVar[str] = "kernel-density"

    @property
    def bandwidth(self) -> dict[str, float]:
        """The released bandwidths, in the columns' units: estimates are of these or of wider ones."""
        fit = fitted(self)
        lengths = [float(np.ptp(ends_of(axis))) for axis in self.axes]
        each = zip(self.levels, fit.released.bandwidths, lengths, strict=True)
        return {name: h * length for (name, _), h, length in each}

    def density(self, at: Any, *, smoothed: bool = False, target: Target = "population") -> NormalEstimate:
        """Return the density at places, with both errors and their covariances; any number of places, later ones too.

        at: numbers, or for several columns an array with a column for each; days since 1970-01-01 for dates.  Estimates
        are those that limits are around: of the released bandwidth, their bias of a higher order than their error where
        the density is smooth; at a jump, a spike or a pole they are of what the kernel resolves of it.
        smoothed: the estimand is the density smoothed by the released kernel.
        InferenceError I05 (shape, beyond the bounds, or more than 1,000 places), I09 (target).
        """
        return density(self, at, smoothed, target)

    def estimate(self, target: Target = "population") -> NormalEstimate:
        """Return the density at places spread over the columns' ranges; InferenceError I09 for an unknown target."""
        return estimate(self, target)

    def cdf(self, at: Any, column: str | None = None, *, target: Target = "population") -> NormalEstimate:
        """Return the share of rows at or below values of a column, with both errors.

        InferenceError I02 (no such column), I05 (which of several columns; values), I09 (target).
        """
        return cdf(self, at, column, target)

    def moments(self, column: str | None = None, *, target: Target = "population") -> NormalEstimate:
        """Return the mean and the variance of a column, with both errors; InferenceError I02, I05, I09 as for `cdf`."""
        return moments(self, column, target)

    def smooth_density(
        self, column: str | None = None, *, smoothed: bool = False, target: Target = "population"
    ) -> SmoothDensity:
        """Return the density of a column as a curve with bands, distribution function, quantiles and synthetic values.

        smoothed: of the density smoothed by the released kernel.  InferenceError I02 (no such column), I05 (which of
        several), I09 (target).
        """
        return smooth_density(self, column, smoothed, target)

    def joint_density(self, *, smoothed: bool = False, target: Target = "population") -> JointDensity:
        """Return the joint density of all columns; InferenceError I09 for an unknown target."""
        return joint_density(self, smoothed, target)

    def summary(self, level: float = 0.95) -> Table:
        """Return the density of one column, or the joint density of several, as a table; InferenceError I01."""
        return (self.smooth_density() if len(self.levels) == 1 else self.joint_density()).summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the density of one column or of two; InferenceError I64 (three columns), I20 without matplotlib."""
        return (self.smooth_density() if len(self.levels) == 1 else self.joint_density()).plot(ax)


def density(release: Released, at: Any, smoothed: bool = False, target: Target = "population") -> NormalEstimate:
    """Return the density at places of a release, real or simulated."""
    check_target(target)
    fit, columns = fitted(release, target, smoothed=smoothed), _columns(release)
    hint = f"[[{', '.join(['0.5'] * len(columns))}]]" if len(columns) > 1 else "[0.5]"
    given = numbers_of(at, hint)
    points = given.reshape(-1, 1) if len(columns) == 1 else np.atleast_2d(given)
    if points.ndim != 2 or points.shape[1] != len(columns) or not 1 <= len(points) <= MOST_PLACES:
        text = f"places of shape {given.shape}: 1 to {MOST_PLACES:,}, each of {len(columns)} numbers."
        raise InferenceError(text, code="I05", hint=hint, state=None)
    t = np.stack([_place(one, points[:, i]) for i, one in enumerate(columns)], axis=1)
    volume = float(np.prod([one.upper - one.lower for one in columns]))
    names, told = [one.name for one in columns], [recorded_as(one.name, one.multiple_of) for one in columns]
    terms = tuple(", ".join(f"{name}={x:.6g}" for name, x in zip(names, row, strict=True)) for row in points)
    words = f"{'joint ' if len(names) > 1 else ''}density of {' and '.join(told)}: share of {who(release)} per "
    words += "product of units" if len(names) > 1 else "unit"
    words += ", smoothed by the released kernel" if smoothed else ", as far as the released kernel resolves it"
    notes = tuple(note for one in columns for note in recorded_notes(one.name, _axis(release, one)))
    unknown, reasons = None, (None,) * len(t) if smoothed else _unresolved(release, fit, columns, t)
    if len(columns) == 1:
        fit, _ = _limiting(fit, columns[0], _axis(release, columns[0]))
        unknown = np.diag((fit.off(t[:, 0], columns[0].unit / columns[0].length) / volume) ** 2)
    weights = fit.full_weights(fit.limiting, t) / volume
    return _normal(release, fit, _Sums(terms, words, weights, unknown, notes, reasons), target)


def estimate(release: Released, target: Target = "population") -> NormalEstimate:
    """Return the density at a few places of a release, real or simulated."""
    columns = _columns(release)
    side = SHOWN[len(columns)]
    sides = [one.lower + (one.upper - one.lower) * (np.arange(side) + 0.5) / side for one in columns]
    grid = np.stack([one.reshape(-1) for one in np.meshgrid(*sides, indexing="ij")], axis=1)
    beside = np.array([0.5 if one.kind == "date" else 0.0 for one in columns])
    return density(release, grid - beside, target=target)


def cdf(release: Released, at: Any, column: str | None = None, target: Target = "population") -> NormalEstimate:
    """Return the distribution function of a column of a release, real or simulated."""
    check_target(target)
    one, fit = _of_column(release, column, target)
    given = given_places(at, "cdf([0.2, 0.5])")
    # of whole numbers, days and multiples all of the value is at or below it
    ends = np.clip(one.after(given), one.lower, one.upper)
    weights, unknown = below(fit, one, _axis(release, one), ends)
    terms = tuple(f"{one.name}<={x:.6g}" for x in given)
    words = f"share of {who(release)} with {recorded_as(one.name, one.multiple_of)} at or below a value"
    return _normal(release, fit, _Sums(terms, words, weights, np.diag(unknown**2), _recorded(release, one)), target)


def moments(release: Released, column: str | None = None, target: Target = "population") -> NormalEstimate:
    """Return mean and variance of a column of a release, real or simulated."""
    check_target(target)
    one, fit = _of_column(release, column, target)
    (first, second), away = first_moments(fit, one, _axis(release, one))
    mean = float(first @ fit.shares)
    # around the mean the variance is linear: its derivative in the mean is 0
    turned = np.array([[1.0, 0.0], [-2 * mean, 1.0]]) * np.array([[one.length], [one.length**2]])
    shift = one.lower - (0.5 if one.kind == "date" else 0.0)
    variance = one.length**2 * (float(second @ fit.shares) - mean**2) - one.within
    values, weights = np.array([shift + one.length * mean, variance]), turned @ np.stack([first, second])
    words = f"mean and variance of {recorded_as(one.name, one.multiple_of)} of {who(release)}, within its bounds"
    terms, unknown = (f"mean of {one.name}", f"variance of {one.name}"), unknown_heaps(away @ turned.T)
    made = _normal(release, fit, _Sums(terms, words, weights, unknown, _recorded(release, one)), target)
    return NormalEstimate(
        release, made.title, made.estimand, made.terms, values, made.sampling, made.privacy, made.reasons,
        notes=made.notes, tested=False, target=target,
    )  # fmt: skip


def smooth_density(
    release: Released, column: str | None = None, smoothed: bool = False, target: Target = "population"
) -> SmoothDensity:
    """Return the density of one column of a release, real or simulated."""
    check_target(target)
    one, fit = _of_column(release, column, target, smoothed=smoothed)
    axis = _axis(release, one)
    limiting, untold = _limiting(fit, one, axis)
    curve, around = (KernelCurve(own, one.unit / one.length) for own in (fit, limiting))
    return SmoothDensity(
        release=release,
        target=target,
        column=one.name,
        kind=one.kind,
        units=axis.units,
        by=(),
        groups=("",),
        lower=one.lower,
        upper=one.upper,
        curves=(ProjectedCurve("kernel", curve, around),),
        sizes=np.array([fit.size]),
        reasons=(fit.reason,),
        notes=(_kernel(fit, one), *column_notes(one.name, axis.missing, "cell"), *recorded_notes(one.name, axis)),
        multiple_of=one.multiple_of,
        limits_of=_limits(limiting, one),
        exactly=smoothed,
        doubts=(in_units(limiting.doubts, one.lower, one.upper),),
        untold=(untold,),
        peaks=(in_units(limiting.peaks, one.lower, one.upper),),
    )


def joint_density(release: Released, smoothed: bool = False, target: Target = "population") -> JointDensity:
    """Return the joint density of a release, real or simulated."""
    check_target(target)
    fit = fitted(release, target, smoothed=smoothed)
    return JointDensity(release, target, _columns(release), JointKernels(fit))


# Parts --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Sums:
    """Weighted sums of the shares of all cells: their names, what they estimate, and weights, shape (n, cells).

    unknown: covariance of what is not known beside both errors, or None.  notes: on the column's values.  reasons: why
    a sum is not told, or None; empty where all are.
    """

    terms: tuple[str, ...]
    words: str
    weights: Array
    unknown: Array | None = None
    notes: tuple[str, ...] = ()
    reasons: tuple[str | None, ...] = ()


def _normal(release: Released, fit: KernelFit, sums: _Sums, target: Target) -> NormalEstimate:
    sampling, privacy = fit.covariances(sums.weights)
    sampling = sampling if sums.unknown is None else sampling + sums.unknown
    values = sums.weights @ fit.shares.reshape(-1)
    words, condition = sums.words, getattr(release.query, "where", None)
    words += f", where {condition}" if condition else ""
    words += f", of the {who(release)} of this table" if target == "table" else ""
    known = sums.reasons or (None,) * len(sums.terms)
    reasons, heading = tuple(fit.reason or reason for reason in known), title(release)
    notes = (*(() if fit.smoothed or fit.resolved else (TOO_WIDE,)), *sums.notes)
    return NormalEstimate(
        release, heading, words, sums.terms, values, sampling, privacy, reasons, notes, tested=False, target=target
    )


def _axes(release: Released) -> Sequence[Axis]:
    return getattr(release, "axes", ())


def _axis(release: Released, one: JointColumn) -> Axis:
    return _axes(release)[[name for name, _ in release.levels].index(one.name)]


def _recorded(release: Released, one: JointColumn) -> tuple[str, ...]:
    """Return notes on the values of a column, of which errors allow for declared heaps."""
    return recorded_notes(one.name, _axis(release, one), allowed=True)


def _columns(release: Released) -> tuple[JointColumn, ...]:
    each = zip(release.levels, _axes(release), strict=True)
    return tuple(
        JointColumn(name, axis.kind, *map(float, ends_of(axis)[[0, -1]]), multiple_of=axis.multiple_of or 0.0)
        for (name, _), axis in each
    )


def _of_column(
    release: Released, column: str | None, target: Target, *, smoothed: bool = False
) -> tuple[JointColumn, KernelFit]:
    """Return a column and the estimate of it alone; InferenceError I02, I05."""
    columns = _columns(release)
    names = tuple(one.name for one in columns)
    if column is None and len(names) > 1:
        text = f"the release has {len(names)} columns: which one?"
        raise InferenceError(text, code="I05", hint=f'"{names[0]}", or joint_density()', state=None)
    at = 0 if column is None else place_of(names, column)
    return columns[at], fitted(release, target, smoothed=smoothed).margin(at)


def _place(one: JointColumn, x: Array) -> Array:
    """Return places on [0, 1]; InferenceError I05 beyond the bounds."""
    t = (x + (0.5 if one.kind == "date" else 0.0) - one.lower) / (one.upper - one.lower)
    if not ((t >= 0) & (t <= 1)).all():
        text = f"places of {one.name!r} beyond its bounds, or not numbers."
        raise InferenceError(text, code="I05", hint=f"from {one.lower:g} to {one.upper:g}", state=None)
    return t


def _kernel(fit: KernelFit, one: JointColumn) -> str:
    released, chosen = (kernel.bandwidths[0] * (one.upper - one.lower) for kernel in (fit.released, fit.chosen))
    words = f"kernel of standard deviation {chosen:.3g}"
    return words if fit.smoothed else f"{words}; limits from one of {released:.3g}, which are less biased"


def _limits(fit: KernelFit, one: JointColumn) -> str:
    kernel = f"a kernel of standard deviation {fit.released.bandwidths[0] * (one.upper - one.lower):.3g}"
    return f"the density smoothed by {kernel}" if fit.smoothed else f"the density as far as {kernel} resolves it"


def _hidden(fit: KernelFit, one: JointColumn, axis: Axis) -> str | None:
    """Return why no limits of a column's density are told, for heaps; fit: of the column alone."""
    instead = f"a bandwidth of {WIDER * (axis.heaped_at or 0):,.6g} or more"
    return hidden_by_heaps(one.name, axis, fit.released.bandwidths[0] * one.length, instead)


def _limiting(fit: KernelFit, one: JointColumn, axis: Axis) -> tuple[KernelFit, str | None]:
    """Return what limits of a column's density are made of, and why none are told, or None; fit: of it alone.

    Where heaps would show in the kernel, cells of whole heaps with a kernel as wide: they have the rows that they would
    have without heaps.
    """
    hidden = None if fit.smoothed else _hidden(fit, one, axis)
    if hidden is None:
        return fit, None
    whole = fit.of_whole_heaps(ends_of(axis), axis.heaped_at or 0.0)
    return (fit, hidden) if whole is None else (whole, None)


def _unresolved(
    release: Released, fit: KernelFit, columns: tuple[JointColumn, ...], t: Array
) -> tuple[str | None, ...]:
    """Return why the density is not told at places, shape (n, columns), or None."""
    found: list[str | None] = [None] * len(t)
    for at, one in enumerate(columns):
        own = fit.margin(at)
        hidden = _hidden(own, one, _axis(release, one))
        if len(columns) == 1:
            own, hidden = _limiting(own, one, _axis(release, one))
        # of several columns what a doubt hides is in no error
        inside = [any(a <= x <= b for a, b in (own.peaks if len(columns) == 1 else own.doubts)) for x in t[:, at]]
        found = [was or hidden or (UNRESOLVED if doubt else None) for was, doubt in zip(found, inside, strict=True)]
    return tuple(found)
