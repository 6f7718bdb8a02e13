"""Damped, safeguarded Newton's method in a box: JAX functions of one block, to be vectorised over blocks by vmap.

Maximises f in coordinates with ends (low, high).  A step solves (-H + damping D) step = gradient on the coordinates
that are not held at an end, D being the absolute diagonal of H.  It is taken if f does not fall; damping shrinks after
a step that is taken and grows after one that is refused, also where f is NaN.  The number of steps is fixed: the time
is the same for every block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tacit.base.lazy_imports import jax

UNROLLED: Final = 6
"""Largest number of parameters for which matrices are factored entry by entry; LAPACK is used above."""
LEAST: Final = 1e-3
"""Damping after the first refused step."""
REACH: Final = 0.25
"""Longest step in each coordinate, as a share of the width of the search."""


class Point(NamedTuple):
    """The current point of a search: place, value, gradient, Hessian."""

    at: Any
    value: Any
    gradient: Any
    hessian: Any


def cholesky(matrix: Any) -> Any:
    """Return the lower Cholesky factor of a (p, p) matrix; NaN where it is not positive definite."""
    lib, p = jax().numpy, matrix.shape[0]
    if p > UNROLLED:
        return lib.linalg.cholesky(matrix)
    rows: list[list[Any]] = []
    for i in range(p):
        row: list[Any] = []
        for j in range(i):
            row.append((matrix[i, j] - sum(row[k] * rows[j][k] for k in range(j))) / rows[j][j])
        left = matrix[i, i] - sum(one * one for one in row)
        # NaN, not an exception: it spreads to the step, which is then refused
        rows.append([*row, lib.sqrt(lib.where(left > 0, left, lib.nan))])
    zero = lib.zeros_like(matrix[0, 0])
    return lib.stack([lib.stack([*row, *[zero] * (p - len(row))]) for row in rows])


def inverse_factor(matrix: Any) -> Any:
    """Return V with V Vᵀ the inverse of a (p, p) matrix; NaN where it is not positive definite."""
    lib, p = jax().numpy, matrix.shape[0]
    factor = cholesky(matrix)
    if p > UNROLLED:
        # V = L^-T: V V' = (L L')^-1
        return jax().scipy.linalg.solve_triangular(factor, lib.eye(p), lower=True).T
    columns: list[Any] = []
    for c in range(p):
        column: list[Any] = [lib.zeros_like(factor[0, 0])] * c
        for i in range(c, p):
            known = sum(factor[i, k] * column[k] for k in range(c, i))
            column.append(((1.0 if i == c else 0.0) - known) / factor[i, i])
        columns.append(lib.stack(column))
    return lib.stack(columns)


def maximum(f: Callable[[Any], Any], start: Any, low: Any, high: Any, steps: int) -> tuple[Any, Any, Any]:
    """Return the maximum's place, a mask of its free coordinates, and half the squared Newton decrement there.

    The last is about the gain that is left; NaN where f has no maximum in the free coordinates.  start, low, high:
    shape (p,).
    """
    lib, tools = jax().numpy, jax()
    both = tools.value_and_grad(f)
    axes = lib.eye(len(low))

    def point(at: Any) -> Point:
        """Return value, gradient and Hessian from a single trace of f, because compilation dominates the cost."""

        def along(axis: Any) -> Any:
            return tools.jvp(both, (at,), (axis,))

        (value, gradient), (_, hessian) = tools.vmap(along, out_axes=((None, None), 0))(axes)
        return Point(at, value, gradient, hessian)

    def free(here: Point) -> Any:
        """Return which coordinates are not held at an end towards which f rises."""
        return ~((here.at <= low) & (here.gradient <= 0) | (here.at >= high) & (here.gradient >= 0))

    def curvature(here: Point, damping: Any) -> Any:
        """Return minus the Hessian, damped, with the identity in place of the coordinates held at an end."""
        mask = free(here)
        size = lib.abs(lib.diag(here.hessian))
        # relative to |diagonal|; the small part damps a coordinate without curvature too
        damped = -here.hessian + damping * lib.diag(size + 1e-12 * (1 + size.max()))
        return lib.where(mask[:, None] & mask[None, :], damped, lib.eye(len(mask)))

    def proposed(here: Point, damping: Any) -> Any:
        v = inverse_factor(curvature(here, damping))
        # (V V') gradient = (-H + damping D)^-1 gradient
        move = v @ (v.T @ lib.where(free(here), here.gradient, 0.0))
        return lib.clip(here.at + lib.clip(move, -REACH * (high - low), REACH * (high - low)), low, high)

    def step(_: Any, state: tuple[Point, Any, Any]) -> tuple[Point, Any, Any]:
        here, place, damping = state
        there = point(place)
        # near the maximum steps change f by rounding only: they count as no loss
        gained = there.value >= here.value - 1e-14 * (1 + lib.abs(here.value))
        taken = gained & lib.isfinite(there.value) & lib.isfinite(there.gradient).all()
        # small damping goes to 0 at once, which gives back Newton's quadratic convergence
        damping = lib.where(taken, lib.where(damping > 10 * LEAST, damping / 8, 0.0), lib.maximum(8 * damping, LEAST))
        here = Point(*(lib.where(taken, new, old) for new, old in zip(there, here, strict=True)))
        return here, proposed(here, damping), damping

    begin = lib.clip(start, low, high)
    # The value -inf makes the first proposal, the start itself, be taken.
    nothing = Point(begin, -lib.inf * lib.ones(()), lib.zeros_like(begin), -lib.eye(len(low)))
    here, _, _ = tools.lax.fori_loop(0, steps + 1, step, (nothing, begin, lib.zeros(())))
    mask = free(here)
    # undamped: NaN where minus the Hessian is not positive definite, that is, where this is no maximum
    v = inverse_factor(curvature(here, 0.0))
    left = 0.5 * ((v.T @ lib.where(mask, here.gradient, 0.0)) ** 2).sum()
    return here.at, mask, lib.where(lib.isfinite(here.value), left, lib.nan)
