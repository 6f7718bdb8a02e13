"""Bernstein: sensitivity by all pairs, exact sums on every engine, the contract, and what is refused."""

from __future__ import annotations

import json
from itertools import product
from typing import Any

import numpy as np
import pytest
from refused_questions import refused_at_no_cost

import tacit as tc
from tacit.curator.mechanisms import design, integers
from tacit.errors import InferenceError, QueryError, ReleaseError
from tacit.method.bernstein import encoding
from tacit.method.bernstein.encoding import FINE, apart, lattice, parts, steps
from tacit.method.bernstein.lattice_bins import unit_edges
from tacit.method.orthogonal_series import encoding as series_encoding
from tacit.method.shared.measurement import Measurement, Public
from tacit.method.shared.numeric_columns import support
from tacit.method.shared.weighted_encoding import FINE as PARTS
from tacit.method.shared.weighted_encoding import SHARE
from tacit.noise.laws import DiscreteLaplace, RoundedNormal
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.rows.row_map import PersonWeight
from tacit.source import open_source
from tacit.testing.contract import contract
from tacit.testing.findings import RELATIONS
from tacit.testing.simulate import exact_integers

SCHEMA = tc.Schema(
    {
        "x": tc.Real(0, 1),
        "y": tc.Real(-2, 5, missing=0.5),
        "k": tc.Integer(0, 9),
        "wide": tc.Integer(0, 50_000, missing=0),
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
    x[6:10] = [0.25, 0.5, 0.75, 0.3]
    return {
        "x": x,
        "y": np.where(rng.random(n) < 0.1, np.nan, rng.normal(1, 2, n)),
        "k": rng.integers(0, 10, n),
        "wide": rng.integers(0, 50_001, n),
        "d": np.datetime64("2024-01-01") + rng.integers(0, 366, n),
        "sex": rng.choice(["f", "m"], n),
        "free": rng.normal(size=n),
    }


def shaped(query: tc.Query, relation: str = "replace-one", n: int | None = 400, **price: float) -> Measurement:
    return design(
        query, Public(SCHEMA, relation, n if relation == "replace-one" else None), Cost.of(**(price or {"rho": 1}))
    )


@pytest.mark.parametrize(
    ("query", "schema"),
    [
        (tc.Bernstein("x", degree=6), SCHEMA),
        *(
            pytest.param(*one, marks=pytest.mark.long)
            for one in (
                (tc.Bernstein("y", degree=8), SCHEMA),
                (tc.Bernstein("k", degree=7, where="x > 0.5"), SCHEMA),
                (tc.Bernstein("d", degree=5, order=3), SCHEMA),
                (tc.Bernstein("k", degree=4), PERSONS),
                (tc.Bernstein("x", degree=4), PERSONS),
            )
        ),
    ],
    ids=lambda one: str(one) if isinstance(one, tc.Query) else "",
)
def test_contract(query: tc.Query, schema: tc.Schema) -> None:
    """Each noise law and each audit is wrong once in a million."""
    assert contract(query, schema, tables=12, draws=20_000).passed


@pytest.mark.parametrize("edges", [EVEN, UNEVEN, (0.0, 0.5, 1.0), (0.0, 1.0)])
@pytest.mark.parametrize("degree", [2, 5, 8])
@pytest.mark.parametrize("S", [1, 7, FINE])
def test_sensitivity_is_the_largest_over_all_pairs_of_rows(edges: tuple[float, ...], degree: int, S: int) -> None:
    """What rows add, one by one in Python integers, beside what the design declares, in both norms."""
    vectors = [tuple(int(x) for x in column) for column in steps(edges, degree, S).T]
    for relation, leaves in product(RELATIONS, (False, True)):
        form = lattice(edges, degree, S, relation, leaves=leaves, persons=False)
        presence = leaves or relation == "add-remove"
        present = [(*one, *([S] if presence else [])) for one in vectors]
        nothing = (0,) * len(present[0])
        pairs = [(one, nothing) for one in present]
        if relation == "replace-one":
            pairs = [(a, b) for a in present for b in present] + (pairs if leaves else [])
        changes = [[x - y for x, y in zip(a, b, strict=True)] for a, b in pairs]
        assert form.l1 == max(sum(map(abs, one)) for one in changes)
        assert form.l2_squared == max(sum(x * x for x in one) for one in changes)
        assert len(form.corner) == len(form.matrix) == len(nothing)
        assert sum(map(abs, form.corner)) == form.l1
        if presence:  # without it a person's rounding counts: the test of few bins
            shared = lattice(edges, degree, S, relation, leaves=leaves, persons=True)
            part = parts(S)
            assert (shared.l1, shared.l2_squared) == (part * form.l1, part**2 * form.l2_squared)


@pytest.mark.parametrize("degree", [2, 3, 40, 256])
def test_the_exact_sensitivity_is_below_the_printed_bound(degree: int) -> None:
    """The source takes the largest change of the function, 1, at each of k + 1 values; both ends do not change."""
    edges = tuple(j / degree for j in range(degree + 1))
    assert apart(edges, degree, 1) == ((degree - 1, degree - 1), (degree - 1, degree - 1))
    one, other = (lattice(edges, degree, 1, name, leaves=False, persons=False) for name in RELATIONS)
    assert (one.l1, one.l2_squared) == (degree - 1, degree - 1)
    assert (other.l1, other.l2_squared) == (degree, degree)
    assert one.l1 < other.l1 < degree + 1


def furthest(added: np.ndarray) -> tuple[int, int]:
    """The largest distance of two of these vectors, in l1 and squared l2; shape (vectors, integers)."""
    far = [np.abs(added - one) for one in added]
    return max(int(one.sum(axis=1).max()) for one in far), max(int((one**2).sum(axis=1).max()) for one in far)


def test_persons_parts_of_weight_move_sums_no_further_than_one_whole_row() -> None:
    """A thousand persons whose weight is divided at random among bins, and the ends, where it is attained."""
    edges, rng = tuple(j / 6 for j in range(7)), np.random.default_rng(1)
    values = steps(edges, 6, 1)
    form = lattice(edges, 6, 1, "replace-one", leaves=True, persons=True)
    whole = np.vstack([values, np.ones(6, dtype=np.int64)])
    made = [rng.multinomial(parts(1), rng.dirichlet(np.full(7, 0.3)))[:6] for _ in range(1_000)]
    made += [np.array([parts(1), 0, 0, 0, 0, 0]), np.zeros(6, dtype=np.int64)]
    added = np.array([whole @ one for one in made])
    assert furthest(added) == (form.l1, form.l2_squared)


@pytest.mark.parametrize(
    ("bins", "degree", "S"), [(2, 5, FINE), (3, 7, FINE), (4, 8, FINE), (2, 2, FINE), (5, 5, 1), (1, 6, FINE)]
)
def test_no_two_persons_are_further_apart_than_declared_where_weights_are_rounded_down(
    bins: int, degree: int, S: int
) -> None:
    """Bins wider than the lattice: a person of many rows has up to B - 1 less than the whole.  Attained."""
    edges = tuple(j / bins for j in range(bins + 1))
    values, weight = steps(edges, degree, S).astype(object), PersonWeight(parts(S))
    found = set[tuple[int, ...]]()
    for rows in (1, 2, 3, parts(S) + 1, 2 * parts(S) - 1):
        few = sorted({0, 1, 2, rows // 3, rows // 2, *range(max(0, rows - bins), rows + 1)})
        counted = (one for one in product(few, repeat=bins) if sum(one) == rows)
        found |= {tuple(weight.value(c, rows) for c in one) for one in counted}
    added = np.array([[int(x) for x in values @ np.array(one, dtype=object)] for one in found])
    form = lattice(edges, degree, S, "replace-one", leaves=False, persons=True)
    assert furthest(added) == (form.l1, form.l2_squared)


@pytest.mark.parametrize(
    "query",
    [
        tc.Bernstein("x", degree=8),
        tc.Bernstein("y", degree=7, where="sex == 'f'"),
        tc.Bernstein("k", degree=4),
        pytest.param(tc.Bernstein("d", degree=12), marks=pytest.mark.long),
        pytest.param(tc.Bernstein("wide", degree=9), marks=pytest.mark.long),
    ],
    ids=str,
)
def test_sums_are_those_of_the_rows_on_every_engine(query: tc.Bernstein) -> None:
    import polars as pl
    import pyarrow as pa

    data, shape = rows(), shaped(query)
    (part,), (one,) = shape.columns, shape.variables
    facts = part.form.parameters
    values = steps(unit_edges(one, facts["degree"]), facts["degree"], facts["G"])
    total = np.zeros(len(part.form.matrix), dtype=object)
    for i in range(400):
        found = data[query.column][i]
        at = part.keys[0].index(float(found.astype(int) if isinstance(found, np.datetime64) else found))
        if at is None or (query.where is not None and data["sex"][i] != "f"):
            continue
        total += np.array([*map(int, values[:, at]), *([facts["G"]] if facts["presence"] else [])], dtype=object)
    assert exact_integers(shape, data)[0].tolist() == [total.tolist()]
    for source in (data, pa.table(data), pl.DataFrame(data)):
        assert integers(shape, open_source(source, SCHEMA))[0] == (tuple(total.tolist()),)


def test_real_columns_release_the_numbers_of_rows_below_each_value() -> None:
    """Straight from the rows: no bin, no table."""
    data = rows()
    x = data["x"][np.isfinite(data["x"])]
    counted = [int((np.clip(x, 0, 1) < j / 4).sum()) for j in (1, 2, 3)]
    found = exact_integers(shaped(tc.Bernstein("x", degree=4)), data)[0][0].tolist()
    assert found == [*counted, found[-1]]
    whole = exact_integers(shaped(tc.Bernstein("k", degree=10)), data)[0][0] / FINE
    assert whole[:9].tolist() == [(data["k"] < j).sum() for j in range(1, 10)]


def test_whole_numbers_between_lattice_values_are_divided() -> None:
    """Ten values on a lattice of four: the share below 1/4 is that of 0 and 1, and half of that of 2."""
    shape = shaped(tc.Bernstein("k", degree=4))
    assert support(shape.variables[0]) == (-0.5, 9.5)
    values = steps(unit_edges(shape.variables[0], 4), 4, FINE)
    assert values[0].tolist() == [FINE, FINE, FINE // 2, 0, 0, 0, 0, 0, 0, 0]
    assert values[1].tolist() == [FINE] * 5 + [0] * 5


def test_noises_are_independent() -> None:
    query = tc.Bernstein("x", degree=6)
    pure, zcdp, pair = (
        shaped(query, **price).columns[0] for price in ({"epsilon": 1}, {"rho": 1}, {"epsilon": 1, "delta": 1e-6})
    )
    assert isinstance(pure.law, DiscreteLaplace)
    assert pure.law.scale == pure.form.l1 == 6
    assert isinstance(zcdp.law, RoundedNormal)
    assert isinstance(pair.law, RoundedNormal)
    assert shaped(tc.Bernstein("y", degree=6)).columns[0].form.l1 == 5


def test_many_rows_do_not_overflow() -> None:
    from tacit.method.bernstein.mechanism import sums

    shape = shaped(tc.Bernstein("k", degree=4))
    (part,) = shape.columns
    found = sums(shape, part, np.array([2**60, *[0] * 9], dtype=np.int64))
    assert found == (FINE * 2**60,) * 4


@pytest.mark.sample(3)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.5}, {"epsilon": 1, "delta": 1e-6}])
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_releases_survive_json(price: dict[str, float], relation: str) -> None:
    for query in (tc.Bernstein("x"), tc.Bernstein("d", degree=12, order=3)):
        limits = {**price, "neighbors": relation}
        hint = 400 if relation != "replace-one" else None
        curator = tc.Curator(rows(), SCHEMA, budget=tc.Budget(**limits), size_hint=hint)
        release = curator.release(query, **price)
        again = release_from_dict(json.loads(release.to_json()))
        assert again == release
        assert again.to_json() == release.to_json()
        assert again.cdf([again.variables[0].upper]).values.tolist() == [1.0]


@pytest.mark.parametrize("change", ["l1", "l2", "degree", "asked", "presence", "missing", "kind", "integers"])
def test_changed_documents_are_refused(change: str) -> None:
    curator = tc.Curator(rows(), SCHEMA, budget=tc.Budget(rho=1))
    words = json.loads(curator.release(tc.Bernstein("x"), rho=0.5).to_json())
    # without the digest a document is judged by what it says
    words.pop("digest", None)
    assert release_from_dict(words).to_dict() == {key: words[key] for key in release_from_dict(words).to_dict()}
    part = words["parts"][0]
    if change == "l1":
        part["sensitivity"]["l1"] += 1
    elif change == "l2":
        part["sensitivity"]["l2_squared"] -= 1
    elif change in ("degree", "presence"):
        part["parameters"][change] += 1
    elif change == "asked":
        words["query"]["degree"] = part["parameters"]["degree"] + 1
    elif change == "missing":
        words["variables"][0]["missing"] = "0.5"
    elif change == "kind":
        words["variables"][0]["kind"] = "integer"
    else:
        part["integers"][0] = part["integers"][0][:-1]
    with pytest.raises(ReleaseError):
        release_from_dict(words)


@pytest.mark.parametrize("query", [tc.Bernstein("x", degree=6), tc.OrthogonalSeries("x", terms=4)], ids=str)
def test_releases_of_persons_from_before_finer_parts_are_read(query: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Until version 0.2 a person's weight was divided in 1,024 parts; today's document of such parts is another."""
    schema = tc.Schema({"x": tc.Real(0, 1, missing=0.0), "who": tc.PrivacyUnit(max_rows=3)})
    table = {"x": np.linspace(0, 1, 90), "who": np.repeat(np.arange(30), 3)}
    curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=2, neighbors="replace-one"))
    finer = curator.release(query, epsilon=1)
    with monkeypatch.context() as patch:
        patch.setattr(encoding, "parts", lambda S: SHARE)
        patch.setattr(series_encoding, "PARTS", {1: SHARE})
        former = curator.release(query, epsilon=0.5)
    assert (former.parts[0].parameters["share"], finer.parts[0].parameters["share"]) == (SHARE, PARTS)
    again = release_from_dict(json.loads(former.to_json()))
    assert again == former
    # the noise is the same part of a person: at half the price twice as much
    scales = [float(one.parts[0].law.variance()) ** 0.5 / one.parts[0].parameters["share"] for one in (former, finer)]
    assert scales[0] == pytest.approx(2 * scales[1], rel=1e-3)
    words = json.loads(former.to_json())
    words.pop("digest", None)
    words["parts"][0]["parameters"]["share"] = 512
    with pytest.raises(ReleaseError):
        release_from_dict(words)


def test_degrees_follow_from_public_facts() -> None:
    """More rows and a larger price afford a larger degree, a higher order needs a smaller one; no row enters."""

    def degree(n: int, order: int = 2, **price: float) -> int:
        return shaped(tc.Bernstein("x", order=order), n=n, **price).columns[0].form.parameters["degree"]

    found = [degree(n, epsilon=1) for n in (100, 1_000, 10_000, 100_000)]
    assert found == sorted(found)
    assert len(set(found)) == 4
    assert degree(1_000, epsilon=0.1) < degree(1_000, epsilon=1) < degree(1_000, epsilon=10)
    assert degree(10_000, 4, epsilon=1) < degree(10_000, 2, epsilon=1) < degree(10_000, 1, epsilon=1)


@pytest.mark.parametrize(
    ("asked", "code"),
    [
        ({"column": "x", "degree": 1}, "Q320"),
        ({"column": "x", "degree": 257}, "Q320"),
        ({"column": "x", "degree": True}, "Q320"),
        ({"column": "x", "degree": 4.0}, "Q320"),
        ({"column": "x", "degree": "4"}, "Q320"),
        ({"column": "x", "order": 0}, "Q321"),
        ({"column": "x", "order": 5}, "Q321"),
        ({"column": "x", "order": None}, "Q321"),
        ({"column": ["x", "y"]}, "Q03"),
        ({"column": "sex"}, "Q13"),
        ({"column": "free"}, "Q12"),
        ({"column": "nobody"}, "Q10"),
    ],
)
def test_what_cannot_be_asked_costs_nothing(asked: dict[str, Any], code: str) -> None:
    refused_at_no_cost(lambda: tc.Bernstein(**asked), code, rows(), SCHEMA)


def test_a_private_number_of_rows_needs_a_degree_or_a_hint() -> None:
    curator = tc.Curator(rows(), SCHEMA, budget=tc.Budget(rho=1, neighbors="add-remove"))
    with pytest.raises(QueryError) as caught:
        curator.release(tc.Bernstein("x"), rho=0.5)
    assert caught.value.code == "Q82"
    assert curator.release(tc.Bernstein("x", degree=4), rho=0.5).degree == 4


def test_columns_of_two_values_have_an_answer() -> None:
    schema = tc.Schema({"i": tc.Integer(0, 1), "d": tc.Date("2024-01-01", "2024-01-03")})
    data = {"i": [0, 1] * 50, "d": np.array(["2024-01-01", "2024-01-03"] * 50, dtype="datetime64[D]")}
    curator = tc.Curator(data, schema, budget=tc.Budget(rho=1_000))
    assert np.allclose(curator.release(tc.Bernstein("i", degree=2), rho=500).cdf([0, 1]).values, [0.5, 1], atol=5e-3)
    assert curator.release(tc.Bernstein("d", degree=3), rho=500).estimate().values[-1] == 1.0


@pytest.mark.parametrize("given", [{"at": []}, {"at": [np.nan]}, {"at": np.zeros(1_001)}, {"at": 0.5, "order": 5}])
def test_values_and_orders_that_there_are_not(given: dict[str, Any]) -> None:
    release = tc.Curator(rows(), SCHEMA, budget=tc.Budget(rho=1)).release(tc.Bernstein("x", degree=5), rho=0.5)
    for asked in (release.cdf, release.density):
        with pytest.raises(InferenceError) as caught:
            asked(**given)
        assert caught.value.code == "I05"
