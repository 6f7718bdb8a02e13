"""Exact sums by cell: one lazy pass on the table's engine, folded into the public cells in Python integers.  INSIDE.

Why 64-bit integers do not overflow: a table has at most MAX_ROWS rows (more are an error after the pass), a term is at
most `SumTerm.bound`, and where the product could reach 2**63 the term is split into limbs, each summed.  Before the
sum, `Polynomial.check` bounds every step of its evaluation.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from typing import Any

import narwhals as nw

from tacit.rows.row_map import MAX_ROWS, Aggregate, KeyMap, Level, PersonWeight, Ranked, RowMap, SumTerm, Unit
from tacit.schema.predicates.numeric_expressions import ColumnCell
from tacit.schema.predicates.row_values import evaluate
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.engine import Engine
from tacit.source.engine_sums import cell_expressions as ex
from tacit.source.engine_sums import person_sums as persons
from tacit.source.reading.column_kinds import How, Reading


def aggregate(
    engine: Engine,
    keys: Sequence[KeyMap],
    sums: Sequence[SumTerm],
    unit: Unit | None = None,
    where: Predicate | None = None,
) -> Aggregate:
    """READS ROWS.  Return sums of every cell, row-major in the keys' levels, and the number of all rows (persons)."""
    return plan(engine, keys, sums, unit, where).run(engine)


@dataclass(frozen=True)
class SumsPass:
    """One pass over a table, not yet run.

    frame: sums by group, for the engine to collect.  terms: the different terms of `sums`.  counted: the column with
    the number of rows that the condition keeps.
    """

    frame: Any
    keys: tuple[KeyMap, ...]
    sums: tuple[SumTerm, ...]
    terms: list[SumTerm]
    counted: str
    counting: Callable[[], int] | None = None
    """Counts all rows, where the pass has only those that a condition keeps; else None."""

    def run(self, engine: Engine) -> Aggregate:
        """READS ROWS."""
        rows, found = self.found(engine)
        nothing = (0,) * len(self.sums)
        every = product(*(range(key.size) for key in self.keys))
        return Aggregate(rows, tuple(tuple(found.get(cell, nothing)) for cell in every))

    def found(self, engine: Engine) -> tuple[int, dict[tuple[int, ...], list[int]]]:
        """READS ROWS.  Return the number of all rows, and the sums of cells that are not empty."""
        rows, found = _fold(engine.collect(self.frame), self.keys, self.sums, self.terms, self.counted)
        rows = rows if self.counting is None else self.counting()
        # the bound under which no 64-bit sum can have overflowed; beyond it no sum may be used
        if rows > MAX_ROWS:
            raise ArithmeticError("more rows than the sums are proven for")
        return rows, found


def plan(
    engine: Engine, keys: Sequence[KeyMap], sums: Sequence[SumTerm], unit: Unit | None, where: Predicate | None
) -> SumsPass:
    """Plan the pass of `aggregate`; no row is read.

    Rows for which `where` does not hold add nothing and count among all rows, in the pass or by `Engine.counting`.
    Rows are grouped by their listed levels, all others by null, and folded into cells here: memory is bounded by the
    public levels, whatever else is in the columns.  Equal sums are computed once.
    """
    terms = list(dict.fromkeys(one for one in sums if one.rowmap is not None or one.weight is not None))
    maps = list(dict.fromkeys(at for one in terms for at in one.maps))
    counting = None if where is None or unit is not None else engine.counting()
    frame = engine.read(readings_of(keys, maps, unit, where))
    if where is not None and counting is not None:
        frame, where = filtered(frame, where, len(keys) + len(maps)), None
    frame = values_frame(frame, keys, maps, _shares(maps, terms), unit, where)
    frame = _terms(frame, maps, terms, kept=where is not None)
    counted = [] if where is None else [nw.col("k").sum().alias("kept")]
    added = [
        nw.len().alias("rows"),
        *counted,
        *(nw.col(name).sum() for j, one in enumerate(terms) for name in _names(j, one)),
    ]
    # a null in a key is a group, too: its rows count among all rows and are in no cell
    found = frame.group_by([f"g{i}" for i in range(len(keys))]).agg(*added) if keys else frame.select(*added)
    return SumsPass(found, tuple(keys), tuple(sums), terms, "rows" if where is None else "kept", counting)


