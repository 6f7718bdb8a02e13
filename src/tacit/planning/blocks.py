"""Expected precision of sample and aggregate, from public facts: the noise of k blocks, and the model's information.

The parameters are taken to be what stands for a block without an answer, the middle of their box unless said
otherwise.  The sampling error of a regression depends on its regressors, of which nothing is known: it is left out.
"""

from __future__ import annotations

from statistics import NormalDist
from typing import cast

import numpy as np

from tacit.errors import ModelError
from tacit.inference.laws import halfwidth, split
from tacit.mechanisms.moments import Design
from tacit.mechanisms.sample_and_aggregate import Plan
from tacit.models.likelihood import Likelihood
from tacit.models.statistic import Statistic
from tacit.planning import block_steps
from tacit.queries_blocks import SampleAndAggregate
from tacit.release import Grid


def precision(shape: Design, rows: int, level: float) -> list[tuple[str, float, float, float, float]]:
    """One entry a parameter: name, assumed value, width, variance due to privacy, variance due to sampling."""
    query = cast(SampleAndAggregate, shape.query)
    if query.one_step:
        return block_steps.stepped(shape, rows, level)
    plan = cast(Plan, shape.blocks)
    sampling = _sampling(plan.model, rows)
    if query.winsorize:
        shape = block_steps.windowed(shape, rows, sampling)
    found: list[tuple[str, float, float, float, float]] = []
    for column in shape.columns:
        i = plan.model.names.index(column.label)
        grid = cast(Grid, column.grid)
        load = (grid.upper - grid.lower) / grid.G / plan.blocks
        privacy = load**2 * column.law.variance()
        if sampling is None:
            s, b = split(column.law, np.array([load, 0.0]))
            width = 2 * float(halfwidth(level, s, b))
        else:
            width = 2 * NormalDist().inv_cdf(0.5 + level / 2) * float(np.sqrt(sampling[i] + privacy))
        width = min(width, grid.upper - grid.lower)
        found.append(
            (column.label, float(plan.model.fallback[i]), width, privacy, 0.0 if sampling is None else sampling[i])
        )
    return found


def _sampling(model: Likelihood | Statistic, rows: int) -> np.ndarray | None:
    """Variances of the maximum-likelihood estimate of all rows, shape (p,); None where they cannot be told."""
    if isinstance(model, Statistic):
        return None
    try:
        return np.diag(np.linalg.inv(model.fisher(model.fallback))) / rows
    except (ModelError, np.linalg.LinAlgError):
        return None


def cautions(shape: Design, rows: int) -> list[str]:
    """What a careful colleague would say of blocks."""
    plan = cast(Plan, shape.blocks)
    each = rows / plan.blocks
    found = [f"{plan.blocks:,} blocks of about {each:,.0f} rows; sampling error by the model, at the middle of its box"]
    if plan.blocks < 30:
        found.append(f"{plan.blocks} blocks: their spread is known poorly, and intervals are too short")
    if _sampling(plan.model, rows) is None:
        found[0] = f"{plan.blocks:,} blocks of about {each:,.0f} rows; sampling error is not known beforehand"
    if isinstance(plan.model, Statistic):
        done = "what halves leave of a" if cast(SampleAndAggregate, shape.query).bias == "split-half" else "a"
        found.append(f"{done} statistic's bias in blocks of so many rows is in no interval")
    return [*found, *block_steps.cautions(shape, rows)]
