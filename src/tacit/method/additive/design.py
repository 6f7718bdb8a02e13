"""Design of a user's additive statistic: bounds of its integers, sums, second moments and noise, from public facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from math import floor, isqrt
from typing import Any, Final

from tacit.errors import QueryError
from tacit.method.additive.encoding import (
    LARGEST,
    Bounded,
    Box,
    RowReach,
    fineness,
    in_units,
    line,
    middle,
    product_boxes,
    required,
    sensitivity,
    square,
    unit,
    used,
)
from tacit.method.additive.query import Additive
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.group_keys import keys_of
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Variable
from tacit.rows.row_map import PersonWeight, Polynomial, RowMap, SumTerm
from tacit.schema import Schema
from tacit.schema.column_types import EXCLUDE, Boolean
from tacit.schema.predicates import syntax
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.number_bounds import bounds, may_be_undefined
from tacit.schema.predicates.numeric_expressions import Applied, Clipped, ColumnCell, Fixed, Operation, cell_of
from tacit.schema.predicates.parser import parse
from tacit.schema.predicates.syntax import spelled
from tacit.schema.predicates.typed_conditions import Predicate, node
from tacit.schema.row_expressions import read, with_expressions

KIND: Final = "additive"
VERSION: Final = "additive/1"
MOST_CELLS: Final = 1_000
"""Most cells of `by`."""
SHARES: Final = tuple(Fraction(1, 2**k) for k in (6, 5, 4, 3, 2))
"""Shares of the price that second moments may have, the least first."""
NO_SIZE: Final = Fraction(1, 8)
"""The share where the number of rows is not public."""
ENOUGH: Final = 0.1
"""Noise in a second moment is at most this part of the variance of an integer that is spread over its bounds."""


@dataclass(frozen=True)
class AdditivePart(PartSpec):
    """Sums of several columns of integers, released together; sums: one for each integer."""

    sums: tuple[SumTerm, ...] = field(default=(), kw_only=True)

    @property
    def terms(self) -> tuple[SumTerm, ...]:
        """The sums asked of the source."""
        return self.sums


@dataclass(frozen=True)
class RowInteger:
    """One integer of a row: its expression, its bounds, how it is computed, and how it is rounded and clamped."""

    text: str
    box: Box
    computed: Computed
    at: RowMap


def design(query: Additive, public: Public, cost: Cost) -> Measurement:
    """Return the measurement; QueryError Q10, Q12, Q60 to Q65, Q86 (expressions), Q282, Q283 (bounds), Q287 (cells)."""
    schema, keys = public.schema, keys_of(query, public.schema)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, keys=keys)
    if shape.several or shape.cells > MOST_CELLS:
        what = f"{shape.cells:,} cells; at most {MOST_CELLS:,}" if not shape.several else "one person in several cells"
        text = f"by of {query.statistic!r}: it makes {what}, of which no sums are released."
        raise QueryError(text, code="Q287", hint="where= for one group, or fewer levels")
    numbers = _numbers(query, schema)
    where, left_out = _where(query, schema, numbers)
    leaves = left_out or shape.unit is not None or any(key.missing is None for key in keys)
    boxes = [one.box for one in numbers]
    persons = shape.unit is not None
    cap = shape.max_rows if persons else 1
    replaces = public.neighbors == "replace-one"
    reach = RowReach(replaces, shape.cells > 1, leaves, cap, fineness(boxes, cap) if persons else 1)
    _check(query, boxes, reach)
    columns = _parts(query, numbers, reach, public.size, shape)
    variables = tuple(Variable(one.text, "integer", float(one.box[0]), float(one.box[1]), 1) for one in numbers)
    computed = tuple(one.computed for one in numbers)
    return replace(shape, where=where, columns=columns, variables=variables, computed=computed)


# Integers of a row --------------------------------------------------------------------------------------------------


def _numbers(query: Additive, schema: Schema) -> tuple[RowInteger, ...]:
    """Return the integers of a row; QueryErrors of expressions, and Q283 for bounds."""
    named = {f"integer {j} of {query.statistic}": text for j, text in enumerate(query.expressions, start=1)}
    extended, computed = with_expressions(schema, {name: _stated(schema, text) for name, text in named.items()})
    made = list[RowInteger]()
    for (name, text), one in zip(named.items(), computed, strict=True):
        rule: Any = one.rule
        number = isinstance(rule, ColumnCell | Fixed | Operation | Applied | Clipped)
        if one.values:
            message = f"{name}, {text}, is a level and no number."
            raise QueryError(message, code="Q281", hint="a number, or a condition, which counts 1 or 0")
        if not number or getattr(rule, "kind", "number") == "boolean":
            # a condition that is not known to hold does not hold
            made.append(
                RowInteger(text, (0, 1), one, RowMap(name, extended.source(name), "boolean", 0.0, 1.0, 1, 1, 0))
            )
            continue
        low, high = (floor(end + 0.5) for end in bounds(rule))
        if not low < high or max(abs(low), abs(high)) > LARGEST:
            what = "the same integer in every row" if low == high else f"from {low:,} to {high:,}"
            message = f"{name}, {text}, is {what}: integers are at most {LARGEST:,} in size."
            raise QueryError(message, code="Q283", hint="another unit: … / 1000, … * 100; or clip(…, 0, 1000)")
        # one step for each integer: rounded to the nearest, then clamped in 64 bits
        at = RowMap(name, extended.source(name), "real", float(low), float(high), high - low)
        undefined = may_be_undefined(rule) or any(_may_be_missing(schema, cell.column) for cell in one.cells)
        # with nothing missing the declared place is never used; it keeps every row present, whatever a cell has
        place = None if undefined else min(max(-low, 0), high - low)
        made.append(RowInteger(text, (low, high), one, replace(at, missing=place)))
    return tuple(made)


def _stated(schema: Schema, text: str) -> str:
    """Return an expression; a Boolean column alone as the condition that it is true."""
    said = read(text)
    flag = isinstance(said, syntax.Name) and isinstance(schema.get(said.name), Boolean)
    return f"{text} == True" if flag else text


def _may_be_missing(schema: Schema, name: str) -> bool:
    return getattr(schema[name], "missing", EXCLUDE) == EXCLUDE


def _where(query: Additive, schema: Schema, numbers: Sequence[RowInteger]) -> tuple[Predicate | None, bool]:
    """Return which rows count, and whether a row can add nothing.

    Rows count where the condition of the question holds and no column that a number is computed from is missing: a row
    adds to all integers or to none.
    """
    of_numbers = [one for one in numbers if one.at.kind == "real"]
    names = dict.fromkeys(cell.column for one in of_numbers for cell in one.computed.cells)
    needed = [name for name in names if _may_be_missing(schema, name)]
    parts: list[syntax.Condition] = [syntax.Not(syntax.Missing(syntax.Name(name))) for name in needed]
    if query.where is not None:
        parts.insert(0, parse(query.where))
    undefined = any(one.at.missing is None for one in of_numbers)
    if not parts:
        return None, undefined
    said = parts[0] if len(parts) == 1 else syntax.AndOr("and", tuple(parts))
    cells = {name: cell_of(schema, name) for name in syntax.columns(said)}
    return Predicate(spelled(said), node(said, cells), tuple(cells.values())), True


def _check(query: Additive, boxes: Sequence[Box], reach: RowReach) -> None:
    """Raise QueryError Q282 for a sensitivity declared below the computed one, Q283 for persons' sums too large."""
    least = required(boxes, reach)
    l1, l2_squared = query.l1, query.l2_squared
    if (l1 is not None and l1 < least.l1) or (l2_squared is not None and l2_squared < least.l2_squared):
        said = f"l1 {l1:,}, squared l2 {l2_squared or 0:,}" if l1 is not None else f"squared l2 {l2_squared:,}"
        root = _root_up(least.l2_squared)
        relation = "replacing a row" if reach.replaces else "adding or removing a row"
        text = f"sensitivity of {query.statistic!r} is declared as {said}; {relation} changes its sums by up to"
        text += (
            f" {least.l1:,} in l1, {least.l2_squared:,} in squared l2: within their bounds, {_listed(query, boxes)}."
        )
        raise QueryError(
            text, code="Q282", hint=f"tc.Sensitivity(l1={least.l1}, l2={root}), or narrower bounds: clip(…)"
        )
    if any(abs(end) > LARGEST for box in boxes for end in reach.scaled(box)):
        text = f"sums of {query.statistic!r} over {reach.cap:,} rows of a person: up to {LARGEST:,} is released."
        raise QueryError(text, code="Q283", hint="another unit, or a smaller max_rows")


