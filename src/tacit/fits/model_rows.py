"""Synthetic rows of a fitted regression: responses drawn given regressors, and sets of them.  Post-processing.

Coefficients that the truth may have are drawn from their normal law, with the full covariance of sampling and noise,
and so is the spread of responses about their means (`response_spread`), independently of them.
Regressors are a public frame, each row as often as the others, or synthetic rows of another release; sets of those are
then drawn from what the truth may have been, too.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Final, cast

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import pandas
from tacit.errors import InferenceError
from tacit.estimates.bootstraps import error_draws
from tacit.estimates.synthetic.drawn_frames import Draw, SetsAsked, asked, made_sets, note_of_rows
from tacit.estimates.synthetic.random_numbers import check_number, generator
from tacit.estimates.synthetic.regressor_rows import frame_of, needed, repeated
from tacit.estimates.synthetic.reproduced_numbers import ReproducedNumbers, checked_rows
from tacit.estimates.synthetic.synthetic_sets import SyntheticSets
from tacit.estimates.terms import Target
from tacit.fits.effects import evaluator
from tacit.fits.fit import Evaluator
from tacit.fits.response_spread import LEAST, Overdispersion, ResidualVariance

if TYPE_CHECKING:
    import pandas as pd  # pyright: ignore[reportMissingTypeStubs]

    from tacit.fits.fitted_model import FittedModel

STEPS: Final = 25
SPREAD_DRAWN: Final = "the spread of responses is drawn with its errors; the shape of their law is not"
SPREAD_KNOWN: Final = "the spread of responses about their means is taken as known"
LAWS: Final = {
    "linear": "responses are taken as normal about their means, with the residual standard deviation {spread:.4g}",
    "logistic": "responses are 1 with the model's probability",
    "probit": "responses are 1 with the model's probability",
    "poisson": "responses have a Poisson law about their means",
    "negative binomial": "responses have a negative binomial law, of variance mean + {spread:.3g} mean², as is assumed",
    "gamma": "responses have a gamma law about their means, of variance {spread:.3g} mean², as is assumed",
}


@dataclass(frozen=True)
class ResponseLaw:
    """The law of a response given its mean.

    column: its name.  labels: those of 0 and 1, where the response has such.  spread: residual standard deviation, or
    what a variance has of squared means.
    """

    column: str
    kind: str
    spread: float
    labels: tuple[str, ...]

    @property
    def words(self) -> str:
        """The law, for notes."""
        return LAWS[self.kind].format(spread=self.spread)

    def drawn(self, mean: Array, rng: np.random.Generator) -> Any:
        """Return responses with these means, shape (n,)."""
        if self.kind == "linear":
            return mean + self.spread * rng.standard_normal(len(mean))
        if self.kind in ("logistic", "probit"):
            one = rng.random(len(mean)) < mean
            if self.labels in ((), ("false", "true")):
                return one
            return pandas().Categorical.from_codes(one.astype(np.int64), list(self.labels))
        if self.kind == "negative binomial" and self.spread > 0:
            return rng.poisson(rng.gamma(1 / self.spread, self.spread * mean))
        if self.kind == "poisson" and self.spread > 0:
            return replace(self, kind="negative binomial").drawn(mean, rng)
        return rng.poisson(mean) if self.kind != "gamma" else rng.gamma(1 / self.spread, self.spread * mean)

    def possible(
        self, errors: ResidualVariance | Overdispersion | None, ask: SetsAsked
    ) -> tuple[ResponseLaw, list[ResponseLaw], tuple[str, ...]]:
        """Return the law of plain sets, that with a spread that the truth may have, for each other set, and notes."""
        plain = self
        if isinstance(errors, ResidualVariance):
            spreads = self.spread * errors.factors(ask.sets, ask.target == "table", ask.rng)
        elif isinstance(errors, Overdispersion):
            least = LEAST * self.spread if self.kind == "gamma" else 0.0
            spreads = errors.drawn(ask.sets, ask.rng, least=least)
            if self.kind == "gamma":
                # where noise hides the spread its estimate is the least of all; the middle of what it may be is above
                plain = replace(self, spread=max(errors.middle, self.spread))
        else:
            known = () if self.kind in ("logistic", "probit", "poisson") else (SPREAD_KNOWN,)
            return plain, [self] * ask.sets, known
        return plain, [replace(self, spread=float(one)) for one in spreads], (SPREAD_DRAWN,)

    def numbers(self, rows: pd.DataFrame) -> Array:
        """Return responses of rows as numbers, shape (n,); InferenceError I87 for what are none."""
        given = cast("Any", rows)[self.column]
        if self.labels and self.labels != ("false", "true"):
            given = np.asarray(given == self.labels[1])
        try:
            found = np.asarray(given, dtype=np.float64)
        except (TypeError, ValueError):
            found = np.array([np.nan])
        if not np.isfinite(found).all():
            text = f"column {self.column}: a response is no number."
            raise InferenceError(text, code="I87", hint="rows of .sample(regressors=frame)", state=None)
        return found


def law_of(model: FittedModel) -> ResponseLaw:
    """Return the law of a model's response; InferenceError I63 for a reason, I91 for a model without such a law."""
    why = next((one for one in model.reasons if one), None)
    if why is not None:
        text = f"nothing to draw from: {why}."
        raise InferenceError(text, code="I63", hint="a higher price in a new release", state=None)
    name, criteria = model.fit.model, model.fit.criteria
    column = model.formula.split("~")[0].strip()
    spread = criteria.get({"linear": "scale"}.get(name, "spread"), 0.0)
    if name == "poisson" and spread > 0:
        name = "negative binomial"
    if "~" not in model.formula or name not in LAWS or (name in ("linear", "gamma") and not spread > 0):
        text = f"{model.formula!r}, model {name}: it says nothing of how responses spread about what it predicts."
        raise InferenceError(text, code="I91", hint='model="linear", "logistic", "probit" or "poisson"', state=None)
    return ResponseLaw(column, name, float(spread), _labels(model, column))


