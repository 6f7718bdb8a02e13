"""Exact draws: their law, refinement and far tail by injected words, OpenDP as oracle, no state."""

from __future__ import annotations

import inspect
import subprocess
import sys
import weakref
from collections.abc import Callable, Iterable
from fractions import Fraction

import mpmath
import numpy as np
import pytest

from tacit.noise import curves, exact
from tacit.noise import tail_bounds as enclosures
from tacit.noise.curves import EXPONENTIAL, HALF_NORMAL, Curve, pieces
from tacit.noise.exact import draw
from tacit.noise.laws import DiscreteLaplace, Law, NoiseError, RoundedNormal
from tacit.testing.noise_law_test import noise_law

LAWS = [DiscreteLaplace, RoundedNormal]
SCALES = [Fraction(1, 1000), Fraction(1, 3), Fraction(1), Fraction(10**6), Fraction(10**9), Fraction(10**12)]
ALL = (1 << 64) - 1


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("law", LAWS)
def test_a_million_draws_have_the_law(law: type[DiscreteLaplace] | type[RoundedNormal], scale: Fraction) -> None:
    """False-alarm rate 1e-6 (noise_law)."""
    result = noise_law(lambda size: draw(law(scale), size), law(scale), draws=1_000_000, calls=2)
    assert result.passed, str(result)


@pytest.mark.parametrize("factor", [Fraction(9, 10), Fraction(11, 10)])
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(1), Fraction(10**6), Fraction(10**9), Fraction(9 * 10**11)])
@pytest.mark.parametrize("law", LAWS)
def test_a_scale_ten_percent_off_fails(
    law: type[DiscreteLaplace] | type[RoundedNormal], scale: Fraction, factor: Fraction
) -> None:
    assert not noise_law(lambda size: draw(law(scale * factor), size), law(scale), draws=50_000).passed


