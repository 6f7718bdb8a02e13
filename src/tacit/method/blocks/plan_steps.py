"""Expected precision of one step and of winsorised blocks, from public facts, at the fallback of the model."""

from __future__ import annotations

from statistics import NormalDist
from typing import cast

import numpy as np

from tacit.base.arrays import Array
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.expected_errors import POOR, finds_quartiles, noise_of_pilot
from tacit.method.blocks.one_step_design import H, split
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.models import scores

Entry = tuple[str, float, float, float, float]


def one_step_entries(shape: Measurement, rows: int, level: float) -> list[Entry]:
    """Return for each parameter: name, assumed value, width of its interval, variances due to noise and to sampling.

    By the delta method at the fallback: slope J of the expected clipped scores, and errors J^-1 times those of scores.
    """
    model = cast(BlockPlan, shape.blocks).likelihood
    at = scores.inner(model, model.fallback)
    sampling, privacy = map(np.diag, one_step_covariances(shape, rows))
    z = 2 * NormalDist().inv_cdf(0.5 + level / 2)
    widths = np.minimum(z * np.sqrt(sampling + privacy), model.upper - model.lower)
    return [
        (name, float(at[i]), float(widths[i]), float(privacy[i]), float(sampling[i]))
        for i, name in enumerate(model.names)
    ]


def one_step_covariances(shape: Measurement, rows: int) -> tuple[Array, Array]:
    """Return the covariances of the parameters due to sampling and to noise, shape (p, p) each."""
    model = cast(BlockPlan, shape.blocks).likelihood
    at = scores.inner(model, model.fallback)
    _, slope, spread = scores.law(scores.scaling_at(model, at), scores.CLIP, at).mean(at)
    turn = np.linalg.inv(slope)
    noise = np.array([_noise(column, shape.rows, rows) for column in split(shape)[1][: len(at)]])
    # turn * noise scales the columns: J^-1 diag(noise) J^-T
    return turn @ spread @ turn.T / rows, (turn * noise) @ turn.T


def _noise(column: PartSpec, public: int | None, rows: int) -> float:
    """Return the variance of the noise in the mean of clipped scores, for a made-up table whose scores are all 0."""
    sums = column.form.assemble(tuple(rows * one(H) for one in column.form.polynomials))
    part = column.released((sums,))
    size = None if public is None else rows
    made = terms_of("Mean", part, rows=size, grouped=False, target="population")
    return float(np.asarray(made.privacy_variance)[0])


def cautions(shape: Measurement, rows: int) -> list[str]:
    """Return cautions on the selection of quartiles and on the pilot, from public facts."""
    plan, found = cast(BlockPlan, shape.blocks), list[str]()
    for column in shape.columns:
        if column.form.name == "quartiles" and not finds_quartiles(column, plan):
            words = f"the quartiles of {plan.blocks:,} blocks are hardly told at this price"
            found.append(f"{column.label}: {words}; a well-chosen box, without winsorize, would do better")
    if getattr(shape.query, "one_step", False) and getattr(shape.query, "method", "") == "auto":
        found.append("a step of all rows from these blocks is expected to have the least error of the ways to answer")
    if getattr(shape.query, "one_step", False) and noise_of_pilot(shape, rows) > POOR:
        words = "the noise of the pilot is more than half a standard deviation of a row"
        found.append(f"{words}: a step gains little, and plain sample and aggregate may do better")
    return found
