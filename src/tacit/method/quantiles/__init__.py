"""Quantiles."""
