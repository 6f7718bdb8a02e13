"""Schemas: what is public about a table before any row is read: columns, bounds, levels, the unit of privacy."""

from __future__ import annotations

from tacit.schema.column_types import Boolean, Category, Column, Date, Integer, PrivacyUnit, Real, Text
from tacit.schema.drafting import draft
from tacit.schema.table_schema import Schema

__all__ = ["Boolean", "Category", "Column", "Date", "Integer", "PrivacyUnit", "Real", "Schema", "Text", "draft"]
