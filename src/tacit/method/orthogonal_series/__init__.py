"""Densities as series of orthonormal functions, with noisy coefficients."""
