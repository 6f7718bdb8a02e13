"""Kernel densities: noisy counts of cells as wide as a kernel allows, and kernels laid on them."""
