"""Simulated quantiles: the mechanism's own selections, drawn by the laws' seeded samplers; protects nobody."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from tacit.inference.quantiles import QuantileEstimate, estimate
from tacit.mechanisms import quantiles
from tacit.mechanisms.moments import Design
from tacit.mechanisms.ranks import Runs
from tacit.noise.laws import Law
from tacit.noise.selection import Selection
from tacit.privacy import Cost
from tacit.privacy.budget import Neighbors
from tacit.queries import Quantiles
from tacit.schema import Schema
from tacit.testing.arrays import Table_, cells_of, columns_of, holds, numbers
from tacit.testing.persons import Rows, codes, persons
from tacit.testing.simulate import Number, SimulatedRelease, size_of


def simulate_quantiles(
    query: Quantiles,
    table: Mapping[str, Any],
    schema: Schema,
    *,
    epsilon: Number = None,
    rho: Number = None,
    neighbors: Neighbors = "replace-one",
    rng: int | np.random.Generator = 0,
) -> QuantileEstimate:
    """One simulated release of quantiles of a table (a dict of arrays), estimated.

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
    shape = quantiles.design(query, schema, neighbors=neighbors, rows=rows, cost=Cost.of(epsilon=epsilon, rho=rho))

    def draw(runs: Runs, law: Selection) -> int:
        run, place = law.sample(runs.utility, runs.points, 1, generator)
        return runs.first[int(run[0])] + int(place[0])

    def noise(cells: tuple[tuple[int, ...], ...], law: Law) -> tuple[tuple[int, ...], ...]:
        return tuple(tuple(x + int(law.sample(1, generator)[0]) for x in cell) for cell in cells)

    parts = quantiles.released(shape, counted(shape, columns), draw, noise)
    unit = None if shape.unit is None else shape.max_rows
    cost, levels = shape.cost, shape.levels
    return estimate(
        SimulatedRelease(query, "simulated", neighbors, rows, levels, parts, cost, unit, ordered=shape.ordered)
    )


def counted(shape: Design, table: Table_) -> tuple[dict[int, int], ...]:
    """{v: rows, or weight of persons} of each cell in NumPy: what every engine must equal."""
    at, share = shape.columns[0].rowmap, shape.columns[0].weight
    assert at is not None
    who = None if shape.unit is None else codes(table[shape.unit.source])
    cell, inside = cells_of(shape.keys, table, who)
    inside = inside if shape.where is None else inside & holds(shape.where, table)
    v, known = at.numpy(numbers(table[at.source], at))
    index = np.flatnonzero(inside & known)
    rows = Rows(index, cell[index], v[index], np.ones_like(index))
    if who is not None:
        rows = persons(rows, who[index], share)
    found: list[dict[int, int]] = []
    for i in range(shape.cells):
        here = (rows.cell == i) & (rows.weight > 0)
        held, place = np.unique(rows.v[here], return_inverse=True)
        many = np.zeros(len(held), dtype=np.int64)
        np.add.at(many, place, rows.weight[here])
        found.append(dict(zip(held.tolist(), many.tolist(), strict=True)))
    return tuple(found)
