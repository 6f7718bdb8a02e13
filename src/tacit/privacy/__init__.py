"""Prices, budgets, calibration and conversions, in exact rationals that are rounded conservatively.  No data here.

Conservatively: a privacy loss is rounded up, an allowance is rounded down.
"""

from __future__ import annotations

from tacit.privacy.budget import Budget, Spend
from tacit.privacy.calibration import gaussian_scale, laplace_scale, noise_for
from tacit.privacy.composition import compose, pld_total
from tacit.privacy.conversions import (
    analytic_multiplier,
    epsilon_delta_to_zcdp,
    gaussian_delta,
    zcdp_to_delta,
    zcdp_to_epsilon,
)
from tacit.privacy.cost import Cost
from tacit.privacy.exact_numbers import Number
from tacit.privacy.gaussian import (
    epsilon_delta_to_mu_squared,
    mu_squared_to_delta,
    mu_squared_to_epsilon,
    pure_to_mu_squared,
    range_to_mu_squared,
)
from tacit.privacy.partition import Partition, partition_table
from tacit.privacy.refusal import refusal

__all__ = [
    "Budget",
    "Cost",
    "Number",
    "Partition",
    "Spend",
    "analytic_multiplier",
    "compose",
    "epsilon_delta_to_mu_squared",
    "epsilon_delta_to_zcdp",
    "gaussian_delta",
    "gaussian_scale",
    "laplace_scale",
    "mu_squared_to_delta",
    "mu_squared_to_epsilon",
    "noise_for",
    "partition_table",
    "pld_total",
    "pure_to_mu_squared",
    "range_to_mu_squared",
    "refusal",
    "zcdp_to_delta",
    "zcdp_to_epsilon",
]
