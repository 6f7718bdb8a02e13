"""Measurements: a question with its public facts settled, that is sums, cells, noise and price.  No data here."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from tacit.method.shared.encoding import Encoding
from tacit.noise.laws import Law
from tacit.privacy import Cost
from tacit.privacy.budget import Neighbors
from tacit.release.parts import Axis, Grid, Levels, Part, Variable
from tacit.release.query import Query
from tacit.rows.row_map import ONE, KeyMap, PersonWeight, RowMap, SumTerm, Unit
from tacit.schema import Schema
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.schema.row_maps_of_columns import most_rows, unit_of


@dataclass(frozen=True)
class Public:
    """The public facts of a table, before any release.

    rows: number of rows (persons, where the schema has a PrivacyUnit), if it is public, else None.  size_hint: about
    how many there are, if the curator gave a number; designs may depend on it.
    """

    schema: Schema
    neighbors: str
    rows: int | None
    size_hint: int | None = None
    accounting: str | None = None
    """How the ledger adds costs ("gdp", "basic", ...), where that is known: see `Budget.kind`."""

    @property
    def relation(self) -> Neighbors:
        """The neighbouring relation."""
        return "replace-one" if self.neighbors == "replace-one" else "add-remove"

    @property
    def size(self) -> int | None:
        """The public number of rows, else the hint, else None."""
        return self.size_hint if self.rows is None else self.rows


@dataclass(frozen=True)
class PartSpec:
    """The public specification of one part of a release: of one column, or of the rows themselves for `Count`.

    form: integer encoding with its sensitivity.  rowmap: map of table cells to the grid; None where rows are counted.
    law: of the noise.  cost: share of the price; of columns with noise of one vector, the shares count together alone
    (`privacy.bought.price_of_noise`).  weight: how rows or persons are weighted.
    """

    label: str
    form: Encoding
    rowmap: RowMap | None
    grid: Grid | None
    law: Law
    cost: Cost
    weight: RowMap | PersonWeight | None = None
    weight_grid: Grid | None = None
    key: KeyMap | None = None
    """The class of each table cell, for `DataQuality`; the bin, for `Range`."""

    @property
    def terms(self) -> tuple[SumTerm, ...]:
        """The sums asked of the source, one for each polynomial of the encoding."""
        weights = self.form.weights or (ONE,) * len(self.form.polynomials)
        weight = self.weight if self.form.weights else None
        return tuple(SumTerm(self.rowmap, p, weight, q) for p, q in zip(self.form.polynomials, weights, strict=True))

    def released(self, noisy: Any) -> Part:
        """Return the part of a release that holds these noisy integers."""
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
    """Everything that a mechanism needs but the data and the draws of the noise: public facts alone.

    keys: the columns of `by`.  columns: the parts.  unit, max_rows: the PrivacyUnit and its most rows of a person.
    """

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
    """The class of release that is made, and the mechanism with its version."""
    axes: tuple[Axis, ...] = ()
    """The axes of a histogram."""
    blocks: object = None
    """The public facts of sample and aggregate."""
    variables: tuple[Variable, ...] = ()
    """The columns of a regression, with those that its expressions read."""
    computed: tuple[Computed, ...] = ()
    """Columns that are not the schema's: sufficient statistics, and expressions of a regression's formula."""

    @classmethod
    def of(cls, query: Query[Any], public: Public, cost: Cost, **chosen: Any) -> Measurement:
        """Return a measurement with the fields that follow from the table's public facts; `chosen` are the others."""
        unit, most = unit_of(public.schema), most_rows(public.schema)
        chosen = {"keys": (), "columns": (), **chosen}
        return cls(query, public.neighbors, public.rows, cost=cost, unit=unit, max_rows=most, **chosen)

    @property
    def levels(self) -> Levels:
        """Public labels of `by`, one entry a column."""
        return tuple((key.column, key.labels) for key in self.keys)

    @property
    def ordered(self) -> Levels:
        """The levels of those columns of `by` whose levels are ordered."""
        return tuple((key.column, key.order) for key in self.keys if key.order)

    @property
    def several(self) -> bool:
        """Whether a person may be in several cells."""
        # a person has one level of a `constant` key, and without keys there is one cell
        return self.unit is not None and any(not key.constant for key in self.keys)

    @property
    def cells(self) -> int:
        """Number of cells."""
        product = 1
        for key in self.keys:
            product *= key.size
        return product
