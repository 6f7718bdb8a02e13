"""The law of the selections of `Quantiles` on one column of a table, in NumPy: fast, for simulation alone.

`checked` compares it with the function that releases call; both scripts that use this file do so first.
"""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import mechanism_cuts
from tacit.method.quantiles.estimate import QuantileEstimate, estimate
from tacit.method.quantiles.mechanism import triples, utilities
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease


@dataclass(frozen=True)
class Law:
    """Runs of steps: the first of each, their number, and the probability of the run."""

    first: np.ndarray
    points: np.ndarray
    probability: np.ndarray

    def draw(self, size: int, rng: np.random.Generator) -> np.ndarray:
        run = np.searchsorted(np.cumsum(self.probability), rng.random(size))
        run = np.minimum(run, len(self.first) - 1)
        return self.first[run] + rng.integers(self.points[run])

    def error(self, value: float, lower: float, h: float) -> float:
        """Mean absolute error of the selected step's value; a run that holds `value` counts with its own spread."""
        low, high = lower + h * self.first, lower + h * (self.first + self.points - 1)
        outside = np.abs((low + high) / 2 - value)
        width = np.where(high > low, high - low, 1.0)
        inside = ((value - low) ** 2 + (high - value) ** 2) / (2 * width)
        return float(self.probability @ np.where((low < value) & (value < high), inside, outside))


def designed(query: Any, schema: Any, rows: int | None, neighbors: Any, **price: Any) -> Measurement:
    return quantiles_design.design(query, Public(schema, neighbors, rows), Cost.of(**price))


def of_ends(query: Any, public: Public, cost: Cost) -> Measurement:
    """The measurement whose intervals have selected ends, also of few rows, of which a release would take cuts."""
    own = quantiles_design.cuts_plan
    quantiles_design.cuts_plan = lambda *_, **__: None
    try:
        return quantiles_design.design(query, public, cost)
    finally:
        quantiles_design.cuts_plan = own


def law(column: PartSpec, x: np.ndarray, offset: int = 0) -> Law:
    """The law of one selection near rank p N + offset."""
    assert column.rowmap is not None
    v, known = column.rowmap.numpy(x)
    steps, many = np.unique(v[known], return_counts=True)
    facts = column.form.parameters
    a, b, total = facts["numerator"], facts["denominator"], facts["G"] + 1
    target = a * int(many.sum()) + b * offset
    before = np.concatenate([[0], np.cumsum(many)])
    begin = np.concatenate([[0], steps + 1])
    gap = np.concatenate([steps, [total]]) - begin
    first = np.concatenate([begin[gap > 0], steps])
    points = np.concatenate([gap[gap > 0], np.ones_like(steps)])
    below = np.concatenate([before[gap > 0], before[:-1]])
    upto = np.concatenate([before[gap > 0], before[1:]])
    far = np.maximum(b * below - target, target - b * upto)
    return Law(first, points, column.law.pmf(-far, points))  # type: ignore[attr-defined]


def checked(column: PartSpec, x: np.ndarray, offset: int) -> None:
    """Raise AssertionError unless the law is that of a release's own function."""
    v, known = column.rowmap.numpy(x)  # type: ignore[union-attr]
    steps, many = np.unique(v[known], return_counts=True)
    runs = utilities(column, dict(zip(steps.tolist(), many.tolist(), strict=True)), offset)
    own = column.law.pmf(runs.utility, runs.points)  # type: ignore[attr-defined]
    made = law(column, x, offset)
    order = np.argsort(made.first)
    assert made.first[order].tolist() == runs.first
    assert made.points[order].tolist() == runs.points
    assert np.allclose(made.probability[order], own, rtol=1e-9, atol=1e-300)


def joint(column: PartSpec, x: np.ndarray, offset: int, size: int, rng: np.random.Generator) -> np.ndarray:
    """Draws of three steps selected together, shape (size, 3), from the triples that a release counts."""
    v, known = column.rowmap.numpy(x)  # type: ignore[union-attr]
    steps, many = np.unique(v[known], return_counts=True)
    made = triples(column, dict(zip(steps.tolist(), many.tolist(), strict=True)), offset)
    runs, places = column.law.sample(made.utility, made.points, size, rng)  # type: ignore[attr-defined]
    return np.array([made.chosen(int(run), int(place)) for run, place in zip(runs, places, strict=True)])


def simulated(query: Any, shape: Measurement, x: np.ndarray, rng: np.random.Generator) -> QuantileEstimate:
    """The estimate of one simulated release of a single group."""
    if shape.columns[0].form.name == "cuts":
        return of_cuts(query, shape, x, rng)
    chosen, sizes = quantiles_design.split(shape)
    size, parts = float(shape.rows or 0), []
    if sizes is not None:
        noisy = int(np.isfinite(x).sum()) + int(sizes.law.sample(1, rng)[0])
        size = max(float(noisy), 0.0)
        parts.append(sizes.released(((noisy,),)))
    made = []
    for column in chosen:
        rungs = quantiles_design.RUNGS[column.form.name]
        far = quantiles_design.reach(column, size, query.level)
        if column.form.name == "joint-4":
            made.append(column.released((tuple(joint(column, x, far, 1, rng)[0].tolist()),)))
            continue
        made.append(column.released((tuple(int(law(column, x, far * rung).draw(1, rng)[0]) for rung in rungs),)))
    release = SimulatedRelease(query, "simulated", shape.neighbors, shape.rows, (), (*made, *parts), shape.cost)
    return estimate(release)


def of_cuts(query: Any, shape: Measurement, x: np.ndarray, rng: np.random.Generator) -> QuantileEstimate:
    """The estimate of one simulated release of cuts, which a release's own function makes."""
    v, known = shape.columns[0].rowmap.numpy(x)  # type: ignore[union-attr]
    steps, many = np.unique(v[known], return_counts=True)
    counts = dict(zip(steps.tolist(), many.tolist(), strict=True))

    def draw(runs: Any, law: Any) -> Any:
        run, place = law.sample(runs.utility, runs.points, 1, rng)
        return runs.chosen(int(run[0]), int(place[0]))

    def noise(cells: Any, law: Any) -> Any:
        return tuple(tuple(n + int(e) for n, e in zip(one, law.sample(len(one), rng), strict=True)) for one in cells)

    made = mechanism_cuts.released(shape, [counts], draw, noise, lambda n: rng.integers(mechanism_cuts.PARTS, size=n))
    return estimate(SimulatedRelease(query, "simulated", shape.neighbors, shape.rows, (), made, shape.cost))


def share(column: PartSpec) -> Fraction:
    """The probability of a part."""
    return Fraction(column.form.parameters["numerator"], column.form.parameters["denominator"])
