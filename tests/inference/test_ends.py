"""What the box takes off means of blocks, against laws whose mean is known."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import integrate, stats
from scipy.optimize import root

import tacit as tc
from tacit.estimates.noisy_terms.box_censoring import unclamped_means
from tacit.families import Exponential, Gamma, Laplace
from tacit.method.blocks.estimate_ends import Ends, means_without_clamp
from tacit.testing import simulate


def clamped(law: Any, low: float, high: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance of a law's draws clamped to [low, high], by quadrature."""

    def of(power: int) -> float:
        inside = integrate.quad(lambda x: x**power * law.pdf(x), low, high, epsabs=1e-12, limit=200)[0]
        return low**power * law.cdf(low) + inside + high**power * law.sf(high)

    mean = of(1)
    return np.array([mean]), np.array([of(2) - mean**2])


CASES = {
    "normal, an end": (stats.norm(4.6, 0.7), 1.0, 4.6),
    "normal, both ends": (stats.norm(0.2, 0.8), 1.0, 0.2),
    "lognormal": (stats.lognorm(0.3, scale=3.5), 0.0, 3.5 * np.exp(0.045)),
}


@pytest.mark.parametrize("name", CASES)
def test_the_mean_of_a_law_of_the_kind_is_found_again(name: str) -> None:
    law, power, mean = CASES[name]
    low, high = (-1.0, 1.2) if "both" in name else (0.5, 5.0)
    m, v = clamped(law, low, high)
    found = unclamped_means(m, v, low, high, power)
    assert found.value[0] == pytest.approx(mean, abs=1e-3 * law.std())  # trapezium rule over a kink
    assert found.share[0] == pytest.approx(law.cdf(low) + law.sf(high), abs=0.01)
    assert abs(m[0] - mean) > 0.02 * law.std()  # there was something to be undone


@pytest.mark.parametrize("power", [1.0, 2 / 3, 0.0, -0.2, -1 / 3])
def test_slopes_are_those_of_differences_and_sampling_is_the_delta_method_s(power: float) -> None:
    m, v, low, high = np.array([4.4]), np.array([0.2]), 0.5, 5.0
    found = unclamped_means(m, v, low, high, power)
    step = 1e-3
    for j, move in enumerate(np.eye(2) * step):
        ends = [unclamped_means(m + side * move[0], v + side * move[1], low, high, power).value for side in (1, -1)]
        assert found.slopes[j] == pytest.approx((ends[0] - ends[1]) / (2 * step), rel=0.05)  # over kinks of the rule
    if power == 1.0:  # by simulation: 200 means and variances of 4,000 blocks each
        law = stats.norm(*_normal(m[0], v[0], low, high))
        x = np.clip(law.rvs((200, 4_000), random_state=1), low, high)
        values = unclamped_means(x.mean(axis=1), x.var(axis=1), low, high).value
        ratio = values.var(ddof=1) * 4_000 / found.sampling[0]
        # 200 normal draws: a chi-squared over its degrees of freedom, standard deviation 0.1; 5.5 of these, 4e-8
        assert abs(ratio - 1) < 0.55


def _normal(mean: float, variance: float, low: float, high: float) -> tuple[float, float]:
    def gap(place: Any) -> Any:
        m, v = clamped(stats.norm(place[0], np.exp(place[1])), low, high)
        return [m[0] - mean, v[0] - variance]

    found = root(gap, [mean, np.log(variance) / 2]).x
    return float(found[0]), float(np.exp(found[1]))


def test_far_from_the_ends_and_beyond_what_can_be_known_nothing_is_touched() -> None:
    ends = Ends(0.0, 5.0, 1.0)
    far = means_without_clamp(np.array([2.5]), np.array([0.2]), ends)
    assert (far.value[0], far.share[0], far.sampling[0]) == (2.5, 0.0, 0.2)
    lost = means_without_clamp(np.array([4.9]), np.array([0.03]), ends)
    assert lost.value[0] == 4.9
    assert lost.share[0] > 0.2
    open_ = means_without_clamp(np.array([0.05]), np.array([0.2]), Ends(-np.inf, np.inf, 1.0))
    assert open_.value[0] == 0.05


SCHEMA = tc.Schema({"x": tc.Real()})
NEAR_AN_END = {
    "exponential, rate": (Exponential(rate=(0.2, 5)), lambda rng, n: rng.exponential(1 / 4, n), 4.0),
    "gamma, rate": (Gamma(shape=2.0, rate=(0.2, 5)), lambda rng, n: rng.gamma(2.0, 1 / 4.2, n), 4.2),
    "laplace, scale": (Laplace(location=0.0, scale=(0.2, 5)), lambda rng, n: rng.laplace(0, 3.9, n), 3.9),
}


@pytest.mark.long
@pytest.mark.sample(3)
@pytest.mark.parametrize("name", NEAR_AN_END)
def test_parameters_near_an_end_are_covered(name: str) -> None:
    """60 tables of 16,000 rows in blocks of 20: without the correction the mean is 2 to 4 standard errors inside."""
    model, draw, truth = NEAR_AN_END[name]
    query = tc.SampleAndAggregate("x", model, blocks=800)
    rng = np.random.default_rng(5)
    hits, clamped_off = 0, []
    for _ in range(60):
        made = simulate(query, {"x": draw(rng, 16_000)}, SCHEMA, epsilon=20, repeats=1, rng=rng)
        found = made.releases[0].estimate()
        low, high = found.conf_int(0.95)
        hits += low <= truth <= high
        clamped_off.append((made.exact[0] - truth) / found.std_error)
        assert any("beyond an end" in note for note in found.notes)
    # at 93% or more, 43 or fewer of 60 come about with a probability of 1e-7
    assert hits > 43
    assert abs(np.mean(clamped_off)) > 1


def test_more_than_a_fifth_beyond_an_end_is_a_reason_and_no_interval() -> None:
    x = np.random.default_rng(0).exponential(1 / 6, 16_000)
    query = tc.SampleAndAggregate("x", Exponential(rate=(0.2, 5)), blocks=800)
    curator = tc.Curator({"x": x}, SCHEMA, budget=tc.Budget(epsilon=20))
    found = curator.release(query, epsilon=20).estimate()
    assert "beyond an end" in str(found.reasons[0])
    far = tc.Curator({"x": x / 50}, SCHEMA, budget=tc.Budget(epsilon=20)).release(query, epsilon=20).estimate()
    assert "beyond an end" in str(far.reasons[0])  # all blocks at the end, and their mean beyond it half of the time
    curator = tc.Curator({"x": x / 50}, SCHEMA, budget=tc.Budget(epsilon=1))
    # noise is all there is, which is seen in most releases: in none of 40 with a probability below 1e-6
    drawn = (curator.release(query, epsilon=0.005, fresh=True).estimate() for _ in range(40))
    hidden = next(one for one in drawn if "blocks with an estimate" in str(one.reasons[0]))
    assert hidden.conf_int(0.95)[1] - hidden.conf_int(0.95)[0] > 0.1
    assert found.conf_int(0.95) == (0.2, 5.0)
