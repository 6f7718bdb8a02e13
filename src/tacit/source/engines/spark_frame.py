"""PySpark frames: queries run on the cluster, and sums or results of blocks come back.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from typing import Any

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import arrow
from tacit.base.muted import silent
from tacit.source.engine import ClusterWork, Engine, Words
from tacit.source.reading.arrow_columns import masked
from tacit.source.reading.column_kinds import KNOWN, LAST_DAY, ColumnType, Holds, Reading, check_distinct


def open_engine(frame: Any) -> Engine:
    """The engine of a PySpark frame; Spark ignores case in column names."""
    check_distinct(list(frame.columns), ignore_case=True)
    return Spark(frame)


class Spark:
    """An `Engine` of a PySpark frame."""

    def __init__(self, data: Any) -> None:
        self._frame = data

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        return {one.name: ColumnType(one.dataType.simpleString(), holds(one.dataType)) for one in self._frame.schema}

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`."""
        if not columns:
            return nw.from_native(self._frame)
        types = {one.name: one.dataType for one in self._frame.schema}
        cells = [_cell(one, types[one.name]).alias(f"c{i}") for i, one in enumerate(columns)]
        return nw.from_native(self._frame.select(*cells))

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return [row.asDict() for row in frame.to_native().collect()]

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        found = frame.to_native().toArrow()
        return {name: masked(found[name]) for name in found.column_names}

    def batches(self, frame: Any) -> None:
        """See `Engine.batches`: rows stay where they are."""

    def in_memory(self, columns: Sequence[Reading]) -> None:
        """See `Engine.in_memory`: rows are on a cluster."""

    def pieces(self) -> None:
        """See `Engine.pieces`: rows of a frame may move."""

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> dict[int, NDArray[np.float64]] | None:
        """See `Engine.spread`; None where the cluster's Python lacks this library.

        Two jobs: the words of rows are drawn in the first, and kept where they were drawn; or three, where rows are
        kept, counted, and then have the words of their numbers.
        A task that is lost and run again would draw other words, or find rows in another order, and a row could stand
        in two blocks: what the checkpoint holds is not run again, and where it is lost the job fails.
        """
        native = frame.to_native()
        if not _able(native.sparkSession):
            return None
        persons = "u" in native.columns
        values = ", ".join(f"v{i} double" for i in range(columns))
        firsts: dict[int, int] | None = None
        words: Any = work.words
        if work.numbered is not None:
            native = native.localCheckpoint()
            firsts, words = _first_row_numbers(native), work.numbered()
        label = partial(_labelled, columns, persons, words, work.group, firsts)
        labelled = native.mapInArrow(label, f"g long, w long, {values}")
        labelled = labelled if persons or firsts is not None else labelled.localCheckpoint()
        answered: Callable[[Any], Any] = lambda table: _answered(columns, work, table)  # noqa: E731  (no hints, for Spark)
        made = labelled.groupBy("g").applyInArrow(answered, "g long, e array<double>")
        found = made.toArrow()
        numbers = [np.array(one, dtype=np.float64).reshape(-1, work.numbers) for one in found["e"].to_pylist()]
        return dict(zip(found["g"].to_pylist(), numbers, strict=True))

    def counting(self) -> None:
        """See `Engine.counting`: a pass."""

    def probe(self) -> None:
        """See `Engine.probe`: a session that has ended."""
        _ = self._frame.limit(0).schema


def _able(session: Any) -> bool:
    """Whether Python on the cluster can load this module, tried without the table's data."""
    try:
        # the function is pickled by its name, so it runs only where this module can be imported
        return len(session.range(1).mapInArrow(_same, "id long").collect()) == 1
    except Exception:
        return False


def _same(batches: Iterable[Any]) -> Iterator[Any]:
    yield from batches


def _first_row_numbers(native: Any) -> dict[int, int]:
    """Return the number of the first row of each partition of a checkpointed frame."""
    found = native.mapInArrow(_counted, "part long, rows long").toArrow().to_pydict()
    order = np.argsort(found["part"])
    parts, rows = (np.array(found[name], dtype=np.int64)[order] for name in ("part", "rows"))
    # exclusive sums of the rows of earlier partitions
    return dict(zip(parts.tolist(), (np.cumsum(rows) - rows).tolist(), strict=True))


def _part() -> int:
    """Return the partition of the running task."""
    from pyspark import TaskContext

    context: Any = TaskContext.get()
    return int(context.partitionId())


def _counted(batches: Iterable[Any]) -> Iterator[Any]:
    """READS ROWS, on a machine of the cluster.  Count the rows of a partition."""
    pa = arrow()
    rows = sum(batch.num_rows for batch in batches)
    yield pa.RecordBatch.from_pydict({"part": pa.array([_part()]), "rows": pa.array([rows])})


