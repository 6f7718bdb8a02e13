"""Gini coefficients and Lorenz curves from the cells of a histogram, corrected for binning.

With D(x) the mean distance of the rows from x, T the mean of D over the rows and m the mean, the Gini coefficient is
G = T / 2m.  The Lorenz curve at p, the share of the sum that the lowest part p of the rows has, is L(p) = (mean of
min(x, q) - (1 - p) q) / m with q the p-quantile, where its derivative in q is 0: an error of q is of second order.
Errors are by the delta method, from the influence of each cell as those of moments (`cell_moments`): of a row at x it
is D(x) / m - G x / m, and (min(x, q) - L x) / m, less their means, over the number of rows.
Sources: [Gastwirth 1972] (both from grouped values), [Hampel 1974] (influence); theory §7.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Final

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.estimates.bins import axis_of
from tacit.estimates.terms import Target, check_target
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.within_bins.cell_points import Points
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise, Thresholds
from tacit.method.histogram.estimate_from_cells.cell_groups import (
    By,
    GroupCounts,
    group_counts,
    places,
    unclear,
    words,
)
from tacit.method.histogram.estimate_from_cells.cell_moments import (
    GroupNumbers,
    clear_variance,
    derived,
    points_of,
    within_moved,
)
from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived
from tacit.release.document import Released

ROUGH: Final = 0.1
"""A ratio to the mean is given only if the noise of the mean is at most this part of it."""
FIRST: Final = "the lowest {:g} of the rows lie in the first bin: what they have of the sum is not known"
FINE: Final = 128
"""Values of a cell by which real numbers, and more values than these, are represented."""
HEAPED: Final = 1.5
"""An end cell with more rows than so many times its neighbour's, by width, may have a heap at its bound."""


def gini(release: Released, column: str, by: By = None, target: Target = "population") -> Derived:
    """Return the Gini coefficient of a column by group; see `Statistics.gini`."""
    check_target(target)
    made = _sums(release, column, by)
    parts = [_gini(made.axes[0], counts, made.noise) for counts in made.regular]
    return _joined(made, parts, target, f"Gini coefficient of {column}", ("gini",))


def lorenz(
    release: Released,
    column: str,
    at: float | Sequence[float],
    by: By = None,
    target: Target = "population",
) -> Derived:
    """Return the Lorenz curve of a column at some shares of the rows, by group; see `Statistics.lorenz`."""
    check_target(target)
    shares = _shares(at)
    made = _sums(release, column, by)
    parts = [_lorenz(made.axes[0], counts, made.noise, shares) for counts in made.regular]
    what = f"Lorenz curve of {column}, the share of its sum that the lowest part of the {{}} has"
    return _joined(made, parts, target, what, tuple(f"{p:g}" for p in shares))


def _sums(release: Released, column: str, by: By) -> GroupCounts:
    """Return a column's counts; InferenceError I41, I50, I99 for days, or bounds that allow values below 0."""
    made = group_counts(release, (column,), by)
    axis = made.axes[0]
    if axis_of(release, column).kind == "date":
        text = f"{column!r} holds days, whose sum means nothing."
        raise InferenceError(text, code="I99", hint="a column of amounts", state=None)
    low = float(_ends(axis)[0][0]) if axis.kind == "continuous" else float(places(axis).min())
    if low < 0:
        text = f"{column!r} may be below 0, down to {low:,g}: shares of its sum are not between 0 and 1."
        raise InferenceError(text, code="I99", hint="a column with lower bound 0", state="It takes another release.")
    places(axis)
    return made


def _shares(at: float | Sequence[float]) -> tuple[float, ...]:
    """Return shares of rows in (0, 1); InferenceError I51."""
    given = [at] if isinstance(at, int | float) else list(at)
    for one in given:
        if isinstance(one, bool) or not isinstance(one, int | float) or not 0 < one < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            text = f"{described(one)} is no share of rows between 0 and 1."
            raise InferenceError(text, code="I51", hint="at=[0.5, 0.9]", state=None)
    if not given:
        raise InferenceError("no share of rows is asked for.", code="I51", hint="at=[0.5, 0.9]", state=None)
    return tuple(float(one) for one in given)


def _joined(
    made: GroupCounts, parts: Sequence[GroupNumbers], target: Target, what: str, own: tuple[str, ...]
) -> Derived:
    from tacit.estimates.wording import who

    said = what.format(who(made.release))
    p = len(own)
    heading = said.partition(",")[0] + (f" by {' and '.join(made.by)}" if made.by else "")
    return derived(
        made,
        parts,
        target,
        heading,
        words(made, said, target, inside=True),
        own,
        ("plain",) * p,
        (np.zeros(p), np.ones(p)),
        told=False,
    )


@dataclass(frozen=True)
class ValuedCounts:
    """A group's counts and what both numbers use of them.

    points: of the cells; x: their values, weights: their rows, shape (points,).  size: rows; mean: of x.  few: why its
    rows are too few, or None.
    """

    axis: CellAxis
    counts: Array
    noise: Noise
    points: Points
    x: Array
    weights: Array
    size: float
    mean: float
    few: str | None


