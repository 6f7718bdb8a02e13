"""Counts of the levels of a column of text that nobody listed, of those that enough rows have.  INSIDE the wall.

Definition
    A row becomes a level, a text, by public rules (`rows.text_map`), or has none: where the cell is missing or `where`
    does not hold.  With c_l the number of rows with level l, and only for levels with c_l > 0, Y_l = c_l + Z_l; shown
    are the texts and the Y_l of the set S = {l: Y_l >= T}, in the order of the texts' code points.  Then, as second and
    third part, the number of all rows with a level, sum of c_l, and that of rows with a level outside S, both with
    noise of their own.  With a PrivacyUnit c_l adds up weights: a person has A = PARTS units of weight, of which
    about A c / C are in a level that c of the person's C rows with a level have: r(B + c) - r(B), where B rows are in
    the levels before it, by their texts, and r(x) = floor((A x + floor(C / 2)) / C) (`level_counts`).
    Public: schema, query, relation, price, and under replace-one the number of rows (persons); S is released.
    Neighbours: one row replaced, or one added or removed; with a PrivacyUnit, one person with all rows.
Sensitivity
    One unit, a row (A = 1) or a person, is a vector w of integers w_l >= 0 over levels, sum of w_l <= A: r does not
    decrease, r(0) = 0 and r(C) = A, whatever the rows are; `max_rows` plays no part.
    (1) Counts, on any set of levels fixed beforehand: adding or removing a unit changes them by at most A in l1, and
    by sum of w_l^2 <= A sum of w_l <= A^2 in squared l2.  Replacing w by v, both non-negative: by at most 2 A, and by
    |w|^2 + |v|^2 - 2 w.v <= 2 A^2.  Attained by a unit with all weight in one level, and moving to another.
    (2) The sum of all c_l changes by at most A under both relations, as each unit adds from 0 to A.  So does the sum
    over the levels outside any fixed S.
    (3) What one unit makes appear.  Let N be any set of levels that no other unit has.  Levels of N are shown with
    probability at most D(w) = sum over l in N of g(w_l), g(k) = P(Z >= T - k).  D(w) <= max(g(A), A g(1)) =: D.
    Proof.  For T >= A + 1, g is convex on {1, ..., A}: g(k + 1) - g(k) = P(Z = T - k - 1), where T - k - 1 >= 0, does
    not decrease in k, as the law of Z decreases from 0 on.  With L levels, each of weight at least 1, the sum is
    largest at a corner, (L - 1) g(1) + g(A - L + 1), which is convex in L from 1 to A; so it is largest at L = 1 or A.
Noise
    Independent rounded normals, of a scale for each of the three parts (`unlisted_levels.design`).  T is the least
    integer for which D <= delta' is certain, in rational enclosures (`level_thresholds`).
Cost
    An approximate part (mu', delta') (`privacy.gaussian`, Approximate parts).  Let C be the levels that both of two
    neighbouring tables x, y have.  M_C: the same mechanism without the levels outside C; its first part is the Gaussian
    mechanism on C, a set fixed by the pair (x, y), thresholded, which is post-processing.  By (1) M_C(x) and M_C(y) are
    mu_1-GDP [Dong, Roth & Su 2022, Theorem 2.7].  Levels of x outside C are of the unit that differs alone: all levels
    of other units are in C.  Let E be the event that one of them is shown; it depends on the noise of those levels
    alone, which is independent of that of C, and P(E) <= D <= delta' by (3).  Given not E, the first part of M(x) is
    that of M_C(x), so that M(x) = (1 - delta') M_C(x) + delta' R for some law R, and likewise M(y).  This is the
    definition of an approximate part, for both relations with the same D: when a unit is replaced, one unit's levels
    may appear in x and another's in y, but each law is a mixture of its own.
    The second and third part are, for each S, a Gaussian mechanism on a number that changes by at most A, by (2):
    mu_2- and mu_3-GDP, the third chosen by S.  As an adaptive composition, mu'^2 = mu_1^2 + mu_2^2 + mu_3^2 [Dong, Roth
    & Su 2022, Theorem 3.2 and Corollary 3.3], with delta' once.  A ledger that adds epsilon and delta is charged the
    pair (epsilon, delta) that the approximate part implies.
Failures
    None depends on a row: a table without any level releases an empty list.  That a level is in the table at all is
    told by no more than the above; the number of levels, their order in the table and what is cut off are not told.
    Time and memory grow with the number of different texts; the privacy argument does not cover them.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final

import numpy as np

from tacit.method.shared.measurement import Measurement
from tacit.method.shared.mechanism import Mechanism
from tacit.method.shared.mechanism_sums import check_number
from tacit.method.unlisted_levels.design import design, map_of, parts_of
from tacit.noise.exact import added, draw
from tacit.release.parts import Part
from tacit.source import Source


def measure(shape: Measurement, source: Source) -> tuple[Part, ...]:
    """READS ROWS.  Count levels, add noise and keep those that pass; then the two sums."""
    return drawn(shape, exact(shape, source)[0])


def exact(shape: Measurement, source: Source) -> tuple[dict[str, int], ...]:
    """READS ROWS.  Return the counts of all levels before noise, which must not be shown."""
    found = source.level_counts(map_of(shape), shape.unit, shape.where, parts_of(shape))
    check_number(shape.rows, found.rows)
    return (found.counts,)


def drawn(shape: Measurement, counts: dict[str, int]) -> tuple[Part, ...]:
    """Return the parts, from {level: count}, with protecting noise."""
    return released(shape, counts, _noisy)


def released(shape: Measurement, counts: dict[str, int], noisy: Any) -> tuple[Part, ...]:
    """Return the parts, from {level: count}.

    noisy: adds noise of a law to an array of counts; the exact one, which protects, or a seeded one, which simulates.
    """
    levels, every, rest = shape.columns
    # by code point: the order tells nothing of where levels are in the table
    texts = sorted(counts)
    exact = np.array([counts[text] for text in texts], dtype=np.int64)
    sums = noisy(exact, levels.law)
    shown = sums >= levels.form.parameters["threshold"]
    kept = [text for text, own in zip(texts, shown.tolist(), strict=True) if own]
    first = levels.released(tuple((one,) for one in sums[shown].tolist()))
    # a sum over levels outside S, which is released: fixed as far as the third part is concerned
    totals = (exact.sum(keepdims=True), exact[~shown].sum(keepdims=True))
    made = [
        part.released(((int(noisy(total, part.law)[0]),),)) for part, total in zip((every, rest), totals, strict=True)
    ]
    return (replace(first, texts=tuple(kept)), *made)


def _noisy(counts: Any, law: Any) -> Any:
    """Add protecting noise, one draw for each count."""
    return added(counts, draw(law, len(counts)))


MECHANISM: Final = Mechanism(design, measure, exact)
