"""Expected precision of sample and aggregate, from public facts: the noise of k blocks, and the model's information.

Parameters are assumed to be at the model's fallback (the value used for a block without an estimate), which is the
middle of their box unless the model names another.  The sampling error of a regression depends on its regressors, of
which nothing is known beforehand: it is left out.
"""

from __future__ import annotations

import math
from statistics import NormalDist
from typing import cast

import numpy as np

from tacit.errors import ModelError
from tacit.estimates.error_laws import halfwidth, split
from tacit.method.blocks import plan_steps as block_steps
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.blocks.support_rules import rule
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.plan_expected import Expected
from tacit.method.shared.plan_shares import NOTHING
from tacit.models.block_function import Statistic
from tacit.models.likelihood import Likelihood
from tacit.release.parts import Grid
from tacit.schema.expectations import Expectations


def expected(shape: Measurement, rows: int, level: float, expect: Expectations = NOTHING) -> list[Expected]:
    """Return the expected precision of each parameter, from the model's information and the noise of blocks."""
    del expect  # the model is planned at parameters of its own
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    return [
        Expected(
            name, value, width, privacy / (privacy + own), z * math.sqrt(own), math.sqrt(privacy + own), float(rows)
        )
        for name, value, width, privacy, own in precision(shape, rows, level)
    ]


def precision(shape: Measurement, rows: int, level: float) -> list[tuple[str, float, float, float, float]]:
    """Return for each parameter: name, assumed value, width of its interval, variances due to noise and to sampling."""
    query = cast(SampleAndAggregate, shape.query)
    if query.one_step:
        return block_steps.one_step_entries(shape, rows, level)
    plan = cast(BlockPlan, shape.blocks)
    sampling = _sampling(plan.model, rows)
    if query.winsorize:
        shape = block_steps.windowed(shape, rows, sampling)
    found: list[tuple[str, float, float, float, float]] = []
    for column in shape.columns:
        i = plan.model.names.index(column.label)
        grid = cast(Grid, column.grid)
        # one grid step of a sum, in units of the mean over blocks
        load = (grid.upper - grid.lower) / grid.G / plan.blocks
        # the number of estimates is noisy too: it moves a mean off the middle of its grid
        off = 2 * (plan.model.fallback[i] - grid.lower) / (grid.upper - grid.lower) - 1 if not query.winsorize else 0.0
        loads = np.array([load, 0.0, load * off * (grid.G // 2) / column.form.parameters["presence"]])
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


def _sampling(model: Likelihood | Statistic, rows: int) -> np.ndarray | None:
    """Return the variances of the maximum-likelihood estimate from all rows, shape (p,); None where unknown."""
    if isinstance(model, Statistic):
        return None
    try:
        return np.diag(np.linalg.inv(model.fisher(model.fallback))) / rows
    except (ModelError, np.linalg.LinAlgError):
        return None


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return cautions on the number of blocks and on errors that the plan does not count."""
    plan = cast(BlockPlan, shape.blocks)
    each = rows / plan.blocks
    found = [f"{plan.blocks:,} blocks of about {each:,.0f} rows; sampling error by the model, at the middle of its box"]
    if plan.blocks < 30:
        found.append(f"{plan.blocks} blocks: their spread is known poorly, and intervals are too short")
    if _sampling(plan.model, rows) is None:
        found[0] = f"{plan.blocks:,} blocks of about {each:,.0f} rows; sampling error is not known beforehand"
    if isinstance(plan.model, Statistic):
        done = "what halves leave of a" if cast(SampleAndAggregate, shape.query).bias == "split-half" else "a"
        found.append(f"{done} statistic's bias in blocks of so many rows is in no interval")
    left_out = rule(plan.model)
    found += [] if left_out is None else [left_out]
    return [*found, *block_steps.cautions(shape, rows)]
