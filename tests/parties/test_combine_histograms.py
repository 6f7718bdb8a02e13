"""All that is made of one histogram is made of many parties' added up: the same numbers, with the noise of all."""

from __future__ import annotations

from fractions import Fraction
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest

import tacit as tc
from tacit.fits.cells.released_cells import cells_of
from tacit.method.histogram.combine import _unit as unit_of
from tacit.method.histogram.combine import _weights as weights_of
from tacit.noise.laws import DiscreteLaplace
from tacit.parties import CombinedHistogram

SCHEMA = tc.Schema(
    {
        "age": tc.Real(18, 90, units="years"),
        "stay": tc.Real(0, 40, units="days"),
        "sex": tc.Category(["f", "m"]),
        "dead": tc.Boolean(),
    }
)
QUERY = tc.Histogram(["age", "stay", "sex", "dead"], bins={"age": 5, "stay": 6})
SIZES = {"st-mary": 700, "st-luke": 300, "st-john": 2_000}
PRICES: dict[str, dict[str, Any]] = {
    "st-mary": {"epsilon": 2},
    "st-luke": {"rho": 0.5},
    "st-john": {"epsilon": 1, "delta": 1e-6},
}


def people(name: str) -> pd.DataFrame:
    rows = SIZES[name]
    rng = np.random.default_rng(rows)
    age = rng.uniform(18, 90, rows)
    sex = rng.choice(["f", "m"], rows)
    return pd.DataFrame(
        {
            "age": age,
            "stay": np.clip(rng.gamma(3, 2 + age / 30, rows), 0, 40),
            "sex": sex,
            "dead": rng.random(rows) < 1 / (1 + np.exp(3 - age / 30 - 0.5 * (sex == "m"))),
        }
    )


def released(table: pd.DataFrame, name: str, price: dict[str, Any], neighbors: str = "add-remove") -> Any:
    total: dict[str, Any] = {"rho": 900} if "rho" in price or "delta" in price else {"epsilon": 900}
    budget = tc.Budget(**total, neighbors=neighbors)
    return tc.Curator(table, SCHEMA, name=name, budget=budget).release(QUERY, **price)


@pytest.fixture(name="exact", scope="module")
def without_noise() -> tuple[Any, Any]:
    """Parties, and all their rows in one table, at a price at which no integer of noise is other than 0."""
    apart = {name: released(people(name), name, {"epsilon": 100}) for name in SIZES}
    whole = released(pd.concat([people(name) for name in SIZES]), "all", {"epsilon": 100})
    return tc.combine(apart), whole


@pytest.fixture(name="noisy", scope="module")
def at_mixed_prices() -> CombinedHistogram:
    return tc.combine({name: released(people(name), name, price) for name, price in PRICES.items()})


WAYS: dict[str, Any] = {
    "counts": lambda one: one.counts,
    "margin": lambda one: one.margin(["sex", "dead"]).estimate("table").values,
    "margin as a share of people": lambda one: one.margin("age").estimate().std_errors,
    "quantiles": lambda one: one.quantiles("stay", [0.25, 0.5, 0.9], by="sex").values,
    "cdf": lambda one: one.cdf("age").values,
    "moments": lambda one: one.moments("stay").values,
    "correlation": lambda one: np.asarray(one.correlation(["age", "stay"]).values),
    "survival": lambda one: one.survival("stay", "dead", by="sex").values,
    "density": lambda one: one.density("age").values,
    "linear": lambda one: one.fit("stay ~ age + sex").values,
    "logistic": lambda one: one.fit("dead ~ age + sex", model="logistic").values,
    "family": lambda one: one.fit("stay", family="gamma").values,
    "adjusted": lambda one: one.adjusted("clip").counts,
}


@pytest.mark.parametrize("way", WAYS)
def test_without_noise_it_is_that_of_all_rows_in_one_table(way: str, exact: tuple[Any, Any]) -> None:
    both, whole = exact
    assert isinstance(both, CombinedHistogram)
    assert np.asarray(WAYS[way](both)) == pytest.approx(np.asarray(WAYS[way](whole)), rel=1e-6, abs=1e-9)


def test_tests_and_rows_too(exact: tuple[Any, Any]) -> None:
    both, whole = exact
    ours, theirs = (one.logrank("stay", "dead", by="sex").p_value for one in (both, whole))
    assert ours == pytest.approx(theirs)
    assert both.independence("sex", "dead", draws=99).p_value == whole.independence("sex", "dead", draws=99).p_value
    pd.testing.assert_frame_equal(both.sample(200, rng=1), whole.sample(200, rng=1))


