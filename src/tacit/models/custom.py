"""User-defined models: any log-density written in JAX, with a public box for its parameters."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from types import SimpleNamespace
from typing import Any, ClassVar, Final, TypeVar, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.lazy_imports import jax
from tacit.errors import ModelError
from tacit.models.boxes import Array, Parameter, Span, expanded, spans
from tacit.models.compiled_programs import CompiledFunction
from tacit.models.density_checks import checked_density, density, digest
from tacit.models.family import checked_default
from tacit.models.found_support import found_support, other_sum
from tacit.models.jax_config import quiet
from tacit.models.likelihood import Likelihood

R = TypeVar("R")

SUPPORTS: Final = ("real", "positive", "unit", "count")
STARTS: Final = 8
"""Number of public points of the box, besides the fallback, where a search may start."""
PLACES: Final = 3
"""Number of these at which the support is looked for."""
TOGETHER: Final = 2**13
"""Rows whose densities are found at a time for it."""
RATIO: Final = 4.0
"""Least ratio of the ends of a positive box for which the search is on the log scale."""


@dataclass(frozen=True, init=False)
class Model(Likelihood):
    """A user-defined law of rows: a log-density in JAX, log f(x, theta), and a box for each parameter (theory §2).

    log_density: a function of one row x, of shape (), or (columns,) where `columns` is above 1, and of theta, whose
    attributes are the parameters.  It returns one float, must be differentiable in the parameters, and must have no
    callbacks, prints or other side effects.
    Keywords are boxes: `mu=(0.2, 5)`; a number holds a parameter fixed; `beta=[(-1, 1), (0, 2)]` makes a vector.
    default: values, by name, at which plans take the parameters to be; by default the middle of the box.
    support: where rows of one column lie: "real", "positive", "unit", "count" or an interval.  Rows outside it are left
    out.  `fisher`, `sample`, corrections of bias and one step integrate over the support.  Where it is not given it is
    found from the log-density, if that adds up to 1 over one of the named supports and no other.

    ModelError M10, M12, M13 (boxes, support, default); M14, M15, M16 where the log-density cannot be used, raised at
    its first use or by `check()`, which raises M18, too, where it does not add up to 1 over `support`.

    >>> import jax.numpy as jnp
    >>> def inverse_gaussian(x, theta):
    ...     spread = theta.lam * (x - theta.mu) ** 2 / (2 * theta.mu**2 * x)
    ...     return 0.5 * jnp.log(theta.lam / (2 * jnp.pi * x**3)) - spread
    >>> wald = Model(inverse_gaussian, mu=(0.2, 5), lam=(0.5, 10), support="positive")
    >>> wald.names, wald.fallback.round(3).tolist()
    (('mu', 'lam'), [1.0, 2.236])
    >>> wald.fisher({"mu": 1, "lam": 2}).round(4)
    array([[2.   , 0.   ],
           [0.   , 0.125]])
    """

    density: Callable[[Any, Any], Any]
    boxes: tuple[tuple[str, Any], ...]
    width: int
    default: tuple[float, ...] | None
    row_support: str | tuple[float, float] | None

    # nothing is known of the density outside its box, and no start is fitted to rows: a long search within the box
    edge: ClassVar[Any] = "clamp"
    widen: ClassVar[float] = 0.0
    steps: ClassVar[int] = 60

    def __init__(
        self,
        log_density: Callable[[Any, Any], Any],
        /,
        *,
        default: Mapping[str, float] | Sequence[float] | None = None,
        support: str | tuple[float, float] | None = None,
        columns: int = 1,
        **parameters: Span,
    ) -> None:
        """Check the arguments; the log-density itself is checked at its first use."""
        if not callable(log_density):
            raise ModelError(f"{described(log_density)} is no function of a row and theta.", code="M14")
        if not parameters:
            raise ModelError("a model without parameters.", code="M12", hint="Model(log_density, mu=(0.2, 5))")
        if isinstance(columns, bool) or not isinstance(columns, int) or columns < 1:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"columns={described(columns)} is no number from 1.", code="M12")
        boxes = tuple((name, spans(name, box, "real", _size(box))) for name, box in parameters.items())
        for key, value in (("density", log_density), ("boxes", boxes), ("width", columns), ("default", None)):
            object.__setattr__(self, key, value)
        object.__setattr__(self, "row_support", _support(support, columns))
        if not self.parameters:
            raise ModelError("every parameter is held fixed.", code="M10")
        if default is not None:
            object.__setattr__(self, "default", tuple(map(float, checked_default(self, default))))

    @property
    def columns(self) -> int:
        """The number of columns of a row."""
        return self.width

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters to be estimated, in the order in which they were given."""
        return self._parameters

    @cached_property
    def _parameters(self) -> tuple[Parameter, ...]:
        found: list[Parameter] = []
        for word, box in self.boxes:
            for name, span in expanded(word, box, _size(box)):
                if isinstance(span, tuple):
                    wide = span[0] > 0 and span[1] / span[0] >= RATIO
                    found.append(Parameter(name, span[0], span[1], "log" if wide else "identity"))
        return tuple(found)

    @property
    def fallback(self) -> Array:
        """The values that stand for a block without an estimate, shape (p,)."""
        return np.array([one.middle for one in self.parameters] if self.default is None else self.default)

    @property
    def support(self) -> str | tuple[float, float] | None:
        """The support of rows, as given or as found from the log-density; None where neither says it."""
        return _found(self) if self.row_support is None else self.row_support

    @property
    def anchor(self) -> float | None:
        """A number inside the support, where one is given."""
        support = self.support
        if isinstance(support, tuple):
            return (support[0] + support[1]) / 2
        return {"real": 0.0, "positive": 1.0, "unit": 0.5, "count": 1.0}[support] if support else None

    def inside(self, x: Any) -> Any:
        """Return whether rows lie in the support."""
        support = self.support
        low, high = {"positive": (0, np.inf), "unit": (0, 1)}.get(cast(str, support), (-np.inf, np.inf))
        if isinstance(support, tuple):
            return (x >= support[0]) & (x <= support[1])
        if support == "count":
            return (x >= 0) & (x % 1 == 0)
        inside = (x > low) & (x < high)
        return inside if self.columns == 1 else inside.all(-1)

    def bind(self, vector: Any) -> SimpleNamespace:
        """Return an object whose attributes are all parameters, from the free ones, shape (p,)."""
        values = iter([vector[i] for i in range(len(self.parameters))])

        def one(span: Any) -> Any:
            return span if isinstance(span, float) else next(values)

        bound = {
            word: one(box) if _size(box) is None else jax().numpy.array([one(span) for span in box])
            for word, box in self.boxes
        }
        return SimpleNamespace(**bound)

    def log_density(self, x: Any, theta: Any) -> Any:
        """Return the log-density of one row as a 64-bit float (JAX): the checked trace runs, never the function."""
        lib = jax().numpy
        return density(self).run(lib.asarray(x, dtype=np.float64), self._vector(theta))[0]

    def _vector(self, theta: Any) -> Any:
        """Return the vector of free parameters: the inverse of `bind`."""
        lib = jax().numpy
        found: list[Any] = []
        for word, box in self.boxes:
            given = getattr(theta, word)
            if _size(box) is not None:
                found.extend(given[i] for i, span in enumerate(box) if isinstance(span, tuple))
            elif isinstance(box, tuple):
                found.append(given)
        return lib.stack([lib.asarray(one, dtype=np.float64) for one in found])

    @property
    def encloses_arrays(self) -> bool:
        """Whether the function closes over arrays of more than one number, whatever they are."""
        return any(np.size(one) > 1 for one in density(self).trace.consts)

    def program_name(self, *function: str) -> str | None:
        """Return the digest of the log-density's trace and all settings as a text; None where rules are not in it."""
        # the text of a trace names its author's rules of derivatives, and does not hold them
        if "custom_" in str(density(self).trace.jaxpr):
            return None
        settings = [self.boxes, self.width, self.default, self.row_support]
        return json.dumps([type(self).__qualname__, digest(self), *settings, *function])

    def starts(self, x: Any, w: Any) -> Any:
        """Return starting points, shape (1 + STARTS, p): the fallback, and Halton's sequence over the box."""
        # even in the coordinates of the search, as logs are for positive boxes of wide ratio
        ends = np.array([one.region(0.0) for one in self.parameters])
        places = ends[:, 0] + (ends[:, 1] - ends[:, 0]) * _halton(len(ends))
        logs = np.array([one.link == "log" for one in self.parameters])
        # the inner where: exp of other parameters' places may overflow, although it is not used
        starts = np.where(logs, np.exp(np.where(logs, places, 0.0)), places)
        return jax().numpy.asarray(np.vstack([self.fallback, starts]))

    def check_function(self) -> None:
        """Check without data that the log-density can be run; ModelError M14, M15, M16."""
        looked_at(self)

    def check(self) -> None:
        """Check the log-density without data; ModelError M14, M15, M16, or M18 where it does not add up to 1.

        Its sum is known for rows of one column with `support`, at the middle of the box and two more of its places.
        """
        looked_at(self)
        if self.row_support is None or self.columns > 1:
            return
        found = _at_places(self, lambda places, of: other_sum(self.row_support, places, of))
        if found is not None:
            at = ", ".join(f"{name}={v:.6g}" for name, v in zip(self.names, found[0], strict=True))
            message = (
                f"the density adds up to {found[1]:.6g} over its support, {self.row_support!r}, at {at}: not to 1."
            )
            raise ModelError(message, code="M18", hint="a constant left out, or another support", state=None)


