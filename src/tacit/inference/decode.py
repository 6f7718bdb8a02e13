"""From the noisy integers of a form to noisy moments, by the form's public parameters (theory §1.3, §12).

Moments are of u = (v - H) / H in [-1, 1], H = G / 2, over the rows of a cell: size N, sum S, sum of squares Q.  They
are linear in the integers, so the noise of each is a known combination of independent integer noises.  Verified with
exact integers in `tests/inference/test_decode.py`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np

from tacit.errors import ReleaseError
from tacit.inference.laws import Array
from tacit.release import Part

BINARY: Final = ("binary-plain", "binary-exclusion", "binary-group")


@dataclass(frozen=True)
class Moments:
    """Noisy moments of m cells, and how the k noises of a cell enter them.

    size, total, square: N, S, Q, each of shape (m,); a size that is public has a row of zeros in `loadings`.
    loadings: shape (3, k); row r says how moment r reacts to the k noises.
    """

    size: Array
    total: Array
    square: Array
    loadings: Array
    public: bool


def integers(part: Part) -> Array:
    """Integers of a part as floats, shape (cells, k): 53 bits are far more than the noise leaves."""
    return np.array([[float(k) for k in cell] for cell in part.integers], dtype=np.float64)


def moments(form: str, parameters: Mapping[str, int], cells: Array, rows: int | None) -> Moments:
    """Integers of shape (m, k) -> moments; `rows` is the public size, which the plain forms need.

    plain, exclusion: S = W / H, Q = (T + N / 2) c / H**2, the half for the floor (off by at most c / (2 H**2) a row,
    where all values are alike); N = n, or R / presence.  group, middle m: N = (B0 + 2 B1 / m + B2) / G,
    S = (B2 - B0) / G, Q = (B0 - 2 B1 / m + B2 + 2 N) / G.  Binary: u = -1 or 1, so Q = N.
    """
    G = float(parameters["G"])
    H = G / 2
    fixed = float(rows) if rows is not None else 0.0
    constant = np.zeros(3)
    match form:
        case "plain":
            c = parameters["divisor"]
            load = np.array([[0, 0], [1 / H, 0], [0, c / H**2]])
            constant = np.array([fixed, 0.0, fixed * c / (2 * H**2)])
        case "exclusion":
            c, kappa = parameters["divisor"], parameters["presence"]
            load = np.array([[0, 0, 1 / kappa], [1 / H, 0, 0], [0, c / H**2, c / (2 * kappa * H**2)]])
        case "group":
            m = parameters["middle"]
            size = np.array([1, 2 / m, 1]) / G
            load = np.array([size, [-1 / G, 0, 1 / G], np.array([1, -2 / m, 1]) / G + 2 * size / G])
        case "binary-plain":
            load = np.array([[0.0], [2.0], [0.0]])
            constant = np.array([fixed, -fixed, fixed])
        case "binary-exclusion":
            a, b = parameters["sign"], parameters["presence"]
            load = np.array([[0, 1 / b], [1 / a, 0], [0, 1 / b]])
        case "binary-group":
            load = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, 1.0]])
        case "count":
            load = np.array([[1.0], [0.0], [0.0]])
        case _:
            raise ReleaseError(
                f"form {form!r} is not known to this version.", code="R02", hint="upgrade tacit", state=None
            )
    values = cells @ load.T + constant
    public = form in ("plain", "binary-plain")
    return Moments(values[:, 0], values[:, 1], values[:, 2], np.asarray(load, np.float64), public)


@dataclass(frozen=True)
class Powers:
    """Noisy power sums of x = v / G in [0, 1]: `sums` of shape (m, 5), row sums of x**0 ... x**4; `loadings` (5, k)."""

    sums: Array
    loadings: Array
    public: bool


def powers(parameters: Mapping[str, int], cells: Array, rows: int | None) -> Powers:
    """Bernstein sums of degree 4, shape (m, 5) -> power sums: sum x**k = sum_j [j]_k / [4]_k S_j.

    The five integers add up to mass * size.  Where the size is public (`rows`), they are projected on that total, by
    least squares: a fifth of the noise is removed for nothing.  Floors are corrected by their mean of one half.
    """
    G, d, M = parameters["G"], parameters["divisor"], parameters["mass"]
    falling = np.array([[1, 1, 1, 1, 1], [0, 1, 2, 3, 4], [0, 0, 2, 6, 12], [0, 0, 0, 6, 24], [0, 0, 0, 0, 24]])
    weights = falling / falling[:, 4:]
    scale = d / G**4
    project = np.eye(5)
    if rows is not None:
        project = project - 0.2
        cells = cells - ((cells.sum(axis=1) - float(rows) * M) / 5)[:, None]
    size = cells.sum(axis=1) / M
    floor = np.array([0.5, 0, 0, 0, G**4 / d - M - 0.5]) if d > 1 else np.zeros(5)
    sums = scale * (cells @ weights.T + size[:, None] * (weights @ floor))
    loads = scale * (weights + np.outer(weights @ floor, np.full(5, 1 / M)))
    loads[0], sums[:, 0] = 1 / M, size
    return Powers(sums, loads @ project, rows is not None)
