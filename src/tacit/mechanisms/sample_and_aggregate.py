"""Sample and aggregate: the noisy mean of an estimate made in each of k blocks.  INSIDE the wall.

Definition
    Complete rows (of which `where` holds) fall into k blocks by fresh secret labels (`blocks`), of equal size where the
    number n of rows is public: all n rows, those left out too, have seats by a random permutation, and block b has the
    seats s with floor(s k / n) = b (`seats`).  Otherwise labels are independent, with a PrivacyUnit one for all rows of
    a person.  In each block the model's estimate is made from the block's rows alone, corrected for its bias, put into
    the public box and on its grid of G steps; a block without an answer has the public default.
    A `Statistic` stands for the model: any function of a block's rows, each block in a process of its own (`fresh`).
    Released, for each parameter: the sum of w = v - H over the blocks, H = G / 2, and the sum of floor(w**2 / c).
    Public: schema, query, model, box, k, room, relation, price, and under replace-one the number of rows (persons).
Sensitivity
    One block changes: of independent labels the row (person) that comes, goes or is replaced has its own, and all
    others keep theirs (`blocks`).  Of seats, under replace-one: D is C and a row r, D' is C and r'.  The permutation is
    uniform whatever the order of rows, so that the law of D' is also that in which r' has the seat of r, and all of C
    the seats they have in D; only the block of that seat differs, be r or r' left out or not.  Every block counts
    whatever its rows are, so that the sums are those of k values of which one is replaced: form P or Z
    (`moment_forms.plain`), 2H in l1 and in l2 for each parameter.  [Smith 2008, Algorithm 1; theory §2, errata E1, E2]
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the parameter's equal share of the price.
Cost
    Shares add up to the price: parameters are released side by side (basic composition; Gaussian: sums of rho).
    The second moment rides free (theory §9, applied to blocks).
Failures
    A block that is empty, constant, separable or does not converge has the default: never left out, never said (theory
    §2).  The time that blocks take is out of scope.  A function of one's own is trusted to compute only: it has the
    curator's rights, and could write its rows down.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache, partial
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.curator.source import Source
from tacit.curator.source.rows import Rows
from tacit.errors import ModelError, QueryError
from tacit.mechanisms import blocks, fresh, moment_forms, seats
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moments import Column, Design
from tacit.models.likelihood import Likelihood, Order
from tacit.models.statistic import Statistic
from tacit.predicates.numbers import Cell, cell_of
from tacit.predicates.typed import typed
from tacit.privacy import Cost, noise_for
from tacit.queries_blocks import (
    SampleAndAggregate,
    blocks_for,
    price_of_one,
    published_blocks,
    published_for_parties,
)
from tacit.release import Cells, Grid, Part
from tacit.rowmap import GRID
from tacit.schema import Schema
from tacit.schema.rowmaps import most_rows, unit_of

VERSION: Final = "sample-and-aggregate/2"
KIND: Final = "sample-and-aggregate"


@dataclass(frozen=True)
class Plan:
    """Public facts of the blocks: the model, how many blocks, rows that one has room for, the columns that are read.

    rows: of the whole table, where their number is public and blocks are of equal size; else None.
    """

    model: Likelihood | Statistic
    blocks: int
    room: int
    cells: tuple[Cell, ...]
    rows: int | None = None

    @property
    def likelihood(self) -> Likelihood:
        """The model, where it is one: steps are refused of statistics (`SampleAndAggregate`)."""
        return cast(Likelihood, self.model)


# Definition ---------------------------------------------------------------------------------------------------------


def design(
    query: SampleAndAggregate,
    schema: Schema,
    *,
    neighbors: str,
    rows: int | None,
    cost: Cost,
    size_hint: int | None = None,
) -> Design:
    """Blocks, grids and noise from public facts; QueryError where the question cannot be asked."""
    where = None if query.where is None else typed(query.where, schema)
    model = _model(query)
    chosen = [one for one in model.parameters if not query.parameters or one.name in query.parameters]
    p = len(chosen)
    cells = tuple(cell_of(schema, name) for name in query.what)
    if len(cells) != model.columns:
        text = f"what of SampleAndAggregate: {len(cells)} columns for a model of rows of {model.columns}."
        raise QueryError(text, code="Q95", hint=f"{model.columns} columns, in the order of a row")
    size = next((one for one in (query.rows, rows, size_hint) if one is not None), None)
    if size is None:
        text = "SampleAndAggregate: the number of rows is private, and blocks need to know about how many there are."
        raise QueryError(text, code="Q96", hint="rows=10_000, a public guess, or Curator(size_hint=)")
    k = query.blocks or _blocks(query, model, [one.name for one in chosen], size, price_of_one(cost, p))
    _possible(k, size, len(model.parameters))
    unit, most = unit_of(schema), most_rows(schema)
    public = rows if unit is None else None
    room = blocks.capacity(size, k) * most
    plan = Plan(model, k, room if public is None else min(room, seats.room(public, k)), cells, public)
    share = cost if p == 1 else cost.share(Fraction(1, p))
    columns = tuple(column_of(one.name, one.lower, one.upper, k, share) for one in chosen)
    return Design(query, neighbors, rows, (), columns, cost, unit, most, where, KIND, VERSION, blocks=plan)


def _model(query: SampleAndAggregate) -> Likelihood | Statistic:
    """The model, looked at without data; QueryError Q95 where a file has its name alone, ModelError M14 to M16.

    A statistic is tried on rows made up: M22 to M24.
    """
    law = query.model.law
    if law is None:
        text = f"model {query.model.words.get('name')!r} is a function, and a file has its name alone."
        raise QueryError(text, code="Q95", hint="ask from Python, with the function: tc.Model(…), tc.Statistic(…)")
    if isinstance(law, Statistic):
        fresh.check(law)
    else:
        law.check()
    return law


def _blocks(
    query: SampleAndAggregate, model: Likelihood | Statistic, names: list[str], rows: int, epsilon: float
) -> int:
    """How many blocks, from public facts: the model at what stands for a block without an answer (theory §2, §6)."""
    if query.method == "smith":
        return published_blocks(rows, epsilon)
    box, parties = max(one.upper - one.lower for one in model.parameters), query.parties or 1
    if query.method == "chen-sung":
        return published_for_parties(rows, epsilon, parties, box)
    orders = [model.order(name) for name in names]
    second = max(one.v for one in orders), max(one.b for one in orders)
    if query.bias not in ("cox-snell", "none") and not isinstance(model, Statistic):  # which trust no law
        second = second[0], max(second[1], Order().b)
    return blocks_for(rows, epsilon, len(model.parameters), width(model), second, query.parties)


@lru_cache(maxsize=256)
def width(model: Likelihood | Statistic) -> float:
    """The widest box, in standard deviations of an estimate from one row; 1 where the model cannot say."""
    if isinstance(model, Statistic):
        return 1.0
    try:
        variances = np.diag(np.linalg.inv(model.fisher(model.fallback)))
    except (ModelError, np.linalg.LinAlgError):
        return 1.0
    widest = float(((model.upper - model.lower) / np.sqrt(np.maximum(variances, 1e-300))).max())
    return float(f"{widest:.3g}")  # the same on every machine


def _possible(k: int, rows: int, p: int) -> None:
    if k > rows // (p + 1):
        text = f"blocks of SampleAndAggregate: {rows:,} rows are too few for {k:,} blocks with {p} parameters."
        raise QueryError(text, code="Q97", hint=f"blocks={max(2, rows // max(20, 10 * p)):,}".replace(",", "_"))


def column_of(name: str, lower: float, upper: float, k: int, share: Cost) -> Column:
    """A parameter: its form, its grid from the ends of the box, and the law of its share of the price."""
    form = moment_forms.plain(GRID, share.noise)
    form = replace(form, name="blocks", parameters={**form.parameters, "blocks": k})
    law = noise_for(form.l1, form.l2_squared, share)
    return Column(name, form, None, Grid("real", lower, upper, GRID), law, share)


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Exact sums over blocks, and at once their noise; only noisy integers are kept."""
    return protected(shape, of_blocks(shape, source), protect)


