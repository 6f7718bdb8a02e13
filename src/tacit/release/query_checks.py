"""Checks of a query's arguments when the query is made: names, bins, probabilities, flags.  Plain values; no data."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import fields, replace
from datetime import date, datetime
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias, TypeVar, cast

import numpy as np

from tacit.base.arguments import described, kind_of, plain
from tacit.base.json_text import is_text
from tacit.errors import BudgetError, QueryError
from tacit.privacy.exact_numbers import rational
from tacit.release.registry import query_class
from tacit.schema.column_multiples import has_multiples, multiples
from tacit.schema.column_types import Date, Integer, Real, Text
from tacit.schema.logistic_bins import LogisticBins, from_words, worded
from tacit.schema.predicates.parser import parse
from tacit.schema.predicates.syntax import spelled

if TYPE_CHECKING:
    from tacit.release.query import Query

Q = TypeVar("Q", bound="Query[Any]")
EVERY: Final = ""
"""Stands for every numeric column in `bins`; no column can have this name."""
FINEST: Final = 10_000
"""Largest denominator of a probability."""
ROUNDING: Final = Fraction(1, 10**9)
"""A float so near to a probability of 4 decimals is taken for it."""
MOST_THRESHOLD: Final = 2**40
"""Largest threshold of a sparse histogram."""
Names: TypeAlias = str | Sequence[str]


def names(query: str, field: str, value: Names | None) -> tuple[str, ...]:
    """Return one name or several as a tuple; QueryError Q01 for an invalid name, Q02 for a name given twice."""
    if value is None:
        return ()
    if not isinstance(value, str | Sequence):  # pyright: ignore[reportUnnecessaryIsInstance]
        raise QueryError(
            f"{field} of {query}: {described(value)} is not a column name.", code="Q01", hint=f'{field}="age"'
        )
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
    # a list of cells in place of names: what is no text is named by its kind alone
    what = described(value) if isinstance(value, str) else kind_of(value)
    raise QueryError(f"{field} of {query}: {what} is not a column name.", code="Q01", hint=f'{field}="age"')


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
    A number alone is of every numeric column, which only the schema tells: it is kept under the name EVERY until
    `of_numbers` replaces it.
    QueryError Q64 for bins that are no mapping or of a column not in `by`, Q100 for logistic bins of another query.
    """
    if isinstance(given, int) and not isinstance(given, bool) and by:  # pyright: ignore[reportUnnecessaryIsInstance]
        return ((EVERY, given),)
    try:
        pairs: dict[Any, Any] = dict(cast(Any, given))
    except (TypeError, ValueError):
        raise QueryError(f"bins of {kind} is {described(given)}.", code="Q64", hint='bins={"age": 10}') from None
    for name in pairs:
        if name not in by and not (name == EVERY and len(pairs) == 1):
            what = described(name) if isinstance(name, str) else kind_of(name)
            text = f"bins of {kind} names {what}, which is not in {where}."
            raise QueryError(
                text, code="Q64", hint=f'{where}="{name}"' if isinstance(name, str) else 'bins={"age": 10}'
            )
    fixed = {name: _edges(kind, name, edges) for name, edges in pairs.items()}
    for name, one in fixed.items():
        # such numbers have no canonical text, so that the question would have no digest
        each = cast("tuple[object, ...]", one) if isinstance(one, tuple) else (one,)
        odd = [x for x in each if isinstance(x, float) and not math.isfinite(x)]
        if odd:
            text = f"bins of {kind}: {odd[0]} of {name!r} is neither a number of bins nor an edge."
            raise QueryError(text, code="Q64", hint=f'bins={{"{name}": 10}}')
    # sorted, so that equal questions have equal words and digests
    return tuple(sorted(fixed.items()))


def of_numbers(query: Q, schema: Mapping[str, Any]) -> Q:
    """Return a query whose number of bins is that of each numeric column by name, where it was given for all of them.

    A histogram's Integer (or Real of declared multiples) of no more values than bins keeps one bin a value.  A Count by
    one Text, or its Histogram, is the question UnlistedLevels.  QueryError Q64 where no column is numeric, Q252 for a
    Text with anything else.

    >>> from tacit.method.histogram.query import Histogram
    >>> from tacit.schema import Boolean, Real, Schema
    >>> schema = Schema({"age": Real(0, 100), "income": Real(0, 9), "married": Boolean()})
    >>> of_numbers(Histogram(["age", "income", "married"], bins=12), schema).bins
    (('age', 12), ('income', 12))
    """
    unlisted = _of_text(query, schema)
    if unlisted is not None:
        return cast(Q, unlisted)
    given = cast("tuple[tuple[str, Any], ...]", getattr(query, "bins", ()))
    if not given or given[0][0] != EVERY:
        return query
    (_, number), groups = given[0], query.groups
    names = cast("tuple[str, ...]", getattr(query, groups))
    numeric = [name for name in names if isinstance(schema.get(name), Real | Integer | Date)]
    if not numeric:
        text = f"bins of {type(query).__name__} is {number}, and no column of {groups} is one of numbers."
        raise QueryError(text, code="Q64", hint="leave bins out")
    made = {name: _at_most(schema[name], number, groups) for name in numeric}
    kept = {name: bins for name, bins in made.items() if bins is not None}
    return cast(Q, replace(cast(Any, query), bins=kept))


