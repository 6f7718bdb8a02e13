"""Histograms, dense and sparse, and everything that is made of their cells."""
