"""Design quantiles: choose grid, cells, prices and laws of selection from the question and public facts."""

from __future__ import annotations

import math
from dataclasses import replace
from fractions import Fraction
from statistics import NormalDist
from typing import Any, Final, cast

from tacit.errors import QueryError
from tacit.method.quantiles.query import Quantiles
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared import rank_utilities
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.encoding_choice import resized
from tacit.method.shared.group_keys import keys_of
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.rank_utilities import SIZE
from tacit.method.shared.weighted_encoding import SHARE as PARTS
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost, noise_for
from tacit.privacy.budget import Neighbors
from tacit.release.parts import Grid
from tacit.rows.row_map import ONE, PersonWeight, RowMap
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import rowmap, unit_of

VERSION: Final = "quantiles/2"


KIND: Final = "quantiles"


STEPS: Final = 2**12
"""Most steps of the grid.  More would be finer, but where rows are few empty steps would be selected more often."""


MOST_CELLS: Final = 256
"""Most cells of `by`.  Each cell has its own selections in exact arithmetic: about 0.1 s for three quantiles."""


RUNGS: Final = (-1, 0, 1)
"""The selections of one probability, as multiples of the offset c: below the quantile, at it, and above it."""


def design(query: Quantiles, public: Public, cost: Cost) -> Measurement:
    """Return the measurement: selections for each probability, and a noisy number of rows where it is not public.

    QueryError where the question is not allowed.
    """
    unit, keys = unit_of(public.schema), keys_of(query, public.schema)
    where = None if query.where is None else typed(query.where, public.schema)
    at = resized(rowmap(public.schema, query.column), STEPS, fine=unit is not None)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, keys=keys, where=where)
    if shape.cells > MOST_CELLS:
        message = f"Quantiles: by= makes {shape.cells:,} cells; at most {MOST_CELLS} are released."
        raise QueryError(message, code="Q31", hint="fewer columns in by=, or fewer bins")
    missing = "exclude" if at.missing is None else str(getattr(public.schema[query.column], "missing", ""))
    units = "days since 1970-01-01" if at.kind == "date" else getattr(public.schema[query.column], "units", None)
    grid = Grid(at.kind, at.lower, at.upper, at.G, units, missing)
    # the number of present rows is public only where no row can be absent: all are in one cell, none is missing
    sized = public.rows is not None and at.missing is not None and not keys and where is None
    paid = cost if sized else cost.share(1 - SIZE)
    each = paid.share(Fraction(1, len(query.probs)))
    columns = [_selection(shape, p, at, grid, each) for p in query.probs]
    if not sized:
        columns.append(_size(shape, at, grid, cost.share(SIZE)))
    return replace(shape, columns=tuple(columns))


def _size(shape: Measurement, at: RowMap, grid: Grid, cost: Cost) -> PartSpec:
    """Return the part that releases the noisy number of rows, or weight of persons, in each cell."""
    share, column = _share(shape), cast(Quantiles, shape.query).column
    # leaves: with one cell under replace-one this part is asked for only where rows can be absent from it
    own = replace(moment_forms.count(shape.cells, shape.neighbors, leaves=True), name="size")
    own = own if share is None else weighted_forms.shared(own, share.G)
    return PartSpec(column, own, at, grid, noise_for(own.l1, own.l2_squared, cost), cost, share)


def _share(shape: Measurement) -> PersonWeight | None:
    """Return how a person's weight is divided over cells; None where a person is in one cell only."""
    return PersonWeight(PARTS) if shape.several else None


def _selection(shape: Measurement, p: Fraction, at: RowMap, grid: Grid, cost: Cost) -> PartSpec:
    """Return the part of one probability: three selections, each at a third of the part's price."""
    relation: Neighbors = "replace-one" if shape.neighbors == "replace-one" else "add-remove"
    share, grouped = _share(shape), bool(shape.keys)
    A = 1 if share is None else share.G
    # `law_for` is of rows; a person changes utilities by A times as much, so that the rate is divided by A below
    law = rank_utilities.law_for(cost.share(Fraction(1, len(RUNGS))), p, relation, grouped=grouped)
    most, squared = rank_utilities.reached(p, relation, grouped=grouped)
    facts = {"G": at.G, "numerator": p.numerator, "denominator": p.denominator}
    facts |= {} if share is None else {"share": A}
    form = Encoding("ranks", facts, (ONE,), ((1,),) * len(RUNGS), A * most, A * A * squared)
    return PartSpec(
        cast(Quantiles, shape.query).column, form, at, grid, cast(Any, Selection(law.rate / A)), cost, share
    )


def reach(column: PartSpec, size: float, size_variance: float, level: float) -> int:
    """Return the offset c in ranks: how far sampling and selection errors reach at the level, plus one selection scale.

    Where rows are dense the rank error of a selection has about a Laplace law of scale 1 / (b rate); its quantile and
    the normal one of the sampling error are added in quadrature.  The sampling variance of the rank is N p (1 - p),
    plus p**2 times the variance of a noisy N.

    Of persons with weights w <= 1 in a cell, N their sum and q the quantile: the sum of w ([v <= q] - p) has mean 0 and
    a variance of at most E sum of w**2 ([v <= q] - p)**2 <= E sum of w ([v <= q] - p)**2 = E N p (1 - p): the same, and
    a bound, attained where everybody is in one cell.
    """
    facts = column.form.parameters
    p = facts["numerator"] / facts["denominator"]
    z = NormalDist().inv_cdf(0.5 + level / 2)
    # a noisy size can be 0: an interval reaches over the error of one row at least
    variance = max(size, 1.0) * p * (1 - p) + p * p * size_variance
    # from units of utility, 1 / b of a rank and A for a whole person, to rows or persons
    scale = float(column.law.scale) / (facts["denominator"] * facts.get("share", 1))
    # Laplace: P(|x| > t) = exp(-t / scale); rounded up, as fewer ranks would cover less
    return math.ceil(math.hypot(z * math.sqrt(variance), -math.log(1 - level) * scale) + scale)


def split(shape: Measurement) -> tuple[tuple[PartSpec, ...], PartSpec | None]:
    """Return the parts of selections, one for each probability, and the part of noisy numbers of rows, or None."""
    last = shape.columns[-1]
    return (shape.columns, None) if last.form.name == "ranks" else (shape.columns[:-1], last)
