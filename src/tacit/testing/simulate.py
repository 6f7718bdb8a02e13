"""Simulation of many releases of one query of one table.  The noise is seeded, so it protects nobody.

The exact integers (`exact_integers`) follow from the same row maps and forms as the curator's; the noise comes from the
law's seeded `sample`, never from the generator that protects people.  A `SimulatedRelease` is not a `Release`: no
ledger, `combine` or `Release.load` accepts it.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arrays import Array
from tacit.base.progress import phase
from tacit.base.table import Table, format_interval, format_number, shown_by_summary
from tacit.curator.mechanisms import design
from tacit.errors import InferenceError
from tacit.estimates.noisy_terms.column_terms import terms_of
from tacit.estimates.wording import title
from tacit.method.additive.design import AdditivePart
from tacit.method.bernstein.design import LatticePart
from tacit.method.bernstein.mechanism import sums as lattice_sums
from tacit.method.bootstrap.design import vector
from tacit.method.orthogonal_series.design import SeriesPart
from tacit.method.orthogonal_series.mechanism import sums as series_sums
from tacit.method.risk_function.design import RiskPart
from tacit.method.risk_function.mechanism import sums as risk_sums
from tacit.method.shared.counts_in_cells import encoding_of
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.simulated_parts import empty_parts, simulated
from tacit.noise.product import ProductLaplace, sampled_together
from tacit.privacy import Cost
from tacit.release.query import Query
from tacit.release.simulated import SimulatedRelease
from tacit.rows.row_map import PersonWeight, RowMap
from tacit.schema import Schema
from tacit.testing.reference_persons import ReferenceRows, codes, persons
from tacit.testing.reference_table import Table_, cells_of, columns_of, holds, numbers, with_columns
from tacit.testing.simulated_replicates import ReferencePatterns, patterns_of

Number = Any


@shown_by_summary
@dataclass(frozen=True, repr=False)
class Simulation:
    """Many simulated releases of one query of one table.

    integers: noisy integers, one array of shape (repeats, cells, k) a part.
    estimates: point estimates, shape (repeats, terms).
    exact: the same estimates without noise, shape (terms,).

    >>> import tacit as tc
    >>> schema = tc.Schema({"x": tc.Real(0, 99)})
    >>> made = simulate(tc.Mean("x"), {"x": np.arange(100.0)}, schema, rho=0.1, repeats=20)
    >>> made.estimates.shape, made.exact.round(3)
    ((20, 1), array([49.5]))
    """

    shape: Measurement
    terms: tuple[str, ...]
    integers: tuple[NDArray[np.int64], ...]
    estimates: Array
    exact: Array

    def release(self, i: int) -> SimulatedRelease:
        """Return the i-th simulated release."""
        return simulated(self.shape, tuple(noisy[i] for noisy in self.integers))

    @property
    def releases(self) -> tuple[SimulatedRelease, ...]:
        """Return all simulated releases."""
        return tuple(self.release(i) for i in range(len(self.estimates)))

    def summary(self) -> Table:
        """Return estimates without noise, and the mean, standard deviation and central 95% of simulated ones."""
        from tacit.estimates.display import decimals

        low, high = np.quantile(self.estimates, [0.025, 0.975], axis=0)
        mean, sd = self.estimates.mean(axis=0), self.estimates.std(axis=0)
        digits = decimals(sd)
        numbers = [[format_number(float(x), decimals=digits) for x in array] for array in (self.exact, mean, sd)]
        ranges = [format_interval(float(a), float(b), decimals=digits) for a, b in zip(low, high, strict=True)]
        rows = tuple(zip(self.terms, *numbers, ranges, strict=True))
        what = simulated(self.shape, tuple(noisy[0] for noisy in self.integers))
        return Table(
            title=f"{title(what)}, {len(self.estimates):,} simulated releases at {self.shape.cost}",
            columns=("", "without noise", "mean", "std. deviation", "central 95%"),
            rows=rows,
            notes=("simulated: seeded noise, protects nobody",),
            align=("left", "right", "right", "right", "right"),
        )

    def plot(self, ax: Any = None) -> Any:
        """Draw a histogram of each term's simulated estimates on matplotlib axes, made where not given; return them."""
        from matplotlib.figure import Figure

        axes = ax if ax is not None else cast(Any, Figure)(figsize=(7, 4), layout="constrained").add_subplot()
        for i, term in enumerate(self.terms):
            axes.hist(self.estimates[:, i], bins=40, alpha=0.6, label=term)
            axes.axvline(self.exact[i], color="black", linewidth=1)
        axes.set_xlabel("estimate")
        axes.set_ylabel("simulated releases")
        axes.set_title(f"{len(self.estimates):,} simulated releases at {self.shape.cost}")
        axes.legend()
        return axes


