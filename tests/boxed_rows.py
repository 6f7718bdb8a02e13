"""Rows of a linear regression whose parts are those of pure prices and of persons, with any noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import tacit as tc
from tacit.method.regression.design import boxed
from tacit.method.regression.product_parts import row_facts
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows, rows_of


def boxed_rows(
    query: tc.Regression, data: Any, schema: tc.Schema, cost: Cost, neighbors: Any = "replace-one"
) -> RegressionRows:
    """What `rows_of` returns, for the mechanism of two parts."""
    made = rows_of(query, data, schema, cost, neighbors)
    public = Public(schema, neighbors, made.shape.rows)
    return replace(made, shape=boxed(query, row_facts(query, schema), public, cost))
