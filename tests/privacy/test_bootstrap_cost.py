"""The cost of a bootstrap: figures, brute force over small tables, simulated lower bounds, parts that a ledger adds."""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from itertools import product
from math import factorial

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import binom, norm, poisson

from tacit.errors import BudgetError
from tacit.privacy import Budget, Cost, Spend, mu_squared_to_delta
from tacit.privacy.bootstrap_cost import (
    PublishedClaim,
    Resampling,
    approximate_part,
    calibrate,
    certify,
    effective_constant,
)
from tacit.privacy.bootstrap_profiles import normal_profile, profiles
from tacit.privacy.loss_distribution import ChainedCurve, composed, connect_the_dots

DELTA = Fraction(1, 10**6)
DRAWN = Resampling(rows=500)
ADDED = Resampling("poisson", "add-remove")
CENTRED = Resampling("poisson", centred=True)
LAWS = (
    DRAWN,
    ADDED,
    CENTRED,
    Resampling("poisson"),
    Resampling("poisson", most=3),
    Resampling("poisson", "add-remove", most=3),
    Resampling(rows=500, most=3),
    Resampling("multinomial", "add-remove"),
    Resampling(rows=500, draws=250),
)
ERROR = 3e-6
"""Of quadrature by 6,001 points."""
Mixture = list[tuple[float, float]]
"""Probabilities and means of normals of standard deviation 1."""


# Figures of the paper -------------------------------------------------------------------------------------------------


def test_the_cost_of_the_configuration_of_the_paper_is_above_its_claim():
    found = certify(DRAWN, 50, Fraction(1, 50))
    claim = PublishedClaim.of(replicates=50, mu_squared=Fraction(1, 50))
    assert claim.rho == Fraction(1, 2)
    assert round(float(claim.gaussian_epsilon(DELTA)), 2) == 4.89
    assert round(float(claim.epsilon(DELTA)), 2) == 5.22
    assert 6.6 <= found.epsilon(DELTA) <= 6.8
    # a pair of tables that needs more than the claim: one row 0 or Δ, all others 0
    assert round(float(certify(ADDED, 50, Fraction(1, 50)).epsilon(DELTA)), 2) == 5.17
    # theory §5: lower bounds at ε = 3, 4, 5
    for epsilon, concrete in ((3, 2.1e-3), (4, 9.2e-5), (5, 2.0e-6)):
        assert float(certify(ADDED, 50, Fraction(1, 50)).delta(epsilon)) == pytest.approx(concrete, rel=0.03)
        assert found.delta(epsilon) > concrete


@pytest.mark.parametrize(("replicates", "constant"), [(50, 1.75), (1000, 1.30), (20_000, 1.27)])
def test_effective_constants(replicates, constant):
    found = effective_constant(certify(DRAWN, replicates, Fraction(1, replicates)), DELTA)
    assert round(found, 2) == constant
    assert found > 2 - 2 / np.e


@pytest.mark.parametrize("law", [ADDED, CENTRED])
def test_poisson_multiplicities_cost_hardly_more_than_normals(law):
    assert effective_constant(certify(law, 1000, Fraction(1, 1000)), DELTA) < 1.01


# Brute force ----------------------------------------------------------------------------------------------------------


def exact(above: Mixture, below: Mixture, epsilon: float) -> float:
    """∫ max(p - e^ε q, 0), by quadrature over a fine grid: its error is below ERROR."""
    means = [mean for _, mean in (*above, *below)]
    t = np.linspace(min(means) - 6, max(means) + 6, 6_001)
    p, q = (sum(w * norm.pdf(t - mean) for w, mean in one) for one in (above, below))
    return float(np.trapezoid(np.maximum(p - np.exp(epsilon) * q, 0), t))


def drawn(values: Sequence[float], mu: float, most: int | None = None) -> Mixture:
    """The release of a table, by enumeration of its draws."""
    n, found = len(values), {}
    for draws in product(range(n), repeat=n):
        counts = np.bincount(draws, minlength=n)
        mean = round(float(np.minimum(counts, most or n) @ np.array(values)) * mu, 12)
        found[mean] = found.get(mean, 0.0) + n**-n
    return [(w, mean) for mean, w in found.items()]


def poissons(value: float, mu: float, most: int = 40) -> Mixture:
    """The row's part of a release with Poisson multiplicities."""
    return [(float(poisson.pmf(m, 1)), min(m, most) * value * mu) for m in range(15)]


def bound(law: Resampling, mu: Fraction, epsilon: float) -> float:
    return float(certify(law, 1, mu**2).delta(epsilon))


