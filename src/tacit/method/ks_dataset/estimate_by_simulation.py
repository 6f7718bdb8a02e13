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
An estimate from which the mean error is taken off errs by more than the data set: where chance made this one more
even, less is taken off.  How much more, a second simulation says, of the mean errors at data sets of the first one.
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
AGAIN: Final = 8
"""Simulated data sets at which the mechanism is simulated again."""
LAYERS_AGAIN: Final = 5
"""Layers that stand for all of them then: those of the first simulation, whose law is nearly the same."""
DRAWS_AGAIN: Final = 16
"""Data sets of each of these layers."""
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


def leans_of(release: Released) -> tuple[Array, Array]:
    """Return errors of simulated data sets, and the mechanism's mean errors at these, shapes (AGAIN, m - 1)."""
    part = release.parts[0]
    return _leans(tuple(part.integers[0]), round(number_of_rows(release)), cast(Selection, part.law).rate)


@lru_cache(maxsize=8)
def _simulated(points: tuple[int, ...], size: int, rate: Fraction) -> tuple[Array, Array]:
    """Return errors of the mechanism and of sampling, each of shape (draws, m - 1)."""
    rng, k, at = np.random.default_rng(SEED), sum(points), np.cumsum(points)
    sets, _ = _data_sets(points, size, rate)
    privacy = sets[:, :-1] / k - _as_rows(at, size)[0][:-1]
    privacy = privacy + privacy.mean(axis=0)
    drawn = rng.multinomial(size, np.array(points) / k, DRAWS)
    # shares of the rows are seldom multiples of 1 / k, which those of the data set are
    between: Array = rng.uniform(-0.5, 0.5, (DRAWS, len(at) - 1)) / k
    return privacy + between, (drawn.cumsum(axis=1)[:, :-1] - at[:-1] * (size / k)) / size


@lru_cache(maxsize=8)
def _leans(points: tuple[int, ...], size: int, rate: Fraction) -> tuple[Array, Array]:
    """Return what `leans_of` says."""
    rng, k = np.random.default_rng(SEED), sum(points)
    sets, levels = _data_sets(points, size, rate)
    # they are in the order of their layers: of each part as many
    sets, again = sets[(np.arange(AGAIN) * DRAWS + DRAWS // 2) // AGAIN], list[Array]()
    for one in sets:
        own, bands = _as_rows(one, size)
        made = [data_sets_of_layer(bands, level, DRAWS_AGAIN, rng)[:, :-1].mean(axis=0) for level in levels]
        again.append(np.mean(made, axis=0) / k - own[:-1])
    return sets[:, :-1] / k - _as_rows(np.cumsum(points), size)[0][:-1], np.array(again)


@lru_cache(maxsize=8)
def _data_sets(points: tuple[int, ...], size: int, rate: Fraction) -> tuple[NDArray[np.int64], list[int]]:
    """Return simulated data sets, shape (DRAWS, m), and LAYERS_AGAIN layers that stand for all."""
    layers = Layers(_as_rows(np.cumsum(points), size)[1], rate)
    return simulated_data_sets(layers, DRAWS, np.random.default_rng(SEED)), middle_layers(layers, LAYERS_AGAIN)


def _as_rows(at: NDArray[np.int64], size: int) -> tuple[Array, Bands]:
    """Return cumulative shares of so many rows with the distribution of a data set S_1 ... S_m, and their bands.

    >>> _as_rows(np.array([1, 2, 3]), 100)[0].tolist()
    [0.33, 0.67, 1.0]
    """
    k = int(at[-1])
    # N_i = round(N S_i / k), in whole rows
    cumulative = (2 * size * at + k) // (2 * k)
    return cumulative / size, Bands(tuple(map(int, cumulative)), k)


def simulated_data_sets(layers: Layers, many: int, rng: np.random.Generator) -> NDArray[np.int64]:
    """Return S_1 ... S_m of seeded draws of the mechanism, in floats, shape (many, m); they protect nobody.

    Layers are those at the middles of LAYERS equal parts of their law.
    """
    each = np.diff(np.linspace(0, many, LAYERS + 1).astype(int)).tolist()
    chosen = middle_layers(layers, LAYERS)
    made = [data_sets_of_layer(layers.bands, t, n, rng) for t, n in zip(chosen, each, strict=True)]
    return np.concatenate(made)


def middle_layers(layers: Layers, parts: int) -> list[int]:
    """Return the layers at the middles of so many equal parts of their law."""
    logs = layers.logs()
    law = np.cumsum(np.exp(logs - logs.max()))
    middles = law[-1] * (np.arange(parts) + 0.5) / parts
    found = np.array([np.searchsorted(law, one) for one in middles.tolist()], dtype=np.int64)
    return found.tolist()


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
