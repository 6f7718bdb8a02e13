"""Quantiles that a column of numbers is expected to have: told by a past release, a census table, a histogram."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from datetime import date
from itertools import pairwise
from typing import Any, cast

from tacit.base.arguments import described
from tacit.errors import QueryError

EPOCH = date(1970, 1, 1).toordinal()
Told = tuple[tuple[float, float], ...]


def told_quantiles(name: str, given: object, low: float, high: float) -> Told:
    """Return expected quantiles by probability, in rising order; QueryError Q42.

    Probabilities may be text, as in TOML and in the terms of an estimate; TOML reads 0.25 without quotes as two keys.

    >>> told_quantiles("fare", {"0.5": 12, "0.25": 7}, 0, 100), told_quantiles("fare", {"0": {"5": 12}}, 0, 100)
    (((0.25, 7.0), (0.5, 12.0)), ((0.5, 12.0),))
    """
    hint = f'"{name}": {{"quantiles": {{"0.25": …, "0.5": …, "0.75": …}}}}'
    if not isinstance(given, Mapping) or len(cast("Mapping[Any, Any]", given)) == 0:
        text = f"expect of {name!r}: quantiles is {described(cast(object, given))}."
        raise QueryError(text, code="Q42", hint=hint)
    flat = _flat(cast("Mapping[Any, Any]", given))
    found = sorted((_probability(name, key, hint), _value(name, key, value, hint)) for key, value in flat)
    for p, value in found:
        if not low <= value <= high:
            text = f"expect of {name!r}: quantile {p:g} is {value:,.6g}, outside the bounds {low:,.6g} to {high:,.6g}."
            raise QueryError(text, code="Q42", hint=hint)
    for (p, value), (after, other) in pairwise(found):
        if p == after or value > other:
            what = "twice" if p == after else f"above quantile {after:g}"
            raise QueryError(f"expect of {name!r}: quantile {p:g} is told {what}.", code="Q42", hint=hint)
    return tuple(found)


def moments(told: Told, low: float, high: float) -> tuple[float, float]:
    """Return the mean and the deviation of values that are even between quantiles, with exponential tails.

    >>> [round(one, 2) for one in moments(((0.25, 20.0), (0.75, 60.0)), 0.0, 200.0)]
    [41.84, 29.0]
    """
    size = 2_000
    values = [min(max(_at((i + 0.5) / size, told), low), high) for i in range(size)]
    mean = math.fsum(values) / size
    return mean, math.sqrt(math.fsum((one - mean) ** 2 for one in values) / size)


def _at(p: float, told: Told) -> float:
    """Return a quantile: between two that are told on a line, beyond them of an exponential tail."""
    (first, low), (second, beside) = told[:2]
    if p < first:
        return low + (beside - low) / (second - first) * first * math.log(p / first)
    (before, under), (last, high) = told[-2:]
    if p > last:
        return high - (high - under) / (last - before) * (1 - last) * math.log((1 - p) / (1 - last))
    (a, x), (b, y) = next(pair for pair in pairwise(told) if p <= pair[1][0])
    return x + (y - x) * (p - a) / (b - a)


def _flat(given: Mapping[Any, Any]) -> Iterator[tuple[Any, Any]]:
    """Yield keys and values; those of a table within the table are what TOML makes of 0.25 without quotes."""
    for key, value in given.items():
        if isinstance(value, Mapping):
            yield from ((f"{key}.{part}", one) for part, one in cast("Mapping[Any, Any]", value).items())
        else:
            yield key, value


def _probability(name: str, key: Any, hint: str) -> float:
    try:
        found = float(key)
    except (TypeError, ValueError):
        found = math.nan
    if isinstance(key, bool) or not 0 < found < 1:
        text = f"expect of {name!r}: {described(key)} is no probability between 0 and 1."
        raise QueryError(text, code="Q42", hint=hint)
    return found


def _value(name: str, key: Any, value: Any, hint: str) -> float:
    if isinstance(value, date):
        return float(value.toordinal() - EPOCH)
    if isinstance(value, bool) or not isinstance(value, int | float) or not abs(value) < 1e300:
        text = f"expect of {name!r}: quantile {key} is {described(value)}, not a number."
        raise QueryError(text, code="Q42", hint=hint)
    return float(value)
