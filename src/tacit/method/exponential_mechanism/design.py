"""Design of the exponential mechanism: cells, utilities and their sensitivity, from the question and public facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from math import log, prod
from typing import Any, Final, cast

from tacit.errors import QueryError
from tacit.method.exponential_mechanism.query import MOST_CANDIDATES, MOST_NUMBERS, ExponentialMechanism
from tacit.method.exponential_mechanism.utilities import Integers, sensitivity_of, spread_of, weights_of
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.weighted_encoding import SHARE
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.privacy.bought import range_for
from tacit.release.parts import Variable
from tacit.rows.row_map import ONE, KeyMap, PersonWeight
from tacit.schema import Boolean, Category, Schema
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import binmap, column_of, keymap

KIND: Final = "selected-candidate"
VERSION: Final = "selected-candidate/1"


@dataclass(frozen=True)
class CandidatePart(PartSpec):
    """The part of a release that holds the candidate; keys: the maps of table cells to the crossed cells.

    weights: of the candidates, shape (candidates, cells), as tuples.
    """

    keys: tuple[KeyMap, ...] = field(kw_only=True)
    weights: tuple[tuple[int, ...], ...] = field(kw_only=True)


def design(query: ExponentialMechanism, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; QueryError Q10, Q12, Q13, Q64, Q264 to Q267."""
    keys = tuple(_key(public.schema, query, name) for name in query.columns)
    where = None if query.where is None else typed(query.where, public.schema)
    leaves = where is not None or any(one.missing is None for one in keys)
    weights = _weights(query, prod(one.size for one in keys))
    facts = {"replaces": public.neighbors == "replace-one", "leaves": leaves}
    least = sensitivity_of(query, weights, **facts)
    if query.sensitivity is not None and query.sensitivity < least:
        text = f"sensitivity of ExponentialMechanism is {query.sensitivity:,}: one row changes a utility by {least:,}."
        raise QueryError(text, code="Q266", hint=f"sensitivity={least}, or leave it out")
    spread = spread_of(query, weights, **facts)
    if spread == 0:
        text = "candidates of ExponentialMechanism: no row tells them apart."
        raise QueryError(text, code="Q267", hint="numbers that differ between candidates")
    persons = None if public.schema.unit is None else PersonWeight(SHARE)
    A = 1 if persons is None else persons.G
    form = Encoding("candidate", _facts(len(weights), spread, A), (ONE,), ((1,),), spread * A, (spread * A) ** 2)
    # of doubled utilities, which a neighbour changes by at most the spread, a constant apart
    law = Selection(range_for(cost) / (2 * spread * A))
    held = tuple(tuple(map(int, one)) for one in weights)
    part = CandidatePart("", form, None, None, cast(Any, law), cost, persons, keys=keys, weights=held)
    variables = tuple(Variable(one.column, "levels", labels=one.labels) for one in keys)
    chosen: dict[str, Any] = {"where": where, "variables": variables, "columns": (part,)}
    return Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, **chosen)


def _facts(candidates: int, spread: int, A: int) -> dict[str, int]:
    return {"G": candidates - 1, "spread": spread} | ({} if A == 1 else {"share": A})


def _key(schema: Schema, query: ExponentialMechanism, name: str) -> KeyMap:
    """Return the map of a column's cells; QueryError Q10, Q12, Q13, Q64, Q265 (numbers without bins)."""
    column, bins = column_of(schema, name), dict(cast("tuple[tuple[str, Any], ...]", query.bins))
    if isinstance(column, Category | Boolean):
        if name in bins:
            # refuses a column without numbers
            binmap(schema, name, bins[name])
        return keymap(schema, name)
    found = bins.get(name)
    if found is None:
        text = f"column {name!r} of ExponentialMechanism has no bins, and its values are no levels."
        raise QueryError(text, code="Q265", hint=f'bins={{"{name}": 10}}')
    return binmap(schema, name, found)


def _weights(query: ExponentialMechanism, cells: int) -> Integers:
    """Return the numbers of all candidates; QueryError Q264 where they are not of these cells, or too many."""
    named = query.candidates
    if named and len(named[0][1]) != cells:
        text = f"candidates of ExponentialMechanism have {len(named[0][1]):,} numbers; there are {cells:,} cells."
        raise QueryError(text, code="Q264", hint="one number for each cell, or other bins")
    if not named and not 2 <= cells <= min(MOST_CANDIDATES, int(MOST_NUMBERS**0.5)):
        text = f"ExponentialMechanism: columns make {cells:,} cells, each a candidate."
        raise QueryError(text, code="Q264", hint=f"2 to {int(MOST_NUMBERS**0.5)} cells, or candidates=")
    return weights_of(query, cells)


def bound(law: Any, candidates: int, level: float) -> float:
    """Return how far below the best the selected utility is at most, with a probability of `level`.

    law: of doubled utilities.  Of `candidates` - 1 others each is selected with a probability of at most
    exp(-2 rate t) where its utility is t below the best [McSherry & Talwar 2007, lemma 7, with a ball of one].

    >>> from fractions import Fraction
    >>> round(bound(Selection(Fraction(1, 4)), 11, 0.95), 2)
    10.6
    """
    return max(0.0, log((candidates - 1) / (1 - level)) / float(2 * law.rate))
