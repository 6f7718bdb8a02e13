"""Predictions, average marginal effects and Wald tests of a fit: delta method, sampling and privacy covariances.

An average marginal effect uses the noisy counts twice: in the coefficients and as weights of the average.  The two
influences of each cell's count are added before the variance is taken, so that their correlation is included.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Literal, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas, special
from tacit.errors import InferenceError
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.fit import Evaluator, Fit, FitWork, covariances
from tacit.fits.model_matrix import frame
from tacit.fits.solvers.losses import RegressionLoss
from tacit.fits.within_bins.cell_points import Points
from tacit.release.parts import Variable

STEP: Final = 1e-4
"""Distance between the two points of a central difference, relative to the column's range."""


@dataclass(frozen=True)
class FitEffects:
    """Numbers derived from a fit.

    names: labels of the m numbers.  values: shape (m,).  cov_sampling, cov_privacy: shape (m, m); the total covariance
    is their sum.  reason: why the standard errors are not valid, or None.  notes: caveats for the reader.
    """

    names: tuple[str, ...]
    values: Array
    cov_sampling: Array
    cov_privacy: Array
    reason: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def std_errors(self) -> Array:
        """Standard errors, sampling and privacy together, shape (m,)."""
        return np.sqrt(np.maximum(np.diag(self.cov_sampling) + np.diag(self.cov_privacy), 0.0))


def _work(fit: Fit) -> FitWork:
    """Return what effects need of a fit; InferenceError I45 where there is no fit."""
    if fit.work is None:
        why = fit.reasons[0] or "only formulas fitted to cells have these"
        raise InferenceError(f"{fit.formula!r} leaves nothing to work with: {why}.", code="I45", state=None)
    return fit.work


@dataclass(frozen=True)
class _CellEvaluator:
    """Evaluates the formula of a fit to cells at new rows."""

    work: FitWork

    @property
    def loss(self) -> RegressionLoss:
        return self.work.problem.loss

    @property
    def inputs(self) -> tuple[Variable, ...]:
        return ()

    def at(self, frame: Any) -> Array:
        return self.work.design.at(frame)

    def involved(self, column: str) -> list[int]:
        terms = self.work.design.spec.term_indices.items()
        return [
            i
            for term, at in terms
            if column in {str(name) for factor in term.factors for name in _variables(self.work, factor)}
            for i in at
        ]


def evaluator(fit: Fit) -> Evaluator:
    """Return the evaluator of the fit's formula at new rows; InferenceError I45 where there is no fit."""
    return _CellEvaluator(_work(fit)) if fit.evaluator is None else fit.evaluator


def combined(fit: Fit, matrix: Array, names: tuple[str, ...], values: Array | None = None) -> FitEffects:
    """Return linear combinations of the coefficients, with covariances; matrix: shape (m, p).

    With `values`, these are reported instead and `matrix` is their Jacobian in the coefficients (delta method).
    """
    made = matrix @ fit.values if values is None else values
    sampling, privacy = (matrix @ part @ matrix.T for part in (fit.cov_sampling, fit.cov_privacy))
    return FitEffects(names, made, sampling, privacy, _reason(fit, matrix))


def _reason(fit: Fit, matrix: Array) -> str | None:
    """Return why a coefficient has no standard error that some combination takes part of, or None."""
    return next((why for why, column in zip(fit.reasons, matrix.T, strict=True) if why and column.any()), None)


def predict(fit: Fit, table: Any, scale: Literal["response", "link"] = "response") -> FitEffects:
    """Return the mean response (quantile or centre for such models) at the rows of a frame, by the delta method.

    table: a pandas frame or a mapping with the formula's regressors.  scale: "link" returns linear predictors, whose
    intervals stay within the response's limits once transformed.  InferenceError I42 for rows that cannot be
    evaluated, I45 where there is no fit.
    """
    formula = evaluator(fit)
    check_scale(scale)
    rows = rows_of(table)
    X = formula.at(rows)
    eta = X @ fit.values
    names = tuple(str(label) for label in rows.index)
    if scale == "link":
        return combined(fit, X, names)
    loss = formula.loss
    # Jacobian of the means in the coefficients: slope(x' b) x in each row
    return combined(fit, X * loss.slope(eta)[:, None], names, loss.mean(eta))


def check_scale(scale: object) -> None:
    """Raise InferenceError I45 for an unknown scale of predictions."""
    if not isinstance(scale, str) or scale not in ("response", "link"):
        text = f"scale is {described(scale)}: neither response nor link."
        raise InferenceError(text, code="I45", hint='scale="link"', state=None)


def rows_of(table: Any) -> Any:
    """Return the rows to predict at as a pandas frame; a mapping of single values is one row.  InferenceError I42."""
    given = table
    if isinstance(table, Mapping):
        words = cast("Mapping[str, Any]", table)
        # one person's values: {"age": 30, "sex": "f"}
        single = bool(words) and all(np.ndim(one) == 0 for one in words.values())
        given = {name: [one] for name, one in words.items()} if single else words
    try:
        return pandas().DataFrame(given)
    except (TypeError, ValueError):
        pass
    if isinstance(given, Mapping):
        lengths = {name: np.size(one) for name, one in cast("Mapping[str, Any]", given).items() if np.ndim(one)}
        if len(set(lengths.values())) > 1:
            told = ", ".join(f"{one:,} of {name!r}" for name, one in lengths.items())
            text = f"the rows to predict at have columns of several lengths: {told}."
            hint = "as many values of each column, or a single one that holds in all rows"
            raise InferenceError(text, code="I42", hint=hint, state=None)
    text = f"the rows to predict at are {described(cast(Any, table))}: no frame, and no mapping of columns."
    raise InferenceError(text, code="I42", hint='predict({"age": [30, 40]})', state=None)


