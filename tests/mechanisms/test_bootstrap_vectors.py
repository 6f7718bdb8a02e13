"""Bootstraps of several columns, of variances and of persons in several cells: one vector and one multiplicity."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from mechanisms.test_bootstrap import LEVEL, PRICE, SCHEMA, curator, engines, people, shaped, what_is_drawn
from scipy import stats

import tacit as tc
from tacit.curator.mechanisms import design, integers, measure
from tacit.errors import QueryError, ReleaseError
from tacit.method.bootstrap.design import vector
from tacit.method.bootstrap.estimate import linear
from tacit.method.bootstrap.mechanism import patterns
from tacit.method.bootstrap.mechanism_resampling import resampled
from tacit.method.bootstrap.price import resampling
from tacit.method.shared.measurement import Measurement, Public
from tacit.privacy import Cost
from tacit.privacy.bootstrap_cost import certify
from tacit.release.document import release_from_dict
from tacit.source import open_source
from tacit.testing.contract import contract

NORMAL = tc.SufficientStatistics("age", tc.families.Normal(mean=(0, 100), sd=(1, 40)))
VISITS = tc.Schema(
    {
        "user": tc.PrivacyUnit(max_rows=3),
        "x": tc.Real(0, 1),
        "y": tc.Integer(0, 10, missing=3),
        "g": tc.Category(["a", "b", "c"]),
    }
)
OF_PERSONS = [tc.Mean(["x", "y"], by="g"), tc.Count(by="g", where="y > 4"), tc.Variance("y", by="g")]


def visits(rows: int = 240, seed: int = 0) -> dict[str, object]:
    rng = np.random.default_rng(seed)
    found: dict[str, object] = {
        "user": [None if one == 0 else f"p{one}" for one in rng.integers(0, 80, rows)],
        "x": np.where(rng.random(rows) < 0.1, np.nan, rng.random(rows)),
        "y": np.where(rng.random(rows) < 0.1, np.nan, rng.integers(0, 11, rows)),
        "g": [None if one == 3 else "abc"[one] for one in rng.integers(0, 4, rows)],
    }
    return found


def of_persons(query: tc.Query, persons: int | None, replicates: int = 4) -> Measurement:
    neighbors = "add-remove" if persons is None else "replace-one"
    return design(tc.Bootstrap(query, replicates), Public(VISITS, neighbors, persons), Cost.of(**PRICE))


def persons_in(table: dict[str, object]) -> int:
    return len(set(table["user"]))  # type: ignore[arg-type]


# Columns --------------------------------------------------------------------------------------------------------------


FEW = tc.Schema({"x": tc.Integer(0, 3), "y": tc.Integer(0, 3)})


@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_columns_of_a_replicate_are_of_the_same_draws(neighbors: str) -> None:
    """Covariances of the exact sums are those of one multiplicity a row.  False alarms: LEVEL, by a normal bound."""
    x = np.random.default_rng(0).integers(0, 4, 300)
    public = Public(FEW, neighbors, 300 if neighbors == "replace-one" else None)
    shape = design(tc.Bootstrap(tc.Sum(["x", "y"]), 50), public, Cost.of(**PRICE))
    found, k = patterns(shape, open_source({"x": x, "y": np.minimum(x, 2)}, FEW)), 4_000
    weights = "multinomial" if neighbors == "replace-one" else "poisson"
    one, two = (sums[:, 0, 0].astype(np.float64) for sums in found.sums(resampled(found.counts, k, weights)))
    each = [sums[:, 0, 0].astype(np.float64) for sums in found.sums(np.eye(len(found.counts), dtype=np.int64))]
    n, a, b = found.counts.astype(np.float64), *each
    expected = n @ (a * b) - ((n @ a) * (n @ b) / 300 if neighbors == "replace-one" else 0.0)
    # products of nearly normal numbers: at most twice the product of the variances, 5% for their kurtosis
    reach = 1.05 * stats.norm.isf(LEVEL / 2) * np.sqrt(2 / k) * one.std() * two.std()
    assert abs(np.cov(one, two)[0, 1] - expected) < reach
    # and far from that of separate draws
    assert abs(expected) > 2 * reach


@pytest.mark.parametrize("statistic", [tc.Mean(["age", "educ", "married"]), tc.Variance(["age", "educ"], by="sex")])
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_columns_share_the_certified_cost(statistic: tc.Query, neighbors: str) -> None:
    rows = 300 if neighbors == "replace-one" else None
    shape = shaped(statistic, rows, neighbors)
    columns = vector(shape)
    assert [one.label for one in columns] == list(statistic.columns)  # type: ignore[attr-defined]
    assert len(shape.columns) == 50 * len(columns)
    mu_squared = sum((one.form.l2_squared / one.law.scale**2 for one in columns), Fraction(0))
    cost = certify(resampling(neighbors, rows), 50, mu_squared, Fraction(1, 10**7))
    assert cost.within(shape.cost)
    more = certify(resampling(neighbors, rows), 50, mu_squared * Fraction(101, 100), Fraction(1, 10**7))
    assert not more.within(shape.cost)
    release = curator(neighbors).release(tc.Bootstrap(statistic, 50), **PRICE)
    assert release.certified().mu_squared == mu_squared


def test_replicates_of_one_column_are_as_before_several_were_asked() -> None:
    """A question of one column has the same parts and the same words."""
    release = curator().release(tc.Bootstrap(tc.Mean("age"), 4), **PRICE)
    assert [part.label for part in release.parts] == ["age"] * 4
    assert release.query.to_dict() == {
        "query": "Bootstrap",
        "statistic": {"query": "Mean", "columns": ["age"]},
        "replicates": 4,
    }


@pytest.mark.sample(2)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_variances_are_linear_about_the_average_moments(neighbors: str) -> None:
    """With little noise each replicate is nearly the variance of its own sample, and their average the table's."""
    table = people()
    asked = tc.Bootstrap(tc.Variance(["age", "married"]), 6)
    price = {"epsilon": 90, "delta": 1e-6}
    release = tc.Curator(table, SCHEMA, budget=tc.Budget(**price, neighbors=neighbors)).release(asked, **price)
    found = linear(release)
    for j, truth in enumerate((np.clip(table["age"], 0, 100).var(ddof=1), table["married"].var(ddof=1))):
        # the average of six samples: within six standard errors, which fails less than once in 1e8
        spread = found.values[:, j].std(ddof=1)
        assert abs(found.values[:, j].mean() - truth) < 6 * max(spread, float(np.sqrt(found.noise[j]))) + 0.05 * truth


