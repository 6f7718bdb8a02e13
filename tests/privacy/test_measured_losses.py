"""What samples prove of ε, against the claim; all mechanisms, with more draws, are in `benchmarks/measured_losses.py`.

Each lower bound is wrong once in 5 million times; that a bound reaches its least part fails far more rarely.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from benchmark_script import script

SCRIPT = script("measured_losses")
QUICK = ("Warner", "one of five levels", "data set", "candidates")


@pytest.mark.parametrize(
    "case",
    [c if c.name in QUICK else pytest.param(c, marks=pytest.mark.long) for c in SCRIPT.CASES],
    ids=lambda c: c.name,
)
def test_no_more_is_lost_than_is_paid(case: Any) -> None:
    quick = case.name in QUICK
    # a third of the draws prove less
    held = replace(case, least=case.least / 2) if quick else case
    proven, good = SCRIPT.tried(held, 6_000 if quick else 20_000, 1)
    assert good, proven


@pytest.mark.parametrize("name", ["Warner", pytest.param("discrete Laplace, scale 1/3", marks=pytest.mark.long)])
def test_half_as_much_noise_is_found(name: str) -> None:
    (case,) = (one for one in SCRIPT.CASES if one.name == name)
    proven, _ = SCRIPT.tried(case, 8_000, 2)
    assert proven > case.epsilon
