"""One step from sample and aggregate: the mean of clipped scores at a released pilot, over all rows.  INSIDE the wall.

Definition
    First a pilot: all parameters by `mechanism_means` (or `mechanism_winsorized`), at the part PILOT of the price.
    Then, at the released pilot theta0, every complete row in the model's support (for which `where` holds) has the
    scaled score psi = R s, where s is the gradient of its log-density and R a root of the inverse information
    (`models.scores`); each coordinate is clipped to [-CLIP, CLIP] and rounded to a grid {0, ..., G}; a score that is
    not a number is 0.  The product of every two coordinates, clipped already, is clipped to the same [-CLIP, CLIP] and
    rounded to the same grid.  Rows outside the support are left out.  With a PrivacyUnit a person has the mean of the
    integers of her rows, rounded, and no products are released.  Released, for each parameter and each product: the
    sums that `moments` releases of a column with these bounds.
    Public: schema, query, model, CLIP, PILOT, PRODUCTS, k, neighbouring relation, price, and under replace-one the
    number of rows (persons).
Sensitivity
    The pilot's is proven where it is made.  Given theta0, the integers of a row, those of products too, lie in
    {0, ..., G}, by a last clip of integers, and are a function of that row, of theta0, and of its place in a batch of
    one public shape, which a fresh random word of its own decides (`mechanism_labels`), one word for all rows of a
    person.  (Scores that are linear in statistics of a row need no place: `scores.clipped_by_row`.)  So the encodings
    of `moments` apply (`method.shared.encoding`): plain where the number of rows is public and no row can be absent,
    exclusion where one can, group under add-remove.  With persons each has one vector, however many rows.
Noise
    As for `moments`: independent for each integer, for the equal part of the price that each parameter has of what
    pilot and products leave, and each product of PRODUCTS.
Cost
    PILOT of the price and the rest: the second query depends on the first's release (adaptive composition, pure
    [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3]); within each, parts add up.
Failures
    None depends on a row: a score that cannot be computed is 0, the value that the plain encoding also gives a row
    that is not there; where the information cannot be computed at theta0, which is released, that of the public default
    scales the scores.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain, combinations, pairwise
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.blocks import mechanism_labels as blocks
from tacit.method.blocks import mechanism_means as sample_and_aggregate
from tacit.method.blocks import mechanism_winsorized as winsorized
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.one_step_design import H, split
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism_additive import protect
from tacit.models import scores
from tacit.models.scores import CLIP
from tacit.release.parts import Cells, Part
from tacit.rows.row_map import GRID
from tacit.source import Source
from tacit.source.engine_sums.row_arrays import RowArrays
from tacit.source.in_memory.array_sums import polynomial_sums
from tacit.source.shared_blocks import Buffers, shared

PART: Final = 2**20
"""Rows whose places in batches are found at a time."""
CACHED: Final = 2**15
"""Rows whose scores are found row by row at a time: they fit a processor's cache."""
FAR: Final = 2.0**12
"""Scores below this size have grid values of 32 bits before they are clamped."""
TOGETHER: Final = 8
"""Batches whose scores are added up at a time: what is made of them fits a processor's cache."""

# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Return the noisy pilot and, at what it released, noisy moments of scores.  Nothing exact is kept."""
    first, second = split(shape)
    model = cast(BlockPlan, shape.blocks).likelihood
    pilot = _pilot(shape.query).measure(first, source)
    # from here on the pilot is public: only what was released of it is used
    found = read(replace(shape, columns=second), source, scores.scaling_at(model, scores.pilot(pilot, model)))
    return (*pilot, *(column.released(protect(cells, column.law)) for column, cells in zip(second, found, strict=True)))


