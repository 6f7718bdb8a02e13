"""Quantiles rise with their limits, go into tables and paragraphs, and have differences with a bound."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.total_errors.monotone import rising
from tacit.testing.simulated_quantiles import simulate_quantiles

SCHEMA = tc.Schema({"x": tc.Real(-5, 15, units="kg"), "g": tc.Category(["a", "b"]), "ok": tc.Boolean()})
DECILES = [f"{i}/10" for i in range(1, 10)]


def table(n: int = 3_000, seed: int = 0) -> dict[str, Any]:
    rng = np.random.default_rng(seed)
    return {"x": rng.normal(5, 2, n), "g": rng.choice(["a", "b"], n), "ok": rng.random(n) < 0.5}


def curator(**budget: Any) -> tc.Curator:
    return tc.Curator(table(), SCHEMA, name="people", budget=tc.Budget(**(budget or {"rho": 9})))


def test_limits_rise_and_lose_no_point() -> None:
    """What is the least and the largest of them holds what was selected: coverage cannot fall."""
    rng = np.random.default_rng(0)
    for _ in range(300):
        ends = np.sort(rng.integers(0, 20, (3, 6, 2)).astype(float), axis=-1)
        middle = np.clip(rng.integers(0, 20, (3, 6)), ends[..., 0], ends[..., 1])
        values, limits = rising(middle, ends)
        assert (np.diff(values, axis=1) >= 0).all()
        assert (np.diff(limits, axis=1) >= 0).all()
        assert ((limits[..., 0] <= ends[..., 0]) & (ends[..., 1] <= limits[..., 1])).all()
        assert ((limits[..., 0] <= values) & (values <= limits[..., 1])).all()
        sound = rising(np.sort(middle, axis=1), np.sort(ends, axis=1))[1]
        assert (sound == np.sort(ends, axis=1)).all()  # where nothing crosses nothing changes


@pytest.mark.long
@pytest.mark.sample(2)
@pytest.mark.parametrize(("n", "rho"), [(2_000, 0.5), (300, 0.05)])
def test_deciles_and_their_limits_rise_and_cover(n: int, rho: float) -> None:
    """Uniform on [0, 10].  60 tables, 9 deciles in each, at worst held all or none: below .73 with probability < 1e-6
    where each is held with .95."""
    rng = np.random.default_rng(1)
    truth, held = np.arange(1, 10), 0
    for _ in range(60):
        found = simulate_quantiles(tc.Quantiles("x", DECILES), {"x": rng.uniform(0, 10, n)}, SCHEMA, rng=rng, rho=rho)
        assert (np.diff(found.values) >= 0).all()
        assert (np.diff(found.limits, axis=0) >= 0).all()
        assert ((found.limits[:, 0] <= found.values) & (found.values <= found.limits[:, 1])).all()
        held += int(((found.limits[:, 0] <= truth) & (truth <= found.limits[:, 1])).sum())
    assert held / 540 > 0.73


@pytest.mark.long
def test_differences_of_groups_and_of_releases_cover() -> None:
    """Level .975 twice is .95 at least: in 150 tables below .83 with probability < 1e-6; one name, the same people."""
    rng = np.random.default_rng(2)
    groups, same = 0, 0
    for _ in range(150):
        g = rng.integers(0, 2, 1_500)
        data = {"x": rng.normal(5, 2, 1_500) + 2 * g, "g": np.array(["a", "b"])[g]}
        query = tc.Quantiles("x", [0.5], by="g", level=0.975)
        found = simulate_quantiles(query, data, SCHEMA, rng=rng, rho=0.2)
        low, high = tc.difference(found["b"], found["a"]).conf_int(0.95)
        groups += low <= 2 <= high
        again = simulate_quantiles(query, data, SCHEMA, rng=rng, rho=0.2)
        low, high = tc.difference(found["a"], again["a"]).conf_int()
        same += low <= 0 <= high
    assert min(groups, same) / 150 > 0.83


def test_a_difference_says_what_it_is() -> None:
    asked = curator()
    found = asked.release(tc.Quantiles("x", [0.25, 0.5], by="g", level=0.975), rho=1).estimate()
    made = tc.difference(found["a:0.5"], found["b:0.5"])
    assert made.terms == ("a:0.5 - b:0.5",)
    assert made.level == 0.95
    assert made.others == ()
    assert made.value == found["a:0.5"].value - found["b:0.5"].value
    low, high = made.conf_int()
    assert (low, high) == (
        found["a:0.5"].conf_int()[0] - found["b:0.5"].conf_int()[1],
        found["a:0.5"].conf_int()[1] - found["b:0.5"].conf_int()[0],
    )
    assert "97.5% and 97.5% make one at 95% or more: a bound" in str(made)
    assert "Differences · Quantiles of x by g" in str(made)
    other = asked.release(tc.Quantiles("x", [0.25, 0.5], by="g"), rho=1).estimate()
    several = tc.difference(found, other)
    assert several.terms == found.terms
    assert several.level == 0.925
    assert several.others == (other.release,)
    assert list(several.to_frame().columns) == ["difference", "lower", "upper", "reason"]
    assert several.conf_int().shape == (4, 2)
    assert list(several.value.index) == list(found.terms)
    assert "in 2 releases" in tc.methods(several)
    assert "those of differences are combined from both" in tc.methods(several)


def test_what_has_no_difference_is_refused() -> None:
    asked = curator()
    found = asked.release(tc.Quantiles("x", [0.5], level=0.7), rho=1).estimate()
    mean = asked.release(tc.Mean("x"), rho=1).estimate()
    several = asked.release(tc.Quantiles("x", [0.1, 0.5]), rho=1).estimate()
    for make, code in (
        (lambda: tc.difference(found, mean), "I07"),
        (lambda: tc.difference(mean, found), "I07"),
        (lambda: tc.difference(asked, mean), "I07"),
        (lambda: tc.difference(found, several), "I07"),
        (lambda: tc.difference(found, found.release.estimate("table")), "I07"),
        (lambda: tc.difference(found, found), "I14"),
        (lambda: tc.difference(several, several).conf_int(0.95), "I14"),
        (lambda: tc.difference(several, several).summary(0.4), "I14"),
        (lambda: found["0.25"], "I02"),
        (lambda: several["0.5"].plot(), "I05"),
    ):
        with pytest.raises(InferenceError) as refused:
            make()  # pyright: ignore
        assert refused.value.code == code
    assert several["0.5"].terms == ("0.5",)
    assert several[["0.5", "0.1"]].values.tolist() == several.values.tolist()[::-1]


def test_quantiles_beside_means_in_a_table() -> None:
    asked = curator()
    mean = asked.release(tc.Mean("x", by="g"), rho=1).estimate()
    median = asked.release(tc.Quantiles("x", [0.5], by="g"), rho=1).estimate()
    wide = asked.release(tc.Quantiles("x", [0.5], by="g", level=0.9), rho=1).estimate()
    made = tc.table(mean, median, names=["mean", "median"])
    assert [row[0] for row in made.rows] == ["a", "b", "N", "cost"]
    value, low, high = (float(word.strip("[],")) for word in str(made.rows[0][2]).split())
    assert (value, low, high) == pytest.approx((median.values[0], *median.limits[0]), abs=0.01)
    assert made.notes == (
        "standard errors in brackets: sampling and privacy noise together",
        "95% intervals in square brackets: sampling and selection error together",
    )
    assert "(median 95%, wide 90%)" in tc.table(median, wide, names=["median", "wide"]).notes[0]
    few = simulate_quantiles(tc.Quantiles("x", [0.5]), {"x": np.zeros(20)}, SCHEMA, rho=0.01)
    assert str(tc.table(few).rows[0][1]).endswith("] ?")
    assert "few rows" in tc.table(few).notes[-1]
    for wrong in (mean.release, median.release, mean.pairwise(), 3):
        for make in (tc.table, tc.methods):
            with pytest.raises(InferenceError) as refused:
                make(wrong)  # pyright: ignore
            assert refused.value.code == "I13"


def test_the_paragraph_names_the_exponential_mechanism() -> None:
    asked = curator()
    mean = asked.release(tc.Mean("x"), rho=1).estimate()
    median = asked.release(tc.Quantiles("x", [0.5]), rho=0.5).estimate()
    both, alone = tc.methods(mean, median), tc.methods(median)
    for words in (both, alone):
        assert "95% intervals were selected from public grids by the exponential mechanism" in words
        assert "McSherry & Talwar, 2007" in words
        assert "bounded range" in words
        assert "x: bounds -5 to 15 kg" in words
        assert "numbers of rows released with rounded Gaussian noise" in words
    assert "(ρ = 1.5 in 2 releases, added up)" in both
    assert "was added to exact integer sums" in both
    assert "was added to exact integer sums" not in alone
    pure = curator(epsilon=9).release(tc.Quantiles("x", [0.5], level=0.9), epsilon=1).estimate()
    assert "bounded range" not in tc.methods(pure)
    assert "90% intervals" in tc.methods(pure)
