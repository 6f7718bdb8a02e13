"""One step from sample and aggregate: the mean of clipped scores at a released pilot, over all rows.  INSIDE the wall.

Definition
    First a pilot, by `sample_and_aggregate` (or `winsorized`) at PILOT of the price: all parameters.  Then, at what it
    released, theta0, every complete row (of which `where` holds) has psi = root score (`models.scores`), each
    coordinate clipped to [-CLIP, CLIP] and put on a grid of G steps; a score that is no number is 0.  With a
    PrivacyUnit a person has the mean of her rows' integers, rounded.  Released, for each parameter: the moments that
    `moments` releases of a column with these bounds.  Public: schema, query, model, CLIP, PILOT, k, relation, price,
    and under replace-one the number of rows (persons).  Neighbours: one row (person) replaced, or added or removed.
Sensitivity
    The pilot's as it is proven there.  Given theta0, the integers of a row are in {0, ..., G} and a function of that
    row, of theta0, and of its place in a batch of one public shape, which is a fresh random word of its own (`lanes`):
    the forms of `moments` apply, P or Z where the number of rows is public and none can be absent, E where one can, B
    or C under add-remove.  Persons as rows: one vector each, however many rows.
Noise
    As for `moments`: independent for each integer, for each parameter's equal part of the price.
Cost
    PILOT of the price and the rest: the second question is a function of the first's release (adaptive composition,
    pure [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3]); within each, parts add up.
Failures
    None depends on a row: a score that cannot be had is 0, as is in form P and Z that of a row that is not there; where
    the information cannot be had at theta0, which is released, that of the public default scales the scores.
"""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.curator.source import Source
from tacit.curator.source.rows import Rows
from tacit.errors import QueryError
from tacit.mechanisms import blocks, ranks, sample_and_aggregate, winsorized
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moments import Column, Design, choose
from tacit.mechanisms.sample_and_aggregate import Plan, part_of
from tacit.models import scores
from tacit.models.scores import CLIP
from tacit.privacy import Cost, noise_for
from tacit.queries_blocks import SampleAndAggregate
from tacit.release import Cells, Grid, Part
from tacit.rowmap import GRID, RowMap
from tacit.schema import Schema

PILOT: Final = Fraction(3, 10)
"""Part of the price for the pilot (theory §2): what it costs is made good by the step, up to second order."""
SCORE: Final = Grid("score", -CLIP, CLIP, GRID)
H: Final = GRID // 2


# Definition ---------------------------------------------------------------------------------------------------------


def design(
    query: SampleAndAggregate,
    schema: Schema,
    *,
    neighbors: str,
    rows: int | None,
    cost: Cost,
    size_hint: int | None = None,
) -> Design:
    """The pilot's design, and a column of scores for each parameter; QueryError Q102 where no step can be taken."""
    first = _pilot(query).design(
        query, schema, neighbors=neighbors, rows=rows, cost=cost.share(PILOT), size_hint=size_hint
    )
    plan = cast(Plan, first.blocks)
    why = scores.usable(plan.likelihood)
    if why is not None:
        text = f"one_step of SampleAndAggregate: {why}."
        raise QueryError(text, code="Q102", hint="leave one_step out")
    share = cost.share((1 - PILOT) / len(plan.model.names))
    leaves = first.where is not None or any(_absent(cell) for cell in plan.cells)
    columns = tuple(_score(name, share, neighbors, leaves) for name in plan.model.names)
    return replace(first, columns=(*first.columns, *columns), cost=cost)


def _absent(cell: object) -> bool:
    """Whether a cell can be missing, so that its row is left out."""
    key = getattr(cell, "key", None)
    return getattr(cell, "missing", None) is None and (key is None or key.missing is None)


