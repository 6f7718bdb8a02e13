"""Coefficients with both errors from released sums.  Post-processing: costs nothing."""
