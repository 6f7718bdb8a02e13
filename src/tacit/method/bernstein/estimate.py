"""The release of a distribution function on a lattice, and the Bernstein polynomials that it makes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, Final, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.densities.column_values import JointColumn, values_at
from tacit.estimates.densities.local_doubts import in_units
from tacit.estimates.densities.projected_curve import ProjectedCurve
from tacit.estimates.densities.recorded_notes import recorded_as, recorded_notes
from tacit.estimates.densities.smooth_density import SmoothDensity
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import Target, check_target, given_places
from tacit.estimates.wording import column_notes, title, who
from tacit.fits.within_bins.cell_shapes import UNTOLD
from tacit.method.bernstein.estimate_lattice import RICHER, BernsteinCurve, LatticeDoubts, LatticeFit, fitted, rising
from tacit.method.bernstein.estimate_whole_heaps import SAID, between_heaps
from tacit.method.bernstein.query import MOST_ORDER, Bernstein
from tacit.method.shared.iterated_operator import slopes, weights
from tacit.method.shared.numeric_columns import support
from tacit.release.document import Release, Released
from tacit.release.parts import Variable

UNRESOLVED: Final = "a peak of the lattice that the polynomial does not resolve: a higher degree"
"""Why the density is not told at a value."""
SHOWN: Final = 21
"""Values of an estimate that names none."""


@shown_by_summary
@dataclass(frozen=True, repr=False)
class BernsteinRelease(Release):
    """A release of Bernstein.

    >>> import tacit as tc
    >>> rng = np.random.default_rng(0)
    >>> curator = tc.Curator({"x": rng.beta(2, 5, 5_000)}, tc.Schema({"x": tc.Real(0, 1)}), budget=tc.Budget(rho=1))
    >>> release = curator.release(tc.Bernstein("x", degree=20), rho=0.5)
    >>> found = release.cdf([0.2, 0.5])
    >>> found.terms, bool((found.std_errors < 0.02).all())
    (('x<=0.2', 'x<=0.5'), True)
    >>> bool(0.2 < release.smooth_density().quantile(0.5) < 0.35)
    True
    """

    kind: ClassVar[str] = "bernstein"

    @property
    def degree(self) -> int:
        """The degree of the polynomial, which is that of the lattice."""
        return int(self.parts[0].parameters["degree"])

    def cdf(self, at: Any, *, order: int | None = None, target: Target = "population") -> NormalEstimate:
        """Return the share of rows at or below values of the column, with both errors and their covariances.

        at: numbers within the bounds, days since 1970-01-01 for dates.  order: of the iterated operator, the question's
        where none is given; any costs nothing.  Limits are of the polynomial, which the distribution function differs
        from by about degree ** -order where it is smooth, and by more at a jump.
        InferenceError I05 (more than 1,000 values, none, or no numbers; the order), I09 (target).
        """
        return cdf(self, at, order, target)

    def density(self, at: Any, *, order: int | None = None, target: Target = "population") -> NormalEstimate:
        """Return the density at values of the column, per unit: the polynomial's derivative; errors as for `cdf`."""
        return density(self, at, order, target)

    def estimate(self, target: Target = "population") -> NormalEstimate:
        """Return the distribution function at 21 values spread over the range; InferenceError I09 for the target."""
        return estimate(self, target)

    def smooth_density(self, *, order: int | None = None, target: Target = "population") -> SmoothDensity:
        """Return the density as a curve with bands, made to be one, with quantiles and synthetic values.

        InferenceError I05 (order), I09 (target).
        """
        return smooth_density(self, order, target)

    def summary(self, level: float = 0.95) -> Table:
        """Return the distribution function as a table; InferenceError I01."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the density; InferenceError I20 without matplotlib."""
        return self.smooth_density().plot(ax)


