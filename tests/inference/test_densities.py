"""Densities of histograms: projected, adding up to one, as accurate as without noise, with intervals that cover."""

from __future__ import annotations

from datetime import date
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from scipy.stats import beta, binom

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.bins import spans
from tacit.estimates.noisy_terms.noisy_ratio import ShareOfTotal, unclear
from tacit.method.histogram.estimate_densities import density, projected
from tacit.method.shared.simulated_parts import simulated
from tacit.noise.laws import RoundedNormal
from tacit.privacy import Cost
from tacit.release.parts import Axis
from tacit.testing import simulate
from tacit.testing.simulate import add_noise, shaped

COLUMNS: dict[str, Any] = {
    "x": tc.Real(0, 1, missing=0),
    "age": tc.Real(18, 93, units="years"),
    "kids": tc.Integer(0, 4),
    "educ": tc.Integer(0, 30),
    "day": tc.Date("2024-01-01", "2024-12-31"),
    "sex": tc.Category(["f", "m"], missing="unknown"),
    "ok": tc.Boolean(),
}
SCHEMA = tc.Schema(COLUMNS)


def table(n: int = 4_000, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {
        "x": rng.beta(2, 5, n),
        "age": rng.uniform(18, 93, n),
        "kids": rng.integers(0, 5, n),
        "educ": rng.integers(0, 31, n),
        "day": np.datetime64("2024-01-01") + rng.integers(0, 366, n),
        "sex": rng.choice(["f", "m"], n),
        "ok": rng.random(n) < 0.5,
    }


def release(columns: Any, bins: dict[str, Any], rho: float = 0.5, relation: Any = "replace-one", n: int = 4_000) -> Any:
    curator = tc.Curator(table(n), SCHEMA, name="people", budget=tc.Budget(rho=9, neighbors=relation))
    return curator.release(tc.Histogram(columns, bins=bins), rho=rho)


def releases(law: Any, n: int, bins: int, relation: str, rng: np.random.Generator, repeats: int, **price: Any) -> Any:
    """Counts drawn anew, and a simulated release of them."""
    shape = shaped(tc.Histogram("x", bins={"x": bins}), SCHEMA, relation, n, Cost.of(**price))
    p = np.diff(law.cdf(np.linspace(0, 1, bins + 1)))
    for _ in range(repeats):
        counts = rng.multinomial(n, p)
        yield counts, simulated(shape, add_noise(shape, (counts[:, None],), rng))


def test_the_error_is_that_of_the_histogram_without_noise() -> None:
    """Issue 4: at most 1.03 times its mean integrated squared error at n = 10,000, epsilon = 1.

    400 paired simulations; the ratio is 1.010 (docs/reference/histogram-density.md) and its standard error here .0012,
    so that it exceeds 1.02 with probability below 1e-6; and where it were 1.03, it would not be below that either.
    """
    law, n, bins = beta(2, 5), 10_000, 32
    edges = np.linspace(0, 1, bins + 1)
    p = np.diff(law.cdf(edges))
    x = (np.arange(bins * 500) + 0.5) / (bins * 500)
    smooth = float(np.mean((law.pdf(x) - np.repeat(p * bins, 500)) ** 2))
    rng = np.random.default_rng(0)
    errors = np.array(
        [
            [bins * ((shares - p) ** 2).sum() + smooth for shares in (counts / n, density(made, "x").shares[0])]
            for counts, made in releases(law, n, bins, "replace-one", rng, 400, epsilon=1)
        ]
    )
    ratio = errors[:, 1].mean() / errors[:, 0].mean()
    residual = errors[:, 1] - ratio * errors[:, 0]
    assert residual.std() / errors[:, 0].mean() / 20 < 0.002
    assert 1 < ratio < 1.02


@pytest.mark.long
@pytest.mark.sample(6)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("price", [{"epsilon": 0.5}, {"rho": 0.02}], ids=["laplace", "gaussian"])
def test_intervals_cover_the_average_over_a_bin(relation: str, price: dict[str, Any]) -> None:
    """80 tables, 6 bins: 480 intervals.  Where they cover .95 and are held independently, at most .893 of them hold
    with probability 2e-7 (binomial); shares of one total exclude each other, which makes that rarer."""
    law = beta(2, 5)
    truth = np.diff(law.cdf(np.linspace(0, 1, 7))) * 6
    held = 0
    for _, made in releases(law, 900, 6, relation, np.random.default_rng(1), 80, **price):
        found = density(made, "x")
        limits = found.intervals(0.95)[0]
        assert (limits[:, 0] <= found.values[0]).all()
        assert (found.values[0] <= limits[:, 1]).all()
        held += int(((limits[:, 0] <= truth) & (truth <= limits[:, 1])).sum())
    assert held / 480 > 0.893


@pytest.mark.long
def test_intervals_within_groups_cover() -> None:
    """60 tables, 2 groups of 4 bins: 480 intervals, at most .893 with probability 2e-7 where each has .95."""
    rng, held = np.random.default_rng(2), 0
    query = tc.Histogram(["ok", "x"], bins={"x": 4})
    for _ in range(60):
        ok = rng.random(1_500) < 0.4
        data = table(1_500) | {"ok": ok, "x": np.where(ok, rng.random(1_500), rng.random(1_500) ** 2)}
        made = simulate(query, data, SCHEMA, epsilon=0.5, repeats=1, rng=rng).release(0)
        limits = density(made, "x", "ok").intervals()
        truth = np.array([4 * np.diff(np.sqrt(np.linspace(0, 1, 5))), np.ones(4)])
        held += int(((limits[..., 0] <= truth) & (truth <= limits[..., 1])).sum())
    assert held / 480 > 0.893


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_densities_are_none_below_zero_and_add_up_to_one(relation: str) -> None:
    made = release(["age", "kids", "day", "educ"], {"age": 40, "day": 3, "educ": 4}, rho=0.001, relation=relation)
    assert made.counts.min() < 0  # of 2,400 cells
    for column in ("age", "kids", "day", "educ"):
        found = made.density(column)
        assert (found.values >= 0).all()
        assert (found.values * found.widths).sum() == pytest.approx(1)
        assert found.intervals().min() >= 0
        assert (found.intervals() * found.widths[:, None]).max() <= 1 + 1e-12


def test_projected_is_the_nearest_point() -> None:
    """By brute force: no other share of the simplex is nearer."""
    rng = np.random.default_rng(3)
    for _ in range(20):
        counts = rng.normal(5, 20, 6)
        found = projected(counts, 60.0) * 60
        assert found.min() >= 0
        assert found.sum() == pytest.approx(60)
        others = rng.dirichlet(np.ones(6), 2_000) * 60
        assert ((others - counts) ** 2).sum(axis=1).min() >= ((found - counts) ** 2).sum() - 1e-9


def test_evaluated_at_points_and_shown() -> None:
    made = release(["age", "kids", "day", "educ"], {"age": [18, 30, 93], "day": 12, "educ": 3})
    age = made.density("age")
    assert age(18.0) == age(29.9) == age.values[0, 0]
    assert age(30.0) == age(93.0) == age.values[0, 1]
    assert age(np.array([17.9, 93.1])).tolist() == [0, 0]
    kids = made.density("kids")
    assert kids(np.arange(-1, 6)).tolist() == [0, *kids.values[0].tolist(), 0]
    assert kids.widths.tolist() == [1] * 5
    educ = made.density("educ")
    assert educ.widths.tolist() == [10, 10, 11]  # whole numbers 0-9, 10-19, 20-30
    assert educ(np.arange(31)).sum() == pytest.approx(1)
    day = made.density("day")
    assert day.widths.sum() == 366
    assert day("2024-12-31") == day(date(2024, 12, 31)) == day.values[0, -1]
    assert day(np.array(["2023-12-31", "2025-01-01"])).tolist() == [0, 0]
    assert "share of rows per day" in day.estimand
    frame = age.to_frame()
    assert list(frame.columns) == ["from", "to", "density", "lower", "upper", "share", "reason"]
    assert frame.loc["[30, 93]", "to"] == 93
    assert day.to_frame()["to"].iloc[-1] == date(2025, 1, 1)
    text = str(age)
    assert "Density of age · people · 4,000 rows" in text
    assert "share of rows per unit (years)" in text


def test_within_groups() -> None:
    made = release(["sex", "ok", "age"], {"age": 3})
    found = made.density("age", by=["ok", "sex"])
    assert found.groups == ("false:f", "false:m", "false:unknown", "true:f", "true:m", "true:unknown")
    assert found.values.shape == (6, 3)
    assert found(50.0).shape == (6,)
    assert found["true:m"](50.0) == found(50.0)[4]
    assert found["true:m"].terms[0] == "true:m:[18, 43)"
    assert (found.values[[0, 1, 3, 4]] @ found.widths).tolist() == pytest.approx([1] * 4)
    silent = [group for group, why in zip(found.groups, found.reasons, strict=True) if why]
    assert set(silent) <= {"false:unknown", "true:unknown"}  # nobody is there: noise alone


def test_a_group_of_noise_alone_says_so() -> None:
    query = tc.Histogram(["sex", "age"], bins={"age": 3})
    made = simulate(query, table(), SCHEMA, rho=1e-7, repeats=1).release(0)
    found = density(made, "age", "sex", "table")
    for g, why in enumerate(found.reasons):
        if why is not None:
            assert "not clearly above 0" in why
            assert found.shares[g].tolist() == pytest.approx([1 / 3] * 3)
            assert (found.intervals()[g] * found.widths[:, None]).tolist() == [[0, 1]] * 3
    assert any(found.reasons)
    assert "not clearly above 0" in str(found)


def test_bins_without_a_whole_number_are_left_out() -> None:
    """Ten bins for five numbers: half of them hold none, and nothing is put there."""
    made = release("kids", {"kids": 10}, rho=0.001)
    found = made.density("kids")
    assert len(found.labels) == 5
    assert found(np.arange(5)).sum() == pytest.approx(1)
    assert "hold no whole number" in str(found)


def test_of_the_table_only_noise_is_uncertain() -> None:
    made = release("age", {"age": 4}, rho=0.05)
    people, this = made.density("age"), made.density("age", target="table")
    wide = np.diff(people.intervals())[0, :, 0]
    narrow = np.diff(this.intervals())[0, :, 0]
    assert (narrow < wide / 2).all()
    assert this.sampling_errors.max() == 0
    assert (people.sampling_errors > 0).all()


@pytest.mark.parametrize(
    ("ask", "code"),
    [
        (lambda made: made.density("sex"), "I60"),
        (lambda made: made.density("ages"), "I41"),
        (lambda made: made.density("age", by="age"), "I41"),
        (lambda made: made.density("age", target="tables"), "I09"),
        (lambda made: made.density("age", by="sex")["x"], "I02"),
        (lambda made: made.density("age").intervals(0.3), "I01"),
    ],
)
def test_what_has_no_density_is_refused(ask: Any, code: str) -> None:
    with pytest.raises(InferenceError) as refused:
        ask(release(["sex", "age"], {"age": 3}))
    assert refused.value.code == code


def test_where_the_values_of_a_bin_lie() -> None:
    days = spans(Axis("date", (10.0, 20.0, 30.0)))
    assert [end.tolist() for end in days] == [[10, 20], [20, 31]]
    halves = spans(Axis("integer", (0.0, 2.5, 3.0, 5.0)))  # 0-2, none in [2.5, 3), 3-5
    assert [end.tolist() for end in halves] == [[-0.5, 2.5, 2.5], [2.5, 2.5, 5.5]]
    one = spans(Axis("integer", (-0.5, 0.5, 1.5)))
    assert [end.tolist() for end in one] == [[-0.5, 0.5], [0.5, 1.5]]


def test_shares_of_few_rows_are_covered_given_an_answer() -> None:
    """Of groups of 3 rows, one in twenty has an answer; with 95% right, one run in 1e6 is below.  It was 82%."""
    rng, law, shares = np.random.default_rng(3), RoundedNormal(Fraction(3)), np.array([0.05, 0.9, 0.05])
    counts = rng.multinomial(3, shares, 4_000) + np.rint(3 * rng.standard_normal((4_000, 3)))
    held: list[bool] = []
    for k in counts[[unclear(float(one.sum()), law, 3, 1) is None for one in counts]][:200]:
        low, high = ShareOfTotal(np.clip(k, 0.0, k.sum()), float(k.sum()), law, 1, 1, True).interval(0.95)
        held.append(bool(low[1] <= 0.9 <= high[1]))
    assert len(held) == 200
    assert sum(held) >= binom.ppf(1e-6, 200, 0.95)
