"""A statistic of a block: any Python function of its rows, with a public range for each of its numbers.  No data."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, cast

import numpy as np

from tacit.errors import ModelError, nearest
from tacit.models.block_statistics import STATISTICS
from tacit.models.boxes import Array, Parameter, Span, spans
from tacit.models.family import checked_default
from tacit.models.function_pickle import identity, packed
from tacit.models.likelihood import Order

PATIENCE: Final = 60.0
"""Seconds of the processor's time that a block has by default."""


@dataclass(frozen=True, init=False)
class Statistic:
    """Any statistic of a block of rows, and a public range for each of its numbers [Smith 2008; theory §2].

    function: of an array of the block's rows in ascending order, of shape (rows,), or (rows, columns) where `columns`
    is above 1; it gives one number for each range, in their order.  Or a name: "median", "midmean" (the mean of the
    middle half), "iqr", "correlation" (columns=2), which are computed for all blocks at once.
    Keywords are ranges: `median=(0, 10)`; values are clamped into them.
    default: what a block without an answer says, by name, the middle of the range unless given.
    seconds: of the processor's time (user and system, of the function's own process; the whole block and its halves
    together) that a block has; public, and generous.  What other blocks or the machine are busy with does not count.  A
    block that waits ends after ten times as many seconds on the wall, at least 5; how long blocks take is out of scope.

    Each block is computed in a process of its own, which holds no other rows and is gone afterwards.  An exception, a
    NaN, numbers of another count and a block that takes too long are the default, silently, and what the function
    prints goes nowhere.  The function runs beside the data with the curator's rights: read it before it is admitted.
    It must not keep rows, send them anywhere, or look for other processes.

    The estimate is that of the statistic's mean over blocks of about n / k rows, each corrected by those of its halves,
    which takes the largest part of its bias away (of a smooth statistic); a function runs three times so.  What is left
    no interval knows of: where it matters take fewer blocks (`blocks=`).  `bias="none"`: the statistic as it is.

    ModelError M10, M12, M13 for ranges, columns, defaults; M21 for what is no function or an unknown name; M22 where it
    fails on rows made up, M23 where it cannot be carried to another process, M24 where there is none to be had.

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
        """Checks all that is typed; a function is tried, on rows made up, when it is needed first."""
        wide = _columns(function, columns)
        if not isinstance(seconds, int | float) or not 0 < seconds <= 86_400:  # pyright: ignore[reportUnnecessaryIsInstance]
            raise ModelError(f"seconds={seconds!r} is no number above 0, of at most a day.", code="M12")
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
        """Names of its numbers."""
        return tuple(name for name, _ in self.ranges)

    @cached_property
    def parameters(self) -> tuple[Parameter, ...]:
        """Its numbers and their ranges."""
        return tuple(Parameter(name, low, high, "identity") for name, (low, high) in self.ranges)

    @property
    def fallback(self) -> Array:
        """What a block without an answer says, shape (p,)."""
        return np.array([one.middle for one in self.parameters] if self.default is None else self.default)

    @property
    def built_in(self) -> bool:
        """Whether it is one of those with a name."""
        return isinstance(self.function, str)

    def order(self, name: str) -> Order:
        """Of a smooth statistic, corrected by halves."""
        return Order(4.0, 1.0)

    def words(self) -> dict[str, Any]:
        """Plain values for a file: of a function what identifies it.  ModelError M23."""
        function = self.function
        words: dict[str, Any] = {"family": "Statistic", "name": function}
        if not isinstance(function, str):
            words |= {"name": getattr(function, "__name__", "statistic"), "digest": _identity(function)}
        words["parameters"] = {name: list(ends) for name, ends in self.ranges}
        words |= {"columns": self.columns} if self.columns > 1 and not self.built_in else {}
        words |= {"default": list(self.default)} if self.default is not None else {}
        return words | ({"seconds": self.seconds} if self.seconds != PATIENCE else {})


def from_words(words: Mapping[str, Any]) -> Statistic | None:
    """A statistic from the words of a file; None where they are of a function.  ModelError M10, M12, M13, M21."""
    given: dict[str, Any] = {key: value for key, value in words.items() if key != "family"}
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
    """Numbers in a row; ModelError M21 for what is no statistic, M12 for columns that are none."""
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
        raise ModelError(f"{function!r} is no function of a block's rows.", code="M21", hint='Statistic("median", …)')
    wide = 1 if columns is None else columns
    if isinstance(wide, bool) or not isinstance(wide, int) or wide < 1:
        raise ModelError(f"columns={columns!r} is no number from 1.", code="M12")
    return wide


def _range(name: str, given: Any) -> tuple[float, float]:
    """Both ends; ModelError M10."""
    found = spans(name, given, "real", None)
    if isinstance(found, tuple):
        return cast("tuple[float, float]", found)
    raise ModelError(f"{name}: {given!r} is no range.", code="M10", hint=f"{name}=(lower, upper)")


def _identity(function: Callable[..., Any]) -> str:
    """What identifies a function; ModelError M23 where it cannot be carried to another process."""
    try:
        packed(function)
        return identity(function)
    except Exception as error:
        said = str(error).strip().splitlines() or [type(error).__name__]
        message = f"the statistic cannot be carried to another process: {said[0]}"
        raise ModelError(message, code="M23", hint="a plain function of modules, functions and numbers") from error
