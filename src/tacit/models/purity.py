"""What a log-density of one's own must be before any row is read: one float, a number where it must be, no effects.

A callback, a print or a check inside it would carry rows out of the wall, or stop a computation because of them.  They
are found in what JAX traces: the log-density and its derivatives up to the third, as fits use them.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.errors import ModelError
from tacit.models.boxes import Array
from tacit.models.correction import weighted
from tacit.models.quiet import quiet
from tacit.untyped import jax

if TYPE_CHECKING:
    from tacit.models.custom import Model

REFUSED: Final = ("callback", "print", "infeed", "outfeed", "ffi", "custom_call", "partitioning", "pallas", "mosaic")
"""Parts of the names of operations that leave the compiler's own arithmetic."""
TRIED: Final = (0.5, 1.0, 2.0, 0.1, 5.0, 20.0, 0.0, -1.0, -5.0)
"""Rows tried where no support was said."""
GRIDS: Final[dict[str, tuple[float, ...]]] = {
    "real": (-100.0, -3.0, -1.0, -0.1, 0.0, 0.3, 1.0, 5.0, 100.0),
    "positive": (1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 1e3),
    "unit": (0.01, 0.1, 0.3, 0.5, 0.8, 0.99),
    "count": (0.0, 1.0, 2.0, 5.0, 30.0),
}
CORNERS: Final = 4
"""Up to so many parameters every corner of the box is tried."""


def checked_density(model: Model) -> None:
    """ModelError M14 for what gives no float of a row, M15 for one that is not a number, M16 for effects."""
    with quiet():
        _one_float(model)
        row = np.full(() if model.columns == 1 else (model.columns,), 1.0)
        for what, function in (("", _itself(model)), ("derivatives of ", _all_orders(model))):
            _no_effects(_traced(what, function, row, model.fallback), what)
        _numbers(model)


def _one_float(model: Model) -> None:
    """The log-density of one row is a float of shape ()."""
    tools = jax()
    shape = () if model.columns == 1 else (model.columns,)

    def one(x: Any, vector: Any) -> Any:
        return model.density(x, model.bind(vector))

    try:
        out = tools.eval_shape(one, np.zeros(shape), model.fallback)
    except Exception as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        message = f"the log-density fails on a row of shape {shape}: {said[0]}"
        hint = f"theta has {', '.join(word for word, _ in model.boxes)}; write it with jax.numpy"
        raise ModelError(message, code="M14", hint=hint) from error
    if getattr(out, "shape", None) != ():
        message = f"the log-density of one row has the shape {getattr(out, 'shape', None)}, not ()."
        raise ModelError(message, code="M14", hint="one number for one row")
    if not tools.numpy.issubdtype(out.dtype, np.floating):
        raise ModelError(f"the log-density gives {out.dtype} numbers, not floats.", code="M14")


def _traced(what: str, function: Any, *arguments: Any) -> Any:
    """What JAX would compute; ModelError M14 where it cannot say."""
    try:
        return jax().make_jaxpr(function)(*arguments)
    except Exception as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        message = f"{what}the log-density fail{'' if what else 's'}: {said[0]}"
        raise ModelError(message, code="M14", hint="custom_jvp, not custom_vjp; see jax.grad") from error


def _no_effects(traced: Any, what: str) -> None:
    """ModelError M16 where a computation does more than to compute."""
    found = sorted(set(_effects(traced)))
    if found:
        message = f"{what}the log-density {'have' if what else 'has'} effects or callbacks: {', '.join(found)}."
        raise ModelError(message, code="M16", hint="arithmetic of jax.numpy only: no print, no Python function")


def _itself(model: Model) -> Any:
    """The log-density of one row as a function of a vector."""

    def one(row: Any, vector: Any) -> Any:
        return model.log_density(row, model.bind(vector))

    return one


def _all_orders(model: Model) -> Any:
    """A function whose trace holds the log-density and the derivatives that fits take of it."""
    lib = jax().numpy

    def every(row: Any, vector: Any) -> Any:
        return weighted(model, row[None], lib.ones(1), vector), model.log_density(row, model.bind(vector))

    return every


def _effects(traced: Any) -> Iterator[str]:
    """Names of operations with effects, in a trace and in all that it calls."""
    inner = getattr(traced, "jaxpr", traced)
    yield from (type(one).__name__ for one in getattr(traced, "effects", ()))
    for step in inner.eqns:
        name = step.primitive.name
        if any(word in name for word in REFUSED) or getattr(step, "effects", ()):
            yield name
        for value in step.params.values():
            yield from _within(value)


def _within(value: Any) -> Iterator[str]:
    if hasattr(value, "eqns") or hasattr(getattr(value, "jaxpr", None), "eqns"):
        yield from _effects(value)
    elif isinstance(value, list | tuple):
        for part in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _within(part)
    elif isinstance(value, dict):
        for part in value.values():  # pyright: ignore[reportUnknownVariableType]
            yield from _within(part)


def _numbers(model: Model) -> None:
    """Values and derivatives are numbers at public rows and parameters."""
    rows = _rows(model)
    places = np.vstack([model.fallback[None], *_corners(model)])
    values, slopes = (np.asarray(part) for part in _evaluated(model, rows, places))
    inside = np.asarray(model.inside(rows))
    finite = np.isfinite(values[0]) & inside
    if model.support is not None:
        wrong = np.argwhere((np.isnan(values) | (values == np.inf)) & inside)
        if len(wrong):
            place, row = wrong[0]
            at = ", ".join(f"{name}={v:.6g}" for name, v in zip(model.names, places[place], strict=True))
            message = f"the log-density of {rows[row]:g} is {values[place, row]} at {at}."
            raise ModelError(message, code="M15", hint="a narrower box, or another support")
    if not finite.any():
        message = f"the log-density is no number at any of the rows tried ({', '.join(f'{x:g}' for x in TRIED)})."
        raise ModelError(message, code="M15", hint='Model(..., support="positive"), or another support')
    there = slopes[0][finite]
    if not np.isfinite(there).any(axis=0).all():
        raise ModelError("derivatives of the log-density are no numbers.", code="M15", hint="see jax.grad")
    still = [name for name, flat in zip(model.names, (slopes == 0).all(axis=(0, 1)), strict=True) if flat]
    if still:
        raise ModelError(f"the log-density does not depend on {', '.join(still)}.", code="M14")


def _evaluated(model: Model, rows: Array, places: Array) -> tuple[Any, Any]:
    """Log-densities, shape (places, rows), and their slopes."""
    tools = jax()

    one = tools.value_and_grad(_itself(model), argnums=1)
    both = tools.vmap(tools.vmap(one, in_axes=(0, None)), in_axes=(None, 0))
    return tools.jit(both)(rows, places)


def _rows(model: Model) -> Array:
    """Public rows, of the support where it was said."""
    if isinstance(model.support, tuple):
        return np.linspace(*model.support, 9)[1:-1]
    points = np.array(GRIDS[model.support] if model.support else TRIED)
    if model.columns == 1:
        return points
    turned = [np.roll(points, shift)[:, None] for shift in range(model.columns)]
    return np.vstack([np.repeat(points[:, None], model.columns, axis=1), np.hstack(turned)])


def _corners(model: Model) -> list[Array]:
    if len(model.parameters) > CORNERS:
        return [model.lower[None], model.upper[None]]
    return [np.array(list(product(*((one.lower, one.upper) for one in model.parameters))))]