@pytest.mark.sample(2)
@pytest.mark.parametrize("most", [None, 1, 2])
@pytest.mark.parametrize("others", [(0.0, 0.0), (0.0, 1.0), (0.5, 1.0), (1.0, 1.0)])
def test_no_small_table_costs_more_than_certified(others, most):
    law, mu = Resampling(rows=3, most=most), Fraction(3, 2)
    for one, other in ((0.0, 1.0), (1.0, 0.0), (0.0, 0.6)):
        first, second = (drawn((value, *others), float(mu), most) for value in (one, other))
        for epsilon in (0.1, 1.0, 2.5):
            assert exact(first, second, epsilon) <= bound(law, mu, epsilon) + ERROR


@pytest.mark.parametrize("others", [(0.0,), (1.0, -1.0), (0.0, 0.5, 1.0), (-1.0, -1.0, -1.0)])
def test_no_row_added_to_a_small_table_costs_more_than_certified(others):
    law, mu = Resampling("multinomial", "add-remove"), Fraction(3, 4)
    for value in (1.0, -1.0, 0.3):
        with_it, without = drawn((value, *others), float(mu)), drawn(others, float(mu))
        for epsilon in (0.1, 1.0, 2.5):
            most = bound(law, mu, epsilon) + ERROR
            assert max(exact(with_it, without, epsilon), exact(without, with_it, epsilon)) <= most


def test_binomials_of_mean_one_have_lighter_tails_than_poisson():
    m = np.arange(2, 40)
    for n in (*range(2, 60), 1000):
        assert np.all(binom.sf(m - 1, n, 1 / n) <= poisson.sf(m - 1, 1) * (1 + 1e-12))


@pytest.mark.parametrize("most", [None, 2])
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 2.5])
def test_the_cost_under_add_remove_is_exact(epsilon, most):
    law, mu = Resampling("poisson", "add-remove", most=most), Fraction(1)
    with_it, without = poissons(1.0, 1.0, most or 40), [(1.0, 0.0)]
    worst = max(exact(with_it, without, epsilon), exact(without, with_it, epsilon))
    # a step of the grid, μ / 24, raises δ by about 1e-4
    assert worst - ERROR <= bound(law, mu, epsilon) <= worst + 5e-4
    assert exact(poissons(0.7, 1.0, most or 40), without, epsilon) <= worst


@pytest.mark.parametrize("law", [CENTRED, Resampling("poisson"), Resampling("poisson", most=2)])
def test_no_two_rows_with_poisson_multiplicities_cost_more_than_certified(law):
    mu, most = Fraction(3, 2), law.most or 40
    # centred: norms of 1/2 at most; else norms and distances of 1 at most
    pairs = [(0.5, -0.5), (0.5, 0.2), (0.5, 0.0)] if law.centred else [(1.0, 0.0), (0.5, -0.5), (0.9, 0.1)]
    for (one, other), epsilon in product(pairs, (0.1, 1.0, 2.5)):
        first, second = poissons(one, float(mu), most), poissons(other, float(mu), most)
        worst = max(exact(first, second, epsilon), exact(second, first, epsilon))
        assert worst <= bound(law, mu, epsilon) + ERROR


def test_multiplicities_have_the_laws_of_scipy():
    m = np.arange(61)
    for law, theirs in ((DRAWN, binom(500, 1 / 500)), (LAWS[8], binom(250, 1 / 500)), (ADDED, poisson(1))):
        found = law.probabilities()
        np.testing.assert_allclose(found[:-1], theirs.pmf(m), rtol=1e-11)
        assert theirs.sf(60) <= found[-1] < 1e-60
    small = Resampling(rows=3).probabilities()
    np.testing.assert_allclose(small[:4], np.array([8, 12, 6, 1]) / 27, rtol=1e-14)
    assert np.all(small[4:] == 0)


@pytest.mark.parametrize("times", [1, 30, 2000])
def test_normals_compose_as_normals(times):
    def profile(epsilon):
        return normal_profile(times**-0.5, epsilon)

    found = composed(connect_the_dots(profile, profile, times**-0.5 / 24), times, 1e-6)
    for epsilon in (0.0, 0.3, 2.0, 4.5):
        truth = float(mu_squared_to_delta(1, epsilon))
        assert truth <= float(found.delta(np.array([epsilon]))[0]) <= truth * 1.004


def test_a_chain_of_normals_is_the_normal_of_both_steps():
    def profile(epsilon):
        return normal_profile(0.5 / 40**0.5, epsilon)

    one = composed(connect_the_dots(profile, profile, 0.5 / 40**0.5 / 24), 40, 1e-9)
    epsilon = np.array([0.0, 0.2, 1.0, 3.0, 5.0])
    found, truth = ChainedCurve(one, one, one, one, 0.5).delta(epsilon), normal_profile(1.0, epsilon)
    assert np.all(truth <= found)
    assert np.all(found <= truth * 1.02)


