"""Composition: the total cost of several prices.  No data here.

`compose` adds prices as a budget does, and is valid for adaptively chosen prices.  `pld_total` is often smaller, but
valid only for a list of prices declared before the first was spent: it is reported, never used to admit a request.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, cast

from tacit.errors import BudgetError
from tacit.privacy.bought import Bought, mu_squared_of, of_levels, price_of_noise, ranges_of
from tacit.privacy.budget import Budget, Spend
from tacit.privacy.cost import Cost, checked
from tacit.privacy.exact_numbers import significant

if TYPE_CHECKING:
    from tacit.privacy.exact_numbers import Number

TOGETHER: Final = ("joint", "joint-2", "joint-3", "joint-4", "data-set")
"""Forms whose integers, of a cell, are one selection, at the whole price of the part: its range is the larger."""
Way = Literal["pure", "zcdp", "gdp", "basic"]
APPROXIMATE = ("bootstrap", "unlisted-levels")
"""Kinds of releases that are approximate parts: they fail with a probability of their own."""


class ReleasedPart(Protocol):
    """One part of a release: its share of the price, and the law of the noise or selections that it was drawn with."""

    @property
    def cost(self) -> Cost:
        """Share of the release's price."""
        ...

    @property
    def law(self) -> Any:
        """Law of its noise, or of its selections."""
        ...

    @property
    def integers(self) -> Any:
        """Released integers, one sequence for each cell."""
        ...


class Priced(Protocol):
    """A release, whose parts say what its price bought."""

    @property
    def parts(self) -> Sequence[ReleasedPart]:
        """Parts of the release, whose costs add up to its price."""
        ...


def compose(costs: Sequence[Cost], way: Way = "zcdp") -> Spend:
    """Return the sum of prices in ε ("pure"), ρ ("zcdp"), μ² ("gdp"), or ε and δ ("basic"), whatever each bought.

    Raises BudgetError B04 for a price that cannot be added in this way.  Sources: basic composition [Dwork et al.
    2006]; ρ adds [Bun & Steinke 2016, Lemma 1.7]; μ² adds [Dong, Roth & Su 2022, Corollary 3.3].

    >>> print(compose([Cost.of(epsilon=0.1)] * 10, "pure"))
    ε = 1
    """
    # the numbers of this budget do not matter: only its way of adding is used
    if way in ("basic", "gdp"):
        budget = Budget(epsilon=1, delta="1e-6", accounting=way)
    else:
        budget = Budget(epsilon=1) if way == "pure" else Budget(rho=1)
    total = Spend()
    for cost in costs:
        total += budget.spend(cost)
    return total


def pld_total(priced: Sequence[Cost | Priced], delta: Number, *, interval: float = 1e-4) -> Fraction:
    """Return the total ε at `delta` of releases and pure prices, by privacy-loss distributions, rounded up.

    Noise bought with ρ or a pair is composed as a normal, a selection as the pair of distributions that dominates its
    range, and every pure part as randomised response at its ε, which dominates every ε-DP mechanism [Kairouz, Oh &
    Viswanath 2015, Theorem 2.1].  Losses are rounded up to multiples of `interval`.  Valid for a list that was declared
    beforehand.  The δ of approximate parts, which a release's price holds and its parts do not, is taken off `delta`:
    whatever is composed with such a part, it fails with its own probability besides; one that was sold as a pair, to a
    ledger that adds ε and adds δ, is composed as randomised response at that pair.  Raises BudgetError B15 for a
    price of ρ or a pair given without its release, which alone says what was bought; B09 where dp-accounting is not
    installed.
    """
    wanted = checked(delta, "delta") - sum((_slack(one) for one in priced), Fraction(0))
    if wanted <= 0:
        raise _no_epsilon(delta)
    pairs = [_pair(given) for given in priced]
    parts = [one for given, pair in zip(priced, pairs, strict=True) if pair is None for one in bought_by(given)]
    library = _dp_accounting()
    total: Any = library.loss.identity(interval)
    # normals compose to one normal whose μ² is the sum [Dong, Roth & Su 2022]: a single distribution, no loss
    gaussian = mu_squared_of(one for one in parts if one.cost.noise == "gaussian" and not ranges_of(one))
    if gaussian > 0:
        # μ² is rounded up to 12 digits, fewer than a float has: the sd is certainly not above the true one
        # sensitivity 1, standard deviation 1 / μ
        deviation = float(significant(gaussian, 12, up=True)) ** -0.5
        total = total.compose(library.loss.from_gaussian_mechanism(deviation, value_discretization_interval=interval))
    pure = [one.cost.epsilon for one in parts if one.cost.kind == "pure" and one.cost.epsilon is not None]
    # equal prices in one step: self_compose raises a distribution to a power
    for epsilon in set(pure):
        response = library.loss.from_privacy_parameters(
            library.parameters(float(significant(epsilon, 12, up=True)), 0.0), value_discretization_interval=interval
        )
        total = total.compose(response.self_compose(pure.count(epsilon)))
    for epsilon, own in (one for one in pairs if one is not None):
        # of all that is (ε, δ)-DP randomised response that fails with probability δ loses most
        limits = library.parameters(float(significant(epsilon, 12, up=True)), float(significant(own, 12, up=True)))
        total = total.compose(library.loss.from_privacy_parameters(limits, value_discretization_interval=interval))
    ranges = [range_ for one in parts if one.cost.noise == "gaussian" for range_ in ranges_of(one)]
    for epsilon in set(ranges):
        total = total.compose(_selection(library, float(epsilon), interval).self_compose(ranges.count(epsilon)))
    # δ down and, below, ε up: both err on the side of a larger loss
    found = cast(float, total.get_epsilon_for_delta(float(significant(wanted, 12, up=False))))
    if found == float("inf"):
        raise _no_epsilon(delta)
    # the library's discretisation is pessimistic, its float arithmetic is not certified: 1e-9 allows for that
    return significant(Fraction(found) + Fraction(1, 10**9), 9, up=True)


