"""Statistics computed from the cells of one released histogram: post-processing, at no privacy cost.

`cell_groups` selects the cells of some columns by group; `cell_error_laws` has the law of their noise;
`derived_numbers` is the result that users get.  Quantiles, distribution functions, moments, correlations, independence,
survival and adjusted counts have one module each.
"""
