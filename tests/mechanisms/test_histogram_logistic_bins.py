"""Bins of the whole line: public edges, words, refusals, and what releases of them say."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy.stats import t as student

import tacit as tc
from tacit.errors import QueryError
from tacit.method.histogram.estimate_from_cells.cell_quantiles import quantiles
from tacit.method.shared.simulated_parts import simulated
from tacit.privacy import Cost
from tacit.release.query import query_from_dict
from tacit.schema.axes import axismap
from tacit.schema.logistic_bins import LogisticBins
from tacit.study import curator_file as files
from tacit.testing.simulate import add_noise, shaped

BINS = tc.LogisticBins(20, center=10, scale=4)
QUERY = tc.Histogram("z", bins=BINS)
ANY = tc.Real()
LAW = student(3, loc=10, scale=5)


def released(z: Any, query: tc.Histogram = QUERY, column: tc.Real = ANY) -> Any:
    return tc.Curator({"z": z}, tc.Schema({"z": column}), budget=tc.Budget(epsilon=1_000)).release(query, epsilon=1_000)


def test_bins_are_of_equal_width_on_the_logistic_scale() -> None:
    """Edges are center + scale log(i / (K - i)), rounded once: the same everywhere."""
    assert BINS.mapped(BINS.edges) == pytest.approx(np.arange(1, 20) / 20, abs=1e-15)
    assert BINS.back(BINS.mapped(BINS.edges)) == pytest.approx(np.array(BINS.edges), rel=1e-12)
    assert BINS.edges[9] == 10.0
    assert (BINS.mapped([-np.inf, np.inf]).tolist(), BINS.back([0.0, 1.0]).tolist()) == ([0, 1], [-np.inf, np.inf])
    assert LogisticBins(4, center=0, scale=1).edges == (-1.0986122886681098, 0.0, 1.0986122886681098)


def test_words_go_through_json_and_toml(tmp_path: Path) -> None:
    words = {"type": "LogisticBins", "bins": 20, "center": 10.0, "scale": 4.0}
    assert QUERY.to_dict() == {"query": "Histogram", "columns": ["z"], "bins": {"z": words}}
    for same in (
        tc.Histogram("z", bins={"z": BINS}),
        tc.Histogram("z", bins=words),
        tc.Histogram("z", bins={"z": words}),
    ):
        assert same == QUERY
        assert query_from_dict(json.loads(json.dumps(same.to_dict()))) == QUERY
    job = """
