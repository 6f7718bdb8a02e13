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

    from tacit.estimates.synthetic.reproduced_numbers import ReproducedNumbers
    from tacit.estimates.synthetic.synthetic_sets import SyntheticSets
    from tacit.estimates.terms import Target
    from tacit.estimates.verbs.contrasts import Test
    from tacit.fits.effects import FitEffects
    from tacit.plots.canvas import Drawn


@shown_by_summary
@dataclass(frozen=True, repr=False)
class FittedModel:
    """A model fitted to noisy cells: coefficients with sampling and privacy errors, tests, predictions, effects.

    coefficients: the estimates; their properties and methods (`value`, `std_error`, `conf_int`, `cov`, `contrast`, ...)
    are available on the model too.  fit: the numeric result, as plain arrays.

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
        """The formula, or the column's name for a fit of a family."""
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
        """rows, deviance, null_deviance, explained (R squared of linear models), scale: descriptive, no intervals."""
        return self.fit.criteria

    @property
    def notes(self) -> tuple[str, ...]:
        """Caveats for the reader, one sentence each."""
        return self.coefficients.notes

    # Delegated to the coefficients -------------------------------------------------------------------------------

    @property
    def release(self) -> Released:
        """The release to which the model was fitted."""
        return self.coefficients.release

    @property
    def cost(self) -> Cost:
        """The privacy cost of the release; fits are post-processing and add nothing."""
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
        """Why a coefficient allows no inference, or None, for each coefficient."""
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
        """Fraction of the total variance that is due to privacy noise."""
        return self.coefficients.privacy_share

    @property
    def reason(self) -> Any:  # str | None, or Series
        """Why inference is impossible, in words, or None."""
        return self.coefficients.reason

    @property
    def cov(self) -> pd.DataFrame:
        """Total covariance matrix of the coefficients (sampling plus privacy)."""
        return self.coefficients.cov

    def conf_int(self, level: float = 0.95, *, simultaneous: bool = False) -> Any:  # (float, float), or DataFrame
        """Return confidence intervals, of each term or simultaneous; InferenceError I01 for a level below 0.5."""
        return self.coefficients.conf_int(level, simultaneous=simultaneous)

    def to_frame(self, level: float = 0.95, *, simultaneous: bool = False, exponentiate: bool = False) -> pd.DataFrame:
        """Return a frame indexed by term: see `NormalEstimate.to_frame`.

        exponentiate: estimates and both ends of intervals are exponentials: odds ratios of a logistic model, rate
        ratios of counts, ratios of means of a gamma model; `std_error` stays that of the coefficient, as broom has it,
        and the intercept is left out.  InferenceError I44 (a model whose coefficients are no logarithms of ratios).
        """
        if not exponentiate:
            return self.coefficients.to_frame(level, simultaneous=simultaneous)
        from tacit.estimates.display import check_ratios

        check_ratios(self.model)
        kept = [term for term in self.terms if term != "Intercept"]
        made = self.coefficients[kept].to_frame(level, simultaneous=simultaneous)
        for name in ("estimate", "lower", "upper"):
            made[name] = np.exp(np.asarray(made[name], dtype=np.float64))
        return made

    def contrast(self, expression: str) -> NormalEstimate:
        """Return a linear combination of coefficients with its errors; InferenceError I02, I03."""
        return self.coefficients.contrast(expression)

    def __getitem__(self, term: str | list[str]) -> NormalEstimate:
        return self.coefficients[term]

    # Specific to models --------------------------------------------------------------------------------

    def test(self, constraints: str | None = None, *, column: str | None = None) -> Test:
        """Test linear constraints, "age = 0, `sex[T.female]` = 0", or all coefficients whose terms use a column.

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
        """Return the mean response (or quantile, or centre) at the rows of a frame or mapping, one term for each row.

        table: a frame, or a mapping of columns; of single values, {"age": 30}, one row.
        Intervals are for the mean, not for a new observation; they are transformed from the linear predictor, so they
        stay within the response's limits.  scale: "link" returns linear predictors.  A note names columns whose values
        are outside the bounds of the fit.
        InferenceError I42 for rows that cannot be evaluated, I45 without a fit.
        """
        from tacit.fits.effects import check_scale, evaluator, predict, rows_of
        from tacit.fits.regressors import beyond

        # intervals are formed on the link scale, where the normal approximation holds better
        check_scale(scale)
        table = rows_of(table)
        link = predict(self.fit, table, "link")
        link = replace(link, notes=(*beyond(self, table), *link.notes))
        if scale == "link":
            return self._made(link, "Linear predictors", "linear predictors")
        response = replace(predict(self.fit, table), notes=link.notes)
        made = self._made(response, "Predictions", "mean responses at given rows")
        # every inverse link is increasing, so that ends of intervals map to ends
        return replace(made, scale=Scale(link.values, link.std_errors, evaluator(self.fit).loss.mean))

    def marginal_effects(self) -> NormalEstimate:
        """Return average marginal effects over the rows counted: slopes for numeric columns, differences for levels.

        For a `Regression`, only numeric columns that form a term alone; InferenceError I80 where there is none, I45
        where there is no fit.  Source: delta method; variances include the noise in the averaging weights.
        """
        from tacit.fits.effects import marginal_effects

        return self._made(
            marginal_effects(self.fit), "Average marginal effects", "average marginal effects", tested=True
        )

    def sample(self, n: int | None = None, *, regressors: Any = None, rng: Any = None) -> pd.DataFrame:
        """Return synthetic rows: regressors as given, and responses drawn from the model's law given them.

        n: rows; None: as many as the frame has.  regressors: a public frame, whose rows are taken one after another, or
        a release with `.sample`, such as a histogram of them.  rng: a whole number or a NumPy Generator, or None.
        Linear responses are normal with the released residual standard deviation; counts and positive responses have
        the spread that the release says.  The rows are nobody's, and free; `frame.attrs["note"]` says what they ignore.
        InferenceError I42 (a regressor's value), I61 (n), I62 (rng), I63 (a reason), I90 (regressors), I91 (a model
        that has no law of the response).
        """
        from tacit.fits.model_rows import sample

        return sample(self, n, regressors, rng)

    def synthetic_sets(
        self,
        sets: int = 40,
        *,
        n: int | None = None,
        regressors: Any = None,
        target: Target = "population",
        rng: Any = None,
    ) -> SyntheticSets:
        """Return sets of synthetic rows from models that the truth may have: any analysis has both errors.

        sets, n, target, rng: as for histograms.  regressors: a public frame, or a release with `.synthetic_sets`, which
        then are drawn from what the truth may have been, too.  Coefficients are drawn from their normal law with the
        full covariance, and the spread of responses with its errors; the shape of their law is assumed.
        Errors as `sample`, I09 (target), I85 (sets).
        """
        from tacit.fits.model_rows import synthetic_sets

        return synthetic_sets(self, sets, n, regressors, target, rng)

    def utility(self, rows: Any) -> ReproducedNumbers:
        """Return the coefficients that synthetic rows show beside those released; InferenceError I63, I87, I91."""
        from tacit.fits.model_rows import utility

        return utility(self, rows)

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
            noisy=None,
        )

    # Shown ---------------------------------------------------------------------------------------------------------

    def summary(self, level: float = 0.95, *, simultaneous: bool = False, exponentiate: bool = False) -> Table:
        """Return a table of coefficients as in statsmodels and R, with privacy's part of each variance.

        simultaneous: intervals that hold for all terms at once.  exponentiate: of a logistic model odds ratios, of
        counts rate ratios, of a gamma model ratios of means: exponentials of coefficients and of both ends of their
        intervals.  InferenceError I01 (level), I44 (a model whose coefficients are no logarithms of ratios).
        """
        from tacit.estimates.display import criteria_words, normal_table, ratios_table
        from tacit.estimates.wording import who

        if exponentiate:
            table = ratios_table(self.coefficients, self.model, level, simultaneous)
        else:
            table = normal_table(self.coefficients, level, simultaneous)
        said = criteria_words(self.fit.criteria, self.model, who(self.release), self.release.rows)
        return replace(table, notes=(said, *table.notes)) if said else table

    def plot(self, ax: Any = None) -> Any:
        """Plot all coefficients but the intercept, with intervals; InferenceError I20 (no matplotlib), I05."""
        kept = [term for term in self.terms if term != "Intercept"] or list(self.terms)
        return pictures.coefficients(self.coefficients[kept], ax)

    def curve(
        self,
        column: str,
        *,
        at: Mapping[str, Any] | None = None,
        ax: Any = None,
        level: float = 0.95,
        simultaneous: bool = False,
    ) -> Drawn:
        """Plot the mean response along a numeric column, with its interval and the means of the response in its bins.

        at: values of the other columns; by default the first level of a factor and the mean of a numeric column (for a
        `Regression`, which counts no cells, the middle of its bounds).  The means by bin are shown only for a model of
        a histogram with no other column.  simultaneous: a band with the whole curve within it, in place of an interval
        at each place.
        InferenceError I41 (no such column), I45 (no fit), I01 (level), I20 (no matplotlib).
        """
        from tacit.fits.fitted_curves import curve

        return curve(self, column, at, ax, level, simultaneous=simultaneous)
