"""Models in the JSON Schema of releases: every family with its parameter ranges ("boxes"), and functions of users."""

from __future__ import annotations

from dataclasses import fields
from typing import Any, Final

from tacit.catalogue.schema_words import closed, listed
from tacit.models.family_registry import FAMILIES

BOX: Final[dict[str, Any]] = {
    "description": "Where a parameter lies: both ends, or the number at which it is held; a list of these for several.",
    "anyOf": [{"type": "number"}, listed({"$ref": "#/$defs/box"}, minItems=1)],
}
NUMBERS: Final = listed({"type": "number"}, minItems=1)

JSON_TYPES: Final = {"int": "integer", "float": "number"}
"""Types of JSON, by the annotation of an argument that is no box: numbers of trials or levels, the least value."""


def model() -> dict[str, Any]:
    """Return the schema of a model: one of the families with all its boxes, a log-density, or a statistic."""
    return {"oneOf": [*(_family(name) for name in FAMILIES), _own(), _statistic()]}


def _family(name: str) -> dict[str, Any]:
    """Return the schema of one family: its boxes, and its further arguments."""
    cls = FAMILIES[name]
    box: dict[str, Any] = {"$ref": "#/$defs/box"}
    words: dict[str, Any] = {"family": {"const": name}, **dict.fromkeys(cls.kinds, box)}
    for one in fields(cls):
        if one.name == "default":
            words["default"] = NUMBERS
        elif one.name not in words:
            words[one.name] = {"type": JSON_TYPES[str(one.type)]}
    return closed(words, optional=tuple(set(words) - {"family", *cls.kinds}))


def _own() -> dict[str, Any]:
    """Return the schema of a user's log-density, identified by a digest."""
    words: dict[str, Any] = {
        "family": {"const": "Model"},
        "name": {"type": "string"},
        "digest": {"$ref": "#/$defs/hash"},
        "parameters": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/box"}},
        "columns": {"type": "integer", "minimum": 2},
        "support": {"anyOf": [{"type": "string"}, NUMBERS]},
        "default": NUMBERS,
    }
    return closed(words, optional=("columns", "support", "default"))


def _statistic() -> dict[str, Any]:
    """Return the schema of a user's statistic, a function of a block's rows."""
    words: dict[str, Any] = {
        "family": {"const": "Statistic"},
        "name": {"type": "string"},
        "digest": {"$ref": "#/$defs/hash"},
        "parameters": {"type": "object", "minProperties": 1, "additionalProperties": {"$ref": "#/$defs/box"}},
        "columns": {"type": "integer", "minimum": 2},
        "default": NUMBERS,
        "seconds": {"type": "number", "exclusiveMinimum": 0},
    }
    return closed(words, optional=("digest", "columns", "default", "seconds"))
