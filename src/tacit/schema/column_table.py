"""The interface of a schema that row maps and conditions need: columns, their names in the table, the privacy unit."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator
from typing import Protocol

from tacit.schema.column_types import Column


class ColumnTable(Protocol):
    """The columns of a table, by name; `Schema` implements it."""

    @property
    def unit(self) -> str | None:
        """Name of the PrivacyUnit column, or None."""
        ...

    def source(self, name: str) -> str:
        """Return a column's name in the table itself."""
        ...

    def items(self) -> ItemsView[str, Column]:
        """Return names and columns."""
        ...

    def __getitem__(self, name: str, /) -> Column: ...

    def __iter__(self) -> Iterator[str]: ...

    def __len__(self) -> int: ...
