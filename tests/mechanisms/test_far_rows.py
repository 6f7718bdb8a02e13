"""Rows further out than vectors reach: how much of a column they are, what they do to slopes, how far rows reach."""

from __future__ import annotations

import math

import numpy as np
import pytest

from tacit.method.regression.bounded_scores.count_links import CountLink
from tacit.method.regression.bounded_scores.normal_regressors import Regressors
from tacit.method.regression.pilots.far_rows import BENT, FarRows, room_with_far_rows, shift_along
from tacit.method.regression.row_sums.long_tails import TAILS, USUAL, LongTail, kept_shares, tail_of
from tacit.method.regression.row_sums.released_columns import Columns
from tacit.method.regression.row_sums.row_reach import LONGER, ROOMS, chosen_room, far

N = 200_000


class TailThatLoses(LongTail):
    """A tail of which it is known how much is lost."""

    def __init__(self, part: float) -> None:
        object.__setattr__(self, "weights", np.array([part]))

    def lost(self, norm: float, reach: float) -> float:
        return float(self.weights[0])


LAWS = {
    "exponential": lambda rng: rng.exponential(1, N),
    "gamma(1/2)": lambda rng: rng.gamma(0.5, 1, N),
    "lognormal(1)": lambda rng: np.exp(np.clip(rng.normal(0, 1, N), -3.5, 3.5)),
    "t(5)": lambda rng: np.clip(rng.standard_t(5, N), -12, 12),
    "normal": lambda rng: rng.normal(0, 1, N),
    "uniform": lambda rng: rng.uniform(0, 1, N),
}


def columns(rows: float) -> Columns:
    """Return columns of which their number of rows is known."""
    return Columns(rows, np.zeros(3), np.ones(3), np.ones(3), np.zeros(3), 0.0, 0.0)


def vectors(law: str, others: int) -> np.ndarray:
    """Return rows of the constant, a regressor of this law and variance 1, and normal ones, the response the last."""
    rng = np.random.default_rng(7)
    x = LAWS[law](rng)
    x = (x - x.mean()) / x.std()
    y = 0.5 * x + math.sqrt(0.75) * rng.normal(0, 1, N)
    return np.column_stack([np.ones(N), x, rng.normal(0, 1, (N, others)), y])


def within(rows: np.ndarray, reach: float) -> np.ndarray:
    return np.minimum(1, reach / np.linalg.norm(rows, axis=1))


@pytest.mark.parametrize("others", [0, 1, 4])
@pytest.mark.parametrize("law", LAWS)
def test_what_scores_lose_is_told_by_what_products_find(law: str, others: int) -> None:
    """To within .06 of the variance, of laws that are no lognormal ones; means of 200,000 rows are known to .01."""
    rows = vectors(law, others)
    common = 2 + others
    for room in (0.5, 2.0):
        reach = math.sqrt(common + 1) + room
        w = within(rows, reach)
        tau = (w**2 * rows[:, 1] ** 2).mean() / (w**2).mean()
        tail = tail_of(tau, 0.0, common + 1, reach)
        assert tail.found(common + 1, reach) == pytest.approx(tau, abs=0.04)
        for other in (0.5, 2.0, 4.0):
            if law == "uniform" and other < room:
                continue  # products that reach further do not tell how short a tail is
            at = math.sqrt(common) + other
            lost = 1 - (within(rows[:, :-1], at) * rows[:, 1] ** 2).mean()
            assert tail.lost(common, at) == pytest.approx(lost, abs=0.06)
            assert float(tail.weights @ kept_shares(common, at)) == pytest.approx(1 - tail.lost(common, at), abs=0.02)


def test_noise_leaves_the_prior() -> None:
    known, hidden = (tail_of(0.6, noise, 4, 4.0) for noise in (0.01, 1e6))
    prior = np.exp(-np.maximum(TAILS, 0) / USUAL)
    assert hidden.weights == pytest.approx(prior / prior.sum(), rel=1e-6)
    assert known.lost(3, 3.7) > 1.5 * hidden.lost(3, 3.7)
    # longer reach loses less, whatever is known
    for tail in (known, hidden):
        lost = [tail.lost(3, math.sqrt(3) + room) for room in (*ROOMS, *LONGER)]
        assert lost == sorted(lost, reverse=True)


