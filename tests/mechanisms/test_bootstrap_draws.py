"""Bootstrap samples are drawn exactly: by floats where they decide, and in integers where they do not."""

from __future__ import annotations

from fractions import Fraction
from math import comb, factorial

import numpy as np
import pytest
from scipy import stats

from tacit.method.bootstrap import mechanism_resampling as draws
from tacit.noise.exact import system_words

LEVEL = 1e-6
"""False-alarm rate of each comparison of draws with a law."""
BINOMIALS = ((1, 1, 2), (10, 3, 7), (500, 1, 500), (2_000, 799, 800), (10**7, 1, 3))


def p_value(found: np.ndarray, law: stats.rv_discrete) -> float:
    """Chi-squared, over at most 30 runs of points of about equal probability, at least 20 draws each expected."""
    edges = np.unique(law.ppf(np.linspace(0, 1, 31)[1:-1]))
    expected = np.diff(np.concatenate([[0.0], law.cdf(edges), [1.0]])) * len(found)
    counts = np.diff(np.concatenate([[0], [(found <= k).sum() for k in edges], [len(found)]]))
    seen = expected >= 20
    assert counts[~seen].sum() <= 20 + 10 * expected[~seen].sum()
    statistic = ((counts - expected)[seen] ** 2 / expected[seen]).sum()
    return float(stats.chi2.sf(statistic, max(1, int(seen.sum()) - 1)))


def binomials(trials: int, a: int, b: int, size: int) -> np.ndarray:
    return draws._binomial(np.full(size, trials), np.full(size, a), np.full(size, b), system_words)


@pytest.mark.parametrize(("trials", "a", "b"), BINOMIALS)
def test_binomial_numbers_have_their_law(trials: int, a: int, b: int) -> None:
    found = binomials(trials, a, b, 20_000)
    assert p_value(found, stats.binom(trials, a / b)) > LEVEL
    # and a law whose mean is a fifth of a standard deviation off does not pass, where it can be told apart
    if trials > 100:
        off = a / b + 0.2 * np.sqrt(a / b * (1 - a / b) / trials)
        assert p_value(found, stats.binom(trials, off)) < LEVEL


@pytest.mark.parametrize("rate", [1, 4, 300])
def test_poisson_numbers_have_their_law(rate: int) -> None:
    found = draws._poisson(np.full(20_000, rate), 1, system_words)[0]
    assert p_value(found, stats.poisson(rate)) > LEVEL
    assert p_value(found, stats.poisson(rate + 0.2 * np.sqrt(rate))) < LEVEL


