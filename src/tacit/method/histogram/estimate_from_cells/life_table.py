"""Life tables from noisy counts of (time, event): numbers at risk, survival, and the influence of each cell on it.

For binned times the estimator is the actuarial one: rows censored in a bin are at risk for half of it.  Where each bin
is one value (an Integer), times are exact and it is the product-limit estimator [Kaplan & Meier 1958], with censoring
after events at the same time.  A bin of w whole numbers is between the two: a row censored at the k-th of them is at
risk at k of w, which is (w + 1) / 2 w on average.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise
from tacit.method.histogram.estimate_from_cells.survival_selection import Decision

CLEAR: Final = 5.0
"""A table ends where the rows at risk fall below this many standard deviations of their noise."""


@dataclass(frozen=True)
class LifeTable:
    """The life table of one group.

    events, censored: noisy counts by bin, shape (J,), signed, in order of time.  beyond: rows with times after the last
    bin.  half: whether rows censored in a bin are at risk for half of it (else for the whole of it).  noise: law of the
    noise of the cells.  has_beyond: whether there are cells above the bounds.
    Vectors over cells have the order events, censored, beyond: 2 J + 1 entries.
    """

    events: Array
    censored: Array
    beyond: float
    absent: Array | float
    noise: Noise
    has_beyond: bool = False

    @property
    def bins(self) -> int:
        """Number of bins, J."""
        return len(self.events)

    @cached_property
    def entered(self) -> Array:
        """Contribution of a row in each cell to the number at risk in each bin, shape (J, cells)."""
        J = self.bins
        upto = np.triu(np.ones((J, J)))  # a row that leaves in i was at risk in j <= i
        own = upto - np.eye(J) * self.absent
        # columns: events, censored, beyond; rows beyond the last bin were at risk in every bin
        return np.concatenate([upto, own, np.ones((J, 1))], axis=1)

    @cached_property
    def counts(self) -> Array:
        """Counts of all cells, shape (cells,)."""
        return np.concatenate([self.events, self.censored, [self.beyond]])

    @cached_property
    def at_risk(self) -> Array:
        """Rows at risk, shape (J,)."""
        return self.entered @ self.counts

    def weights(self, rows: Array) -> tuple[Array, Array]:
        """Return weights, shape (..., cells), and how many released cells have each: `beyond` sums 2 cells, or 0."""
        times = np.concatenate([np.ones(2 * self.bins), [2.0 * self.has_beyond]])
        return rows, np.broadcast_to(times, rows.shape)

    def spread(self, rows: Array) -> Array:
        """Return weights with one column for each released cell: the column of `beyond` twice, or dropped."""
        return np.concatenate([rows, rows[..., -1:]], axis=-1) if self.has_beyond else rows[..., :-1]

    @cached_property
    def decision(self) -> Decision:
        """The rows of each bin that decide whether it is clear of noise.

        Rows left after the events must be clear of noise too, as log((R - d) / R) is taken.
        """
        rows, times = self.weights(self.entered)
        noise = self.noise.error(rows, np.zeros(self.bins), times)
        sd = np.maximum(noise.sd, 1e-9)
        # at least half a row
        least, least_left = np.maximum(CLEAR * sd, 0.5), np.maximum(CLEAR / 2 * sd, 1e-9)
        return Decision(self.at_risk, self.at_risk - self.events, least, least_left, noise)

    @cached_property
    def margin(self) -> Array:
        """By how many standard deviations of their noise rows are clear of it, shape (J,); below 0: not clear."""
        return self.decision.margin

    @cached_property
    def clear(self) -> int:
        """Number of leading bins with clearly more rows at risk than noise, and rows left after their events."""
        good = self.margin > 0
        return self.bins if good.all() else int(np.argmin(good))  # index of the first False

    @cached_property
    def chance(self) -> Array:
        """Probability of an answer in each of the clear bins, shape (clear,) (`Decision.chance`)."""
        return self.decision.first(self.clear).chance()

    @cached_property
    def logs(self) -> Array:
        """Log of survival at the ends of the clear bins, shape (clear,)."""
        at_risk, events = self.at_risk[: self.clear], self.events[: self.clear]
        return np.cumsum(np.log((at_risk - events) / at_risk))  # log S = sum of log(1 - d / R)

    @cached_property
    def influence(self) -> Array:
        """Derivative of `logs` in the count of each cell, shape (clear, cells)."""
        k = self.clear
        at_risk, events = self.at_risk[:k], self.events[:k]
        # with R at risk and d events, log((R - d) / R) has derivatives 1 / (R - d) - 1 / R in R, -1 / (R - d) in d
        left = 1 / (at_risk - events)
        steps = (left - 1 / at_risk)[:, None] * self.entered[:k]
        steps[np.arange(k), np.arange(k)] -= left  # events in bin j are column j
        return np.cumsum(steps, axis=0)
