"""Made-up rows from a schema alone, to rehearse a release before the real table is touched."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from tacit.base.arguments import described, kind_of
from tacit.base.lazy_imports import pandas
from tacit.errors import SchemaError
from tacit.schema.column_multiples import has_multiples, multiples
from tacit.schema.column_types import EXCLUDE, Boolean, Category, Column, Date, Integer, PrivacyUnit, Real, Text

MOST: Final = 10**9
"""Most made-up rows."""
WORDS: Final = 40
"""Different made-up texts."""


def example(columns: Mapping[str, Column], rows: int, rng: int | np.random.Generator | None) -> Any:
    """Return a pandas frame of `rows` made-up rows, uniform inside bounds and over levels.

    columns: by their names in the table.  A Real without bounds is standard normal; a PrivacyUnit numbers persons of at
    most `max_rows` rows; a Text has words, few of which are frequent.  Missing cells appear only where the schema gives
    them a level of their own.  Raises SchemaError S17 unless `rows` is a whole number from 0 on.

    >>> example({"age": Real(0, 100)}, 3, 0).shape
    (3, 1)
    """
    pd = pandas()

    if isinstance(rows, bool) or not isinstance(rows, int | np.integer) or not 0 <= rows < MOST:  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"rows is {described(rows)}: not a whole number from 0 on."
        raise SchemaError(text, code="S17", hint="schema.example(1_000, rng=0)")
    if rng is not None and not isinstance(rng, int | np.integer | np.random.Generator):  # pyright: ignore[reportUnnecessaryIsInstance]
        text = f"rng is {kind_of(rng)}: no seed."
        raise SchemaError(text, code="S17", hint="schema.example(1_000, rng=0)")
    if isinstance(rng, int | np.integer) and rng < 0:
        raise SchemaError("rng is below 0: no seed.", code="S17", hint="schema.example(1_000, rng=0)")
    generator = np.random.default_rng(rng)
    return pd.DataFrame({name: _cells(column, int(rows), generator) for name, column in columns.items()})


def _cells(column: Column, rows: int, rng: np.random.Generator) -> Any:
    if isinstance(column, Real):
        if column.lower is None or column.upper is None:
            return rng.standard_normal(rows)
        if has_multiples(column):
            values = multiples(column)
            return rng.integers(values.first, values.last, rows, endpoint=True) * float(values.unit)
        # the sum may round to a number above the upper bound
        return np.clip(column.lower + (column.upper - column.lower) * rng.random(rows), column.lower, column.upper)
    if isinstance(column, Integer):
        return rng.integers(column.lower, column.upper, rows, endpoint=True)
    if isinstance(column, Boolean):
        return rng.integers(0, 2, rows).astype(bool)
    if isinstance(column, PrivacyUnit):
        return _persons(column.max_rows, rows, rng)
    if isinstance(column, Date):
        days = rng.integers(*column.days, rows, endpoint=True)
        # pandas has no unit of days
        return days.astype("datetime64[D]").astype("datetime64[s]")
    return _texts(column, rows, rng) if isinstance(column, Text) else _levels(column, rows, rng)


def _texts(column: Text, rows: int, rng: np.random.Generator) -> Any:
    """Return made-up words, few of which are frequent: the k-th in proportion to 1 / k."""
    weights = 1 / np.arange(1, WORDS + 1)
    which = rng.choice(WORDS, rows, p=weights / weights.sum())
    return pandas().array([f"word {k + 1}"[: column.max_length] for k in which], dtype="str")


def _persons(most: int, rows: int, rng: np.random.Generator) -> Any:
    """Return the person number of each row: 1 to `most` rows for each person, in random order."""
    sizes = rng.integers(1, most, rows, endpoint=True)
    # the fewest persons whose rows fill the table; the last one may lose some
    people = int(np.searchsorted(np.cumsum(sizes), rows)) + 1
    return rng.permutation(np.repeat(np.arange(len(sizes[:people])), sizes[:people])[:rows])


def _levels(column: Category, rows: int, rng: np.random.Generator) -> Any:
    """Return random codes, in an array type that holds missing cells without changing the other values."""
    options: list[Any] = [*column.codes, *([] if column.missing == EXCLUDE else [None])]
    cells = [options[k] for k in rng.integers(0, len(options), rows)]
    code = column.codes[0]
    kind = "boolean" if isinstance(code, bool) else "Int64" if isinstance(code, int) else "str"
    if None not in options:
        return pandas().array(cells, dtype=kind.lower().replace("boolean", "bool"))
    return pandas().array(cells, dtype="string" if kind == "str" else kind)
