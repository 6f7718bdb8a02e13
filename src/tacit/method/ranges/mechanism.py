"""A range of a column of which nothing is known, by the exponential mechanism on a wide public grid.  INSIDE the wall.

Definition
    Present rows are counted in public bins between WIDE edges (`schema.row_maps_of_columns`).  Released: a noisy number
    N of them, and two bins, selected by rank (`method.shared.mechanism_rank_selection`) near T and N - T, T the larger
    of p N (p is half of `outside`) and a cushion: so many ranks that empty bins beyond the rows together weigh 1% of
    a bin that holds T.  With a PrivacyUnit a person's rows have a weight of one in all (`rows.row_map.Share`), given
    out by their bins.
    Public: schema, query, relation, price, and under replace-one the number of rows (persons).  Neighbours as for
    `moments`.
Sensitivity
    Selections: that of ranks' utilities, with p and 1 - p alike; persons: times the share's whole A, since utilities
    are linear in the weights below and at a step: a person's rows add to b L - T what each adds times its weight, in
    all between -a A and (b - a) A, and removed ones take as much away.  N: 1, or A.
Noise
    Selections exactly by `noise.select`; N by discrete Laplace or rounded normal.
Cost
    A twentieth for N, the rest in halves for the selections, each as in `method.quantiles.mechanism`; the cushion is
    public and the offset depends on the released N only: adaptive composition.
Failures
    None depends on a row: without a row, or with all in one bin, bins are selected all the same.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, cast

from tacit.method.ranges.design import design, target
from tacit.method.shared import mechanism_rank_selection as ranks
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_additive import protect
from tacit.method.shared.mechanism_sums import check_rows
from tacit.noise.selection_law import Selection
from tacit.release.parts import Cells, Part
from tacit.rows.row_map import IDENTITY, ONE, SumTerm
from tacit.source import Source

# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  N, and then the two bins, each protected as it is made."""
    return released(shape, exact(shape, source), ranks.select, protect)


def exact(shape: Measurement, source: Source) -> tuple[dict[int, int], ...]:
    """READS ROWS.  {bin: rows, or weight of persons}, one cell of all: never to be shown."""
    pair = shape.columns[0]
    assert pair.key is not None
    term = SumTerm(None) if pair.weight is None else SumTerm(None, ONE, pair.weight, IDENTITY)
    found = source.aggregate((pair.key,), (term,), shape.unit)
    if shape.unit is None:
        check_rows(shape, found)
    return ({i: cell[0] for i, cell in enumerate(found.cells) if cell[0]},)


def released(shape: Measurement, cells: Sequence[Mapping[int, int]], draw: Any, noise: Any) -> tuple[Part, ...]:
    """The parts from {bin: weight} of the only cell; `draw` (of runs, by a law) and `noise` protect, or simulate."""
    (counts,) = cells
    pair, size = shape.columns
    facts, law = pair.form.parameters, cast(Selection, pair.law)
    noisy: Cells = noise(((sum(counts.values()),),), size.law)
    N = max(noisy[0][0] / facts["share"], 0.0)
    p = Fraction(facts["numerator"], facts["denominator"])
    further = math.ceil(max(0.0, target(facts, float(law.scale), N) - float(p) * N)) * facts["share"]
    low = draw(rank_utilities.utilities(counts, facts["bins"], p, further), law)
    high = draw(rank_utilities.utilities(counts, facts["bins"], 1 - p, -further), law)
    return pair.released(((low, high),)), size.released(noisy)


MECHANISM: Final = Mechanism(design, measure, exact, released)
