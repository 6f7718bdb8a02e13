"""What many releases say of one column, as estimating equations that add up.  Pure array functions.

A party's mean, share or variance x is where D(x) = total - x size is zero on average, whatever its number of rows; D is
linear in the noise, and sampling error has variance C(x) = q2 - 2 x q1 + x**2 q0, linear in released sums too.  So
weighted sums of D over parties are free of the bias that ratios of noisy numbers have (theory §6, §12).

Shapes: M parties, T cells, k noises of a party.  Means and shares are of u in [-1, 1], variances of x in [0, 1].
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tacit.inference.decode import BINARY, Moments, moments, powers
from tacit.inference.invert import central
from tacit.inference.laws import Array, is_gaussian
from tacit.release import Grid, Part, Released

Kind: TypeAlias = Literal["mean", "share", "variance"]
START: Final = {"mean": (0.0, 1 / 3), "share": (0.0, 1.0), "variance": (1 / 12, 1 / 180)}
"""Where the search begins: of values spread evenly, x and the variance of a row's part of D."""
CLEAR: Final = 6.0
"""A noisy size of so many standard deviations of its noise, or more, admits a variance."""
BOUNDS: Final = {"mean": (-1.0, 1.0), "share": (-1.0, 1.0), "variance": (0.0, 0.25)}


@dataclass(frozen=True)
class Evidence:
    """M parties, T cells of one column.

    size, total: shape (M, T).  loads: how they react to the noises, shape (2, M, 1 or T, k).
    squares: q0, q1, q2, shape (3, M, T); square_loads: shape (3, M, 1 or T, k).
    noise: variance of each noise, shape (M, k), 0 where there is none; laplace: which are Laplace, shape (M, k).
    most: largest C(x) of a row, less what depends on x, shape (M, T).  public: whether sizes are, shape (M,).
    middle: loads[1] of a variance at a mean of one half.  A value is shift + scale x.
    """

    kind: Kind
    size: Array
    total: Array
    loads: Array
    squares: Array
    square_loads: Array
    noise: Array
    laplace: NDArray[np.bool_]
    most: Array
    public: NDArray[np.bool_]
    middle: Array
    shift: float
    scale: float

    @property
    def bounds(self) -> tuple[float, float]:
        """Between which x lies."""
        return BOUNDS[self.kind]

    def distance(self, x: Array) -> Array:
        """D(x), shape (M, T); x of shape (T,) or (M, T)."""
        return self.total - x * self.size

    def load(self, x: Array) -> Array:
        """How D(x) reacts to the noises, shape (M, T, k)."""
        return self.loads[1] - np.asarray(x)[..., None] * self.loads[0]

    def privacy(self, x: Array) -> Array:
        """Noise variance of D(x), shape (M, T)."""
        return (self.load(x) ** 2 * self.noise[:, None, :]).sum(axis=-1)

    def with_size(self, x: Array) -> Array:
        """Noise covariance of D(x) and the size, shape (M, T)."""
        return (self.load(x) * self.loads[0] * self.noise[:, None, :]).sum(axis=-1)

    def size_variance(self) -> Array:
        """Noise variance of the size, shape (M, 1 or T)."""
        return (self.loads[0] ** 2 * self.noise[:, None, :]).sum(axis=-1)

    def likely_size(self) -> tuple[Array, Array]:
        """Sizes shrunk to their mean as far as noise makes them unclear, so that luck chooses no party; and the part of
        each that is its own; shapes (M, T).
        """
        noise = self.size_variance()
        if not noise.any():
            return self.size, np.ones_like(self.size)
        between = np.maximum(self.size.var(axis=0, ddof=min(1, len(self.size) - 1)) - noise.mean(axis=0), 0.0)
        worth = np.broadcast_to(1 / (between + noise + 1), self.size.shape)
        middle = (worth * self.size).sum(axis=0) / worth.sum(axis=0)
        own = between / (between + noise + 1e-9)
        return middle + own * (self.size - middle), own

    def weighing(self, x: Array) -> Array:
        """Noise variance of D(x) for weights, shape (M, T): of variances at a mean of one half, which no noise moves."""
        if self.kind != "variance":
            return self.privacy(x)
        load = self.middle - np.asarray(x)[..., None] * self.loads[0]
        return (load**2 * self.noise[:, None, :]).sum(axis=-1)

    def sampling(self, x: Array) -> Array:
        """C(x) as released: unbiased, and below 0 now and then; shape (M, T)."""
        q0, q1, q2 = self.squares
        return q2 - 2 * x * q1 + x**2 * q0

    def sampling_noise(self, x: Array) -> Array:
        """Noise variance of C(x), shape (M, T)."""
        x = np.asarray(x)[..., None]
        load = self.square_loads[2] - 2 * x * self.square_loads[1] + x**2 * self.square_loads[0]
        return (load**2 * self.noise[:, None, :]).sum(axis=-1)

    def cap(self, x: Array) -> Array:
        """The largest C(x) that bounded values can have, a row; shape (M, T)."""
        if self.kind == "variance":
            return np.maximum(x * (self.most - x), 0.0)
        return np.broadcast_to(np.maximum(1 - x**2, 0.0), self.size.shape)

    def of(self, chosen: NDArray[np.bool_] | NDArray[np.intp]) -> Evidence:
        """Some of the parties."""
        return replace(
            self,
            size=self.size[chosen],
            total=self.total[chosen],
            loads=self.loads[:, chosen],
            squares=self.squares[:, chosen],
            square_loads=self.square_loads[:, chosen],
            noise=self.noise[chosen],
            laplace=self.laplace[chosen],
            most=self.most[chosen],
            public=self.public[chosen],
            middle=self.middle[chosen],
        )


