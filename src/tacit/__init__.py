"""Tacit: private statistics you can infer from.

A confidential table becomes estimates with standard errors and intervals under differential privacy: ask (`Mean`,
`Count`, ...), release (`Curator`), infer (`release.estimate()`).  Heavy libraries are imported when they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.errors import TacitError
from tacit.inference import histogram as _histogram
from tacit.inference import moments as _moments  # registers the classes of releases; light
from tacit.inference import quality as _quality
from tacit.inference import quantiles as _quantiles
from tacit.inference import ranges as _ranges
from tacit.inference import regression as _regression
from tacit.inference import sample_and_aggregate as _sample_and_aggregate
from tacit.inference import sparse_histogram as _sparse
from tacit.inference import sufficient_statistics as _sufficient
from tacit.logistic import LogisticBins
from tacit.phases import progress
from tacit.privacy import Budget, Cost
from tacit.queries import Count, DataQuality, Histogram, Mean, Quantiles, Query, Range, Regression, Sum, Variance
from tacit.queries_blocks import SampleAndAggregate
from tacit.queries_statistics import SufficientStatistics
from tacit.release import Release, Releases
from tacit.schema import Boolean, Category, Date, Integer, PrivacyUnit, Real, Schema
from tacit.study import Site, Study
from tacit.study.study import LATER as _LATER

if TYPE_CHECKING:
    from tacit import examples, families, testing
    from tacit.curator.curator import Curator
    from tacit.documents import release_schema
    from tacit.inference.difference import difference
    from tacit.inference.fits.custom import Loss
    from tacit.inference.report import methods, table
    from tacit.models.custom import Model
    from tacit.models.statistic import Statistic
    from tacit.parties import combine, hierarchy
    from tacit.planning import Plan, plan
    from tacit.schema import draft
    from tacit.tables import Table

__version__ = "0.1.0"

__all__ = [
    "Boolean",
    "Budget",
    "Category",
    "Cost",
    "Count",
    "Curator",
    "DataQuality",
    "Date",
    "Histogram",
    "Integer",
    "LogisticBins",
    "Loss",
    "Mean",
    "Model",
    "Plan",
    "PrivacyUnit",
    "Quantiles",
    "Query",
    "Range",
    "Real",
    "Regression",
    "Release",
    "Releases",
    "SampleAndAggregate",
    "Schema",
    "Site",
    "Statistic",
    "Study",
    "SufficientStatistics",
    "Sum",
    "Table",
    "TacitError",
    "Variance",
    "combine",
    "difference",
    "draft",
    "examples",
    "families",
    "hierarchy",
    "methods",
    "plan",
    "progress",
    "release_schema",
    "table",
    "testing",
]


def _plan_study(study: Study, **words: Any) -> Any:
    from tacit.planning import plan_study

    return plan_study(study, **words)


def _combine_study(study: Study, *words: Any, **more: Any) -> Any:
    from tacit.parties.returned import combine_study

    return combine_study(study, *words, **more)


_LATER["plan"] = _plan_study
_LATER["combine"] = _combine_study
del (
    _histogram,
    _moments,
    _quality,
    _quantiles,
    _ranges,
    _regression,
    _sample_and_aggregate,
    _sparse,
    _sufficient,
    _LATER,
)


def __getattr__(name: str) -> Any:
    """Names that bring a heavy library, on first use."""
    found: Any
    if name == "Curator":
        from tacit.curator.curator import PLANNER
        from tacit.curator.curator import Curator as found  # noqa: N813
        from tacit.planning import plan_for

        PLANNER["plan"] = plan_for
    elif name == "plan":
        from tacit.planning import plan as found
    elif name == "Plan":
        from tacit.planning import Plan as found  # noqa: N813
    elif name in ("combine", "hierarchy"):
        from tacit import parties

        found = getattr(parties, name)
    elif name == "release_schema":
        from tacit.documents import release_schema as found
    elif name == "Table":
        from tacit.tables import Table as found  # noqa: N813
    elif name == "difference":
        from tacit.inference.difference import difference as found
    elif name in ("methods", "table"):
        from tacit.inference import report

        found = getattr(report, name)
    elif name == "Loss":
        from tacit.inference.fits.custom import Loss as found  # noqa: N813
    elif name == "draft":
        from tacit.schema import draft as found
    elif name == "examples":
        import tacit.examples as found
    elif name == "families":
        import tacit.families as found
    elif name == "Model":
        from tacit.models.custom import Model as found  # noqa: N813
    elif name == "Statistic":
        from tacit.models.statistic import Statistic as found  # noqa: N813
    elif name == "testing":
        import tacit.testing as found
    else:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
