"""The contract of a mechanism on blocks of rows (`SampleAndAggregate`), with the same block labels for both tables.

(a) Grey-box sensitivity: the change of the integers before noise (and of the utilities of selections) over neighbouring
    tables, against the declared sensitivity, which must be approached somewhere.  A release draws labels that are fresh
    and secret.  The proof compares neighbours with the same labels, so this check does too: each row has the random
    word of its place in the table, each person a word, and a row that replaces another takes over its word.  The second
    question of a mechanism is computed for both tables from the answers to the first question on the first table.  A
    release takes no words as arguments; the check hands them to the functions that a release calls after its own draw.
(b) to (d) are those of `contract` for sums, and of `contract_selection` for selections.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.blocks import mechanism_equal_blocks as equal_blocks
from tacit.method.blocks import mechanism_means as sample_and_aggregate
from tacit.method.blocks import mechanism_one_step as one_step
from tacit.method.blocks import mechanism_winsorized as winsorized
from tacit.method.blocks import winsorized_design
from tacit.method.blocks.design import BlockPlan
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.rank_utilities import Runs
from tacit.models.scores import BATCH
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.release.parts import Cells
from tacit.schema import Category, Real, Schema
from tacit.schema.predicates.numeric_expressions import cell_of
from tacit.source import Source
from tacit.source.engine_sums.row_arrays import RowArrays
from tacit.testing import contract_selection as selections
from tacit.testing.audit_tables import Look
from tacit.testing.exact_integers import exchanged
from tacit.testing.findings import EACH, Finding, designed, distance, norm_of
from tacit.testing.neighbouring_tables import Pair, Relation, Row, arrow_table, with_rows_before

SIZE: Final = 24
"""Largest number of rows of a table; where the number of rows is public, rows of missing cells fill the table up."""
BLOCKS: Final = 3
"""Number of blocks where the query does not fix it."""
MARK: Final = "row of the contract suite"
"""Name of a column that holds each row's index, because engines return rows in any order."""
FAR: Final = (0.0, 2e-9, 1e6, -1e12, 1e12)
"""Values of one row that move its block's estimate from one end of its range to the other."""
NEAR: Final = (1e-9, 0.0, -1e6)
"""Values of the other rows of such a block."""


@dataclass(frozen=True)
class RowsWithWords:
    """A table and the random word of each row, shape (rows,), from which the row's block follows."""

    rows: tuple[Row, ...]
    words: NDArray[np.uint64]


def asked(query: SampleAndAggregate) -> SampleAndAggregate:
    """Return the query for the small tables of this check: few blocks and about SIZE rows, unless it fixes them."""
    method = "tuned" if query.method == "auto" else query.method
    return replace(query, blocks=query.blocks or BLOCKS, rows=query.rows or SIZE, method=method)


# Material -----------------------------------------------------------------------------------------------------------


def pair_with_same_words(
    schema: Schema, pair: Pair, relation: Relation, rng: np.random.Generator, *, together: bool = False
) -> tuple[RowsWithWords, RowsWithWords]:
    """Return both tables of a pair with the same words; together: words are such that the first rows share a block."""
    if schema.unit is not None:
        place = list(schema).index(schema.unit)
        people = dict.fromkeys(row[place] for rows in (pair.one, pair.other) for row in rows)
        words = dict(zip(people, _words(len(people), rng, together=together).tolist(), strict=True))
        one, other = (np.array([words[row[place]] for row in rows], dtype=np.uint64) for rows in (pair.one, pair.other))
        return RowsWithWords(pair.one, one), RowsWithWords(pair.other, other)
    # rows of missing cells are public rows without a value: they fill the table up to its public size
    empty = () if relation == "add-remove" else ((None,) * len(schema),) * (SIZE - len(pair.one))
    # one table's rows are a prefix of the other's, or differ in the last one: places keep their words
    words = _words(len(pair.other) + len(empty), rng, together=together)
    tables = ((*rows, *empty) for rows in (pair.one, pair.other))
    one, other = (RowsWithWords(rows, words[: len(rows)]) for rows in tables)
    return one, other


def _words(count: int, rng: np.random.Generator, *, together: bool) -> NDArray[np.uint64]:
    """Return random words, shape (count,); together: ascending words below 2**32, so that the first share a block."""
    drawn = rng.integers(0, 2**64, count, dtype=np.uint64)
    # the high bits choose the block, so that small words share the first one
    return np.sort(drawn) >> np.uint64(32) if together else drawn


def worst_pairs(schema: Schema, what: Sequence[str], relation: Relation, alike: int) -> Iterator[Pair]:
    """Yield pairs of tables: `alike` nearly equal rows and a distant row, which the other lacks or has elsewhere."""
    names = list(schema)

    def row(cells: Mapping[str, object], person: int) -> Row:
        """Return a row with these cells; all other columns have a plain cell."""
        unit = {} if schema.unit is None else {schema.unit: person}
        return tuple(({**cells, **unit}).get(name, _plain(schema, name)) for name in names)

    for near in product(NEAR, *[(0.0, 1.0)] * (len(what) - 1)):
        # nearly equal, not equal: a fit to equal rows may not exist
        base = [row({w: x * (1 + 1e-3 * i) for w, x in zip(what, near, strict=True)}, i) for i in range(alike)]
        ends = [row(dict(zip(what, far, strict=True)), 99) for far in product(FAR, *[(0.0, 1.0)] * (len(what) - 1))]
        if relation == "add-remove":
            yield from (Pair(tuple(base), (*base, end)) for end in ends)
        else:
            yield from (Pair((*base, ends[i]), (*base, end)) for i in range(len(ends)) for end in ends[i + 1 :])


