"""Words of questions, checked when a question is made: names, bins, probabilities, flags.  Plain values; no data."""

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
MOST_THRESHOLD: Final = 2**40
Names: TypeAlias = str | Sequence[str]


def names(query: str, field: str, value: Names | None) -> tuple[str, ...]:
    """One name or several -> a tuple of distinct names; QueryError Q01, Q02."""
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
    """One name of a column; QueryError Q01 for what is no text that can be written."""
    if isinstance(value, str) and is_text(value):
        return value
    said = shown(value) if isinstance(value, str) else repr(value)
    raise QueryError(f"{field} of {query}: {said} is not a column name.", code="Q01", hint=f'{field}="age"')


def condition(query: Any) -> None:
    """One spelling for the condition of a frozen query; QueryError Q60 where it is none."""
    if query.where is not None:
        object.__setattr__(query, "where", spelled(parse(query.where)))


def listed(value: Any) -> Any:
    """A tuple as a list, bins with words of their own as these, anything else as it is."""
    if isinstance(value, LogisticBins):
        return value.to_dict()
    return list(cast("tuple[object, ...]", value)) if isinstance(value, tuple) else value


def bins(kind: str, given: Any, by: Names, where: str = "by") -> tuple[tuple[str, Any], ...]:
    """{"age": 10, "income": [0, 10_000, 300_000]} -> pairs of a name and a number of bins or a tuple of edges.

    A Histogram's may be LogisticBins, or their words.  QueryError Q64, Q100.
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
    return tuple(sorted(fixed.items()))


def _edges(kind: str, name: str, given: Any) -> Any:
    """Plain frozen values of the bins of one column."""
    made = from_words(given) if worded(given) else given
    if isinstance(made, LogisticBins) and kind != "Histogram":
        text = f"bins of {kind} for {name!r} are logistic, which only those of Histogram can be."
        raise QueryError(text, code="Q100", hint=f'bins={{"{name}": 10}}')
    return tuple(cast(Any, made)) if isinstance(made, list) else made


def probability(given: object, what: str = "probs of Quantiles", hint: str = "probs=[0.25, 0.5, 0.75]") -> Fraction:
    """A probability as an exact fraction: a float means the decimal that it prints as; QueryError Q74."""
    try:
        p = rational(given, what)  # which makes no number of a length beyond all use: "1e999999999"
    except BudgetError:
        p = Fraction(0)
    if not 0 < p < 1 or p.denominator > FINEST:
        text = f"{what}: {_said(given)} is not between 0 and 1, with at most 4 decimals."
        raise QueryError(text, code="Q74", hint=hint)
    return p


def _said(given: object) -> str:
    try:
        return repr(given)[:60]
    except ValueError:  # an integer of thousands of digits
        return "a number of thousands of digits"


def flags(**given: object) -> None:
    """QueryError Q81 for a word of Histogram that is neither true nor false."""
    for name, value in given.items():
        if not isinstance(value, bool):
            text = f"{name} of Histogram is {value!r}: neither true nor false."
            raise QueryError(text, code="Q81", hint=f"{name}=True")


def threshold(given: Any, *, sparse: bool) -> None:
    """QueryError Q83 for a threshold that is none, or of a histogram that is not sparse."""
    if given is None:
        return
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MOST_THRESHOLD or not sparse:
        text = f"threshold of Histogram is {given!r}" + ("." if sparse else ", which only a sparse one has.")
        raise QueryError(text, code="Q83", hint="sparse=True, threshold=50")


Bins: TypeAlias = Mapping[str, int | Sequence[float]] | tuple[tuple[str, Any], ...]


OwnBins: TypeAlias = int | Sequence[float] | LogisticBins | Literal["auto"]


AutoBins: TypeAlias = OwnBins | Mapping[str, OwnBins] | tuple[Any, ...]
