"""A table under a study's names, units, codes and date formats, mapped from a site's own.  INSIDE the wall.

Each map is a public function of one cell, so neighbouring tables stay neighbours.  Its values are floats (or the place
of a level); the clamp in 64-bit integers comes after it, as for any other column.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.errors import SourceError, nearest
from tacit.schema.predicates.arithmetic import days_of
from tacit.schema.site_columns import ColumnMap
from tacit.source.engine import ClusterWork, Engine, Piece
from tacit.source.engine_sums import cell_expressions as ex
from tacit.source.engine_table import EngineTable
from tacit.source.reading.column_kinds import ColumnType, Holds, Reading

FITS: Final[dict[str, tuple[Holds, ...]]] = {
    "multiply": ("number", "anything", "nothing"),
    "recode": ("text", "number", "boolean", "anything", "nothing"),
    "format": ("text", "anything", "nothing"),
}
DIGITS: Final = {"Y": "[0-9]{4}", "y": "[0-9]{2}"}
PIVOT: Final = 69
"""Two-digit years (%y) from here to 99 are 1969 to 1999, and 00 to 68 are 2000 to 2068, as in POSIX."""


def apply(source: EngineTable, columns: Mapping[str, ColumnMap]) -> EngineTable:
    """Return the table with the study's columns; no row is read.

    Raises SourceError D30 for a column that the table does not have, D31 for a map that its type does not take.
    """
    types = source.types()
    for one in columns.values():
        if one.column not in types:
            message = f"[data.columns] {one.name}: there is no column {one.column!r} in this table ({source.kind})."
            guess = nearest(one.column, list(types)) or ", ".join(list(types)[:12])
            raise SourceError(message, code="D30", hint=guess)
        _fits(one, types[one.column], source.kind)
    return source.through(lambda engine: SiteEngine(engine, {one.source: one for one in columns.values()}))


def _fits(one: ColumnMap, found: ColumnType, kind: str) -> None:
    for word in _words(one):
        if found.holds not in FITS[word]:
            table = f"{one.column!r}, of type {found.words} in this table ({kind})"
            message = f"[data.columns] {one.name}: {word} does not apply to {table}."
            raise SourceError(message, code="D31", hint=f"leave {word} out")
    if one.recode and found.holds in ("number", "boolean"):
        for raw in one.recode:
            if _number(raw) is None:
                message = f"[data.columns] {one.name}: recode has {raw!r}, and {one.column!r} holds numbers."
                raise SourceError(message, code="D31", hint='recode = { 1 = "male", 2 = "female" }')


def _words(one: ColumnMap) -> list[str]:
    given = {"multiply": one.multiply is not None, "recode": bool(one.recode), "format": one.format is not None}
    return [word for word, there in given.items() if there]


def _number(raw: str) -> float | None:
    try:
        return {"true": 1.0, "false": 0.0}.get(raw) if raw in ("true", "false") else float(raw)
    except ValueError:
        return None


@dataclass(frozen=True)
class SiteEngine:
    """An `Engine` that adds a study's columns; maps: the study's name -> how the column is made of the table's."""

    engine: Engine
    maps: Mapping[str, ColumnMap]

    def types(self) -> dict[str, ColumnType]:
        """See `Engine.types`: of what the maps make."""
        found = self.engine.types()
        return {**found, **{name: _type(one, found[one.column]) for name, one in self.maps.items()}}

    def read(self, columns: Sequence[Reading]) -> Any:
        """See `Engine.read`."""
        steps = [_Step(one, self.maps.get(one.name), self._holds(one)) for one in columns]
        if all(step.plain for step in steps):
            return self.engine.read([step.readings[0] for step in steps])
        frame = self.engine.read([reading for step in steps for reading in step.readings])
        engine = ex.NarwhalsBackend(frame)
        made: list[Any] = []
        first = 0
        for i, step in enumerate(steps):
            names = [f"c{first + j}" for j in range(len(step.readings))]
            made.append(step.value(names, engine).alias(f"m{i}"))
            first += len(names)
        named = engine.frame.with_columns(*made) if made else engine.frame
        return named.select(*(nw.col(f"m{i}").alias(f"c{i}") for i in range(len(steps))))

    def _holds(self, one: Reading) -> Holds:
        found = self.maps.get(one.name)
        return "anything" if found is None or found.renames_only else self.engine.types()[found.column].holds

    def collect(self, frame: Any) -> list[dict[str, Any]]:
        """See `Engine.collect`."""
        return self.engine.collect(frame)

    def arrays(self, frame: Any) -> dict[str, Any]:
        """See `Engine.arrays`."""
        return self.engine.arrays(frame)

    def batches(self, frame: Any) -> Iterator[dict[str, Any]] | None:
        """See `Engine.batches`."""
        return self.engine.batches(frame)

    def in_memory(self, columns: Sequence[Reading]) -> Sequence[NDArray[Any]] | None:
        """See `Engine.in_memory`: of columns that are at most renamed."""
        steps = [_Step(one, self.maps.get(one.name), self._holds(one)) for one in columns]
        return (
            self.engine.in_memory([step.readings[0] for step in steps]) if all(step.plain for step in steps) else None
        )

    def pieces(self) -> Iterator[Piece] | None:
        """See `Engine.pieces`."""
        found = self.engine.pieces()
        return None if found is None else (Piece(SiteEngine(one.engine, self.maps), one.rows) for one in found)

    def spread(self, frame: Any, columns: int, work: ClusterWork) -> dict[int, NDArray[np.float64]] | None:
        """See `Engine.spread`."""
        return self.engine.spread(frame, columns, work)

    def counting(self) -> Callable[[], int] | None:
        """See `Engine.counting`."""
        return self.engine.counting()

    def probe(self) -> None:
        """See `Engine.probe`."""
        self.engine.probe()