def filtered(frame: Any, where: Predicate, first: int) -> Any:
    """Return columns c0, c1, ... before `first` of the rows for which `where` holds."""
    engine = ex.NarwhalsBackend(frame)
    read = {cell: engine.keep(ex.condition_cell(cell, f"c{first + i}")) for i, cell in enumerate(where.cells)}
    holds = evaluate(where, read, engine)
    found = engine.frame.filter(holds)
    return found.select(*(nw.col(f"c{i}") for i in range(first))) if first else found


def ranked(
    engine: Engine,
    at: RowMap,
    keys: Sequence[KeyMap] = (),
    unit: Unit | None = None,
    where: Predicate | None = None,
    share: PersonWeight | None = None,
) -> Ranked:
    """READS ROWS.  Count the rows (persons, by `unit`) at each value of a column's grid, in each cell.

    share: weights of persons who may be in several cells, added up in place of counts.
    """
    return ranking(engine, at, keys, unit, where, share).run(engine)


@dataclass(frozen=True)
class Ranking:
    """The pass of `ranked`, not yet run; see `SumsPass`."""

    frame: Any
    keys: tuple[KeyMap, ...]
    share: PersonWeight | None

    def run(self, engine: Engine) -> Ranked:
        """READS ROWS."""
        keys, what = self.keys, "rows" if self.share is None else "weight"
        cells: dict[tuple[int, ...], dict[int, int]] = {cell: {} for cell in product(*(range(k.size) for k in keys))}
        lookups, rows = [lookup_of(key) for key in keys], 0
        for group in engine.collect(self.frame):
            rows += int(group["rows"])
            cell = _place(group, keys, lookups)
            # p is -1 where the value is absent or the condition does not hold
            if cell is not None and group["p"] >= 0:
                into, p = cells[cell], int(group["p"])
                into[p] = into.get(p, 0) + int(group[what])
        if self.share is not None:  # a person's part in a cell may round to weight 0
            cells = {cell: {p: weight for p, weight in held.items() if weight} for cell, held in cells.items()}
        return Ranked(rows, tuple(cells.values()))


def ranking(
    engine: Engine,
    at: RowMap,
    keys: Sequence[KeyMap],
    unit: Unit | None,
    where: Predicate | None,
    share: PersonWeight | None,
) -> Ranking:
    """Plan the pass of `ranked`; no row is read."""
    shares = {} if share is None else {"a": (0, share)}
    frame = values_frame(engine.read(readings_of(keys, [at], unit, where)), keys, [at], shares, unit, where)
    here = nw.when(nw.col("s0") < ex.whole(0)).then(ex.whole(-1)).otherwise(nw.col("v0"))
    here = nw.col("v0") if at.missing is not None else here
    if where is not None:
        here = nw.when(nw.col("k") == ex.whole(1)).then(here).otherwise(ex.whole(-1))
    groups = [f"g{i}" for i in range(len(keys))]
    added = [nw.len().alias("rows"), *([] if share is None else [nw.col("a").sum().alias("weight")])]
    found = frame.with_columns(here.alias("p")).group_by([*groups, "p"]).agg(*added)
    return Ranking(found, tuple(keys), share)


def map_reading(at: RowMap) -> Reading:
    """Return how a column of numbers is read for `cell_expressions.step`."""
    return Reading(at.source, _how(at))


def readings_of(
    keys: Sequence[KeyMap], maps: Sequence[RowMap], unit: Unit | None, where: Predicate | None
) -> list[Reading]:
    """Return the columns c0, c1, ...: keys, maps, those of the condition, the unit."""
    readings = [*(key_reading(key) for key in keys), *map(map_reading, maps)]
    readings += [cell_reading(cell) for cell in (() if where is None else where.cells)]
    return readings if unit is None else [*readings, Reading(unit.source, "unit")]


def _names(j: int, one: SumTerm) -> tuple[str, ...]:
    """Return the columns in which term j is summed: the term itself, or its limbs, highest first."""
    bound = one.bound
    if bound * MAX_ROWS < 2**63:
        return (f"t{j}",)
    # `high` divides in float64
    if bound > 2**53:
        raise ArithmeticError(f"a term of {bound} is no exact float64, and cannot be split")
    limbs = 1
    while bound * MAX_ROWS >= 2**63:
        # the highest limb is at most bound / LIMB, the others below LIMB: 2**20 over 2**42 rows is below 2**63
        bound, limbs = bound // ex.LIMB + 1, limbs + 1
    return tuple(f"t{j}l{k}" for k in reversed(range(limbs)))


