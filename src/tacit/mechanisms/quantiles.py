"""Quantiles by the exponential mechanism: a step for each quantile, and one on either side of it.  INSIDE the wall.

Definition
    Rows (of which `where` holds) are put on a public grid (`tacit.rowmap`, at most STEPS steps); with a PrivacyUnit the
    rows of a person are first reduced to their mean; with `by` too, in each cell, where she weighs the part of her
    present rows that are in it: one in all (`rowmap.Share`).  Released, in each cell of `by` and for each probability
    p: three steps, selected by rank (`mechanisms.ranks`) near p N - c, p N and p N + c, N the number of rows present
    (or their weight) in the cell, or, where it is not public, a noisy number that is released first.  c is a function
    of p, the level, the price and that N.  Public: schema, query, relation, price, and under replace-one the number of
    rows (persons).  Neighbours: one row (person) replaced, or one added or removed.
Sensitivity
    Selections: that of ranks' utilities, whatever the offset; of several cells, and of persons there, as there.
    N: that of a count, of persons in cells that of `weighted_forms.shared`.
Noise
    Selections exactly by `noise.choose`; N by discrete Laplace or rounded normal, as for `moments`.
Cost
    All parts add up to the price.  rho: a selection of rho' has epsilon' = sqrt(8 rho'), rounded down (bounded range,
    `ranks`).  (epsilon, delta): parts share mu**2, and a selection has the range that costs its own.  Pure: epsilons
    add up.  The offset c depends on the released N only: adaptive composition [Bun & Steinke 2016, Lemma 2.3; Dong,
    Roth & Su 2022, Theorem 3.2; Dwork & Roth 2014, Theorem 3.16].
Failures
    None depends on a row: an empty cell and one with all rows at one place are answered alike.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final, cast

from tacit.curator.source import Source
from tacit.errors import QueryError
from tacit.mechanisms import moment_forms, ranks, weighted_forms
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moment_forms import Form
from tacit.mechanisms.moments import SHARE as PARTS
from tacit.mechanisms.moments import Column, Design, keys_of, resized
from tacit.noise.selection import Selection
from tacit.predicates.typed import typed
from tacit.privacy import Cost, noise_for
from tacit.privacy.budget import Neighbors
from tacit.queries import Quantiles
from tacit.release import Cells, Grid, Part
from tacit.rowmap import ONE, RowMap, Share
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
        columns.append(_size(shape, at, grid, cost.share(SIZE)))
    return replace(shape, columns=tuple(columns))


def _size(shape: Design, at: RowMap, grid: Grid, cost: Cost) -> Column:
    """The noisy number of rows, or weight of persons, in each cell."""
    share, column = _share(shape), cast(Quantiles, shape.query).column
    own = replace(moment_forms.count(shape.cells, shape.neighbors, leaves=True), name="size")
    own = own if share is None else weighted_forms.shared(own, share.G)
    return Column(column, own, at, grid, noise_for(own.l1, own.l2_squared, cost), cost, share)


def _share(shape: Design) -> Share | None:
    """What a person weighs in a cell, where she may be in several."""
    return Share(PARTS) if shape.several else None


def _selection(shape: Design, p: Fraction, at: RowMap, grid: Grid, cost: Cost) -> Column:
    """Three selections for one probability, at an equal part of its price each."""
    relation: Neighbors = "replace-one" if shape.neighbors == "replace-one" else "add-remove"
    share, grouped = _share(shape), bool(shape.keys)
    A = 1 if share is None else share.G
    law = ranks.law_for(cost.share(Fraction(1, len(RUNGS))), p, relation, grouped=grouped)
    most, squared = ranks.reached(p, relation, grouped=grouped)
    facts = {"G": at.G, "numerator": p.numerator, "denominator": p.denominator}
    facts |= {} if share is None else {"share": A}
    form = Form("ranks", facts, (ONE,), ((1,),) * len(RUNGS), A * most, A * A * squared)
    return Column(cast(Quantiles, shape.query).column, form, at, grid, cast(Any, Selection(law.rate / A)), cost, share)


def reach(column: Column, size: float, size_variance: float, level: float) -> int:
    """C, in ranks: the level's point of sampling and selection error together, and one scale of the selection more.

    The rank of a selection is off by about a Laplace variable, of scale 1 / (b rate), where rows are dense: the points
    of both laws are added in quadrature.  Sampling: N p (1 - p), and p**2 times the variance of a noisy N.

    Of persons with weights w <= 1 in a cell, N their sum and q the quantile: the sum of w ([v <= q] - p) has mean 0 and
    a variance of at most E sum of w**2 ([v <= q] - p)**2 <= E sum of w ([v <= q] - p)**2 = E N p (1 - p): the same, and
    a bound, attained where everybody is in one cell.
    """
    facts = column.form.parameters
    p = facts["numerator"] / facts["denominator"]
    z = NormalDist().inv_cdf(0.5 + level / 2)
    variance = max(size, 1.0) * p * (1 - p) + p * p * size_variance
    scale = float(column.law.scale) / (facts["denominator"] * facts.get("share", 1))
    return math.ceil(math.hypot(z * math.sqrt(variance), -math.log(1 - level) * scale) + scale)


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  N where it is not public, and then the selections, each protected as it is made."""
    return released(shape, exact(shape, source), ranks.select, protect)


def exact(shape: Design, source: Source) -> tuple[dict[int, int], ...]:
    """READS ROWS.  {step: rows, or weight of persons} of each cell: never to be shown."""
    column = shape.columns[0]
    assert column.rowmap is not None
    found = source.ranked(column.rowmap, shape.keys, shape.unit, shape.where, cast("Share | None", column.weight))
    counted = shape.rows is not None and column.weight is None  # a person in several cells is no one entry
    if counted and found.rows != shape.rows:
        raise RuntimeError("the table changed while it was read")
    return found.cells


def released(shape: Design, cells: Sequence[Mapping[int, int]], draw: Any, noise: Any) -> tuple[Part, ...]:
    """The parts from {step: weight} of each cell; `draw` (of runs, by a law) and `noise` protect, or simulate."""
    chosen, sizes = split(shape)
    level = cast(Quantiles, shape.query).level
    size, variance, last = [float(shape.rows or 0)] * len(cells), 0.0, list[Part]()
    if sizes is not None:
        A = sizes.form.parameters.get("share", 1)
        noisy: Cells = noise(tuple((sum(counts.values()),) for counts in cells), sizes.law)
        size, variance = [max(n / A, 0.0) for (n,) in noisy], sizes.law.variance() / A**2
        last.append(part_of(sizes, noisy))
    made: list[Part] = []
    for column in chosen:
        far = [reach(column, n, variance, level) for n in size]
        steps = tuple(
            tuple(draw(utilities(column, counts, c * rung), column.law) for rung in RUNGS)
            for counts, c in zip(cells, far, strict=True)
        )
        made.append(part_of(column, steps))
    return (*made, *last)


def utilities(column: Column, counts: Mapping[int, int], offset: int) -> ranks.Runs:
    """Those of a selection near rank p N + offset, in rows or persons."""
    facts = column.form.parameters
    p = Fraction(facts["numerator"], facts["denominator"])
    return ranks.utilities(counts, facts["G"] + 1, p, offset * facts.get("share", 1))


def split(shape: Design) -> tuple[tuple[Column, ...], Column | None]:
    """Columns of selections, one a probability, and that of the numbers of rows where they are not public."""
    last = shape.columns[-1]
    return (shape.columns, None) if last.form.name == "ranks" else (shape.columns[:-1], last)


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
