"""Counts, sums, means and variances by noisy integer moments.  INSIDE the wall.

Definition
    Rows are mapped to integers v in {0..G} (`tacit.rowmap`), turned into the vector of an integer form
    (`moment_forms`), and added up, in each cell of `by`.  Public: schema, query, relation, price, and under
    replace-one the number of rows.  Neighbours: one row replaced, or one row added or removed.
Sensitivity
    That of the form, one for each column, proven beside it over all pairs of rows.
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the column's equal share of the price.
Cost
    Shares add up to the price: columns are released side by side (basic composition; Gaussian: sums of rho).
Failures
    None depends on a row: cells that cannot be read are missing, every cell of the public levels is released, empty
    or not.  A failure of the machine is the curator's to hide.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final

from tacit.curator.source import Source
from tacit.errors import QueryError
from tacit.mechanisms import moment_forms as forms
from tacit.mechanisms.moment_forms import Form
from tacit.noise.laws import Law
from tacit.privacy import Cost, noise_for
from tacit.queries import Count, Mean, Sum, Variance
from tacit.release import Cells, Grid, Levels
from tacit.rowmap import Aggregate, KeyMap, RowMap
from tacit.rowmap import Sum as Term
from tacit.schema import Date, Schema
from tacit.schema.rowmaps import keymap, rowmap

VERSION: Final = "moments/1"
KIND: Final = "moments"
MOST_CELLS: Final = 1_000_000

Question = Count | Sum | Mean | Variance


@dataclass(frozen=True)
class Column:
    """What is released of one column (or of the rows themselves, for `Count`): public facts only."""

    label: str
    form: Form
    rowmap: RowMap | None
    grid: Grid | None
    law: Law
    cost: Cost


@dataclass(frozen=True)
class Design:
    """A query made concrete from public facts: everything but the data and the noise."""

    query: Question
    neighbors: str
    rows: int | None
    keys: tuple[KeyMap, ...]
    columns: tuple[Column, ...]
    cost: Cost

    @property
    def levels(self) -> Levels:
        """Public labels of `by`, one entry a column."""
        return tuple((key.column, key.labels) for key in self.keys)

    @property
    def cells(self) -> int:
        """Number of cells."""
        product = 1
        for key in self.keys:
            product *= key.size
        return product


# Definition ---------------------------------------------------------------------------------------------------------


def design(query: Question, schema: Schema, *, neighbors: str, rows: int | None, cost: Cost) -> Design:
    """Choose forms and noise from public facts; QueryError where the question cannot be asked."""
    kind = type(query).__name__
    if schema.unit is not None:
        message = f"{kind}: the schema has a PrivacyUnit ({schema.unit!r}); per-person answers are not in this version."
        raise QueryError(message, code="Q30", hint="one row for each person, and a schema without PrivacyUnit")
    keys = tuple(keymap(schema, name) for name in query.by)
    shape = Design(query, neighbors, rows, keys, (), cost)
    if shape.cells > MOST_CELLS:
        message = f"{kind}: by= makes {shape.cells:,} cells; at most {MOST_CELLS:,} are released."
        raise QueryError(message, code="Q31", hint="fewer columns in by=")
    if isinstance(query, Count):
        columns = (_count(shape, schema),)
    else:
        share = cost if len(query.columns) == 1 else cost.share(Fraction(1, len(query.columns)))
        columns = tuple(_column(shape, schema, name, share) for name in query.columns)
    return replace(shape, columns=columns)


def _count(shape: Design, schema: Schema) -> Column:
    leaves = any(_leaves(schema, key) for key in shape.keys)
    if shape.neighbors == "replace-one" and shape.cells == 1 and not leaves:
        raise QueryError(
            "Count: under replace-one the number of all rows is public, and needs no release.",
            code="Q32",
            hint='curator.rows, or Count(by="sex")',
        )
    form = forms.count(shape.cells, shape.neighbors, leaves)
    return Column("", form, None, None, noise_for(form.l1, form.l2_squared, shape.cost), shape.cost)


def _leaves(schema: Schema, key: KeyMap) -> bool:
    """Whether a row can be in no cell of this key: its value may be missing or unlisted, and that is no level."""
    return key.missing is None


def _column(shape: Design, schema: Schema, name: str, share: Cost) -> Column:
    fourth = isinstance(shape.query, Variance)
    if isinstance(shape.query, Sum) and name in schema and isinstance(schema[name], Date):
        raise QueryError(f"column {name!r} of Sum: dates cannot be added up.", code="Q33", hint=f"Mean({name!r})")
    at = rowmap(schema, name)
    if fourth:
        at = coarse(at)
    form = choose(at, share.noise, neighbors=shape.neighbors, grouped=bool(shape.keys), fourth=fourth)
    for polynomial in form.polynomials:
        polynomial.check(at.G)
    column = schema[name]
    missing = "exclude" if at.missing is None else str(getattr(column, "missing", ""))
    units = "days since 1970-01-01" if at.kind == "date" else getattr(column, "units", None)
    grid = Grid(at.kind, at.lower, at.upper, at.G, units, missing)
    return Column(name, form, at, grid, noise_for(form.l1, form.l2_squared, share), share)


# Sensitivity --------------------------------------------------------------------------------------------------------


def choose(at: RowMap, noise: forms.Noise, *, neighbors: str, grouped: bool, fourth: bool = False) -> Form:
    """The form of law 4, from public facts: the plain ones never where a record can enter or leave a cell."""
    if fourth:
        return forms.bernstein(at.G, neighbors)
    binary = at.G == 1
    if grouped or neighbors == "add-remove":
        return forms.binary_group(neighbors) if binary else forms.group(at.G, noise, neighbors)
    if at.missing is None:
        return forms.binary_exclusion(noise) if binary else forms.exclusion(at.G, noise)
    return forms.binary_plain() if binary else forms.plain(at.G, noise)


def coarse(at: RowMap) -> RowMap:
    """A grid of at most COARSE steps, for fourth powers; a narrow integer column keeps its exact steps."""
    steps = min(at.steps, forms.COARSE)
    return replace(at, steps=steps, factor=1, missing=None) if at.missing is None else _coarse_missing(at, steps)


def _coarse_missing(at: RowMap, steps: int) -> RowMap:
    assert at.missing is not None
    return replace(at, steps=steps, factor=1, missing=(2 * at.missing * steps + at.G) // (2 * at.G))


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  The exact integers, one tuple of cells a column, before noise: never to be shown."""
    terms: list[Term] = []
    for column in shape.columns:
        terms += [Term(column.rowmap, polynomial) for polynomial in column.form.polynomials]
    found = source.aggregate(shape.keys, terms)
    check_rows(shape, found)
    answers: list[Cells] = []
    start = 0
    for column in shape.columns:
        stop = start + len(column.form.polynomials)
        answers.append(tuple(column.form.assemble(cell[start:stop]) for cell in found.cells))
        start = stop
    return tuple(answers)


def check_rows(shape: Design, found: Aggregate) -> None:
    """The public number of rows is still that of the table; otherwise the source changed while it was read."""
    if shape.rows is not None and found.rows != shape.rows:
        raise RuntimeError("the table changed while it was read")