@pytest.mark.parametrize("rho", [0.0, 0.7])
def test_shifts_are_those_of_a_mean_that_bends_where_rows_are_shortened(rho: float) -> None:
    """The slope of x differs in proportion to what is lost of a row: the model of theta holds exactly then."""
    rng = np.random.default_rng(11)
    x = rng.exponential(1, N) - 1
    z = rho * x + math.sqrt(1 - rho**2) * rng.normal(0, 1, N)
    rows = np.column_stack([np.ones(N), x, z])
    second = rows.T @ rows / N
    reach = math.sqrt(3) + 0.5
    w = within(np.linalg.solve(np.linalg.cholesky(second), rows.T).T, reach)
    # normal equations of whole rows: those kept with the slopes b, those lost with (1 - theta) of that of x
    b, theta = np.array([0.3, 1.0, -0.5]), 0.5
    kept = (rows * w[:, None]).T @ rows / N
    changed = b * np.array([1.0, 1 - theta, 1.0])
    whole = np.linalg.solve(second, kept @ b + (second - kept) @ changed)
    lost = 1 - np.diag(kept) / np.diag(second)
    made = FarRows((None, TailThatLoses(lost[1]), TailThatLoses(lost[2])), second, (3, 0.0))
    predicted = theta * made.shifts(reach, b)[:, 1]
    # where regressors go together it depends on which of them has the tail: the model is between the cases
    assert (b - whole)[1] == pytest.approx(predicted[1], rel=0.2 if rho else 0.01)
    assert (b - whole)[2] == pytest.approx(predicted[2], abs=0.35 * abs(predicted[1]) if rho else 0.001)


def test_levels_and_the_constant_have_no_rows_further_out() -> None:
    second = np.array([[1.0, 0.0, 0.0], [0.0, 1.0, 0.6], [0.0, 0.6, 1.0]])
    made = FarRows((None, TailThatLoses(0.36), None), second, (3, 0.0))
    shifts = made.shifts(3.0, np.array([2.0, 1.0, 5.0]))
    assert not shifts[:, [0, 2]].any()
    # S^-1 (S - D S D) e of the regressor, by hand: D is .8 for it and 1 for the levels
    assert shifts[:, 1] == pytest.approx([0.0, (0.36 - 0.6 * 0.12) / 0.64, (0.12 - 0.6 * 0.36) / 0.64])
    assert not made.shifts(3.0, np.zeros(3)).any()


def test_reach_follows_tails_and_slopes() -> None:
    heavy = FarRows((None, tail_of(0.6, 0.01, 4, 4.0), None), np.eye(3), (3, 0.0))
    light = FarRows((None, tail_of(1.0, 0.01, 4, 4.0), None), np.eye(3), (3, 0.0))
    levels = FarRows((None, None, None), np.eye(3), (3, 0.0))
    strong, none = np.array([0.0, 0.6, 0.2]), np.zeros(3)
    for noise, rows in ((0.5, 1e3), (3.0, 1e4), (3.0, 1e5)):
        room = chosen_room(3, 0, noise, rows)
        found = {
            name: room_with_far_rows(known, slopes, 0.6, room, noise, columns(rows), 8.0)
            for name, known, slopes in (
                ("heavy", heavy, strong),
                ("light", light, strong),
                ("flat", heavy, none),
                ("levels", levels, strong),
            )
        }
        assert set(found.values()) <= {*ROOMS, *LONGER}
        assert found["heavy"] >= found["light"] >= room
        assert found["heavy"] >= found["flat"]
        # what does not vary cannot bend
        assert found["levels"] == room_with_far_rows(levels, none, 0.6, room, noise, columns(rows), 8.0)
    # where noise is next to nothing all are as long as any
    assert room_with_far_rows(heavy, strong, 0.6, 2.0, 1e-6, columns(1e6), 8.0) == LONGER[-1]
    assert far(3, 0.0, LONGER[-1]) < 2 * far(3, 0.0, 2.5)


def test_scores_that_weigh_large_predictors_less_move_slopes_towards_the_others() -> None:
    found = Regressors(1e4, np.array([1.0, 0.0]), np.diag([0.0, 1.0]), np.array([1.0, 0.0]), 1.5)
    b = np.array([0.2, 0.4])
    whole = shift_along(CountLink(0, 100, full=5.0), found, b)
    less = shift_along(CountLink(0, 100, full=0.5), found, b)
    assert np.abs(whole).max() < 1e-3
    # the level is not moved but by slopes, which lose at most all
    assert less[0] == pytest.approx(0.0, abs=1e-12)
    assert 0.05 * BENT * b[1] < less[1] < BENT * b[1]


def test_bounds_leave_no_room_for_long_tails() -> None:
    hidden = [tail_of(1.0, 1e6, 4, 4.0, most).lost(3, math.sqrt(3) + 0.5) for most in (math.inf, 6.0, 3.0, 1.8)]
    assert hidden == sorted(hidden, reverse=True)
    assert len(set(hidden)) == 4
    # of a uniform regressor, and of normal ones, nothing is beyond a long reach
    assert tail_of(1.0, 1e6, 4, 4.0, 3.0).lost(3, 6.0) < 1e-3
    # at least one law is left
    assert tail_of(0.5, 0.01, 4, 4.0, 0.5).weights.sum() == pytest.approx(1)
