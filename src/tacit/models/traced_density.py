"""Tracing of a user's log-density: it is called once, and only the checked trace runs afterwards, never user Python.

JAX calls a Python function anew for each use and each derivative.  A function may compute something else at its ninth
call than at its first, so that a check of one call says nothing of the others.  It is therefore called once, with no
row; all that is compiled, differentiated or mapped is the trace of that call (a jaxpr).

A trace still holds Python where its author defined a derivative (`jax.custom_jvp`, `jax.custom_vjp`): the rule is
called when the function is differentiated.  Each such rule is traced too, and the rules within it, as deep as fits
differentiate (`ORDERS`); deeper derivatives, which no fit takes, are those of the function itself.  Any other operation
that would call Python later is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import nullcontext
from typing import Any, Final, cast

import numpy as np

from tacit.base.lazy_imports import jax
from tacit.errors import ModelError

ORDERS: Final = 3
"""The highest derivatives that fits take, in the bias of a maximum."""
REFUSED: Final = ("callback", "print", "infeed", "outfeed", "ffi", "custom_call", "partitioning", "pallas", "mosaic")
"""Parts of the names of operations that leave the compiler's own arithmetic."""
RULED: Final = "custom_jvp_call"
REVERSED: Final = ("custom_vjp_call", "custom_vjp_call_jaxpr")
OPENED: Final = ("jit", "pjit", "closed_call", "core_call", "remat", "remat2", "checkpoint")
"""Operations that only call a trace: where that is rebuilt, its steps replace them."""
LOOPS: Final = ("scan", "while", "cond")


def traced(function: Callable[..., Any], *arguments: Any) -> tuple[Any, Any]:
    """Return what JAX would compute, a closed jaxpr, from one call of a function, and the shapes of its results.

    Arrays that the function closes over are copied: theirs may change later.  ModelError M14 where one is a value that
    another computation still has to find.
    """
    tools = jax()
    made, shapes = tools.make_jaxpr(function, return_shape=True)(*arguments)
    if any(isinstance(one, tools.core.Tracer) for one in made.consts):
        message = "the log-density closes over a value of a computation that has not ended."
        raise ModelError(message, code="M14", hint="numbers and arrays only")
    return _closed(made.jaxpr, [_copied(one) for one in made.consts]), shapes


def _copied(constant: Any) -> Any:
    """Return a copy of an array; what NumPy has no array for (a random key) is immutable in JAX."""
    return np.array(constant) if isinstance(getattr(constant, "dtype", None), np.dtype) else constant


def effects(closed: Any) -> list[str]:
    """Return the names of all side effects of a trace and of what it calls, without rules of derivatives."""
    return sorted(set(_effects(closed)))


def differentiable(closed: Any, what: str = "derivatives of ") -> Callable[..., list[Any]]:
    """Return the function of a trace with its rules of derivatives traced and checked, safe to differentiate.

    ModelError M14 for a rule that cannot be held, M16 for one that has effects.
    """
    return _function(_made(closed, ORDERS, what))


def refused(closed: Any, what: str) -> None:
    """Raise ModelError M16 where a trace has side effects."""
    found = effects(closed)
    if found:
        message = f"{what}the log-density {'have' if what else 'has'} effects or callbacks: {', '.join(found)}."
        raise ModelError(message, code="M16", hint="arithmetic of jax.numpy only: no print, no Python function")


# What is in a trace ---------------------------------------------------------------------------------------------------


def _effects(closed: Any) -> Iterator[str]:
    yield from (type(one).__name__ for one in getattr(closed, "effects", ()))
    for step in getattr(closed, "jaxpr", closed).eqns:
        name = step.primitive.name
        # by name as well: not all operations that leave the compiler declare an effect
        if any(word in name for word in REFUSED) or getattr(step, "effects", ()):
            yield name
        for value in _leaves(list(step.params.values())):
            if _is_jaxpr(value):
                yield from _effects(value)
            # rules of derivatives are Python too, but are traced and checked in `_made`
            elif name not in (RULED, *REVERSED) and _python(value):
                yield f"{name} of a Python function"


