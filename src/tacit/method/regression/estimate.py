"""Estimate the coefficients of a regression, with sampling and privacy errors."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Final, cast

import numpy as np

from tacit.base.table import Table, shown_by_summary
from tacit.errors import InferenceError
from tacit.estimates.terms import Target, check_target
from tacit.fits.fit import Fit, MeanSlope
from tacit.method.regression.bounded_scores.heavy_tails import side_of
from tacit.method.regression.estimate_coefficients import score_coefficients as regression_scores
from tacit.method.regression.estimate_coefficients.errors_of_far_rows import reached, taken_as_linear, with_far_rows
from tacit.method.regression.estimate_coefficients.linear_coefficients import fit, no_fit
from tacit.method.regression.estimate_coefficients.linear_step import most_noise
from tacit.method.regression.estimate_coefficients.marginal_effects import marginal_effects
from tacit.method.regression.estimate_coefficients.terms_at_rows import evaluator
from tacit.method.regression.estimate_coefficients.weights_of_rows import weight_note, weight_words
from tacit.method.regression.estimate_coefficients.what_would_help import left_nothing
from tacit.method.regression.formulas.formula import parse
from tacit.method.regression.formulas.layout import Layout, layout
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums.noisy_crossproducts import (
    NoisyMatrix,
    ResidualScores,
    read_crossproducts,
    read_residual_scores,
)
from tacit.method.regression.row_sums.noisy_norms import read_norm_scores, read_standardised, read_tail, turned
from tacit.method.regression.row_sums.norm_encoding import OF_COLUMNS
from tacit.method.regression.row_sums.norm_scaling import kept_of, means_of, with_whole_response
from tacit.method.regression.row_sums.released_columns import read_columns
from tacit.release.document import Release, Released
from tacit.release.parts import Variable

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.estimates.synthetic.reproduced_numbers import ReproducedNumbers
    from tacit.estimates.synthetic.synthetic_sets import SyntheticSets
    from tacit.fits.fitted_model import FittedModel

SOURCE_LINEAR: Final = (
    "noisy cross-products, then one step of clipped residuals [Bickel 1975]; both errors in the standard errors"
)

SOURCE_NORMS: Final = (
    "noisy products of norm-clipped rows, then one step of clipped residuals [Bickel 1975] on uncorrelated axes; "
    "both errors in the standard errors"
)

SOURCE_TABLE: Final = "noisy cross-products, then one step of clipped residuals [Bickel 1975]"
HERE: Final = "of the table itself"

SOURCE_GLM: Final = (
    "a pilot, then two steps of bounded scores [Cantoni & Ronchetti 2001]; both errors in the standard errors"
)

SOURCE_NORM_GLM: Final = (
    "a pilot, then steps of bounded scores [Cantoni & Ronchetti 2001] of norm-clipped rows on uncorrelated axes; both "
    "errors in the standard errors"
)

SOURCES: Final = {True: (SOURCE_LINEAR, SOURCE_NORMS), False: (SOURCE_GLM, SOURCE_NORM_GLM)}
"""Of linear and of other models: of rows in boxes, and of norm-clipped rows."""


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

    def fit(self, target: Target = "population", *, linear: bool = False) -> Fit:
        """Return coefficients and both parts of their covariance, or the reason why noise is too large for them.

        linear: see `estimate`.
        """
        return fit_release(self, target, linear=linear)

    def estimate(self, target: Target = "population", *, linear: bool = False) -> FittedModel:
        """Return the fitted model: coefficients with tests and contrasts, as for models fitted to a histogram.

        target="table": the coefficients of least squares for this very table, its values clamped to their bounds; noise
        makes their errors, with an allowance for residuals that were clipped.  InferenceError I09 for another target,
        and for the table's own coefficients of another model than the linear one, of persons, or with weights.

        Rows whose regressors lie far out count less.  Errors allow for slopes of these rows that differ by half from
        those of the others (a standard deviation; not of logistic and probit models).  linear=True: the mean of the
        response, or its logarithm where that is modelled, is taken to be linear however far out a row lies; errors are
        then smaller where regressors have long tails.
        """
        from tacit.fits.fit_release import fitted

        boxes, norms = SOURCES[cast(Regression, self.query).model == "linear"]
        source = norms if shortened(self) else boxes
        made = fitted(self, self.fit(target, linear=linear), source if target == "population" else SOURCE_TABLE)
        words = weight_words(self)
        if words:
            plain = made.coefficients
            made = replace(made, coefficients=replace(plain, estimand=f"{plain.estimand} of the population{words}"))
        if target == "population":
            return made
        plain = made.coefficients
        return replace(made, coefficients=replace(plain, estimand=f"{plain.estimand}, {HERE}", target=target))

    def sample(self, n: int | None = None, *, regressors: Any = None, rng: Any = None) -> pd.DataFrame:
        """Return synthetic rows, responses drawn given regressors: see `FittedModel.sample`."""
        return self.estimate().sample(n, regressors=regressors, rng=rng)

    def synthetic_sets(
        self,
        sets: int = 40,
        *,
        n: int | None = None,
        regressors: Any = None,
        target: Target = "population",
        rng: Any = None,
    ) -> SyntheticSets:
        """Return sets of rows from models that the truth may have: see `FittedModel.synthetic_sets`."""
        return self.estimate().synthetic_sets(sets, n=n, regressors=regressors, target=target, rng=rng)

    def utility(self, rows: Any) -> ReproducedNumbers:
        """Return what rows show of the coefficients: see `FittedModel.utility`."""
        return self.estimate().utility(rows)

    def summary(self, level: float = 0.95) -> Table:
        """Return the coefficients as a table; InferenceError I01 (level)."""
        return self.estimate().summary(level)

    def plot(self, ax: Any = None) -> Any:
        """Plot the coefficients but the intercept, with intervals; InferenceError I20 without matplotlib."""
        return self.estimate().plot(ax)


def _in_persons(reason: str | None) -> str | None:
    """Return a reason in which persons take the place of rows."""
    said = (reason or "").replace("complete rows", "persons with a complete row")
    return (
        said.replace("more rows", "more persons")
        .replace(" rows or ", " persons or ")
        .replace(" rows would", " persons would")
    )


def variables_of(release: Released) -> tuple[Variable, ...]:
    """Return the public facts of the formula's columns."""
    return cast("tuple[Variable, ...]", getattr(release, "variables", ()))


