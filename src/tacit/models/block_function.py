"""Statistics of a block: any Python function of its rows, with a public range for each number that it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

import numpy as np

from tacit.base.arguments import described
from tacit.errors import ModelError, nearest
from tacit.models.block_statistics import STATISTICS
from tacit.models.boxes import Array, Parameter, Span, spans
from tacit.models.family import checked_default
from tacit.models.function_pickle import identity, packed
from tacit.models.likelihood import Order

PATIENCE: Final = 60.0
"""Default limit on the processor time of a block, in seconds."""


@dataclass(frozen=True, init=False)
class Statistic:
    """Any statistic of a block of rows, with a public range for each of its numbers [Smith 2008; theory §2].

    function: takes an array of the block's rows in ascending order, of shape (rows,), or (rows, columns) where
    `columns` is above 1, and returns one number for each range, in their order.  Or the name of a built-in statistic,
    computed for all blocks at once: "median", "midmean" (the mean of the middle half), "iqr", "correlation"
    (columns=2).
    Keywords are ranges: `median=(0, 10)`; values are clamped to them.
    default: values, by name, at which plans take them to be; by default the middle of the range.
    seconds: public limit on the processor time of a block (user and system time of the function's own process, for the
    whole block and its halves together); choose it generously.  Time of other blocks and programs does not count.  A
    block that waits is ended after ten times as many seconds of wall-clock time, at least 5.  How long blocks take is
    not protected.

    Each block is computed in a separate process, which holds no other rows and ends afterwards.  An exception, a NaN, a
    wrong number of numbers or too long a time silently gives the default, and printed output is discarded.  The
    function runs beside the data with the curator's rights: read it before it is admitted.  It must not keep rows, send
    them anywhere, or look for other processes.

    The estimand is the mean of the statistic over blocks of about n / k rows.  Each block is corrected by its two
    halves, which removes the largest part of the bias of a smooth statistic; a function then runs three times.  The
    remaining bias is not in the interval: where it matters, ask for fewer blocks (`blocks=`).  `bias="none"` leaves the
    statistic uncorrected.

    ModelError M10, M12, M13 for ranges, columns, defaults; M21 for neither a function nor a known name; M22 where the
    function fails on made-up rows, M23 where it cannot be sent to another process, M24 where no process can be started.

    >>> Statistic("median", median=(0, 10)).words()
    {'family': 'Statistic', 'name': 'median', 'parameters': {'median': [0.0, 10.0]}}
    >>> def spread(rows):
    ...     return np.percentile(rows, [10, 90])
    >>> Statistic(spread, low=(0, 10), high=(0, 10)).names
    ('low', 'high')
    """

    function: Callable[[Array], Any] | str
    ranges: tuple[tuple[str, tuple[float, float]], ...]
    columns: int
    default: tuple[float, ...] | None
    seconds: float

    def __init__(
        self,
        function: Callable[[Array], Any] | str,
        /,
        *,
        default: Mapping[str, float] | Sequence[float] | None = None,
        columns: int | None = None,
        seconds: float = PATIENCE,
        **ranges: Span,
    ) -> None:
        """Check the arguments; a function is tried on made-up rows at its first use."""
        wide = _columns(function, columns)
        if not isinstance(seconds, int | float) or not 0 < seconds <= 86_400:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"seconds={described(seconds)} is no number above 0, of at most a day.", code="M12")
        if not ranges:
            hint = 'Statistic("median", median=(0, 10))'
            raise ModelError("a statistic without a range.", code="M12", hint=hint)
        if isinstance(function, str) and len(ranges) != 1:
            raise ModelError(f"{function!r} is one number, and {len(ranges)} ranges are given.", code="M12")
        found = tuple((name, _range(name, one)) for name, one in ranges.items())
        for key, value in (("function", function), ("ranges", found), ("columns", wide), ("seconds", float(seconds))):
            object.__setattr__(self, key, value)
        given = None if default is None else tuple(map(float, checked_default(cast(Any, self), default)))
        object.__setattr__(self, "default", given)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the numbers that it returns."""
        return tuple(name for name, _ in self.ranges)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """The numbers that it returns, with their ranges as boxes."""
        return tuple(Parameter(name, low, high, "identity") for name, (low, high) in self.ranges)

    @property
    def fallback(self) -> Array:
        """The values that stand for a block without an estimate, shape (p,)."""
        return np.array([one.middle for one in self.parameters] if self.default is None else self.default)

    @property
    def built_in(self) -> bool:
        """Whether it is a built-in statistic."""
        return isinstance(self.function, str)

    def order(self, name: str) -> Order:
        """Return second-order constants, taken to be those of a smooth statistic corrected by halves."""
        return Order(4.0, 1.0)

    def words(self) -> dict[str, Any]:
        """Return plain values for a file, with a function's name and digest.  ModelError M23."""
        function = self.function
        words: dict[str, Any] = {"family": "Statistic", "name": function}
        if not isinstance(function, str):
            words |= {"name": getattr(function, "__name__", "statistic"), "digest": _identity(function)}
        words["parameters"] = {name: list(ends) for name, ends in self.ranges}
        words |= {"columns": self.columns} if self.columns > 1 and not self.built_in else {}
        words |= {"default": list(self.default)} if self.default is not None else {}
        return words | ({"seconds": self.seconds} if self.seconds != PATIENCE else {})


