"""Noisy bootstrap replicates: contract, what leaves, what is charged, and what is refused."""

from __future__ import annotations

import json
from dataclasses import replace
from fractions import Fraction
from pathlib import Path

import numpy as np
import pyarrow.parquet as pq
import pytest
from scipy import stats

import tacit as tc
from tacit.curator.mechanisms import design, integers, measure
from tacit.errors import BudgetError, InferenceError, QueryError, ReleaseError
from tacit.method.bootstrap.estimate import BootstrapRelease, linear
from tacit.method.bootstrap.mechanism import patterns
from tacit.method.bootstrap.price import resampling
from tacit.method.shared.measurement import Measurement, Public
from tacit.noise.laws import RoundedNormal
from tacit.privacy import Cost
from tacit.privacy.bootstrap_cost import certify
from tacit.privacy.bootstrap_profiles import normal_profile
from tacit.privacy.calibration import root_up
from tacit.release.document import release_from_dict
from tacit.source import open_source
from tacit.testing.contract import contract

SCHEMA = tc.Schema(
    {
        "age": tc.Real(0, 100),
        "educ": tc.Integer(1, 16, missing=9),
        "sex": tc.Category(["f", "m"]),
        "married": tc.Boolean(),
    }
)
PRICE = {"epsilon": 5, "delta": 1e-6}
SUMS = [
    tc.Mean("age"),
    tc.Mean("educ", where="age > 40"),
    tc.Sum("age"),
    tc.Mean("married", by="sex"),
    tc.Count(by="sex"),
    tc.Variance(["age", "married"], by="sex"),
    tc.Sum(["age", "educ"]),
    tc.Count(by=["age", "sex"], bins={"age": [0, 30, 50, 100]}),
]
LEVEL = 1e-6
"""False-alarm rate of each comparison of draws with a law."""


