"""Simulation of estimates on blocks, in one or two queries, with seeded labels, selections and noise.

The second query follows from the noisy answer to the first, so these are simulated release by release.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from statistics import NormalDist
from typing import Any, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.curator.mechanisms import design
from tacit.errors import InferenceError
from tacit.estimates.wording import title
from tacit.method.blocks import mechanism_means as means
from tacit.method.blocks import mechanism_one_step as one_step
from tacit.method.blocks import mechanism_winsorized as winsorized
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.rank_utilities import Runs
from tacit.models import scores
from tacit.noise.laws import Law
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.release.parts import Cells, Part
from tacit.release.simulated import SimulatedRelease
from tacit.schema import Schema
from tacit.testing.coverage_result import Coverage, Generator, Truth, truth_of
from tacit.testing.reference_table import columns_of
from tacit.testing.simulate import size_of
from tacit.testing.simulated_blocks import complete, labels


@dataclass(frozen=True)
class AskedBlocks:
    """A query on blocks, with its schema, relation and price."""

    query: SampleAndAggregate
    schema: Schema
    neighbors: str
    cost: Cost

    def design(self, size: int) -> Measurement:
        """Return the design for a table of `size` rows (persons), which is public under replace-one only."""
        rows = size if self.neighbors == "replace-one" else None
        return design(self.query, Public(self.schema, self.neighbors, rows, size), self.cost)


def release(asked: AskedBlocks, data: object, rng: np.random.Generator) -> SimulatedRelease:
    """Return one simulated release of a table; QueryError as for a release.

    >>> from tacit import Real, SampleAndAggregate, Schema
    >>> from tacit.families import Exponential
    >>> query = SampleAndAggregate("x", Exponential(rate=(0.1, 10)), one_step=True)
    >>> asked = AskedBlocks(query, Schema({"x": Real()}), "replace-one", Cost.of(epsilon=2))
    >>> rows = {"x": np.random.default_rng(0).exponential(0.5, 5_000)}
    >>> bool(abs(release(asked, rows, np.random.default_rng(1)).estimate().value - 2) < 0.5)
    True
    """
    table = columns_of(data, asked.schema)
    size = size_of(table, asked.schema)
    shape = asked.design(size)
    rows = complete(shape, table)
    own = labels(shape, rows, rng)

    draw, noise = partial(_drawn, rng), partial(_noisy, rng)
    query = cast(SampleAndAggregate, shape.query)  # as chosen from public facts
    if query.one_step:
        # a row's score may depend on its place in a batch, so places are drawn, as in a release
        places = rng.integers(0, scores.BATCH, len(rows.values))
        parts = one_step.released(shape, rows, own, places, draw, noise)
    else:
        mechanism: Any = winsorized if query.winsorize else means
        parts = mechanism.released(shape, rows, own, draw, noise)
    return _of_parts(shape, parts)


def release_of_estimates(shape: Measurement, values: Array, rng: np.random.Generator) -> SimulatedRelease:
    """Return one simulated release of blocks whose estimates are these, shape (blocks, parameters); of no step."""
    noise = partial(_noisy, rng)
    if cast(SampleAndAggregate, shape.query).winsorize:
        return _of_parts(shape, winsorized.of_estimates(shape, values, partial(_drawn, rng), noise))
    return _of_parts(shape, means.protected(shape, values, noise))


def _of_parts(shape: Measurement, parts: tuple[Part, ...]) -> SimulatedRelease:
    unit = None if shape.unit is None else shape.max_rows
    return SimulatedRelease(shape.query, "simulated", shape.neighbors, shape.rows, (), parts, shape.cost, unit)


def _drawn(rng: np.random.Generator, runs: Runs, law: Selection) -> int:
    """Return a point drawn by the law's seeded sampler."""
    run, place = law.sample(runs.utility, runs.points, 1, rng)
    return runs.first[int(run[0])] + int(place[0])


def _noisy(rng: np.random.Generator, cells: Cells, law: Law) -> Cells:
    """Return the integers plus simulated noise."""
    return tuple(tuple(k + int(z) for k, z in zip(cell, law.sample(len(cell), rng), strict=True)) for cell in cells)


def study(
    asked: AskedBlocks, generator: Generator, truth: Truth, repeats: int, rng: np.random.Generator, level: float
) -> Coverage:
    """Return the coverage of a query in two steps, release by release; InferenceError I10 as `coverage`.

    Widths without noise are those of normal intervals with the estimated sampling errors of the simulated releases.
    """
    found: list[tuple[Any, ...]] = []
    made: Any = None
    size: int | None = None
    for _ in range(repeats):
        table = generator(rng)
        here = size_of(columns_of(table, asked.schema), asked.schema)
        size = here if size is None else size
        if asked.neighbors == "replace-one" and here != size:
            text = f"the generator made {size:,} rows, then {here:,}; under replace-one their number is public."
            raise InferenceError(text, code="I10", hint='neighbors="add-remove", or tables of one size', state=None)
        one = release(asked, table, rng)
        made = one.estimate()
        limits = made.intervals(level)
        unclear = [reason is not None for reason in made.reasons]
        found.append((made.values, made.std_errors, limits, np.sqrt(made.sampling_variances), unclear))
    value, error, limits, own, unclear = (np.array(part) for part in zip(*found, strict=True))
    true = truth_of(truth, made.terms)
    hit = ((limits[..., 0] <= true) & (true <= limits[..., 1])).mean(axis=0)
    sd = value.std(axis=0, ddof=1)
    return Coverage(
        title=f"{title(made.release)}, {asked.cost}, {asked.neighbors}",
        level=level,
        repeats=repeats,
        terms=made.terms,
        truth=true,
        bias=value.mean(axis=0) - true,
        bias_error=sd / math.sqrt(repeats),
        std_deviation=sd,
        std_error=error.mean(axis=0),
        coverage=hit,
        coverage_error=np.sqrt(np.maximum(hit * (1 - hit), 0.25 / repeats) / repeats),
        width=(limits[..., 1] - limits[..., 0]).mean(axis=0),
        width_without=2 * NormalDist().inv_cdf(0.5 + level / 2) * own.mean(axis=0),
        unclear=unclear.mean(axis=0),
    )