def evidence(releases: Sequence[Released], at: int) -> Evidence:
    """Part `at` of each of M releases of one Mean or Variance, of alike grids -> Evidence."""
    parts = [release.parts[at] for release in releases]
    whole = [_rows(release, part) for release, part in zip(releases, parts, strict=True)]
    if parts[0].form == "bernstein":
        return _clear(stacked(_variances(parts, whole), parts))
    return stacked(_means(parts, whole), parts)


def _clear(found: Evidence) -> Evidence:
    """Cells of variances whose size is not CLEAR say nothing: there noise on the mean has effects of higher order."""
    clear = found.likely_size()[0] > CLEAR * np.sqrt(found.size_variance())
    return replace(
        found,
        size=found.size * clear,
        total=found.total * clear,
        loads=found.loads * clear[..., None],
        squares=found.squares * clear,
        square_loads=found.square_loads * clear[..., None],
    )


def quality_evidence(releases: Sequence[Released], at: int, i: int) -> Evidence:
    """Class i of part `at` of each of M releases of DataQuality: its share among all rows."""
    parts = [release.parts[at] for release in releases]
    found: list[_One] = []
    for release, part in zip(releases, parts, strict=True):
        counts = np.array([[float(k) for k in part.integers[0]]]) / part.parameters.get("share", 1)
        signs = np.full(counts.shape[1], -1.0)
        signs[i] = 1.0
        load = np.array([np.ones_like(signs), signs, np.ones_like(signs)])
        size, total = counts.sum(axis=1), counts @ signs
        if release.rows is not None:
            size, total = np.full_like(size, release.rows), 2 * counts[:, i] - release.rows
            load = np.array([np.zeros_like(signs), (signs + 1), np.zeros_like(signs)])
        load = load / part.parameters.get("share", 1)
        squares = np.array([size, total, size])
        found.append(_One(squares[:2], load[:2, None], squares, load[:, None], np.ones(1), release.rows is not None))
    made = stacked(found, parts)
    return replace(made, kind="share", shift=0.5, scale=0.5)


