"""`Source`: the exact integers that mechanisms ask of a table, on any engine.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SourceError
from tacit.rows.row_map import (
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
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.numeric_expressions import ColumnCell
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.engine import Engine, Words
from tacit.source.engine_sums.cell_counts import occupied, tallied
from tacit.source.engine_sums.cell_sums import aggregate, ranked
from tacit.source.engine_sums.crossproduct_sums import crossed
from tacit.source.engine_sums.engine_columns import Computing
from tacit.source.engine_sums.joint_values import joint_values
from tacit.source.engine_sums.level_counts import LevelCounts, level_counts
from tacit.source.engine_sums.row_arrays import RowArrays, complete, pieces, spread
from tacit.source.in_memory.array_sums import added
from tacit.source.in_memory.cell_array_sums import added_by_cell
from tacit.source.in_memory.held_rows import HeldRows, held
from tacit.source.reading.column_kinds import ColumnType

T = TypeVar("T")


class Source(Protocol):
    """A table that answers with exact integers.

    keys: columns to group by; a cell is one combination of their levels.  unit: the column of persons, None where a row
    is a person.  where: rows for which a condition holds; others are left out of sums and counted in numbers of rows.
    """

    @property
    def kind(self) -> str:
        """What messages call the table: "Parquet file", "pandas", ...; public."""
        ...

    def columns(self) -> dict[str, str]:
        """Return names and the engine's names of their types, without reading a row."""
        ...

    def types(self) -> dict[str, ColumnType]:
        """Return names and types, without reading a row."""
        ...

    def rows(self, unit: Unit | None = None) -> int:
        """READS ROWS.  Return the number of all rows, or of all persons; only where it is public (replace-one)."""
        ...

    def aggregate(
        self,
        keys: Sequence[KeyMap],
        sums: Sequence[SumTerm],
        unit: Unit | None = None,
        where: Predicate | None = None,
    ) -> Aggregate:
        """READS ROWS.  Return exact sums of every cell, in one pass.  May raise any error where the machine fails."""
        ...

    def ranked(
        self,
        at: RowMap,
        keys: Sequence[KeyMap] = (),
        unit: Unit | None = None,
        where: Predicate | None = None,
        share: PersonWeight | None = None,
    ) -> Ranked:
        """READS ROWS.  Count the rows (persons, or their shares) at each grid value of a column, in each cell."""
        ...

    def tallied(
        self,
        keys: Sequence[KeyMap],
        where: Predicate | None = None,
        unit: Unit | None = None,
        share: PersonWeight | None = None,
    ) -> Tally:
        """READS ROWS.  Return the number of rows in each cell, or the sum of persons' shares, as one array."""
        ...

    def joint_values(
        self,
        maps: Sequence[RowMap],
        keys: Sequence[KeyMap] = (),
        unit: Unit | None = None,
        where: Predicate | None = None,
        share: PersonWeight | None = None,
    ) -> JointValues:
        """READS ROWS.  Count the rows (persons) that have the same values in several columns, and the same cell."""
        ...

    def level_counts(
        self, at: TextMap, unit: Unit | None = None, where: Predicate | None = None, parts: int | None = None
    ) -> LevelCounts:
        """READS ROWS.  Count the rows at each level of a column of text; parts: persons' weights, by `unit`."""
        ...

    def occupied(
        self, keys: Sequence[KeyMap], one: SumTerm, unit: Unit | None = None, where: Predicate | None = None
    ) -> Occupied:
        """READS ROWS.  Return the cells in which a sum over rows (persons) is not 0, with the sums."""
        ...

    def complete(
        self, cells: Sequence[ColumnCell], unit: Unit | None = None, where: Predicate | None = None
    ) -> RowArrays:
        """READS ROWS.  Return the complete cases of some columns as floats, in no order."""
        ...

    def pieces(
        self, cells: Sequence[ColumnCell], unit: Unit | None, where: Predicate | None, key: bytes
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.uint64]]] | None:
        """READS ROWS.  Yield complete cases in pieces, each row with its word by `key`; see `row_arrays.pieces`."""
        ...

    def spread(
        self,
        cells: Sequence[ColumnCell],
        unit: Unit | None,
        where: Predicate | None,
        key: bytes,
        place: Callable[[], Callable[[Words], Words]] | None,
        group: Callable[[NDArray[np.uint64]], NDArray[np.int64]],
        answer: Callable[[int, NDArray[np.float64], NDArray[np.uint64]], NDArray[np.float64]],
        numbers: int,
    ) -> dict[int, NDArray[np.float64]] | None:
        """READS ROWS, on the machines of a cluster.  Return results by group of blocks; see `row_arrays.spread`."""
        ...

    def crossed(self, question: CrossProducts, where: Predicate | None = None) -> Aggregate:
        """READS ROWS.  Return exact sums of products of columns over complete rows, in one pass."""
        ...

    def held(self, question: CrossProducts, where: Predicate | None = None) -> HeldRows | None:
        """READS ROWS.  Return rows that answer all questions of the same coordinates, or None; see `held_rows`."""
        ...

    def computing(self, columns: Mapping[str, Computed]) -> Source:
        """Return the same table with computed columns, by name."""
        ...

    def ready(self) -> None:
        """Raise SourceError D08 where the engine could not run a query now; called before a charge."""
        ...


