"""Parameters, checks of their public boxes, and the unbounded coordinates in which they are fitted."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, Literal, TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from tacit.base.arguments import described
from tacit.base.lazy_imports import jax
from tacit.errors import ModelError

Array: TypeAlias = NDArray[np.float64]
Kind: TypeAlias = Literal["real", "positive", "unit", "signed"]
Link: TypeAlias = Literal["identity", "log", "logit", "atanh"]
Span: TypeAlias = float | Sequence[float] | Sequence[Sequence[float]]
"""A box (lower, upper), or a number that holds the parameter fixed; for a vector, one of these for each entry."""

DOMAINS: Final[dict[Kind, tuple[float, float]]] = {
    "real": (-math.inf, math.inf),
    "positive": (0.0, math.inf),
    "unit": (0.0, 1.0),
    "signed": (-1.0, 1.0),
}
LINKS: Final[dict[Kind, Link]] = {"real": "identity", "positive": "log", "unit": "logit", "signed": "atanh"}
STEPS: Final = 2**20
"""Number of steps of the grid onto which estimates are rounded."""
WIDEST: Final = 1e150
"""Largest width of a box, and size of its ends: squares are finite, and releases readable (`document_checks`)."""
FLOOR: Final = 1e-6
"""Share of the box by which a search stays away from the end of a domain, where the coordinate is infinite."""


@dataclass(frozen=True)
class Parameter:
    """One parameter to be estimated: its name, its box, and the link to its unbounded coordinate."""

    name: str
    lower: float
    upper: float
    link: Link

    def region(self, widen: float) -> tuple[float, float]:
        """Return the ends of the search in the link's coordinate: the box, extended by `widen` widths on both sides."""
        # a box may begin at the end of the domain (a rate from 0), where log, logit and atanh are infinite
        inner = FLOOR * (self.upper - self.lower)
        low, high = self.lower, self.upper
        if (self.link in ("log", "logit") and low <= 0) or (self.link == "atanh" and low <= -1):
            low = low + inner
        if self.link in ("logit", "atanh") and high >= 1:
            high = high - inner
        a, b = (float(_forward(np, self.link, np.float64(end))) for end in (low, high))
        return a - widen * (b - a), b + widen * (b - a)

    @property
    def middle(self) -> float:
        """The middle of the box, in the coordinate of the link."""
        a, b = self.region(0.0)
        # the inverse of the link rounds, and the default must lie in the box
        return min(max(float(_inverse(np, self.link, np.float64((a + b) / 2))), self.lower), self.upper)


def _forward(lib: Any, link: Link, value: Any) -> Any:
    if link == "identity":
        return value
    if link == "log":
        return lib.log(value)
    return lib.log(value) - lib.log1p(-value) if link == "logit" else lib.arctanh(value)


def _inverse(lib: Any, link: Link, value: Any) -> Any:
    if link == "identity":
        return value
    if link == "log":
        return lib.exp(value)
    return 1 / (1 + lib.exp(-value)) if link == "logit" else lib.tanh(value)


def coordinates(parameters: Sequence[Parameter], theta: Array) -> Array:
    """Return the unbounded coordinates of parameters inside their domains, shape (..., p) (NumPy)."""
    return np.stack([_forward(np, one.link, theta[..., i]) for i, one in enumerate(parameters)], axis=-1)


def parameters_at(parameters: Sequence[Parameter], values: Array) -> Array:
    """Return the parameters at unbounded coordinates, shape (..., p) (NumPy)."""
    return np.stack([_inverse(np, one.link, values[..., i]) for i, one in enumerate(parameters)], axis=-1)


def slopes(parameters: Sequence[Parameter], theta: Array) -> Array:
    """Return the derivatives of parameters in their coordinates, shape (p,) (NumPy)."""
    return np.array([_slope(one.link, float(theta[i])) for i, one in enumerate(parameters)])


def _slope(link: Link, x: float) -> float:
    if link == "identity":
        return 1.0
    if link == "log":
        return x
    return x * (1 - x) if link == "logit" else 1 - x * x


def to_coordinates(links: Sequence[Link], theta: Any) -> Any:
    """Return the unbounded coordinates of parameters, shape (p,) (JAX)."""
    lib = jax().numpy
    return lib.stack([_forward(lib, link, theta[i]) for i, link in enumerate(links)])