def test_the_noise_of_variances_is_that_of_their_derivatives() -> None:
    """The variance of a term's noise, by moving one integer at a time."""
    release = curator("add-remove").release(tc.Bootstrap(tc.Variance("age", by="sex"), 8), **PRICE)
    found, law = linear(release), release.parts[0].law
    total = np.zeros(2)
    for i in range(3):
        for cell in range(2):
            # both ways in two replicates, so that the averages about which they are linear stay where they are
            moved = [[list(map(int, one)) for one in part.integers] for part in release.parts]
            moved[0][cell][i] += 1_000
            moved[1][cell][i] -= 1_000
            parts = tuple(
                replace(part, integers=tuple(map(tuple, one))) for part, one in zip(release.parts, moved, strict=True)
            )
            step = (linear(replace(release, parts=parts)).values - found.values) / 1_000
            assert step[0] == pytest.approx(-step[1])
            total += step[0] ** 2
    assert found.noise == pytest.approx(total * float(law.variance()), rel=1e-6)


def test_statistics_of_a_family_are_those_of_its_own_question() -> None:
    asked = curator()
    release = asked.release(tc.Bootstrap(NORMAL, 8), epsilon=20, delta=1e-6)
    found = release.estimate(errors="most conservative")
    shape = design(NORMAL, Public(SCHEMA, "replace-one", 300), Cost.of(rho=1))
    assert found.terms == tuple(part.label for part in shape.columns)
    age = np.clip(people()["age"], 0, 100)
    # six standard errors: false alarms below 1e-8
    assert np.all(np.abs(found.values - [age.mean(), ((age - 50) ** 2).mean()]) < 6 * found.std_errors)
    assert "Normal law of age" in found.title
    assert release_from_dict(json.loads(release.to_json())) == release
    with pytest.raises(QueryError, match="Q120"):
        tc.Bootstrap(replace(NORMAL, method="chen-sung"))


