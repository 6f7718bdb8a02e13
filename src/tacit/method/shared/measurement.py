"""A question made concrete from public facts: what is added up, in which cells, with which noise, at what price."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tacit.method.shared.encoding import Encoding
from tacit.noise.laws import Law
from tacit.privacy import Cost
from tacit.privacy.budget import Neighbors
from tacit.release.parts import Axis, Grid, Levels, Part, Variable
from tacit.release.query import Query
from tacit.rows.row_map import ONE, KeyMap, RowMap, Share, SumTerm, Unit
from tacit.schema import Schema
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.schema.row_maps_of_columns import most_rows, unit_of


@dataclass(frozen=True)
class Public:
    """What is public of a table before anything is asked of it.

    rows: how many rows (persons, where the schema has a PrivacyUnit) there are, where that is public; else None, and
    size_hint says about how many, for what is chosen by it.
    """

    schema: Schema
    neighbors: str
    rows: int | None
    size_hint: int | None = None

    @property
    def relation(self) -> Neighbors:
        """The neighbouring relation."""
        return "replace-one" if self.neighbors == "replace-one" else "add-remove"

    @property
    def size(self) -> int | None:
        """About how many rows there are; None where nobody says."""
        return self.size_hint if self.rows is None else self.rows


@dataclass(frozen=True)
class PartSpec:
    """What is released of one column (or of the rows themselves, for `Count`): public facts only."""

    label: str
    form: Encoding
    rowmap: RowMap | None
    grid: Grid | None
    law: Law
    cost: Cost
    weight: RowMap | Share | None = None
    weight_grid: Grid | None = None
    key: KeyMap | None = None
    """Of a question about quality: the class of each cell."""

    @property
    def terms(self) -> tuple[SumTerm, ...]:
        """What is added up, one sum for each polynomial of the form."""
        weights = self.form.weights or (ONE,) * len(self.form.polynomials)
        weight = self.weight if self.form.weights else None
        return tuple(SumTerm(self.rowmap, p, weight, q) for p, q in zip(self.form.polynomials, weights, strict=True))

    def released(self, noisy: Any) -> Part:
        """The part of a release that says these noisy integers."""
        return Part(
            label=self.label,
            form=self.form.name,
            parameters=dict(self.form.parameters),
            grid=self.grid,
            integers=noisy,
            law=self.law,
            l1=self.form.l1,
            l2_squared=self.form.l2_squared,
            cost=self.cost,
            weight=self.weight_grid,
        )


@dataclass(frozen=True)
class Measurement:
    """A query made concrete from public facts: everything but the data and the noise."""

    query: Query[Any]
    neighbors: str
    rows: int | None
    keys: tuple[KeyMap, ...]
    columns: tuple[PartSpec, ...]
    cost: Cost
    unit: Unit | None = None
    max_rows: int = 1
    where: Predicate | None = None
    kind: str = field(kw_only=True)
    mechanism: str = field(kw_only=True)
    """Which class of release it makes, and which mechanism, with its version."""
    axes: tuple[Axis, ...] = ()
    """Of a histogram."""
    blocks: object = None
    """Of sample and aggregate: its public facts."""
    variables: tuple[Variable, ...] = ()
    """Of a regression."""
    computed: tuple[Computed, ...] = ()
    """Of sufficient statistics: columns that are not the schema's."""

    @classmethod
    def of(cls, query: Query[Any], public: Public, cost: Cost, **chosen: Any) -> Measurement:
        """What follows from the table's public facts alone; `chosen` are the other fields."""
        unit, most = unit_of(public.schema), most_rows(public.schema)
        chosen = {"keys": (), "columns": (), **chosen}
        return cls(query, public.neighbors, public.rows, cost=cost, unit=unit, max_rows=most, **chosen)

    @property
    def levels(self) -> Levels:
        """Public labels of `by`, one entry a column."""
        return tuple((key.column, key.labels) for key in self.keys)

    @property
    def ordered(self) -> Levels:
        """Those of them whose order means something."""
        return tuple((key.column, key.order) for key in self.keys if key.order)

    @property
    def several(self) -> bool:
        """Whether a person may be in several cells."""
        return self.unit is not None and any(not key.constant for key in self.keys)

    @property
    def cells(self) -> int:
        """Number of cells."""
        product = 1
        for key in self.keys:
            product *= key.size
        return product
