"""Kernel densities: the contract, cells from public facts, counts on every engine, and what is refused."""

from __future__ import annotations

import json
from math import prod
from typing import Any

import numpy as np
import pytest
from refused_questions import refused_at_no_cost

import tacit as tc
from tacit.curator.mechanisms import design, integers
from tacit.errors import QueryError, ReleaseError
from tacit.method.kernel_density.cells import CELL, MOST_CELLS, SPREAD, chosen_bandwidth, inner_edges, number_of_cells
from tacit.method.kernel_density.estimate_kernel import fitted
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.simulated_parts import simulated
from tacit.method.shared.weighted_encoding import FINE
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.source import open_source
from tacit.testing.contract import contract
from tacit.testing.simulate import exact_integers

SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 1),
        "y": tc.Real(-2, 5, missing=0.5),
        "k": tc.Integer(0, 9),
        "wide": tc.Integer(1, 1_000),
        "d": tc.Date("2024-01-01", "2024-12-31"),
        "sex": tc.Category(["f", "m"]),
        "free": tc.Real(),
        "one": tc.Date("2024-01-01", "2024-01-02"),
    }
)
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "x": tc.Real(0, 1), "k": tc.Integer(0, 9)})


def rows(n: int = 400, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.beta(2, 5, n)
    x[:3] = [np.nan, np.inf, -np.inf]
    x[3:6] = [0.0, 1.0, 7.0]
    return {
        "x": x,
        "y": np.where(rng.random(n) < 0.1, np.nan, rng.normal(1, 2, n)),
        "k": rng.integers(0, 10, n),
        "wide": rng.integers(1, 1_001, n),
        "d": np.datetime64("2024-01-01") + rng.integers(0, 366, n),
        "sex": rng.choice(["f", "m"], n),
        "free": rng.normal(size=n),
        "one": np.full(n, np.datetime64("2024-01-01")),
    }


def shaped(query: tc.Query, relation: str = "replace-one", n: int | None = 400, **price: float) -> Measurement:
    public = n if relation == "replace-one" else None
    return design(query, Public(SCHEMA, relation, public, n), Cost.of(**(price or {"rho": 1})))


@pytest.mark.parametrize(
    "query",
    [
        tc.KernelDensity(["x", "k"], bandwidth={"x": 0.2, "k": 2}),
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in (
                tc.KernelDensity("x", bandwidth=0.1),
                tc.KernelDensity("y", bandwidth=0.7, where="x > 0.5"),
                tc.KernelDensity("d", bandwidth=60),
                tc.KernelDensity(["x", "y", "k"], bandwidth={"x": 0.2, "y": 1.5, "k": 3}),
            )
        ),
    ],
    ids=str,
)
def test_contract(query: tc.Query) -> None:
    """Each noise law and each audit is wrong once in a million."""
    schema = PERSONS if set(query.columns) == {"x", "k"} else SCHEMA
    # two rows that both are counted and lie in different cells are found later where half of the rows are left out
    assert contract(query, schema, tables=12 if query.where is None else 24, draws=20_000).passed


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_noise_is_that_of_disjoint_cells(price: dict[str, float], relation: str) -> None:
    """Whatever the bandwidth and the number of columns: a replaced row changes two counts by one, another row one."""
    twice = 2 if relation == "replace-one" else 1
    for query in (tc.KernelDensity("x"), tc.KernelDensity(["x", "y"]), tc.KernelDensity("x", bandwidth=0.001)):
        (part,) = shaped(query, relation, **price).columns
        assert (part.form.l1, part.form.l2_squared) == (twice, twice)
        assert isinstance(part.law, DiscreteLaplace if set(price) == {"epsilon"} else RoundedNormal)
    shape = design(tc.KernelDensity("x"), Public(PERSONS, relation, 400, 400), Cost.of(**price))
    (part,) = shape.columns
    assert (part.form.l1, part.form.l2_squared) == (twice * FINE, twice * FINE**2)