def read(shape: Measurement, source: Source, scaling: scores.ScoreScaling) -> tuple[Cells, ...]:
    """READS ROWS.  Return the integers of every column of scores before noise: never to be shown.

    The table is read as for the pilot's blocks: on the machines of a cluster, piece by piece, or at once.
    """
    plan, key = cast(BlockPlan, shape.blocks), os.urandom(32)
    many = plan.blocks * plan.capacity * len(plan.cells)
    far, near = (blocks.parts(many, most) for most in (blocks.SMALL // 16, blocks.GROUP))
    asked = (plan.cells, shape.unit, shape.where)
    answer = partial(_summed, shape, scaling)
    # one for the number of rows
    numbers = 1 + sum(len(column.form.polynomials) for column in shape.columns)
    told = source.spread(*asked, key, None, partial(blocks.part_of, far), answer, numbers)
    if told is None:
        told = dict(enumerate(_here(shape, source, key, near, answer, scaling.by_row)))
    # whole floats below 2**53 are exact; they are added as Python integers
    sums = [sum(int(one.reshape(-1)[i]) for one in told.values()) for i in range(numbers)]
    return _assembled(shape, sums)


def _here(
    shape: Measurement,
    source: Source,
    key: bytes,
    parts: int,
    answer: Callable[[int, Any, Any], NDArray[np.float64]],
    by_row: bool,
) -> Iterator[NDArray[np.float64]]:
    """READS ROWS.  Yield sums of scores of some rows at a time (with a unit, some persons), on this machine.

    by_row: whether scores are found row by row, so that rows need no places.
    """
    plan = cast(BlockPlan, shape.blocks)
    asked = (plan.cells, shape.unit, shape.where)
    large = plan.blocks * plan.capacity * len(plan.cells) > blocks.SMALL
    for part in range(parts if shape.unit is not None else 1):
        found = source.pieces(*asked, key) if large else None
        if found is None:
            rows = source.complete(*asked)
            # a row that is a row of its own needs a place in the batch alone
            alone = shape.unit is None
            if alone and by_row:
                yield answer(0, rows.values, np.zeros(len(rows.values), dtype=np.uint16))
                return
            own = blocks.random_places(len(rows.values)) if alone else blocks.words(rows, plan.blocks, None)
            yield answer(0, rows.values, own)
            return
        if shape.unit is None:
            yield from (answer(0, values, own) for values, own in found)
            return
        # all rows of a person have one word, so that they come in one part and can be averaged there
        here = [(values[at], own[at]) for values, own in found for at in [blocks.part_of(parts, own) == part]]
        if here:
            yield answer(part, *(np.concatenate([one[i] for one in here]) for i in (0, 1)))


def _summed(
    shape: Measurement, scaling: scores.ScoreScaling, number: int, values: Any, own: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """READS ROWS.  Return the sums over some rows (persons) and their number: whole numbers below 2**53, shape (1, q).

    A row's word decides its place in the batch; with a unit, rows of one word are one person's.
    """
    total = np.zeros(1 + sum(len(column.form.polynomials) for column in shape.columns))
    if len(values) and shape.unit is None:
        parts = [(values[at : at + PART], own[at : at + PART]) for at in range(0, len(values), PART)]
        for some in shared(parts, partial(_of_rows, shape, scaling), apart=1):
            total += some
    elif len(values):
        rows, own = _in_support(shape, RowArrays(values, own.view(np.int64)), own)
        total[:] = _sums(shape, list(integers(rows, scaling, _batch_places(own)).T), Buffers())
    return total[None]


def _sums(shape: Measurement, v: Sequence[NDArray[Any]], buffers: Buffers) -> list[int]:
    """Return the sums of every column's polynomials over rows (persons), and their number; v: integers by parameter."""
    found = list[int]()
    # products of scores come last, and only where they are released
    for column, here in zip(shape.columns, v[: len(shape.columns)], strict=True):
        # in {0, ..., G}, which fits 32 bits
        found += polynomial_sums(column.form.polynomials, here.astype(np.int32, copy=False), GRID, buffers)
    return [*found, len(v[0])]


def _of_rows(
    shape: Measurement, scaling: scores.ScoreScaling, parts: Iterator[tuple[Any, NDArray[Any]]]
) -> NDArray[np.float64]:
    """READS ROWS.  Return `_sums` over rows, some at a time: whole numbers below 2**53.

    Their integers are those of `integers`; since each row is a row of its own, they are added up batch by batch.
    """
    total, buffers = np.zeros(1 + sum(len(column.form.polynomials) for column in shape.columns)), Buffers()
    for values, own in parts:
        if scaling.by_row:
            total += _by_row(shape, scaling, values[:, 0], buffers)
            continue
        rows, own = _in_support(shape, RowArrays(values, None), own)
        batches, sizes = _batches(rows.values, _batch_places(own))
        for at in range(0, len(batches), TOGETHER):
            some = batches[at : at + TOGETHER].reshape(-1, batches.shape[2])
            psi = scores.clipped(scaling, some[:, 0] if some.shape[1] == 1 else some, CLIP)
            v = grid_of(scores.with_products(psi))
            if at + TOGETHER <= sizes.min():
                integers = [np.ascontiguousarray(v[:, j]) for j in range(v.shape[1])]
            else:
                filled = (np.arange(at, at + len(some) // scores.BATCH)[:, None] < sizes).reshape(-1)
                integers = [v[:, j][filled] for j in range(v.shape[1])]
            total += _sums(shape, integers, buffers)
    return total


def _by_row(
    shape: Measurement, scaling: scores.ScoreScaling, x: NDArray[np.float64], buffers: Buffers
) -> NDArray[np.float64]:
    """READS ROWS.  Return `_sums` over rows whose scores are found row by row."""
    model, total = scaling.model, np.zeros(1 + sum(len(column.form.polynomials) for column in shape.columns))
    for at in range(0, len(x), CACHED):
        some = x[at : at + CACHED]
        inside = np.asarray(model.inside(some), dtype=np.bool_)
        psi = scores.clipped_by_row(scaling, some if inside.all() else some[inside], CLIP)
        # products of scores come last, and only where they are released
        made = chain(psi, (one * other for one, other in combinations(psi, 2)))
        found = list[int]()
        for column, one in zip(shape.columns, made, strict=False):
            v = buffers.array("grid", one.shape, np.int32)
            grid_into(one, v, buffers)
            found += polynomial_sums(column.form.polynomials, v, GRID, buffers)
        total += [*found, len(psi[0])]
    return total


def _batches(values: NDArray[np.float64], lane: NDArray[np.uint16]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return batches of rows, shape (batches, BATCH, columns), and how many rows have each place; lane: their places.

    Empty places, at the end of a place's rows, are NaN, outside every support.
    """
    # NumPy sorts 16-bit integers by radix, in linear time
    order, sizes = np.argsort(lane, kind="stable"), np.bincount(lane, minlength=scores.BATCH)
    turns = int(sizes.max())
    filled = np.arange(turns) < sizes[:, None]
    batches, by_place = np.empty((turns, scores.BATCH, values.shape[1])), np.full((scores.BATCH, turns), np.nan)
    for j in range(values.shape[1]):
        # the rows of one place follow each other
        by_place[filled] = np.take(values[:, j], order)
        batches[:, :, j] = by_place.T
    return batches, sizes


def _assembled(shape: Measurement, sums: Sequence[int]) -> tuple[Cells, ...]:
    """Return the integers of every column from the sums of its polynomials; the last sum is the number of rows."""
    if shape.rows is not None and sums[-1] > shape.rows:
        raise RuntimeError("the table changed while it was read")
    found, left = list[Cells](), iter(sums)
    for column in shape.columns:
        found.append((column.form.assemble(tuple(next(left) for _ in column.form.polynomials)),))
    return tuple(found)


def released(
    shape: Measurement, rows: RowArrays, own: NDArray[np.uint64], places: NDArray[np.int64], draw: Any, noise: Any
) -> tuple[Part, ...]:
    """READS ROWS.  Return the parts of rows in memory; `draw` and `noise` protect, or simulate."""
    model = cast(BlockPlan, shape.blocks).likelihood
    first, second = split(shape)
    pilot = _pilot(shape.query).released(first, rows, own, draw, noise)
    scaling = scores.scaling_at(model, scores.pilot(pilot, model))
    found = exact(replace(shape, columns=second), rows, scaling, places)
    return (*pilot, *(column.released(noise(cells, column.law)) for column, cells in zip(second, found, strict=True)))


def _batch_places(own: NDArray[Any]) -> NDArray[np.uint16]:
    """Return each row's place in the batch, from its word alone: a row more or less moves no other."""
    # BATCH is a power of two: the remainder
    return (own & own.dtype.type(scores.BATCH - 1)).astype(np.uint16)


def exact(
    shape: Measurement, rows: RowArrays, scaling: scores.ScoreScaling, own: NDArray[np.int64]
) -> tuple[Cells, ...]:
    """READS ROWS.  Return the integers of every column of scores before noise, of rows in memory: never shown."""
    rows, own = _in_support(shape, rows, own)
    v = integers(rows, scaling, own)
    return _assembled(shape, _sums(shape, list(v.T), Buffers()))


def _in_support(shape: Measurement, rows: RowArrays, own: NDArray[Any]) -> tuple[RowArrays, NDArray[Any]]:
    """READS ROWS.  Return the rows within the model's support, and their entries of `own`."""
    model = cast(BlockPlan, shape.blocks).likelihood
    with np.errstate(all="ignore"):
        kept = np.asarray(model.inside(rows.values[:, 0] if model.columns == 1 else rows.values), dtype=np.bool_)
    if kept.all():
        return rows, own
    return RowArrays(rows.values[kept], None if rows.owners is None else rows.owners[kept]), own[kept]


def integers(rows: RowArrays, scaling: scores.ScoreScaling, own: NDArray[Any]) -> NDArray[np.int64]:
    """READS ROWS.  Return the grid values in {0, ..., G} of each row (person): of scores, then of their products."""
    order = np.argsort(own, kind="stable")
    lane = own[order]
    sizes = np.bincount(lane, minlength=scores.BATCH)
    # rank of each row among those of its place; rows of equal rank form a batch with at most one row at each place
    turn = np.arange(len(lane)) - (np.cumsum(sizes) - sizes)[lane]
    # H is the middle of the grid, the score 0
    p = len(scaling.at)
    v = np.full((len(own), p + p * (p - 1) // 2), H, dtype=np.int64)
    columns = rows.values.shape[1]
    by_turn = np.argsort(turn, kind="stable")
    ends = [0, *np.cumsum(np.bincount(turn)).tolist()]
    # one row of each place at a time, in batches of one shape: at its place compiled code gives a row the same floats
    # whatever the other rows are, so that a row that changes moves no other row's integers
    for start, end in pairwise(ends):
        here = by_turn[start:end]
        # empty places are NaN, outside every support
        batch = np.full((scores.BATCH, columns), np.nan)
        batch[lane[here]] = rows.values[order[here]]
        psi = scores.clipped(scaling, batch[:, 0] if columns == 1 else batch, CLIP)
        v[order[here]] = grid_of(scores.with_products(psi))[lane[here]]
    return v if rows.owners is None else reduced(v, rows.owners)


def grid_of(psi: NDArray[np.float64]) -> NDArray[np.int32]:
    """Return scores, or products, as integers in {0, ..., G}; what is not a number goes to the middle."""
    at, finite = np.clip(psi, -CLIP, CLIP), np.isfinite(psi)
    if not finite.all():
        at[~finite] = 0.0
    at += CLIP
    at *= GRID / (2 * CLIP)
    at += 0.5
    # the last clip is in integers: the sensitivity rests on it alone
    return np.clip(np.floor(at, out=at).astype(np.int32), 0, GRID)


def grid_into(psi: NDArray[np.float64], v: NDArray[np.int32], buffers: Buffers) -> None:
    """Set v to `grid_of` numbers of shape (rows,), in fewer passes over memory."""
    at = buffers.array("at", psi.shape)
    # numbers this far beyond the ends are clamped in integers
    least, most = (psi.min(), psi.max()) if len(psi) else (0.0, 0.0)
    if not -FAR < least <= most < FAR:
        # not a number, or far away
        np.copyto(v, grid_of(psi))
        return
    np.add(psi, CLIP, out=at)
    at *= GRID / (2 * CLIP)
    at += 0.5
    # of positive numbers the cast is the floor, and others end at 0
    np.copyto(v, at, casting="unsafe")
    # the last clip is in integers: the sensitivity rests on it alone
    np.clip(v, 0, GRID, out=v)


def reduced(v: NDArray[np.int64], owners: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the mean of each person's integers, rounded; rows without a person count as those of one person."""
    who = np.unique(owners, return_inverse=True)[1].reshape(-1)
    many = np.bincount(who)
    total = np.zeros((len(many), v.shape[1]), dtype=np.int64)
    np.add.at(total, who, v)
    # floor(mean + 1/2) in integers: within {0, ..., G}, as the mean is
    return (2 * total + many[:, None]) // (2 * many[:, None])


def _pilot(query: Any) -> Any:
    """Return the module of the pilot's mechanism."""
    return winsorized if query.winsorize else sample_and_aggregate
