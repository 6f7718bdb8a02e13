"""Gini coefficients and Lorenz curves of histograms: closed forms, both errors, groups, errors."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.histogram.estimate_from_cells.inequality import gini, lorenz
from tacit.testing import simulate

SCHEMA = tc.Schema(
    {"pay": tc.Real(0, 100), "k": tc.Integer(0, 4), "g": tc.Category(["a", "b"]), "below": tc.Real(-1, 1)}
)


def curator(n: int = 20_000) -> tc.Curator:
    rng = np.random.default_rng(0)
    table = {"pay": rng.uniform(0, 100, n), "k": rng.binomial(4, 0.5, n), "g": rng.choice(["a", "b"], n)}
    return tc.Curator(table | {"below": rng.uniform(-1, 1, n)}, SCHEMA, budget=tc.Budget(rho=1_000))


def test_of_values_spread_evenly() -> None:
    """Uniform from 0: the coefficient is 1/3 and the curve p squared; no noise to speak of, 5 standard errors."""
    made = curator().release(tc.Histogram("pay", bins={"pay": 20}), rho=100)
    found, curve = made.gini("pay"), made.lorenz("pay", [0.2, 0.5, 0.9])
    assert abs(float(found.values[0]) - 1 / 3) < 5 * math.sqrt(1 / (45 * 20_000)) + 1e-4
    assert curve.values == pytest.approx([0.04, 0.25, 0.81], abs=0.012)
    assert curve.terms == ("0.2", "0.5", "0.9")
    low, high = found.conf_int()
    assert low < 1 / 3 < high


def test_of_whole_numbers_against_the_rows() -> None:
    """Bins of one value each: nothing is hidden, and without noise the numbers are those of the rows."""
    one = curator()
    made = one.release(tc.Histogram("k", bins={"k": 5}), rho=500)
    k = np.array([float(cell[0]) for cell in made.parts[0].integers])
    x = np.repeat(np.arange(5.0), np.rint(np.maximum(k, 0)).astype(int))
    n = len(x)
    truth = float((2 * np.arange(1, n + 1) - n - 1) @ x) / (n * float(x.sum()))
    assert float(made.gini("k").values[0]) == pytest.approx(truth, abs=2e-3)
    assert float(made.lorenz("k", 0.5).values[0]) == pytest.approx(float(x[: n // 2].sum() / x.sum()), abs=2e-3)


def test_groups_and_targets() -> None:
    made = curator().release(tc.Histogram(["pay", "g"], bins={"pay": 20}), rho=1)
    found = made.gini("pay", by="g")
    assert found.terms == ("a:gini", "b:gini")
    assert made.lorenz("pay", [0.5], by="g").terms == ("a:0.5", "b:0.5")
    of_table = made.gini("pay", target="table")
    assert of_table.std_error < made.gini("pay").std_error


def test_intervals_hold() -> None:
    """40 tables of 500 gamma values at ε = 0.5: 93% held, less 5 standard errors: fewer than 1e-6 of runs are below."""
    schema, rng, hit = tc.Schema({"x": tc.Real(0, 200)}), np.random.default_rng(2), list[bool]()
    for _ in range(40):
        x = np.clip(10 * rng.gamma(2, 1, 500), 0, 200)
        query = tc.Histogram("x", bins={"x": 40})
        made = simulate(query, {"x": x}, schema, repeats=1, rng=rng, epsilon=0.5).release(0)
        low, high = gini(made, "x").intervals()[0]
        hit.append(bool(low <= 0.375 <= high))  # of a gamma law of shape 2: 3/8
    assert np.mean(hit) >= 0.93 - 5 * math.sqrt(0.93 * 0.07 / 40)


def test_zeros_within_a_bin_are_in_errors() -> None:
    """30% zeros in a bin with others: the coefficient's interval holds it, the curve below them has a reason."""
    rng = np.random.default_rng(6)
    x = np.where(rng.random(10_000) < 0.3, 0.0, np.clip(rng.gamma(3, 10, 10_000), 0, 120))
    schema = tc.Schema({"x": tc.Real(0, 120)})
    made = simulate(tc.Histogram("x", bins={"x": 50}), {"x": x}, schema, repeats=1, rng=1, epsilon=1).release(0)
    ordered, n = np.sort(x), len(x)
    truth = float((2 * np.arange(1, n + 1) - n - 1) @ ordered) / (n * float(x.sum()))
    low, high = gini(made, "x").intervals()[0]
    assert low <= truth <= high
    curve = lorenz(made, "x", [0.2, 0.9])
    assert "first bin" in str(curve.reasons[0])
    assert curve.reasons[1] is None


