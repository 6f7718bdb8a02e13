"""Cost: the exact price of one request.  No data here.

A price is stated in one of three ways, and the way determines the noise (design, law 10):

=================  ===============  =====================================
`epsilon=`         "pure"           discrete Laplace
`rho=`             "zcdp"           normal, rounded to integers
`epsilon=, delta=` "approximate"    normal, rounded to integers
=================  ===============  =====================================

A pair (ε, δ) is converted to one number, the μ² of Gaussian differential privacy (`privacy.gaussian`); a share of it is
a part of that number, and its kind is "gdp".
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache
from math import isqrt
from typing import Final, Literal, TypeAlias, cast

from tacit.base.arguments import named_arguments
from tacit.errors import BudgetError, nearest
from tacit.privacy.exact_numbers import Number, plain, rational, significant
from tacit.privacy.prices_in_mu import made_without_mu, stated_without_mu

Kind: TypeAlias = Literal["pure", "zcdp", "approximate", "gdp"]

MOST: Final = {"epsilon": Fraction(1000), "rho": Fraction(1000), "mu_squared": Fraction(2000)}
"""Larger prices are refused as typing errors: a bound of e**1000 protects nobody."""
LEAST: Final = {
    "epsilon": Fraction(1, 10**30),
    "rho": Fraction(1, 10**70),
    "mu_squared": Fraction(1, 10**70),
    "delta": Fraction(1, 10**300),
}
"""Smaller prices are refused: they buy noise far beyond the largest scale (1e12), and numbers must stay printable."""

MOST_DELTA: Final = Fraction(1, 100)
"""Larger δ are refused where they are typed: one person in so many may be revealed.  Stored ones stay valid."""

HINT: Final = {"epsilon": "epsilon=1", "rho": "rho=0.1", "delta": "delta=1e-6", "mu_squared": "mu_squared=0.05"}
NAMES: Final = ("epsilon", "delta", "rho", "mu_squared")
WAYS: Final = "epsilon=1, or rho=0.1, or epsilon=1, delta=1e-6"


def checked(value: object, name: str) -> Fraction:
    """Return `value` as a rational within the limits for `name`, one of NAMES; BudgetError B01 otherwise."""
    exact = rational(value, name)
    if exact <= 0:
        reason = "leave delta out for a pure price" if name == "delta" and exact == 0 else HINT[name]
        raise BudgetError(f"{name} is {value}: not above 0.", code="B01", hint=reason)
    if name == "delta" and exact >= 1:
        raise BudgetError(f"delta is {value}: not below 1, which would promise nothing.", code="B01", hint=HINT[name])
    if exact > MOST.get(name, Fraction(1)):
        raise BudgetError(f"{name} is {value}: above {MOST[name]}, it protects nobody.", code="B01", hint=HINT[name])
    if exact < LEAST[name]:
        raise BudgetError(f"{name} is {value}: no noise is that wide.", code="B01", hint=HINT[name])
    return exact


def asked(value: object, name: str) -> Fraction:
    """Return `checked(value, name)` of a number that a user asks for; BudgetError B01 for a δ above MOST_DELTA too."""
    exact = checked(value, name)
    if name == "delta" and exact > MOST_DELTA:
        one = f"one person in {plain(1 / exact, up=False)} may be revealed"
        message = f"delta is {value}: {one}; at most {plain(MOST_DELTA)}, and far below 1 / rows."
        raise BudgetError(message, code="B01", hint=HINT["delta"])
    return exact


def way_of(what: str, epsilon: object, delta: object, rho: object, mu_squared: object = None) -> Kind:
    """Return in which way a price or a budget (`what`) is stated; BudgetError B03 for none or two.

    Only stored shares of a pair are stated in μ²: users cannot.
    """
    if mu_squared is not None and epsilon is None and rho is None:
        return "gdp"
    if rho is None and epsilon is not None and mu_squared is None:
        return "pure" if delta is None else "approximate"
    if rho is not None and epsilon is None and delta is None and mu_squared is None:
        return "zcdp"
    values = (epsilon, delta, rho, mu_squared)
    given = [name for name, v in zip(NAMES, values, strict=True) if v is not None]
    said = " and ".join(given) if given else "nothing"
    raise BudgetError(f"{what} is written with {said}: state it in one way.", code="B03", hint=WAYS)


@made_without_mu
@dataclass(frozen=True)
class Cost:
    """The price that is offered, and then charged, for one request, in exact rationals.  Make one with `Cost.of`.

    A price is public, and part of the release.  `mu_squared` is set for a share of an (ε, δ) price, and together with
    `delta` for an approximate part (`privacy.gaussian`, Approximate parts).  Raises BudgetError B01, B03 as `of` does.

    >>> cost = Cost.of(epsilon=1, delta=1e-6)
    >>> print(cost, cost.kind, cost.noise)
    ε = 1, δ = 1e-06 approximate gaussian
    >>> Cost.of(rho=0.01).to_dict()
    {'rho': '1/100'}
    """

    epsilon: Fraction | None = None
    delta: Fraction | None = None
    rho: Fraction | None = None
    mu_squared: Fraction | None = None

    def __post_init__(self) -> None:
        way_of("a price", self.epsilon, self.delta, self.rho, self.mu_squared)
        for name in NAMES:
            if getattr(self, name) is not None:
                object.__setattr__(self, name, checked(getattr(self, name), name))

    def __hash__(self) -> int:
        """Hash numerators and denominators, because the hash of a Fraction costs a power modulo a prime."""
        return hash(
            tuple(one and one.as_integer_ratio() for one in (self.epsilon, self.delta, self.rho, self.mu_squared))
        )

    @classmethod
    @stated_without_mu(BudgetError, "B18", "Cost.of")
    @named_arguments(BudgetError, "B18", "Cost.of")
    def of(cls, *, epsilon: Number | None = None, delta: Number | None = None, rho: Number | None = None) -> Cost:
        """Return a price from numbers as a user types them; a float is taken for the decimal it prints as.

        Raises BudgetError B01 for a number that is not a price (NaN, not positive, above 1000, delta > 0.01), B03 for a
        price stated in no way or in two.
        """
        way_of("a price", epsilon, delta, rho)
        return cls(
            epsilon=None if epsilon is None else asked(epsilon, "epsilon"),
            delta=None if delta is None else asked(delta, "delta"),
            rho=None if rho is None else asked(rho, "rho"),
        )

    @property
    def kind(self) -> Kind:
        """In which way the price is stated."""
        return way_of("a price", self.epsilon, self.delta, self.rho, self.mu_squared)

    @property
    def is_part(self) -> bool:
        """Whether it is an approximate part: μ² with a δ of its own."""
        return self.mu_squared is not None and self.delta is not None

    @property
    def noise(self) -> Literal["laplace", "gaussian"]:
        """The noise that the price buys."""
        return "laplace" if self.kind == "pure" else "gaussian"

    @property
    def zcdp(self) -> Fraction:
        """ρ for which everything that the price can buy is ρ-zCDP, except for the δ of an approximate part.

        A pure price: ε²/2 [Bun & Steinke 2016, Proposition 1.4].  A price in ρ: ρ.  An (ε, δ) price or a share of one:
        μ²/2, which μ-GDP implies (`privacy.gaussian`, Of ρ).
        """
        if self.rho is not None:
            return self.rho
        if self.kind == "pure":
            assert self.epsilon is not None
            # for every ε-DP mechanism, selections too, whose bounded range would cost less
            return self.epsilon**2 / 2
        return self.gdp / 2

    @property
    def gdp(self) -> Fraction:
        """μ² for which everything that the price can buy is μ-GDP, except for the δ of an approximate part.

        An (ε, δ) price: the μ² of the pair, from which noise and selections are calibrated.  Pure prices and ρ: upper
        bounds, proven in `privacy.gaussian`.  Where it is known what a ρ bought, `privacy.bought` gives less.
        """
        from tacit.privacy import gaussian

        if self.mu_squared is not None:
            return self.mu_squared
        if self.rho is not None:
            return gaussian.PI_UP * self.rho  # π ρ: selections cost most (`privacy.gaussian`, Of ρ)
        assert self.epsilon is not None
        if self.delta is None:
            return gaussian.pure_to_mu_squared(self.epsilon)
        return gaussian.epsilon_delta_to_mu_squared(self.epsilon, self.delta)

    def share(self, part: Fraction) -> Cost:
        """Return the price of one question that takes the share `part`, 0 < part <= 1, of this price.

        Shares that add up to 1 cost this price together: a pure price shares its ε, a price in ρ its ρ, and an (ε, δ)
        price its μ², so that all its parts together, noise and selections alike, are (ε, δ)-DP.  Raises BudgetError B06
        for a share outside (0, 1].

        >>> Cost.of(rho=0.2).share(Fraction(1, 4))
        Cost(epsilon=None, delta=None, rho=Fraction(1, 20), mu_squared=None)
        """
        if not 0 < part <= 1:
            raise BudgetError(f"a share of a price is {part}: not above 0 and at most 1.", code="B06", hint="share = 1")
        if self.kind == "pure":
            assert self.epsilon is not None
            return Cost(epsilon=self.epsilon * part)
        if self.rho is not None:
            return Cost(rho=self.rho * part)
        # in μ², which adds up to the pair's own: shares of ε and of δ would each need more noise than this
        return Cost(mu_squared=self.gdp * part)

    def to_dict(self) -> dict[str, str]:
        """Return the numbers of the price as exact fractions in text."""
        return {n: str(v) for n in NAMES if (v := getattr(self, n)) is not None}

    @classmethod
    def from_dict(cls, words: Mapping[str, object]) -> Cost:
        """Return the price that `to_dict` wrote; BudgetError B07 for an unknown key, B01 and B03 as `of`."""
        # text can be hashed, and so cached; anything else takes the slow way to the same checks
        if all(isinstance(value, str) for value in words.values()):
            return _stored(tuple(cast("Mapping[str, str]", words).items()))
        return cls(**numbers_of("a price", words))

    def __str__(self) -> str:
        if self.mu_squared is not None:
            return f"μ = {plain(mu_of(self.mu_squared))}" + ("" if self.delta is None else f", δ = {plain(self.delta)}")
        if self.delta is not None and self.epsilon is not None:
            return f"ε = {plain(self.epsilon)}, δ = {plain(self.delta)}"
        if self.epsilon is not None:
            return f"ε = {plain(self.epsilon)}"
        assert self.rho is not None
        return f"ρ = {plain(self.rho)}"


def mu_of(mu_squared: Fraction) -> Fraction:
    """Return μ for display, exact where it is rational, else rounded up to 12 digits.

    >>> mu_of(Fraction(1, 4))
    Fraction(1, 2)
    """
    # exact if both are squares, as in `calibration.root_up`
    top, bottom = isqrt(mu_squared.numerator), isqrt(mu_squared.denominator)
    if Fraction(top, bottom) ** 2 == mu_squared:
        return Fraction(top, bottom)
    # at least 64 bits before the root: far more than the 12 digits displayed
    shift = 64 + max(0, mu_squared.denominator.bit_length() - mu_squared.numerator.bit_length())
    whole = -(-(mu_squared.numerator << 2 * shift) // mu_squared.denominator)
    return significant(Fraction(isqrt(whole - 1) + 1, 1 << shift), 12, up=True)


@lru_cache(maxsize=1024)
def _stored(words: tuple[tuple[str, str], ...]) -> Cost:
    """Return a stored price, cached because thousands of documents store the same few."""
    return Cost(**numbers_of("a price", dict(words)))


def numbers_of(
    what: str,
    words: Mapping[str, object],
    also: tuple[str, ...] = (),
    read: Callable[[object, str], Fraction] = rational,
) -> dict[str, Fraction]:
    """Return the numbers of a stored document as rationals; BudgetError B07 for a key not in NAMES or `also`."""
    names = list(NAMES)
    for key in words:
        if key not in names and key not in also:
            guess = nearest(str(key), [*names, *also]) or "rho"
            raise BudgetError(f"{what} has no {key!r}.", code="B07", hint=f"{guess} = …")
    return {n: read(words[n], n) for n in names if words.get(n) is not None}
