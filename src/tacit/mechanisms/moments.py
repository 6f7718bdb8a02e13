"""Counts, sums, means and variances by noisy integer moments.  INSIDE the wall.

Definition
    Rows are mapped to integers v in {0..G} (`tacit.rowmap`), turned into the vector of an integer form
    (`moment_forms`), and added up, in each cell of `by`; rows for which `where` does not hold are absent.  With a
    PrivacyUnit the rows of a person are first reduced to one: the person's mean, rounded to the grid, in each cell that
    the person has rows in (in one, where the levels of `by` are constant: the first that any of her rows has); with
    weights, a person weighs the mean of her rows' weights.  Public: schema, query,
    relation, price, and under replace-one the number of rows (persons).  Neighbours: one row replaced, or one added or
    removed; with a PrivacyUnit, one person with all rows.
Sensitivity
    That of the form, one for each column, proven beside it over all pairs of rows; of persons as of rows, a reduced
    person being a row; with several cells or weights, `weighted_forms`.
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
from typing import Any, Final, cast

from tacit.curator.source import Source
from tacit.errors import QueryError
from tacit.mechanisms import moment_forms as forms
from tacit.mechanisms import weighted_forms
from tacit.mechanisms.moment_forms import Form
from tacit.noise.laws import Law
from tacit.predicates.computed import Computed
from tacit.predicates.typed import Predicate, typed
from tacit.privacy import Cost, noise_for
from tacit.queries import Count, Mean, Quantiles, Query, Sum, Variance
from tacit.release import Axis, Cells, Grid, Levels, Variable
from tacit.rowmap import GRID, ONE, Aggregate, KeyMap, RowMap, Share, Unit
from tacit.rowmap import Sum as Term
from tacit.schema import Date, Schema
from tacit.schema.rowmaps import binmap, keymap, most_rows, rowmap, unit_of, weightmap

VERSION: Final = "moments/1"
KIND: Final = "moments"
MOST_CELLS: Final = 1_000_000
SHARE: Final = 2**10
"""A person's weight over the cells that she has rows in is given out in so many parts."""

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
    weight: RowMap | Share | None = None
    weight_grid: Grid | None = None
    key: KeyMap | None = None
    """Of a question about quality: the class of each cell."""

    @property
    def terms(self) -> tuple[Term, ...]:
        """What is added up, one sum for each polynomial of the form."""
        weights = self.form.weights or (ONE,) * len(self.form.polynomials)
        weight = self.weight if self.form.weights else None
        return tuple(Term(self.rowmap, p, weight, q) for p, q in zip(self.form.polynomials, weights, strict=True))


@dataclass(frozen=True)
class Design:
    """A query made concrete from public facts: everything but the data and the noise."""

    query: Query[Any]
    neighbors: str
    rows: int | None
    keys: tuple[KeyMap, ...]
    columns: tuple[Column, ...]
    cost: Cost
    unit: Unit | None = None
    max_rows: int = 1
    where: Predicate | None = None
    kind: str = KIND
    mechanism: str = VERSION
    """Which class of release it makes, and which mechanism, with its version."""
    axes: tuple[Axis, ...] = ()
    """Of a histogram."""
    blocks: object = None
    """Of sample and aggregate: its public facts."""
    variables: tuple[Variable, ...] = ()
    """Of a regression."""
    computed: tuple[Computed, ...] = ()
    """Of sufficient statistics: columns that are not the schema's."""

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


# Definition ---------------------------------------------------------------------------------------------------------


def design(query: Question, schema: Schema, *, neighbors: str, rows: int | None, cost: Cost) -> Design:
    """Choose forms and noise from public facts; QueryError where the question cannot be asked."""
    kind, keys = type(query).__name__, keys_of(query, schema)
    where = None if query.where is None else typed(query.where, schema)
    shape = Design(query, neighbors, rows, keys, (), cost, unit_of(schema), most_rows(schema), where)
    if shape.cells > MOST_CELLS:
        message = f"{kind}: by= makes {shape.cells:,} cells; at most {MOST_CELLS:,} are released."
        raise QueryError(message, code="Q31", hint="fewer columns in by=")
    if isinstance(query, Count):
        columns = (_count(shape, schema) if query.weights is None else _weighted_count(shape, schema),)
    else:
        share = cost if len(query.columns) == 1 else cost.share(Fraction(1, len(query.columns)))
        columns = tuple(_column(shape, schema, name, share) for name in query.columns)
    return replace(shape, columns=columns)


def keys_of(query: Question | Quantiles, schema: Schema) -> tuple[KeyMap, ...]:
    """The public levels of each column of `by`."""
    bins = dict(cast("tuple[tuple[str, object], ...]", query.bins))
    return tuple(binmap(schema, one, bins[one]) if one in bins else keymap(schema, one) for one in query.by)


def _count(shape: Design, schema: Schema) -> Column:
    leaves = shape.where is not None or any(_leaves(schema, key) for key in shape.keys)
    if shape.neighbors == "replace-one" and shape.cells == 1 and not leaves:
        raise QueryError(
            f"Count: under replace-one the number of all {'rows' if shape.unit is None else 'persons'} is public, "
            "and needs no release.",
            code="Q32",
            hint='curator.rows, or Count(by="sex")',
        )
    form = forms.count(shape.cells, shape.neighbors, leaves)
    share: Share | None = None
    if shape.several:
        share = Share(SHARE)
        form = weighted_forms.shared(form, share.G)
    return Column("", form, None, None, noise_for(form.l1, form.l2_squared, shape.cost), shape.cost, share)


