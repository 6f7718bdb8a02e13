"""Errors of columns whose noise is one vector: intervals of one, of differences and averages, of the population."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest

import tacit as tc
from tacit.estimates.total_errors import error_laws as laws
from tacit.estimates.verbs.comparisons import _noises
from tacit.noise.laws import DiscreteLaplace
from tacit.noise.product import ProductLaplace, sampled_together
from tacit.testing import coverage, simulate

WIDE = Fraction(10**6)
DRAWS = 60_000
SHAPES = [(1, 2), (1, 10), (2, 2), (2, 5), (2, 10), (3, 2), (3, 10), (5, 2), (5, 10)]
LEVELS = (0.8, 0.9, 0.95, 0.99)


@pytest.mark.parametrize(("k", "p"), SHAPES)
def test_weighted_noises_stay_within_their_quantiles(k: int, p: int) -> None:
    """One integer, two of a column, a difference of two columns and a sum of all.

    A level is missed by chance by six standard deviations with probability 2e-9.
    """
    law = ProductLaplace(WIDE, k, k * p)
    drawn = sampled_together([law] * p, DRAWS, np.random.default_rng(k * p))
    one, both = np.eye(k)[0], np.arange(1.0, k + 1)
    for weights in ([one], [both], [one, -one], [one, -2 * both], [one] * p):
        error = np.abs(sum(x[:, : len(w)] @ w for x, w in zip(drawn, weights, strict=False)))
        s, b = laws.split_together([(law, w) for w in weights])
        for level in LEVELS:
            beyond = (error > laws.halfwidth(level, s, b)).mean()
            # a sum of all columns may exceed the factor of one integer by a little
            assert beyond < 1.03 * (1 - level) + 6 * np.sqrt(level * (1 - level) / DRAWS)
        variance = sum((w**2).sum() for w in weights) * law.variance()
        # of no use were intervals that are much too wide: at most the factor of `_widening`
        assert 1 <= float(s**2 + 2 * (b**2).sum()) / variance < 1.1


def test_one_column_is_split_as_independent_laplace_noise() -> None:
    law, plain = ProductLaplace(WIDE, 1, 1), DiscreteLaplace(WIDE)
    for found, known in zip(laws.split(law, np.ones(1)), laws.split(plain, np.ones(1)), strict=True):
        assert np.asarray(found).ravel().tolist() == pytest.approx(np.asarray(known).ravel().tolist(), abs=1e4)


def table(p: int, n: int = 400) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(p)
    return {f"x{j}": rng.integers(0, 101, n).astype(float) for j in range(p)}


@pytest.mark.parametrize("p", [2, 5])
def test_combinations_of_a_table(p: int) -> None:
    """Noise is the only error; of 20,000 releases a coverage of 95% is known to .15, and within .9."""
    schema = tc.Schema({name: tc.Real(0, 100, missing="none") for name in table(p)})
    made = simulate(tc.Mean(list(table(p))), table(p), schema, epsilon=1, repeats=20_000)
    error = made.estimates - made.exact
    estimate = made.release(0).estimate("table")
    assert error.var(axis=0) == pytest.approx(estimate.privacy_variances, rel=0.1)
    assert abs(np.corrcoef(error.T)[0, 1]) < 6 / np.sqrt(20_000)
    for words, weights in (("x0", [1]), ("x0 - x1", [1, -1]), ("x0 + x1", [1, 1])):
        found = estimate.contrast(words)
        half = float(np.diff(found.intervals(0.95)[0])[0]) / 2
        hit = np.abs(error[:, : len(weights)] @ np.array(weights)) <= half
        assert hit.mean() == pytest.approx(0.95, abs=0.009)
        assert found.privacy_variances[0] == pytest.approx(len(weights) * estimate.privacy_variances[0])


def test_simultaneous_intervals_draw_the_vector() -> None:
    """Noises of the columns have one radius: their squares are correlated, as in a release."""
    schema = tc.Schema({name: tc.Real(0, 100, missing="none") for name in table(2)})
    release = tc.Curator(table(2), schema, budget=tc.Budget(epsilon=1)).release(tc.Mean(["x0", "x1"]), epsilon=1)
    blocks = release.estimate("table").blocks
    first, second = (z[:, 0, 0] ** 2 for z in _noises(blocks, 50_000, np.random.default_rng(0)))
    # E (Z1 Z2)**2 / (E Z**2)**2 = (d + 3) (d + 4) / ((d + 1) (d + 2)) = 28 / 15; independent noises: 1
    assert (first * second).mean() / (first.mean() * second.mean()) == pytest.approx(28 / 15, rel=0.15)
    found = release.estimate("table")
    low, high = found.pairwise(adjust="simultaneous").to_frame().iloc[0][["lower", "upper"]]
    # of a single difference the simultaneous interval is that of the difference, up to the draws and the widening
    alone = np.diff(found.contrast("x0 - x1").intervals(0.95)[0])[0]
    assert high - low == pytest.approx(alone, rel=0.04)


@pytest.mark.parametrize(("question", "rule"), [("Mean", {}), ("Mean", {"missing": "none"}), ("Variance", {})])
def test_intervals_of_the_population_cover(question: str, rule: dict[str, str]) -> None:
    """Noise as large as the sampling error; 600 releases of 4 columns: .95 within .05, five deviations of a column."""
    schema = tc.Schema({f"x{j}": tc.Real(0, 100, **rule) for j in range(4)})  # pyright: ignore

    def draw(rng: np.random.Generator) -> dict[str, np.ndarray]:
        return {f"x{j}": rng.uniform(0, 100, 300) for j in range(4)}

    ask = getattr(tc, question)([f"x{j}" for j in range(4)])
    true = np.full(4, 50.0 if question == "Mean" else 100**2 / 12)
    found = coverage(ask, draw, true, schema=schema, epsilon=1, repeats=600)
    assert found.coverage == pytest.approx(np.full(4, 0.95), abs=0.05)
