"""Regressions of many parties: coefficients weighted by their variances, common and differing; what goes together."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from scipy.stats import binom

import tacit as tc
from tacit.errors import TacitError
from tacit.method.regression import combine as regressions
from tacit.pooling.random_effects import effects_of_estimates
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import rows_of

SCHEMA = tc.Schema({"x": tc.Real(0, 1), "s": tc.Boolean(missing=False), "y": tc.Real(-0.5, 1.5)})
QUERY = tc.Regression("y ~ x + s")
BETA = np.array([0.3, 0.4, 0.1])


def table(rng: np.random.Generator, rows: int, tau: float = 0.0) -> dict[str, Any]:
    b = BETA + tau * rng.standard_normal(3)
    x, s = rng.random(rows), rng.random(rows) < 0.5
    return {"x": x, "s": s, "y": b[0] + b[1] * x + b[2] * s + 0.2 * rng.standard_normal(rows)}


def answer(name: str, rows: int, epsilon: float, seed: int, schema: tc.Schema = SCHEMA) -> Any:
    budget = tc.Budget(epsilon=9)
    made = tc.Curator(table(np.random.default_rng(seed), rows), schema, name=name, budget=budget)
    return made.release(QUERY, epsilon=epsilon)


@pytest.fixture(scope="module")
def given() -> dict[str, Any]:
    return {f"party-{i}": answer(f"party-{i}", 4_000, 4, i) for i in range(4)}


@pytest.mark.sample(2)
@pytest.mark.parametrize("tau", [0.0, 0.1])
def test_combined_coefficients_cover(tau: float) -> None:
    """Of 40 studies of 5 parties at least binom.ppf(1e-7, 40, .93) hold each of 3 truths: false alarms below 1e-6."""
    rng, hits = np.random.default_rng(3), np.zeros(3)
    far = np.full(3, np.inf)
    for _ in range(40):
        made = [rows_of(QUERY, table(rng, 2_000, tau), SCHEMA, Cost.of(epsilon=2)).release(rng) for _ in range(5)]
        found = regressions.coefficients(made, range(5))
        low, high = (
            effects_of_estimates(found.parts, (-far, far), "REML") if tau else regressions.common(found)
        ).interval(0.95)
        hits += (low <= BETA) & (high >= BETA)
    assert (hits >= binom.ppf(1e-7, 40, 0.93)).all()


def test_several_say_more_than_one(given: dict[str, Any]) -> None:
    found = tc.combine(given).estimate()
    assert found.terms == ("Intercept", "x", "s")
    # half of what four alike say each; the ratio varies by 1.2% (standard deviation), so that 0.6 is beyond 14 of these
    alone = np.mean([one.fit().std_errors for one in given.values()], axis=0)
    assert (found.std_errors < 0.6 * alone).all()
    assert (np.abs(found.values - BETA) < 6 * found.std_errors).all()
    assert "linear regression y ~ x + s" in str(found)
    assert found.contrast("x - s").std_error >= found.std_errors[1:].max()


def test_weights_follow_rows_and_prices_not_luck(given: dict[str, Any]) -> None:
    """Parties of one size and price weigh alike, but for the noise of their sizes; eight times the rows weigh about
    eight times, or more for the noise.  That noise has a standard deviation of 0.5 % of a size: 10 % is beyond 19
    standard deviations of a Laplace law, probability e**-26.
    """
    found = tc.combine(given)
    shares = found.shares_of(1)
    assert shares == pytest.approx([0.25] * 4, rel=0.1)
    fits = [one.fit() for one in given.values()]
    made = found.estimate()
    assert made.values[1] == pytest.approx(float(shares @ np.array([one.values[1] for one in fits])))
    # what rows far out may say is no less of several parties
    shared = np.array([np.zeros(3) if one.shared is None else one.shared for one in fits])[:, 1]
    own = np.array([one.std_errors[1] for one in fits]) ** 2 - shared
    assert made.std_errors[1] ** 2 == pytest.approx(float(shares**2 @ own + (shares @ np.sqrt(shared)) ** 2))
    wide = tc.combine({**given, "large": answer("large", 32_000, 4, 7)}).shares_of(1)
    assert 7 < wide[4] / wide[0] < 64
    varied = tc.combine(given, "random")
    low, high = varied.estimate().prediction().loc["x"]
    assert low < high
    assert len(varied.leave_one_out().rows) == 3 * 5


def test_a_party_that_noise_leaves_nothing_of_is_left_out_by_name(given: dict[str, Any]) -> None:
    made = tc.combine({**given, "small": answer("small", 60, 0.1, 9)})
    assert made.estimate().values == pytest.approx(tc.combine(given).estimate().values)
    assert "noise leaves no coefficients, left out: small" in str(made)
    alone = tc.combine({"small": answer("small", 60, 0.1, 9)}).estimate()
    assert "noise leaves no party's coefficients" in str(alone)


def test_releases_of_the_same_people_count_once() -> None:
    """Their noise is averaged, weights inverse to it; the sampling part is that of one table."""
    curator = tc.Curator(table(np.random.default_rng(1), 4_000), SCHEMA, name="same", budget=tc.Budget(epsilon=9))
    both = [curator.release(QUERY, epsilon=2, name=name) for name in ("first", "second")]
    parts = regressions.coefficients(both, (0, 0)).shown
    fits = [one.fit() for one in both]
    noise = np.array([np.diag(one.cov_privacy) for one in fits])
    assert parts.privacy[0] == pytest.approx(1 / (1 / noise).sum(axis=0))
    sampling = np.array([np.diag(one.cov_sampling) for one in fits])
    assert (parts.sampling[0] >= sampling.min(axis=0) - 1e-15).all()
    assert (parts.sampling[0] <= sampling.max(axis=0) + 1e-15).all()


def test_other_bounds_do_not_go_together(given: dict[str, Any]) -> None:
    wide = tc.Schema({"x": tc.Real(0, 2), "s": tc.Boolean(missing=False), "y": tc.Real(-0.5, 1.5)})
    with pytest.raises(TacitError, match=r"C12.*the columns of its regression are not those"):
        tc.combine({**given, "wide": answer("wide", 2_000, 2, 5, wide)})
    with pytest.raises(TacitError, match="I09"):
        tc.combine(given).estimate("table")


@pytest.mark.parametrize("effects", ["random", "common"])
def test_where_noise_leaves_no_coefficients_reasons_name_the_parties(
    given: dict[str, Any], effects: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No value, no interval, and no number of 150 digits."""
    real = regressions.coefficients

    def silent(*words: Any, **more: Any) -> Any:
        found = real(*words, **more)
        none = np.zeros_like(found.parts.usable)
        none[0] = effects == "random"  # one is too few
        return replace(found, parts=replace(found.parts, usable=none))

    monkeypatch.setattr(regressions, "coefficients", silent)
    found = tc.combine(given, effects=effects)
    made = found.estimate()
    out = ("party-0, " if effects == "common" else "") + "party-1, party-2, party-3 say too little"
    assert all(out in str(reason) for reason in made.reasons)
    assert np.isnan(made.values).all()
    assert np.isinf(made.intervals()).all()
    for text in (str(made), str(found.by_party()), str(found.heterogeneity())):
        assert not any(len(word) > 40 for word in text.split())
    assert found.plot().lower == (-np.inf,) * 3


