"""A site's words for a table: an engine that answers to the study's names.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from tacit.curator.source.engines import Engine
from tacit.curator.source.frames import Table
from tacit.curator.source.kinds import ColumnType, Reading
from tacit.errors import SourceError, nearest
from tacit.study import Site


def apply(source: Table, site: Site) -> Table:
    """The table as the study names it; no row is read.

    Raises SourceError D30 for a column that the table does not have, D31 for a map that changes cells.
    """
    types = source.types()
    for one in site.columns.values():
        if one.column not in types:
            message = f"[data.columns] {one.name}: there is no column {one.column!r} in this {source.kind}."
            guess = nearest(one.column, list(types)) or ", ".join(list(types)[:12])
            raise SourceError(message, code="D30", hint=guess)
        if not one.renames_only:
            message = f"[data.columns] {one.name}: this version renames columns, and changes no cells."
            raise SourceError(message, code="D31", hint="column = … alone, of a table in the study's units and codes")
    names = {one.source: one.column for one in site.columns.values()}
    return source.through(lambda engine: Renamed(engine, names))


class Renamed:
    """An `Engine` whose columns bear other names: {name asked for: name in the table}."""

    def __init__(self, engine: Engine, names: Mapping[str, str]) -> None:
        self._engine = engine
        self._names = names

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`."""
        found = self._engine.types()
        return {**found, **{name: found[column] for name, column in self._names.items()}}

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`."""
        return self._engine.read([replace(one, name=self._names.get(one.name, one.name)) for one in columns])

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return self._engine.collect(frame)

    def probe(self) -> None:
        """See `Engine.probe`."""
        self._engine.probe()
