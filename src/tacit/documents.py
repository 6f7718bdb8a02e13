"""The JSON Schema (draft 2020-12) of release documents: a closed description of what this version writes.

Made from what the reader itself goes by: the classes in `LEAVES` and the questions they answer, the fields of `Part`,
`Grid` and the questions, the laws of noise, the limits of a price.  `release.schema.json`, beside this file, is what
`made()` writes (a test compares them).  The reader accepts more: a field that a later version adds is no error to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import MISSING, dataclass, fields
from pathlib import Path
from typing import Any, Final, TypeAlias, cast, get_args

from tacit.noise.laws import LAWS
from tacit.noise.selection import Selection
from tacit.privacy.budget import Neighbors
from tacit.queries import KINDS, MOST_PROBS, Query
from tacit.release import FORMAT, LEAVES, Grid, Part, Release
from tacit.rowmap import MAX_ROWS, Kind
from tacit.schema.columns import MAX_ROWS_PER_UNIT

Words: TypeAlias = dict[str, Any]
PLACE: Final = Path(__file__).with_name("release.schema.json")
EXACT: Final = 2**53
"""JSON readers keep integers up to here; greater ones are text."""
SELECTS: Final = (Selection.name,)
ADDS: Final = tuple(LAWS)


@dataclass(frozen=True)
class Shape:
    """What a part of one integer form holds: names of its constants, integers a cell, and which grids it has."""

    kind: str
    parameters: tuple[str, ...]
    integers: tuple[int, int]
    grid: bool | None = True
    """None: there may be one."""
    weight: bool = False
    laws: tuple[str, ...] = ADDS
    shares: bool = False
    """Whether persons may share it out over their cells (the constant `share`)."""


FORMS: Final = {
    "plain": Shape("moments", ("G", "divisor"), (2, 2)),
    "exclusion": Shape("moments", ("G", "divisor", "presence"), (3, 3)),
    "group": Shape("moments", ("G", "middle"), (3, 3), shares=True),
    "bernstein": Shape("moments", ("G", "divisor", "mass"), (5, 5), shares=True),
    "binary-plain": Shape("moments", ("G",), (1, 1)),
    "binary-exclusion": Shape("moments", ("G", "sign", "presence"), (2, 2)),
    "binary-group": Shape("moments", ("G",), (2, 2), shares=True),
    "count": Shape("moments", ("G",), (1, 1), grid=False, shares=True),
    "counted": Shape("moments", ("G", "A", "less", "edge"), (2, 2), grid=False, weight=True),
    "weighted": Shape("moments", ("G", "middle", "A", "first"), (4, 5), weight=True),
    "classes": Shape("quality", ("G", "classes"), (3, 4), grid=None, shares=True),
    "ranks": Shape("quantiles", ("G", "numerator", "denominator"), (3, 3), laws=SELECTS),
    "size": Shape("quantiles", ("G",), (1, 1)),
    "present": Shape("range", ("G",), (1, 1), grid=False, shares=True),
    "histogram": Shape("histogram", ("G",), (1, 1), grid=False, shares=True),
    "range": Shape("range", ("bins", "numerator", "denominator", "share"), (2, 2), grid=False, laws=SELECTS),
}
"""Every integer form that a release may hold (theory §12); what its integers mean is in `tacit.inference`."""


def release_schema() -> dict[str, Any]:
    """The JSON Schema of release documents, as plain values: to check a release where there is no Python.

    Draft 2020-12; of one release and of a file of several.  It holds no data and is the same for everybody.  Closed:
    fields that this version does not write are refused.  Source: theory §12, for the forms of the integers.

    >>> import tacit as tc
    >>> tc.release_schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    return cast("dict[str, Any]", json.loads(PLACE.read_text(encoding="utf-8")))


def made() -> Words:
    """The schema, made anew from the code."""
    kinds = {f"release:{kind}": _kind(kind, leaf) for kind, leaf in LEAVES.items()}
    refs = [_ref(name) for name in kinds]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tacit:release:{FORMAT}",
        "title": f"Release document of Tacit, format {FORMAT}",
        "description": "One release, or several bought together.  The reference (File formats) explains its fields.",
        "oneOf": [*refs, _ref("several")],
        "$defs": {
            **_numbers(),
            **_facts(),
            "part": _part(),
            "release": _release(),
            **{f"query:{name}": _query(kind) for name, kind in KINDS.items()},
            **{f"form:{name}": _form(name, shape) for name, shape in FORMS.items()},
            **kinds,
            "several": _closed(
                {
                    "tacit": {"const": FORMAT},
                    "releases": _list(_pair({"type": "string"}, {"oneOf": refs})),
                    "digest": _ref("hash"),
                },
                "Several releases bought together: names and releases, in order; in files a digest of the rest.",
                optional=("digest",),
            ),
        },
    }


def text() -> str:
    """The schema as the file holds it."""
    return json.dumps(made(), indent=1, ensure_ascii=False) + "\n"


# Words of JSON Schema -----------------------------------------------------------------------------------------------