def _leaves(value: Any) -> Iterator[Any]:
    """Yield the leaves of nested lists, tuples and mappings."""
    if isinstance(value, list | tuple):
        for part in value:  # pyright: ignore[reportUnknownVariableType]
            yield from _leaves(part)
    elif isinstance(value, dict):
        yield from _leaves(list(value.values()))  # pyright: ignore[reportUnknownArgumentType, reportUnknownVariableType]
    else:
        yield value


def _is_jaxpr(value: Any) -> bool:
    return hasattr(getattr(value, "jaxpr", value), "eqns")


def _python(value: Any) -> bool:
    """Return whether a parameter of an operation is a user's function that may be called later."""
    of = cast(Any, type(value))
    if of.__name__ == "WrappedFun":
        return True
    return callable(value) and not isinstance(value, type) and not of.__module__.startswith(("jax", "jaxlib"))


def _touched(closed: Any) -> bool:
    """Return whether a trace holds a rule of derivatives, so that it must be rebuilt."""
    return any(
        step.primitive.name in (RULED, *REVERSED)
        or any(_is_jaxpr(one) and _touched(one) for one in _leaves(list(step.params.values())))
        for step in getattr(closed, "jaxpr", closed).eqns
    )


# What is made anew ----------------------------------------------------------------------------------------------------


def _made(closed: Any, orders: int, what: str) -> Any:
    """Return the same trace with its rules traced, `orders` derivatives deep."""
    # most densities have no rules: their trace runs as it is
    if not _touched(closed):
        return closed

    def again(*given: Any) -> list[Any]:
        return _run(closed.jaxpr, closed.consts, given, orders, what)

    return jax().make_jaxpr(again)(*_shapes(closed.in_avals))


def _run(jaxpr: Any, consts: Any, given: Any, orders: int, what: str) -> list[Any]:
    """Run a trace step by step; return its results."""
    values: dict[Any, Any] = {}

    def read(one: Any) -> Any:
        return one.val if hasattr(one, "val") else values[one]

    values.update(zip(jaxpr.constvars, consts, strict=True))
    values.update(zip(jaxpr.invars, given, strict=True))
    for step in jaxpr.eqns:
        with getattr(getattr(step, "ctx", None), "manager", nullcontext()):
            found = _step(step, [read(one) for one in step.invars], orders, what)
        values.update(zip(step.outvars, found, strict=True))
    return [read(one) for one in jaxpr.outvars]


def _step(step: Any, given: list[Any], orders: int, what: str) -> list[Any]:
    name, params = step.primitive.name, step.params
    if name == RULED:
        return list(_ruled(step, orders, what)(*given))
    if name in REVERSED:
        return list(_reversed(step, orders, what)(*given))
    inner = {key: value for key, value in params.items() if any(map(_is_jaxpr, _leaves(value)))}
    if not any(_touched(one) for value in inner.values() for one in _leaves(value)):
        return _bound(step, params, given)
    if name in OPENED and len(inner) == 1:
        (body,) = inner.values()
        return _run(getattr(body, "jaxpr", body), getattr(body, "consts", ()), given, orders, what)
    if name in LOOPS:
        return _bound(step, params | {key: _remade(value, orders, what) for key, value in inner.items()}, given)
    message = f"{what}the log-density fail: a rule of derivatives within {name}."
    raise ModelError(message, code="M14", hint="jax.lax.scan, cond or while_loop")


def _remade(value: Any, orders: int, what: str) -> Any:
    return tuple(_made(one, orders, what) for one in value) if isinstance(value, tuple) else _made(value, orders, what)  # pyright: ignore[reportUnknownVariableType]


def _bound(step: Any, params: Any, given: list[Any]) -> list[Any]:
    """Run one operation unchanged; return its results."""
    made: Any = step.primitive.get_bind_params(params)
    if isinstance(made, tuple):  # functions apart, in older versions
        found: Any = step.primitive.bind(*made[0], *given, **made[1])
    else:
        found = step.primitive.bind(*given, **made)
    return list(found) if step.primitive.multiple_results else [found]


