"""Sample and aggregate: the noisy mean of an estimate made in each of k blocks.  INSIDE the wall.

Definition
    Complete rows (of which `where` holds) fall into k blocks by fresh secret labels (`blocks`), of equal size where the
    number n of rows is public: all n rows, those left out too, have seats by a random permutation, and block b has the
    seats s with floor(s k / n) = b (`mechanism_equal_blocks`).  Otherwise labels are independent, with a PrivacyUnit
    one for all rows of a person.  In each block the model's estimate is made from the block's rows alone, corrected for
    its bias, put into the public box and on its grid of G steps; a block without an answer has the public default.  A
    `Statistic` stands for the model: any function of a block's rows, each block in a process of its own (`fresh`).
    Released, for each parameter: the sum of w = v - H over the blocks, H = G / 2, and the sum of floor(w**2 / c).
    Public: schema, query, model, box, k, room, relation, price, and under replace-one the number of rows (persons).
Sensitivity
    One block changes: of independent labels the row (person) that comes, goes or is replaced has its own, and all
    others keep theirs (`blocks`).  Of seats, under replace-one: D is C and a row r, D' is C and r'.  The permutation is
    uniform whatever the order of rows, so that the law of D' is also that in which r' has the seat of r, and all of C
    the seats they have in D; only the block of that seat differs, be r or r' left out or not.  Every block counts
    whatever its rows are, so that the sums are those of k values of which one is replaced: the plain
    form (`method.shared.encoding.plain`), 2H in l1 and in l2 for each parameter.  [Smith 2008, Algorithm 1; theory §2,
    errata E1, E2]
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the parameter's equal share of the price.
Cost
    Shares add up to the price: parameters are released side by side (basic composition; Gaussian: sums of rho).
    The second moment rides free (theory §9, applied to blocks).
Failures
    A block that is empty, constant, separable or does not converge has the default: never left out, never said (theory
    §2).  The time that blocks take is out of scope.  A function of one's own is trusted to compute only: it has the
    curator's rights, and could write its rows down.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.blocks import mechanism_labels as blocks
from tacit.method.blocks import mechanism_user_statistics as fresh
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism_additive import protect
from tacit.models.block_function import Statistic
from tacit.models.blocks import block_mle
from tacit.models.likelihood import Likelihood
from tacit.release.parts import Cells, Grid, Part
from tacit.source import Source
from tacit.source.row_arrays import RowArrays

# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Exact sums over blocks, and at once their noise; only noisy integers are kept."""
    return protected(shape, of_blocks(shape, source), protect)


def of_blocks(shape: Measurement, source: Source) -> NDArray[np.float64]:
    """READS ROWS.  The estimates of all blocks, shape (blocks, parameters): never to be shown."""
    plan, query = cast(BlockPlan, shape.blocks), cast(SampleAndAggregate, shape.query)
    asked = (source, plan.cells, shape.unit, shape.where, plan.blocks, plan.room, plan.rows)
    answer = partial(estimates, plan.model, query.bias)
    values = blocks.spread(*asked, answer, plan.model.fallback)
    return np.concatenate([answer(one) for one in blocks.groups(*asked)]) if values is None else values


def released(shape: Measurement, rows: RowArrays, own: NDArray[np.uint64], draw: Any, noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  The parts of rows at hand; `noise` protects, or simulates; nothing is selected by `draw`."""
    plan, query = cast(BlockPlan, shape.blocks), cast(SampleAndAggregate, shape.query)
    found = blocks.packed(rows, own, plan.blocks, plan.room)
    return protected(shape, estimates(plan.model, query.bias, found), noise)


def protected(shape: Measurement, values: NDArray[np.float64], noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  The parts of the blocks' estimates, shape (blocks, parameters)."""
    found = totals(shape, values)
    return tuple(column.released(noise(cells, column.law)) for column, cells in zip(shape.columns, found, strict=True))


def exact(shape: Measurement, rows: RowArrays, own: NDArray[np.uint64]) -> tuple[Cells, ...]:
    """READS ROWS.  The integers before noise, one cell for each parameter: never to be shown."""
    plan, query = cast(BlockPlan, shape.blocks), cast(SampleAndAggregate, shape.query)
    found = blocks.packed(rows, own, plan.blocks, plan.room)
    return totals(shape, estimates(plan.model, query.bias, found))


def totals(shape: Measurement, values: NDArray[np.float64]) -> tuple[Cells, ...]:
    """READS ROWS.  The integers of the blocks' estimates, shape (blocks, parameters), before noise."""
    plan = cast(BlockPlan, shape.blocks)
    place = {name: j for j, name in enumerate(plan.model.names)}
    return tuple(sums(column, values[:, place[column.label]]) for column in shape.columns)


def estimates(model: Likelihood | Statistic, bias: str, found: blocks.Blocks) -> NDArray[np.float64]:
    """The estimate of each block, within the box, shape (blocks, parameters)."""
    if isinstance(model, Statistic):
        return fresh.statistics(model, found.values, found.sizes, bias)
    values = found.values[:, :, 0] if model.columns == 1 else found.values
    return block_mle(model, values, found.sizes, bias=cast(Any, bias), ordered=True).values


def sums(column: PartSpec, values: NDArray[np.float64]) -> Cells:
    """READS ROWS.  Sums of w and floor(w**2 / c), of values clamped, in integers, to {0, ..., G}; what is none to 0."""
    grid = cast(Grid, column.grid)
    at = np.where(np.isfinite(values), values, grid.lower)
    step = np.floor((at - grid.lower) * (grid.G / (grid.upper - grid.lower)) + 0.5)
    w = np.clip(np.clip(step, 0, grid.G).astype(np.int64), 0, grid.G) - grid.G // 2
    squares = w * w // column.form.parameters["divisor"]
    return ((int(w.sum()), int(squares.sum())),)