def marginal_effects(fit: Fit) -> FitEffects:
    """Return average marginal effects of the regressors.

    For continuous columns and numbers, the average derivative of the mean response; for factors, the average
    difference from the first level.  The average is over the rows that the release counts.  A release of `Regression`
    only supports numeric columns that form a term alone.  InferenceError I45 where there is no fit, I80 where a
    `Regression` supports none.
    """
    if fit.average_effects is not None:
        return fit.average_effects(fit)
    work = _work(fit)
    columns = [axis for axis in work.points.cells.axes if axis.name in work.design.spec.required_variables]
    table = frame(work.points)
    weights, rows = work.weights, float(work.weights.sum())
    names: list[str] = []
    values: list[float] = []
    influences: list[Array] = []
    gradients: list[Array] = []
    for axis in columns:
        for name, above, below, distance in _pairs(axis, table):
            each, gradient = _difference(fit, work, above, below, distance)
            value = float(weights @ each) / rows
            # influence of a point's weight: on the average itself, plus through the coefficients (delta method)
            direct = (each - value) / rows
            names.append(name)
            values.append(value)
            gradients.append(weights @ gradient / rows)
            influences.append(direct + work.influence @ gradients[-1])
    # one influence for each point and number, so that effects have covariances too; shape (points, m)
    made = covariances(work.points, np.stack(influences, axis=1), work.doubt)
    through = np.stack(gradients) @ work.residuals @ np.stack(gradients).T
    sampling = made.sampling + made.unknown + through
    return FitEffects(tuple(names), np.array(values), sampling, made.privacy, _reason(fit, np.stack(gradients)))


def _pairs(axis: CellAxis, table: Any) -> list[tuple[str, Any, Any, float]]:
    """Return the contrasts of one column: (name, frame with it raised, frame with it lowered, distance of the two)."""
    if axis.kind == "levels" and axis.numbers is None:
        labels = list(axis.labels or ())
        made = pandas().Categorical.from_codes

        def at(code: int) -> Any:
            return table.assign(**{axis.name: made([code] * len(table), categories=labels)})

        # all rows are set to one level, then to the first: other columns keep their distribution
        return [(f"{axis.name}[{labels[code]}]", at(code), at(0), 1.0) for code in range(1, len(labels))]
    # central differences, as any formula may transform the column: no derivative of it is known
    half = STEP / 2 * float(np.ptp(axis.bounds if axis.kind == "continuous" else axis.centers))
    up, down = (table.assign(**{axis.name: table[axis.name] + sign * half}) for sign in (1, -1))
    return [(axis.name, up, down, 2 * half)]


def _difference(fit: Fit, work: FitWork, above: Any, below: Any, distance: float) -> tuple[Array, Array]:
    """Return the difference quotient of the mean response, shape (points,), and its gradient, shape (points, p)."""
    loss = work.problem.loss
    high, low = work.design.at(above), work.design.at(below)
    each = (loss.mean(high @ fit.values) - loss.mean(low @ fit.values)) / distance
    up, down = (X * loss.slope(X @ fit.values)[:, None] for X in (high, low))
    return each, (up - down) / distance


@dataclass(frozen=True)
class Wald:
    """A Wald test: chi-square statistic, degrees of freedom, p-value, and why the test is not valid, or None."""

    statistic: float
    df: int
    p_value: float
    reason: str | None = None


def wald(fit: Fit, matrix: Array, null: Array | None = None) -> Wald:
    """Test that matrix @ coefficients equals `null` (by default zeros), by chi-square with the total covariance.

    matrix: shape (m, p).  null: shape (m,).  InferenceError I03 for linearly dependent constraints or a wrong number of
    columns, I45 where there is no fit.
    """
    _work(fit)
    rows = np.atleast_2d(np.asarray(matrix, dtype=np.float64))
    # dependent constraints would make their covariance singular
    if rows.shape[1] != len(fit.names) or np.linalg.matrix_rank(rows) < len(rows):
        raise InferenceError("constraints repeat each other, or are not of the coefficients.", code="I03", state=None)
    found = combined(fit, rows, ())
    gap = found.values - (0.0 if null is None else np.asarray(null, dtype=np.float64))
    statistic = float(gap @ np.linalg.solve(found.cov_sampling + found.cov_privacy, gap))
    return Wald(statistic, len(rows), float(special().chdtrc(len(rows), max(statistic, 0.0))), found.reason)


def terms_of(fit: Fit, column: str) -> Array:
    """Return the matrix that selects the coefficients of all terms that use a column, for `wald`, shape (m, p).

    InferenceError I41 where no term uses it.
    """
    picked = evaluator(fit).involved(column)
    if not picked:
        raise InferenceError(f"{column!r} takes part in no term of {fit.formula!r}.", code="I41", state=None)
    return np.eye(len(fit.names))[picked]


def _variables(work: FitWork, factor: Any) -> set[str]:
    """Return names of the columns that a factor of the formula reads."""
    found = work.design.spec.factor_variables.get(factor, ())
    return {str(name) for name in found}


def points_of(fit: Fit) -> Points:
    """Return the weighted points that a fit was made on; InferenceError I45 where there is no fit."""
    return _work(fit).points
