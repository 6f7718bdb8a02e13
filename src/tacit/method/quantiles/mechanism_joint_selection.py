"""One selection of three grid steps together: the ends of a quantile's interval, and its point.  INSIDE the wall.

Definition
    Present rows, all in one cell, lie on public steps 0 ... steps - 1.  For step t let L(t) count the rows below t,
    R(t) those at or below t, N all of them.  With p = a/b in lowest terms and a public offset c, the targets are
    T1 = a N - b c, T2 = a N and T3 = a N + b c, in units of 1/b of a rank.  A triple (t1, t2, t3) of any three steps
    has the distance
        g = max(d1, d2, d3, 2 b c - b (R(t3) - L(t1))),  di = max(b L(ti) - Ti, Ti - b R(ti)):
    the largest of the distances of the steps' ranks from their targets (`mechanism_rank_selection`), and of the rows
    that are missing from the lower end to the upper one.  Its utility is u = -g, and -K or K where g is beyond K or
    -K, K public.  One triple of all is drawn with probability proportional to exp(rate u), the exponential mechanism.
    Neighbours: one row replaced; a row may be missing.
Sensitivity
    b, for every triple at once.  Proof.  A row at v counts in R(t3) - L(t1) as f(v) = [v <= t3] - [v < t1]: where
    t1 <= t3 this is 1 from t1 to t3, else 0; where t3 < t1 it is -1 between the two, else 0.  Replacing a present row
    at v by one at v' leaves N and the targets as they are, moves each L and R by at most 1, and R(t3) - L(t1) by
    f(v') - f(v), by at most 1: each of the four terms of g by at most b.  Replacing a missing row by a present one, or
    the reverse, is adding or removing: di moves by at most max(a, b - a) < b (`mechanism_rank_selection`), and the last
    term, in which N has no part, by at most b.  The greatest of several numbers moves by no more than the most that one
    of them does, and cutting it off at K and -K makes no change larger.  Attained (tests).  c is public: a function of
    the number of rows that is public, or was released before.
    Persons, each reduced to one row, are as rows.
Noise
    rate = epsilon / (2 b), epsilon the whole price of the quantile.  The number of triples with each utility is
    computed exactly (`joint_steps`), `noise.select` draws one utility with its number of triples as weight, and one of
    these evenly: exactly the law above.  K = LIMIT / rate: beyond it are all triples of a grid together with a
    probability below exp(-40), unless none is nearer.
Cost
    epsilon, pure [McSherry & Talwar 2007]; bounded range epsilon, hence epsilon**2 / 8 in rho [Dong, Durfee & Rogers
    2020; Cesar & Rogers 2021].  It is bought with epsilon alone: with three selections of their own each has a third
    of epsilon, but of rho each has epsilon / sqrt(3), and is then as near to its rank as the three together.
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
    """Return the utilities of all triples; counts: {step: rows there}.  offset: c, in rows or persons."""
    facts = column.form.parameters
    p = Fraction(facts["numerator"], facts["denominator"])
    # steps 0 to G are G + 1
    return joint_steps(counts, facts["G"] + 1, p, offset, ceil(LIMIT * column.law.scale))
