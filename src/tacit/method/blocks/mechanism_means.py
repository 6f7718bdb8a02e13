"""Sample and aggregate: the noisy mean of an estimate made in each of k blocks.  INSIDE the wall.

Definition
    Complete rows (for which `where` holds) are divided into k blocks by fresh secret labels (`mechanism_labels`).
    Where the number n of rows is public, blocks have equal size: all n rows, also those left out, get places 0, ...,
    n - 1 by a uniformly random permutation, and block b has the places s with floor(s k / n) = b
    (`mechanism_equal_blocks`).  Otherwise labels are independent; with a PrivacyUnit all rows of a person have one
    label.  In each block the model's parameters are estimated from the block's rows alone, corrected for bias, clamped
    to the public box and rounded to its grid {0, ..., G}: the grid value v.  Rows outside the model's support are left
    out of their block, as rows with a missing cell are.  A block without an estimate is absent.  In place of a model a
    `Statistic` may stand: any function of a block's rows, computed for each block in a process of its own
    (`mechanism_user_statistics`).  Released, for each parameter, over the blocks that have an estimate: the sum of
    w = v - H, where H = G / 2, the sum of floor(v (G - v) / c), where c is a public divisor, and kappa times the number
    of these blocks, kappa being a public weight.
    With `variance=` the second integer of a block is floor(s / c) instead, where s is the variance, in squared grid
    steps, of its estimate over resamples of its own rows (`mechanism_own_variance`), cut to be at most H - |w|.
    Public: schema, query, model, box, k, capacity of a block, neighbouring relation, price, and under replace-one the
    number of rows (persons).
Sensitivity
    Neighbouring tables D and D' are compared under a coupling of their labels in which one block changes.
    Independent labels: the row (person) that is added, removed or replaced has its own label, and all others keep
    theirs.  Equal blocks, under replace-one: D is a set C of rows and a row r, D' is C and a row r'.  The permutation
    is uniform whatever the order of rows, so the law of the blocks of D' is also that in which r' takes the place of r
    and every row of C keeps its place; then only the block of that place differs, whether or not r or r' is left out.
    So the sums are over k blocks of which one is replaced: by another value, by none, or from none.  That is a row of a
    table of public size that may be absent: the encoding of exclusions (`method.shared.encoding.exclusion`), with
    sensitivity 2H in l1 (pure) or in l2 (Gaussian) for each parameter, the number of estimates included.
    [Smith 2008, Algorithm 1; theory §2, errata E1, E2; §12]
    With `variance=` a block adds (w, j, kappa) with 0 <= j <= H - |w|, whatever j is: the bounds are the same
    (`encoding.own_variance`).
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where epsilon' and rho' are the parameter's equal share of the price.
Cost
    Shares add up to the price: parameters are released side by side (basic composition; Gaussian: sums of rho).
    The second moment and the number of estimates add nothing to the sensitivity, and so cost nothing (theory §9, §12,
    applied to blocks).  A variance by resampling takes the place of the second moment, at the same price.
Failures
    A block that is empty, constant, separable or does not converge is absent: it adds 0 to every sum, and how many are
    absent is seen only in the noisy number of estimates.  k is not divided by: what is released are sums.  How long
    blocks take is not protected.  A user's function is trusted only to compute: it runs with the curator's rights, and
    could write its rows down.
"""

from __future__ import annotations

from functools import partial
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.blocks import mechanism_labels as blocks
from tacit.method.blocks import mechanism_user_statistics as fresh
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.mechanism_block_sums import summed
from tacit.method.blocks.mechanism_own_variance import own_variances
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.blocks.resampling import LITTLE
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism_additive import protect
from tacit.models.block_function import Statistic
from tacit.models.block_sums import statistic_sums
from tacit.models.blocks import block_mle
from tacit.models.likelihood import Likelihood
from tacit.release.parts import Cells, Grid, Part
from tacit.source import Source
from tacit.source.engine_sums.row_arrays import RowArrays

# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Sum over blocks exactly and add noise at once; only noisy integers are kept."""
    return protected(shape, of_blocks(shape, source), protect)


def of_blocks(shape: Measurement, source: Source) -> NDArray[np.float64]:
    """READS ROWS.  Return the numbers of all blocks, NaN for none: never to be shown.

    Shape (blocks, parameters), or twice as many: then the variances of a block's estimates follow them.
    """
    plan, query = cast(BlockPlan, shape.blocks), cast(SampleAndAggregate, shape.query)
    asked = (source, plan.cells, shape.unit, shape.where, plan.blocks, plan.capacity, plan.rows)
    answer = partial(answers, plan, query.bias)
    # a group to which no row belongs has no estimate
    many = len(plan.model.names) * (1 if plan.resampling is None else 2)
    values = blocks.spread(*asked, answer, np.full(many, np.nan))
    return (
        np.concatenate(list(blocks.groups(*asked, answer, partial(direct, plan, query.bias))))
        if values is None
        else values
    )


