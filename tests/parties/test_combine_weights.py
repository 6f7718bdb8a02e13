"""What combined estimates weigh by: sizes of blocks, and a variance between parties that is itself estimated.

Seeded throughout: nothing here is by chance.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.families import Exponential
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import empty_parts
from tacit.pooling.common_value import pooled
from tacit.pooling.evidence import Evidence
from tacit.pooling.heterogeneity import degrees_of_freedom, effects, fit_effects, inflation
from tacit.pooling.released_evidence import evidence
from tacit.testing.simulated_parties import Answer

R = 400
LAW = Exponential(rate=(0.2, 5))


def blocks(sizes: Sequence[int], epsilon: str, k: int, neighbors: str = "replace-one") -> Evidence:
    """R repetitions of parties' estimates in k blocks: of b rows they are 1 + N(0, 1 / b), as of a rate of 1."""
    rng, found = np.random.default_rng(5), []
    public = neighbors == "replace-one"
    for party, rows in enumerate(sizes):
        query = tc.SampleAndAggregate("x", LAW, blocks=k, rows=None if public else 1_000)
        cost = tc.Cost.of(epsilon=epsilon)
        n = rows if public else None
        shape = design(query, Public(tc.Schema({"x": tc.Real()}), neighbors, n), cost)
        (column,), (part,) = shape.columns, empty_parts(shape)
        assert column.grid is not None
        half = column.grid.G // 2
        values = 1 + rng.standard_normal((R, k)) * math.sqrt(k / rows)
        w = np.clip(np.floor((values - 0.2) / 4.8 * 2 * half + 0.5), 0, 2 * half).astype(np.int64) - half
        v, facts = w + half, column.form.parameters
        inner = v * (2 * half - v) // facts["divisor"]
        exact = np.stack([w.sum(axis=1), inner.sum(axis=1), np.full(R, k * facts["presence"])], axis=1)
        noisy = exact + column.law.sample(exact.size, rng).reshape(exact.shape)
        whole = replace(part, integers=tuple(map(tuple, noisy.tolist())))
        found.append(Answer(query, f"party {party}", neighbors, n, (whole,), cost))
    return evidence(found, 0)


def test_blocks_weigh_by_their_rows() -> None:
    """Weights 1 / (1 / N + noise), on average within a tenth; those of alike blocks lose more than half."""
    sizes = (2_000, 4_000, 8_000, 40_000)
    made = blocks(sizes, "20", 100)
    found, alike = pooled(made), pooled(replace(made, spread=None))
    # the number of estimates is noisy, too: 1 + m**2 times the noise, m the mean on the scale -1 to 1 of its box
    noise = 2 * (4.8 / (100 * 20)) ** 2 * (1 + ((1 - 2.6) / 2.4) ** 2)
    right = 1 / (1 / np.array(sizes) + noise)
    assert found.shares.mean(axis=1) == pytest.approx(right / right.sum(), rel=0.1)
    assert ((found.value - 1) ** 2).mean() < 0.6 * ((alike.value - 1) ** 2).mean()
    low, high = found.interval(0.95)
    assert float(((low <= 1) & (high >= 1)).mean()) > 0.94 - 5 * math.sqrt(0.05 * 0.95 / R)
    assert np.sqrt(found.variance + found.noise).mean() * made.scale < 1.3 * found.value.std()


def test_blocks_of_private_sizes_weigh_by_their_own_spread() -> None:
    made = blocks((1_000, 1_000, 20_000, 20_000), "50", 100, "add-remove")
    assert made.spread is not None
    assert not made.proportionate
    found, alike = pooled(made), pooled(replace(made, spread=None))
    assert alike.shares.mean(axis=1) == pytest.approx([0.25] * 4, abs=1e-4)
    assert found.shares[2:].sum(axis=0).mean() > 0.8  # of known sizes 0.95
    assert ((found.value - 1) ** 2).mean() < 0.5 * ((alike.value - 1) ** 2).mean()


def test_rows_are_alike_and_blocks_of_one_size_too() -> None:
    assert not blocks((3_000, 3_000), "1", 60).proportionate
    merged = blocks((3_000, 6_000, 6_000), "1", 60)
    assert merged.of(np.array([0, 2])).spread == pytest.approx(np.array([0.02, 0.01]) / np.mean([0.02, 0.01, 0.01]))


# Effects ------------------------------------------------------------------------------------------------------------

UNEQUAL = np.repeat([0.0102, 8.4e-4, 4.1e-5], [20, 10, 5])


