"""Noisy integers of one column -> its terms: estimates, variances, noise loadings, intervals.  Pure array functions.

Shapes: m cells, k integers a cell.  `rows` is the public number of rows of the whole table, or None under add-remove.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.interval_inversion import (
    FLOOR,
    CountInversion,
    Inversion,
    LinearInversion,
    RatioInversion,
    SpreadInversion,
    central,
)
from tacit.estimates.noisy_terms.noisy_deviations import deviation_terms
from tacit.estimates.noisy_terms.noisy_moments import BINARY, Moments, block_moments, integers, moments, powers
from tacit.estimates.noisy_terms.noisy_totals import column_totals
from tacit.estimates.terms import ColumnTerms, Target
from tacit.estimates.total_errors.error_laws import halfwidth, split
from tacit.noise.laws import Law, rescaled
from tacit.release.parts import OF_BLOCKS, Grid, Part

ANSWER: Final = 0.98
"""Answers are given where a noisy size exceeds this point of its noise; their intervals hold given that they are.

A group to which nobody belongs has an answer in 2 %; one of three rows in about 80 % where the noise has a standard
deviation of one row (`benchmarks/groups_of_nobody.py`).  The higher the point, the more an answer says of the noise and
the less of the group, and the wider its interval.
"""
ENOUGH: Final = 0.84
"""Where a number takes several rows, the noisy size is above them by this point of its noise, too."""


def terms_of(
    kind: str,
    part: Part,
    *,
    rows: int | None,
    grouped: bool,
    target: Target,
    cells: Array | None = None,
    what: str = "rows",
) -> ColumnTerms:
    """Return the terms of one part of a release; `kind` is the query's class: Count, Histogram, Sum, Mean or Variance.

    cells: used in place of the part's integers, shape (m, k); simulations pass repetitions as further cells.
    what: "rows" or "persons", for messages.
    """
    found = integers(part) if cells is None else cells
    sampling = target == "population"
    if part.form in OF_BLOCKS:
        return block_terms(part, found, sampling)
    if part.form == "counted":
        return weighted_count_terms(part, found, rows, sampling)
    if part.form == "count" or kind in ("Count", "Histogram"):
        return count_terms(part, found, rows, sampling)
    if part.form == "deviations":
        return deviation_terms(part, found, sampling)
    if part.form == "bernstein":
        return variance_terms(part, found, _whole(part, rows, grouped), sampling, what)
    if kind == "Sum":
        return sum_terms(part, found, rows, grouped, sampling)
    noisy = moments(part.form, part.parameters, found, rows)
    return (
        fixed_size_mean_terms(part, found, noisy, cast(int, rows), sampling)
        if noisy.public
        else noisy_size_mean_terms(part, noisy, sampling, what)
    )


def _whole(part: Part, rows: int | None, grouped: bool) -> int | None:
    """Return the public number of rows if every row counts in the part's single cell, else None."""
    everybody = not grouped and part.grid is not None and part.grid.missing != "exclude"
    return rows if everybody else None


def _scale(part: Part) -> tuple[float, float]:
    """Return the middle of the bounds and half their range: a value is center + half * u, u in [-1, 1]."""
    grid = cast(Grid, part.grid)
    return (grid.lower + grid.upper) / 2, (grid.upper - grid.lower) / 2


# Counts -------------------------------------------------------------------------------------------------------------


def count_terms(part: Part, cells: Array, rows: int | None, sampling: bool) -> ColumnTerms:
    """Return terms of counts: binomial where the number of rows is public, Poisson otherwise; exact intervals."""
    share = part.parameters.get("share", 1)
    return _whole_numbers(part, cells[:, 0] / share, rows, sampling, np.full((len(cells), 1), 1 / share))


def _whole_numbers(part: Part, k: Array, rows: int | None, sampling: bool, loadings: Array) -> ColumnTerms:
    """Return terms of counts k; a count of persons in parts is rounded to whole persons for its interval alone."""
    share = part.parameters.get("share", 1)
    law = part.law if share == 1 else rescaled(part.law, share)
    # counts are clipped to what is possible, which moves them towards the truth
    top = np.inf if rows is None else float(rows)
    value = np.clip(k, 0.0, top)
    variance, rank_one = np.zeros_like(value), np.zeros_like(value)
    inversion: Inversion = LinearInversion(value, variance, loadings[:, -1:], part.law, 0.0, top)
    if sampling:
        variance = value
        # multinomial covariance diag(n p) - n p p', with n p the value; Poisson counts of cells are independent
        rank_one = np.zeros_like(value) if rows is None else value / np.sqrt(rows)
        # limits are those of p, times the rows; a Poisson rate is the expected count itself
        inversion = CountInversion(np.rint(k), rows, law, 0.0, 1.0 if rows is None else float(rows))
    return ColumnTerms(part.label, value, variance, rank_one, loadings, part.law, inversion, (None,) * len(value))


