"""The registry of methods: which folder ("room") of `tacit.method` answers which query.  One entry registers a method.

It holds names only; the files of a room are imported when first needed.  `room_module` imports files that see no rows;
mechanisms, which read rows, are imported only by the curator (`curator.mechanisms`).  No data here.
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
    """Facts about one kind of release that its readers need.

    place: file and name of its class.  cells: largest number of cells.  forms: integer encodings of another kind that
    it uses too (`encoding_rules` lists each encoding under one kind).  lists: the document's field that describes its
    columns, if there is one.
    """

    place: str
    cells: int = 1
    forms: tuple[str, ...] = ()
    lists: Literal["axes", "variables"] | None = None


@dataclass(frozen=True)
class Method:
    """A room of `tacit.method`, the query classes in its `query.py`, and its kinds of release."""

    room: str
    queries: tuple[str, ...]
    kinds: Mapping[str, ReleaseKind]


SCORES: Final = ("plain", "exclusion", "exclusion-2", "group")
"""Encodings of numeric columns, without their binary variants."""
MEANS: Final = (*SCORES, "binary-plain", "binary-exclusion", "binary-group")
"""Encodings of numeric and boolean columns."""
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
    Method(
        "regression",
        ("Regression",),
        {
            "regression": ReleaseKind("estimate.RegressionRelease", lists="variables"),
            "regression-cells": ReleaseKind(
                "estimate_cells.RegressionCellsRelease", cells=2_000, forms=("histogram",), lists="axes"
            ),
        },
    ),
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
    Method(
        "bootstrap",
        ("Bootstrap",),
        {"bootstrap": ReleaseKind("estimate.BootstrapRelease", cells=250_000, forms=(*MEANS, "total", "count"))},
    ),
    Method(
        "unlisted_levels",
        ("UnlistedLevels",),
        {"unlisted-levels": ReleaseKind("estimate.UnlistedLevelsRelease", forms=("present",))},
    ),
    Method(
        "orthogonal_series",
        ("OrthogonalSeries",),
        {"orthogonal-series": ReleaseKind("estimate.OrthogonalSeriesRelease", lists="variables")},
    ),
    Method("bernstein", ("Bernstein",), {"bernstein": ReleaseKind("estimate.BernsteinRelease", lists="variables")}),
    Method(
        "risk_function",
        ("RiskFunction",),
        {"risk-function": ReleaseKind("estimate.RiskFunctionRelease", lists="variables")},
    ),
    Method(
        "kernel_density",
        ("KernelDensity",),
        {
            "kernel-density": ReleaseKind(
                "estimate.KernelDensityRelease", cells=32_768, forms=("histogram",), lists="axes"
            )
        },
    ),
    Method(
        "additive",
        ("Additive",),
        {"additive": ReleaseKind("estimate.AdditiveRelease", cells=1_000, lists="variables")},
    ),
    Method(
        "ks_dataset",
        ("KSDataset",),
        {"ks-data-set": ReleaseKind("estimate.KSDatasetRelease", forms=("present",), lists="variables")},
    ),
    Method(
        "exponential_mechanism",
        ("ExponentialMechanism",),
        {"selected-candidate": ReleaseKind("estimate.SelectedCandidateRelease", lists="variables")},
    ),
)

QUERIES: Final[Mapping[str, str]] = MappingProxyType({name: one.room for one in METHODS for name in one.queries})
"""Name of a query's class -> its room."""
ROOMS: Final[Mapping[str, str]] = MappingProxyType({kind: one.room for one in METHODS for kind in one.kinds})
"""Kind of a release -> its room."""
KINDS: Final[Mapping[str, ReleaseKind]] = MappingProxyType(
    {kind: one.kinds[kind] for one in METHODS for kind in one.kinds}
)
"""Kinds of releases, by name."""


@cache
def room_module(room: str, file: str, *, optional: bool = False) -> Any:
    """Return the module of a room's file that sees no rows; None for an optional file that the room does not have.

    Every room has `query`, `design` and `estimate`; optional are `stored` (checks of its documents), `plan`, `combine`.
    """
    if file.startswith("mechanism"):
        raise ValueError(f"{file} reads rows: the curator opens it")
    try:
        return import_module(f"tacit.method.{room}.{file}")
    except ModuleNotFoundError as problem:
        # only the file itself may be missing: a missing import inside it is a failure
        if optional and problem.name == f"tacit.method.{room}.{file}":
            return None
        raise


@cache
def query_class(name: str) -> type[Query[Any]]:
    """Return the query class of this name; KeyError where no method has it."""
    return getattr(room_module(QUERIES[name], "query"), name)


@cache
def release_class(kind: str) -> type[Release]:
    """Return the class of releases of this kind; KeyError where no method has it."""
    file, _, name = KINDS[kind].place.partition(".")
    return getattr(room_module(ROOMS[kind], file), name)


def ready(kind: str) -> None:
    """Import the modules that make and check a release of this kind, so that a failing import precedes the charge."""
    release_class(kind)
    room_module(ROOMS[kind], "stored", optional=True)


def plan_module() -> Any:
    """Return the module of plans: cost and expected precision of a query, from public facts."""
    return import_module("tacit.planning.plan")


def combine_module() -> Any:
    """Return the module that combines the parties' answers to a study."""
    return import_module("tacit.parties.study_result")


def room_of(query: Query[Any]) -> str | None:
    """Return the room that answers a query; None where no method has its class."""
    return QUERIES.get(type(query).__name__)
