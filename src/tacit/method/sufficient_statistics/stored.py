"""What the parts of a stored release of sufficient statistics must be: as its question asks, each once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from tacit.method.sufficient_statistics.query import SufficientStatistics
from tacit.release.field_rules import all_different

if TYPE_CHECKING:
    from tacit.release.document import Release


def wrong(made: Release) -> Iterator[str]:
    """Yield why the parts are not those of the question; nothing where they are."""
    found = cast(SufficientStatistics, made.query).statistics or ()
    if len(made.parts) != len(found) or not all_different([part.label for part in made.parts]):
        yield f"it has {len(made.parts)} parts for {len(found)} sufficient statistics"
