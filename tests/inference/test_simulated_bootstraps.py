"""Simulated bootstraps: the integers of the mechanism, the law of its draws, and studies of coverage."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from mechanisms.test_bootstrap import SCHEMA, people, shaped
from mechanisms.test_bootstrap_vectors import OF_PERSONS, VISITS, of_persons, persons_in, visits

import tacit as tc
from tacit.curator.mechanisms import integers
from tacit.method.bootstrap.design import vector
from tacit.source import open_source
from tacit.testing import coverage, simulate
from tacit.testing.reference_table import columns_of
from tacit.testing.simulate import patterns

STATISTICS = [tc.Mean(["age", "educ"], by="sex", where="age > 30"), tc.Variance("age"), tc.Count(by="sex")]


@pytest.mark.parametrize("statistic", STATISTICS)
def test_rows_add_what_they_add_to_the_mechanism(statistic: tc.Query) -> None:
    shape, table = shaped(statistic, 300), people()
    once = patterns(shape, columns_of(table, SCHEMA)).once()
    found = integers(replace(shape, columns=vector(shape)), open_source(table, SCHEMA))
    assert [one.tolist() for one in once] == [[list(cell) for cell in cells] for cells in found]


@pytest.mark.parametrize("statistic", OF_PERSONS)
def test_persons_add_what_they_add_to_the_mechanism(statistic: tc.Query) -> None:
    table = visits()
    shape = of_persons(statistic, persons_in(table))
    held = patterns(shape, {name: np.asarray(values) for name, values in table.items()})
    found = integers(replace(shape, columns=vector(shape)), open_source(pa.table(table), VISITS))
    assert [one.tolist() for one in held.once()] == [[list(cell) for cell in cells] for cells in found]
    assert held.counts.sum() == persons_in(table)


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_simulated_samples_have_the_bootstraps_law(neighbors: str) -> None:
    """Mean and variance of 4,000 seeded sums: within six standard errors."""
    shape = shaped(tc.Sum("educ"), 300 if neighbors == "replace-one" else None, neighbors)
    held = patterns(shape, columns_of(people(), SCHEMA))
    sums = np.array(held.drawn(4_000, neighbors, np.random.default_rng(0)))[:, 0, 0].astype(np.float64)
    n, x = held.counts, held.added[0][:, 0, 0].astype(np.float64)
    variance = n @ x**2 - ((n @ x) ** 2 / 300 if neighbors == "replace-one" else 0)
    assert abs(sums.mean() - n @ x) < 6 * np.sqrt(variance / 4_000)
    assert abs(sums.var() / variance - 1) < 6 * np.sqrt(2 / 4_000)


def test_simulations_and_coverage_of_a_bootstrap() -> None:
    schema, asked = tc.Schema({"x": tc.Real(0, 1)}), tc.Bootstrap(tc.Mean("x"), 20)
    price = {"epsilon": 20, "delta": 1e-6}
    made = simulate(asked, {"x": np.random.default_rng(0).random(300)}, schema, repeats=20, **price)
    assert made.terms == ("x",)
    assert made.estimates.shape == (20, 1)
    # samples are drawn anew for each release
    assert len(np.unique(made.estimates)) == 20
    assert made.release(0).estimate().terms == ("x",)
    assert "20 simulated releases" in str(made)
    found = coverage(asked, lambda rng: {"x": rng.random(300)}, 0.5, schema=schema, repeats=60, rng=1, **price)
    # at 95% fewer than 44 of 60 intervals cover but once in many millions
    assert found.coverage[0] > 0.73
    assert found.unclear[0] < 0.5
