"""Integers of many releases -> the evidence in them.  Pure array functions; decoded by form, as those of one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Final, cast

import numpy as np

from tacit.inference.decode import BINARY, Moments, moments, powers
from tacit.inference.invert import central
from tacit.inference.laws import Array, is_gaussian
from tacit.parties.evidence import CLEAR, Evidence, Kind
from tacit.release import Grid, Part, Released


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


NO_MIDDLE: Final = np.zeros((1, 1))


@dataclass(frozen=True)
class _One:
    """One party: sums (2, T), loads (2, 1 or T, k), squares (3, T), square_loads (3, 1 or T, k), most (T,)."""

    sums: Array
    loads: Array
    squares: Array
    square_loads: Array
    most: Array
    public: bool
    middle: Array = field(default_factory=lambda: NO_MIDDLE)


def _rows(release: Released, part: Part) -> int | None:
    """Public number of rows behind the one cell of a part, where the form does without a noisy one."""
    if part.form == "blocks":  # k estimates, as k rows of which none is missing
        return part.parameters["blocks"]
    if part.form != "bernstein":
        return release.rows
    grouped = bool(release.levels) or getattr(release.query, "where", None) is not None
    return release.rows if not grouped and cast(Grid, part.grid).missing != "exclude" else None


def _alike(parts: Sequence[Part], rows: Sequence[int | None]) -> list[tuple[list[int], Part, int | None, Array]]:
    """Parties of one form, noise and size together: indices, a part, the size, integers of shape (parties * T, k)."""
    groups: dict[object, list[int]] = {}
    for i, (part, n) in enumerate(zip(parts, rows, strict=True)):
        groups.setdefault((part.form, *sorted(part.parameters.items()), part.law, n), []).append(i)
    out: list[tuple[list[int], Part, int | None, Array]] = []
    for places in groups.values():
        cells = np.array([[[float(k) for k in cell] for cell in parts[i].integers] for i in places])
        out.append((places, parts[places[0]], rows[places[0]], cells.reshape(-1, cells.shape[-1])))
    return out


def _means(parts: Sequence[Part], rows: Sequence[int | None]) -> list[_One]:
    found: dict[int, _One] = {}
    for places, part, n, cells in _alike(parts, rows):
        form = "plain" if part.form == "blocks" else part.form
        noisy: Moments = moments(form, part.parameters, cells, n)
        shape = (len(places), -1)
        sums = np.array([noisy.size.reshape(shape), noisy.total.reshape(shape)])
        squares = np.array([one.reshape(shape) for one in noisy.squares])
        load, square_load = noisy.loadings[:2, None], noisy.square_loadings[:, None]
        for j, i in enumerate(places):
            own = squares[:, j]
            found[i] = _One(sums[:, j], load, own, square_load, own[0], noisy.public)
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
    laws = {id(part.law): part.law for part in parts}  # many parts of few laws
    facts = {key: (law.variance(), not is_gaussian(law)) for key, law in laws.items()}
    for j, (one, part) in enumerate(zip(found, parts, strict=True)):
        noise[j, : one.loads.shape[-1]], laplace[j, : one.loads.shape[-1]] = facts[id(part.law)]
    made: dict[int, Array] = {}

    def filled(load: Array) -> Array:
        if id(load) not in made:  # parties of one form, noise and size have one array, which `found` holds
            own = load.reshape(-1, *load.shape[-2:])
            made[id(load)] = np.zeros((len(own), cells, k))
            made[id(load)][:, :, : own.shape[-1]] = own
        return made[id(load)]

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
        middle=np.stack([filled(one.middle)[0] for one in found]),
        shift=shift,
        scale=scale,
    )
