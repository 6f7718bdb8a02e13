"""Design of a histogram: the cells and their noise, from the question, public facts and the price."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any, Final, cast

from tacit.errors import QueryError
from tacit.method.histogram.query import Histogram
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.weighted_encoding import SHARE
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Axis
from tacit.rows.row_map import KeyMap, PersonWeight
from tacit.schema import Boolean, Category, Date, Integer, Real, Schema
from tacit.schema.autobins import AUTO, Size, alpha_of, resolved
from tacit.schema.axes import axismap
from tacit.schema.logistic_bins import LogisticBins
from tacit.schema.predicates.typed_conditions import typed

VERSION: Final = "histogram/1"


KIND: Final = "histogram"


MOST_CELLS: Final = 10_000_000


def design(query: Histogram, public: Public, cost: Cost) -> Measurement:
    """Cells and noise from public facts; QueryError where a column has no cells, or there are too many."""
    return framed(query, public, cost, most=MOST_CELLS)


def framed(query: Histogram, public: Public, cost: Cost, *, most: int) -> Measurement:
    """Return the design of a histogram, dense or sparse; QueryError Q31 for more than `most` cells."""
    schema, neighbors = public.schema, public.neighbors
    bins = dict(cast("tuple[tuple[str, Any], ...]", query.bins))
    if AUTO in bins.values():
        bins = _resolved(query, bins, schema, neighbors, public.size, cost, most)
    keys = _keys(query, bins, schema)
    where = None if query.where is None else typed(query.where, schema)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, keys=keys, where=where)
    if shape.cells > most:
        more = "fewer columns, or fewer bins" + ("; or sparse=True" if most == MOST_CELLS else "")
        raise QueryError(f"Histogram: {shape.cells:,} cells; at most {most:,} are released.", code="Q31", hint=more)
    # a row for which the condition fails, or whose value is missing, is in no cell
    leaves = where is not None or any(key.missing is None for key in keys)
    if shape.cells == 1 and neighbors == "replace-one" and not leaves:
        message = "Histogram: one cell of all rows, whose number is public under replace-one."
        raise QueryError(message, code="Q32", hint="curator.rows, or more bins")
    form, share = _form(shape.cells, neighbors, leaves, shape.unit is not None)
    column = PartSpec("", form, None, None, noise_for(form.l1, form.l2_squared, cost), cost, share)
    axes = tuple(_axis(schema, key, isinstance(bins.get(key.column), LogisticBins)) for key in keys)
    return replace(shape, columns=(column,), axes=axes)


def _keys(query: Histogram, bins: dict[str, Any], schema: Schema) -> tuple[KeyMap, ...]:
    flags = {"missing": query.missing, "outside": query.outside}
    return tuple(axismap(schema, name, bins.get(name), **flags) for name in query.columns)


def _form(cells: int, neighbors: str, leaves: bool, persons: bool) -> tuple[Encoding, PersonWeight | None]:
    """Return the encoding of a row and, for persons, how a weight of one is divided among their cells."""
    form = replace(moment_forms.count(cells, neighbors, leaves), name="histogram")
    return (weighted_forms.shared(form, SHARE), PersonWeight(SHARE)) if persons else (form, None)


def _resolved(
    query: Histogram, bins: dict[str, Any], schema: Schema, neighbors: str, n: int | None, cost: Cost, most: int
) -> dict[str, Any]:
    """Replace "auto" by numbers of bins, from public facts: schema, number of rows, relation and price."""
    if n is None:
        message = 'Histogram: bins="auto" goes by the number of rows, which is private under add-remove.'
        raise QueryError(message, code="Q82", hint='Curator(…, size_hint=10_000), or bins={"age": 10}')
    # any number of cells from two on has one sensitivity: the noise is known before the bins are
    form, _ = _form(2, neighbors, True, schema.unit is not None)
    spread = math.sqrt(noise_for(form.l1, form.l2_squared, cost).variance()) / form.parameters.get("share", 1)
    size = Size(n, alpha_of(spread), most)
    rest = [
        name for name in query.columns if bins.get(name) != AUTO or isinstance(schema.get(name), Category | Boolean)
    ]
    known = {name: edges for name, edges in bins.items() if edges != AUTO}
    others = (
        math.prod(key.size for key in _keys(replace(query, columns=rest, bins=known), known, schema)) if rest else 1
    )
    # a column's cells beside its bins: one for missing values, two for those beyond the bounds
    return resolved(schema, tuple(query.columns), bins, size, others, query.missing + 2 * query.outside)


def _axis(schema: Schema, key: KeyMap, logistic: bool) -> Axis:
    """Return the public facts of one column that the release states."""
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
    low, high = float(cast(float, column.lower)), float(cast(float, column.upper))
    whole = kind == "integer" and all(
        edge % 1 == 0.5 for edge in key.edges
    )  # bins of whole numbers: as wide at the ends
    ends = (low - 0.5, high + 0.5) if whole else (low, high)
    return Axis(kind, (ends[0], *key.edges, ends[1]), units, missing, key.extra)
