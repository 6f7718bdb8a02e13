"""Design a bootstrap: grid, encoding, and the noise of each replicate, from the question and public facts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Any, Final

from tacit.errors import QueryError
from tacit.method.bootstrap.price import bought
from tacit.method.bootstrap.query import Bootstrap
from tacit.method.shared import encoding as forms
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.encoding_choice import choose, choose_total
from tacit.method.shared.group_keys import keys_of
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.noise.laws import RoundedNormal
from tacit.privacy import Cost
from tacit.privacy.calibration import root_up
from tacit.release.parts import Grid
from tacit.release.query_checks import of_numbers
from tacit.rows.row_map import GRID, RowMap
from tacit.schema import Date, Schema
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import rowmap

VERSION: Final = "bootstrap/1"


KIND: Final = "bootstrap"


POINTS: Final = 2**12
"""Most steps between the bounds of a column: samples are drawn from the counts of so many values in each cell."""
MOST_NUMBERS: Final = 1_000_000
"""Most noisy integers of one question: cells times replicates times integers of a cell."""


def design(query: Bootstrap, public: Public, cost: Cost) -> Measurement:
    """Return one part for each replicate; QueryError where the question or its price is not allowed.

    The measurement's cost is the approximate part (mu, delta) that the price buys, or the price itself where the ledger
    adds epsilon and adds delta; each replicate has an equal share of it.
    """
    statistic: Any = of_numbers(query.statistic, public.schema)
    keys = keys_of(statistic, public.schema)
    where = None if statistic.where is None else typed(statistic.where, public.schema)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, keys=keys, where=where)
    _proven(shape, statistic)
    at, form, grid = _encoded(shape, public.schema, statistic)
    _not_too_many(shape, form)
    part = bought(public.neighbors, shape.rows, query.replicates, cost, whole=public.accounting == "basic")
    # sd = l2 / mu, rounded up: the replicate's own mu is then at most the one whose cost was certified
    law = RoundedNormal(root_up(Fraction(form.l2_squared) / part.mu_squared))
    label = "" if at is None else at.column
    each = PartSpec(label, form, at, grid, law, part.part.share(Fraction(1, query.replicates)))
    return replace(shape, columns=(each,) * query.replicates, cost=part.part)


def _proven(shape: Measurement, statistic: Any) -> None:
    """Raise QueryError Q122 where the cost of a bootstrap is not proven."""
    kind = type(statistic).__name__
    text = hint = None
    if shape.cost.kind != "approximate":
        text = f"the price of a Bootstrap is {shape.cost}: it is no pair (epsilon, delta) of its own."
        hint = "epsilon=1, delta=1e-6, for this question alone"
    elif shape.several:
        text, hint = "a person may be in several cells, which a Bootstrap has no proof for.", "by= of a constant column"
    elif shape.unit is not None and kind == "Sum":
        text, hint = "a Bootstrap draws persons, and a Sum counts their rows.", "the mean of persons: Mean"
    elif shape.rows == 0:
        text, hint = "a table without rows has no bootstrap.", "a table with rows"
    if text is not None and hint is not None:
        raise QueryError(text, code="Q122", hint=hint)


def _not_too_many(shape: Measurement, form: Encoding) -> None:
    """Raise QueryError Q31 for more noisy integers than are released."""
    query: Any = shape.query
    numbers = shape.cells * query.replicates * len(form.matrix)
    if numbers > MOST_NUMBERS:
        message = f"Bootstrap: {query.replicates} replicates of {shape.cells:,} cells are {numbers:,} integers."
        raise QueryError(message, code="Q31", hint="fewer columns in by=, or fewer replicates")


def _encoded(shape: Measurement, schema: Schema, statistic: Any) -> tuple[RowMap | None, Encoding, Grid | None]:
    """Return grid and encoding: those of the plain question with normal noise, on few steps."""
    grouped, neighbors = bool(shape.keys), shape.neighbors
    if type(statistic).__name__ == "Count":
        leaves = shape.where is not None or any(key.missing is None for key in shape.keys)
        if neighbors == "replace-one" and shape.cells == 1 and not leaves:
            text = "Count: under replace-one the number of all rows is public, and needs no release."
            raise QueryError(text, code="Q32", hint='curator.rows, or Count(by="sex")')
        return None, forms.count(shape.cells, neighbors, leaves), None
    (name,) = statistic.columns
    summed = type(statistic).__name__ == "Sum"
    if summed and name in schema and isinstance(schema[name], Date):
        raise QueryError(f"column {name!r} of Sum: dates cannot be added up.", code="Q33", hint=f"Mean({name!r})")
    at = coarse(rowmap(schema, name), persons=shape.unit is not None)
    leaves = at.missing is None or shape.where is not None
    if summed:
        cells = shape.cells
        at, form = choose_total(at, "gaussian", cells=cells, neighbors=neighbors, grouped=grouped, leaves=leaves)
    else:
        form = choose(at, "gaussian", neighbors=neighbors, grouped=grouped, leaves=leaves)
    missing = "exclude" if at.missing is None else str(getattr(schema[name], "missing", ""))
    units = "days since 1970-01-01" if at.kind == "date" else getattr(schema[name], "units", None)
    return at, form, Grid(at.kind, at.lower, at.upper, at.G, units, missing)


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
