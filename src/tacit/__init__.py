"""Tacit: private statistics you can infer from.

A confidential table becomes estimates with standard errors and intervals under differential privacy: ask (`Mean`,
`Count`, ...), release (`Curator`), infer (`release.estimate()`).  Heavy libraries are imported when they are needed.
"""

from __future__ import annotations

import sys
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from tacit import examples, extend, families, local, testing
    from tacit.base.progress import progress
    from tacit.base.table import Table
    from tacit.catalogue.json_schema import release_schema
    from tacit.curator.curator import Curator
    from tacit.errors import TacitError
    from tacit.fits.custom_losses import Loss
    from tacit.meaning import Explanation, explain
    from tacit.method.additive.statistic import Sensitivity
    from tacit.method.bernstein.query import Bernstein
    from tacit.method.blocks.query import SampleAndAggregate
    from tacit.method.bootstrap.query import Bootstrap
    from tacit.method.exponential_mechanism.query import ExponentialMechanism
    from tacit.method.histogram.query import Histogram
    from tacit.method.kernel_density.query import KernelDensity
    from tacit.method.ks_dataset.query import KSDataset
    from tacit.method.moments.query import Count, Mean, Sum, Variance
    from tacit.method.orthogonal_series.query import OrthogonalSeries
    from tacit.method.quality.query import DataQuality
    from tacit.method.quantiles.query import Quantiles
    from tacit.method.ranges.query import Range
    from tacit.method.regression.query import Regression
    from tacit.method.risk_function.query import RiskFunction
    from tacit.method.sufficient_statistics.query import SufficientStatistics
    from tacit.method.unlisted_levels.query import UnlistedLevels
    from tacit.models.block_function import Statistic
    from tacit.models.custom import Model
    from tacit.parties import average, combine, hierarchy
    from tacit.planning import MethodComparison, Plan, compare, plan
    from tacit.privacy import Budget, Cost
    from tacit.release.document import Release, Releases
    from tacit.release.query import Query
    from tacit.report.difference import difference
    from tacit.report.report import methods, table
    from tacit.schema import Boolean, Category, Date, Integer, PrivacyUnit, Real, Schema, Text, draft
    from tacit.schema.column_expressions import col
    from tacit.schema.logistic_bins import LogisticBins
    from tacit.study import Site, Study

__version__ = "0.1.0"

__all__ = [
    "Bernstein",
    "Boolean",
    "Bootstrap",
    "Budget",
    "Category",
    "Cost",
    "Count",
    "Curator",
    "DataQuality",
    "Date",
    "Explanation",
    "ExponentialMechanism",
    "Histogram",
    "Integer",
    "KSDataset",
    "KernelDensity",
    "LogisticBins",
    "Loss",
    "Mean",
    "MethodComparison",
    "Model",
    "OrthogonalSeries",
    "Plan",
    "PrivacyUnit",
    "Quantiles",
    "Query",
    "Range",
    "Real",
    "Regression",
    "Release",
    "Releases",
    "RiskFunction",
    "SampleAndAggregate",
    "Schema",
    "Sensitivity",
    "Site",
    "Statistic",
    "Study",
    "SufficientStatistics",
    "Sum",
    "Table",
    "TacitError",
    "Text",
    "UnlistedLevels",
    "Variance",
    "average",
    "col",
    "combine",
    "compare",
    "difference",
    "draft",
    "examples",
    "explain",
    "extend",
    "families",
    "hierarchy",
    "local",
    "methods",
    "plan",
    "progress",
    "release_schema",
    "table",
    "testing",
]

_MODULES: Final = {
    "base.progress": "progress",
    "base.table": "Table",
    "catalogue.json_schema": "release_schema",
    "curator.curator": "Curator",
    "errors": "TacitError",
    "fits.custom_losses": "Loss",
    "meaning": "Explanation explain",
    "method.additive.statistic": "Sensitivity",
    "method.blocks.query": "SampleAndAggregate",
    "method.histogram.query": "Histogram",
    "method.moments.query": "Count Mean Sum Variance",
    "method.quality.query": "DataQuality",
    "method.quantiles.query": "Quantiles",
    "method.ranges.query": "Range",
    "method.regression.query": "Regression",
    "method.bootstrap.query": "Bootstrap",
    "method.orthogonal_series.query": "OrthogonalSeries",
    "method.kernel_density.query": "KernelDensity",
    "method.bernstein.query": "Bernstein",
    "method.risk_function.query": "RiskFunction",
    "method.unlisted_levels.query": "UnlistedLevels",
    "method.ks_dataset.query": "KSDataset",
    "method.exponential_mechanism.query": "ExponentialMechanism",
    "method.sufficient_statistics.query": "SufficientStatistics",
    "models.block_function": "Statistic",
    "models.custom": "Model",
    "parties": "average combine hierarchy",
    "planning": "MethodComparison Plan compare plan",
    "privacy": "Budget Cost",
    "release.document": "Release Releases",
    "release.query": "Query",
    "report.difference": "difference",
    "report.report": "methods table",
    "schema": "Boolean Category Date Integer PrivacyUnit Real Schema Text draft",
    "schema.column_expressions": "col",
    "schema.logistic_bins": "LogisticBins",
    "study": "Site Study",
}
"""Modules and the public names that they define; five modules are public themselves (`__getattr__`)."""
_PLACES: Final = {name: module for module, names in _MODULES.items() for name in names.split()}


def __getattr__(name: str) -> Any:
    """Import a public name when it is first used: what a program does not use costs it no time."""
    if name in ("examples", "extend", "families", "local", "testing"):
        found: Any = import_module(f"tacit.{name}")
    elif name in _PLACES:
        found = getattr(import_module(f"tacit.{_PLACES[name]}"), name)
    else:
        from tacit.base.arguments import asked_here

        # with its name and the module Python's own traceback suggests the nearest
        said = asked_here(name)
        raise AttributeError(f"module 'tacit' has no attribute {name!r}{said}", name=name, obj=sys.modules[__name__])
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted(__all__)
