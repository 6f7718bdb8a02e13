"""Models in the JSON Schema of releases: every family with its boxes, and log-densities of one's own."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from tacit.models.family_registry import FAMILIES

BOX: Final[dict[str, Any]] = {
    "description": "Where a parameter lies: both ends, or the number at which it is held; a list of these for several.",
    "anyOf": [{"type": "number"}, {"type": "array", "items": {"$ref": "#/$defs/box"}, "minItems": 1}],
}


def model() -> dict[str, Any]:
    """One of the families, all boxes written out, or what identifies a function."""
    return {"oneOf": [*(_family(name) for name in FAMILIES), _own(), _statistic()]}


def _family(name: str) -> dict[str, Any]:
    cls = FAMILIES[name]
    box: dict[str, Any] = {"$ref": "#/$defs/box"}
    words: dict[str, Any] = {"family": {"const": name}, **dict.fromkeys(cls.kinds, box)}
    for one in fields(cls):
        if one.name == "default":
            words["default"] = {"type": "array", "items": {"type": "number"}, "minItems": 1}
        elif one.name not in words:
            words[one.name] = {"type": "integer"}
    return _closed(words, ("family", *cls.kinds))


def _own() -> dict[str, Any]:
    numbers = {"type": "array", "items": {"type": "number"}, "minItems": 1}
    words: dict[str, Any] = {
        "family": {"const": "Model"},
        "name": {"type": "string"},
        "digest": {"$ref": "#/$defs/hash"},
        "parameters": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/box"}},
        "columns": {"type": "integer", "minimum": 2},
        "support": {"anyOf": [{"type": "string"}, numbers]},
        "default": numbers,
    }
    return _closed(words, ("family", "name", "digest", "parameters"))


def _statistic() -> dict[str, Any]:
    words: dict[str, Any] = {
        "family": {"const": "Statistic"},
        "name": {"type": "string"},
        "digest": {"$ref": "#/$defs/hash"},
        "parameters": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/box"}},
        "columns": {"type": "integer", "minimum": 2},
        "default": {"type": "array", "items": {"type": "number"}, "minItems": 1},
        "seconds": {"type": "number", "exclusiveMinimum": 0},
    }
    return _closed(words, ("family", "name", "parameters"))


def _closed(words: dict[str, Any], required: tuple[str, ...]) -> dict[str, Any]:
    return {"type": "object", "properties": words, "required": list(required), "additionalProperties": False}
