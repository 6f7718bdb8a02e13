"""Limits of terms are kept: combinations of one estimate have the numbers they have without, for fewer inversions."""

from __future__ import annotations

from collections import Counter
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.estimates.noisy_terms.interval_inversion import RatioInversion
from tacit.estimates.noisy_terms.sided_errors import reaches
from tacit.estimates.terms import KEPT, ColumnTerms
from tacit.estimates.verbs.contrasts import combine
from tacit.testing import simulate

SAME = 1e-12
"""Both ways work out the same arrays by the same steps: what differs is rounding, if anything."""


def drawn(seed: int, query: Any = None) -> Any:
    """An estimate of small groups of a number and an event; sizes, law and price follow from the seed."""
    rng = np.random.default_rng([2026, 11, 28, seed])
    groups = [f"g{i}" for i in range(int(rng.integers(2, 7)))]
    g = np.repeat(groups, rng.integers(4, 60, len(groups)))
    table = {"g": g, "x": rng.beta(1, 5, len(g)), "ok": rng.random(len(g)) < rng.uniform(0.05, 0.9)}
    schema = tc.Schema({"g": tc.Category(groups), "x": tc.Real(0, 1), "ok": tc.Boolean()})
    price = [{"epsilon": 1.0}, {"epsilon": 4.0}, {"rho": 0.5}, {"rho": 3.0}][seed % 4]
    query = query or tc.Mean("ok" if seed % 2 else "x", by="g")
    return simulate(query, table, schema, repeats=1, rng=seed, **price).release(0).estimate()


def numbers(estimate: Any, level: float) -> list[float]:
    """Limits and p-values of ratios, differences and odds ratios of the first group and each other one."""
    one, *others = estimate.terms
    shares, found = estimate.release.query.columns == ("ok",), list[float]()
    for at, other in enumerate(others, start=1):
        found += [*estimate.ratio(one, other).conf_int(level), estimate.ratio(one, other).p_value]
        weights = np.eye(len(estimate.terms))[[0]] - np.eye(len(estimate.terms))[[at]]
        found += combine(estimate, weights, ("d",), "difference").intervals(level)[0].tolist()
        if shares:
            found += [*estimate.odds_ratio(one, other).conf_int(level)]
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("seed", range(6))
def test_numbers_are_those_of_an_estimate_of_which_nothing_is_kept(seed: int, monkeypatch: pytest.MonkeyPatch) -> None:
    known = [numbers(drawn(seed), level) for level in (0.95, 0.8, 0.95)]
    monkeypatch.setattr(ColumnTerms, "limits", lambda self, level: self.inversion.interval(level))
    alone = [numbers(drawn(seed), level) for level in (0.95, 0.8)]
    for one, other in zip(known, (*alone, alone[0]), strict=True):
        assert one == pytest.approx(other, rel=SAME, abs=SAME, nan_ok=True)


def test_ratios_of_one_estimate_share_their_inversions(monkeypatch: pytest.MonkeyPatch) -> None:
    levels = Counter[tuple[float, float]]()
    plain = RatioInversion.interval

    def counted(self: RatioInversion, level: float) -> Any:
        levels[level, self.continuity] += 1
        return plain(self, level)

    monkeypatch.setattr(RatioInversion, "interval", counted)
    made = drawn(3)
    for other in made.terms[1:]:
        made.ratio(made.terms[0], other).conf_int()
    # lower limits of ratios without an upper end, and odds, ask for more levels: each once
    assert max(levels.values()) == 1
    # the terms' own limits, and as they reach within a sum, at the level and where a limit may be a bound
    assert {(0.95, 0.5), (0.95, 0.0)} <= set(levels)


def test_kept_limits_are_few_and_read_only() -> None:
    block = drawn(1).blocks[0]
    for level in np.linspace(0.5, 0.99, KEPT + 5):
        low, high = block.limits(float(level))
        assert (low <= high).all()
    assert len(block._known) == KEPT
    with pytest.raises(ValueError, match="read-only"):
        low[0] = 0.0


def test_reaches_of_shares_are_without_allowances_for_whole_rows() -> None:
    """A share's own limits are farther off by the allowance; the kept ones of sums are not those of the term."""
    block = drawn(1).blocks[0]
    own, within = block.limits(0.95), block.summed.limits(0.95)
    assert (own[0] <= within[0] + SAME).all()
    assert (own[1] >= within[1] - SAME).all()
    assert (own[1] - within[1]).max() > 1e-4
    lower, _ = reaches((block,), np.ones(len(block.value), dtype=bool), 0.95)
    assert np.isfinite(lower.stretch).all()
