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
from tacit.estimates.local_doubts import DRAWS, doubted, ranges
from tacit.estimates.log_density_curve import LogDensityCurve
from tacit.estimates.noisy_ratio import unclear
from tacit.estimates.projected_curve import NearDensity, ProjectedCurve
from tacit.estimates.recorded_notes import recorded_notes
from tacit.estimates.series_coefficients import Shares, coefficients, remainder, resolved_terms
from tacit.estimates.series_curve import SeriesCurve, closest
from tacit.estimates.smooth_density import SmoothDensity
from tacit.estimates.terms import Target, check_target
from tacit.fits.released_cells import cells_of
from tacit.method.histogram.estimate_densities import binned_margin
from tacit.method.histogram.estimate_margins import Margin
from tacit.noise.laws import RoundedNormal
from tacit.release.document import Released
from tacit.release.parts import cell_labels
from tacit.rows.series_bases import BASES

USUAL: Final = ("legendre", "cosine")
"""Bases of which the nearer is taken: polynomials for smooth densities, cosines for rough ones."""
FEWEST: Final = 4
"""Fewest bins of a smooth density."""
SEED: Final = 1997


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
    edges = (ends - ends[0]) / (ends[-1] - ends[0])
    cells = made.counts.reshape(-1, made.counts.shape[-1])[:, kept]
    total = None if groups or axis.extra else cells_of(release).total
    found = [_shares(made, one, edges, total, target) for one in cells]
    curves = closest(
        tuple(tuple(_curve(name, shares, made) for shares, _ in found) for name in bases), cells.sum(axis=1)
    )
    penalised = basis is None and target == "population"
    estimates: Sequence[NearDensity] = curves
    if penalised:
        sizes = [total or max(float(one.sum()), 1.0) for one in cells]
        estimates = [
            one if reason is not None else LogDensityCurve(shares, size)
            for one, (shares, reason), size in zip(curves, found, sizes, strict=True)
        ]
    return SmoothDensity(
        release=release,
        target=target,
        column=column,
        kind=axis.kind,
        units=axis.units,
        by=groups,
        groups=cell_labels(made.levels[:-1]),
        lower=float(ends[0]),
        upper=float(ends[-1]),
        curves=tuple(ProjectedCurve(own.basis, estimate, own) for own, estimate in zip(curves, estimates, strict=True)),
        sizes=np.maximum(cells.sum(axis=1), 0.0),
        reasons=tuple(reason for _, reason in found),
        notes=(*_notes(column, curves, len(kept), penalised=penalised), *recorded_notes(column, axis)),
        multiple_of=axis.multiple_of or 0.0,
        limits_of=_limits(curves, len(kept)),
        doubts=tuple(
            tuple(
                (float(ends[0] + np.ptp(ends) * a), float(ends[0] + np.ptp(ends) * b)) for a, b in _doubts(one, shares)
            )
            for one, (shares, _) in zip(curves, found, strict=True)
        ),
    )


def _doubts(curve: SeriesCurve, shares: Shares) -> tuple[tuple[float, float], ...]:
    """Return ranges of [0, 1] in which the shares of bins say more than the terms of the limits resolve."""
    residuals, left = remainder(curve.basis, shares, len(curve.found.values), curve.band)
    rng = np.random.default_rng(SEED)
    values, vectors = np.linalg.eigh(shares.sampling)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    many = (DRAWS, shares.noises.shape[1])
    noise = rng.laplace(size=many) / np.sqrt(2) if curve.laplace else rng.standard_normal(many)
    errors = rng.standard_normal((DRAWS, len(values))) @ root.T + np.sqrt(shares.variance) * noise @ shares.noises.T
    own = np.sqrt(np.diag(shares.sampling) + shares.variance * (shares.noises**2).sum(axis=1))
    return ranges(doubted(residuals, errors @ left.T, own), shares.edges)


def _limits(curves: tuple[SeriesCurve, ...], bins: int) -> str:
    least, most = (which(one.band for one in curves) for which in (min, max))
    terms = f"{most}" if least == most else f"{least} to {most}"
    return f"the density as far as {terms} {curves[0].basis} terms, fitted to {bins:,} bins, resolve it"


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


def _curve(basis: str, shares: Shares, made: Margin) -> SeriesCurve:
    terms = max(1, resolved_terms(basis, shares.edges))
    found = coefficients(basis, shares, terms)
    law = made.release.parts[0].law
    # sums of several noises, and normal ones, are nearly normal
    laplace = made.added == 1 and not isinstance(law, RoundedNormal)
    return SeriesCurve(basis, found, found.band, laplace, shares.variance)


def _notes(column: str, curves: tuple[SeriesCurve, ...], bins: int, *, penalised: bool) -> tuple[str, ...]:
    kept = max(one.found.kept for one in curves)
    made = "average of models by penalised likelihood" if penalised else f"{curves[0].basis} series of {kept} terms"
    notes = (f"{made}, fitted to {bins:,} bins",)
    if any(not one.found.resolved for one in curves):
        notes += (f"bins of {column} are too wide for its density: the bands do not hold what they average out",)
    return notes