def _plain(schema: Schema, name: str) -> object:
    """Return a cell for a column that the query does not analyse, but which its condition may read."""
    column = None if schema.is_computed(name) else schema[name]
    return column.codes[0] if isinstance(column, Category) else None


# (a) ----------------------------------------------------------------------------------------------------------------


class Recorder:
    """Record of the candidates and exact sums of a mechanism, in order, with its noiseless or prescribed answers."""

    def __init__(self, given: Sequence[Any] = ()) -> None:
        self.seen: list[Any] = []
        self.answers: list[Any] = []
        self._given = list(given)

    def draw(self, runs: Runs, law: Selection) -> int:
        """Record the candidates and return the best point, or the prescribed answer."""
        self.seen.append(runs)
        return self._answer(runs.first[int(np.argmax(runs.utility))])

    def noise(self, cells: Cells, law: Any) -> Cells:
        """Record the exact integers and return them without noise, or the prescribed answer."""
        self.seen.append(cells)
        return self._answer(cells)

    def _answer(self, own: Any) -> Any:
        self.answers.append(self._given[len(self.answers)] if self._given else own)
        return self.answers[-1]


def run(shape: Measurement, rows: RowArrays, own: NDArray[np.uint64], recorder: Recorder) -> None:
    """Run the mechanism as a release does, but with the words given.  READS ROWS (of made tables)."""
    query = cast(SampleAndAggregate, shape.query)
    if query.one_step:
        places = (own % np.uint64(BATCH)).astype(np.int64)
        one_step.released(shape, rows, own, places, recorder.draw, recorder.noise)
    else:
        mechanism: Any = winsorized if query.winsorize else sample_and_aggregate
        mechanism.released(shape, rows, own, recorder.draw, recorder.noise)


def sensitivity(
    query: SampleAndAggregate,
    schema: Schema,
    relation: Relation,
    prices: Sequence[Cost],
    material: Sequence[Pair],
    rng: np.random.Generator,
) -> list[Finding]:
    """Run (a): return the largest changes over neighbouring tables, by price and by part."""
    shapes = [cast(Measurement, designed(query, schema, relation, SIZE, price)) for price in prices]
    p = len(cast(BlockPlan, shapes[0].blocks).model.names)
    full = [
        with_rows_before(schema, pair, SIZE - len(pair.other), rng) if i % 2 else pair
        for i, pair in enumerate(material)
    ]
    made = [pair_with_same_words(schema, pair, relation, rng) for pair in full]
    far = [
        pair_with_same_words(schema, pair, relation, rng, together=True)
        for alike in (1, p + 1)
        for pair in worst_pairs(schema, query.what, relation, alike)
    ]
    readers = exchanged(Schema({**schema, MARK: Real()}))
    reached = [[0] * len(shape.columns) for shape in shapes]
    for i, tables in enumerate([*made, *far]):
        # designs at different prices read the same rows
        read = [_read(shapes[0], readers[i % EACH != 0], schema, table) for table in tables]
        for price, shape, found in zip(prices, shapes, reached, strict=True):
            found[:] = [max(x, y) for x, y in zip(found, _moved(shape, read, norm_of(price)), strict=True)]
    return [
        Finding(relation, str(price), column.label, column.form.name, getattr(column.form, norm), most, norm)
        for price, shape, found in zip(prices, shapes, reached, strict=True)
        for norm in [norm_of(price)]
        for column, most in zip(shape.columns, found, strict=True)
    ]


def _read(
    shape: Measurement, reader: Any, schema: Schema, table: RowsWithWords
) -> tuple[RowArrays, NDArray[np.uint64]]:
    """Return the complete rows of a table, as an engine reads them, and their words.  READS ROWS (of made tables)."""
    plan = cast(BlockPlan, shape.blocks)
    rows = tuple((*row, float(i)) for i, row in enumerate(table.rows))
    marked = Schema({**schema, MARK: Real()})
    source: Source = reader.of(arrow_table(marked, rows))
    found = source.complete((*plan.cells, cell_of(marked, MARK)), shape.unit, shape.where)
    own = (
        table.words
        if plan.rows is None
        else equal_blocks.words_of_equal_blocks(table.words, equal_blocks.cuts(table.words, plan.blocks))
    )
    return RowArrays(found.values[:, :-1], found.owners), own[found.values[:, -1].astype(np.int64)]


def _moved(shape: Measurement, read: Sequence[tuple[RowArrays, NDArray[np.uint64]]], norm: str) -> list[int]:
    """Return the distance of two tables in each column, by a norm ("l1" or "l2_squared")."""
    first, other = Recorder(), Recorder()
    run(shape, *read[0], first)
    other = Recorder(first.answers)  # adaptive composition: the second question is the same for both neighbours
    run(shape, *read[1], other)
    seen, found = iter(zip(first.seen, other.seen, strict=True)), list[int]()
    for column in shape.columns:
        if isinstance(column.law, Selection):
            power = 1 if norm == "l1" else 2
            # candidates were recorded in the order of the columns, as the sums
            found.append(
                max(selections.change(*next(seen)) ** power for _ in range(selections.selections_by_cell(column)))
            )
        else:
            found.append(distance(*next(seen), norm))
    return found


# (d) of selections --------------------------------------------------------------------------------------------------


def look(column: PartSpec) -> Look:
    """Return the function from cells {point: blocks} to the candidates of the quantiles of the blocks' estimates."""
    last = column.form.parameters["G"]

    def of(cells: Sequence[Mapping[int, int]]) -> list[list[Runs]]:
        """Return the candidates of each quantile in each cell."""
        return [[rank_utilities.utilities(cell, last + 1, p) for cell in cells] for p in winsorized_design.PROBS]

    return of