def test_terms_of_the_same_rows_are_correlated() -> None:
    """A column and its square root: their averages rise and fall together, and a difference is known better."""
    schema = tc.Schema({"x": tc.Real(0, 1), "z": tc.Real(0, 1)})
    x = np.random.default_rng(3).random(300)
    price = {"epsilon": 90, "delta": 1e-6}
    release = tc.Curator({"x": x, "z": np.sqrt(x)}, schema, budget=tc.Budget(**price)).release(
        tc.Bootstrap(tc.Mean(["x", "z"]), 50), **price
    )
    found = release.estimate(errors="unbiased")
    cov = found.cov.to_numpy()
    assert np.linalg.eigvalsh(cov)[0] >= -1e-15
    # 50 replicates tell a correlation of .98, and hardly any noise, from .5 but once in far more than a million
    assert cov[0, 1] / np.sqrt(cov[0, 0] * cov[1, 1]) > 0.5
    assert found.contrast("x - z").std_error < found.std_errors.max()
    assert 0 <= found.test("x = 0.5, z = 0.6").p_value <= 1


def test_documents_of_several_columns_are_checked() -> None:
    words = curator().release(tc.Bootstrap(tc.Mean(["age", "educ"]), 4), **PRICE).to_dict()
    first, second, *rest = words["parts"]
    for parts in ([second, first, *rest], words["parts"][:7], [first, first, *rest]):
        with pytest.raises(ReleaseError):
            release_from_dict({**words, "parts": parts})


# Persons ----------------------------------------------------------------------------------------------------------


@pytest.mark.long
def test_contract_of_persons_in_several_cells() -> None:
    """Each noise law and each audit is wrong once in a million."""
    assert contract(tc.Bootstrap(tc.Mean("x", by="g"), 2), VISITS, tables=24, draws=20_000).passed


def test_a_whole_person_changes_no_more_than_declared() -> None:
    """One person in an otherwise empty table, with rows in any cells: the squared norm of all that is added."""
    shape = of_persons(tc.Mean(["x", "y"], by="g"), None)
    columns, rng = vector(shape), np.random.default_rng(1)
    at_ends = [[(0.0, 10, "a")] * 3, [(1.0, 0, "b")], [(1.0, 10, "a"), (0.0, 0, "b"), (1.0, 10, "c")]]
    drawn = [
        [(rng.random(), int(rng.integers(0, 11)), "abc"[rng.integers(0, 3)]) for _ in range(rng.integers(1, 5))]
        for _ in range(20)
    ]
    reached = [0] * len(columns)
    for rows in (*at_ends, *drawn):
        x, y, g = zip(*rows, strict=True)
        table = {"user": ["p"] * len(rows), "x": list(x), "y": list(y), "g": list(g)}
        found = integers(replace(shape, columns=columns), open_source(pa.table(table), VISITS))
        norms = [sum(v * v for cell in cells for v in cell) for cells in found]
        reached = [max(one, norm) for one, norm in zip(reached, norms, strict=True)]
    # attained by a person at a bound with all rows in one cell
    assert reached == [column.form.l2_squared for column in columns]