def cdf(release: Released, at: Any, order: int | None = None, target: Target = "population") -> NormalEstimate:
    """Return the distribution function of a release, real or simulated."""
    check_target(target)
    fit, one, h = fitted(release, target), _variable(release), _order(release, order)
    given = given_places(at, "cdf([0.2, 0.5])")
    # of whole numbers, days and multiples all of the value is at or below it
    ends = _column(one).after(given)
    places = _places(one, ends)
    over = weights(fit.degree, h, places)
    if one.heaped_at is not None:
        over, unknown = _with_heaps(fit, h, one, ends, one.heaped_at)
    else:
        unknown = _off(fit, fit.doubts(h), over, weights, places, fit.shapes.below)
        unknown = np.hypot(unknown, fit.hidden_below(places, over @ fit.values))
    terms = tuple(f"{one.name}<={x:.6g}" for x in given)
    words = f"share of {who(release)} with {recorded_as(one.name, one.multiple_of)} at or below a value"
    sums = _OfLattice(terms, words, over, recorded_notes(one.name, one, allowed=True), unknown)
    return _normal(release, fit, h, sums, target)


def density(release: Released, at: Any, order: int | None = None, target: Target = "population") -> NormalEstimate:
    """Return the density of a release, real or simulated."""
    check_target(target)
    fit, one, h = fitted(release, target), _variable(release), _order(release, order)
    given, (low, high) = given_places(at, "cdf([0.2, 0.5])"), support(one)
    places = _places(one, given + (0.5 if one.kind == "date" else 0.0))
    terms = tuple(f"{one.name}={x:.6g}" for x in given)
    words = f"density of {recorded_as(one.name, one.multiple_of)}: share of {who(release)} per unit"
    cells, hidden = between_heaps(fit, one)
    if cells is None:
        over, doubts = slopes(fit.degree, h, places), fit.doubts(h)
        unknown = _off(fit, doubts, over, slopes, places, fit.shapes.density)
        unknown = np.maximum(unknown, fit.hidden(places))
    else:
        over, unknown, doubts = cells.weights(places), cells.unknown(places), LatticeDoubts()
    sums = _OfLattice(
        terms,
        words,
        over / (high - low),
        recorded_notes(one.name, one),
        unknown / (high - low),
        _unresolved(doubts, hidden, places),
    )
    return _normal(release, fit, h, sums, target)


def estimate(release: Released, target: Target = "population") -> NormalEstimate:
    """Return the distribution function of a release, real or simulated, at values spread over its range."""
    one = _variable(release)
    at = np.linspace(one.lower, one.upper, SHOWN)
    return cdf(release, np.unique(values_at(_column(one), at) if one.kind == "real" else np.rint(at)), target=target)


def smooth_density(release: Released, order: int | None = None, target: Target = "population") -> SmoothDensity:
    """Return the density of a release, real or simulated, as a curve."""
    check_target(target)
    fit, one, h = fitted(release, target), _variable(release), _order(release, order)
    lower, upper = support(one)
    curve = BernsteinCurve(fit, h)
    cells, hidden = between_heaps(fit, one)
    said = (_polynomial(fit, h), *_crowded(fit), *column_notes(one.name, one.missing), *recorded_notes(one.name, one))
    around, doubts = (curve, curve.doubts) if cells is None else (cells.limits, LatticeDoubts())
    return SmoothDensity(
        release=release,
        target=target,
        column=one.name,
        kind=one.kind,
        units=one.units,
        by=(),
        groups=("",),
        lower=lower,
        upper=upper,
        curves=(ProjectedCurve("Bernstein", curve, around),),
        sizes=np.array([fit.size]),
        reasons=(fit.reason,),
        notes=said,
        multiple_of=one.multiple_of or 0.0,
        limits_of=f"the derivative of the {_polynomial(fit, h)}" if cells is None else SAID,
        doubts=(in_units(doubts.ranges, lower, upper),),
        peaks=(in_units(doubts.peaks, lower, upper),),
        untold=(hidden,),
        averaged=(cells is not None,),
    )


# Parts --------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _OfLattice:
    """Weighted sums of lattice values: their names, what they estimate, and weights, shape (n, k + 1).

    notes: on the column's values.  unknown: standard deviations of what is not known beside both errors, shape (n,).
    reasons: why a sum is not told, or None; empty where all are.
    """

    terms: tuple[str, ...]
    words: str
    weights: Array
    notes: tuple[str, ...]
    unknown: Array
    reasons: tuple[str | None, ...] = ()


def _off(fit: LatticeFit, doubts: LatticeDoubts, over: Array, made: Any, places: Array, shapes: Any) -> Array:
    """Return what sums of lattice values may be off by; made: weights of an order; shapes: weights of shares."""
    if not doubts.misfit:
        return np.zeros(len(places))
    return np.sqrt(doubts.misfit) * fit.beside(over, made(fit.degree, RICHER, places), *shapes(places))


