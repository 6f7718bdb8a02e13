"""Totals over parties: counts and sums are added, and so are the variances of their noises.  Functions of arrays.

Unlike in a party's own estimate nothing is clipped before it is added: a sum of many clipped numbers is biased.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.column_terms import noise_of_squares_about_mean
from tacit.estimates.noisy_terms.interval_inversion import FLOOR, CountInversion
from tacit.estimates.noisy_terms.noisy_moments import integers, moments
from tacit.estimates.noisy_terms.noisy_totals import ColumnTotals, column_totals
from tacit.estimates.total_errors.error_laws import halfwidth
from tacit.noise.laws import Law
from tacit.pooling.common_value import law
from tacit.pooling.noise_sum import NoiseSum, laplace_share, sum_of_noises
from tacit.release.document import Released
from tacit.release.parts import Grid, Part


@dataclass(frozen=True)
class PartyTotals:
    """The totals of one party.

    value, sampling (estimated sampling variance), own (noise variance of `sampling`), noise (noise variance of
    `value`), fourth (sum of squared variances of its Laplace noises, see `laplace_share`): shape (T,).  largest: the
    largest contribution of a row in magnitude.  rows: the public number of rows, or None.  whole: whether the totals
    are numbers of rows.
    """

    value: Array
    sampling: Array
    own: Array
    noise: Array
    fourth: Array
    largest: float
    rows: int | None
    whole: bool
    law: Law | None = None
    """The noise of a count of rows that all count fully; None otherwise."""


@dataclass(frozen=True)
class Totals:
    """Totals over all parties, shape (T,): value, variance (sampling), noise (privacy), excess (see `Pooled`).

    low, high: smallest and largest possible total.  rows, whole: as in `PartyTotals`.  law: of the summed
    noises, if known.
    """

    value: Array
    variance: Array
    noise: Array
    excess: Array
    rows: int | None
    whole: bool
    low: float
    high: float
    law: Law | None = None

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return lower and upper limits, shape (T,): for numbers of rows exact inversion, else normal plus Laplace."""
        # a variance of 0 is that of target="table", where noise is the only error
        if self.whole and self.variance.any():
            found = [self._counted(t, level) for t in range(len(self.value))]
            return np.array([one[0] for one in found]), np.array([one[1] for one in found])
        half = halfwidth(level, *law(self.variance, self.noise, self.excess))
        return np.clip(self.value - half, self.low, self.high), np.clip(self.value + half, self.low, self.high)

    def _counted(self, t: int, level: float) -> tuple[float, float]:
        """Invert the law of total t: binomial over all rows (Poisson where their number is private) plus the noises.

        Shares differ between parties, but a sum of binomials varies less than the binomial with their mean share.
        """
        noise: Any = self.law
        if noise is None:
            wide = max(float(self.noise[t]), 1e-12)
            # stands in for laws that are not known: the same variance and the same excess
            noise = NoiseSum(Fraction(wide**0.5), Fraction(min(float(self.excess[t]) / wide, 1.0)))
        factor = 1.0 if self.rows is None else float(self.rows)
        low, high = CountInversion(np.rint(self.value[[t]]), self.rows, noise, 0.0, factor).interval(level)
        return float(low[0]), float(high[0])