def _score(name: str, share: Cost, neighbors: str, leaves: bool) -> Column:
    at = RowMap("", "", "real", -CLIP, CLIP, GRID)
    form = choose(at, share.noise, neighbors=neighbors, grouped=False, leaves=leaves)
    return Column(f"score of {name}", form, None, SCORE, noise_for(form.l1, form.l2_squared, share), share)


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS, once.  The noisy pilot; then, at what it says, noisy moments of scores.  Nothing exact is kept."""
    plan = cast(Plan, shape.blocks)
    rows = source.complete(plan.cells, shape.unit, shape.where)
    return released(
        shape, rows, blocks.words(rows, plan.blocks, plan.rows), lanes(len(rows.values)), ranks.select, protect
    )


def released(
    shape: Design, rows: Rows, own: NDArray[np.uint64], places: NDArray[np.int64], draw: Any, noise: Any
) -> tuple[Part, ...]:
    """READS ROWS.  The parts of rows at hand; `draw` and `noise` protect, or simulate."""
    model = cast(Plan, shape.blocks).likelihood
    first, second = split(shape)
    pilot = _pilot(shape.query).released(first, rows, own, draw, noise)
    aim = scores.aim(model, scores.pilot(pilot, model))
    found = exact(replace(shape, columns=second), rows, aim, places)
    return (*pilot, *(part_of(column, noise(cells, column.law)) for column, cells in zip(second, found, strict=True)))


def split(shape: Design) -> tuple[Design, tuple[Column, ...]]:
    """The pilot's design, and the columns of scores."""
    p = len(cast(Plan, shape.blocks).model.names)
    return replace(shape, columns=shape.columns[:-p]), shape.columns[-p:]


def lanes(rows: int) -> NDArray[np.int64]:
    """A fresh place in the batch for each row, drawn one by one: one row more or less moves no other's."""
    return (blocks.fresh(rows) % np.uint64(scores.BATCH)).astype(np.int64)


def exact(shape: Design, rows: Rows, aim: scores.Aim, own: NDArray[np.int64]) -> tuple[Cells, ...]:
    """READS ROWS.  The integers of every column of scores before noise: never to be shown."""
    v = integers(rows, aim, own)
    if shape.rows is not None and len(v) > shape.rows:
        raise RuntimeError("the table changed while it was read")
    found: list[Cells] = []
    for j, column in enumerate(shape.columns):
        sums = tuple(int(one.numpy(v[:, j]).sum()) for one in column.form.polynomials)
        found.append((column.form.assemble(sums),))
    return tuple(found)


def integers(rows: Rows, aim: scores.Aim, own: NDArray[np.int64]) -> NDArray[np.int64]:
    """READS ROWS.  The grid values in {0, ..., G} of each row (person), shape (rows, parameters)."""
    order = np.argsort(own, kind="stable")
    lane = own[order]
    sizes = np.bincount(lane, minlength=scores.BATCH)
    turn = np.arange(len(lane)) - (np.cumsum(sizes) - sizes)[lane]
    v = np.full((len(own), len(aim.at)), H, dtype=np.int64)
    columns = rows.values.shape[1]
    by_turn = np.argsort(turn, kind="stable")
    ends = [0, *np.cumsum(np.bincount(turn)).tolist()]
    for start, end in pairwise(ends):  # one row of each lane at a time
        here = by_turn[start:end]
        batch = np.full((scores.BATCH, columns), np.nan)
        batch[lane[here]] = rows.values[order[here]]
        psi = scores.clipped(aim, batch[:, 0] if columns == 1 else batch, CLIP)
        v[order[here]] = grid_of(psi)[lane[here]]
    return v if rows.owners is None else reduced(v, rows.owners)


def grid_of(psi: NDArray[np.float64]) -> NDArray[np.int64]:
    """Scores on the grid: what is no number to the middle, then, in integers, to {0, ..., G}."""
    at = np.where(np.isfinite(psi), np.clip(psi, -CLIP, CLIP), 0.0)
    return np.clip(np.floor((at + CLIP) * (GRID / (2 * CLIP)) + 0.5).astype(np.int64), 0, GRID)


def reduced(v: NDArray[np.int64], owners: NDArray[np.int64]) -> NDArray[np.int64]:
    """The mean of each person's integers, rounded; rows of nobody are one person's."""
    who = np.unique(owners, return_inverse=True)[1].reshape(-1)
    many = np.bincount(who)
    total = np.zeros((len(many), v.shape[1]), dtype=np.int64)
    np.add.at(total, who, v)
    return (2 * total + many[:, None]) // (2 * many[:, None])


def _pilot(query: Any) -> Any:
    """The mechanism of the pilot."""
    return winsorized if query.winsorize else sample_and_aggregate
