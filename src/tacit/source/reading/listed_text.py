"""SQL for DuckDB that looks text up among the public levels, character by character.  INSIDE the wall.

On a user's connection a collation may hold f and F equal, and one row would be in two cells: there text is compared as
bytes.  Our own connections have no collation, and text is compared as it is, in four fifths of the time.

Never a cast to ENUM: each cell that is not listed would make an error message with all levels in it, for nobody.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

FEW: Final = 32
"""The most levels for which text is compared with every one."""


def quoted(name: str, mark: str = '"') -> str:
    """Quote a name (or text) for SQL.

    >>> quoted('a"b')
    '"a""b"'
    """
    return mark + name.replace(mark, mark * 2) + mark


@dataclass(frozen=True)
class ListedText:
    """A cell, as SQL, to be looked up among levels; `collated`: compare bytes, as a collation may be in force."""

    cell: str
    levels: tuple[str, ...]
    collated: bool

    @property
    def text(self) -> str:
        """SQL of the cell in the form that is compared."""
        return self._compared(f"CAST({self.cell} AS VARCHAR)")

    @property
    def codes(self) -> str:
        """SQL of the list of levels in the form that is compared."""
        return f"[{', '.join(self._compared(quoted(level, chr(39))) for level in self.levels)}]"

    @property
    def table(self) -> str:
        """SQL of the levels as rows, with their places in the narrowest integer type, since rows are grouped by them.

        One literal is taken apart: thousands of them would be read again at each step of a query.
        """
        every = "".join(self.levels)
        # a separator that no level contains, so that the literal splits into the levels and nothing else
        apart = next(mark for mark in map(chr, range(0xE000, 0x10FFFF)) if mark not in every)  # for private use
        texts = f"string_split({quoted(apart.join(self.levels), chr(39))}, '{apart}')"
        places = f"CAST(range(1, {len(self.levels) + 1}) AS {self.narrow}[])"
        return f"unnest({texts}) AS text, unnest({places}) AS place"

    @property
    def rows(self) -> str:
        """SQL of the columns level and place of `table`."""
        return f"{self._compared('text')} AS level, place"

    @property
    def narrow(self) -> str:
        """The narrowest integer type that holds all places."""
        most = len(self.levels)
        return "UTINYINT" if most < 2**8 else "USMALLINT" if most < 2**16 else "UINTEGER"

    def _compared(self, text: str) -> str:
        return f"encode({text})" if self.collated else text


def listed(cell: str, levels: tuple[str, ...], *, collated: bool) -> str | ListedText:
    """Return SQL of the level's place, null for other text: a comparison for few levels, a join for many."""
    found = ListedText(cell, levels, collated)
    return found if len(levels) > FEW else f"CAST(list_position({found.codes}, {found.text}) AS {found.narrow})"


def is_listed(cell: str, levels: tuple[str, ...], *, collated: bool) -> str:
    """Return SQL of 1.0 where a cell is one of the levels, 0.0 where it is other text, null where it is missing."""
    found = ListedText(cell, levels, collated)
    among = f"CASE WHEN list_contains({found.codes}, {found.text}) THEN 1.0::DOUBLE ELSE 0.0::DOUBLE END"
    return f"CASE WHEN {cell} IS NOT NULL THEN {among} END"
