"""Quantiles by private selection: a step for each quantile, and one on either side of it.  INSIDE the wall.

Definition
    Rows (for which `where` holds) are put on a public grid of at most MOST_STEPS steps (`tacit.rows.row_map`).  With a
    PrivacyUnit the rows of a person are first reduced to their mean: with `by`, to one mean in each cell, whose weight
    is the part of the person's present rows that are in the cell, so that the weights of a person add up to one, in
    integers at most A (`rows.row_map.PersonWeight`).
    Released, in each cell of `by` and for each probability p: three steps, selected by rank near p N - c, p N and
    p N + c, together (`mechanism_joint_selection`), or, where that would take long because the price is small, each for
    itself (`method.shared.mechanism_rank_selection`).  N is the number (or weight) of present rows in the cell.  c is a
    function of p, the level, the price and N; where N is not public, a noisy number is released first and takes its
    place in c.  With interval=False only the step near p N is selected, and no N is
    released; many such steps of one cell, at a pure price, are selected by halving (`mechanism_many`, with its proof).
    Many quantiles with intervals, or few of few rows, are read from cuts and the numbers of rows between them, where
    that is expected to tell more (`mechanism_cuts`, with its proof).
    Public: schema, query, relation, price, and under replace-one the number of rows (persons).
    Neighbours: one row (person) replaced, or one added or removed.
Sensitivity
    Write p = a/b in lowest terms.  The utility of a step changes by at most max(a, b - a) under add-remove and by at
    most b under replace-one, whatever the offset c.  With several cells a replaced row can change two of them, and
    persons multiply by A: all proven in `mechanism_rank_selection`.  That of a triple of steps changes by no more
    (`mechanism_joint_selection`).
    N: as a count, 1 in l1 and squared l2 (replace-one with several cells: 2 and 2); persons in several cells: times A
    and A^2 (`method.shared.weighted_encoding.shared`).
Noise
    Selections are drawn exactly by `noise.select`: steps for themselves at pure prices by permute-and-flip, all others,
    and triples, by the exponential mechanism, at the same rate for the same price.  N has discrete Laplace or rounded
    normal noise, as in `moments`.
Cost
    All parts add up to the price.  Under rho a selection that costs rho' has epsilon' = sqrt(8 rho'), rounded down
    (bounded range, `mechanism_rank_selection`).  Under (epsilon, delta) the parts share mu**2, and a selection has the
    range that costs its share.  Under pure epsilon the epsilons add up, and a ledger that adds rho or mu**2 charges
    what any epsilon-private mechanism costs, since permute-and-flip has no smaller range.  The offset c depends on the
    released N only: adaptive composition [Bun & Steinke 2016, Lemma 2.3; Dong, Roth & Su 2022, Theorem 3.2; Dwork &
    Roth 2014, Theorem 3.16].
Failures
    None depends on a row: steps are selected also in an empty cell, and where all rows are at one place.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, cast

from tacit.method.quantiles.design import RUNGS, design, reach, split
from tacit.method.quantiles.mechanism_cuts import released as by_cuts
from tacit.method.quantiles.mechanism_joint_selection import triples
from tacit.method.quantiles.mechanism_many import secret_parts
from tacit.method.quantiles.mechanism_many import selected as by_halving
from tacit.method.quantiles.query import Quantiles
from tacit.method.shared import mechanism_rank_selection as ranks
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_additive import protect
from tacit.method.shared.mechanism_sums import check_number
from tacit.release.parts import Cells, Part
from tacit.rows.row_map import PersonWeight
from tacit.source import Source

# Noise --------------------------------------------------------------------------------------------------------------


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Return noisy N where it is not public, and then the selections, each protected as it is made."""
    return released(shape, exact(shape, source), ranks.select, protect)


def exact(shape: Measurement, source: Source) -> tuple[dict[int, int], ...]:
    """READS ROWS.  Return {step: rows, or weight of persons} of each cell: never to be shown."""
    column = shape.columns[0]
    assert column.rowmap is not None
    found = source.ranked(
        column.rowmap, shape.keys, shape.unit, shape.where, cast("PersonWeight | None", column.weight)
    )
    if column.weight is None:  # a person in several cells has an entry in each: their number is not the persons'
        check_number(shape.rows, found.rows)
    return found.cells


def released(
    shape: Measurement, cells: Sequence[Mapping[int, int]], draw: Any, noise: Any, parts: Any = secret_parts
) -> tuple[Part, ...]:
    """Return the parts, from {step: weight} of each cell.

    draw, noise, parts: select a step, add noise and divide steps; either the exact ones, which protect, or seeded ones,
    which simulate.
    """
    chosen, sizes = split(shape)
    if chosen[0].form.name == "cuts":
        return by_cuts(shape, cells, draw, noise, parts)
    if chosen[0].form.name == "halved":
        (counts,), probs = cells, cast("tuple[Fraction, ...]", cast(Quantiles, shape.query).probs)
        replaces = shape.neighbors == "replace-one"
        return (chosen[0].released((by_halving(chosen[0], probs, counts, replaces, draw, parts),)),)
    level = cast(Quantiles, shape.query).level
    size, last = [float(shape.rows or 0)] * len(cells), list[Part]()
    if sizes is not None:
        A = sizes.form.parameters.get("share", 1)
        noisy: Cells = noise(tuple((sum(counts.values()),) for counts in cells), sizes.law)
        # post-processing of the released N: a negative number of rows has no quantiles
        size = [max(n / A, 0.0) for (n,) in noisy]
        last.append(sizes.released(noisy))
    made: list[Part] = []
    for column in chosen:
        # `reach` sees the released or public N only, so the offsets are public before a step is drawn
        far = [reach(column, n, level) for n in size]
        made.append(
            column.released(tuple(_steps(column, counts, c, draw) for counts, c in zip(cells, far, strict=True)))
        )
    return (*made, *last)


def _steps(column: PartSpec, counts: Mapping[int, int], c: int, draw: Any) -> tuple[int, ...]:
    """Return the steps of one probability in one cell: one draw of all, or one draw each."""
    if column.form.name == "joint-4":
        return draw(triples(column, counts, c), column.law)
    return tuple(draw(utilities(column, counts, c * rung), column.law) for rung in RUNGS[column.form.name])


def utilities(column: PartSpec, counts: Mapping[int, int], offset: int) -> rank_utilities.Runs:
    """Return the utilities of a selection near rank p N + offset; offset: in rows or persons."""
    facts = column.form.parameters
    p = Fraction(facts["numerator"], facts["denominator"])
    # `counts` of persons are in parts, `share` to a person, and so must the offset be; steps 0 to G are G + 1
    return rank_utilities.utilities(counts, facts["G"] + 1, p, offset * facts.get("share", 1))


MECHANISM: Final = Mechanism(design, measure, exact)
