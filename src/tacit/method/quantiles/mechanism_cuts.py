"""Cuts of one column by halving ranges, and noisy numbers of the rows between them.  INSIDE the wall.

Definition
    In each cell of `by` (without, in the one cell) present rows lie on public steps 0 ... G, and what follows is done
    for itself, with the same public list of ranges and the same rates.  Each row is put on one of T = 2**10 parts of
    its step, evenly and independently of everything: on places 0 ... (G + 1) T - 1, as in `mechanism_many`.
    Cuts: a range is an interval of places, the first all of them.  At each of K levels the ranges of a public list
    (`cut_tree.tree`) are halved: a place is selected by rank near n / 2, n the number of the range's rows, by the
    utility of `mechanism_rank_selection` among the range's places and rows alone; the range is then divided into the
    places before the selected one and those from it on.  An empty range draws nothing: its cut is its end.  Released:
    the step of each cut.
    Between: `cut_tree.edges` makes of the released cuts a rising list of steps e_1 < ... < e_J < G.  Released: the
    numbers of rows at steps 0 ... e_1, e_1 + 1 ... e_2, ..., e_J + 1 ... G, each with noise.
    Neighbours: one row replaced, or one added or removed; a row may be missing.  Persons, each reduced to one row in
    one cell, are as rows; where persons may be in several cells, there are no cuts (`design.cuts_plan`).
Sensitivity
    Cuts: utilities of a range change by at most m = 1 where a row is added to it or removed, by at most b = 2 where one
    of its rows is replaced by another one of its rows (`mechanism_rank_selection`, at 1/2 = a/b; the proof is for any
    interval of places).  Fix all parts of steps, with the same part for each row that both tables have, and all places
    selected at earlier levels.  The ranges of a level, of all cells together, are then the same for both tables, and no
    row is in two.  So at a level
        add-remove: one range changes, by one row: at most 1.
        replace-one: one range changes, by a replaced row: 2, or by one added or removed: 1; or two, of one cell or of
        two, one of which loses a row and the other gains one: 1 each.
    Divided by M = 1 (add-remove) or M = 2 (replace-one) utilities change by at most 1 in one range, or by at most 1/2
    in each of two.  The utilities of level l are multiplied by a public integer w_l: over the levels they change by
    sum w_l in l1, and by sum w_l**2 in squared l2.
    Between: given the cuts each row is in at most one of the numbers, of all cells together.  A row added or removed
    changes one by 1, and a replaced row takes 1 from one and gives 1 to another: 1, or 2, in l1 and in squared l2.
Noise
    In each range a place is drawn exactly by `noise.select`, by the exponential mechanism at the rate r w_l / M.  Parts
    of steps are 10 of 16 bits a row of the operating system's generator, which are even without rounding.
    Numbers of rows have discrete Laplace or rounded normal noise (`mechanism_additive`).
Cost
    The price is divided into a part c of the cuts and a part of the numbers of rows, which are chosen by the cuts:
    adaptive composition, as for a released N (`mechanism`, Cost).
    A selection whose utilities (divided by M, times w) change by d costs 2 r d, in the measure of pure epsilon and of
    bounded range alike (`mechanism_rank_selection`, Cost).  At level l this is 2 r w_l in one range, or r w_l in each
    of two, which are selected independently given what is fixed; levels compose adaptively, as ranges are a function of
    places selected before.
        epsilon: 2 r w_l at each level, and r = epsilon / (2 sum w_l).
        rho: a range of eta costs eta**2 / 8 [Dong, Durfee & Rogers 2020; Cesar & Rogers 2021]; two of eta / 2 cost half
        as much as one of eta.  Level l has the part w_l**2 / sum w**2 of c, and 2 r w_l at most the range that it buys.
        mu**2: the same parts; the cost of a range is convex and 0 at 0 (`privacy.gaussian`, Two cells), so that two of
        eta / 2 cost at most one of eta.
    So for fixed parts of steps, whatever the part of the row that is replaced, added or removed.  Parts have one law,
    independent of the rows.  An outcome and the parts together are then released at this cost, and leaving the parts
    out is post-processing.
    A ledger whose accounting is another one than the price's charges the cuts as `privacy.bought.of_levels` says.
Failures
    None depends on a row: where there are none, or all at one step, places are drawn all the same, and the number of
    cells follows from released cuts.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.quantiles.cut_tree import HALF, edges, moved, tree, weights
from tacit.method.quantiles.many_steps import Halving
from tacit.method.quantiles.query import Quantiles
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Measurement, PartSpec
from tacit.release.parts import Part

Integers = NDArray[np.int64]

PARTS: Final = 2**10
"""Parts of a step, T: a thousandth of the rows at a step is told apart."""


def released(
    shape: Measurement, cells: Sequence[Mapping[int, int]], draw: Any, noise: Any, parts: Any
) -> tuple[Part, ...]:
    """Return the cuts, and the noisy numbers of rows between them; cells: {step: rows there} of each.

    draw, noise, parts: as in `mechanism.released`.
    """
    cutting, between = shape.columns
    G = cutting.form.parameters["G"]
    cuts = tuple(selected(cutting, shape, counts, draw, parts) for counts in cells)
    # post-processing of released cuts: which rows are counted together is public from here on
    counted = tuple(numbers(counts, edges(one, G)) for counts, one in zip(cells, cuts, strict=True))
    return cutting.released(cuts), between.released(noise(counted, between.law))


def selected(
    column: PartSpec, shape: Measurement, counts: Mapping[int, int], draw: Any, parts: Callable[[int], Integers]
) -> tuple[int, ...]:
    """Return the step of each cut, in the order of the tree."""
    G = column.form.parameters["G"]
    places, ranges = placed(counts, parts), ranges_of(shape)
    cut = {0: 0, 1 << column.form.parameters["levels"]: (G + 1) * PARTS}
    for one in ranges:
        low, high = cut[one.low], cut[one.high]
        found = draw(candidates(places, low, high), law_of(column, one, shape)) if high > low else 0
        cut[one.at] = low + found
    return tuple(min(cut[one.at] // PARTS, G) for one in ranges)


def ranges_of(shape: Measurement) -> tuple[Halving, ...]:
    """Return the ranges that are halved, level by level."""
    facts = shape.columns[0].form.parameters
    return tree(cast(Any, cast(Quantiles, shape.query).probs), facts["levels"], facts["reach"])


def placed(counts: Mapping[int, int], parts: Callable[[int], Integers]) -> Integers:
    """Return the place of each row, in rising order."""
    steps = np.array(list(counts), dtype=np.int64)
    many = np.array([counts[step] for step in counts], dtype=np.int64)
    return np.sort(np.repeat(steps, many) * PARTS + parts(int(many.sum())) % PARTS)


def candidates(places: Integers, low: int, high: int) -> rank_utilities.Runs:
    """Return the utilities of the places of a range, counted from its first; places: of all rows, rising."""
    first, last = np.searchsorted(places, [low, high], "left")
    inside = Counter(cast("list[int]", (places[first:last] - low).tolist()))
    return rank_utilities.utilities(inside, high - low, HALF)


def law_of(column: PartSpec, one: Halving, shape: Measurement) -> Any:
    """Return the law of one selection: that of the part, for utilities times w_l / M."""
    law: Any = column.law
    facts = column.form.parameters
    w = weights(facts["levels"], facts["even"])[one.level]
    return type(law)(law.rate * w / moved(shape.neighbors == "replace-one"))


def numbers(counts: Mapping[int, int], last: tuple[int, ...]) -> tuple[int, ...]:
    """Return the number of rows in each cell; last: the last step of each but the last cell, rising.

    >>> numbers({0: 2, 3: 5, 4: 1}, (0, 3)), numbers({}, (2,))
    ((2, 5, 1), (0, 0))
    """
    found = [0] * (len(last) + 1)
    for step, many in counts.items():
        # the first cell whose last step is at or beyond it
        found[bisect_left(last, step)] += many
    return tuple(found)
