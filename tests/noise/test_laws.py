"""Probabilities against mpmath, identities, variance, simulation, words of errors."""

from __future__ import annotations

import pickle
from fractions import Fraction

import mpmath
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.noise.laws import DiscreteLaplace, Law, NoiseError, RoundedNormal
from tacit.noise.stored_laws import law_from_dict
from tacit.testing.noise_law_test import noise_law

SCALES = st.sampled_from(
    [Fraction(1, 1000), Fraction(1, 20), Fraction(1, 3), Fraction(1), Fraction(2), Fraction(31, 7), Fraction(100),
     Fraction(12345), Fraction(10**6) + Fraction(1, 3), Fraction(10**9), Fraction(10**12)]
)  # fmt: skip
LAWS = st.builds(lambda law, scale: law(scale), st.sampled_from([DiscreteLaplace, RoundedNormal]), SCALES)
WHERE = st.floats(-35, 35)


def place(law: Law, where: float) -> int:
    """An integer about `where` scales from 0."""
    return round(where * float(law.scale)) if law.scale >= 1 else round(where / 12)


def upper(law: Law, k: int) -> mpmath.mpf:
    """P(Z > k) for k >= 0, or P(Z >= 0) reflected below, at 80 digits."""
    s = mpmath.mpf(law.scale.numerator) / law.scale.denominator
    if isinstance(law, DiscreteLaplace):
        q = mpmath.exp(-1 / s)
        return q ** (k + 1) / (1 + q) if k >= 0 else 1 - q**-k / (1 + q)
    return mpmath.erfc((k + mpmath.mpf(1) / 2) / s / mpmath.sqrt(2)) / 2


@settings(max_examples=200, deadline=None)
@given(LAWS, WHERE)
def test_pmf_cdf_sf_against_mpmath(law: Law, where: float) -> None:
    k = place(law, where)
    with mpmath.workdps(330):
        tail, before = upper(law, k), upper(law, k - 1)
        wanted = {"sf": tail, "cdf": upper(law, -k - 1), "pmf": before - tail}
        for name, value in wanted.items():
            found = float(np.asarray(getattr(law, name)(k)))
            if value > 1e-300:
                assert abs(found / value - 1) < 1e-11, (name, k)
            else:
                assert 0 <= found <= 1.1e-300


@settings(max_examples=200, deadline=None)
@given(LAWS, WHERE)
def test_identities(law: Law, where: float) -> None:
    k = place(law, where)
    x = np.array([k, -k, k + 1])
    assert np.allclose(law.cdf(x) + law.sf(x), 1, rtol=0, atol=1e-15)
    assert law.pmf(x)[0] == law.pmf(x)[1]
    assert np.allclose(law.cdf(-x), law.sf(x - 1), rtol=1e-12)
    assert np.allclose(law.sf(k - 1) - law.sf(k), law.pmf(k), rtol=0, atol=1e-15)
    assert law.pmf(k + 0.5) == 0
    assert law.cdf(k + 0.5) == law.cdf(k)
    assert law.sf(k + 0.5) == law.sf(k)
    assert law.pmf([[k, k], [k, k]]).shape == (2, 2)


@pytest.mark.parametrize("scale", ["1/20", "1/3", "1", "19/10", "2", "30"])
@pytest.mark.parametrize("law", [DiscreteLaplace, RoundedNormal])
def test_variance_is_that_of_the_masses(law: type[DiscreteLaplace] | type[RoundedNormal], scale: str) -> None:
    noise = law(Fraction(scale))
    with mpmath.workdps(60):
        total = 2 * mpmath.fsum((2 * k - 1) * upper(noise, k - 1) for k in range(1, 1500))
        assert abs(noise.variance() - total) <= 1e-13 * total


def test_variance_at_wide_scales() -> None:
    assert RoundedNormal(Fraction(10**6)).variance() == 1e12 + 1 / 12
    assert RoundedNormal(Fraction(1, 1000)).variance() == DiscreteLaplace(Fraction(1, 1000)).variance() == 0  # e^-1000
    assert DiscreteLaplace(Fraction(10**6)).variance() == pytest.approx(2e12 - 1 / 6, rel=1e-15)
    assert DiscreteLaplace(Fraction(10**12)).variance() == pytest.approx(2e24, rel=1e-14)


@pytest.mark.parametrize("scale", [Fraction(1, 3), Fraction(5), Fraction(10**9)])
@pytest.mark.parametrize("law", [DiscreteLaplace, RoundedNormal])
def test_simulation_has_the_law_and_is_reproducible(
    law: type[DiscreteLaplace] | type[RoundedNormal], scale: Fraction
) -> None:
    rng = np.random.default_rng(20)
    assert noise_law(lambda size: law(scale).sample(size, rng), law(scale), calls=2).passed
    first, again = (law(scale).sample(5, np.random.default_rng(1)).tolist() for _ in range(2))
    assert first == again


@settings(max_examples=50, deadline=None)
@given(LAWS)
def test_round_trip(law: Law) -> None:
    assert law_from_dict(law.to_dict()) == law
    assert pickle.loads(pickle.dumps(law)) == law


@pytest.mark.parametrize(
    "scale", [Fraction(0), Fraction(-1), Fraction(1, 1001), Fraction(10**12 + 1), Fraction(10**400), 1.0, 1]
)
@pytest.mark.parametrize("law", [DiscreteLaplace, RoundedNormal])
def test_scales_out_of_range(law: type[DiscreteLaplace] | type[RoundedNormal], scale: Fraction) -> None:
    with pytest.raises(NoiseError, match="N01"):
        law(scale)


@pytest.mark.parametrize(
    ("words", "code"),
    [({"law": "Cauchy", "scale": "1"}, "N02"), ({}, "N02"), ({"law": "discrete Laplace", "scale": "one"}, "N01"),
     ({"law": "discrete Laplace"}, "N01"), ({"law": "rounded Gaussian", "scale": "1/0"}, "N01")],
)  # fmt: skip
def test_documents_that_hold_no_law(words: dict[str, str], code: str) -> None:
    with pytest.raises(NoiseError, match=code) as caught:
        law_from_dict(words)
    assert pickle.loads(pickle.dumps(caught.value)).code == code
