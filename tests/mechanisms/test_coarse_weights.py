"""Weights of vectors and residuals: such that float32 is exact where they are fine enough, and else finer."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit.method.regression.row_sums.linear_pilot import COARSEST, COARSEST_OF_WIDE, MAX_SHIFT, integer_residual
from tacit.method.regression.row_sums.norm_scaling import WHOLE, as_integers
from tacit.privacy import Cost
from tacit.rows.coordinates import EXACT, SHORT, H
from tacit.testing.simulated_regressions import rows_of

PRICE = Cost.of(rho=1)


@pytest.mark.parametrize("wide", [0.01, 1.0, 3.0, 40.0, 1e3, 1e5])
def test_vectors_are_exact_in_float32_where_weights_are_fine_enough(wide: float) -> None:
    """wide: the largest entry of a row at its bounds, in units of H."""
    rows = np.random.default_rng(0).normal(0, 1, (5, 6))
    rows *= wide / np.abs(rows).sum(axis=1).max()
    for coarsest in (7, WHOLE):
        made = as_integers(rows, coarsest)
        made.check()
        reached = max(sum(map(abs, one)) for one in made.weights) * H + 2 ** (made.shift - 1)
        if reached < SHORT:
            assert coarsest <= made.shift
            # as fine as they can be: twice as fine is too fine
            assert made.shift == MAX_SHIFT or 4 * reached > SHORT
        else:
            assert made.shift == MAX_SHIFT or 2**50 > reached > EXACT / 16
        assert np.abs(np.array(made.weights) * 2.0**-made.shift - rows).max() <= 2.0 ** -(made.shift + 1)
        assert (reached < SHORT) == (wide * H <= 2 ** (23 - coarsest))


@pytest.mark.parametrize("total", [3.0, 10.0, 1e3, 1e6])
def test_residuals_are_exact_in_float32_where_weights_are_fine_enough(total: float) -> None:
    row = np.random.default_rng(1).normal(0, 1, 6)
    row[-1] = abs(row[-1])
    row *= total / np.abs(row).sum()
    fine, coarse = integer_residual(row, 512), integer_residual(row, 512, coarse=True)
    assert fine is not None
    assert coarse is not None
    assert fine.shift >= COARSEST_OF_WIDE
    if total < 16:
        assert coarse.shift >= COARSEST
        assert sum(map(abs, coarse.weights)) * H + 2 ** (coarse.shift - 1) < SHORT
    else:
        assert coarse == fine
    assert integer_residual(1e9 * row, 512, coarse=True) is None


def test_the_constant_of_a_standardised_vector_is_a_whole_number() -> None:
    """Its square tells what all products lose by shortening: for every room and number of regressors."""
    rng = np.random.default_rng(2)
    data = {name: rng.normal(0, 1, 500) for name in ("y", "a", "b", "c")}
    for bound in (3.0, 11.0, 200.0):
        schema = tc.Schema({name: tc.Real(-bound, bound) for name in data})
        for formula in ("y ~ a", "y ~ a + b", "y ~ a * b + c"):
            for price in (PRICE, Cost.of(rho="0.001")):
                facts = rows_of(tc.Regression(formula), data, schema, price).release(rng).parts[1].parameters
                assert facts["weight0"] * H % 2 ** facts["shift"] == 0


@pytest.mark.parametrize(("formula", "fine"), [("y ~ a + b", False), ("y ~ a + b - 1", True)])
def test_residuals_without_an_intercept_have_fine_weights(formula: str, fine: bool) -> None:
    rng = np.random.default_rng(3)
    data = {name: rng.normal(0, 1, 2_000) for name in ("y", "a", "b")}
    schema = tc.Schema({name: tc.Real(-4, 4) for name in data})
    facts = rows_of(tc.Regression(formula), data, schema, PRICE).release(rng).parts[2].parameters
    assert (facts["shift"] > 20) == fine
