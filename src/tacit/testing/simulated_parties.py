"""Simulation of releases by many parties, in many repetitions, as one array computation.

Repetitions take the place of cells: a party's answer with R cells is R repetitions of its answer.  The noise is
seeded, so it protects nobody.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, TypeAlias

import numpy as np

from tacit.base.arrays import Array
from tacit.curator.mechanisms import design
from tacit.method.shared.measurement import PartSpec, Public
from tacit.method.shared.simulated_parts import empty_parts
from tacit.privacy import Cost
from tacit.release.parts import Levels, Part
from tacit.release.query import Query
from tacit.schema import Schema
from tacit.testing.reference_table import with_columns

Values: TypeAlias = Callable[[np.random.Generator, int, int, int], Array]
"""(generator, party, repetitions, rows) -> values of the one column, shape (repetitions, rows)."""


@dataclass(frozen=True)
class Answer:
    """The simulated release of one party, with repetitions in place of cells: a `Released` for `tacit.parties`."""

    query: Query[Any]
    table: str
    neighbors: str
    rows: int | None
    parts: tuple[Part, ...]
    cost: Cost
    levels: Levels = ()
    ordered: Levels = ()
    unit: int | None = None


def answers(
    query: Query[Any],
    schema: Schema,
    values: Values,
    sizes: Sequence[int],
    prices: Sequence[dict[str, Any]],
    *,
    neighbors: str = "replace-one",
    repeats: int = 1_000,
    rng: int | np.random.Generator = 0,
) -> list[Answer]:
    """Return one answer a party to a Mean, Sum, Variance or SufficientStatistics of one column, none of it missing.

    >>> from tacit import Mean, Real
    >>> made = answers(Mean("x"), Schema({"x": Real(0, 1)}), lambda g, j, r, n: g.random((r, n)), [50], [{"rho": 1}])
    >>> len(made[0].parts[0].integers)
    1000
    """
    made = np.random.default_rng(rng)
    found: list[Answer] = []
    for party, (size, price) in enumerate(zip(sizes, prices, strict=True)):
        rows = size if neighbors == "replace-one" else None
        shape = design(query, Public(schema, neighbors, rows), Cost.of(**price))
        drawn = values(made, party, repeats, size)
        table = with_columns({cell.source: drawn for one in shape.computed for cell in one.cells}, shape.computed)
        parts: list[Part] = []
        for part, column in zip(empty_parts(shape), shape.columns, strict=True):
            assert column.rowmap is not None
            exact = sums(column, table.get(column.rowmap.source, drawn))
            noisy = exact + column.law.sample(exact.size, made).reshape(exact.shape)
            parts.append(replace(part, integers=tuple(tuple(cell) for cell in noisy.tolist())))
        found.append(Answer(query, f"party {party}", neighbors, rows, tuple(parts), shape.cost))
    return found


def repetition(given: Sequence[Answer], i: int) -> list[Answer]:
    """Return the answers of the i-th repetition."""
    return [replace(one, parts=tuple(replace(p, integers=(p.integers[i],)) for p in one.parts)) for one in given]


def sums(column: PartSpec, values: Array) -> Any:
    """Return the exact integers of each repetition, shape (repetitions, k); values: shape (repetitions, rows)."""
    assert column.rowmap is not None
    v, _ = column.rowmap.numpy(values)
    added = [np.asarray(term.polynomial.numpy(v)).sum(axis=1) for term in column.terms]
    return np.stack(added, axis=1).astype(np.int64) @ np.array(column.form.matrix, dtype=np.int64).T