def _with_heaps(fit: LatticeFit, order: int, one: Variable, ends: Array, heap: float) -> tuple[Array, Array]:
    """Return weights of lattice values in shares below places, and what is not known of these for declared heaps.

    Halfway between two heaps the polynomial, which spreads both alike, is what it is; of the rows in between any share
    may be at the heap.
    """
    low, high = support(one)
    nearest = np.clip(np.floor(ends / heap + 0.5), np.ceil(low / heap), np.floor(high / heap)) * heap
    edges = np.clip(np.stack([nearest - heap / 2, nearest + heap / 2]), low, high)
    here, left, right = (weights(fit.degree, order, _places(one, at)) for at in (ends, *edges))
    made = rising(fit.values)
    each = np.maximum((right - left) @ made, 0.0)
    smooth = np.clip(np.divide((here - left) @ made, each, out=np.zeros(len(ends)), where=each > 0), 0.0, 1.0)
    inside, fine = (ends >= low) & (ends < high), 1e-9 * heap
    least = np.where(inside, np.minimum(smooth, ends > nearest + fine), smooth)
    most = np.where(inside, np.maximum(smooth, ends >= nearest - fine), smooth)
    unknown = each * (most - least) / 2
    taken = left + ((least + most) / 2)[:, None] * (right - left)
    return np.where((unknown > 0)[:, None], taken, here), unknown


def _unresolved(doubts: LatticeDoubts, hidden: str | None, places: Array) -> tuple[str | None, ...]:
    """Return why the density is not told at places of [0, 1], or None; hidden: why it is told nowhere."""
    inside = [any(a <= t <= b for a, b in doubts.peaks) for t in places.tolist()]
    return tuple(hidden or (UNRESOLVED if doubt else None) for doubt in inside)


def _normal(release: Released, fit: LatticeFit, order: int, sums: _OfLattice, target: Target) -> NormalEstimate:
    over, condition = sums.weights, getattr(release.query, "where", None)
    words = sums.words + (f", where {condition}" if condition else "")
    words += f", of the {who(release)} of this table" if target == "table" else ""
    sampling = over @ fit.sampling @ over.T + np.diag(sums.unknown**2)
    privacy = over @ fit.privacy @ over.T
    reasons = tuple(fit.reason or why for why in sums.reasons or (None,) * len(sums.terms))
    notes = (f"limits are of the {_polynomial(fit, order)}", *_crowded(fit), *sums.notes)
    values: Array = over @ fit.values
    return NormalEstimate(
        release, title(release), words, sums.terms, values, sampling, privacy, reasons, notes,
        tested=False, target=target,
    )  # fmt: skip


def _polynomial(fit: LatticeFit, order: int) -> str:
    return f"Bernstein polynomial of degree {fit.degree} and order {order}"


def _crowded(fit: LatticeFit) -> tuple[str, ...]:
    """Return a note on places of the lattice between which so many rows are that their shape is not known."""
    part, most = float(fit.full.max()), float(fit.shapes.shares.max())
    said = f"about {100 * most:.0f}% of all rows lie in one {fit.degree}th of the range, where any shape with one hill"
    return (f"{said} is allowed for; bounds nearer the data, or a higher degree",) if part >= UNTOLD else ()


def _variable(release: Released) -> Variable:
    (one,) = cast("tuple[Variable, ...]", getattr(release, "variables", ()))
    return one


def _column(one: Variable) -> JointColumn:
    return JointColumn(one.name, one.kind, *support(one), one.multiple_of or 0.0)


def _order(release: Released, order: int | None) -> int:
    if order is None:
        return cast(Bernstein, release.query).order
    if isinstance(order, bool) or not isinstance(order, int) or not 1 <= order <= MOST_ORDER:  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"order is {described(order)}: not from 1 to {MOST_ORDER}."
        raise InferenceError(text, code="I05", hint="order=2", state=None)
    return order


def _places(one: Variable, ends: Array) -> Array:
    """Return places on [0, 1]; below the support the share is 0, above it 1."""
    low, high = support(one)
    return np.clip((ends - low) / (high - low), 0.0, 1.0)
