"""The reusable hold-out: checks of numbers found on other rows, bought by the run (`Curator.holdout`).

Whether a score differs from its training value is told by a sparse vector of exact integers (`mechanism_holdout`), so
that any number of checks without a difference costs no more than the one that finds it.
"""
