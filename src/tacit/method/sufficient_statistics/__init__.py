"""Sufficient statistics of exponential families."""