@pytest.mark.parametrize(
    "query",
    [
        tc.KernelDensity("x", bandwidth=0.05),
        tc.KernelDensity("y", bandwidth=1, where="sex == 'f'"),
        tc.KernelDensity("d", bandwidth=20),
        tc.KernelDensity(["x", "k"], bandwidth={"x": 0.1}),
        tc.KernelDensity(["x", "y", "wide"]),
    ],
    ids=str,
)
def test_counts_are_those_of_the_rows_on_every_engine(query: tc.KernelDensity) -> None:
    import polars as pl
    import pyarrow as pa

    data = rows()
    shape = shaped(query)
    total = np.zeros([key.size for key in shape.keys], dtype=int)
    for i in range(400):
        values = [data[name][i] for name in query.columns]
        values = [x.astype(int) if isinstance(x, np.datetime64) else x for x in values]
        cell = tuple(key.index(float(x)) for key, x in zip(shape.keys, values, strict=True))
        if None not in cell and (query.where is None or data["sex"][i] == "f"):
            total[cell] += 1
    assert exact_integers(shape, data)[0][:, 0].tolist() == total.reshape(-1).tolist()
    for source in (data, pa.table(data), pl.DataFrame(data)):
        assert np.array(integers(shape, open_source(source, SCHEMA))[0])[:, 0].tolist() == total.reshape(-1).tolist()


def test_cells_are_as_wide_as_the_bandwidth_allows() -> None:
    shape = shaped(tc.KernelDensity(["x", "wide"], bandwidth={"x": 0.04, "wide": 50}))
    assert [key.size for key in shape.keys] == [17, 14]
    assert 1 / 17 <= CELL * 0.04 < 1 / 16
    # whole numbers are in cells of 71 or 72 of them, edges between two
    edges = np.array(shape.axes[1].edges)
    assert set(np.diff(edges)) == {71.0, 72.0}
    assert np.all(edges % 1 == 0.5)
    # of few values each has its own, however narrow the bandwidth
    assert shaped(tc.KernelDensity("k", bandwidth=0.7)).cells == 10
    assert number_of_cells("real", 0, 1, 1.0) == 4
    days = inner_edges("date", 0, 10, 5)
    assert days == (2, 4, 6, 8)


@pytest.mark.parametrize("kind", ["real", "integer", "date"])
def test_edges_increase_for_every_number_of_cells(kind: str) -> None:
    for cells in range(2, 60):
        made = np.array(inner_edges(kind, -20, 39, cells))
        assert len(made) == cells - 1
        assert np.all(np.diff(made) > 0)
        assert made[0] > -20
        assert made[-1] < 39


def test_the_bandwidth_has_the_least_expected_error() -> None:
    """The expected error of the reference law, by its own formula in numbers, at half and twice the bandwidth."""
    for d, n, variance in ((1, 10_000, 36.0), (1, 1_000, 800.0), (2, 20_000, 36.0), (3, 50_000, 8.0)):
        h, s = chosen_bandwidth(d, n, variance), SPREAD[d]
        x = np.linspace(-6, 6, 4_001)
        phi = np.exp(-(x**2) / 2) / np.sqrt(2 * np.pi)
        step = x[1] - x[0]
        # integrals of products of phi and its second derivative, in units of s
        a, b, c = (float((one * two).sum() * step) for one, two in (
            (phi * (x**2 - 1), phi * (x**2 - 1)), (phi * (x**2 - 1), phi), (phi, phi)
        ))  # fmt: skip
        rough = (d * a * c ** (d - 1) + d * (d - 1) * b**2 * c ** max(d - 2, 0)) / s ** (d + 4)

        def error(
            h: float, d: int = d, n: int = n, rough: float = rough, c: float = c, variance: float = variance
        ) -> float:
            noise = variance / n**2 * (c / h / (CELL * h)) ** d
            return h**4 / 4 * rough + (c / h) ** d / n + noise

        assert error(h) < min(error(h / 1.2), error(h * 1.2))


def test_bandwidths_follow_from_public_facts() -> None:
    def cells(n: int, **price: float) -> int:
        return shaped(tc.KernelDensity("x"), n=n, **price).cells

    found = [cells(n, epsilon=1) for n in (100, 1_000, 10_000, 100_000)]
    assert found == sorted(set(found))
    assert cells(1_000, epsilon=0.1) < cells(1_000, epsilon=1) < cells(1_000, epsilon=10)
    assert all(shaped(tc.KernelDensity(["x", "y", "k"][:d]), n=10**9).cells <= MOST_CELLS[d] ** d for d in (1, 2, 3))


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_releases_survive_json(price: dict[str, float], relation: str) -> None:
    for query in (tc.KernelDensity("x"), tc.KernelDensity(["d", "k"], bandwidth={"d": 30})):
        limits = {**price, "neighbors": relation}
        curator = tc.Curator(
            rows(), SCHEMA, budget=tc.Budget(**limits), size_hint=400 if relation != "replace-one" else None
        )
        release = curator.release(query, **price)
        again = release_from_dict(json.loads(release.to_json()))
        assert again == release
        assert again.to_json() == release.to_json()
        assert again.query == query


