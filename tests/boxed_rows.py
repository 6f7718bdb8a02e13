"""Rows of a regression whose parts are those of releases of before: of rows or of persons, with any noise."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import tacit as tc
from tacit.method.regression import design as linear
from tacit.method.regression.designs import counts_design, scores_design
from tacit.method.regression.row_sums.product_parts import row_facts
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows, rows_of


def boxed_rows(
    query: tc.Regression, data: Any, schema: tc.Schema, cost: Cost, neighbors: Any = "replace-one"
) -> RegressionRows:
    """What `rows_of` returns, for the mechanisms whose sensitivities follow from bounds."""
    made = rows_of(query, data, schema, cost, neighbors)
    public = Public(schema, neighbors, made.shape.rows)
    design = counts_design if query.model == "poisson" else linear if query.model == "linear" else scores_design
    return replace(made, shape=design.boxed(query, row_facts(query, schema), public, cost))
