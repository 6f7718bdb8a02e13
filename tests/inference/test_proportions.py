"""Proportions of counts: values, both errors, intervals, groups, errors; odds ratios as a frame."""

from __future__ import annotations

import math

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.estimates.verbs.proportions import CountedGroups, proportions
from tacit.testing import simulate

SCHEMA = tc.Schema({"s": tc.Category(["a", "b", "c"]), "y": tc.Boolean(), "x": tc.Real(0, 1)})
R = 400


def people(n: int = 2_000, seed: int = 0) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(seed)
    return {"s": rng.choice(["a", "b", "c"], n, p=[0.6, 0.3, 0.1]), "y": rng.random(n) < 0.3, "x": rng.random(n)}


def curator(n: int = 2_000) -> tc.Curator:
    return tc.Curator(people(n), SCHEMA, budget=tc.Budget(rho=1_000))


def test_shares_add_up_in_each_total() -> None:
    found = curator().release(tc.Count(by=["s", "y"]), epsilon=1).estimate()
    whole, inside = found.proportions(), found.proportions(within="s")
    assert whole.values.sum() == pytest.approx(1)
    assert inside.values.reshape(3, 2).sum(axis=1) == pytest.approx(np.ones(3))
    assert found.proportions(within="y").values.reshape(3, 2).sum(axis=0) == pytest.approx(np.ones(2))
    limits = inside.intervals()
    assert (limits[:, 0] <= inside.values).all()
    assert (inside.values <= limits[:, 1]).all()
    assert inside["b:true"].conf_int() == pytest.approx(tuple(limits[3]))
    assert (inside.intervals(simultaneous=True)[:, 0] <= limits[:, 0]).all()


def test_errors_are_multinomial_and_those_of_a_ratio() -> None:
    found = curator().release(tc.Count(by="s"), rho=0.02)
    k, law = np.array([float(one[0]) for one in found.parts[0].integers]), found.parts[0].law
    shares, p, n = found.estimate().proportions(), k / k.sum(), k.sum()
    assert shares.values == pytest.approx(p)
    assert shares.sampling == pytest.approx((np.diag(p) - np.outer(p, p)) / n)
    load = (np.eye(3) - p[:, None]) / n
    assert shares.privacy == pytest.approx(law.variance() * load @ load.T)
    assert not found.estimate("table").proportions().sampling.any()
    both = shares.contrast("`a` - `b`")
    assert both.values == pytest.approx([p[0] - p[1]])
    assert both.std_errors**2 == pytest.approx(shares.std_errors[0] ** 2 + shares.std_errors[1] ** 2
                                               - 2 * (shares.sampling + shares.privacy)[0, 1])  # fmt: skip


def test_intervals_hold() -> None:
    """400 tables of 120 rows: 95% of intervals hold, less 5 standard errors (fewer than 1e-6 of runs are below)."""
    made = simulate(tc.Count(by="s"), people(120), SCHEMA, repeats=1, epsilon=0.5).release(0)
    rng, truth, hit = np.random.default_rng(3), np.array([0.6, 0.3, 0.1]), list[np.ndarray]()
    for counts in rng.multinomial(120, truth, R) + made.parts[0].law.sample(3 * R, rng).reshape(R, 3):
        cells = CountedGroups(made.levels, counts.astype(float), made.parts[0].law, 1, 1)
        limits = proportions(made, cells).intervals()
        hit.append((limits[:, 0] <= truth) & (truth <= limits[:, 1]))
    assert (np.mean(hit, axis=0) >= 0.95 - 5 * math.sqrt(0.95 * 0.05 / R)).all()


def test_a_total_of_nobody_is_a_reason() -> None:
    table = people()
    table["s"] = np.array(["a"] * 2_000)
    made = tc.Curator(table, SCHEMA, budget=tc.Budget(rho=9)).release(tc.Count(by=["s", "y"]), rho=0.001)
    found = made.estimate().proportions(within="s")
    for i in range(2, 6):
        # a noise of 22 in each count is above the 97.5% point of their sum in one of forty
        if found.reasons[i] is not None:
            assert np.isnan(found.values[i])
            assert found.intervals()[i].tolist() == [0.0, 1.0]
    assert found.reasons[:2] == (None, None)


def test_shares_of_a_histogram_s_columns() -> None:
    made = curator().release(tc.Histogram(["s", "x"], bins={"x": 5}), epsilon=2)
    found = made.margin("s").proportions()
    assert found.terms == ("a", "b", "c")
    assert found.values.sum() == pytest.approx(1)
    assert made.margin(["s", "x"]).proportions(within="x").values.reshape(3, 5).sum(axis=0) == pytest.approx(np.ones(5))


def test_errors_say_what_is_asked() -> None:
    one = curator()
    with pytest.raises(InferenceError, match="Count by groups") as found:
        one.release(tc.Mean("x", by="s"), epsilon=1).estimate().proportions()
    assert found.value.code == "I98"
    counts = one.release(tc.Count(by=["s", "y"]), epsilon=1).estimate()
    for within, words in (("z", "not a column"), (["s", "y"], "no column is left")):
        with pytest.raises(InferenceError, match=words) as found:
            counts.proportions(within=within)
        assert found.value.code == "I41"


def test_words_of_other_libraries_lead_here() -> None:
    one = curator()
    counts, cells = one.release(tc.Count(by="s"), epsilon=1), one.release(tc.Histogram("x", bins={"x": 4}), epsilon=1)
    for asked, words in ((counts, r"\.estimate\(\)\.proportions\(\)"), (cells, r'margin\("sex"\)\.proportions\(\)')):
        with pytest.raises(AttributeError, match=words):
            _ = asked.value_counts  # type: ignore[attr-defined]
    quantiles = one.release(tc.Quantiles("x", [0.5], by="s"), epsilon=1)
    with pytest.raises(AttributeError, match=r'here it is tc\.difference\(one\["a"\], one\["b"\]\)'):
        _ = quantiles.contrast  # type: ignore[attr-defined]


def test_odds_ratios_as_a_frame() -> None:
    fitted = curator().release(tc.Regression("y ~ x", model="logistic"), epsilon=9).estimate()
    plain, ratios = fitted.to_frame(), fitted.to_frame(exponentiate=True)
    assert list(ratios.index) == ["x"]
    for name in ("estimate", "lower", "upper"):
        assert ratios[name]["x"] == pytest.approx(math.exp(plain[name]["x"]))
    assert ratios["std_error"]["x"] == plain["std_error"]["x"]
    linear = curator().release(tc.Regression("x ~ s"), epsilon=9).estimate()
    with pytest.raises(InferenceError, match="no logarithms of ratios"):
        linear.to_frame(exponentiate=True)
