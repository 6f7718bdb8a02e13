"""How far from a quantile the ends of its interval are selected, against simulated ranks.  All is seeded."""

from __future__ import annotations

import math
from dataclasses import replace
from itertools import pairwise
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import mechanism as quantiles
from tacit.method.quantiles.design import reach, split
from tacit.method.quantiles.estimate import estimate, few_rows_warning
from tacit.method.quantiles.rank_errors import beyond, offset
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


@pytest.mark.parametrize(
    ("p", "level", "size", "scale"), [(0.25, 0.95, 400, 0.01), (0.9, 0.9, 40_000, 40.0), (0.5, 0.8, 400_000, 300.0)]
)
def test_a_reach_covers_at_its_level(p: float, level: float, size: int, scale: float) -> None:
    """The rank of the quantile among N rows is binomial, the error of a selection Laplace: each end errs half as often.

    Ten times 100,000 ranks are within both ends with probability `level`, the ranks on the edge aside (a reach is
    rounded up); a tolerance of 5 standard errors of a share.
    """
    repeats = 1_000_000
    rng = np.random.default_rng(1)
    rank = rng.binomial(size, p, repeats)
    far = offset(p, size, scale, level)
    low, high = (p * size + rung * far + rng.laplace(0, scale, repeats) for rung in (-1, 1))
    slack = 5 * math.sqrt(level * (1 - level) / repeats)
    deviation = math.hypot(math.sqrt(size * p * (1 - p)), 1.4 * scale)
    for missed in (np.mean(rank > high), np.mean(rank < low)):
        assert (1 - level) / 2 - slack - 1.5 * 0.4 / deviation <= missed <= (1 - level) / 2 + slack + 0.4 / deviation


@pytest.mark.parametrize(("deviation", "scale"), [(1.0, 0.001), (1.0, 0.4), (1.0, 3.0), (0.001, 1.0)])
def test_the_tail_of_a_normal_and_a_laplace_error(deviation: float, scale: float) -> None:
    """Against numerical integration of the Laplace density times the normal tail, to 1e-5 of the probability."""
    from scipy import integrate, special

    for x in (0.0, 0.5, 2.0, 5.0, 12.0):

        def at(y: float, x: float = x) -> float:
            return float(special.ndtr((y - x) / deviation) * np.exp(-abs(y) / scale) / (2 * scale))

        ends = sorted({-40 * scale, 0.0, x - 8 * deviation, x, x + 8 * deviation, x + 8 * deviation + 40 * scale})
        exact = sum(integrate.quad(at, *pair, epsabs=0, epsrel=1e-9)[0] for pair in pairwise(ends))
        if exact > 1e-12:
            assert beyond(x, deviation, scale) == pytest.approx(exact, rel=2e-5)


def test_a_reach_has_the_errors_of_sampling_and_selection() -> None:
    """Between the larger of the normal and the Laplace point and their sum; nothing of the noise of a released N."""
    column, sizes = chosen("1/4", 100_000, epsilon="0.3")
    scale = float(column.law.scale) / 4
    normal, laplace = 1.959964 * math.sqrt(100_000 * 3 / 16), math.log(20) * scale
    assert sizes is None
    assert scale > 5
    assert math.hypot(normal, laplace) * 0.97 < reach(column, 100_000, 0.95) < math.hypot(normal, laplace) * 1.03


def test_ends_near_the_last_rows_are_selected_further_out() -> None:
    """One scale more where the quantile is 24 scales from the nearer end of the rows, a quarter at twice that."""
    for size, more in zip((100, 480, 960), (20.0, 10.0, 2.5), strict=True):
        plain = next(c for c in range(200) if beyond(c, math.sqrt(size / 4), 10.0) <= 0.025)
        assert offset(0.5, size, 10.0, 0.95) == pytest.approx(plain + more, abs=1)


