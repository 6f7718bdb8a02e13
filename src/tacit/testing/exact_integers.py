"""Exact integers of many small tables of one schema, for the contract checks: designs and plans are made only once."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

import narwhals as nw
import numpy as np

from tacit.curator.mechanisms import integers
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.release.parts import Cells
from tacit.rows.row_map import (
    IDENTITY,
    ONE,
    Aggregate,
    JointValues,
    KeyMap,
    Occupied,
    PersonWeight,
    Ranked,
    RowMap,
    SumTerm,
    Tally,
    Unit,
)
from tacit.rows.row_products import CrossProducts
from tacit.rows.text_map import TextMap
from tacit.schema import Schema
from tacit.schema.predicates.computed_columns import Computed, computed_columns
from tacit.schema.predicates.numeric_expressions import ColumnCell
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source import Source
from tacit.source.engine import Engine
from tacit.source.engine_sums import crossproduct_sums as products
from tacit.source.engine_sums.cell_counts import occupied_of
from tacit.source.engine_sums.cell_sums import Ranking, SumsPass, plan, ranking
from tacit.source.engine_sums.engine_columns import Computing
from tacit.source.engine_sums.joint_values import JointPass, joined
from tacit.source.engine_sums.level_counts import LevelCounts, LevelPass, planned_levels
from tacit.source.engine_sums.row_arrays import RowArrays, collected, planned
from tacit.source.engines.duckdb_relation import DuckDBRelation
from tacit.source.engines.polars_frame import Polars
from tacit.source.in_memory.held_rows import HeldRows, held
from tacit.source.reading.duckdb_connection import database
from tacit.testing.neighbouring_tables import Relation, Row, arrow_table, persons


class Exact:
    """The exact integers of tables under several designs, by one pass over each table.

    designs: size of a table (None where it is not public) -> its designs, one a price.  Parts of several designs that
    differ only in noise and price have the same exact integers, which are added up once.
    """

    def __init__(
        self, schema: Schema, relation: Relation, designs: Callable[[int | None], tuple[Measurement, ...]]
    ) -> None:
        self._schema, self._designs = schema, designs
        self._public = relation == "replace-one"
        self._made: dict[int | None, tuple[Measurement, ...]] = {}
        self._files, self._polars = exchanged(schema)

    def integers(self, rows: tuple[Row, ...], *, files: bool) -> list[list[Cells]]:
        """Return the exact integers of a table, by design and by part.  READS ROWS (of made tables).

        `files`: by the engine that reads files; otherwise by Polars, if it is installed.  Both must be right.
        """
        # under replace-one a design is for one public size, so that tables of each size have their own
        size = persons(self._schema, rows) if self._public else None
        if size not in self._made:
            self._made[size] = self._designs(size)
        shapes = self._made[size]
        columns: list[PartSpec] = []
        for shape in shapes:
            # parts that ask the same sums are added up once
            columns += [one for one in shape.columns if _place(one, columns) is None]
        table = arrow_table(self._schema, rows)
        source = (self._files if files else self._polars).of(table)
        found = integers(replace(shapes[0], columns=tuple(columns)), source)
        return [[found[cast(int, _place(one, columns))] for one in shape.columns] for shape in shapes]


def _place(column: PartSpec, columns: Sequence[PartSpec]) -> int | None:
    """Return the index of a part that differs only in its noise and its price; None if there is none."""
    same = (replace(column, law=one.law, cost=one.cost) == one for one in columns)
    return next((i for i, yes in enumerate(same) if yes), None)


class Exchanged:
    """A source whose rows can be exchanged, so that each query is planned once: planning takes longer than running."""

    def __init__(self, engine: Engine, put: Callable[[Any], None]) -> None:
        self._engine, self._put = engine, put
        self._plans, self._rankings = dict[Any, SumsPass](), dict[Any, Ranking]()
        self._crossings = dict[Any, products.ProductsPass]()
        self._frames, self._joints = dict[Any, Any](), dict[Any, JointPass]()
        self._levels = dict[Any, LevelPass]()
        self._computing = dict[Any, Exchanged]()

    def computing(self, columns: Mapping[str, Computed]) -> Exchanged:
        """Return this source with computed columns."""
        asked = tuple(columns.items())
        if columns and asked not in self._computing:
            self._computing[asked] = Exchanged(Computing(self._engine, columns), self._put)
        return self._computing[asked] if columns else self

    def of(self, table: Any) -> Source:
        """Return this source with the rows of a PyArrow table, which stay until the next call."""
        self._put(table)
        return cast(Source, self)

    def tallied(
        self,
        keys: Sequence[KeyMap],
        where: Predicate | None = None,
        unit: Unit | None = None,
        share: PersonWeight | None = None,
    ) -> Tally:
        """See `Source.tallied`."""
        one = SumTerm(None) if share is None else SumTerm(None, ONE, share, IDENTITY)
        found = self.aggregate(keys, (one,), unit, where)
        return Tally(found.rows, np.array([cell[0] for cell in found.cells], dtype=np.int64))

    def occupied(
        self, keys: Sequence[KeyMap], one: SumTerm, unit: Unit | None = None, where: Predicate | None = None
    ) -> Occupied:
        """See `Source.occupied`."""
        asked = (tuple(keys), (one,), unit, where)
        if asked not in self._plans:
            self._plans[asked] = plan(self._engine, *asked)
        return occupied_of(self._plans[asked], self._engine)

    def aggregate(
        self, keys: Sequence[KeyMap], sums: Sequence[SumTerm], unit: Unit | None = None, where: Predicate | None = None
    ) -> Aggregate:
        """See `Source.aggregate`."""
        asked = (tuple(keys), tuple(sums), unit, where)
        if asked not in self._plans:
            self._plans[asked] = plan(self._engine, *asked)
        return self._plans[asked].run(self._engine)

    def ranked(
        self,
        at: RowMap,
        keys: Sequence[KeyMap] = (),
        unit: Unit | None = None,
        where: Predicate | None = None,
        share: PersonWeight | None = None,
    ) -> Ranked:
        """See `Source.ranked`."""
        asked = (at, tuple(keys), unit, where, share)
        if asked not in self._rankings:
            self._rankings[asked] = ranking(self._engine, *asked)
        return self._rankings[asked].run(self._engine)

    def joint_values(
        self,
        maps: Sequence[RowMap],
        keys: Sequence[KeyMap] = (),
        unit: Unit | None = None,
        where: Predicate | None = None,
        share: PersonWeight | None = None,
    ) -> JointValues:
        """See `Source.joint_values`."""
        asked = (tuple(maps), tuple(keys), unit, where, share)
        if asked not in self._joints:
            self._joints[asked] = joined(self._engine, *asked)
        return self._joints[asked].run(self._engine)

    def level_counts(
        self, at: TextMap, unit: Unit | None = None, where: Predicate | None = None, parts: int | None = None
    ) -> LevelCounts:
        """See `Source.level_counts`."""
        asked = (at, unit, where, parts)
        if asked not in self._levels:
            self._levels[asked] = planned_levels(self._engine, *asked)
        return self._levels[asked].run(self._engine)

    def complete(
        self, cells: Sequence[ColumnCell], unit: Unit | None = None, where: Predicate | None = None
    ) -> RowArrays:
        """See `Source.complete`."""
        asked = (tuple(cells), unit, where)
        if asked not in self._frames:
            self._frames[asked] = planned(self._engine, *asked)
        return collected(self._engine, self._frames[asked], len(cells), unit)

    def crossed(self, question: CrossProducts, where: Predicate | None = None) -> Aggregate:
        """See `Source.crossed`."""
        asked = (question, where)
        if asked not in self._crossings:
            self._crossings[asked] = products.plan(self._engine, question, where)
        return self._crossings[asked].run(self._engine)

    def held(self, question: CrossProducts, where: Predicate | None = None) -> HeldRows | None:
        """See `Source.held`."""
        return held(self._engine, question, where)


def exchanged(schema: Schema) -> tuple[Exchanged, Exchanged]:
    """Return an exchangeable source on the engine of files and one on Polars (the first twice without Polars)."""
    empty, columns = arrow_table(schema, ()), computed_columns(schema)
    on_file, on = on_files(empty).computing(columns), on_polars(empty)
    return on_file, on_file if on is None else on.computing(columns)


def on_files(empty: Any) -> Exchanged:
    """Return an exchangeable source on DuckDB, the engine of files, in a database in memory."""
    connection = database()
    connection.from_arrow(empty).create("t")

    def put(table: Any) -> None:
        """Replace the rows of the table in the database."""
        connection.execute("TRUNCATE t")
        connection.from_arrow(table).insert_into("t")

    return Exchanged(Counted(lambda _: connection.table("t")), put)


class Counted(DuckDBRelation):
    """A DuckDB relation whose rows can be counted before a pass, like the rows of files."""

    def counting(self) -> Callable[[], int]:
        """See `Engine.counting`."""
        return lambda: int(self.collect(self.read(()).select(nw.len().alias("rows")))[0]["rows"])


def on_polars(empty: Any) -> Exchanged | None:
    """Return an exchangeable source on Polars; None where Polars is not installed."""
    try:
        import polars
    except ImportError:
        return None
    read = cast(Any, polars).from_arrow
    held = [read(empty)]
    # No pushdown: the frame is replaced between runs, so an optimiser must not fix what it reads of the first one.
    whole = dict.fromkeys(("predicate_pushdown", "projection_pushdown", "slice_pushdown"), False)
    frame = held[0].lazy().map_batches(lambda _: held[0], **whole)  # pyright: ignore[reportUnknownLambdaType]

    def put(table: Any) -> None:
        """Replace the frame that the lazy frame gives."""
        held[0] = read(table)

    return Exchanged(Polars(frame), put)
