"""M-estimators from the cells of a released histogram (Lei 2011; theory §7).  Post-processing: any number is free.

`cells`: noisy counts and what may be done to them.  `binning`: the correction for bins, as points with weights.
`formula`, `losses` (`kernels`): regressions.  `custom`, `families`: other losses.  `problem`, `solve`, `sandwich`:
signed weights, Newton steps, covariances.  `fit`, `result`: what comes out.  `effects`: what follows from it.
"""
