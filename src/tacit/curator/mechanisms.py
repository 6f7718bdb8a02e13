"""The mechanism of a question, opened by its room's name.  INSIDE the wall, and the one place that opens mechanisms."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from tacit.errors import QueryError
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.mechanism import Mechanism
from tacit.privacy import Cost
from tacit.release.parts import Part
from tacit.release.query import Query
from tacit.release.registry import room_of
from tacit.source import Source


def mechanism_of(query: Query[Any]) -> Mechanism:
    """QueryError Q04 for a question of no method of this version."""
    room = room_of(query)
    if room is None:
        message = f"{type(query).__name__} is no query of this version."
        raise QueryError(message, code="Q04", hint='tc.Mean("age")')
    return import_module(f"tacit.method.{room}.mechanism").MECHANISM


def design(query: Query[Any], public: Public, cost: Cost) -> Measurement:
    """Public facts -> what is measured; QueryError where it cannot be asked."""
    return mechanism_of(query).design(query, public, cost)


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS: exact integers of every part, and at once their noise; only noisy integers are kept."""
    return mechanism_of(shape.query).measure(shape, source)


def integers(shape: Measurement, source: Source) -> tuple[Any, ...]:
    """READS ROWS.  The exact integers of every part, before noise: never to be shown."""
    exact = mechanism_of(shape.query).exact
    if exact is None:
        raise TypeError(f"{shape.kind}: its integers depend on secret labels")
    return exact(shape, source)
