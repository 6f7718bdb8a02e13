"""A range of a column of which nothing is known, by the exponential mechanism on a wide public grid.  INSIDE the wall.

Definition
    Present rows are counted in public bins between WIDE edges (`schema.rowmaps`).  Released: a noisy number N of them,
    and two bins, selected by rank (`mechanisms.ranks`) near T and N - T, T the larger of p N (p is half of `outside`)
    and a cushion: so many ranks that empty bins beyond the rows together weigh CARE of a bin that holds T.  With a
    PrivacyUnit a person's rows have a weight of one in all (`rowmap.Share`), given out by their bins.  Public: schema,
    query, relation, price, and under replace-one the number of rows (persons).  Neighbours as for `moments`.
Sensitivity
    Selections: that of ranks' utilities, with p and 1 - p alike; persons: times the share's whole A, since utilities
    are linear in the weights below and at a step: a person's rows add to b L - T what each adds times its weight, in
    all between -a A and (b - a) A, and removed ones take as much away.  N: 1, or A.
Noise
    Selections exactly by `noise.choose`; N by discrete Laplace or rounded normal.
Cost
    A twentieth for N, the rest in halves for the selections, each as in `mechanisms.quantiles`; the cushion is public
    and the offset depends on the released N only: adaptive composition.
Failures
    None depends on a row: without a row, or with all in one bin, bins are selected all the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from typing import Any, Final, cast

from tacit.curator.source import Source
from tacit.mechanisms import moment_forms, ranks, weighted_forms
from tacit.mechanisms.additive import protect
from tacit.mechanisms.moment_forms import Form
from tacit.mechanisms.moments import SHARE, Column, Design, check_rows
from tacit.mechanisms.quantiles import SIZE, part_of
from tacit.noise.selection import CARE, Selection, reach
from tacit.privacy import Cost, noise_for
from tacit.privacy.budget import Neighbors
from tacit.queries import Range
from tacit.release import Cells, Part
from tacit.rowmap import IDENTITY, ONE, Share
from tacit.rowmap import Sum as Term
from tacit.schema import Schema
from tacit.schema.rowmaps import most_rows, unit_of, widemap

VERSION: Final = "range/1"
KIND: Final = "range"


# Definition ---------------------------------------------------------------------------------------------------------


def design(query: Range, schema: Schema, *, neighbors: Neighbors, rows: int | None, cost: Cost) -> Design:
    """Bins, prices and laws from public facts; QueryError Q10, Q13."""
    key, unit = widemap(schema, query.column), unit_of(schema)
    A = 1 if unit is None else SHARE
    weight = None if unit is None else Share(SHARE)
    p = query.outside / 2
    law = ranks.law_for(cost.share((1 - SIZE) / 2), p, neighbors, grouped=False)
    most = A * ranks.sensitivity(p, neighbors)
    facts = {"bins": key.size, "numerator": p.numerator, "denominator": p.denominator, "share": A}
    form = Form("range", facts, (ONE,), ((1,), (1,)), most, most * most)
    pair = Column(query.column, form, None, None, cast(Any, Selection(law.rate / A)), cost.share(1 - SIZE), weight)
    pair = replace(pair, key=key)
    own = replace(moment_forms.count(1, neighbors, leaves=True), name="present")
    own = own if unit is None else weighted_forms.shared(own, SHARE)
    small = cost.share(SIZE)
    size = Column(query.column, own, None, None, noise_for(own.l1, own.l2_squared, small), small, weight)
    return Design(query, neighbors, rows, (), (pair, size), cost, unit, most_rows(schema), None, KIND, VERSION)


def target(parameters: Any, scale: float, size: float) -> float:
    """T, in rows: the larger of p N and the cushion.  Public facts and the released N."""
    p = parameters["numerator"] / parameters["denominator"]
    each = parameters["denominator"] * parameters["share"]  # utility of a rank of rows
    return max(p * size, reach(scale, parameters["bins"], CARE) / each)


# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Design, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  N, and then the two bins, each protected as it is made."""
    return released(shape, exact(shape, source), ranks.select, protect)


def exact(shape: Design, source: Source) -> tuple[dict[int, int], ...]:
    """READS ROWS.  {bin: rows, or weight of persons}, one cell of all: never to be shown."""
    pair = shape.columns[0]
    assert pair.key is not None
    term = Term(None) if pair.weight is None else Term(None, ONE, pair.weight, IDENTITY)
    found = source.aggregate((pair.key,), (term,), shape.unit)
    if shape.unit is None:
        check_rows(shape, found)
    return ({i: cell[0] for i, cell in enumerate(found.cells) if cell[0]},)


def released(shape: Design, cells: Sequence[Mapping[int, int]], draw: Any, noise: Any) -> tuple[Part, ...]:
    """The parts from {bin: weight} of the only cell; `draw` (of runs, by a law) and `noise` protect, or simulate."""
    (counts,) = cells
    pair, size = shape.columns
    facts, law = pair.form.parameters, cast(Selection, pair.law)
    noisy: Cells = noise(((sum(counts.values()),),), size.law)
    N = max(noisy[0][0] / facts["share"], 0.0)
    p = Fraction(facts["numerator"], facts["denominator"])
    further = math.ceil(max(0.0, target(facts, float(law.scale), N) - float(p) * N)) * facts["share"]
    low = draw(ranks.utilities(counts, facts["bins"], p, further), law)
    high = draw(ranks.utilities(counts, facts["bins"], 1 - p, -further), law)
    return part_of(pair, ((low, high),)), part_of(size, noisy)
