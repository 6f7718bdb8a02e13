"""Design a range: choose bins, prices and laws of selection from the question and public facts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, cast

from tacit.method.ranges.query import Range
from tacit.method.shared import encoding as moment_forms
from tacit.method.shared import rank_utilities
from tacit.method.shared import weighted_encoding as weighted_forms
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.measurement import Measurement, PartSpec, Public
from tacit.method.shared.rank_utilities import SIZE
from tacit.method.shared.weighted_encoding import SHARE
from tacit.noise.selection_law import EMPTY_POINTS_WEIGHT, Selection, utility_gap
from tacit.privacy import Cost, noise_for
from tacit.rows.row_map import ONE, PersonWeight
from tacit.schema.row_maps_of_columns import unit_of, widemap

VERSION: Final = "range/1"


KIND: Final = "range"


def design(query: Range, public: Public, cost: Cost) -> Measurement:
    """Return the measurement: two selections of bins and a noisy number of rows.  QueryError Q10, Q13."""
    key, unit = widemap(public.schema, query.column), unit_of(public.schema)
    A = 1 if unit is None else SHARE
    weight = None if unit is None else PersonWeight(SHARE)
    p = query.outside / 2  # half beyond each bound
    # two selections share what N leaves; the part below states the cost of the pair
    law = rank_utilities.law_for(cost.share((1 - SIZE) / 2), p, public.relation, grouped=False)
    most = A * rank_utilities.sensitivity(p, public.relation)
    facts = {"bins": key.size, "numerator": p.numerator, "denominator": p.denominator, "share": A}
    # the selections' own sensitivity, in units of utility: no additive noise is made from it
    form = Encoding("range", facts, (ONE,), ((1,), (1,)), most, most * most)
    pair = PartSpec(query.column, form, None, None, cast(Any, Selection(law.rate / A)), cost.share(1 - SIZE), weight)
    pair = replace(pair, key=key)
    # missing rows leave the only cell, so that the number of present ones is private under replace-one too
    own = replace(moment_forms.count(1, public.relation, leaves=True), name="present")
    own = own if unit is None else weighted_forms.shared(own, SHARE)
    small = cost.share(SIZE)
    size = PartSpec(query.column, own, None, None, noise_for(own.l1, own.l2_squared, small), small, weight)
    return Measurement.of(query, public, cost, kind=KIND, mechanism=VERSION, columns=(pair, size))


def target(parameters: Any, scale: float, size: float) -> float:
    """Return the target rank T, in rows (persons): the larger of p N and the margin.

    parameters: of the released part.  scale: of the selection.  size: the released N.
    """
    p = parameters["numerator"] / parameters["denominator"]
    each = parameters["denominator"] * parameters["share"]  # units of utility in one rank
    # all bins beyond the rows together weigh EMPTY_POINTS_WEIGHT of one that is that many ranks better
    return max(p * size, utility_gap(scale, parameters["bins"], EMPTY_POINTS_WEIGHT) / each)
