"""SQL of a cell for DuckDB, by the type of its column and the `Reading`.  INSIDE the wall.

No conversion of DuckDB's own that may raise stands here: days and instants become integers by differences and counts
(a cast of TIMESTAMP_S to text breaks the whole database), text becomes numbers by TRY_CAST.
"""

from __future__ import annotations

from typing import Any

from tacit.base.lazy_imports import arrow
from tacit.source.reading.column_kinds import KNOWN, LAST_DAY, PER_DAY, Reading
from tacit.source.reading.listed_text import ListedText, is_listed, listed, quoted
from tacit.source.reading.truth_words import FALSE, TRUE


def _part(cell: str, levels: tuple[str, ...]) -> str:
    """Return the number in the text of a cell that a group of a regular expression matches."""
    pattern, group = levels
    found = f"regexp_extract(CAST({cell} AS VARCHAR), {quoted(pattern, chr(39))}, {int(group)})"
    return f"TRY_CAST(nullif({found}, '') AS DOUBLE)"


def _unit(cell: str, dtype: str) -> str:
    """Return the identifier of a row's person: text as bytes, since a collation may equate two persons.

    Numbers of more than 64 bits as their text: NumPy, which is handed them, would make floats of them.
    """
    if dtype in ("VARCHAR", "HUGEINT", "UHUGEINT") or dtype.startswith(("ENUM(", "DECIMAL(")):
        return f"encode(CAST({cell} AS VARCHAR))"
    if dtype == "DATE" or dtype.startswith("TIMESTAMP"):
        return _known(*_count(cell, dtype))
    # -0.0 + 0.0 is 0.0, so the two zeros are one person; NaN and infinities are no identifiers
    return f"CASE WHEN isfinite({cell}) THEN {cell} + 0.0 END" if dtype in ("FLOAT", "DOUBLE") else cell


def _known(count: str, last: int) -> str:
    """Return a count of days or units since 1970, null beyond `last`."""
    return f"CASE WHEN {count} BETWEEN {-last} AND {last} THEN {count} END"


def _count(cell: str, dtype: str) -> tuple[str, int]:
    """Return days or units since 1970 of a cell of a DuckDB type, and the greatest valid count."""
    if dtype == "DATE":
        return f"({cell} - DATE '1970-01-01')", LAST_DAY
    if dtype.endswith("_NS"):
        return f"epoch_ns({cell})", KNOWN["ns"]
    zoned = dtype == "TIMESTAMP WITH TIME ZONE"
    return f"epoch_us({cell if zoned else f'TRY_CAST({cell} AS TIMESTAMP)'})", KNOWN["us"]


def _days(count: str) -> str:
    return f"CASE WHEN {count} BETWEEN {-LAST_DAY} AND {LAST_DAY} THEN CAST({count} AS DOUBLE) END"


def _counted(count: str, unit: str) -> str:
    """Return the days of an instant counted in `unit` since 1970, by integers: DuckDB's conversions may raise."""
    day, last = PER_DAY[unit], KNOWN[unit]
    # // truncates towards zero: where the remainder is negative, one day less is the floor
    whole = f"CAST({count} // {day} - (({count} % {day}) < 0)::BIGINT AS DOUBLE)"
    return f"CASE WHEN {count} BETWEEN {-last} AND {last} THEN {whole} END"


def of_table(one: Reading, cell: str, dtype: str, *, own: bool = True) -> str | ListedText:
    """Return a cell as `Reading` says, of a DuckDB type; `own`: the connection has no collation."""
    if dtype == '"NULL"':
        return "NULL::DOUBLE"
    if one.how in ("text", "index"):
        return listed(cell, one.levels, collated=not own)
    if one.how == "listed":
        return is_listed(cell, one.levels, collated=not own)
    if one.how == "part":
        return _part(cell, one.levels)
    if one.how == "unit":
        return _unit(cell, dtype)
    if one.how != "date":
        return cell
    count, _ = _count(cell, dtype)
    return _days(count) if dtype == "DATE" else _counted(count, "ns" if dtype.endswith("_NS") else "us")


def of_arrow(one: Reading, cell: str, dtype: Any) -> str | ListedText:
    """Return a cell as `Reading` says, of a column of an Arrow type.

    Days and instants arrive as integers counted from 1970 (`arrow_columns.plain`), in UTC where there is a time zone.
    """
    is_ = arrow().types
    if is_.is_null(dtype):
        return of_table(one, cell, '"NULL"')
    inner = dtype.value_type if is_.is_dictionary(dtype) else dtype
    if one.how == "unit":
        return _arrow_unit(cell, inner)
    if one.how != "date":
        return of_table(one, cell, "")
    return _days(cell) if is_.is_date32(inner) else _counted(cell, "ms" if is_.is_date64(inner) else inner.unit)


def _arrow_unit(cell: str, dtype: Any) -> str:
    is_ = arrow().types
    if is_.is_date(dtype) or is_.is_timestamp(dtype):
        last = LAST_DAY if is_.is_date32(dtype) else KNOWN["ms" if is_.is_date64(dtype) else dtype.unit]
        return _known(cell, last)
    if is_.is_floating(dtype):
        return _unit(cell, "DOUBLE")
    exact = is_.is_decimal(dtype) or is_.is_string(dtype) or is_.is_large_string(dtype) or is_.is_string_view(dtype)
    return _unit(cell, "VARCHAR" if exact else "")


def of_text(one: Reading, cell: str) -> str | ListedText:
    """Return a cell as `Reading` says, of a text file."""
    number = f"TRY_CAST({cell} AS DOUBLE)"
    if one.how in ("text", "index"):
        return listed(cell, one.levels, collated=False)
    if one.how == "listed":
        return is_listed(cell, one.levels, collated=False)
    if one.how == "part":
        return _part(cell, one.levels)
    if one.how == "unit":
        return _unit(cell, "VARCHAR")
    if one.how == "date":
        day = f"CAST(TRY_CAST({cell} AS TIMESTAMP) AS DATE)"
        return _days(f"({day} - DATE '1970-01-01')")
    if one.how == "number":
        return number
    word = f"lower(trim({cell}))"
    # no IN: DuckDB makes a join of it, one for every place at which a query has the cell
    said = (f"WHEN '{one}' THEN {x}::DOUBLE" for words, x in ((TRUE, "1.0"), (FALSE, "0.0")) for one in words)
    return f"CASE {word} {' '.join(said)} ELSE {number} END"
