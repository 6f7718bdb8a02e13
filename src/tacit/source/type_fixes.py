"""What to do where a column of a table does not have the declared type.  Public facts only.  INSIDE the wall."""

from __future__ import annotations

from typing import Final

from tacit.schema import Boolean, Category, Column, Date, Text
from tacit.source.reading.column_kinds import Holds

TYPED: Final = "tacit import makes a typed table from raw text"
TRUTHS: Final = {
    "pandas": 'frame[{name}].map({{"yes": True, "no": False}})',
    "Polars": 'pl.col({name}) == "yes"',
    "DuckDB relation": "{name} = 'yes'",
    "dict of arrays": "[True, False, None]",
}
"""How text that says yes or no is made a column of true and false."""
SQL: Final = {
    "numbers": "TRY_CAST({name} AS DOUBLE)",
    "dates": "TRY_CAST({name} AS DATE)",
    "text": "CAST({name} AS VARCHAR)",
}
CASTS: Final = {
    "pandas": {
        "numbers": 'pd.to_numeric(frame[{name}], errors="coerce")',
        "dates": 'pd.to_datetime(frame[{name}], errors="coerce")',
        "text": 'frame[{name}].astype("string")',
    },
    "Polars": {
        "numbers": "pl.col({name}).cast(pl.Float64, strict=False)",
        "dates": "pl.col({name}).str.to_date(strict=False)",
        "text": "pl.col({name}).cast(pl.String)",
    },
    "DuckDB relation": SQL,
    "dict of arrays": {
        "numbers": "one type for all cells: [40, 51.5, None], None or NaN where a cell is missing",
        "dates": 'one type for all cells: dates, or np.array(cells, dtype="datetime64[D]")',
        "text": 'one type for all cells: ["a", "b", None], None where a cell is missing',
    },
}
"""Of libraries, by what they call a table: how their users convert a column; what cannot be converted is missing."""


def type_fix(column: Column, found: str, holds: Holds, kind: str) -> str:
    """Return a hint for a column of a table of this kind, called `found` there, whose type holds something else."""
    codes = _codes(column, holds)
    if codes is not None:
        return f"{codes}, if the column's codes are {'text' if holds == 'text' else 'numbers'}"
    if isinstance(column, Boolean) and holds == "text":
        words = TRUTHS.get(kind, "a column of true and false")
        quoted = f'"{found}"'
        return words.format(name=quoted) + ', or Category(["no", "yes"])'
    wanted = "dates" if isinstance(column, Date) else "text" if _is_text(column) else "numbers"
    quoted = f'"{found}"'
    if kind in CASTS:
        return CASTS[kind][wanted].format(name=quoted)
    if kind.startswith(("Parquet", "Arrow")):
        return f"write it typed, with DuckDB: SELECT * REPLACE ({SQL[wanted].format(name=quoted)} AS {quoted})"
    return TYPED


def _is_text(column: Column) -> bool:
    return isinstance(column, Text) or (isinstance(column, Category) and isinstance(column.codes[0], str))


def _codes(column: Column, holds: Holds) -> str | None:
    """Return a category's levels with codes of the column's type, where they can be such."""
    if not isinstance(column, Category) or holds not in ("text", "number") or isinstance(column.codes[0], bool):
        return None
    first, label = column.codes[0], column.labels[0]
    if isinstance(first, str):
        if first.isdecimal() and str(int(first)) == first:
            return f'Category({{{first}: "{label}", …}})'
        # numbers made text would be levels that nobody listed, each of them
        return f'Category({{0: "{label}", …}}), with its own code in place of 0' if holds == "number" else None
    return f'Category({{"{first}": "{label}", …}})'
