"""Noise of whole releases by seeded words, for tests that count how often intervals of many releases cover.

The samplers are those of any release; only the operating system's generator is replaced, so that a test whose limits
independent releases leave now and then gives the same result in every run.
"""

from __future__ import annotations

import numpy as np
import pytest

from tacit.noise import exact


def seed_noise(monkeypatch: pytest.MonkeyPatch, seed: int = 20) -> None:
    """Let integers of additive noise be drawn from words of this seed, for the rest of a test."""
    rng = np.random.default_rng(seed)
    monkeypatch.setattr(exact, "system_words", lambda count: rng.integers(0, 2**64, count, dtype=np.uint64))
