"""Smooth densities from a released histogram, fitted to the counts of its bins.  Post-processing.

The estimate is that of `estimates.log_density`; limits are those of a series, `estimates.series_coefficients`, which is
the estimate, too, where a basis is asked for or the table is the target.  Many narrow bins cost the estimate little:
both average out their noise.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.errors import InferenceError, nearest
from tacit.estimates.bins import spans
from tacit.estimates.densities.local_doubts import in_units
from tacit.estimates.densities.log_density_curve import LogDensityCurve
from tacit.estimates.densities.projected_curve import NearDensity, ProjectedCurve
from tacit.estimates.densities.recorded_notes import recorded_notes
from tacit.estimates.densities.series_coefficients import Shares
from tacit.estimates.densities.series_curve import SeriesCurve, closest
from tacit.estimates.densities.smooth_density import SmoothDensity
from tacit.estimates.noisy_terms.noisy_ratio import unclear
from tacit.estimates.terms import Target, check_target
from tacit.fits.cells.released_cells import cells_of
from tacit.fits.within_bins.cell_limits import CellLimits
from tacit.method.histogram.estimate_densities import binned_margin
from tacit.method.histogram.estimate_density_limits import (
    DensityLimits,
    is_laplace,
    limits_around,
    possible_series,
    series_of,
)
from tacit.method.histogram.estimate_margins import Margin
from tacit.release.document import Released
from tacit.release.parts import cell_labels
from tacit.rows.series_bases import BASES

USUAL: Final = ("legendre", "cosine")
"""Bases of which the nearer is taken: polynomials for smooth densities, cosines for rough ones."""
FEWEST: Final = 4
"""Fewest bins of a smooth density."""
JUMPS: Final = "in bins in which there may be a jump a band holds the density on both sides of it"
"""What a band is beside what limits are of."""


def smooth_density(
    release: Released,
    column: str,
    by: str | Sequence[str] | None = None,
    basis: str | None = None,
    target: Target = "population",
) -> SmoothDensity:
    """Return the smooth density of a column of a histogram, released or simulated; see the method of the release."""
    check_target(target)
    bases = _bases(basis)
    made, groups = binned_margin(release, column, by)
    axis = made.axes[-1]
    lower, upper = spans(axis)
    kept = np.flatnonzero(upper > lower)
    if len(kept) < FEWEST:
        text = f"{column!r} has {len(kept)} bins, too few for a smooth density."
        raise InferenceError(text, code="I60", hint=f'density("{column}")', state=None)
    ends = np.append(lower[kept], upper[kept][-1])
    low, high = float(ends[0]), float(ends[-1])
    edges = (ends - low) / (high - low)
    cells = made.counts.reshape(-1, made.counts.shape[-1])[:, kept]
    total = None if groups or axis.extra else cells_of(release).total
    found = [_shares(made, one, edges, total, target) for one in cells]
    possible, laplace = possible_series(bases, edges), is_laplace(made)
    each_basis = (tuple(series_of(name, one, possible, laplace=laplace) for one, _ in found) for name in bases)
    curves = closest(tuple(each_basis), cells.sum(axis=1))
    penalised, sizes = basis is None and target == "population", [total or max(float(x.sum()), 1.0) for x in cells]
    estimates: Sequence[NearDensity] = curves
    if penalised:
        estimates = [
            one if reason is not None else LogDensityCurve(shares, size, laplace)
            for one, (shares, reason), size in zip(curves, found, sizes, strict=True)
        ]
    # rows of a table scatter about a smooth density as those of a sample do
    tested = [one for one, _ in found]
    if target == "table":
        tested = [_shares(made, one, edges, total, "population")[0] for one in cells]
    each = zip(curves, found, tested, sizes, strict=True)
    limits = [limits_around(own, shares, other, made, ends, rows) for own, (shares, _), other, rows in each]
    return SmoothDensity(
        release=release,
        target=target,
        column=column,
        kind=axis.kind,
        units=axis.units,
        by=groups,
        groups=cell_labels(made.levels[:-1]),
        lower=low,
        upper=high,
        curves=tuple(
            ProjectedCurve(own.basis, estimate, one.around, _possible(estimate, one, rows, reason))
            for own, estimate, one, rows, (_, reason) in zip(curves, estimates, limits, sizes, found, strict=True)
        ),
        sizes=np.maximum(cells.sum(axis=1), 0.0),
        reasons=tuple(reason for _, reason in found),
        notes=(*_notes(column, curves, limits, len(kept), penalised=penalised), *recorded_notes(column, axis)),
        multiple_of=axis.multiple_of or 0.0,
        limits_of=_limits(limits, len(kept)),
        doubts=tuple(in_units(one.doubts, low, high) for one in limits),
        untold=tuple(one.untold for one in limits),
        averaged=tuple(isinstance(one.around, CellLimits) for one in limits),
        peaks=tuple(in_units(one.peaks, low, high) for one in limits),
    )


def _possible(estimate: NearDensity, limits: DensityLimits, rows: float, reason: str | None) -> LogDensityCurve | None:
    """Return what tells where a density may have jumps: the estimate, if it is of the same shares."""
    if reason is not None or limits.sampled is None:
        return None
    if isinstance(estimate, LogDensityCurve) and estimate.shares is limits.sampled:
        return estimate
    return LogDensityCurve(limits.sampled, rows)


def _limits(limits: Sequence[DensityLimits], bins: int) -> str:
    """Return what limits hold, in words."""
    curves = [one.around for one in limits if isinstance(one.around, SeriesCurve)]
    said = list[str]()
    if curves:
        terms, at_once = (_between(numbers) for numbers in _terms(curves))
        band = f" (a band {at_once})" if at_once != terms else ""
        said.append(f"as far as {terms} {curves[0].basis} terms{band}, fitted to {bins:,} bins, resolve it")
    if len(curves) < len(limits):
        shapes = f"by the shapes that bins beside give each of {bins:,} bins, which may be wrong"
        said.append(f"{shapes} (a band: its averages over bins)")
    return f"the density {' or '.join(said)}"


def _terms(curves: Sequence[SeriesCurve]) -> tuple[list[int], list[int]]:
    """Return numbers of terms of limits and of bands."""
    return [one.band for one in curves], [one.at_once.band for one in curves]


def _between(numbers: Sequence[int]) -> str:
    least, most = min(numbers), max(numbers)
    return f"{most}" if least == most else f"{least} to {most}"


def _bases(basis: str | None) -> tuple[str, ...]:
    if basis is None:
        return USUAL
    if not isinstance(basis, str) or basis not in BASES:  # pyright: ignore[reportUnnecessaryIsInstance]
        guess = nearest(basis, list(BASES)) if isinstance(basis, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"basis {described(basis)} is none of {', '.join(BASES)}."
        raise InferenceError(text, code="I44", hint=guess or 'basis="cosine"', state=None)
    return (basis,)


def _shares(
    made: Margin, counts: Array, edges: Array, total: float | None, target: Target
) -> tuple[Shares, str | None]:
    """Return shares of one group with their two errors, and a reason where its size is not clear."""
    part, bins = made.release.parts[0], len(counts)
    share = part.parameters.get("share", 1)
    reason, size = None, float(counts.sum())
    noises = np.eye(bins)
    if total is None:
        reason = unclear(size, part.law, made.added * bins, share)
        size = max(size, 1.0)
    # a density that is nearly even is what nothing is known from
    values = np.diff(edges) if reason is not None else counts / (total or size)
    if total is None:
        # a share of a noisy size: the size moves all of them
        noises = noises - np.outer(values, np.ones(bins))
    probable = np.maximum(values, 0.0)
    probable = probable / probable.sum()
    sampling = np.diag(probable) - np.outer(probable, probable)
    sampling = np.zeros((bins, bins)) if target == "table" else sampling / (total or size)
    variance = part.law.variance() * made.added / share**2
    return Shares(edges, values, sampling, noises / (total or size), variance), reason


def _notes(
    column: str, curves: tuple[SeriesCurve, ...], limits: Sequence[DensityLimits], bins: int, *, penalised: bool
) -> tuple[str, ...]:
    kept = max(one.found.kept for one in curves)
    made = "average of models by penalised likelihood" if penalised else f"{curves[0].basis} series of {kept} terms"
    notes = (f"{made}, fitted to {bins:,} bins", JUMPS)
    if any(isinstance(one.around, CellLimits) for one in limits):
        notes += (
            f"bins of {column} are too wide for its density: limits are around the shapes of bins, and a band holds "
            "its averages over bins",
        )
    return notes