def _weighted_count(shape: Design, schema: Schema) -> Column:
    """Total of the weights: private under both relations, whatever is known of the rows."""
    weight = _weight(shape, schema, weighted_forms.COUNTED)
    assert weight is not None
    several = isinstance(weight, Share) and shape.cells > 1 and shape.several
    form = weighted_forms.counted(weight.G, shape.cost.noise, shape.neighbors, cells=shape.cells, several=several)
    for polynomial in form.weights:
        polynomial.check(weight.G)
    law = noise_for(form.l1, form.l2_squared, shape.cost)
    return Column("", form, None, None, law, shape.cost, weight, _weight_grid(weight))


def _leaves(schema: Schema, key: KeyMap) -> bool:
    """Whether a row can be in no cell of this key: its value may be missing or unlisted, and that is no level."""
    return key.missing is None


def _column(shape: Design, schema: Schema, name: str, share: Cost) -> Column:
    if isinstance(shape.query, Sum) and name in schema and isinstance(schema[name], Date):
        raise QueryError(f"column {name!r} of Sum: dates cannot be added up.", code="Q33", hint=f"Mean({name!r})")
    at = rowmap(schema, name)
    weight = _weight(shape, schema, weighted_forms.WEIGHT)
    if weight is not None:
        at = resized(at, weighted_forms.WEIGHT, fine=at.kind != "boolean" or shape.unit is not None)
    elif isinstance(shape.query, Variance):
        at = resized(at, forms.COARSE, fine=shape.unit is not None)
    elif shape.unit is not None:
        at = resized(at, max(at.G, GRID), fine=True)
    form, weight = _form(shape, at, weight, share.noise)
    for polynomial in form.polynomials:
        polynomial.check(at.G)
    missing = "exclude" if at.missing is None else str(getattr(schema[name], "missing", ""))
    units = "days since 1970-01-01" if at.kind == "date" else getattr(schema[name], "units", None)
    grid = Grid(at.kind, at.lower, at.upper, at.G, units, missing)
    law = noise_for(form.l1, form.l2_squared, share)
    return Column(name, form, at, grid, law, share, weight, _weight_grid(weight))


def _weight(shape: Design, schema: Schema, steps: int) -> RowMap | Share | None:
    """Weights of rows on `steps` steps, or of persons by their rows; QueryError Q71, Q72 where there can be none."""
    kind, weights, per = (
        type(shape.query).__name__,
        getattr(shape.query, "weights", None),
        getattr(shape.query, "per", None),
    )
    if per == "row" and shape.unit is None:
        raise QueryError(f"per of {kind}: the schema has no PrivacyUnit.", code="Q71", hint="leave per= out")
    by_rows = per == "row" or isinstance(shape.query, Sum)
    if weights is not None:
        at = weightmap(schema, weights, steps)
        return at if shape.unit is None else Share(steps, shape.max_rows if by_rows else 1, at)
    return Share(steps, shape.max_rows) if shape.unit is not None and by_rows else None


def _weight_grid(weight: RowMap | Share | None) -> Grid | None:
    """Public facts of the weights: from 0 to the cap."""
    at, cap = (weight.of, weight.cap) if isinstance(weight, Share) else (weight, 1)
    if at is not None and cap is not None and weight is not None:
        return Grid("real", 0.0, at.upper * cap, weight.G, missing="exclude" if at.missing is None else "declared")
    return None if cap is None or weight is None else Grid("rows", 0.0, float(cap), weight.G)


# Sensitivity --------------------------------------------------------------------------------------------------------


def choose(
    at: RowMap, noise: forms.Noise, *, neighbors: str, grouped: bool, leaves: bool, fourth: bool = False
) -> Form:
    """The form of law 4, from public facts: the plain ones never where a record can enter or leave a cell.

    `leaves`: a row can be absent, its value missing and left out, or a condition not holding for it.
    """
    if fourth:
        return forms.bernstein(at.G, neighbors)
    binary = at.G == 1
    if grouped or neighbors == "add-remove":
        return forms.binary_group(neighbors) if binary else forms.group(at.G, noise, neighbors)
    if leaves:
        return forms.binary_exclusion(noise) if binary else forms.exclusion(at.G, noise)
    return forms.binary_plain() if binary else forms.plain(at.G, noise)


def _form(
    shape: Design, at: RowMap, weight: RowMap | Share | None, noise: forms.Noise
) -> tuple[Form, RowMap | Share | None]:
    """The form of one column, and the weight that its sums are taken with."""
    grouped = bool(shape.keys)
    if weight is not None:
        several = shape.several and isinstance(weight, Share)  # weights of a person: at most A over all cells
        return weighted_forms.weighted(at.G, weight.G, noise, shape.neighbors, several=several), weight
    fourth = isinstance(shape.query, Variance)
    leaves = at.missing is None or shape.where is not None
    form = choose(at, noise, neighbors=shape.neighbors, grouped=grouped, leaves=leaves, fourth=fourth)
    if not shape.several:
        return form, None
    return weighted_forms.shared(form, SHARE), Share(SHARE)


def resized(at: RowMap, G: int, *, fine: bool) -> RowMap:
    """The same column on at most G steps; `fine`: each of few steps is made of several, for values between them."""
    steps = min(at.steps, G)
    factor = G // steps if fine else 1
    made = replace(at, steps=steps, factor=factor)
    return made if at.missing is None else replace(made, missing=(2 * at.missing * made.G + at.G) // (2 * at.G))


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  The exact integers, one tuple of cells a column, before noise: never to be shown."""
    terms: list[Term] = []
    for column in shape.columns:
        terms += column.terms
    found = source.aggregate(shape.keys, terms, shape.unit, shape.where)
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
    if shape.unit is not None and shape.keys:
        return  # a person may stand in several cells: persons were counted when the table was opened
    if shape.rows is not None and found.rows != shape.rows:
        raise RuntimeError("the table changed while it was read")
