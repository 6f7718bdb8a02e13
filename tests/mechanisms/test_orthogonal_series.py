"""Orthogonal series: sensitivity by all pairs, exact sums on every engine, the contract, and what is refused."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from refused_questions import refused_at_no_cost

import tacit as tc
from tacit.curator.mechanisms import design, integers
from tacit.errors import QueryError, ReleaseError
from tacit.method.orthogonal_series.design import edges
from tacit.method.orthogonal_series.encoding import SCALE, apart, own_terms, series, table, vector
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.numeric_columns import numeric
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.noise.spherical import SphericalLaplace
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.rows.series_bases import BASES, functions
from tacit.source import open_source
from tacit.testing.contract import contract
from tacit.testing.simulate import exact_integers

SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 1),
        "y": tc.Real(-2, 5, missing=0.5),
        "k": tc.Integer(0, 9),
        "d": tc.Date("2024-01-01", "2024-12-31"),
        "sex": tc.Category(["f", "m"]),
        "free": tc.Real(),
    }
)
PERSONS = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), "x": tc.Real(0, 1), "k": tc.Integer(0, 9)})
EVEN = tuple(np.linspace(0, 1, 9).tolist())
UNEVEN = (0.0, 0.05, 0.2, 0.35, 0.7, 1.0)


def rows(n: int = 400, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    x = rng.beta(2, 5, n)
    x[:3] = [np.nan, np.inf, -np.inf]
    x[3:6] = [0.0, 1.0, 7.0]
    return {
        "x": x,
        "y": np.where(rng.random(n) < 0.1, np.nan, rng.normal(1, 2, n)),
        "k": rng.integers(0, 10, n),
        "d": np.datetime64("2024-01-01") + rng.integers(0, 366, n),
        "sex": rng.choice(["f", "m"], n),
        "free": rng.normal(size=n),
    }


def shaped(query: tc.Query, relation: str = "replace-one", n: int | None = 400, **price: float) -> Measurement:
    return design(
        query, Public(SCHEMA, relation, n if relation == "replace-one" else None), Cost.of(**(price or {"rho": 1}))
    )


@pytest.mark.parametrize(
    "query",
    [
        tc.OrthogonalSeries(["x", "k"], terms=3),
        *(
            pytest.param(one, marks=pytest.mark.long)
            for one in (
                tc.OrthogonalSeries("x", terms=5),
                tc.OrthogonalSeries("k", "haar", terms=6, where="x > 0.5"),
                tc.OrthogonalSeries("y", "legendre", terms=1),
                tc.OrthogonalSeries("d", "fourier", terms=4),
                tc.OrthogonalSeries(["x", "y"], "legendre", terms=3),
                tc.OrthogonalSeries(["x", "y", "k"], terms=2),
            )
        ),
    ],
    ids=str,
)
def test_contract(query: tc.Query) -> None:
    """Each noise law and each audit is wrong once in a million."""
    schema = PERSONS if set(query.columns) == {"x", "k"} else SCHEMA
    assert contract(query, schema, tables=12, draws=20_000).passed


@pytest.mark.parametrize("basis", BASES)
@pytest.mark.parametrize("ends", [(EVEN,), (UNEVEN,), (EVEN, UNEVEN), (UNEVEN, EVEN), (UNEVEN, UNEVEN, UNEVEN)])
def test_sensitivity_is_the_largest_over_all_pairs_of_cells(basis: str, ends: tuple[tuple[float, ...], ...]) -> None:
    """The sums of products beside the products themselves, one by one."""
    terms, S = 3, SCALE[len(ends)]
    tables = [table(basis, one, terms, S) for one in ends]
    cells = list(product(*(range(len(one) - 1) for one in ends)))
    # without the constant, the same for every row
    rows_ = np.array([vector(tables, cell)[1:] for cell in cells], dtype=object)
    squares = (rows_**2).sum(axis=1)
    between = squares[:, None] + squares[None, :] - 2 * rows_ @ rows_.T
    pair, two, single, alone = apart(basis, ends, terms)
    assert two == between.max()
    assert single == squares.max()
    far = [vector(tables, cell)[1:] for cell in pair]
    assert sum((a - b) ** 2 for a, b in zip(*far, strict=True)) == two
    assert sum(a * a for a in vector(tables, alone)[1:]) == single
    for relation, leaves in product(("replace-one", "add-remove"), (False, True)):
        form = series(basis, ends, terms, relation, leaves=leaves, persons=False)
        kappa = form.parameters["presence"]
        assert (kappa > 0) == (leaves or relation == "add-remove")
        whole = max(two, single + kappa**2) if relation == "replace-one" else single + kappa**2
        assert form.l2_squared == whole
        # presence rides free where the number of rows is public
        assert relation == "add-remove" or whole == two
        assert form.l1**2 >= form.l2_squared
        shared = series(basis, ends, terms, relation, leaves=leaves, persons=True)
        assert shared.l2_squared == shared.parameters["share"] ** 2 * whole


def test_the_printed_sensitivity_is_too_small() -> None:
    """Lecture notes §5.3: noise of scale m c_0 / (n epsilon) takes sums to change by m c_0 in l1: by more."""
    m = 10
    ends = tuple(np.linspace(0, 1, 1_025).tolist())
    psi = table("cosine", ends, m, SCALE[1])[1:].astype(np.float64) / SCALE[1]
    largest = max(np.abs(psi - psi[:, [b]]).sum(axis=0).max() for b in range(0, 1_024, 16))
    assert m * np.sqrt(2) * 1.2 < largest <= 2 * m * np.sqrt(2)


@pytest.mark.parametrize(
    "query",
    [
        tc.OrthogonalSeries("x", terms=6),
        tc.OrthogonalSeries("y", "legendre", terms=3, where="sex == 'f'"),
        tc.OrthogonalSeries("d", "fourier", terms=4),
        tc.OrthogonalSeries(["x", "k"], "haar", terms=3),
        tc.OrthogonalSeries(["x", "y", "k"], terms=2),
    ],
    ids=str,
)
def test_sums_are_those_of_the_rows_on_every_engine(query: tc.OrthogonalSeries) -> None:
    import polars as pl
    import pyarrow as pa

    data = rows()
    shape = shaped(query)
    (part,), d = shape.columns, len(query.columns)
    tables = [table(query.basis, edges(one, d), part.form.parameters["terms"], SCALE[d]) for one in shape.variables]
    kappa = part.form.parameters["presence"]
    total = np.zeros(len(part.form.matrix), dtype=object)
    for i in range(400):
        values = [data[name][i] for name in query.columns]
        values = [x.astype(int) if isinstance(x, np.datetime64) else x for x in values]
        cell = [key.index(float(x)) for key, x in zip(part.keys, values, strict=True)]
        if None in cell or (query.where is not None and data["sex"][i] != "f"):
            continue
        own = vector(tables, tuple(cell))[1:]
        total += np.array([*own, *([kappa] if kappa else [])], dtype=object)
    assert exact_integers(shape, data)[0].tolist() == [total.tolist()]
    for source in (data, pa.table(data), pl.DataFrame(data)):
        assert integers(shape, open_source(source, SCHEMA))[0] == (tuple(total.tolist()),)


def test_bins_of_few_values_have_few_terms() -> None:
    assert own_terms("cosine", 10, 64) == 7
    assert own_terms("legendre", 10, 64) == 6
    shape = shaped(tc.OrthogonalSeries(["x", "k"], terms=16))
    assert len(shape.columns[0].form.matrix) == 17 * 8
    assert np.allclose(edges(numeric(SCHEMA, "k", "a density"), 2), np.linspace(0, 1, 11))


def test_noise_is_of_one_vector() -> None:
    query = tc.OrthogonalSeries("x", terms=6)
    pure, zcdp, pair = (
        shaped(query, **price).columns[0] for price in ({"epsilon": 1}, {"rho": 1}, {"epsilon": 1, "delta": 1e-6})
    )
    assert isinstance(pure.law, SphericalLaplace)
    assert pure.law.dimension == len(pure.form.matrix) == 7
    assert isinstance(zcdp.law, RoundedNormal)
    assert isinstance(pair.law, RoundedNormal)
    alone = shaped(tc.OrthogonalSeries("y", terms=1), epsilon=1).columns[0]
    assert isinstance(alone.law, DiscreteLaplace)
    assert alone.form.l1**2 == alone.form.l2_squared


@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_releases_survive_json(price: dict[str, float], relation: str) -> None:
    for query in (tc.OrthogonalSeries("x", terms=4), tc.OrthogonalSeries(["d", "k"], "legendre", terms=3)):
        limits = {**price, "neighbors": relation}
        curator = tc.Curator(
            rows(), SCHEMA, budget=tc.Budget(**limits), size_hint=400 if relation != "replace-one" else None
        )
        release = curator.release(query, **price)
        again = release_from_dict(json.loads(release.to_json()))
        assert again == release
        assert again.to_json() == release.to_json()


@pytest.mark.parametrize("change", ["l1", "l2", "terms", "presence", "missing", "basis", "integers"])
def test_changed_documents_are_refused(change: str) -> None:
    curator = tc.Curator(rows(), SCHEMA, budget=tc.Budget(rho=1))
    words = json.loads(curator.release(tc.OrthogonalSeries("x"), rho=0.5).to_json())
    # without the digest a document is judged by what it says
    words.pop("digest", None)
    assert release_from_dict(words).to_dict() == {key: words[key] for key in release_from_dict(words).to_dict()}
    part = words["parts"][0]
    if change == "l1":
        part["sensitivity"]["l1"] += 1
    elif change == "l2":
        part["sensitivity"]["l2_squared"] -= 1
    elif change in ("terms", "presence"):
        part["parameters"][change] += 1
    elif change == "missing":
        words["variables"][0]["upper"] = 2.0
        words["variables"][0]["missing"] = "0.5"
    elif change == "basis":
        words["query"]["basis"] = "legendre"
    else:
        part["integers"][0] = part["integers"][0][:-1]
    with pytest.raises(ReleaseError):
        release_from_dict(words)


def test_terms_follow_from_public_facts() -> None:
    """More rows and a larger price afford more terms; the table's content does not enter."""

    def terms(n: int, **price: float) -> int:
        return shaped(tc.OrthogonalSeries("x"), n=n, **price).columns[0].form.parameters["terms"]

    found = [terms(n, epsilon=1) for n in (100, 1_000, 10_000, 100_000)]
    assert found == sorted(found)
    assert len(set(found)) == 4
    assert terms(1_000, epsilon=0.1) < terms(1_000, epsilon=1) < terms(1_000, epsilon=10)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"columns": "x", "basis": "cosin"}, "Q145"),
        ({"columns": "x", "basis": 3}, "Q145"),
        ({"columns": "x", "terms": 0}, "Q146"),
        ({"columns": "x", "terms": 65}, "Q146"),
        ({"columns": "x", "terms": True}, "Q146"),
        ({"columns": ["x", "y"], "terms": 17}, "Q146"),
        ({"columns": ["x", "y", "k", "d"]}, "Q146"),
        ({"columns": []}, "Q03"),
        ({"columns": "sex"}, "Q13"),
        ({"columns": "free"}, "Q12"),
        ({"columns": "nobody"}, "Q10"),
    ],
)
def test_what_cannot_be_asked_costs_nothing(asked: dict[str, Any], code: str) -> None:
    refused_at_no_cost(lambda: tc.OrthogonalSeries(**asked), code, rows(), SCHEMA)