@dataclass(frozen=True)
class _One:
    """One party: sums (2, T), loads (2, 1 or T, k), squares (3, T), square_loads (3, 1 or T, k), most (T,)."""

    sums: Array
    loads: Array
    squares: Array
    square_loads: Array
    most: Array
    public: bool
    middle: Array = field(default_factory=lambda: np.zeros((1, 1)))


def _rows(release: Released, part: Part) -> int | None:
    """Public number of rows behind the one cell of a part, where the form does without a noisy one."""
    if part.form != "bernstein":
        return release.rows
    grouped = bool(release.levels) or getattr(release.query, "where", None) is not None
    return release.rows if not grouped and cast(Grid, part.grid).missing != "exclude" else None


def _alike(parts: Sequence[Part], rows: Sequence[int | None]) -> list[tuple[list[int], Part, int | None, Array]]:
    """Parties of one form and size together: indices, a part, the size, integers of shape (parties * T, k)."""
    groups: dict[object, list[int]] = {}
    for i, (part, n) in enumerate(zip(parts, rows, strict=True)):
        groups.setdefault((part.form, *sorted(part.parameters.items()), n), []).append(i)
    out: list[tuple[list[int], Part, int | None, Array]] = []
    for places in groups.values():
        cells = np.array([[[float(k) for k in cell] for cell in parts[i].integers] for i in places])
        out.append((places, parts[places[0]], rows[places[0]], cells.reshape(-1, cells.shape[-1])))
    return out


def _means(parts: Sequence[Part], rows: Sequence[int | None]) -> list[_One]:
    found: dict[int, _One] = {}
    for places, part, n, cells in _alike(parts, rows):
        noisy: Moments = moments(part.form, part.parameters, cells, n)
        shape = (len(places), -1)
        sums = np.array([noisy.size.reshape(shape), noisy.total.reshape(shape)])
        squares = np.array([one.reshape(shape) for one in noisy.squares])
        for j, i in enumerate(places):
            own = squares[:, j]
            found[i] = _One(
                sums[:, j], noisy.loadings[:2, None], own, noisy.square_loadings[:, None], own[0], noisy.public
            )
    return [found[i] for i in range(len(parts))]


def _variances(parts: Sequence[Part], rows: Sequence[int | None]) -> list[_One]:
    """SS, the sum of squared deviations, with the second-order effect of noise on the mean undone; size N - 1."""
    found: dict[int, _One] = {}
    for places, part, n, cells in _alike(parts, rows):
        noisy = powers(part.parameters, cells, n)
        size = np.maximum(noisy.sums[:, 0], 2.0)
        free = noisy.sums[:, 1] / size  # not kept to [0, 1]: with a public size the sum is then free of bias
        mean = np.clip(free, 0.0, 1.0)
        shift = noisy.loadings[1] - free[:, None] * noisy.loadings[0]
        second, fourth = central(free)[0], central(mean)[1]
        own = (second * noisy.sums).sum(axis=-1)
        total = own + (shift**2).sum(axis=-1) * part.law.variance() / size
        zeroth = np.broadcast_to(noisy.loadings[0], (len(mean), noisy.loadings.shape[1]))
        load = np.array([zeroth, second @ noisy.loadings])
        squares = np.array([noisy.sums[:, 0], own, (fourth * noisy.sums).sum(axis=-1)])
        square_load = np.array([zeroth, second @ noisy.loadings, fourth @ noisy.loadings])
        sums = np.array([noisy.sums[:, 0] - 1, total])
        most = np.maximum(mean, 1 - mean) ** 2
        middle = (central(np.array([0.5]))[0] @ noisy.loadings).reshape(1, -1)
        step = len(mean) // len(places)
        for j, i in enumerate(places):
            here = slice(j * step, (j + 1) * step)
            found[i] = _One(
                sums[:, here], load[:, here], squares[:, here], square_load[:, here], most[here], noisy.public, middle
            )
    return [found[i] for i in range(len(parts))]


