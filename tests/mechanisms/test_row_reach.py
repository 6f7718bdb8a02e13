"""How far rows reach at a price, and what shortening takes from sums: against simulated rows of several laws."""

from __future__ import annotations

import math
from functools import lru_cache
from itertools import pairwise

import numpy as np
import pytest
from scipy import special

import tacit as tc
from tacit.method.regression.row_sums.noisy_norms import read_standardised, stored_axes, turned
from tacit.method.regression.row_sums.norm_encoding import MOST
from tacit.method.regression.row_sums.norm_scaling import ROOM_DOUBT, kept_of, room_of, whitened
from tacit.method.regression.row_sums.released_columns import read_columns, sizes
from tacit.method.regression.row_sums.row_reach import (
    HEAVIEST,
    HEAVY,
    ROOM,
    ROOMS,
    chosen_room,
    far,
    room_of_products,
    shortening,
    tail_factor,
)
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease
from tacit.testing.simulated_regressions import RegressionRows, rows_of

LAWS = {
    "normal": (lambda z: z, -4, 4),
    "rounded": (lambda z: np.rint(2 * z), -8, 8),
    "exponential": (lambda z: -np.log(special.ndtr(-z)), 0, 12),
    "lognormal": (np.exp, 0, 30),
}
"""Regressors as functions of standard normal numbers, and bounds that cut next to none of them."""


@pytest.mark.parametrize("room", [ROOMS[0], 1.0, ROOM])
@pytest.mark.parametrize(("common", "rare"), [(2, 0), (4, 0), (12, 0), (3, 20), (7, 2.5)])
def test_shortening_is_that_of_simulated_norms(common: int, rare: float, room: float) -> None:
    """200,000 norms: means of numbers whose deviation is below 1.5 times their mean are known to 0.35%; six of these.

    The sum over 1,024 quantiles in place of an integral is off by less than 0.2%.
    """
    square = 1 + np.random.default_rng(3).chisquare(common - 1, 200_000)
    w = np.minimum(1, far(common, rare, room) / np.sqrt(square))
    found = shortening(common, rare, room)
    assert found == pytest.approx([(w * square).mean() / common, (w**2 * square).mean() / common], rel=0.02)
    # both are of the same rows, and what noise there is in their ratio is smaller
    assert found[0] / found[1] == pytest.approx((w * square).sum() / (w**2 * square).sum(), rel=0.002)
    assert 0.85 < found[1] <= found[0] <= 1
    assert shortening(1, rare, room) == (1, 1)


def test_rooms_follow_noise_and_rows() -> None:
    noises, rows = [0.0, *np.geomspace(1e-3, 1e9, 60)], np.geomspace(1, 1e9, 40)
    for common, rare in ((2, 0), (4, 0), (12, 0), (3, 20), (40, 36)):
        for choose in (chosen_room, room_of_products):
            found = np.array([[choose(common, rare, noise, n) for n in rows] for noise in noises])
            assert set(found.ravel()) <= set(ROOMS)
            # more noise shortens reach, and more rows lengthen it
            assert (np.diff(found, axis=0) <= 0).all()
            assert (np.diff(found, axis=1) >= 0).all()
            assert (found[0] == ROOM).all()
            # rare levels reach far whatever the room: a little more of it then costs next to nothing
            assert (found[-1] == ROOMS[0]).all() or (rare and (found[-1] <= ROOMS[1]).all())
        # where nothing is shortened there is nothing to choose
        assert far(common, rare, ROOMS[0]) < far(common, rare, ROOM)
    # fewer rows than one are one
    assert chosen_room(4, 0, 1e-3, -5.0) == chosen_room(4, 0, 1e-3, 1.0)


def test_the_chosen_room_has_the_least_variance() -> None:
    """By simulated rows: the variance of a mean of psi v under noise, relative to that of whole rows."""
    rng, common = np.random.default_rng(4), 5
    square = 1 + rng.chisquare(common - 1, 200_000)
    for noise, n in ((2.0, 1_000), (20.0, 10_000), (20.0, 100_000), (1.0, 1_000_000)):
        variances = []
        for room in ROOMS:
            C = math.sqrt(common) + room
            w = np.minimum(1, C / np.sqrt(square))
            a, b = (w * square).mean() / common, (w**2 * square).mean() / common
            variances.append((b + (noise * C) ** 2 / (0.2 * n)) / a**2)
        mine = variances[ROOMS.index(chosen_room(common, 0, noise, n))]
        assert mine < 1.002 * min(variances)


def test_tail_factors() -> None:
    taus = np.linspace(-0.5, 1.5, 81)
    for longer in (0.0, ROOMS[0], 0.9, 1.7, ROOM, 5.0):
        found = [tail_factor(float(tau), longer, 0.0) for tau in taus]
        assert all(one <= other for one, other in pairwise(found))
        assert {one for tau, one in zip(taus, found, strict=True) if tau >= 1} == {1.0}
        assert found[0] == tail_factor(HEAVIEST, longer, 0.0) >= 1 - HEAVY * (1 - HEAVIEST)
    # at the least room, and shorter: whole; at ROOM both parts reach as far
    assert tail_factor(0.9, ROOMS[0], 0.0) == tail_factor(0.9, 0.1, 0.0) == pytest.approx(1 - HEAVY * 0.1)
    assert tail_factor(0.5, ROOM, 0.0) == 1
    # what noise may have done is no tail
    doubted = [tail_factor(0.8, ROOMS[0], doubt) for doubt in (0.0, 1.0, 1.5, 2.0, 3.0)]
    assert doubted == sorted(doubted)
    assert (doubted[0], doubted[-1]) == (doubted[1], 1.0)
    assert tail_factor(0.9, (ROOM + ROOMS[0]) / 2, 0.0) == pytest.approx(1 - HEAVY * 0.1 / 2)


