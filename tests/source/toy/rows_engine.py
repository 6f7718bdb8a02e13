"""An engine of `RowTable`: cells are read in Python, and what follows is narwhals on pandas."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd

from tacit.source.engine import ClusterWork, Engine
from tacit.source.reading.column_kinds import ColumnType, Reading


def open_engine(table: Any) -> Engine:
    return Rows(table)


class Rows:
    def __init__(self, table: Any) -> None:
        self._table = table

    def types(self) -> dict[str, ColumnType]:
        return {name: ColumnType(words, words) for name, words in self._table.types.items()}

    def read(self, columns: Sequence[Reading]) -> Any:
        cells = {f"c{i}": self._column(one) for i, one in enumerate(columns)}
        return nw.from_native(pd.DataFrame(cells, index=range(len(self._table.rows))))

    def _column(self, one: Reading) -> Any:
        cells = [_cell(one, row[one.name]) for row in self._table.rows]
        return pd.Series(cells, dtype="string" if one.how == "text" else object if one.how == "unit" else "Float64")

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        rows = frame.to_native().to_dict("records")
        return [{name: None if pd.isna(value) else value for name, value in row.items()} for row in rows]

    def arrays(self, frame: Any) -> dict[str, Any]:
        found = frame.to_native()
        return {name: np.ma.array(found[name].fillna(0).to_numpy(), mask=found[name].isna()) for name in found}

    def in_memory(self, columns: Sequence[Reading]) -> None:
        return None

    def pieces(self) -> None:
        return None

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> None:
        return None

    def counting(self) -> None:
        return None

    def probe(self) -> None:
        return None


def _cell(one: Reading, cell: Any) -> Any:
    if cell is None:
        return None
    if one.how in ("text", "index", "listed"):
        place = one.levels.index(str(cell)) + 1 if str(cell) in one.levels else None
        return (
            (str(cell) if place else None)
            if one.how == "text"
            else float(bool(place))
            if one.how == "listed"
            else place
        )
    if one.how == "part":
        found = re.search(one.levels[0], str(cell))
        return float(found[int(one.levels[1])]) if found else None
    if isinstance(cell, date):
        return float((cell - date(1970, 1, 1)).days)
    return cell if one.how == "unit" else float(cell)
