"""Quantiles beside a gap between rows: steps out of order are told, and their intervals reach further."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.method.quantiles.estimate_steps import beyond_gap, out_of_order
from tacit.method.quantiles.rank_errors import slack
from tacit.release.document import release_from_dict

DRAWS = 200_000


@pytest.mark.parametrize("reach", [1.5, 2.3, 3.0, 3.7, 4.25, 6.0])
def test_evenly_spaced_rows_are_rarely_out_of_order(reach: float) -> None:
    """In less than 5% of draws of the law of three selections, less than 6.5% where levels are low.

    Six standard errors: a false alarm below 1e-6.
    """
    rng = np.random.default_rng(2)
    steps = rng.laplace(0, 1, (DRAWS, 3)) + np.array([-reach, 0, reach])
    share = slack(1.0, reach)
    told = np.mean(out_of_order(steps, np.full(DRAWS, share)))
    most = 0.05 if reach >= 3 else 0.065
    assert told < most + 6 * math.sqrt(most / DRAWS)
    # without an allowance it would be this much
    expected = math.exp(-reach) * (2 + reach) / 2
    if reach >= 4.25:
        assert told == pytest.approx(expected, abs=0.1 * expected + 6 * math.sqrt(expected / DRAWS))


def test_steps_within_a_gap_are_out_of_order() -> None:
    """Five orders of six, where no allowance is made."""
    rng = np.random.default_rng(3)
    steps = rng.random((6_000, 3))
    told = np.mean(out_of_order(steps, np.zeros(6_000)))
    assert told == pytest.approx(5 / 6, abs=6 * math.sqrt(5 / 36 / 6_000))
    low = beyond_gap(steps, np.zeros(6_000), np.sort(steps[:, [0, 2]]))[:, 0]
    # where they are out of order, the gap's lower end is passed with probability 1 - 1 / 25
    passed = np.mean(low[out_of_order(steps, np.zeros(6_000))] < 0)
    assert passed == pytest.approx(24 / 25, abs=6 * math.sqrt(24 / 625 / 5_000) + 0.003)


def selected(below: int, at: int, above: int) -> Any:
    """A release of a median whose three selected steps are these."""
    table = {"x": [float(x % 100) for x in range(2_000)]}
    curator = tc.Curator(table, tc.Schema({"x": tc.Real(0, 100, missing=0)}), budget=tc.Budget(epsilon=9))
    words = json.loads(curator.release(tc.Quantiles("x", [0.5]), epsilon=1).to_json())
    # of a grid of 2**18 steps, the steps of this one
    G = words["parts"][0]["grid"]["G"]
    words["parts"][0]["integers"] = [[step * G // 2**18 for step in (below, at, above)]]
    return release_from_dict({key: value for key, value in words.items() if key != "digest"})


def test_an_interval_of_steps_out_of_order_reaches_further() -> None:
    near = selected(130_000, 131_000, 132_000).estimate()
    low, high = near.conf_int()
    assert near.reasons == (None,)
    for steps in ((131_000, 130_000, 132_000), (130_000, 132_000, 131_000), (132_000, 131_000, 130_000)):
        found = selected(*steps).estimate()
        assert found.reasons == (None,)
        assert 49 < found.value < 51
        # four times the distance of the outer steps on either side, and half a step beyond
        step = 100 / found.release.parts[0].grid.G
        assert np.diff(found.conf_int())[0] == pytest.approx(9 * (high - low - step) + step)
    # at most as far as the bounds
    assert selected(200_000, 100_000, 150_000).estimate().conf_int() == (0.0, 100.0)
    # equal steps are those of many equal rows
    same = selected(131_000, 131_000, 131_000).estimate()
    assert np.diff(same.conf_int())[0] == pytest.approx(100 / same.release.parts[0].grid.G)
