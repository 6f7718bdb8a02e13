"""What is public before anyone looks: columns, bounds, levels, the unit of privacy.  No data here."""

from __future__ import annotations

from tacit.schema.columns import Boolean, Category, Column, Date, Integer, PrivacyUnit, Real
from tacit.schema.drafting import draft
from tacit.schema.table import Schema

__all__ = ["Boolean", "Category", "Column", "Date", "Integer", "PrivacyUnit", "Real", "Schema", "draft"]
