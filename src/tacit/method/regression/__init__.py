"""Regression: linear, logistic, probit, Poisson."""
