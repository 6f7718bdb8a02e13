"""Noisy values of a risk on a lattice of coefficients, the risk function that they make, and its minimum."""
