"""Bootstraps of several parties as one: totals add, means are weighted, and both errors go with them."""

from __future__ import annotations

import numpy as np
import pytest

import tacit as tc
from tacit.errors import InferenceError
from tacit.parties.validation import _price  # pyright: ignore[reportPrivateUsage]
from tacit.privacy import Cost

SCHEMA = tc.Schema({"x": tc.Real(0, 1), "y": tc.Real(0, 1), "g": tc.Category(["a", "b"])})
PRICE = {"epsilon": 20, "delta": 1e-6}
SIZES = (300, 900)
STATISTICS = [tc.Mean(["x", "y"]), tc.Variance("x"), tc.Sum("x", by="g"), tc.Count(by="g")]


def parties(statistic: tc.Query, neighbors: str = "replace-one", replicates: int = 20) -> list[tc.Release]:
    found = []
    for i, rows in enumerate(SIZES):
        rng = np.random.default_rng(i)
        table = {"x": rng.beta(2, 3, rows), "y": rng.random(rows), "g": rng.choice(["a", "b"], rows)}
        budget = tc.Budget(**PRICE, neighbors=neighbors)
        curator = tc.Curator(table, SCHEMA, name=f"party {i}", budget=budget)
        found.append(curator.release(tc.Bootstrap(statistic, replicates), **PRICE))
    return found


@pytest.mark.sample(2)
@pytest.mark.parametrize("statistic", STATISTICS)
def test_averages_and_both_errors_combine(statistic: tc.Query) -> None:
    releases = parties(statistic)
    own = [one.estimate(errors="unbiased") for one in releases]
    found = tc.combine(releases).estimate(errors="unbiased")
    assert found.terms == own[0].terms
    each = np.array([one.values for one in own])
    sampling, privacy = (
        np.array([getattr(one, name) for one in own]) for name in ("sampling_variances", "privacy_variances")
    )
    if isinstance(statistic, tc.Sum | tc.Count):
        weights = np.ones_like(each)
    else:
        # what the weights are follows from the values: they add up to 1
        weights = np.stack([each[1] - found.values, found.values - each[0]]) / (each[1] - each[0])
        assert np.all((weights > 0) & (weights < 1))
        # three times the rows: the second party weighs more
        assert np.all(weights[1] > weights[0])
    assert found.values == pytest.approx((weights * each).sum(axis=0))
    assert found.sampling_variances == pytest.approx((weights**2 * sampling).sum(axis=0))
    assert found.privacy_variances == pytest.approx((weights**2 * privacy).sum(axis=0))
    # two variances of 19 degrees of freedom are less uncertain than one, and not known
    half = (found.intervals()[:, 1] - found.intervals()[:, 0]) / 2
    assert np.all(half > 1.97 * found.std_errors)
    text = str(tc.combine(releases))
    assert "2 parties" in text


def test_the_tables_alone() -> None:
    found = tc.combine(parties(tc.Mean("x")))
    table = found.estimate("table")
    own = [one.estimate("table") for one in found.releases]
    share = np.array(SIZES) / sum(SIZES)
    assert table.values == pytest.approx(share @ [one.values for one in own])
    assert not table.sampling_variances.any()
    assert found.cost == found.releases[0].cost
    with pytest.raises(InferenceError, match="I09"):
        tc.combine(parties(tc.Mean("x"), "add-remove")).estimate("table")


def test_one_party_is_its_own_combination() -> None:
    (one, _) = parties(tc.Mean("x"), "add-remove")
    found, own = tc.combine([one]).estimate(), one.estimate()
    assert found.values == pytest.approx(own.values)
    assert found.std_errors == pytest.approx(own.std_errors)
    assert found.intervals() == pytest.approx(own.intervals(), rel=2e-3)


