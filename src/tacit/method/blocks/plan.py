"""Expected precision of sample and aggregate, from public facts: the noise of k blocks, and the model's information.

Parameters are assumed to be as expected (`as_expected`), else at the model's fallback (the value used for a block
without an estimate), which is the middle of their box unless the model names another.  The sampling error of a
regression depends on its regressors, of which nothing is known beforehand: it is left out.
"""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Final, cast

import numpy as np

from tacit.estimates.total_errors.error_laws import halfwidth, split
from tacit.method.blocks import one_step_design
from tacit.method.blocks import plan_steps as block_steps
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.expected_errors import at_regular_parameters, loads_of_mean, sampling_variances, windowed
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.blocks.support_rules import rule
from tacit.method.shared.asked_parameters import law_as_expected, words_of_law
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.models.block_function import Statistic
from tacit.models.likelihood import Likelihood
from tacit.release.parts import Grid
from tacit.schema.expectations import Expectations

ENOUGH: Final = 100
"""Blocks from which on resampling narrows intervals by a tenth at most (`docs/reference/block-resamples.md`)."""


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each parameter, from the model's information and the noise of blocks."""
    shape = as_expected(shape, expect)
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    found = [
        Expected(
            name, value, width, privacy / (privacy + own), z * math.sqrt(own), math.sqrt(privacy + own), float(rows)
        )
        for name, value, width, privacy, own in precision(shape, rows, level)
    ]
    if not cast(SampleAndAggregate, shape.query).one_step:
        return found
    # rows of another law than the model's: then the blocks of the first part answer
    first = replace(shape, columns=one_step_design.split(shape)[0].columns)
    blocks = {name: width for name, _, width, _, _ in _means(first, rows, level)}
    each = ((one, blocks.get(one.term, one.width)) for one in found)
    return [replace(one, between=(min(one.width, other), max(one.width, other))) for one, other in each]


def as_expected(shape: Measurement, expect: Expectations) -> Measurement:
    """Return the design with the model at the expected parameters, for a plan alone."""
    plan = cast(BlockPlan, shape.blocks)
    if isinstance(plan.model, Statistic):
        return shape
    law = law_as_expected(plan.model, shape.query, expect)
    return replace(shape, blocks=replace(plan, model=at_regular_parameters(law)))


def precision(shape: Measurement, rows: int, level: float) -> list[tuple[str, float, float, float, float]]:
    """Return for each parameter: name, assumed value, width of its interval, variances due to noise and to sampling."""
    query = cast(SampleAndAggregate, shape.query)
    return block_steps.one_step_entries(shape, rows, level) if query.one_step else _means(shape, rows, level)


def _means(shape: Measurement, rows: int, level: float) -> list[tuple[str, float, float, float, float]]:
    """Return the same of means over blocks, winsorised ones within windows as wide as the model expects them."""
    query, plan = cast(SampleAndAggregate, shape.query), cast(BlockPlan, shape.blocks)
    sampling = sampling_variances(plan.model, rows)
    shape = windowed(shape, rows, sampling) if query.winsorize else shape
    found: list[tuple[str, float, float, float, float]] = []
    for column in shape.columns:
        i = plan.model.names.index(column.label)
        grid = cast(Grid, column.grid)
        loads = loads_of_mean(column, plan, query.winsorize)
        privacy = float((loads**2).sum()) * column.law.variance()
        if sampling is None:
            s, b = split(column.law, loads)
            width = 2 * float(halfwidth(level, s, b))
        else:
            width = 2 * NormalDist().inv_cdf(0.5 + level / 2) * float(np.sqrt(sampling[i] + privacy))
        # intervals are cut to the box
        width = min(width, grid.upper - grid.lower)
        found.append(
            (column.label, float(plan.model.fallback[i]), width, privacy, 0.0 if sampling is None else sampling[i])
        )
    return found


def _place(shape: Measurement) -> str:
    """Return where the model is taken to be, in words."""
    model, asked = cast(BlockPlan, shape.blocks).model, cast(SampleAndAggregate, shape.query).model.law
    if model is asked or isinstance(model, Statistic):
        return "at the middle of its box"
    if np.array_equal(model.fallback, at_regular_parameters(cast(Likelihood, asked)).fallback):
        return f"{words_of_law(model)}: in the middle of the box parameters cannot be told apart"
    return f"{words_of_law(model)}, as expected"


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return cautions on the number of blocks and on errors that the plan does not count."""
    plan = cast(BlockPlan, shape.blocks)
    each = rows / plan.blocks
    found = [f"{plan.blocks:,} blocks of about {each:,.0f} rows; sampling error by the model, {_place(shape)}"]
    if plan.resampling is not None:
        found.append(f"sampling error from {plan.resampling.words}")
        if plan.blocks >= ENOUGH:
            found.append(f"{plan.blocks:,} blocks: the variance between them is nearly as good, and supposes less")
    elif plan.blocks < 30:
        found.append(f"{plan.blocks} blocks: their spread is known poorly, and intervals are too short")
    if sampling_variances(plan.model, rows) is None:
        found[0] = f"{plan.blocks:,} blocks of about {each:,.0f} rows; sampling error is not known beforehand"
    if isinstance(plan.model, Statistic):
        done = "what halves leave of a" if cast(SampleAndAggregate, shape.query).bias == "split-half" else "a"
        found.append(f"{done} statistic's bias in blocks of so many rows is in no interval")
    left_out = rule(plan.model)
    found += [] if left_out is None else [left_out]
    return [*found, *block_steps.cautions(shape, rows)]