def values_frame(
    frame: Any,
    keys: Sequence[KeyMap],
    maps: list[RowMap],
    shares: Mapping[str, tuple[int | None, PersonWeight]],
    unit: Unit | None,
    where: Predicate | None,
) -> Any:
    """Return columns of rows or persons: levels g, steps s (below 0 where absent), values v, and shares a of persons.

    With a condition also k: 1 for rows or persons that it keeps, else 0.
    """
    if not keys and not maps and unit is None and where is None:
        return frame
    at, cells = len(keys) + len(maps), () if where is None else where.cells
    named = {f"g{i}": _level(key, f"c{i}", exact=unit is not None) for i, key in enumerate(keys)}
    named |= {f"s{i}": ex.step(one, f"c{len(keys) + i}") for i, one in enumerate(maps)}
    named |= {f"x{i}": ex.condition_cell(cell, f"c{at + i}") for i, cell in enumerate(cells)}
    frame = ex.select(frame, named if unit is None else named | {"u": nw.col(f"c{at + len(cells)}")})
    made = [ex.value(one, f"s{i}").alias(f"v{i}") for i, one in enumerate(maps)]
    # a constant key has one level for all rows of a person, a function of these rows alone: one cell a person
    made += [nw.col(f"g{i}").min().over("u").alias(f"g{i}") for i, key in enumerate(keys) if key.constant]
    if where is not None:
        read = {cell: nw.col(f"x{i}") for i, cell in enumerate(cells)}
        engine = ex.NarwhalsBackend(frame)
        holds = evaluate(where, read, engine)
        frame = engine.frame
        made.append(nw.when(holds).then(ex.whole(1)).otherwise(ex.whole(0)).alias("k"))
    frame = frame.with_columns(*made) if made else frame
    return frame if unit is None else persons.reduce(frame, keys, maps, shares, kept=where is not None)


def _shares(maps: list[RowMap], terms: list[SumTerm]) -> dict[str, tuple[int | None, PersonWeight]]:
    """Return, by the name of its column, each share with the index of the map whose present rows count (None: all)."""
    found = [(one.rowmap, one.weight) for one in terms if isinstance(one.weight, PersonWeight)]
    return {_share(maps, at, share): (_counted(maps, at, share), share) for at, share in found}


def _counted(maps: list[RowMap], at: RowMap | None, share: PersonWeight) -> int | None:
    """Return the index of the map whose present rows count: that of the weights where there are any."""
    by = at if share.of is None else share.of
    return None if by is None else maps.index(by)


def _share(maps: list[RowMap], at: RowMap | None, share: PersonWeight) -> str:
    place = _counted(maps, at, share)
    return f"a{'n' if place is None else place}x{share.G}x{share.cap or 0}{'' if share.of is None else 'w'}"


def _terms(frame: Any, maps: list[RowMap], terms: list[SumTerm], *, kept: bool) -> Any:
    """Add the columns of terms, then of limbs, in stages, so that an engine computes each once."""
    if not terms:
        return frame
    made = [_term(one, maps) for one in terms]
    if kept:
        made = [nw.when(nw.col("k") == ex.whole(1)).then(one).otherwise(ex.whole(0)) for one in made]
    frame = frame.with_columns(*(one.alias(f"t{j}") for j, one in enumerate(made)))
    return _limbs(frame, {f"t{j}": len(_names(j, one)) for j, one in enumerate(terms)})


def _term(one: SumTerm, maps: list[RowMap]) -> Any:
    """Return what one row adds to the sum of a term."""
    own: Any = None
    if one.rowmap is not None:
        i = maps.index(one.rowmap)
        own = ex.term(one.polynomial, one.rowmap, f"v{i}", f"s{i}")
    if one.weight is None:
        return own
    if isinstance(one.weight, RowMap):
        i = maps.index(one.weight)
        weight = ex.term(one.weight_polynomial, one.weight, f"v{i}", f"s{i}")
    else:
        weight = ex.evaluate(one.weight_polynomial, _share(maps, one.rowmap, one.weight))
    return weight if own is None else own * weight


def _limbs(frame: Any, limbs: Mapping[str, int]) -> Any:
    """Split terms as t = sum_k LIMB**k l_k with 0 <= l_k < LIMB, except for the highest limb; `limbs`: how many."""
    for k in range(1, max(limbs.values())):
        rest = {name: name if k == 1 else f"{name}l{k - 1}" for name, number in limbs.items() if k < number}
        frame = frame.with_columns(*(ex.high(column).alias(f"{name}l{k}") for name, column in rest.items()))
        low = {name: nw.col(column) - nw.col(f"{name}l{k}") * ex.whole(ex.LIMB) for name, column in rest.items()}
        frame = frame.with_columns(*(one.alias(f"{name}l{k - 1}") for name, one in low.items()))
    return frame


