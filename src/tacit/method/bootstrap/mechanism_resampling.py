"""Exact draws of bootstrap samples of a table of counts, from the operating system's generator.  INSIDE the wall.

An additive statistic of a bootstrap sample depends on how often each value was drawn, not on which of its rows was.
With counts N_1, ..., N_c of the values, n in all, the numbers of draws of n draws with replacement are Multinomial(n,
N_j / n); and where each row is taken a Poisson(1) number of times, they are independent and Poisson(N_j).  So neither
weights of rows nor further passes over the table are needed, and memory grows with the values, not with the rows.

Multinomial
    n draws fall to the left half of the values with probability A / n each, A = the rows there: Binomial(n, A / n); and
    so on in each half, given the number of its draws (`_multinomial`).
Binomial and Poisson
    by rejection (`_drawn`).  Both laws p are log-concave with a mode m, so that p(m + j) <= p(m) e^(1 - p(m) |j|)
    [Devroye 1987].  Proof.  Let p(m + j) = p(m) e^-x, x >= 0, j > 0.  By log-concavity p(m + i) >= p(m) e^(-x i / j)
    for 0 <= i <= j, and these add up to at most 1, so that with y = p(m) j: 1 >= p(m) (sum over i < j) >= y (1 - e^-x)
    / x, as e^(-x i / j) is at least its mean over [i, i + 1].  Then y <= x / (1 - e^-x) <= x + 1, the last since
    e^x >= 1 + x.  The same on the left.
    W >= sqrt(12 v + 1), v the variance, has p(m) >= 1 / W: the law plus a uniform on (-1/2, 1/2) has a density of at
    most p(m) and variance v + 1/12, and no density below c has less variance than the uniform one, 1 / (12 c^2).
    Proposed is a side by a fair coin, a block i = 0, 1, ... with probability 2^-(i+1), and a place r < W in it: the
    point m + W i + r, or m - 1 - W i - r.  There p is at most p(m) min(1, e^(1-i)) <= p(m) 2^(1-i).  It is accepted
    with probability 2^(i-1) p(point) / p(m) <= 1: then every point is drawn in proportion to p.
Rows one by one
    Where most rows have values of their own (`FEW`), each draw takes one of the n rows, and patterns are counted: of
    uniform 32-bit words x, the row floor(x n / 2^32) where x n mod 2^32 >= 2^32 mod n, else another word; then every
    row has floor(2^32 / n) words [Lemire 2019, Fast random integer generation in an interval].  Independent Poisson
    numbers of rates N_j are a Poisson number of rate n of such draws.
Exactness
    The decision compares 64 random bits, the beginning of a uniform number, with that probability.  Floats decide only
    where the two are further apart than MARGIN of everything that was added up, a thousand times the rounding errors of
    its few operations and of SciPy's logarithm of the factorial.  All others are decided in integers, with further
    random bits until it is certain.  Coins, blocks and places are bits: W is a power of two.
Failures
    None depends on a row.  Words are used once, within a call: there is no seed, switch or state.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import ceil, log2
from typing import Any, Final, Literal, TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.base.lazy_imports import special
from tacit.base.muted import silent
from tacit.method.bootstrap.design import FEW
from tacit.noise.exact import system_words

Ints: TypeAlias = NDArray[np.int64]
Floats: TypeAlias = NDArray[np.float64]
Words: TypeAlias = Callable[[int], NDArray[np.uint64]]
Weights: TypeAlias = Literal["multinomial", "poisson"]

MARGIN: Final = 2.0**-42
"""Error that floats are taken to have, in units of all that was added up: 1,000 roundings."""
AT_ONCE: Final = 2**16
"""Draws made together, so that temporary arrays stay small."""
ONE: Final = np.uint64(1)
LN2: Final = float(np.log(2.0))


def resampled(counts: Ints, samples: int, weights: Weights) -> Ints:
    """Return how often each value is in each of some bootstrap samples, exactly and freshly drawn.

    counts: rows with each value, shape (c,), at least 0.  Returned: shape (samples, c); a multinomial sample adds up to
    the number of rows.

    >>> resampled(np.array([2, 0, 3]), 4, "multinomial").sum(axis=1).tolist()
    [5, 5, 5, 5]
    """
    with silent():  # a warning could reveal a draw
        counts = np.asarray(counts, dtype=np.int64)
        rows = int(counts.sum())
        if 0 < rows < min(FEW * len(counts), 2**32):
            return _by_rows(counts, samples, weights, system_words)
        draw = _multinomial if weights == "multinomial" else _poisson
        return draw(counts, samples, system_words)


def _by_rows(counts: Ints, samples: int, weights: Weights, words: Words) -> Ints:
    """Draw samples row by row, shape (samples, c): of as many rows as there are, or of a Poisson number of them."""
    rows = int(counts.sum())
    value = np.repeat(np.arange(len(counts)), counts)
    found = np.zeros((samples, len(counts)), dtype=np.int64)
    for one in found:
        left = rows if weights == "multinomial" else int(_poisson(np.array([rows]), 1, words)[0, 0])
        while left:
            drawn = _uniform(min(left, AT_ONCE), rows, words)
            one += np.bincount(value[drawn], minlength=len(counts))
            left -= len(drawn)
    return found


def _uniform(size: int, below: int, words: Words) -> Ints:
    """Draw whole numbers from 0 to below - 1, 1 <= below < 2**32, all equally likely: at most `size` of them."""
    product = words(-(-size // 2)).view(np.uint32)[:size].astype(np.uint64) * np.uint64(below)
    # without the words that would give some numbers one word more than others
    fair = (product & np.uint64(2**32 - 1)) >= np.uint64(2**32 % below)
    return (product[fair] >> np.uint64(32)).astype(np.int64)


def _multinomial(counts: Ints, samples: int, words: Words) -> Ints:
    """Draw samples of as many rows as there are, by halving the values; shape (samples, c)."""
    depth = max(0, ceil(log2(max(1, len(counts)))))
    # the rows of each half, from all of them down to single values
    levels = [np.concatenate([counts, np.zeros(2**depth - len(counts), dtype=np.int64)])]
    while len(levels[-1]) > 1:
        levels.append(levels[-1].reshape(-1, 2).sum(axis=1))
    drawn = np.full((samples, 1), int(levels[-1][0]), dtype=np.int64)
    for below in reversed(levels[:-1]):
        left, rows = below[::2], below.reshape(-1, 2).sum(axis=1)
        shape = drawn.shape
        a, b = np.broadcast_to(left, shape).ravel(), np.broadcast_to(rows, shape).ravel()
        got = _binomial(drawn.ravel(), a, b, words).reshape(shape)
        drawn = np.stack([got, drawn - got], axis=2).reshape(samples, -1)
    return drawn[:, : len(counts)]


def _binomial(trials: Ints, a: Ints, b: Ints, words: Words) -> Ints:
    """Draw independent Binomial(trials, a / b), 0 <= a <= b; all of one shape (m,)."""
    found = np.where(a == b, trials, 0)
    open_ = np.flatnonzero((trials > 0) & (a > 0) & (a < b))
    for at in range(0, len(open_), AT_ONCE):
        here = open_[at : at + AT_ONCE]
        found[here] = _drawn(_Laws(trials[here], a[here], b[here]), words)
    return found


def _poisson(rates: Ints, samples: int, words: Words) -> Ints:
    """Draw independent Poisson numbers of whole rates >= 0, shape (m,), in each sample; shape (samples, m)."""
    every = np.broadcast_to(rates, (samples, len(rates))).ravel()
    found = np.zeros(len(every), dtype=np.int64)
    open_ = np.flatnonzero(every > 0)
    for at in range(0, len(open_), AT_ONCE):
        here = open_[at : at + AT_ONCE]
        found[here] = _drawn(_Laws(None, every[here], None), words)
    return found.reshape(samples, -1)


@dataclass(frozen=True)
class _Laws:
    """Laws Binomial(trials, a / b) with 0 < a < b and trials > 0, or Poisson(a) where trials and b are None."""

    trials: Ints | None
    a: Ints
    b: Ints | None

    def mode(self) -> Ints:
        """Return a most probable point of each law."""
        if self.trials is None or self.b is None:
            return self.a.copy()
        t, a, b = self.trials + 1, self.a, self.b
        # in Python integers where the product could overflow 64 bits
        if int(t.max()) * int(a.max()) >= 2**63:
            return (t.astype(object) * a.astype(object) // b.astype(object)).astype(np.int64)
        return t * a // b

    def variance(self) -> Floats:
        """Return the variance of each law; a float, which the width of blocks has room for."""
        a = self.a.astype(np.float64)
        if self.trials is None or self.b is None:
            return a
        p = a / self.b
        return self.trials * p * ((self.b - self.a) / self.b)

    def kept(self, i: Ints) -> _Laws:
        """Return some of the laws."""
        some = (None, None) if self.trials is None or self.b is None else (self.trials[i], self.b[i])
        return _Laws(some[0], self.a[i], some[1])

    def possible(self, k: Ints) -> NDArray[np.bool_]:
        """Return whether a point has positive probability."""
        return (k >= 0) if self.trials is None else (k >= 0) & (k <= self.trials)

    def log_ratio(self, k: Ints, m: Ints) -> tuple[Floats, Floats]:
        """Return ln p(k) / p(m) for possible k, and the sum of the absolute values that were added for it."""
        gammaln: Any = special().gammaln
        terms = [gammaln(m + 1.0), -gammaln(k + 1.0)]
        if self.trials is None or self.b is None:
            terms.append((k - m) * np.log(self.a))
        else:
            terms += [gammaln(self.trials - m + 1.0), -gammaln(self.trials - k + 1.0)]
            terms.append((k - m) * (np.log(self.a) - np.log(self.b - self.a)))
        # the logarithms of a and b are rounded before they are multiplied by k - m
        size = np.sum(np.abs(terms), axis=0) + np.abs(k - m) * 2 * np.log(2.0 + self.a)
        size = size if self.b is None else size + np.abs(k - m) * 2 * np.log(2.0 + self.b)
        return np.sum(terms, axis=0), size


def _drawn(laws: _Laws, words: Words) -> Ints:
    """Draw one number of each law, by rejection until all are accepted."""
    mode = laws.mode()
    # sqrt(12 v + 1) and a little more, rounded up to a power of two
    bits = np.ceil(np.log2(np.sqrt(12.1 * laws.variance() + 1.1))).astype(np.uint64)
    found = np.zeros(len(mode), dtype=np.int64)
    left = np.arange(len(mode))
    while len(left):
        some, m, width = laws.kept(left), mode[left], bits[left]
        word = words(len(left))
        side, place = (word & ONE).astype(np.bool_), (word >> ONE) & ((ONE << width) - ONE)
        block = _blocks(len(left), words)
        j = place.astype(np.int64) + (block << width.astype(np.int64))
        k = np.where(side, m + j, m - 1 - j)
        taken = _accepted(some, k, m, block, words(len(left)), words)
        found[left[taken]] = k[taken]
        left = left[~taken]
    return found


def _blocks(size: int, words: Words) -> Ints:
    """Draw i = 0, 1, ... with probability 2^-(i+1): the number of ones that fair bits begin with."""
    word = words(size)
    # the lowest zero bit of a word; without one, which happens once in 2^64, count on in another word
    full = word == np.uint64(2**64 - 1)
    lowest = ~word & (word + ONE)
    found = np.frexp(np.where(full, ONE, lowest).astype(np.float64))[1].astype(np.int64) - 1
    if full.any():
        found[full] = 64 + _blocks(int(full.sum()), words)
    return found


def _accepted(laws: _Laws, k: Ints, m: Ints, block: Ints, word: NDArray[np.uint64], words: Words) -> NDArray[np.bool_]:
    """Return whether uniform numbers that begin with the words are below 2^(i-1) p(k) / p(m)."""
    possible = laws.possible(k)
    ratio, size = laws.log_ratio(np.where(possible, k, m), m)
    goal = ratio + (block - 1) * LN2
    error = MARGIN * (size + 1.0 + block)
    with np.errstate(divide="ignore"):
        low, high = np.log(word.astype(np.float64)) - 64 * LN2, np.log(word.astype(np.float64) + 1.0) - 64 * LN2
    taken = possible & (high + MARGIN * 64 <= goal - error)
    unsure = possible & ~taken & (low - MARGIN * 64 < goal + error)
    for i in np.flatnonzero(unsure):
        trials, b = (None, None) if laws.trials is None or laws.b is None else (int(laws.trials[i]), int(laws.b[i]))
        taken[i] = _certain((trials, int(laws.a[i]), b), int(k[i]), int(m[i]), int(block[i]), int(word[i]), words)
    return taken


def _certain(law: tuple[int | None, int, int | None], k: int, m: int, block: int, word: int, words: Words) -> bool:
    """Decide one comparison in integers, with further random bits until it is certain."""
    bits = 64
    while True:
        low, high = _ratio_bounds(law, k, m, bits + 64)
        # the uniform number lies in (word, word + 1) 2^-bits; 2^(block - 1) p(k) / p(m) in (low, high) 2^(block - 1)
        scale = bits + 64
        least, most = low << block, high << block
        if (word + 1) << (scale - bits + 1) <= least:
            return True
        if word << (scale - bits + 1) >= most:
            return False
        word, bits = word << 64 | int(words(1)[0]), bits + 64


def _ratio_bounds(law: tuple[int | None, int, int | None], k: int, m: int, bits: int) -> tuple[int, int]:
    """Return integers around 2^bits p(k) / p(m): a product of ratios of neighbouring points, rounded both ways."""
    trials, a, b = law
    guard = bits + 64
    low = high = 1 << guard
    for i in range(min(k, m), max(k, m)):
        # p(i + 1) / p(i)
        up, down = (a, i + 1) if trials is None or b is None else ((trials - i) * a, (i + 1) * (b - a))
        up, down = (up, down) if k > m else (down, up)
        low, high = low * up // down, -(-high * up // down)
    return low >> 64, -(-high >> 64)
