"""Parts of a regression's measurement: the integer coordinates of a complete row, and the sums asked of the source."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Final, cast

from tacit.errors import QueryError
from tacit.method.regression.formulas.formula import Formula, parse
from tacit.method.regression.formulas.layout import Layout, Monomial, ProductSum, layout
from tacit.method.regression.query import Regression
from tacit.method.regression.row_sums import encoding as forms
from tacit.method.regression.row_sums import person_encoding as person_forms
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Variable
from tacit.rows.coordinates import H
from tacit.rows.row_map import KeyMap, RowMap, Unit
from tacit.rows.row_products import Coordinate, CrossProducts, Product, ProductOfMeans
from tacit.rows.row_weight import STEPS
from tacit.schema import Boolean, Category, PrivacyUnit, Schema
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.typed_conditions import Predicate, typed
from tacit.schema.row_expressions import with_expressions
from tacit.schema.row_maps_of_columns import column_of, keymap, most_rows, rowmap, unit_of, weightmap

KIND: Final = "regression"


NEARLY_FULL: Final = 15 / 16
"""An Integer or Date keeps its own steps where whole multiples of them fill at least this part of a grid of 2 H."""


NO_QUESTION: Final = CrossProducts((), ())


@dataclass(frozen=True)
class ProductPart(PartSpec):
    """A part of the release with its question to the source; layout: the coordinates of the regression."""

    question: CrossProducts = NO_QUESTION
    layout: Layout = field(kw_only=True, compare=False, repr=False)


@dataclass(frozen=True)
class RowFacts:
    """Public facts of a regression: its columns, and the coordinates of a row.

    leaves: whether a row (a person) can be absent although their number is public.  unit: the column of persons, None
    without a PrivacyUnit.  max_rows: most rows of a person.  computed: the expressions of the formula, as columns.
    weight: the column of weights, if rows have any.
    """

    variables: tuple[Variable, ...]
    layout: Layout
    coordinates: tuple[Coordinate, ...]
    where: Predicate | None
    leaves: bool
    unit: Unit | None = None
    max_rows: int = 1
    computed: tuple[Computed, ...] = ()
    weight: RowMap | None = None

    def score_question(
        self,
        others: Sequence[Product],
        entries: Sequence[ProductSum],
        shift: int,
        *,
        beside: bool = False,
        whole: bool = False,
    ) -> CrossProducts:
        """Return the question of a part of scores: sums of psi z, of `others`, and of psi**2 z z' for `entries`.

        shift: psi**2 z z' is divided by 2**shift and rounded down.  Of persons, products of all pairs of mean scores
        take the place of psi**2 z z', if there are entries.  beside: without the sums of psi z, which another part has.
        whole: whether the sums of psi**2 z z' over rows are divided, not each row's.
        """
        # psi z_j for every coordinate but the response, which is the last
        scores = tuple(Product((j,), 1) for j in range(self.layout.size))
        if self.unit is None:
            apart, once = (0, shift) if whole else (shift, 0)
            squares = (Product(one.pairs[0], 2, apart, sum_shift=once) for one in entries)
            asked = (*(() if beside else scores), *others, *squares)
            return CrossProducts(self.coordinates, asked, weight=self.weight)
        between = tuple(ProductOfMeans(one.pairs[0], shift) for one in self.layout.all_pairs) if entries else ()
        # mean scores are what the products between them are made of, summed or not
        aside = len(scores) if beside else 0
        asked = (*scores, *others)
        return CrossProducts(self.coordinates, asked, None, self.unit, between, aside=aside, weight=self.weight)


def row_facts(query: Regression, schema: Schema) -> RowFacts:
    """Return the public facts of a regression, its layout included; QueryError Q10, Q12, Q61, Q62, Q72, Q86, Q89."""
    formula = parse(query.formula)
    extended, computed = with_expressions(schema, formula.expressions)
    maps, variables = column_maps(formula, extended, counted=query.model == "poisson")
    made = layout(formula, variables)
    where = None if query.where is None else typed(query.where, schema)
    leaves = where is not None or any(at.missing is None for at in maps.values())
    coordinates = tuple(_coordinate(one, maps) for one in made.coordinates)
    variables = (*variables, *(_read_only(name, schema) for name in formula.read_only))
    weight = None if query.weights is None else weightmap(schema, query.weights, STEPS)
    return RowFacts(variables, made, coordinates, where, leaves, unit_of(schema), most_rows(schema), computed, weight)


def as_measurement(
    query: Regression, facts: RowFacts, public: Public, cost: Cost, version: str, columns: tuple[ProductPart, ...]
) -> Measurement:
    """Return the measurement that these parts make up."""
    chosen: dict[str, Any] = {"columns": columns, "where": facts.where, "variables": facts.variables}
    chosen["computed"] = facts.computed
    return Measurement.of(query, public, cost, kind=KIND, mechanism=version, **chosen)


def crossproduct_part(label: str, facts: RowFacts, neighbors: str, share: Cost) -> ProductPart:
    """Return the part of cross-products of all coordinates, the response's too, at its share of the price."""
    form = forms.products(facts.layout, share.noise, neighbors, leaves=facts.leaves)
    form = form if facts.unit is None else person_forms.products(form)
    asked = tuple(one for one in facts.layout.entries if form.parameters["count"] or not one.is_row_count)
    question = CrossProducts(facts.coordinates, tuple(Product(one.pairs[0]) for one in asked), unit=facts.unit)
    law = noise_for(form.l1, form.l2_squared, share)
    return ProductPart(label, form, None, None, law, share, question=question, layout=facts.layout)


