"""Recompute an encoding's derived constants and its sensitivities from its free constants.

The proofs are in the methods' rooms and `method.shared`, which this room must not import; the formulas are repeated
here, and a test compares them with those for which noise is drawn.  A document that states anything else is refused.
Public facts only; no data here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Final

QUANTILES: Final = ("ranks", "ranks-2", "point", "joint-2", "joint-3", "joint-4")
"""Forms of quantiles, which alone of the selections may have several cells."""
MOST_LEVELS: Final = 5
"""Most times that quantiles are halved: 2**5 - 1 are more than are asked for at once."""
MOST_CUT_LEVELS: Final = 10
"""Most times that ranges of a column are halved for its cuts."""
SQUARED: Final = 2**16
"""Most steps of a grid whose values are squared."""
MASS: Final = 2**20
"""Bound on what one row adds to the five Bernstein sums together."""


@dataclass(frozen=True)
class EncodingFacts:
    """What a sensitivity depends on, beside the form's constants: the kind of noise, whether a neighbour replaces a row
    (else it adds or removes one), and whether there are several cells.
    """

    laplace: bool
    replaces: bool
    several: bool

    @property
    def twice(self) -> int:
        """How many rows change in forms without negative entries."""
        return 2 if self.replaces else 1


@dataclass(frozen=True)
class ImpliedConstants:
    """Constants that follow from the others, and the sensitivities; None where there is no closed form."""

    constants: Mapping[str, int]
    l1: int | None = None
    l2_squared: int | None = None


Rule = Callable[[Mapping[str, int], EncodingFacts], "ImpliedConstants | None"]
"""Constants and facts -> what follows; None where no such form is proven."""


def implied_constants(form: str, parameters: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Return what follows from an encoding's constants; None where no proof covers them.

    >>> implied_constants("group", {"G": 64, "middle": 2}, EncodingFacts(laplace=True, replaces=True, several=True))
    ImpliedConstants(constants={'middle': 2}, l1=128, l2_squared=8192)
    """
    rule = RULES.get(form)
    if rule is None:
        return ImpliedConstants({})
    return _stored(form, tuple(sorted(parameters.items())), facts)


@lru_cache(maxsize=4096)
def _stored(form: str, parameters: tuple[tuple[str, int], ...], facts: EncodingFacts) -> ImpliedConstants | None:
    """Apply the rule of an encoding; cached, as thousands of documents have the same few."""
    given = dict(parameters)
    if form != "range" and not 1 <= given["G"] < 2**40:
        return None
    share = given.get("share", 1)
    found = RULES[form](given, facts) if 1 <= share <= 2**20 else None
    if found is None or share == 1 or found.l1 is None or found.l2_squared is None:
        return found
    return ImpliedConstants(found.constants, share * found.l1, share * share * found.l2_squared)


def _divisor(G: int, facts: EncodingFacts) -> int | None:
    """Return the divisor of squares in "plain" and "exclusion"; None on a grid without a proof."""
    if facts.laplace:
        # theory §12, P: t = floor(w**2 / (2 H)) and G = 2 H
        return G if G % 2 == 0 else None
    # theory §12, Z: c = 5 H / 8 takes 8 | H, and is proven for H >= 219
    return 5 * G // 16 if G % 16 == 0 and G // 2 >= 219 else None