def test_two_replicates_by_quadrature():
    """Of the pair that is exact: δ of two is the mean, over the first outcome, of δ of one at what is left of ε."""
    forward, backward = profiles(ADDED, 1.0)
    weights = np.array([np.exp(-1) / factorial(m) for m in range(41)])

    def loss(t: float) -> float:
        return float(np.log(np.sum(weights * np.exp(np.arange(41) * t - np.arange(41) ** 2 / 2))))

    def density(t: float) -> float:
        return float(np.sum(weights * norm.pdf(t - np.arange(41))))

    def left(epsilon: float) -> float:
        one = np.array([abs(epsilon)])
        return float(forward(one)[0]) if epsilon >= 0 else 1 - np.exp(epsilon) * (1 - float(backward(one)[0]))

    for epsilon in (0.5, 2.0, 4.0):
        truth = quad(lambda t, e=epsilon: density(t) * left(e - loss(t)), -9, 20, limit=200, epsabs=1e-7)[0]
        curve = certify(ADDED, 2, Fraction(1)).curves[0]
        assert truth - 1e-6 <= float(curve.delta(np.array([epsilon]))[0]) <= truth * 1.003


def test_the_library_dp_accounting_agrees():
    from dp_accounting.pld import privacy_loss_distribution

    copies = np.arange(13)
    weights = poisson.pmf(copies, 1)
    theirs = privacy_loss_distribution.from_mixture_gaussian_mechanism(
        5.0, copies, [*weights[:-1], 1 - weights[:-1].sum()], value_discretization_interval=4e-3
    ).self_compose(30)
    ours = certify(ADDED, 30, Fraction(1, 25))
    for epsilon in (1, 3, 5):
        assert float(ours.delta(epsilon)) == pytest.approx(theirs.get_delta_for_epsilon(epsilon), rel=0.01)


# Simulated lower bounds -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [DRAWN, ADDED, CENTRED])
def test_simulated_lower_bounds_are_below_the_certified_cost_and_near_it(law):
    """False-alarm rate below 1e-6: five standard errors of a mean of 60,000 numbers from 0 to 1; seeded besides."""
    rng, k, mu, draws = np.random.default_rng(17), 50, 50**-0.5, 60_000
    copies = np.arange(10)
    weights = binom.pmf(copies, 500, 1 / 500) if law == DRAWN else poisson.pmf(copies, 1)
    # the row 0 or Δ, all others 0; of centred rows Δ/2 or -Δ/2
    here, there = (0.5, -0.5) if law.centred else (1.0, 0.0)
    total = np.zeros(draws)
    for _ in range(k):
        t = rng.choice(10, draws, p=weights / weights.sum()) * here * mu + rng.standard_normal(draws)
        # powers of e^(x μ t): one exponential for all multiplicities
        logs = [
            np.log(
                np.polynomial.polynomial.polyval(np.exp(x * mu * t), weights * np.exp(-((copies * x * mu) ** 2) / 2))
            )
            for x in (here, there)
        ]
        total += logs[0] - logs[1]
    found = certify(law, k, Fraction(1, k))
    for epsilon in (0.5, 1.0, 2.0, 3.0):
        gained = np.maximum(-np.expm1(np.minimum(epsilon - total, 0)), 0)
        mean, error = float(gained.mean()), float(gained.std()) / draws**0.5
        assert mean - 5 * error <= found.delta(epsilon)
        # multinomial multiplicities are certified by a bound, not by the pair itself
        assert found.delta(epsilon) <= (5 if law == DRAWN else 1.1) * mean + 5 * error


# The shape of the cost ------------------------------------------------------------------------------------------------


@pytest.mark.sample(3)
@pytest.mark.parametrize("law", LAWS, ids=str)
def test_the_cost_is_monotone(law):
    def epsilon(replicates: int, mu_squared: Fraction) -> Fraction:
        return certify(law, replicates, mu_squared).epsilon(DELTA)

    small = Fraction(1, 400)
    first = epsilon(20, small)
    assert first < epsilon(25, small) < epsilon(60, small)
    assert epsilon(20, small / 2) < first < epsilon(20, small * Fraction(11, 10))
    curve = certify(law, 20, small)
    deltas = [curve.delta(one) for one in (0.1, 0.2, 0.5, 1, 2)]
    assert deltas == sorted(deltas, reverse=True)
    assert 0.99 * float(DELTA) < curve.delta(first) <= DELTA


def test_cut_multiplicities_and_fewer_draws_cost_less():
    small = Fraction(1, 400)
    assert certify(LAWS[7], 20, small).epsilon(DELTA) > certify(ADDED, 20, small).epsilon(DELTA)
    for more, less in ((DRAWN, LAWS[8]), (ADDED, LAWS[5]), (LAWS[3], LAWS[4])):
        assert certify(less, 20, small).epsilon(DELTA) < certify(more, 20, small).epsilon(DELTA)
    # a multiplicity that is never cut changes nothing
    assert certify(Resampling("poisson", most=60), 20, small).epsilon(DELTA) == certify(LAWS[3], 20, small).epsilon(
        DELTA
    )