def _labels(model: FittedModel, column: str) -> tuple[str, ...]:
    """Return the labels of 0 and 1 of a response of levels."""
    for one in getattr(model.release, "variables", ()):
        if one.name == column and one.kind == "levels":
            return tuple(one.labels)
    axes = () if model.fit.work is None else model.fit.work.points.cells.axes
    return next((tuple(axis.labels or ()) for axis in axes if axis.name == column), ())


def sample(model: FittedModel, n: int | None, regressors: Any, rng: Any) -> pd.DataFrame:
    """See `FittedModel.sample`."""
    law, formula = law_of(model), evaluator(model.fit)
    columns = inputs_of(model, formula, law)
    given, drawn = needed(regressors, columns), generator(rng)
    if n is None and hasattr(given, "iloc"):
        n = max(len(given), 1)
    check_number(n)
    frame = _drawn_regressors(given, int(n or 0), drawn, columns)
    made = _with_response(frame, law, formula, model.values, drawn)
    made.attrs["note"] = note_of_rows(model.release, law.words[0].upper() + law.words[1:] + ".")
    return made


def synthetic_sets(
    model: FittedModel, sets: int, n: int | None, regressors: Any, target: Target, rng: Any
) -> SyntheticSets:
    """See `FittedModel.synthetic_sets`."""
    law, formula = law_of(model), evaluator(model.fit)
    columns = inputs_of(model, formula, law)
    ask = asked(sets, n, target, rng, model.criteria.get("rows", 0.0))
    given = _sets_of_regressors(needed(regressors, columns), ask, columns)
    known = model.coefficients
    joint = known.privacy if target == "table" else known.sampling + known.privacy
    middle, laws, said = law.possible(model.fit.spread, ask)
    moved = model.values + ask.rng.standard_normal((ask.sets, len(model.values))) @ error_draws.root(joint).T
    kept = f"synthetic sets keep the regression {model.formula}; of regressors what was given with them"
    return made_sets(
        model.release,
        ask,
        lambda place, rows, own: _with_response(given.plain(place, rows, own), middle, formula, model.values, own),
        lambda place, rows, own: _with_response(given.moved(place, rows, own), laws[place], formula, moved[place], own),
        reason=given.reason,
        notes=(kept, law.words, *said, *given.notes),
    )


