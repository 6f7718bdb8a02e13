"""Design of a Bernstein polynomial: bins, degree and noise, from the question, public facts and the price."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final, cast

from tacit.errors import QueryError
from tacit.method.bernstein.chosen_degree import DEGREES, chosen_degree, expected_errors
from tacit.method.bernstein.encoding import FINE, lattice
from tacit.method.bernstein.lattice_bins import bin_edges, scale_of, unit_edges
from tacit.method.bernstein.query import Bernstein
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.numeric_columns import map_to_bins, numeric
from tacit.privacy import Cost, noise_for
from tacit.rows.row_map import KeyMap, PersonWeight
from tacit.schema.predicates.typed_conditions import typed

KIND: Final = "bernstein"
VERSION: Final = "bernstein/1"


@dataclass(frozen=True)
class LatticePart(PartSpec):
    """The part of a release that holds the lattice values; keys: the map of table cells to bins."""

    keys: tuple[KeyMap, ...] = field(default=(), kw_only=True)


def design(query: Bernstein, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; QueryError Q10, Q12, Q13 (column), Q82 (a number of rows is needed)."""
    schema = public.schema
    one = numeric(schema, query.column, "a distribution function", recorded=True)
    degree = query.degree or _degree(query.order, public, cost)
    key = map_to_bins(schema, one, bin_edges(one, degree))
    where = None if query.where is None else typed(query.where, schema)
    leaves, persons = where is not None or key.missing is None, schema.unit is not None
    edges, S = unit_edges(one, degree), scale_of(one, FINE)
    form = lattice(edges, degree, S, public.neighbors, leaves=leaves, persons=persons)
    # independent noises
    law = noise_for(form.l1, form.l2_squared, cost)
    weight = PersonWeight(form.parameters["share"]) if persons else None
    part = LatticePart("", form, None, None, law, cost, weight, keys=(key,))
    chosen: dict[str, Any] = {"where": where, "variables": (one,), "columns": (part,)}
    return Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, **chosen)


def error(shape: Measurement, rows: int | None) -> float:
    """Return the expected squared error, for the law of `chosen_degree`, by which laws of noise are compared; of a
    degree that was asked for the variance of the noise.
    """
    query, (part,) = cast(Bernstein, shape.query), shape.columns
    if query.degree or rows is None:
        return part.law.variance()
    return float(expected_errors(query.order, rows, shape.cost)[part.form.parameters["degree"] - DEGREES[0]])


def _degree(order: int, public: Public, cost: Cost) -> int:
    """Return the degree of least expected error; QueryError Q82 where nothing is known of the number of rows."""
    n = public.size
    if n is None:
        message = "Bernstein: the degree goes by the number of rows, which is private under add-remove."
        raise QueryError(message, code="Q82", hint="Curator(…, size_hint=10_000), or degree=20")
    return chosen_degree(order, n, cost)
