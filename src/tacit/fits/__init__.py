"""M-estimators from the cells of a released histogram (Lei 2011; theory §7).  Post-processing: any number is free.

`cell_arrays`, `released_cells`: noisy counts as arrays.  `cell_points`, `exponential_bins`, `bin_ends`, `bin_shapes`,
`bin_rules`, `bin_doubts`, `bin_errors`: the correction for binning, as weighted points, and what bins hide.
`model_matrix`, `losses`, `kernels`, `regression_fits`, `within_residuals`, `one_bin_responses`: regressions.
`custom_losses`, `family_fits`: other losses.  `problem`, `solver`, `sandwich`, `unknown_curvature`: estimating
equations with signed weights, covariances, and where these do not hold.  `fit`, `fit_release`, `fitted_model`,
`fitted_curves`: results.  `effects`: predictions, marginal effects, tests.
"""
