"""Distribution functions on a lattice with noise, and the iterated Bernstein polynomials that they make."""