def people(rows: int = 300, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {
        "age": rng.normal(45, 15, rows).round(1),
        "educ": rng.integers(1, 17, rows),
        "sex": rng.choice(["f", "m"], rows),
        "married": rng.random(rows) < 0.4,
    }


def curator(neighbors: str = "replace-one", rows: int = 300, **budget: object) -> tc.Curator:
    limits = budget or {"epsilon": 100, "delta": 1e-6}
    return tc.Curator(people(rows), SCHEMA, budget=tc.Budget(**limits, neighbors=neighbors))


def shaped(query: tc.Query, rows: int | None, neighbors: str = "replace-one", replicates: int = 50) -> Measurement:
    return design(tc.Bootstrap(query, replicates), Public(SCHEMA, neighbors, rows), Cost.of(**PRICE))


@pytest.mark.sample(2)
@pytest.mark.parametrize(
    "statistic",
    [SUMS[3], SUMS[5], *(pytest.param(one, marks=pytest.mark.long) for one in SUMS if one not in (SUMS[3], SUMS[5]))],
)
def test_contract(statistic: tc.Query) -> None:
    """Each noise law and each audit is wrong once in a million."""
    assert contract(tc.Bootstrap(statistic, 4), SCHEMA, tables=24, draws=20_000).passed


def squares_of(shape: Measurement, table: dict[str, np.ndarray]) -> np.ndarray:
    """The sum over rows of the squares of what each adds to the integers of each cell."""
    column, found = shape.columns[0], np.zeros((shape.cells, len(shape.columns[0].form.matrix)))
    at = column.rowmap
    values = at.numpy(table[at.column].astype(float))[0] if at is not None else np.zeros(300, dtype=int)
    for i in range(300):
        cell = int(shape.cells > 1 and table["sex"][i] == "m")
        if shape.cells == 6:
            cell += 2 * int(np.searchsorted([30, 50], table["age"][i], side="right"))
        if shape.where is None or table["age"][i] > 40:
            found[cell] += np.array(column.form.row(int(values[i]))) ** 2
    return found


@pytest.mark.sample(4)
@pytest.mark.parametrize("statistic", SUMS)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_replicates_vary_as_the_bootstrap_and_the_noise_do(statistic: tc.Query, neighbors: str) -> None:
    """The whole path beside the law that studies simulate: mean and variance of replicates.  False alarms: LEVEL."""
    table, k = people(), 1_000
    shape = shaped(statistic, 300 if neighbors == "replace-one" else None, neighbors)
    many = replace(shape, columns=shape.columns[:1] * k)
    source = open_source(table, SCHEMA)
    parts = measure(many, source)
    found = np.array([part.integers for part in parts], dtype=np.float64)
    exact = np.array(integers(many, source)[0], dtype=np.float64)
    noise = float(shape.columns[0].law.variance())
    variance = squares_of(shape, table) - (exact**2 / 300 if neighbors == "replace-one" else 0) + noise
    z = stats.norm.isf(LEVEL / exact.size / 4)
    assert np.all(np.abs(found.mean(axis=0) - exact) < z * np.sqrt(variance / k))
    low, high = stats.chi2.ppf([LEVEL / exact.size / 4, 1 - LEVEL / exact.size / 4], k - 1) / (k - 1)
    # sums of hundreds of rows and normal noise are nearly normal: 5% for their kurtosis
    ratio = found.var(axis=0, ddof=1) / variance
    assert np.all((0.95 * low < ratio) & (ratio < 1.05 * high))


def test_the_noise_is_that_of_the_certified_cost() -> None:
    shape = shaped(tc.Mean("age"), 300)
    (each, *_) = shape.columns
    mu_squared = each.form.l2_squared / each.law.scale**2
    cost = certify(resampling("replace-one", 300), 50, mu_squared, Fraction(1, 10**7))
    assert cost.within(shape.cost)
    assert cost.delta(5) <= Fraction(1, 10**6)
    # a hundredth more in each replicate is more than was bought
    assert not certify(resampling("replace-one", 300), 50, mu_squared * Fraction(101, 100), Fraction(1, 10**7)).within(
        shape.cost
    )


def test_a_replicate_is_less_private_than_its_own_noise() -> None:
    """An audit finds that a row drawn several times is not protected as one: the published claim fails.

    False alarms: LEVEL.
    """
    schema, draws, mu, epsilon = tc.Schema({"x": tc.Real(0, 1, missing="none")}), 40_000, Fraction(13, 10), 4
    one = design(tc.Bootstrap(tc.Mean("x"), 2), Public(schema, "replace-one", 4), Cost.of(epsilon=5, delta="1e-3"))
    each = one.columns[0]
    law = RoundedNormal(root_up(each.form.l2_squared / mu**2))
    many = replace(one, columns=(replace(each, law=law),) * draws)
    found = []
    for last in (0.0, 1.0):
        parts = measure(many, open_source({"x": np.array([0.0, 0, 0, last])}, schema))
        found.append(np.array([part.integers[0][0] for part in parts], dtype=np.float64))
    near, far = found
    # an event that a row drawn more than once makes likely; its place follows from public facts: all rows at the bound
    threshold = -4 * each.form.parameters["G"] / 2 + 4 * float(law.scale)
    hits = [int((sample > threshold).sum()) for sample in (far, near)]
    low = stats.beta.ppf(LEVEL / 2, hits[0], draws - hits[0] + 1)
    high = stats.beta.ppf(1 - LEVEL / 2, hits[1] + 1, draws - hits[1])
    proven = low - np.exp(epsilon) * high
    claimed = float(normal_profile(float(mu), np.array([float(epsilon)]))[0])
    certified = certify(resampling("replace-one", 4), 1, mu**2, Fraction(1, 100)).delta(epsilon)
    assert claimed < proven <= certified


@pytest.mark.sample(3)
@pytest.mark.parametrize("statistic", [*SUMS, tc.Sum("married", by="sex")])
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_releases_survive_json_and_estimate(statistic: tc.Query, neighbors: str) -> None:
    release = curator(neighbors).release(tc.Bootstrap(statistic, 8), **PRICE)
    again = release_from_dict(json.loads(release.to_json()))
    assert again == release
    assert isinstance(again, BootstrapRelease)
    found, plain = (
        again.estimate(errors="most conservative"),
        curator(neighbors).release(statistic, epsilon=90, delta=1e-6),
    )
    assert found.terms == plain.estimate().terms
    assert again.replicates().shape == (8, len(found.terms))
    # six standard errors either way: false alarms below 1e-8
    assert np.all(np.abs(found.values - plain.estimate().values) < 6 * (found.std_errors + plain.estimate().std_errors))
    assert np.all(again.estimate("table").std_errors <= found.std_errors)
    assert not again.estimate("table").sampling_variances.any()


def test_documents_that_were_changed_are_refused() -> None:
    words = curator().release(tc.Bootstrap(tc.Mean("age"), 4), **PRICE).to_dict()
    for change in (
        {"parts": words["parts"][:3]},
        {"query": {**words["query"], "replicates": 5}},
        {"parts": [{**words["parts"][0], "label": "educ"}, *words["parts"][1:]]},
    ):
        with pytest.raises(ReleaseError):
            release_from_dict({**words, **change})
    narrower = [{**one, "noise": {**one["noise"], "scale": "1000"}} for one in words["parts"]]
    with pytest.raises(ReleaseError):
        release_from_dict({**words, "parts": narrower})


@pytest.mark.parametrize(("neighbors", "squared"), [("replace-one", 2), ("add-remove", 1)])
def test_cells_of_a_histogram_are_one_vector(neighbors: str, squared: int) -> None:
    """A row moves from one cell to another, or enters one: the noise does not grow with the number of cells."""
    few, many = (
        shaped(tc.Count(by="age", bins={"age": bins}), 300 if neighbors == "replace-one" else None, neighbors, 4)
        for bins in (2, 100)
    )
    assert few.columns[0].form.l2_squared == many.columns[0].form.l2_squared == squared
    assert few.columns[0].law == many.columns[0].law
    cells = tc.Histogram("age", bins=100)
    plain = design(cells, Public(SCHEMA, neighbors, 300), Cost.of(rho=1))
    asked = replace(many, columns=many.columns[:1])
    source = open_source(people(), SCHEMA)
    assert integers(asked, source) == integers(plain, source)


EVERYWHERE = [
    tc.Mean("age", by="sex"),
    tc.Count(by="sex", where="educ > 5"),
    tc.Variance(["age", "educ", "married"], by="sex", where="age > 30"),
    tc.SufficientStatistics("age", tc.families.Normal(mean=(0, 100), sd=(1, 40))),
]


def engines(table: dict[str, np.ndarray], folder: Path) -> list[object]:
    import duckdb
    import polars as pl
    import pyarrow as pa

    data = pa.table(table)
    pq.write_table(data, folder / "t.parquet")
    return [table, folder / "t.parquet", data, pl.from_arrow(data), duckdb.connect().from_arrow(data)]


def what_is_drawn(shape: Measurement, table: object, schema: tc.Schema) -> list[tuple[int, ...]]:
    """What one draw of each pattern adds to all cells and columns, with the number of its rows, in order."""
    found = patterns(shape, open_source(table, schema))
    each = np.eye(len(found.counts), dtype=np.int64)
    added = np.concatenate([one.reshape(len(each), -1) for one in found.sums(each)], axis=1)
    return sorted((*map(int, row), int(n)) for row, n in zip(added, found.counts, strict=True))


@pytest.mark.parametrize("statistic", EVERYWHERE)
def test_every_engine_counts_the_same(statistic: tc.Query, tmp_path: Path) -> None:
    shape = shaped(statistic, 300)
    found = [what_is_drawn(shape, table, SCHEMA) for table in engines(people(), tmp_path)]
    assert all(one == found[0] for one in found)
    # rows that are left out are drawn like others
    assert sum(row[-1] for row in found[0]) == 300


def test_what_is_charged_follows_how_the_ledger_adds() -> None:
    ask = tc.Bootstrap(tc.Mean("age"), 8)
    asked = curator()
    release = asked.release(ask, **PRICE)
    # the approximate part: mu^2 and a tenth of delta
    assert release.cost.mu_squared is not None
    assert release.cost.delta == Fraction(1, 10**7)
    assert asked.release(ask, **PRICE) == release
    pair = tc.Curator(people(), SCHEMA, budget=tc.Budget(epsilon=9, delta=1e-5, accounting="basic"))
    whole = pair.release(ask, **PRICE)
    assert whole.cost == Cost.of(**PRICE)
    assert release_from_dict(json.loads(whole.to_json())) == whole
    assert float(whole.certified().epsilon("1e-6")) <= 5
    assert whole.published_claim().epsilon("1e-6") < whole.certified().epsilon("1e-6")
    with pytest.raises(BudgetError, match="B04"):
        curator(rho=1).release(ask, **PRICE)


@pytest.mark.parametrize(
    ("code", "make"),
    [
        (r"Q120.*Count\(by=", lambda: tc.Bootstrap(tc.Histogram("age", bins=3))),
        ("Q120", lambda: tc.Bootstrap(tc.Variance("age", interval=False))),
        ("Q120", lambda: tc.Bootstrap("age")),
        ("Q120", lambda: tc.Bootstrap(tc.Mean("age", weights="educ"))),
        ("Q121", lambda: tc.Bootstrap(tc.Mean("age"), 1)),
        ("Q121", lambda: tc.Bootstrap(tc.Mean("age"), 2.5)),
        ("Q03", tc.Bootstrap),
    ],
)
def test_questions_that_are_none(code: str, make: object) -> None:
    with pytest.raises(QueryError, match=code):
        make()  # type: ignore[operator]


def test_what_has_no_proof_is_refused_before_anything_is_spent() -> None:
    asked, ask = curator(), tc.Bootstrap(tc.Mean("age"), 4)
    for price in ({"epsilon": 1}, {"rho": 1}):
        with pytest.raises(QueryError, match="Q122"):
            asked.release(ask, **price)
    with pytest.raises(QueryError, match="Q122"):
        asked.release({"one": ask, "other": tc.Mean("educ")}, rho=0.1)
    with pytest.raises(QueryError, match="Q32"):
        asked.release(tc.Bootstrap(tc.Count(), 4), **PRICE)
    with pytest.raises(QueryError, match="Q31"):
        shaped(tc.Mean("age", by=["sex", "educ"], bins={"educ": 1_000}), 300, replicates=1_000)
    many = Public(SCHEMA, "replace-one", 10**9)
    with pytest.raises(QueryError, match=r"Q31.*take too long"):
        design(
            tc.Bootstrap(tc.Mean(["age", "educ"], by="sex"), 1_000),
            Public(SCHEMA, "replace-one", 10**7),
            Cost.of(**PRICE),
        )
    # few values: their numbers are drawn, whatever the rows
    assert design(tc.Bootstrap(tc.Mean("educ"), 20), many, Cost.of(**PRICE)).rows == 10**9
    events = tc.Schema({"user": tc.PrivacyUnit(max_rows=3), "x": tc.Real(0, 1), "g": tc.Category(["a", "b"])})
    with pytest.raises(QueryError, match="Q122"):
        design(tc.Bootstrap(tc.Sum("x")), Public(events, "add-remove", None), Cost.of(**PRICE))
    assert "left ε = 100 of 100" in asked.remaining


def test_persons_are_drawn_with_all_their_rows() -> None:
    schema = tc.Schema({"user": tc.PrivacyUnit(max_rows=3), "x": tc.Real(0, 1)})
    table = {"user": np.repeat(np.arange(200), 3), "x": np.tile([0.0, 0.5, 1.0], 200)}
    shape = design(tc.Bootstrap(tc.Mean("x"), 4), Public(schema, "replace-one", 200), Cost.of(**PRICE))
    ((value, *_),) = integers(replace(shape, columns=shape.columns[:1]), open_source(table, schema))[0]
    # each of 200 persons has the mean 1/2, the middle of the grid
    assert value == 0
    release = tc.Curator(table, schema, budget=tc.Budget(**PRICE)).release(tc.Bootstrap(tc.Mean("x"), 4), **PRICE)
    assert abs(linear(release).values.mean() - 0.5) < 6 * np.sqrt(linear(release).noise[0] / 4)
    assert release.rows == 200


def test_few_values_are_kept_exactly_and_many_rounded() -> None:
    assert shaped(tc.Mean("educ"), 300).columns[0].rowmap.steps == 15
    assert shaped(tc.Mean("age"), 300).columns[0].rowmap.steps == 4_096


def test_estimates_refuse_other_words() -> None:
    release = curator().release(tc.Bootstrap(tc.Mean("age"), 4), **PRICE)
    with pytest.raises(InferenceError, match="I120"):
        release.estimate(errors="careful")
    with pytest.raises(InferenceError, match="I120"):
        release.estimate(alpha=1.5)
    with pytest.raises(InferenceError, match="I02"):
        release.deconvolved("educ")


def test_a_curators_file_asks_for_replicates(tmp_path: Path) -> None:
    from tacit.study.curator_file import load

    path = tmp_path / "ask.toml"
    path.write_text(
        'tacit = 1\n[table]\nname = "people"\nrows = 300\n[budget]\nepsilon = 5\ndelta = 1e-6\n[spend]\nepsilon = 5\n'
        'delta = 1e-6\n[schema]\nage = { type = "Real", lower = 0, upper = 100 }\n[ask.age]\nquery = "Bootstrap"\n'
        'replicates = 20\nstatistic = { query = "Mean", columns = "age" }\n'
    )
    assert dict(load(path).asks) == {"age": tc.Bootstrap(tc.Mean("age"), 20)}


WIDE_ROWS = tc.Schema({name: tc.Real(0, 1) for name in "abcd"})


@pytest.mark.parametrize(
    ("columns", "rows", "refused"),
    [("a", 10**9, False), ("ab", 10**7, False), ("abcd", 10**7, False), ("ab", 10**8, True), ("abcd", 10**8, True)],
)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_more_rows_than_memory_holds_are_refused_from_public_facts(
    columns: str, rows: int, refused: bool, neighbors: str
) -> None:
    """The number of rows, or the hint where it is private; nothing is refused where neither is known."""
    ask = tc.Bootstrap(tc.Mean(list(columns)), 4)
    known = (rows, None) if neighbors == "replace-one" else (None, rows)
    public = Public(WIDE_ROWS, neighbors, known[0], size_hint=known[1])
    if refused:
        with pytest.raises(QueryError, match="Q300"):
            design(ask, public, Cost.of(**PRICE))
    else:
        assert len(design(ask, public, Cost.of(**PRICE)).columns) == 4 * len(columns)
    if neighbors == "add-remove":
        assert design(ask, Public(WIDE_ROWS, neighbors, None), Cost.of(**PRICE)).rows is None
