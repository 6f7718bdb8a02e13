"""Releases of regressions from cells: the model fitted to their noisy counts, with sampling and privacy errors."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, cast

from tacit.errors import InferenceError
from tacit.estimates.terms import Target, check_target
from tacit.fits.fit import Fit
from tacit.method.regression.designs.cells_design import KIND
from tacit.method.regression.estimate import RegressionRelease
from tacit.method.regression.query import Regression
from tacit.release.document import Released

if TYPE_CHECKING:
    from tacit.fits.fitted_model import FittedModel


@dataclass(frozen=True, repr=False)
class RegressionCellsRelease(RegressionRelease):
    """A release of Regression by `method="cells"`, or by "auto" where cells are expected to be more precise.

    >>> import numpy as np, tacit as tc
    >>> rng = np.random.default_rng(0)
    >>> table = {"sex": rng.choice(["f", "m"], 4_000), "works": rng.random(4_000) < 0.6}
    >>> schema = tc.Schema({"sex": tc.Category(["f", "m"]), "works": tc.Boolean()})
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=1))
    >>> question = tc.Regression("works ~ sex", model="logistic", method="auto")
    >>> found = curator.release(question, epsilon=1)
    >>> found.kind, found.query.method, found.estimate().terms
    ('regression-cells', 'cells', ('Intercept', 'sex[T.m]'))
    """

    kind: ClassVar[str] = KIND

    def fit(self, target: Target = "population", *, linear: bool = False) -> Fit:
        """Return coefficients and both parts of their covariance, or the reason why noise is too large for them.

        linear: changes nothing, as cells have all rows.
        """
        return fitted_cells(self, target).fit

    def estimate(self, target: Target = "population", *, linear: bool = False) -> FittedModel:
        """Return the fitted model, as `RegressionRelease.estimate`.  InferenceError I09 for another target.

        linear: changes nothing, as cells have all rows.
        """
        return fitted_cells(self, target)


def fitted_cells(release: Released, target: Target = "population") -> FittedModel:
    """Return the model fitted to the counts of a release, real or simulated; InferenceError I09 for another target.

    Of a category that has a level for missing values this is a level as any other, as in sums over rows.
    """
    from tacit.fits.fit_release import fit_release

    check_target(target)
    if target == "table":
        text = "target 'table': a fit to cells is of the population that the rows come from."
        raise InferenceError(text, code="I09", hint='target="population", or method="scores"', state=None)
    query = cast(Regression, release.query)
    return fit_release(release, query.formula, model=query.model, missing="level")
