"""Expected errors of blocks, of winsorised blocks and of a step, from public facts, at the fallback of the model.

Both the default of a question (`automatic_choice`) and its plan go by these.  No data here.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import ModelError
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.one_step_design import split
from tacit.method.blocks.winsorized_design import least_quartile_in_noise_scales, quartile_in_noise_scales
from tacit.method.shared.asked_parameters import planned_at
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.models import scores
from tacit.models.block_function import Statistic
from tacit.models.likelihood import Likelihood
from tacit.models.wide_grid import REACH
from tacit.release.parts import OF_BLOCKS, Grid

POOR: Final = 0.5
"""Noise of the pilot, in standard deviations of one row, above which one step gains little (`benchmarks`)."""
QUARTILES: Final = 1.349
"""Distance between the quartiles of a normal law, in standard deviations."""


SINGULAR: Final = 1e-10
"""Reciprocal condition of an information, per width of the box, below which it tells some direction nothing."""


def sampling_variances(model: Likelihood | Statistic, rows: int) -> Array | None:
    """Return the variances of the maximum-likelihood estimate from all rows, shape (p,); None where unknown."""
    if isinstance(model, Statistic):
        return None
    try:
        information = np.asarray(model.fisher(model.fallback))
    except ModelError:
        return None
    return np.diag(np.linalg.inv(information)) / rows if _regular(model, information) else None


def _regular(model: Likelihood, information: Array) -> bool:
    """Return whether an information, shape (p, p), tells every direction something, in units of the boxes."""
    wide = model.upper - model.lower
    scaled = information * np.outer(wide, wide)
    return bool(np.isfinite(scaled).all()) and 1 / float(np.linalg.cond(scaled)) > SINGULAR


def at_regular_parameters(model: Likelihood) -> Likelihood:
    """Return a copy for plans whose default has an information: off the middle of boxes where that has none.

    In the middle of equal boxes the two laws of a mixture are one, of which no row says which it came from.
    """
    try:
        regular = _regular(model, np.asarray(model.fisher(model.fallback)))
    except ModelError:
        return model
    if regular:
        return model
    places = np.where(np.arange(len(model.names)) % 2 == 0, 2 / 3, 1 / 3)
    return planned_at(model, (model.lower + places * (model.upper - model.lower)).tolist())


def loads_of_mean(column: PartSpec, plan: BlockPlan, winsorized: bool) -> Array:
    """Return what a unit of noise in each of the three integers of a mean of blocks adds to it, shape (3,)."""
    i, grid = plan.model.names.index(column.label), cast(Grid, column.grid)
    # one grid step of a sum, in units of the mean over blocks
    load = (grid.upper - grid.lower) / grid.G / plan.blocks
    # the number of estimates is noisy too: it moves a mean off the middle of its grid
    off = 2 * (plan.model.fallback[i] - grid.lower) / (grid.upper - grid.lower) - 1 if not winsorized else 0.0
    return np.array([load, 0.0, load * off * (grid.G // 2) / column.form.parameters["presence"]])


def step_variances(shape: Measurement, rows: int) -> Array:
    """Return the variances of a step, sampling and noise, shape (p,): J^-1 times those of mean scores (theory §2)."""
    model = cast(BlockPlan, shape.blocks).likelihood
    at = scores.inner(model, model.fallback)
    _, slope, spread = scores.law(scores.scaling_at(model, at), scores.CLIP, at).mean(at)
    turn = np.linalg.inv(slope)
    # scores are about 0, the middle of their grid, so that a noisy number of rows moves no mean
    noise = [
        (2 * scores.CLIP / cast(Grid, one.grid).G / rows) ** 2 * one.law.variance()
        for one in split(shape)[1][: len(at)]
    ]
    return np.diag(turn @ (spread / rows + np.diag(noise)) @ turn.T)


def windowed(shape: Measurement, rows: int, sampling: Array | None) -> Measurement:
    """Return the design without its selections, and with sums on windows as wide as the model expects them.

    A window is the distance between the quartiles of blocks and REACH times that on either side, or the box if smaller.
    """
    plan = cast(BlockPlan, shape.blocks)
    made: list[PartSpec] = []
    for column in shape.columns:
        if column.form.name in OF_BLOCKS:
            grid = cast(Grid, column.grid)
            wide = grid.upper - grid.lower
            if sampling is not None:
                i = plan.model.names.index(column.label)
                # sampling * blocks is the variance of one block of rows / blocks rows
                wide = min(wide, (1 + 2 * REACH) * QUARTILES * math.sqrt(float(sampling[i]) * plan.blocks))
            made.append(replace(column, grid=replace(grid, upper=grid.lower + wide)))
    return replace(shape, columns=tuple(made))


def quartiles_are_found(shape: Measurement) -> bool:
    """Return whether the blocks are enough for every selection of quartiles, at its part of the price."""
    plan = cast(BlockPlan, shape.blocks)
    return all(finds_quartiles(one, plan) for one in shape.columns if one.form.name == "quartiles")


def finds_quartiles(column: PartSpec, plan: BlockPlan) -> bool:
    """Return whether the blocks are enough for the selections of one parameter's quartiles."""
    return quartile_in_noise_scales(column, plan.blocks) >= least_quartile_in_noise_scales(plan)


def noise_of_pilot(shape: Measurement, rows: int) -> float:
    """Return the noise of the pilot in standard deviations of a row, for the parameter where it is largest."""
    plan = cast(BlockPlan, shape.blocks)
    model = plan.likelihood
    information = np.diag(np.asarray(model.fisher(scores.inner(model, model.fallback))))
    first = replace(shape, columns=split(shape)[0].columns)
    if getattr(shape.query, "winsorize", False):
        first = windowed(first, rows, 1 / information / rows)
    sizes: list[float] = []
    for column in first.columns:
        grid = cast(Grid, column.grid)
        load = (grid.upper - grid.lower) / grid.G / plan.blocks
        at = plan.model.names.index(column.label)
        # sd of the noise times sqrt(I): in standard deviations of one row's estimate
        sizes.append(load * math.sqrt(column.law.variance() * float(information[at])))
    return max(sizes)
