"""Fits to noisy cells: their results, and the steps from a loss on points to solution, covariances and reasons."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, get_args

import numpy as np

from tacit.base.arguments import described
from tacit.base.arrays import Array
from tacit.base.table import Align, Table
from tacit.errors import InferenceError, nearest
from tacit.estimates.total_errors.noisy_covariance import NoisyCovariance
from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.model_matrix import Design
from tacit.fits.response_spread import Overdispersion, ResidualVariance
from tacit.fits.solvers.losses import RegressionLoss
from tacit.fits.solvers.problem import Problem, RegressionProblem
from tacit.fits.solvers.sandwich import LOOSEST, inverted, parts, relative_hessian_noise
from tacit.fits.solvers.solver import Solution, solve
from tacit.fits.within_bins.bin_errors import bin_errors
from tacit.fits.within_bins.cell_points import Points
from tacit.release.parts import Variable

if TYPE_CHECKING:
    from tacit.fits.effects import FitEffects

Method = Literal["corrected", "midpoint", "lei-2011", "lei-2011-nonnegative", "lei-2011-threshold"]
CUT: Final = 0.5
"""Lei's tuning parameter A."""
MOST: Final = 20_000_000
"""Most points of a fit: one number for each takes 160 MB."""
DOUBT: Final = 0.65
"""Part of what shares' slopes do to a loss with kinks that is not known, where bins are as wide as residuals spread.

In proportion to `wide`, up to 1.  Skewed residuals were off by as much (`benchmarks/drawn_bins.py`, sets 5 to 9).
"""
LINES: Final = 0.1
"""The same of smooth losses.

Of rows whose responses have bins of more than a residual's standard deviation: slopes were off by up to nine tenths of
what shares' slopes do where bins are 2.7 deviations wide, and by a tenth to a half where they are 1.3
(`benchmarks/skewed_regressors.py`, sets 1 and 2).
"""
WIDE: Final = 1.5
"""Mean square of a bin's width beside the residuals' above which a note says so."""


@dataclass(frozen=True)
class FitWork:
    """What predictions and effects need of a fit: points, design, weights and influences of points.

    influence: how the coefficients move with each point's weight, shape (points, p).  doubt: see `covariances`.
    residuals: covariance of what residuals within bins may move the coefficients by (`within_residuals`), shape (p, p).
    """

    points: Points
    design: Design
    problem: RegressionProblem
    weights: Array
    influence: Array
    doubt: float
    residuals: Array


class Evaluator(Protocol):
    """A fitted formula that can be evaluated at new rows."""

    @property
    def loss(self) -> RegressionLoss:
        """The model's loss, whose `mean` and `slope` turn linear predictors into responses."""
        ...

    @property
    def inputs(self) -> tuple[Variable, ...]:
        """The columns of a table that the right side reads, of a fit not made from cells; else empty."""
        ...

    def at(self, frame: Any) -> Array:
        """The right side at the rows of a pandas frame, shape (rows, p)."""
        ...

    def involved(self, column: str) -> list[int]:
        """Indices of the terms that use a column."""
        ...


@dataclass(frozen=True)
class MeanSlope:
    """The mean over rows of the derivative of the mean response in the linear predictor, for a fit without cells.

    gradient: its derivative in the coefficients, shape (p,).  sampling, privacy: its own variances.  along: its own
    covariance with the coefficients due to sampling, shape (p,), None where it is not known; that due to privacy is 0.
    """

    value: float
    gradient: Array
    sampling: float
    privacy: float
    along: Array | None