def _no_epsilon(delta: Number) -> BudgetError:
    return BudgetError(f"no finite ε holds at delta = {float(delta):g}.", code="B01", hint="a larger delta")


def _pair(given: Cost | Priced) -> tuple[Fraction, Fraction] | None:
    """Return the pair (ε, δ) of an approximate part that was sold as a pair: its parts do not say what it cost.

    A ledger that adds ε and adds δ charges the pair for it, whose share the parts name; but at another δ the release is
    no release of normal noise at that price.
    """
    cost = getattr(given, "cost", None)
    if not isinstance(cost, Cost) or cost.epsilon is None or cost.delta is None:
        return None
    return (cost.epsilon, cost.delta) if getattr(given, "kind", None) in APPROXIMATE else None


def _slack(given: Cost | Priced) -> Fraction:
    """Return the δ of a release that is an approximate part, 0 of any other; a price alone is refused elsewhere."""
    cost = getattr(given, "cost", None)
    if not isinstance(cost, Cost) or cost.mu_squared is None:
        return Fraction(0)
    return cost.delta or Fraction(0)


def bought_by(given: Cost | Priced) -> tuple[Bought, ...]:
    """Return what was bought: a release says it, and of a pure price alone nothing more need be known.

    Raises BudgetError B15 for a price of ρ or a pair without its release.
    """
    if not isinstance(given, Cost):
        from tacit.noise.product import ProductLaplace

        together = [one for one in given.parts if isinstance(one.law, ProductLaplace)]
        # noise that is one vector is one mechanism at the price of all its parts
        whole = (Bought(price_of_noise(together[0], together)),) if together else ()
        return (*(_of_release(one) for one in given.parts if not isinstance(one.law, ProductLaplace)), *whole)
    if given.kind == "pure":
        return (Bought(given),)
    message = (
        f"a price of {given} may have bought noise or selections, which compose differently; its release says which."
    )
    raise BudgetError(message, code="B15", hint="pld_total([release, …], delta)")


def _of_release(part: ReleasedPart) -> Bought:
    """Return what a part of a release bought.

    Of selections in several cells a neighbour may change two; `ranges_of` is then empty, and they are composed as a
    normal, which bounds both.
    """
    from tacit.noise.selection_law import Selection

    if not isinstance(part.law, Selection):
        return Bought(part.cost)
    if getattr(part, "form", None) == "cuts":
        return of_levels(part.cost, cast(Any, part).parameters["levels"])
    # one selection for each integer of a cell, or one of all; a replaced row leaves one cell and enters another at most
    many = 1 if getattr(part, "form", None) in TOGETHER else len(part.integers[0])
    return Bought(part.cost, many, min(2, len(part.integers)))


def _selection(library: _Library, epsilon: float, interval: float) -> Any:
    """Return the privacy-loss distribution that dominates a selection of range ε, discretised pessimistically.

    Among the two-point pairs of Bounded range (`privacy.gaussian`), δ_t(x) = p_t - e^x q_t is largest at
    t = (ε + x) / 2: H(x) = (e^(ε/2) - e^(x/2))² / (e^ε - 1) for -ε <= x <= ε, 0 above and 1 - e^x below.  H is convex
    in e^x and therefore itself the δ(x) of a pair.  Connecting its dots is pessimistic [Doroshenko et al. 2022,
    Algorithm 1].
    """
    import numpy as np

    epsilon *= 1 + 1e-12  # an upper bound, whatever its rounding to a float
    # one step beyond each end of the range, where both other branches of δ hold
    steps = math.ceil(epsilon / interval) + 1
    grid = np.arange(-steps, steps + 1)
    x = np.clip(grid * interval, -epsilon, epsilon)
    # H(x) with e^(x/2) factored out: no cancellation near x = ε
    dots = (np.expm1((epsilon - x) / 2) * np.exp(x / 2)) ** 2 / np.expm1(epsilon)
    dots = np.where(grid * interval < -epsilon, -np.expm1(grid * interval), dots)
    pmf = library.pmf.create_pmf_pessimistic_connect_dots(interval, grid, np.clip(dots, 0, 1))
    return library.loss.PrivacyLossDistribution(pmf)


@dataclass(frozen=True)
class _Library:
    """Modules of dp-accounting that are used."""

    loss: Any
    pmf: Any
    parameters: Any


def _dp_accounting() -> _Library:
    try:
        from dp_accounting.pld import (  # pyright: ignore[reportMissingTypeStubs]
            common,
            pld_pmf,
            privacy_loss_distribution,
        )
    except ImportError:
        message = "privacy-loss distributions need the package dp-accounting."
        raise BudgetError(message, code="B09", hint="pip install dp-accounting") from None
    loss, pmf = cast(Any, privacy_loss_distribution), cast(Any, pld_pmf)
    return _Library(loss, pmf, cast(Any, common).DifferentialPrivacyParameters)
