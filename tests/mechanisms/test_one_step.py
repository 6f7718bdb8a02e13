"""One step: at a pilot, a row moves the integers by at most what is declared, whatever its score is."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from functools import lru_cache
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest

import tacit as tc
from tacit import families
from tacit.errors import TacitError
from tacit.method.blocks import mechanism_one_step as mechanism
from tacit.method.blocks import one_step_design
from tacit.method.blocks.estimate_failed import failed_blocks
from tacit.method.blocks.estimate_one_step import estimate as stepped
from tacit.method.shared import asked_model
from tacit.method.shared.measurement import Measurement, Public
from tacit.models import scores
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.rows.row_map import GRID
from tacit.source.engine_sums.row_arrays import RowArrays
from tacit.source.shared_blocks import Buffers

GAMMA = families.Gamma(shape=(0.5, 5), rate=(0.2, 5))
NORMAL = families.Normal(mean=(-3, 3), sd=(0.2, 5))
EXPONENTIAL = families.Exponential(rate=(0.1, 10))
REAL = tc.Schema({"x": tc.Real()})
PLACED = tc.Schema({"x": tc.Real(missing=1.0)})
ODD = [np.nan, np.inf, -np.inf, -1.0, 0.0, 1e-320, 1e-300, 1e300, 1e308, 3.0]


def broken(x: Any, theta: Any) -> Any:
    """An exponential law that is no number beyond 5, and whose derivative is none at 2."""
    return jnp.where(x > 5, jnp.nan, jnp.log(theta.rate) - theta.rate * x + 0 * jnp.sqrt(jnp.abs(x - 2)))


@lru_cache(maxsize=1)
def broken_model() -> tc.Model:
    return tc.Model(broken, rate=(0.1, 10), support="positive")


def design(
    schema: tc.Schema, cost: Cost, neighbors: str = "replace-one", model: Any = GAMMA, rows: int = 200
) -> Measurement:
    query = tc.SampleAndAggregate("x", model, one_step=True, rows=rows)
    return one_step_design.design(query, Public(schema, neighbors, rows if neighbors == "replace-one" else None), cost)


def exact(
    shape: Measurement, scaling: scores.ScoreScaling, values: np.ndarray, own: np.ndarray, owners: Any = None
) -> list[np.ndarray]:
    second = replace(shape, columns=one_step_design.split(shape)[1], rows=None)
    found = mechanism.exact(second, RowArrays(values[:, None], owners), scaling, own)
    return [np.array(cells[0], dtype=object) for cells in found]


# A row ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", [GAMMA, "broken"], ids=["gamma", "broken"])
def test_every_score_has_a_place(model: Any) -> None:
    """NaN, infinite, outside the support, a log-density that fails: within the grid, and what is no number at 0."""
    chosen = broken_model() if model == "broken" else model
    scaling = scores.ScoreScaling(chosen, np.array([2.0, 1.5])[: len(chosen.names)], np.eye(len(chosen.names)))
    found = mechanism.integers(RowArrays(np.array(ODD)[:, None], None), scaling, np.arange(len(ODD)))
    assert found.dtype == np.int64
    assert found.min() >= 0
    assert found.max() <= 2 * one_step_design.H
    assert (found[:4] == one_step_design.H).all()
    if model == "broken":
        assert (found[7:9] == one_step_design.H).all()
    assert mechanism.grid_of(np.array([np.nan, np.inf, -9.0, 3.0])).tolist() == [
        one_step_design.H, one_step_design.H, 0, 2 * one_step_design.H,
    ]  # fmt: skip


@pytest.mark.parametrize("model", [GAMMA, families.StudentT(df=5), families.Normal()], ids=["gamma", "t", "normal"])
def test_a_row_has_the_integers_of_its_own_lane_whatever_stands_beside_it(model: Any) -> None:
    """Exactly: other rows may come, go, change and be read in another order."""
    rng = np.random.default_rng(0)
    x, own = rng.gamma(2, 1, 20_000), rng.integers(0, scores.BATCH, 20_000)
    scaling = scores.scaling_at(model, model.fallback)
    found = mechanism.integers(RowArrays(x[:, None], None), scaling, own)
    order = rng.permutation(len(x))[:15_000]
    other = mechanism.integers(RowArrays(x[order, None], None), scaling, own[order])
    assert (other == found[order]).all()
    alone = mechanism.integers(RowArrays(x[:1, None], None), scaling, own[:1])
    assert (alone == found[:1]).all()


@pytest.mark.parametrize("model", [GAMMA, NORMAL], ids=["gamma", "normal"])
@pytest.mark.parametrize("part", [2**20, 700])
def test_sums_of_many_rows_are_those_of_the_integers_of_each(
    part: int, model: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Some rows at a time, with rows outside the support, and with none inside it."""
    monkeypatch.setattr(mechanism, "PART", part)
    # by row, and in batches
    assert scores.scaling_at(model, model.fallback).by_row == (model is GAMMA)
    rng, shape = np.random.default_rng(2), design(REAL, Cost.of(rho=1), "add-remove", model)
    shape = replace(shape, columns=one_step_design.split(shape)[1])
    scaling = scores.scaling_at(model, model.fallback)
    own = rng.integers(0, 2**64, 5_000, dtype=np.uint64)
    for shift in (0.0, 0.5, 100.0):
        x = np.where(rng.random(5_000) < 0.01, np.nan, rng.gamma(2, 1, 5_000) - shift)
        found = mechanism._summed(shape, scaling, 0, x[:, None], own)  # pyright: ignore[reportPrivateUsage]
        inside = model.inside(x)
        v = mechanism.integers(
            RowArrays(x[inside, None], None), scaling, (own[inside] % np.uint64(scores.BATCH)).astype(np.int64)
        )
        each = [one.numpy(v[:, j]).sum() for j, at in enumerate(shape.columns) for one in at.form.polynomials]
        assert found.tolist() == [[*each, inside.sum()]]


