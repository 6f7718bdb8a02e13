"""Expected precision of the combined answers of many parties, from public sizes and the price alone (theory §6).

A party of N rows has a sampling variance a / N and a noise variance b / N², whose b falls with the square of ε, or with
ρ; parties that estimate one quantity together have the variance 1 / Σ 1 / (a / N + b / N²).  So the ratio of noise to
sampling variance, b / (a N), is that of a single party: more parties narrow the interval but leave the ratio unchanged.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from decimal import ROUND_CEILING, Context, Decimal
from fractions import Fraction
from statistics import NormalDist
from typing import Final

from tacit.method.shared.plan_expected import Expected
from tacit.planning.printed_widths import to_three
from tacit.privacy import Cost, mu_squared_to_epsilon
from tacit.privacy.cost import MOST
from tacit.privacy.exact_numbers import significant

FREE: Final = 0.05
"""Privacy is called free where it adds no more than this part to the sampling variance: 2.5 % to an interval."""
MANY: Final = 10**9
STEPS: Final = 60


@dataclass(frozen=True)
class Pool:
    """One term of a question over parties: sampling is a and noise is b at `cost`; sizes: rows of each listed party.

    typical: rows of a typical party.  level: of the intervals.
    """

    name: str
    term: str
    sampling: float
    noise: float
    cost: Cost
    typical: int
    sizes: tuple[int, ...]
    level: float

    def variance(self, sizes: Sequence[int], *, rows: float = 1.0, noise: float = 1.0) -> float:
        """Return the variance over parties of these sizes, with rows and noise variance multiplied by the factors."""
        # inverse-variance weights: precisions of parties add up
        worth = sum(1 / (self.sampling / (rows * n) + noise * self.noise / (rows * n) ** 2) for n in sizes)
        return 1 / worth if worth > 0 else math.inf

    @property
    def width(self) -> float:
        """Expected width of the interval of all listed parties together."""
        return self._width(self.variance(self.sizes))

    @property
    def without(self) -> float:
        """The same without privacy."""
        return self._width(self.variance(self.sizes, noise=0.0))

    @property
    def added(self) -> float:
        """What privacy adds to the sampling variance of a party of typical size, as a part of it: b / (a N)."""
        return self.noise / (self.sampling * self.typical) if self.sampling > 0 else math.inf

    def _width(self, variance: float) -> float:
        return 2 * NormalDist().inv_cdf(0.5 + self.level / 2) * math.sqrt(variance)

    def _enough(self, width: float) -> float:
        """Return the variance of an estimate whose interval has this width."""
        return (width / (2 * NormalDist().inv_cdf(0.5 + self.level / 2))) ** 2

    def parties_for(self, width: float) -> int:
        """How many parties of typical size, at this price, have an interval of that width."""
        # equal parties divide the variance by their number; 1 - 1e-12 keeps rounding from adding a party
        return max(1, math.ceil(self.variance((self.typical,)) / self._enough(width) * (1 - 1e-12)))

    def rows_for(self, width: float) -> float | None:
        """How many times their rows the listed parties would need at this price; None for more than a billion times."""
        goal = self._enough(width)
        return _least(lambda c: self.variance(self.sizes, rows=c) <= goal, 1e-9, MANY)

    def price_for(self, width: float) -> Cost | None:
        """Return the price of a release at which the listed parties reach the width; None where none does."""
        goal = self._enough(width)
        found = _least(lambda s: self.variance(self.sizes, noise=1 / s) <= goal, 1e-12, 1e12)
        return None if found is None else scaled(self.cost, found)

    def free_rows(self) -> int:
        """From how many rows a party privacy is free at this price."""
        return math.ceil(self.typical * self.added / FREE)

    def free_price(self) -> Cost | None:
        """From which price privacy is free for a party of typical size."""
        return scaled(self.cost, self.added / FREE)


@dataclass(frozen=True)
class Reach:
    """Three ways to an interval of the wanted `width`: more `parties`, a multiple of their `rows`, or a `price`.

    Each changes one thing and leaves the others; None where that alone cannot reach the width.
    """

    pool: Pool
    width: float
    parties: int
    rows: float | None
    price: Cost | None

    def line(self, fits: Callable[[Cost], bool]) -> str:
        """In words; fits: whether the budget admits a price."""
        said = [f"{self.parties:,} parties of {self.pool.typical:,} rows at {self.pool.cost}"]
        listed = len(self.pool.sizes)
        if listed:
            said.append(self._rows(listed))
            said.append(self._price(listed, fits))
        now = f" (now {to_three(self.pool.width)})" if listed else ""
        return f"{label(self.pool)}: {self.width:,.6g} wide{now} with {'; or with '.join(said)}"

    def _rows(self, listed: int) -> str:
        if self.rows is None:
            return f"no number of rows of the {listed:,} listed"
        # up: fewer rows would miss the width
        return f"{to_three(self.rows, up=True)} times the rows of the {listed:,} listed"

    def _price(self, listed: int, fits: Callable[[Cost], bool]) -> str:
        if self.price is not None:
            beyond = "" if fits(self.price) else ", which the budget does not admit"
            return f"{self.price} of each of them{beyond}"
        if self.pool.without > self.width:
            return f"no price: sampling alone makes {to_three(self.pool.without)}"
        return "no price that can be told"


def pools(
    found: Mapping[str, Sequence[Expected]], cost: Cost, typical: int, sizes: Sequence[int], level: float
) -> tuple[Pool, ...]:
    """What a typical party's terms would show -> their pools."""
    return tuple(
        Pool(
            name,
            one.term,
            # a = variance times N, b = noise variance times N**2
            (1 - one.privacy) * one.std_error**2 * typical,
            one.privacy * (one.std_error * typical) ** 2,
            cost,
            typical,
            tuple(sizes),
            level,
        )
        for name, terms in found.items()
        for one in terms
        if math.isfinite(one.std_error)
    )


