"""Evaluation of a model on NumPy arrays: log-densities, Fisher information, Cox-Snell bias, draws."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.lazy_imports import jax
from tacit.errors import ModelError
from tacit.models import correction, quadrature
from tacit.models.boxes import Array
from tacit.models.compiled_programs import CompiledFunction
from tacit.models.jax_config import quiet

if TYPE_CHECKING:
    from tacit.models.likelihood import Likelihood


QUICK: Final = 2**14
"""Numbers below which optimising a program takes longer than it saves."""


@lru_cache(maxsize=256)
def _compiled(model: Likelihood, what: str, *, public: bool = False) -> Any:
    """Return one function of a model, compiled by JAX, and kept on disk where the shapes of its arrays are public."""
    tools = jax()

    def density(x: Any, vector: Any) -> Any:
        theta = model.bind(vector)

        def one(row: Any) -> Any:
            return model.log_density(row, theta)

        return tools.vmap(one)(x)

    def weighted_information(x: Any, w: Any, vector: Any) -> Any:
        def one(row: Any, at: Any) -> Any:
            return model.log_density(row, model.bind(at))

        each = tools.vmap(tools.grad(one, argnums=1), in_axes=(0, None))(x, vector)
        # sum_n w_n s_n s_n': E(score score') is the information; a score of weight 0 may be NaN
        safe = tools.numpy.where(w[:, None] > 0, each, 0.0)
        return tools.numpy.einsum("n,ni,nj->ij", w, safe, safe)

    def information_from_statistics(x: Any, vector: Any) -> Any:
        return correction.information(model, tools.vmap(model.row_statistics)(x), tools.numpy.ones(len(x)), vector)

    def bias_by_rows(x: Any, w: Any, vector: Any) -> Any:
        return correction.weighted(model, x, w, vector)

    def bias_from_statistics(x: Any, vector: Any) -> Any:
        return correction.from_statistics(model, tools.vmap(model.row_statistics)(x), tools.numpy.ones(len(x)), vector)

    def scores(x: Any, vector: Any) -> Any:
        def one(row: Any, at: Any) -> Any:
            return model.log_density(row, model.bind(at))

        return tools.vmap(tools.grad(one, argnums=1), in_axes=(0, None))(x, vector)

    known: dict[str, Any] = {
        "density": density,
        "scores": scores,
        "information": weighted_information,
        "information from statistics": information_from_statistics,
        "bias": bias_by_rows,
        "bias from statistics": bias_from_statistics,
    }
    keep = public and not model.encloses_arrays
    return CompiledFunction(known[what], keep=keep, name=model.program_name(what), quick=QUICK)


def log_densities(model: Likelihood, x: Any, vector: Array, *, public: bool = False) -> Array:
    """Return the log-densities of rows, -inf outside the support; `public`: how many there are is."""
    model.check_function()
    rows = np.asarray(x, dtype=np.float64)
    inside = np.asarray(model.inside(rows))
    # Rows outside the support are replaced by a number inside it before the density runs, so that it stays finite.
    safe = np.where(
        inside if model.columns == 1 else inside[..., None], rows, 1.0 if model.anchor is None else model.anchor
    )
    with quiet():
        found = np.asarray(_compiled(model, "density", public=public)(safe, vector))
    return np.where(inside, found, -np.inf)


def _design(model: Likelihood, regressors: Any) -> Array:
    """Return rows of regressors after a placeholder response of 1; one row of ones for a model without regressors."""
    d = model.columns - 1
    if not model.is_regression or d == 0:
        return np.ones((1,) if model.columns == 1 else (1, model.columns))
    if regressors is None:
        message = "a regression has its information and bias for given regressors."
        raise ModelError(message, code="M18", hint=f"regressors=, shape (n, {d})", state=None)
    z = np.asarray(regressors, dtype=np.float64)
    if z.ndim != 2 or z.shape[1] != d or not np.isfinite(z).all():
        raise ModelError(f"regressors of shape {z.shape} are not (n, {d}).", code="M18", state=None)
    return np.column_stack([np.ones(len(z)), z])


def rule(model: Likelihood, vector: Array, breaks: tuple[float, ...] = ()) -> tuple[Array, Array, Array]:
    """Return a quadrature rule of the law at a vector: points, probabilities, and the scores at the points, (n, p).

    breaks: places where the integrands have kinks.
    """
    model.check_function()
    points, weights = _rule(model, vector, breaks)
    with quiet():
        found = np.asarray(_compiled(model, "scores", public=True)(points, vector))
    return points, weights, np.where(weights[:, None] > 0, found, 0.0)


def _rule(model: Likelihood, vector: Array, breaks: tuple[float, ...] = ()) -> quadrature.Rule:
    return quadrature.law(model, vector, lambda rows: log_densities(model, rows, vector, public=True), breaks=breaks)


def _matrix(model: Likelihood, form: Any) -> Array:
    """Return the rows and columns of free parameters of a closed form for all parameters."""
    # what is held fixed is known: its rows and columns are left out of the information before it is inverted
    full = np.array([[float(entry) for entry in row] for row in form])
    free = getattr(model, "free", list(range(len(full))))
    return full[np.ix_(free, free)]


def fisher(model: Likelihood, vector: Array, regressors: Any = None, closed: bool = True) -> Array:
    """Return the Fisher information of one row, shape (p, p); `closed=False` never uses a closed form."""
    model.check_function()
    with quiet():
        form = model.fisher_form(model.bind(vector)) if closed else None
        if form is not None:
            return _matrix(model, form)
        if model.linear_in_statistics:
            return np.asarray(_compiled(model, "information from statistics")(_design(model, regressors), vector))
        return np.asarray(_compiled(model, "information", public=True)(*_rule(model, vector), vector))


def bias(model: Likelihood, vector: Array, regressors: Any = None, closed: bool = True) -> Array:
    """Return the Cox-Snell bias times the number of rows, shape (p,); `closed=False` never uses a closed form."""
    model.check_function()
    with quiet():
        # closed forms of the bias hold for all parameters estimated together; known ones change the others' bias
        form = model.bias_form(model.bind(vector)) if closed and model.all_free else None
        if form is not None:
            return np.asarray(form, dtype=np.float64)
        if model.linear_in_statistics:
            return np.asarray(_compiled(model, "bias from statistics")(_design(model, regressors), vector))
        return np.asarray(_compiled(model, "bias", public=True)(*_rule(model, vector), vector))


def sample(model: Likelihood, vector: Array, rows: int, rng: np.random.Generator, regressors: Any = None) -> Array:
    """Return rows drawn from the law at the vector; regressors: shape (rows, d), for regressions."""
    z = _design(model, regressors)[:, 1:] if regressors is not None and model.is_regression else None
    if z is not None and len(z) != rows:
        raise ModelError(f"regressors of {len(z)} rows for {rows} draws.", code="M18", state=None)
    with quiet():
        found = model.draw(model.bind(vector), rows, rng, z)
    if found is not None:
        return found
    if model.is_regression:
        raise ModelError("a regression draws responses for given regressors.", code="M18", state=None)
    return quadrature.drawn(_rule(model, vector), rows, rng, model.support == "count")
