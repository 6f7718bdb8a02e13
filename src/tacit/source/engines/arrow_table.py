"""PyArrow tables and record batches.  INSIDE the wall."""

from __future__ import annotations

from typing import Any

from tacit.source.engine import Engine
from tacit.source.reading.arrow_columns import LazyColumn, array_type
from tacit.source.reading.arrow_engine import ArrowColumns
from tacit.source.reading.column_kinds import check_distinct


def open_engine(table: Any) -> Engine:
    """The engine of a PyArrow table or record batch."""
    check_distinct(list(table.schema.names))
    columns = {
        name: LazyColumn(array_type(table.schema.field(i).type), lambda i=i: table.column(i))
        for i, name in enumerate(table.schema.names)
    }
    return ArrowColumns(columns, lambda: table.num_rows)
