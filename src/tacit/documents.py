"""The JSON Schema (draft 2020-12) of release documents: a closed description of what this version writes.

Made from what the reader itself goes by: the classes in `LEAVES` and the questions they answer, the fields of `Part`,
`Grid` and the questions, the laws of noise, the limits of a price.  `release.schema.json`, beside this file, is what
`made()` writes (a test compares them).  The reader accepts more: a field that a later version adds is no error to it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, Final, cast, get_args

from tacit.documents_models import BOX, model
from tacit.documents_queries import query
from tacit.documents_words import Words, closed, fields_of, listed, or_null, pair, ref
from tacit.linear.layout import MOST
from tacit.noise.laws import LAWS
from tacit.noise.selection import Selection
from tacit.packed import BITS, MANY
from tacit.privacy.budget import Neighbors
from tacit.queries import KINDS, Query
from tacit.release import FORMAT, LEAVES, Grid, Part, Release
from tacit.rowmap import MAX_ROWS, Kind
from tacit.schema.columns import MAX_ROWS_PER_UNIT

PLACE: Final = Path(__file__).with_name("release.schema.json")
LISTED: Final = {"histogram": "axes", "sparse-histogram": "axes", "regression": "variables"}
"""Kinds that list their columns."""
EXACT: Final = 2**53
"""JSON readers keep integers up to here; greater ones are text."""
MOST_SUMS: Final = MOST * (MOST + 1) // 2 + 1
"""Integers of a part of a regression, at most."""
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
    empty: bool = False
    """Whether there may be no cell."""
    statistics: bool = False
    """Whether parts of sufficient statistics may be of it."""
    weights: bool = False
    """Whether there is a constant `weight0`, `weight1`, ... for each coordinate of a regression."""


FORMS: Final = {
    "plain": Shape("moments", ("G", "divisor"), (2, 2), statistics=True),
    "exclusion": Shape("moments", ("G", "divisor", "presence"), (3, 3), statistics=True),
    "group": Shape("moments", ("G", "middle"), (3, 3), shares=True, statistics=True),
    "bernstein": Shape("moments", ("G", "divisor", "mass"), (5, 5), shares=True),
    "binary-plain": Shape("moments", ("G",), (1, 1), statistics=True),
    "binary-exclusion": Shape("moments", ("G", "sign", "presence"), (2, 2), statistics=True),
    "binary-group": Shape("moments", ("G",), (2, 2), shares=True, statistics=True),
    "count": Shape("moments", ("G",), (1, 1), grid=False, shares=True),
    "counted": Shape("moments", ("G", "A", "less", "edge"), (2, 2), grid=False, weight=True),
    "weighted": Shape("moments", ("G", "middle", "A", "first"), (4, 5), weight=True),
    "classes": Shape("quality", ("G", "classes"), (3, 4), grid=None, shares=True),
    "ranks": Shape("quantiles", ("G", "numerator", "denominator"), (3, 3), laws=SELECTS, shares=True),
    "size": Shape("quantiles", ("G",), (1, 1), shares=True),
    "present": Shape("range", ("G",), (1, 1), grid=False, shares=True),
    "blocks": Shape("sample-and-aggregate", ("G", "divisor", "blocks"), (2, 2)),
    "quartiles": Shape("sample-and-aggregate", ("G", "numerator", "denominator"), (2, 2), laws=SELECTS),
    "histogram": Shape("histogram", ("G",), (1, 1), grid=False, shares=True),
    "sparse-histogram": Shape("sparse-histogram", ("G", "threshold"), (2, 2), grid=False, shares=True, empty=True),
    "products": Shape("regression", ("G", "off", "diag", "count"), (2, MOST_SUMS), grid=False),
    "scores": Shape(
        "regression", ("G", "score", "square", "off", "diag", "shift"), (2, MOST_SUMS), grid=False, weights=True
    ),
    "scored": Shape(
        "regression",
        ("G", "score", "off", "diag", "squares", "counted", "cut", "shift"),
        (2, 2 * MOST_SUMS),
        grid=False,
        weights=True,
    ),
    "person-scores": Shape(
        "regression", ("G", "score", "square", "off", "diag", "shift"), (2, 2 * MOST_SUMS), grid=False, weights=True
    ),
    "person-scored": Shape(
        "regression",
        ("G", "score", "off", "diag", "squares", "counted", "cut", "shift"),
        (2, 3 * MOST_SUMS),
        grid=False,
        weights=True,
    ),
    "weighed": Shape(
        "regression",
        ("G", "score", "off", "diag", "squares", "counted", "cut", "center", "reach", "full", "spread", "shift"),
        (2, 2 * MOST_SUMS),
        grid=False,
        weights=True,
    ),
    "range": Shape("range", ("bins", "numerator", "denominator", "share"), (2, 2), grid=False, laws=SELECTS),
}
"""Every integer form that a release may hold (theory §12); what its integers mean is in `tacit.inference`."""
SHARED: Final = {"sample-and-aggregate": ("plain", "exclusion", "group")}
"""Forms of another kind that a release may hold too: the scores of one step are moments."""


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
    refs = [ref(name) for name in kinds]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tacit:release:{FORMAT}",
        "title": f"Release document of Tacit, format {FORMAT}",
        "description": "One release, or several bought together.  The reference (File formats) explains its fields.",
        "oneOf": [*refs, ref("several")],
        "$defs": {
            **_numbers(),
            **_facts(),
            "box": BOX,
            "model": model(),
            "part": _part(),
            "packed": _packed(),
            "release": _release(),
            **{f"query:{name}": query(kind) for name, kind in KINDS.items()},
            **{f"form:{name}": _form(name, shape) for name, shape in FORMS.items()},
            **kinds,
            "several": closed(
                {
                    "tacit": {"const": FORMAT},
                    "releases": listed(pair({"type": "string"}, {"oneOf": refs})),
                    "digest": ref("hash"),
                    "signature": {"type": "string", "pattern": "^ed25519:[A-Za-z0-9+/]{86}==$"},
                },
                "Several releases bought together: names and releases, in order; in files a digest of the rest, and of "
                "a party with a key the signature of names and releases.",
                optional=("digest", "signature"),
            ),
        },
    }


def text() -> str:
    """The schema as the file holds it."""
    return json.dumps(made(), indent=1, ensure_ascii=False) + "\n"


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
        "kind": {"enum": [*get_args(Kind), "number", "score"]},
        "lower": number,
        "upper": number,
        "G": {"type": "integer", "minimum": 1, "maximum": EXACT},
        "units": {"type": "string"},
        "missing": {"type": "string"},
    }
    weight = {**grid, "kind": {"enum": ["real", "rows"]}, "lower": {"const": 0}}
    exact = ref("fraction")
    extra = listed({"enum": ["missing", "below", "above"]}, minItems=1, uniqueItems=True)
    said: Words = {"missing": {"type": "string"}, "units": {"type": "string"}, "extra": extra}
    return {
        "cost": {
            "description": "A price, written in one of three ways; of a share of a pair, its μ².",
            "oneOf": [
                closed({"epsilon": exact}),
                closed({"rho": exact}),
                closed({"epsilon": exact, "delta": exact}),
                closed({"mu_squared": exact}),
            ],
        },
        "noise": closed(
            {"law": {"enum": [*ADDS, *SELECTS]}, "scale": exact}, "The law of each integer's own noise, in grid steps."
        ),
        "sensitivity": closed(
            {"l1": ref("positive"), "l2_squared": ref("positive")}, "Proven for the whole part, under the relation."
        ),
        "grid": closed(*_described(Grid, grid, "v in 0..G stands for lower + (upper - lower) v / G.")),
        "weight": closed(
            *_described(Grid, weight, "The same for weights, up to the cap; kind rows: persons by their rows.")
        ),
        "axis": {
            "description": "A column of a histogram: the edges of its bins, ends included; or levels.",
            "oneOf": [
                closed(
                    {"kind": {"enum": ["real", "integer", "date"]}, **said, "edges": listed(number, minItems=2)},
                    optional=("units", "extra"),
                ),
                closed({"kind": {"const": "levels"}, **said}, optional=("units", "extra")),
            ],
        },
        "variable": _variable(said),
        "levels": {
            "description": "Columns of by with their public labels; cells are in row-major order of them.",
            **listed(pair({"type": "string"}, listed({"type": "string"}, minItems=1, uniqueItems=True))),
        },
    }


def _variable(said: Words) -> Words:
    """A column of a regression."""
    text: Words = {"type": "string"}
    numbers = {"lower": {"type": "number"}, "upper": {"type": "number"}, "half": {"type": "integer", "minimum": 1}}
    own = {key: value for key, value in said.items() if key != "extra"}
    kinds = {"name": text, "kind": {"enum": [*get_args(Kind)]}, **own, **numbers}
    levels = {"name": text, "kind": {"const": "levels"}, **own, "labels": listed(text, minItems=1)}
    both = [closed(words, optional=("units",)) for words in (kinds, levels)]
    return {"description": "A column of a regression: numbers on a grid of 2 half steps, or levels.", "oneOf": both}


def _described(cls: type[Any], words: Mapping[str, Words], said: str) -> tuple[Words, str, tuple[str, ...]]:
    properties, optional = fields_of(cls, words)
    return properties, said, optional


def _part() -> Words:
    """Fields of a part; what its form says is in `_form`."""
    renamed = {"law": "noise", "l1": "sensitivity", "l2_squared": "sensitivity"}
    words: Words = {
        "label": {"type": "string"},
        "form": {"enum": [*FORMS]},
        "parameters": {"type": "object", "additionalProperties": ref("integer")},
        "grid": ref("grid"),
        "integers": listed(listed(ref("integer"))),
        "packed": ref("packed"),
        "noise": ref("noise"),
        "sensitivity": ref("sensitivity"),
        "cost": ref("cost"),
        "weight": ref("weight"),
    }
    stored = {renamed.get(f.name, f.name) for f in fields(Part)}
    assert stored | {"packed"} == set(words), "the fields of Part are not those of the schema"
    said = f"Noisy integers of one column, a list for each cell; packed where over {MANY:,} cells have one each."
    either: list[Words] = [{"required": ["integers"]}, {"required": ["packed"]}]
    return {**closed(words, said, ("grid", "weight", "integers", "packed")), "oneOf": either}


def _packed() -> Words:
    """What `Packed.to_dict` writes."""
    others = listed(pair({"type": "integer", "minimum": 0}, ref("integer")), minItems=1)
    words: Words = {
        "bits": {"enum": [*BITS]},
        "text": {"type": "string", "pattern": "^[A-Za-z0-9+/]+={0,2}$"},
        "others": others,
    }
    said = "One integer a cell: base64 of little-endian integers of so many bits; others as [place, integer]."
    return closed(words, said, ("others",))


def _form(name: str, shape: Shape) -> Words:
    """What a part of one form must be beyond that."""
    least, most = shape.integers
    constants = {key: ref("integer") for key in (*shape.parameters, *(("share",) if shape.shares else ()))}
    parameters = closed(constants, optional=("share",))
    if shape.weights:
        parameters["patternProperties"] = {"^weight[0-9]+$": ref("integer")}
    properties: Words = {
        "form": {"const": name},
        "parameters": parameters,
        "integers": listed({"minItems": least, "maxItems": most}, **({} if shape.empty else {"minItems": 1})),
        "noise": {"properties": {"law": {"enum": [*shape.laws]}}},
    }
    present = [*(["grid"] if shape.grid else []), *(["weight"] if shape.weight else [])]
    absent = [*(["grid"] if shape.grid is False else []), *([] if shape.weight else ["weight"])]
    absent += [] if most == 1 else ["packed"]
    return {"properties": properties | dict.fromkeys(absent, False), "required": present}


def _release() -> Words:
    """Fields of a release; what its kind says is in `_kind`."""
    text: Words = {"type": "string"}
    people: Words = {"type": "integer", "minimum": 2, "maximum": MAX_ROWS}
    words: Words = {
        "query": {"type": "object"},
        "mechanism": text,
        "table": text,
        "schema": ref("hash"),
        "neighbors": {"enum": [*get_args(Neighbors)]},
        "unit": or_null({"type": "integer", "minimum": 1, "maximum": MAX_ROWS_PER_UNIT}),
        "rows": or_null(people),
        "levels": ref("levels"),
        "parts": listed(ref("part"), minItems=1),
        "cost": ref("cost"),
        "charge": {"type": "integer", "minimum": 1, "maximum": EXACT},
        "head": ref("hash"),
        "date": {"type": "string", "pattern": "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"},
        "version": text,
        "name": or_null(text),
        "recorded": {"type": "boolean"},
        "ledger": or_null(ref("hash")),
        "study": ref("hash"),
        "axes": listed(ref("axis"), minItems=1),
        "ordered": {**ref("levels"), "description": "Those of levels whose order means something."},
        "variables": listed(ref("variable"), minItems=1),
    }
    properties, optional = fields_of(Release, words)
    assert {f.name for f in fields(Release)} - {"remaining"} == set(words), "not the fields of Release"
    first: Words = {"tacit": {"const": FORMAT}, "kind": {"enum": [*LEAVES]}}
    whole = closed(first | properties, "Fields of every release; those of earlier versions lack the last.", optional)
    public: Words = {"neighbors": {"const": "replace-one"}, "rows": {"type": "integer"}}
    private: Words = {"neighbors": {"const": "add-remove"}, "rows": {"type": "null"}}
    return {**whole, "oneOf": [{"properties": public}, {"properties": private}]}


# Kinds --------------------------------------------------------------------------------------------------------------


def _kind(kind: str, leaf: type[Release]) -> Words:
    """A release of one kind: the questions it answers, the mechanism of its name, the forms it is made of."""
    leaves = [one.__name__ for one in leaf.__mro__]
    asked = [ref(f"query:{name}") for name, query in KINDS.items() if _answer(query) in leaves]
    also = SHARED.get(kind, ())
    known = {name for name, shape in FORMS.items() if shape.kind == kind or name in also or _also(kind, shape)}
    forms = [ref(f"form:{name}") for name in FORMS if name in known]
    properties: Words = {
        "kind": {"const": kind},
        "query": {"oneOf": asked, **_sparse(kind)},
        "mechanism": {"pattern": f"^{kind}/[1-9][0-9]*$"},
        "parts": listed({"oneOf": forms}),
    }
    needs = {"required": [LISTED[kind]]} if kind in LISTED else {}
    return {"description": f"A release of kind {kind}.", **ref("release"), "properties": properties, **needs}


def _also(kind: str, shape: Shape) -> bool:
    """Whether releases of sufficient statistics, which are means, have parts of a form."""
    return kind == "sufficient-statistics" and shape.statistics


def _sparse(kind: str) -> Words:
    """Which of the two kinds a histogram's question has."""
    if kind == "sparse-histogram":
        return {"required": ["sparse"]}
    return {"properties": {"sparse": False}} if kind == "histogram" else {}


def _answer(query: type[Query[Any]]) -> str:
    """Name of the class of release that a question is typed by: Query["MomentsRelease"]."""
    return str(cast(Any, query).__orig_bases__[0].__args__[0].__forward_arg__)
