"""One selection of three grid steps together: the ends of a quantile's interval, and its point.  INSIDE the wall.

Definition
    Present rows of a cell lie on public steps 0 ... steps - 1.  For step t let L(t) count the rows below t, R(t) those
    at or below t, N all of them.  With p = a/b in lowest terms and a public offset c, the targets are T1 = a N - b c,
    T2 = a N and T3 = a N + b c, in units of 1/b of a rank.  A triple (t1, t2, t3) of any three steps has the distance
        g = max(d1, d2, d3, w (2 c - R(t3) + L(t1))),  di = max(b L(ti) - Ti, Ti - b R(ti)):
    the largest of the distances of the steps' ranks from their targets (`mechanism_rank_selection`), and of the rows
    that are missing from the lower end to the upper one, of which each has the public weight w: b where one row of a
    single cell is replaced, else 0, and then there is no such term.  Its utility is u = -g, and -K or K where g is
    beyond K or -K, K public.  One triple of all is drawn in each cell with probability proportional to exp(rate u), the
    exponential mechanism.
    Neighbours: one row replaced, or one added or removed; a row may be missing.
Sensitivity
    That of the utility of one step: D of `mechanism_rank_selection`, for every triple at once.  Proof.  The greatest of
    several numbers moves by no more than the most that one of them does, and cutting it off at K and -K makes no change
    larger.  c is public: a function of the number of rows that is public, or was released before.  Hence:
    w = 0.  Each di is the distance of a step for the offset -c, 0 or c, and moves by at most m = max(a, b - a) where a
    row is added or removed, by at most b where one is replaced in its cell; and so does g.  All that is proven there of
    several cells, and of persons with weights of which A make a person (targets a N - b c A, a N, a N + b c A), uses of
    a cell only how far a neighbour moves its utilities, and holds as it is: d_c in cell c, and the same corners.
    w = b, one row replaced in a single cell: b.  A row at v counts in R(t3) - L(t1) as f(v) = [v <= t3] - [v < t1]:
    where t1 <= t3 this is 1 from t1 to t3, else 0; where t3 < t1 it is -1 between the two, else 0.  Replacing a row at
    v by one at v' moves R(t3) - L(t1) by f(v') - f(v), by at most 1, and the last term by at most b.  Replacing a
    missing row by a present one, or the reverse, moves it by f(v), by at most 1, and each di by m < b.
    (Were the term kept where rows move between cells, it would move by b in both of them, together by 2 b > 2 m.)
    All are attained (tests).
Noise
    rate as of one selection, of the whole price of the quantile (`rank_utilities.law_for`).  The number of triples with
    each utility is computed exactly (`joint_steps`), `noise.select` draws one utility with its number of triples as
    weight, and one of these evenly: exactly the law above.  K = LIMIT / rate: beyond it are all triples of a grid
    together with a probability below exp(-40), unless none is nearer.
Cost
    That of one selection by the exponential mechanism (`mechanism_rank_selection`, Cost): epsilon, pure [McSherry &
    Talwar 2007]; bounded range epsilon, hence epsilon**2 / 8 in rho [Dong, Durfee & Rogers 2020; Cesar & Rogers 2021],
    and the mu**2 of that range (`privacy.gaussian`).  Three selections of their own would have a third of epsilon each,
    or 1 / sqrt(3) of a range that rho or mu**2 buys.
Failures
    None depends on a row: without a row, or with all at one place, a triple is drawn all the same.
"""

from __future__ import annotations

from collections.abc import Mapping
from fractions import Fraction
from math import ceil
from typing import Final

from tacit.method.quantiles.joint_steps import JointSteps, joint_steps
from tacit.method.shared.measurement import PartSpec

LIMIT: Final = 80
"""Scales of utility at which it is cut off: (2**18 + 1)**3 triples are exp(37.5), and 80 - 37.5 > 40."""


def triples(column: PartSpec, counts: Mapping[int, int], offset: int) -> JointSteps:
    """Return the utilities of all triples; counts: {step: rows there, or weight}.  offset: c, in rows or persons."""
    facts = column.form.parameters
    p = Fraction(facts["numerator"], facts["denominator"])
    far = offset * facts.get("share", 1)
    # steps 0 to G are G + 1
    return joint_steps(counts, facts["G"] + 1, p, far, ceil(LIMIT * column.law.scale), facts["between"])
