"""Fits of regressions to the cells of a released histogram: the numeric core, on plain arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final, Literal, get_args

import numpy as np

from tacit.errors import InferenceError, nearest
from tacit.inference.fits.binning import ROOT, Points
from tacit.inference.fits.cells import Cells
from tacit.inference.fits.formula import Design, design, parse
from tacit.inference.fits.losses import RegressionLoss, regression_loss
from tacit.inference.fits.problem import Regression
from tacit.inference.fits.sandwich import LOOSEST, Sandwich, looseness, sandwich
from tacit.inference.fits.solve import Solution, solve
from tacit.inference.laws import Array

Method = Literal["corrected", "midpoint", "lei-2011", "lei-2011-nonnegative", "lei-2011-threshold"]
CUT: Final = 0.5
"""Lei's tuning parameter A."""


@dataclass(frozen=True)
class Work:
    """What a fit leaves for predictions and effects: cells, points, design, weights of points, influence of cells."""

    cells: Cells
    points: Points
    design: Design
    problem: Regression
    weights: Array
    influence: Array


@dataclass(frozen=True)
class Fit:
    """Coefficients of a regression fitted to noisy cells, with both parts of their covariance.

    names: of terms.  values: shape (p,), NaN where there is no fit.  cov_sampling, cov_privacy: shape (p, p); they are
    independent and add.  reasons: why a term's value or standard error says nothing, in words, or None.
    notes: what a reader must know.  criteria: "rows" (the sum of the counts used), "deviance", "null_deviance",
    "explained" (1 - their ratio: R squared for "linear") and "scale" (root mean square error, "linear" only).
    work: for predictions and effects (`tacit.inference.fits.effects`), None where there is no fit.
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
    work: Work | None = field(default=None, repr=False, compare=False)

    @property
    def std_errors(self) -> Array:
        """Standard errors, sampling and privacy together, shape (p,)."""
        return np.sqrt(np.diag(self.cov_sampling) + np.diag(self.cov_privacy))


def fit_cells(
    cells: Cells,
    formula: str,
    model: str = "linear",
    method: Method = "corrected",
    *,
    tau: float = 0.5,
    k: float | None = None,
) -> Fit:
    """Fit a regression to the noisy cells of a histogram (Lei 2011, corrected by theory §7).

    model: "linear", "logistic", "probit", "poisson", "gamma" (log link), "quantile" (of level `tau`) or "huber" (bend
    at `k`, in the response's units; by default 1.345 robust standard deviations of a first fit's residuals).
    method: "corrected" for binning, "midpoint" (bins as their centres), or as published: "lei-2011" (signed counts,
    no projection), "lei-2011-nonnegative" (clipped at 0), "lei-2011-threshold" (cut at A log n / alpha, A = 1/2).

    InferenceError I41 for a column that the cells lack, I42 for a formula that cannot be evaluated, I43 for a response
    that the model cannot take, I44 for an unknown model or method.

    >>> from tacit.inference.fits.cells import Axis
    >>> x = Axis("x", "continuous", np.linspace(0.0, 4.0, 5))
    >>> y = Axis("y", "levels", labels=("no", "yes"))
    >>> exact = Cells((x, y), np.array([[80.0, 20.0], [60.0, 40.0], [40.0, 60.0], [20.0, 80.0]]), variance=0.0)
    >>> fit_cells(exact, "y ~ x", model="logistic").values.round(2)
    array([-1.86,  0.93])
    """
    if method not in get_args(Method):
        known = get_args(Method)
        hint = nearest(method, known)
        message = f"no method is called {method!r}; there are {', '.join(known)}."
        raise InferenceError(message, code="I44", hint=f"{hint!r}?" if hint else None, state=None)
    loss = regression_loss(model, tau=tau, k=k)
    parsed = parse(formula, cells)
    used = prepared(cells, method).used(parsed.columns)
    points = Points(used, fine=method == "corrected")
    made = design(parsed, points)
    notes = [*made.notes, *_notes(used, method, loss)]
    if loss.name == "huber" and loss.parameter is None:
        loss, note = _bend(loss, cells, formula, method)
        notes.append(note)
    problem = Regression(made.names, loss, made.X, _response(loss, made, points))
    return _fitted(Fit(formula, model, method, made.names, *_empty(made.names), tuple(notes)), used, problem, made)


def prepared(cells: Cells, method: Method) -> Cells:
    """The cells after the steps that a method takes before any margin."""
    if method in ("corrected", "midpoint"):
        return cells.project()
    if method == "lei-2011-nonnegative":
        return cells.clip()
    if method == "lei-2011-threshold":
        scale = float(np.sqrt(cells.variance / 2))  # of Laplace noise of that variance
        alpha = 2 / scale if cells.total is not None else 1 / scale if scale else np.inf
        n = cells.total if cells.total is not None else float(cells.counts.sum())
        return cells.threshold(CUT, 1 / alpha, n)
    return cells


def _empty(names: tuple[str, ...]) -> tuple[Array, Array, Array, tuple[str | None, ...]]:
    p = len(names)
    return np.full(p, np.nan), np.full((p, p), np.nan), np.full((p, p), np.nan), (None,) * p


def _notes(cells: Cells, method: Method, loss: RegressionLoss) -> list[str]:
    notes: list[str] = []
    continuous = [axis.name for axis in cells.axes if axis.kind == "continuous"]
    if method != "corrected" and continuous:
        notes.append(f"Bins of {', '.join(continuous)} stand for their midpoints, which biases the estimates.")
    coarse = [axis.name for axis in cells.axes if axis.kind == "continuous" and axis.bins < 4]
    if coarse:
        notes.append(f"{', '.join(coarse)}: fewer than 4 bins, of which the correction for binning knows little.")
    if loss.sees == "bin":
        notes.append("The loss is smoothed over the bins of the response.")
    return notes


def _response(loss: RegressionLoss, made: Design, points: Points) -> Array:
    """What the loss sees of the response, shape (points, columns); InferenceError I43 where it cannot take it."""
    name, y = made.axis.name if made.axis else "the response", made.y
    limits = {"share": (0.0, 1.0), "count": (0.0, np.inf), "positive": (np.nextafter(0, 1), np.inf)}
    low, high = limits.get(loss.sees, (-np.inf, np.inf))
    if not ((y >= low) & (y <= high)).all():
        what = {"share": "between 0 and 1", "count": "0 or more", "positive": "above 0"}[loss.sees]
        raise InferenceError(f"a {loss.name} model takes a response {what}; {name} is not.", code="I43", state=None)
    if loss.sees != "bin":
        return y[:, None]
    axis = made.axis
    if axis is None or axis.kind != "continuous":
        raise InferenceError(
            f"a {loss.name} model takes a column that was released in bins as its response; {name} is none.",
            code="I43",
            state=None,
        )
    twice = len(points.position(axis)[0]) // axis.bins
    center, width = np.repeat(axis.centers, twice), np.repeat(axis.widths, twice)
    tilt = points.position(axis)[1] / ROOT / width
    return np.stack([points.along(axis.name, part) for part in (center, width, tilt)], axis=1)


def _bend(loss: RegressionLoss, cells: Cells, formula: str, method: Method) -> tuple[RegressionLoss, str]:
    """Huber's loss with its usual bend, from the median absolute residual of a first fit."""
    first = fit_cells(cells, formula, "linear", method)
    work = first.work
    if work is None:
        return replace(loss, parameter=1.0), "No first fit told where Huber's loss bends."
    size = np.abs(work.design.y - work.design.X @ first.values)
    order = np.argsort(size)
    middle = np.flatnonzero(np.cumsum(work.weights[order]) >= work.weights.sum() / 2)
    k = 1.345 * 1.4826 * float(size[order[middle[0] if len(middle) else -1]])
    k = float(f"{k:.2g}") or 1.0  # few bends, so few compilations
    return replace(loss, parameter=k), f"Huber's loss bends at {k:g}, taken as given by the standard errors."


