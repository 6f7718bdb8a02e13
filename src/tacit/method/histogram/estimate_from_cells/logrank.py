"""The log-rank test from a released histogram of (time, event, group), with the noise in its variance."""

from __future__ import annotations

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import stats
from tacit.errors import InferenceError
from tacit.estimates.contrasts import Test
from tacit.method.histogram.estimate_from_cells.cell_groups import By, taken
from tacit.method.histogram.estimate_from_cells.life_table import LifeTable
from tacit.method.histogram.estimate_from_cells.survival import life_tables
from tacit.release.document import Released

CLEAR = 8.0
"""Rows at risk in a bin, in standard deviations of their noise, from which it counts."""


def logrank(release: Released, time: str, event: str, by: By, happened: str | None = None) -> Test:
    """See `Statistics.logrank`."""
    made = taken(release, (time, event), by)
    tables = life_tables(made, happened)
    if len(tables) < 2:
        text = "log-rank compares two groups or more."
        raise InferenceError(text, code="I50", hint='by="arm"', state=None)
    off, covariance = compared(tables)
    title = f"{time} alike by {' and '.join(made.by)}"
    if off is None or covariance is None:
        text = "no bin of times has clearly more rows at risk than noise."
        raise InferenceError(text, code="I54", hint="a larger budget, or fewer cells", state=None)
    words = "with the noise in its variance (asymptotic)"
    if len(off) == 1:
        z = float(off[0] / np.sqrt(covariance[0, 0]))
        return Test(title, z, 1, float(2 * stats().norm.sf(abs(z))), f"log-rank, normal law {words}, two-sided")
    chi2 = float(off @ np.linalg.solve(covariance, off))
    return Test(title, chi2, len(off), float(stats().chi2.sf(chi2, len(off))), f"log-rank, chi-square {words}")


def compared(tables: tuple[LifeTable, ...]) -> tuple[Array, Array] | tuple[None, None]:
    """Observed less expected events of all groups but the last, shape (G - 1,), and their covariance; or None.

    Sampling: hypergeometric, given the rows at risk.  Noise: linear in what a row in each cell does.
    """
    events = np.stack([table.events for table in tables])
    at_risk = np.stack([table.at_risk for table in tables])
    total, d = at_risk.sum(axis=0), events.sum(axis=0)
    one = tables[0]
    rows, times = one.weights(one.entered)
    own = one.noise.error(rows, np.zeros(one.bins), times).sd * np.sqrt(len(tables))
    good = (total > np.maximum(CLEAR * own, 1.5)) & (at_risk > CLEAR / 2 * own).all(axis=0)
    if not good.any():
        return None, None
    total, share = np.where(good, total, 1.0), np.where(good, at_risk / np.where(good, total, 1.0), 0.0)
    off = ((events - share * d) * good).sum(axis=1)
    spread = np.where(good, np.maximum(d * (total - d) / np.maximum(total - 1, 1.0), 0.0), 0.0)
    sampling = np.diag((spread * share).sum(axis=1)) - (spread * share) @ share.T
    weights = _weights(tables, share, d / total * good, good)
    noise = one.noise.covariance(weights)
    kept = slice(0, len(tables) - 1)
    return off[kept], (sampling + noise)[kept, kept]


def _weights(tables: tuple[LifeTable, ...], share: Array, hazard: Array, good: Array) -> Array:
    """What a row in each released cell does to observed less expected, shape (G, G * cells)."""
    G, one = len(tables), tables[0]
    cells = one.entered.shape[1]
    out = np.zeros((G, G, cells))
    for h in range(G):
        same = (np.arange(G) == h).astype(np.float64)[:, None]
        out[:, h] = -((same - share) * hazard) @ one.entered
        out[:, h, : one.bins] += (same - share) * good
    return one.spread(out).reshape(G, -1)