def _listed(query: Additive, boxes: Sequence[Box]) -> str:
    found = (f"{text} from {low:,} to {high:,}" for text, (low, high) in zip(query.expressions, boxes, strict=True))
    return ", ".join(found)


def _root_up(square_of: int) -> str:
    """Return the least decimal of six places whose square is not below an integer."""
    millionths = isqrt(square_of * 10**12 - 1) + 1 if square_of else 0
    whole, part = divmod(millionths, 10**6)
    return f"{whole}.{part:06}".rstrip("0").rstrip(".") if part else str(whole)


# Parts --------------------------------------------------------------------------------------------------------------


def _parts(
    query: Additive, numbers: Sequence[RowInteger], reach: RowReach, size: int | None, shape: Measurement
) -> tuple[AdditivePart, ...]:
    """Return the part of the sums, and with moments one part for each product of two integers."""
    boxes, persons = [one.box for one in numbers], shape.unit is not None
    weight = PersonWeight(reach.cap, reach.cap) if persons else None
    products = product_boxes(boxes, reach, persons=persons) if query.moments else {}
    # each product is a part of its own: it has noise for its own bounds
    bounds_of = [sensitivity([box], reach) for box in products.values()]
    share = _share(bounds_of, list(products.values()), size, shape)
    sums = tuple(_sum(_fine(one.at, reach.fine), line(reach.fine * one.box[0]), weight, 1) for one in numbers)
    facts = {"G": reach.fine, "leaves": int(reach.leaves)}
    own = shape.cost if not products else shape.cost.share(1 - share)
    made = [_part("sums", KIND, facts, sums, used(query, boxes, reach), own)]
    small = [in_units(box, unit(box, reach.cap, persons)) for box in boxes]
    maps = [_in_units(one, unit(one.box, reach.cap, persons)) for one in numbers]
    for (i, j), found in zip(products, bounds_of, strict=True):
        first, second = (small[k][0] - middle(small[k], reach) for k in (i, j))
        if i == j:
            term = _sum(maps[i], square(first), weight, 2)
        else:
            term = SumTerm(maps[i], line(first), maps[j], line(second))
        each = shape.cost.share(share / len(products))
        label, facts_of = f"products {i + 1}:{j + 1}", {"leaves": int(reach.leaves), "first": i, "second": j}
        made.append(_part(label, "additive-product", facts_of, (term,), found, each))
    return tuple(made)


