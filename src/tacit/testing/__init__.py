"""Checks that anyone can run: the contract of a mechanism, the law of a noise, simulations and coverage.  OUTSIDE."""
