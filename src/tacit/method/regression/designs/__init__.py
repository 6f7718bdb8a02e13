"""Designs of regressions: the parts that a question measures, at which shares of its price.  Public facts alone."""
