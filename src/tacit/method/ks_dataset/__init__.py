"""Whole data sets by the exponential mechanism."""