def simulate(
    query: Query[Any],
    data: object,
    schema: Schema,
    *,
    epsilon: Number = None,
    delta: Number = None,
    rho: Number = None,
    repeats: int = 1_000,
    rng: int | np.random.Generator = 0,
    neighbors: str = "replace-one",
) -> Simulation:
    """Simulate `repeats` releases of `query` on the table `data`.

    `data`: a dict of arrays, an eager frame, or the path of a Parquet file.  `rng`: int or Generator.  Price and
    relation as for a curator.  QueryError and BudgetError as for a release, InferenceError I10 for repeats < 1.

    >>> import tacit as tc
    >>> schema = tc.Schema({"x": tc.Real(0, 99)})
    >>> made = simulate(tc.Mean("x"), {"x": np.arange(100.0)}, schema, rho=0.1, repeats=500)
    >>> bool(abs(made.estimates.mean() - made.exact[0]) < 1)
    True
    """
    if isinstance(repeats, bool) or not isinstance(repeats, int) or repeats < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
        raise InferenceError(f"repeats {repeats!r} is not 1 or more.", code="I10", hint="repeats=1_000", state=None)
    table = columns_of(data, schema)
    cost = Cost.of(epsilon=epsilon, delta=delta, rho=rho)
    shape = shaped(query, schema, neighbors, size_of(table, schema), cost)
    if shape.kind == "sparse-histogram":
        text = "a sparse histogram is not simulated: it is the dense one without what is below its threshold."
        raise InferenceError(text, code="Q84", hint="Histogram(…) without sparse=True", state=None)
    if shape.kind == "unlisted-levels":
        text = "levels that nobody listed are not simulated: each release shows others."
        raise InferenceError(text, code="Q84", hint="a Category of the levels of interest, and Count", state=None)
    random = np.random.default_rng(rng)
    if shape.kind == "bootstrap":
        with phase(f"{repeats:,} simulated releases"):
            return _replicated(shape, patterns(shape, table), repeats, random)
    with phase("exact sums"):
        exact = exact_integers(shape, table, random)
    with phase(f"{repeats:,} simulated releases"):
        return _simulated(shape, exact, repeats, random)


def _replicated(shape: Measurement, held: ReferencePatterns, repeats: int, random: np.random.Generator) -> Simulation:
    """Return simulated releases of a bootstrap, each with samples of its own."""
    k = len(shape.columns) // len(held.added)
    drawn = [held.drawn(k, shape.neighbors, random) for _ in range(repeats)]
    noisy = add_noise(shape, tuple(np.stack(arrays) for arrays in zip(*drawn, strict=True)), random)
    once = simulated(shape, held.once() * k).estimate("table")
    estimates = [simulated(shape, tuple(one[i] for one in noisy)).estimate("table").values for i in range(repeats)]
    return Simulation(shape, once.terms, noisy, np.stack(estimates), once.values)


def patterns(shape: Measurement, table: Table_) -> ReferencePatterns:
    """Return what the rows (persons) of a table add to the sums of a bootstrap: equal to those of every engine."""
    table = with_columns(table, shape.computed)
    who = None if shape.unit is None else codes(table[shape.unit.source])
    cell, inside = cells_of(shape.keys, table, who)
    inside = inside if shape.where is None else inside & holds(shape.where, table)
    total = len(cell) if who is None else int(who.max(initial=-1)) + 1
    columns, made = vector(shape), list[ReferenceRows]()
    for column in columns:
        rows = _rows(column, table, cell, inside)
        made.append(rows if who is None else _persons(column, table, rows, who, cell, inside))
    return patterns_of(columns, made, shape.cells, total)


def _simulated(
    shape: Measurement, exact: tuple[NDArray[np.int64], ...], repeats: int, random: np.random.Generator
) -> Simulation:
    """Return `repeats` simulated releases of given exact integers."""
    # exact sums are found once; only the noise is drawn again
    noisy = add_noise(shape, tuple(np.broadcast_to(k, (repeats, *k.shape)) for k in exact), random)
    estimates = point_estimates(shape, noisy)
    plain = point_estimates(shape, tuple(k[None] for k in exact))[0]
    made = simulated(shape, tuple(k[0] for k in noisy)).estimate()
    return Simulation(shape, made.terms, noisy, estimates, plain)