def weighted_count_terms(part: Part, cells: Array, rows: int | None, sampling: bool) -> ColumnTerms:
    """Return terms of totals of weights; they are linear in the noise, and vary as the total of any column does.

    Weights lie between 0 and the cap, so that a total is at most rows * cap.
    """
    cap = cast(Grid, part.weight).upper
    noisy = moments(part.form, part.parameters, cells, rows)
    top = np.inf if rows is None else rows * cap
    # weights are decoded in units of their cap
    value = np.clip(cap * noisy.size, 0.0, top)
    loadings = np.tile(cap * noisy.loadings[0], (len(value), 1))
    variance, rank_one = np.zeros_like(value), np.zeros_like(value)
    if sampling:
        squares, load = cap**2 * noisy.squares[0], cap**2 * noisy.square_loadings[0]
        variance, rank_one = _sum_variance(squares, load, value, loadings[0], rows, part.law, cap)
    inversion = LinearInversion(value, np.maximum(variance - rank_one**2, 0.0), loadings, part.law, 0.0, top)
    return ColumnTerms(part.label, value, variance, rank_one, loadings, part.law, inversion, (None,) * len(value))


# Sums ---------------------------------------------------------------------------------------------------------------


def sum_terms(part: Part, cells: Array, rows: int | None, grouped: bool, sampling: bool) -> ColumnTerms:
    """Return terms of totals.  Rows are sampled anew, their number fixed where it is public, else Poisson."""
    if part.form == "binary-plain" or (part.form == "binary-group" and (rows is not None or not sampling)):
        # the last integer is the number of ones, so a total is a count
        loadings = np.zeros((len(cells), cells.shape[1]))
        loadings[:, -1] = 1.0
        return _whole_numbers(part, cells[:, -1], rows, sampling, loadings)
    found = column_totals(part, cells, rows)
    cap = 1.0 if part.weight is None else part.weight.upper
    grid = cast(Grid, part.grid)
    # weights are decoded in units of their cap, so that the values behind a total lie in cap times the bounds
    part = replace(part, grid=replace(grid, lower=cap * grid.lower, upper=cap * grid.upper))
    loadings = np.tile(found.load, (len(cells), 1))
    low, high = _sum_bounds(part, rows, grouped or part.form not in ("plain", "binary-plain"))
    value = np.clip(found.value, low, high)
    variance, rank_one = np.zeros_like(value), np.zeros_like(value)
    if sampling:
        largest = _largest(part)
        variance, rank_one = _sum_variance(found.squares, found.square_load, value, found.load, rows, part.law, largest)
    inversion = LinearInversion(value, np.maximum(variance - rank_one**2, 0.0), loadings, part.law, low, high)
    return ColumnTerms(part.label, value, variance, rank_one, loadings, part.law, inversion, (None,) * len(value))


def _sum_variance(
    squares: Array, square_load: Array, value: Array, load: Array, rows: int | None, law: Law, largest: float
) -> tuple[Array, Array]:
    """Sampling variance of totals and their `rank_one`, shapes (m,): floored by its own noise, capped by the bounds.

    Sum x**2 where the number of rows is Poisson; n s**2, s**2 the sample variance of x, where it is public.
    squares: noisy sums of x**2, which react to the k noises by square_load; value: noisy totals, which do so by load.
    """
    if rows is None:
        # compound Poisson: the variance of a total is lambda E x**2, which sum x**2 estimates without bias
        spread = np.sqrt(float((square_load**2).sum()) * law.variance())
        return np.maximum(squares, FLOOR * spread), np.zeros_like(value)
    # the square of rank_one is (sum x)**2 / n; it is added back below, as `sampling_variance` subtracts it
    rank_one = value / np.sqrt(rows)
    # E[(noisy total)**2] exceeds the square of the total by the noise's variance: it is put back.
    inner = (squares - rank_one**2 + float((load**2).sum()) * law.variance() / rows) * rows / max(rows - 1, 1)
    spread = np.sqrt(noise_of_squares_about_mean(square_load, load, value / rows, rows, law))
    # n sigma**2 of values within the bounds is at most n times their largest square
    return np.clip(inner, np.minimum(FLOOR * spread, rows * largest**2), rows * largest**2) + rank_one**2, rank_one


