"""A table behind the wall: one interface over every engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from tacit.errors import SourceError
from tacit.rows.row_map import Aggregate, KeyMap, Occupied, Ranked, RowMap, Share, SumTerm, Tally, Unit
from tacit.rows.row_products import Crossed
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.numeric_expressions import ColumnCell
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.cell_counts import occupied, tallied
from tacit.source.cell_sums import aggregate, ranked
from tacit.source.column_kinds import ColumnType
from tacit.source.crossproduct_sums import crossed
from tacit.source.engine import Engine, Words
from tacit.source.engine_columns import Computing
from tacit.source.row_arrays import RowArrays, complete, pieces, spread

T = TypeVar("T")


class Source(Protocol):
    """A table behind the wall."""

    @property
    def kind(self) -> str:
        """Public words: "Parquet file", "pandas", ..."""
        ...

    def columns(self) -> dict[str, str]:
        """Names and the engine's words for their types, without reading a row."""
        ...

    def types(self) -> dict[str, ColumnType]:
        """The same, with what a type holds."""
        ...

    def rows(self, unit: Unit | None = None) -> int:
        """READS ROWS.  Number of all rows, or of all persons; asked under replace-one only."""
        ...

    def aggregate(
        self,
        keys: Sequence[KeyMap],
        sums: Sequence[SumTerm],
        unit: Unit | None = None,
        where: Predicate | None = None,
    ) -> Aggregate:
        """READS ROWS.  Exact sums of every cell, in one pass.  May raise anything where the machine fails."""
        ...

    def ranked(
        self,
        at: RowMap,
        keys: Sequence[KeyMap] = (),
        unit: Unit | None = None,
        where: Predicate | None = None,
        share: Share | None = None,
    ) -> Ranked:
        """READS ROWS.  Rows (or persons, or their shares) at each value of a grid, in each cell."""
        ...

    def tallied(
        self,
        keys: Sequence[KeyMap],
        where: Predicate | None = None,
        unit: Unit | None = None,
        share: Share | None = None,
    ) -> Tally:
        """READS ROWS.  Rows in each cell, or the sums of persons' shares, as one array."""
        ...

    def occupied(
        self, keys: Sequence[KeyMap], one: SumTerm, unit: Unit | None = None, where: Predicate | None = None
    ) -> Occupied:
        """READS ROWS.  A sum over the rows (persons) of each cell in which it is not 0."""
        ...

    def complete(
        self, cells: Sequence[ColumnCell], unit: Unit | None = None, where: Predicate | None = None
    ) -> RowArrays:
        """READS ROWS.  The complete cases of some columns as floats, in no order."""
        ...

    def pieces(
        self, cells: Sequence[ColumnCell], unit: Unit | None, where: Predicate | None, key: bytes
    ) -> Iterator[tuple[NDArray[np.float64], NDArray[np.uint64]]] | None:
        """READS ROWS.  The same, some rows at a time, each with the word that a key gives it; see `rows.pieces`."""
        ...

    def spread(
        self,
        cells: Sequence[ColumnCell],
        unit: Unit | None,
        where: Predicate | None,
        key: bytes,
        seat: Callable[[], Callable[[Words], Words]] | None,
        group: Callable[[NDArray[np.uint64]], NDArray[np.int64]],
        answer: Callable[[int, NDArray[np.float64], NDArray[np.uint64]], NDArray[np.float64]],
        numbers: int,
    ) -> dict[int, NDArray[np.float64]] | None:
        """READS ROWS where they are, on a cluster: the numbers of groups of blocks; see `rows.spread`."""
        ...

    def crossed(self, question: Crossed, where: Predicate | None = None) -> Aggregate:
        """READS ROWS.  Exact sums of products of columns over complete rows, in one pass."""
        ...

    def computing(self, columns: Mapping[str, Computed]) -> Source:
        """The same table with columns computed from its own, by the names that they are asked by."""
        ...

    def ready(self) -> None:
        """SourceError D08 where the engine could not run a query now; before a charge."""
        ...


class EngineTable:
    """A `Source` of one engine."""

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
        return aggregate(self._engine, keys, sums, unit, where)

    def ranked(
        self,
        at: RowMap,
        keys: Sequence[KeyMap] = (),
        unit: Unit | None = None,
        where: Predicate | None = None,
        share: Share | None = None,
    ) -> Ranked:
        """See `Source.ranked`."""
        return ranked(self._engine, at, keys, unit, where, share)

    def tallied(
        self,
        keys: Sequence[KeyMap],
        where: Predicate | None = None,
        unit: Unit | None = None,
        share: Share | None = None,
    ) -> Tally:
        """See `Source.tallied`."""
        return tallied(self._engine, keys, where, unit, share)

    def occupied(
        self, keys: Sequence[KeyMap], one: SumTerm, unit: Unit | None = None, where: Predicate | None = None
    ) -> Occupied:
        """See `Source.occupied`."""
        return occupied(self._engine, keys, one, unit, where)

    def crossed(self, question: Crossed, where: Predicate | None = None) -> Aggregate:
        """See `Source.crossed`."""
        return crossed(self._engine, question, where)

    def computing(self, columns: Mapping[str, Computed]) -> EngineTable:
        """See `Source.computing`."""
        return self.through(lambda engine: Computing(engine, columns))

    def through(self, wrap: Callable[[Engine], Engine]) -> EngineTable:
        """The same table behind another engine."""
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
        seat: Callable[[], Callable[[Words], Words]] | None,
        group: Callable[[NDArray[np.uint64]], NDArray[np.int64]],
        answer: Callable[[int, NDArray[np.float64], NDArray[np.uint64]], NDArray[np.float64]],
        numbers: int,
    ) -> dict[int, NDArray[np.float64]] | None:
        """See `Source.spread`."""
        return spread(self._engine, cells, unit, where, key, seat, group, answer, numbers)

    def ready(self) -> None:
        """See `Source.ready`."""
        tried(
            self._engine.probe, f"the engine behind this {self._kind} cannot run a query now.", "D08", self._busy_hint
        )


def tried(step: Callable[[], T], message: str, code: str, hint: str) -> T:
    """Run a step of an engine; whatever it raises is replaced by our own words, outside the handler.

    A panic of Polars is no `Exception`.
    """
    try:
        return step()
    except (SourceError, KeyboardInterrupt, SystemExit):
        raise
    except BaseException:
        pass
    raise SourceError(message, code=code, hint=hint)
