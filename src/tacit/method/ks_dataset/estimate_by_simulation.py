"""Errors of a released data set, by simulation of the mechanism at the data set itself: the parametric bootstrap.

The rows are taken to be N copies of the data set's distribution.  From these the mechanism draws further data sets
(`layers`, in floats, seeded), whose distance from it is what the mechanism errs by; and further rows are drawn from it,
whose distance is the sampling error.  The two are independent given the rows' distribution.  A function of the release
alone: it costs nothing.  [Efron & Tibshirani 1993, chapter 6]

The shares that the copies have are multiples of 1/k, k the number of points; shares of the rows need not be.  An even
error of up to half of that either way is added at each edge, which is most of all errors where k was asked for that is
small for so many rows.

There are more even data sets than others, towards which the mechanism errs in mean.  The released one has been moved
there once, and is moved less by the simulation than the rows were: what the simulation errs by in mean counts twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from typing import Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.estimates.terms import Target
from tacit.method.ks_dataset.bands import Bands
from tacit.method.ks_dataset.design import rule
from tacit.method.ks_dataset.layers import Layers
from tacit.method.ks_dataset.path_counts import RESCALED
from tacit.noise.selection_law import Selection
from tacit.release.document import Released

DRAWS: Final = 600
"""Simulated data sets; as many samples of rows."""
LAYERS: Final = 30
"""Layers that stand for all of them: the middles of equal parts of their law."""
BEYOND: Final = 2
"""Times the points of the rule from which errors may be too small: the mean error is then more than a part of them."""
UNTOLD: Final = 3
"""Times the points of the rule from which nothing is told of errors: the data set says too little of what moved it."""
SEED: Final = 20130501
FEWEST: Final = 20
"""Fewest rows of which errors are told."""


@dataclass(frozen=True)
class DataSetErrors:
    """Draws of what the distribution function of the data set exceeds the true one by, at the inner edges of cells.

    sampling, privacy: shape (draws, m - 1).  size: number of rows.  reason: why nothing is told, or None.
    most: points by the rule, where there are twice as many or more; else None.
    """

    sampling: Array
    privacy: Array
    size: float
    reason: str | None
    most: int | None = None

    @property
    def total(self) -> Array:
        """Both errors together, shape (draws, m - 1)."""
        return self.sampling + self.privacy


def number_of_rows(release: Released) -> float:
    """Return the number of rows (persons) with a value: public, or as released with noise."""
    for part in release.parts:
        if part.form == "present":
            return part.integers[0][0] / part.parameters.get("share", 1)
    return float(release.rows or 0)


def errors_of(release: Released, target: Target) -> DataSetErrors:
    """Return draws of the errors of a release, real or simulated; of the rows of this table no sampling error."""
    part = release.parts[0]
    size, points = number_of_rows(release), part.integers[0]
    if size < FEWEST:
        none = np.zeros((1, len(points) - 1))
        return DataSetErrors(none, none, size, f"{max(size, 0):,.0f} rows are too few to tell its error")
    rate = cast(Selection, part.law).rate
    # of a price c buys the range 2 c; persons have a rate of rows, too
    ruled, many = rule(round(size), 2 * rate), sum(points)
    reason = (
        f"{many:,} points are {UNTOLD} times those of the rule for this price and number of rows, {ruled:,}, or more"
    )
    reason = f"{reason}: errors cannot be told" if many >= UNTOLD * ruled else None
    privacy, sampling = _simulated(tuple(points), round(size), rate)
    sampling = sampling if target == "population" else np.zeros_like(sampling)
    return DataSetErrors(sampling, privacy, size, reason, ruled if many >= BEYOND * ruled else None)


@lru_cache(maxsize=8)
def _simulated(points: tuple[int, ...], size: int, rate: Fraction) -> tuple[Array, Array]:
    """Return errors of the mechanism and of sampling, each of shape (draws, m - 1)."""
    rng = np.random.default_rng(SEED)
    k = sum(points)
    at = np.cumsum(points)
    # N_i = round(N S_i / k): the distribution of the data set, in whole rows
    cumulative = (2 * size * at + k) // (2 * k)
    bands = Bands(tuple(map(int, cumulative)), k)
    privacy = simulated_data_sets(Layers(bands, rate), DRAWS, rng)[:, :-1] / k - cumulative[:-1] / size
    privacy = privacy + privacy.mean(axis=0)
    rows = rng.multinomial(size, np.array(points) / k, DRAWS)
    # shares of the rows are seldom multiples of 1 / k, which those of the data set are
    between: Array = rng.uniform(-0.5, 0.5, (DRAWS, len(at) - 1)) / k
    return privacy + between, (rows.cumsum(axis=1)[:, :-1] - at[:-1] * (size / k)) / size


def simulated_data_sets(layers: Layers, many: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return S_1 ... S_m of seeded draws of the mechanism, in floats, shape (many, m); they protect nobody.

    Layers are those at the middles of LAYERS equal parts of their law.
    """
    logs = layers.logs()
    law = np.cumsum(np.exp(logs - logs.max()))
    middles = law[-1] * (np.arange(LAYERS) + 0.5) / LAYERS
    chosen = np.array([np.searchsorted(law, one) for one in middles.tolist()], dtype=np.int64)
    each = np.diff(np.linspace(0, many, LAYERS + 1).astype(int))
    made = [data_sets_of_layer(layers.bands, int(t), int(n), rng) for t, n in zip(chosen, each, strict=True)]
    return np.concatenate(made)


def data_sets_of_layer(bands: Bands, level: int, many: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return S_1 ... S_m of seeded draws among the data sets of at most a level, shape (many, m)."""
    low, high = bands.ends(level)
    rows, row, before = [np.ones(1)], np.ones(1), 0
    for i, (first, last) in enumerate(zip(low, high, strict=True)):
        row = np.cumsum(row[np.minimum(np.arange(first - before, last - before + 1), len(row) - 1)])
        before = first
        if i % RESCALED == 0 and len(row):
            row = row / row[-1]
        rows.append(row)
    found = np.empty((many, bands.cells), dtype=np.int64)
    found[:, -1] = bands.size
    for i in range(bands.cells - 1, 0, -1):
        sums, first = rows[i], low[i - 1]
        within = np.minimum(found[:, i] - first, len(sums) - 1)
        found[:, i - 1] = first + np.searchsorted(sums, rng.random(many) * sums[within], side="right")
    return found