def direct(
    plan: BlockPlan, bias: str, rows: RowArrays, labels: NDArray[Any], sizes: NDArray[np.int64] | None
) -> NDArray[np.float64] | None:
    """READS ROWS.  Return the estimates that `answers` makes, from sums alone; None where blocks need their rows.

    sizes: how many rows have each label, where that is known.
    """
    model = plan.model
    if isinstance(model, Statistic) or plan.resampling is not None:
        return None
    asked = statistic_sums(model, plan.capacity, bias)
    if asked is None:
        return None
    sums, counts, most = summed(asked, rows, labels, plan.blocks, sizes)
    if most > plan.capacity:
        # rows of a block that is too full are left out by their words
        return None
    values, fitted = asked.estimates(sums, counts, bias)
    return np.where(fitted[:, None], values, np.nan)


def released(shape: Measurement, rows: RowArrays, own: NDArray[np.uint64], draw: Any, noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  Return the parts of rows in memory with labels `own`; `noise` protects, or simulates; no `draw`."""
    plan, query = cast(BlockPlan, shape.blocks), cast(SampleAndAggregate, shape.query)
    found = blocks.packed(rows, own, plan.blocks, plan.capacity)
    return protected(shape, answers(plan, query.bias, found), noise)


def protected(shape: Measurement, values: NDArray[np.float64], noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  Return the noisy parts of the blocks' numbers `values`, as `of_blocks` has them."""
    found = totals(shape, values)
    return tuple(column.released(noise(cells, column.law)) for column, cells in zip(shape.columns, found, strict=True))


def exact(shape: Measurement, rows: RowArrays, own: NDArray[np.uint64]) -> tuple[Cells, ...]:
    """READS ROWS.  Return the integers before noise, one cell for each parameter: never to be shown."""
    plan, query = cast(BlockPlan, shape.blocks), cast(SampleAndAggregate, shape.query)
    found = blocks.packed(rows, own, plan.blocks, plan.capacity)
    return totals(shape, answers(plan, query.bias, found))


def totals(shape: Measurement, values: NDArray[np.float64]) -> tuple[Cells, ...]:
    """READS ROWS.  Return the integers, before noise, of the blocks' numbers `values`, as `of_blocks` has them."""
    plan = cast(BlockPlan, shape.blocks)
    place = {name: j for j, name in enumerate(plan.model.names)}
    p = len(place)
    own = None if plan.resampling is None else values[:, p:]
    return tuple(
        sums(column, values[:, j], None if own is None else own[:, j])
        for column, j in ((one, place[one.label]) for one in shape.columns)
    )


def answers(plan: BlockPlan, bias: str, found: blocks.Blocks) -> NDArray[np.float64]:
    """READS ROWS.  Return what a block answers: its estimates, and with `variance=` their variances behind them."""
    made = estimates(plan.model, bias, found)
    if plan.resampling is None:
        return made
    # of as many rows as the table has, an estimate has hardly any bias
    asked = "none" if plan.resampling.way == LITTLE else bias
    own = own_variances(found, plan.resampling, plan.model, partial(estimates, plan.model, asked))
    return np.concatenate([made, own], axis=1)


def estimates(model: Likelihood | Statistic, bias: str, found: blocks.Blocks) -> NDArray[np.float64]:
    """READS ROWS.  Return the estimate of each block, within the box, shape (blocks, parameters); NaN for none."""
    if isinstance(model, Statistic):
        return fresh.statistics(model, found.values, found.sizes, bias)
    values = found.values[:, :, 0] if model.columns == 1 else found.values
    made = block_mle(model, values, found.sizes, bias=cast(Any, bias), ordered=True)
    return np.where(made.fitted[:, None], made.values, np.nan)


def sums(column: PartSpec, values: NDArray[np.float64], variances: NDArray[np.float64] | None = None) -> Cells:
    """READS ROWS.  Return the sums of the encoding over the blocks whose value is finite; all others add nothing.

    variances: of the blocks' estimates, where the form has them; a block without one has the largest.
    """
    grid, own = cast(Grid, column.grid), np.isfinite(values)
    # the integers must be bounded whatever a model or a device returned
    step = np.floor((values[own] - grid.lower) * (grid.G / (grid.upper - grid.lower)) + 0.5)
    # the last clip, in integers, is the one that the sensitivity rests on: it holds whatever the floats were
    v = np.clip(np.clip(step, 0, grid.G).astype(np.int64), 0, grid.G)
    # v (G - v) <= 2**38: far below 2**63
    made = [int(one.numpy(v).sum()) for one in column.form.polynomials]
    if variances is not None:
        unit = column.form.parameters["divisor"] * ((grid.upper - grid.lower) / grid.G) ** 2
        most = grid.G // 2 - np.abs(v - grid.G // 2)
        steps = np.floor(np.nan_to_num(variances[own] / unit, nan=np.inf, posinf=np.inf))
        # the last clip is again one of integers: 0 <= j <= H - |w|, what the sensitivity rests on
        made[2] = int(np.clip(np.clip(steps, 0, most).astype(np.int64), 0, most).sum())
    return (column.form.assemble(tuple(made)),)
