"""Edges of bins in words, and days as numbers.  Public facts only."""

from __future__ import annotations

from datetime import date
from math import floor
from typing import Final

from tacit.base.arguments import described
from tacit.errors import QueryError
from tacit.schema.column_types import Date, Integer, Real

SHOWN_EDGES: Final = 12
"""Edges that an error lists, at most."""


def short(x: float) -> str:
    """Return an edge with separated thousands, or with six significant digits where it is no whole number."""
    return f"{x:,.0f}" if x.is_integer() else f"{x:.6g}"


def numbers_of(first: float, last: float) -> str:
    """Return the numbers in a bin from its first to its last one."""
    ends = [f"{x:,.0f}" if x.is_integer() else f"{x:,.12g}" for x in (first, last)]
    return ends[0] if first == last else " to ".join(ends)


def edges_shown(given: tuple[object, ...]) -> str:
    """Return edges as an error shows them: a few as they are; of more, which may be cells of a column, their number."""
    few = len(given) <= SHOWN_EDGES and all(isinstance(one, int | float | str | date) for one in given)
    return f"[{', '.join(map(described, given))}]" if few else f"{len(given):,} values"


def iso_of(day: float) -> str:
    """Return a number of days since 1970-01-01 as ISO text."""
    return date.fromordinal(int(day) + date(1970, 1, 1).toordinal()).isoformat()


def day_of(name: str, value: object) -> int:
    """Return a date, or ISO text, as days since 1970-01-01; QueryError Q64 for anything else."""
    try:
        found = value if isinstance(value, date) else date.fromisoformat(str(value))
    except ValueError:
        text = f"bins of {name!r}: {value!r} is not a date."
        raise QueryError(text, code="Q64", hint='["2024-01-01", "2024-07-01", "2024-12-31"]') from None
    return found.toordinal() - date(1970, 1, 1).toordinal()


def example_edges(column: Real | Integer | Date) -> str:
    """Return edges of three bins within the bounds of a column, as an example; "10" where it has no bounds.

    >>> example_edges(Real(0, 300_000)), example_edges(Integer(18, 93)), example_edges(Real(0, 1))
    ('[0, 100_000, 200_000, 300_000]', '[18, 43, 68, 93]', '[0, 0.333, 0.667, 1]')
    >>> example_edges(Integer(2020, 2023))
    '4'
    """
    if column.lower is None or column.upper is None:
        return "10"
    if isinstance(column, Date):
        low, high = column.days
        return "[" + ", ".join(f'"{iso_of(low + (high - low) * i // 3)}"' for i in range(4)) + "]"
    low, high = float(column.lower), float(column.upper)
    if isinstance(column, Integer) and high - low <= 6:  # a third of the way is no whole number, or an end
        return str(int(high - low) + 1)
    middle = [low + (high - low) * i / 3 for i in (1, 2)]
    wide = high - low > 6
    inner = [f"{floor(x) if wide else float(f'{x:.3g}'):_.15g}" for x in middle]
    return f"[{low:_.15g}, {', '.join(inner)}, {high:_.15g}]"
