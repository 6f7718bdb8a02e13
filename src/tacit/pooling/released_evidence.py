"""From the noisy integers of many releases to their estimating equations (`Evidence`).  Functions of arrays."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.interval_inversion import central
from tacit.estimates.noisy_terms.noisy_moments import BINARY, Moments, moments, powers
from tacit.pooling.evidence import CLEAR, Evidence, Kind
from tacit.pooling.noise_sum import laplace_share
from tacit.release.document import Released
from tacit.release.parts import OF_BLOCKS, Grid, Part


def evidence(releases: Sequence[Released], at: int) -> Evidence:
    """Return the estimating equations of part `at` of M releases of one Mean or Variance with equal grids."""
    parts = [release.parts[at] for release in releases]
    whole = [_rows(release, part) for release, part in zip(releases, parts, strict=True)]
    if parts[0].form == "bernstein":
        return _without_unclear_cells(stack_parties(_variances(parts, whole), parts))
    made = stack_parties(_means(parts, whole), parts)
    return replace(made, spread=_relative_block_variance(releases, parts)) if parts[0].form in OF_BLOCKS else made


def _relative_block_variance(releases: Sequence[Released], parts: Sequence[Part]) -> Array:
    """Return 1 / (rows of a block) of each release, scaled to mean 1; all 1 where some number of rows is private."""
    rows = [one.rows for one in releases]
    # sizes of blocks are then unknown: the sampling variance is taken as equal in all parties
    if None in rows:
        return np.ones(len(rows))
    made = np.array([part.parameters["blocks"] for part in parts]) / np.maximum(np.array(rows, dtype=np.float64), 1.0)
    return made / made.mean()


def _without_unclear_cells(found: Evidence) -> Evidence:
    """Set cells of variances to zero whose size is below CLEAR standard deviations of its noise.

    The correction for noise on the mean is of second order, and higher orders matter there.
    """
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
    """Return the estimating equations of the share of class i among all rows, from part `at` of M quality releases."""
    parts = [release.parts[at] for release in releases]
    found: list[_EqualParts] = []
    for places, part, n, cells in _equal_parts(parts, [release.rows for release in releases]):
        share = part.parameters.get("share", 1)
        counts = cells / share
        signs = np.full(counts.shape[1], -1.0)
        signs[i] = 1.0
        load = np.array([np.ones_like(signs), signs, np.ones_like(signs)])
        # rows of class i have u = 1, all others u = -1, so that u**2 = 1 and q0 = q2 = size
        size, total = counts.sum(axis=1), counts @ signs
        if n is not None:
            size, total = np.full_like(size, n), 2 * counts[:, i] - n
            # with n public the total is 2 count_i - n, which has the noise of one count in place of all
            load = np.array([np.zeros_like(signs), (signs + 1), np.zeros_like(signs)])
        squares = np.array([size, total, size])[..., None]
        load = load[:, None, None] / share
        most = np.ones((len(places), 1))
        found.append(_EqualParts(places, squares[:2], load[:2], squares, load, most, n is not None))
    made = stack_parties(found, parts)
    return replace(made, kind="share", shift=0.5, scale=0.5)


@dataclass(frozen=True)
class _EqualParts:
    """m parties with one encoding, law of noise and public size; `places` are their indices among all parties.

    sums: shape (2, m, T); squares: (3, m, T); loads, square_loads: (2 or 3, 1 or m, 1 or T, k); most: (m, T).
    middle: shape (k,).
    """

    places: list[int]
    sums: Array
    loads: Array
    squares: Array
    square_loads: Array
    most: Array
    public: bool
    middle: Array | float = 0.0


def _rows(release: Released, part: Part) -> int | None:
    """Return the public number of rows of a part's only cell where its encoding uses one; else None."""
    if part.form == "blocks":  # the estimates of k blocks take the place of k rows, none of them missing
        return part.parameters["blocks"]
    if part.form == "blocks-2":  # those without an estimate are absent, and the number of the others is private
        return None
    if part.form != "bernstein":
        return release.rows
    # a cell of a group, or under where= or exclusions, has a private size
    grouped = bool(release.levels) or getattr(release.query, "where", None) is not None
    return release.rows if not grouped and cast(Grid, part.grid).missing != "exclude" else None


def _equal_parts(parts: Sequence[Part], rows: Sequence[int | None]) -> list[tuple[list[int], Part, int | None, Array]]:
    """Group parties of one encoding, noise and size: indices, a part, the size, integers of shape (parties * T, k)."""
    groups: dict[object, list[int]] = {}
    for i, (part, n) in enumerate(zip(parts, rows, strict=True)):
        groups.setdefault((part.form, *sorted(part.parameters.items()), part.law, n), []).append(i)
    out: list[tuple[list[int], Part, int | None, Array]] = []
    for places in groups.values():
        first = parts[places[0]]
        every = chain.from_iterable(chain.from_iterable(parts[i].integers for i in places))
        cells = np.fromiter(every, np.float64).reshape(-1, len(first.integers[0]))
        out.append((places, first, rows[places[0]], cells))
    return out