class EngineTable:
    """The `Source` of a table of one engine.

    kind: see `Source.kind`.  busy_hint: what to do where the engine cannot run a query.
    """

    def __init__(self, kind: str, engine: Engine, busy_hint: str = "open it again") -> None:
        self._kind = kind
        self._busy_hint = busy_hint
        self._engine = engine
        self._types = engine.types()

    @property
    def kind(self) -> str:
        """See `Source.kind`."""
        return self._kind

    def columns(self) -> dict[str, str]:
        """See `Source.columns`."""
        return {name: one.words for name, one in self._types.items()}

    def types(self) -> dict[str, ColumnType]:
        """See `Source.types`."""
        return self._types

    def rows(self, unit: Unit | None = None) -> int:
        """See `Source.rows`."""
        return aggregate(self._engine, (), (), unit).rows

    def aggregate(
        self,
        keys: Sequence[KeyMap],
        sums: Sequence[SumTerm],
        unit: Unit | None = None,
        where: Predicate | None = None,
    ) -> Aggregate:
        """See `Source.aggregate`."""
        if unit is not None:
            return aggregate(self._engine, keys, sums, unit, where)
        plain = not keys and where is None
        lying = added(self._engine, sums) if plain else added_by_cell(self._engine, keys, sums, where)
        return aggregate(self._engine, keys, sums, unit, where) if lying is None else lying

    def ranked(
        self,
        at: RowMap,
        keys: Sequence[KeyMap] = (),
        unit: Unit | None = None,
        where: Predicate | None = None,
        share: PersonWeight | None = None,
    ) -> Ranked:
        """See `Source.ranked`."""
        return ranked(self._engine, at, keys, unit, where, share)

    def tallied(
        self,
        keys: Sequence[KeyMap],
        where: Predicate | None = None,
        unit: Unit | None = None,
        share: PersonWeight | None = None,
    ) -> Tally:
        """See `Source.tallied`."""
        return tallied(self._engine, keys, where, unit, share)

    def joint_values(
        self,
        maps: Sequence[RowMap],
        keys: Sequence[KeyMap] = (),
        unit: Unit | None = None,
        where: Predicate | None = None,
        share: PersonWeight | None = None,
    ) -> JointValues:
        """See `Source.joint_values`."""
        return joint_values(self._engine, maps, keys, unit, where, share)

    def level_counts(
        self, at: TextMap, unit: Unit | None = None, where: Predicate | None = None, parts: int | None = None
    ) -> LevelCounts:
        """See `Source.level_counts`."""
        return level_counts(self._engine, at, unit, where, parts)

    def occupied(
        self, keys: Sequence[KeyMap], one: SumTerm, unit: Unit | None = None, where: Predicate | None = None
    ) -> Occupied:
        """See `Source.occupied`."""
        return occupied(self._engine, keys, one, unit, where)

    def crossed(self, question: CrossProducts, where: Predicate | None = None) -> Aggregate:
        """See `Source.crossed`."""
        return crossed(self._engine, question, where)

    def held(self, question: CrossProducts, where: Predicate | None = None) -> HeldRows | None:
        """See `Source.held`."""
        return held(self._engine, question, where)

    def computing(self, columns: Mapping[str, Computed]) -> EngineTable:
        """See `Source.computing`."""
        return self.through(lambda engine: Computing(engine, columns))

    def through(self, wrap: Callable[[Engine], Engine]) -> EngineTable:
        """Return the same table with its engine wrapped in another one."""
        return EngineTable(self._kind, wrap(self._engine), self._busy_hint)

    def complete(
        self, cells: Sequence[ColumnCell], unit: Unit | None = None, where: Predicate | None = None
    ) -> RowArrays:
        """See `Source.complete`."""
        return complete(self._engine, cells, unit, where)

    def pieces(
        self, cells: Sequence[ColumnCell], unit: Unit | None, where: Predicate | None, key: bytes
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.uint64]]] | None:
        """See `Source.pieces`."""
        return pieces(self._engine, cells, unit, where, key)

    def spread(
        self,
        cells: Sequence[ColumnCell],
        unit: Unit | None,
        where: Predicate | None,
        key: bytes,
        place: Callable[[], Callable[[Words], Words]] | None,
        group: Callable[[NDArray[np.uint64]], NDArray[np.int64]],
        answer: Callable[[int, NDArray[np.float64], NDArray[np.uint64]], NDArray[np.float64]],
        numbers: int,
    ) -> dict[int, NDArray[np.float64]] | None:
        """See `Source.spread`."""
        return spread(self._engine, cells, unit, where, key, place, group, answer, numbers)

    def ready(self) -> None:
        """See `Source.ready`."""
        tried(
            self._engine.probe, f"the engine behind this {self._kind} cannot run a query now.", "D08", self._busy_hint
        )


def tried(step: Callable[[], T], message: str, code: str, hint: str) -> T:
    """Run a step of an engine; any error of its own becomes a SourceError with the given public words.

    An engine's message may quote a row.  BaseException is caught because a panic of Polars is no `Exception`; the new
    error is raised outside the handler, so that it has no context.
    """
    try:
        return step()
    except (SourceError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        pass
    raise SourceError(message, code=code, hint=hint)