def _fine(at: RowMap, fine: int) -> RowMap:
    """Return the map to steps of 1 / fine."""
    return replace(at, factor=fine, missing=None if at.missing is None else at.missing * fine)


def _in_units(one: RowInteger, step: Fraction) -> RowMap:
    """Return the map to multiples of a unit, between bounds that are rounded outwards."""
    low, high = in_units(one.box, step)
    if one.at.kind == "boolean":
        return replace(one.at, factor=high)
    missing = None if one.at.missing is None else min(max(-low, 0), high - low)
    # both ends are exact floats: multiples of an integer, or of a power of 1/2
    return replace(one.at, lower=float(low * step), upper=float(high * step), steps=high - low, missing=missing)


def _sum(at: RowMap, polynomial: Polynomial, weight: PersonWeight | None, power: int) -> SumTerm:
    """Return the sum of a polynomial of an integer; of persons times their number of rows, or its square."""
    polynomial.check(at.G)
    if weight is None:
        return SumTerm(at, polynomial)
    return SumTerm(at, polynomial, weight, Polynomial((0,) * power + (1,)))


def _part(
    label: str, form: str, facts: dict[str, int], sums: tuple[SumTerm, ...], bound: Bounded, cost: Cost
) -> AdditivePart:
    size = len(sums)
    matrix = tuple(tuple(int(i == j) for j in range(size)) for i in range(size))
    encoding = Encoding(form, facts, tuple(one.polynomial for one in sums), matrix, bound.l1, bound.l2_squared)
    return AdditivePart(label, encoding, None, None, noise_for(bound.l1, bound.l2_squared, cost), cost, sums=sums)


def _share(bounds_of: Sequence[Bounded], boxes: Sequence[Box], size: int | None, shape: Measurement) -> Fraction:
    """Return the share of the price for all second moments together: the least with which they are precise enough."""
    if not bounds_of or size is None:
        return NO_SIZE
    rows = max(size / shape.cells, 1.0)
    for share in SHARES:
        cost = shape.cost.share(share / len(bounds_of))
        laws = [noise_for(one.l1, one.l2_squared, cost) for one in bounds_of]
        # the variance of an integer spread evenly over its bounds is a twelfth of the square of their distance
        spreads = [rows * (high - low) / 12 for low, high in boxes]
        if all(law.variance() ** 0.5 <= ENOUGH * spread for law, spread in zip(laws, spreads, strict=True)):
            return share
    return SHARES[-1]