@dataclass(frozen=True, repr=False)
class Fit:
    """Coefficients of a regression fitted to noisy cells, with both parts of their covariance.

    names: of terms.  values: shape (p,), NaN where there is no fit.  cov_sampling, cov_privacy: shape (p, p); they are
    independent and add.  reasons: why a term's value or standard error says nothing, in words, or None.
    notes: what a reader must know.  criteria: "rows" (the sum of the counts used), "deviance", "null_deviance",
    "explained" (1 - their ratio: R squared for "linear"; absent where noise hides it) and "scale" (root mean square
    error, "linear" only; of sums over rows with "scale_lower" and "scale_upper", the ends of its 95% interval, for the
    table itself); of rows with weights "rows" is "effective_size", with a "design_effect" where the number of
    rows is public.
    work: for effects (`tacit.fits.effects`), None where there is no fit, or it was not made from cells.
    evaluator, slope, average_effects: for predictions and average marginal effects of a fit not made from cells.
    noisy: the total covariance with the law of the noise in it, for joint tests, where it is known.
    spread: the errors of the spread of responses about their means, where it is estimated.
    shared: the part of each term's variance, shape (p,), that the fits of other parties to the same formula share.
    """

    formula: str
    model: str
    method: Method
    names: tuple[str, ...]
    values: Array
    cov_sampling: Array
    cov_privacy: Array
    reasons: tuple[str | None, ...]
    notes: tuple[str, ...] = ()
    criteria: Mapping[str, float] = field(default_factory=dict[str, float])
    work: FitWork | None = field(default=None, repr=False, compare=False)
    evaluator: Evaluator | None = field(default=None, repr=False, compare=False)
    slope: MeanSlope | None = field(default=None, repr=False, compare=False)
    average_effects: Callable[[Fit], FitEffects] | None = field(default=None, repr=False, compare=False)
    noisy: NoisyCovariance | None = field(default=None, repr=False, compare=False)
    spread: ResidualVariance | Overdispersion | None = field(default=None, repr=False, compare=False)
    shared: Array | None = field(default=None, repr=False, compare=False)

    @property
    def std_errors(self) -> Array:
        """Standard errors, sampling and privacy together, shape (p,)."""
        return np.sqrt(np.maximum(np.diag(self.cov_sampling) + np.diag(self.cov_privacy), 0.0))

    def __repr__(self) -> str:
        total = self.std_errors**2
        noisy = np.divide(np.diag(self.cov_privacy), total, out=np.full_like(total, np.nan), where=total > 0)
        each = zip(self.names, self.values, self.std_errors, noisy, self.reasons, strict=True)
        rows = [
            (term, _five(value), _five(error), f"{100 * part:.0f} %" if np.isfinite(part) else "–", why or "")
            for term, value, error, part, why in each
        ]
        columns = ("term", "coefficient", "std. error", "of which privacy", *(("reason",) if any(self.reasons) else ()))
        sides: tuple[Align, ...] = ("left", "right", "right", "right", "left")
        table = Table("", columns, tuple(row[: len(columns)] for row in rows), self.notes, sides[: len(columns)])
        title = f"{self.formula} · {self.model}, {self.method}: tests and intervals are those of estimate()"
        return f"{title}\n{table.to_text()}"


def _five(x: float) -> str:
    """Return a number to five significant digits; a dash where there is none."""
    return f"{x:.5g}" if np.isfinite(x) else "–"


def empty(formula: str, model: str, method: Method, names: tuple[str, ...], notes: tuple[str, ...]) -> Fit:
    """A fit without numbers yet."""
    p = len(names)
    nothing = np.full((p, p), np.nan)
    return Fit(formula, model, method, names, np.full(p, np.nan), nothing, nothing, (None,) * p, notes)


def check_method(method: str) -> None:
    """InferenceError I44 for an unknown method."""
    known = get_args(Method)
    if not isinstance(method, str) or method not in known:  # pyright: ignore[reportUnnecessaryIsInstance]
        hint = nearest(method, known) if isinstance(method, str) else None  # pyright: ignore[reportUnnecessaryIsInstance]
        message = f"no method is called {described(method)}; there are {', '.join(known)}."
        raise InferenceError(message, code="I44", hint=f"{hint!r}?" if hint else None, state=None)


def prepared(cells: CellCounts, method: Method) -> CellCounts:
    """Return the cells after the steps that a method takes before margins are formed."""
    if method in ("corrected", "midpoint"):
        # before margins: the excess is then divided among all released cells, the extra ones too
        return cells.project()
    if method == "lei-2011-nonnegative":
        return cells.clip()
    if method == "lei-2011-threshold":
        scale = float(np.sqrt(cells.variance / 2))  # of Laplace noise of that variance: 2 / alpha, or 1 / alpha
        n = cells.total if cells.total is not None else float(cells.counts.sum())
        return cells.threshold(CUT, scale / 2 if cells.total is not None else scale, n)
    return cells


def points_for(cells: CellCounts, columns: tuple[str, ...], method: Method) -> Points:
    """Return a method's points on the margin of some columns; InferenceError I41, and I47 for too many points."""
    points = Points(prepared(cells, method).used(columns), fine=method == "corrected", shaped=True)
    if math.prod(points.shape) > MOST:
        raise InferenceError(
            f"a fit of {', '.join(columns)} takes {math.prod(points.shape):,} points; {MOST:,} are the most.",
            code="I47",
            hint="fewer columns, or fewer bins",
            state=None,
        )
    return points


@dataclass(frozen=True)
class Outcome:
    """A solution, the weights it solves for, shape (points,), and the influence of each of these, shape (points, p).

    doubt, residuals: as in `FitWork`.
    """

    solution: Solution
    weights: Array
    influence: Array
    doubt: float
    residuals: Array


