"""Zeros that pass a threshold: the law of dense noise and a threshold, with power; certain gaps; extremes; refusals."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from tacit.noise import threshold as module
from tacit.noise.curves import EXPONENTIAL, pieces
from tacit.noise.exact import decide, system_words
from tacit.noise.laws import DiscreteLaplace, Law, NoiseError, RoundedNormal
from tacit.noise.tail_bounds import minus_log
from tacit.noise.threshold import passing, passing_probability

FALSE_ALARM = 1e-6
LAPLACE, NORMAL = DiscreteLaplace(Fraction(5, 2)), RoundedNormal(Fraction(7, 3))
BLOCK = 6


def fed(*given: int) -> Callable[[int], NDArray[np.uint64]]:
    """Words as a sampler asks for them, one call after another."""
    left = list(given)
    return lambda count: np.array([left.pop(0) for _ in range(count)], dtype=np.uint64)


@pytest.fixture(scope="module", params=[(LAPLACE, 7, 600_000), (NORMAL, 4, 300_000)], ids=["laplace", "normal"])
def drawn(request: pytest.FixtureRequest) -> tuple[Law, int, int, NDArray[np.int64], NDArray[np.int64]]:
    law, threshold, zeros = request.param
    return law, threshold, zeros, *passing(law, threshold, zeros)


def count(passed: int, zeros: int, p: float) -> float:
    """P-value of how many pass; 20,000 of them are 14 standard deviations from what is 10% off."""
    return float(stats.binomtest(passed, zeros, p).pvalue)


def patterns(places: NDArray[np.int64], zeros: int, p: float) -> float:
    """P-value of which of BLOCK neighbours pass, in all blocks: independent trials of probability p."""
    passed = np.zeros(zeros, dtype=np.int64)
    passed[places] = 1
    code = passed.reshape(-1, BLOCK) @ (1 << np.arange(BLOCK))
    ones = np.array([bin(i).count("1") for i in range(1 << BLOCK)])
    expected = p**ones * (1 - p) ** (BLOCK - ones) * len(code)
    seen = np.bincount(code, minlength=1 << BLOCK).astype(float)
    rare = expected < 5
    seen, expected = (np.append(x[~rare], x[rare].sum()) for x in (seen, expected))
    return float(stats.chisquare(seen, expected).pvalue)


def test_places_are_independent_trials(drawn: tuple[Law, int, int, NDArray[np.int64], NDArray[np.int64]]) -> None:
    law, threshold, zeros, places, _ = drawn
    p = float(law.sf(threshold - 1))
    assert patterns(places, zeros, p) > FALSE_ALARM
    assert count(len(places), zeros, p) > FALSE_ALARM
    assert max(count(len(places), zeros, wrong) for wrong in (0.9 * p, 1.1 * p)) < FALSE_ALARM


def test_values_have_the_law_above_the_threshold(
    drawn: tuple[Law, int, int, NDArray[np.int64], NDArray[np.int64]],
) -> None:
    law, threshold, _, _, values = drawn
    assert values.min() == threshold
    ends = np.arange(threshold, threshold + 12)

    def fits(candidate: Law) -> float:
        mass = candidate.pmf(ends) / float(candidate.sf(threshold - 1))
        seen = np.bincount(np.minimum(values - threshold, 12), minlength=13)
        expected = np.append(mass, 1 - mass.sum()) * len(values)
        few = expected < 5
        if few.any():
            seen, expected = (np.append(x[~few], x[few].sum()) for x in (seen.astype(float), expected))
        return float(stats.chisquare(seen, expected).pvalue)

    assert fits(law) > FALSE_ALARM
    assert fits(type(law)(law.scale * Fraction(11, 10))) < FALSE_ALARM  # type: ignore
    odd, even = values[1::2], values[: 2 * (len(values) // 2) : 2]
    table = [[np.sum((even == a) & (odd == b)) for b in ends[:3]] for a in ends[:3]]
    assert stats.chi2_contingency(table).pvalue > FALSE_ALARM  # neighbours are independent


@pytest.mark.long
def test_a_few_zeros_have_the_law_of_many() -> None:
    """Short calls, decided in integers alone: 4 zeros, 8,000 times, all 16 outcomes; 10% off is 10 deviations."""
    law, calls = DiscreteLaplace(Fraction(1)), 8_000
    p = float(law.sf(0))
    seen = np.zeros(16)
    for _ in range(calls):
        seen[sum(1 << int(i) for i in passing(law, 1, 4)[0])] += 1
    ones = np.array([bin(i).count("1") for i in range(16)])
    assert stats.chisquare(seen, p**ones * (1 - p) ** (4 - ones) * calls).pvalue > FALSE_ALARM
    assert count(int(seen @ ones), 4 * calls, 1.1 * p) < FALSE_ALARM


@pytest.mark.parametrize(("law", "threshold"), [(LAPLACE, 7), (LAPLACE, 50), (NORMAL, 4), (NORMAL, 12)])
def test_floats_decide_as_integers_do(law: Law, threshold: int) -> None:
    m = (system_words(400) >> np.uint64(1)).view(np.int64)
    low, high = module._rate(law, threshold, module.WORK)
    scale = Fraction(2 << module.WORK, low + high)
    gap, undecided = decide(EXPONENTIAL, pieces(EXPONENTIAL), scale, m)
    assert undecided.mean() < 0.02
    for one, word in zip(gap[~undecided][:150], m[~undecided][:150], strict=True):
        assert module._gap(law, threshold, 2**40, int(word), 63) == min(int(one), 2**40)


@pytest.mark.parametrize(("law", "threshold"), [(LAPLACE, 1), (LAPLACE, 40), (NORMAL, 1), (NORMAL, 15)])
def test_enclosures_hold_what_high_precision_says(law: Law, threshold: int) -> None:
    with mpmath.workdps(120):
        s = mpmath.mpf(law.scale.numerator) / law.scale.denominator
        q = mpmath.exp(-1 / s)
        laplace = q**threshold / (1 + q)
        normal = mpmath.erfc((mpmath.mpf(threshold) - 0.5) / s / mpmath.sqrt(2)) / 2
        p = laplace if isinstance(law, DiscreteLaplace) else normal
        lo, hi = passing_probability(law, threshold, 256)
        assert lo <= p * mpmath.mpf(2) ** 256 <= hi
        assert hi - lo <= 8
        rate = -mpmath.log(1 - p)
        lo, hi = minus_log((lo, hi), 256)
        assert lo <= rate * mpmath.mpf(2) ** 256 <= hi
        assert hi - lo <= 2_000
        lo, hi = module._none_passes(law, threshold, 10**9, 128)
        assert lo <= mpmath.exp(-(10**9) * rate) * mpmath.mpf(2) ** 128 <= hi


def test_words_near_an_edge_take_more() -> None:
    """The edge (1 - pi)**3 lies inside the interval of its word; what follows decides."""
    with mpmath.workdps(60):
        q = mpmath.exp(-1)
        edge = (1 - q / (1 + q)) ** 3
        m, rest = int(edge * 2**63), int((edge * 2**63 - int(edge * 2**63)) * 2**64)
    law = DiscreteLaplace(Fraction(1))
    assert module._gap(law, 1, 100, m, 63) is None
    for more, gap in ((rest - 5, 3), (rest + 5, 2)):
        found = module._gaps(law, 1, None, 100, np.array([m]), fed(more))
        assert found.tolist() == [gap]


def test_normal_values_near_an_edge_take_more() -> None:
    with mpmath.workdps(60):
        tail = [mpmath.erfc((mpmath.mpf(j) - 0.5) / mpmath.sqrt(2)) for j in (2, 3)]
        edge = tail[1] / tail[0]
        m, rest = int(edge * 2**64), int((edge * 2**64 - int(edge * 2**64)) * 2**64)
    for more, k in ((rest - 9, 1), (rest + 9, 0)):
        assert module._normal_excess(Fraction(1), 2, 1, fed(m, more)).tolist() == [k]


@pytest.mark.parametrize(
    ("law", "threshold"), [(DiscreteLaplace(Fraction(2)), 5_000), (RoundedNormal(Fraction(2)), 90)]
)
def test_what_is_rarer_than_any_float(law: Law, threshold: int) -> None:
    """Probabilities of exp(-2500) and exp(-1000): no zero of 10**12 passes, but for less than 1e-400."""
    places, values = passing(law, threshold, 10**12)
    assert len(places) == len(values) == 0
    words = fed(2**64 - 1, *[2**64 - 1] * 3, 5)  # the largest p need more words, and end
    assert module._gaps(law, threshold, None, 10**12, np.array([2**63 - 1]), words).tolist() == [10**12]


def test_the_largest_sizes() -> None:
    law = DiscreteLaplace(Fraction(2))
    places, values = passing(law, 40, 2**40)
    mean = float(law.sf(39)) * 2**40
    assert abs(len(places) - mean) < 6 * mean**0.5  # fails with probability 2e-9
    assert (np.diff(places) > 0).all()
    assert places[0] >= 0
    assert places[-1] < 2**40
    assert values.min() >= 40
    assert len(passing(law, 1, 0)[0]) == 0


@pytest.mark.parametrize(
    ("law", "threshold", "zeros", "code"),
    [("none", 1, 1, "N02"), (LAPLACE, 0, 1, "N03"), (LAPLACE, 1, -1, "N03"), (LAPLACE, 1, 2**40 + 1, "N03")],
)
def test_what_is_no_size(law: Law, threshold: int, zeros: int, code: str) -> None:
    with pytest.raises(NoiseError) as refused:
        passing(law, threshold, zeros)
    assert refused.value.code == code