def _level(key: KeyMap, column: str, *, exact: bool) -> Any:
    if key.kind.startswith("quality"):
        return ex.quality(key, column)
    if key.constant:  # its index, so that the first level is the least; missing cells have none yet
        return ex.place(replace(key, missing=None), column)
    if _textual(key):
        return nw.col(column)
    found = ex.binned(key, column) if key.edges else ex.code(key, column, exact=exact)
    if not exact or key.missing is None or (key.missing >= len(key.levels) and key.beyond is None):
        return found
    # a person's rows of one cell are one group; bins are their own levels, and so are cells beyond them
    there = ex.real(float(key.missing if key.beyond is not None else key.levels[key.missing]))
    return nw.when(found.is_null()).then(there).otherwise(found)


def _fold(
    found: list[dict[str, Any]], keys: Sequence[KeyMap], sums: Sequence[SumTerm], terms: list[SumTerm], counted: str
) -> tuple[int, dict[tuple[int, ...], list[int]]]:
    """Fold groups into public cells: return the number of rows, and the sums of cells that have rows."""
    place = {one: j for j, one in enumerate(terms)}
    wanted = [_names(place[one], one) if one in place else (counted,) for one in sums]
    cells: dict[tuple[int, ...], list[int]] = {}
    lookups = [lookup_of(key) for key in keys]
    rows = 0
    for group in found:
        # null where an aggregate of no rows gives no number
        rows += int(group["rows"] or 0)
        cell = _place(group, keys, lookups)
        if cell is None:
            continue
        into = cells.setdefault(cell, [0] * len(sums))
        for i, names in enumerate(wanted):
            into[i] += _joined(group, names)
    return rows, cells


def _place(
    group: Mapping[str, Any], keys: Sequence[KeyMap], lookups: Sequence[Mapping[Any, int]]
) -> tuple[int, ...] | None:
    """Return the public cell of a group, or None."""
    # several groups may be one cell: all unlisted values share the level of missing cells, where it is declared
    cell = [lookup.get(group[f"g{i}"], keys[i].missing) for i, lookup in enumerate(lookups)]
    known = [i for i in cell if i is not None]
    return tuple(known) if len(known) == len(cell) else None


def _joined(group: Mapping[str, Any], names: tuple[str, ...]) -> int:
    """Join the limbs of a sum to a Python integer; 0 for no rows."""
    total = 0
    for name in names:
        # in Python integers, which cannot overflow: the total may exceed 64 bits
        total = total * ex.LIMB + int(group[name] or 0)
    return total


def lookup_of(key: KeyMap) -> dict[Level | float, int]:
    """Return the index of each level by its value in a group: text or its place from 1, numbers as float64."""
    if key.constant:
        return {float(i): i for i in range(len(key.levels))}
    if _textual(key):
        # an engine answers with the text or with its place from 1, see `Reading`
        return {**{level: i for i, level in enumerate(key.levels)}, **{i + 1: i for i in range(len(key.levels))}}
    found: dict[Level | float, int] = {float(level): i for i, level in enumerate(key.levels)}
    if key.beyond is not None:
        found |= {float(i): i for i in range(key.regular, key.size)}
    return found


def _textual(key: KeyMap) -> bool:
    return isinstance(key.levels[0], str)


def _how(at: RowMap) -> How:
    return "date" if at.kind == "date" else "boolean" if at.kind == "boolean" else "number"


def key_reading(key: KeyMap) -> Reading:
    """Return how a column to group by is read."""
    if key.kind.startswith("quality"):
        hows: dict[str, How] = {"quality-text": "listed", "quality-date": "date", "quality-boolean": "boolean"}
        return Reading(key.source, hows.get(key.kind, "number"), tuple(map(str, key.codes)))
    if _textual(key):
        return Reading(key.source, "index" if key.constant else "text", tuple(str(level) for level in key.levels))
    if key.kind == "bins-date":
        return Reading(key.source, "date")
    return Reading(key.source, "boolean" if isinstance(key.levels[0], bool) else "number")


def cell_reading(cell: ColumnCell) -> Reading:
    """Return how a column of a condition is read."""
    if cell.key is not None:
        textual = _textual(cell.key)
        return Reading(cell.source, "index", tuple(map(str, cell.key.levels))) if textual else key_reading(cell.key)
    return Reading(cell.source, "date" if cell.kind == "date" else "boolean" if cell.kind == "boolean" else "number")
