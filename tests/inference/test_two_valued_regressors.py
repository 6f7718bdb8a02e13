"""Rows in two parts by columns of two values: moments, curvatures, steps and standard errors of rare levels."""

from __future__ import annotations

import numpy as np
import pytest

from tacit.method.regression.bounded_scores.binary_links import BinaryLink
from tacit.method.regression.bounded_scores.normal_regressors import Regressors, TwoValued
from tacit.method.regression.bounded_scores.two_valued_regressors import halves
from tacit.method.regression.estimate_coefficients.score_reach import reach_factors
from tacit.method.regression.formulas.formula import parse
from tacit.method.regression.formulas.layout import layout
from tacit.method.regression.row_sums.noisy_scores import scaled_terms
from tacit.release.parts import Variable

ROWS = 200_000
SHARE = 0.1
LINK = BinaryLink("logistic", 8)


def table() -> tuple[np.ndarray, Regressors]:
    """Rows of 1, a level that a tenth has, and a normal column that goes with it; and their moments."""
    rng = np.random.default_rng(1)
    level = (rng.random(ROWS) < SHARE).astype(float)
    x = np.column_stack([np.ones(ROWS), level, 0.5 * level + rng.normal(0, 1, ROWS)])
    known = TwoValued(np.array([[0.0, 1.0, 0.0]]), np.array([[0.0, 1.0]]))
    constant = np.array([1.0, 0.0, 0.0])
    return x, Regressors(ROWS, x.mean(axis=0), np.cov(x.T, bias=True), constant, 0.1, two_valued=known)


def test_both_parts_together_have_the_released_moments() -> None:
    _, found = table()
    made = halves(found, np.array([-2.0, -3.0, 0.3]))
    assert sum(one.rows for one in made.parts) == pytest.approx(ROWS)
    both = np.sum([one.second_moments for one in made.parts], axis=0)
    assert both == pytest.approx(found.second_moments, rel=1e-6, abs=1e-6 * ROWS)
    assert made.left == pytest.approx(0.0)


def test_the_curvature_is_that_of_the_rows_where_events_are_rare_in_a_level() -> None:
    """Against the rows' own sums, whose chance is below 1% of each; normal regressors are off by more than 3 times."""
    x, found = table()
    b = np.array([-2.2, -3.3, 0.3])
    weight = LINK.slope(x @ b)
    own = (x.T * weight) @ x
    split = halves(found, b)
    made = split.sums(b, [LINK.slope(one.predictor_values(b)) for one in split.parts])
    assert made == pytest.approx(own, rel=0.05, abs=0.002 * ROWS * 0.1)
    assert made[1, 1] == pytest.approx(own[1, 1], rel=0.05)
    assert found.weighted_products(b, LINK.slope(found.predictor_values(b)))[1, 1] > 3 * own[1, 1]


def test_the_mean_score_along_a_way_is_the_curvature_of_the_way_times_it() -> None:
    eta, to = np.array([-2.0, 0.0, 1.0]), np.array([-5.0, 0.0, 0.5])
    size, curve = LINK.along_way(eta, to, LINK.cuts()[-1])
    made = LINK.bounded(eta, LINK.cuts()[-1])
    assert curve * (to - eta) == pytest.approx(made.v * (LINK.mean(to) - LINK.mean(eta)))
    # where both are the same, the size is the bounded score's own
    assert size[1] == pytest.approx(made.size[1])
    assert curve[1] == pytest.approx(made.curve[1])


def test_columns_of_two_values_are_found_in_a_formula() -> None:
    facts = (
        Variable("y", "boolean"),
        Variable("sex", "levels", labels=("f", "m")),
        Variable("age", "real", 0, 100, half=1024),
        Variable("town", "levels", labels=("a", "b", "c")),
    )
    made = layout(parse("y ~ sex + age + town"), facts)
    found = scaled_terms(made).two_valued
    assert found is not None
    assert found.ends.tolist() == [[-1.0, 1.0], [0.0, 1.0], [0.0, 1.0], [0.0, 1.0]]
    # of a man of 50 in the first town: the last indicator is that of the first level
    z = np.array([1.0, 1.0, 0.0, 0.0, 0.0])
    assert found.along @ scaled_terms(made).matrix @ z == pytest.approx([1.0, 0.0, 0.0, 1.0], abs=1e-9)
    assert scaled_terms(layout(parse("y ~ age"), facts[::2][:2])).two_valued is None


def test_standard_errors_reach_further_for_a_rare_level_alone() -> None:
    """Where an error is large beside what the number of events can fall by, and not where it is small."""
    _, found = table()
    b, step, back = np.array([-2.2, -2.0, 0.3]), np.array([0.0, -0.5, 0.0]), np.eye(3)
    wide = reach_factors(LINK, found, b, step, np.diag([1e-4, 1.0, 1e-4]), back)
    assert wide[1] > 1.5
    assert wide[[0, 2]] == pytest.approx(1.0, abs=0.1)
    short = 0 * step
    assert reach_factors(LINK, found, b, short, np.diag([1e-4] * 3), back) == pytest.approx(1.0, abs=0.1)
    # without columns of two values nothing changes
    plain = Regressors(found.rows, found.mean, found.cov, found.constant, found.response)
    assert reach_factors(LINK, plain, b, step, np.eye(3), back).tolist() == [1.0, 1.0, 1.0]
