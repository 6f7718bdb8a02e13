"""The JSON Schema (draft 2020-12) of release documents: a closed description of what this version writes.

The schema is made from the definitions that the reader uses: the fields and forms of documents
(`release.document_fields`, `release.encoding_rules`), and the registered classes of releases and queries.  The file
`tacit/release.schema.json` holds `text()` (a test compares them).  The reader accepts more than the schema: it ignores
fields that a later version may have added.
"""

from __future__ import annotations

import json
from dataclasses import fields
from pathlib import Path
from typing import Any, Final, cast

from tacit.catalogue.model_schema import BOX, model
from tacit.catalogue.query_schema import query
from tacit.catalogue.schema_words import Words, closed, listed, pair, ref
from tacit.noise.spherical import SphericalLaplace
from tacit.release import document_fields as release_fields
from tacit.release.document import FORMAT, Release
from tacit.release.encoding_rules import FORMS, Shape, forms_of
from tacit.release.field_rules import defaults
from tacit.release.parts import Part
from tacit.release.query import answer_of
from tacit.release.registry import KINDS, QUERIES, query_class, release_class

PLACE: Final = Path(__file__).parents[1] / "release.schema.json"


def release_schema() -> dict[str, Any]:
    """Return the JSON Schema of release documents as plain values, to check releases without Python.

    Draft 2020-12, for single releases and files of several.  It holds no data and is always the same.  The schema is
    closed: fields that this version does not write are not allowed.  Source: theory §12, for the forms of the integers.

    >>> import tacit as tc
    >>> tc.release_schema()["$schema"]
    'https://json-schema.org/draft/2020-12/schema'
    """
    return cast("dict[str, Any]", json.loads(PLACE.read_text(encoding="utf-8")))


def made() -> Words:
    """Make the schema from the code."""
    kinds = {f"release:{kind}": _kind(kind, release_class(kind)) for kind in KINDS}
    refs = [ref(name) for name in kinds]
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": f"urn:tacit:release:{FORMAT}",
        "title": f"Release document of Tacit, format {FORMAT}",
        "description": "One release, or several bought together.  The reference (File formats) explains its fields.",
        "oneOf": [*refs, ref("several")],
        "$defs": {
            **release_fields.definitions(),
            "cost": _cost(),
            "box": BOX,
            "model": model(),
            "part": _part(),
            "release": _release(),
            **{f"query:{name}": query(query_class(name)) for name in QUERIES},
            **{f"form:{name}": _form(name, shape) for name, shape in FORMS.items()},
            **kinds,
            "several": closed(
                {
                    "tacit": {"const": FORMAT},
                    "releases": listed(pair({"type": "string"}, {"oneOf": refs})),
                    "digest": ref("hash"),
                    "signature": {"type": "string", "pattern": release_fields.SIGNATURE},
                },
                "Several releases bought together: names and releases, in order; in files a digest of the rest, and of "
                "a party with a key the signature of names and releases.",
                optional=("digest", "signature"),
            ),
        },
    }


def text() -> str:
    """Return the schema as the text of its file."""
    return json.dumps(made(), indent=1, ensure_ascii=False) + "\n"


# What all releases share --------------------------------------------------------------------------------------------


def _cost() -> Words:
    """Return the schema of a price, which `Cost.from_dict` reads."""
    exact = ref("fraction")
    pair = closed({"epsilon": exact, "delta": exact})
    part = closed({"mu_squared": exact, "delta": exact})
    ways = [closed({"epsilon": exact}), closed({"rho": exact}), pair, closed({"mu_squared": exact}), part]
    words = "A price, written in one of five ways; of a share of a pair, its μ²; of an approximate part, μ² and δ."
    return {"description": words, "oneOf": ways}


def _part() -> Words:
    """Return the schema of the fields of all parts; `_form` adds the rules of each form."""
    # the assertions find a field that was added to the code but not to the schema
    renamed = {"law": "noise", "l1": "sensitivity", "l2_squared": "sensitivity"}
    stored = {renamed.get(f.name, f.name) for f in fields(Part)}
    assert stored | {"packed"} == set(release_fields.PART.own), "the fields of Part are not those of the schema"
    return {**release_fields.PART.words(), "oneOf": [{"required": [name]} for name in release_fields.EITHER]}