def noise_of_squares_about_mean(square_load: Array, load: Array, mean: Array, rows: int, law: Law) -> Array:
    """Variance of the noise in n / (n - 1) (sum x**2 - (sum x)**2 / n), shape (m,), n = `rows` public.

    square_load, load: how sum x**2 and sum x react to the k independent noises, shape (k,); mean: of x, shape (m,).
    Delta method: the derivative by the noises is square_load - 2 mean load.  Both sums share noises, so that this is
    the noise of squares about the mean, wherever the middle of the bounds is.  The variance of (noise in sum x)**2 / n
    is left out; the noisy mean that stands for the true one adds to the result, on average, twice as much under
    Gaussian noise, and four fifths of it under a single Laplace noise.
    """
    both = square_load - 2 * mean[:, None] * load
    return (both**2).sum(axis=-1) * law.variance() * (rows / max(rows - 1, 1)) ** 2


def _largest(part: Part) -> float:
    """Return the largest absolute value within the bounds."""
    grid = cast(Grid, part.grid)
    return max(abs(grid.lower), abs(grid.upper))


def _sum_bounds(part: Part, rows: int | None, leaves: bool) -> tuple[float, float]:
    """Return the least and greatest possible total; leaves: whether rows may be left out of it."""
    grid = cast(Grid, part.grid)
    if rows is None:
        # without a public number of rows only the sign of a total may be known
        return (0.0 if grid.lower >= 0 else -np.inf), (0.0 if grid.upper <= 0 else np.inf)
    low, high = rows * grid.lower, rows * grid.upper
    # rows that leave the cell contribute 0, so that 0 is possible too
    return (min(low, 0.0), max(high, 0.0)) if leaves else (low, high)


# Means --------------------------------------------------------------------------------------------------------------


def fixed_size_mean_terms(part: Part, cells: Array, noisy: Moments, n: int, sampling: bool) -> ColumnTerms:
    """Return terms of means S / n of n rows, n public: linear in the noise; a proportion's interval is exact.

    On the scale of u, m = S / n and q = Q / n: the sampling variance is (q - m**2 + noise variance of m) / (n - 1),
    where the bracket is at least FLOOR standard deviations of its noise and at most 1 - m**2 (theory §9).
    """
    center, half = _scale(part)
    low, high = center - half, center + half
    loadings = noisy.loadings[1] / n
    own = float((loadings**2).sum()) * part.law.variance()
    m = np.clip(noisy.total / n, -1.0, 1.0)
    variance = np.zeros_like(m)
    if sampling:
        # noise of q - m**2: that of q and, by the delta method, of m, which are independent in the plain forms
        noise = np.sqrt(float((noisy.loadings[2] ** 2).sum()) / n**2 * part.law.variance() + 4 * m**2 * own)
        # E m**2 exceeds the square of the true mean by the noise variance of m, which is added back (theory §9)
        raw = noisy.square / n - m**2 + own
        # a proportion clipped to 0 or 1 would otherwise get variance 0, and no standard error at all
        most = np.maximum(1 - m**2, 4 * own if part.form == "binary-plain" else 0.0)
        variance = np.minimum(np.maximum(raw, FLOOR * noise), np.minimum(most, 1.0)) * half**2 / max(n - 1, 1)
    value = center + half * m
    own_loadings = np.tile(half * loadings, (len(m), 1))
    inversion: Inversion = LinearInversion(value, variance, own_loadings, part.law, low, high)
    if part.form == "binary-plain":
        inversion = (
            CountInversion(cells[:, 0], n, part.law, low, high - low)
            if sampling
            else LinearInversion(value, variance, own_loadings[:, :1], part.law, low, high)
        )
    return ColumnTerms(
        part.label, value, variance, np.zeros_like(m), own_loadings, part.law, inversion, (None,) * len(m)
    )


def noisy_size_mean_terms(part: Part, noisy: Moments, sampling: bool, what: str) -> ColumnTerms:
    """Return terms of means S / N of cells whose size N is noisy, with Fieller's intervals.

    The standard error uses the loadings of S - m N over N, which linearise the ratio at its estimate m.
    """
    center, half = _scale(part)
    counted = f"number of {what}" if part.weight is None else f"sum of weights, in units of {part.weight.upper:g},"
    unclear, threshold, reasons = _unclear(noisy.size, noisy.loadings[0], part.law, 0.0, counted)
    size = np.maximum(noisy.size, 1.0)
    m = np.where(unclear, 0.0, np.clip(noisy.total / size, -1.0, 1.0))
    inversion = RatioInversion(noisy, m, unclear, threshold, part.law, part.form in BINARY, sampling, center, half)
    # delta method: d(S / N) = (dS - m dN) / N
    loadings = (noisy.loadings[1] - m[:, None] * noisy.loadings[0]) / size[:, None]
    variance = inversion.variance(m) / size**2
    if sampling:
        # a proportion at 0 or 1 has plug-in variance 0; C is then taken as that of a single row, 1 on the u scale
        variance = np.maximum(variance, FLOOR * np.minimum(1 / size, 1.0) / size * (part.form in BINARY))
    variance, loadings = _bounded(variance, loadings, part.law, 1.0)
    value = center + half * m
    return ColumnTerms(
        part.label, value, half**2 * variance, np.zeros_like(m), half * loadings, part.law, inversion, reasons
    )


