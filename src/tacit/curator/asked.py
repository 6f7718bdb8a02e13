"""What is asked: public facts -> designs, one price over several questions, exact integers -> noisy parts.  INSIDE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from tacit.curator.source import Source
from tacit.errors import LedgerError, QueryError, nearest
from tacit.mechanisms import (
    histogram,
    moments,
    one_step,
    quality,
    quantiles,
    ranges,
    regression,
    sample_and_aggregate,
    sparse_histogram,
    sufficient_statistics,
    winsorized,
)
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moments import Design
from tacit.privacy import Cost, Number
from tacit.privacy.budget import Neighbors
from tacit.privacy.numbers import rational
from tacit.queries import DataQuality, Histogram, Quantiles, Query, Range, Regression
from tacit.queries_blocks import SampleAndAggregate
from tacit.queries_statistics import SufficientStatistics
from tacit.release import Cells, Part
from tacit.schema import Schema
from tacit.study import Study
from tacit.texts import is_text, shown

Shares = Mapping[str, Number]


@dataclass(frozen=True)
class Asked:
    """A request: (name, query, its part of the price) of each question, the whole price, a note for the ledger."""

    parts: tuple[tuple[str | None, Query[Any], Cost], ...]
    cost: Cost
    note: str
    study: Study | None = None
    """The study whose questions these are: answers carry its digest, new ones are refused once it is closed."""
    fresh: bool = False
    """Whether it is bought once more where it was answered before."""

    def __post_init__(self) -> None:
        """LedgerError L24 for a note or a name that no ledger can record; nothing is spent."""
        for text in (self.note, *(name for name, _, _ in self.parts if name is not None)):
            if not isinstance(text, str) or not is_text(text):  # pyright: ignore[reportUnnecessaryIsInstance]
                said = shown(text) if isinstance(text, str) else repr(text)  # pyright: ignore
                raise LedgerError(
                    f"the note or name {said} is no text.", code="L24", hint='name="age", note="board 31"'
                )

    @property
    def several(self) -> bool:
        """Whether answers are told apart by name."""
        return len(self.parts) > 1 or (len(self.parts) == 1 and self.parts[0][2] != self.cost)


def design(
    query: Query[Any],
    schema: Schema,
    *,
    neighbors: str,
    rows: int | None,
    cost: Cost,
    size_hint: int | None = None,
) -> Design:
    """Public facts -> the concrete mechanism; QueryError for a query of another kind.

    size_hint: about how many rows there are, for what is chosen by it (a histogram's bins, blocks) where `rows` is
    private; public.
    """
    if isinstance(query, moments.Question):
        return moments.design(query, schema, neighbors=neighbors, rows=rows, cost=cost)
    if isinstance(query, DataQuality):
        return quality.design(query, schema, neighbors=neighbors, rows=rows, cost=cost)
    relation: Neighbors = "replace-one" if neighbors == "replace-one" else "add-remove"
    if isinstance(query, Quantiles):
        return quantiles.design(query, schema, neighbors=relation, rows=rows, cost=cost)
    if isinstance(query, Histogram):
        make = sparse_histogram.design if query.sparse else histogram.design
        return make(query, schema, neighbors=neighbors, rows=rows, cost=cost, size_hint=size_hint)
    if isinstance(query, SampleAndAggregate):
        return _in_blocks(query).design(query, schema, neighbors=neighbors, rows=rows, cost=cost, size_hint=size_hint)
    if isinstance(query, SufficientStatistics):
        return sufficient_statistics.design(query, schema, neighbors=neighbors, rows=rows, cost=cost)
    if isinstance(query, Range):
        return ranges.design(query, schema, neighbors=relation, rows=rows, cost=cost)
    if isinstance(query, Regression):
        return regression.design(query, schema, neighbors=neighbors, rows=rows, cost=cost)
    message = f"{type(query).__name__} is no query of this version."
    raise QueryError(message, code="Q04", hint='tc.Mean("age")')


def _in_blocks(query: Any) -> Any:
    """The mechanism of a question of blocks."""
    if query.one_step:
        return one_step
    return winsorized if query.winsorize else sample_and_aggregate


def split(
    asks: Mapping[str, Query[Any]], cost: Cost, shares: Shares | None
) -> tuple[tuple[str | None, Query[Any], Cost], ...]:
    """One price over several questions by shares (1 where not given): parts add up to the price exactly."""
    if not asks:
        raise QueryError("no question is asked.", code="Q22", hint='{"mean": tc.Mean("age")}')
    given = dict(shares or {})
    for key in given:
        if key not in asks:
            guess = nearest(key, list(asks)) or next(iter(asks))
            raise QueryError(f"shares names {key!r}, which is not asked.", code="Q23", hint=f"shares={{{guess!r}: 2}}")
    parts = {name: rational(given.get(name, 1), f"share of {name!r}") for name in asks}
    for name, part in parts.items():
        if part <= 0:
            raise QueryError(f"share of {name!r} is {part}: not above 0.", code="Q23", hint=f"shares={{{name!r}: 1}}")
    total = sum(parts.values(), Fraction(0))
    if len(parts) == 1:
        return tuple((name, query, cost) for name, query in asks.items())
    return tuple((name, query, cost.share(parts[name] / total)) for name, query in asks.items())


def integers(shape: Design, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  The exact integers of every part, before noise: never to be shown."""
    if shape.kind == histogram.KIND:
        return (tuple(zip(histogram.exact(shape, source).tolist(), strict=True)),)
    if shape.kind == sparse_histogram.KIND:
        return (tuple(zip(sparse_histogram.dense(shape, source).tolist(), strict=True)),)
    if shape.kind == regression.KIND:
        return tuple(regression.exact(column, shape, source) for column in shape.columns)
    if shape.kind == sufficient_statistics.KIND:
        return sufficient_statistics.measure(shape, source)
    return quality.measure(shape, source) if shape.kind == quality.KIND else moments.measure(shape, source)


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS: exact integers of every part, and at once their noise; only noisy integers are kept."""
    if shape.kind == quantiles.KIND:
        return quantiles.measure(shape, source)
    if shape.kind == histogram.KIND:
        return histogram.measure(shape, source)
    if shape.kind == sparse_histogram.KIND:
        return sparse_histogram.measure(shape, source)
    if shape.kind == ranges.KIND:
        return ranges.measure(shape, source)
    if shape.kind == sample_and_aggregate.KIND:
        return _in_blocks(shape.query).measure(shape, source)
    if shape.kind == regression.KIND:
        return regression.measure(shape, source)
    exact = integers(shape, source)
    return tuple(
        Part(
            label=column.label,
            form=column.form.name,
            parameters=dict(column.form.parameters),
            grid=column.grid,
            integers=protect(cells, column.law),
            law=column.law,
            l1=column.form.l1,
            l2_squared=column.form.l2_squared,
            cost=column.cost,
            weight=column.weight_grid,
        )
        for column, cells in zip(shape.columns, exact, strict=True)
    )