@pytest.mark.sample(6)
@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(7, 2), Fraction(10**9)])
@pytest.mark.parametrize("law", LAWS)
def test_draws_in_integers_alone_have_the_law(
    law: type[DiscreteLaplace] | type[RoundedNormal], scale: Fraction
) -> None:
    """Few draws never meet a float: 12,800 of them, 64 at a time.  False-alarm rate 1e-6."""

    def few(size: int) -> np.ndarray:
        return np.concatenate([draw(law(scale), exact.FEW) for _ in range(size // exact.FEW)])

    assert noise_law(few, law(scale), draws=200 * exact.FEW).passed


def test_floats_and_integers_answer_alike() -> None:
    """The same words give the same draws, whichever stage decides."""
    for curve in (EXPONENTIAL, HALF_NORMAL):
        for scale in SCALES:
            word = exact.system_words(300)
            slow = exact._signed(curve, None, scale, word, replay([]))
            fast = exact._signed(curve, pieces(curve), scale, word, replay([]))
            assert np.array_equal(slow, fast)


def replay(words: Iterable[int]) -> Callable[[int], np.ndarray]:
    """A source of given words, and of none beyond them."""
    left = list(words)

    def take(count: int) -> np.ndarray:
        taken = [left.pop(0) for _ in range(count)]
        return np.array(taken, dtype=np.uint64)

    return take


def by_mpmath(law: Law, p: Fraction) -> int:
    """The cell of scale * F(p), at 400 digits."""
    with mpmath.workdps(400):
        q = mpmath.mpf(p.numerator) / p.denominator
        s = mpmath.mpf(law.scale.numerator) / law.scale.denominator
        if isinstance(law, DiscreteLaplace):
            return int(mpmath.floor(-s * mpmath.log(q)))
        guess = mpmath.sqrt(-2 * mpmath.log(q / 2))
        z = mpmath.findroot(lambda t: mpmath.log(mpmath.erfc(t / mpmath.sqrt(2))) - mpmath.log(q), guess)
        return int(mpmath.floor(s * z + mpmath.mpf(1) / 2))


def edge_digits(law: Law, k: int, bits: int) -> int:
    """floor(2**bits tail(edge of cell k)), by mpmath."""
    with mpmath.workprec(bits + 400):
        s = mpmath.mpf(law.scale.numerator) / law.scale.denominator
        if isinstance(law, DiscreteLaplace):
            tail = mpmath.exp(-k / s)
        else:
            tail = mpmath.erfc((k - mpmath.mpf(1) / 2) / s / mpmath.sqrt(2))
        return int(mpmath.floor(tail * mpmath.mpf(2) ** bits))


@pytest.mark.parametrize("law", [law(scale) for law in LAWS for scale in SCALES[1:]])
@pytest.mark.parametrize("where", [0.3, 1.2, 2.9])
def test_a_word_on_an_edge_is_refined(law: Law, where: float) -> None:
    """p agrees with an edge of cell k in 63, 127 or 191 digits: one, two, three more words decide, and rightly."""
    k = max(1, int(float(law.scale) * where))
    curve = EXPONENTIAL if isinstance(law, DiscreteLaplace) else HALF_NORMAL
    for more in (1, 2, 3):
        digits = edge_digits(law, k, 63 + 64 * more)
        words = [digits >> 64 * i & ALL for i in range(more - 1, -1, -1)]
        first = digits >> 64 * more
        for last, expected in ((0, k), (ALL, k - 1)):  # p below the edge's tail lies in cell k, above it in k - 1
            if last == words[-1]:
                continue
            source = replay([*words[:-1], last])
            assert exact.certain_cell(curve, law.scale, first, source) == expected
            with pytest.raises(IndexError):
                source(1)
        p = Fraction(
            (first << 64 * more) + sum(w << 64 * i for i, w in enumerate(reversed([*words[:-1], 0]))) + 1,
            1 << (63 + 64 * more),
        )
        if words[-1] > 1:
            assert by_mpmath(law, p) == k


@pytest.mark.sample(4)
@pytest.mark.parametrize("law", [law(scale) for law in LAWS for scale in SCALES])
@pytest.mark.parametrize("zeros", [0, 1, 3, 18])
def test_the_far_tail_is_exact(law: Law, zeros: int) -> None:
    """Words of zeros bring p down to 2**-1200, where no float reaches; the cell is mpmath's."""
    words = [0] * zeros + [5 << 30, 0x9E3779B97F4A7C15, 0x9E3779B97F4A7C15]
    stream = [*words, 0x123456789ABCDEF0, 0x0FEDCBA987654321]
    m = 0 if zeros else 6 << 30
    used: list[int] = []

    def source(count: int) -> np.ndarray:
        used.extend(stream[len(used) : len(used) + count])
        return np.array(used[-count:], dtype=np.uint64)

    curve = EXPONENTIAL if isinstance(law, DiscreteLaplace) else HALF_NORMAL
    cell = exact.certain_cell(curve, law.scale, m, source)
    total = m
    for word in used:
        total = total << 64 | word
    p = Fraction(2 * total + 1, 1 << (64 + 64 * len(used)))
    assert cell == by_mpmath(law, p)
    assert len(used) >= zeros


def test_a_bad_start_changes_nothing() -> None:
    """`near` only proposes: a wild proposal finds the same cell."""

    class Wild:
        def __init__(self, curve: Curve, proposal: float) -> None:
            self.shift, self.tail, self.slopes = curve.shift, curve.tail, curve.slopes
            self.near = lambda m, bits: proposal

    for curve in (EXPONENTIAL, HALF_NORMAL):
        for scale in (Fraction(1, 3), Fraction(1), Fraction(10**6)):
            for m in (2**62 + 12345, 2**55 + 1, 2**63 - 5):
                right = exact.search(curve, scale, m, 63)
                for proposal in (0.0, 0.7, 5.0, 40.0):
                    assert exact.search(Wild(curve, proposal), scale, m, 63) == right


def test_negative_zero_is_rejected_for_laplace_only() -> None:
    large = (1 << 63) + (1 << 62) + 12346  # p = 3/4, cell 0 at scale 1
    sure = 1 << 62  # p = 1/4, cell 1, positive
    law = DiscreteLaplace(Fraction(1))
    assert exact._draw(law, 1, replay([large | 1, large | 1, sure])).tolist() == [1]
    assert exact._draw(law, 2, replay([large, large | 1, sure | 1])).tolist() == [0, -1]
    assert exact._draw(RoundedNormal(Fraction(1)), 1, replay([large | 1])).tolist() == [0]


def test_beyond_64_bits_is_moved_to_the_last_integer(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(exact, "certain_cell", lambda *_: 1 << 70)
    found = exact._draw(DiscreteLaplace(Fraction(1)), 2, replay([0, 1]))
    assert found.tolist() == [1 << 70, -1 << 70]  # a draw is what it is: sums are moved
    sums = exact.added(np.array([5, -5]), found)
    assert (sums.dtype, sums.tolist()) == (np.int64, [2**63 - 1, 1 - 2**63])


@pytest.mark.parametrize("scale", [1.0, 12.0])
def test_opendp_agrees_on_the_discrete_laplace(scale: float) -> None:
    """20,000 draws of OpenDP: our chi-square passes them, and a two-sample chi-square passes ours with theirs."""
    dp = pytest.importorskip("opendp.prelude")
    from scipy.stats import chi2_contingency

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = np.array(dp.m.make_laplace(*space, scale)([0] * 20_000), dtype=np.int64)
    law = DiscreteLaplace(Fraction(scale))
    assert noise_law(lambda size: theirs[:size], law, draws=20_000).passed
    ours = draw(law, 20_000)
    edges = np.unique(np.quantile(theirs, np.linspace(0.02, 0.98, 30)))
    table = [np.bincount(np.searchsorted(edges, x), minlength=len(edges) + 1) for x in (ours, theirs)]
    assert chi2_contingency(np.array(table) + 1).pvalue > 1e-7  # a false alarm once in 10 million


def test_opendp_agrees_in_kolmogorov_distance() -> None:
    dp = pytest.importorskip("opendp.prelude")
    from scipy.stats import ks_2samp

    dp.enable_features("contrib")
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    theirs = np.array(dp.m.make_laplace(*space, 1e6)([0] * 20_000))
    assert ks_2samp(theirs, draw(DiscreteLaplace(Fraction(10**6)), 20_000)).pvalue > 1e-7
    assert ks_2samp(theirs, draw(DiscreteLaplace(Fraction(12 * 10**5)), 20_000)).pvalue < 1e-7


def test_forked_children_differ() -> None:
    """Two children of one process, and the parent: 200 draws each, none alike."""
    script = """
import os, sys
from fractions import Fraction
from tacit.noise.exact import draw
from tacit.noise.laws import DiscreteLaplace
law = DiscreteLaplace(Fraction(10**9))
draw(law, 100)
for _ in range(2):
    if os.fork() == 0:
        sys.stdout.write(" ".join(map(str, draw(law, 200).tolist())) + "\\n"); sys.stdout.flush(); os._exit(0)
    os.wait()
print(" ".join(map(str, draw(law, 200).tolist())))
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    lines = done.stdout.split("\n")[:3]
    assert len(lines) == 3
    # 600 draws at scale 1e9: two agree anywhere with probability below 600**2 / 2 / 4e9 = 4.5e-5, ten with 1e-40
    assert len({word for line in lines for word in line.split()}) > 590


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(3)), RoundedNormal(Fraction(3))])
def test_no_word_survives_a_call(law: Law) -> None:
    seen: list[weakref.ref[np.ndarray]] = []

    def watched(count: int) -> np.ndarray:
        word = exact.system_words(count).copy()
        seen.append(weakref.ref(word))
        return word

    before = [pieces(curve).coefficients.tobytes() for curve in (EXPONENTIAL, HALF_NORMAL)]
    found = exact._draw(law, 40_000, watched)
    assert len(seen) >= 3
    assert all(word() is None for word in seen)
    assert found.base is None
    for module in (exact, curves, enclosures):
        held = [
            name for name, value in vars(module).items() if isinstance(value, np.ndarray | bytes | bytearray | list)
        ]
        assert held == []
    assert before == [pieces(curve).coefficients.tobytes() for curve in (EXPONENTIAL, HALF_NORMAL)]


def test_there_is_no_seed_and_no_switch() -> None:
    assert list(inspect.signature(draw).parameters) == ["law", "size"]
    law = DiscreteLaplace(Fraction(10**9))
    np.random.seed(1)
    first = draw(law, 50)
    np.random.seed(1)
    assert not np.array_equal(first, draw(law, 50))


@pytest.mark.parametrize("size", [0, 1, exact.FEW, exact.FEW + 1, exact.CHUNK + 1])
@pytest.mark.parametrize("law", LAWS)
def test_shape_and_type(law: type[DiscreteLaplace] | type[RoundedNormal], size: int) -> None:
    found = draw(law(Fraction(1, 2)), size)
    assert found.dtype == np.int64
    assert found.shape == (size,)


@pytest.mark.parametrize("size", [-1, 1.5, True, "3", None])
def test_a_size_that_is_no_count(size: object) -> None:
    with pytest.raises(NoiseError, match="N03"):
        draw(DiscreteLaplace(Fraction(1)), size)  # type: ignore[arg-type]


def test_a_law_without_sampler() -> None:
    with pytest.raises(NoiseError, match="N02"):
        draw("discrete Laplace", 3)  # type: ignore[arg-type]