def block_terms(part: Part, cells: Array, sampling: bool) -> ColumnTerms:
    """Return terms of means over blocks; where those without an estimate are absent, of a linearised ratio.

    The number of blocks is public and that of the estimates nearly as large, so that the ratio is linear in the noise
    wherever there is an interval at all.
    """
    noisy = block_moments(part, cells)
    if noisy.public:
        return fixed_size_mean_terms(part, cells, noisy, part.parameters["blocks"], sampling)
    made = noisy_size_mean_terms(part, noisy, sampling, "blocks with an estimate")
    grid = cast(Grid, part.grid)
    linear = LinearInversion(made.value, made.variance, made.loadings, part.law, grid.lower, grid.upper)
    return replace(made, inversion=linear)


def _unclear(
    size: Array, loadings: Array, law: Law, least: float, counted: str
) -> tuple[NDArray[np.bool_], float, tuple[str | None, ...]]:
    """Find cells whose noisy size is not above 0 by the ANSWER point of its noise, or not above `least` by its ENOUGH.

    Return which, the threshold, and the reasons.
    """
    q, more = (_reach(law, tuple(loadings.tolist()), point) for point in (ANSWER, ENOUGH))
    threshold, of = (q, 0.0) if q >= least + more else (least + more, least)
    unclear = size <= threshold
    # as a whole number: no -0
    words = [f"{counted} {round(float(x)):,} ± {threshold - of:,.0f}: not clearly above {of:,.0f}" for x in size]
    return unclear, threshold, tuple(word if bad else None for word, bad in zip(words, unclear, strict=True))


@lru_cache(maxsize=256)
def _reach(law: Law, loadings: tuple[float, ...], point: float) -> float:
    """Return a point of the noise: from public facts alone, so cached for all releases of one question."""
    s, b = split(law, np.array(loadings))
    return float(halfwidth(2 * point - 1, s, b)) if any(loadings) else 0.0


def _bounded(variance: Array, loadings: Array, law: Law, most: float) -> tuple[Array, Array]:
    """Shrink variance and loadings: no standard error above `most`, half the parameter's range."""
    total = np.sqrt(variance + (loadings**2).sum(axis=-1) * law.variance())
    shrink = most / np.maximum(total, most)
    return variance * shrink**2, loadings * shrink[:, None]


# Variances ----------------------------------------------------------------------------------------------------------


def variance_terms(part: Part, cells: Array, rows: int | None, sampling: bool, what: str) -> ColumnTerms:
    """Return terms of variances SS / (N - 1); the standard error is from the fourth moment, without normality.

    With power sums P1, P2 of x in [0, 1]: SS = P2 - P1**2 / N + (noise variance of P1 - mean N) / N.  The last term
    makes up for the square of the noise in the mean, which would make SS too small on average.
    """
    noisy = powers(part.parameters, cells, rows)
    # a variance takes two rows, so a noisy number of rows must clearly exceed 2
    least, counted = 2.0 if rows is None else 0.0, f"number of {what}"
    unclear, threshold, reasons = _unclear(noisy.sums[:, 0], noisy.loadings[0], part.law, least, counted)
    size = np.maximum(noisy.sums[:, 0], 2.0)
    mean = np.clip(noisy.sums[:, 1] / size, 0.0, 1.0)
    # derivatives of P1 - mean N in the noises
    shift = noisy.loadings[1] - mean[:, None] * noisy.loadings[0]
    second, _ = central(mean)
    squares = (second * noisy.sums).sum(axis=-1) + (shift**2).sum(axis=-1) * part.law.variance() / size
    # the variance of values in [0, 1] is at most 1/4 (Popoviciu); where nothing is known, the middle
    t = np.where(unclear, 0.125, np.clip(squares / (size - 1), 0.0, 0.25))
    half = _scale(part)[1]
    scale = (2 * half) ** 2
    inversion = SpreadInversion(noisy, mean, t, unclear, threshold, least, part.law, sampling, scale)
    loadings = inversion.loadings(t) / (size - 1)[:, None]
    variance = inversion.variance(t) / (size - 1) ** 2
    variance, loadings = _bounded(variance, loadings, part.law, 0.125)
    zero = np.zeros_like(t)
    return ColumnTerms(part.label, scale * t, scale**2 * variance, zero, scale * loadings, part.law, inversion, reasons)