def _of_text(query: Query[Any], schema: Mapping[str, Any]) -> Query[Any] | None:
    """Return the question of unlisted levels that a Count by a Text, or its Histogram, is; None for other questions."""
    kind = type(query).__name__
    if kind not in ("Count", "Histogram"):
        return None
    asked: Any = query
    names = cast("tuple[str, ...]", getattr(asked, query.groups))
    texts = [name for name in names if isinstance(schema.get(name), Text)]
    if not texts:
        return None
    # what a question of unlisted levels has no word for must be at its default
    others = {f.name for f in fields(asked) if getattr(asked, f.name) != f.default} - {query.groups, "where"}
    if len(names) > 1 or others:
        what = "crossed with other columns" if len(names) > 1 else f"with {', '.join(sorted(others))}"
        text = f"{kind} of levels that nobody listed, of {texts[0]!r}, {what}: this has no answer."
        raise QueryError(
            text, code="Q252", hint=f'UnlistedLevels("{texts[0]}", where="…"), or Category([…]) of its levels'
        )
    return query_class("UnlistedLevels")(column=texts[0], where=asked.where)  # pyright: ignore[reportCallIssue]


def _at_most(column: Any, number: int, groups: str) -> Any:
    """Return a number of bins, or one bin a value of a column with no more values; None where that is default."""
    if not has_multiples(column) or multiples(column).count > number:
        return number
    # edges at the values themselves: those of a Real move to halfway below them
    values = multiples(column)
    whole = isinstance(column, Integer)
    edges = [*values.one_each()] if whole else [values.value(k) for k in range(values.first + 1, values.last + 1)]
    return None if groups == "columns" else edges


def _edges(kind: str, name: str, given: Any) -> Any:
    """Return the bins of one column as immutable values."""
    made = from_words(given) if worded(given) else given
    if isinstance(made, LogisticBins) and kind != "Histogram":
        text = f"bins of {kind} for {name!r} are logistic, which only those of Histogram can be."
        raise QueryError(text, code="Q100", hint=f'bins={{"{name}": 10}}')
    if isinstance(made, np.ndarray) and made.ndim == 1:
        # as nanoseconds, days would become their numbers
        array = cast("np.ndarray[Any, Any]", made)
        made = (array.astype("datetime64[us]") if array.dtype.kind == "M" else array).tolist()
    made = list(made) if isinstance(made, range) else plain(made)
    if not isinstance(made, list | tuple):
        return made
    return tuple(_day(name, plain(edge)) for edge in cast("list[Any]", made))


def _day(name: str, edge: Any) -> Any:
    """Return an edge that is a date as ISO text, as files have it; QueryError Q64 for a time within a day."""
    if not isinstance(edge, date):
        return edge
    if isinstance(edge, datetime) and edge != datetime(edge.year, edge.month, edge.day, tzinfo=edge.tzinfo):
        text = f"bins of {name!r}: {edge} is not a date, but a time within a day."
        raise QueryError(text, code="Q64", hint='["2024-01-01", "2024-07-01", "2024-12-31"]')
    return edge.date().isoformat() if isinstance(edge, datetime) else edge.isoformat()


def probability(given: object, what: str = "probs of Quantiles", hint: str = "probs=[0.25, 0.5, 0.75]") -> Fraction:
    """Return a probability as an exact fraction, a float as the decimal that it prints; QueryError Q74 for others."""
    try:
        p = rational(given, what)  # refuses "1e999999999" before it becomes an integer of that length
    except BudgetError:
        p = Fraction(0)
    near = Fraction(round(p * FINEST), FINEST)
    # 0.30000000000000004, which sums of floats make of 0.3
    p = near if isinstance(given, float) and abs(p - near) < ROUNDING else p
    if not 0 < p < 1 or p.denominator > FINEST:
        text = f"{what}: {described(given)} is not between 0 and 1, with at most 4 decimals."
        raise QueryError(text, code="Q74", hint=hint)
    return p


def flags(kind: str, **given: object) -> None:
    """Raise QueryError Q81 unless these arguments of a query are True or False."""
    for name, value in given.items():
        if not isinstance(value, bool):
            text = f"{name} of {kind} is {described(value)}: neither true nor false."
            raise QueryError(text, code="Q81", hint=f"{name}=True")


def threshold(given: Any, *, sparse: bool) -> None:
    """Raise QueryError Q83 for an invalid threshold, or for one of a histogram that is not sparse."""
    if given is None:
        return
    if isinstance(given, bool) or not isinstance(given, int) or not 1 <= given <= MOST_THRESHOLD or not sparse:
        text = f"threshold of Histogram is {described(given)}" + ("." if sparse else ", which only a sparse one has.")
        raise QueryError(text, code="Q83", hint="sparse=True, threshold=50")


Bins: TypeAlias = Mapping[str, int | Sequence[float]] | tuple[tuple[str, Any], ...]


OwnBins: TypeAlias = int | Sequence[float] | LogisticBins | Literal["auto", "density"]


AutoBins: TypeAlias = OwnBins | Mapping[str, OwnBins] | tuple[Any, ...]
