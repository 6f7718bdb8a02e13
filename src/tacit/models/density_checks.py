"""Checks of a user's log-density before any row is read: one float, finite where it must be, without side effects.

A callback, a print or a check inside it could disclose rows, or stop a computation because of them.  Both are searched
for in the one trace that is run (`traced_density.differentiable`), and in its rules for derivatives.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import TYPE_CHECKING, Any, Final

import numpy as np

from tacit.base.lazy_imports import jax
from tacit.errors import ModelError
from tacit.models.boxes import Array
from tacit.models.compiled_programs import CompiledFunction
from tacit.models.correction import weighted
from tacit.models.jax_config import quiet
from tacit.models.traced_density import differentiable, refused, traced

if TYPE_CHECKING:
    from tacit.models.custom import Model

TRIED: Final = (0.5, 1.0, 2.0, 0.1, 5.0, 20.0, 0.0, -1.0, -5.0)
"""Rows that are tried where no support is given."""
GRIDS: Final[dict[str, tuple[float, ...]]] = {
    "real": (-100.0, -3.0, -1.0, -0.1, 0.0, 0.3, 1.0, 5.0, 100.0),
    "positive": (1e-3, 0.1, 0.5, 1.0, 2.0, 10.0, 1e3),
    "unit": (0.01, 0.1, 0.3, 0.5, 0.8, 0.99),
    "count": (0.0, 1.0, 2.0, 5.0, 30.0),
}
QUICK: Final = 2**14
"""Numbers below which optimising the program of these checks takes longer than it saves."""
CORNERS: Final = 4
"""Up to this number of parameters every corner of the box is tried."""


@dataclass(frozen=True)
class Density:
    """A log-density as it is run: its trace, which identifies it, and the function of (row, vector) made of it."""

    trace: Any
    run: Callable[..., Any]


@lru_cache(maxsize=64)
def density(model: Model) -> Density:
    """Call a user's function once, on no data, and return what is run from then on; errors as `checked_density`."""
    tools = jax()
    row = np.full(() if model.columns == 1 else (model.columns,), 1.0)

    def one(x: Any, vector: Any) -> Any:
        return model.density(x, model.bind(vector))

    with quiet():
        try:
            closed, gave = traced(one, row, np.asarray(model.fallback))
        except ModelError:
            raise
        except Exception as error:
            said = str(error).strip().splitlines() or [type(error).__name__]
            message = f"the log-density fails on a row of shape {row.shape}: {said[0]}"
            hint = f"theta has {', '.join(word for word, _ in model.boxes)}; write it with jax.numpy"
            raise ModelError(message, code="M14", hint=hint) from error
        _one_float(gave)
        refused(closed, "")
        aval = closed.out_avals[0]
        # a density of 32-bit or weakly typed constants is widened here, so that all later code meets one type
        if aval.dtype != np.float64 or aval.weak_type:
            plain = closed

            def wide(*given: Any) -> Any:
                (found,) = tools.core.eval_jaxpr(plain.jaxpr, plain.consts, *given)
                return tools.numpy.asarray(found, dtype=np.float64)

            closed = tools.make_jaxpr(wide)(row, np.asarray(model.fallback))
        return Density(closed, differentiable(closed))


def digest(model: Model) -> str:
    """Return the SHA-256 digest, in hexadecimal digits, of the log-density's trace and of the arrays it closes over."""
    closed = density(model).trace
    found = hashlib.sha256(str(closed.jaxpr).encode())
    for constant in closed.consts:
        array = np.asarray(constant)
        # type and shape too: equal bytes may be different arrays
        found.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())
    return found.hexdigest()


def checked_density(model: Model) -> None:
    """Raise ModelError M14 for what is no float of a row, M15 for values that are not numbers, M16 for side effects."""
    density(model)
    with quiet():
        _differentiable(model)
        _numbers(model)


def _one_float(gave: Any) -> None:
    """Check that the log-density of one row is a float of shape (): ModelError M14."""
    shape = getattr(gave, "shape", None)
    if shape != ():
        message = f"the log-density of one row has the shape {shape}, not ()."
        raise ModelError(message, code="M14", hint="one number for one row")
    if not jax().numpy.issubdtype(gave.dtype, np.floating):
        raise ModelError(f"the log-density gives {gave.dtype} numbers, not floats.", code="M14")


def _differentiable(model: Model) -> None:
    """Raise ModelError M14 where JAX cannot differentiate it as fits do, M16 where a derivative has side effects."""
    row = np.full((1,) if model.columns == 1 else (1, model.columns), 1.0)

    def every(rows: Any, vector: Any) -> Any:
        return weighted(model, rows, jax().numpy.ones(1), vector)

    try:
        closed = jax().make_jaxpr(every)(row, model.fallback)
    except Exception as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        message = f"derivatives of the log-density fail: {said[0]}"
        raise ModelError(message, code="M14", hint="custom_jvp, not custom_vjp; see jax.grad") from error
    refused(closed, "derivatives of ")


def _itself(model: Model) -> Any:
    """Return the log-density of one row as a function of a vector."""

    def one(row: Any, vector: Any) -> Any:
        return model.log_density(row, model.bind(vector))

    return one


def _numbers(model: Model) -> None:
    """Check that values and derivatives are numbers at public rows and parameters: ModelError M14, M15."""
    rows = _rows(model)
    # the ends of the box are where a density most easily overflows
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
    # a parameter without influence makes the information singular, and every block its default
    still = [name for name, flat in zip(model.names, (slopes == 0).all(axis=(0, 1)), strict=True) if flat]
    if still:
        raise ModelError(f"the log-density does not depend on {', '.join(still)}.", code="M14")


def _evaluated(model: Model, rows: Array, places: Array) -> tuple[Any, Any]:
    """Return log-densities, shape (places, rows), and their derivatives, shape (places, rows, p)."""
    tools = jax()

    one = tools.value_and_grad(_itself(model), argnums=1)
    both = tools.vmap(tools.vmap(one, in_axes=(0, None)), in_axes=(None, 0))
    keep = not model.encloses_arrays  # rows and places are public
    return CompiledFunction(both, keep=keep, name=model.program_name("check"), quick=QUICK)(rows, places)


def _rows(model: Model) -> Array:
    """Return public rows, of the support where one is given."""
    if isinstance(model.support, tuple):
        return np.linspace(*model.support, 9)[1:-1]
    points = np.array(GRIDS[model.support] if model.support else TRIED)
    if model.columns == 1:
        return points
    # rows of equal and of unequal numbers
    turned = [np.roll(points, shift)[:, None] for shift in range(model.columns)]
    return np.vstack([np.repeat(points[:, None], model.columns, axis=1), np.hstack(turned)])


def _corners(model: Model) -> list[Array]:
    if len(model.parameters) > CORNERS:
        return [model.lower[None], model.upper[None]]
    return [np.array(list(product(*((one.lower, one.upper) for one in model.parameters))))]
