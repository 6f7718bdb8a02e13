"""Random effects of parties that happen to agree: what their own rows leave open is in the standard error."""

from __future__ import annotations

import numpy as np

import tacit as tc


def test_parties_that_agree_are_not_all_noise() -> None:
    """Hartung and Knapp's variance is next to nothing where estimates are equal; sampling does not vanish with it."""
    rows = {"x": np.tile([10.0, 90.0], 400)}  # the same table everywhere: no differences but noise
    schema = tc.Schema({"x": tc.Real(0, 100)})
    curators = [tc.Curator(rows, schema, name=f"p{i}", budget=tc.Budget(rho=4)) for i in range(3)]
    released = [one.release(tc.Mean("x"), rho=2) for one in curators]
    found = tc.combine({f"p{i}": one for i, one in enumerate(released)}, effects="random").estimate()
    # three parties of 800 rows with sd 40: at least 40 / sqrt(2400) = 0.82; the second moment's noise moves it little
    each = np.array([one.estimate().std_error for one in released])
    floor = 1 / np.sqrt((1 / each**2).sum())
    assert found.std_error > 0.95 * floor * np.sqrt(1 - max(one.estimate().privacy_share for one in released))
    # at this price noise is a hundredth of a party's variance; 1/2 is far from that, and from all of it
    assert found.privacy_share < 0.5