@pytest.mark.parametrize("law", [(12, 5, 12), (None, 6, None)])
def test_what_floats_do_not_decide_has_the_same_law(
    law: tuple[int | None, int, int | None], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(draws, "MARGIN", 1e6)
    trials, a, b = law
    if trials is None or b is None:
        found, true = draws._poisson(np.full(2_000, a), 1, system_words)[0], stats.poisson(a)
    else:
        found, true = binomials(trials, a, b, 2_000), stats.binom(trials, a / b)
    assert p_value(found, true) > LEVEL


def test_ratios_of_probabilities_are_enclosed() -> None:
    for k in range(13):
        low, high = draws._ratio_bounds((12, 5, 12), k, 5, 64)
        exact = Fraction(comb(12, k) * 5**k * 7 ** (12 - k), comb(12, 5) * 5**5 * 7**7)
        assert low <= exact * 2**64 <= high <= low + 2
        low, high = draws._ratio_bounds((None, 6, None), k, 6, 64)
        exact = Fraction(6) ** (k - 6) * Fraction(factorial(6), factorial(k))
        assert low <= exact * 2**64 <= high <= low + 2


def test_floats_are_within_their_margin() -> None:
    """Logarithms of ratios, against integers, at sizes where they are added up from large terms."""
    for trials, a, b in ((10**7, 10**6, 10**7), (10**6, 1, 3), (5_000, 4_999, 5_000)):
        m = (trials + 1) * a // b
        spread = int(np.sqrt(trials * a / b * (1 - a / b)))
        for k in {m + 3 * spread, m - 2 * spread, m + 1, min(trials, m + 2)}:
            laws = draws._Laws(np.array([trials]), np.array([a]), np.array([b]))
            found, size = laws.log_ratio(np.array([k]), np.array([m]))
            low, high = draws._ratio_bounds((trials, a, b), k, m, 200)
            exact = float(Fraction(low + high, 2 * 2**200))
            # a hundredth of the margin, so that SciPy's logarithms have room to err
            assert abs(np.exp(found[0]) / exact - 1) < draws.MARGIN * size[0] / 100 + 1e-12


@pytest.mark.parametrize("below", [1, 2, 7, 3 * 2**30])
def test_rows_are_equally_likely(below: int) -> None:
    """Of 3 * 2**30 rows a third would have two words each, the others one, were none drawn again."""
    found = np.concatenate([draws._uniform(10_000, below, system_words) for _ in range(4)])
    assert (found >= 0).all()
    assert (found < below).all()
    classes = min(below, 3) if below > 7 else below
    hits = np.bincount(found % classes, minlength=classes)
    assert classes == 1 or stats.chisquare(hits).pvalue > LEVEL


def test_rows_of_values_of_their_own_are_drawn_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[int] = []
    plain = draws._by_rows
    monkeypatch.setattr(draws, "_by_rows", lambda *given: called.append(len(given[0])) or plain(*given))
    draws.resampled(np.array([1, 63, 64]), 1, "multinomial")
    draws.resampled(np.array([64, 64, 64]), 1, "multinomial")
    draws.resampled(np.ones(100, dtype=np.int64), 1, "poisson")
    assert called == [3, 100]


@pytest.mark.parametrize("way", ["values", "rows"])
def test_samples_have_the_rows_and_the_covariances_of_a_multinomial(way: str) -> None:
    counts = np.array([3, 0, 5, 1, 11])
    if way == "rows":
        found = draws._by_rows(counts, 8_000, "multinomial", system_words)
    else:
        found = draws._multinomial(counts, 8_000, system_words)
    assert (found.sum(axis=1) == 20).all()
    assert not found[:, 1].any()
    cov = np.diag(counts) - np.outer(counts, counts) / 20
    # standard errors of a covariance are below sqrt(2) * the larger variance / sqrt(draws); six of them: below 1e-8
    assert np.abs(np.cov(found.T) - cov).max() < 6 * np.sqrt(3) * cov.max() / np.sqrt(8_000)
    assert np.abs(found.mean(axis=0) - counts).max() < 6 * np.sqrt(cov.max() / 8_000)


@pytest.mark.sample(2)
@pytest.mark.parametrize("way", ["values", "rows"])
def test_poisson_samples_are_independent_and_have_no_fixed_number_of_rows(way: str) -> None:
    counts = np.array([3, 0, 5, 12])
    if way == "rows":
        found = draws._by_rows(counts, 4_000, "poisson", system_words)
    else:
        found = draws._poisson(counts, 8_000, system_words)
    cov = np.cov(found.T)
    # 6 standard errors, as above: a false alarm below 1e-8
    assert np.abs(cov - np.diag(counts)).max() < 6 * np.sqrt(3) * 12 / np.sqrt(len(found))
    assert len(set(found.sum(axis=1).tolist())) > 10


def test_edges_of_tables() -> None:
    assert draws.resampled(np.array([], dtype=np.int64), 3, "multinomial").shape == (3, 0)
    assert draws.resampled(np.array([0, 0]), 3, "multinomial").tolist() == [[0, 0]] * 3
    assert draws.resampled(np.array([7]), 2, "multinomial").tolist() == [[7], [7]]
    assert draws.resampled(np.array([0]), 2, "poisson").tolist() == [[0], [0]]


def test_a_word_without_a_zero_goes_on_in_the_next() -> None:
    words = iter([np.array([2**64 - 1], dtype=np.uint64), np.array([0b0111], dtype=np.uint64)])
    assert draws._blocks(1, lambda _: next(words)).tolist() == [67]
