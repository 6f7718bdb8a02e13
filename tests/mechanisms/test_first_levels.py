"""The first level of a category has no coordinate: how far its rows reach, and what follows where it is rare."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.method.regression.estimate import fit_release
from tacit.method.regression.row_sums import released_columns
from tacit.method.regression.row_sums.norm_scaling import standardised
from tacit.method.regression.row_sums.released_columns import RAREST, levels_of, read_columns, sizes
from tacit.privacy import Cost
from tacit.testing.simulated_regressions import RegressionRows, rows_of

LEVELS = ("first", "second", "third", "fourth")
SHARES = (0.02, 0.38, 0.3, 0.3)
N = 100_000


def made(order: tuple[str, ...] = LEVELS, rho: str = "0.3") -> RegressionRows:
    """Return rows of which 2% have one level; 3 in 10 of these, 15% of others, have responses in a long tail."""
    rng = np.random.default_rng(5)
    part, x = rng.choice(4, N, p=SHARES), rng.normal(0, 1, N).clip(-4, 4)
    late = rng.random(N) < np.where(part == 0, 0.3, 0.15)
    y = rng.normal(0, 10, N) + late * rng.exponential(np.where(part == 0, 150.0, 40.0)) + np.array([0, 0, 4, 8])[part]
    data: dict[str, Any] = {"x": x, "part": np.array(LEVELS)[part], "y": y.clip(-60, 300)}
    schema = tc.Schema({"x": tc.Real(-4, 4), "part": tc.Category(list(order)), "y": tc.Real(-60, 300)})
    return rows_of(tc.Regression("y ~ x + part"), data, schema, Cost.of(rho=rho))


@pytest.mark.parametrize("order", [LEVELS, LEVELS[::-1]], ids=["first", "last"])
def test_a_rare_level_has_room_wherever_it_is_listed(order: tuple[str, ...]) -> None:
    """At 2% a row is at the squared distance 49, more than counts; without noise to speak of."""
    rows = made(order)
    release = rows.release(np.random.default_rng(1))
    assert sizes(read_columns(release.parts[0], rows.layout, N, release.parts[1]), rows.layout)[1] == RAREST


def test_distances_are_those_of_shares() -> None:
    """Of four levels of the shares 1/5, 1/5, 1/5 and 2/5 the first is at 4; with x, as far again.

    The share is known to about .001: distances to .03; and it is taken to be larger by that noise.
    """
    rng = np.random.default_rng(2)
    part = rng.permutation(np.repeat(np.arange(4), [N // 5, N // 5, N // 5, 2 * N // 5]))
    data: dict[str, Any] = {"x": rng.normal(0, 1, N).clip(-4, 4), "part": np.array(LEVELS)[part], "y": np.zeros(N)}
    schema = tc.Schema({"x": tc.Real(-4, 4), "part": tc.Category(list(LEVELS)), "y": tc.Real(-10, 10)})
    rows = rows_of(tc.Regression("y ~ x * part"), data, schema, Cost.of(rho="10"))
    columns = read_columns(rows.release(np.random.default_rng(3)).parts[0], rows.layout, N)
    marked = [j - 1 for j, (_, marks) in enumerate(rows.layout.coordinates[:-1]) if marks]
    assert len(marked) == 6
    found = [columns.rare[j] for j in marked if not rows.layout.coordinates[j + 1][0]]
    # the fourth level is nearer than the first, which all of a group are told of
    assert found == pytest.approx([4, 4, 4], abs=0.1)
    assert all(columns.rare[j] >= 3.9 for j in marked)


@pytest.mark.parametrize("order", [LEVELS, LEVELS[::-1]], ids=["first", "last"])
def test_coefficients_are_the_table_s_own_but_for_noise(order: tuple[str, ...]) -> None:
    """Within 2.5 standard errors, which have sampling and clipping in them: noise alone makes about 0.3 of one.

    Where rows of the first level do not reach far enough, its coefficients are off by 5.7.  6 deviations of the noise
    about 0.4 standard errors: a false alarm in 10^8 releases.
    """
    rows = made(order)
    values = fit_release(rows.release(np.random.default_rng(4)))
    own = rows.ordinary()[0]
    assert (np.abs(values.values - own) < 2.5 * values.std_errors).all()


@pytest.mark.parametrize("order", [LEVELS, LEVELS[::-1]], ids=["first", "last"])
def test_levels_are_turned_to_axes_at_right_angles(order: tuple[str, ...]) -> None:
    """Of 100,000 rows, 2,000 of the rarest level, a product of two axes is known to .02: six of these.

    Standardised one by one, levels whose shares leave 2% are correlated by -.4 to -.6.
    """
    rows = made(order, rho="10")
    columns = read_columns(rows.release(np.random.default_rng(7)).parts[0], rows.layout, N)
    (group, shares), *others = levels_of(columns, rows.layout)
    assert not others
    assert float(shares.sum()) == pytest.approx(0.98 if order == LEVELS else 0.7, abs=0.01)
    clip = standardised(columns, rows.layout, 1e-3)
    vector = rows.z @ (np.array(clip.weights, dtype=float).T / clip.weights[0][0])[:, list(group)] / 1024
    assert vector.T @ vector / N == pytest.approx(np.eye(3), abs=0.12)


def test_releases_made_before_are_read_as_they_were(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = made()
    with monkeypatch.context() as before:
        before.setattr(released_columns, "_omitted", lambda columns, layout: np.ones(layout.size))
        release = rows.release(np.random.default_rng(6))
        told = fit_release(release)
    found = fit_release(release)
    assert found.values == pytest.approx(told.values, rel=1e-9)
    assert found.std_errors == pytest.approx(told.std_errors, rel=1e-9)
    assert sizes(read_columns(release.parts[0], rows.layout, N, release.parts[1]), rows.layout)[1] == 0
