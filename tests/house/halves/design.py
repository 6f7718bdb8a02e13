"""Halves: from the question, public facts and the price to two counts."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tacit.method.halves.query import Halves

from tacit.method.shared.encoding import count
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.privacy import Cost, noise_for
from tacit.schema.row_maps_of_columns import binmap

KIND: Final = "halves"


def design(query: Halves, public: Public, cost: Cost) -> Measurement:
    """Two cells and their noise."""
    key = binmap(public.schema, query.column, 2)
    shape = Measurement.of(query, public, cost, kind=KIND, mechanism="halves/1", keys=(key,))
    form = count(shape.cells, public.neighbors, leaves=True)
    law = noise_for(form.l1, form.l2_squared, cost)
    return replace(shape, columns=(PartSpec("", form, None, None, law, cost),))