def solved(
    fit: Fit,
    points: Points,
    problem: Problem,
    singular: tuple[str, ...] = (),
    coarse: Callable[[Array], float] | None = None,
    kinks: bool = False,
    within: Callable[[Array, Array, Array, Array], Array] | None = None,
    curvature: Callable[[Array, Array], tuple[str | None, ...]] | None = None,
) -> tuple[Fit, Outcome | None]:
    """Solve the problem; return the fit with values and covariances, or with a reason in each term and no outcome.

    coarse: how wide a response's bins are beside the residuals at a parameter (`regression_fits`); without it 0.
    kinks: whether the loss has some.  within: see
    `within_residuals.residuals_moved`, whose last four arguments it takes.  curvature: reasons of coefficients from
    these and the inverse of the Hessian (`unknown_curvature.unknown_reasons`).
    """
    cells = points.cells

    def without(reason: str) -> tuple[Fit, None]:
        return replace(fit, reasons=(reason,) * len(fit.names)), None

    if singular:
        return without(f"the design is singular: {', '.join(singular)} cannot be told apart")
    few = too_few(cells)
    if few:
        return without(few)
    weights = points.spread(cells.counts)
    # densities taken as flat: with edges a clipped count may still give negative weights
    start = points.spread(np.maximum(cells.counts, 0.0), edges=False)
    found = solve(problem, start, weights)
    if found.failed:
        return without(f"no fit: {found.reason}")
    loose = relative_hessian_noise(problem, found.theta, found.local.hessian, cells.variance, points.per_cell)
    # delta method: theta moves by -B^{-1} g for one more row of score g
    inverse = inverted(found.local.hessian)
    influence = -problem.scores(found.theta) @ inverse
    wide = coarse(found.theta) if coarse else 0.0
    doubt = min(DOUBT * wide if kinks else LINES * max(wide - 1, 0.0), 1.0)
    known = covariances(points, influence, doubt)
    sampling, privacy, curved = known.sampling, known.privacy, np.diag(known.curved)
    residuals = within(found.theta, weights, inverse, curved) if within else np.zeros_like(sampling)
    unknown = known.unknown + residuals
    reason = _reason(cells, found, loose)
    unseen = curvature(found.theta, inverse) if curvature and not reason else (None,) * len(fit.names)
    made = replace(
        fit,
        values=found.theta,
        cov_sampling=sampling + unknown,
        cov_privacy=privacy,
        reasons=tuple(reason or one for one in unseen),
        notes=(
            *fit.notes,
            *grown_note(fit.names, np.diag(sampling + privacy), np.diag(unknown)),
            *_wide_note(wide if kinks else 0.0),
        ),
    )
    return made, Outcome(found, weights, influence, doubt, residuals)


@dataclass(frozen=True)
class Covariances:
    """Of sampling, of the noise, and of what is not known of bins, of which `curved` is for the curvature of shares."""

    sampling: Array
    privacy: Array
    unknown: Array
    curved: Array


def covariances(points: Points, influence: Array, doubt: float = 0.0) -> Covariances:
    """Return covariances, shape (p, p) each, of numbers that points' weights move so: influence, shape (points, p).

    doubt: the part that is not known of what the slopes of shares within bins do.
    """
    # back to cells: the noises are those of the cells' counts, which also make the rules of the points
    within = bin_errors(points, influence)
    sampling, privacy = parts(points.cells, points.gather(influence) + within.influence)
    return Covariances(sampling, privacy, within.unknown + doubt**2 * within.shares, within.curved)


def _wide_note(wide: float) -> list[str]:
    """Return a note where a loss with kinks sees little of what its bins hide."""
    if wide <= WIDE:
        return []
    return [
        f"Bins are {np.sqrt(wide):.1f} times as wide as the residuals spread, of which a loss with a kink sees little: "
        "more bins of the response, and of columns that move it, would help."
    ]


def grown_note(names: tuple[str, ...], known: Array, unknown: Array) -> list[str]:
    """Return a note where standard errors are larger by a tenth or more for what bins hide; variances, shape (p,)."""
    grown = np.sqrt(1 + unknown / np.maximum(known, 1e-300)) - 1
    largest = int(np.argmax(grown))
    if not grown[largest] >= 0.1:
        return []
    times = f"{100 * grown[largest]:.0f}% larger" if grown[largest] < 1 else f"{1 + grown[largest]:.1f} times as large"
    return [
        f"Standard errors include where values may lie within their bins: that of {names[largest]} is {times} for it; "
        "narrower bins would help, above all where the counts change much from one bin to the next."
    ]


def too_few(cells: CellCounts) -> str | None:
    """Return a reason if the sum of the counts is not clearly above its noise, else None."""
    rows = float(cells.counts.sum())
    size = cells.counts.size
    # variance of the sum: size variances, and minus `shared` for each of the size**2 pairs, own ones included
    noise = np.sqrt(max(cells.variance * size - cells.shared * size**2, 0.0))
    if rows <= 0:
        return f"the counts add up to {rows:,.0f}: nothing but noise; more rows or a larger budget are needed"
    if rows < 4 * noise:
        return f"the counts add up to {rows:,.0f}, with noise of {noise:,.0f}; more rows or a larger budget are needed"
    return None


def _reason(cells: CellCounts, found: Solution, loose: float) -> str | None:
    """Return why the estimates allow no inference, in words, or None."""
    if found.reason:
        return found.reason
    if not cells.signed:
        step = next(step for step in cells.steps if step in ("clip", "simplex", "threshold"))
        return f"counts after {step!r} are biased: the estimates have no standard errors"
    if not loose <= LOOSEST:
        return (
            f"noise moves the curvature by {100 * loose:.0f}% (at most {100 * LOOSEST:.0f}% is safe): the "
            "estimates are rough, and their standard errors do not hold; take fewer bins, or a larger budget"
        )
    return None