def shaped(query: Query[Any], schema: Schema, neighbors: str, size: int, cost: Cost) -> Measurement:
    """Return the design of a query for a table of `size` rows (persons), which is public under replace-one only."""
    if type(query).__name__ == "Regression":
        text = "a Regression asks twice, and is not simulated as one question."
        raise InferenceError(
            text, code="I70", hint="tacit.testing.simulated_regressions.rows_of(…).fit(rng)", state=None
        )
    rows = size if neighbors == "replace-one" else None
    shape = design(query, Public(schema, neighbors, rows), cost)
    if getattr(shape.query, "one_step", False) or getattr(shape.query, "winsorize", False):
        text = "one step and winsorised blocks ask twice, and are not simulated as one question."
        hint = 'tacit.testing.coverage, or method="tuned"'
        raise InferenceError(text, code="I77", hint=hint, state=None)
    return shape


def size_of(table: Table_, schema: Schema) -> int:
    """Return the number of rows, or of persons where the schema has a PrivacyUnit."""
    if schema.unit is not None:
        return len(np.unique(codes(table[schema.source(schema.unit)])))
    return len(next(iter(table.values()))) if table else 0


def exact_integers(
    shape: Measurement, table: Table_, rng: np.random.Generator | None = None
) -> tuple[NDArray[np.int64], ...]:
    """Return the exact integers of a design, one array of shape (cells, k) a column: equal to those of every engine.

    rng: draws the labels of blocks, for a design on blocks of rows, and the samples of a bootstrap.
    """
    if shape.kind == "bootstrap":
        held = patterns(shape, table)
        k = len(shape.columns) // len(held.added)
        return held.drawn(k, shape.neighbors, np.random.default_rng(0) if rng is None else rng)
    if shape.blocks is not None:
        from tacit.testing import simulated_blocks as blocks

        return blocks.exact_blocks(shape, table, np.random.default_rng(0) if rng is None else rng)
    if isinstance(shape.columns[0], SeriesPart | LatticePart | RiskPart):
        return _of_bins(shape, table)
    table = with_columns(table, shape.computed)
    who = None if shape.unit is None else codes(table[shape.unit.source])
    cell, inside = cells_of(shape.keys, table, who)
    inside = inside if shape.where is None else inside & holds(shape.where, table)
    if isinstance(shape.columns[0], AdditivePart):
        return of_additive(shape, table, who, cell, inside)
    return tuple(
        _classes(column, table, who) if column.key is not None else _sums(column, table, who, cell, inside, shape.cells)
        for column in shape.columns
    )


def of_additive(
    shape: Measurement,
    table: Table_,
    who: NDArray[np.int64] | None,
    cell: NDArray[np.int64],
    inside: NDArray[np.bool_],
) -> tuple[NDArray[np.int64], ...]:
    """Return the integers of a user's own statistic, part by part: each sum is that of a part of its own."""
    found = list[NDArray[np.int64]]()
    for part in cast("tuple[AdditivePart, ...]", shape.columns):
        sums = list[NDArray[np.int64]]()
        for term in part.sums:
            # products of two columns take the rows where both are present, which are the same rows (`where`)
            weights = (term.weight_polynomial,) if term.weight is not None else ()
            form = replace(part.form, polynomials=(term.polynomial,), matrix=((1,),), weights=weights)
            alone = PartSpec(part.label, form, term.rowmap, None, part.law, part.cost, term.weight)
            sums.append(_sums(alone, table, who, cell, inside, shape.cells))
        found.append(np.concatenate(sums, axis=1))
    return tuple(found)


def _of_bins(shape: Measurement, table: Table_) -> tuple[NDArray[np.int64], ...]:
    """Return the integers of a series, a lattice or a risk from the counts of the cells that its bins make."""
    found = list[NDArray[np.int64]]()
    for part in cast("tuple[SeriesPart | LatticePart | RiskPart, ...]", shape.columns):
        form, weight = encoding_of(2, shape.neighbors, True, shape.unit is not None)
        cells = replace(shape, keys=part.keys, columns=(PartSpec("", form, None, None, part.law, part.cost, weight),))
        (counts,) = exact_integers(cells, table)
        own = lattice_sums if isinstance(part, LatticePart) else series_sums
        own = risk_sums if isinstance(part, RiskPart) else own
        found.append(np.array([own(shape, cast(Any, part), counts[:, 0])], dtype=np.int64))
    return tuple(found)