@pytest.mark.parametrize(
    ("model", "draw"),
    [
        (GAMMA, lambda rng, n: rng.gamma(2, 0.7, n)),
        (EXPONENTIAL, lambda rng, n: rng.exponential(0.5, n)),
        (families.Gamma(shape=2.0, rate=(0.2, 5)), lambda rng, n: rng.gamma(2, 0.7, n)),
        (families.Pareto(shape=(0.5, 5)), lambda rng, n: 1 + rng.pareto(2, n)),
        (families.Poisson(mean=(0.5, 20)), lambda rng, n: rng.poisson(3, n).astype(float)),
        (families.Geometric(p=(0.05, 0.9)), lambda rng, n: rng.geometric(0.4, n) - 1.0),
        (families.Binomial(p=(0.05, 0.9), trials=9), lambda rng, n: rng.binomial(9, 0.4, n).astype(float)),
    ],
)
def test_scores_by_row_are_derivatives_of_the_log_density(model: Any, draw: Any) -> None:
    """And bit by bit a function of the row, wherever and beside whatever rows it lies."""
    rng = np.random.default_rng(4)
    x, scaling = draw(rng, 3_001), scores.scaling_at(model, model.fallback)
    assert scaling.by_row
    wanted = np.clip(scores.scores(model, x, model.fallback) @ scaling.root.T, -scores.CLIP, scores.CLIP)
    found = scores.clipped(scaling, x, scores.CLIP)
    np.testing.assert_allclose(found, wanted, rtol=1e-9, atol=1e-9)
    for _ in range(50):
        some = rng.permutation(3_001)[: rng.integers(1, 70)]
        # at any distance from where memory is aligned
        lying = np.empty(len(some) + 9)[(at := int(rng.integers(0, 9))) : at + len(some)]
        lying[:] = x[some]
        assert scores.clipped(scaling, lying, scores.CLIP).tobytes() == found[some].tobytes()


# Sensitivity ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cost", [Cost.of(epsilon=1), Cost.of(rho=0.5)], ids=["pure", "rho"])
@pytest.mark.parametrize(
    ("schema", "neighbors", "form"),
    [(PLACED, "replace-one", "plain"), (REAL, "replace-one", "exclusion-2"), (REAL, "add-remove", "group")],
    ids=["plain", "exclusion", "group"],
)
def test_neighbours_move_the_integers_by_at_most_what_is_declared(
    schema: tc.Schema, neighbors: str, form: str, cost: Cost
) -> None:
    """Rows replaced, left out, added and removed, at extremes; the bound is attained by a row from end to end."""
    shape = design(schema, cost, neighbors, NORMAL)
    column = shape.columns[-1]
    assert column.form.name == form
    scaling = scores.scaling_at(NORMAL, np.array([0.0, 1.0]))
    rng, reached = np.random.default_rng(1), 0.0
    norm = (lambda d: sum(map(abs, d))) if cost.noise == "laplace" else (lambda d: sum(int(k) ** 2 for k in d))
    most = column.form.l1 if cost.noise == "laplace" else column.form.l2_squared
    for _ in range(40):
        x, own = rng.normal(0, 1, 30), rng.integers(0, scores.BATCH, 30)
        other = x.copy()
        x[0], other[0] = rng.choice([-1e300, 3.0, 1e3]), rng.choice([-1e3, 1e300, 0.0, -1.0])
        one = exact(shape, scaling, x, own)
        changed = [] if neighbors == "add-remove" else [exact(shape, scaling, other, own)]
        changed += [] if form == "plain" else [exact(shape, scaling, x[1:], own[1:])]
        for two in changed:
            for a, b in zip(one, two, strict=True):
                size = norm((a - b).tolist())
                assert size <= most
                reached = max(reached, size / most)
    assert reached > 0.99


