"""Selection of one grid step by the rank of the rows there: the step of a private quantile.  INSIDE the wall.

Definition
    Present rows lie on public steps 0 ... steps - 1.  For step t let L(t) count the rows below t, R(t) those at or
    below t, N all of them.  With p = a/b in lowest terms, 0 < p < 1, and a public integer `offset` c, the target is
    T = a N + b c, in units of 1/b of a rank.  The utility is u(t) = -max(b L(t) - T, T - b R(t)): minus the distance of
    T from the ranks of the rows at t, and where T is within them, as on the quantile itself where many rows are equal,
    the distance from the nearer end of them.  One step is drawn: by the exponential mechanism, with probability
    proportional to exp(rate u), or by permute-and-flip, the first step accepted of all in random order, each with
    probability exp(rate (u - max u)).
    Neighbours: one row replaced, or one added or removed; a row may be missing.
Sensitivity
    D = max(a, b - a) for add-remove, b for replace-one, over every step at once.  Proof.  Adding a row at v adds
    b [v < t] - a, which is -a or b - a, to b L - T, and a - b [v <= t], which is a or a - b, to T - b R: either moves
    by at most max(a, b - a), and so does the greater of them.  Removing one is the reverse.  Replacing a row at v
    by one at v' leaves T as it is, and L and R each move by at most 1: b.  Replacing a missing row by a present one,
    or the reverse, is adding or removing: max(a, b - a) < b.  Both are attained (tests, over all small tables).
    Of several cells, one selection in each: add-remove changes the rows of one cell.  Replacing a row changes one cell,
    by at most b, or two, each by adding or removing, at most m = max(a, b - a).
    Of persons, with weights w_c in {0, ..., A} at one step of each cell c that add up to at most A
    (`rows.row_map.PersonWeight`), it is A times that of rows.  L, R and N add up weights, and the target is a N + b c
    A.  A person adds to b L - T a number from -a w_c to (b - a) w_c, to T - b R one from -(b - a) w_c to a w_c.
    Replaced by another, with weights w'_c, a utility moves by at most d_c = max(a w_c + (b - a) w'_c, (b - a) w_c + a
    w'_c).  sum_c d_c and sum_c d_c**2 are convex in (w, w'), so largest at corners: no weight, or all of it in one
    cell: b A in one cell, m A in one or two.
Noise
    Quantiles at a pure price are selected by permute-and-flip, all others by the exponential mechanism; three steps
    together, by the latter, are another mechanism (`method.quantiles.mechanism_joint_selection`).
    rate = epsilon / (2 D): `noise.select`, exactly.  Of several cells under replace-one D = max(b, 2 m) where epsilon
    is bought, and where rho or mu**2 is: the smaller of the rate of all of it for b, and that of half for m.  Of
    persons: / A.
Cost
    Permute-and-flip: epsilon, pure, and nothing less [McKenna & Sheldon 2020, Theorem 1].  Proof.  It selects the
    largest of u(t) + E(t), E independent and exponential of rate `rate`: with z = max u - log(x) / rate, step t is the
    largest with probability integral of rate exp(-rate (z - u(t))) prod_s (1 - exp(-rate (z - u(s)))) over z > max u,
    s not t, = integral of p(t) prod_s (1 - x p(s)) over 0 < x < 1, p = exp(rate (u - max u)): that of being accepted
    first at uniform times x.  Given the noise of the other steps, let M be the largest of their sums.  Step t is
    selected with probability min(1, exp(-rate (M - u(t)))).  A neighbour moves M and u(t) by at most D each, and the
    probability by a factor of at most exp(2 rate D) = exp(epsilon); so for the mean over the noise, and for sets of
    steps.  (Were all utilities to move in one direction, M - u(t) would move by at most D: epsilon = rate D.  Those of
    ranks do not.)  In rho no more than epsilon**2 / 2 is claimed: of two steps the odds may move by nearly
    exp(2 epsilon), so that it has not the range epsilon of what follows.
    Exponential mechanism: epsilon, pure [McSherry & Talwar 2007].  The log-ratio of two neighbours' probabilities, as
    the step varies, lies in an interval of length epsilon, since it is rate (u - u') plus a constant and |u - u'| <= D:
    bounded range, hence rho = epsilon**2 / 8 [Dong, Durfee & Rogers 2020; Cesar & Rogers 2021], and rho buys
    sqrt(8 rho), rounded down.
    It is not as private as a normal of that rho: an (epsilon, delta) price is a mu**2, and buys the range that costs
    mu**2 (`privacy.gaussian`, Bounded range), by a factor of up to sqrt(pi / 2) less.
    Of several cells: those that do not change cost nothing (they are disjoint), and of those that change epsilons add
    up, as do rhos and mu**2s: rate (2 d_c) each, (2 rate d_c)**2 / 8, and c(2 rate d_c) with c convex and increasing
    (`privacy.gaussian`, Two cells), so that sums of all three are largest at the corners above.
Failures
    None depends on a row: without a row, or with all at one place, a step is drawn all the same.
"""

from __future__ import annotations

from typing import Protocol, TypeVar

from tacit.noise.permute_and_flip import SelectionLaw
from tacit.noise.select import choose

T = TypeVar("T")
T_co = TypeVar("T_co", covariant=True)


class Candidates(Protocol[T_co]):
    """What may be selected, in runs: `points[i]` candidates of the utility `utility[i]`, each chosen by a number."""

    @property
    def utility(self) -> list[int]:
        """Utility of the candidates of each run."""
        ...

    @property
    def points(self) -> list[int]:
        """Number of candidates of each run."""
        ...

    def chosen(self, run: int, place: int) -> T_co:
        """Return candidate number `place` of a run."""
        ...


def select(runs: Candidates[T], law: SelectionLaw) -> T:
    """Return one candidate, such as a step, drawn exactly by `law`.

    >>> from fractions import Fraction
    >>> from tacit.method.shared.rank_utilities import utilities
    >>> from tacit.noise.selection_law import Selection
    >>> select(utilities({2: 3, 5: 1}, 8, Fraction(1, 2)), Selection(Fraction(1000)))
    2
    """
    # steps of equal utility are drawn as one run, and then one of them evenly: the same law, in time
    # that grows with the rows and not with the steps
    run, place = choose(law, runs.utility, runs.points)
    return runs.chosen(run, place)
