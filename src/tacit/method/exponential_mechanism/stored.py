"""Checks of a stored selection against its question: cells, candidates, and the spread of their utilities."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import TYPE_CHECKING, cast

from tacit.method.exponential_mechanism.query import MOST_NUMBERS, ExponentialMechanism
from tacit.method.exponential_mechanism.utilities import spread_of, weights_of

if TYPE_CHECKING:
    from tacit.release.document import Release


def wrong(made: Release) -> Iterator[str]:
    """Yield why the part does not answer the question; nothing where it does."""
    query = cast(ExponentialMechanism, made.query)
    if len(made.parts) != 1 or made.parts[0].label != "" or tuple(one.name for one in made.variables) != query.columns:
        yield "it is not one part of the columns of the question"
        return
    if any(one.kind != "levels" for one in made.variables):
        yield "its columns have no cells"
        return
    cells = prod(len(one.labels) for one in made.variables)
    if (query.candidates and len(query.candidates[0][1]) != cells) or (
        not query.candidates and cells**2 > MOST_NUMBERS
    ):
        yield f"it has {cells:,} cells, which are not those of its candidates"
        return
    facts, weights = made.parts[0].parameters, weights_of(query, cells)
    if facts["G"] != len(weights) - 1:
        yield f"it has {facts['G'] + 1:,} candidates; there are {len(weights):,}"
    replaces = made.neighbors == "replace-one"
    # whether a row may be in no cell is not told: either spread may be right
    if facts["spread"] not in {spread_of(query, weights, replaces=replaces, leaves=one) for one in (False, True)}:
        yield "its spread is not that of its candidates"
