"""Quantiles by the exponential mechanism: a step for each quantile, and one on either side of it.  INSIDE the wall.

Definition
    Rows are put on a public grid (`tacit.rowmap`, at most STEPS steps).  Released, for each probability p: three steps,
    selected by rank (`mechanisms.ranks`) near p N - c, p N and p N + c, N the number of present rows, or, where it is
    not public, a noisy number that is released first.  c is a function of p, the level, the price and that N.  Public:
    schema, query, relation, price, and under replace-one the number of rows.  Neighbours: one row replaced, or one row
    added or removed.
Sensitivity
    Selections: that of ranks' utilities, whatever the offset.  N: 1.
Noise
    Selections exactly by `noise.choose`; N by discrete Laplace or rounded normal, as for `moments`.
Cost
    All parts add up to the price.  rho: a selection of rho' has epsilon' = sqrt(8 rho'), rounded down (bounded range,
    `ranks`).  Pure: epsilons add up.  The offset c depends on the released N only: adaptive composition [Bun & Steinke
    2016, Lemma 2.3; Dwork & Roth 2014, Theorem 3.16].
Failures
    None depends on a row: an empty table and one with all rows at one place are answered alike.
"""

from __future__ import annotations

import math
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final, cast

from tacit.curator.source import Source
from tacit.errors import QueryError
from tacit.mechanisms import ranks
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moment_forms import Form
from tacit.mechanisms.moments import Column, Design, resized
from tacit.noise.selection import Selection
from tacit.privacy import Cost, noise_for
from tacit.privacy.budget import Neighbors
from tacit.queries import Quantiles
from tacit.release import Grid, Part
from tacit.rowmap import ONE, RowMap
from tacit.schema import Schema
from tacit.schema.rowmaps import rowmap, unit_of

VERSION: Final = "quantiles/1"
KIND: Final = "quantiles"
STEPS: Final = 2**12
"""More steps would be finer, and would draw selections away from the rows where these are few."""
SIZE: Final = Fraction(1, 20)
"""Part of the price that N takes where it is not public."""
RUNGS: Final = (-1, 0, 1)


# Definition ---------------------------------------------------------------------------------------------------------


def design(query: Quantiles, schema: Schema, *, neighbors: Neighbors, rows: int | None, cost: Cost) -> Design:
    """Grid, prices and laws from public facts; QueryError where the column has none."""
    if unit_of(schema) is not None:
        message = "Quantiles: the schema has a PrivacyUnit; quantiles of persons are not in this version."
        raise QueryError(message, code="Q73", hint="one row for each person")
    at = resized(rowmap(schema, query.column), STEPS, fine=False)
    missing = "exclude" if at.missing is None else str(getattr(schema[query.column], "missing", ""))
    units = "days since 1970-01-01" if at.kind == "date" else getattr(schema[query.column], "units", None)
    grid = Grid(at.kind, at.lower, at.upper, at.G, units, missing)
    public = rows is not None and at.missing is not None
    paid = cost if public else cost.share(1 - SIZE)
    each = paid.share(Fraction(1, len(query.probs)))
    columns = [_selection(query.column, p, at, grid, neighbors, each) for p in query.probs]
    if not public:
        own = Form("size", {"G": 1}, (ONE,), ((1,),), 1, 1)
        small = cost.share(SIZE)
        columns.append(Column(query.column, own, at, grid, noise_for(1, 1, small), small))
    return Design(query, neighbors, rows, (), tuple(columns), cost, kind=KIND, mechanism=VERSION)


def _selection(name: str, p: Fraction, at: RowMap, grid: Grid, neighbors: Neighbors, cost: Cost) -> Column:
    """Three selections for one probability, at an equal part of its price each."""
    part = Fraction(1, len(RUNGS))
    pure = cost.noise == "laplace"
    epsilon = (cost.epsilon or Fraction(0)) * part if pure else ranks.epsilon_for(cost.zcdp * part)
    law = ranks.law_of(epsilon, p, neighbors)
    most = ranks.sensitivity(p, neighbors)
    facts = {"G": at.G, "numerator": p.numerator, "denominator": p.denominator}
    form = Form("ranks", facts, (ONE,), ((1,),) * len(RUNGS), most, most * most)
    return Column(name, form, at, grid, cast(Any, law), cost)


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
    query, at = cast(Quantiles, shape.query), shape.columns[0].rowmap
    assert at is not None
    found = source.steps(at)
    if shape.rows is not None and sum(found.values()) != shape.rows:
        raise RuntimeError("the table changed while it was read")
    counts = present(found, at)
    chosen, sizes = split(shape)
    size, variance, made = float(shape.rows or 0), 0.0, list[Part]()
    if sizes is not None:
        noisy = protect(((sum(counts.values()),),), sizes.law)
        size, variance = max(float(noisy[0][0]), 0.0), sizes.law.variance()
        made.append(part_of(sizes, noisy))
    for column in reversed(chosen):
        c = reach(column, size, variance, query.level)
        steps = tuple((select(counts, column, c * rung),) for rung in RUNGS)
        made.insert(0, part_of(column, steps))
    return tuple(made)


def split(shape: Design) -> tuple[tuple[Column, ...], Column | None]:
    """Columns of selections, one a probability, and that of N where it is not public."""
    last = shape.columns[-1]
    return (shape.columns, None) if last.form.name == "ranks" else (shape.columns[:-1], last)


def select(counts: dict[int, int], column: Column, offset: int) -> int:
    """One step near rank p N + offset."""
    facts = column.form.parameters
    p = Fraction(facts["numerator"], facts["denominator"])
    return ranks.select(ranks.utilities(counts, facts["G"] + 1, p, offset), cast(Selection, column.law))


def present(found: dict[int, int], at: RowMap) -> dict[int, int]:
    """Rows at each step: what is absent left out, or at the declared place."""
    counts = {min(step, at.steps): rows for step, rows in found.items() if step >= 0}
    if at.missing is not None and -1 in found:
        place = at.missing // at.factor
        counts[place] = counts.get(place, 0) + found[-1]
    return counts


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
