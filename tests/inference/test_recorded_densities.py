"""Densities and data sets of columns that declare multiples or heaps: cells, shares, moments, samples, what is said."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import ReleaseError
from tacit.estimates.densities.column_values import JointColumn
from tacit.estimates.densities.recorded_notes import recorded_notes
from tacit.fits.heaps.heaped_cells import HeapedCells, unknown_heaps
from tacit.method.bernstein import estimate as bernstein
from tacit.method.kernel_density import estimate as kernel
from tacit.method.ks_dataset import estimate as data_set
from tacit.method.orthogonal_series import estimate as series
from tacit.method.orthogonal_series.estimate_joint import joint_density
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.parts import Variable
from tacit.testing.simulate import exact_integers, shaped

ROWS = 3_000
WHOLE = tc.Integer(0, 60, missing=0)
HALVES = tc.Real(0, 30, multiple_of=0.5, missing=0.0)
QUERIES = {
    "series": tc.OrthogonalSeries("x", terms=12),
    "kernel": tc.KernelDensity("x", bandwidth=1.0),
    "coarse kernel": tc.KernelDensity("x", bandwidth=4.0),
    "Bernstein": tc.Bernstein("x", degree=24),
    "data set": tc.KSDataset("x", size=60, cells=40),
}
OF_HALVES = QUERIES | {
    "kernel": tc.KernelDensity("x", bandwidth=0.5),
    "coarse kernel": tc.KernelDensity("x", bandwidth=2.0),
}
PLACES = {"series": series, "kernel": kernel, "coarse kernel": kernel, "Bernstein": bernstein, "data set": data_set}
PRICE = Cost.of(rho="0.5")


def numbers() -> np.ndarray:
    return np.clip(np.random.default_rng(3).binomial(60, 0.4, ROWS) + 3, 0, 60).astype(np.float64)


def shape_of(query: Any, column: Any, relation: str = "replace-one", rows: int = ROWS) -> Any:
    return shaped(query, tc.Schema({"x": column}), relation, rows, PRICE)


def exact(query: Any, column: Any, x: np.ndarray, relation: str = "replace-one") -> Any:
    """A simulated release without noise."""
    shape = shape_of(query, column, relation, len(x))
    return simulated(shape, exact_integers(shape, {"x": x}))


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("name", list(QUERIES))
def test_multiples_have_the_cells_integers_and_sensitivities_of_whole_numbers(name: str, relation: str) -> None:
    whole, halves = shape_of(QUERIES[name], WHOLE, relation), shape_of(OF_HALVES[name], HALVES, relation)
    one, other = whole.columns[0].form, halves.columns[0].form
    assert (one.l1, one.l2_squared, one.matrix) == (other.l1, other.l2_squared, other.matrix)
    x = numbers()
    assert len(one.matrix) > 0
    if name != "data set":
        made = exact_integers(whole, {"x": x}), exact_integers(halves, {"x": x / 2})
        assert [a.tolist() for a in made[0]] == [b.tolist() for b in made[1]]


@pytest.mark.parametrize("name", [name for name in QUERIES if name != "data set"])
def test_what_is_told_of_multiples_is_that_of_whole_numbers(name: str) -> None:
    module: Any = PLACES[name]
    whole, halves = exact(QUERIES[name], WHOLE, numbers()), exact(OF_HALVES[name], HALVES, numbers() / 2)
    one, other = module.smooth_density(whole), module.smooth_density(halves)
    x, p = np.arange(0.0, 60.0), np.array([0.1, 0.5, 0.9])
    assert np.allclose(one(x), other(x / 2) / 2, atol=1e-9)
    assert np.allclose(one.cdf(x), other.cdf(x / 2), atol=1e-9)
    assert np.array_equal(one.quantile(p), 2 * other.quantile(p))
    drawn = other.sample(200, rng=1)["x"].to_numpy()
    assert np.array_equal(drawn, one.sample(200, rng=1)["x"].to_numpy() / 2)
    assert other.multiple_of == 0.5
    if name != "series":
        found = module.cdf(halves, x / 2)
        assert np.allclose(module.cdf(whole, x).values, found.values, atol=1e-9)
        assert any("multiples of 0.5, as is declared" in note for note in found.notes)
    if "kernel" in name:
        told, moments = module.moments(whole).values, module.moments(halves).values
        assert np.allclose(told, moments * [2, 4], rtol=1e-9)


def test_shares_moments_and_quantiles_of_exact_counts_are_those_of_the_rows() -> None:
    x = numbers() / 2
    # a cell for each value
    release = exact(tc.KernelDensity("x", bandwidth=0.3), HALVES, x)
    at = np.array([5.0, 12.5, 16.0])
    assert np.allclose(kernel.cdf(release, at).values, [(x <= one).mean() for one in at], atol=1e-4)
    # what is recorded, and not what lies between
    assert np.allclose(kernel.cdf(release, at + 0.3).values, kernel.cdf(release, at).values, atol=1e-12)
    assert np.allclose(kernel.moments(release).values, [x.mean(), x.var()], rtol=2e-3)


def test_a_data_set_of_multiples_has_points_samples_and_quantiles_among_them() -> None:
    curator = tc.Curator({"x": numbers() / 2}, tc.Schema({"x": HALVES}), budget=tc.Budget(epsilon=100))
    release = curator.release(tc.KSDataset("x", size=60, cells=40), epsilon=50)
    values = (release.points, release.sample(300, rng=0)["x"].to_numpy(), release.quantiles([0.1, 0.5, 0.9]).values)
    for found in values:
        assert np.array_equal(found * 2, np.rint(found * 2))
        assert found.min() >= 0
        assert found.max() <= 30
    assert np.array_equal((release.edges * 2) % 1, np.full(len(release.edges), 0.5))
    assert abs(release.moments().values[0] - 13.5) < 0.5
    assert any("multiples of 0.5" in note for note in release.cdf([5.0]).notes)
    assert release_from_dict(release.to_dict()) == release


def test_rows_of_joint_densities_and_smooth_densities_of_bins_are_multiples() -> None:
    schema = tc.Schema({"x": HALVES, "y": tc.Real(0, 1)})
    rng = np.random.default_rng(0)
    table = {"x": numbers() / 2, "y": rng.random(ROWS)}
    curator = tc.Curator(table, schema, budget=tc.Budget(rho=20))
    found = [
        curator.release(tc.OrthogonalSeries(["x", "y"], terms=4), rho=2).joint_density(),
        curator.release(tc.KernelDensity(["x", "y"]), rho=2).joint_density(),
        curator.release(tc.Histogram(["x", "y"], bins={"x": 12, "y": 4}), rho=2).density(["x", "y"]),
        curator.release(tc.Histogram("x", bins={"x": 12}), rho=2).smooth_density("x"),
    ]
    for one in found:
        drawn = one.sample(200, rng=1)["x"].to_numpy() * 2
        assert np.array_equal(drawn, np.rint(drawn))
    assert joint_density(curator.release(tc.OrthogonalSeries(["x", "y"], terms=4), rho=2)).variables[0].unit == 0.5


@pytest.mark.parametrize("kind", ["integer", "date"])
def test_the_share_at_or_below_a_number_between_two_values_is_that_at_the_lower_one(kind: str) -> None:
    column = JointColumn("x", kind, -0.5 if kind == "integer" else 0.0, 9.5)
    assert np.array_equal(column.after(np.array([3.0, 3.4, 3.999])), np.full(3, 3.5 if kind == "integer" else 4.0))


def test_multiples_next_to_a_float_are_multiples() -> None:
    column = JointColumn("x", "real", -0.05, 1.05, 0.1)
    assert np.allclose(column.after(np.array([0.1 + 0.2, 0.3, 0.7, 0.29])), [0.35, 0.35, 0.75, 0.25])


# Heaps ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("unit", [None, 1.0])
def test_any_share_at_declared_heaps_is_within_the_errors(share: float, unit: float | None) -> None:
    """Without noise: what is off is at most what counts as not known, and nothing at half."""
    rng = np.random.default_rng(5)
    x = rng.normal(47, 12, 40_000)
    x = np.where(rng.random(len(x)) < share, np.round(x / 10) * 10, x)
    x = np.clip(x if unit is None else np.rint(x), 0, 100)
    column = tc.Real(0, 100, multiple_of=unit, heaped_at=10, missing=0.0)
    release = exact(tc.KernelDensity("x", bandwidth=5.0), column, x)
    at = np.array([20.0, 30.0, 33.0, 40.0, 50.0, 55.0, 60.0])
    found, true = kernel.cdf(release, at, target="table"), np.array([(x <= one).mean() for one in at])
    unknown = np.sqrt(np.diag(found.sampling))
    assert (np.abs(found.values - true) <= unknown + 0.02).all()
    moments = kernel.moments(release, target="table")
    off = moments.values - [x.mean(), x.var()]
    assert (np.abs(off) <= np.sqrt(np.diag(moments.sampling)) + np.array([0.05, 3.0])).all()
    # they are no larger than the distance between none and all
    assert unknown.max() < 0.2
    assert any("is in the errors" in note for note in found.notes)


@pytest.mark.parametrize("share", [0.0, 0.5, 1.0])
@pytest.mark.parametrize("unit", [None, 1.0])
def test_polynomials_allow_for_any_share_at_declared_heaps(share: float, unit: float | None) -> None:
    rng = np.random.default_rng(6)
    x = rng.normal(47, 12, 40_000)
    x = np.where(rng.random(len(x)) < share, np.round(x / 10) * 10, x)
    x = np.clip(x if unit is None else np.rint(x), 0, 100)
    column = tc.Real(0, 100, multiple_of=unit, heaped_at=10, missing=0.0)
    release = exact(tc.Bernstein("x", degree=120), column, x)
    at = np.array([0.0, 20.0, 30.0, 33.0, 40.0, 47.0, 50.0, 58.0, 60.0, 100.0])
    found = bernstein.cdf(release, at, target="table")
    unknown, true = np.sqrt(np.diag(found.sampling)), np.array([(x <= one).mean() for one in at])
    # the polynomial spreads a heap a little beyond the values halfway to the next ones
    assert (np.abs(found.values - true) <= 1.3 * unknown + 0.02).all()
    assert unknown[[0, -1]].max() < 1e-3
    assert unknown.max() < 0.2
    assert any("is in the errors" in note for note in found.notes)
    # without a declaration the polynomial alone, and what the lattice shows it to miss
    plain = exact(tc.Bernstein("x", degree=120), tc.Real(0, 100, multiple_of=unit, missing=0.0), x)
    assert share > 0 or bernstein.cdf(plain, at, target="table").sampling.max() < 0.01**2


def test_a_heap_at_the_edge_of_a_cell_is_at_or_below_it() -> None:
    cells = HeapedCells.of(np.array([0.0, 5.0, 10.0, 20.0]), 10.0)
    assert cells is not None
    place, cell = np.array([10.0, 7.0, 15.0, 20.0]), np.array([2, 1, 2, 2])
    taken, unknown = cells.below(cell, place, np.array([0.0, 0.4, 0.5, 1.0]))
    # two heaps in the last cell, of which one is at its beginning; none in the one before
    assert np.allclose(taken, [0.25, 0.4, 0.5, 1.0])
    assert np.allclose(unknown, [0.25, 0.0, 0.0, 0.0])
    assert np.allclose(cells.moments()[0], [0.0, 7.5, 15.0])


def test_heaps_may_move_all_cells_one_way() -> None:
    away = np.array([[1.0], [2.0], [-0.5]])
    assert np.allclose(unknown_heaps(away), 0.25 * (2.5**2 + 1 + 4 + 0.25))


def test_data_sets_allow_for_declared_heaps() -> None:
    x = np.repeat(np.arange(5.0, 100, 10), 400)
    curator = tc.Curator({"x": x}, tc.Schema({"x": tc.Real(0, 100, heaped_at=5)}), budget=tc.Budget(epsilon=200))
    release = curator.release(tc.KSDataset("x", size=100, cells=20), epsilon=80)
    moments, found = release.moments(), release.cdf([45.0, 48.0])
    # all rows are at the beginnings of their cells
    assert abs(moments.values[0] - 50 - 1.25) < 0.8
    assert 1.2 < np.sqrt(moments.sampling[0, 0]) < 2.0
    assert (found.intervals()[:, 0] <= 0.5).all()
    assert (found.intervals()[:, 1] >= 0.5).all()


# What is said, and documents -----------------------------------------------------------------------------------------


def test_notes_say_what_is_taken_of_values() -> None:
    plain, both = Variable("x", "real", 0, 9), Variable("x", "real", 0, 90, multiple_of=1, heaped_at=10)
    assert "Real(…, multiple_of=1)" in recorded_notes("x", plain)[0]
    assert [note.split(",")[0] for note in recorded_notes("x", both)] == [
        "values of x are taken to be multiples of 1",
        "any share of x may be at multiples of 10",
    ]
    assert recorded_notes("x", both, allowed=True)[1].endswith("and is in the errors")
    assert recorded_notes("x", Variable("x", "integer", 0, 9)) == ()


def test_documents_keep_declarations_and_impossible_ones_are_refused() -> None:
    column = tc.Real(0, 30, multiple_of=0.5, heaped_at=5)
    curator = tc.Curator({"x": numbers() / 2}, tc.Schema({"x": column}), budget=tc.Budget(rho=20))
    for query in (tc.OrthogonalSeries("x"), tc.Bernstein("x"), tc.KSDataset("x")):
        release = curator.release(query, rho=1)
        words = release.to_dict()
        assert (words["variables"][0]["multiple_of"], words["variables"][0]["heaped_at"]) == (0.5, 5)
        assert release_from_dict(words) == release
        for change, said in (
            ({"multiple_of": 40}, "no multiples of 40"),
            ({"multiple_of": 1e-300}, "no multiples of 1e-300"),
            ({"multiple_of": -1}, "multiple_of"),
            ({"kind": "integer"}, "no multiples of 0.5"),
        ):
            forged = copy.deepcopy(words)
            forged.pop("digest", None)
            forged["variables"][0].update(change)
            with pytest.raises(ReleaseError, match=said):
                release_from_dict(forged)
    cells = curator.release(tc.KernelDensity("x", bandwidth=1.0), rho=1)
    assert release_from_dict(cells.to_dict()) == cells
    forged = copy.deepcopy(cells.to_dict())
    forged.pop("digest", None)
    # as old releases have it: edges that are not those of equal cells
    del forged["axes"][0]["multiple_of"]
    with pytest.raises(ReleaseError):
        release_from_dict(forged)


def test_variables_without_declarations_are_read_as_before() -> None:
    """Releases of 0.1 name no multiples: their bins are of equal width."""
    curator = tc.Curator({"x": numbers() / 2}, tc.Schema({"x": tc.Real(0, 30)}), budget=tc.Budget(rho=20))
    for query in (tc.OrthogonalSeries("x"), tc.Bernstein("x"), tc.KSDataset("x"), tc.KernelDensity("x")):
        words = curator.release(query, rho=1).to_dict()
        assert not {"multiple_of", "heaped_at"} & {
            key for one in words.get("variables", words.get("axes")) for key in one
        }