def _type(one: ColumnMap, found: ColumnType) -> ColumnType:
    """Return the type of a mapped column."""
    if one.format is not None:
        return ColumnType(f"{found.words} read as dates", "date")
    if not one.recode or found.holds == "anything":
        return found
    texts = any(isinstance(value, str) for value in one.recode.values())
    return ColumnType(f"{found.words} recoded", "text" if texts else "number")


class _Step:
    """The readings of the table that one requested column needs, and the expression made of them."""

    def __init__(self, asked: Reading, found: ColumnMap | None, holds: Holds) -> None:
        self._asked, self._map = asked, found
        self.plain = found is None or found.renames_only
        here = asked if found is None else replace(asked, name=found.column)
        self._numeric = holds in ("number", "boolean")
        self.readings = [here]
        if found is None or self.plain:
            return
        if found.format is not None:
            self._letters, pattern = _pattern(found.format)
            groups = range(1, len(self._letters) + 1)
            self.readings = [Reading(found.column, "part", (pattern, str(group))) for group in groups]
        elif found.recode:
            self.readings = self._recoding(here, found, holds)

    def _recoding(self, here: Reading, found: ColumnMap, holds: Holds) -> list[Reading]:
        """Return the reading of the raw cell, and of the unchanged cell where values that are not recoded stay."""
        if self._numeric:
            return [Reading(found.column, "boolean" if holds == "boolean" else "number")]
        raw = Reading(found.column, "index", tuple(found.recode))
        if here.how in ("text", "index"):
            return [raw, replace(here, how="index")]
        if here.how == "listed":
            return [raw, here]
        return [raw, here] if holds == "anything" else [raw]

    def value(self, names: Sequence[str], engine: ex.NarwhalsBackend) -> Any:
        """Return the expression of the columns that were read."""
        if self.plain or self._map is None:
            return nw.col(names[0])
        if self._map.format is not None:
            return _date(dict(zip(self._letters, names, strict=True)), engine)
        if self._map.multiply is not None:
            return nw.col(names[0]).cast(nw.Float64()) * ex.real(self._map.multiply)
        return self._recoded(names)

    def _recoded(self, names: Sequence[str]) -> Any:
        assert self._map is not None
        raw = nw.col(names[0]).cast(nw.Float64())
        stays: Any = ex.NarwhalsBackend(None).nothing()
        if len(names) > 1:
            stays = nw.col(names[1]).cast(nw.Float64())
        elif self._numeric and self._asked.how not in ("text", "index", "listed"):
            stays = raw
        found = stays
        for place, (text, value) in enumerate(self._map.recode.items()):
            at = _number(text) if self._numeric else float(place + 1)
            assert at is not None
            found = nw.when(raw == ex.real(at)).then(self._literal(value)).otherwise(found)
        return found

    def _literal(self, value: str | bool | int | float | None) -> Any:
        """Return a recoded value in the form that the reading asks for; null for a missing one."""
        if value is None:
            return ex.NarwhalsBackend(None).nothing()
        if self._asked.how == "listed":
            return ex.real(float(value in self._asked.levels))
        if isinstance(value, str):
            there = value in self._asked.levels
            return ex.real(self._asked.levels.index(value) + 1.0) if there else ex.NarwhalsBackend(None).nothing()
        return ex.real(float(value))


def _pattern(form: str) -> tuple[list[str], str]:
    """Return the letters of a date format, and a regular expression with a group for each that ignores outer blanks."""
    letters: list[str] = []
    pattern, rest = r"\A[ ]*", iter(form)
    for character in rest:
        if character == "%":
            letters.append(next(rest))
            pattern += f"({DIGITS.get(letters[-1], '[0-9]{1,2}')})"
        else:
            # as a hexadecimal code, so that no character of the format is an operator of the expression
            pattern += f"\\x{ord(character):02x}"
    return letters, pattern + r"[ ]*\z"


def _date(names: Mapping[str, str], engine: ex.NarwhalsBackend) -> Any:
    """Return days since 1970-01-01, null for an invalid date or time of day."""
    part = {letter: nw.col(name).cast(nw.Float64()) for letter, name in names.items()}
    year = part.get("Y")
    if year is None:
        short = part["y"]
        year = short + engine.choose(short >= ex.real(PIVOT), ex.real(1900.0), ex.real(2000.0))
    known = engine.finite(year) & engine.finite(part["m"]) & engine.finite(part["d"])
    for letter, most in {"H": 23.0, "M": 59.0, "S": 59.0}.items():
        if letter in part:
            # the pattern admits two digits: 99 minutes are no time of day, and the date is missing then
            known = known & engine.finite(part[letter]) & (part[letter] <= ex.real(most))
    known = engine.keep(engine.choose(known, engine.truth(True), engine.truth(False)))
    safe = [
        # a valid date in place of the missing parts: the arithmetic of `days_of` sees finite numbers only
        engine.keep(engine.choose(known, x, ex.real(one)))
        for x, one in ((year, 1970.0), (part["m"], 1.0), (part["d"], 1.0))
    ]
    days, valid = days_of(safe[0], safe[1], safe[2], engine)
    return engine.choose(known & valid, days, engine.nothing())
