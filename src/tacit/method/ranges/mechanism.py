"""A range of a column with unknown bounds, by the exponential mechanism on a wide public grid.  INSIDE the wall.

Definition
    Present rows are counted in the public bins between the WIDE edges (`schema.row_maps_of_columns`).  Released are a
    noisy number N of them, and then two bins, selected by rank (`method.shared.mechanism_rank_selection`): one near
    rank T, the other near rank N - T.  T is the larger of p N, where p is half of `outside`, and a margin in ranks.
    The margin is so large that all empty bins beyond the rows together have only EMPTY_POINTS_WEIGHT (1%) of the
    selection weight of a bin that holds rank T.  With a PrivacyUnit the rows of a person have weights that add up to
    one in all (`rows.row_map.PersonWeight`), divided over the bins by the number of rows there; in integers, at most A
    in all.
    Public: schema, query, relation, price, and under replace-one the number of rows (persons).
    Neighbours: one row replaced, or one added or removed; with a PrivacyUnit, one person with all rows.
Sensitivity
    Write p = a/b in lowest terms.  The utility of a bin changes by at most max(a, b - a) under add-remove and by at
    most b under replace-one, for p and 1 - p alike; proof: `mechanism_rank_selection`.  Persons: A times that, since
    utilities depend linearly on the weights below and in a bin.  With L the weight below a bin, a person's rows add to
    b L - T between -a A and (b - a) A in all, and removing them takes the same away.
    N: at most 1 (persons: A) under both relations, in the one cell that there is.
Noise
    Both selections are drawn exactly by `noise.select`.  N has discrete Laplace or rounded normal noise.
Cost
    The share SIZE (a twentieth) of the price for N, and half of the rest for each selection, as in
    `method.quantiles.mechanism`.  The margin is public and the offsets of the targets depend on the released N only:
    adaptive composition [Bun & Steinke 2016, Lemma 2.3; Dong, Roth & Su 2022, Theorem 3.2; Dwork & Roth 2014, Theorem
    3.16].
Failures
    None depends on a row: a bin is selected also where there is no row, or where all rows are in one bin.
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
    """READS ROWS.  Return noisy N and then the two selected bins, each protected as it is made."""
    return released(shape, exact(shape, source), ranks.select, protect)


def exact(shape: Measurement, source: Source) -> tuple[dict[int, int], ...]:
    """READS ROWS.  Return {bin: rows, or weight of persons} of the only cell: never to be shown."""
    pair = shape.columns[0]
    assert pair.key is not None
    term = SumTerm(None) if pair.weight is None else SumTerm(None, ONE, pair.weight, IDENTITY)
    found = source.aggregate((pair.key,), (term,), shape.unit)
    if shape.unit is None:
        check_rows(shape, found)
    return ({i: cell[0] for i, cell in enumerate(found.cells) if cell[0]},)


def released(shape: Measurement, cells: Sequence[Mapping[int, int]], draw: Any, noise: Any) -> tuple[Part, ...]:
    """Return the parts, from {bin: weight} of the only cell.

    draw, noise: select a bin and add noise; either the exact ones, which protect, or seeded ones, which simulate.
    """
    (counts,) = cells
    pair, size = shape.columns
    facts, law = pair.form.parameters, cast(Selection, pair.law)
    # N first: the offsets of both selections depend on the released N, never on the exact one
    noisy: Cells = noise(((sum(counts.values()),),), size.law)
    N = max(noisy[0][0] / facts["share"], 0.0)
    p = Fraction(facts["numerator"], facts["denominator"])
    # ranks beyond p N: a function of the released N and public facts, never of `counts`
    further = math.ceil(max(0.0, target(facts, float(law.scale), N) - float(p) * N)) * facts["share"]
    # the two targets, T and N - T: p N + further, and (1 - p) N - further
    low = draw(rank_utilities.utilities(counts, facts["bins"], p, further), law)
    high = draw(rank_utilities.utilities(counts, facts["bins"], 1 - p, -further), law)
    return pair.released(((low, high),)), size.released(noisy)


MECHANISM: Final = Mechanism(design, measure, exact)
