"""M-estimators from the cells of a released histogram (Lei 2011; theory §7).  Post-processing: any number is free.

`cells/`: noisy counts as arrays.  `heaps/`: values that gather within bins.  `within_bins/`: the correction for
binning, as weighted points; what bins hide.  `solvers/`: estimating equations with signed weights, and covariances.
`model_matrix`, `regression_fits`, `within_residuals`, `one_bin_responses`: regressions.  `custom_losses`,
`family_fits`: other losses.  `separation`, `unknown_curvature`: where covariances do not hold.  `fit`, `fit_release`,
`fitted_model`, `fitted_curves`: results.  `effects`: predictions, marginal effects, tests.
"""
