"""Integer encoding of a block's estimate beside its own variance, with the proof of its sensitivity."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from tacit.method.shared.encoding import Encoding, Noise, exclusion
from tacit.rows.row_map import Polynomial

PARTS: Final = 4
"""The largest variance of a block is that of a standard deviation of a fourth of the box.  One so large leaves 2% of
normal estimates beyond each end of the box, where the mean of blocks has no interval (`estimate_by_blocks`)."""


def own_variance(G: int, noise: Noise) -> Encoding:
    """Return (w, j, kappa) of present rows, zeros of absent ones, where j is any whole number from 0 to H - |w|.

    G, H, w, kappa and the relation are those of `exclusion`; j = floor(s / c) of a variance s in squared grid steps,
    cut to its bounds, and c = H / 4.  The variance is another number than w**2, so that its unit c is free: a smaller
    one than the c of `exclusion` has less noise in s, by a factor of 8 (Laplace) or 4.
    Laplace, kappa = H: l1 = 2H.  |w| + j <= H, so that two present rows differ by at most |w| + j + |w'| + j' <= 2H,
    and a present one from an absent one by |w| + j + kappa <= 2H.
    Gaussian, kappa = floor(sqrt(3) H): l2 = 2H.  w**2 + j**2 <= (|w| + j)**2 <= H**2: two points of a disc of radius H
    are at most 2H apart, and w**2 + j**2 + kappa**2 <= 4 H**2.  l1 is at most H + sqrt(3) H < 3H.
    Attained, all but the last, by v = 0 against v = G.
    """
    H = G // 2
    if G % 2 or H % PARTS or H < PARTS:
        raise ArithmeticError(f"no proven form on a grid of {G} steps")
    form = exclusion(G, noise)
    # the second integer is no polynomial of v, and is brought by who sums the rows: here that of a variance of 0
    polynomials = (*form.polynomials[:2], Polynomial((0,)))
    parameters = {**form.parameters, "divisor": H // PARTS}
    return replace(form, name="own-variance", polynomials=polynomials, parameters=parameters)
