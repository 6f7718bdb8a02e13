"""Encodings of releases of 0.1.0 that no mechanism makes any more and that every version must read."""

from __future__ import annotations

from tacit.method.shared import encoding as forms
from tacit.method.shared.encoding import Encoding
from tacit.rows.row_map import IDENTITY, ONE


def exclusion(G: int, noise: str) -> Encoding:
    """The encoding of excluded rows: sums of v - H and of rounded squares, and kappa for each row that is present."""
    H, c = G // 2, G if noise == "laplace" else 5 * G // 16
    kappa = H // 2 if noise == "laplace" else 21 * H // 32
    matrix = ((-H, 1, 0), (0, 0, 1), (kappa, 0, 0))
    parameters = {"G": G, "divisor": c, "presence": kappa}
    return Encoding("exclusion", parameters, (ONE, IDENTITY, forms.square(H, c)), matrix, G, G * G)