def layout_of(release: Released) -> Layout:
    """Return the layout of a release's formula."""
    return layout(parse(cast(Regression, release.query).formula), variables_of(release))


def _check_target(release: Released, query: Regression, target: Target) -> None:
    """Raise InferenceError I09 for an unknown target, and for a table's own fit that a release does not tell."""
    check_target(target)
    if target == "population":
        return
    why = None
    if query.model != "linear":
        why = f"the scores of a {query.model} model are bounded, and do not tell where the table's own would be 0"
    elif query.weights is not None:
        why = "of rows with weights, what clipping does to their squares is not released"
    elif release.unit is not None:
        why = "of persons, what clipping does to their mean scores is not released"
    if why is not None:
        text = f"target 'table': {why}."
        raise InferenceError(text, code="I09", hint='target="population"', state=None)


def shortened(release: Released) -> bool:
    """Return whether a release's rows were shortened to a norm."""
    return release.parts[0].form in OF_COLUMNS


def _norm_note(far: float) -> str:
    """Return the note on how far a row's regressors may lie from their means, in standard deviations."""
    return (
        f"Rows count whole where their regressors, together, lie within {far:.2g} standard deviations of the means; "
        "rows beyond it pull less."
    )


def linear_parts(release: Released, made: Layout) -> tuple[NoisyMatrix, ResidualScores, float | None]:
    """Return cross-products and scores of a linear regression, and its rows where these do not say how many."""
    if not shortened(release):
        first, second = release.parts
        return read_crossproducts(first, made, release.rows), read_residual_scores(second, made), None
    moments, first, second, *matrices = release.parts
    columns = read_columns(moments, made, release.rows, first)
    products, turn = read_standardised(first, made, columns.row)
    whole = with_whole_response(products.of_rows(columns.rows), columns)
    kept = kept_of(columns, made, products, turn, turned(second.parameters, made.size))
    row = None if moments.weight is None else columns.row
    scores = read_norm_scores(second, made, kept.scores, matrices[0] if matrices else None, row)
    scores = replace(scores, side=side_of(read_tail(first)), means=means_of(columns))
    back = np.asarray(np.linalg.inv(turn), dtype=np.float64)
    return whole.transformed(back), scores, columns.rows


def _linear(release: Released, formula: str, made: Layout, *, of_table: bool) -> Fit:
    """Return the fit of a linear regression; a reason where released integers allow no arithmetic."""
    try:
        parts, rows, cost = linear_parts(release, made), release.rows, release.cost
        return fit(formula, made, *parts, of_table=of_table, cost=cost, public=rows)
    # computed from released integers alone, so that a failure tells no more of any row than they do
    except (np.linalg.LinAlgError, ArithmeticError, ValueError):
        most = most_noise(plain=release.unit is None)
        return no_fit(formula, made, left_nothing(release.parts, made, release.rows, most, release.cost))


def fit_release(release: Released, target: Target = "population", *, linear: bool = False) -> Fit:
    """Return the fit of a release of a regression, real or simulated.  Source: Bickel 1975 (one step).

    linear: without the error by rows further out than vectors reach (`far_rows`).
    """
    query, made = cast(Regression, release.query), layout_of(release)
    _check_target(release, query, target)
    if query.model != "linear":
        parts, rows, cost = release.parts, release.rows, release.cost
        found = regression_scores.fit(query.formula, query.model, made, parts, rows, cost, linear=linear)
    else:
        found = _linear(release, query.formula, made, of_table=target == "table")
        nothing = np.zeros(len(found.names))
        # the mean of a linear model has slope 1 in its predictor everywhere, known without error
        found = replace(found, slope=MeanSlope(1.0, nothing, 0.0, 0.0, nothing))
    if shortened(release) and found.reasons[0] is None:
        at = reached(release, made)
        found = taken_as_linear(found, release, made) if linear else with_far_rows(found, release, made, at)
        weighed, numbers = weight_note(release, made)
        notes = (*found.notes[:1], _norm_note(at.reach), *found.notes[1:], *weighed)
        found = replace(found, notes=notes, criteria={**found.criteria, **numbers})
    first = variables_of(release)[0]
    if first.kind == "levels":
        words = f"response: 1 where {first.name} is {first.labels[1]}, 0 where it is {first.labels[0]}"
        found = replace(found, notes=(*found.notes, words))
    if found.reasons[0] is not None:
        return found if release.unit is None else replace(found, reasons=tuple(map(_in_persons, found.reasons)))
    formula = evaluator(query.model, made, variables_of(release))
    return replace(found, evaluator=formula, average_effects=marginal_effects)