def party_totals(release: Released, part: Part, sampled: bool) -> PartyTotals:
    """Return the unclipped totals of a part of a release of Count or Sum."""
    counted = part.form in ("count", "counted")
    cap = 1.0 if part.weight is None else part.weight.upper
    if counted:
        noisy = moments(part.form, part.parameters, integers(part), release.rows)
        value, squares = cap * noisy.size, cap**2 * noisy.squares[0]
        made = ColumnTotals(value, squares, cap * noisy.loadings[0], cap**2 * noisy.square_loadings[0])
    else:
        made = column_totals(part, integers(part), release.rows)
    value, squares, load, square_load = made.value, made.squares, made.load, made.square_load
    variance = part.law.variance()
    each = load**2 * variance
    noise = np.full_like(value, each.sum())
    fourth = np.full_like(value, laplace_share(part.law) ** 2 * (each**2).sum())
    own = np.full_like(value, (square_load**2).sum() * variance)
    rows = release.rows
    # without a public number of rows it is random too, and sum x**2 estimates the variance of the total
    if rows is not None:
        # n times the sample variance; the noise's variance is what value**2 has too much on average
        squares = (squares - (value**2 - noise) / rows) * rows / max(rows - 1, 1)
        own = noise_of_squares_about_mean(square_load, load, value / rows, rows, part.law)
    grid = part.grid
    largest = cap * (1.0 if grid is None else max(abs(grid.lower), abs(grid.upper)))
    zero = np.zeros_like(value)
    whole = part.weight is None and (counted or cast(Grid, part.grid).kind == "boolean")
    sampling = (squares, own) if sampled else (zero, zero)
    law = part.law if part.form == "count" and part.parameters.get("share", 1) == 1 else None
    return PartyTotals(value, *sampling, noise, fourth, largest, rows, whole, law)


def average_totals(found: Sequence[PartyTotals]) -> PartyTotals:
    """Merge totals of the same people from several releases: noises are averaged, the sampling error counts once."""
    if len(found) == 1:
        return found[0]
    # inverse-variance weights: only the noises differ between releases about the same people
    worth = 1 / np.array([one.noise for one in found])
    share = worth / worth.sum(axis=0)

    def mean(values: list[Array], power: int = 1) -> Array:
        return (share**power * np.array(values)).sum(axis=0)

    return replace(
        found[0],
        value=mean([one.value for one in found]),
        sampling=mean([one.sampling for one in found]),
        own=mean([one.own for one in found], 2),
        noise=mean([one.noise for one in found], 2),
        fourth=mean([one.fourth for one in found], 4),
        rows=found[0].rows if len({one.rows for one in found}) == 1 else None,
        law=None,
    )


def totals(found: Sequence[PartyTotals], part: Part, sampled: bool) -> Totals:
    """Add parties' totals; the sampling variance is at least FLOOR standard deviations of its own noise."""
    public = all(one.rows is not None for one in found)
    rows = sum(cast(int, one.rows) for one in found) if public else None
    value, noise = (np.sum([getattr(one, name) for one in found], axis=0) for name in ("value", "noise"))
    fourth = np.sum([one.fourth for one in found], axis=0)
    low, high = _bounds(part, found[0], rows)
    # the sum is clipped once, see above
    value = np.clip(value, low, high)
    variance = np.zeros_like(value)
    if sampled:
        own = np.sqrt(np.sum([one.own for one in found], axis=0))
        variance = np.maximum(np.sum([one.sampling for one in found], axis=0), FLOOR * own)
        if found[0].whole:
            # Poisson, or binomial over all rows
            variance = value if rows is None else value * (1 - value / rows)
        elif rows is not None:
            # each row's variance is at most its largest square
            variance = np.minimum(variance, rows * found[0].largest ** 2)
    laws = Counter(one.law for one in found if one.law is not None)
    all_known = sum(laws.values()) == len(found)
    whole = sum_of_noises([(law, 1, many) for law, many in laws.items()]) if all_known else None
    return Totals(value, variance, noise, np.sqrt(fourth), rows, found[0].whole, low, high, whole)


def _bounds(part: Part, one: PartyTotals, rows: int | None) -> tuple[float, float]:
    """Return the smallest and largest possible total: at least 0 where no value is negative, at most 0 likewise."""
    lower, upper = (
        (0.0, 1.0)
        if part.grid is None or part.form in ("count", "counted")
        else (
            part.grid.lower,
            part.grid.upper,
        )
    )
    top = np.inf if rows is None else rows * one.largest
    return (0.0 if lower >= 0 else -top), (0.0 if upper <= 0 else top)
