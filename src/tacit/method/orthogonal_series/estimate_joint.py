"""Joint densities of two or three columns from a released series."""

from __future__ import annotations

from typing import cast

from tacit.estimates.densities.column_values import JointColumn
from tacit.estimates.densities.joint_density import JointDensity
from tacit.estimates.terms import Target, check_target
from tacit.method.orthogonal_series.estimate_coefficients import fitted
from tacit.method.shared.numeric_columns import support
from tacit.release.document import Released
from tacit.release.parts import Variable


def joint_density(release: Released, target: Target = "population") -> JointDensity:
    """Return the joint density of a release, real or simulated; see `OrthogonalSeriesRelease.joint_density`."""
    check_target(target)
    variables = cast("tuple[Variable, ...]", getattr(release, "variables", ()))
    columns = tuple(JointColumn(one.name, one.kind, *support(one), one.multiple_of or 0.0) for one in variables)
    return JointDensity(release, target, columns, fitted(release, target))