def test_a_person_is_drawn_with_all_cells() -> None:
    """Persons with a row in each of two cells: their counts agree in every sample."""
    schema = tc.Schema({"user": tc.PrivacyUnit(max_rows=2), "g": tc.Category(["a", "b"])})
    table = {"user": np.repeat(np.arange(300), 2), "g": ["a", "b"] * 300}
    for persons, weights in ((300, "multinomial"), (None, "poisson")):
        neighbors = "add-remove" if persons is None else "replace-one"
        shape = design(tc.Bootstrap(tc.Count(by="g"), 50), Public(schema, neighbors, persons), Cost.of(**PRICE))
        found = patterns(shape, open_source(table, schema))
        (sums,) = found.sums(resampled(found.counts, 40, weights))
        assert np.array_equal(sums[:, 0, 0], sums[:, 1, 0])
        # and samples differ where the numbers of draws do: 40 Poisson numbers of mean 300 are hardly ever equal
        assert len(np.unique(sums[:, 0, 0])) == 1 if persons else len(np.unique(sums[:, 0, 0])) > 1


@pytest.mark.parametrize("statistic", OF_PERSONS)
def test_one_draw_of_each_person_is_the_plain_question(statistic: tc.Query) -> None:
    """The exact integers are those of the plain question's own sums over persons, by the same engine."""
    table = visits()
    shape = of_persons(statistic, persons_in(table))
    source = open_source(pa.table(table), VISITS)
    found = integers(replace(shape, columns=vector(shape)), source)
    for cells, column in zip(found, vector(shape), strict=True):
        sums = source.aggregate(shape.keys, column.terms, shape.unit, shape.where)
        assert cells == tuple(column.form.assemble(one) for one in sums.cells)


@pytest.mark.parametrize("statistic", OF_PERSONS)
def test_every_engine_sees_the_same_persons(statistic: tc.Query, tmp_path: Path) -> None:
    table = {name: list(values) for name, values in visits().items()}  # type: ignore[call-overload]
    shape = of_persons(statistic, persons_in(visits()))
    frames = engines(pa.table(table).to_pydict(), tmp_path)[1:]  # type: ignore[arg-type]
    found = [what_is_drawn(shape, one, VISITS) for one in frames]
    assert all(one == found[0] for one in found)
    assert sum(row[-1] for row in found[0]) == shape.rows


@pytest.mark.parametrize("persons", [True, False])
def test_releases_of_persons_survive_json_and_estimate(persons: bool) -> None:
    table = visits(1_200)
    neighbors = "replace-one" if persons else "add-remove"
    asked = tc.Curator(pa.table(table), VISITS, budget=tc.Budget(epsilon=90, delta=1e-6, neighbors=neighbors))
    release = asked.release(tc.Bootstrap(tc.Mean(["x", "y"], by="g"), 40), epsilon=40, delta=1e-6)
    assert release_from_dict(json.loads(release.to_json())) == release
    found, plain = (
        release.estimate(errors="most conservative"),
        asked.release(tc.Mean(["x", "y"], by="g"), epsilon=40, delta=1e-7),
    )
    assert found.terms == plain.estimate().terms
    # six standard errors either way: false alarms below 1e-8
    gap = np.abs(found.values - plain.estimate().values)
    assert np.all(gap < 6 * (found.std_errors + plain.estimate().std_errors))
    assert np.linalg.eigvalsh(found.cov.to_numpy())[0] >= -1e-12


def test_bad_cells_and_empty_tables_are_answered() -> None:
    table = {
        "user": [None, "a", "a", "b"],
        "x": [np.inf, np.nan, -np.inf, 2.0],
        "y": [None, 3, -9, 99],
        "g": ["zzz", None, "a", "b"],
    }
    empty = {name: pa.array([], type=pa.table(table)[name].type) for name in table}
    for data, persons in ((table, 3), (empty, None)):
        shape = of_persons(tc.Mean(["x", "y"], by="g"), persons)
        parts = measure(shape, open_source(pa.table(data), VISITS))
        assert [len(part.integers) for part in parts] == [3] * 8
