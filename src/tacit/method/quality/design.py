"""Design data quality: choose classes and noise from the question and public facts."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from tacit.errors import QueryError
from tacit.method.quality.encoding import classes
from tacit.method.quality.query import DataQuality
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.weighted_encoding import FINE
from tacit.privacy import Cost, noise_for
from tacit.release.parts import Grid
from tacit.rows.row_map import KeyMap, PersonWeight
from tacit.schema import PrivacyUnit, Schema, Text
from tacit.schema.row_maps_of_columns import qualitymap

VERSION: Final = "quality/1"


KIND: Final = "quality"


def design(query: DataQuality, public: Public, cost: Cost) -> Measurement:
    """Return the measurement: one part for each column.  QueryError where a column has no classes."""
    # a Text declares nothing that its cells could be outside of
    every = (name for name, column in public.schema.items() if not isinstance(column, PrivacyUnit | Text))
    names = tuple(query.columns) or tuple(every)
    if not names:
        raise QueryError("DataQuality: the schema has no column.", code="Q03", hint='{"age": Real(0, 100)}')
    # a single column keeps the price as it is stated: a share of an (epsilon, delta) price is a mu**2
    share = cost if len(names) == 1 else cost.share(Fraction(1, len(names)))
    columns = tuple(_column(qualitymap(public.schema, name), public.schema, public.neighbors, share) for name in names)
    return Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, columns=columns)


def _column(key: KeyMap, schema: Schema, neighbors: str, share: Cost) -> PartSpec:
    """Return the part that counts the classes of one column, at its share of the price."""
    form = classes(len(key.labels), neighbors)
    weight = None
    if schema.unit is not None:
        weight = PersonWeight(FINE)
        form = weighted_forms.shared(form, weight.G)
    units = getattr(schema[key.column], "units", None)
    bounded = len(key.edges) == 2 and max(map(abs, key.edges)) < float("inf")
    # the grid only states the bounds, for notes: classes are counted, and nothing is put on its one step
    grid = Grid(key.kind.removeprefix("quality-"), key.edges[0], key.edges[1], 1, units) if bounded else None
    law = noise_for(form.l1, form.l2_squared, share)
    return PartSpec(key.column, form, None, grid, law, share, weight, None, key)