def _ruled(step: Any, orders: int, what: str) -> Callable[..., Any]:
    """Return the function of a `custom_jvp` operation whose rule is replaced by its trace."""
    closed = next(one for one in step.params.values() if _is_jaxpr(one))
    itself = _function(_made(closed, orders, what))
    # fits differentiate no further; deeper derivatives are those of the arithmetic itself
    if orders == 0:
        return itself
    shapes, moving, moved = _shapes(closed.in_avals), _floats(closed.in_avals), _floats(closed.out_avals)

    def both(given: Any, moves: Any) -> Any:
        """Return values and tangents by the author's rule: the only call of it."""
        values, moves = jax().jvp(_chosen(step, given, moving), [given[i] for i in moving], moves)
        return values, [moves[i] for i in moved]

    rule = traced(both, shapes, [shapes[i] for i in moving])[0]
    refused(rule, what)
    follow = _function(_made(rule, orders - 1, what))

    def own(*given: Any) -> tuple[Any, ...]:
        return tuple(itself(*given))

    function: Any = jax().custom_jvp(own)

    def moves(given: Any, given_moves: Any) -> Any:
        found = follow(*given, *(given_moves[i] for i in moving))
        values, own = found[: len(closed.out_avals)], iter(found[len(closed.out_avals) :])
        # JAX's type of the derivative of what is no float
        still = [np.zeros(one.shape, jax().dtypes.float0) for one in closed.out_avals]
        return tuple(values), tuple(next(own) if i in moved else one for i, one in enumerate(still))

    function.defjvp(moves)
    return function


def _reversed(step: Any, orders: int, what: str) -> Callable[..., Any]:
    """Return the same for a `custom_vjp` operation; its residuals are the arguments, from which both passes start."""
    closed = next(one for one in step.params.values() if _is_jaxpr(one))
    itself = _function(_made(closed, orders, what))
    if orders == 0:
        return itself
    shapes, moving = _shapes(closed.in_avals), _floats(closed.in_avals)
    if len(_floats(closed.out_avals)) < len(closed.out_avals):
        message = f"{what}the log-density fail: a custom_vjp that gives more than floats."
        raise ModelError(message, code="M14", hint="custom_jvp, not custom_vjp; see jax.grad")

    def forward(given: Any) -> Any:
        return jax().vjp(_chosen(step, given, moving), *(given[i] for i in moving))[0]

    def backward(given: Any, weights: Any) -> Any:
        return jax().vjp(_chosen(step, given, moving), *(given[i] for i in moving))[1](weights)

    rules = traced(forward, shapes)[0], traced(backward, shapes, _shapes(closed.out_avals))[0]
    for rule in rules:
        refused(rule, what)
    values, pull = (_function(_made(rule, orders - 1, what)) for rule in rules)

    def kept(*given: Any) -> tuple[list[Any], tuple[Any, ...]]:
        return values(*given), given

    function: Any = jax().custom_vjp(itself)

    def pulled(given: Any, weights: Any) -> Any:
        found = iter(pull(*given, *weights))
        # integers have no derivative
        return tuple(next(found) if i in moving else None for i in range(len(given)))

    function.defvjp(kept, pulled)
    return function


def _chosen(step: Any, given: Any, moving: list[int]) -> Callable[..., list[Any]]:
    """Return an operation as a function of its float arguments, the others fixed."""

    def of(*chosen: Any) -> list[Any]:
        full = list(given)
        for i, one in zip(moving, chosen, strict=True):
            full[i] = one
        return _bound(step, step.params, full)

    return of


def _floats(avals: Any) -> list[int]:
    """Return the places of floats, which alone have derivatives."""
    return [i for i, one in enumerate(avals) if jax().numpy.issubdtype(one.dtype, np.floating)]


def _function(closed: Any) -> Callable[..., list[Any]]:
    return lambda *given: jax().core.eval_jaxpr(closed.jaxpr, closed.consts, *given)


def _closed(jaxpr: Any, consts: list[Any]) -> Any:
    from jax.extend.core import ClosedJaxpr

    closed: Any = ClosedJaxpr
    return closed(jaxpr, consts)


def _shapes(avals: Any) -> list[Any]:
    """Return the shape and type of each argument of a trace."""
    return [jax().ShapeDtypeStruct(one.shape, one.dtype, weak_type=getattr(one, "weak_type", False)) for one in avals]
