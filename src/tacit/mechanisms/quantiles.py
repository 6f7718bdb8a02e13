"""Quantiles by the exponential mechanism: a step for each quantile, and one on either side of it.  INSIDE the wall.

Definition
    Rows (of which `where` holds) are put on a public grid (`tacit.rowmap`, at most STEPS steps); with a PrivacyUnit the
    rows of a person are first reduced to their mean.  Released, in each cell of `by` and for each probability p: three
    steps, selected by rank (`mechanisms.ranks`) near p N - c, p N and p N + c, N the number of rows present in the
    cell, or, where it is not public, a noisy number that is released first.  c is a function of p, the level, the price
    and that N.  Public: schema, query, relation, price, and under replace-one the number of rows (persons).
    Neighbours: one row (person) replaced, or one added or removed.
Sensitivity
    Selections: that of ranks' utilities, whatever the offset; of several cells as there.  N: that of a count.
Noise
    Selections exactly by `noise.choose`; N by discrete Laplace or rounded normal, as for `moments`.
Cost
    All parts add up to the price.  rho: a selection of rho' has epsilon' = sqrt(8 rho'), rounded down (bounded range,
    `ranks`).  Pure: epsilons add up.  The offset c depends on the released N only: adaptive composition [Bun & Steinke
    2016, Lemma 2.3; Dwork & Roth 2014, Theorem 3.16].
Failures
    None depends on a row: an empty cell and one with all rows at one place are answered alike.
"""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final, cast

from tacit.curator.source import Source
from tacit.errors import QueryError
from tacit.mechanisms import moment_forms, ranks
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moment_forms import Form
from tacit.mechanisms.moments import Column, Design, keys_of, resized
from tacit.noise.selection import Selection
from tacit.predicates.typed import typed
from tacit.privacy import Cost, noise_for
from tacit.privacy.budget import Neighbors
from tacit.queries import Quantiles
from tacit.release import Cells, Grid, Part
from tacit.rowmap import ONE, RowMap
from tacit.schema import Schema
from tacit.schema.rowmaps import most_rows, rowmap, unit_of

VERSION: Final = "quantiles/2"
KIND: Final = "quantiles"
STEPS: Final = 2**12
"""More steps would be finer, and would draw selections away from the rows where these are few."""
MOST_CELLS: Final = 256
"""Every cell is selected from on its own, in exact arithmetic: about 0.1 s for three quantiles."""
SIZE: Final = Fraction(1, 20)
"""Part of the price that the numbers of rows take where they are not public."""
RUNGS: Final = (-1, 0, 1)


# Definition ---------------------------------------------------------------------------------------------------------


def design(query: Quantiles, schema: Schema, *, neighbors: Neighbors, rows: int | None, cost: Cost) -> Design:
    """Grid, cells, prices and laws from public facts; QueryError where there are none."""
    unit, keys = unit_of(schema), keys_of(query, schema)
    if unit is not None and keys:
        message = "Quantiles: by= with a PrivacyUnit, whose persons may be in several groups, is not in this version."
        raise QueryError(message, code="Q73", hint="where= for one group, or one row for each person")
    where = None if query.where is None else typed(query.where, schema)
    at = resized(rowmap(schema, query.column), STEPS, fine=unit is not None)
    shape = Design(query, neighbors, rows, keys, (), cost, unit, most_rows(schema), where, KIND, VERSION)
    if shape.cells > MOST_CELLS:
        message = f"Quantiles: by= makes {shape.cells:,} cells; at most {MOST_CELLS} are released."
        raise QueryError(message, code="Q31", hint="fewer columns in by=, or fewer bins")
    missing = "exclude" if at.missing is None else str(getattr(schema[query.column], "missing", ""))
    units = "days since 1970-01-01" if at.kind == "date" else getattr(schema[query.column], "units", None)
    grid = Grid(at.kind, at.lower, at.upper, at.G, units, missing)
    public = rows is not None and at.missing is not None and not keys and where is None
    paid = cost if public else cost.share(1 - SIZE)
    each = paid.share(Fraction(1, len(query.probs)))
    columns = [_selection(shape, p, at, grid, each) for p in query.probs]
    if not public:
        own = replace(moment_forms.count(shape.cells, neighbors, leaves=True), name="size")
        small = cost.share(SIZE)
        columns.append(Column(query.column, own, at, grid, noise_for(own.l1, own.l2_squared, small), small))
    return replace(shape, columns=tuple(columns))


