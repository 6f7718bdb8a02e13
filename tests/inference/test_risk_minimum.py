"""Risk functions: the minimum is that of the rows, errors are as stated, the certificate holds."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import optimize, stats

import tacit as tc
from tacit.method.risk_function.estimate import estimate, excess, risk
from tacit.method.risk_function.estimate_mixture import _weights  # pyright: ignore[reportPrivateUsage]
from tacit.method.risk_function.linear_losses import bend_of, loss_of, slope_of
from tacit.method.risk_function.plan import expected
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, exact_integers, shaped

LEVEL = 1e-6
"""False-alarm rate of each comparison."""
SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 1, missing=0.0),
        "k": tc.Integer(0, 4, missing=0),
        "ok": tc.Boolean(missing=False),
        "v": tc.Real(-1, 1, missing=0.0),
    }
)


def people(n: int, rng: np.random.Generator, c: tuple[float, float] = (-0.5, 1.5)) -> dict[str, np.ndarray]:
    x, k = rng.beta(2, 3, n), rng.integers(0, 5, n)
    ok = rng.random(n) < 1 / (1 + np.exp(-c[0] - c[1] * (2 * x - 1)))
    v = np.clip(0.6 * (2 * x - 1) + rng.normal(0, 0.2, n), -1, 1)
    return {"x": x, "k": k, "ok": ok, "v": v}


def least(loss: str, z: np.ndarray, y: np.ndarray, box: float) -> np.ndarray:
    """The coefficients of least risk of rows."""
    found = optimize.minimize(
        lambda c: loss_of(loss, z @ c, y).mean(),
        np.zeros(z.shape[1]),
        jac=lambda c: (z * slope_of(loss, z @ c, y)[:, None]).mean(axis=0),
        bounds=[(-box, box)] * z.shape[1],
    )
    return found.x


@pytest.mark.parametrize("loss", ["logistic", "hinge", "squared", "huber"])
def test_slopes_and_bends_are_derivatives(loss: str) -> None:
    z, step = np.linspace(-3, 3, 53) + 0.013, 1e-5
    for y in np.array([-1.0, 0.3, 1.0]) if loss in ("squared", "huber") else np.array([-1.0, 1.0]):
        up, down = loss_of(loss, z + step, y), loss_of(loss, z - step, y)
        assert np.allclose((up - down) / (2 * step), slope_of(loss, z, y), atol=1e-8)
        up, down = slope_of(loss, z + step, y), slope_of(loss, z - step, y)
        assert np.allclose((up - down) / (2 * step), bend_of(loss, z, y), atol=1e-8)


@pytest.mark.parametrize(
    ("outcome", "on", "loss", "box"),
    [("ok", ("x",), "logistic", 4.0), ("v", ("x", "k"), "squared", 1.5), ("ok", ("x",), "hinge", 4.0)],
)
def test_without_noise_the_minimum_is_that_of_the_rows(outcome: str, on: Any, loss: str, box: float) -> None:
    data = people(4_000, np.random.default_rng(0))
    shape = shaped(tc.RiskFunction(outcome, on, loss, box=box), SCHEMA, "replace-one", 4_000, Cost.of(rho=1_000))
    release = simulated(shape, add_noise(shape, exact_integers(shape, data), np.random.default_rng(1)))
    # rows in the middle of their bins: 16 of x beside another regressor, 8 of v
    middle = (np.floor(data["x"] * 16) + 0.5) / 16 if len(on) == 2 else data["x"]
    scaled = {"x": 2 * middle - 1, "k": data["k"] / 2 - 1.0}
    z = np.stack([np.ones(4_000), *(scaled[name] for name in on)], axis=1)
    y = (np.minimum(np.floor(data["v"] * 4), 3) + 0.5) / 4 if outcome == "v" else 2.0 * data["ok"] - 1
    true, found = least(loss, z, y, box), estimate(release, "table")
    # hinges are the least smooth: what lattice values leave unsaid of them
    assert np.abs(found.values - true).max() < (0.02 if loss == "hinge" else 0.005)
    assert loss_of(loss, z @ found.values, y).mean() - loss_of(loss, z @ true, y).mean() < 2e-5
    values = risk(release, [found.values, np.zeros(len(true))], "table").values
    assert np.allclose(values, [loss_of(loss, z @ c, y).mean() for c in (found.values, 0 * true)], atol=2e-3)


@pytest.mark.parametrize(
    ("relation", "price", "repeats"),
    [
        ("replace-one", {"rho": 0.1}, 20),
        pytest.param("replace-one", {"rho": 0.1}, 80, marks=pytest.mark.long),
        pytest.param("add-remove", {"epsilon": 1}, 80, marks=pytest.mark.long),
    ],
)
def test_limits_cover_and_the_certificate_holds(relation: str, price: Any, repeats: int) -> None:
    """Releases of rows drawn anew; limits of the law's own coefficients, and true excess beside its bound."""
    rng, n, c = np.random.default_rng(2), 2_000, np.array([-0.5, 1.5])
    shape = shaped(tc.RiskFunction("ok", "x"), SCHEMA, relation, n, Cost.of(**price))
    held, bounded, errors = np.zeros(2), 0, list[np.ndarray]()
    for repeat in range(repeats):
        data = people(n, rng)
        release = simulated(shape, add_noise(shape, exact_integers(shape, data), rng))
        found = estimate(release)
        errors.append((found.values - c) / found.std_errors)
        held += np.abs(errors[-1]) <= stats.norm.isf(0.025)
        if repeat < repeats // 5:
            z, y = np.stack([np.ones(n), 2 * data["x"] - 1], axis=1), 2.0 * data["ok"] - 1
            true = least("logistic", z, y, 4.0)
            over = loss_of("logistic", z @ found.values, y).mean() - loss_of("logistic", z @ true, y).mean()
            bounded += over <= excess(release, 0.95)
    assert (held >= stats.binom.ppf(LEVEL / 10, repeats, 0.93)).all()
    assert bounded >= stats.binom.ppf(LEVEL, repeats // 5, 0.95)
    spread = np.array(errors).std(axis=0)
    low, high = np.sqrt(stats.chi2.ppf([LEVEL / 10, 1 - LEVEL / 10], repeats - 1) / (repeats - 1))
    assert ((low < spread) & (spread < 1.15 * high)).all()


def test_what_noise_hides_has_a_reason() -> None:
    rng = np.random.default_rng(3)
    for relation, n, c, words in (("add-remove", 3, (0.0, 0.0), "size"), ("replace-one", 2_000, (0.0, 9.0), "edge")):
        price = Cost.of(epsilon=0.05) if n == 3 else Cost.of(rho=1)
        shape = shaped(tc.RiskFunction("ok", "x", box=4), SCHEMA, relation, n, price)
        release = simulated(shape, add_noise(shape, exact_integers(shape, people(n, rng, c)), rng))
        found = estimate(release)
        assert words in str(found.reasons[0])
        assert np.isinf(found.intervals()).all()
        if n == 3:
            assert excess(release) == np.inf


def test_noise_below_every_loss_leaves_no_weight_and_says_nothing() -> None:
    """Values far below 0 have no nearest mixture but nothing at all: what stood in its place was 0 / 0."""
    weights = _weights(np.array([[0.2, 1.4], [0.9, 0.3]]), np.array([-1e9, -1e9]))
    assert weights.tolist() == [0.5, 0.5]


def test_plans_are_of_the_same_errors() -> None:
    """Even cells: the plan's errors are those of a release of such rows."""
    shape = shaped(tc.RiskFunction("ok", "x"), SCHEMA, "replace-one", 4_096, Cost.of(rho=0.05))
    rng, x = np.random.default_rng(4), np.tile((np.arange(1_024) + 0.5) / 1_024, 4)
    release = simulated(shape, add_noise(shape, exact_integers(shape, {"x": x, "ok": np.arange(4_096) < 2_048}), rng))
    found = estimate(release)
    for entry, error in zip(expected(shape, 4_096, 0.95), found.std_errors, strict=True):
        assert np.isclose(entry.std_error, error, rtol=0.1)
        assert 0 <= entry.privacy < 1
