"""Words of JSON Schema (draft 2020-12), as `documents` writes them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import MISSING, fields
from typing import Any, TypeAlias

Words: TypeAlias = dict[str, Any]


def ref(name: str) -> Words:
    """One of the definitions."""
    return {"$ref": f"#/$defs/{name}"}


def closed(properties: Words, said: str = "", optional: tuple[str, ...] = ()) -> Words:
    """An object with these fields and no others."""
    required = [name for name in properties if name not in optional]
    made: Words = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"description": said, **made} if said else made


def list_of(item: Words, **limits: Any) -> Words:
    """An array."""
    return {"type": "array", "items": item, **limits}


def pair(first: Words, second: Words) -> Words:
    """An array of two."""
    return {"type": "array", "prefixItems": [first, second], "minItems": 2, "maxItems": 2}


def or_null(words: Words) -> Words:
    """The same, or null."""
    return {"anyOf": [words, {"type": "null"}]}


def own_fields(cls: type[Any], words: Mapping[str, Words]) -> tuple[Words, tuple[str, ...]]:
    """A class's own fields with their words, and which of them may be left out: those with a default."""
    own = [f for f in fields(cls) if f.name in words]
    return {f.name: words[f.name] for f in own}, tuple(f.name for f in own if f.default is not MISSING)
