"""The distribution function of a binned column at its edges, with pointwise and simultaneous bands."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.terms import Target, check_target
from tacit.estimates.total_errors.accepted_values import ends
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error
from tacit.method.histogram.estimate_from_cells.cell_groups import By, group_counts, unclear, words
from tacit.method.histogram.estimate_from_cells.cell_quantiles import curves
from tacit.method.histogram.estimate_from_cells.derived_numbers import Derived, Steps
from tacit.method.histogram.estimate_from_cells.distribution_curve import GroupCurve, Places
from tacit.release.document import Released

DRAWS: Final = 10_000
"""Draws of a studentised maximum: its 95% point is then within about 1% (twice the Monte-Carlo error)."""
ROOM: Final = 4_000_000
"""Most simulated numbers held at a time."""


@dataclass(frozen=True)
class Banded:
    """Intervals {phi: |S_j - phi N| <= q(phi)} for F at edge j: Wilson's score with noise, within [0, 1].

    S_j is the cumulative noisy count, N the noisy total, q(phi) the error quantile if F there is phi.  simultaneous: q
    is that of the largest deviation over the edges of a group, simulated with its noise from seed `rng`.  Levels are
    those given an answer (`Thresholds`).
    """

    curves: tuple[GroupCurve, ...]
    unclear: tuple[bool, ...]
    simultaneous: bool
    rng: int

    def interval(self, level: float) -> tuple[Array, Array]:
        """Return limits, shape (groups * edges,) each; they never fall along the edges of a group."""
        ends = [
            (np.zeros(len(at(one))), np.ones(len(at(one)))) if bad else self._one(one, level)
            for one, bad in zip(self.curves, self.unclear, strict=True)
        ]
        return np.concatenate([low for low, _ in ends]), np.concatenate([high for _, high in ends])

    def _one(self, curve: GroupCurve, level: float) -> tuple[Array, Array]:
        j = at(curve)
        # signed sums in the test, which are unbiased; the isotonic estimate only starts the search
        S, inside = curve.sums[j], curve.rising[j]
        alpha = 1 - level
        chance = curve.chance(alpha)
        # a table of few draws has no quantiles beyond that of one answer in a hundred
        factor = critical(curve, 1 - alpha * max(float(chance), 0.01), self.rng) if self.simultaneous else None

        def excess(phi: Array) -> Array:
            # the error law depends on phi, through weights and sampling variance, so that no formula gives the limits
            error = _error(curve, j, phi)
            q = error.given(alpha, chance) if factor is None else factor * error.sd
            return np.abs(S - phi * curve.rows) - q

        # between the estimate, taken as accepted, and the bound 0 or 1
        low, high = ends(excess, inside, 0.0, 1.0)
        if self.simultaneous:
            # F rises: where all limits hold at once, a lower one holds at later edges too, an upper one at earlier
            return np.maximum.accumulate(low), np.minimum.accumulate(high[::-1])[::-1]
        # limits that hold one by one may only be widened: the best of many would hold less often than each
        return np.minimum.accumulate(low[::-1])[::-1], np.maximum.accumulate(high)


def cdf(
    release: Released,
    column: str,
    by: By = None,
    target: Target = "population",
    *,
    simultaneous: bool = False,
    rng: int = 0,
) -> Derived:
    """Return the distribution function at the edges; see `Statistics.cdf`."""
    check_target(target)
    made = group_counts(release, (column,), by)
    found = curves(made, target)
    reasons = [unclear(one.rows, one.cells, one.noise) for one in found]
    own = [f"{edge:.10g}" for edge in _evaluation_points(made.axes[0], found[0])]
    m = len(own)
    sampling, weights = np.zeros((m * len(found),) * 2), np.zeros((m * len(found), found[0].cells * len(found)))
    for g, one in enumerate(found):
        here, cells = slice(g * m, (g + 1) * m), slice(g * one.cells, (g + 1) * one.cells)
        F = one.rising[at(one)]
        if target == "population":  # covariance of an empirical distribution function
            sampling[here, here] = (np.minimum.outer(F, F) - np.outer(F, F)) / one.size
        # influence of the ratio S_j / N: a row in the cell moves it by ([cell at or below edge j] - F_j) / N
        weights[here, cells] = (steps(one) - F[:, None]) / one.size
    bad = tuple(reason is not None for reason in reasons)
    band = "simultaneous bands" if simultaneous else "pointwise intervals"
    return Derived(
        release,
        target,
        f"Distribution function of {column}" + (f" by {' and '.join(made.by)}" if made.by else ""),
        words(made, f"share of values of {column} at or below each edge", target),
        made.terms(own),
        np.concatenate([one.rising[at(one)] for one in found]),
        Banded(found, bad, simultaneous, rng),
        sampling,
        made.noise.covariance(weights),
        tuple(reason for reason in reasons for _ in own),
        (f"{band}; values at edges are exact but for both errors: nothing is assumed of the values within bins",),
        term_title=":".join((*made.by, column)),
        steps=_steps(made.axes[0], found[0], made.labels, "simultaneous band" if simultaneous else "interval"),
    )


def _steps(axis: CellAxis, curve: GroupCurve, groups: tuple[str, ...], band: str) -> Steps:
    """Return the step function to plot; it starts at 0 and ends at 1 at the bounds if no cells lie beyond them."""
    ends = curve.edges if curve.discrete else axis.last
    first, last = float(ends[0]), float(ends[-1])
    start = None if curve.below is not None else (first, 0.0)
    end = None if curve.above is not None else (last, 1.0)
    places = tuple(float(x) for x in _evaluation_points(axis, curve))
    return Steps(axis.name, places, groups, "share at or below", start, end, band)


def at(curve: GroupCurve) -> Places:
    """Return indices of the edges at which F is not known to be 0 or 1."""
    # without a cell below F is 0 at the lower bound; F of levels is told at the levels, from the first on
    first = 0 if curve.below is not None and not curve.discrete else 1
    return np.arange(first, curve.bins + (curve.above is not None))


def _evaluation_points(axis: CellAxis, curve: GroupCurve) -> Array:
    """Return the values at which F is estimated: levels, edges of bins, or the last possible value below an edge."""
    # index j of levels is F just before level j, that is at level j - 1
    return curve.edges[at(curve) - 1] if curve.discrete else axis.last[at(curve)]


def steps(curve: GroupCurve) -> Array:
    """Return an indicator (0 or 1) of the cells at or below each edge, shape (edges, cells)."""
    # edge j has j bins below it, and the cell below the bounds
    first = at(curve) + (curve.below is not None)
    return (np.arange(curve.cells)[None, :] < first[:, None]).astype(np.float64)


def _error(curve: GroupCurve, j: Places, phi: Array) -> Error:
    """Return the law of S_j - phi N if F is phi at edge j; edge j is the start of bin j, or the end of the last bin."""
    last = j == curve.bins
    return curve.error(np.where(last, j - 1, j), last.astype(np.float64), phi)


def critical(curve: GroupCurve, level: float, rng: int) -> float:
    """Return a quantile of the largest studentised error over the edges, by seeded simulation.

    The noise is drawn from its own law, the sampling error from the normal limit of multinomial counts.
    """
    generator = np.random.default_rng(rng)
    F = curve.rising
    ends = [0.0] if curve.below is not None else [], [1.0] if curve.above is not None else []
    # probabilities of all cells, those beyond the bounds too, shape (cells,)
    share = np.diff(np.concatenate([ends[0], F, ends[1]]))
    lower, phi = steps(curve), F[at(curve)]
    sd = _error(curve, at(curve), phi).sd
    share = np.maximum(share, 0.0) / max(float(np.maximum(share, 0.0).sum()), 1e-300)  # against rounding: F never falls
    found: list[Array] = []
    left = DRAWS
    while left > 0:
        # so many draws at a time that their noises take ROOM numbers or less
        now = max(1, min(left, ROOM // curve.cells))
        z = curve.noise.sample((now, curve.cells), generator)
        if curve.noise.projected:
            rest = curve.noise.size - curve.cells
            # noises of the margin's other cells enter only through the projection, as a sum, taken as normal
            others = generator.standard_normal(now) * np.sqrt(rest * curve.noise.cell)
            z -= ((z.sum(axis=1) + others) / curve.noise.size)[:, None]
        if curve.sampling:
            own = generator.standard_normal((now, curve.cells)) * np.sqrt(share)
            # diag(p) - p p', the multinomial covariance, from independent normals times sqrt(p)
            z += (own - own.sum(axis=1, keepdims=True) * share) * np.sqrt(curve.size)
        # error of S_j less phi times that of N: D(phi) as in the intervals
        sums = np.cumsum(z, axis=1)[:, lower.sum(axis=1).astype(int) - 1]
        off = np.abs(sums - z.sum(axis=1, keepdims=True) * phi)
        found.append((off / np.maximum(sd, 1e-300)).max(axis=1))
        left -= now
    return float(np.quantile(np.concatenate(found), level))