def of_rows(x: np.ndarray, at: tuple[float, ...]) -> list[float]:
    """Return the Gini coefficient and the Lorenz curve of rows."""
    x, n = np.sort(x), len(x)
    gini = float((2 * np.arange(1, n + 1) - n - 1) @ x) / (n * float(x.sum()))
    return [gini, *(float(x[: round(p * n)].sum() / x.sum()) for p in at)]


def released(x: np.ndarray, column: tc.Real, bins: int) -> Any:
    """Return a histogram with next to no noise."""
    curator = tc.Curator({"x": x}, tc.Schema({"x": column}), budget=tc.Budget(rho=1_000))
    return curator.release(tc.Histogram("x", bins={"x": bins}), rho=500)


def test_multiples_from_zero_are_their_values() -> None:
    """Two or three values in each bin: bins begin half a unit below 0, and no value does."""
    x = 5.0 * np.random.default_rng(4).binomial(40, 0.2, 40_000)
    made, at = released(x, tc.Real(0, 200, multiple_of=5), 20), (0.2, 0.5, 0.9)
    found = [float(made.gini("x").values[0]), *made.lorenz("x", at).values]
    assert found == pytest.approx(of_rows(x, at), abs=0.01)


def test_a_heap_of_zeros_is_taken_halfway() -> None:
    """60% zeros with others in the first bin: 0.05 off where they were taken as spread over it, and a tenth of that."""
    rng = np.random.default_rng(8)
    x = np.where(rng.random(20_000) < 0.6, 0.0, np.clip(rng.gamma(2, 10, 20_000), 0, 100))
    found = released(x, tc.Real(0, 100), 50).gini("x")
    assert float(found.values[0]) == pytest.approx(of_rows(x, ())[0], abs=0.012)


def test_the_density_within_the_bin_of_a_quantile_counts() -> None:
    """Values that begin abruptly at 10: the lowest fifth ends in the first bin of any, where no neighbour says how."""
    x = np.clip(10 * (1 + np.random.default_rng(5).pareto(2, 50_000)), 0, 100)
    low, high = released(x, tc.Real(0, 100), 40).lorenz("x", 0.2).intervals()[0]
    truth = of_rows(x, (0.2,))[1]
    assert low <= truth <= high
    assert high - low > 0.01


def test_too_much_noise_is_a_reason() -> None:
    table = {"x": np.random.default_rng(3).gamma(2, 1, 100)}
    query, schema = tc.Histogram("x", bins={"x": 50}), tc.Schema({"x": tc.Real(0, 200)})
    made = simulate(query, table, schema, repeats=1, rng=1, epsilon=0.05).release(0)
    found = lorenz(made, "x", [0.5])
    assert found.reasons[0] is not None
    assert found.intervals().tolist() == [[0.0, 1.0]]


def test_errors_say_what_is_asked() -> None:
    one = curator()
    made = one.release(tc.Histogram("below", bins={"below": 5}), rho=1)
    with pytest.raises(InferenceError, match="may be below 0") as found:
        made.gini("below")
    assert found.value.code == "I99"
    dates = tc.Schema({"d": tc.Date("2024-01-01", "2024-12-31")})
    table = {"d": np.array(["2024-03-01"] * 9, dtype="datetime64[D]")}
    days = tc.Curator(table, dates, budget=tc.Budget(rho=1))
    with pytest.raises(InferenceError, match="days, whose sum means nothing"):
        days.release(tc.Histogram("d", bins={"d": 4}), rho=0.1).gini("d")
    cells = one.release(tc.Histogram("pay", bins={"pay": 5}), rho=1)
    for at in (0, 1.5, [], [True]):
        with pytest.raises(InferenceError) as found:
            cells.lorenz("pay", at)  # type: ignore[arg-type]
        assert found.value.code == "I51"
    levels = one.release(tc.Histogram("g"), rho=1)
    with pytest.raises(InferenceError) as found:
        levels.gini("g")
    assert found.value.code == "I50"
    with pytest.raises(AttributeError, match=r"a tc\.Histogram's release has gini and lorenz"):
        _ = one.release(tc.Quantiles("pay", [0.5]), rho=1).gini  # type: ignore[attr-defined]