@lru_cache(maxsize=64)
def looked_at(model: Model) -> None:
    """Run `check` once for each model."""
    checked_density(model)


@lru_cache(maxsize=64)
def _found(model: Model) -> str | None:
    """Return the support that the log-density shows, at the fallback and two more public places of the box."""
    try:
        return _at_places(model, lambda places, of: found_support(model, places, of))
    except ModelError:  # said where the density is used
        return None


def _at_places(model: Model, ask: Callable[[Array, Callable[[Array, Array], Array]], R]) -> R:
    """Return what `ask` finds from public places, shape (PLACES, p), and the log-densities of rows at one of them."""
    places = np.asarray(model.starts(None, None), dtype=np.float64)[:PLACES]
    # the raw log-density: what stands for rows outside a support must not decide it
    with quiet(), jax().ensure_compile_time_eval():

        def one(row: Any, at: Any) -> Any:
            return model.log_density(row, model.bind(at))

        keep = not model.encloses_arrays
        run = CompiledFunction(
            jax().vmap(one, in_axes=(0, None)), keep=keep, name=model.program_name("densities"), quick=2 * TOGETHER
        )

        def of(rows: Array, at: Array) -> Array:
            # one shape, and so one compilation, whatever the number of rows
            padded = np.concatenate([rows, np.ones(-len(rows) % TOGETHER)]).reshape(-1, TOGETHER)
            return np.concatenate([np.asarray(run(some, at)) for some in padded])[: len(rows)]

        return ask(places, of)


