"""Import of the mechanism that answers a query, by its method's name.  INSIDE the wall; no other module does this."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tacit.errors import QueryError
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.pair_or_epsilon import of_smaller_error
from tacit.privacy import Cost
from tacit.release.parts import Part
from tacit.release.query import Query
from tacit.release.query_checks import of_numbers
from tacit.release.registry import room_of
from tacit.source import Source


def mechanism_of(query: Query[Any]) -> Mechanism:
    """Return the mechanism of a query; QueryError Q04 where no method of this version answers it."""
    room = room_of(query)
    if room is None:
        message = f"{type(query).__name__} is no query of this version."
        raise QueryError(message, code="Q04", hint='tc.Mean("age")')
    return import_module(f"tacit.method.{room}.mechanism").MECHANISM


def design(query: Query[Any], public: Public, cost: Cost) -> Measurement:
    """Decide what is measured, from public facts alone; QueryError where the query cannot be asked."""
    asked = of_numbers(query, public.schema)
    found = mechanism_of(asked)
    return of_smaller_error(found.design, found.error, asked, public, cost)


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Compute the exact integers of every part and add their noise; only noisy integers are returned."""
    return mechanism_of(shape.query).measure(shape, source)


def integers(shape: Measurement, source: Source) -> tuple[Any, ...]:
    """READS ROWS.  Return the exact integers of every part, before noise: for tests, never to be released."""
    exact = mechanism_of(shape.query).exact
    if exact is None:
        raise TypeError(f"{shape.kind}: its integers depend on secret labels")
    return exact(shape, source)
