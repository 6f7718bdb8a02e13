"""Dicts of arrays and lists.  INSIDE the wall."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np

from tacit.base.arguments import kind_of
from tacit.base.lazy_imports import arrow
from tacit.errors import SourceError
from tacit.source.engine import Engine
from tacit.source.reading import arrow_columns
from tacit.source.reading.arrow_columns import LazyColumn
from tacit.source.reading.arrow_engine import ArrowColumns
from tacit.source.reading.column_kinds import check_distinct


def open_engine(data: Mapping[object, object]) -> Engine:
    """The engine of columns by their names; SourceError D04 where there are none, or their lengths differ."""
    check_distinct([str(name) for name in data])
    columns: dict[str, LazyColumn] = {}
    lengths: dict[str, int] = {}
    for key, values in data.items():
        name = str(key)
        columns[name], lengths[name] = _array(name, values)
    if not columns:
        raise SourceError("the dict has no columns.", code="D04", hint='{"age": [30, 40, 50]}')
    first = next(iter(lengths))
    for name, length in lengths.items():
        if length != lengths[first]:
            message = f"columns {first!r} and {name!r} have different lengths."
            raise SourceError(message, code="D04", hint="one cell a row in every column")
    return ArrowColumns(columns, lambda: lengths[first])


def _array(name: str, given: object) -> tuple[LazyColumn, int]:
    """Convert one column of a dict, an array of one dimension or a list of one type; return it with its length."""
    library = type(given).__module__.split(".")[0]
    values: Any = given
    found: LazyColumn | None
    if len(getattr(given, "shape", (0,))) != 1:  # a frame, or an array of two dimensions
        library, values = "", np.zeros((1, 1))
    if library == "polars":
        try:
            values = values.to_arrow()
        except arrow().ArrowException:  # Int128, which Arrow lacks
            library, values = "", np.zeros((1, 1))
    if library in ("pyarrow", "polars"):
        found = LazyColumn(arrow_columns.array_type(values.type), lambda: values)
    elif library == "pandas":
        found = arrow_columns.series(values)
    elif isinstance(given, list | tuple):
        found = arrow_columns.listed(cast("Sequence[object]", given))
    elif isinstance(given, np.ma.MaskedArray):
        found = _masked(given)
    else:
        values = np.asarray(values)
        found = arrow_columns.numbers(values) if values.ndim == 1 else None
    if found is None:
        shape: tuple[int, ...] | None = getattr(cast(object, given), "shape", None)
        said = f"is {kind_of(cast(object, given))}" if shape is None else f"has {len(shape)} dimensions"
        message = f"column {name!r} {said}: not a list or an array of one dimension."
        raise SourceError(message, code="D04", hint="[30, 40, None]: numbers, text, dates or Booleans, a cell a row")
    return found, len(values)


def _masked(values: Any) -> LazyColumn | None:
    """Return a masked array of numbers or text, missing where it is masked; integers stay integers, however large."""
    if values.ndim != 1:
        return None
    if values.dtype.kind in "iu":
        # a list keeps each integer exact and None where it is masked
        return arrow_columns.listed(values.tolist())
    if values.dtype.kind in "OU":
        texts: Any = values.astype(object).filled(None)
        return arrow_columns.numbers(texts)
    if values.dtype.kind not in "bf":
        return None
    return arrow_columns.numbers(values.astype(np.float64).filled(np.nan))