def _ref(name: str) -> Words:
    return {"$ref": f"#/$defs/{name}"}


def _closed(properties: Words, said: str = "", optional: tuple[str, ...] = ()) -> Words:
    """An object with these fields and no others."""
    required = [name for name in properties if name not in optional]
    closed: Words = {"type": "object", "properties": properties, "required": required, "additionalProperties": False}
    return {"description": said, **closed} if said else closed


def _list(item: Words, **limits: Any) -> Words:
    return {"type": "array", "items": item, **limits}


def _pair(first: Words, second: Words) -> Words:
    return {"type": "array", "prefixItems": [first, second], "minItems": 2, "maxItems": 2}


def _or_null(words: Words) -> Words:
    return {"anyOf": [words, {"type": "null"}]}


def _fields(cls: type[Any], words: Mapping[str, Words]) -> tuple[Words, tuple[str, ...]]:
    """A class's own fields with their words, and which of them may be left out: those with a default."""
    own = [f for f in fields(cls) if f.name in words]
    return {f.name: words[f.name] for f in own}, tuple(f.name for f in own if f.default is not MISSING)


# What all releases share --------------------------------------------------------------------------------------------


def _numbers() -> Words:
    """Exact integers and fractions."""
    long = "[1-9][0-9]{15,}"
    positive: Words = {"type": "integer", "minimum": 1, "maximum": EXACT}
    fraction: Words = {"type": "string", "pattern": "^[1-9][0-9]*(/[1-9][0-9]*)?$"}
    return {
        "integer": {
            "description": "An exact integer; text where it is beyond 2**53.",
            "anyOf": [
                {"type": "integer", "minimum": -EXACT, "maximum": EXACT},
                {"type": "string", "pattern": f"^-?{long}$"},
            ],
        },
        "positive": {
            "description": "An exact integer above 0; text where it is beyond 2**53.",
            "anyOf": [positive, {"type": "string", "pattern": f"^{long}$"}],
        },
        "fraction": {"description": "An exact fraction above 0, in lowest terms: 1/10.", **fraction},
        "hash": {"description": "SHA-256 in hexadecimal digits.", "type": "string", "pattern": "^[0-9a-f]{64}$"},
    }


def _facts() -> Words:
    """Prices, noise, sensitivities, grids, levels."""
    number: Words = {"type": "number"}
    grid: Mapping[str, Words] = {
        "kind": {"enum": [*get_args(Kind), "number"]},
        "lower": number,
        "upper": number,
        "G": {"type": "integer", "minimum": 1, "maximum": EXACT},
        "units": {"type": "string"},
        "missing": {"type": "string"},
    }
    weight = {**grid, "kind": {"enum": ["real", "rows"]}, "lower": {"const": 0}}
    exact = _ref("fraction")
    said: Words = {"missing": {"type": "string"}, "units": {"type": "string"}}
    return {
        "cost": {
            "description": "A price, written in one of three ways.",
            "oneOf": [
                _closed({"epsilon": exact}),
                _closed({"rho": exact}),
                _closed({"epsilon": exact, "delta": exact}),
            ],
        },
        "noise": _closed(
            {"law": {"enum": [*ADDS, *SELECTS]}, "scale": exact}, "The law of each integer's own noise, in grid steps."
        ),
        "sensitivity": _closed(
            {"l1": _ref("positive"), "l2_squared": _ref("positive")}, "Proven for the whole part, under the relation."
        ),
        "grid": _closed(*_described(Grid, grid, "v in 0..G stands for lower + (upper - lower) v / G.")),
        "weight": _closed(
            *_described(Grid, weight, "The same for weights, up to the cap; kind rows: persons by their rows.")
        ),
        "axis": {
            "description": "A column of a histogram: the edges of its bins, ends included; or levels.",
            "oneOf": [
                _closed(
                    {"kind": {"enum": ["real", "integer", "date"]}, **said, "edges": _list(number, minItems=2)},
                    optional=("units",),
                ),
                _closed({"kind": {"const": "levels"}, **said}, optional=("units",)),
            ],
        },
        "levels": {
            "description": "Columns of by with their public labels; cells are in row-major order of them.",
            **_list(_pair({"type": "string"}, _list({"type": "string"}, minItems=1, uniqueItems=True))),
        },
    }


def _described(cls: type[Any], words: Mapping[str, Words], said: str) -> tuple[Words, str, tuple[str, ...]]:
    properties, optional = _fields(cls, words)
    return properties, said, optional


def _part() -> Words:
    """Fields of a part; what its form says is in `_form`."""
    renamed = {"law": "noise", "l1": "sensitivity", "l2_squared": "sensitivity"}
    words: Words = {
        "label": {"type": "string"},
        "form": {"enum": [*FORMS]},
        "parameters": {"type": "object", "additionalProperties": _ref("integer")},
        "grid": _ref("grid"),
        "integers": _list(_list(_ref("integer")), minItems=1),
        "noise": _ref("noise"),
        "sensitivity": _ref("sensitivity"),
        "cost": _ref("cost"),
        "weight": _ref("weight"),
    }
    stored = {renamed.get(f.name, f.name) for f in fields(Part)}
    assert stored == set(words), "the fields of Part are not those of the schema"
    return _closed(words, "Noisy integers of one column, a list for each cell.", ("grid", "weight"))


