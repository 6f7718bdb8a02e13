"""Numbers of rows far along axes: read as they are, telling of tails; releases of before are read without them."""

from __future__ import annotations

import json
import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import tacit as tc
from tacit.method.regression.estimate import fit_release, layout_of
from tacit.method.regression.estimate_coefficients.errors_of_far_rows import known_far_rows, reached
from tacit.method.regression.pilots.far_rows import CountedFarRows
from tacit.method.regression.row_sums.counted_tails import AxisEvidence, CountedTail
from tacit.method.regression.row_sums.long_tails import TAILS, LongTail
from tacit.method.regression.row_sums.noisy_norms import read_far_along, turned
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.simulated import SimulatedRelease
from tacit.rows.coordinates import H
from tacit.testing.simulated_regressions import RegressionRows, rows_of

FORMER = Path(__file__).parents[1] / "documents" / "regressions_without_axes.jsonl"
NORMAL, PURE = Cost.of(rho="0.5"), Cost.of(epsilon=8)
SCHEMA = tc.Schema({"y": tc.Real(-30, 30), "a": tc.Real(-10, 10), "b": tc.Real(-60, 60)})


def made(cost: Cost, n: int = 20_000) -> RegressionRows:
    """A normal regressor and one with a Pareto tail, both in wide bounds."""
    rng = np.random.default_rng(3)
    a, b = rng.normal(0, 1, n), np.minimum(rng.pareto(2.5, n), 60)
    data = {"y": a + 0.5 * np.minimum(b, 3) + rng.normal(0, 1, n), "a": a, "b": b}
    return rows_of(tc.Regression("y ~ a + b"), data, SCHEMA, cost)


def without_axes(release: SimulatedRelease, m: int) -> SimulatedRelease:
    """The release as the form of before has it, of the same noise."""
    last = release.parts[-1]
    former = {"norm-scores-5": "norm-scores-4", "residual-matrices-4": "residual-matrices-3"}[last.form]
    at = 3 + m * (last.form == "norm-scores-5")
    one = last.integers[0]
    last = replace(last, form=former, integers=((*one[:at], *one[at + m :]),))
    return replace(release, parts=(*release.parts[:-1], last))


def test_releases_of_before_are_read_as_they_were() -> None:
    """Normal and pure prices, both relations: with estimates and errors of the version that made them."""
    lines = FORMER.read_text(encoding="utf-8").splitlines()
    assert len(lines) == 4
    forms = set[str]()
    for line in lines:
        kept = json.loads(line)
        release = release_from_dict(kept["release"])
        forms |= {part.form for part in release.parts}
        for linear in (False, True):
            found, told = release.estimate(linear=linear), kept["estimates"]["linear" if linear else "bent"]
            assert list(found.values) == pytest.approx(told["values"], rel=1e-9)
            assert list(found.std_errors) == pytest.approx(told["std_errors"], rel=1e-9)
    assert {"norm-scores-4", "residual-matrices-3"} < forms


@pytest.mark.parametrize("cost", [NORMAL, PURE], ids=["normal", "pure"])
def test_rows_far_along_each_axis_are_counted(cost: Cost) -> None:
    """Without noise they are those of vectors as released."""
    rows = made(cost)
    release, m = rows.expected(rows.size), rows.layout.size
    vectors = release.parts[2].parameters
    found = read_far_along(release.parts[-1], m)
    assert found is not None
    v = rows.z[:, :m] / H @ turned(vectors, m).T / H
    v *= np.minimum(1, 1 / np.linalg.norm(v, axis=1))[:, None]
    counted = (v**2 > 0.5).sum(axis=0)
    # rows within rounding of the edge
    near = (np.abs(v**2 - 0.5) < 0.01).sum(axis=0)
    assert (np.abs(found.values - counted) <= near).all()
    assert found.values[2] > 10
    law = release.parts[-1].law
    assert found.noise == pytest.approx(math.sqrt(law.variance()) / release.parts[-1].parameters["far"])


