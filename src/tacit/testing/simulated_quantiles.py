"""Simulation of quantiles: the mechanism's selections, drawn by seeded samplers that protect nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import mechanism as quantiles
from tacit.method.quantiles.estimate import QuantileEstimate, estimate
from tacit.method.quantiles.mechanism_many import PARTS
from tacit.method.quantiles.query import Quantiles
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.mechanism_rank_selection import Candidates, T
from tacit.noise.laws import Law
from tacit.noise.permute_and_flip import SelectionLaw
from tacit.privacy import Cost
from tacit.privacy.budget import Neighbors
from tacit.release.simulated import SimulatedRelease
from tacit.schema import Schema
from tacit.testing.reference_persons import ReferenceRows, codes, persons
from tacit.testing.reference_table import Table_, cells_of, columns_of, holds, numbers
from tacit.testing.simulate import Number, size_of


def simulate_quantiles(
    query: Quantiles,
    table: Mapping[str, Any],
    schema: Schema,
    *,
    epsilon: Number = None,
    delta: Number = None,
    rho: Number = None,
    neighbors: Neighbors = "replace-one",
    rng: int | np.random.Generator = 0,
) -> QuantileEstimate:
    """Return the estimates from one simulated release of quantiles of a table (a dict of arrays).

    >>> from tacit import Real
    >>> x = np.random.default_rng(0).uniform(0, 100, 2_000)
    >>> found = simulate_quantiles(Quantiles("x", [0.5]), {"x": x}, Schema({"x": Real(0, 100)}), rho=0.1)
    >>> 40 < found.value < 60
    True
    """
    generator = np.random.default_rng(rng)
    columns = columns_of(table, schema)
    size = size_of(columns, schema)
    rows = size if neighbors == "replace-one" else None
    shape = quantiles_design.design(
        query, Public(schema, neighbors, rows), Cost.of(epsilon=epsilon, delta=delta, rho=rho)
    )

    def draw(runs: Candidates[T], law: SelectionLaw) -> T:
        """Return a candidate drawn by the law's seeded sampler."""
        run, place = law.sample(runs.utility, runs.points, 1, generator)
        return runs.chosen(int(run[0]), int(place[0]))

    def noise(cells: tuple[tuple[int, ...], ...], law: Law) -> tuple[tuple[int, ...], ...]:
        """Return the integers plus simulated noise."""
        return tuple(tuple(x + int(law.sample(1, generator)[0]) for x in cell) for cell in cells)

    def divided(rows: int) -> NDArray[np.int64]:
        """Return simulated parts of steps."""
        return generator.integers(0, PARTS, rows)

    parts = quantiles.released(shape, counted(shape, columns), draw, noise, divided)
    unit = None if shape.unit is None else shape.max_rows
    cost, levels = shape.cost, shape.levels
    return estimate(
        SimulatedRelease(query, "simulated", neighbors, rows, levels, parts, cost, unit, ordered=shape.ordered)
    )


def counted(shape: Measurement, table: Table_) -> tuple[dict[int, int], ...]:
    """Return {v: rows, or weight of persons} of each cell, computed in NumPy; every engine must give the same."""
    at, share = shape.columns[0].rowmap, shape.columns[0].weight
    assert at is not None
    who = None if shape.unit is None else codes(table[shape.unit.source])
    cell, inside = cells_of(shape.keys, table, who)
    inside = inside if shape.where is None else inside & holds(shape.where, table)
    v, known = at.numpy(numbers(table[at.source], at))
    index = np.flatnonzero(inside & known)
    rows = ReferenceRows(index, cell[index], v[index], np.ones_like(index))
    if who is not None:
        rows = persons(rows, who[index], share)
    found: list[dict[int, int]] = []
    for i in range(shape.cells):
        # a weight rounded down to 0 leaves no point behind, as in the engines
        here = (rows.cell == i) & (rows.weight > 0)
        held, place = np.unique(rows.v[here], return_inverse=True)
        many = np.zeros(len(held), dtype=np.int64)
        np.add.at(many, place, rows.weight[here])
        found.append(dict(zip(held.tolist(), many.tolist(), strict=True)))
    return tuple(found)