def _fitted(fit: Fit, cells: Cells, problem: Regression, made: Design) -> Fit:
    """The fit with its solution, or with a reason in each term."""

    def without(reason: str) -> Fit:
        return replace(fit, reasons=(reason,) * len(fit.names))

    if problem.singular:
        return without(f"the design is singular: {', '.join(problem.singular)} cannot be told apart")
    few = too_few(cells)
    if few:
        return without(few)
    points = Points(cells, fine=fit.method == "corrected")
    weights = points.spread(cells.counts)
    start = points.spread(np.maximum(cells.counts, 0.0), edges=False)
    found = solve(problem, start, weights)
    if found.failed:
        return without(f"no fit: {found.reason}")
    loose = looseness(problem, found.theta, found.local.hessian, cells.variance, points.per_cell)
    both = sandwich(cells, points.gather(problem.scores(found.theta)), found.local.hessian, loose)
    reason = _reason(cells, found, both)
    criteria = _criteria(problem, found, weights)
    return replace(
        fit,
        notes=(*fit.notes, *_narrow(made, criteria)),
        values=found.theta,
        cov_sampling=both.sampling,
        cov_privacy=both.privacy,
        reasons=(reason,) * len(fit.names),
        criteria=criteria,
        work=Work(cells, points, made, problem, weights, both.influence),
    )


