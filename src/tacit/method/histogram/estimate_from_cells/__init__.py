"""Statistics made of the cells of one released histogram: post-processing of it, which costs nothing.

`taken` picks the cells of some columns, by groups; `errors` has the law of their noise; `derived` is what a user gets.
Quantiles, distribution functions, moments, correlations, independence, survival, adjustments: one module each.
"""