def from_words(words: Mapping[str, Any]) -> Statistic | None:
    """Return a statistic from the values of a file; None for a user's function.  ModelError M10, M12, M13, M21."""
    given: dict[str, Any] = {key: value for key, value in words.items() if key != "family"}
    # a file names a user's function by its digest, and has no code
    if "digest" in given:
        return None
    for key in given:
        if key not in ("name", "parameters", "default", "seconds"):
            hint = "name, parameters, default, seconds"
            raise ModelError(f"Statistic has no {key!r} in a file.", code="M12", hint=hint)
    name, ranges = given.pop("name", None), given.pop("parameters", None)
    if not isinstance(name, str) or not isinstance(ranges, Mapping):
        hint = 'model = { family = "Statistic", name = "median", parameters = { median = [0, 10] } }'
        raise ModelError("Statistic in a file has a name and its parameters.", code="M12", hint=hint)
    return Statistic(name, **given, **cast("Mapping[str, Any]", ranges))


def _columns(function: Any, columns: Any) -> int:
    """Return the number of columns; ModelError M21 for an invalid statistic, M12 for an invalid number of columns."""
    if isinstance(function, str):
        if function not in STATISTICS:
            guess = nearest(function, tuple(STATISTICS))
            message = f"no statistic is called {function!r}; there are {', '.join(STATISTICS)}."
            raise ModelError(message, code="M21", hint=f"{guess!r}?" if guess else "or a function of one's own")
        wide = STATISTICS[function][0]
        if columns not in (None, wide):
            raise ModelError(f"columns={columns!r}: {function!r} is of rows of {wide}.", code="M12")
        return wide
    if not callable(function):
        raise ModelError(
            f"{described(function)} is no function of a block's rows.", code="M21", hint='Statistic("median", …)'
        )
    wide = 1 if columns is None else columns
    if isinstance(wide, bool) or not isinstance(wide, int) or wide < 1:
        raise ModelError(f"columns={described(columns)} is no number from 1.", code="M12")
    return wide


def _range(name: str, given: Any) -> tuple[float, float]:
    """Return both ends of a range; ModelError M10 where it is none."""
    found = spans(name, given, "real", None)
    if isinstance(found, tuple):
        return cast("tuple[float, float]", found)
    hint = f"{name}=(lower, upper)"
    if name in ("lower", "upper", "bounds", "range"):  # a number that the function gives is called so
        hint = "median=(lower, upper): each number that the function gives has its own name, and a range"
    raise ModelError(f"{name}: {described(given)} is no range.", code="M10", hint=hint)


def _identity(function: Callable[..., Any]) -> str:
    """Return the digest of a function; ModelError M23 where it cannot be sent to another process."""
    try:
        packed(function)
        return identity(function)
    except Exception as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        message = f"the statistic cannot be carried to another process: {said[0]}"
        raise ModelError(message, code="M23", hint="a plain function of modules, functions and numbers") from error
