"""Regressions fitted to the cells of a released histogram: the numeric core, on plain arrays."""

from __future__ import annotations

from dataclasses import replace
from functools import partial

import numpy as np

from tacit.base.arrays import Array
from tacit.errors import InferenceError
from tacit.fits.cells.cell_arrays import CellAxis, CellCounts
from tacit.fits.fit import Fit, FitWork, Method, Outcome, check_method, empty, points_for, solved
from tacit.fits.model_matrix import Design, design, parse
from tacit.fits.one_bin_responses import responses_moved
from tacit.fits.response_spread import ResidualVariance
from tacit.fits.separation import separated
from tacit.fits.solvers.losses import RegressionLoss, regression_loss
from tacit.fits.solvers.problem import RegressionProblem
from tacit.fits.unknown_curvature import unknown_reasons
from tacit.fits.within_bins.cell_points import Points
from tacit.fits.within_residuals import residuals_moved


def fit_cells(
    cells: CellCounts,
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

    >>> from tacit.fits.cells.cell_arrays import CellAxis
    >>> x = CellAxis("x", "continuous", np.linspace(0.0, 4.0, 5))
    >>> y = CellAxis("y", "levels", labels=("no", "yes"))
    >>> exact = CellCounts((x, y), np.array([[80.0, 20.0], [60.0, 40.0], [40.0, 60.0], [20.0, 80.0]]), variance=0.0)
    >>> fit_cells(exact, "y ~ x", model="logistic").values.round(2)
    array([-1.86,  0.93])
    """
    check_method(method)
    loss = regression_loss(model, tau=tau, k=k)
    parsed = parse(formula, cells)
    points = points_for(cells, parsed.columns, method)
    made = design(parsed, points)
    notes = [*made.notes, *binned(points.cells, method)]
    if loss.sees == "bin":
        notes.append("The loss is smoothed over the bins of the response.")
    if loss.name == "huber" and loss.parameter is None:
        loss, note = _huber_loss(loss, cells, formula, method)
        notes.append(note)
    problem = RegressionProblem(made.names, loss, made.X, _response(loss, made, points))
    fit = empty(formula, model, method, made.names, tuple(notes))
    axis = made.axis if made.axis is not None and made.axis.kind == "continuous" and points.fine else None
    coarse = partial(_coarse, problem, points, axis) if axis is not None else None
    within = partial(_within, points, problem, parsed.regressors, axis)
    fit, outcome = solved(
        fit,
        points,
        problem,
        problem.singular,
        coarse,
        kinks=loss.sees == "bin",
        within=within,
        curvature=partial(unknown_reasons, points, parsed.regressors, problem),
    )
    return fit if outcome is None else _described(fit, outcome, problem, points, made)


def _within(
    points: Points,
    problem: RegressionProblem,
    regressors: tuple[str, ...],
    response: CellAxis | None,
    theta: Array,
    weights: Array,
    inverse: Array,
    curved: Array,
) -> Array:
    """Return the covariance of what residuals and responses within bins may move coefficients by, shape (p, p)."""
    found = residuals_moved(points, problem, regressors, theta, weights, inverse, curved)
    return found if response is None else found + responses_moved(points, problem, response, theta)


def binned(cells: CellCounts, method: Method) -> list[str]:
    """Return notes on how the method treats bins, and on columns whose bins are too wide or too few."""
    notes: list[str] = []
    continuous = [axis.name for axis in cells.axes if axis.kind == "continuous"]
    if method != "corrected" and continuous:
        notes.append(f"Bins of {', '.join(continuous)} stand for their midpoints, which biases the estimates.")
    coarse = [axis.name for axis in cells.axes if axis.kind == "continuous" and axis.bins < 4]
    if coarse:
        notes.append(f"{', '.join(coarse)}: fewer than 4 bins, of which the correction for binning knows little.")
    return notes


def _response(loss: RegressionLoss, made: Design, points: Points) -> Array:
    """Return the response as the loss needs it, shape (points, columns); InferenceError I43 for an unsuitable one.

    One column, the value, for most losses; centre, width and density within the bin for those smoothed over bins.
    """
    name, y = made.axis.name if made.axis else "the response", made.y
    limits = {"share": (0.0, 1.0), "count": (0.0, np.inf), "positive": (np.nextafter(0, 1), np.inf)}
    # nextafter: the least positive number, for "above 0"
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
    offset = points.position(axis)[1]
    # 3 points a bin for corrected fits, else 1
    times = len(offset) // axis.bins
    center, width, v = (np.repeat(one, times) for one in (axis.centers, axis.widths, axis.within**2))
    # the density (1 + a t + b (t**2 - v)) / width whose first two moments about the centre are those of the point, as
    # the integral of (t**2 - v)**2 is 4/5 v**2 for an even density; one of a single point is even
    safe = np.where((v > 0) & (times > 1), v, np.inf)
    parts = (center, width, offset / safe, (offset**2 - v) / (0.8 * safe) / safe, v)
    return np.stack([points.along(axis.name, part) for part in parts], axis=1)


def _huber_loss(loss: RegressionLoss, cells: CellCounts, formula: str, method: Method) -> tuple[RegressionLoss, str]:
    """Return Huber's loss with k = 1.345 robust standard deviations of a linear fit's residuals, and a note.

    1.4826 times the median absolute residual estimates the standard deviation of normal errors.
    """
    first = fit_cells(cells, formula, "linear", method)
    work = first.work
    if work is None:
        return replace(loss, parameter=1.0), "No first fit told where Huber's loss bends."
    # weighted median of absolute residuals; signed weights: the first place where half the total is reached
    size = np.abs(work.design.y - work.design.X @ first.values)
    order = np.argsort(size)
    middle = np.flatnonzero(np.cumsum(work.weights[order]) >= work.weights.sum() / 2)
    # 1.345 standard deviations: 95% efficiency under normal errors [Huber 1964]
    k = 1.345 * 1.4826 * float(size[order[middle[0] if len(middle) else -1]])
    k = float(f"{k:.2g}") or 1.0  # rounded, so that few values of k are compiled
    return replace(loss, parameter=k), f"Huber's loss bends at {k:g}, taken as given by the standard errors."


def _described(fit: Fit, outcome: Outcome, problem: RegressionProblem, points: Points, made: Design) -> Fit:
    """Return the fit with its criteria, a note on narrow residuals, and what effects need."""
    criteria = _criteria(problem, outcome)
    work = FitWork(points, made, problem, outcome.weights, outcome.influence, outcome.doubt, outcome.residuals)
    reasons = tuple(
        old or new for old, new in zip(fit.reasons, separated(points, made, problem, fit.values), strict=True)
    )
    notes = (*fit.notes, *_narrow(fit, outcome, problem, made))
    spread = _spread_errors(problem, outcome, points, criteria["scale"] ** 2) if criteria.get("scale") else None
    return replace(fit, notes=notes, criteria=criteria, work=work, reasons=reasons, spread=spread)


def _spread_errors(problem: RegressionProblem, outcome: Outcome, points: Points, variance: float) -> ResidualVariance:
    """Return the errors of the mean squared residual of a linear fit; at the least sum of squares it alone varies.

    Sampling: that of the squares as the cells have them, at least that of normal errors.  Noise: that of each cell
    times how its mean square departs.
    """
    rows = float(outcome.weights.sum())
    squares = (problem.y[:, 0] - problem.X @ outcome.solution.theta) ** 2
    own = max(float(outcome.weights @ (squares - variance) ** 2) / rows, 2 * variance**2)
    moved = points.gather((squares - variance)[:, None])
    noise = points.cells.variance * float((moved**2).sum()) / rows**2
    return ResidualVariance(own / rows / variance**2, noise / variance**2)


def _narrow(fit: Fit, outcome: Outcome, problem: RegressionProblem, made: Design) -> list[str]:
    """Return a note where residuals' standard deviation is below the response's bin width (1.5 widths with kinks)."""
    if made.axis is None or made.axis.kind != "continuous":
        return []
    width, rows = float(np.median(made.axis.widths)), outcome.weights.sum()
    residual = made.y - problem.loss.mean(made.X @ fit.values)
    spread = float(np.sqrt(max(outcome.weights @ residual**2 / rows, 0.0)))
    # within a bin the density is taken as smooth, which a peak narrower than the bin is not
    if spread >= width * (1.5 if problem.loss.sees == "bin" else 1.0):
        return []
    return [
        f"Residuals spread by {spread:.3g}, little for bins of {made.axis.name} of {width:.3g}: the correction for "
        "binning can leave a bias; a release with narrower bins would not."
    ]


def _coarse(problem: RegressionProblem, points: Points, axis: CellAxis, theta: Array) -> float:
    """Return the mean square of bins' widths beside the residuals' mean square.

    Of the response, `axis`: of the bins in which a loss with kinks bends, else of all.  Of regressors, for a loss with
    kinks: by what predictions move within their bins.
    """
    weights = points.spread(np.maximum(points.cells.counts, 0.0), edges=False)
    predicted, y = problem.loss.mean(problem.X @ theta), problem.y[:, 0]
    total = max(float(weights.sum()), 1e-300)
    times = len(points.position(axis)[1]) // axis.bins
    if problem.loss.sees != "bin":
        # bins of one whole number hide nothing
        hidden = points.along(axis.name, np.repeat(12 * axis.within**2, times))
        own = float(weights @ hidden) / total
        return own / max(float(weights @ (y - predicted) ** 2) / total - own / 12, 1e-300)
    width = points.along(axis.name, np.repeat(axis.widths, times))
    # the check loss bends at the prediction, Huber's up to k beside it
    bends = weights * (
        np.abs(y - predicted) <= width / 2 + (problem.loss.parameter or 0) * (problem.loss.name == "huber")
    )
    own = float(bends @ width**2) / max(float(bends.sum()), 1e-300)
    moves = np.zeros(len(y))
    for at, rule in enumerate(points.rules):
        if rule is not None and rule.offsets.shape[1] > 1:
            axis = points.cells.axes[at]
            # from the first to the last point of each bin, then to its whole width
            along = np.moveaxis(predicted.reshape(points.shape), at, -1)
            along = along.reshape(*along.shape[:-1], *rule.offsets.shape)
            apart = np.maximum(rule.offsets[:, -1] - rule.offsets[:, 0], 1e-300)
            moved = (along[..., -1] - along[..., 0]) * np.where(axis.within > 0, axis.widths / apart, 0.0)
            spread = np.repeat(moved, rule.offsets.shape[1], axis=-1)
            moves += np.moveaxis(spread, -1, at).reshape(-1) ** 2
    moved = float(weights @ moves) / total
    # even densities within bins spread residuals further than they are
    spread = float(weights @ ((y - predicted) ** 2 + width**2 / 12)) / total - (own + moved) / 12
    return (own + moved) / max(spread, 1e-300)


def _criteria(problem: RegressionProblem, outcome: Outcome) -> dict[str, float]:
    """Return descriptive sums of the fit (deviances, R squared); they have no intervals."""
    loss, weights = problem.loss, outcome.weights
    rows = float(weights.sum())
    out = {"rows": rows}
    if loss.sees == "bin":
        return out
    y = problem.y[:, 0]
    base = float(weights @ loss.saturated(y))
    # twice the distance from the saturated model, with signed weights: noise may make it negative
    out["deviance"] = 2 * (outcome.solution.local.value - base)
    ones = RegressionProblem(("Intercept",), loss, np.ones((len(y), 1)), problem.y)
    null = ones.local(np.array([loss.predictor(float(weights @ y) / rows)]), weights).value
    out["null_deviance"] = 2 * (null - base)
    out["explained"] = 1 - out["deviance"] / out["null_deviance"] if out["null_deviance"] > 0 else float("nan")
    if loss.name == "linear":
        out["scale"] = float(np.sqrt(max(out["deviance"], 0.0) / rows))
    return out
