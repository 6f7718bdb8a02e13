"""Distributions of integer noise (`laws`, data-free) and exact samplers (`exact`, `exact_vectors`, `exact_products`,
`select`, `threshold`).

The samplers are inside the wall: only they draw noise that protects anybody.  PROOF.md, beside these files, proves
that their draws have exactly the distribution that is claimed.
"""
