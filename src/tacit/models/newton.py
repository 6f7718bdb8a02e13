"""Damped, safeguarded Newton steps in a box, a fixed number of them: JAX functions of one block, to be vmapped.

Maximises f in coordinates with ends (low, high).  A step solves (-H + damping D) step = gradient on the coordinates
that are not held at an end, and is taken if f does not fall; damping shrinks after a step taken and grows after one
refused, also where f is not a number.  Nothing stops early: the time is the same for every block.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final, NamedTuple

from tacit.base.lazy_imports import jax

UNROLLED: Final = 6
"""Up to so many parameters matrices are factored entry by entry; beyond, by LAPACK."""
LEAST: Final = 1e-3
"""Damping that a refused step starts from."""
REACH: Final = 0.25
"""The longest step, in widths of the search, in each coordinate."""


class Point(NamedTuple):
    """Where a search stands: place, value, gradient, Hessian."""

    at: Any
    value: Any
    gradient: Any
    hessian: Any


def cholesky(matrix: Any) -> Any:
    """Lower factor of a (p, p) matrix; NaN where it is not positive definite."""
    lib, p = jax().numpy, matrix.shape[0]
    if p > UNROLLED:
        return lib.linalg.cholesky(matrix)
    rows: list[list[Any]] = []
    for i in range(p):
        row: list[Any] = []
        for j in range(i):
            row.append((matrix[i, j] - sum(row[k] * rows[j][k] for k in range(j))) / rows[j][j])
        left = matrix[i, i] - sum(one * one for one in row)
        rows.append([*row, lib.sqrt(lib.where(left > 0, left, lib.nan))])
    zero = lib.zeros_like(matrix[0, 0])
    return lib.stack([lib.stack([*row, *[zero] * (p - len(row))]) for row in rows])


def inverse_factor(matrix: Any) -> Any:
    """V with V Vᵀ the inverse of a positive definite matrix; NaN where it is not."""
    lib, p = jax().numpy, matrix.shape[0]
    factor = cholesky(matrix)
    if p > UNROLLED:
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
    """Place, its free coordinates as a mask, and half the Newton decrement there (the gain that is left).

    start, low, high: shape (p,).  The decrement is NaN where f has no maximum in the free coordinates.
    """
    lib, tools = jax().numpy, jax()
    both = tools.value_and_grad(f)
    axes = lib.eye(len(low))

    def point(at: Any) -> Point:
        """Value, gradient and Hessian from one trace of f: what is compiled is what costs."""

        def along(axis: Any) -> Any:
            return tools.jvp(both, (at,), (axis,))

        (value, gradient), (_, hessian) = tools.vmap(along, out_axes=((None, None), 0))(axes)
        return Point(at, value, gradient, hessian)

    def free(here: Point) -> Any:
        return ~((here.at <= low) & (here.gradient <= 0) | (here.at >= high) & (here.gradient >= 0))

    def curvature(here: Point, damping: Any) -> Any:
        """Minus the Hessian, damped, with the coordinates that are held left out."""
        mask = free(here)
        size = lib.abs(lib.diag(here.hessian))
        damped = -here.hessian + damping * lib.diag(size + 1e-12 * (1 + size.max()))
        return lib.where(mask[:, None] & mask[None, :], damped, lib.eye(len(mask)))

    def proposed(here: Point, damping: Any) -> Any:
        v = inverse_factor(curvature(here, damping))
        move = v @ (v.T @ lib.where(free(here), here.gradient, 0.0))
        return lib.clip(here.at + lib.clip(move, -REACH * (high - low), REACH * (high - low)), low, high)

    def step(_: Any, state: tuple[Point, Any, Any]) -> tuple[Point, Any, Any]:
        here, place, damping = state
        there = point(place)
        gained = there.value >= here.value - 1e-14 * (1 + lib.abs(here.value))
        taken = gained & lib.isfinite(there.value) & lib.isfinite(there.gradient).all()
        damping = lib.where(taken, lib.where(damping > 10 * LEAST, damping / 8, 0.0), lib.maximum(8 * damping, LEAST))
        here = Point(*(lib.where(taken, new, old) for new, old in zip(there, here, strict=True)))
        return here, proposed(here, damping), damping

    begin = lib.clip(start, low, high)
    nothing = Point(begin, -lib.inf * lib.ones(()), lib.zeros_like(begin), -lib.eye(len(low)))
    here, _, _ = tools.lax.fori_loop(0, steps + 1, step, (nothing, begin, lib.zeros(())))
    mask = free(here)
    v = inverse_factor(curvature(here, 0.0))
    left = 0.5 * ((v.T @ lib.where(mask, here.gradient, 0.0)) ** 2).sum()
    return here.at, mask, lib.where(lib.isfinite(here.value), left, lib.nan)