def column_maps(
    formula: Formula, schema: Schema, *, counted: bool = False
) -> tuple[dict[str, RowMap | KeyMap], tuple[Variable, ...]]:
    """Return, for each column of a formula, the map of its table cells to integers, and its public facts.

    counted: whether the response is a count, which keeps its own steps where they are few enough.
    """
    maps: dict[str, RowMap | KeyMap] = {}
    facts: list[Variable] = []
    for name in formula.columns:
        column = column_of(schema, name)
        units, missing = getattr(column, "units", None), str(getattr(column, "missing", "exclude"))
        if isinstance(column, PrivacyUnit):
            raise QueryError(f"column {name!r} is a PrivacyUnit: no regressor.", code="Q86", hint="another column")
        if isinstance(column, Category | Boolean):
            key = keymap(schema, name)
            maps[name] = key
            made = Variable(name, "levels", labels=key.labels, missing=missing)
            boolean = Variable(name, "boolean", missing=missing.lower())
            facts.append(boolean if isinstance(column, Boolean) else made)
        else:
            at = regrid(rowmap(schema, name), own=counted and name == formula.response)
            maps[name] = at
            facts.append(Variable(name, at.kind, at.lower, at.upper, at.G // 2, (), units, missing))
    return maps, tuple(facts)


def _read_only(name: str, schema: Schema) -> Variable:
    """Return the public facts of a column that only expressions read: it has no coordinate, and so no grid."""
    column: Any = schema[name]
    units, missing = getattr(column, "units", None), str(column.missing)
    if isinstance(column, Category):
        return Variable(name, "levels", labels=keymap(schema, name).labels, units=units, missing=missing)
    if isinstance(column, Boolean):
        return Variable(name, "boolean", missing=missing.lower())
    at = rowmap(schema, name)
    return Variable(name, at.kind, at.lower, at.upper, 1, (), units, missing)


def regrid(at: RowMap, *, own: bool = False) -> RowMap:
    """Return the same column on an even number of steps, 2 H or a little fewer, so that z runs from -H to H.

    own: whether to keep the column's own steps where they are at most H, even if they fill little of that grid.
    """
    # even, so that the middle of the grid is a grid point
    factor = 2 * (H // at.steps) if at.steps <= H else 0
    own = factor > 0 and (own or factor * at.steps >= NEARLY_FULL * 2 * H)
    made = replace(at, factor=factor) if own else replace(at, steps=2 * H, factor=1)
    # missing scaled to the new grid and rounded, in integers
    return made if at.missing is None else replace(made, missing=(2 * at.missing * made.G + at.G) // (2 * at.G))


def _coordinate(one: Monomial, maps: dict[str, RowMap | KeyMap]) -> Coordinate:
    """Return the coordinate that a product of columns and levels is."""
    numbers, marks = one
    keys = tuple((cast(KeyMap, maps[name]), level) for name, level in marks)
    return Coordinate(tuple(cast(RowMap, maps[name]) for name in numbers), keys)
