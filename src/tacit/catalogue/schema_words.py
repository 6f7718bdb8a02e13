"""Words of JSON Schema, as functions.  No data here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeAlias

Words: TypeAlias = dict[str, Any]


def ref(name: str) -> Words:
    """A definition of the schema by its name."""
    return {"$ref": f"#/$defs/{name}"}


def closed(properties: Words, said: str = "", optional: tuple[str, ...] = ()) -> Words:
    """An object with these fields and no others."""
    required = [name for name in properties if name not in optional]
    closed: Words = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"description": said, **closed} if said else closed


def listed(item: Words, **limits: Any) -> Words:
    """A list of such items."""
    return {"type": "array", "items": item, **limits}


def pair(first: Words, second: Words) -> Words:
    """A list of two."""
    return {"type": "array", "prefixItems": [first, second], "minItems": 2, "maxItems": 2}


def or_null(words: Words) -> Words:
    """These words, or null."""
    return {"anyOf": [words, {"type": "null"}]}


def fields_of(cls: type[Any], words: Mapping[str, Words]) -> tuple[Words, tuple[str, ...]]:
    """A class's own fields with their words, and which of them may be left out: those with a default."""
    own = [f for f in fields(cls) if f.name in words]
    return {f.name: words[f.name] for f in own}, tuple(f.name for f in own if f.default is not MISSING)
