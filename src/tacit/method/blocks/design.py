"""Design of sample and aggregate: number of blocks, grids and noise, from the query, public facts and the price."""

from __future__ import annotations

from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from typing import Final, cast

import numpy as np

from tacit.errors import ModelError, QueryError
from tacit.method.blocks import block_sizes
from tacit.method.blocks.encoding import own_variance
from tacit.method.blocks.query import SampleAndAggregate
from tacit.method.blocks.resampling import BlockResamples, resampling_of
from tacit.method.blocks.support_rules import check_support
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared.block_numbers import blocks_for, price_of_one, published_blocks, published_for_parties
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.models.block_function import Statistic
from tacit.models.likelihood import Likelihood, Order
from tacit.privacy import Cost, noise_for
from tacit.release.parts import RESAMPLED_BLOCKS, Grid
from tacit.rows.row_map import GRID
from tacit.schema.predicates.numeric_expressions import ColumnCell, cell_of
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import most_rows, unit_of

VERSION: Final = "sample-and-aggregate/3"


KIND: Final = "sample-and-aggregate"
UNLIKE: Final = 2.0
"""Times that a row's standard deviation may be that at the public fallback, where noise is to hide a bias."""


@dataclass(frozen=True)
class BlockPlan:
    """Public facts of the blocks.

    capacity: most rows that a block holds.  cells: the columns that are read.  rows: the number of rows of the table
    where it is public and blocks are of equal size; else None.  resampling: how a block's own variance is found; None
    where the variance between blocks is released.
    """

    model: Likelihood | Statistic
    blocks: int
    capacity: int
    cells: tuple[ColumnCell, ...]
    rows: int | None = None
    resampling: BlockResamples | None = None

    @property
    def likelihood(self) -> Likelihood:
        """The model as a likelihood, for one step, which `SampleAndAggregate` refuses for a `Statistic`."""
        return cast(Likelihood, self.model)


def design(query: SampleAndAggregate, public: Public, cost: Cost) -> Measurement:
    """Return blocks, grids and noise from public facts.

    QueryError Q95 (columns, or their bounds, that do not fit the model), Q96 (unknown number of rows), Q97 (too few
    rows for the blocks), Q140 (resamples of persons' rows, or of too few).
    """
    where = None if query.where is None else typed(query.where, public.schema)
    model = _model(query)
    chosen = [one for one in model.parameters if not query.parameters or one.name in query.parameters]
    p = len(chosen)
    cells = tuple(cell_of(public.schema, name) for name in query.what)
    if len(cells) != model.columns:
        text = f"what of SampleAndAggregate: {len(cells)} columns for a model of rows of {model.columns}."
        raise QueryError(text, code="Q95", hint=f"{model.columns} columns, in the order of a row")
    check_support(model, cells)
    # only public numbers: the query's guess, the table's size under replace-one, the curator's hint
    size = next((one for one in (query.rows, public.rows, public.size_hint) if one is not None), None)
    if size is None:
        text = "SampleAndAggregate: the number of rows is private, and blocks need to know about how many there are."
        raise QueryError(text, code="Q96", hint="rows=10_000, a public guess, or Curator(size_hint=)")
    k = query.blocks or _blocks(query, model, [one.name for one in chosen], size, price_of_one(cost, p))
    _check_blocks(k, size, len(model.parameters))
    unit, most = unit_of(public.schema), most_rows(public.schema)
    how = resampling_of(query, size, k, len(model.parameters))
    if how is not None and most > 1:
        text = "variance of SampleAndAggregate: rows of one person are not independent, and resamples take them for it."
        raise QueryError(text, code="Q140", hint="leave variance out: the blocks hold whole persons")
    # a person's rows share a block, so that with a unit sizes cannot be made equal
    rows = public.rows if unit is None else None
    # persons draw blocks, and each brings up to `most` rows
    capacity = block_sizes.capacity(size, k) * most
    # All rows of a person, up to `most`, are in one block.
    capacity = capacity if rows is None else min(capacity, block_sizes.equal_capacity(rows, k))
    plan = BlockPlan(model, k, capacity, cells, rows, how)
    share = cost if p == 1 else cost.share(Fraction(1, p))
    resampled = how is not None
    columns = tuple(column_of(one.name, one.lower, one.upper, k, share, resampled=resampled) for one in chosen)
    return Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, columns=columns, where=where, blocks=plan)