# Parts, prices and ledgers --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("law", [DRAWN, ADDED, CENTRED])
def test_a_part_bounds_the_whole_profile(law):
    found = certify(law, 50, Fraction(1, 50))
    part = found.part("5e-7")
    assert part.mu_squared is not None
    epsilon = np.linspace(0, 12, 3001)
    curve = np.max([one.delta(epsilon) for one in found.curves], axis=0)
    mu = float(part.mu_squared) ** 0.5
    assert np.all(curve <= 5e-7 + (1 - 5e-7) * normal_profile(mu, epsilon) * (1 + 1e-9))
    # and is no larger than needed
    assert not found.within(Cost(mu_squared=part.mu_squared * Fraction(999, 1000), delta=part.delta))
    assert mu == pytest.approx(1.301 if law == DRAWN else 1.043 if law == ADDED else 1.0, rel=2e-3)


def test_a_price_buys_a_part_that_implies_it():
    price = Cost.of(epsilon=1, delta="1e-6")
    part = approximate_part(price)
    assert part.mu_squared is not None
    assert part.delta is not None
    assert mu_squared_to_delta(part.mu_squared, 1) + part.delta <= DELTA
    assert approximate_part(part) == part
    for other in (Cost.of(epsilon=1), Cost.of(rho=1)):
        with pytest.raises(BudgetError) as caught:
            approximate_part(other)
        assert caught.value.code == "B04"


@pytest.mark.parametrize("whole", [False, True])
@pytest.mark.parametrize("law", [DRAWN, ADDED, CENTRED])
def test_calibrated_noise_keeps_the_price_and_wastes_little(law, whole):
    price = Cost.of(epsilon=1, delta="1e-6")
    bought = calibrate(law, replicates=100, price=price, whole=whole)
    assert bought.part == (price if whole else approximate_part(price))
    assert bought.certified.within(bought.part)
    assert bought.certified.epsilon(DELTA) <= 1
    more = certify(law, 100, bought.mu_squared * Fraction(1005, 1000), bought.part.delta or DELTA)
    assert not more.within(bought.part)


def test_a_ledger_adds_bootstraps_to_other_releases():
    budget, price = Budget(epsilon=1, delta="1e-6"), Cost.of(epsilon=1, delta="1e-6")
    part = calibrate(DRAWN, replicates=50, price=price).part
    assert budget.admits(Spend(), part)
    spent = budget.spend(part)
    assert not budget.admits(spent, Cost.of(rho="1e-6"))
    assert not budget.admits(Spend(), Cost(mu_squared=part.mu_squared, delta=2 * (part.delta or Fraction(0))))
    # a ledger of pairs is charged the pair; one of ρ or of ε alone refuses it
    assert Budget(epsilon=1, delta="1e-6", accounting="basic").admits(
        Spend(), calibrate(DRAWN, replicates=50, price=price, whole=True).part
    )
    for other in (Budget(rho=1), Budget(epsilon=1), Budget(epsilon=1, delta="1e-6", accounting="zcdp")):
        with pytest.raises(BudgetError) as caught:
            other.spend(part)
        assert caught.value.code == "B04"


def test_no_budget_takes_a_published_claim():
    claim = PublishedClaim.of(replicates=50, mu_squared=Fraction(1, 50))
    for budget in (Budget(rho=1), Budget(epsilon=10, delta="1e-6"), Budget(epsilon=1)):
        with pytest.raises(BudgetError, match="not certified") as caught:
            budget.admits(Spend(), claim)  # pyright: ignore[reportArgumentType]
        assert caught.value.code == "B04"


def test_what_has_no_proof_is_refused():
    wrong = (
        {"weights": "bayesian"},
        {"neighbors": "nobody"},
        {},
        {"weights": "poisson", "draws": 5},
        {"rows": 5, "centred": True},
        {"neighbors": "add-remove", "most": 3},
    )
    for words in wrong:
        with pytest.raises(BudgetError) as caught:
            Resampling(**words)
        assert caught.value.code == "B05"
    for words in ({"rows": 1}, {"rows": 5, "draws": 6}, {"rows": 5, "draws": 0}, {"weights": "poisson", "most": 0}):
        with pytest.raises(BudgetError) as caught:
            Resampling(**words)
        assert caught.value.code == "B08"
    with pytest.raises(BudgetError) as caught:
        certify(DRAWN, 0, Fraction(1, 50))
    assert caught.value.code == "B08"
