"""M-estimators without a formula: user-defined losses written in JAX, minimised over the cells of a histogram."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from typing import Any, Final

import numpy as np

from tacit.base.arrays import Array
from tacit.base.lazy_imports import double, jax
from tacit.errors import InferenceError
from tacit.fits.cells.cell_arrays import CellCounts
from tacit.fits.fit import Fit, Method, check_method, empty, points_for, solved
from tacit.fits.regression_fits import binned
from tacit.fits.solvers.problem import Local
from tacit.fits.solvers.solver import newton
from tacit.fits.within_bins.cell_points import Points
from tacit.models.compiled_programs import CompiledFunction

STARTS: Final = 6
"""Number of random starts, besides the given one, used to detect further local minima."""


@dataclass(frozen=True)
class Loss:
    """A loss m(x, theta) to be minimised over the rows of a histogram.

    m: the loss of one row.  x maps a column's name to the row's number (levels without numbers are 0, 1, ... in their
    order), theta is the parameter vector.  Written with jax.numpy and twice differentiable in theta.  A loss with
    kinks in x is not smoothed.  names: names of the parameters.  start: initial theta, zeros by default; the loss
    must be finite there.

    >>> squared = Loss(lambda x, theta: (x["y"] - theta[0]) ** 2, names=("mean",))
    >>> squared.columns
    ('y',)
    """

    m: Callable[[Mapping[str, Any], Any], Any]
    names: Sequence[str]
    start: Sequence[float] | None = None

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """Columns that the loss reads; InferenceError I46 for a loss that fails or does not return a scalar."""
        seen = _RecordingRow()  # abstract evaluation shows which columns m reads, without any data
        tools = jax()

        def of(theta: Any) -> Any:
            return self.m(seen, theta)

        try:
            with double():
                out = tools.eval_shape(of, tools.numpy.zeros(len(self.names)))
        except Exception as error:
            raise InferenceError(f"the loss fails: {error}", code="I46", state=None) from error
        if getattr(out, "shape", None) != () or not seen.names:
            raise InferenceError("the loss gives no single number of a row.", code="I46", state=None)
        return tuple(seen.names)


class _RecordingRow(Mapping[str, Any]):
    """A row of ones that records the names of the columns read from it."""

    def __init__(self) -> None:
        self.names: list[str] = []

    def __getitem__(self, key: str) -> Any:
        if key not in self.names:
            self.names.append(key)
        # ones, not zeros: logarithms and quotients stay defined
        return jax().numpy.ones(())

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)


@dataclass(frozen=True)
class Minimum:
    """The minimisation of a user-defined loss over weighted points.

    data: coordinates of the points, shape (points, columns).  first: the starting parameter, shape (p,).
    """

    names: tuple[str, ...]
    loss: Loss
    data: Array
    first: Array

    def begin(self, weights: Array) -> Array:
        """Return the starting parameter; the weights play no role."""
        return self.first

    def local(self, theta: Array, weights: Array) -> Local:
        """Return value, gradient and Hessian of the weighted loss, by automatic differentiation."""
        with double():
            value, gradient, hessian = _derivatives(self.loss.m, self.loss.columns)[0](theta, self.data, weights)
        return Local(float(value), np.asarray(gradient), np.asarray(hessian))

    def scores(self, theta: Array) -> Array:
        """Return the gradient of the loss at each point, shape (points, p)."""
        with double():
            return np.asarray(_derivatives(self.loss.m, self.loss.columns)[1](theta, self.data))

    def curvature_noise(self, theta: Array, root: Array) -> Array:
        """Return the sum over points of (root' H root)**2, with H the Hessian at a point, shape (p, p)."""
        with double():
            return np.asarray(_derivatives(self.loss.m, self.loss.columns)[2](theta, self.data, root))

    def trouble(self, theta: Array, weights: Array) -> str | None:
        """Return None: for a general loss, the Hessian at the minimum is the only diagnostic."""
        return None


@lru_cache(maxsize=32)
def _derivatives(m: Callable[[Mapping[str, Any], Any], Any], columns: tuple[str, ...]) -> tuple[Any, Any, Any]:
    """Return compiled functions: value, gradient and Hessian; scores by point; sum of squared scaled Hessians."""
    tools = jax()
    np_ = tools.numpy

    def one(theta: Any, row: Any) -> Any:
        return m(dict(zip(columns, row, strict=True)), theta)

    def total(theta: Any, data: Any, weights: Any) -> Any:
        values = tools.vmap(one, in_axes=(None, 0))(theta, data)
        return np_.dot(weights, values)

    def local(theta: Any, data: Any, weights: Any) -> Any:
        # of the total: a Hessian for each point would take points * p**2 numbers
        value, gradient = tools.value_and_grad(total)(theta, data, weights)
        return value, gradient, tools.hessian(total)(theta, data, weights)

    def square(theta: Any, row: Any, root: Any) -> Any:
        # symmetric, so that its product with itself is the square that `curvature_noise` adds up
        scaled = root.T @ tools.hessian(one)(theta, row) @ root
        return scaled @ scaled

    def squares(theta: Any, data: Any, root: Any) -> Any:
        return tools.vmap(square, in_axes=(None, 0, None))(theta, data, root).sum(axis=0)

    scores = tools.vmap(tools.grad(one), in_axes=(None, 0))
    # of released cells: what they depend on is public
    first, second = CompiledFunction(local, keep=True), CompiledFunction(scores, keep=True)
    return first, second, CompiledFunction(squares, keep=True)


def fit_loss(cells: CellCounts, loss: Loss, method: Method = "corrected") -> Fit:
    """Minimise a user-defined loss over the rows that the cells count; methods and errors are those of `fit_cells`.

    Several starts are tried, as the loss may not be convex; where they end in different minima the lowest is taken and
    a note says so.  InferenceError I41 for a column that the cells lack, I44 for an unknown method, I46 for a loss that
    fails.

    >>> from tacit.fits.cells.cell_arrays import CellAxis
    >>> y = CellAxis("y", "continuous", np.linspace(0.0, 4.0, 5))
    >>> exact = CellCounts((y,), np.array([10.0, 40.0, 40.0, 10.0]), variance=0.0)
    >>> fit_loss(exact, Loss(lambda x, theta: (x["y"] - theta[0]) ** 2, names=["mean"])).values
    array([2.])
    """
    return minimised(cells, loss, method, starts=STARTS)


def minimised(cells: CellCounts, loss: Loss, method: Method, starts: int) -> Fit:
    """Fit as `fit_loss` does, with `starts` random starts besides the given one (0: no search for other minima)."""
    check_method(method)
    names = tuple(loss.names)
    points = points_for(cells, loss.columns, method)
    first = np.zeros(len(names)) if loss.start is None else np.asarray(loss.start, dtype=np.float64)
    if first.shape != (len(names),):
        raise InferenceError(f"start has {first.size} numbers for {len(names)} parameters.", code="I46", state=None)
    problem = Minimum(names, loss, _data(points, loss.columns), first)
    problem, several = _lowest(problem, points, starts) if starts else (problem, ())
    notes = (*binned(points.cells, method), *several)
    return solved(empty("", "loss", method, names, notes), points, problem)[0]


def _data(points: Points, columns: tuple[str, ...]) -> Array:
    """Return coordinates of the points, shape (points, columns)."""
    axes = [points.cells.axis(name) for name in columns]
    return np.stack([points.along(axis.name, points.position(axis)[0]) for axis in axes], axis=1)


def _lowest(problem: Minimum, points: Points, count: int) -> tuple[Minimum, tuple[str, ...]]:
    """Return the problem with the best minimum found as its start, and a note where starts reach different minima."""
    # the search is on clipped counts: with signed weights a loss may have no minimum at all
    weights = points.spread(np.maximum(points.cells.counts, 0.0), edges=False)
    if not weights.any():
        return problem, ()
    rng = np.random.default_rng(0)  # fixed seed: the starts need no privacy, and results stay reproducible
    # starts at the distance of the parameter's own size, or of 1 where that is small
    spread = 1 + np.abs(problem.first)
    starts = [problem.first, *(problem.first + spread * rng.normal(size=(count, len(spread))))]
    ends = [newton(problem, weights, start) for start in starts]
    good = [end for end in ends if end.reason is None]
    if not good:
        return problem, ()
    best = min(good, key=lambda end: end.local.value)
    slack = 1e-6 * (1 + abs(best.local.value))
    other = any(
        # another value, or the same value elsewhere: in both cases the minimum is not the only one
        end.local.value > best.local.value + slack or not np.allclose(end.theta, best.theta, rtol=1e-3, atol=1e-3)
        for end in good
    )
    note = ("The loss has several minima; the lowest that was found is taken, and errors are those at it.",)
    return replace(problem, first=best.theta), note if other else ()