def reach(pool: Pool, width: float) -> Reach:
    """The ways to an interval of a width."""
    return Reach(pool, width, pool.parties_for(width), pool.rows_for(width), pool.price_for(width))


def label(pool: Pool) -> str:
    """The question and its term."""
    return pool.name if pool.term in ("", "all", pool.name) else f"{pool.name}: {pool.term}"


def free_line(pool: Pool) -> str:
    """Whether privacy is free, in words, and from where on it is."""
    what = f"{label(pool)}: privacy adds {to_three(100 * pool.added)} % to the sampling variance"
    if pool.added <= FREE:
        return f"{what}: free, whatever the number of parties"
    price = pool.free_price()
    from_price = "" if price is None else f", or from {price} in all"
    word = "nearly free" if pool.added <= 1 else "not free, and has the larger part"
    return f"{what}: {word}; free from {pool.free_rows():,} rows a party{from_price}"


def scaled(cost: Cost, times: float) -> Cost | None:
    """The price of 1 / times the noise variance, in two digits, rounded up, a pair's at its δ; None beyond all."""
    if not times > 0:
        return None
    if cost.delta is not None:
        return _pair(cost, times)
    name = "epsilon" if cost.kind == "pure" else "rho"
    own = getattr(cost, name)
    # noise variance falls with ε**2, with ρ
    value = float(own) * (math.sqrt(times) if cost.kind == "pure" else times)
    if not 0 < value <= MOST[name]:
        return None
    return Cost.of(**{name: Fraction(Context(prec=2, rounding=ROUND_CEILING).create_decimal(Decimal(value)))})


def _pair(cost: Cost, times: float) -> Cost | None:
    """The pair of `times` the μ² at the same δ."""
    assert cost.delta is not None
    epsilon = mu_squared_to_epsilon(cost.gdp * Fraction(times), cost.delta)
    if not 0 < epsilon <= MOST["epsilon"]:
        return None
    return Cost(epsilon=min(significant(epsilon, 2, up=True), MOST["epsilon"]), delta=cost.delta)


def _least(holds: Callable[[float], bool], low: float, high: float) -> float | None:
    """The least number between two at which what is monotone holds; None where it does not even at the higher one."""
    if not holds(high):
        return None
    for _ in range(STEPS):
        # halves the range in logarithms; `high` always holds
        middle = math.sqrt(low * high)
        low, high = (low, middle) if holds(middle) else (middle, high)
    return high
