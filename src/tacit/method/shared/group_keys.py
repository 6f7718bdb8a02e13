"""The cells of `by`: public levels of columns, and bins of columns of numbers."""

from __future__ import annotations

from typing import Any, Protocol, cast

from tacit.rows.row_map import KeyMap
from tacit.schema import Schema
from tacit.schema.row_maps_of_columns import binmap, keymap


class Grouped(Protocol):
    """A question that has `by` and `bins`."""

    @property
    def by(self) -> Any:
        """Columns whose levels are the cells."""
        ...

    @property
    def bins(self) -> Any:
        """Bins of those of them that are numbers."""
        ...


def keys_of(query: Grouped, schema: Schema) -> tuple[KeyMap, ...]:
    """Return the public levels (or bins) of each column of `by`."""
    bins = dict(cast("tuple[tuple[str, object], ...]", query.bins))
    return tuple(binmap(schema, one, bins[one]) if one in bins else keymap(schema, one) for one in query.by)
