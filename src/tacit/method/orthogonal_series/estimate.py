"""The release of an orthogonal series: its coefficients, and the densities that they make."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, cast

import numpy as np

from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.densities.chosen_terms import ErrorsOfValues
from tacit.estimates.densities.projected_curve import ProjectedCurve
from tacit.estimates.densities.recorded_notes import hidden_by_heaps, recorded_notes
from tacit.estimates.densities.series_coefficients import short, shrunk
from tacit.estimates.densities.series_curve import SeriesCurve, terms_of
from tacit.estimates.densities.smooth_density import SmoothDensity
from tacit.estimates.normal_estimate import NormalEstimate
from tacit.estimates.terms import Target, check_target, place_of
from tacit.estimates.wording import column_notes, title, who
from tacit.method.orthogonal_series.estimate_coefficients import UNTOLD, fitted
from tacit.method.orthogonal_series.query import OrthogonalSeries
from tacit.method.shared.numeric_columns import support
from tacit.release.document import Release, Released
from tacit.release.parts import Variable

if TYPE_CHECKING:
    from tacit.estimates.densities.joint_density import JointDensity


@shown_by_summary
@dataclass(frozen=True, repr=False)
class OrthogonalSeriesRelease(Release):
    """A release of OrthogonalSeries.

    >>> import tacit as tc
    >>> rng = np.random.default_rng(0)
    >>> table = {"x": rng.beta(2, 5, 5_000), "y": rng.beta(3, 3, 5_000)}
    >>> schema = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 1)})
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(rho=1))
    >>> release = curator.release(tc.OrthogonalSeries(["x", "y"], terms=5), rho=0.5)
    >>> joint = release.joint_density()
    >>> joint([[0.2, 0.5], [0.9, 0.9]]).shape, release.smooth_density("x").cdf(1.0)
    ((2,), array(1.))
    """

    kind: ClassVar[str] = "orthogonal-series"

    def estimate(self, target: Target = "population") -> NormalEstimate:
        """Return the coefficients with both errors, "x:1, y:2" that of the product of functions 1 of x and 2 of y.

        InferenceError I09 for an unknown target.
        """
        return estimate(self, target)

    def cdf(self, at: Any, column: str | None = None, *, target: Target = "population") -> NormalEstimate:
        """Return the share of rows at or below values of a column, with both errors.

        InferenceError I02 (no such column), I05 (which of several columns; values), I09 (target).
        """
        from tacit.method.orthogonal_series.estimate_series_moments import cdf

        return cdf(self, at, column, target)

    def moments(self, column: str | None = None, *, target: Target = "population") -> NormalEstimate:
        """Return the mean and the variance of a column, with both errors; InferenceError I02, I05, I09 as for `cdf`."""
        from tacit.method.orthogonal_series.estimate_series_moments import moments

        return moments(self, column, target)

    def smooth_density(self, column: str | None = None, *, target: Target = "population") -> SmoothDensity:
        """Return the density of a column; InferenceError I02 (no such column), I05 (which of several), I09 (target)."""
        return smooth_density(self, column, target)

    def joint_density(self, *, target: Target = "population") -> JointDensity:
        """Return the joint density of all columns; InferenceError I09 for an unknown target."""
        from tacit.method.orthogonal_series.estimate_joint import joint_density

        return joint_density(self, target)

    def summary(self, level: float = 0.95) -> Table:
        """Return the density of one column as a table, or of several columns the coefficients; InferenceError I01."""
        if len(self.variables) == 1:
            return self.smooth_density().summary(level)
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the density of one column or of two; InferenceError I64 (three columns), I20 without matplotlib."""
        if len(self.variables) == 1:
            return self.smooth_density().plot(ax)
        return self.joint_density().plot(ax)


def estimate(release: Released, target: Target = "population") -> NormalEstimate:
    """Return the coefficients of a release, real or simulated."""
    check_target(target)
    fit, query = fitted(release, target), cast(OrthogonalSeries, release.query)
    names = tuple(query.columns)
    terms = tuple(
        ", ".join(f"{name}:{j}" for name, j in zip(names, index, strict=True) if j) for index in fit.indices.tolist()
    )
    words = f"coefficients of the density of {' and '.join(names)} of {who(release)} in the {query.basis} basis"
    words += f", where {query.where}" if query.where else ""
    words += f", of the {who(release)} of this table" if target == "table" else ""
    heading = title(release)
    privacy = fit.variance * (fit.load @ fit.load.T)
    reasons = (fit.reason,) * len(terms)
    return NormalEstimate(
        release, heading, words, terms, fit.values, fit.sampling, privacy, reasons, tested=False, target=target
    )


def smooth_density(release: Released, column: str | None = None, target: Target = "population") -> SmoothDensity:
    """Return the density of one column of a release, real or simulated: the coefficients of its functions alone."""
    check_target(target)
    variables = cast("tuple[Variable, ...]", getattr(release, "variables", ()))
    names = tuple(one.name for one in variables)
    if column is None and len(names) > 1:
        text = f"the release has {len(names)} columns: which one?"
        raise InferenceError(text, code="I05", hint=f'smooth_density("{names[0]}"), or joint_density()', state=None)
    at = 0 if column is None else place_of(names, column)
    one, fit = variables[at], fitted(release, target)
    alone = np.flatnonzero((np.delete(fit.indices, at, axis=1) == 0).all(axis=1))
    covariance, load = fit.covariance[np.ix_(alone, alone)], fit.load[alone]
    found = shrunk(fit.values[alone], covariance, load)
    lower, upper = support(one)
    # rows of a table scatter about a smooth density as those of a sample do
    tested = fit if target == "population" else fitted(release, "population")
    few = short(found.values, tested.covariance[np.ix_(alone, alone)])
    # the law of noise of coefficients, sums of many, is taken as normal
    errors = ErrorsOfValues(covariance, load, 0.0, laplace=False)
    curve = SeriesCurve(fit.basis, found, found.band, errors, (terms_of(fit.basis, np.eye(len(alone))),))
    of_all = f"{found.band} of {len(alone)}" if found.band < len(alone) else f"{len(alone)}"
    of_all += f" (a band {found.whole})" if found.whole > found.band else ""
    return SmoothDensity(
        release=release,
        target=target,
        column=one.name,
        kind=one.kind,
        units=one.units,
        by=(),
        groups=("",),
        lower=lower,
        upper=upper,
        curves=(ProjectedCurve(fit.basis, curve, curve),),
        sizes=np.array([fit.size]),
        reasons=(fit.reason,),
        notes=(
            f"{fit.basis} series of {found.kept} of {fit.terms[at]} terms",
            *column_notes(one.name, one.missing),
            *recorded_notes(one.name, one),
        ),
        multiple_of=one.multiple_of or 0.0,
        limits_of=f"the first {of_all} terms of the density's {fit.basis} series",
        untold=(UNTOLD if few else hidden_by_heaps(one.name, one, (upper - lower) / fit.terms[at], "fewer terms"),),
    )