def test_grid_values_of_few_passes_are_those_of_each_score() -> None:
    """Bit by bit, at the ends, far beyond them, beside every half step, and of what is no number."""
    rng, buffers = np.random.default_rng(0), Buffers()
    ends = np.array([-scores.CLIP, scores.CLIP, 0.0, -0.0, 9.0, -9.0, 2.0**12, -(2.0**12), 5e-324])
    near = np.concatenate([ends, np.nextafter(ends, np.inf), np.nextafter(ends, -np.inf)])
    halves = (rng.integers(0, GRID, 2_000) + 0.5) * (2 * scores.CLIP / GRID) - scores.CLIP
    beside = np.concatenate([halves, np.nextafter(halves, np.inf), np.nextafter(halves, -np.inf)])
    wild = np.array([np.nan, np.inf, -np.inf, 1e308, -1e9])
    for x in (near, beside, rng.normal(0, 4, 5_000), np.concatenate([near, wild]), wild[:1], wild[3:], np.zeros(0)):
        found = np.empty(len(x), dtype=np.int32)
        mechanism.grid_into(x.copy(), found, buffers)
        assert (found == mechanism.grid_of(x)).all()
        assert (found[np.isnan(x)] == GRID // 2).all()


def test_a_person_weighs_as_much_with_one_row_as_with_many() -> None:
    scaling = scores.scaling_at(EXPONENTIAL, np.array([1.0]))
    x, owners = np.array([0.1, 0.5, 3.0, 0.7, 9.0, 1e300]), np.array([0, 0, 0, 1, -1, -1])
    own = np.arange(6)
    rows = mechanism.integers(RowArrays(x[:, None], None), scaling, own)[:, 0]
    found = sorted(mechanism.integers(RowArrays(x[:, None], owners), scaling, own)[:, 0].tolist())
    means = [rows[:3].mean(), rows[3], rows[4:].mean()]
    assert found == sorted(int(np.floor(mean + 0.5)) for mean in means)


def test_the_price_is_that_of_pilot_and_step_together() -> None:
    for cost in (Cost.of(epsilon=1), Cost.of(rho=Fraction(1, 2)), Cost.of(epsilon=1, delta="1e-6")):
        shape = design(REAL, cost)
        paid = [one.cost.epsilon if cost.kind == "pure" else one.cost.zcdp for one in shape.columns]
        assert sum(paid, Fraction(0)) == (cost.epsilon if cost.kind == "pure" else cost.zcdp)
        assert sum(paid[:2], Fraction(0)) == Fraction(3, 10) * sum(paid, Fraction(0))
        scored = ["score of shape", "score of rate", "product of the scores of shape and rate"]
        assert [one.label for one in shape.columns] == ["shape", "rate", *scored]
        assert paid[-1] == Fraction(3, 100) * sum(paid, Fraction(0))
        if cost.noise == "laplace":
            assert sum(Fraction(one.form.l1) / one.law.scale for one in shape.columns) <= cost.epsilon


def test_products_are_those_of_clipped_scores_and_are_left_out_of_persons() -> None:
    """To half a step of the grid each, on which one step is 2 CLIP / G; rows far out have products beyond the grid."""
    at = np.array([0.0, 1.0])
    scaling, x = scores.scaling_at(NORMAL, at), np.array([0.3, -1.2, 2.2, 40.0, -40.0])
    v = mechanism.integers(RowArrays(x[:, None], None), scaling, np.arange(5))
    psi = scores.clipped(scaling, x, scores.CLIP)
    wanted = np.clip(psi[:, 0] * psi[:, 1], -scores.CLIP, scores.CLIP)
    step = scores.CLIP / one_step_design.H
    assert np.abs((v[:, 2] - one_step_design.H) * step - wanted).max() <= step
    assert v[3:, 2].tolist() == [2 * one_step_design.H, 0]
    unit = tc.Schema({"id": tc.PrivacyUnit(max_rows=5), "x": tc.Real()})
    labels = [one.label for one in design(unit, Cost.of(epsilon=1), "add-remove").columns]
    assert labels == ["shape", "rate", "score of shape", "score of rate"]


# From a table to an estimate ------------------------------------------------------------------------------------------


@pytest.mark.long
@pytest.mark.sample(2)
@pytest.mark.parametrize(
    ("neighbors", "price", "winsorize"),
    [("replace-one", {"epsilon": 2}, False), ("add-remove", {"rho": 0.5}, True)],
    ids=["pure", "add-remove, rho, winsorised"],
)
def test_estimates_are_as_far_from_the_truth_as_they_say(neighbors: str, price: Any, winsorize: bool) -> None:
    """Fifteen tables: the squared distance in standard errors of two parameters is chi-square with 30 degrees.

    Outside the limits with probability 1e-6.
    """
    from scipy.stats import chi2

    rng, total = np.random.default_rng(3), 0.0
    budget = tc.Budget(**{key: 20 * value for key, value in price.items()}, neighbors=neighbors)
    query = tc.SampleAndAggregate("x", GAMMA, one_step=True, winsorize=winsorize, rows=8_000)
    for _ in range(15):
        x = rng.gamma(2, 1 / 1.5, 8_000)
        found = tc.Curator({"x": x}, REAL, budget=budget).release(query, **price).estimate()
        assert found.reasons == (None, None)
        off = found.values - [2, 1.5]
        total += float(off @ np.linalg.solve(found.sampling + found.privacy, off))
    assert chi2.ppf(5e-7, 30) < total < chi2.isf(5e-7, 30)


@pytest.mark.parametrize("schema", [REAL, PLACED], ids=["left out", "in their place"])
def test_rows_that_cannot_be_used_are_answered_silently(schema: tc.Schema) -> None:
    """Missing, infinite and impossible cells, under a public number of rows: no message, and an answer."""
    x = np.random.default_rng(7).exponential(1.0, 4_000)
    x[:8] = ODD[:8]
    curator = tc.Curator({"x": x}, schema, budget=tc.Budget(epsilon=9))
    release = curator.release(tc.SampleAndAggregate("x", EXPONENTIAL, one_step=True), epsilon=3)
    assert release.parts[-1].form == "exclusion-2"  # a support of positive numbers: other rows are left out, too
    found = release.estimate()
    assert abs(found.value - 1) < 5.5 * found.std_error + 0.02  # eight rows of 4,000
    # scores count rows, and say nothing of blocks
    failed = failed_blocks(release.parts)
    assert failed == failed_blocks(release.parts[:-1]) is not None
    assert abs(failed.share) < 6 * failed.noise
    assert failed_blocks(release.parts[-1:]) is None


def test_persons_and_conditions() -> None:
    """Five rows a person, alike within: errors are between persons; a condition leaves rows out at no bias."""
    rng = np.random.default_rng(4)
    schema = tc.Schema({"id": tc.PrivacyUnit(max_rows=5), "x": tc.Real(), "sex": tc.Category(["f", "m"])})
    table = {
        "id": np.repeat(np.arange(3_000), 5),
        "x": np.repeat(rng.exponential(0.5, 3_000), 5),
        "sex": ["f", "m"] * 7_500,
    }
    curator = tc.Curator(table, schema, name="persons", budget=tc.Budget(epsilon=20))
    query = tc.SampleAndAggregate("x", EXPONENTIAL, blocks=100, where="sex == 'f'", one_step=True)
    found = curator.release(query, epsilon=10).estimate()
    assert abs(found.value - 2) < 5.5 * found.std_error
    assert 0.9 < found.std_error / (2 / np.sqrt(3_000)) < 1.15
    assert "a person's score is the mean of her rows' scores" in found.notes


def test_a_release_goes_into_a_file_and_comes_back(tmp_path: Any) -> None:
    x = np.random.default_rng(5).exponential(0.5, 4_000)
    curator = tc.Curator({"x": x}, REAL, name="waits", budget=tc.Budget(epsilon=4))
    release = curator.release(tc.SampleAndAggregate("x", EXPONENTIAL, one_step=True), epsilon=2)
    release.save(tmp_path / "waits.json")
    again = tc.Release.load(tmp_path / "waits.json")
    assert again == release
    assert again.estimate().values.tolist() == release.estimate().values.tolist()  # type: ignore[attr-defined]


@pytest.mark.long
def test_a_function_of_ones_own_is_given_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """Where it was not asked of in this process, the file has its digest alone."""

    def exponential(x: Any, theta: Any) -> Any:
        return jnp.log(theta.rate) - theta.rate * x

    model = tc.Model(exponential, rate=(0.1, 10), support="positive")
    x = np.random.default_rng(6).exponential(0.5, 1_000)
    curator = tc.Curator({"x": x}, REAL, budget=tc.Budget(epsilon=20))
    release = curator.release(tc.SampleAndAggregate("x", model, one_step=True, blocks=20, bias="none"), epsilon=20)
    found = release.estimate()
    assert abs(found.value - 2) < 5.5 * found.std_error
    document = release.to_dict()
    assert release_from_dict(document).estimate().value == found.value  # type: ignore[attr-defined]
    monkeypatch.setattr(asked_model, "SEEN", {})
    document["query"]["model"]["name"] = "another"  # a name is no part of what was traced, and is not cached
    read = release_from_dict(document)
    with pytest.raises(TacitError, match="I75"):
        read.estimate()  # type: ignore[attr-defined]
    with pytest.raises(TacitError, match="I75"):
        read.estimate(model=tc.Model(exponential, rate=(0.1, 9), support="positive"))  # type: ignore[attr-defined]
    exponential.__name__ = "another"
    assert read.estimate(model=model).value == found.value  # type: ignore[attr-defined]


def test_noise_alone_says_why_it_says_nothing() -> None:
    """A price that buys nothing: an estimate in the box, with its reason or its large error."""
    curator = tc.Curator({"x": np.ones(60)}, REAL, budget=tc.Budget(epsilon=1, neighbors="add-remove"))
    release = curator.release(tc.SampleAndAggregate("x", EXPONENTIAL, one_step=True, rows=60), epsilon=0.001)
    found = stepped(release, EXPONENTIAL)
    assert 0.1 <= found.values[0] <= 10
    assert found.reasons[0] is not None or found.std_errors[0] > 0.1


def test_coverage_is_studied_release_by_release() -> None:
    """16 of 25 intervals of 95%: fewer hold the truth with probability 3e-7; one question cannot be simulated."""
    query = tc.SampleAndAggregate("x", EXPONENTIAL, one_step=True, winsorize=True)
    draw = lambda rng: {"x": rng.exponential(0.5, 4_000)}  # noqa: E731
    found = tc.testing.coverage(query, draw, truth=2, epsilon=4, repeats=25, rng=0)
    assert found.terms == ("rate",)
    assert found.coverage[0] >= 16 / 25
    assert abs(found.bias[0]) < 5.5 * found.std_deviation[0] / 5
    with pytest.raises(TacitError, match="I77"):
        tc.testing.simulate(query, draw(np.random.default_rng(0)), REAL, epsilon=1)


# What is refused -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "code"),
    [
        ({"one_step": 1}, "Q103"),
        ({"winsorize": "yes"}, "Q103"),
        ({"model": GAMMA, "parameters": "shape", "one_step": True}, "Q102"),
        ({"what": ["x", "y"], "model": families.LinearRegression(regressors=1), "one_step": True}, "Q102"),
        ({"model": "no support", "one_step": True}, "Q102"),
    ],
)
def test_what_is_wrong_is_refused_and_costs_nothing(words: dict[str, Any], code: str) -> None:
    if words.get("model") == "no support":
        words = words | {"model": tc.Model(lambda x, theta: -((x - theta.mu) ** 2), mu=(0, 1))}
    table = {"x": np.ones(60), "y": np.ones(60)}
    curator = tc.Curator(table, tc.Schema({"x": tc.Real(), "y": tc.Real()}), budget=tc.Budget(epsilon=1))
    with pytest.raises(TacitError) as caught:
        curator.release(tc.SampleAndAggregate(**({"what": "x", "model": EXPONENTIAL} | words)), epsilon=1)
    assert caught.value.code == code
    assert words.get("what") or not isinstance(words.get("model"), tc.Model) or "support=" in str(caught.value)
    assert curator.spent.epsilon == 0