def _selection(shape: Design, p: Fraction, at: RowMap, grid: Grid, cost: Cost) -> Column:
    """Three selections for one probability, at an equal part of its price each."""
    relation: Neighbors = "replace-one" if shape.neighbors == "replace-one" else "add-remove"
    law = ranks.law_for(cost.share(Fraction(1, len(RUNGS))), p, relation, grouped=bool(shape.keys))
    most = ranks.sensitivity(p, relation)
    facts = {"G": at.G, "numerator": p.numerator, "denominator": p.denominator}
    form = Form("ranks", facts, (ONE,), ((1,),) * len(RUNGS), most, most * most)
    return Column(cast(Quantiles, shape.query).column, form, at, grid, cast(Any, law), cost)


def reach(column: Column, size: float, size_variance: float, level: float) -> int:
    """C, in ranks: the level's point of sampling and selection error together, and one scale of the selection more.

    The rank of a selection is off by about a Laplace variable, of scale 1 / (b rate), where rows are dense: the points
    of both laws are added in quadrature.  Sampling: N p (1 - p), and p**2 times the variance of a noisy N.
    """
    facts = column.form.parameters
    p = facts["numerator"] / facts["denominator"]
    z = NormalDist().inv_cdf(0.5 + level / 2)
    variance = max(size, 1.0) * p * (1 - p) + p * p * size_variance
    scale = float(column.law.scale) / facts["denominator"]
    return math.ceil(math.hypot(z * math.sqrt(variance), -math.log(1 - level) * scale) + scale)


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  N where it is not public, and then the selections, each protected as it is made."""
    at = shape.columns[0].rowmap
    assert at is not None
    found = source.ranked(at, shape.keys, shape.unit, shape.where)
    if shape.rows is not None and found.rows != shape.rows:
        raise RuntimeError("the table changed while it was read")
    return released(shape, found.cells, select, protect)


def released(shape: Design, cells: Any, draw: Any, noise: Any) -> tuple[Part, ...]:
    """The parts from {v: rows} of each cell; `draw` and `noise` protect, or simulate."""
    chosen, sizes = split(shape)
    level = cast(Quantiles, shape.query).level
    size, variance, last = [float(shape.rows or 0)] * len(cells), 0.0, list[Part]()
    if sizes is not None:
        noisy: Cells = noise(tuple((sum(counts.values()),) for counts in cells), sizes.law)
        size, variance = [max(float(n), 0.0) for (n,) in noisy], sizes.law.variance()
        last.append(part_of(sizes, noisy))
    made: list[Part] = []
    for column in chosen:
        far = [reach(column, n, variance, level) for n in size]
        steps = tuple(
            tuple(draw(counts, column, c * rung) for rung in RUNGS) for counts, c in zip(cells, far, strict=True)
        )
        made.append(part_of(column, steps))
    return (*made, *last)


def split(shape: Design) -> tuple[tuple[Column, ...], Column | None]:
    """Columns of selections, one a probability, and that of the numbers of rows where they are not public."""
    last = shape.columns[-1]
    return (shape.columns, None) if last.form.name == "ranks" else (shape.columns[:-1], last)


def select(counts: dict[int, int], column: Column, offset: int) -> int:
    """One step near rank p N + offset."""
    facts = column.form.parameters
    p = Fraction(facts["numerator"], facts["denominator"])
    return ranks.select(ranks.utilities(counts, facts["G"] + 1, p, offset), cast(Selection, column.law))


def part_of(column: Column, integers: tuple[tuple[int, ...], ...]) -> Part:
    """What is released of a column."""
    form = column.form
    return Part(
        label=column.label,
        form=form.name,
        parameters=dict(form.parameters),
        grid=column.grid,
        integers=integers,
        law=column.law,
        l1=form.l1,
        l2_squared=form.l2_squared,
        cost=column.cost,
    )
