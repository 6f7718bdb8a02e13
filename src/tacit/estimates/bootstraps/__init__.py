"""The parametric bootstrap of functions of estimates: draws of total errors and their intervals.  Post-processing."""
