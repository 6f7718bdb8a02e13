"""How many cells are missing, out of bounds or unlisted, by noisy counts.  INSIDE the wall.

Definition
    Each cell of a column is in exactly one public class: missing (null, not finite, unreadable), below or above the
    bounds (or unlisted), as declared.  Released, for each column: the number of rows in each class.  With a PrivacyUnit
    a person's rows have a weight of one in all (`rowmap.Share`), given out by their classes.  Public: schema, query,
    relation, price, and under replace-one the number of rows (persons).  Neighbours as for `moments`.
Sensitivity
    A row adds 1 to one class of each column: add-remove, 1 in l1 and in squared l2; replace-one, a row leaves one
    class and enters another: 2 in both.  Attained.  Persons: times the share's whole, and its square (`shared`).
Noise
    Independent for each integer: discrete Laplace of scale l1 / epsilon', or normal of standard deviation
    sqrt(l2^2 / (2 rho')) rounded to integers, where the prime is the column's equal share of the price.
Cost
    Shares add up to the price: columns are released side by side (basic composition; Gaussian: sums of rho).
Failures
    None depends on a row: every class is released, empty or not.  A failure of the machine is the curator's to hide.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from tacit.curator.source import Source
from tacit.errors import QueryError
from tacit.mechanisms import weighted_forms
from tacit.mechanisms.moment_forms import Form
from tacit.mechanisms.moments import SHARE, Column, Design, check_rows
from tacit.privacy import Cost, noise_for
from tacit.queries import DataQuality
from tacit.release import Cells, Grid
from tacit.rowmap import IDENTITY, ONE, KeyMap, Share
from tacit.rowmap import Sum as Term
from tacit.schema import Schema
from tacit.schema.rowmaps import most_rows, qualitymap, unit_of

VERSION: Final = "quality/1"
KIND: Final = "quality"


# Definition ---------------------------------------------------------------------------------------------------------


def design(query: DataQuality, schema: Schema, *, neighbors: str, rows: int | None, cost: Cost) -> Design:
    """Classes and noise from public facts; QueryError where a column cannot be asked about."""
    names = tuple(query.columns) or tuple(name for name in schema if name != schema.unit)
    if not names:
        raise QueryError("DataQuality: the schema has no column.", code="Q03", hint='{"age": Real(0, 100)}')
    unit = unit_of(schema)
    share = cost if len(names) == 1 else cost.share(Fraction(1, len(names)))
    columns = tuple(_column(qualitymap(schema, name), schema, neighbors, share) for name in names)
    most = most_rows(schema)
    return Design(query, neighbors, rows, (), columns, cost, unit, most, kind=KIND, mechanism=VERSION)


def _column(key: KeyMap, schema: Schema, neighbors: str, share: Cost) -> Column:
    form = classes(len(key.labels), neighbors)
    weight = None
    if schema.unit is not None:
        weight = Share(SHARE)
        form = weighted_forms.shared(form, weight.G)
    units = getattr(schema[key.column], "units", None)
    bounded = len(key.edges) == 2 and max(map(abs, key.edges)) < float("inf")
    grid = Grid(key.kind.removeprefix("quality-"), key.edges[0], key.edges[1], 1, units) if bounded else None
    law = noise_for(form.l1, form.l2_squared, share)
    return Column(key.column, form, None, grid, law, share, weight, None, key)


# Sensitivity --------------------------------------------------------------------------------------------------------


def classes(number: int, neighbors: str) -> Form:
    """Counts of disjoint classes that every row is in one of: 1 (add-remove) or 2 (replace-one) in any norm's power."""
    twice = 2 if neighbors == "replace-one" else 1
    return Form("classes", {"G": 1, "classes": number}, (ONE,), ((1,),) * number, twice, twice)


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Cells, ...]:
    """READS ROWS.  The exact counts, one cell of all classes a column, before noise: never to be shown."""
    answers: list[Cells] = []
    for column in shape.columns:
        assert column.key is not None
        term = Term(None) if column.weight is None else Term(None, ONE, column.weight, IDENTITY)
        found = source.aggregate((column.key,), (term,), shape.unit)
        if shape.unit is None:
            check_rows(shape, found)
        answers.append((tuple(cell[0] for cell in found.cells),))
    return tuple(answers)