def _group(axis: CellAxis, counts: Array, noise: Noise) -> ValuedCounts:
    points = points_of((axis,), counts, noise)
    x = points.position(points.cells.axes[0])[0]
    weights = points.spread(counts)
    size = max(float(counts.sum()), 1.0)
    mean = max(float(weights @ x) / size, 1e-12)
    return ValuedCounts(
        axis, counts, noise, points, x, weights, size, mean, unclear(float(counts.sum()), axis.bins, noise)
    )


def _ratio(group: ValuedCounts, numerators: Array, numbers: Array) -> GroupNumbers:
    """Return numbers that are ratios to the mean.

    numerators: influences of what is divided by the mean at points, but for a constant, shape (points, p).  numbers:
    shape (p,), before the correction for the noise of both.
    """
    both = np.concatenate([group.x[:, None], numerators], axis=1)
    moved = within_moved(group.points, both)
    level = (group.points.gather(both).T @ group.counts) / group.size
    each = (moved.influence - level[:, None]) / group.size
    # of the ratio A / m: (influence of A less the ratio times that of m) over m
    turned = np.column_stack([-numbers, np.eye(len(numbers))]) / group.mean
    noise = group.noise.covariance(each)
    # a ratio of noisy numbers is off by its value times the variance of the divisor, less the covariance
    bias = (numbers * noise[0, 0] - noise[0, 1:]) / group.mean**2
    own, p = float(np.sqrt(max(float(noise[0, 0]), 0.0))), len(numbers)
    rough = own > ROUGH * group.mean
    reason = group.few or (f"mean {group.mean:,.3g} with noise of {own:,.3g}: too rough" if rough else None)
    clear = clear_variance(group.mean, float(noise[0, 0]), float(group.counts @ each[0] ** 2), ROUGH)
    chosen = Thresholds(*(np.full((1, p), one) for one in clear))
    unknown, values = turned @ moved.unknown @ turned.T / group.size**2, numbers - bias
    for at in (0, -1):
        # as if none, or all, of what is too much lay at the bound: the middle, and half of the difference as an error
        half = turned @ _heaped(group, both, at) / group.size / 2
        values, unknown = values + half, unknown + np.outer(half, half)
    return GroupNumbers(values, turned @ each, unknown, (reason,) * p, chosen)


def _heaped(group: ValuedCounts, values: Array, at: int) -> Array:
    """Return how sums of values at points, (points, p), move if what an end cell has too many lies at its bound.

    Zeros, or values clamped to a bound, are rows that a neighbour of half as many again would not let expect.
    """
    low, high = _ends(group.axis)
    widths, K = high - low, len(low)
    if K < 2 or not (widths > 0).all():
        return np.zeros_like(values[0])
    own, near = (0, 1) if at == 0 else (K - 1, K - 2)
    usual = HEAPED * max(float(group.counts[near]), 0.0) * widths[own] / widths[near]
    excess = max(0.0, float(group.counts[own]) - usual - 2 * float(np.sqrt(group.noise.cell)))
    each = len(group.x) // K
    inside = slice(own * each, (own + 1) * each)
    x, v = group.x[inside], values[inside]
    slope = (v[-1] - v[0]) / max(float(x[-1] - x[0]), 1e-300)
    end = low[own] if at == 0 else high[own]
    return np.asarray(excess * (float(end) - float(x.mean())) * slope, dtype=np.float64)


def _gini(axis: CellAxis, counts: Array, noise: Noise) -> GroupNumbers:
    group = _group(axis, counts, noise)
    far, within = _distances(group.x, group.weights) / group.size, _apart_within(axis)
    # squares of noise: of a cell with itself, and where the projection makes noises correlated, with all others
    squares, centers = noise.cell * float(within.sum()), places(axis)
    if noise.projected:
        squares -= noise.cell / noise.size * float(_distances(centers, np.ones_like(centers)).sum())
    # rows of one cell are further apart than its three points are
    inside = float(
        _apart_of_points(group) @ np.maximum(within / np.maximum(_apart_of_even_points(axis), 1e-300) - 1, -1)
    )
    apart = (float(group.weights @ far) + (inside - squares) / group.size) / group.size
    # of half the mean distance: D less its mean
    return _ratio(group, far[:, None], np.array([apart / (2 * group.mean)]))