@pytest.mark.parametrize("cost", [NORMAL, PURE], ids=["normal", "pure"])
def test_counts_move_errors_alone(cost: Cost) -> None:
    """Of the same release, read with them and without: coefficients are alike, and so is what has no far rows."""
    rows = made(cost)
    release = rows.expected(rows.size)
    former = without_axes(release, rows.layout.size)
    for linear in (False, True):
        now, before = (fit_release(one, linear=linear) for one in (release, former))
        assert now.values == pytest.approx(before.values, rel=1e-9)
        if linear:
            assert now.std_errors == pytest.approx(before.std_errors, rel=1e-9)
    tails = []
    for one in (release, former):
        layout = layout_of(one)
        tails.append(known_far_rows(one, layout, reached(one, layout)).tails)
    assert [type(one) for one in tails[0]] == [type(None), CountedTail, CountedTail]
    assert [type(one) for one in tails[1]] == [type(None), LongTail, LongTail]


def test_counts_tell_a_long_tail_from_none() -> None:
    """In bounds that hide the variance of both: what is lost is nearer to that of the very rows than before."""
    rows = made(Cost.of(rho="0.05"))
    release = rows.expected(rows.size)
    layout, m = layout_of(release), rows.layout.size
    at = reached(release, layout)
    v = rows.z[:, :m] / H @ turned(release.parts[-1].parameters, m).T / H
    w = np.minimum(1, 1 / np.linalg.norm(v, axis=1))
    x = rows.z[:, :m] - rows.z[:, :m].mean(axis=0)
    true = 1 - (w[:, None] * x**2).sum(axis=0)[1:] / (x**2).sum(axis=0)[1:]
    counted, guessed = (
        known_far_rows(one, layout, at).lost(at.reach)[1:] for one in (release, without_axes(release, m))
    )
    # the Pareto regressor has lost a good part, the normal one next to none
    assert true[1] > 10 * true[0]
    assert (np.abs(counted - true) < np.abs(guessed - true)).all()


class AxisThatLoses(CountedTail):
    """An axis of which it is known how much is lost."""

    def __init__(self, part: float) -> None:
        object.__setattr__(self, "weights", np.array([part]))

    def lost(self, norm: float, reach: float) -> float:
        return float(self.weights[0])


def test_what_axes_lose_moves_slopes_of_regressors_alone() -> None:
    """By hand: a regressor, and a level that goes with it and comes after it."""
    axes = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.6, 0.8]])
    made = CountedFarRows((None, AxisThatLoses(0.36), None), axes, (3, 0.0))
    shifts = made.shifts(3.0, np.array([2.0, 1.0, 5.0]))
    # S^-1 (S - S_w) e of the regressor
    assert shifts[:, 1] == pytest.approx([0.0, 0.36, 0.0])
    assert not shifts[:, [0, 2]].any()
    # .6**2 of the other's variance is along the regressor's axis
    assert made.lost(3.0) == pytest.approx([0.0, 0.36, 0.36 * 0.36])
    # another regressor in its place is moved, too: its slope bends as its part along the axis does
    both = CountedFarRows((None, AxisThatLoses(0.36), AxisThatLoses(0.0)), axes, (3, 0.0))
    assert both.shifts(3.0, np.array([2.0, 1.0, 5.0]))[:, 2] == pytest.approx([0.0, 5 * 0.6 * 0.36, 0.0])


def told(share: float, *, found: float = 0.9, hidden: bool = True, most: float = 40.0) -> CountedTail:
    doubt = 2.0 if hidden else 0.05
    return AxisEvidence(found, 0.02, doubt, hidden, most, (3.0, 2.0), (4.2, 3.4), share, 1e-3, 1e4).tail()


def test_what_is_lost_grows_with_the_count() -> None:
    for hidden in (False, True):
        lost = [told(share, hidden=hidden).lost(4, 3.4) for share in (0.0, 0.005, 0.02, 0.05)]
        assert lost == sorted(lost)
        assert lost[-1] > 5 * lost[0]


def test_the_same_laws_at_any_scale_and_within_bounds() -> None:
    """A scale is that at which products find what they found; bounds leave no room for long tails."""
    for found in (0.05, 0.3, 0.9):
        one = told(0.02, found=found)
        assert one.weights.sum() == pytest.approx(1)
        assert one.scale() >= 1
        assert one.lost(4, 60.0) < one.lost(4, 3.4)
    narrow = told(0.05, most=1.8)
    assert float(narrow.weights[TAILS > 1] @ np.ones((TAILS > 1).sum())) < 1e-6
    assert narrow.lost(4, 3.4) < told(0.05).lost(4, 3.4)