tacit = 1
[table]
name = "t"
[schema]
z = { type = "Real" }
[ask.cells]
query = "Histogram"
columns = "z"
bins = { z = { type = "LogisticBins", bins = 20, center = 10, scale = 4 } }
"""
    (tmp_path / "a.toml").write_text(job, encoding="utf-8")
    assert files.load(tmp_path / "a.toml").asks["cells"] == QUERY


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ({"bins": 3, "center": 0, "scale": 1}, "not from 4 to 200"),
        ({"bins": 20, "center": 0, "scale": 0}, "not a finite number above 0"),
        ({"bins": 20, "center": float("inf"), "scale": 1}, "not a finite number"),
        ({"bins": 20, "center": True, "scale": 1}, "not a finite number"),
        ({"bins": 20, "center": 1e9, "scale": 1e-9}, "no edges apart"),
        ({"bins": 20, "center": 0, "scale": 1e308}, "no edges apart"),
        ({"bins": 20, "centre": 0, "scale": 1}, "'center'?"),
        ({"bins": 20, "scale": 1}, "do not describe it"),
    ],
)
def test_bins_that_cannot_be(words: dict[str, Any], says: str) -> None:
    with pytest.raises(QueryError, match=r"\[Q100\]") as caught:
        tc.Histogram("z", bins={"z": {"type": "LogisticBins"} | words})
    assert says in str(caught.value)


def test_columns_and_questions_that_take_none() -> None:
    with pytest.raises(QueryError, match=r"\[Q100\].*Integer"):
        axismap(tc.Schema({"z": tc.Integer(0, 9)}), "z", BINS)
    with pytest.raises(QueryError, match=r"\[Q100\].*Mean"):
        tc.Mean("age", by="z", bins={"z": BINS})


def test_where_cells_go() -> None:
    """Bounds play no part; the open ends are cells of their own; a declared value of missing cells is as any other."""
    edges = BINS.edges
    for column in (tc.Real(), tc.Real(0, 12)):
        key = axismap(tc.Schema({"z": column}), "z", BINS, outside=True)
        assert key.labels[-2:] == ("below", "above")
        assert [key.index(x) for x in (-1e300, edges[0], edges[1], edges[18], 1e300)] == [18, 0, 1, 17, 19]
        assert [key.index(x) for x in (-np.inf, np.inf, np.nan, None)] == [18, 19, None, None]
    far = tc.Schema({"z": tc.Real(missing=1e9)})
    assert [axismap(far, "z", BINS, missing=flag).index(None) for flag in (False, True)] == [19, 19]


def test_quantiles_on_the_whole_line() -> None:
    """Quantiles within the edges are found to a twentieth of a scale; those beyond are censored, and say so."""
    z = LAW.ppf((np.arange(100_000) + 0.5) / 100_000)
    release = released(z)
    probs = [0.001, 0.05, 0.25, 0.5, 0.75, 0.95, 0.999]
    found = release.quantiles("z", probs)
    assert found.values[1:-1] == pytest.approx(LAW.ppf(probs[1:-1]), abs=0.05)
    (low, first), (last, high) = found.intervals()[0], found.intervals()[-1]
    assert (low, high) == (-np.inf, np.inf)
    assert (first, last) == pytest.approx((BINS.edges[0], BINS.edges[-1]), rel=1e-12)
    assert ("censored: below" in found.reasons[0], "censored: above" in found.reasons[-1]) == (True, True)
    assert not any(found.reasons[1:-1])
    assert "logistic" in found.notes[0]
    steps = release.cdf("z")
    assert len(steps.terms) == 19
    assert steps.values == pytest.approx(LAW.cdf(BINS.edges), abs=1e-4)


def test_of_a_logistic_column_the_mapped_scale_is_exact() -> None:
    """A logistic column is uniform there: quantiles within bins are exact, on the plain scale they would not be."""
    bins = tc.LogisticBins(6, center=0, scale=1)
    z = bins.back((np.arange(60_000) + 0.5) / 60_000)
    found = released(z, tc.Histogram("z", bins=bins)).quantiles("z", [0.2, 0.25, 0.75])
    assert found.values == pytest.approx(bins.back([0.2, 0.25, 0.75]), abs=1e-3)


def test_intervals_cover() -> None:
    """100 tables of 2,000 rows: Binomial(100, 0.94) is below 79 with probability 1e-7, three times."""
    taus, n, sims = [0.1, 0.5, 0.9], 2_000, 100
    p = np.diff(LAW.cdf([-np.inf, *BINS.edges, np.inf]))
    p = np.array([*p[1:-1], p[0], p[-1]])
    shape = shaped(QUERY, tc.Schema({"z": tc.Real()}), "replace-one", n, Cost.of(epsilon=0.5))
    rng = np.random.default_rng(4)
    held = np.zeros(3)
    for _ in range(sims):
        counts = rng.multinomial(n, p).reshape(1, -1, 1)
        ends = quantiles(simulated(shape, tuple(k[0] for k in add_noise(shape, (counts,), rng))), "z", taus).intervals()
        held += (ends[:, 0] <= LAW.ppf(taus)) & (LAW.ppf(taus) <= ends[:, 1])
    assert (held >= 79).all()


def test_rows_are_drawn_on_the_whole_line() -> None:
    """Uniform on the logistic scale: all 20 bins of 40,000 rows hold 2,000 within 6 standard deviations (1e-7)."""
    bins = tc.LogisticBins(20, center=0, scale=1)
    release = released(bins.back((np.arange(60_000) + 0.5) / 60_000), tc.Histogram("z", bins=bins))
    rows = release.sample(40_000, rng=0)
    counts = np.histogram(bins.mapped(rows["z"]), np.arange(21) / 20)[0]
    assert np.isfinite(rows["z"]).all()
    assert (np.abs(counts - 2_000) < 6 * np.sqrt(2_000 * 0.95)).all()
    assert "follow the law of its bins" in " ".join(rows.attrs["note"].split())


def test_pictures_and_densities_have_the_inner_bins() -> None:
    pytest.importorskip("matplotlib")
    release = released(np.linspace(-30, 50, 2_000), tc.Histogram("z", bins=tc.LogisticBins(6, center=10, scale=4)))
    assert release.density("z").values.shape == (1, 4)
    assert len(release.plot().values) == 4
    assert "above" in release.plot().axes.get_xlabel()
    assert release.density("z").plot().values == pytest.approx(release.density("z").values[0])


def test_a_release_comes_back_from_its_file(tmp_path: Path) -> None:
    release = released(np.linspace(-30, 50, 2_000))
    release.save(tmp_path / "a.json")
    again = tc.Release.load(tmp_path / "a.json")
    assert again == release
    assert again.quantiles("z", 0.4).value == release.quantiles("z", 0.4).value