def _lorenz(axis: CellAxis, counts: Array, noise: Noise, shares: tuple[float, ...]) -> GroupNumbers:
    group = _group(axis, counts, noise)
    found, above = list[float](), list[Array]()
    quantiles = [_quantile(axis, counts, p) for p in shares]
    for p, (at, q) in zip(shares, quantiles, strict=True):
        above.append(_least(group, at, q))
        found.append((float(group.weights @ above[-1]) / group.size - (1 - p) * q) / group.mean)
    made = _ratio(group, np.stack(above, axis=1), np.array(found))
    # within the first cell nothing is known of a curve whose rows may all be at its lower end
    end = float(_ends(axis)[1][0])
    wide = axis.kind == "continuous" and axis.within.any()
    reasons = tuple(
        why or (FIRST.format(p) if wide and q <= end else None)
        for why, p, (_, q) in zip(made.reasons, shares, quantiles, strict=True)
    )
    return replace(made, reasons=reasons)


def _distances(x: Array, weights: Array) -> Array:
    """Return the weighted sum of distances from each place to all places, shape of x, which increases.

    >>> _distances(np.array([0.0, 1.0, 3.0]), np.array([1.0, 1.0, 2.0]))
    array([7., 5., 5.])
    """
    order = np.argsort(x, kind="stable")
    places_, w = x[order], weights[order]
    below, sums = np.cumsum(w), np.cumsum(w * places_)
    out = np.empty_like(x)
    out[order] = places_ * (2 * below - below[-1]) - 2 * sums + sums[-1]
    return out


def _apart_within(axis: CellAxis) -> Array:
    """Return the mean distance of two rows that are spread evenly over one cell's values, shape (bins,).

    A third of the width h; of h / step equally likely values (h**2 - step**2) / 3 h.
    """
    return (axis.widths**2 - axis.step**2) / (3 * axis.widths) if axis.kind == "continuous" else np.zeros(axis.bins)


def _apart_of_points(group: ValuedCounts) -> Array:
    """Return the weighted sum of distances between the points of each cell, shape (bins,)."""
    x, w = (one.reshape(group.axis.bins, -1) for one in (group.x, group.weights))
    return np.asarray(np.einsum("ki,kj,kij->k", w, w, np.abs(x[:, :, None] - x[:, None, :])), dtype=np.float64)


def _apart_of_even_points(axis: CellAxis) -> Array:
    """Return the mean distance of two of a cell's points with Gauss's weights, which stand for an even density.

    The outer points are sqrt(9/5) standard deviations from the middle, with weights 5/18, 8/18 and 5/18.
    """
    return 65 / 81 * np.sqrt(9 / 5) * axis.within if axis.kind == "continuous" else np.zeros(axis.bins)


def _ends(axis: CellAxis) -> tuple[Array, Array]:
    """Return the least and the greatest value of each cell, shape (bins,); of levels their numbers twice."""
    if axis.kind == "continuous":
        return axis.bounds[:-1] + axis.step / 2, axis.last[1:]
    return axis.centers, axis.centers


def _values(axis: CellAxis, at: int) -> tuple[Array, bool]:
    """Return values that rows of a cell are spread evenly over, and whether they are all that it has.

    More than FINE are represented by FINE, as real numbers are.
    """
    low, high = (float(end[at]) for end in _ends(axis))
    many = round((high - low) / axis.step) + 1 if axis.step else 1 if high <= low else FINE + 1
    if many <= FINE:
        return np.asarray(low + axis.step * np.arange(many), dtype=np.float64), True
    return np.asarray(low + (high - low) * (np.arange(FINE) + 0.5) / FINE, dtype=np.float64), False


def _quantile(axis: CellAxis, counts: Array, p: float) -> tuple[int, float]:
    """Return the cell of a quantile and its value, rows spread evenly over cells; counts below 0 are none."""
    kept = np.maximum(counts, 0.0)
    cumulative = np.cumsum(kept)
    if cumulative[-1] <= 0:
        return axis.bins - 1, float(_ends(axis)[1][-1])
    at = int(np.searchsorted(cumulative, p * float(cumulative[-1])))
    part = float((p * cumulative[-1] - cumulative[at] + kept[at]) / max(float(kept[at]), 1e-12))
    values, separate = _values(axis, at)
    if separate:
        # the first value that has the share: between two of them the curve would be below its own
        return at, float(values[min(int(part * len(values)), len(values) - 1)])
    low, high = _ends(axis)
    return at, float(low[at] + (high[at] - low[at]) * part)


def _least(group: ValuedCounts, at: int, q: float) -> Array:
    """Return min(x, q) at the points; q lies in the cell `at`.

    There, the quadratic nearest to it: its mean at the points is that of min(x, q) over a density with their mean and
    variance, so that what is not known of the density within the cell counts.
    """
    out = np.minimum(group.x, q)
    each, (values, _) = len(group.x) // group.axis.bins, _values(group.axis, at)
    inside = slice(at * each, (at + 1) * each)
    if len(values) > 1:
        middle, reach = float(values.mean()), float(np.ptp(values)) / 2
        powers = np.arange(min(len(values), 3))
        curve = np.linalg.lstsq(((values - middle) / reach)[:, None] ** powers, np.minimum(values, q), rcond=None)[0]
        out[inside] = ((group.x[inside] - middle) / reach)[:, None] ** powers @ curve
    return out