def _means(parts: Sequence[Part], rows: Sequence[int | None]) -> list[_EqualParts]:
    """Return noisy sizes, totals and sums of squares of values on the scale [-1, 1]."""
    found: list[_EqualParts] = []
    for places, part, n, cells in _equal_parts(parts, rows):
        form = {"blocks": "plain", "blocks-2": "exclusion-2"}.get(part.form, part.form)
        noisy: Moments = moments(form, part.parameters, cells, n)
        shape = (len(places), -1)
        sums = np.array([noisy.size.reshape(shape), noisy.total.reshape(shape)])
        squares = np.array([one.reshape(shape) for one in noisy.squares])
        load, square_load = noisy.loadings[:2, None, None], noisy.square_loadings[:, None, None]
        found.append(_EqualParts(places, sums, load, squares, square_load, squares[0], noisy.public))
    return found


def _variances(parts: Sequence[Part], rows: Sequence[int | None]) -> list[_EqualParts]:
    """Return sums of squared deviations, corrected to second order for the noise on the mean, and sizes N - 1."""
    found: list[_EqualParts] = []
    for places, part, n, cells in _equal_parts(parts, rows):
        noisy = powers(part.parameters, cells, n)
        size = np.maximum(noisy.sums[:, 0], 2.0)
        free = noisy.sums[:, 1] / size  # not clipped to [0, 1]: with a public size the total is then unbiased
        mean = np.clip(free, 0.0, 1.0)
        # derivatives of P1 - mean N: their squares add (noise in the mean)**2 to the sum of squared deviations
        shift = noisy.loadings[1] - free[:, None] * noisy.loadings[0]
        second, fourth = central(free)[0], central(mean)[1]
        own = (second * noisy.sums).sum(axis=-1)
        total = own + (shift**2).sum(axis=-1) * part.law.variance() / size
        zeroth = np.broadcast_to(noisy.loadings[0], (len(mean), noisy.loadings.shape[1]))
        load = np.array([zeroth, second @ noisy.loadings])
        squares = np.array([noisy.sums[:, 0], own, (fourth * noisy.sums).sum(axis=-1)])
        # C(t) = sum ((x - mean)**2 - t)**2 from powers 0, 1, 2 of (x - mean)**2
        square_load = np.array([zeroth, second @ noisy.loadings, fourth @ noisy.loadings])
        # D(t) = SS - t (N - 1), the divisor of an unbiased variance
        sums = np.array([noisy.sums[:, 0] - 1, total])
        m, k = len(places), noisy.loadings.shape[1]
        most = (np.maximum(mean, 1 - mean) ** 2).reshape(m, -1)
        middle = central(np.array([0.5]))[0] @ noisy.loadings
        found.append(
            _EqualParts(
                places,
                sums.reshape(2, m, -1),
                load.reshape(2, m, -1, k),
                squares.reshape(3, m, -1),
                square_load.reshape(3, m, -1, k),
                most,
                noisy.public,
                middle[0],
            )
        )
    return found


def stack_parties(found: Sequence[_EqualParts], parts: Sequence[Part]) -> Evidence:
    """Stack groups of parties into one `Evidence`; parties with fewer noises are padded with noises of variance 0."""
    M, T = len(parts), found[0].sums.shape[2]
    k = max(one.loads.shape[-1] for one in found)
    cells = max(one.loads.shape[2] for one in found)
    grid = parts[0].grid
    kind: Kind = "variance" if parts[0].form == "bernstein" else "share" if parts[0].form in BINARY else "mean"
    lower, upper = (0.0, 1.0) if grid is None else (grid.lower, grid.upper)
    shift, scale = (0.0, (upper - lower) ** 2) if kind == "variance" else ((lower + upper) / 2, (upper - lower) / 2)
    sums, squares, most = np.empty((2, M, T)), np.empty((3, M, T)), np.empty((M, T))
    loads, square_loads = np.zeros((2, M, cells, k)), np.zeros((3, M, cells, k))
    noise, laplace = np.zeros((M, k)), np.zeros((M, k))
    middle, public = np.zeros((M, cells, k)), np.empty(M, dtype=np.bool_)
    for one in found:
        at, own, law = one.places, one.loads.shape[-1], parts[one.places[0]].law
        sums[:, at], squares[:, at], most[at], public[at] = one.sums, one.squares, one.most, one.public
        loads[:, at, :, :own], square_loads[:, at, :, :own] = one.loads, one.square_loads
        noise[at, :own], laplace[at, :own], middle[at, :, :own] = law.variance(), laplace_share(law), one.middle
    return Evidence(
        kind=kind,
        size=sums[0],
        total=sums[1],
        loads=loads,
        squares=squares,
        square_loads=square_loads,
        noise=noise,
        laplace=laplace,
        most=most,
        public=public,
        middle=middle,
        shift=shift,
        scale=scale,
    )
