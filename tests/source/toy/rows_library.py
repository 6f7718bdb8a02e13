"""A library of tables that nobody knows: rows as dicts of Python values."""

from __future__ import annotations

from typing import Any


class RowTable:
    def __init__(self, types: dict[str, str], rows: list[dict[str, Any]]) -> None:
        self.types = types
        self.rows = rows