def _model(query: SampleAndAggregate) -> Likelihood | Statistic:
    """Return the model, checked without data.  A `Statistic` is checked later, by the mechanism, on made-up rows.

    QueryError Q95 where the query was read from a file that holds only the function's name, ModelError M14 to M16.
    """
    law = query.model.law
    if law is None:
        text = f"model {query.model.words.get('name')!r} is a function, and a file has its name alone."
        raise QueryError(text, code="Q95", hint="ask from Python, with the function: tc.Model(…), tc.Statistic(…)")
    if not isinstance(law, Statistic):
        law.check_function()
    return law


def _blocks(
    query: SampleAndAggregate, model: Likelihood | Statistic, names: list[str], rows: int, epsilon: float
) -> int:
    """Return the number of blocks from public facts, with the model at its public fallback (theory §2, §6)."""
    if query.method == "smith":
        return published_blocks(rows, epsilon)
    # the printed rules know one parameter; the widest box is that of the largest noise
    box, parties = max(one.upper - one.lower for one in model.parameters), query.parties or 1
    if query.method == "chen-sung":
        return published_for_parties(rows, epsilon, parties, box)
    orders = [model.order(name) for name in names]
    # Corrections but these do not rest on the model's own order of bias: a general one bounds what they leave.
    least = 0.0 if query.bias in ("cox-snell", "none") or isinstance(model, Statistic) else Order().b
    second = max(one.v for one in orders), max(least, *(one.b for one in orders))
    boxes = dict(zip([one.name for one in model.parameters], widths(model), strict=True))
    # within windows noise follows the spread of the blocks, which is not known beforehand
    noisy = [0.0 if query.winsorize else boxes[name] / UNLIKE for name in names]
    each = [(box, max(least, one.b)) for box, one in zip(noisy, orders, strict=True)]
    return blocks_for(rows, epsilon, len(model.parameters), max(boxes.values()), second, query.parties, each)


@lru_cache(maxsize=256)
def widths(model: Likelihood | Statistic) -> tuple[float, ...]:
    """Return each parameter's box in standard deviations of an estimate from one row; 1 where these are unknown."""
    unknown = (1.0,) * len(model.parameters)
    if isinstance(model, Statistic):
        return unknown
    try:
        variances = np.diag(np.linalg.inv(model.fisher(model.fallback)))
    except (ModelError, np.linalg.LinAlgError):
        return unknown
    # box / sqrt(variance of one row), `w` of `blocks_for`: the noise relative to the sampling error
    found = (model.upper - model.lower) / np.sqrt(np.maximum(variances, 1e-300))
    return tuple(float(f"{one:.3g}") for one in found.tolist())  # rounded, so that every machine has as many blocks


def width(model: Likelihood | Statistic) -> float:
    """Return the widest of the boxes; see `widths`."""
    return max(widths(model))


def _check_blocks(k: int, rows: int, p: int) -> None:
    """Check that every block has more rows than the model has parameters p: QueryError Q97."""
    if k > rows // (p + 1):
        text = f"blocks of SampleAndAggregate: {rows:,} rows are too few for {k:,} blocks with {p} parameters."
        raise QueryError(text, code="Q97", hint=f"blocks={max(2, rows // max(20, 10 * p)):,}".replace(",", "_"))


def column_of(name: str, lower: float, upper: float, k: int, share: Cost, *, resampled: bool = False) -> PartSpec:
    """Return the part of one parameter: its encoding, a grid over its box, and noise for its share of the price.

    resampled: with the variances of the blocks' estimates in the place of their squares.
    """
    # k is public, and each block counts as one row of a table of fixed size, which is absent where it has no estimate
    # (theory §12, Blocks)
    form = own_variance(GRID, share.noise) if resampled else moment_forms.exclusion(GRID, share.noise)
    form_name = RESAMPLED_BLOCKS if resampled else "blocks-2"
    form = replace(form, name=form_name, parameters={**form.parameters, "blocks": k})
    law = noise_for(form.l1, form.l2_squared, share)
    return PartSpec(name, form, None, Grid("real", lower, upper, GRID), law, share)
