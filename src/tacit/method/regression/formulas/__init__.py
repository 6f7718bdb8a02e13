"""Formulas of regressions: what is written, its terms, and the integer coordinates of a row.  No data here."""
