"""Linear regression by noisy cross-products, and one step from sums of cut residuals.  INSIDE the wall.

Definition
    A complete row, one without a missing cell in any column of the formula (and for which `where` holds), becomes
    bounded integers z (`linear.layout`).  Released: first, sums of their products; then, with psi the row's residual
    from a fit to these, rounded and cut at a range that is chosen from these, sums of psi z, of psi**2, and of psi**2 z
    z'. Public: schema, query, relation, price, and under replace-one the number of rows.  Neighbours: one row replaced,
    or one added or removed.  Persons are refused.
Sensitivity
    Proven beside the forms, for all pairs of rows and any fit: `regression_forms`.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the part's share of the price.
Cost
    FIRST of the price for the first part, the rest for the second, whose question is a function of the first part's
    release: adaptive composition, pure [lecture notes §2], Gaussian [Bun & Steinke 2016, Lemma 2.3].
Failures
    None depends on a row: whatever the first part says, the second is asked, and its sensitivity is that of the cut.
    The aim is made of released integers by arithmetic that no value of theirs stops.  A failure of the machine is the
    curator's to hide.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, cast

from tacit.curator.source import Source
from tacit.errors import QueryError
from tacit.linear.aim import aimed, start
from tacit.linear.formula import Formula, parse
from tacit.linear.layout import H, Layout, Monomial, layout
from tacit.linear.noisy import crossed
from tacit.linear.query import Regression
from tacit.linear.rows import Aim, Coordinate, Crossed, Product
from tacit.mechanisms import regression_forms as forms
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moments import Column, Design
from tacit.predicates.typed import typed
from tacit.privacy import Cost, noise_for
from tacit.release import Cells, Part, Variable
from tacit.rowmap import KeyMap, RowMap
from tacit.schema import Boolean, Category, PrivacyUnit, Schema
from tacit.schema.rowmaps import column_of, keymap, rowmap

VERSION: Final = "regression/1"
KIND: Final = "regression"
FIRST: Final = Fraction(3, 10)
"""Part of the price for the cross-products: intervals hardly change from 2 to 4 tenths (`benchmarks/regression.py`)."""
NEARLY: Final = 15 / 16
"""An Integer or Date keeps its own steps where they fill so much of a grid of 2 H."""
NOTHING: Final = Crossed((), ())


@dataclass(frozen=True)
class Crosses(Column):
    """A part of the release: what is asked of the source for it."""

    question: Crossed = NOTHING


# Definition ---------------------------------------------------------------------------------------------------------


def design(query: Regression, schema: Schema, *, neighbors: str, rows: int | None, cost: Cost) -> Design:
    """Coordinates, forms and noise from public facts; QueryError Q10, Q12, Q86, Q87, Q89."""
    formula = parse(query.formula)
    if schema.unit is not None:
        text = f"Regression: {schema.unit!r} is a PrivacyUnit, and regressions of persons are not in this version."
        raise QueryError(text, code="Q87", hint="Histogram(…) of the columns, and fits of it")
    maps, variables = columns(formula, schema)
    made = layout(formula, variables)
    coordinates = tuple(_coordinate(one, maps) for one in made.coordinates)
    where = None if query.where is None else typed(query.where, schema)
    leaves = where is not None or any(at.missing is None for at in maps.values())
    first, second = cost.share(FIRST), cost.share(1 - FIRST)
    form = forms.products(made, cost.noise, neighbors, leaves=leaves)
    asked = tuple(one for one in made.entries if form.parameters["count"] or not one.counts)
    sums = tuple(Product(one.pairs[0]) for one in asked)
    crossing = Crosses(
        "cross-products",
        form,
        None,
        None,
        noise_for(form.l1, form.l2_squared, first),
        first,
        question=Crossed(coordinates, sums),
    )
    form = forms.scores(made, cost.noise, neighbors)
    entries = [Product(one.pairs[0], 2, forms.SHIFT) for one in made.among(response=False)]
    each = [Product((j,), 1) for j in range(made.size)]
    question = Crossed(coordinates, (*each, Product((), 2), *entries))
    law = noise_for(form.l1, form.l2_squared, second)
    scoring = aim_at(Crosses("scores", form, None, None, law, second, question=question), start(made, forms.CLIP))
    shape = Design(query, neighbors, rows, (), (crossing, scoring), cost, where=where, kind=KIND, mechanism=VERSION)
    return replace(shape, variables=variables)


def columns(formula: Formula, schema: Schema) -> tuple[dict[str, RowMap | KeyMap], tuple[Variable, ...]]:
    """Maps of the cells of each column of a formula, and what is public of it."""
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
            at = regrid(rowmap(schema, name))
            maps[name] = at
            facts.append(Variable(name, at.kind, at.lower, at.upper, at.G // 2, (), units, missing))
    return maps, tuple(facts)


def regrid(at: RowMap) -> RowMap:
    """The same column on an even number of steps, 2 H or a little fewer, so that z runs from -H to H."""
    factor = 2 * (H // at.steps) if at.steps <= H else 0
    own = factor * at.steps >= NEARLY * 2 * H
    made = replace(at, factor=factor) if own else replace(at, steps=2 * H, factor=1)
    return made if at.missing is None else replace(made, missing=(2 * at.missing * made.G + at.G) // (2 * at.G))


def _coordinate(one: Monomial, maps: dict[str, RowMap | KeyMap]) -> Coordinate:
    numbers, marks = one
    keys = tuple((cast(KeyMap, maps[name]), level) for name, level in marks)
    return Coordinate(tuple(cast(RowMap, maps[name]) for name in numbers), keys)


# Sensitivity --------------------------------------------------------------------------------------------------------


def aim_at(column: Crosses, aim: Aim) -> Crosses:
    """The second part at an aim, which its form records; its sensitivity is the same for all."""
    stored = {"shift": aim.shift, **{f"weight{j}": w for j, w in enumerate(aim.weights)}}
    form = replace(column.form, parameters={**column.form.parameters, **stored})
    return replace(column, form=form, question=replace(column.question, aim=aim))


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS, twice.  Noisy cross-products; then, aimed by them, noisy scores.  Exact integers are not kept."""
    first, second = (cast(Crosses, column) for column in shape.columns)
    made = layout(parse(cast(Regression, shape.query).formula), shape.variables)
    crossing = part_of(first, protect(exact(first, shape, source), first.law))
    scoring = aim_at(second, aim_of(crossing, second, made, shape.rows))
    return crossing, part_of(scoring, protect(exact(scoring, shape, source), scoring.law))


def aim_of(crossing: Part, second: Column, made: Layout, rows: int | None) -> Aim:
    """Where the second step aims: a function of what the first released, and of public facts."""
    noise = math.sqrt(second.law.variance()) / (forms.FINE * forms.CLIP * H)
    return aimed(crossed(crossing, made, rows), made, forms.CLIP, noise)


def exact(column: Column, shape: Design, source: Source) -> Cells:
    """READS ROWS.  The integers of a part before noise: never to be shown."""
    found = source.crossed(cast(Crosses, column).question, shape.where)
    if shape.rows is not None and found.rows != shape.rows:
        raise RuntimeError("the table changed while it was read")
    return (column.form.assemble(found.cells[0]),)


def part_of(column: Column, noisy: Cells) -> Part:
    """What is released of a part."""
    form = column.form
    return Part(
        column.label, form.name, dict(form.parameters), None, noisy, column.law, form.l1, form.l2_squared, column.cost
    )