def from_coordinates(links: Sequence[Link], values: Any) -> Any:
    """Return the parameters at unbounded coordinates, shape (p,) (JAX)."""
    lib = jax().numpy
    return lib.stack([_inverse(lib, link, values[i]) for i, link in enumerate(links)])


# Checks of arguments --------------------------------------------------------------------------------------------------


def _number(value: Any) -> float | None:
    """Return the value as a float where it is a plain number, else None."""
    plain = isinstance(value, int | float | np.integer | np.floating) and not isinstance(value, bool)
    return float(cast(Any, value)) if plain else None


def _one(name: str, value: Any, kind: Kind) -> tuple[float, float] | float:
    """Return an interval, or the number at which a parameter is held fixed; ModelError M10 for neither."""
    low, high = DOMAINS[kind]
    fixed = _number(value)
    if fixed is not None:
        if not (math.isfinite(fixed) and low <= fixed <= high):
            raise ModelError(f"{name}: {fixed:g} is not a value that it can have.", code="M10")
        return fixed
    ends = [_number(end) for end in cast(Sequence[Any], value)] if isinstance(value, list | tuple) else []
    a, b = ends if len(ends) == 2 else (None, None)
    if a is None or b is None or not (math.isfinite(a) and math.isfinite(b)):
        message = f"{name}: {described(cast(object, value))} is no box."
        hint = f"{name}=(lower, upper), both finite"
        if isinstance(value, Mapping):
            each = ", ".join(f"{one}=(lower, upper)" for one in cast("Mapping[Any, Any]", value))
            hint = f"a parameter each, by its name: {each}"
        raise ModelError(message, code="M10", hint=hint)
    if not a < b:
        message = f"{name}: lower bound {a:g} is not below upper bound {b:g}."
        raise ModelError(message, code="M10", hint=f"{name}=({b:g}, {a:g})" if b < a else None)
    # a width so small that the steps per unit overflow has no grid either
    if not (max(abs(a), abs(b), b - a) <= WIDEST and math.isfinite(STEPS / (b - a))):
        how = "wide" if b - a > 1 else "narrow"
        message = f"{name}: the box {a:g} to {b:g} is too {how} for a grid of 2**20 steps."
        raise ModelError(message, code="M10", hint="another unit of the parameter")
    if a < low or b > high:
        message = f"{name}: the box {a:g} to {b:g} leaves {low:g} to {high:g}, where it lies."
        raise ModelError(message, code="M10", hint=f"{name}=({max(a, low):g}, {min(b, high):g})")
    return a, b


def spans(name: str, value: Any, kind: Kind, size: int | None) -> Any:
    """Return the boxes given for one name: one entry, or a tuple of `size`.  ModelError M10 for an invalid box."""
    if size is None:
        return _one(name, value, kind)
    parts = cast(Sequence[Any], value) if isinstance(value, list | tuple) else ()
    single = _number(value) is not None or (len(parts) == 2 and all(_number(end) is not None for end in parts))
    if not single and len(parts) != size:
        message = f"{name}: {len(parts)} boxes for {size} parameters."
        raise ModelError(message, code="M10", hint=f"{name}=(lower, upper) for all of them, or one for each")
    return tuple(_one(f"{name}{i + 1}", value if single else parts[i], kind) for i in range(size))


def expanded(name: str, span: Any, size: int | None) -> Iterator[tuple[str, tuple[float, float] | float]]:
    """Yield names and intervals (or fixed numbers) of one entry made by `spans`."""
    if size is None:
        yield name, span
    else:
        yield from ((f"{name.removesuffix('s')}{i + 1}", part) for i, part in enumerate(span))


def values_of(names: Sequence[str], given: Any) -> Array:
    """Return the values of parameters, given as a mapping by name or in their order.  ModelError M13."""
    if isinstance(given, Mapping):
        words = cast(Mapping[str, Any], given)
        if set(words) != set(names):
            message = f"{', '.join(map(str, words))} are not the parameters {', '.join(names)}."
            raise ModelError(message, code="M13", state=None)
        given = [words[name] for name in names]
    values = np.asarray(given, dtype=np.float64).reshape(-1)
    if len(values) != len(names) or not np.isfinite(values).all():
        message = f"{described(given)} are not finite values of {', '.join(names)}."
        raise ModelError(message, code="M13", state=None)
    return values
