"""Simulation against the engines, and quick versions of `benchmarks/coverage.py`."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.method.moments.mechanism import exact
from tacit.privacy import Cost
from tacit.source import open_source
from tacit.testing.coverage import Coverage, coverage, study
from tacit.testing.simulate import add_noise, exact_integers, shaped, simulate

ROWS = 700


def nasty(rng: np.random.Generator) -> dict[str, Any]:
    age = rng.uniform(-20, 140, ROWS)
    age[::7], age[1::50], age[2::50] = np.nan, np.inf, -np.inf
    age[3::50] = 50 + 100 / 2**21  # halves of the grid
    return {
        "age": age,
        "educ": rng.integers(-2, 20, ROWS),
        "sex": rng.integers(0, 3, ROWS),
        "region": rng.choice(["north", "south", "west"], ROWS),
        "married": rng.random(ROWS) < 0.3,
    }


SCHEMA = tc.Schema(
    {
        "age": tc.Real(0, 100),
        "educ": tc.Integer(1, 16, missing=3),
        "sex": tc.Category({0: "male", 1: "female"}),
        "region": tc.Category(["north", "south"], missing="elsewhere"),
        "married": tc.Boolean(),
    }
)


@pytest.mark.parametrize(
    "query",
    [
        tc.Mean(["age", "educ", "married"]),
        tc.Mean("age", by=["sex", "region"]),
        tc.Sum("educ", by="married"),
        tc.Variance(["age", "educ"], by="sex"),
        tc.Variance("married"),
        tc.Count(by=["region", "sex"]),
    ],
    ids=repr,
)
@pytest.mark.parametrize("price", [{"epsilon": 1}, {"rho": 0.1}], ids=str)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_simulated_integers_are_the_engines(query: Any, price: Any, neighbors: str) -> None:
    table = nasty(np.random.default_rng(3))
    shape = shaped(query, SCHEMA, neighbors, ROWS, Cost.of(**price))
    from_engine = exact(shape, open_source(table))
    for ours, theirs in zip(exact_integers(shape, table), from_engine, strict=True):
        assert [tuple(int(k) for k in cell) for cell in ours] == [tuple(cell) for cell in theirs]


def test_simulation_is_reproducible_and_no_release() -> None:
    table = nasty(np.random.default_rng(3))
    one, two = (simulate(tc.Mean("age"), table, SCHEMA, epsilon=1, repeats=50, rng=1) for _ in range(2))
    assert (one.estimates == two.estimates).all()
    assert one.estimates.shape == (50, 1)
    assert not isinstance(one.release(0), tc.Release)
    assert one.release(3).estimate().value == pytest.approx(one.estimates[3, 0])
    assert "protects nobody" in str(one)
    pytest.importorskip("matplotlib")
    assert one.plot().get_title()


def test_frames_and_paths_give_the_same_integers(tmp_path: Any) -> None:
    import pandas as pd
    import polars as pl

    table = nasty(np.random.default_rng(3))
    path = tmp_path / "t.parquet"
    pl.DataFrame(table).write_parquet(path)
    want = simulate(tc.Mean("age", by="region"), table, SCHEMA, rho=1, repeats=2, rng=1).exact
    for data in (pd.DataFrame(table), pl.DataFrame(table), pl.DataFrame(table).lazy(), path, str(path)):
        assert simulate(tc.Mean("age", by="region"), data, SCHEMA, rho=1, repeats=2, rng=1).exact == pytest.approx(want)


AGES = np.random.default_rng(0).beta(2, 3, 10_000) * 90 + 5
PEOPLE = tc.Schema({"age": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})


def draw(n: int) -> Any:
    def generator(rng: np.random.Generator) -> dict[str, Any]:
        age = rng.choice(AGES, n)
        return {"age": age, "sex": np.where(np.arange(n) % 2 == 0, "f", "m")}

    return generator


def holds(found: Coverage, least: float = 0.94, most: float = 0.975) -> None:
    """5 Monte-Carlo errors beyond the published range: false alarm below 1e-6 a term."""
    slack = 5 * np.sqrt(0.06 * 0.94 / found.repeats)
    assert (found.coverage > least - slack).all(), found
    assert (found.coverage < most + slack).all(), found
    assert (np.abs(found.bias) < 0.06 * found.std_deviation + 5 * found.bias_error).all(), found


@pytest.mark.sample(6)
@pytest.mark.parametrize("price", [{"rho": 0.5}, {"epsilon": 1}, {"epsilon": 0.5}], ids=str)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_means_of_500_cover(price: Any, neighbors: str) -> None:
    mean = float(AGES.mean())
    found = coverage(tc.Mean("age"), draw(500), mean, schema=PEOPLE, repeats=500, neighbors=neighbors, **price)
    holds(found)
    if "rho" in price:
        assert (found.relative_width < 1.045).all()
    cells = coverage(
        tc.Mean("age", by="sex"), draw(500), (mean, mean), schema=PEOPLE, repeats=400, neighbors=neighbors, **price
    )
    holds(cells)


@pytest.mark.sample(2)
@pytest.mark.parametrize("query", [tc.Sum("age"), tc.Variance("age")], ids=repr)
def test_sums_and_variances_cover(query: Any) -> None:
    truth = 500 * float(AGES.mean()) if isinstance(query, tc.Sum) else float(AGES.var())
    holds(coverage(query, draw(500), truth, schema=PEOPLE, repeats=800, epsilon=1), least=0.935)


@pytest.mark.long
def test_low_budget_cells_cover() -> None:
    mean = float(AGES.mean())
    for n, epsilon in ((20, 1), (100, 0.5)):
        found = coverage(tc.Mean("age", by="sex"), draw(n), (mean, mean), schema=PEOPLE, repeats=600, epsilon=epsilon)
        assert (found.coverage > 0.94 - 5 * np.sqrt(0.06 * 0.94 / 600)).all()


@pytest.mark.sample(8)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("p", [0.01, 0.05, 0.3])
def test_proportions_of_noisy_size_cover(neighbors: str, p: float) -> None:
    schema, n, repeats = tc.Schema({"m": tc.Boolean()}), 100, 800
    rng = np.random.default_rng(11)
    shape = shaped(tc.Mean("m"), schema, neighbors, n, Cost.of(rho=0.5))
    ones = rng.binomial(n, p, repeats)
    sums = np.stack([np.full_like(ones, n), ones], axis=-1)
    integers = (sums @ np.array(shape.columns[0].form.matrix).T)[:, None, :]
    found = study(shape, (integers,), p, 0.95, rng)
    assert found.coverage[0] > 0.94 - 5 * np.sqrt(0.06 * 0.94 / repeats)  # false alarm below 1e-6
    # one row in a hundred is 1 of these 100: a proportion so small is hardly ever above its upper limit
    assert found.coverage[0] < (1.0 if p == 0.01 else 0.995)


@pytest.mark.long
def test_the_study_notices_noise_that_is_not_declared() -> None:
    """Power: twice the declared noise variance, where noise dominates, must fail what the right law passes."""
    mean, rng = float(AGES.mean()), np.random.default_rng(5)
    shape = shaped(tc.Mean("age"), PEOPLE, "replace-one", 200, Cost.of(epsilon=0.2))
    exact = tuple(np.stack(k) for k in zip(*[exact_integers(shape, draw(200)(rng)) for _ in range(1_500)], strict=True))
    holds(study(shape, exact, mean, 0.95, rng))
    with pytest.raises(AssertionError):
        holds(study(shape, add_noise(shape, exact, rng), mean, 0.95, rng))


def test_studies_that_make_no_sense() -> None:
    for bad in (
        {"schema": None},
        {"repeats": 1},
        {"truth": (1, 2)},
        {"truth": {"agee": 1}},
        {"generator": lambda rng: {"age": np.zeros(int(rng.integers(3, 90)))}},
    ):
        facts: dict[str, Any] = {"generator": draw(20), "truth": 40, "schema": PEOPLE, "repeats": 5} | bad
        with pytest.raises(InferenceError, match="I10"):
            coverage(tc.Mean("age"), epsilon=1, **facts)
    with pytest.raises(InferenceError, match="I10"):
        simulate(tc.Mean("age"), draw(5)(np.random.default_rng(0)), PEOPLE, epsilon=1, repeats=0)