def _form(name: str, shape: Shape) -> Words:
    """Return the additional schema of parts of one form."""
    least, most = shape.integers
    constants = {key: ref("integer") for key in (*shape.parameters, *(("share",) if shape.shares else ()))}
    parameters = closed(constants, optional=("share",))
    if shape.weights:
        parameters["patternProperties"] = {"^weight[0-9]+$": ref("integer")}
    properties: Words = {
        "form": {"const": name},
        "parameters": parameters,
        "integers": listed({"minItems": least, "maxItems": most}, **({} if shape.empty else {"minItems": 1})),
        "noise": _noise(shape),
    }
    present = [
        *(["grid"] if shape.grid else []),
        *(["weight"] if shape.weight else []),
        *(["texts"] if shape.texts else []),
    ]
    absent = [
        *(["grid"] if shape.grid is False else []),
        *([] if shape.weight else ["weight"]),
        *([] if shape.texts else ["texts"]),
    ]
    # packed cells have one integer each
    absent += [] if most == 1 else ["packed"]
    # false is the schema that no value meets: the field must not be there
    return {"properties": properties | dict.fromkeys(absent, False), "required": present}


def _noise(shape: Shape) -> Words:
    """Return what the noise of one form may be: its laws, and the dimension of one that is a vector's."""
    alone = [law for law in shape.laws if law != SphericalLaplace.name]
    if len(alone) == len(shape.laws):
        return {"properties": {"law": {"enum": alone}}}
    vector: Words = {"properties": {"law": {"const": SphericalLaplace.name}}, "required": ["dimension"]}
    others: Words = {"properties": {"law": {"enum": alone}, "dimension": False}}
    return {"oneOf": [*([others] if alone else []), vector]}


def _release() -> Words:
    """Return the schema of the fields of all releases; `_kind` adds the rules of each kind."""
    own = release_fields.RELEASE
    assert {f.name for f in fields(Release)} - {"remaining"} == set(own), "not the fields of Release"
    assert set(release_fields.SINCE) == set(defaults(Release)) - {"remaining"}, "not those with a default"
    first: Words = {"tacit": {"const": FORMAT}, "kind": {"enum": [*KINDS]}}
    properties = {name: one.words() for name, one in own.items()}
    sealed: Words = {release_fields.SEAL: {**ref("hash"), "description": "Of all the rest: in files and `to_json`."}}
    optional = (*release_fields.SINCE, release_fields.SEAL)
    said = "Fields of every release; those of earlier versions lack the last."
    whole = closed(first | properties | sealed, said, optional)
    public: Words = {"neighbors": {"const": "replace-one"}, "rows": {"type": "integer"}}
    private: Words = {"neighbors": {"const": "add-remove"}, "rows": {"type": "null"}}
    return {**whole, "oneOf": [{"properties": public}, {"properties": private}]}


# Kinds --------------------------------------------------------------------------------------------------------------


def _kind(kind: str, leaf: type[Release]) -> Words:
    """Return the schema of releases of one kind: their queries, mechanism and forms."""
    leaves = [one.__name__ for one in leaf.__mro__]
    asked = [ref(f"query:{name}") for name in QUERIES if answer_of(query_class(name)) in leaves]
    forms = [ref(f"form:{name}") for name in forms_of(kind)]
    properties: Words = {
        "kind": {"const": kind},
        "query": {"oneOf": asked, **_sparse(kind)},
        "mechanism": {"pattern": f"^{kind}/[1-9][0-9]*$"},
        "parts": listed({"oneOf": forms}),
    }
    lists = KINDS[kind].lists
    needs = {} if lists is None else {"required": [lists]}
    return {"description": f"A release of kind {kind}.", **ref("release"), "properties": properties, **needs}


def _sparse(kind: str) -> Words:
    """Return the schema that tells queries of sparse histograms from those of dense ones."""
    if kind == "sparse-histogram":
        return {"required": ["sparse"]}
    return {"properties": {"sparse": False}} if kind == "histogram" else {}
