"""Quantiles and distribution functions from cells: exact without noise, covering with it, censored where they are."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from drawn_releases import LEAST, M, many, one
from scipy.stats import beta

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.histogram.estimate_from_cells.cell_error_laws import Noise
from tacit.method.histogram.estimate_from_cells.cell_quantiles import quantiles
from tacit.method.histogram.estimate_from_cells.distribution import cdf
from tacit.method.histogram.estimate_from_cells.distribution_curve import GroupCurve
from tacit.noise.laws import DiscreteLaplace

UNIT = {"x": tc.Real(0, 1, missing=0)}  # everyone is in a cell: counts are projected
ANY = {"x": tc.Real(0, 1)}
TINY = Noise(DiscreteLaplace(Fraction(1, 1000)), 1, 1, 12, projected=False)


def shares(law, bins: int) -> np.ndarray:  # type: ignore[no-untyped-def]
    return np.diff(law.cdf(np.linspace(0, 1, bins + 1)))


def test_a_uniform_column_has_its_probabilities_as_quantiles() -> None:
    found = quantiles(one(UNIT, {"x": 10}, [1000] * 10), "x", [0.05, 0.25, 0.5, 0.975])
    assert found.values == pytest.approx([0.05, 0.25, 0.5, 0.975])
    assert found.terms == ("0.05", "0.25", "0.5", "0.975")
    assert found.reasons == (None,) * 4
    # values beyond the bounds are in the bins at the ends, heaped on the bound
    assert found.intervals()[[0, 3]] == pytest.approx(np.array([[0, 0.1], [0.9, 1]]))
    assert found.notes[1].endswith("in the first and the last: 0.05, 0.975")
    width = np.diff(found.intervals()[2])[0]
    assert width == pytest.approx(2 * 1.96 * 0.5 / np.sqrt(10_000), rel=0.01)  # binomial, density 1


def test_a_smooth_density_is_followed_within_its_bins() -> None:
    """Errors are less than half of those of interpolation by lines, of order h**3 and not h**2."""
    law = beta(2, 5)
    counts = np.rint(1e7 * shares(law, 10)).astype(int)
    found = quantiles(one(UNIT, {"x": 10}, counts), "x", [0.25, 0.5, 0.75])
    linear = np.interp([0.25, 0.5, 0.75], np.cumsum(np.append(0, counts)) / counts.sum(), np.linspace(0, 1, 11))
    assert (np.abs(found.values - law.ppf([0.25, 0.5, 0.75])) < np.abs(linear - law.ppf([0.25, 0.5, 0.75])) / 2).all()


@pytest.mark.sample(4)
@pytest.mark.parametrize(
    ("law", "n", "epsilon", "bins", "neighbors"),
    [
        (beta(2, 2), 1_000, 0.1, 20, "replace-one"),
        (beta(5, 2), 10_000, 0.1, 64, "replace-one"),
        (beta(1, 3), 100_000, 1, 20, "replace-one"),
        (beta(2, 2), 2_000, 0.2, 20, "add-remove"),
    ],
)
def test_intervals_cover(law, n: int, epsilon: float, bins: int, neighbors: str) -> None:  # type: ignore[no-untyped-def]
    taus = [0.1, 0.5, 0.9]
    truth = law.ppf(taus)
    columns = UNIT if n > 1_000 else ANY
    releases = many(columns, {"x": bins}, shares(law, bins), n, epsilon, neighbors=neighbors)
    held = np.zeros(3)
    for release in releases:
        found = quantiles(release, "x", taus)
        ends = found.intervals()
        held += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        assert (ends[:, 0] <= found.values).all()
        assert (found.values <= ends[:, 1]).all()
        assert (np.diff(found.values) >= 0).all()
        assert (np.diff(ends, axis=0) >= 0).all()
    assert (held >= LEAST).all(), held


def test_whole_bins_hold_values_that_are_heaped() -> None:
    """All values of a bin at one point: an interval of whole bins holds it, a smooth one need not."""
    release = one(UNIT, {"x": 5}, [100, 5000, 200, 100, 100])
    low, high = quantiles(release, "x", 0.5, within="bins").conf_int()
    assert low <= 0.2
    assert high >= 0.4


def test_values_of_an_integer_are_quantiles_as_they_are() -> None:
    columns = {"k": tc.Integer(0, 4)}
    found = quantiles(one(columns, {}, [400, 300, 150, 100, 50]), "k", [0.4, 0.5, 0.95])
    assert found.values.tolist() == [0.0, 1.0, 3.0]
    assert found.intervals().tolist() == [[0, 1], [1, 1], [3, 4]]


def test_groups_have_their_own() -> None:
    columns = {"x": tc.Real(0, 1), "g": tc.Category(["a", "b"])}
    release = one(columns, {"x": 4}, [[400, 100], [300, 200], [200, 300], [100, 400]])
    found = quantiles(release, "x", 0.5, by="g")
    assert found.terms == ("a", "b")
    assert found.value["a"] < 0.5 < found.value["b"]
    assert found["b"].conf_int()[0] < found["b"].value
    assert quantiles(release, "x", [0.5, 0.7], by="g").terms == ("a:0.5", "a:0.7", "b:0.5", "b:0.7")


def test_pictures_and_tables_show_what_is_told() -> None:
    found = quantiles(one(UNIT, {"x": 10}, [1000] * 10), "x", [0.05, 0.5])
    drawn = found.plot()
    assert drawn.terms == found.terms
    assert drawn.values == pytest.approx(found.values)
    assert drawn.lower == pytest.approx(found.intervals()[:, 0])
    shown = found.summary()
    assert shown.columns == ("", "estimate", "95% interval")
    assert any("limits of whole bins" in note for note in shown.notes)
    told = cdf(one(UNIT, {"x": 4}, [100, 400, 300, 200]), "x").to_frame()
    assert told.columns.tolist() == ["estimate", "std_error", "lower", "upper", "privacy_share", "reason"]


def test_limits_in_a_coarse_bin_are_those_of_the_whole_bin() -> None:
    """All of a million rows lie in one bin in the middle: nothing tells where in it, and no reason is needed."""
    release = one(UNIT, {"x": 5}, [1000, 1000, 998_000, 1000, 1000])
    found = quantiles(release, "x", [0.3, 0.5])
    whole = quantiles(release, "x", [0.3, 0.5], within="bins")
    assert found.reasons == (None, None)
    assert found.intervals().tolist() == whole.intervals().tolist()
    assert found.intervals() == pytest.approx(np.array([[0.4, 0.6]] * 2))
    assert found.notes[1].startswith("limits of whole bins, which are coarse for so many rows")
    assert len(whole.notes) == 1


def test_quantiles_beyond_the_bounds_are_censored() -> None:
    curve = GroupCurve(np.linspace(0, 1, 11), np.full(10, 80.0), TINY, below=150.0, above=50.0)
    assert curve.quantile(0.1) == (0.0, -1)
    assert curve.quantile(0.97) == (1.0, 10)
    assert curve.quantile(0.55)[0] == pytest.approx(0.5)
    assert curve.interval(0.1, 0.95) == (-np.inf, 0.0)
    assert curve.interval(0.97, 0.95)[1] == np.inf
    low, high = curve.interval(0.55, 0.95)
    assert 0 < low < 0.5 < high < 1


def test_distribution_functions() -> None:
    release = one(UNIT, {"x": 4}, [100, 400, 300, 200])
    found = cdf(release, "x")
    assert found.terms == ("0.25", "0.5", "0.75")
    assert found.values == pytest.approx([0.1, 0.5, 0.8])
    assert found.std_errors == pytest.approx(np.sqrt(found.values * (1 - found.values) / 1000), rel=1e-3)
    assert found.cov.loc["0.25", "0.5"] == pytest.approx(0.1 * 0.5 / 1000, rel=1e-3)
    p, z = found.values, 1.959964  # Wilson's interval
    root = z * np.sqrt(p * (1 - p) / 1000 + z**2 / 4e6)
    wilson = (p + z**2 / 2000 + np.array([[-1], [1]]) * root) / (1 + z**2 / 1000)
    assert found.intervals() == pytest.approx(wilson.T, abs=2e-4)
    band = cdf(release, "x", simultaneous=True).intervals()
    assert (band[:, 0] < found.intervals()[:, 0]).all()
    assert (band[:, 1] > found.intervals()[:, 1]).all()


def test_pointwise_limits_hold_at_each_edge_where_most_bins_are_empty() -> None:
    """The largest of 58 lower limits, and the least of 58 upper ones, hold together with half of the rows in 3 of 4."""
    counts = [500, *[0] * 58, 500]
    held = np.zeros(59)
    for seed in range(M):
        ends = cdf(one(UNIT, {"x": 60}, counts, 0.5, seed), "x", target="table").intervals()
        assert (np.diff(ends, axis=0) >= 0).all()
        held += (ends[:, 0] <= 0.5) & (ends[:, 1] >= 0.5)
    assert (held >= LEAST).all(), held


@pytest.mark.long
def test_bands_hold_the_whole_function() -> None:
    truth = beta(2, 2).cdf(np.linspace(0, 1, 11)[1:-1])
    point, band = np.zeros(9), 0
    for release in many(UNIT, {"x": 10}, shares(beta(2, 2), 10), 1_000, 0.3):
        ends = cdf(release, "x").intervals()
        point += (ends[:, 0] <= truth) & (truth <= ends[:, 1])
        ends = cdf(release, "x", simultaneous=True).intervals()
        band += bool(((ends[:, 0] <= truth) & (truth <= ends[:, 1])).all())
    assert band >= LEAST
    assert (point >= LEAST).all()


def test_noise_alone_says_so() -> None:
    release = one(UNIT, {"x": 10}, [1] * 10, 0.01, neighbors="add-remove")
    found = quantiles(release, "x", 0.5)
    assert "too few for this price" in str(found.reasons[0])
    assert found.conf_int() == (0.0, 1.0)


@pytest.mark.parametrize(
    ("code", "ask"),
    [
        ("I51", lambda r: quantiles(r, "x", [0.5, 1.0])),
        ("I51", lambda r: quantiles(r, "x", [])),
        ("I51", lambda r: quantiles(r, "x", 0.5, within="linear")),
        ("I50", lambda r: quantiles(r, "g", 0.5)),
        ("I50", lambda r: quantiles(r, "x", 0.5, by="x")),
        ("I41", lambda r: quantiles(r, "y", 0.5)),
        ("I09", lambda r: quantiles(r, "x", 0.5, target="sample")),
        ("I01", lambda r: quantiles(r, "x", 0.5).conf_int(0.3)),
        ("I02", lambda r: quantiles(r, "x", 0.5)["0.6"]),
        ("I04", lambda r: quantiles(r, "x", 0.5).std_error),
    ],
)
def test_what_quantiles_refuse(code: str, ask) -> None:  # type: ignore[no-untyped-def]
    release = one({"x": tc.Real(0, 1), "g": tc.Category(["a", "b"])}, {"x": 3}, [[10, 20]] * 3)
    with pytest.raises(InferenceError) as refused:
        ask(release)
    assert refused.value.code == code
