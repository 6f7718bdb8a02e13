"""Design a bootstrap: grid, encoding, and the noise of each replicate, from the question and public facts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from math import prod
from typing import Any, Final

from tacit.errors import QueryError
from tacit.method.bootstrap.price import bought
from tacit.method.bootstrap.query import Bootstrap
from tacit.method.shared import encoding as forms
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.encoding_choice import choose, choose_total
from tacit.method.shared.group_keys import keys_of
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.statistic_columns import AskedStatistics, mapped
from tacit.method.shared.weighted_encoding import SHARE, shared
from tacit.noise.laws import RoundedNormal
from tacit.privacy import Cost
from tacit.privacy.calibration import root_up
from tacit.release.parts import Grid
from tacit.release.query_checks import of_numbers
from tacit.rows.row_map import GRID, PersonWeight, RowMap
from tacit.schema import Date, Schema
from tacit.schema.predicates.computed_columns import Computed
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import column_of, rowmap

VERSION: Final = "bootstrap/1"


KIND: Final = "bootstrap"


FEW: Final = 64
"""Rows of a combination of values, on average, from which numbers of combinations are drawn in place of rows."""
POINTS: Final = 2**12
"""Most steps between the bounds of a column: samples are drawn from the counts of so many values in each cell."""
MOST_NUMBERS: Final = 1_000_000
"""Most noisy integers of one question: cells times replicates times integers of a cell."""
MOST_DRAWN: Final = 2**33
"""Most rows drawn for all replicates together, where each has values of its own: more would take more than minutes."""
MOST_HELD: Final = 2**28
"""Most integers that are held for the different rows of a table, all together: 2 GiB."""
OTHERS: Final = 6
"""Of each of them: its number of rows, pattern, cell, order, draws, and draws by entry."""


def design(query: Bootstrap, public: Public, cost: Cost) -> Measurement:
    """Return the parts of each replicate in turn; QueryError where the question or its price is not allowed.

    The measurement's cost is the approximate part (mu, delta) that the price buys, or the price itself where the ledger
    adds epsilon and adds delta; each column of each replicate has an equal share of it.
    """
    given: Any = query.statistic
    statistic: Any = of_numbers(given, public.schema)
    if statistic.__class__ is not given.__class__:
        text = f"a Bootstrap of the levels of {statistic.column!r}, which nobody listed, has no cells."
        raise QueryError(text, code="Q253", hint=f'"{statistic.column}": Category([…]) in the schema')
    # sufficient statistics have no cells
    keys = keys_of(statistic, public.schema) if hasattr(statistic, "by") else ()
    where = None if statistic.where is None else typed(statistic.where, public.schema)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, keys=keys, where=where)
    _proven(shape, statistic)
    columns, computed = _columns(shape, public.schema, statistic)
    _not_too_many(shape, columns)
    _not_too_long(shape, columns, public.size)
    _not_too_large(shape, columns, public.size)
    part = bought(public.neighbors, shape.rows, query.replicates, cost, whole=public.accounting == "basic")
    share = part.part.share(Fraction(1, query.replicates * len(columns)))
    each: list[PartSpec] = []
    for one in columns:
        # sd = sqrt(p) l2 / mu, rounded up: the vector's mu is then at most the one whose cost was certified
        law = RoundedNormal(root_up(len(columns) * Fraction(one.form.l2_squared) / part.mu_squared))
        each.append(
            PartSpec(one.label, one.form, one.at, one.grid, law, share, PersonWeight(SHARE) if one.parted else None)
        )
    return replace(shape, columns=tuple(each) * query.replicates, computed=computed, cost=part.part)


def vector(shape: Measurement) -> tuple[PartSpec, ...]:
    """Return the parts of one replicate: its columns, of which no two have one label."""
    first = shape.columns[0].label
    again = (i for i, one in enumerate(shape.columns) if i and one.label == first)
    return shape.columns[: next(again, len(shape.columns))]


@dataclass(frozen=True)
class Summed:
    """One column of the statistic, without noise.  parted: whether persons have a part of their weight in each cell."""

    label: str
    form: Encoding
    at: RowMap | None
    grid: Grid | None
    parted: bool


def _proven(shape: Measurement, statistic: Any) -> None:
    """Raise QueryError Q122 where the cost of a bootstrap is not proven."""
    kind = type(statistic).__name__
    text = hint = None
    if shape.cost.delta is None:
        text = f"the price of a Bootstrap is {shape.cost}: it is no pair (epsilon, delta), nor a share of one."
        hint = "epsilon=1, delta=1e-6"
    elif shape.unit is not None and kind == "Sum":
        text, hint = "a Bootstrap draws persons, and a Sum counts their rows.", "the mean of persons: Mean"
    elif shape.rows == 0:
        text, hint = "a table without rows has no bootstrap.", "a table with rows"
    if text is not None and hint is not None:
        raise QueryError(text, code="Q122", hint=hint)


def _not_too_many(shape: Measurement, columns: Sequence[Summed]) -> None:
    """Raise QueryError Q31 for more noisy integers than are released."""
    query: Any = shape.query
    numbers = shape.cells * query.replicates * sum(len(one.form.matrix) for one in columns)
    if numbers > MOST_NUMBERS:
        message = f"Bootstrap: {query.replicates} replicates of {shape.cells:,} cells are {numbers:,} integers."
        raise QueryError(message, code="Q31", hint="fewer columns in by=, or fewer replicates")


def _not_too_long(shape: Measurement, columns: Sequence[Summed], rows: int | None) -> None:
    """Raise QueryError Q31 where too many rows would be drawn; `rows`: about how many there are, None if private.

    Of few combinations of values their numbers are drawn, whatever the rows (`mechanism_resampling`).
    """
    query: Any = shape.query
    if rows is None or _few(shape, columns, rows) or rows * query.replicates <= MOST_DRAWN:
        return
    message = f"Bootstrap: {query.replicates} replicates of {rows:,} rows of values of their own would take too long."
    raise QueryError(message, code="Q31", hint="fewer replicates, or fewer columns in one question")


def _not_too_large(shape: Measurement, columns: Sequence[Summed], rows: int | None) -> None:
    """Raise QueryError Q300 where more different rows may have to be held in memory than there is room for.

    A public bound: no more combinations of values are held than there are, nor than rows; of persons in several cells,
    who are held each, none has more entries than rows, or than cells.
    """
    if rows is None:
        return
    most = rows * min(shape.max_rows, shape.cells) if shape.several else min(rows, _combinations(shape, columns))
    # of each the value of every column (and its weight), what it adds, how often it is, is drawn, and where it belongs
    each = len(columns) * (2 if shape.several else 1) + sum(len(one.form.matrix) for one in columns) + len(shape.keys)
    # drawn row by row, every row has the number of its combination
    held = most * (each + OTHERS) + (0 if _few(shape, columns, rows) else rows)
    if held > MOST_HELD:
        message = f"Bootstrap: up to {most:,} different rows of {len(columns)} columns would be held in memory."
        raise QueryError(message, code="Q300", hint="fewer columns in one question, or a Bootstrap for each")


def _few(shape: Measurement, columns: Sequence[Summed], rows: int) -> bool:
    """Return whether there are certainly so few combinations that none is drawn row by row."""
    return not shape.several and rows >= FEW * _combinations(shape, columns)


def _combinations(shape: Measurement, columns: Sequence[Summed]) -> int:
    """Return how many combinations of cells and values there are."""
    # one combination more for rows in no cell, and one value more for missing ones
    return (shape.cells + 1) * prod(one.at.steps + 2 for one in columns if one.at is not None)


def _columns(shape: Measurement, schema: Schema, statistic: Any) -> tuple[tuple[Summed, ...], tuple[Computed, ...]]:
    """Return grids and encodings, those of the plain question with normal noise on few steps; and computed columns."""
    if type(statistic).__name__ == "Count":
        return (_counted(shape),), ()
    if type(statistic).__name__ == "SufficientStatistics":
        return _statistics(shape, schema, statistic)
    found: list[Summed] = []
    for name in statistic.columns:
        total = type(statistic).__name__ == "Sum"
        if total and name in schema and isinstance(schema[name], Date):
            raise QueryError(f"column {name!r} of Sum: dates cannot be added up.", code="Q33", hint=f"Mean({name!r})")
        at = rowmap(schema, name)
        told = str(getattr(schema[name], "missing", "")), getattr(schema[name], "units", None)
        found.append(_summed(shape, at, name, *told, moved=total))
    return tuple(found), ()


def _statistics(
    shape: Measurement, schema: Schema, asked: AskedStatistics
) -> tuple[tuple[Summed, ...], tuple[Computed, ...]]:
    """Return the columns of sufficient statistics, and how they are computed."""
    column = column_of(schema, asked.what)
    missing = str(getattr(column, "missing", "exclude"))
    found: list[Summed] = []
    made: list[Computed] = []
    for one in asked.statistics or ():
        at, statistic, computed = mapped(asked, schema, one)
        # a statistic has the units of the column only where it is the column
        own = statistic.outer == "itself" and statistic.inner == "row"
        units = getattr(column, "units", None) if own else None
        found.append(_summed(shape, at, statistic.spelled(asked.what), missing, units, moved=False))
        made += [] if computed is None else [computed]
    return tuple(found), tuple(made)


def _counted(shape: Measurement) -> Summed:
    """Return the encoding of counts; QueryError Q32 where the number of all rows is public."""
    leaves = shape.where is not None or any(key.missing is None for key in shape.keys)
    if shape.neighbors == "replace-one" and shape.cells == 1 and not leaves:
        text = "Count: under replace-one the number of all rows is public, and needs no release."
        raise QueryError(text, code="Q32", hint='curator.rows, or Count(by="sex")')
    form = forms.count(shape.cells, shape.neighbors, leaves)
    return Summed("", shared(form, SHARE) if shape.several else form, None, None, shape.several)


def _summed(shape: Measurement, at: RowMap, label: str, missing: str, units: str | None, *, moved: bool) -> Summed:
    """Return one column of numbers; moved: of which the sum is asked for, from 0."""
    grouped, neighbors = bool(shape.keys), shape.neighbors
    at = coarse(at, persons=shape.unit is not None)
    leaves = at.missing is None or shape.where is not None
    if moved:
        cells = shape.cells
        at, form = choose_total(at, "gaussian", cells=cells, neighbors=neighbors, grouped=grouped, leaves=leaves)
    else:
        form = choose(at, "gaussian", neighbors=neighbors, grouped=grouped, leaves=leaves)
    form = shared(form, SHARE) if shape.several else form
    units = "days since 1970-01-01" if at.kind == "date" else units
    grid = Grid(at.kind, at.lower, at.upper, at.G, units, "exclude" if at.missing is None else missing)
    return Summed(label, form, at, grid, shape.several)


def coarse(at: RowMap, *, persons: bool) -> RowMap:
    """Return the same column with at most POINTS steps; of persons, whose means lie between steps, about so many.

    >>> from tacit.schema import Real, Schema
    >>> made = coarse(rowmap(Schema({"x": Real(0, 1)}), "x"), persons=False)
    >>> made.steps, made.G == 2**20
    (4096, True)
    """
    if at.steps <= POINTS and not persons:
        return at
    steps = min(at.steps, POINTS)
    # a multiple of 16, as encodings need it (`encoding.plain`)
    factor = 16 * -(-POINTS // (16 * steps)) if persons else GRID // steps
    factor = 1 if persons and steps == POINTS else factor
    made = replace(at, steps=steps, factor=factor)
    return made if at.missing is None else replace(made, missing=(2 * at.missing * made.G + at.G) // (2 * at.G))