def test_the_noise_of_all_parties_is_in_it(noisy: CombinedHistogram) -> None:
    """Pure, normal and (ε, δ) prices together: variances add up, and a margin has that of its cells."""
    laws = [one.parts[0].law for one in noisy.releases]
    assert len({law.name for law in laws}) == 2
    total = sum(law.variance() for law in laws)
    assert cells_of(noisy).variance == pytest.approx(total, rel=1e-6)
    margin = noisy.margin("sex").estimate("table")
    assert margin.privacy_variances == pytest.approx(total * 5 * 6 * 2, rel=1e-6)
    assert not margin.sampling_variances.any()
    assert str(noisy.cost) == "ρ = 2"  # that of st-mary, ε²/2: the dearest


TRUTHS = ("margin", "cdf", "moments", "linear", "logistic", "family", "survival")


@pytest.mark.parametrize("way", TRUTHS)
def test_with_noise_it_is_near_by_its_own_errors(way: str, noisy: CombinedHistogram, exact: tuple[Any, Any]) -> None:
    """Beside the same without noise, of the same rows: within 6 of its own standard errors of privacy and sampling
    together, in each of at most 20 terms (noise alone is less; beyond with probability < 1e-6)."""
    made = {
        "margin": lambda one: one.margin(["sex", "dead"]).estimate("table"),
        "cdf": lambda one: one.cdf("age"),
        "moments": lambda one: one.moments("stay"),
        "linear": lambda one: one.fit("stay ~ age + sex"),
        "logistic": lambda one: one.fit("dead ~ age + sex", model="logistic"),
        "family": lambda one: one.fit("stay", family="gamma"),
        "survival": lambda one: one.survival("stay", "dead"),
    }[way]
    own, truth = made(noisy), made(exact[0])
    errors = np.asarray(own.std_errors)
    if way in ("linear", "logistic", "family"):  # what bins hide is judged from counts: noise may hide it, too
        found, clear = (np.diag(np.asarray(one.privacy_cov)) for one in (own.coefficients, truth.coefficients))
        assert (found > clear).all()
    else:
        assert (
            errors >= np.asarray(truth.std_errors) * 0.8
        ).all()  # privacy comes on top, where noise does not shift it
    assert (np.abs(np.asarray(own.values) - np.asarray(truth.values)) <= 6 * errors + 1e-9).all()


def test_quantiles_and_densities_with_noise(noisy: CombinedHistogram, exact: tuple[Any, Any]) -> None:
    """Intervals hold what the rows themselves say (an interval of the population is wider than noise alone)."""
    limits = noisy.quantiles("stay", [0.25, 0.5, 0.75]).intervals(0.999999)
    truth = exact[0].quantiles("stay", [0.25, 0.5, 0.75]).values
    assert ((limits[:, 0] <= truth) & (truth <= limits[:, 1])).all()
    sample = noisy.sample(500, rng=0)
    assert set(sample.columns) == {"age", "stay", "sex", "dead"}
    assert "3 parties" in str(noisy) or "st-mary" in str(noisy)


def test_noise_of_sums_of_cells_is_drawn_as_it_is() -> None:
    """Sums of 30 cells of three parties' noises, 200,000 draws, for tests by simulation: moments within 6
    Monte-Carlo errors (beyond with probability < 1e-6).  One Laplace law of that scale would have twice the variance.
    """
    from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise

    made = tc.combine({name: released(people(name), name, {"epsilon": 1}) for name in SIZES})
    law = made.parts[0].law
    draws = Noise(law, 1, 30, 4, projected=False).sample((200_000,), np.random.default_rng(0))
    variance = 30 * law.variance()
    assert draws.var() == pytest.approx(variance, rel=6 * (2 / 200_000) ** 0.5 * 1.1)
    fourth = (draws**4).mean() / variance**2
    assert fourth == pytest.approx(3 + 3 / 90, abs=6 * (96 / 200_000) ** 0.5)  # 90 Laplace noises; var of x**4 is 96
    error = Noise(law, 1, 30, 4, projected=False).error(np.ones(1), np.zeros(()))
    assert float(error.sd) ** 2 == pytest.approx(variance)


def test_public_and_private_sizes_together() -> None:
    one = released(people("st-mary"), "st-mary", {"epsilon": 2}, "replace-one")
    two = released(people("st-luke"), "st-luke", {"epsilon": 2})
    both = tc.combine([one, two])
    assert both.rows is None
    assert both.neighbors == "replace-one and add-remove"
    assert cells_of(both).total is None
    assert both.fit("stay ~ age").values.shape == (2,)


def test_equal_releases_of_the_same_people_have_weights_that_add_up() -> None:
    """Found by their place, not by what they hold: two equal ones are not both the first."""
    release = SimpleNamespace(parts=(SimpleNamespace(law=DiscreteLaplace(Fraction(3)), parameters={}),))
    for many in (2, 3):
        twins = SimpleNamespace(index=(0,) * many, releases=[release] * many)
        assert sum(weights_of(twins)) == unit_of(twins)