def drawn(v: Any, tau: float, repeats: int = 400) -> tuple[Any, Any]:
    """Estimates of R studies, and the quantity of one more party."""
    rng = np.random.default_rng(8)
    wide = (len(v), repeats)
    noise = rng.laplace(0, np.sqrt(v / 2)[:, None], wide)
    return tau * rng.standard_normal(wide) + noise, tau * rng.standard_normal(repeats)


def test_what_an_estimated_tau2_adds_is_that_of_the_weights() -> None:
    """sum c**2 / w with c the slopes of the weights in tau2, numerically; nothing where weights are alike."""
    v, tau2, step = UNEQUAL, 9e-4, 1e-9

    def share(t: float) -> Any:
        return (1 / (v + t)) / (1 / (v + t)).sum()

    w = 1 / (v + tau2)
    slopes = (share(tau2 + step) - share(tau2 - step)) / (2 * step)
    total, two, three = w.sum(), (w**2).sum(), (w**3).sum()
    information = 0.5 * (two - 2 * three / total + two**2 / total**2)
    expected = 1 + 2 * total * (slopes**2 / w).sum() / information
    assert inflation(w[:, None]) == pytest.approx(expected, rel=1e-5)
    assert inflation(np.ones((12, 1))) == pytest.approx(1)
    assert degrees_of_freedom(np.ones((12, 1)), np.array([11])) == pytest.approx(11)


@pytest.mark.sample(2)
@pytest.mark.parametrize("tau", [0.01, 0.03])
def test_parties_of_very_different_precision_cover(tau: float) -> None:
    """93 to 98 %, and 5 errors of a share of 400: without what tau2's own error adds it is 2 to 3 points less."""
    y, new = drawn(UNEQUAL, tau)
    found = fit_effects(y, np.repeat(UNEQUAL[:, None], y.shape[1], axis=1), np.ones_like(y))
    hit = np.mean([abs(one.mu) <= one.half(0.95) for one in found if one is not None])
    slack = 5 * math.sqrt(0.05 * 0.95 / 400)
    assert 0.93 - slack <= hit <= 0.98 + slack
    ahead = np.array([one.prediction(0.95) for one in found if one is not None])
    assert np.mean((ahead[:, 0] <= new) & (new <= ahead[:, 1])) >= 0.93 - slack


def test_a_prediction_covers_where_noise_hides_tau() -> None:
    """40 parties with errors of 0.1, tau = 0.03: estimated as 0 in a fifth of the studies."""
    v = np.full(40, 0.0102)
    y, new = drawn(v, 0.03)
    found = [one for one in fit_effects(y, np.repeat(v[:, None], 400, axis=1), np.ones_like(y)) if one is not None]
    ahead = np.array([one.prediction(0.95) for one in found])
    slack = 5 * math.sqrt(0.05 * 0.95 / 400)
    assert np.mean((ahead[:, 0] <= new) & (new <= ahead[:, 1])) >= 0.93 - slack
    plugged = np.array([2 * math.sqrt(one.tau2 + one.variance) for one in found])
    assert np.mean(np.abs(new) <= plugged) < 0.93 - slack  # what it was before


def test_predictions_are_those_of_a_known_tau_where_it_is_known() -> None:
    """Many parties, errors far below tau: mu -+ 1.96 tau."""
    rng = np.random.default_rng(1)
    y = rng.normal(2, 0.5, 2_000)
    found = effects(y, np.full(2_000, 1e-6))
    assert found.prediction(0.95) == pytest.approx((y.mean() - 1.96 * y.std(), y.mean() + 1.96 * y.std()), rel=2e-3)
    assert effects(y[:2], np.full(2, 1e-6)).prediction(0.95) is None


def test_quantities_side_by_side_are_as_alone() -> None:
    y, _ = drawn(UNEQUAL, 0.03, 12)
    use = (np.random.default_rng(2).random(y.shape) < 0.7).astype(float)
    use[:, 3] = 0.0
    use[0, 3] = 1.0
    together = fit_effects(y, np.repeat(UNEQUAL[:, None], 12, axis=1), use)
    for t in range(12):
        kept, one = use[:, t] > 0, together[t]
        if t == 3:
            assert one is None
            continue
        alone = effects(y[kept, t], UNEQUAL[kept])
        assert one is not None
        assert (one.mu, one.tau2, one.Q, one.df) == pytest.approx((alone.mu, alone.tau2, alone.Q, alone.df))
        assert one.weights == pytest.approx(alone.weights)
        assert one.prediction(0.9) == pytest.approx(alone.prediction(0.9))
