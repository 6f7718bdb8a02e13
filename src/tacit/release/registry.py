"""The registry of methods: which room of `tacit.method` answers which question.  One entry registers a method.

It holds names only; a room's files are imported when first needed.  `opened` imports files that see no rows;
mechanisms, which read rows, are imported by the curator alone (`curator.mechanisms`).  No data here.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final, Literal

if TYPE_CHECKING:
    from tacit.release.document import Release
    from tacit.release.query import Query


@dataclass(frozen=True)
class ReleaseKind:
    """A kind of release, as its readers need it.

    place: file and name of its class.  cells: largest number of cells.  forms: integer encodings that it takes over
    from another kind (its own are listed in `encoding_rules`).  lists: the document's field with the public facts of
    its columns, where there is one.
    """

    place: str
    cells: int = 1
    forms: tuple[str, ...] = ()
    lists: Literal["axes", "variables"] | None = None


@dataclass(frozen=True)
class Method:
    """A room, the classes of the questions in its `query.py`, and its kinds of release."""

    room: str
    queries: tuple[str, ...]
    kinds: Mapping[str, ReleaseKind]


SCORES: Final = ("plain", "exclusion", "group")
MEANS: Final = (*SCORES, *(f"binary-{form}" for form in SCORES))
METHODS: Final = (
    Method(
        "moments",
        ("Count", "Sum", "Mean", "Variance"),
        {"moments": ReleaseKind("estimate.MomentsRelease", cells=1_000_000)},
    ),
    Method("quality", ("DataQuality",), {"quality": ReleaseKind("estimate.QualityRelease")}),
    Method("quantiles", ("Quantiles",), {"quantiles": ReleaseKind("estimate.QuantilesRelease", cells=256)}),
    Method("ranges", ("Range",), {"range": ReleaseKind("estimate.RangeRelease")}),
    Method(
        "histogram",
        ("Histogram",),
        {
            "histogram": ReleaseKind("estimate.HistogramRelease", cells=10_000_000, lists="axes"),
            "sparse-histogram": ReleaseKind("estimate_sparse.SparseHistogramRelease", cells=2**40, lists="axes"),
        },
    ),
    Method("regression", ("Regression",), {"regression": ReleaseKind("estimate.RegressionRelease", lists="variables")}),
    Method(
        "blocks",
        ("SampleAndAggregate",),
        {"sample-and-aggregate": ReleaseKind("estimate.SampleAndAggregateRelease", forms=SCORES)},
    ),
    Method(
        "sufficient_statistics",
        ("SufficientStatistics",),
        {"sufficient-statistics": ReleaseKind("estimate.SufficientStatisticsRelease", forms=MEANS)},
    ),
)

QUERIES: Final[Mapping[str, str]] = MappingProxyType({name: one.room for one in METHODS for name in one.queries})
"""Class of a question -> its room."""
ROOMS: Final[Mapping[str, str]] = MappingProxyType({kind: one.room for one in METHODS for kind in one.kinds})
"""Kind of a release -> its room."""
KINDS: Final[Mapping[str, ReleaseKind]] = MappingProxyType(
    {kind: one.kinds[kind] for one in METHODS for kind in one.kinds}
)
"""Kinds of releases, by name."""


@cache
def opened(room: str, file: str, *, optional: bool = False) -> Any:
    """The module of a room's file that sees no rows; None for an optional one that the room does not have.

    `query`, `design`, `estimate`; optional: `stored` (what a document of it must say), `plan`, `combine`.
    """
    if file.startswith("mechanism"):
        raise ValueError(f"{file} reads rows: the curator opens it")
    try:
        return import_module(f"tacit.method.{room}.{file}")
    except ModuleNotFoundError as problem:
        if optional and problem.name == f"tacit.method.{room}.{file}":
            return None
        raise


@cache
def query_class(name: str) -> type[Query[Any]]:
    """The class of questions of this name; KeyError where no method has it."""
    return getattr(opened(QUERIES[name], "query"), name)


@cache
def release_class(kind: str) -> type[Release]:
    """The class of releases of this kind; KeyError where no method has it."""
    file, _, name = KINDS[kind].place.partition(".")
    return getattr(opened(ROOMS[kind], file), name)


def ready(kind: str) -> None:
    """Import what a release of this kind is made and checked with: an import that fails does so before the charge."""
    release_class(kind)
    opened(ROOMS[kind], "stored", optional=True)


def plans() -> Any:
    """The module of plans: what a question would cost and show, from public facts."""
    return import_module("tacit.planning.plan")


def combinations() -> Any:
    """The module that makes one answer of what came back to a study."""
    return import_module("tacit.parties.study_result")


def room_of(query: Query[Any]) -> str | None:
    """The room that answers a question; None for one of no method."""
    return QUERIES.get(type(query).__name__)
