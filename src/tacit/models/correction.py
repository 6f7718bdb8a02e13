"""The Cox-Snell bias by automatic differentiation: JAX functions of one block (theory §2).

    b_r = sum K^rs K^tu (kappa_stu / 2 + kappa_st,u),  per observation;  the estimate from t rows has bias b / t.

K is the Fisher information of one row, K^rs an entry of its inverse; kappa are expected products of derivatives of the
log-density.  With K^-1 = V Vᵀ the sums over t, u are sums over columns v of V of second derivatives along v: no
third-order array is made.  Expectations are found in one of three ways: exactly, from the expected statistics
(`from_statistics`); over quadrature points of the law (`weighted` on `nodes`); or as averages over the rows of the
block itself (`weighted`), which holds for rows of any law.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from tacit.base.lazy_imports import jax
from tacit.models.block_quadrature import expectations
from tacit.models.newton import inverse_factor

if TYPE_CHECKING:
    from tacit.models.likelihood import Likelihood


def _expected(model: Likelihood, truth: Any, at: Any) -> Callable[[Any], Any]:
    """Return a function of one row: its expected log-density at `at`, under the law at `truth`."""

    def of(row: Any) -> Any:
        return model.log_density_from(model.expected(row, truth), at)

    return of


def _along(f: Callable[[Any], Any], at: Any, direction: Any) -> Any:
    """Return the derivative of f at a place along a direction."""
    return jax().jvp(f, (at,), (direction,))[1]


def weighted(model: Likelihood, x: Any, w: Any, vector: Any, *, lawful: bool = True) -> Any:
    """Return the bias, shape (p,), with expectations as averages over rows x with weights w.

    lawful: rows follow the model's law, so that the covariance of scores s is K.  Otherwise the sandwich
    C = K^-1 mean(s s') K^-1 replaces K^-1 beside the third derivatives, which gives the bias of the maximum for rows of
    any law [Kosmidis & Lunardon 2024, §2].
    """
    lib, tools = jax().numpy, jax()
    w = w / w.sum()

    def one(row: Any, values: Any) -> Any:
        return model.log_density(row, model.bind(values))

    def whole(values: Any) -> Any:
        each = tools.vmap(one, in_axes=(0, None))(x, values)
        return lib.where(w > 0, w * each, 0.0).sum()

    slope, score = tools.grad(whole), tools.grad(one, argnums=1)
    # V V' = K^-1, K the averaged information
    v = inverse_factor(-tools.jacfwd(slope)(vector))
    used = (w > 0)[:, None]
    # scores times K^-1, shape (n, p): entry u of row i is sum_t K^ut score_t, so that below one direction does for t, u
    moved = lib.where(used, tools.vmap(score, in_axes=(0, None))(x, vector), 0.0) @ v @ v.T
    # sum over columns of left x right' = K^-1, or C = K^-1 mean(s s') K^-1 (the sandwich)
    left, right = (v, v) if lawful else (lib.eye(len(vector)), (moved.T * w) @ moved)

    def second(a: Any, b: Any) -> Any:
        return _along(lambda at: _along(slope, at, a), vector, b)

    def mixed(row: Any, move: Any) -> Any:
        return _along(lambda at: score(row, at), vector, move)

    # sum_tu C^tu kappa_stu: second derivatives of the gradient along pairs of columns
    third = tools.vmap(second, in_axes=1)(left, right).sum(0)
    # sum_tu K^tu kappa_st,u: each row's Hessian along its own direction
    both = lib.where(used, w[:, None] * tools.vmap(mixed)(x, moved), 0.0).sum(0)
    # K^-1 times the sums; multiplied factor by factor, without forming the inverse
    return v @ (v.T @ (0.5 * third + both))


def observed_from_moments(model: Likelihood, u: Any, pairs: Any, vector: Any) -> Any:
    """Return `weighted(..., lawful=False)`, shape (p,), from means of statistics and of their products.

    u: shape (q,); pairs: shape (q, q), the mean of T T'.  The log-density is linear in T, and so are a row's score and
    Hessian: with t = (1, T) they are sums over entries t_a, and means of their products need the means of t t' alone.
    """
    lib, tools = jax().numpy, jax()

    def of(statistics: Any, values: Any) -> Any:
        return model.log_density_from(statistics, model.bind(values))

    slope, curve = tools.grad(of, argnums=1), tools.hessian(of, argnums=1)
    origin, axes = lib.zeros_like(u), lib.eye(len(u))

    def parts(f: Any) -> Any:
        """Return f at T = 0, and what each T_j adds to it for a unit."""
        at_zero = f(origin, vector)
        return lib.stack([at_zero, *(f(axis, vector) - at_zero for axis in axes)])

    t = lib.concatenate([lib.ones(1), u])
    second_moments = lib.concatenate([t[None], lib.concatenate([u[:, None], pairs], axis=1)])
    scores, hessians = parts(slope), parts(curve)
    v = inverse_factor(-lib.tensordot(t, hessians, axes=1))
    # entry a of a row's score times K^-1, shape (q + 1, p)
    moved = scores @ v @ v.T
    spread = moved.T @ second_moments @ moved

    def second(a: Any, b: Any) -> Any:
        return _along(lambda at: _along(lambda place: slope(u, place), at, a), vector, b)

    third = tools.vmap(second, in_axes=1)(lib.eye(len(vector)), spread).sum(0)
    total = lib.einsum("ab,aij,bj->i", second_moments, hessians, moved) + 0.5 * third
    return v @ (v.T @ total)


def from_statistics(model: Likelihood, u: Any, w: Any, vector: Any) -> Any:
    """Return the bias, shape (p,), with exact expectations; u: statistics and regressors, shape (n, q), w: weights."""
    lib, tools = jax().numpy, jax()
    w = w / w.sum()

    def whole(truth: Any, values: Any) -> Any:
        """Return the expected log-density at `values` under the law at `truth`."""
        bound, at = model.bind(truth), model.bind(values)
        each = tools.vmap(_expected(model, bound, at))(u)
        return lib.where(w > 0, w * each, 0.0).sum()

    slope = tools.grad(whole, argnums=1)
    v = inverse_factor(information(model, u, w, vector))

    def second(direction: Any) -> Any:
        def once(truth: Any, values: Any) -> Any:
            return _along(lambda at: slope(truth, at), values, direction)

        twice = _along(lambda at: once(vector, at), vector, direction)
        # d/d truth of E_truth[Hessian] is E[Hessian score']: the term kappa_st,u
        return 0.5 * twice + _along(lambda truth: once(truth, vector), vector, direction)

    return v @ (v.T @ tools.vmap(second, in_axes=1)(v).sum(0))


def information(model: Likelihood, u: Any, w: Any, vector: Any) -> Any:
    """Return the Fisher information of one row, shape (p, p), from statistics and regressors u."""
    lib, tools = jax().numpy, jax()
    truth = model.bind(vector)

    def whole(values: Any) -> Any:
        at = model.bind(values)
        each = tools.vmap(_expected(model, truth, at))(u)
        return lib.where(w > 0, w * each, 0.0).sum() / w.sum()

    # the derivative is in `values` only: E_truth of minus the Hessian, at values = truth
    return -tools.hessian(whole)(vector)


def bias(model: Likelihood, x: Any, w: Any, vector: Any, how: str) -> Any:
    """Return the bias at a vector, for a block of rows.

    how: "cox-snell", under the model's law, in closed form where there is one; "observed", for rows of any law.
    """
    lib, tools = jax().numpy, jax()
    if how == "observed":
        return weighted(model, x, w, vector, lawful=False)
    if model.all_free:
        form = model.bias_form(model.bind(vector))
        if form is not None:
            return form
    if model.linear_in_statistics:
        # Without regressors one row is enough: its statistics are replaced by their expectations.
        u = tools.vmap(model.row_statistics)(x if model.is_regression else x[:1])
        return from_statistics(model, u, w if model.is_regression else lib.ones(1), vector)
    nodes = model.nodes(model.bind(vector))
    return weighted(model, *(nodes or expectations(model, x, w, vector)), vector)
