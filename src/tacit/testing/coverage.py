"""Coverage of confidence intervals, by simulation: how often a 95% interval contains the truth.

New tables are drawn from a `generator`, released with simulated noise and estimated by the estimators that users call.
The whole study is one array computation in which repetitions take the place of cells.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.base.progress import phase, steps
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.estimates.terms import ColumnTerms, check_level
from tacit.estimates.wording import title
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.simulated_parts import empty_parts, simulated
from tacit.noise.laws import RoundedNormal
from tacit.privacy import Cost
from tacit.release.parts import Part
from tacit.release.query import Query
from tacit.schema import Real, Schema
from tacit.testing import simulated_block_steps
from tacit.testing.coverage_result import Coverage, Generator, Truth, impossible, truth_of
from tacit.testing.reference_table import columns_of
from tacit.testing.simulate import add_noise, exact_integers, shaped, size_of

WIDTHS: Final = 50
"""Number of tables from which the width without noise is found, where estimates are made one after another."""
NONE: Final = RoundedNormal(Fraction(1, 1000))
"""A law whose draws are zero in effect; with it the same estimator gives the intervals without noise."""


def coverage(
    query: Query[Any],
    generator: Generator,
    truth: Truth,
    *,
    epsilon: Any = None,
    delta: Any = None,
    rho: Any = None,
    schema: Schema | None = None,
    repeats: int = 2_000,
    rng: int | np.random.Generator = 0,
    level: float = 0.95,
    neighbors: str = "replace-one",
) -> Coverage:
    """Draw `repeats` tables from `generator(rng)`, estimate from a release of each, and count the right intervals.

    `truth`: the true value, as one number, one number a term, or a mapping from term to number.  Price, relation and
    schema as for a curator.  `tc.progress()` shows a bar.  InferenceError I10 where the study makes no sense (no
    schema, repeats below 2, sizes that vary though public, a truth for other terms).

    >>> from tacit import Mean, Real, Schema
    >>> schema, draw = Schema({"x": Real(0, 100)}), lambda rng: {"x": rng.normal(50, 10, 200)}
    >>> found = coverage(Mean("x"), draw, 50.0, rho=0.1, schema=schema, repeats=100)
    >>> bool(0.8 < found.coverage[0] <= 1), bool(found.relative_width[0] > 1)
    (True, True)
    """
    level = check_level(level)
    if schema is None and isinstance(query, SampleAndAggregate):  # which needs no bounds
        schema = Schema({name: Real() for name in query.what})
    if schema is None:
        raise impossible(f"{type(query).__name__} needs a schema.", "schema=Schema({…})")
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 2:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise impossible(f"repeats {repeats!r} is not 2 or more.", "repeats=2_000")
    random = np.random.default_rng(rng)
    cost = Cost.of(epsilon=epsilon, delta=delta, rho=rho)
    if isinstance(query, SampleAndAggregate):
        asked = simulated_block_steps.AskedBlocks(query, schema, neighbors, cost)
        if query.method == "auto":  # what is chosen follows from public facts, and the size of a table is one
            size = size_of(columns_of(generator(np.random.default_rng(0)), schema), schema)
            query = cast(SampleAndAggregate, asked.design(size).query)
        if query.one_step or query.winsorize:
            asked = simulated_block_steps.AskedBlocks(query, schema, neighbors, cost)
            return simulated_block_steps.study(asked, generator, truth, repeats, random, level)
    shape, exact = _tables(query, generator, schema, neighbors, cost, repeats, random)
    with phase("intervals of all of them"):
        return study(shape, exact, truth, level, random)


def study(
    shape: Measurement, exact: tuple[NDArray[np.int64], ...], truth: Truth, level: float, rng: np.random.Generator
) -> Coverage:
    """Return the coverage from exact integers, one array of shape (repeats, cells, k) a part."""
    noisy = add_noise(shape, exact, rng)
    terms = simulated(shape, tuple(k[0] for k in noisy)).estimate().terms
    true = truth_of(truth, terms)
    repeats = len(noisy[0])
    parts = empty_parts(shape)
    if shape.kind in ("sufficient-statistics", "bootstrap", "additive"):
        found = [_parameters(shape, noisy, level)]
        quiet = tuple(replace(column, law=NONE) for column in shape.columns)
        few = tuple(k[:WIDTHS] for k in exact)
        calm = [_parameters(replace(shape, columns=quiet), few, level)]
    else:
        found = [_intervals(shape, part, k, level) for part, k in zip(parts, noisy, strict=True)]
        # the same estimator told of no noise, on integers without noise
        calm = [_intervals(shape, replace(part, law=NONE), k, level) for part, k in zip(parts, exact, strict=True)]
    value, error, low, high, unclear = (np.concatenate(arrays, axis=1) for arrays in zip(*found, strict=True))
    without = np.concatenate([one[3] - one[2] for one in calm], axis=1)
    hit = ((low <= true) & (true <= high)).mean(axis=0)
    sd = value.std(axis=0, ddof=1)
    return Coverage(
        title=f"{title(simulated(shape, tuple(k[0] for k in noisy)))}, {shape.cost}, {shape.neighbors}",
        level=level,
        repeats=repeats,
        terms=terms,
        truth=true,
        bias=value.mean(axis=0) - true,
        bias_error=sd / math.sqrt(repeats),
        std_deviation=sd,
        std_error=error.mean(axis=0),
        coverage=hit,
        # not 0 where every interval hit, which many repetitions could also show by chance
        coverage_error=np.sqrt(np.maximum(hit * (1 - hit), 0.25 / repeats) / repeats),
        width=(high - low).mean(axis=0),
        width_without=without.mean(axis=0),
        unclear=unclear.mean(axis=0),
    )


def _tables(
    query: Query[Any],
    generator: Generator,
    schema: Schema,
    neighbors: str,
    cost: Cost,
    repeats: int,
    rng: np.random.Generator,
) -> tuple[Measurement, tuple[NDArray[np.int64], ...]]:
    """Return the design and the exact integers of `repeats` tables; InferenceError I10 where public sizes differ."""
    shape: Measurement | None = None
    found: list[tuple[NDArray[np.int64], ...]] = []
    with steps(f"drawing {repeats:,} tables", repeats) as done:
        for i in range(repeats):
            done(i)
            table = columns_of(generator(rng), schema)
            size = size_of(table, schema)
            if shape is None:
                shape = shaped(query, schema, neighbors, size, cost)
            if shape.rows is not None and size != shape.rows:
                text = f"the generator made {shape.rows:,} rows, then {size:,}; under replace-one that is public."
                raise impossible(text, 'neighbors="add-remove", or tables of one size')
            found.append(exact_integers(shape, table, rng))
    stacked = tuple(np.stack(arrays) for arrays in zip(*found, strict=True))
    return cast(Measurement, shape), stacked


def _intervals(
    shape: Measurement, part: Part, integers: NDArray[np.int64], level: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Return value, standard error, lower limit, upper limit and unclear, each of shape (repeats, cells)."""
    # repetitions become cells: shape (repeats cells, k)
    flat = integers.reshape(-1, integers.shape[-1]).astype(np.float64)
    kind = type(shape.query).__name__
    grouped = bool(shape.keys) or shape.where is not None
    made: ColumnTerms = terms_of(kind, part, rows=shape.rows, grouped=grouped, target="population", cells=flat)
    low, high = made.inversion.interval(level)
    error = np.sqrt(made.sampling_variance + made.privacy_variance)
    unclear = np.array([reason is not None for reason in made.reasons], dtype=np.float64)
    size = integers.shape[:2]
    return tuple(a.reshape(size) for a in (made.value, error, low, high, unclear))  # pyright: ignore[reportReturnType]


def _parameters(
    shape: Measurement, integers: tuple[NDArray[np.int64], ...], level: float
) -> tuple[Array, Array, Array, Array, Array]:
    """Return the same five arrays for parameters that are estimated from all parts together, release by release."""
    rows: list[Array] = []
    for i in range(len(integers[0])):
        made = simulated(shape, tuple(k[i] for k in integers)).estimate()
        none = [float(reason is not None) for reason in made.reasons]
        rows.append(np.array([made.values, made.std_errors, *made.intervals(level).T, none]))
    return tuple(np.stack(rows, axis=1))  # pyright: ignore[reportReturnType]