@pytest.mark.parametrize("prob", ["1/10", "9/10"])
def test_few_rows_on_the_shorter_side_are_told(prob: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows beyond the quantile on its shorter side, here a tenth, must outweigh all empty steps together."""
    monkeypatch.setattr(quantiles_design, "cuts_plan", lambda *_, **__: None)  # what is taken where they do not
    column, _ = chosen(prob, 1_000, epsilon=1)
    part = column.released(((0, 0, 0),))
    scale = float(column.law.scale) / 10
    # of three steps selected together two may lie anywhere, once one does
    assert column.form.name == "joint-4"
    needed = utility_gap(scale, (quantiles_design.LEAST_STEPS + 1) ** 2, 0.05) / 0.1
    assert few_rows_warning(part, 1.01 * needed, 0.95) is None
    assert "few for this price" in (few_rows_warning(part, 0.99 * needed, 0.95) or "")
    alone, _ = chosen(prob, 1_000, rho="0.0001")
    assert alone.form.name == "ranks-2"
    needed = utility_gap(float(alone.law.scale) / 10, quantiles_design.LEAST_STEPS + 1, 0.05) / 0.1
    assert few_rows_warning(alone.released(((0, 0, 0),)), 1.01 * needed, 0.95) is None
    assert "few for this price" in (few_rows_warning(alone.released(((0, 0, 0),)), 0.99 * needed, 0.95) or "")


def test_selections_aim_at_the_exact_size() -> None:
    """Of private sizes: steps selected at p N - c and p N + c of the exact N, c of the noisy N alone."""
    relation: Any = "add-remove"
    query = tc.Quantiles("x", [0.75])
    shape = quantiles_design.design(query, Public(SCHEMA, relation, None), Cost.of(rho="0.005"))
    (column,), sizes = split(shape)
    assert sizes is not None
    asked: list[int] = []

    def draw(runs: Any, law: Any) -> tuple[int, int, int]:
        asked.extend(runs.chosen(int(np.argmax(runs.utility)), 0))
        return 0, 0, 0

    rows = dict.fromkeys(range(2000), 1)
    quantiles.released(shape, (rows,), draw, lambda cells, law: tuple((n + 60_000,) for (n,) in cells))
    far = reach(column, 62_000, 0.95)
    assert asked == pytest.approx([1500 - far, 1500, 1500 + far], abs=2)
    assert abs(far - reach(column, 2_000, 0.95)) > 5


def test_an_interval_ends_half_a_step_beyond_its_steps() -> None:
    """A selected step stands for the values that are rounded to it."""
    column, _ = chosen(0.5, 1_000, epsilon=1)
    part = column.released(((1000, 1100, 1200),))
    query = tc.Quantiles("x", [0.5])
    release = SimulatedRelease(query, "simulated", "replace-one", 1_000, (), (part,), column.cost)
    found, h = estimate(release), 100 / column.form.parameters["G"]
    assert found.values == pytest.approx([1100 * h])
    assert found.limits[0] == pytest.approx([999.5 * h, 1200.5 * h])


@pytest.mark.parametrize("query", [tc.Quantiles("x", [0.5]), tc.Range("x")])
def test_few_persons_are_called_persons(query: Any) -> None:
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "x": tc.Real(0, 100)})
    table = {"who": ["a", "b", "c", "c"], "x": [1.0, 2.0, 3.0, 4.0]}
    for columns, counted in ((schema, "persons"), ({"x": schema["x"]}, "rows")):
        one = {name: table[name] for name in columns}
        release = tc.Curator(one, tc.Schema(columns), budget=tc.Budget(epsilon=1)).release(query, epsilon=0.1)
        # the noise of the number could make it large
        *chosen, size = release.parts
        object.__setattr__(release, "parts", (*chosen, replace(size, integers=((0,),))))
        made = release.estimate()
        (reason,) = made.reasons if isinstance(query, tc.Quantiles) else (made.reason,)
        assert f"0 {counted} are few for this price" in (reason or "")
