"""Prices, budgets, calibration and conversions: exact rationals, rounded against ourselves.  No data here."""

from __future__ import annotations

from tacit.privacy.budget import Budget, Spend
from tacit.privacy.cost import Cost
from tacit.privacy.numbers import Number

__all__ = ["Budget", "Cost", "Number", "Spend"]
