"""What row maps and conditions ask of a schema: its columns by name, where they stand, whose row a row is."""

from __future__ import annotations

from collections.abc import ItemsView, Iterator
from typing import Protocol

from tacit.schema.column_types import Column


class ColumnTable(Protocol):
    """The columns of a table, by name.  `Schema` is one; what reads one need not know how it is made or stored."""

    @property
    def unit(self) -> str | None:
        """Name of the PrivacyUnit column, or None."""
        ...

    def source(self, name: str) -> str:
        """Name of a column in the table itself."""
        ...

    def items(self) -> ItemsView[str, Column]:
        """Names and columns."""
        ...

    def __getitem__(self, name: str, /) -> Column: ...

    def __iter__(self) -> Iterator[str]: ...

    def __len__(self) -> int: ...
