"""Tacit: private statistics you can infer from.

A confidential table becomes estimates with standard errors and intervals under differential privacy: ask (`Mean`,
`Count`, ...), release (`Curator`), infer (`release.estimate()`).  Heavy libraries are imported when they are needed.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.base.progress import progress
from tacit.errors import TacitError
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.histogram.query import Histogram
from tacit.method.moments.query import Count, Mean, Sum, Variance
from tacit.method.quality.query import DataQuality
from tacit.method.quantiles.query import Quantiles
from tacit.method.ranges.query import Range
from tacit.method.regression.query import Regression
from tacit.method.sufficient_statistics.query import SufficientStatistics
from tacit.privacy import Budget, Cost
from tacit.release.document import Release, Releases
from tacit.release.query import Query
from tacit.schema import Boolean, Category, Date, Integer, PrivacyUnit, Real, Schema
from tacit.schema.logistic_bins import LogisticBins
from tacit.study import Site, Study

if TYPE_CHECKING:
    from tacit import examples, families, testing
    from tacit.base.table import Table
    from tacit.catalogue.json_schema import release_schema
    from tacit.curator.curator import Curator
    from tacit.fits.custom_losses import Loss
    from tacit.models.block_function import Statistic
    from tacit.models.custom import Model
    from tacit.parties import combine
    from tacit.parties import level_totals as hierarchy
    from tacit.planning import Plan, plan
    from tacit.report.difference import difference
    from tacit.report.report import methods, table
    from tacit.schema import draft

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


def __getattr__(name: str) -> Any:
    """Names that bring a heavy library, on first use."""
    found: Any
    if name == "Curator":
        from tacit.curator.curator import Curator as found  # noqa: N813
    elif name == "plan":
        from tacit.planning import plan as found
    elif name == "Plan":
        from tacit.planning import Plan as found  # noqa: N813
    elif name in ("combine", "hierarchy"):
        from tacit import parties

        found = getattr(parties, name)
    elif name == "release_schema":
        from tacit.catalogue.json_schema import release_schema as found
    elif name == "Table":
        from tacit.base.table import Table as found  # noqa: N813
    elif name == "difference":
        from tacit.report.difference import difference as found
    elif name in ("methods", "table"):
        from tacit.report import report

        found = getattr(report, name)
    elif name == "Loss":
        from tacit.fits.custom_losses import Loss as found  # noqa: N813
    elif name == "draft":
        from tacit.schema import draft as found
    elif name == "examples":
        import tacit.examples as found
    elif name == "families":
        import tacit.families as found
    elif name == "Model":
        from tacit.models.custom import Model as found  # noqa: N813
    elif name == "Statistic":
        from tacit.models.block_function import Statistic as found  # noqa: N813
    elif name == "testing":
        import tacit.testing as found
    else:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