def inputs_of(model: FittedModel, formula: Evaluator, law: ResponseLaw) -> tuple[str, ...]:
    """Return the columns that the right side reads."""
    if formula.inputs:
        return tuple(one.name for one in formula.inputs)
    axes = () if model.fit.work is None else model.fit.work.points.cells.axes
    return tuple(axis.name for axis in axes if axis.name != law.column)


def utility(model: FittedModel, rows: Any) -> ReproducedNumbers:
    """See `FittedModel.utility`: coefficients refitted to rows by maximum likelihood, beside those released."""
    law, formula = law_of(model), evaluator(model.fit)
    rows = checked_rows(rows, (law.column, *inputs_of(model, formula, law)))
    X, y = formula.at(rows), law.numbers(rows)
    beta: Array = model.values
    scores, hessian = X, X.T @ X
    for _ in range(STEPS):
        _, first, second = formula.loss.evaluate(y[:, None], X @ beta)
        scores, hessian = X * first[:, None], X.T @ (X * second[:, None])
        try:
            step: Array = np.asarray(np.linalg.solve(hessian, scores.sum(axis=0)), dtype=np.float64)
        except np.linalg.LinAlgError:
            text = "these rows do not tell the coefficients apart."
            raise InferenceError(text, code="I87", hint="more rows, with other regressors", state=None) from None
        beta = beta - step
        if np.abs(step).max() < 1e-10 * (1 + np.abs(beta).max()):
            break
    inverse = np.linalg.inv(hessian)
    drawing = np.sqrt(np.maximum(np.diag(inverse @ (scores.T @ scores) @ inverse), 0.0))
    return ReproducedNumbers(model.release, len(y), model.terms, model.values, beta, drawing, model.std_errors)


# Regressors ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class SetsOfRegressors:
    """Regressors of plain sets, and of those from what the truth may have been."""

    plain: Draw
    moved: Draw
    reason: str | None = None
    notes: tuple[str, ...] = ()


def _sets_of_regressors(given: Any, ask: SetsAsked, columns: tuple[str, ...]) -> SetsOfRegressors:
    if hasattr(given, "iloc"):
        frame = frame_of(given, columns)

        def same(_: int, rows: int, rng: np.random.Generator) -> pd.DataFrame:
            return repeated(frame, rows)

        return SetsOfRegressors(same, same, None, (f"regressors are the {len(frame):,} rows given, and known",))
    if not callable(getattr(given, "synthetic_sets", None)):
        frame_of(given, columns)
    made: SyntheticSets = given.synthetic_sets(ask.sets, n=ask.rows, target=ask.target, rng=ask.rng)

    def of(frames: Any) -> Callable[[int, int, np.random.Generator], pd.DataFrame]:
        return lambda place, rows, rng: frame_of(frames[place], columns)

    return SetsOfRegressors(of(made.plain), of(made.frames), made.reason, made.notes)


def _drawn_regressors(given: Any, n: int, rng: np.random.Generator, columns: tuple[str, ...]) -> pd.DataFrame:
    if not hasattr(given, "iloc") and callable(getattr(given, "sample", None)):
        return frame_of(given.sample(n, rng=rng), columns)
    return repeated(frame_of(given, columns), n)


def _with_response(
    frame: pd.DataFrame, law: ResponseLaw, formula: Evaluator, beta: Array, rng: np.random.Generator
) -> pd.DataFrame:
    """Return the response, drawn, and the regressors beside it."""
    mean = formula.loss.mean(formula.at(frame) @ beta)
    made: pd.DataFrame = cast("Any", frame).drop(columns=[law.column], errors="ignore")
    made.insert(0, law.column, law.drawn(mean, rng))
    return made
