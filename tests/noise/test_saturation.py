"""Sums beyond 64 bits: what is released is a function of the exact sum, in a small analogue and at the end itself."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from tacit.method.shared import mechanism_additive as additive
from tacit.noise import exact
from tacit.noise.exact import _draw, added, draw
from tacit.noise.laws import DiscreteLaplace, Law, RoundedNormal

SMALL = 6
LAWS: list[Law] = [DiscreteLaplace(Fraction(3)), RoundedNormal(Fraction(4))]


def stream(seed: int) -> exact.Words:
    """Words of a fixed stream."""
    rng = np.random.default_rng(seed)
    return lambda count: rng.integers(0, 2**64, count, dtype=np.uint64)


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """The last integer is 6, so that draws beyond it are frequent."""
    for module in (exact, additive):
        monkeypatch.setattr(module, "MOST", SMALL)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("law", LAWS)
@pytest.mark.parametrize("size", [50, 500])
def test_what_is_released_is_a_function_of_the_sum(law: Law, size: int) -> None:
    """The same draws are added to every integer: equal sums have equal answers, and the answer is the sum moved."""
    noise = _draw(law, size, stream(1))
    assert int(np.abs(noise).max()) > SMALL
    told: dict[int, set[int]] = {}
    for f in range(-SMALL, SMALL + 1):
        found = added(np.full(size, f), noise)
        assert found.dtype == np.int64
        for z, one in zip(noise.tolist(), found.tolist(), strict=True):
            told.setdefault(f + z, set()).add(one)
    assert all(given == {max(-SMALL, min(SMALL, total))} for total, given in told.items())


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("size", [3, 200])
def test_parts_of_python_integers_are_the_same(size: int, monkeypatch: pytest.MonkeyPatch) -> None:
    law = LAWS[0]
    fixed = _draw(law, size, stream(2))
    monkeypatch.setattr(additive, "draw", lambda *_: fixed)
    for f in range(-SMALL, SMALL + 1):
        (found,) = additive.protect(((f,) * size,), law)
        assert list(found) == added(np.full(size, f), fixed).tolist()


def test_moving_the_sum_keeps_the_price_and_moving_the_draw_does_not() -> None:
    """Enumerated laws of both, for neighbours f and f + 1 at scale 3: the largest log-ratio, 1/3 at most."""
    law = DiscreteLaplace(Fraction(3))
    z = np.arange(-400, 401)
    p = law.pmf(z)

    def ratio(moved: bool) -> float:
        laws = []
        for f in (2, 3):
            out = np.clip(f + z, -SMALL, SMALL) if moved else f + np.clip(z, -SMALL, SMALL)
            laws.append(np.array([p[out == k].sum() for k in range(-20, 21)]))
        with np.errstate(divide="ignore", invalid="ignore"):
            loss = np.abs(np.log(laws[0] / laws[1]))
        return float(np.nanmax(loss))

    assert ratio(moved=True) <= 1 / 3 + 1e-12
    assert ratio(moved=False) == np.inf


def test_a_draw_beyond_64_bits_is_whole() -> None:
    """Words all 0 say that the tail is longer than they are: 64 more each time, so 45,000 of scale 1e12 and above."""
    scale = Fraction(10**12)
    beyond = 1 << 64

    def far(_: object, given: Fraction, m: int, words: object) -> int:
        return beyond if m == 0 else 1

    words = np.array([0, 1, 2, 3], dtype=np.uint64)  # an even word is positive, an odd one negative
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(exact, "certain_cell", far)
        found = _draw(RoundedNormal(scale), 4, lambda count: np.tile(words, -(-count // 4))[:count])
    assert found.tolist() == [beyond, -beyond, 1, -1]
    most = exact.MOST
    assert added(np.array([5, 5, most, -most]), found).tolist() == [most, -most, most, -most]


@pytest.mark.parametrize("law", [DiscreteLaplace(Fraction(10**12)), RoundedNormal(Fraction(10**12))])
def test_sums_near_the_end_do_not_wrap(law: Law) -> None:
    """At the widest scale there is: sums beyond the end stay there; a sum that wrapped would have the other sign."""
    most = exact.MOST
    noise = draw(law, 200)
    for f, sign in itertools.product((most, most - 10**12), (1, -1)):
        found = added(np.full(200, sign * f), noise)
        assert found.tolist() == [max(-most, min(most, sign * f + z)) for z in noise.tolist()]
        assert (found * sign > 0).all()
