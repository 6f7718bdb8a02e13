"""Queries on DuckDB: projection of a relation's cells, and fetching of results.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import narwhals as nw

from tacit.source.reading.listed_text import ListedText

BATCH: Final = 2**17
"""Rows of a batch."""


def collect(frame: Any) -> list[dict[str, Any]]:
    """READS ROWS.  Return rows as Python values, with 128-bit sums as integers."""
    relation = frame.to_native()
    # as a list of tuples: `fetchnumpy` would make floats of 128-bit sums
    rows: list[tuple[Any, ...]] = _fetched(relation.fetchall)
    return [dict(zip(relation.columns, row, strict=True)) for row in rows]


def arrays(frame: Any) -> dict[str, Any]:
    """READS ROWS.  Return columns as NumPy arrays, masked where cells are missing."""
    found: dict[str, Any] = _fetched(frame.to_native().fetchnumpy)
    return found


def batches(frame: Any) -> Iterator[dict[str, Any]]:
    """READS ROWS.  Yield columns as NumPy arrays, some rows at a time, in no order; floats are NaN where null."""
    reader = _fetched(lambda: frame.to_native().to_arrow_reader(BATCH))
    while True:
        batch = _fetched(lambda: next(reader, None))
        if batch is None:
            return
        yield {name: batch.column(name).to_numpy(zero_copy_only=False) for name in batch.schema.names}


def project(relation: Any, cells: Sequence[str | ListedText], one: Any | None = None) -> Any:
    """Project cells as c0, c1, ...; `one`: a relation of one row on the same connection, by default of `relation`."""
    names = [f'"c{i}"' for i in range(len(cells))]
    text = [cell.text if isinstance(cell, ListedText) else cell for cell in cells]
    made = relation.project(", ".join(f"{cell} AS {name}" for cell, name in zip(text, names, strict=True)))
    for i, cell in enumerate(cells):
        if isinstance(cell, ListedText):
            row = relation.limit(0).aggregate("count(*)") if one is None else one
            levels = row.project(cell.table).project(cell.rows)
            # a left join keeps every row, once: levels are distinct, and a cell that is no level has a null place
            joined = made.set_alias("cells").join(levels.set_alias("levels"), f"{names[i]} = level", how="left")
            made = joined.project(", ".join(f"place AS {name}" if name == names[i] else name for name in names))
    return nw.from_native(made)


def _fetched(fetch: Callable[[], Any]) -> Any:
    """READS ROWS.  Fetch a result; DuckDB reports Ctrl-C by an error of its own, turned into KeyboardInterrupt here."""
    try:
        return fetch()
    except Exception as error:
        if "interrupted" not in str(error).lower():
            raise
    # outside the handler: the engine's message, which may quote a row, is no context of this one
    raise KeyboardInterrupt
