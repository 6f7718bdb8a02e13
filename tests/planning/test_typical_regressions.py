"""Plans of regressions where noise is large: standard errors of releases, not those of a release without noise."""

from __future__ import annotations

import numpy as np

import tacit as tc
from tacit.method.regression.estimate import fit_release
from tacit.planning.expected_regressions import tried, typical
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows, rows_of


def made(n: int, d: int, cost: Cost) -> RegressionRows:
    rng = np.random.default_rng(5)
    x = rng.normal(0, 1, (n, d))
    columns = {f"x{j}": x[:, j] for j in range(d)}
    data = {**columns, "y": rng.random(n) < 1 / (1 + np.exp(-x @ np.full(d, 0.2)))}
    schema = tc.Schema({**{name: tc.Real(-6, 6) for name in columns}, "y": tc.Boolean()})
    return rows_of(tc.Regression(f"y ~ {' + '.join(columns)}", model="logistic"), data, schema, cost)


def test_where_noise_is_small_a_plan_is_that_of_no_noise() -> None:
    rows = made(20_000, 3, Cost.of(rho=1))
    still = fit_release(rows.expected(rows.size))
    found = typical(rows, rows.size)
    assert found.values.tolist() == still.values.tolist()
    assert not tried(rows, rows.size)[1]


def test_where_noise_is_large_a_plan_has_the_errors_of_releases() -> None:
    """Without noise they would be less than nine tenths of those of the middle of nine releases."""
    rows, rng = made(3_000, 16, Cost.of(epsilon=1.5, delta=1e-6)), np.random.default_rng(6)
    told = [fit for fit in (rows.fit(rng) for _ in range(9)) if fit.reasons[0] is None]
    middle = np.median([fit.std_errors for fit in told], axis=0).mean()
    still, found = fit_release(rows.expected(rows.size)), typical(rows, rows.size)
    assert len(told) >= 5
    assert still.std_errors.mean() < 0.9 * middle
    assert 0.85 < found.std_errors.mean() / middle < 1.3
    # equal questions get equal plans
    assert typical(rows, rows.size).std_errors.tolist() == found.std_errors.tolist()


def test_where_most_releases_have_a_reason_a_plan_has_one() -> None:
    rows, rng = made(1_000, 12, Cost.of(epsilon=1, delta=1e-6)), np.random.default_rng(7)
    assert sum(rows.fit(rng).reasons[0] is not None for _ in range(6)) >= 4
    fit, open_ = tried(rows, rows.size)
    assert fit.reasons[0] is not None
    assert open_