def _form(name: str, shape: Shape) -> Words:
    """What a part of one form must be beyond that."""
    least, most = shape.integers
    constants = {key: _ref("integer") for key in (*shape.parameters, *(("share",) if shape.shares else ()))}
    properties: Words = {
        "form": {"const": name},
        "parameters": _closed(constants, optional=("share",)),
        "integers": _list({"minItems": least, "maxItems": most}),
        "noise": {"properties": {"law": {"enum": [*shape.laws]}}},
    }
    present = [*(["grid"] if shape.grid else []), *(["weight"] if shape.weight else [])]
    absent = [*(["grid"] if shape.grid is False else []), *([] if shape.weight else ["weight"])]
    return {"properties": properties | dict.fromkeys(absent, False), "required": present}


def _release() -> Words:
    """Fields of a release; what its kind says is in `_kind`."""
    text: Words = {"type": "string"}
    people: Words = {"type": "integer", "minimum": 2, "maximum": MAX_ROWS}
    words: Words = {
        "query": {"type": "object"},
        "mechanism": text,
        "table": text,
        "schema": _ref("hash"),
        "neighbors": {"enum": [*get_args(Neighbors)]},
        "unit": _or_null({"type": "integer", "minimum": 1, "maximum": MAX_ROWS_PER_UNIT}),
        "rows": _or_null(people),
        "levels": _ref("levels"),
        "parts": _list(_ref("part"), minItems=1),
        "cost": _ref("cost"),
        "charge": {"type": "integer", "minimum": 1, "maximum": EXACT},
        "head": _ref("hash"),
        "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        "version": text,
        "name": _or_null(text),
        "recorded": {"type": "boolean"},
        "ledger": _or_null(_ref("hash")),
        "study": _ref("hash"),
        "axes": _list(_ref("axis"), minItems=1),
        "ordered": {**_ref("levels"), "description": "Those of levels whose order means something."},
    }
    properties, optional = _fields(Release, words)
    assert {f.name for f in fields(Release)} - {"remaining"} == set(words), "not the fields of Release"
    first: Words = {"tacit": {"const": FORMAT}, "kind": {"enum": [*LEAVES]}}
    closed = _closed(first | properties, "Fields of every release; those of earlier versions lack the last.", optional)
    public: Words = {"neighbors": {"const": "replace-one"}, "rows": {"type": "integer"}}
    private: Words = {"neighbors": {"const": "add-remove"}, "rows": {"type": "null"}}
    return {**closed, "oneOf": [{"properties": public}, {"properties": private}]}


# Kinds --------------------------------------------------------------------------------------------------------------


def _kind(kind: str, leaf: type[Release]) -> Words:
    """A release of one kind: the questions it answers, the mechanism of its name, the forms it is made of."""
    asked = [_ref(f"query:{name}") for name, query in KINDS.items() if _answer(query) == leaf.__name__]
    forms = [_ref(f"form:{name}") for name, shape in FORMS.items() if shape.kind == kind]
    properties: Words = {
        "kind": {"const": kind},
        "query": {"oneOf": asked},
        "mechanism": {"pattern": f"^{kind}/[1-9][0-9]*$"},
        "parts": _list({"oneOf": forms}),
    }
    needs = {"required": ["axes"]} if kind == "histogram" else {}
    return {"description": f"A release of kind {kind}.", **_ref("release"), "properties": properties, **needs}


def _answer(query: type[Query[Any]]) -> str:
    """Name of the class of release that a question is typed by: Query["MomentsRelease"]."""
    return str(cast(Any, query).__orig_bases__[0].__args__[0].__forward_arg__)


def _query(kind: type[Query[Any]]) -> Words:
    """A question: its class and its arguments, those at their default left out."""
    names = _list({"type": "string"}, minItems=1, uniqueItems=True)
    edges = _list({"type": "number"}, minItems=1)
    words: Mapping[str, Words] = {
        "columns": names,
        "by": names,
        "bins": {
            "type": "object",
            "minProperties": 1,
            "additionalProperties": {"anyOf": [{"type": "integer", "minimum": 2}, edges]},
        },
        "where": {"type": "string"},
        "weights": {"type": "string"},
        "per": {"const": "row"},
        "column": {"type": "string"},
        "probs": _list(_ref("fraction"), minItems=1, maxItems=MOST_PROBS, uniqueItems=True),
        "level": {"type": "number", "minimum": 0.5, "maximum": 0.9999},
        "outside": _ref("fraction"),
    }
    own = {f.name: words[f.name] for f in fields(cast(Any, kind))}
    _, optional = _fields(kind, words)
    return _closed({"query": {"const": kind.__name__}} | own, optional=tuple(set(optional) - {"probs"}))