def _sums(
    column: PartSpec,
    table: Table_,
    who: NDArray[np.int64] | None,
    cell: NDArray[np.int64],
    inside: NDArray[np.bool_],
    cells: int,
) -> NDArray[np.int64]:
    """Return the integers of one column, shape (cells, k)."""
    rows = _rows(column, table, cell, inside)
    made = rows if who is None else _persons(column, table, rows, who, cell, inside)
    sums = np.zeros((cells, len(column.form.polynomials)), dtype=np.int64)
    for j, term in enumerate(column.terms):
        added = term.polynomial.numpy(made.v)
        if term.weight is not None:
            added = added * term.weight_polynomial.numpy(made.weight)
        # unbuffered: several rows of one cell each count
        np.add.at(sums[:, j], made.cell, added)
    if column.form.rows is not None:
        return np.array([column.form.assemble(tuple(map(int, cell))) for cell in sums], dtype=np.int64)
    # sums of monomials, shape (cells, terms), to the form's integers, shape (cells, k)
    return sums @ np.array(column.form.matrix, dtype=np.int64).T


def _persons(
    column: PartSpec,
    table: Table_,
    rows: ReferenceRows,
    who: NDArray[np.int64],
    cell: NDArray[np.int64],
    inside: NDArray[np.bool_],
) -> ReferenceRows:
    """Return the persons of a column's rows; where rows have weights, persons get weights that follow from these."""
    weighed: tuple[ReferenceRows, NDArray[np.int64]] | None = None
    if isinstance(column.weight, PersonWeight) and column.weight.of is not None:
        a, known = column.weight.of.numpy(numbers(table[column.weight.of.source], column.weight.of))
        index = np.flatnonzero(inside & known)
        weighed = ReferenceRows(index, cell[index], a[index], np.ones(len(index), dtype=np.int64)), who[index]
    return persons(rows, who[rows.index], column.weight, weighed)


def _classes(column: PartSpec, table: Table_, who: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return the numbers of rows (persons) of each class of a column, shape (1, classes)."""
    assert column.key is not None
    cell, _ = cells_of((column.key,), table)
    rows = ReferenceRows(np.arange(len(cell)), cell, np.zeros_like(cell), np.ones_like(cell))
    made = rows if who is None else persons(rows, who, column.weight)
    return np.bincount(made.cell, made.weight, len(column.key.labels)).astype(np.int64)[None, :]


def _rows(column: PartSpec, table: Table_, cell: NDArray[np.int64], inside: NDArray[np.bool_]) -> ReferenceRows:
    """Return the rows that are added up for a column: in a cell, with a value and a weight that are not missing."""
    v, present = np.zeros(len(cell), dtype=np.int64), inside
    if column.rowmap is not None:
        v, known = column.rowmap.numpy(numbers(table[column.rowmap.source], column.rowmap))
        present = present & known
    weight = np.ones(len(cell), dtype=np.int64)
    if isinstance(column.weight, RowMap):
        weight, known = column.weight.numpy(numbers(table[column.weight.source], column.weight))
        present = present & known
    index = np.flatnonzero(present)
    return ReferenceRows(index, cell[index], v[index], weight[index])


def add_noise(
    shape: Measurement, exact: tuple[NDArray[np.int64], ...], rng: np.random.Generator
) -> tuple[NDArray[np.int64], ...]:
    """Return the integers, of any shape, plus simulated draws of each column's law, those of one vector together."""
    laws = [column.law for column in shape.columns]
    joint = [(law, k.size // law.size) for law, k in zip(laws, exact, strict=True) if isinstance(law, ProductLaplace)]
    # all columns of a vector are in one cell, as often as there are repetitions
    together = iter(sampled_together([law for law, _ in joint], joint[0][1], rng) if joint else ())
    noise = [
        next(together) if isinstance(law, ProductLaplace) else law.sample(k.size, rng)
        for law, k in zip(laws, exact, strict=True)
    ]
    return tuple(k + z.reshape(k.shape) for k, z in zip(exact, noise, strict=True))


def point_estimates(shape: Measurement, noisy: tuple[NDArray[np.int64], ...]) -> Array:
    """Return estimates of shape (repeats, terms) from noisy integers, arrays of shape (repeats, cells, k)."""
    if shape.kind == "additive":
        # a user's own function takes one release at a time
        each = range(len(noisy[0]))
        return np.stack([simulated(shape, tuple(one[i] for one in noisy)).estimate().values for i in each])
    kind, found = type(shape.query).__name__, list[Array]()
    for part, k in zip(empty_parts(shape), noisy, strict=True):
        flat = k.reshape(-1, k.shape[-1]).astype(np.float64)  # repetitions as further cells: one call for all of them
        grouped = bool(shape.keys) or shape.where is not None
        made = terms_of(kind, part, rows=shape.rows, grouped=grouped, target="population", cells=flat)
        found.append(made.value.reshape(k.shape[:2]))
    return np.concatenate(found, axis=1)
