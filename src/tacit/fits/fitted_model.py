"""Models fitted to a released histogram: any number of them is free (Lei 2011, corrected by theory §7)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates import pictures
from tacit.estimates.normal_estimate import NormalEstimate, Scale
from tacit.fits.fit import Fit
from tacit.privacy import Cost
from tacit.release.document import Released

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.estimates.contrasts import Test
    from tacit.fits.effects import FitEffects
    from tacit.plots.canvas import Drawn


@shown_by_summary
@dataclass(frozen=True, repr=False)
class FittedModel:
    """A model fitted to noisy cells: coefficients with both errors, tests, predictions, effects.

    coefficients: the numbers, all of whose words (`value`, `std_error`, `conf_int`, `cov`, `test`, `contrast`, ...) are
    those of the model too.  fit: arrays behind.

    >>> import tacit as tc
    >>> schema = tc.Schema({"age": tc.Real(18, 93), "married": tc.Boolean()})
    >>> people = {"age": list(range(18, 94)) * 40, "married": ([False] * 20 + [True] * 18) * 20 + [True] * 2280}
    >>> curator = tc.Curator(people, schema, budget=tc.Budget(rho=1))
    >>> cells = curator.release(tc.Histogram(["age", "married"], bins={"age": 10}), rho=0.5)
    >>> logit = cells.fit("married ~ age", model="logistic")
    >>> logit.test("age = 0").p_value < 0.001, logit.predict({"age": [30, 60]}).terms
    (True, ('0', '1'))
    """

    coefficients: NormalEstimate
    fit: Fit

    @property
    def formula(self) -> str:
        """The formula; of a family the column."""
        return self.fit.formula

    @property
    def model(self) -> str:
        """Name of the model, or of the family."""
        return self.fit.model

    @property
    def method(self) -> str:
        """How bins and negative counts were treated."""
        return self.fit.method

    @property
    def criteria(self) -> Mapping[str, float]:
        """rows, deviance, null_deviance, explained (of linear models R squared), scale: descriptive, as estimated."""
        return self.fit.criteria

    @property
    def notes(self) -> tuple[str, ...]:
        """What a reader must know, one sentence each."""
        return self.coefficients.notes

    # As its coefficients say ---------------------------------------------------------------------------------------

    @property
    def release(self) -> Released:
        """The release behind."""
        return self.coefficients.release

    @property
    def cost(self) -> Cost:
        """What the release cost; fits of it cost nothing more."""
        return self.release.cost

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        return self.coefficients.terms

    @property
    def values(self) -> Array:
        """Coefficients, shape (p,)."""
        return self.coefficients.values

    @property
    def std_errors(self) -> Array:
        """Standard errors, sampling and privacy together, shape (p,)."""
        return self.coefficients.std_errors

    @property
    def reasons(self) -> tuple[str | None, ...]:
        """Why a coefficient says nothing, in words, or None."""
        return self.coefficients.reasons

    @property
    def value(self) -> Any:  # float, or Series
        """Coefficients: a float for one term, else a Series."""
        return self.coefficients.value

    @property
    def std_error(self) -> Any:  # float, or Series
        """Standard errors, sampling and privacy together."""
        return self.coefficients.std_error

    @property
    def privacy_share(self) -> Any:  # float, or Series
        """Part of the total variance that is due to privacy."""
        return self.coefficients.privacy_share

    @property
    def reason(self) -> Any:  # str | None, or Series
        """Why inference is impossible, in words, or None."""
        return self.coefficients.reason

    @property
    def cov(self) -> pd.DataFrame:
        """Covariance matrix of the coefficients, sampling and privacy."""
        return self.coefficients.cov

    def conf_int(self, level: float = 0.95) -> Any:  # (float, float), or DataFrame
        """Confidence intervals; InferenceError I01 for a level below 0.5."""
        return self.coefficients.conf_int(level)

    def to_frame(self, level: float = 0.95) -> pd.DataFrame:
        """A frame indexed by term: see `NormalEstimate.to_frame`."""
        return self.coefficients.to_frame(level)

    def contrast(self, expression: str) -> NormalEstimate:
        """A linear combination of coefficients; InferenceError I02, I03."""
        return self.coefficients.contrast(expression)

    def __getitem__(self, term: str | list[str]) -> NormalEstimate:
        return self.coefficients[term]

    # What a model adds ---------------------------------------------------------------------------------------------

    def test(self, constraints: str | None = None, *, column: str | None = None) -> Test:
        """Test linear constraints, "age = 0, `sex[T.female]` = 0", or all coefficients in which a column takes part.

        InferenceError I02, I03 (unknown terms, malformed text), I41 (no such column), I45 (nothing can be tested).
        Source: theory §7, Wald's chi-square with the total covariance.
        """
        if (constraints is None) == (column is None):
            text = "test takes constraints, or column=."
            raise InferenceError(text, code="I03", hint='test("age = 0"), test(column="sex")', state=None)
        if constraints is not None:
            return self.coefficients.test(constraints)
        from tacit.fits.effects import terms_of

        matrix = terms_of(self.fit, cast(str, column))
        return self.coefficients.wald(matrix, np.zeros(len(matrix)), f"all terms of {column} = 0")

    def predict(self, table: Any, scale: Literal["response", "link"] = "response") -> NormalEstimate:
        """Mean response (quantile, centre) at the rows of a frame or a mapping of columns, one term a row.

        Intervals are those of the linear predictor, carried over, so they respect the response's limits; of the mean,
        not of a new observation.  scale: "link" gives linear predictors.  InferenceError I42 for rows that cannot be
        evaluated, I45 without a fit.
        """
        from tacit.fits.effects import evaluator, predict

        link = predict(self.fit, table, "link")
        if scale == "link":
            return self._made(link, "Linear predictors", "linear predictors")
        made = self._made(predict(self.fit, table), "Predictions", "mean responses at given rows")
        return replace(made, scale=Scale(link.values, link.std_errors, evaluator(self.fit).loss.mean))

    def marginal_effects(self) -> NormalEstimate:
        """Average marginal effects over the rows counted: slopes of columns of numbers, differences of levels.

        Of a `Regression` those of columns of numbers that stand alone in the formula, InferenceError I80 where none
        does; I45 without a fit.  Source: delta method, the noise in the average counted too.
        """
        from tacit.fits.effects import marginal_effects

        return self._made(
            marginal_effects(self.fit), "Average marginal effects", "average marginal effects", tested=True
        )

    def _made(self, found: FitEffects, title: str, estimand: str, tested: bool = False) -> NormalEstimate:
        return replace(
            self.coefficients,
            title=f"{title} · {self.coefficients.title}",
            estimand=estimand,
            terms=found.names,
            values=found.values,
            sampling=found.cov_sampling,
            privacy=found.cov_privacy,
            reasons=(found.reason,) * len(found.names),
            notes=(*found.notes, *self.coefficients.notes),
            term_title="",
            tested=tested,
        )

    # Shown ---------------------------------------------------------------------------------------------------------

    def summary(self, level: float = 0.95) -> Table:
        """Coefficients as statsmodels and R show them, with privacy's part; InferenceError I01 (level)."""
        from tacit.estimates.display import criteria_words, normal_table
        from tacit.estimates.wording import who

        table = normal_table(self.coefficients, level)
        said = criteria_words(self.fit.criteria, self.model, who(self.release))
        return replace(table, notes=(said, *table.notes)) if said else table

    def plot(self, ax: Any = None) -> Any:
        """Coefficients other than the intercept with intervals; InferenceError I20 (no matplotlib), I05."""
        kept = [term for term in self.terms if term != "Intercept"] or list(self.terms)
        return pictures.coefficients(self.coefficients[kept], ax)

    def curve(self, column: str, *, at: Mapping[str, Any] | None = None, ax: Any = None, level: float = 0.95) -> Drawn:
        """The mean response along a column of numbers with its interval, and the means counted by its bins.

        at: values of the other columns; the first level of a factor, the mean of numbers where not given: then means
        are not shown.  InferenceError I41 (no such column), I45 (no fit), I01 (level), I20 (no matplotlib).
        """
        from tacit.fits.fitted_curves import curve

        return curve(self, column, at, ax, level)
