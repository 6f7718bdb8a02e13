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

from tacit.base.arrays import Array
from tacit.errors import ReleaseError
from tacit.release.parts import RESAMPLED_BLOCKS, Part

BINARY: Final = ("binary-plain", "binary-exclusion", "binary-group")


@dataclass(frozen=True)
class Moments:
    """Noisy moments of m cells, and their derivatives in the k noises of a cell.

    size, total, square: N, S, Q, each of shape (m,); with weights a of rows, N and S are sums of a and a u.
    loadings: shape (3, k); row r has the derivatives of moment r in the k noises, zeros for a public size.
    squares, square_loadings: the same for sum a**2 u**q, q = 0, 1, 2, of shapes (3, m) and (3, k); without weights they
    are N, S, Q again.
    public: whether the size is a public number.
    """

    size: Array
    total: Array
    square: Array
    loadings: Array
    public: bool
    squares: Array
    square_loadings: Array


def integers(part: Part) -> Array:
    """Return a part's integers as floats, shape (cells, k): what 53 bits round off is far below the noise."""
    return np.array([[float(k) for k in cell] for cell in part.integers], dtype=np.float64)


def moments(form: str, parameters: Mapping[str, int], cells: Array, rows: int | None) -> Moments:
    """Integers of shape (m, k) -> moments; `rows` is the public size, which the plain forms need.

    plain, exclusion: S = W / H, Q = (T + N / 2) c / H**2, the half for the floor (off by at most c / (2 H**2) a row,
    where all values are alike); N = n, or R / presence.  exclusion-2: the same, Q = N - (T + N / 2) c / H**2.
    group, middle m: N = (B0 + 2 B1 / m + B2) / G, S = (B2 - B0) / G, Q = (B0 - 2 B1 / m + B2 + 2 N) / G.
    Binary: u = -1 or 1, so Q = N.
    """
    if form == "weighted":
        return _weighted(parameters, cells)
    if form == "counted":
        return _counted(parameters, cells)
    G = float(parameters["G"])
    H = G / 2
    fixed = float(rows) if rows is not None else 0.0
    constant = np.zeros(3)
    match form:
        case "plain":
            c = parameters["divisor"]
            load = np.array([[0, 0], [1 / H, 0], [0, c / H**2]])
            # a floor takes away 1/2 on average: n / 2 is added to T, here and (from the noisy N) under exclusion
            constant = np.array([fixed, 0.0, fixed * c / (2 * H**2)])
        case "exclusion":
            c, kappa = parameters["divisor"], parameters["presence"]
            load = np.array([[0, 0, 1 / kappa], [1 / H, 0, 0], [0, c / H**2, c / (2 * kappa * H**2)]])
        case "exclusion-2":
            c, kappa = parameters["divisor"], parameters["presence"]
            size = 1 / kappa
            load = np.array([[0, 0, size], [1 / H, 0, 0], [0, -c / H**2, size - size * c / (2 * H**2)]])
        case "group":
            m = parameters["middle"]
            # the middle term is released m times as large (theory §12, forms B and C)
            size = np.array([1, 2 / m, 1]) / G
            # B0 - 2 B1 / m + B2 = sum (G - 4v + 4t) = G Q - 2 N, the floors of t taking 4 / 2 a row: 2 N / G is added
            load = np.array([size, [-1 / G, 0, 1 / G], np.array([1, -2 / m, 1]) / G + 2 * size / G])
        case "binary-plain":
            load = np.array([[0.0], [2.0], [0.0]])
            constant = np.array([fixed, -fixed, fixed])
        case "binary-exclusion":
            a, b = parameters["sign"], parameters["presence"]
            load = np.array([[0, 1 / b], [1 / a, 0], [0, 1 / b]])
        case "binary-group":
            # the integers are the numbers of zeros and of ones
            load = np.array([[1.0, 1.0], [-1.0, 1.0], [1.0, 1.0]])
        case "count":
            load = np.array([[1.0], [0.0], [0.0]])
        case _:
            raise ReleaseError(
                f"form {form!r} is not known to this version.", code="R02", hint="upgrade tacit", state=None
            )
    # a person in several cells has `share` units in all; integers are in these units
    load = np.asarray(load, np.float64) / parameters.get("share", 1)
    values = (cells @ load.T + constant).T
    public = form in ("plain", "binary-plain")
    return Moments(values[0], values[1], values[2], load, public, values, load)


def block_moments(part: Part, cells: Array) -> Moments:
    """Return the moments of estimates over blocks, by the part's form: of all blocks, or of those that have one."""
    if part.form == "blocks":  # the k estimates of blocks are averaged like k rows, none missing
        return moments("plain", part.parameters, cells, part.parameters["blocks"])
    if part.form == RESAMPLED_BLOCKS:
        return _resampled(part.parameters, cells)
    return moments("exclusion-2", part.parameters, cells, None)


