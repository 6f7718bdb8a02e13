"""Counts, sums, means and variances."""