def bent(rng: np.random.Generator, rows: int) -> dict[str, Any]:
    """Return a table whose mean has half the slope where x, which has a long tail, is beyond 4."""
    x = np.minimum(rng.lognormal(0, 0.9, rows), 20)
    return {"x": x, "y": 0.1 * x + 0.1 * np.minimum(x, 4) + 0.2 * rng.standard_normal(rows)}


@pytest.mark.parametrize("effects", ["common", "random"])
def test_what_rows_far_out_may_say_is_no_less_of_many_parties(effects: str) -> None:
    """The slope of whole rows lies within the interval of eight parties; without that error each is 4 to 10 errors off.

    The difference is .02, its allowance .01 to .03, and other errors a tenth of that.
    """
    schema = tc.Schema({"x": tc.Real(0, 20), "y": tc.Real(-1, 4)})
    question, rng = tc.Regression("y ~ x"), np.random.default_rng(4)
    made = {}
    for i in range(8):
        curator = tc.Curator(bent(rng, 20_000), schema, name=f"p{i}", budget=tc.Budget(rho=1))
        made[f"p{i}"] = curator.release(question, rho=0.02)
    whole = bent(np.random.default_rng(5), 1_000_000)
    truth = float(np.polyfit(whole["x"], whole["y"], 1)[0])
    alone = [one.estimate().std_errors[1] for one in made.values()]
    alike = tc.combine(made, effects).estimate()
    low, high = np.asarray(alike.conf_int(0.95), dtype=float)[1]
    assert low < truth < high
    assert alike.std_errors[1] > 0.8 * np.min(alone)
    known = made["p0"].estimate(linear=True)
    assert known.values == pytest.approx(made["p0"].estimate().values)
    assert (known.values[1] - truth) / known.std_errors[1] > 2
    assert "rows far out" in str(made["p0"].summary())
    assert "rows far out" not in str(known.summary())
    told = tc.combine(made, effects, linear=True).estimate()
    assert told.values == pytest.approx(alike.values)
    assert told.std_errors[1] < 0.5 * alike.std_errors[1]
    assert "taken to be linear" in str(told.summary())
    assert "taken to be linear" in str(known.summary())
    assert "taken to be linear" not in str(alike.summary())
