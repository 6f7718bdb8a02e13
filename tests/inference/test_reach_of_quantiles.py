"""How far from a quantile the ends of its interval are selected, against simulated ranks.  All is seeded."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import mechanism as quantiles
from tacit.method.quantiles.design import reach, split
from tacit.method.quantiles.estimate import estimate, few_rows_warning
from tacit.method.shared.measurement import PartSpec, Public
from tacit.noise.selection_law import utility_gap
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease

SCHEMA = tc.Schema({"x": tc.Real(0, 100, missing=0)})


def chosen(prob: Any, rows: int | None, level: float = 0.95, **price: Any) -> tuple[PartSpec, PartSpec | None]:
    relation: Any = "add-remove" if rows is None else "replace-one"
    query = tc.Quantiles("x", [prob], level=level)
    (one,), sizes = split(quantiles_design.design(query, Public(SCHEMA, relation, rows), Cost.of(**price)))
    return one, sizes


@pytest.mark.parametrize(("prob", "level"), [(0.25, 0.95), (0.9, 0.9), (0.5, 0.8)])
def test_noisy_sizes_move_ranks(prob: float, level: float) -> None:
    """The rank of the quantile among N rows is binomial, that which is aimed at p times the noisy N.

    At a price at which selection hardly errs, `level` of 100,000 differences are within the reach, less the scale that
    is added to it: 5 standard errors of a share, the ranks on the edge (a reach is rounded up), and no more.
    """
    n, repeats = 400, 100_000
    column, _ = chosen(prob, None, level, rho=1000)
    rng, noise = np.random.default_rng(1), 25.0
    rank = rng.binomial(n, prob, repeats)
    aimed = prob * (n + noise * rng.standard_normal(repeats))
    far = reach(column, n, noise**2, level)
    share = np.mean(np.abs(rank - aimed) <= far)
    edge = 2 * 1.5 * np.exp(-0.5 * 1.2816**2) / math.sqrt(2 * math.pi * (n * prob * (1 - prob) + (prob * noise) ** 2))
    slack = 5 * math.sqrt(level * (1 - level) / repeats)
    assert level - slack <= share <= level + slack + edge


def test_a_reach_has_the_errors_of_sampling_and_selection() -> None:
    """By hand: z sqrt(N p (1 - p)) and the Laplace point of a scale, in quadrature, and one scale more."""
    column, sizes = chosen("1/4", 1_000, epsilon="0.3")
    scale = float(column.law.scale) / 4
    by_hand = math.hypot(1.959964 * math.sqrt(1_000 * 3 / 16), math.log(20) * scale) + scale
    assert sizes is None
    assert scale > 5
    assert reach(column, 1_000, 0.0, 0.95) == math.ceil(by_hand)


@pytest.mark.parametrize("prob", ["1/10", "9/10"])
def test_few_rows_on_the_shorter_side_are_told(prob: str) -> None:
    """Rows beyond the quantile on its shorter side, here a tenth, must outweigh all empty steps together."""
    column, _ = chosen(prob, 1_000, epsilon=1)
    part = column.released(((0, 0, 0),))
    facts = column.form.parameters
    scale = float(column.law.scale) / 10
    needed = utility_gap(scale, facts["G"] + 1, 0.05) / 0.1
    assert few_rows_warning(part, 1.01 * needed, 0.95) is None
    assert "few for this price" in (few_rows_warning(part, 0.99 * needed, 0.95) or "")


def test_released_sizes_bring_their_noise_to_the_reach() -> None:
    """Of private sizes: steps selected at p N - c and p N + c, c with the variance of the noise in N."""
    relation: Any = "add-remove"
    query = tc.Quantiles("x", [0.75])
    shape = quantiles_design.design(query, Public(SCHEMA, relation, None), Cost.of(rho="0.0005"))
    (column,), sizes = split(shape)
    assert sizes is not None
    asked: list[int] = []

    def draw(runs: Any, law: Any) -> int:
        best = int(np.argmax(runs.utility))
        asked.append(runs.first[best])
        return runs.first[best]

    rows = dict.fromkeys(range(2000), 1)
    quantiles.released(shape, (rows,), draw, lambda cells, law: cells)
    far = reach(column, 2000, sizes.law.variance(), 0.95)
    assert np.diff(asked) == pytest.approx([far, far], abs=2)
    assert far > reach(column, 2000, 0.0, 0.95) + 10


def test_an_interval_ends_half_a_step_beyond_its_steps() -> None:
    """A selected step stands for the values that are rounded to it."""
    column, _ = chosen(0.5, 1_000, epsilon=1)
    part = column.released(((1000, 1100, 1200),))
    query = tc.Quantiles("x", [0.5])
    release = SimulatedRelease(query, "simulated", "replace-one", 1_000, (), (part,), column.cost)
    found, h = estimate(release), 100 / column.form.parameters["G"]
    assert found.values == pytest.approx([1100 * h])
    assert found.limits[0] == pytest.approx([999.5 * h, 1200.5 * h])
