"""Checks of a query's arguments when the query is made: names, bins, probabilities, flags.  Plain values; no data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, Literal, TypeAlias, cast

from tacit.base.json_text import is_text, shown
from tacit.errors import BudgetError, QueryError
from tacit.privacy.exact_numbers import rational
from tacit.schema.logistic_bins import LogisticBins, from_words, worded
from tacit.schema.predicates.parser import parse
from tacit.schema.predicates.syntax import spelled

FINEST: Final = 10_000
"""Largest denominator of a probability."""
MOST_THRESHOLD: Final = 2**40
"""Largest threshold of a sparse histogram."""
Names: TypeAlias = str | Sequence[str]


def names(query: str, field: str, value: Names | None) -> tuple[str, ...]:
    """Return one name or several as a tuple; QueryError Q01 for an invalid name, Q02 for a name given twice."""
    if value is None:
        return ()
    if not isinstance(value, str | Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise QueryError(f"{field} of {query}: {value!r} is not a column name.", code="Q01", hint=f'{field}="age"')
    given = (value,) if isinstance(value, str) else tuple(value)
    for name in given:
        column(query, field, name)
    if len(set(given)) < len(given):
        twice = next(name for name in given if given.count(name) > 1)
        raise QueryError(f"{field} of {query}: {twice!r} is named twice.", code="Q02", hint="name each column once")
    return given


def column(query: str, field: str, value: object) -> str:
    """Return one column name; QueryError Q01 unless it is a text that can be written."""
    if isinstance(value, str) and is_text(value):
        return value
    said = shown(value) if isinstance(value, str) else repr(value)
    raise QueryError(f"{field} of {query}: {said} is not a column name.", code="Q01", hint=f'{field}="age"')


def condition(query: Any) -> None:
    """Replace the condition of a frozen query by its canonical spelling; QueryError Q60 if it is no condition."""
    if query.where is not None:
        object.__setattr__(query, "where", spelled(parse(query.where)))


def listed(value: Any) -> Any:
    """Return a tuple as a list, logistic bins as their plain values, anything else unchanged."""
    if isinstance(value, LogisticBins):
        return value.to_dict()
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def bins(kind: str, given: Any, by: Names, where: str = "by") -> tuple[tuple[str, Any], ...]:
    """Return pairs of a name and a number of bins or edges, sorted by name, from a mapping.

    given: {"age": 10, "income": [0, 10_000, 300_000]}.  A Histogram also takes LogisticBins, or their plain values.
    QueryError Q64 for bins that are no mapping or of a column not in `by`, Q100 for logistic bins of another query.
    """
    try:
        pairs = dict(given)
    except (TypeError, ValueError):
        raise QueryError(f"bins of {kind} is {given!r}.", code="Q64", hint='bins={"age": 10}') from None
    for name in pairs:
        if name not in by:
            text = f"bins of {kind} names {name!r}, which is not in {where}."
            raise QueryError(text, code="Q64", hint=f'{where}="{name}"')
    fixed = {name: _edges(kind, name, edges) for name, edges in pairs.items()}
    # sorted, so that equal questions have equal words and digests
    return tuple(sorted(fixed.items()))


def _edges(kind: str, name: str, given: Any) -> Any:
    """Return the bins of one column as immutable values."""
    made = from_words(given) if worded(given) else given
    if isinstance(made, LogisticBins) and kind != "Histogram":
        text = f"bins of {kind} for {name!r} are logistic, which only those of Histogram can be."
        raise QueryError(text, code="Q100", hint=f'bins={{"{name}": 10}}')
    return tuple(cast(Any, made)) if isinstance(made, list) else made


def probability(given: object, what: str = "probs of Quantiles", hint: str = "probs=[0.25, 0.5, 0.75]") -> Fraction:
    """Return a probability as an exact fraction, a float as the decimal that it prints; QueryError Q74 for others."""
    try:
        p = rational(given, what)  # refuses "1e999999999" before it becomes an integer of that length
    except BudgetError:
        p = Fraction(0)
    if not 0 < p < 1 or p.denominator > FINEST:
        text = f"{what}: {_shown(given)} is not between 0 and 1, with at most 4 decimals."
        raise QueryError(text, code="Q74", hint=hint)
    return p


def _shown(given: object) -> str:
    """Return a value as an error message shows it."""
    try:
        return repr(given)[:60]
    except ValueError:  # Python refuses to print an integer of thousands of digits
        return "a number of thousands of digits"


def flags(kind: str, **given: object) -> None:
    """Raise QueryError Q81 unless these arguments of a query are True or False."""
    for name, value in given.items():
        if not isinstance(value, bool):
            text = f"{name} of {kind} is {value!r}: neither true nor false."
            raise QueryError(text, code="Q81", hint=f"{name}=True")


def threshold(given: Any, *, sparse: bool) -> None:
    """Raise QueryError Q83 for an invalid threshold, or for one of a histogram that is not sparse."""
    if given is None:
        return
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MOST_THRESHOLD or not sparse:
        text = f"threshold of Histogram is {given!r}" + ("." if sparse else ", which only a sparse one has.")
        raise QueryError(text, code="Q83", hint="sparse=True, threshold=50")


Bins: TypeAlias = Mapping[str, int | Sequence[float]] | tuple[tuple[str, Any], ...]


OwnBins: TypeAlias = int | Sequence[float] | LogisticBins | Literal["auto"]


AutoBins: TypeAlias = OwnBins | Mapping[str, OwnBins] | tuple[Any, ...]
