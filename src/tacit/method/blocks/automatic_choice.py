"""The default of `method`: which way of using blocks has the least expected error at a price.  Public facts alone.

Three ways answer the question: means of blocks; means within windows about privately selected quartiles (winsorised);
and one step from either as its pilot.  The expected error of each is that of its plan, at the model's fallback: noise,
sampling error, and the second-order variance and bias of short blocks.  A step serves a law of one column whose support
is known, where a row is a person; its pilot estimates what the maximum-likelihood estimate of all rows tends to,
whatever law the rows follow, so that there is an answer where the law is seen not to hold (`estimate_one_step`).
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import ModelError, QueryError
from tacit.method.blocks import design as means_design
from tacit.method.blocks import one_step_design, winsorized_design
from tacit.method.blocks.expected_errors import (
    POOR,
    loads_of_mean,
    noise_of_pilot,
    quartiles_are_found,
    sampling_variances,
    step_variances,
    windowed,
)
from tacit.method.shared.measurement import Measurement, Public
from tacit.models.block_function import Statistic
from tacit.models.scores import usable
from tacit.privacy import Cost
from tacit.schema.row_maps_of_columns import most_rows

if TYPE_CHECKING:
    from tacit.method.blocks.query import SampleAndAggregate

SHORT: Final = 10
"""Rows of a block, for each parameter, of a winsorised pilot where blocks of the usual size are too few."""
WORTH: Final = 0.8
"""Ratio of expected mean squared errors below which another way is taken in the place of means of blocks."""


def settled(query: SampleAndAggregate, public: Public, cost: Cost) -> SampleAndAggregate:
    """Return the question with its way of least expected error; means of blocks where no other is expected to help."""
    plain = replace(query, method="tuned")
    law: Any = query.model.law
    if law is None or isinstance(law, Statistic):
        return plain
    shape = means_design.design(plain, public, cost)
    rows = query.rows or public.size
    own = None if rows is None else _errors(shape, rows)
    if rows is None or own is None:
        return plain
    best, least = plain, WORTH * float((own / own).max())
    for other in _others(query, public, rows):
        error = _relative_error(other, public, cost, rows, own)
        if error is not None and error < least:
            best, least = other, error
    return best


def _others(query: SampleAndAggregate, public: Public, rows: int) -> list[SampleAndAggregate]:
    """Return the other ways, the simpler first: steps from means of blocks and from winsorised ones, and winsorised."""
    law = query.model.law
    found = [replace(query, method="tuned", winsorize=True)]
    if query.parameters or most_rows(public.schema) > 1 or usable(law) is not None:
        return found
    # of rows of any law, wherever the log-density has the derivatives
    pilot = replace(query, bias="observed" if law.smooth else query.bias, one_step=True)
    winsorized = replace(pilot, winsorize=True)
    # many short blocks, among which quartiles are found in a wider box; a pilot's bias is of no account
    short = rows // (SHORT * len(law.names))
    more = [] if query.blocks or short < 2 else [replace(winsorized, blocks=short)]
    return [pilot, winsorized, *more, *found]


def _relative_error(query: SampleAndAggregate, public: Public, cost: Cost, rows: int, own: Array) -> float | None:
    """Return the largest ratio over parameters of a way's expected mean squared error to `own`; None if it is unfit."""
    try:
        make: Any = one_step_design if query.one_step else winsorized_design
        shape = make.design(query, public, cost)
    except (QueryError, ModelError):
        return None
    if query.winsorize and not quartiles_are_found(shape):
        return None
    if query.one_step and noise_of_pilot(shape, rows) > POOR:
        return None
    found = _errors(shape, rows)
    return None if found is None else float((found / own).max())


def _errors(shape: Measurement, rows: int) -> Array | None:
    """Return the expected mean squared error of each parameter, shape (p,); None where it is not known beforehand."""
    query, plan = cast("SampleAndAggregate", shape.query), cast(means_design.BlockPlan, shape.blocks)
    if query.one_step:
        return step_variances(shape, rows)
    sampling = sampling_variances(plan.model, rows)
    if sampling is None:
        return None
    means = windowed(shape, rows, sampling) if query.winsorize else shape
    found: list[float] = []
    for column in means.columns:
        own, order, k = (
            float(sampling[plan.model.names.index(column.label)]),
            plan.likelihood.order(column.label),
            plan.blocks,
        )
        # variance v k / n and squared bias (b k**2 / n**(3/2))**2 of short blocks, relative to `own` (theory §2)
        second = order.v * k / rows + (order.b * k**2 / rows**1.5) ** 2
        noise = float((loads_of_mean(column, plan, query.winsorize) ** 2).sum()) * column.law.variance()
        found.append(noise + own * (1 + second))
    made = np.array(found)
    return made if np.isfinite(made).all() and (made > 0).all() else None