def _size(box: Any) -> int | None:
    """Return the length of a vector of boxes; None for a single box."""
    many = isinstance(box, list | tuple) and any(isinstance(part, list | tuple) for part in cast(Sequence[Any], box))
    return len(cast(Sequence[Any], box)) if many else None


def _support(given: Any, columns: int) -> Any:
    """Return a support in its stored form; ModelError M12 where it is invalid."""
    if given is None or (isinstance(given, str) and given in SUPPORTS and columns == 1):
        return given
    ends: Any = given
    if isinstance(given, list | tuple) and columns == 1 and len(ends) == 2:
        low, high = float(ends[0]), float(ends[1])
        if np.isfinite([low, high]).all() and low < high:
            return low, high
    what = described(cast(object, given))
    message = f"support={what} is none of {', '.join(SUPPORTS)}, and no interval of rows of one column."
    raise ModelError(message, code="M12")


def _halton(columns: int) -> Array:
    """Return the first points of Halton's sequence in the unit cube, shape (STARTS, columns)."""
    # bases must be coprime: one prime for each column; the range holds enough for any number of columns in use
    primes = [n for n in range(2, 20 * columns + 3) if all(n % m for m in range(2, n))][:columns]
    out = np.zeros((STARTS, columns))
    for j, base in enumerate(primes):
        for i in range(STARTS):
            number, part = i + 1, 1.0 / base
            while number:
                # the digits of i + 1, mirrored at the point (van der Corput)
                out[i, j] += part * (number % base)
                number, part = number // base, part / base
    return out
