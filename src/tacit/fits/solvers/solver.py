"""Solving the estimating equation with signed weights (theory §7).

(1) A fit to counts clipped at 0, which is convex for a convex loss, as a start; (2) damped Newton steps on the
equation with the signed weights, whose Hessian must be positive definite at the solution; (3) if that fails, the fit of
(1), with a reason in place of standard errors.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.base.arrays import Array
from tacit.fits.solvers.problem import Local, Problem

STEPS: Final = 100
CLOSE: Final = 1e-10
"""Newton steps end where a step is shorter than this, relative to the parameter, in the norm of the Hessian."""
FLAT: Final = 1e-10
"""Eigenvalues of the scaled Hessian below this part of the largest count as 0."""


@dataclass(frozen=True)
class Solution:
    """A parameter, shape (p,), the objective there, and why it does not solve the equation, or None.

    failed: whether there is no usable parameter at all.
    """

    theta: Array
    local: Local
    reason: str | None = None
    failed: bool = False


def solve(problem: Problem, start: Array, signed: Array) -> Solution:
    """Minimise with weights `start` (none negative), then solve the equation with weights `signed`.

    `failed` is set where not even the start has a solution, and its theta says nothing.
    """
    if not start.any():
        return _nothing(problem, "all counts are 0 or less")
    theta = problem.begin(start)
    # not negative weights: convex for a convex loss, so that this end is the global minimum
    first = newton(problem, start, theta)
    trouble = first.reason or problem.trouble(first.theta, start)
    if trouble:
        return Solution(first.theta, first.local, trouble, failed=True)
    # nothing was negative, and no bin has a slope: both problems are one
    if np.array_equal(start, signed):
        return first
    second = newton(problem, signed, first.theta)
    if second.reason is None:
        return second
    why = (
        f"the noise leaves the signed counts without a solution ({second.reason}); the values fit counts clipped at 0, "
        "which is biased, and have no standard errors"
    )
    return Solution(first.theta, first.local, why)


def _nothing(problem: Problem, reason: str) -> Solution:
    """Return a solution without numbers."""
    p = len(problem.names)
    local = Local(float("nan"), np.full(p, np.nan), np.full((p, p), np.nan))
    return Solution(np.full(p, np.nan), local, reason, failed=True)


# a step without end, from next to no curvature, is refused, not warned of
@np.errstate(over="ignore", invalid="ignore")
def newton(problem: Problem, weights: Array, theta: Array) -> Solution:
    """Take damped Newton steps from `theta`; negative eigenvalues of the Hessian count by their absolute value."""
    here = problem.local(theta, weights)
    for _ in range(STEPS):
        if not here.finite:
            return Solution(theta, here, "the loss is not finite")
        if not here.hessian.any():
            return Solution(theta, here, "the loss has no curvature: not identified")
        scale = np.sqrt(np.maximum(np.abs(np.diag(here.hessian)), 1e-300))
        values, vectors = np.linalg.eigh(here.hessian / np.outer(scale, scale))
        # modified Newton: with absolute eigenvalues, kept off 0, the step always descends, also beside a saddle
        size = np.maximum(np.abs(values), FLAT * max(np.abs(values).max(), FLAT))
        slope = vectors.T @ (here.gradient / scale)
        step = -(vectors @ (slope / size)) / scale
        # the Newton decrement: the length of the step in the norm of the Hessian, free of units
        length = float(np.sqrt((slope**2 / size).sum()))
        norm = float(np.sqrt(((vectors.T @ (theta * scale)) ** 2 * size).sum()))
        if length <= CLOSE * (1 + norm):
            # a vanishing gradient alone may be a saddle under signed weights: positive definiteness is checked here
            flat = values[0] <= FLAT * values[-1]
            return Solution(theta, here, "its minimum is flat or a saddle: not identified" if flat else None)
        moved = _damped(problem, weights, theta, here, step)
        if moved is None:
            # no descent near a solution is rounding of the objective, which is flat to the square of the step
            done = length <= 1e-6 * (1 + norm) and values[0] > FLAT * values[-1]
            return Solution(theta, here, None if done else "no step lowers the objective")
        theta, here = moved
    return Solution(theta, here, f"no convergence in {STEPS} steps: separation, or a loss without a minimum")


def _damped(problem: Problem, weights: Array, theta: Array, here: Local, step: Array) -> tuple[Array, Local] | None:
    """Return the longest of 40 halved steps that lowers the objective enough (Armijo's rule), or None."""
    promise = float(here.gradient @ step)
    # rounding of a sum of many points: without it the last steps would be refused
    slack = 1e-13 * float(np.abs(here.value))
    t = 1.0
    for _ in range(40):
        there = problem.local(theta + t * step, weights)
        if there.finite and there.value <= here.value + 1e-4 * t * promise + slack:
            return theta + t * step, there
        t /= 2
    return None