def of_blocks(shape: Design, source: Source) -> NDArray[np.float64]:
    """READS ROWS.  The estimates of all blocks, shape (blocks, parameters): never to be shown."""
    plan, query = cast(Plan, shape.blocks), cast(SampleAndAggregate, shape.query)
    asked = (source, plan.cells, shape.unit, shape.where, plan.blocks, plan.room, plan.rows)
    answer = partial(estimates, plan.model, query.bias)
    values = blocks.spread(*asked, answer, plan.model.fallback)
    return np.concatenate([answer(one) for one in blocks.groups(*asked)]) if values is None else values


def released(shape: Design, rows: Rows, own: NDArray[np.uint64], draw: Any, noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  The parts of rows at hand; `noise` protects, or simulates; nothing is selected by `draw`."""
    plan, query = cast(Plan, shape.blocks), cast(SampleAndAggregate, shape.query)
    found = blocks.packed(rows, own, plan.blocks, plan.room)
    return protected(shape, estimates(plan.model, query.bias, found), noise)


def protected(shape: Design, values: NDArray[np.float64], noise: Any) -> tuple[Part, ...]:
    """READS ROWS.  The parts of the blocks' estimates, shape (blocks, parameters)."""
    found = totals(shape, values)
    return tuple(part_of(column, noise(cells, column.law)) for column, cells in zip(shape.columns, found, strict=True))


def exact(shape: Design, rows: Rows, own: NDArray[np.uint64]) -> tuple[Cells, ...]:
    """READS ROWS.  The integers before noise, one cell for each parameter: never to be shown."""
    plan, query = cast(Plan, shape.blocks), cast(SampleAndAggregate, shape.query)
    found = blocks.packed(rows, own, plan.blocks, plan.room)
    return totals(shape, estimates(plan.model, query.bias, found))


def totals(shape: Design, values: NDArray[np.float64]) -> tuple[Cells, ...]:
    """READS ROWS.  The integers of the blocks' estimates, shape (blocks, parameters), before noise."""
    plan = cast(Plan, shape.blocks)
    place = {name: j for j, name in enumerate(plan.model.names)}
    return tuple(sums(column, values[:, place[column.label]]) for column in shape.columns)


def estimates(model: Likelihood | Statistic, bias: str, found: blocks.Blocks) -> NDArray[np.float64]:
    """The estimate of each block, within the box, shape (blocks, parameters)."""
    if isinstance(model, Statistic):
        return fresh.statistics(model, found.values, found.sizes, bias)
    from tacit.models.blocks import block_mle

    values = found.values[:, :, 0] if model.columns == 1 else found.values
    return block_mle(model, values, found.sizes, bias=cast(Any, bias), ordered=True).values


def sums(column: Column, values: NDArray[np.float64]) -> Cells:
    """READS ROWS.  Sums of w and floor(w**2 / c), of values clamped, in integers, to {0, ..., G}; what is none to 0."""
    grid = cast(Grid, column.grid)
    at = np.where(np.isfinite(values), values, grid.lower)
    step = np.floor((at - grid.lower) * (grid.G / (grid.upper - grid.lower)) + 0.5)
    w = np.clip(np.clip(step, 0, grid.G).astype(np.int64), 0, grid.G) - grid.G // 2
    squares = w * w // column.form.parameters["divisor"]
    return ((int(w.sum()), int(squares.sum())),)


def part_of(column: Column, noisy: Cells) -> Part:
    """What is released of a column."""
    form = column.form
    facts = dict(form.parameters)
    return Part(column.label, form.name, facts, column.grid, noisy, column.law, form.l1, form.l2_squared, column.cost)
