"""The base class of built-in families: a frozen dataclass whose fields are boxes of parameters and settings."""

from __future__ import annotations

import json
from dataclasses import MISSING, dataclass, field, fields
from functools import cached_property
from types import SimpleNamespace
from typing import Any, ClassVar, cast

import numpy as np

from tacit.base.arguments import described
from tacit.base.lazy_imports import jax
from tacit.errors import ModelError
from tacit.models.block_moments import mean_of
from tacit.models.boxes import LINKS, Array, Kind, Parameter, Span, expanded, spans, values_of
from tacit.models.likelihood import Likelihood, Order
from tacit.models.sufficient_statistics import SufficientStatistic


@dataclass(frozen=True, repr=False)
class Family(Likelihood):
    """A built-in family.  Fields named in `kinds` are boxes of parameters, or numbers at which they are held."""

    default: Span | None = field(default=None, kw_only=True)

    kinds: ClassVar[dict[str, Kind]] = {}
    row_support: ClassVar[str | None] = None  # the support of rows of one column
    orders: ClassVar[dict[str, Order]] = {}  # by field; `Order()` for fields left out
    histogram_names: ClassVar[tuple[str, ...]] = ()
    """Names of the parameters in a fit to a histogram; empty where such fits do not offer the family."""
    statistics_hint: ClassVar[str] = "SampleAndAggregate(…), which takes any family"
    """The query to suggest where `sufficient_statistics` is None."""

    def __post_init__(self) -> None:
        """Check all arguments: ModelError M10, M12, M13."""
        for name, least in self._settings().items():
            value = getattr(self, name)
            if not isinstance(value, int) or isinstance(value, bool) or value < least:
                raise ModelError(
                    f"{name} of {type(self).__name__}: {described(value)} is no number from {least}.", code="M12"
                )
        for name, kind in self.kinds.items():
            object.__setattr__(self, name, spans(name, getattr(self, name), kind, self.sizes().get(name)))
        if not self.parameters:
            message = f"{type(self).__name__}: every parameter is held fixed."
            raise ModelError(message, code="M10", hint="give one of them a box (lower, upper)")
        if self.default is not None:
            object.__setattr__(self, "default", tuple(map(float, checked_default(self, self.default))))

    @classmethod
    def _settings(cls) -> dict[str, int]:
        """Return the least value of each field that is a whole number."""
        return {}

    def sizes(self) -> dict[str, int]:
        """Return the length of each vector of parameters, by field."""
        return {}

    @cached_property
    def _entries(self) -> tuple[tuple[str, str, Any], ...]:
        """A triple (field, name, interval or fixed number) for every parameter, fixed ones too."""
        return tuple(
            (word, name, span)
            for word in self.kinds
            for name, span in expanded(word, getattr(self, word), self.sizes().get(word))
        )

    @property
    def parameters(self) -> tuple[Parameter, ...]:
        """The parameters to be estimated, in the order of all vectors and matrices."""
        return self._parameters

    @cached_property
    def _parameters(self) -> tuple[Parameter, ...]:
        boxes: list[tuple[str, str, Any]] = [entry for entry in self._entries if isinstance(entry[2], tuple)]
        return tuple(Parameter(name, box[0], box[1], LINKS[self.kinds[word]]) for word, name, box in boxes)

    def order(self, name: str) -> Order:
        """Return the second-order constants of a parameter's estimate, which depend on its field."""
        word = next(word for word, own, _ in self._entries if own == name)
        return self.orders.get(word, Order())

    @property
    def all_free(self) -> bool:
        """Whether no parameter is held fixed."""
        return len(self.parameters) == len(self._entries)

    @property
    def free(self) -> list[int]:
        """Indices, among all parameters, of those that are estimated."""
        return [i for i, entry in enumerate(self._entries) if isinstance(entry[2], tuple)]

    @property
    def fallback(self) -> Array:
        """The values that stand for a block without an estimate, shape (p,): `default`, or the middle of the box."""
        return np.array([one.middle for one in self.parameters] if self.default is None else self.default)

    def bind(self, vector: Any) -> SimpleNamespace:
        """Return an object whose attributes are all parameters; vector: the free ones, shape (p,)."""
        values = iter([vector[i] for i in range(len(self.parameters))])
        lists: dict[str, list[Any]] = {}
        for word, _, span in self._entries:
            lists.setdefault(word, []).append(next(values) if isinstance(span, tuple) else span)
        sizes = self.sizes()
        many = {word: jax().numpy.array(parts) for word, parts in lists.items() if word in sizes}
        return SimpleNamespace(**{word: parts[0] for word, parts in lists.items() if word not in sizes}, **many)

    def starts(self, x: Any, w: Any) -> Any:
        """Return the start of the free parameters, shape (1, p)."""
        return self._of_free(self.start(x, w))

    def starts_from(self, u: Any) -> Any:
        """Return the same from the mean of `row_statistics`, shape (q,), where that is all it needs."""
        return self._of_free(self.start_from(u))

    def _of_free(self, values: list[Any]) -> Any:
        # starts may mix numbers and arrays
        return jax().numpy.stack(jax().numpy.broadcast_arrays(*values))[np.array(self.free)][None]

    def start(self, x: Any, w: Any) -> list[Any]:
        """Return a start for all parameters, one number each, from the rows of a block; NaN where they give none."""
        return self.start_from(mean_of(self.row_statistics, x, w))

    def start_from(self, u: Any) -> list[Any]:
        """Return the same from the mean of `row_statistics`, shape (q,), where that is all it needs."""
        raise NotImplementedError

    def numpy_statistics(self, x: Array) -> tuple[Array, ...] | None:
        """Return `row_statistics` of rows in the support in NumPy, q arrays like x; None where blocks are not summed.

        Only of laws for which the mean statistics suffice, `start_from` too: then a block's sums replace its rows.
        """
        return None

    def is_free(self, name: str) -> bool:
        """Return whether a field that is a single parameter is estimated, not held fixed."""
        return isinstance(getattr(self, name), tuple)

    def sufficient_statistics(self) -> tuple[SufficientStatistic, ...] | None:
        """Return one sufficient statistic of a row for each free parameter; None where the family has none such.

        A parameter that is held fixed needs no statistic, but may change another's: a normal law of known mean has the
        square about that mean, a Weibull law of known shape k the row to the power k.

        >>> from tacit.families import Gamma, Normal, StudentT
        >>> [one.spelled("x") for one in Gamma().sufficient_statistics()], StudentT().sufficient_statistics()
        (['x', 'log(x)'], None)
        >>> [one.inner for one in Normal(mean=0.0).sufficient_statistics()]
        ['row']
        """
        return None

    def start_from_moments(self, mean: float, variance: float) -> tuple[float, ...]:
        """Return where a fit to a histogram starts, one number for each of `histogram_names`."""
        raise NotImplementedError

    @property
    def support(self) -> str | tuple[float, float] | None:
        """The support of rows of one column."""
        return self.row_support

    @property
    def anchor(self) -> float | None:
        """A number inside the support."""
        return {"real": 0.0, "positive": 1.0, "unit": 0.5, "count": 1.0}.get(self.row_support or "", 0.0)

    def inside(self, x: Any) -> Any:
        """Return whether rows lie in the support."""
        if self.row_support == "positive":
            return (x > 0) & (x < np.inf)
        if self.row_support == "unit":
            return (x > 0) & (x < 1)
        if self.row_support == "count":
            return (x >= 0) & (x % 1 == 0)
        return (x > -np.inf) & (x < np.inf)

    def __repr__(self) -> str:
        """Return the Python expression that makes the family."""
        parts = [f"{word}={getattr(self, word)!r}" for word in self.words() if word != "family"]
        return f"{type(self).__name__}({', '.join(parts)})"

    def program_name(self, *function: str) -> str | None:
        """Return the family's values as a text; None for a user's own family, whose code may be any.

        >>> from tacit.families import Exponential
        >>> Exponential(rate=(0.1, 10)).program_name("scores")
        '["Exponential", {"family": "Exponential", "rate": [0.1, 10.0]}, "scores"]'
        """
        own = type(self)
        if not own.__module__.startswith(f"{__package__}.families."):
            return None
        return json.dumps([own.__qualname__, self.words(), *function])

    def words(self) -> dict[str, Any]:
        """Return plain values for a file, with all boxes: `{family = "Gamma", shape = [0.5, 5], rate = [0.01, 1]}`."""
        found: dict[str, Any] = {"family": type(self).__name__}
        for one in fields(self):
            value = getattr(self, one.name)
            # boxes are always written, so that a stored query does not depend on their defaults
            if one.name in self.kinds or value != (None if one.default is MISSING else one.default):
                found[one.name] = _plain(value)
        return found


def _plain(value: Any) -> Any:
    """Return tuples as lists, for TOML and JSON."""
    return [_plain(part) for part in cast(tuple[Any, ...], value)] if isinstance(value, tuple) else value


def checked_default(model: Likelihood, given: Any) -> Array:
    """Return a default in the order of the parameters; ModelError M13 where it lies outside the box."""
    values = values_of(model.names, given)
    for one, value in zip(model.parameters, values, strict=True):
        if not one.lower <= value <= one.upper:
            message = f"default of {one.name}: {value:g} is outside its box {one.lower:g} to {one.upper:g}."
            raise ModelError(message, code="M13")
    return values
