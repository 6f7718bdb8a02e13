"""What a release of `regression` says: coefficients of a linear model, with both errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.terms import Target
from tacit.fits.fit import Fit, MeanSlope
from tacit.method.regression import estimate_scores as regression_scores
from tacit.method.regression.estimate_effects import marginal_effects
from tacit.method.regression.estimate_linear import fit
from tacit.method.regression.estimate_rows import evaluator
from tacit.method.regression.formula import parse
from tacit.method.regression.layout import layout
from tacit.method.regression.noisy_crossproducts import crossed, scores
from tacit.method.regression.query import Regression
from tacit.release.document import Release, Released
from tacit.release.parts import Variable

if TYPE_CHECKING:
    from tacit.fits.fitted_model import FittedModel

SOURCE: Final = "noisy cross-products, then one step of cut residuals [Bickel 1975]; both errors in the standard errors"

SCORES: Final = (
    "a pilot, then two steps of bounded scores [Cantoni & Ronchetti 2001]; both errors in the standard errors"
)


@shown_by_summary
@dataclass(frozen=True, repr=False)
class RegressionRelease(Release):
    """A release of Regression.

    >>> import numpy as np, tacit as tc
    >>> rng = np.random.default_rng(0)
    >>> age = rng.uniform(20, 70, 4_000)
    >>> table = {"age": age, "income": 20_000 + 300 * age + rng.normal(0, 5_000, 4_000)}
    >>> schema = tc.Schema({"age": tc.Real(20, 70), "income": tc.Real(0, 80_000)})
    >>> curator = tc.Curator(table, schema, budget=tc.Budget(rho=1))
    >>> found = curator.release(tc.Regression("income ~ age"), rho=0.5).fit()
    >>> found.names, bool(abs(found.values[1] - 300) < 6 * found.std_errors[1])
    (('Intercept', 'age'), True)
    """

    kind: ClassVar[str] = "regression"

    def fit(self) -> Fit:
        """The numbers alone: coefficients with both parts of their covariance, a reason where noise is too large."""
        return fit_release(self)

    def estimate(self, target: Target = "population") -> FittedModel:
        """Coefficients with tests and contrasts, as models fitted to a histogram have them.

        InferenceError I09 for another target: what residuals beyond the cut would add is not known.
        """
        from tacit.fits.fit_release import fitted

        if target != "population":
            text = f"target {target!r}: a Regression speaks of the population that the rows were drawn from."
            raise InferenceError(text, code="I09", hint='target="population"', state=None)
        source = SOURCE if cast(Regression, self.query).model == "linear" else SCORES
        return fitted(self, self.fit(), source)

    def summary(self, level: float = 0.95) -> Table:
        """Coefficients as a table; InferenceError I01 (level)."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Coefficients other than the intercept with intervals; InferenceError I20 without matplotlib."""
        return self.estimate().plot(ax)


def _of_persons(reason: str | None) -> str | None:
    """A reason in which persons are what is too few."""
    said = (reason or "").replace("complete rows", "persons with a complete row")
    return said.replace("more rows", "more persons")


def fit_release(release: Released) -> Fit:
    """A release of a regression, or a simulated one -> Fit.  Source: Bickel 1975 (one step); `regression_fit`."""
    query = cast(Regression, release.query)
    variables = cast("tuple[Variable, ...]", getattr(release, "variables", ()))
    made = layout(parse(query.formula), variables)
    if query.model != "linear":
        found = regression_scores.fit(query.formula, query.model, made, release.parts, release.rows)
    else:
        first, second = release.parts
        found = fit(query.formula, made, crossed(first, made, release.rows), scores(second, made))
        nothing = np.zeros(len(found.names))
        found = replace(found, slope=MeanSlope(1.0, nothing, 0.0, 0.0, nothing))
    if found.reasons[0] is not None:
        return found if release.unit is None else replace(found, reasons=tuple(map(_of_persons, found.reasons)))
    formula = evaluator(query.model, made, variables)
    return replace(found, evaluator=formula, average_effects=marginal_effects)
