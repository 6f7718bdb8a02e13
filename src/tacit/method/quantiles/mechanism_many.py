"""Many quantiles of one column by halving ranges: a step for each, those of a level at one price.  INSIDE the wall.

Definition
    Present rows, all in one cell, lie on public steps 0 ... G.  Each row is put on one of T = 2**16 parts of its step,
    evenly and independently of everything: on places 0 ... (G + 1) T - 1.  (Rows at one step, between which no
    selection of a step could tell, are so divided at the right rank.)  A range is an interval of places, the first all
    of them.  For rising probabilities p_1 ... p_m: in a range between the places selected for p_i and p_j (or the ends,
    of probabilities 0 and 1) the middle one p_k, k = floor((i + j) / 2), is selected by rank near s n, n the number of
    the range's rows and s = (p_k - p_i) / (p_j - p_i), by the utility of `mechanism_rank_selection` among the range's
    places and rows alone.  The range is then divided: places before the selected one, and those from it on.  An empty
    range has no row and draws nothing: its quantiles are at its end.  Released: the step of each selected place.
    [Kaplan, Schnapp & Stemmer 2022, Algorithm 1]
    Neighbours: one row replaced, or one added or removed; a row may be missing.
Sensitivity
    Write s = a/b in lowest terms, and m = max(a, b - a).  Utilities of a range change by at most m where a row is added
    to it or removed, by at most b where one of its rows is replaced by another one of its rows
    (`mechanism_rank_selection`, whose proof is for any interval of places).
    Fix all parts of steps, with the same part for each row that both tables have, and all places selected at earlier
    levels.  The ranges of a level are then the same for both tables, and disjoint: each row is in one of them, or in
    none where it lies in a range without a further quantile.  So at a level
        add-remove: one range changes, by one row: at most m.
        replace-one: one range changes, by a replaced row: b, or by one added or removed: m; or two, one of which loses
        a row and the other gains one: its own m each.  At level 0 there is one range, and two cannot change.
    Divided by M = m (add-remove), b (replace-one, level 0), max(b, 2 m) (replace-one, other levels) utilities change by
    at most 1 in one range or by at most 1/2 in each of two: 1 in l1 and in squared l2, and over the K levels K.
    Persons, each reduced to one row, are as rows.
Noise
    In each range a place is drawn exactly by `noise.select`, by permute-and-flip at the rate r / M.  Parts of steps are
    16 bits a row of the operating system's generator, which are even without rounding.
Cost
    epsilon, pure.  r = epsilon / (2 K), K the number of binary digits of m, the number of levels.  Where utilities of
    a range change by d M its selection costs 2 r d (`mechanism_rank_selection`, Cost): 2 r = epsilon / K where one
    range changes, and at most r + r where two do.  Ranges of a level are selected independently given what is fixed,
    and the levels compose adaptively, as ranges are a function of places selected before: K times epsilon / K.
    So for fixed parts of steps, whatever the part of the row that is replaced, added or removed.  Parts have one law,
    independent of the rows, so that the probability of an outcome is the mean over them, in both tables, of
    probabilities of which the one is at most exp(epsilon) times the other; so are then the means.
    A ledger that adds rho or mu**2 charges what any epsilon-private mechanism costs.  Only a pure price is divided so:
    of rho a level has epsilon / sqrt(K) and a quantile alone epsilon / sqrt(m), and halving hardly gains.
Failures
    None depends on a row: where there are none, or all at one step, places are drawn all the same.
"""

from __future__ import annotations

import secrets
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, cast

import numpy as np
from numpy.typing import NDArray

from tacit.method.quantiles.many_steps import Halving, halvings
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import PartSpec

Integers = NDArray[np.int64]

PARTS: Final = 2**16
"""Parts of a step, T: two bytes a row say which."""


def secret_parts(rows: int) -> Integers:
    """Return the part of its step for each of a number of rows, evenly from 0 to PARTS - 1, shape (rows,)."""
    return np.frombuffer(secrets.token_bytes(2 * rows), dtype="<u2").astype(np.int64)


def selected(
    column: PartSpec,
    probs: Sequence[Fraction],
    counts: Mapping[int, int],
    replaces: bool,
    draw: Any,
    parts: Callable[[int], Integers] = secret_parts,
) -> tuple[int, ...]:
    """Return the step of each of the quantiles; counts: {step: rows there}.

    draw: selects a candidate by a law.  parts: draws the parts of steps, by default secret ones.
    """
    end = (column.form.parameters["G"] + 1) * PARTS
    places = placed(counts, parts)
    # at -1 and at len(probs) are the ends of all places
    cut = {-1: 0, len(probs): end}
    for one in halvings(tuple(probs)):
        low, high = cut[one.low], cut[one.high]
        found = draw(candidates(one, places, low, high), law_of(column, one, replaces)) if high > low else 0
        cut[one.at] = low + found
    return tuple(min(cut[i] // PARTS, end // PARTS - 1) for i in range(len(probs)))


def placed(counts: Mapping[int, int], parts: Callable[[int], Integers]) -> Integers:
    """Return the place of each row, in rising order."""
    steps = np.array(list(counts), dtype=np.int64)
    many = np.array([counts[step] for step in counts], dtype=np.int64)
    return np.sort(np.repeat(steps, many) * PARTS + parts(int(many.sum())))


def candidates(one: Halving, places: Integers, low: int, high: int) -> rank_utilities.Runs:
    """Return the utilities of the places of a range, counted from its first; places: of all rows, rising."""
    first, last = np.searchsorted(places, [low, high], "left")
    inside = Counter(cast("list[int]", (places[first:last] - low).tolist()))
    return rank_utilities.utilities(inside, high - low, one.share)


def law_of(column: PartSpec, one: Halving, replaces: bool) -> Any:
    """Return the law of one selection: that of the part, for utilities that are divided by M."""
    law: Any = column.law
    return type(law)(law.rate / one.most(replaces=replaces))