def _narrow(made: Design, criteria: Mapping[str, float]) -> list[str]:
    """A note where a line's residuals spread less than the response's bins."""
    if made.axis is None or made.axis.kind != "continuous" or "scale" not in criteria:
        return []
    width = float(np.median(made.axis.widths))
    if criteria["scale"] >= width:
        return []
    return [
        f"Residuals spread by {criteria['scale']:.3g}, less than a bin of {made.axis.name} ({width:.3g}): the "
        "correction for binning can leave a bias; a release with narrower bins would not."
    ]


def too_few(cells: Cells) -> str | None:
    """Why counts hold no rows that noise could not have made, or None."""
    rows = float(cells.counts.sum())
    size = cells.counts.size
    noise = np.sqrt(max(cells.variance * size - cells.shared * size**2, 0.0))
    if rows <= 0:
        return f"the counts add up to {rows:,.0f}: nothing but noise; more rows or a larger budget are needed"
    if rows < 4 * noise:
        return f"the counts add up to {rows:,.0f}, with noise of {noise:,.0f}; more rows or a larger budget are needed"
    return None


def _reason(cells: Cells, found: Solution, both: Sandwich) -> str | None:
    if found.reason:
        return found.reason
    if not cells.signed:
        step = next(step for step in cells.steps if step in ("clip", "simplex", "threshold"))
        return f"counts after {step!r} are biased: the estimates have no standard errors"
    if not both.looseness <= LOOSEST:
        return (
            f"noise moves the curvature by {100 * both.looseness:.0f}% (at most {100 * LOOSEST:.0f}% is safe): the "
            "estimates are rough, and their standard errors do not hold; take fewer bins, or a larger budget"
        )
    return None


def _criteria(problem: Regression, found: Solution, weights: Array) -> dict[str, float]:
    """Sums that describe the fit; theory has no intervals for them."""
    loss, rows = problem.loss, float(weights.sum())
    out = {"rows": rows}
    if loss.sees == "bin":
        return out
    y = problem.y[:, 0]
    base = float(weights @ loss.saturated(y))
    out["deviance"] = 2 * (found.local.value - base)
    ones = Regression(("Intercept",), loss, np.ones((len(y), 1)), problem.y)
    null = ones.local(np.array([loss.predictor(float(weights @ y) / rows)]), weights).value
    out["null_deviance"] = 2 * (null - base)
    out["explained"] = 1 - out["deviance"] / out["null_deviance"] if out["null_deviance"] > 0 else float("nan")
    if loss.name == "linear":
        out["scale"] = float(np.sqrt(max(out["deviance"], 0.0) / rows))
    return out
