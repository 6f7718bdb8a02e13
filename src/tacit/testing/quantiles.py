"""Simulated quantiles: the mechanism's own selections, drawn by the laws' seeded samplers; protects nobody."""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from typing import Any, cast

import numpy as np

from tacit.inference.quantiles import QuantileEstimate, estimate
from tacit.mechanisms import quantiles, ranks
from tacit.mechanisms.moments import Column
from tacit.noise.selection import Selection
from tacit.privacy import Cost
from tacit.privacy.budget import Neighbors
from tacit.queries import Quantiles
from tacit.schema import Schema
from tacit.testing.arrays import columns_of, numbers
from tacit.testing.simulate import Number, SimulatedRelease


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
    values = columns_of(table, schema)[schema.source(query.column)]
    rows = len(values) if neighbors == "replace-one" else None
    shape = quantiles.design(query, schema, neighbors=neighbors, rows=rows, cost=Cost.of(epsilon=epsilon, rho=rho))
    at = shape.columns[0].rowmap
    assert at is not None
    v, known = at.numpy(numbers(values, at))
    held, many = np.unique(v[known], return_counts=True)
    counts = dict(zip(held.tolist(), many.tolist(), strict=True))
    chosen, sizes = quantiles.split(shape)
    size, variance, last = float(rows or 0), 0.0, ()
    if sizes is not None:
        noisy = int(known.sum() + sizes.law.sample(1, generator)[0])
        size, variance = max(float(noisy), 0.0), sizes.law.variance()
        last = (quantiles.part_of(sizes, ((noisy,),)),)
    parts = tuple(
        quantiles.part_of(one, _steps(counts, one, quantiles.reach(one, size, variance, query.level), generator))
        for one in chosen
    )
    made = SimulatedRelease(query, "simulated", neighbors, rows, (), (*parts, *last), shape.cost)
    return estimate(made)


def _steps(counts: dict[int, int], column: Column, c: int, rng: np.random.Generator) -> tuple[tuple[int, ...], ...]:
    facts, law = column.form.parameters, cast(Selection, column.law)
    p = Fraction(facts["numerator"], facts["denominator"])
    found: list[tuple[int, ...]] = []
    for rung in quantiles.RUNGS:
        runs = ranks.utilities(counts, facts["G"] + 1, p, c * rung)
        run, place = law.sample(runs.utility, runs.points, 1, rng)
        found.append((runs.first[int(run[0])] + int(place[0]),))
    return tuple(found)
