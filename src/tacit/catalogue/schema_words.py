"""Functions that make JSON Schema for common types.  No data here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeAlias

Words: TypeAlias = dict[str, Any]


def ref(name: str) -> Words:
    """Return a reference to a definition of the schema."""
    return {"$ref": f"#/$defs/{name}"}


def closed(properties: Words, said: str = "", optional: tuple[str, ...] = ()) -> Words:
    """Return the schema of an object with these fields and no others."""
    required = [name for name in properties if name not in optional]
    closed: Words = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"description": said, **closed} if said else closed


def listed(item: Words, **limits: Any) -> Words:
    """Return the schema of a list of such items; limits: further keywords of JSON Schema."""
    return {"type": "array", "items": item, **limits}


def pair(first: Words, second: Words) -> Words:
    """Return the schema of a list of two values."""
    return {"type": "array", "prefixItems": [first, second], "minItems": 2, "maxItems": 2}


def or_null(words: Words) -> Words:
    """Return the schema of a value, or null."""
    return {"anyOf": [words, {"type": "null"}]}


def fields_of(cls: type[Any], words: Mapping[str, Words]) -> tuple[Words, tuple[str, ...]]:
    """Return the schemas of a class's fields, by name, and the names of those with a default, which are optional."""
    own = [f for f in fields(cls) if f.name in words]
    return {f.name: words[f.name] for f in own}, tuple(f.name for f in own if f.default is not MISSING)
