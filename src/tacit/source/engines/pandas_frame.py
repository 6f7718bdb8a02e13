"""pandas frames.  INSIDE the wall."""

from __future__ import annotations

from typing import Any

from tacit.source.engine import Engine
from tacit.source.reading import arrow_columns
from tacit.source.reading.arrow_engine import ArrowColumns
from tacit.source.reading.column_kinds import check_distinct


def open_engine(frame: Any) -> Engine:
    """The engine of a pandas frame, whose columns are converted to Arrow when a query needs them."""
    names = [str(name) for name in frame.columns]
    check_distinct(names)
    columns = {name: arrow_columns.series(frame.iloc[:, i]) for i, name in enumerate(names)}
    return ArrowColumns(columns, lambda: len(frame))
