"""Fits to the cells of real people, almost without noise, beside least squares on the rows: what bins alone do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import statsmodels.api as sm

import tacit as tc

BINS: dict[str, Any] = {
    "ages": [17, 22, 27, 32, 37, 42],
    "wages": [0, 1, 1_000, 2_000, 4_000, 6_000, 8_000, 10_000, 15_000, 20_000, 40_000],
    "school": 9,
}


@pytest.fixture(scope="module")
def women() -> Any:
    """6,366 women [Fair 1978]; wages are made up: nothing for a third of them, else heaped on round thousands."""
    data = sm.datasets.fair.load_pandas().data
    rng = np.random.default_rng(0)
    wage = 1_000 * np.round(np.exp(rng.normal(1.2 + 0.08 * (data["educ"] - 14), 0.6)) + data["age"] / 20)
    data["wages"] = np.where(rng.random(len(data)) < 1 / 3, 0.0, np.minimum(wage, 40_000.0))
    return data.rename(columns={"age": "ages", "educ": "school"})[["ages", "wages", "school", "religious"]]


def fitted(women: Any, bins: dict[str, Any], formula: str) -> Any:
    schema = tc.Schema(
        {
            "ages": tc.Real(17, 42),
            "wages": tc.Real(0, 40_000),
            "school": tc.Integer(9, 20),
            "religious": tc.Integer(1, 4),
        }
    )
    curator = tc.Curator(women, schema, budget=tc.Budget(rho=1_000))
    return curator.release(tc.Histogram(list(women.columns), bins=bins), rho=500).fit(formula)


def least_squares(women: Any, y: str, x: list[str]) -> tuple[np.ndarray, np.ndarray]:
    found = sm.OLS(women[y], sm.add_constant(women[x])).fit(cov_type="HC0")
    return np.asarray(found.params), np.asarray(found.bse)


def test_a_heap_at_nothing_has_a_bin_of_its_own(women: Any) -> None:
    """Slopes within half a standard error of least squares; with slopes from any neighbour they were off by 3 to 110.

    Each bin's wages lie at its lower end, which no count shows: the intercept is off, by no more than its interval.
    """
    fit = fitted(women, BINS, "wages ~ school + religious")
    values, errors = least_squares(women, "wages", ["school", "religious"])
    assert np.abs((fit.value.to_numpy() - values) / errors)[1:].max() < 0.5
    assert (np.abs(fit.value.to_numpy() - values) < 1.96 * fit.std_error.to_numpy()).all()


def test_whole_numbers_are_where_they_are(women: Any) -> None:
    """Twelve bins for 9 to 20 years of school hold one number each: as the same column without bins, to the digit."""
    wide, narrow = ({**BINS, "school": 12}, {key: one for key, one in BINS.items() if key != "school"})
    one, other = (fitted(women, bins, "religious ~ school") for bins in (wide, narrow))
    values, errors = least_squares(women, "religious", ["school"])
    for fit in (one, other):
        np.testing.assert_allclose(fit.value.to_numpy(), values, atol=float(errors.min()) / 10)
        np.testing.assert_allclose(fit.std_error.to_numpy(), errors, rtol=0.02)
