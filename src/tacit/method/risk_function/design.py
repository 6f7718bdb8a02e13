"""Design of a risk function: cells, lattice and noise, from the question, public facts and the price."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

from tacit.errors import QueryError
from tacit.method.risk_function.encoding import RiskEncoding, of_persons, risk
from tacit.method.risk_function.query import RiskFunction
from tacit.method.risk_function.risk_cells import KINDS, inner, most_bins
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.numeric_columns import map_to_bins, numeric
from tacit.method.shared.weighted_encoding import SHARE
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Variable
from tacit.rows.row_map import KeyMap, PersonWeight
from tacit.schema import Boolean, Category, Schema
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import column_of, keymap

KIND: Final = "risk-function"
VERSION: Final = "risk-function/1"
OF_LEVELS: Final = ("logistic", "hinge")
"""Losses of an outcome of two levels."""


@dataclass(frozen=True)
class RiskPart(PartSpec):
    """The part of a release that holds the values of a risk; keys: the maps of table cells to bins, outcome first."""

    keys: tuple[KeyMap, ...] = field(default=(), kw_only=True)


def design(query: RiskFunction, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; QueryError Q10, Q12, Q13 (columns), Q374 (an outcome that does not fit the loss)."""
    schema = public.schema
    variables = (_outcome(schema, query), *(_regressor(schema, name) for name in query.on))
    keys = tuple(_key(schema, variables, place) for place in range(len(variables)))
    where = None if query.where is None else typed(query.where, schema)
    persons = schema.unit is not None
    leaves = persons or where is not None or any(key.missing is None for key in keys)
    form = form_of(query, variables, public.neighbors, cost, leaves=leaves, persons=persons)
    # independent noises
    law = noise_for(form.l1, form.l2_squared, cost)
    part = RiskPart("", form, None, None, law, cost, PersonWeight(SHARE) if persons else None, keys=keys)
    chosen: dict[str, Any] = {"where": where, "variables": variables, "columns": (part,)}
    return Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, **chosen)


def form_of(
    query: RiskFunction, variables: tuple[Variable, ...], neighbors: str, cost: Cost, *, leaves: bool, persons: bool
) -> RiskEncoding:
    """Return the encoding, from the question and public facts of its columns."""
    form = risk(query.loss, query.box, query.steps, variables, neighbors, cost.noise, leaves)
    return of_persons(form) if persons else form


def _outcome(schema: Schema, query: RiskFunction) -> Variable:
    """Return the public facts of the outcome; QueryError Q374 where it does not fit the loss."""
    name, column = query.outcome, column_of(schema, query.outcome)
    if query.loss not in OF_LEVELS:
        return numeric(schema, name, f"a {query.loss} loss")
    labels = keymap(schema, name).labels if isinstance(column, Boolean | Category) else ()
    if len(labels) != 2:
        text = f"outcome {name!r} of RiskFunction has not two levels, of which {query.loss} losses are."
        raise QueryError(text, code="Q374", hint=f'loss="squared", or "{name}": Boolean() in the schema')
    missing = str(getattr(column, "missing", "exclude"))
    return Variable(name, "levels", labels=labels, missing=missing)


def _regressor(schema: Schema, name: str) -> Variable:
    column = column_of(schema, name)
    if isinstance(column, Boolean):
        return Variable(name, "boolean", missing=str(column.missing))
    return numeric(schema, name, "a regressor")


def _key(schema: Schema, variables: tuple[Variable, ...], place: int) -> KeyMap:
    one = variables[place]
    if one.kind in KINDS:
        return keymap(schema, one.name)
    return map_to_bins(schema, one, inner(one, most_bins(variables, place)))
