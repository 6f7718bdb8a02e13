"""Expected precision of one step and of winsorised blocks, from public facts, at the fallback of the model."""

from __future__ import annotations

import math
from dataclasses import replace
from statistics import NormalDist
from typing import Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.column_terms import terms_of
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.one_step_design import H, split
from tacit.method.blocks.winsorized_design import least_quartile_in_noise_scales, quartile_in_noise_scales
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.models import scores
from tacit.models.wide_grid import REACH
from tacit.release.parts import OF_BLOCKS, Grid

Entry = tuple[str, float, float, float, float]
POOR: Final = 0.5
"""Noise of the pilot, in standard deviations of one row, above which one step gains little (`benchmarks`)."""
QUARTILES: Final = 1.349
"""Distance between the quartiles of a normal law, in standard deviations."""


def one_step_entries(shape: Measurement, rows: int, level: float) -> list[Entry]:
    """Return for each parameter: name, assumed value, width of its interval, variances due to noise and to sampling.

    By the delta method at the fallback: slope J of the expected clipped scores, and errors J^-1 times those of scores.
    """
    model = cast(BlockPlan, shape.blocks).likelihood
    at = scores.inner(model, model.fallback)
    _, slope, spread = scores.law(scores.scaling_at(model, at), scores.CLIP, at).mean(at)
    turn = np.linalg.inv(slope)
    noise = np.array([_noise(column, shape.rows, rows) for column in split(shape)[1]])
    # turn * noise scales the columns: J^-1 diag(noise) J^-T
    sampling, privacy = np.diag(turn @ spread @ turn.T) / rows, np.diag((turn * noise) @ turn.T)
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    widths = np.minimum(z * np.sqrt(sampling + privacy), model.upper - model.lower)
    return [
        (name, float(at[i]), float(widths[i]), float(privacy[i]), float(sampling[i]))
        for i, name in enumerate(model.names)
    ]


def _noise(column: PartSpec, public: int | None, rows: int) -> float:
    """Return the variance of the noise in the mean of clipped scores, for a made-up table whose scores are all 0."""
    sums = column.form.assemble(tuple(rows * one(H) for one in column.form.polynomials))
    part = column.released((sums,))
    size = None if public is None else rows
    made = terms_of("Mean", part, rows=size, grouped=False, target="population")
    return float(np.asarray(made.privacy_variance)[0])


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


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return cautions on the selection of quartiles and on the pilot, from public facts."""
    plan, found = cast(BlockPlan, shape.blocks), list[str]()
    for column in shape.columns:
        if column.form.name == "quartiles" and quartile_in_noise_scales(
            column, plan.blocks
        ) < least_quartile_in_noise_scales(plan):
            words = f"the quartiles of {plan.blocks:,} blocks are hardly told at this price"
            found.append(f"{column.label}: {words}; a well-chosen box, without winsorize, would do better")
    if getattr(shape.query, "one_step", False) and _pilot(shape, rows) > POOR:
        words = "the noise of the pilot is more than half a standard deviation of a row"
        found.append(f"{words}: a step gains little, and plain sample and aggregate may do better")
    return found


def _pilot(shape: Measurement, rows: int) -> float:
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
