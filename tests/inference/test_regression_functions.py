"""Regression functions and classifiers from histograms: exact without noise, errors as stated, limits that cover."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.histogram.estimate_regression_function import classifier, regression_function
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, shaped

LEVEL = 1e-6
"""False-alarm rate of each comparison."""
SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 2, missing=0.0),
        "ok": tc.Category(["no", "yes"], missing="unknown"),
        "y": tc.Real(-1, 1, missing=0.0),
        "b": tc.Boolean(missing=False),
    }
)
BINS, AT = 16, np.array([0.3, 0.8, 1.3])


def of_cells(columns: list[str], cells: np.ndarray, n: int, rng: Any = None, **price: Any) -> Any:
    """A simulated release of rows that fall in cells with these chances; of the chances themselves without `rng`."""
    bins = {name: size for name, size in zip(columns, cells.shape, strict=True) if name in ("x", "y")}
    query = tc.Histogram(columns, bins=bins)
    shape = shaped(query, SCHEMA, "replace-one", n, Cost.of(**(price or {"rho": 1})))
    if rng is None:
        return simulated(shape, (np.rint(n * cells).astype(np.int64).reshape(-1, 1),))
    return simulated(shape, add_noise(shape, (rng.multinomial(n, cells.reshape(-1))[:, None],), rng))


def chances() -> np.ndarray:
    middle = (np.arange(BINS) + 0.5) / BINS
    law = stats.beta(2, 3).pdf(middle) / stats.beta(2, 3).pdf(middle).sum()
    return np.stack([law * (0.8 - 0.6 * middle), law * (0.2 + 0.6 * middle)], axis=1)


@pytest.mark.parametrize("order", [1, 2, 3, 4])
def test_a_line_stays_a_line_where_x_is_even_and_a_constant_everywhere(order: int) -> None:
    middle = (np.arange(BINS) + 0.5) / BINS
    even = np.stack([1 - middle, middle], axis=1) / BINS
    found = regression_function(of_cells(["x", "b"], even, 10**12), "b", "x", AT, None, order, "table")
    # the derivative of a running sum's polynomial is even where the running sum is a parabola: B_h keeps lines, and a
    # parabola up to a constant times t (1 - t), whose derivative is a line about the middle
    assert np.allclose(found.values - 0.5, (AT / 2 - 0.5) * (1 - 1 / BINS**order), atol=2e-6)
    level = np.outer(stats.beta(2, 3).pdf(middle) / BINS, [0.3, 0.7])
    found = regression_function(of_cells(["x", "b"], level / level.sum(), 10**12), "b", "x", AT, None, order, "table")
    assert np.allclose(found.values, 0.7, atol=1e-6)


def test_errors_are_as_stated_and_limits_cover() -> None:
    """300 releases of rows drawn anew, at three places."""
    rng, n, repeats = np.random.default_rng(0), 4_000, 300
    true = regression_function(of_cells(["x", "b"], chances(), 10**12), "b", "x", AT, None, 2, "table").values
    values, errors = list[np.ndarray](), list[np.ndarray]()
    for _ in range(repeats):
        found = regression_function(
            of_cells(["x", "b"], chances(), n, rng, epsilon=1), "b", "x", AT, None, 2, "population"
        )
        values.append(found.values)
        errors.append(found.std_errors)
    ratio = np.var(values, axis=0, ddof=1) / (np.array(errors) ** 2).mean(axis=0)
    low, high = stats.chi2.ppf([LEVEL / 6, 1 - LEVEL / 6], repeats - 1) / (repeats - 1)
    assert ((0.95 * low < ratio) & (ratio < 1.05 * high)).all()
    held = (np.abs(np.array(values) - true) <= stats.norm.isf(0.025) * np.array(errors)).sum(axis=0)
    assert (held >= stats.binom.ppf(LEVEL / 6, repeats, 0.94)).all()


def test_levels_numbers_and_targets() -> None:
    cells = np.zeros((BINS, 3))
    cells[:, :2] = 0.9 * chances()
    cells[:, 2] = 0.1 * chances().sum(axis=1)
    release = of_cells(["x", "ok"], cells, 10_000)
    yes, no, unknown = (release_values(release, "ok", level).values for level in ("yes", "no", None))
    assert np.allclose(yes + no + unknown, 1, atol=1e-9)
    assert np.allclose(unknown, 0.1, atol=2e-3)
    table = regression_function(release, "ok", "x", AT, "yes", 2, "table")
    assert not table.sampling.any()
    assert "of this table" in table.estimand
    numbers = np.outer(np.full(BINS, 1 / BINS), [0.25, 0.25, 0.25, 0.25])
    found = regression_function(of_cells(["x", "y"], numbers, 10_000), "y", "x", AT, None, 2, "population")
    assert np.allclose(found.values, 0, atol=1e-9)
    # four values evenly on [-1, 1]: variance 5/16
    assert found.sampling[0, 0] > 0.3125 / 10_000


def release_values(release: Any, outcome: str, level: str | None) -> Any:
    return regression_function(release, outcome, "x", AT, level, 2, "population")


def test_a_classifier_knows_how_often_it_is_wrong() -> None:
    """60 rules, each made from the counts that its error is estimated from, beside their true errors."""
    rng, cells, repeats = np.random.default_rng(1), chances(), 60
    misses, held = list[float](), 0
    for _ in range(repeats):
        rule = classifier(of_cells(["x", "b"], cells, 2_000, rng, epsilon=1), "b", "x", None, 0.5, 2, "population")
        true = float(np.where(rule.predicted, cells[:, 0], cells[:, 1]).sum())
        misses.append(float(rule.error.values[0]) - true)
        held += abs(misses[-1]) <= stats.norm.isf(0.025) * float(rule.error.std_errors[0])
    assert held >= stats.binom.ppf(LEVEL, repeats, 0.93)
    # what it gains from its own counts is known to a quarter of the error's standard deviation
    assert abs(np.mean(misses)) < (0.25 + stats.norm.isf(LEVEL / 2) / repeats**0.5) * np.std(misses)
    best = of_cells(["x", "b"], cells, 10**9)
    assert classifier(best, "b", "x", None, 0.5, 2, "table").predict([-1, 0.1, 1.9, 5]).tolist() == [
        False,
        False,
        True,
        True,
    ]


def test_few_rows_have_a_reason() -> None:
    release = of_cells(["x", "b"], chances(), 20, np.random.default_rng(2), epsilon=0.1)
    found = regression_function(release, "b", "x", [1.99], None, 2, "population")
    assert "too few rows" in str(found.reasons[0])
    assert np.isinf(np.asarray(found.intervals())).all()


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"at": []}, "I05"),
        ({"at": [np.nan]}, "I05"),
        ({"order": 0}, "I44"),
        ({"order": True}, "I44"),
        ({"level": "maybe"}, "I44"),
        ({"on": "b", "outcome": "x"}, "I60"),
        ({"on": "z"}, "I41"),
        ({"target": "people"}, "I09"),
    ],
)
def test_what_cannot_be_asked(asked: dict[str, Any], code: str) -> None:
    release = of_cells(["x", "b"], chances(), 1_000)
    given = {"outcome": "b", "on": "x", "at": [1.0], "level": None, "order": 2, "target": "population"} | asked
    with pytest.raises(InferenceError) as caught:
        regression_function(release, **given)
    assert caught.value.code == code


def test_no_classifier_of_three_levels_or_a_cut_that_is_none() -> None:
    numbers = of_cells(["x", "y"], np.full((BINS, 4), 1 / 64), 1_000)
    for release, outcome, cut in ((numbers, "y", 0.5), (of_cells(["x", "b"], chances(), 1_000), "b", 1.0)):
        with pytest.raises(InferenceError) as caught:
            classifier(release, outcome, "x", None, cut, 2, "population")
        assert caught.value.code == "I44"
