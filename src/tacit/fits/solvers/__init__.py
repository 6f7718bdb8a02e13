"""Losses, solvers and covariances of fits to weighted points.  Plain arrays."""