def _resampled(parameters: Mapping[str, int], cells: Array) -> Moments:
    """Decode means of blocks with their own variances: the second integer is the sum of floor(variance / c).

    `squares` are 0, 0 and the sum of these variances, so that Q - 2 m S + m**2 N of them is that sum, whatever m is.
    """
    half, c, kappa = parameters["G"] / 2, parameters["divisor"], parameters["presence"]
    size, total = np.array([0, 0, 1 / kappa]), np.array([1 / half, 0, 0])
    # a floor takes away 1/2 on average, as in the forms of squares
    own = np.array([0, c / half**2, c / (2 * kappa * half**2)])
    load, square = np.array([size, total, own]), np.array([np.zeros(3), np.zeros(3), own])
    values, squares = (cells @ load.T).T, (cells @ square.T).T
    return Moments(values[0], values[1], values[2], load, False, squares, square)


def _weighted(parameters: Mapping[str, int], cells: Array) -> Moments:
    """Decode the weighted form: with a in units of the cap, x = (u + 1) / 2, integers X0, X1, T0, T1, T2 over A G.

    sum a**2 = T0 + 2 T1 / m + T2, sum a**2 x = T1 / m + T2, sum a**2 x**2 = T2 + sum a**2 / 2G (the half of a floor);
    sum a (1 - x) = X0 / p + T0 + T1 / m, sum a x = X1 / p + T1 / m + T2.  Without T1 where values are 0 or 1.
    """
    G, p, m = parameters["G"], parameters["first"], parameters["middle"]
    T1 = np.array([0, 0, 0, 1 / m, 0])
    X0, X1, T0, T2 = (np.eye(5)[i] for i in (0, 1, 2, 4))
    weight, first = T0 + 2 * T1 + T2, T1 + T2
    second = T2 + (weight / (2 * G) if G > 1 else 0)
    without, with_ = X0 / p + T0 + T1, X1 / p + first
    load = np.array([without + with_, with_ - without, np.zeros(5)])
    # u = 2x - 1, so that u**2 = 4 x**2 - 4 x + 1
    square = np.array([weight, 2 * first - weight, 4 * second - 4 * first + weight])
    if G == 1:
        # values are 0 or 1: T1 is always 0 and was not released
        load, square = load[:, [0, 1, 2, 4]], square[:, [0, 1, 2, 4]]
    load, square = load / (parameters["A"] * G), square / (parameters["A"] * G)
    load[2] = square[2]
    values, squares = (cells @ load.T).T, (cells @ square.T).T
    return Moments(values[0], values[1], values[2], load, False, squares, square)


def _counted(parameters: Mapping[str, int], cells: Array) -> Moments:
    """Decode sums of weights: integers a - j e and k e over A, e = a - a**2 / A but for a floor; u = 0 for all rows.

    The floors are left as they are: sum a**2 comes out at most n / A too large.
    """
    A, j, k = parameters["A"], parameters["less"], parameters["edge"]
    size = np.array([1.0, j / k]) / A
    square = size - np.array([0.0, 1 / k]) / A
    zero = np.zeros(2)
    load, squares = np.array([size, zero, square]), np.array([square, zero, zero])
    values = (cells @ load.T).T
    return Moments(values[0], values[1], values[2], load, False, (cells @ squares.T).T, squares)


@dataclass(frozen=True)
class Powers:
    """Noisy power sums of x = v / G in [0, 1]: `sums` of shape (m, 5), row sums of x**0 ... x**4; `loadings` (5, k)."""

    sums: Array
    loadings: Array
    public: bool


def powers(parameters: Mapping[str, int], cells: Array, rows: int | None) -> Powers:
    """Bernstein sums of degree 4, shape (m, 5) -> power sums: sum x**k = sum_j [j]_k / [4]_k S_j.

    The five integers add up to mass * size.  Where the size is public (`rows`), they are projected on that total by
    least squares, which removes a fifth of the noise variance at no cost.  Each floor is corrected by its mean of 1/2.
    """
    G, d, M = parameters["G"], parameters["divisor"], parameters["mass"]
    share = parameters.get("share", 1)
    cells = cells / share
    # rows: the falling factorials [j]_k of j = 0, ..., 4; x**k = sum_j [j]_k / [4]_k times the Bernstein polynomial j
    falling = np.array([[1, 1, 1, 1, 1], [0, 1, 2, 3, 4], [0, 0, 2, 6, 12], [0, 0, 0, 6, 24], [0, 0, 0, 0, 24]])
    weights = falling / falling[:, 4:]
    scale = d / G**4
    project = np.eye(5)
    if rows is not None:
        # identity minus ones / 5: the projection on vectors whose sum is 0
        project = project - 0.2
        cells = cells - ((cells.sum(axis=1) - float(rows) * M) / 5)[:, None]
    size = cells.sum(axis=1) / M
    # terms are differences of floors, whose mean losses of 1/2 cancel but in the first and in the last, which is
    # M - F_3 in place of (G**4 - C_3) / d
    floor = np.array([0.5, 0, 0, 0, G**4 / d - M - 0.5]) if d > 1 else np.zeros(5)
    sums = scale * (cells @ weights.T + size[:, None] * (weights @ floor))
    loads = scale * (weights + np.outer(weights @ floor, np.full(5, 1 / M)))
    # the size comes from the total itself, which no floor changes
    loads[0], sums[:, 0] = 1 / M, size
    return Powers(sums, loads @ project / share, rows is not None)