def test_a_private_number_of_rows_needs_terms_or_a_hint() -> None:
    curator = tc.Curator(rows(), SCHEMA, budget=tc.Budget(rho=1, neighbors="add-remove"))
    with pytest.raises(QueryError) as caught:
        curator.release(tc.OrthogonalSeries("x"), rho=0.5)
    assert caught.value.code == "Q82"
    assert curator.release(tc.OrthogonalSeries("x", terms=4), rho=0.5).parts[0].parameters["terms"] == 4


def test_many_rows_do_not_overflow() -> None:
    """Sums are made of the last bits of counts and of the rest: as Python integers would be."""
    from tacit.method.orthogonal_series.mechanism import sums

    query = tc.OrthogonalSeries(["x", "y", "k"], "legendre", terms=7)
    shape = shaped(query)
    (part,) = shape.columns
    counts = np.zeros([key.size for key in part.keys], dtype=np.int64)
    counts[-1, -1, -1] = 2**41
    tables = [table("legendre", edges(one, 3), 7, SCALE[3]) for one in shape.variables]
    own = vector(tables, tuple(size - 1 for size in counts.shape))[1:]
    found = sums(shape, part, counts.reshape(-1))
    assert list(found[: len(own)]) == [2**41 * one for one in own]
    assert max(map(abs, found)) > 2**63


def test_functions_of_the_middle_are_near_the_averages() -> None:
    ends = tuple(np.linspace(0, 1, 1_025).tolist())
    middles = (np.array(ends[1:]) + np.array(ends[:-1])) / 2
    for basis in BASES:
        made = table(basis, ends, 5, SCALE[1])[1:] / SCALE[1]
        assert np.allclose(made, functions(basis, middles, 5), atol=2e-3)
