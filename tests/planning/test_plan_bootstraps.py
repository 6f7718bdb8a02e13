"""Plans of bootstraps: expected widths of every statistic, and the pair that reaches a wanted width."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit.errors import QueryError

SCHEMA = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 1), "g": tc.Category(["a", "b"])})
DELTA = 1e-6
ASKED = tc.Bootstrap(tc.Mean("x"), 50)


def expected(query: tc.Query, **price: float) -> np.ndarray:
    page = tc.plan(query, SCHEMA, rows=900, **price)
    return np.array([[one.width, one.std_error, one.without] for one in page.parts[0].terms])


@pytest.mark.sample(2)
@pytest.mark.parametrize("statistic", [tc.Mean(["x", "y"], by="g"), tc.Variance("x"), tc.Sum("y"), tc.Count(by="g")])
def test_the_planned_errors_are_those_of_releases(statistic: tc.Query) -> None:
    """On average over ten releases of evenly spread values: 50 replicates tell a standard error to about a tenth."""
    planned = expected(tc.Bootstrap(statistic, 50), epsilon=20, delta=DELTA)
    rng, found = np.random.default_rng(0), []
    even = (np.arange(900) + 0.5) / 900
    table = {"x": even, "y": rng.permutation(even), "g": ["a", "b"] * 450}
    for _ in range(10):
        curator = tc.Curator(table, SCHEMA, budget=tc.Budget(epsilon=20, delta=DELTA))
        release = curator.release(tc.Bootstrap(statistic, 50), epsilon=20, delta=DELTA)
        estimate = release.estimate()
        found.append([estimate.intervals()[:, 1] - estimate.intervals()[:, 0], estimate.std_errors])
    width, error = np.mean(found, axis=0)
    assert width == pytest.approx(planned[:, 0], rel=0.25)
    assert error == pytest.approx(planned[:, 1], rel=0.25)
    assert np.all(planned[:, 0] > planned[:, 2])


def test_the_pair_for_a_width_reaches_it_and_no_lower_one_does() -> None:
    wanted = 0.08
    page = tc.plan(ASKED, SCHEMA, rows=900, width=wanted, delta=DELTA)
    assert float(page.cost.delta) == DELTA
    assert page.parts[0].terms[0].width <= wanted
    lower = float(page.cost.epsilon) * (1 - 0.1)
    assert expected(ASKED, epsilon=round(lower, 2), delta=DELTA)[0, 0] > wanted
    # the budget's delta, where none is given
    asked = tc.Curator({"x": np.zeros(900)}, tc.Schema({"x": tc.Real(0, 1)}), budget=tc.Budget(epsilon=9, delta=DELTA))
    assert asked.plan(ASKED, width=wanted).cost == page.cost


def test_widths_without_a_delta_or_that_no_price_reaches_are_refused() -> None:
    for words in ({"width": 0.08}, {"width": 0.001, "delta": DELTA}, {"width": -1, "delta": DELTA}):
        with pytest.raises(QueryError, match="Q40"):
            tc.plan(ASKED, SCHEMA, rows=900, **words)
    with pytest.raises(QueryError, match="Q40"):
        tc.plan(ASKED, SCHEMA, rows=900, width=0.08, epsilon=1, delta=DELTA)
    # other questions take a width or a price, as before
    with pytest.raises(QueryError, match="Q40"):
        tc.plan(tc.Mean("x"), SCHEMA, rows=900, width=0.08, delta=DELTA)
