"""Likelihoods: families, regressions and models of one's own, with their information, bias and fits in blocks.

No rows live here and no noise is drawn: both sides of the wall use these numbers.  Names for users are in
`tacit.families`.
"""