def test_what_does_not_combine() -> None:
    first, second = parties(tc.Mean("x"))
    with pytest.raises(InferenceError, match="C13"):
        tc.combine([first, first])
    with pytest.raises(InferenceError, match="C17"):
        tc.combine([first, second], effects="random")
    with pytest.raises(InferenceError, match="I120"):
        tc.combine([first, second]).estimate(errors="careful")
    with pytest.raises(InferenceError, match="C12"):
        tc.combine([first, parties(tc.Mean("y"))[0]])


@pytest.mark.long
@pytest.mark.parametrize("statistic", [tc.Mean("x"), tc.Count(by="g")])
def test_combined_intervals_cover(statistic: tc.Query) -> None:
    """400 studies of two parties: 95% is missed by five binomial errors once in millions."""
    from tacit.curator.mechanisms import design
    from tacit.method.bootstrap.combine import CombinedBootstrap
    from tacit.method.shared.measurement import Public
    from tacit.method.shared.simulated_parts import simulated
    from tacit.privacy import Cost
    from tacit.testing.simulate import add_noise, exact_integers

    rng, repeats = np.random.default_rng(7), 400
    shapes = [design(tc.Bootstrap(statistic, 20), Public(SCHEMA, "replace-one", n), Cost.of(**PRICE)) for n in SIZES]
    truth = 0.4 if isinstance(statistic, tc.Mean) else sum(SIZES) / 2
    hits = 0
    for _ in range(repeats):
        made = []
        for shape, n in zip(shapes, SIZES, strict=True):
            table = {"x": rng.beta(2, 3, n), "y": rng.random(n), "g": rng.choice(["a", "b"], n)}
            made.append(simulated(shape, add_noise(shape, exact_integers(shape, table, rng), rng)))
        found = CombinedBootstrap(made[0], tuple(made), ("one", "two")).estimate(errors="unbiased")  # type: ignore[arg-type]
        low, high = found.intervals()[0]
        hits += low <= truth <= high
    assert hits / repeats > 0.95 - 5 * np.sqrt(0.05 * 0.95 / repeats)


STUDY = """
tacit = 1
[table]
name = "s"
[budget]
epsilon = 20
delta = 1e-6
[schema]
x = { type = "Real", lower = 0, upper = 1 }
word = { type = "Text", max_length = 5 }
[spend]
epsilon = 20
delta = 1e-6
"""
ASKS = {
    "mean": 'query = "Mean"\ncolumns = "x"\n',
    "again": 'query = "Bootstrap"\nstatistic = { query = "Mean", columns = "x" }\n',
    "words": 'query = "UnlistedLevels"\ncolumn = "word"\n',
}


@pytest.mark.parametrize("accounting", ["gdp", "basic"])
@pytest.mark.parametrize("names", [("again",), ("mean", "again"), ("mean", "words")])
def test_a_study_at_a_pair_may_ask_what_has_a_delta_of_its_own(names: tuple[str, ...], accounting: str) -> None:
    words = STUDY.replace("[schema]", f'accounting = "{accounting}"\n[schema]')
    words += "".join(f"[ask.{name}]\n{ASKS[name]}" for name in names)
    study = tc.Study.from_toml(words)
    answers = {}
    for i, party in enumerate(("one", "two")):
        rng = np.random.default_rng(i)
        table = {"x": rng.random(400), "word": rng.choice(["yes", "no"], 400)}
        answers[party] = tc.Curator(table, study, name=party).release(study)
    for effects in ("common", "random"):
        found = study.combine(answers, effects)
        assert not found.refused
        assert found.parties == ("one", "two")
        alone = {"words"} if effects == "common" else {"words", "again"}
        assert set(found.alone) == alone & set(names)
        for name in found:
            assert found[name].estimate().values == pytest.approx([0.5], abs=0.1)
    # what costs more than the study asks for is refused still
    costs = tuple((name, one.cost, ()) for name, one in answers["one"].items())
    assert _price(study.budget, study.spend, costs) is None
    assert _price(study.budget, Cost.of(epsilon=19.99, delta=1e-6), costs) is not None
    if accounting == "gdp":
        assert _price(study.budget, Cost.of(epsilon=20, delta=0.99e-6), costs) is not None