def _labelled(
    columns: int,
    persons: bool,
    words: Callable[[Any, int], Words],
    group: Callable[[Words], NDArray[np.int64]],
    firsts: Mapping[int, int] | None,
    batches: Iterable[Any],
) -> Iterator[Any]:
    """READS ROWS, on a machine of the cluster.  Yield each row with its word and its group.

    firsts: of parts, where words are those of rows' numbers; otherwise words are asked for with the rows' persons.
    """
    pa = arrow()
    first = 0 if firsts is None else firsts[_part()]
    for batch in batches:
        with silent():
            own = words(first if firsts is not None else batch.column("u") if persons else None, batch.num_rows)
            first += batch.num_rows
            cells = [batch.column(f"v{i}") for i in range(columns)]
            # Spark has no unsigned integers: the same 64 bits are sent as signed ones
            named = {"g": pa.array(group(own)), "w": pa.array(own.view(np.int64))}
        yield pa.RecordBatch.from_pydict(named | {f"v{i}": cell for i, cell in enumerate(cells)})


def _answered(columns: int, work: ClusterWork, table: Any) -> Any:
    """READS ROWS, on a machine of the cluster.  Return the results of one group."""
    pa = arrow()
    number = int(table["g"][0].as_py())
    values = np.stack([np.asarray(table[f"v{i}"].to_numpy(), dtype=np.float64) for i in range(columns)], axis=1)
    with silent():
        found = work.answer(number, values, table["w"].to_numpy().view(np.uint64))
    numbers = pa.array([found.reshape(-1).tolist()], type=pa.list_(pa.float64()))
    return pa.table({"g": pa.array([number], type=pa.int64()), "e": numbers})


def holds(dtype: Any) -> Holds:
    """Return what cells of a Spark type are, by its name: number, text, ..."""
    name = dtype.typeName()
    if name in ("byte", "short", "integer", "long", "float", "double") or name.startswith("decimal"):
        return "number"
    if name.startswith(("string", "char", "varchar")):
        return "text"
    if name in ("date", "timestamp", "timestamp_ntz"):
        return "date"
    return "boolean" if name == "boolean" else "nothing" if name == "void" else "other"


def _cell(one: Reading, dtype: Any) -> Any:
    from pyspark.sql import functions as fn

    name = "`" + one.name.replace("`", "``") + "`"
    cell = fn.col(name)
    if one.how == "text":
        text = cell.cast("string")
        return fn.when(text.isin(list(one.levels)), text)
    if one.how == "index":
        place = fn.array_position(fn.array(*map(fn.lit, one.levels)), cell.cast("string"))
        # array_position is 0 where the text is no level
        return fn.when(place > 0, place).cast("double")
    if one.how == "listed":
        among = fn.when(cell.cast("string").isin(list(one.levels)), 1.0).otherwise(0.0)
        return fn.when(cell.isNotNull(), among)
    if one.how == "part":
        pattern, group = one.levels
        found = fn.regexp_extract(cell.cast("string"), pattern, int(group))
        return fn.when(found != "", found).cast("double")
    if one.how == "unit":
        return _unit(cell, name, dtype.typeName())
    if one.how != "date" or dtype.typeName() == "void":
        return cell.cast("double")
    if dtype.typeName() == "timestamp":  # an instant, whatever the session's time zone
        micros = f"unix_micros({name})"
        # DIV truncates towards zero: an instant before 1970 within a day belongs to the day before
        before = f"CAST({micros} < 0 AND pmod({micros}, 86400000000L) > 0 AS INT)"
        return fn.expr(_known(name, "timestamp", f"CAST({micros} DIV 86400000000L - {before} AS DOUBLE)"))
    return fn.expr(_known(name, dtype.typeName(), f"CAST(unix_date(CAST({name} AS DATE)) AS DOUBLE)"))


def _known(name: str, dtype: str, value: str) -> str:
    """Return a value of a date or instant, null beyond the counts that are valid on every engine."""
    if dtype == "timestamp":
        return f"CASE WHEN unix_micros({name}) BETWEEN {-KNOWN['us']}L AND {KNOWN['us']}L THEN {value} END"
    if dtype == "timestamp_ntz":  # the same, as literals: no function counts its microseconds without an overflow
        first, last = "TIMESTAMP_NTZ'-290308-12-21 19:59:05.224194'", "TIMESTAMP_NTZ'+294247-01-10 04:00:54.775806'"
        return f"CASE WHEN {name} BETWEEN {first} AND {last} THEN {value} END"
    return f"CASE WHEN unix_date({name}) BETWEEN {-LAST_DAY} AND {LAST_DAY} THEN {value} END"


def _unit(cell: Any, column: str, name: str) -> Any:
    """Return the identifier of a row's person; text as bytes, since a collation may equate two persons."""
    from pyspark.sql import functions as fn

    if name in ("date", "timestamp", "timestamp_ntz"):
        counts = {"date": f"unix_date({column})", "timestamp": f"unix_micros({column})"}
        return fn.expr(_known(column, name, counts.get(name, column)))
    if name in ("float", "double"):
        wide = cell.cast("double")
        known = ~fn.isnan(wide) & (fn.abs(wide) < float("inf"))
        # -0.0 + 0.0 is 0.0, so the two zeros are one person
        return fn.when(known, wide + 0.0)
    return cell.cast("binary") if name.startswith(("string", "char", "varchar")) else cell