def _plain(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    G, divisor = given["G"], _divisor(given["G"], facts)
    if divisor is None or not facts.replaces:
        return None
    # in l1: d + d s / c is at most 441 H / 160 (at d = 21 H / 16), and 1 for the floors
    return ImpliedConstants({"divisor": divisor}, G if facts.laplace else -(-441 * (G // 2) // 160) + 1, G * G)


def _blocks(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Sums over a fixed number of blocks, one of which is replaced under both relations."""
    return _plain(given, EncodingFacts(facts.laplace, True, False)) if given["blocks"] >= 1 else None


def _blocks_2(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """The same where a block without an estimate is absent."""
    return _exclusion_2(given, EncodingFacts(facts.laplace, True, False)) if given["blocks"] >= 1 else None


def _blocks_resampled(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """The same with variances of blocks beside their estimates: |w| + j <= H, in units of H / 4."""
    found = _blocks_2(given, facts)
    H = given["G"] // 2
    return None if found is None or H % 4 or H < 4 else replace(found, constants={**found.constants, "divisor": H // 4})


def _exclusion(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Follow the proof of (w, floor(w**2 / c), kappa) of present rows, w = v - H, which releases of 0.1 have.

    Two present rows are as in "plain".  Present against absent, Laplace: |w| + w**2 / 2H + H/2 <= 2H; Gaussian:
    H**2 (1 + (8/5)**2 + (21/32)**2) < 4 H**2, and in l1 H (1 + 8/5 + 21/32) = 521H/160.
    """
    G, divisor = given["G"], _divisor(given["G"], facts)
    if divisor is None or not facts.replaces:
        return None
    H = G // 2
    # theory §13 E, §16: kappa = 1/2, and kappa = 21/32 with lambda = 8/5, as 1 + lambda**2 + kappa**2 <= 4
    presence = H // 2 if facts.laplace else 21 * H // 32
    # in l1, a row at a bound that goes missing: (1 + 8/5 + 21/32) H = 521 H / 160
    return ImpliedConstants({"divisor": divisor, "presence": presence}, G if facts.laplace else 521 * H // 160, G * G)


def _exclusion_2(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    G, H = given["G"], given["G"] // 2
    if G % 2 or H < 2 or not facts.replaces:
        return None
    divisor, presence, l1 = (G, H, G) if facts.laplace else (H, isqrt(3 * H * H), 3 * H)
    return ImpliedConstants({"divisor": divisor, "presence": presence}, l1, G * G)


def _total(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    G, offset = given["G"], given["offset"]
    a, b = min(0, offset), max(0, offset + G)
    S, moves = b - a, facts.several or not facts.replaces
    if not 4 <= S < 2**40 or (moves and a < 0 < b):
        return None
    twice = facts.twice if facts.several else 1
    l1 = S if facts.laplace else 9 * S // 8 + 1
    return ImpliedConstants({"divisor": S if facts.laplace else -(-S // 2)}, twice * l1, twice * S * S)


def _group(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    # forms B and C of theory §12; C is proven from G = 32 on
    G, m = given["G"], 2 if facts.laplace else 3
    if m == 3 and G < 32:
        return None
    # C in l1: B0 + B1 + B2 + (v - t) <= G + G / 4, rounded up
    return ImpliedConstants({"middle": m}, facts.twice * (G if m == 2 else 5 * G // 4 + 1), facts.twice * G * G)


def _bernstein(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    G = given["G"]
    # rounded up, so that G**4 / d is at most MASS
    d = max(1, -(-(G**4) // MASS))
    M = G**4 // d
    return ImpliedConstants({"divisor": d, "mass": M}, facts.twice * M, facts.twice * M * M)


def _deviations(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    G = given["G"]
    if not facts.replaces or given["rows"] < 2 or G > SQUARED:
        return None
    return ImpliedConstants({}, G * G, G**4)


def _binary_plain(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    return ImpliedConstants({"G": 1}, 1, 1) if facts.replaces else None


def _binary_exclusion(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    # a value that flips changes the sign's sum by 2 a; one that goes missing changes both, a**2 + b**2 <= (2 a)**2
    a, b = (1, 1) if facts.laplace else (2, 3)
    return (
        ImpliedConstants({"G": 1, "sign": a, "presence": b}, max(2 * a, a + b), 4 * a * a) if facts.replaces else None
    )


def _one(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Each row adds 1 to exactly one of the integers."""
    return ImpliedConstants({"G": 1}, facts.twice, facts.twice)


def _count(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Each row adds 1 to one cell; with a single cell a replaced row can only enter or leave it: sensitivity 1."""
    twice = facts.twice if facts.several else 1
    return ImpliedConstants({"G": 1}, twice, twice)


def _sparse(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    return _count(given, facts) if given["threshold"] >= 1 else None


def _unlisted(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    return _one(given, facts) if given["threshold"] > given.get("share", 1) else None  # above the weight of one unit


def _classes(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    return _one(given, facts) if given["classes"] in (3, 4) else None


def _weighted(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    G, A, p = given["G"], given["A"], given["first"]
    m, alone = (2, 2) if facts.laplace else (3, 3)
    if A % 2 or not 2 <= A < 2**40 or p not in (1, alone) or (m == 3 and 1 < G < 32):
        return None
    l1 = A * G
    if m == 3:
        l1 = A * (5 * G // 4 + 1) if p == 1 else (9 * A // 7 + 2) * (G + 1)
    return ImpliedConstants({"middle": m}, facts.twice * l1, facts.twice * (A * G) ** 2)


def _counted(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    A = given["A"]
    several = given["less"] == 1 if facts.laplace else given["edge"] == 2
    if A % 2 or not 2 <= A < 2**40 or (several and not facts.several):
        return None
    less, edge = (int(several), 1) if facts.laplace else (0, 2 if several else 3)
    twice = facts.twice if facts.several or several else 1
    l1 = A if facts.laplace else 3 * A if several else 4 * A // 3 + 3
    return ImpliedConstants({"G": 1, "less": less, "edge": edge}, twice * l1, twice * A * A)


def _probability(given: Mapping[str, int]) -> Fraction | None:
    a, b = given["numerator"], given["denominator"]
    return Fraction(a, b) if 0 < a < b <= 2 * 10_000 and Fraction(a, b).denominator == b else None


def _ranks(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    p = _probability(given)
    if p is None:
        return None
    one, leaving = most_moved(p, facts)
    # one cell changes where there is only one, or where a row is added or removed
    if not facts.several or not facts.replaces:
        return ImpliedConstants({}, one, one * one)
    # a replaced row moves within a cell, or leaves one and enters another
    return ImpliedConstants({}, max(one, 2 * leaving), max(one * one, 2 * leaving * leaving))


def _joint(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Three steps selected together, with noise of epsilon, of rows of one cell that are replaced."""
    p = _probability(given)
    if p is None or not facts.laplace or not facts.replaces or facts.several:
        return None
    return ImpliedConstants({}, p.denominator, p.denominator**2)


def _joint_2(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Three steps selected together: as of one step, and rows between the ends count where all rows are in one cell."""
    of_step = _ranks(given, facts)
    if of_step is None:
        return None
    between = given["denominator"] if facts.replaces and not facts.several else 0
    return ImpliedConstants({"between": between}, of_step.l1, of_step.l2_squared)


def _halved(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Quantiles selected by halving ranges, with noise of epsilon, of rows of one cell."""
    K = given["levels"]
    # utilities are divided by their own changes: 1 at each level
    return ImpliedConstants({}, K, K) if facts.laplace and not facts.several and 2 <= K <= MOST_LEVELS else None


def cut_weights(levels: int, even: int) -> tuple[int, ...]:
    """Return the weights of the levels of cuts: 1 for the first `even`, then 2, 3, 5, ..., each the sum of two before.

    As `method.quantiles.cut_tree` has them.
    """
    later = [2, 3]
    while len(later) < levels:
        later.append(later[-1] + later[-2])
    return (*[1] * even, *later)[:levels]


def _cuts(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Cuts by halving ranges: utilities change by the weight of each level, in one cell or in two."""
    K, even = given["levels"], given["even"]
    if not 2 <= K <= MOST_CUT_LEVELS or not 1 <= even <= K or not 0 <= given["reach"] <= 2**K:
        return None
    w = cut_weights(K, even)
    return ImpliedConstants({}, sum(w), sum(one * one for one in w))


def _between(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Rows between the cuts of a column: each is in one number at most."""
    return ImpliedConstants({}, facts.twice, facts.twice)


def _quartiles(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """Quartiles of the estimates of a fixed number of blocks, one of which is replaced under both relations."""
    # the utility in units of 1 / denominator: a replaced block moves it by at most 4
    return ImpliedConstants({"numerator": 1, "denominator": 4}, 4, 16)


def _range(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    p = _probability(given)
    if p is None or given["bins"] < 2:
        return None
    one = most_moved(p, facts)[0]
    return ImpliedConstants({}, one, one * one)


def _data_set(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """A data set by its distance in rows (persons), rounded up: a neighbour moves it by 1."""
    return ImpliedConstants({}, 1, 1) if not facts.several and given["cells"] >= 2 else None


def _candidate(given: Mapping[str, int], facts: EncodingFacts) -> ImpliedConstants | None:
    """One of G + 1 candidates; a neighbour moves the difference of two utilities by at most the spread."""
    R = given["spread"]
    return ImpliedConstants({}, R, R * R) if not facts.several and 1 <= R < 2**40 else None


def most_moved(p: Fraction, facts: EncodingFacts) -> tuple[int, int]:
    """Return the largest change of a rank utility by a neighbour, and by a row that leaves the cell.

    See `method.shared.rank_utilities`.
    """
    leaving = max(p.numerator, p.denominator - p.numerator)
    return (p.denominator if facts.replaces else leaving), leaving


RULES: Final[Mapping[str, Rule]] = {
    "plain": _plain,
    "exclusion": _exclusion,
    "exclusion-2": _exclusion_2,
    "total": _total,
    "group": _group,
    "bernstein": _bernstein,
    "deviations": _deviations,
    "binary-plain": _binary_plain,
    "binary-exclusion": _binary_exclusion,
    "binary-group": _one,
    "count": _count,
    "size": _count,
    "present": _count,
    "histogram": _count,
    "sparse-histogram": _sparse,
    "unlisted": _unlisted,
    "classes": _classes,
    "counted": _counted,
    "weighted": _weighted,
    "blocks": _blocks,
    "blocks-2": _blocks_2,
    "blocks-resampled": _blocks_resampled,
    **dict.fromkeys(QUANTILES, _ranks),
    "joint": _joint,
    "joint-2": _joint_2,
    "joint-3": _joint_2,
    "joint-4": _joint_2,
    "halved": _halved,
    "cuts": _cuts,
    "between": _between,
    "quartiles": _quartiles,
    "range": _range,
    "data-set": _data_set,
    "candidate": _candidate,
}
"""By form; those of regressions follow from a whole layout, and are not told here."""
