"""Joint densities of histograms: shares that add up, limits of each cell and of all, margins, samples, refusals."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.histogram.estimate_densities import density, projected
from tacit.method.histogram.estimate_joint_bins import joint_density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.testing.simulate import add_noise, exact_integers, shaped

LEVEL = 1e-6
"""False-alarm rate of each comparison."""
SCHEMA = tc.Schema(
    {
        "a": tc.Real(0, 1, missing=0.0),
        "y": tc.Real(0, 2, missing=0.0, units="kg"),
        "k": tc.Integer(1, 6, missing=1),
        "day": tc.Date("2024-01-01", "2024-12-31"),
        "sex": tc.Category(["f", "m"]),
    }
)
BINS: dict[str, Any] = {"a": [0, 0.2, 0.5, 1], "y": 3, "k": 6, "day": 4}
CHANCES = np.outer([0.5, 0.3, 0.2], [0.05, 0.15, 0.8])
"""Of a and y, in their bins."""


def rows(n: int, rng: np.random.Generator) -> dict[str, Any]:
    cell = rng.choice(9, n, p=CHANCES.reshape(-1))
    low, high = np.array([0, 0.2, 0.5])[cell // 3], np.array([0.2, 0.5, 1.0])[cell // 3]
    return {
        "a": low + (high - low) * rng.random(n),
        "y": (cell % 3 + rng.random(n)) * 2 / 3,
        "k": rng.integers(1, 7, n),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 366, n),
        "sex": rng.choice(["f", "m"], n),
    }


def released(columns: list[str], n: int, relation: str, rng: np.random.Generator, **price: float) -> Any:
    query = tc.Histogram(columns, bins={name: BINS[name] for name in columns if name in BINS})
    shape = shaped(query, SCHEMA, relation, n, Cost.of(**price))
    return simulated(shape, add_noise(shape, exact_integers(shape, rows(n, rng)), rng))


@pytest.mark.sample(2)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_limits_hold_each_cell_and_all_cells(relation: str) -> None:
    """50 releases of 9 cells: 450 intervals and 50 bands, as many as independent ones of 95% hold but for LEVEL.

    Shares of one total exclude each other, which makes false alarms rarer.
    """
    rng, held, bands, singly = np.random.default_rng(0), 0, 0, 0
    volumes = np.outer([0.2, 0.3, 0.5], [2 / 3] * 3)
    for _ in range(50):
        found = joint_density(released(["a", "y"], 800, relation, rng, epsilon=0.5), ["a", "y"])
        limits, band = found.intervals(), found.intervals(simultaneous=True)
        inside, all_in = (
            (one[..., 0] <= CHANCES / volumes) & (CHANCES / volumes <= one[..., 1]) for one in (limits, band)
        )
        held, bands = held + int(inside.sum()), bands + int(all_in.all())
        assert np.all((limits[..., 0] <= found.values) & (found.values <= limits[..., 1]))
        assert np.all((band[..., 0] <= limits[..., 0]) & (limits[..., 1] <= band[..., 1]))
        singly += int(inside.all())
    assert held >= stats.binom.ppf(LEVEL, 450, 0.95)
    assert bands >= stats.binom.ppf(LEVEL, 50, 0.95)
    # limits of single cells are no band
    assert singly < bands


@pytest.mark.parametrize("columns", [["a", "y"], ["y", "k", "day"]])
@pytest.mark.parametrize("projection", ["simplex", "clip"])
def test_a_joint_density_is_one_and_its_margins_are_those_of_the_counts(columns: list[str], projection: Any) -> None:
    release = released(["a", "y", "k", "day", "sex"], 3_000, "replace-one", np.random.default_rng(1), rho=0.2)
    found = joint_density(release, columns, None, "population", projection)
    assert np.all(found.shares >= 0)
    assert float((found.values * found.volumes).sum()) == pytest.approx(1)
    assert found.projection == projection
    alone = found.margin(columns[0])
    assert np.array_equal(alone.values, density(release, columns[0], projection=projection).values)
    assert np.array_equal(alone.intervals(), density(release, columns[0]).intervals()) or projection == "clip"
    if len(columns) == 3:
        assert found.margin(columns[:2]).columns == tuple(columns[:2])
    top = [[2, 6, "2024-12-31"]] if len(columns) == 3 else [[1.0, 2.0]]
    assert found.cdf(top) == pytest.approx([1.0])


def test_values_and_the_distribution_function_by_brute_force() -> None:
    found = joint_density(
        released(["a", "y", "k"], 2_000, "replace-one", np.random.default_rng(2), rho=0.5), ["a", "y", "k"]
    )
    rng = np.random.default_rng(3)
    points = np.stack([rng.random(40), 2 * rng.random(40), rng.integers(1, 7, 40)], axis=1)
    for point, value, share in zip(points, found(points), found.cdf(points), strict=True):
        i, j = int(np.searchsorted([0.2, 0.5], point[0], side="right")), int(point[1] * 1.5)
        at = found.values[i, j, int(point[2]) - 1]
        assert value == pytest.approx(at)
        total = 0.0
        for a, (low, high) in enumerate(((0, 0.2), (0.2, 0.5), (0.5, 1))):
            for b in range(3):
                of_a = np.clip((point[0] - low) / (high - low), 0, 1)
                total += of_a * np.clip(point[1] * 1.5 - b, 0, 1) * found.shares[a, b, : int(point[2])].sum()
        assert share == pytest.approx(total)
    assert found([[1.0, 2.0, 6], [1.01, 1, 1], [0.5, 1, 7]]).tolist()[1:] == [0, 0]
    assert found([[1.0, 2.0, 6]])[0] == found.values[-1, -1, -1]


def test_clipping_spreads_noise_and_the_projection_does_not() -> None:
    """Of many empty cells: as published each has noise of half its cases; 10 releases, the largest ratio far from 1."""
    rng = np.random.default_rng(4)
    true = np.zeros(400)
    true[:5] = 200.0
    for _ in range(10):
        noisy = true + rng.laplace(0, 4, 400)
        errors = [float(((projected(noisy, 1_000.0, one) - true / 1_000) ** 2).sum()) for one in ("simplex", "clip")]
        assert errors[1] > 5 * errors[0]
    assert projected(np.array([-1.0, -2.0]), 10.0, "clip").sum() == pytest.approx(1)


def test_samples_are_of_the_kinds_of_the_columns_and_as_likely_as_said() -> None:
    """20,000 draws of 9 cells: chi-squared below its LEVEL of 1e-6."""
    release = released(["a", "y", "k", "day"], 3_000, "replace-one", np.random.default_rng(5), rho=0.5)
    found = joint_density(release, ["a", "y"])
    made = found.sample(20_000, rng=0)
    cells = np.histogram2d(made["a"], made["y"], bins=[[0, 0.2, 0.5, 1], [0, 2 / 3, 4 / 3, 2]])[0]
    expected = 20_000 * found.shares
    assert float(((cells - expected) ** 2 / expected).sum()) < stats.chi2.isf(1e-6, 8)
    other = joint_density(release, ["k", "day"]).sample(50, rng=1)
    assert other["k"].dtype == np.int64
    assert other["k"].between(1, 6).all()
    assert str(other["day"].dtype).startswith("datetime64")
    assert other["day"].between("2024-01-01", "2024-12-31").all()


def test_shown_as_a_table_a_frame_and_a_picture() -> None:
    pytest.importorskip("matplotlib")
    release = released(["a", "y", "k"], 3_000, "add-remove", np.random.default_rng(6), rho=0.5)
    found = joint_density(release, ["a", "y"], None, "table", "clip")
    assert np.all(found.sampling_errors == 0)
    text = str(found.summary())
    assert "Joint density of a and y" in text
    assert "as published" in text
    assert len(found.terms) == 9
    frame = found.to_frame()
    assert frame.shape == (9, 6)
    assert np.all(frame["band_upper"] >= frame["upper"])
    drawn = found.plot()
    assert (drawn.axes.get_xlabel(), drawn.axes.get_ylabel()) == ("a", "y (kg)")
    with pytest.raises(InferenceError) as caught:
        joint_density(release, ["a", "y", "k"]).plot()
    assert caught.value.code == "I64"


def test_a_release_that_is_all_noise_has_a_reason() -> None:
    few = joint_density(released(["a", "y"], 3, "add-remove", np.random.default_rng(7), epsilon=0.01), ["a", "y"])
    assert few.reason is not None
    assert np.allclose(few.values, 1 / few.volumes.sum())
    assert np.allclose(few.intervals()[..., 0], 0)
    with pytest.raises(InferenceError) as caught:
        few.sample(3)
    assert caught.value.code == "I63"


def test_what_cannot_be_asked() -> None:
    release = released(["a", "y", "k", "day", "sex"], 500, "replace-one", np.random.default_rng(8), rho=0.5)
    found = joint_density(release, ["a", "y"])
    calls: dict[str, list[Any]] = {
        "Q271": [
            lambda: joint_density(release, ["a", "y", "k", "day"]),
            lambda: joint_density(release, ["a", "y"], "sex"),
        ],
        "Q270": [
            lambda: joint_density(release, ["a", "y"], projection="nearest"),
            lambda: density(release, "a", projection=3),
        ],  # pyright: ignore[reportArgumentType]
        "I41": [
            lambda: joint_density(release, ["a", "q"]),
            lambda: joint_density(release, 3),
            lambda: found.margin("k"),
        ],  # pyright: ignore[reportArgumentType]
        "I60": [lambda: joint_density(release, ["a", "sex"])],
        "I05": [lambda: found([0.1, 0.2, 0.3]), lambda: found.cdf([["a", "b"]])],
        "I01": [lambda: found.intervals(0.3)],
        "I09": [lambda: joint_density(release, ["a", "y"], target="all")],  # pyright: ignore[reportArgumentType]
    }
    for code, each in calls.items():
        for call in each:
            with pytest.raises(InferenceError) as caught:
                call()
            assert caught.value.code == code, code
