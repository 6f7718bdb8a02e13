"""Intervals of survival on the scale log(-log S), mended where events are few or the answer was not certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Error
from tacit.method.histogram.estimate_from_cells.survival_selection import Decision

FEW: Final = 20.0
"""Events below which the variance of survival is not taken from them alone."""


@dataclass(frozen=True)
class LogLog:
    """Intervals of survival S on the scale log(-log S), or on that of -log S where its error is larger than itself.

    Where there are fewer than FEW events, the limits of H = -log S are also those at which a score test with variance
    H / R + noise accepts, R the rows at risk at the time; the wider ones count.  Greenwood's variance of few events is
    as uncertain as they are, and 0 where there are none.

    logs, errors: log S and its error law at the clear times of each group; after these an interval goes from 0 to the
    last upper limit.  An error of None: no clear time.  noise: the part of the variances that is noise.  at_risk: R,
    infinite where the table is all there is.  chance: of an answer at each time (`LifeTable.chance`), which multiplies
    the level, so that intervals hold given that there is an answer.  terms: number of times of each group.
    decisions: the rows that decide on answers; where there seldom is one the lower limit is also that given an answer.
    Source: [Rao 1948], score tests.
    """

    logs: tuple[Array, ...]
    errors: tuple[Error | None, ...]
    noise: tuple[Array, ...]
    at_risk: tuple[Array, ...]
    chance: tuple[Array, ...]
    terms: int
    decisions: tuple[Decision, ...] = ()

    def interval(self, level: float) -> tuple[Array, Array]:
        """Limits, shape (groups * terms,) each."""
        ends = [self._one(g, level) for g in range(len(self.logs))]
        return np.concatenate([low for low, _ in ends]), np.concatenate([high for _, high in ends])

    def _one(self, g: int, level: float) -> tuple[Array, Array]:
        logs, error = self.logs[g], self.errors[g]
        low, high = np.zeros(self.terms), np.ones(self.terms)
        k = len(logs)
        if error is None:
            return low, high
        q = error.given(1 - level, self.chance[g])
        hazard = -logs
        # delta method: an error q of -log S is an error q / (-log S) of log(-log S)
        with np.errstate(over="ignore"):  # infinite where nothing has happened and nothing is known
            relative = q / np.maximum(hazard, 1e-300)
        near = relative < 1
        step = np.exp(np.where(near, relative, 0.0))
        # a limit of -log S at or below 0 has no log: there the limits are those of -log S itself, cut at S = 1
        low[:k] = np.exp(-np.where(near, hazard * step, np.maximum(hazard + q, 0.0)))
        high[:k] = np.exp(-np.where(near, hazard / step, np.maximum(hazard - q, 0.0)))
        least, most = score_limits(hazard, q / np.maximum(error.sd, 1e-300), self.noise[g], self.at_risk[g])
        few = hazard * self.at_risk[g] < FEW
        low[:k] = np.where(few, np.minimum(low[:k], np.exp(-most)), low[:k])
        high[:k] = np.where(few, np.maximum(high[:k], np.exp(-least)), high[:k])
        if self.decisions:
            sampled = bool(np.isfinite(self.at_risk[g]).all())
            given = self.decisions[g].lowest(1 - level, np.exp(-hazard), error, self.noise[g], sampled)
            low[:k] = np.minimum(low[:k], given)
        # S never rises, so its last upper limit holds for later times too
        high[k:] = high[k - 1]
        return low, high


def score_limits(hazard: Array, z: Array, noise: Array, at_risk: Array) -> tuple[Array, Array]:
    """Return the H, at least 0, at which |H - hazard| = z sqrt(H / at_risk + noise): limits of a cumulative hazard.

    >>> low, high = score_limits(np.array([0.0]), np.array([1.96]), np.zeros(1), np.array([38.416]))
    >>> low.round(3), high.round(3)
    (array([0.]), array([0.1]))
    """
    half = z**2 / at_risk / 2
    root = np.sqrt(np.maximum(z**2 * (noise + hazard / at_risk) + half**2, 0.0))
    return np.maximum(hazard + half - root, 0.0), np.maximum(hazard + half + root, 0.0)
