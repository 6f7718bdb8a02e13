"""The part of JSON Schema (draft 2020-12) that the schema of releases uses; an unknown keyword is an error here."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

TYPES: dict[str, Any] = {
    "object": lambda x: isinstance(x, dict),
    "array": lambda x: isinstance(x, list),
    "string": lambda x: isinstance(x, str),
    "boolean": lambda x: isinstance(x, bool),
    "null": lambda x: x is None,
    "number": lambda x: isinstance(x, int | float) and not isinstance(x, bool),
    "integer": lambda x: not isinstance(x, bool) and (isinstance(x, int) or (isinstance(x, float) and x.is_integer())),
}
SILENT = {"$schema", "$id", "title", "description", "$defs"}


def same(a: Any, b: Any) -> bool:
    """Equality of JSON: true is not 1."""
    return a == b and isinstance(a, bool) == isinstance(b, bool)


def faults(value: Any, schema: Any, root: Any, at: str = "") -> Iterator[str]:
    """One line for each keyword that `value` does not satisfy."""
    if isinstance(schema, bool):
        if not schema:
            yield f"{at}: nothing may be here"
        return
    for keyword, words in schema.items():
        if keyword not in SILENT:
            yield from KEYWORDS[keyword](value, words, schema, root, at)


def fits(value: Any, schema: Any, root: Any) -> bool:
    return next(faults(value, schema, root), None) is None


def _one(name: str, good: bool, at: str) -> Iterator[str]:
    if not good:
        yield f"{at}: {name}"


def _ref(value: Any, words: str, _: Any, root: Any, at: str) -> Iterator[str]:
    assert words.startswith("#/$defs/")
    yield from faults(value, root["$defs"][words.removeprefix("#/$defs/")], root, at)


def _properties(value: Any, words: Any, _: Any, root: Any, at: str) -> Iterator[str]:
    shared = words.keys() & value.keys() if isinstance(value, dict) else set()
    # constants first: by them most alternatives are seen not to fit, without a look at the rest
    for key in sorted(shared, key=lambda key: isinstance(words[key], bool) or "const" not in words[key]):
        yield from faults(value[key], words[key], root, f"{at}/{key}")


def _additional(value: Any, words: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    patterns = schema.get("patternProperties", {})
    for key in value.keys() - schema.get("properties", {}).keys() if isinstance(value, dict) else ():
        if any(re.search(pattern, key) for pattern in patterns):
            continue
        yield from faults(value[key], words, root, f"{at}/{key}")


def _patterned(value: Any, words: Any, _: Any, root: Any, at: str) -> Iterator[str]:
    for key in value if isinstance(value, dict) else ():
        for pattern, one in words.items():
            yield from faults(value[key], one, root, f"{at}/{key}") if re.search(pattern, key) else ()


def _required(value: Any, words: Any, _: Any, root: Any, at: str) -> Iterator[str]:
    if isinstance(value, dict):
        yield from (f"{at}: {key} is missing" for key in words if key not in value)


def _items(value: Any, words: Any, schema: Any, root: Any, at: str) -> Iterator[str]:
    start = len(schema.get("prefixItems", ()))
    for i, item in enumerate(value[start:] if isinstance(value, list) else ()):
        yield from faults(item, words, root, f"{at}/{start + i}")


def _prefix(value: Any, words: Any, _: Any, root: Any, at: str) -> Iterator[str]:
    for i, (item, one) in enumerate(zip(value, words, strict=False) if isinstance(value, list) else ()):
        yield from faults(item, one, root, f"{at}/{i}")


def _any(value: Any, words: Any, _: Any, root: Any, at: str) -> Iterator[str]:
    yield from _one("anyOf", any(fits(value, one, root) for one in words), at)


def _exactly_one(value: Any, words: Any, _: Any, root: Any, at: str) -> Iterator[str]:
    yield from _one("oneOf", sum(fits(value, one, root) for one in words) == 1, at)


def _limit(name: str, of: type | tuple[type, ...], good: Any) -> Any:
    def check(value: Any, words: Any, _: Any, root: Any, at: str) -> Iterator[str]:
        yield from _one(name, not isinstance(value, of) or isinstance(value, bool) or good(value, words), at)

    return check


def _distinct(values: list[Any], words: bool) -> bool:
    return not words or not any(same(a, b) for i, a in enumerate(values) for b in values[:i])


NUMBER = (int, float)
KEYWORDS: dict[str, Any] = {
    "$ref": _ref,
    "type": lambda value, words, _s, _r, at: _one(f"no {words}", TYPES[words](value), at),
    "const": lambda value, words, _s, _r, at: _one(f"not {words!r}", same(value, words), at),
    "enum": lambda value, words, _s, _r, at: _one(f"none of {words}", any(same(value, x) for x in words), at),
    "properties": _properties,
    "patternProperties": _patterned,
    "additionalProperties": _additional,
    "required": _required,
    "items": _items,
    "prefixItems": _prefix,
    "anyOf": _any,
    "oneOf": _exactly_one,
    "minItems": _limit("minItems", list, lambda value, n: len(value) >= n),
    "maxItems": _limit("maxItems", list, lambda value, n: len(value) <= n),
    "uniqueItems": _limit("uniqueItems", list, _distinct),
    "minProperties": _limit("minProperties", dict, lambda value, n: len(value) >= n),
    "minimum": _limit("minimum", NUMBER, lambda value, n: value >= n),
    "maximum": _limit("maximum", NUMBER, lambda value, n: value <= n),
    "exclusiveMinimum": _limit("exclusiveMinimum", NUMBER, lambda value, n: value > n),
    "pattern": _limit("pattern", str, lambda value, p: re.search(p, value) is not None),
}
