"""Errors that plans foretell, by hand."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from scipy import special

import tacit as tc
from tacit import families
from tacit.curator.mechanisms import design
from tacit.method.blocks.plan import precision
from tacit.method.quantiles import design as quantiles_design
from tacit.method.shared.measurement import Public
from tacit.planning.expected import expected
from tacit.planning.pooled import Pool
from tacit.privacy import Cost


def test_a_plan_of_quantiles_is_of_their_reach() -> None:
    """Width 2 c of the rows, cut to the bounds, at the level of the question; privacy's part is of variances."""
    schema, query = tc.Schema({"x": tc.Real(0, 100, missing=0)}), tc.Quantiles("x", [0.9], level=0.9)
    shape = design(query, Public(schema, "add-remove", None), Cost.of(rho="0.0002"))
    (column,), sizes = quantiles_design.split(shape)
    assert sizes is not None
    (made,) = expected(shape, 5_000, 0.99)
    c = quantiles_design.reach(column, 5_000, 0.9)
    assert c < quantiles_design.reach(column, 5_000, 0.99)
    # a grid of 2**18 steps, of which an interval has one for itself
    assert made.width == pytest.approx(100 * (1 - (0.9 - c / 5_000)), rel=1e-4)
    assert made.without == pytest.approx(2 * 1.644854 * math.sqrt(0.09 / 5_000) * 100, rel=2e-3)
    assert made.privacy == pytest.approx(1 - (made.without / made.width) ** 2)


@pytest.mark.parametrize("price", [{"rho": "0.5"}, {"epsilon": 1}], ids=str)
def test_a_plan_of_blocks_has_the_information_of_all_parameters_together(price: Any) -> None:
    """A gamma law: the inverse of its information, not of its diagonal, over the rows; the noise of k blocks."""
    query = tc.SampleAndAggregate("x", families.Gamma(shape=(1, 4), rate=(0.5, 2)), blocks=200)
    shape = design(query, Public(tc.Schema({"x": tc.Real()}), "replace-one", 20_000), Cost.of(**price))
    found = precision(shape, 20_000, 0.9)
    assert shape.blocks is not None
    shape_, rate = shape.blocks.model.fallback
    information = np.array([[special.polygamma(1, shape_), -1 / rate], [-1 / rate, shape_ / rate**2]])
    truth = np.diag(np.linalg.inv(information)) / 20_000
    for (_, value, width, privacy, sampling), variance, column in zip(found, truth, shape.columns, strict=True):
        assert sampling == pytest.approx(variance, rel=1e-6)
        assert column.grid is not None
        load = (column.grid.upper - column.grid.lower) / column.grid.G / 200
        # the number of estimates is noisy, too: it moves what is off the middle of the box
        middle = (column.grid.lower + column.grid.upper) / 2
        counted = load * (value - middle) / (column.grid.upper - column.grid.lower) * column.grid.G
        counted /= column.form.parameters["presence"]
        assert privacy == pytest.approx((load**2 + counted**2) * column.law.variance())
        assert width == pytest.approx(2 * 1.644854 * math.sqrt(variance + privacy), rel=1e-6)


def test_a_pool_adds_up_what_parties_know() -> None:
    """1 / sum of 1 / (a / N + b / N**2); its price falls with the square of epsilon, and as rho does."""
    pool = Pool("x", "", 3.0, 600.0, Cost.of(epsilon=1), 100, (100, 400), 0.95)
    variance = 1 / (1 / (0.03 + 0.06) + 1 / (0.0075 + 600 / 400**2))
    assert pool.variance(pool.sizes) == pytest.approx(variance)
    assert pool.width == pytest.approx(2 * 1.959964 * math.sqrt(variance), rel=1e-6)
    assert pool.without == pytest.approx(2 * 1.959964 * math.sqrt(3 / 500), rel=1e-6)
    assert pool.added == pytest.approx(2)
    assert pool.parties_for(0.2) == math.ceil(0.09 / (0.1 / 1.959964) ** 2)
    assert pool.free_rows() == math.ceil(100 * 2 / 0.05)
    wanted = 2 * 1.959964 * math.sqrt(1 / (1 / (0.03 + 0.015) + 1 / (0.0075 + 150 / 400**2)))
    price = pool.price_for(1.0001 * wanted)
    assert price is not None
    assert price.epsilon == pytest.approx(2)
    same = Pool("x", "", 3.0, 600.0, Cost.of(rho="0.1"), 100, (100, 400), 0.95).price_for(1.0001 * wanted)
    assert same is not None
    assert float(same.rho or 0) == pytest.approx(0.4)
