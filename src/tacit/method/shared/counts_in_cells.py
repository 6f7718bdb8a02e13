"""Counts of rows in crossed cells: their encoding and noise, and the public facts of their axes.  No data here."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

from tacit.method.shared import encoding as moment_forms
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.weighted_encoding import FINE
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Axis
from tacit.rows.row_map import KeyMap, PersonWeight
from tacit.schema import Date, Integer, Real, Schema
from tacit.schema.column_multiples import multiples


def may_leave(shape: Measurement) -> bool:
    """Return whether a row can be in no cell: a condition may fail for it, or a value be missing."""
    return shape.where is not None or any(key.missing is None for key in shape.keys)


def encoding_of(cells: int, neighbors: str, leaves: bool, persons: bool) -> tuple[Encoding, PersonWeight | None]:
    """Return the encoding of a row and, for persons, how a weight of one is divided among their cells."""
    form = replace(moment_forms.count(cells, neighbors, leaves), name="histogram")
    return (weighted_forms.shared(form, FINE), PersonWeight(FINE)) if persons else (form, None)


def part_of_counts(shape: Measurement, neighbors: str, cost: Cost) -> PartSpec:
    """Return the one part that holds the counts of all cells of a measurement."""
    form, share = encoding_of(shape.cells, neighbors, may_leave(shape), shape.unit is not None)
    return PartSpec("", form, None, None, noise_for(form.l1, form.l2_squared, cost), cost, share)


def axis_of(schema: Schema, key: KeyMap, *, logistic: bool = False) -> Axis:
    """Return the public facts of one column that the release states.

    logistic: whether its bins are `LogisticBins`.
    """
    column = schema[key.column]
    missing = str(getattr(column, "missing", "exclude"))
    units = getattr(column, "units", None)
    if (not key.edges and key.size > 1) or not isinstance(column, Real | Integer | Date):
        return Axis("levels", (), units, missing, key.extra)
    if isinstance(column, Date):
        low, high = column.days
        return Axis("date", (float(low), *key.edges, float(high)), "days since 1970-01-01", missing, key.extra)
    kind = "integer" if isinstance(column, Integer) else "real"
    # the open end bins are the cells below and above: the axis ends at the outer finite edges
    if logistic and key.beyond is not None:
        return Axis(kind, (key.beyond[0], *key.edges, key.beyond[1]), units, missing, key.extra)
    unit, heap = (column.multiple_of, column.heaped_at) if isinstance(column, Real) else (None, None)
    if unit is not None:
        # half a unit beyond the first and the last multiple
        first, last = multiples(column).ends
        return Axis(kind, (first, *key.edges, last), units, missing, key.extra, unit, heap)
    low, high = float(cast(float, column.lower)), float(cast(float, column.upper))
    whole = kind == "integer" and all(
        edge % 1 == 0.5 for edge in key.edges
    )  # bins of whole numbers: as wide at the ends
    ends = (low - 0.5, high + 0.5) if whole else (low, high)
    return Axis(kind, (ends[0], *key.edges, ends[1]), units, missing, key.extra, None, heap)