Made = tuple[RegressionRows, SimulatedRelease]


@lru_cache
def regressed(laws: tuple[str, ...], pair: float, chain: float, epsilon: str) -> Made:
    """50,000 rows of these regressors, and their release without noise: its questions are those of the price."""
    rng, n = np.random.default_rng(5), 50_000
    z = rng.normal(0, 1, (n, len(laws)))
    for j in range(1, len(laws)):
        rho = chain or (pair if j % 2 else 0.0)
        z[:, j] = rho * z[:, j - 1] + math.sqrt(1 - rho**2) * z[:, j]
    columns: dict[str, tc.Real | tc.Boolean] = {"y": tc.Real(-12, 12)}
    data = {"y": 0.3 * z.sum(axis=1) + rng.normal(0, 1, n)}
    for j, law in enumerate(laws):
        if law.startswith("indicator"):
            columns[f"x{j}"], data[f"x{j}"] = tc.Boolean(), z[:, j] > float(law.split()[1])
            continue
        values, low, high = LAWS[law]
        columns[f"x{j}"], data[f"x{j}"] = tc.Real(low, high), np.clip(values(z[:, j]), low, high)
    query = tc.Regression("y ~ " + " + ".join(f"x{j}" for j in range(len(laws))))
    rows = rows_of(query, data, tc.Schema(columns), Cost.of(epsilon=epsilon))
    return rows, rows.expected(n)


@pytest.mark.parametrize(
    "laws",
    [
        ("normal",),
        ("normal", "lognormal", "indicator 0"),
        ("normal", "indicator 1.6"),
        ("indicator 2.5", "indicator 0.3", "indicator -1.7", "rounded"),
    ],
)
def test_the_room_of_a_vector_is_found_in_its_weights(laws: tuple[str, ...]) -> None:
    rows, release = regressed(laws, 0.5, 0.0, "1")
    layout, m = rows.layout, rows.layout.size
    columns = read_columns(release.parts[0], layout, rows.size)
    products, turn = read_standardised(release.parts[1], layout)
    rare = sizes(columns, layout)[1]
    # an indicator counts as rare from 1 row in 5 on
    assert (rare > 0) == any(law in ("indicator 1.6", "indicator 2.5", "indicator -1.7") for law in laws)
    for room in (*ROOMS, 0.1, 3.7):
        made = turned(stored_axes(whitened(columns, layout, products, turn, room)), m)
        assert room_of(columns, layout, products, turn, made) == pytest.approx(room, abs=ROOM_DOUBT)


@pytest.mark.parametrize(
    ("many", "pair", "chain"), [(1, 0.0, 0.0), (4, 0.8, 0.0), (4, 0.0, 0.7)], ids=["alone", "pairs", "chain"]
)
@pytest.mark.parametrize("law", LAWS)
def test_what_shortening_takes_is_given_back(law: str, many: int, pair: float, chain: float) -> None:
    """At a room of 0.5, in every direction, relative to the matrix that the fit uses.

    Corrected sums of psi v tell 0.85 to 1.2 times what that matrix takes them to, and corrected sums of w**2 v v' 0.75
    to 1.25 times.  Without correction the former tell less, by a tenth to a quarter in the direction that loses most.
    """
    rows, release = regressed((law,) * many, pair, chain, "0.4")
    layout, m = rows.layout, rows.layout.size
    columns = read_columns(release.parts[0], layout, rows.size)
    products, turn = read_standardised(release.parts[1], layout)
    made = turned(stored_axes(whitened(columns, layout, products, turn, ROOMS[0])), m)
    assert room_of(columns, layout, products, turn, made) == pytest.approx(ROOMS[0], abs=0.01)
    kept = kept_of(columns, layout, products, turn, made)
    v = rows.z[:, :m] / 1024 @ made.T / MOST
    w = np.minimum(1, 1 / np.linalg.norm(v, axis=1))[:, None]
    # sums of psi v of an error that is linear in v, and of sizes
    scores, whole = (w * v).T @ v / len(v), (w * v).T @ (w * v) / len(v)
    crossed = products.of_rows(columns.rows).transformed(np.linalg.inv(turn)).values[:m, :m]
    used = made @ crossed @ made.T / MOST**2 / len(v)
    given, sums = kept.scores @ scores, kept.products @ whole @ kept.products.T
    for found, low, high in ((given, 0.85, 1.2), (sums, 0.75, 1.25)):
        relative = np.linalg.eigvals(np.linalg.solve(used, found)).real
        assert low < relative.min()
        assert relative.max() < high
    least, lost = (np.linalg.eigvals(np.linalg.solve(used, one)).real.min() for one in (given, scores))
    assert 0.7 < lost < 0.97 * least
