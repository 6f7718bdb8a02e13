"""Check a stored release of data quality: its parts must be those that its question asks for, each once, in order."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, cast

from tacit.method.quality.query import DataQuality
from tacit.release.field_rules import all_different

if TYPE_CHECKING:
    from tacit.release.document import Release


def wrong(made: Release) -> Iterator[str]:
    """Yield each reason why the parts are not those of the question; yield nothing where they are."""
    labels = tuple(part.label for part in made.parts)
    columns = tuple(cast(DataQuality, made.query).columns)
    if not all_different(labels) or (columns and labels != columns):
        yield "its parts are not of the columns that the question asks for, each once"
