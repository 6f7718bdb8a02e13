"""Densities: models, series and kernels on noisy shares of bins, curves and their bands.  Post-processing."""