def stacked(found: Sequence[_One], parts: Sequence[Part]) -> Evidence:
    """Parties side by side; those with fewer noises are filled up with noises of variance 0."""
    k = max(one.loads.shape[-1] for one in found)
    cells = max(one.loads.shape[1] for one in found)
    grid = parts[0].grid
    kind: Kind = "variance" if parts[0].form == "bernstein" else "share" if parts[0].form in BINARY else "mean"
    lower, upper = (0.0, 1.0) if grid is None else (grid.lower, grid.upper)
    shift, scale = (0.0, (upper - lower) ** 2) if kind == "variance" else ((lower + upper) / 2, (upper - lower) / 2)
    noise = np.zeros((len(found), k))
    laplace = np.zeros((len(found), k), dtype=np.bool_)
    for j, (one, part) in enumerate(zip(found, parts, strict=True)):
        noise[j, : one.loads.shape[-1]] = part.law.variance()
        laplace[j, : one.loads.shape[-1]] = not is_gaussian(part.law)

    def filled(load: Array) -> Array:
        wide = np.zeros((len(load), cells, k))
        wide[:, :, : load.shape[-1]] = load
        return wide

    return Evidence(
        kind=kind,
        size=np.array([one.sums[0] for one in found]),
        total=np.array([one.sums[1] for one in found]),
        loads=np.stack([filled(one.loads) for one in found], axis=1),
        squares=np.stack([one.squares for one in found], axis=1),
        square_loads=np.stack([filled(one.square_loads) for one in found], axis=1),
        noise=noise,
        laplace=laplace,
        most=np.array([one.most for one in found]),
        public=np.array([one.public for one in found]),
        middle=np.stack([filled(one.middle[None])[0] for one in found]),
        shift=shift,
        scale=scale,
    )


def merged(found: Evidence, people: Sequence[int]) -> Evidence:
    """Releases about the same people become one party: their noise is averaged, their sampling error is shared.

    people: of each release, the index of its party, shape (M,).  Weights within a party are inverse to the noise, and
    public.  The k axis then holds the noises of all its releases.
    """
    index = np.asarray(people)
    parties = int(index.max()) + 1
    if parties == len(index):
        return found
    middle = np.full(found.size.shape[1], (found.bounds[0] + found.bounds[1]) / 2)
    worth = 1 / np.maximum(found.privacy(middle).mean(axis=1), 1e-300)  # (releases,)
    share = worth / np.bincount(index, worth)[index]
    k = found.noise.shape[1]
    turn = np.array([int((index[:j] == index[j]).sum()) for j in range(len(index))])
    wide = (int(turn.max()) + 1) * k

    def added(values: Array) -> Array:  # (M, T) -> (parties, T)
        out = np.zeros((parties, *values.shape[1:]))
        np.add.at(out, index, share[:, None] * values)
        return out

    def side(loads: Array, weight: Array) -> Array:  # (M, ..., k) -> (parties, ..., wide)
        out = np.zeros((parties, *loads.shape[1:-1], wide), dtype=loads.dtype)
        for j, i in enumerate(index):
            out[i, ..., turn[j] * k : (turn[j] + 1) * k] = weight[j] * loads[j]
        return out

    one = np.ones(len(index))
    public = np.ones(parties, dtype=np.bool_)
    np.logical_and.at(public, index, found.public)
    return replace(
        found,
        size=added(found.size),
        total=added(found.total),
        loads=np.stack([side(load, share) for load in found.loads]),
        squares=np.stack([added(square) for square in found.squares]),
        square_loads=np.stack([side(load, share) for load in found.square_loads]),
        noise=side(found.noise, one),
        laplace=side(found.laplace.astype(np.float64), one) > 0,
        most=added(found.most),
        public=public,
        middle=side(found.middle, share),
    )
