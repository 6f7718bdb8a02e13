"""Log-rank test from a released histogram of (time, event, group); its variance includes the privacy noise."""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import special
from tacit.errors import InferenceError
from tacit.estimates.total_errors.error_laws import ndtr
from tacit.estimates.verbs.contrasts import Test
from tacit.method.histogram.estimate_from_cells.cell_groups import By, counts_of_events
from tacit.method.histogram.estimate_from_cells.life_table import LifeTable
from tacit.method.histogram.estimate_from_cells.survival import life_tables
from tacit.method.histogram.estimate_from_cells.survival_selection import LOWER
from tacit.release.document import Released

CLEAR = 8.0
"""A bin is used if its rows at risk, of all groups, are more than this many standard deviations of their noise."""

CERTAIN = 0.99
"""A test that is refused more rarely than 1 - CERTAIN keeps its p-value."""


def logrank(release: Released, time: str, event: str, by: By, happened: str | None = None) -> Test:
    """Return the test of equal survival; see `Statistics.logrank`."""
    made = counts_of_events(release, time, event, by)
    tables = life_tables(made, happened)
    if len(tables) < 2:
        text = "log-rank compares two groups or more."
        raise InferenceError(text, code="I50", hint='by="arm"', state=None)
    off, covariance, chance = compared(tables)
    title = f"{time} alike by {' and '.join(made.by)}"
    if off is None or covariance is None:
        text = "no bin of times has clearly more rows at risk than noise."
        raise InferenceError(text, code="I54", hint="a larger budget, or fewer cells", state=None)
    # of those releases whose test is not refused, at most so many reject: `LifeTable.chance`
    sure = chance > CERTAIN
    words = "with the noise in its variance (asymptotic)" + (
        "" if sure else f", p-value over {chance:.2g}: few at risk"
    )
    chance = 1.0 if sure else chance
    if len(off) == 1:
        # of two groups chi-square is z**2; the sign of z says which has more events
        z = float(off[0] / np.sqrt(covariance[0, 0]))
        p = min(1.0, float(2 * special().ndtr(-abs(z))) / chance)
        return Test(title, z, 1, p, f"log-rank, normal law {words}, two-sided")
    chi2 = float(off @ np.linalg.solve(covariance, off))
    p = min(1.0, float(special().chdtrc(len(off), max(chi2, 0.0))) / chance)
    return Test(title, chi2, len(off), p, f"log-rank, chi-square {words}")


def compared(tables: tuple[LifeTable, ...]) -> tuple[Array, Array, float] | tuple[None, None, float]:
    """Return observed less expected events of all groups but the last, shape (G - 1,), and their covariance, or None;
    and the probability that a bin is clear if the rows at risk are LOWER standard deviations of their noise fewer.

    Sampling covariance: hypergeometric given the rows at risk.  Noise covariance: by the influence of each
    cell's count.  None where no bin is clear of noise.
    """
    events = np.stack([table.events for table in tables])
    at_risk = np.stack([table.at_risk for table in tables])
    total, d = at_risk.sum(axis=0), events.sum(axis=0)
    one = tables[0]
    rows, times = one.weights(one.entered)
    # all groups have cells of one noise, so the total's standard deviation is sqrt(groups) times a group's
    own = one.noise.error(rows, np.zeros(one.bins), times).sd * np.sqrt(len(tables))
    each = np.maximum(own, 1e-9)
    margin = np.minimum(
        (total - np.maximum(CLEAR * own, 1.5)) / each,
        (at_risk - CLEAR / 2 * own).min(axis=0) / each * np.sqrt(len(tables)),  # in deviations of a group's own noise
    )
    good = margin > 0
    if not good.any():
        return None, None, 0.0
    chance = float(ndtr(margin.max() - LOWER))
    # bins that are not used divide by 1 and weigh 0
    total, share = np.where(good, total, 1.0), np.where(good, at_risk / np.where(good, total, 1.0), 0.0)
    off = ((events - share * d) * good).sum(axis=1)
    # d events among R at risk: variance d (R - d) / (R - 1) times p_g ([g = h] - p_h).  Noise can make it negative in a
    # bin; it is not cut there, as noise above and below 0 cancels over bins, but in the sum
    spread = np.where(good, d * (total - d) / np.maximum(total - 1, 1.0), 0.0)
    sampling = _semidefinite(np.diag((spread * share).sum(axis=1)) - (spread * share) @ share.T)
    weights = _weights(tables, share, d / total * good, good)
    noise = one.noise.covariance(weights)
    kept = slice(0, len(tables) - 1)  # differences add up to 0 over groups, so that one is redundant
    return off[kept], (sampling + noise)[kept, kept], chance


def _semidefinite(matrix: Array) -> Array:
    """Return a symmetric matrix without the parts of its negative eigenvalues."""
    values, vectors = np.linalg.eigh(matrix)
    return (vectors * np.maximum(values, 0.0)) @ vectors.T


def _weights(tables: tuple[LifeTable, ...], share: Array, hazard: Array, good: Array) -> Array:
    """Return the influence of each released cell on observed less expected events, shape (G, G * cells)."""
    G, one = len(tables), tables[0]
    cells = one.entered.shape[1]
    out = np.zeros((G, G, cells))
    for h in range(G):
        # U_g = e_g - d R_g / R: its derivative is (g == h) - R_g / R in e_h, and minus d / R times that in R_h
        same = (np.arange(G) == h).astype(np.float64)[:, None]
        out[:, h] = -((same - share) * hazard) @ one.entered
        out[:, h, : one.bins] += (same - share) * good
    return one.spread(out).reshape(G, -1)
