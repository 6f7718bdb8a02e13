"""BinAgg: linear regression from noisy sums of bins [Lin, Slavkovic & Bhoomireddy 2025, arXiv 2510.16974].

Our reading, written anew for the benchmark, as the authors' package is not in the package index:

1. *Bins.*  PrivTree [Zhang, Xiao & Xie 2016] halves the box of the regressors, the widest side first, wherever the
   count less a penalty of its depth, plus Laplace noise, is above 0; bins of d + 1 at least.  Its price is the epsilon
   that implies mu_bin.
2. *Sums.*  Counts, sums of regressors and sums of responses of the bins, each with normal noise: of standard deviation
   1 / mu_c, D_kj / mu_s, 1 / mu_t, where D_kj is the largest absolute value of regressor j in bin k.  The mu are in the
   authors' shares, 1 : 3 : 3 : 3, and their squares add up to that of the price.
3. *Coefficients.*  b = M^-1 sum_k s_k t_k / c_k, M = sum_k (s_k s_k' - N_k) / c_k, where N_k is the covariance of the
   noise of s_k: an errors-in-variables correction.  Bins whose noisy count is below 2 are left out.
4. *Errors.*  Q_k = s_k (t_k - s_k' b) / c_k + N_k b / c_k; M^-1 (K / (K - d)) (sum_k Q_k Q_k') M^-1.

It differs from the authors' package where the price would not be kept: a row moves all d sums of regressors of its
bin, so that their noise is sqrt(d) times as large for the same mu_s (for one regressor nothing changes).  A row that is
replaced moves two bins: it gets mu / sqrt(2) for the sums, and half the epsilon for the bins.  An intercept is a
regressor that is 1 in every row.  Regressors and responses are within [-1, 1].
"""

from __future__ import annotations

import math

import numpy as np
from peer_problem import Array, Problem
from scipy import stats

SHARES = (1.0, 3.0, 3.0, 3.0)
DEEPEST = 30


def bins_of(rng: np.random.Generator, u: Array, epsilon: float) -> tuple[list[Array], Array, Array]:
    """Return the rows of each bin, and its lower and upper ends, shape (bins, d)."""
    d, scale = u.shape[1], 3 / epsilon
    penalty = scale * math.log(2)
    waiting = [(np.arange(len(u)), -np.ones(d), np.ones(d), 0)]
    made: list[tuple[Array, Array, Array]] = []
    while waiting:
        rows, low, high, depth = waiting.pop()
        score = max(len(rows) - penalty * depth, -penalty) + rng.laplace(0, scale)
        few = not waiting and len(made) < d
        if depth < DEEPEST and (score > 0 or few):
            waiting += [(*part, depth + 1) for part in halves(u, rows, low, high)]
        else:
            made.append((rows, low, high))
    return [one[0] for one in made], np.array([one[1] for one in made]), np.array([one[2] for one in made])


def halves(u: Array, rows: Array, low: Array, high: Array) -> list[tuple[Array, Array, Array]]:
    """Return both halves of a bin, cut in the middle of its widest side."""
    side = int(np.argmax(high - low))
    middle = (low[side] + high[side]) / 2
    right, ends = u[rows, side] >= middle, (high.copy(), low.copy())
    ends[0][side] = ends[1][side] = middle
    return [(rows[~right], low, ends[0]), (rows[right], ends[1], high)]


def binagg(rng: np.random.Generator, given: Problem) -> tuple[Array, Array] | None:
    """Return slopes and their standard errors, or None where there is no mu, or too few bins are left."""
    if given.model != "linear" or given.mu is None:
        return None
    parts = given.mu * np.array(SHARES) / math.hypot(*SHARES)
    # the largest epsilon whose pure privacy implies mu-Gaussian privacy
    epsilon = float(stats.norm.logcdf(parts[0] / 2) - stats.norm.logsf(parts[0] / 2))
    if given.replaced:
        epsilon, parts = epsilon / 2, parts / math.sqrt(2)
    rows, low, high = bins_of(rng, given.u, epsilon)
    x, d = given.rows, given.rows.shape[1]
    largest = np.maximum(np.abs(low), np.abs(high))
    if given.intercept:
        largest = np.column_stack([np.ones(len(rows)), largest])
    spread = math.sqrt(d) * largest / parts[2]
    count = np.array([len(one) for one in rows]) + rng.normal(0, 1 / parts[1], len(rows))
    s = np.array([x[one].sum(axis=0) for one in rows]) + rng.normal(0, 1, largest.shape) * spread
    t = np.array([given.v[one].sum() for one in rows]) + rng.normal(0, 1 / parts[3], len(rows))
    kept = count >= 2
    if kept.sum() <= d:
        return None
    return fitted(given, 1 / count[kept], s[kept], t[kept], spread[kept] ** 2)


def fitted(given: Problem, w: Array, s: Array, t: Array, noise: Array) -> tuple[Array, Array]:
    """Return slopes and standard errors; w: weights of the bins.  noise: variances of the noise of s."""
    many, d = s.shape
    bread = (s.T * w) @ s - np.diag(w @ noise)
    b = np.linalg.solve(bread, s.T @ (w * t))
    each = w[:, None] * (s * (t - s @ b)[:, None] + noise * b)
    inverse = np.linalg.inv(bread)
    covariance = inverse @ (each.T @ each) @ inverse * many / (many - d)
    return given.own(b), given.own(np.sqrt(np.diag(covariance)))
