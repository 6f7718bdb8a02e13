"""Design counts, sums, means and variances: choose grids, encodings and noise from the question and public facts."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from typing import Final

from tacit.errors import QueryError
from tacit.method.moments.laplace_draws import noise_of
from tacit.method.moments.query import Count, Mean, Sum, Variance
from tacit.method.shared import encoding as forms
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.encoding_choice import choose, choose_total, resized
from tacit.method.shared.group_keys import keys_of
from tacit.method.shared.joint_noise import with_joint_noise
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.weighted_encoding import FINE, SHARE, steps_of_rows
from tacit.privacy import Cost
from tacit.release.parts import Grid
from tacit.rows.row_map import GRID, KeyMap, PersonWeight, RowMap
from tacit.schema import Date, Schema
from tacit.schema.predicates.typed_conditions import typed
from tacit.schema.row_maps_of_columns import rowmap, weightmap

VERSION: Final = "moments/1"


KIND: Final = "moments"


MOST_CELLS: Final = 1_000_000
"""Most cells of `by` that one question releases."""


Question = Count | Sum | Mean | Variance


def design(query: Question, public: Public, cost: Cost) -> Measurement:
    """Return the measurement of a question: one part for each column.  QueryError where the question is not allowed."""
    kind, keys = type(query).__name__, keys_of(query, public.schema)
    where = None if query.where is None else typed(query.where, public.schema)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, keys=keys, where=where)
    if shape.cells > MOST_CELLS:
        message = f"{kind}: by= makes {shape.cells:,} cells; at most {MOST_CELLS:,} are released."
        raise QueryError(message, code="Q31", hint="fewer columns in by=")
    if isinstance(query, Count):
        columns = (_count(shape, public.schema) if query.weights is None else _weighted_count(shape, public.schema),)
    else:
        # a single column keeps the price as it is stated: a share of an (epsilon, delta) price is a mu**2
        share = cost if len(query.columns) == 1 else cost.share(Fraction(1, len(query.columns)))
        columns = tuple(_column(shape, public.schema, name, share) for name in query.columns)
        columns = with_joint_noise(columns, shape.cells)
    return replace(shape, columns=columns)


def _count(shape: Measurement, schema: Schema) -> PartSpec:
    """Return the part that counts rows (persons); QueryError Q32 where their number is public already."""
    # where no row can leave the only cell, all neighbours have the same count, and there is nothing to protect
    leaves = shape.where is not None or any(_leaves(schema, key) for key in shape.keys)
    if shape.neighbors == "replace-one" and shape.cells == 1 and not leaves:
        raise QueryError(
            f"Count: under replace-one the number of all {'rows' if shape.unit is None else 'persons'} is public, "
            "and needs no release.",
            code="Q32",
            hint='curator.rows, or Count(by="sex")',
        )
    form = forms.count(shape.cells, shape.neighbors, leaves)
    share: PersonWeight | None = None
    if shape.several:
        share = PersonWeight(FINE)
        form = weighted_forms.shared(form, share.G)
    return PartSpec("", form, None, None, noise_of(shape, form, shape.cost), shape.cost, share)


def _weighted_count(shape: Measurement, schema: Schema) -> PartSpec:
    """Return the part that adds up the weights: the total is private even where the number of rows is public."""
    weight = _weight(shape, schema, weighted_forms.COUNTED)
    assert weight is not None
    # weights of one person in several cells are dependent: `counted` has forms of its own for them
    several = isinstance(weight, PersonWeight) and shape.cells > 1 and shape.several
    form = weighted_forms.counted(weight.G, shape.cost.noise, shape.neighbors, cells=shape.cells, several=several)
    for polynomial in form.weights:
        # from public facts, before a row is read: no summand rounds or overflows in 64 bits
        polynomial.check(weight.G)
    law = noise_of(shape, form, shape.cost)
    return PartSpec("", form, None, None, law, shape.cost, weight, _weight_grid(weight))


def _leaves(schema: Schema, key: KeyMap) -> bool:
    """Return whether a row can be in no cell of this key, its value being missing or not among the public levels."""
    return key.missing is None


def _column(shape: Measurement, schema: Schema, name: str, share: Cost) -> PartSpec:
    """Return the part of one column at its share of the price; QueryError Q33 for the sum of a date."""
    if isinstance(shape.query, Sum) and name in schema and isinstance(schema[name], Date):
        raise QueryError(f"column {name!r} of Sum: dates cannot be added up.", code="Q33", hint=f"Mean({name!r})")
    at = rowmap(schema, name)
    # coarser grids where products with weights, or fourth powers, must stay within 64 bits
    weight = _weight(shape, schema, weighted_forms.WEIGHT)
    if weight is not None:
        # fine: means of a person's rows lie between the steps of the rows' own values
        at = resized(at, weighted_forms.WEIGHT, fine=at.kind != "boolean" or shape.unit is not None)
    elif isinstance(shape.query, Variance):
        most = forms.COARSE if _of_pairs(shape, at, share.noise) is None else forms.SQUARED
        at = resized(at, most, fine=shape.unit is not None)
    elif shape.unit is not None:
        at = resized(at, max(at.G, GRID), fine=True)
    at, form, weight = _form(shape, at, weight, share.noise)
    for polynomial in form.polynomials:
        polynomial.check(at.G)
    missing = "exclude" if at.missing is None else str(getattr(schema[name], "missing", ""))
    units = "days since 1970-01-01" if at.kind == "date" else getattr(schema[name], "units", None)
    grid = Grid(at.kind, at.lower, at.upper, at.G, units, missing)
    law = noise_of(shape, form, share)
    return PartSpec(name, form, at, grid, law, share, weight, _weight_grid(weight))


def _of_pairs(shape: Measurement, at: RowMap, noise: forms.Noise) -> int | None:
    """Return the number of rows where the variance alone is released: all of a public number count in one cell.

    With Gaussian noise the five Bernstein sums stay: the variance has at most 1.2 times the noise then, where the mean
    is at a bound, and less than half of it in the middle.
    """
    alone = isinstance(shape.query, Variance) and not shape.query.interval and noise == "laplace"
    if not alone or shape.keys or shape.where is not None or at.missing is None or shape.neighbors != "replace-one":
        return None
    return shape.rows if shape.rows is not None and shape.rows >= 2 else None


def _weight(shape: Measurement, schema: Schema, steps: int) -> RowMap | PersonWeight | None:
    """Return how a row or person is weighted, on a grid of `steps` steps; None without weights.

    QueryError Q71 (per= without a PrivacyUnit), Q72 (a column that holds no weights).
    """
    kind, weights, per = (
        type(shape.query).__name__,
        getattr(shape.query, "weights", None),
        getattr(shape.query, "per", None),
    )
    if per == "row" and shape.unit is None:
        raise QueryError(f"per of {kind}: the schema has no PrivacyUnit.", code="Q71", hint="leave per= out")
    # in totals, and in means of rows, a person counts as often as rows, up to max_rows times
    by_rows = per == "row" or isinstance(shape.query, Sum)
    if weights is not None:
        at = weightmap(schema, weights, steps)
        # cap 1: a person weighs the mean of the weights of the person's rows
        return at if shape.unit is None else PersonWeight(steps, shape.max_rows if by_rows else 1, at)
    if shape.unit is None or not by_rows:
        return None
    return PersonWeight(steps_of_rows(shape.max_rows or 1), shape.max_rows)


def _weight_grid(weight: RowMap | PersonWeight | None) -> Grid | None:
    """Return the public grid of the weights, from 0 to their cap; None where they have no units of their own."""
    at, cap = (weight.of, weight.cap) if isinstance(weight, PersonWeight) else (weight, 1)
    if at is not None and cap is not None and weight is not None:
        # a person with `cap` rows or more, all of the largest weight, is at the end of the grid
        return Grid("real", 0.0, at.upper * cap, weight.G, missing="exclude" if at.missing is None else "declared")
    return None if cap is None or weight is None else Grid("rows", 0.0, float(cap), weight.G)


def _form(
    shape: Measurement, at: RowMap, weight: RowMap | PersonWeight | None, noise: forms.Noise
) -> tuple[RowMap, Encoding, RowMap | PersonWeight | None]:
    """Return grid and encoding of one column, and the weight that its sums are taken with (None: each row weighs 1)."""
    grouped, leaves = bool(shape.keys), at.missing is None or shape.where is not None
    if weight is not None:
        # a person's weights add up to at most A over all cells
        several = shape.several and isinstance(weight, PersonWeight)
        return at, weighted_forms.weighted(at.G, weight.G, noise, shape.neighbors, several=several), weight
    if isinstance(shape.query, Sum):
        neighbors, cells = shape.neighbors, shape.cells
        return *choose_total(at, noise, cells=cells, neighbors=neighbors, grouped=grouped, leaves=leaves), None
    rows = _of_pairs(shape, at, noise)
    if rows is not None:
        return at, forms.deviations(at.G, rows), None
    fourth = isinstance(shape.query, Variance)
    form = choose(at, noise, neighbors=shape.neighbors, grouped=grouped, leaves=leaves, fourth=fourth)
    if not shape.several:
        return at, form, None
    return at, weighted_forms.shared(form, SHARE), PersonWeight(SHARE)
