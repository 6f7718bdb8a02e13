"""Exact sums of products of columns, for regressions: one lazy pass on the table's engine.  INSIDE the wall.

The integers of each row equal those of `CrossProducts.numpy`.  64-bit integers do not overflow: `CrossProducts.check`
bounds every step of a row, and what a row adds to a sum, by public facts; a table has at most `most_rows` rows.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import narwhals as nw

from tacit.rows.coordinates import SIGN, H
from tacit.rows.piecewise_score import PiecewiseScore
from tacit.rows.row_map import Aggregate
from tacit.rows.row_products import ClippedResidual, Coordinate, CrossProducts, Product
from tacit.schema.predicates.row_values import evaluate
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.engine import Engine
from tacit.source.engine_sums import cell_expressions as ex
from tacit.source.engine_sums import person_sums as persons
from tacit.source.engine_sums.cell_counts import numbered_reading
from tacit.source.engine_sums.cell_sums import cell_reading, map_reading
from tacit.source.engine_sums.engine_norms import with_vector
from tacit.source.engine_sums.engine_scores import clamped, combined, halved, with_scores, with_weights
from tacit.source.reading.column_kinds import Reading


def crossed(engine: Engine, question: CrossProducts, where: Predicate | None = None) -> Aggregate:
    """READS ROWS.  Return sums over complete rows (persons) kept by `where`, and the number of all rows (persons)."""
    return plan(engine, question, where).run(engine)


@dataclass(frozen=True)
class ProductsPass:
    """One pass over a table, not yet run."""

    frame: Any
    sums: tuple[str, ...]
    divided: dict[str, Product]
    most_rows: int

    def run(self, engine: Engine) -> Aggregate:
        """READS ROWS."""
        (found,) = engine.collect(self.frame)
        rows = int(found["rows"] or 0)
        if rows > self.most_rows:
            raise ArithmeticError("more rows than the sums are proven for")
        return Aggregate(rows, (tuple(self._sum(found, name) for name in self.sums),))

    def _sum(self, found: Mapping[str, Any], name: str) -> int:
        """Return one sum, of which engines add up quotients and remainders where it is divided."""
        total = int(found[name] or 0)
        return self.divided[name].rounded(total, int(found[_rest(name)] or 0)) if name in self.divided else total


def plan(engine: Engine, question: CrossProducts, where: Predicate | None) -> ProductsPass:
    """Plan the pass of `crossed` in stages, so that what later stages share is computed once; no row is read."""
    question.check()
    frame = coordinates_of(engine, question, where)
    if isinstance(question.score, PiecewiseScore):
        frame = with_scores(frame, question.score, f"z{len(question.coordinates) - 1}")
    elif question.score is not None:
        frame = frame.with_columns(_residual(question.score).alias("psi"))
    if question.weight is not None and question.score is not None:
        frame = with_weights(frame, ("psi", "size") if isinstance(question.score, PiecewiseScore) else ("psi",))
    if question.norm is not None:
        frame = with_vector(frame, question.norm)
    factor = "z" if question.norm is None else "w"
    made: list[Any] = []
    for one in question.products:
        total: Any = ex.whole(1)
        # psi**power times the coordinates, as repeated factors: some engines compute powers in floats
        for name in ["a"] * one.times + ["size" if one.size else "psi"] * one.power + [f"{factor}{j}" for j in one.of]:
            total = total * nw.col(name)
        made.append(_halved(total + ex.whole(one.plus) if one.plus else total, one.shift))
    # an incomplete row still counts among all rows: it adds 0 and is not filtered
    kept = nw.col("k") == ex.whole(1)
    made = [nw.when(kept).then(one).otherwise(ex.whole(0)).alias(f"t{i}") for i, one in enumerate(made)]
    frame = frame.with_columns(*made)
    if question.unit is not None:
        frame = _persons(frame, question)
    sums = tuple(f"t{i}" for i in range(question.aside, len(made) + len(question.between)))
    divided = {f"t{i}": one for i, one in enumerate(question.products) if one.sum_shift}
    if divided:
        frame = frame.with_columns(
            *(halved(nw.col(name), one.sum_shift).alias(f"q{name}") for name, one in divided.items())
        )
        frame = frame.with_columns(
            *(
                (nw.col(name) - nw.col(f"q{name}") * ex.whole(2**one.sum_shift)).alias(_rest(name))
                for name, one in divided.items()
            )
        )
    added = [nw.col(f"q{name}").sum().alias(name) if name in divided else nw.col(name).sum() for name in sums]
    added += [nw.col(_rest(name)).sum() for name in divided]
    made = frame.select(nw.len().alias("rows"), *added)
    return ProductsPass(made, sums, divided, question.most_rows)


def _rest(name: str) -> str:
    """Return the name of the remainders of a sum that is divided."""
    return f"rest_{name}"


def coordinates_of(engine: Engine, question: CrossProducts, where: Predicate | None) -> Any:
    """Return a frame with each row's coordinates z0, z1, ..., and k: 1 for rows that count, else 0; none is read.

    a: the weight, where rows have weights.
    """
    return _coordinates(_read(engine, question, where), question)


def _persons(frame: Any, question: CrossProducts) -> Any:
    """Reduce rows to persons: means of the products, then products of two means.  See `CrossProducts.sums`."""
    first = len(question.products)
    frame = persons.averaged(frame, {f"t{i}": question.most(i) for i in range(first)})
    made = [
        _halved(nw.col(f"t{one.of[0]}") * nw.col(f"t{one.of[1]}"), one.shift).alias(f"t{first + i}")
        for i, one in enumerate(question.between)
    ]
    return frame.with_columns(*made) if made else frame


def _read(engine: Engine, question: CrossProducts, where: Predicate | None) -> Any:
    """Read grid values v, indices of levels p (0 where absent), and k: 1 for rows that count, else 0."""
    maps, keys, cells = question.maps, question.keys, () if where is None else where.cells
    readings: list[Reading] = [*map(map_reading, maps), *map(numbered_reading, keys), *map(cell_reading, cells)]
    unit = [] if question.unit is None else [Reading(question.unit.source, "unit")]
    frame = engine.read([*readings, *unit])
    who = {"u": nw.col(f"c{len(readings)}")} if unit else {}
    first, second = len(maps), len(maps) + len(keys)
    made = ex.NarwhalsBackend(frame)
    places = [made.keep(ex.place(key, f"c{first + i}", made)) for i, key in enumerate(keys)]
    named = {f"s{i}": ex.step(at, f"c{i}") for i, at in enumerate(maps)}
    named |= {f"q{i}": place for i, place in enumerate(places)}
    named |= {f"x{i}": ex.condition_cell(cell, f"c{second + i}") for i, cell in enumerate(cells)}
    frame = ex.select(made.frame, named | who)
    made = ex.NarwhalsBackend(frame)
    kept = made.truth(True)
    if where is not None:
        kept = evaluate(where, {cell: nw.col(f"x{i}") for i, cell in enumerate(cells)}, made)
    for i, at in enumerate(maps):
        if at.missing is None:
            kept = kept & (nw.col(f"s{i}") >= ex.whole(0))
    for i in range(len(keys)):
        kept = kept & made.finite(nw.col(f"q{i}"))
    kept = nw.when(kept).then(ex.whole(1)).otherwise(ex.whole(0))
    named = {"k": kept} | {f"v{i}": ex.value(at, f"s{i}") for i, at in enumerate(maps)}
    named |= {f"p{i}": _index(f"q{i}", made) for i in range(len(keys))}
    return ex.select(made.frame, named | {name: nw.col(name) for name in who})


def _index(column: str, engine: ex.NarwhalsBackend) -> Any:
    q = nw.col(column)
    # 0 in place of null before the cast, which may raise on some engines; the row has k = 0
    return nw.when(engine.finite(q)).then(q).otherwise(ex.real(0.0)).cast(nw.Int64())


def _coordinates(frame: Any, question: CrossProducts) -> Any:
    maps, keys = list(question.maps), list(question.keys)
    made = [_coordinate(one, maps, keys).alias(f"z{j}") for j, one in enumerate(question.coordinates)]
    if question.weight is not None:
        made.append(nw.col(f"v{maps.index(question.weight)}").alias("a"))
    return frame.with_columns(*made)


def _coordinate(one: Coordinate, maps: list[Any], keys: list[Any]) -> Any:
    """Return a coordinate as `Coordinate.numpy` defines it."""
    z: Any = ex.whole(1 if one.numbers else H)
    for at in one.numbers:
        z = z * (nw.col(f"v{maps.index(at)}") - ex.whole(at.G // 2))
    if one.divisor > 1:
        # rounds to nearest; the divisor is a power of two, and bit_length - 1 its exponent
        z = _halved(z + ex.whole(one.divisor // 2), one.divisor.bit_length() - 1)
    for key, level in one.marks:
        at = nw.col(f"p{keys.index(key)}") == ex.whole(1 if level == SIGN else level)
        z = z * nw.when(at).then(ex.whole(1)).otherwise(ex.whole(-1 if level == SIGN else 0))
    return z


def _residual(score: ClippedResidual) -> Any:
    """Return the clamped residual as `ClippedResidual.numpy` defines it."""
    return clamped(combined(score.weights, score.shift), -score.clip, score.clip)


def _halved(total: Any, shift: int) -> Any:
    """Return floor(total / 2**shift) of integers below 2**52; no step for a shift of 0."""
    return total if shift == 0 else halved(total, shift)