@pytest.mark.parametrize("change", ["l2", "bandwidth", "columns", "edges", "law", "integers", "axes"])
def test_changed_documents_are_refused(change: str) -> None:
    curator = tc.Curator(rows(), SCHEMA, budget=tc.Budget(rho=1))
    words = json.loads(curator.release(tc.KernelDensity("x", bandwidth=0.1), rho=0.5).to_json())
    # without the digest a document is judged by what it says
    words.pop("digest", None)
    assert release_from_dict(words).to_dict() == {key: words[key] for key in release_from_dict(words).to_dict()}
    part, axis = words["parts"][0], words["axes"][0]
    if change == "l2":
        part["sensitivity"]["l2_squared"] -= 1
    elif change == "bandwidth":
        words["query"]["bandwidth"] = {"x": 0.2}
    elif change == "columns":
        words["query"]["columns"] = ["y"]
        words["query"]["bandwidth"] = {"y": 0.1}
    elif change == "edges":
        axis["edges"][1] += 0.01
    elif change == "law":
        part["noise"]["sigma_squared" if "sigma_squared" in part["noise"] else "scale"] = "1"
    elif change == "integers":
        words["parts"] = [part, part]
    else:
        axis["kind"] = "integer"
    with pytest.raises(ReleaseError):
        release_from_dict(words)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"columns": "x", "bandwidth": 0}, "Q230"),
        ({"columns": "x", "bandwidth": -1.0}, "Q230"),
        ({"columns": "x", "bandwidth": True}, "Q230"),
        ({"columns": "x", "bandwidth": float("nan")}, "Q230"),
        ({"columns": "x", "bandwidth": "wide"}, "Q230"),
        ({"columns": "x", "bandwidth": {"y": 1}}, "Q230"),
        ({"columns": "x", "bandwidth": {"x": "narrow"}}, "Q230"),
        ({"columns": "x", "bandwidth": [0.1]}, "Q230"),
        ({"columns": ["x", "y"], "bandwidth": 0.1}, "Q230"),
        ({"columns": ["x", "y", "k", "d"]}, "Q231"),
        ({"columns": "x", "bandwidth": 1e-5}, "Q232"),
        ({"columns": ["x", "y"], "bandwidth": {"x": 0.001}}, "Q232"),
        ({"columns": "x", "bandwidth": 1.5}, "Q232"),
        ({"columns": "one"}, "Q232"),
        ({"columns": []}, "Q03"),
        ({"columns": "sex"}, "Q13"),
        ({"columns": "free"}, "Q12"),
        ({"columns": "nobody"}, "Q10"),
    ],
)
def test_what_cannot_be_asked_costs_nothing(asked: dict[str, Any], code: str) -> None:
    refused_at_no_cost(lambda: tc.KernelDensity(**asked), code, rows(), SCHEMA)


def test_narrowest_and_widest_bandwidths_are_bought() -> None:
    """The limits named by an error are themselves possible."""
    for width in (1 / (CELL * MOST_CELLS[1]), 1.0):
        assert shaped(tc.KernelDensity("x", bandwidth=width)).cells in (MOST_CELLS[1], 4)
    shape = shaped(tc.KernelDensity(["x", "y"], bandwidth={"x": 1 / (CELL * MOST_CELLS[2]), "y": 7}))
    assert [key.size for key in shape.keys] == [MOST_CELLS[2], 4]


def test_a_private_number_of_rows_needs_bandwidths_or_a_hint() -> None:
    curator = tc.Curator(rows(), SCHEMA, budget=tc.Budget(rho=1, neighbors="add-remove"))
    with pytest.raises(QueryError) as caught:
        curator.release(tc.KernelDensity("x"), rho=0.5)
    assert caught.value.code == "Q82"
    assert curator.release(tc.KernelDensity("x", bandwidth=0.1), rho=0.5).bandwidth == {"x": 0.1}


def test_stored_bandwidths_are_those_of_the_design() -> None:
    """ "auto" is not written: it is read off the cells, which are CELL bandwidths wide."""
    shape = shaped(tc.KernelDensity(["x", "d"], bandwidth={"d": 30}))
    fit = fitted(simulated(shape, exact_integers(shape, rows())))
    assert fit.released.bandwidths == pytest.approx((1 / (CELL * shape.keys[0].size), 30 / 366))
    assert prod(fit.shares.shape) == shape.cells
    assert fit.variance == pytest.approx(shape.columns[0].law.variance() / fit.size**2)
