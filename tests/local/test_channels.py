"""Randomised answers: every likelihood ratio exactly, the law of what is drawn, variances against simulation."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from fractions import Fraction
from math import comb

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.local.channel import Channel
from tacit.local.mechanism_respond import respond
from tacit.local.thresholds import GRID, growth, least_of, most_of

EPSILONS = ("0.001", "0.2", "1", "2.5", "4", "20")


def designs(epsilon: str) -> list[tc.local.ResponseDesign]:
    one = tc.local
    made = [one.Warner(epsilon), one.ForcedResponse(epsilon), one.KaryResponse(["a", "b", "c", "d", "e"], epsilon)]
    made += [one.UnaryEncoding(["a", "b", "c", "d"], epsilon), one.SubsetSelection(list("abcdef"), epsilon)]
    return [*made, *(one.SubsetSelection(range(5), epsilon, size=d) for d in (1, 2, 4))]


def law(channel: Channel, level: int) -> dict[tuple[int, ...], Fraction]:
    """Every answer's probability, as the definition has it."""
    k, d = channel.levels, channel.size
    if channel.kind == "bits":
        found = {}
        for bits in itertools.product((0, 1), repeat=k):
            p = Fraction(1)
            for i, bit in enumerate(bits):
                raised = Fraction(1, 2) if i == level else Fraction(channel.other, GRID)
                p *= raised if bit else 1 - raised
            found[tuple(i for i in range(k) if bits[i])] = p
        return found
    own = Fraction(channel.truth, GRID)
    return {
        chosen: own / comb(k - 1, d - 1) if level in chosen else (1 - own) / comb(k - 1, d)
        for chosen in itertools.combinations(range(k), d)
    }


@pytest.mark.parametrize("epsilon", EPSILONS)
def test_every_likelihood_ratio_is_at_most_e_to_the_epsilon_and_it_is_attained(epsilon):
    for design in designs(epsilon):
        laws = [law(design.channel, v) for v in range(design.channel.levels)]
        for one in laws:
            assert sum(one.values()) == 1
        largest = max(a[z] / b[z] for a, b in itertools.permutations(laws, 2) for z in a)
        assert largest == design.channel.largest_ratio()
        assert largest <= growth(design.epsilon)
        # rounded to multiples of 2^-48, of which the rarest answer at ε = 20 has about 5e5
        assert float(largest / growth(design.epsilon)) == pytest.approx(1, abs=1e-4)


@pytest.mark.parametrize("epsilon", ["0.2", "1", "4"])
def test_support_has_the_probabilities_and_covariances_of_the_law(epsilon):
    for design in designs(epsilon):
        one, k = design.channel, design.channel.levels
        shares = np.arange(1.0, k + 1) / (k * (k + 1) / 2)
        laws = [law(one, v) for v in range(k)]
        for v, w in itertools.product(range(k), repeat=2):
            exact = sum(p for z, p in laws[w].items() if v in z)
            assert exact == (one.own if v == w else one.wrong)
        both = np.zeros((k, k))
        for w, (u, v) in itertools.product(range(k), itertools.product(range(k), repeat=2)):
            both[u, v] += shares[w] * float(sum(p for z, p in laws[w].items() if u in z and v in z))
        shown = np.diag(both)
        assert one.support_covariance(shares) == pytest.approx(both - np.outer(shown, shown), abs=1e-12)
        # given the people: the mean over them of each one's covariance
        given = np.zeros((k, k))
        for w in range(k):
            own = np.array([float(one.own if v == w else one.wrong) for v in range(k)])
            pairs = np.zeros((k, k))
            for u, v in itertools.product(range(k), repeat=2):
                pairs[u, v] = float(sum(p for z, p in laws[w].items() if u in z and v in z))
            given += shares[w] * (pairs - np.outer(own, own))
        assert one.noise_covariance(shares) == pytest.approx(given, abs=1e-12)


def chi2(channel: Channel, level: int, drawn: Counter[tuple[int, ...]], n: int) -> float:
    """p-value of the drawn answers under the law."""
    exact = law(channel, level)
    assert set(drawn) <= set(exact)
    seen = np.array([drawn[z] for z in exact], dtype=float)
    expected = np.array([n * float(p) for p in exact.values()])
    rare = expected < 10
    if rare.any():
        seen = np.append(seen[~rare], seen[rare].sum())
        expected = np.append(expected[~rare], expected[rare].sum())
    return float(stats.chi2.sf(((seen - expected) ** 2 / np.maximum(expected, 1e-12)).sum(), len(seen) - 1))


def test_what_is_drawn_has_the_law_and_a_law_ten_percent_off_is_seen():
    n = 10_000
    for design in designs("1"):
        one = design.channel
        for level in (0, one.levels - 1):
            drawn = Counter(respond(one, level) for _ in range(n))
            # 16 tests at 1e-7: a false alarm in 1.6e-6 runs of the suite
            assert chi2(one, level, drawn, n) > 1e-7
    # the own level kept 10% too often: 10,000 draws tell it at 1e-7 (16 standard deviations)
    off = Channel("choice", 2, int(1.1 * tc.local.Warner("1").channel.truth))
    drawn = Counter(respond(off, 0) for _ in range(n))
    assert chi2(tc.local.Warner("1").channel, 0, drawn, n) < 1e-7


def test_thresholds_are_rounded_for_privacy():
    for epsilon in map(Fraction, ("1/1000", "1/7", "3", "20")):
        e = growth(epsilon)
        t = most_of(e, Fraction(1))
        assert Fraction(t, GRID - t) <= e < Fraction(t + 1, GRID - t - 1)
        f = least_of(Fraction(1), e)
        assert Fraction(GRID - f, f) <= e < Fraction(GRID - f + 1, f - 1)
        assert float(e) == pytest.approx(math.exp(float(epsilon)), rel=1e-15)


def test_subsets_are_never_wider_than_the_other_designs():
    for k, epsilon in ((2, "1"), (5, "0.5"), (20, "1"), (100, "2"), (100, "4")):
        names = [str(i) for i in range(k)]

        def rare(design):
            p, q = (float(x) for x in (design.channel.own, design.channel.wrong))
            return q * (1 - q) / (p - q) ** 2

        subset = rare(tc.local.SubsetSelection(names, epsilon))
        assert subset <= rare(tc.local.KaryResponse(names, epsilon)) * (1 + 1e-9)
        assert subset <= rare(tc.local.UnaryEncoding(names, epsilon)) * (1 + 1e-9)
