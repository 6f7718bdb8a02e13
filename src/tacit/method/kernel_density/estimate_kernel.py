"""Kernel estimates from the noisy counts of cells, with both errors, at any places and bandwidths.  Plain arrays.

The cells of several columns are crossed, and a weight is the product of those of its columns
(`estimates.kernel_weights`), so that sums over all cells are taken one column after another.
Which estimate
    Limits are around local polynomials of the released bandwidth h and degree 2: their bias is of a higher order than
    their error where the density is smooth.  For any density they hold what the kernel resolves of it: the same
    weighted sum of the true shares of the cells, or 0 where that is below.  The estimate itself is that of least
    estimated risk among bandwidths h, 1.26 h, 1.6 h, ... and degrees 1 and 2: with D the difference of its weights from
    those of the limits,
        max(0, mean of (D s)**2 - mean of D V D') + mean of A V A',
    s being the noisy shares, V their covariance and A its weights, in the mean over a grid of places.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import prod
from typing import Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.simplex import nearest_with_sum
from tacit.estimates.bins import spans
from tacit.estimates.densities.kernel_weights import kernel_weights
from tacit.estimates.densities.local_doubts import DRAWS, doubted, misfit, peaks, ranges
from tacit.estimates.noisy_terms.noisy_ratio import unclear
from tacit.estimates.terms import Target
from tacit.fits.heaps.heaped_cells import whole_heaps
from tacit.fits.within_bins.cell_shapes import CellShapes, off_by
from tacit.method.kernel_density.cells import CELL
from tacit.method.kernel_density.query import KernelDensity
from tacit.noise.laws import RoundedNormal
from tacit.release.document import Released
from tacit.release.parts import Axis

WIDER: Final = (1.0, 1.26, 1.6, 2.0, 2.5, 3.2, 4.0)
"""Bandwidths that are tried for the estimate, in those of the release."""
WIDEST: Final = 0.6
"""Widest bandwidth that is tried, as part of the range."""
SIDE: Final = {1: 128, 2: 24, 3: 9}
"""Places of the grid along each column on which risks are compared, by the number of columns."""
DETAIL: Final = {1: 2_048, 2: 128, 3: 32}
"""Places of the grid along each column on which the estimate is a density."""
FEWEST: Final = 4
"""Fewest cells of whole heaps that tell a density."""
WITHIN: Final = 4
"""Places of a cell over which an estimate is averaged."""
SEED: Final = 1997


@dataclass(frozen=True)
class Kernel:
    """Bandwidths on [0, 1], one for each column, and the degree of the local polynomials."""

    bandwidths: tuple[float, ...]
    degree: int

    def wider(self, by: float, degree: int) -> Kernel:
        """Return a kernel of bandwidths so many times as wide, but for those beyond WIDEST."""
        return Kernel(tuple(max(h, min(by * h, WIDEST)) for h in self.bandwidths), degree)


@dataclass(frozen=True)
class KernelFit:
    """Noisy shares of cells, and the kernels that are laid on them.

    edges: of each column's cells, from 0 to 1.  shares: signed, shape (cells of the first column, ...), of all rows.
    variance: of each share's noise.  size: number of rows, noisy or public.  public: whether it is public.  sampled:
    whether rows are a sample.  released: the kernel of the limits.  smoothed: whether the estimand is the density that
    the kernel has smoothed.  reason: why nothing is known.  laplace: whether each share's noise has a Laplace law;
    otherwise it is taken to be normal.  leaks: which part of each cell's rows may be another's, for declared heaps.
    """

    edges: tuple[Array, ...]
    shares: Array
    variance: float
    size: float
    public: bool
    sampled: bool
    released: Kernel
    smoothed: bool = False
    reason: str | None = None
    laplace: bool = False
    leaks: Array | None = None

    @property
    def limiting(self) -> Kernel:
        """The kernel that limits are around: a degree more than the estimand's, unless that is smoothed."""
        return Kernel(self.released.bandwidths, 1 if self.smoothed else 2)

    @cached_property
    def chosen(self) -> Kernel:
        """The kernel of the estimate."""
        if self.smoothed:
            return self.limiting
        tried = [self.released.wider(by, degree) for degree in (1, 2) for by in WIDER]
        kernels = list(dict.fromkeys(tried))
        risks = [self._risk(one) for one in kernels]
        return kernels[int(np.argmin(risks))]

    @cached_property
    def probable(self) -> Array:
        """Shares that are 0 or more and add up to 1: of all such the nearest."""
        return nearest_with_sum(self.shares, 1.0)

    def weights(self, kernel: Kernel, t: Array) -> tuple[Array, ...]:
        """Return the weights of each column's cells at places t, shape (n, columns): (n, cells) each."""
        each = zip(self.edges, kernel.bandwidths, t.T, strict=True)
        return tuple(kernel_weights(edges, places, h, kernel.degree) for edges, h, places in each)

    def full_weights(self, kernel: Kernel, t: Array) -> Array:
        """Return the weights of all cells at places, shape (n, cells)."""
        made = np.ones((len(t), 1))
        for own in self.weights(kernel, t):
            made = (made[:, :, None] * own[:, None, :]).reshape(len(t), -1)
        return made

    def values(self, kernel: Kernel, t: Array) -> Array:
        """Return the estimate at places, shape (n,), before it is made a density."""
        return _at(self.weights(kernel, t), self.shares)

    def grid(self, kernel: Kernel, places: list[Array]) -> Array:
        """Return the estimate on the grid of all places of each column, shape (places of the first column, ...)."""
        each = zip(self.edges, kernel.bandwidths, places, strict=True)
        return _over([kernel_weights(edges, own, h, kernel.degree) for edges, h, own in each], self.shares)

    def errors(self, kernel: Kernel, t: Array) -> tuple[Array, Array]:
        """Return variances of the estimate at places due to sampling and to noise, shape (n,) each."""
        own = self.weights(kernel, t)
        squares = [one**2 for one in own]
        sampling = np.zeros(len(t))
        if self.sampled:
            sampling = (_at(squares, self.probable) - _at(own, self.probable) ** 2) / self.size
        noise = np.prod([one.sum(axis=1) for one in squares], axis=0)
        if not self.public:
            # of a ratio: the noise of the size moves all shares
            value = _at(own, self.shares)
            total = np.prod([one.sum(axis=1) for one in own], axis=0)
            noise = noise - 2 * value * total + value**2 * self.shares.size
        return np.maximum(sampling, 0.0), self.variance * noise

    def covariances(self, weights: Array) -> tuple[Array, Array]:
        """Return covariances of weighted sums of all shares, due to sampling and to noise; weights: (n, cells)."""
        probable = self.probable.reshape(-1)
        sampling = np.zeros((len(weights), len(weights)))
        if self.sampled:
            mean = weights @ probable
            sampling = ((weights * probable) @ weights.T - np.outer(mean, mean)) / self.size
        load = weights if self.public else weights - (weights @ self.shares.reshape(-1))[:, None]
        return sampling, self.variance * (load @ load.T)

    def beside(self, weights: Array, other: tuple[Array, Array], shapes: CellShapes, t: Array) -> Array:
        """Return what weighted sums of all shares may be off by, shape (n,), from a second opinion with other weights.

        other: those weights, and what is not known of it.  t: of which places they are.  Nothing where the residuals of
        all cells are as small as noise makes them, but in cells that hold so many rows that these tell nothing.
        """
        if self.smoothed or not (self._tested[1] or shapes.crowded(t).any()):
            return np.zeros(len(weights))
        apart, unknown = weights - other[0], other[1]
        between, own = (np.asarray(sum(np.diag(one) for one in self.covariances(w))) for w in (apart, other[0]))
        off = off_by(apart @ self.shares.reshape(-1), between, unknown, own)
        return np.maximum(np.sqrt(self._tested[1]) * off, shapes.hidden(t, unknown, own))

    def of_whole_heaps(self, ends: Array, heaped_at: float) -> KernelFit | None:
        """Return the same of cells of whole heaps, of one column; None where they are fewer than FEWEST.

        ends: of the cells, and the distance of heaps, in the column's units.
        """
        (edges,), (h,) = self.edges, self.released.bandwidths
        at, leaks = whole_heaps(ends, heaped_at)
        if len(at) <= FEWEST:
            return None
        shares, many = np.add.reduceat(self.shares, at[:-1]), int(np.diff(at).max())
        kernel = Kernel((max(h, float(np.diff(edges[at]).max()) / CELL),), self.released.degree)
        facts = {"edges": (edges[at],), "shares": shares, "variance": self.variance * many, "released": kernel}
        # sums of several noises are nearly normal
        return replace(self, **facts, laplace=self.laplace and many == 1, leaks=leaks)

    def off(self, t: Array, unit: float) -> Array:
        """Return what limits of the density at places t are seen to be off by, of one column, shape (n,).

        0 where the estimand is smoothed.  unit: distance of two values, as part of the range.
        """
        if self.smoothed or self.reason is not None:
            return np.zeros(len(t))
        shapes = self.shapes(unit)
        beside = self.beside(self.full_weights(self.limiting, t[:, None]), shapes.density(t), shapes, t)
        return np.hypot(beside, shapes.leaking(self.leaks, t))

    def shapes(self, unit: float) -> CellShapes:
        """Return the shapes within cells, of one column; unit: distance of two of its values, as part of the range."""
        (edges,) = self.edges
        return CellShapes.of(edges, self.shares * self.size, self.variance * self.size**2, unit)

    def drawn(self, weights: Array, draws: int, rng: np.random.Generator) -> Array:
        """Return draws of the errors of weighted sums of all shares, shape (draws, n); weights: (n, cells)."""
        probable, cells = self.probable.reshape(-1), weights.shape[1]
        noise = rng.laplace(size=(draws, cells)) / np.sqrt(2) if self.laplace else rng.standard_normal((draws, cells))
        load = weights if self.public else weights - (weights @ self.shares.reshape(-1))[:, None]
        made = np.sqrt(self.variance) * noise @ load.T
        if not self.sampled:
            return made
        around = weights - (weights @ probable)[:, None]
        return made + rng.standard_normal((draws, cells)) * np.sqrt(probable / self.size) @ around.T

    def margin(self, at: int) -> KernelFit:
        """Return the same of one column alone."""
        others = tuple(i for i in range(self.shares.ndim) if i != at)
        added = prod(self.shares.shape[i] for i in others)
        kernel = Kernel((self.released.bandwidths[at],), self.released.degree)
        return replace(
            self,
            edges=(self.edges[at],),
            shares=self.shares.sum(axis=others),
            variance=self.variance * added,
            released=kernel,
            # sums of several noises are nearly normal
            laplace=self.laplace and added == 1,
        )

    @property
    def resolved(self) -> bool:
        """Whether in no column the counts say more than the kernel of the limits resolves."""
        return not any(self.margin(at).doubts for at in range(self.shares.ndim))

    @property
    def doubts(self) -> tuple[tuple[float, float], ...]:
        """Ranges of [0, 1] in which the counts say more than the kernel of the limits resolves; of one column."""
        return self._tested[0]

    @cached_property
    def peaks(self) -> tuple[tuple[float, float], ...]:
        """Ranges of [0, 1] of these that are peaks of the counts; of one column."""
        (edges,), middles = self.edges, (self.edges[0][1:] + self.edges[0][:-1]) / 2
        doubts = np.array([any(a < x < b for a, b in self.doubts) for x in middles.tolist()], dtype=np.bool_)
        return ranges(peaks(doubts, edges, self.shares), edges)

    @cached_property
    def _tested(self) -> tuple[tuple[tuple[float, float], ...], float]:
        """The doubts, and which part of all residuals is more than noise (`local_doubts.misfit`); of one column."""
        if self.smoothed or self.reason is not None:
            return (), 0.0
        if not self.sampled:
            # rows of a table scatter about a smooth density as those of a sample do
            return replace(self, sampled=True)._tested
        (edges,), cells = self.edges, self.shares.size
        # the average of the estimate over each cell, by Gauss's rule, a few cells at a time
        nodes, weights = np.polynomial.legendre.leggauss(WITHIN)
        places = (edges[:-1, None] + np.diff(edges)[:, None] * (nodes + 1) / 2).reshape(-1, 1)
        parts = np.array_split(places, max(1, cells // 128))
        over = np.concatenate([self.full_weights(self.limiting, one) for one in parts]).reshape(cells, WITHIN, cells)
        left = np.eye(cells) - np.tensordot(weights / 2, over, axes=([0], [1])) * np.diff(edges)[:, None]
        own = np.sqrt(self.variance + (self.probable / self.size if self.sampled else 0.0))
        drawn = self.drawn(left, DRAWS, np.random.default_rng(SEED))
        found = doubted(left @ self.shares, drawn, np.broadcast_to(own, (cells,)))
        return ranges(found, edges), misfit(left @ self.shares, drawn, bool(found.any()))

    def _risk(self, kernel: Kernel) -> float:
        """Return the estimated mean squared error of an estimate over a grid of the cube."""
        side = SIDE[len(self.edges)]
        places = (np.arange(side) + 0.5) / side
        # the grid is a product, so that its weights are: one matrix a column
        own = self.weights(kernel, np.stack([places] * len(self.edges), axis=1))
        pilot = self.weights(self.limiting, np.stack([places] * len(self.edges), axis=1))
        apart = _over(own, self.shares) - _over(pilot, self.shares)
        cross = [a * b for a, b in zip(own, pilot, strict=True)]
        squares, of_pilot = [one**2 for one in own], [one**2 for one in pilot]
        spread = self._variance(squares, _over(own, self.probable) ** 2)
        between = self._variance(squares, 0.0) + self._variance(of_pilot, 0.0) - 2 * self._variance(cross, 0.0)
        between = between - (float((apart**2).mean()) / self.size if self.sampled else 0.0)
        return max(0.0, float((apart**2).mean()) - between) + spread

    def _variance(self, products: list[Array], less: Any) -> float:
        """Return the mean over the grid of the variance of sums whose products of weights are given."""
        noise = self.variance * float(_over(products, np.ones(self.shares.shape)).mean())
        return noise + (float((_over(products, self.probable) - less).mean()) / self.size if self.sampled else 0.0)


def fitted(release: Released, target: Target = "population", *, smoothed: bool = False) -> KernelFit:
    """Return the shares of cells and the kernels of a release, real or simulated."""
    query, (part,) = cast(KernelDensity, release.query), release.parts
    axes = cast("tuple[Axis, ...]", getattr(release, "axes", ()))
    ends = [ends_of(axis) for axis in axes]
    edges = tuple((one - one[0]) / (one[-1] - one[0]) for one in ends)
    widths = [query.widths.get(name) for name, _ in release.levels]
    bandwidths = tuple(
        1 / (CELL * (len(one) - 1)) if width is None else width / float(one[-1] - one[0])
        for one, width in zip(ends, widths, strict=True)
    )
    share = part.parameters.get("share", 1)
    counts = np.array([cell[0] for cell in part.integers], dtype=np.float64).reshape([len(one) - 1 for one in ends])
    counts = counts / share
    leaves = query.where is not None or any(axis.missing == "exclude" for axis in axes)
    public = release.rows is not None and not leaves
    size, reason = float(release.rows or 0) if public else float(counts.sum()), None
    if not public:
        reason = unclear(size, part.law, counts.size, share)
    elif size < 1:
        reason = "no rows"
    size = max(size, 1.0)
    even = np.ones(counts.shape)
    for at, one in enumerate(edges):
        even = even * np.diff(one).reshape([-1 if i == at else 1 for i in range(len(edges))])
    # a density that is even is what nothing is known from
    shares = even if reason is not None else counts / size
    variance = part.law.variance() / (share * size) ** 2
    kernel = Kernel(bandwidths, 2)
    facts = (edges, shares, variance, size, public, target == "population", kernel)
    return KernelFit(*facts, smoothed, reason, not isinstance(part.law, RoundedNormal))


def ends_of(axis: Axis) -> Array:
    """Return the ends of a column's cells in its units, shape (cells + 1,)."""
    lower, upper = spans(axis)
    return np.append(lower, upper[-1])


def _at(weights: Sequence[Array], shares: Array) -> Array:
    """Return sums of shares weighted by products of the columns' weights, of n places: (n, cells) each."""
    first, *others = weights
    made = first @ shares.reshape(shares.shape[0], -1)
    for own in others:
        made = (made.reshape(len(own), own.shape[1], -1) * own[:, :, None]).sum(axis=1)
    return made.reshape(len(first))


def _over(weights: Sequence[Array], shares: Array) -> Array:
    """Return the same on the grid of all places of each column, shape (places of the first column, ...)."""
    made = shares
    for own in weights:
        # the first axis is summed, and that of the places put last
        made = np.asarray(np.tensordot(made, own, axes=([0], [1])), dtype=np.float64)
    return made
