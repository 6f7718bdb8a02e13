"""The fields of a release document and their allowed values.  Readers and the JSON Schema follow these definitions.

A reader ignores fields that are not defined here, since a later version may have added them.  Rules that relate several
fields are in `release.document_checks`.  Prices, laws of noise and queries are checked by the classes that read them.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Final, get_args

from tacit.noise.averaged_laplace import AveragedLaplace
from tacit.noise.stored_laws import LONGEST_SCALE, VECTORS
from tacit.privacy.budget import Neighbors
from tacit.release.encoding_rules import ADDS, FORMS, SELECTS
from tacit.release.field_rules import (
    DIGITS,
    ByKind,
    Field,
    FlagField,
    ListField,
    Long,
    Named,
    Number,
    OneOf,
    OrNull,
    PairField,
    ReadByItsClass,
    Record,
    TextField,
    Whole,
    Words,
    defaults,
)
from tacit.release.packing import BITS, MANY
from tacit.release.parts import Grid
from tacit.rows.coordinates import H
from tacit.rows.row_map import MAX_ROWS, Kind
from tacit.schema.column_types import MAX_ROWS_PER_UNIT

if TYPE_CHECKING:
    pass

TEXT: Final = TextField()
INTEGER: Final = Named("integer", Long("An exact integer; text where it is beyond 2**53."))
# twice the digits of an integer: it may be the square of one
POSITIVE: Final = Named(
    "positive", Long("An exact integer above 0; text where it is beyond 2**53.", positive=True, digits=2 * DIGITS)
)
FRACTION: Final = Named(
    "fraction",
    TextField("^[1-9][0-9]*(/[1-9][0-9]*)?$", "An exact fraction above 0, in lowest terms: 1/10.", LONGEST_SCALE),
)
HASH: Final = Named("hash", TextField("^[0-9a-f]{64}$", "SHA-256 in hexadecimal digits."))
COST: Final = ReadByItsClass({"$ref": "#/$defs/cost"})
EXTRA: Final = ListField(OneOf(("missing", "below", "above")), least=1, unique=True)
NUMBER: Final = Number()

_GRID: Final[Mapping[str, Field]] = {
    "kind": OneOf((*get_args(Kind), "number", "score")),
    "lower": NUMBER,
    "upper": NUMBER,
    "G": Whole(1),
    "units": TEXT,
    "missing": TEXT,
}
GRID: Final = Named(
    "grid", Record(_GRID, "v in 0..G stands for lower + (upper - lower) v / G.", optional=defaults(Grid))
)
WEIGHT: Final = Named(
    "weight",
    Record(
        {**_GRID, "kind": OneOf(("real", "rows")), "lower": OneOf((0,))},
        "The same for weights, up to the cap; kind rows: persons by their rows.",
        optional=defaults(Grid),
    ),
)
NOISE: Final = Named(
    "noise",
    Record(
        {
            "law": OneOf((*ADDS, AveragedLaplace.name, *VECTORS, *SELECTS)),
            "scale": FRACTION,
            "size": Whole(1),
            "dimension": Whole(1),
            "draws": Whole(2),
        },
        "The law of each integer's own noise, in grid steps; dimension: how many integers one vector of noise has; "
        "size: how many of them are of this part, where the vector is of several.  They are protected together, at "
        "the sum of their costs.  draws: how many independent draws are added up in each integer.",
        optional=("size", "dimension", "draws"),
    ),
)
SENSITIVITY: Final = Named(
    "sensitivity",
    Record({"l1": POSITIVE, "l2_squared": POSITIVE}, "Proven for the whole part, under the relation."),
)
_SAID: Final[Mapping[str, Field]] = {"missing": TEXT, "units": TEXT, "extra": EXTRA}
_DECLARED: Final[Mapping[str, Field]] = {"multiple_of": Number(positive=True), "heaped_at": Number(positive=True)}
AXIS: Final = Named(
    "axis",
    ByKind(
        (
            Record(
                {
                    "kind": OneOf(("real", "integer", "date")),
                    **_SAID,
                    "edges": ListField(NUMBER, least=2),
                    **_DECLARED,
                },
                optional=("units", "extra", *_DECLARED),
            ),
            Record({"kind": OneOf(("levels",)), **_SAID}, optional=("units", "extra")),
        ),
        by="kind",
        description="A column of a histogram: the edges of its bins, ends included; or levels.",
    ),
)
_OWN: Final[Mapping[str, Field]] = {"missing": TEXT, "units": TEXT}
VARIABLE: Final = Named(
    "variable",
    ByKind(
        (
            Record(
                {
                    "name": TEXT,
                    "kind": OneOf((*get_args(Kind),)),
                    **_OWN,
                    "lower": NUMBER,
                    "upper": NUMBER,
                    # coordinates are at most H in absolute value
                    "half": Whole(1, H),
                    **_DECLARED,
                },
                optional=("units", *_DECLARED),
            ),
            Record(
                {"name": TEXT, "kind": OneOf(("levels",)), **_OWN, "labels": ListField(TEXT, least=1)},
                optional=("units",),
            ),
        ),
        by="kind",
        description="A column of a regression: numbers on a grid of 2 half steps, or levels.",
    ),
)
LEVELS: Final = Named("levels", ListField(PairField(TEXT, ListField(TEXT, least=1, unique=True))))
OTHERS: Final = ListField(PairField(Whole(0), INTEGER), least=1)
PACKED: Final = Named(
    "packed",
    Record(
        {"bits": OneOf(BITS), "text": TextField("^[A-Za-z0-9+/]+={0,2}$"), "others": OTHERS},
        "One integer a cell: base64 of little-endian integers of so many bits; others as [place, integer].",
        optional=("others",),
    ),
)
PART: Final = Record(
    {
        "label": TEXT,
        "form": OneOf((*FORMS,)),
        "parameters": Record({}, others=INTEGER),
        "grid": GRID,
        "integers": ListField(ListField(INTEGER)),
        "packed": PACKED,
        "noise": NOISE,
        "sensitivity": SENSITIVITY,
        "cost": COST,
        "weight": WEIGHT,
        "texts": ListField(TEXT, unique=True),
    },
    f"Noisy integers of one column, a list for each cell; packed where over {MANY:,} cells have one each.",
    optional=("grid", "weight", "integers", "packed", "texts"),
)
EITHER: Final = ("integers", "packed")
"""A part has exactly one of these fields."""
DATE: Final = "^[0-9]{4}-[0-9]{2}-[0-9]{2}$"
SEAL: Final = "digest"
"""The field that holds the hash of all other fields: see `release.digests.sealed`."""
RELEASE: Final[Mapping[str, Field]] = {
    "query": ReadByItsClass({"type": "object"}),
    "mechanism": TEXT,
    "table": TEXT,
    "schema": HASH,
    "neighbors": OneOf((*get_args(Neighbors),)),
    "unit": OrNull(Whole(1, MAX_ROWS_PER_UNIT)),
    "rows": OrNull(Whole(2, MAX_ROWS)),
    "levels": LEVELS,
    "parts": ListField(Named("part", PART), least=1),
    "cost": COST,
    "charge": Whole(1),
    "head": HASH,
    "date": TextField(DATE),
    "version": TEXT,
    "name": OrNull(TEXT),
    "recorded": FlagField(),
    "ledger": OrNull(HASH),
    "study": HASH,
    "axes": ListField(AXIS, least=1),
    "ordered": Named("levels", LEVELS.one, "Those of levels whose order means something."),
    "variables": ListField(VARIABLE, least=1),
}
SINCE: Final = ("name", "recorded", "ledger", "study", "axes", "ordered", "variables")
"""Optional fields, which documents of earlier versions or of other kinds lack."""
SIGNATURE: Final = "^ed25519:[A-Za-z0-9+/]{86}==$"
SEVERAL: Final = Record(
    {"releases": ListField(PairField(TEXT, ReadByItsClass({}))), SEAL: HASH, "signature": TextField(SIGNATURE)},
    optional=(SEAL, "signature"),
)
"""A file of several releases; each release in it is then read separately."""
DOCUMENT: Final = Record({**RELEASE, SEAL: HASH}, optional=(*SINCE, SEAL))


def wrong(words: Mapping[str, Any]) -> str | None:
    """Return the first reason why an object's fields are not those of a release document; None if there is none.

    >>> wrong({"query": {}, "mechanism": 3})
    'mechanism is 3: no text'
    """
    reason = DOCUMENT.wrong(words)
    if reason is not None:
        return f"it{reason}" if reason.startswith(" ") else reason.removeprefix(".")
    # not in PART's own rules, which know fields one by one
    for place, part in enumerate(words["parts"]):
        if sum(name in part for name in EITHER) != 1:
            return f"parts[{place}] has not one of {' and '.join(EITHER)}"
    return None


def definitions() -> Words:
    """Return the JSON Schema of each named field, by name."""
    named = (INTEGER, POSITIVE, FRACTION, HASH, NOISE, SENSITIVITY, GRID, WEIGHT, AXIS, VARIABLE, PACKED)
    levels = "Columns of by with their public labels; cells are in row-major order of them."
    return {one.name: one.one.words() for one in named} | {"levels": {"description": levels, **LEVELS.one.words()}}
