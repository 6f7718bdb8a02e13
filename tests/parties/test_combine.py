"""Releases of many parties become one answer: what goes together, weights, totals, the same people, words, pictures."""

from __future__ import annotations

import json
from functools import partial
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize_scalar

import tacit as tc
from tacit.errors import TacitError
from tacit.fits.cells.released_cells import cells_of
from tacit.parties import Combined
from tacit.pooling.heterogeneity import effects
from tacit.pooling.restricted_likelihood import restricted_log_likelihood
from tacit.release.document import release_from_dict

SCHEMA = tc.Schema({"stay": tc.Real(0, 60, units="days"), "sex": tc.Category(["f", "m"]), "dead": tc.Boolean()})
SIZES = {"st-mary": 300, "st-luke": 900, "st-john": 2_000}


def curator(name: str, rows: int, *, schema: tc.Schema = SCHEMA, seed: int = 0, **more: Any) -> tc.Curator:
    rng = np.random.default_rng([seed, rows])
    table = {
        "stay": rng.gamma(4, 3, rows),
        "sex": rng.choice(["f", "m"], rows),
        "dead": rng.random(rows) < 0.2,
        "who": np.arange(rows) // 2,
    }
    budget = tc.Budget(epsilon=500, neighbors=more.pop("neighbors", "add-remove"))
    return tc.Curator({key: table[key] for key in schema}, schema, name=name, budget=budget, **more)


def answers(query: Any, epsilon: Any = 20, **more: Any) -> dict[str, Any]:
    return {name: curator(name, rows, **more).release(query, epsilon=epsilon) for name, rows in SIZES.items()}


def refused(code: str, *words: Any, **more: Any) -> str:
    with pytest.raises(TacitError) as problem:
        tc.combine(*words, **more)
    assert problem.value.code == code
    return str(problem.value)


@pytest.mark.sample(4)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize(
    "query",
    [
        tc.Mean("stay"),
        tc.Mean(["stay", "dead"], by="sex"),
        tc.Variance("stay"),
        tc.Sum("stay", by="sex"),
        tc.Sum("dead"),
    ],
    ids=repr,
)
def test_one_party_says_what_it_said(query: Any, neighbors: str) -> None:
    """Standard errors agree to 2% (corrections of 1 / n differ), values to a tenth of one, ends to a twentieth."""
    own = curator("st-john", 2_000, neighbors=neighbors).release(query, epsilon=20)
    made, one = tc.combine([own]).estimate(), own.estimate()
    assert made.terms == one.terms
    assert made.std_errors == pytest.approx(one.std_errors, rel=0.02)
    assert (np.abs(made.values - one.values) < 0.1 * one.std_errors).all()
    # those of a number of rows are whole alone, and not of parties
    least = 0.15 if query == tc.Sum("dead") else 0.05
    assert (np.abs(made.intervals() - one.intervals()) < least * one.std_errors[:, None]).all()
    assert made.privacy_shares == pytest.approx(one.privacy_shares, abs=0.02)


def test_a_common_mean_is_nearly_that_of_all_rows() -> None:
    """At this price noise is far below sampling error: weights are sizes, to 3%."""
    found = tc.combine(answers(tc.Mean("stay"), 100))
    everything = np.concatenate([np.random.default_rng([0, n]).gamma(4, 3, n).clip(0, 60) for n in SIZES.values()])
    made = found.estimate()
    assert abs(made.value - everything.mean()) < 0.05 * made.std_error
    assert made.std_error == pytest.approx(everything.std() / np.sqrt(everything.size), rel=0.03)
    weights = found.to_frame().set_index("party")["weight"]
    assert weights.to_numpy() == pytest.approx(np.array(list(SIZES.values())) / sum(SIZES.values()), rel=0.03)
    assert found.parties == tuple(SIZES)
    assert made.release is found
    assert not hasattr(made, "nothing")


def test_different_prices_noises_relations_and_sizes_go_together() -> None:
    answers = [
        curator("a", 400).release(tc.Mean("stay"), epsilon=1),
        curator("b", 800, neighbors="replace-one").release(tc.Mean("stay"), epsilon=0.5),
        tc.Curator({"stay": np.linspace(0, 24, 700)}, tc.Schema({"stay": tc.Real(0, 60, units="days")}), name="c",
                   budget=tc.Budget(rho=1)).release(tc.Mean("stay"), rho=0.1),
    ]  # fmt: skip
    found = tc.combine(answers)
    assert found.neighbors == "replace-one and add-remove"
    assert found.rows is None
    assert str(found.cost) == "ρ = 0.5"  # the largest, of prices of two kinds: 1**2 / 2
    assert abs(found.estimate().value - 12) < 7 * found.estimate().std_error  # beyond with probability < 1e-6


def test_totals_add_up_unclipped() -> None:
    """Noisy counts of empty cells are negative half of the time; clipped ones would add up to far too much."""
    schema = tc.Schema({"stay": tc.Real(0, 60)})
    parties = 60
    made = []
    for i in range(parties):
        here = tc.Curator(
            {"stay": np.zeros(0)}, schema, name=f"p{i}", budget=tc.Budget(epsilon=1, neighbors="add-remove")
        )
        made.append(here.release(tc.Count(), epsilon=1))
    found = tc.combine(made).estimate("table")
    noise = made[0].parts[0].law.variance()
    total = sum(one.parts[0].integers[0][0] for one in made)
    assert found.value == max(total, 0)
    assert found.privacy_variances == pytest.approx(parties * noise)
    assert abs(total) < 5.5 * np.sqrt(parties * noise)  # beyond with probability < 1e-6


@pytest.mark.sample(2)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_counts_sums_and_quality_of_all_parties(neighbors: str) -> None:
    """Each within 7 standard errors of noise of the truth: beyond with probability < 1e-6."""
    counts = tc.combine(answers(tc.Count(by="sex"), neighbors=neighbors))
    made = counts.estimate("table")
    draws = [np.random.default_rng([0, n]) for n in SIZES.values()]
    sex = np.concatenate(
        [(g.gamma(4, 3, n), g.choice(["f", "m"], n))[1] for g, n in zip(draws, SIZES.values(), strict=True)]
    )
    for t, term in enumerate(made.terms):
        assert abs(made.values[t] - (sex == term).sum()) < 7 * made.std_errors[t] + 1
    assert counts.rows == (3_200 if neighbors == "replace-one" else None)
    low, high = counts.estimate()[["f"]].conf_int()
    assert low < made.values[0] < high
    quality = tc.combine(answers(tc.DataQuality(), neighbors=neighbors), "random").estimate()
    assert quality.terms[0] == "stay: missing"
    assert (quality.values < 0.02).all()
    assert (quality.intervals()[:, 1] > quality.intervals()[:, 0]).all()  # also where the estimate was kept to 0
    with pytest.raises(TacitError, match="C16"):
        print(quality.I2)


def test_the_same_people_are_one_party_and_only_noise_is_averaged(tmp_path: Any) -> None:
    ledger = str(tmp_path / "p.ledger")
    one = curator("st-mary", 500, ledger=ledger)
    twice = [one.release(tc.Mean("stay"), epsilon=e) for e in (2, 4)]
    other = curator("st-luke", 500, seed=1, ledger=str(tmp_path / "q.ledger")).release(tc.Mean("stay"), epsilon=4)
    found = tc.combine([*twice, other])
    assert found.parties == ("st-mary (1) and st-mary (2)", "st-luke")
    assert str(found.cost) == "ε = 6"  # what st-mary's people paid
    assert "their noise is averaged" in str(found)
    alone = tc.combine(twice).estimate()
    singles = [release.estimate() for release in twice]
    shares = np.array([1.0, 4.0]) / 5  # inverse to the noise variances of ε = 2 and 4
    # one sample, seen twice: noisy estimates of its variance are averaged as the values are
    assert alone.sampling_variances == pytest.approx(
        [shares @ [one.sampling_variances[0] for one in singles]], rel=0.01
    )
    expected = (shares**2 * np.array([one.privacy_variances[0] for one in singles])).sum()
    assert alone.privacy_variances == pytest.approx([expected], rel=0.02)
    assert alone.value == pytest.approx(shares @ [one.value for one in singles], abs=0.05 * alone.std_error)
    again = curator("st-mary", 500, ledger=ledger)
    cells = [again.release(tc.Histogram("sex"), epsilon=e) for e in (2, 4)]
    made = tc.combine(cells)
    assert made.parties == ("st-mary (1) and st-mary (2)",)
    assert made.counts == pytest.approx(shares @ np.array([one.counts for one in cells]), abs=0.5)
    variances = np.array([one.parts[0].law.variance() for one in cells])
    assert cells_of(made).variance < variances.min()


def test_in_memory_a_table_of_one_name_is_the_same_people_unless_parties_are_named() -> None:
    two = [curator("table", 300, seed=i).release(tc.Mean("stay"), epsilon=1) for i in range(2)]
    assert len(tc.combine(two).parties) == 1
    assert tc.combine({"a": two[0], "b": two[1]}).parties == ("a", "b")


def test_what_does_not_go_together_is_refused_by_name() -> None:
    good = answers(tc.Mean("stay"))
    wide = tc.Schema({**dict(SCHEMA), "stay": tc.Real(0, 365, units="days")})
    hours = tc.Schema({**dict(SCHEMA), "stay": tc.Real(0, 60, units="hours")})
    zero = tc.Schema({**dict(SCHEMA), "stay": tc.Real(0, 60, units="days", missing=0)})
    person = tc.Schema({**dict(SCHEMA), "who": tc.PrivacyUnit(max_rows=2)})
    cases = {
        "'stay' is 0 to 365 there, 0 to 60 with st-mary": wide,
        "'stay' is in hours there, days with st-mary": hours,
        "missing 'stay' are counted as 0.0 there, left out with st-mary": zero,
        "a person counts with 2 rows at most there, a row is a person with st-mary": person,
    }
    for words, schema in cases.items():
        bad = curator("bad", 300, schema=schema).release(tc.Mean("stay"), epsilon=1)
        assert f"bad does not go with st-mary: {words}" in refused("C12", {**good, "bad": bad})
    other = curator("bad", 300).release(tc.Mean("dead"), epsilon=1)
    assert "it answers" in refused("C12", {**good, "bad": other})
    assert "again is the same release as st-mary" in refused("C13", {**good, "again": good["st-mary"]})
    quantiles = answers(tc.Quantiles("stay", [0.5]))
    assert "selected" in refused("C11", quantiles)
    simulated = tc.testing.simulate(tc.Mean("stay"), {"stay": [1.0] * 9, "sex": ["f"] * 9, "dead": [True] * 9}, SCHEMA,
                                    epsilon=1, repeats=1).release(0)  # fmt: skip
    assert "simulated" in refused("C10", {**good, "bad": simulated})
    assert "no release" in refused("C10", [good["st-mary"].estimate()])
    refused("C10", [])
    refused("C14", [good["st-mary"]], "random")
    assert 'effects="random"' in refused("C17", good, "randon")
    refused("C17", good, method="ML")


def depth(y: Any, v: Any, tau2: float) -> float:
    return -float(restricted_log_likelihood(y[:, None], v[:, None], np.ones((len(y), 1)), np.array([tau2]))[0])


def test_random_effects_against_statsmodels_and_brute_force() -> None:
    """DerSimonian-Laird and Hartung-Knapp as statsmodels has them; REML is the top of its likelihood."""
    meta = pytest.importorskip("statsmodels.stats.meta_analysis")
    rng = np.random.default_rng(0)
    for _ in range(30):
        m = int(rng.integers(2, 40))
        v = rng.uniform(0.01, 1, m)
        y = rng.normal(0, np.sqrt(v + rng.choice([0.0, 0.3])))
        theirs = meta.combine_effects(y, v, method_re="chi2", use_t=True)
        ours = effects(y, v, "DL")
        assert ours.tau2 == pytest.approx(max(theirs.tau2, 0), abs=1e-10)
        assert pytest.approx((theirs.q, max(theirs.i2, 0))) == (ours.Q, ours.I2)
        if theirs.tau2 >= 0:
            assert ours.mu == pytest.approx(theirs.mean_effect_re)
            assert ours.variance == pytest.approx(theirs.var_hksj_re)
        made = effects(y, v)
        best = minimize_scalar(partial(depth, y, v), bounds=(0, 20), method="bounded", options={"xatol": 1e-9})
        assert -depth(y, v, made.tau2) >= -best.fun - 1e-8


def test_random_effects_of_parties() -> None:
    found = tc.combine(answers(tc.Mean("stay", by="sex")), "random")
    made = found.estimate()
    assert list(made.prediction().index) == ["f", "m"]
    assert (made.prediction()["lower"] < made.intervals()[:, 0] + 1e-9).all()
    assert ((made.I2 >= 0) & (made.I2 <= 1) & (made.tau2 >= 0) & (made.Q >= 0)).all()
    assert found.heterogeneity().columns[1:4] == ("Q", "df", "p-value")
    assert len(found.leave_one_out().rows) == 2 * 4
    assert len(found.by_party().rows) == 2 * 3
    assert found.without("st-luke").parties == ("st-mary", "st-john")
    with pytest.raises(TacitError, match=r"C15.*st-luke"):
        found.without("st-lucia")
    with pytest.raises(TacitError, match="C14"):
        found.without("st-luke", "st-mary")
    difference = made.contrast("f - m")
    assert difference.std_error >= np.sqrt(made.sampling_variances).sum() - 1e-12  # the joint law is not known
    assert "random effects" in str(made)
    with pytest.raises(TacitError, match="C16"):
        tc.combine(answers(tc.Mean("stay"))).estimate().prediction()


def test_costs_add_where_people_may_be_in_several_parties() -> None:
    given = answers(tc.Mean("stay"), 2)
    assert str(tc.combine(given).cost) == "ε = 2"
    assert "nobody is in two parties (in all of them: ε = 6)" in str(tc.combine(given))
    assert str(tc.combine(given, overlap=True).cost) == "ε = 6"


def test_histograms_add_up_and_are_one() -> None:
    query = tc.Histogram(["stay", "sex"], bins={"stay": 6})
    given = answers(query)
    found = tc.combine(given)
    assert found.counts == pytest.approx(sum(one.counts for one in given.values()))
    cells = cells_of(found)
    assert cells.variance == pytest.approx(sum(one.parts[0].law.variance() for one in given.values()), rel=1e-4)
    assert cells.total is None
    assert found.margin("sex").estimate("table").terms == ("f", "m")
    assert "summed noise" in str(found)
    for action in (found.to_dict, lambda: found.save("x.json"), lambda: found.to_json()):
        with pytest.raises(TacitError, match="C18"):
            action()
    public = tc.combine(answers(query, neighbors="replace-one"))
    assert public.rows == 3_200
    kept = tc.Schema({"sex": tc.Category(["f", "m"], missing="unknown")})
    whole = [
        curator(f"p{n}", n, schema=kept, neighbors="replace-one").release(tc.Histogram("sex"), epsilon=1)
        for n in (90, 60)
    ]
    assert cells_of(tc.combine(whole)).total == 150
    assert "combination already" in refused("C10", [found, given["st-mary"]])


def test_the_law_of_summed_noises_is_that_of_the_sum() -> None:
    """Against 400,000 draws of sums: tails within 5.5 Monte-Carlo errors (beyond with probability < 1e-6)."""
    rng = np.random.default_rng(0)
    for prices in ([1, 1], [1, 0.5, 0.25], [0.5] * 6, [0.001, 0.002]):  # the last is smooth
        releases = [curator(f"p{i}", 50).release(tc.Histogram("sex"), epsilon=e) for i, e in enumerate(prices)]
        found = tc.combine(releases).parts[0].law
        draws = sum(one.parts[0].law.sample(400_000, rng) for one in releases)
        sd = float(np.sqrt(found.variance()))
        for k in np.rint(np.array([0, 1, 2, 3]) * sd):
            p = float((draws > k).mean())
            assert abs(float(found.sf(k)) - p) < 5.5 * np.sqrt(p * (1 - p) / 400_000) + (0.003 if sd > 1_000 else 0)


@pytest.mark.long
def test_forest_plot(tmp_path: Any) -> None:
    pytest.importorskip("matplotlib")
    for query in (tc.Mean("stay"), tc.Mean("stay", by="sex"), tc.Count(by="sex")):
        given = answers(query)
        for effect in ("common", "random"):
            drawn = tc.combine(given, effect).estimate().plot()
            labels = [one.get_text() for one in drawn.axes.get_yticklabels()]
            assert labels.count("st-mary") == len(drawn.terms)
            assert labels.count("together") == len(drawn.terms)
            assert ("one more party" in drawn.axes.get_legend_handles_labels()[1]) == (
                effect == "random" and type(query).__name__ == "Mean"
            )
            drawn.save(tmp_path / "forest.svg")
    found = tc.combine(answers(tc.Mean("stay", by="sex")))
    assert found.estimate()["f"].plot().terms == ("f",)  # of picked terms the ordinary picture


def test_a_combined_term_with_a_reason_has_no_diamond() -> None:
    """Its interval is the whole range, which a diamond would show as if it had been estimated."""
    pytest.importorskip("matplotlib")

    def diamonds(made: Any) -> int:
        return sum(len(one.get_xy()) == 5 for one in made.plot().axes.patches)

    def few() -> Any:
        return tc.combine({f"p{i}": curator(f"p{i}", 2).release(tc.Mean("stay"), epsilon=0.02) for i in range(2)})

    # noise hides two rows in about 19 of 20 studies: six tries fail with chance below 1e-6
    found = next((one for one in (few().estimate() for _ in range(6)) if one.reasons[0] is not None), None)
    assert found is not None
    assert diamonds(found) == 0
    assert diamonds(tc.combine(answers(tc.Mean("stay"))).estimate()) == 1


def test_combined_is_no_release_and_survives_words() -> None:
    found = tc.combine(answers(tc.Mean("stay")))
    assert isinstance(found, Combined)
    assert not isinstance(found, tc.Release)
    assert found._repr_html_().startswith('<div style="overflow-x:auto"><table ')
    assert "3 parties" in str(found)
    assert found.to_frame().shape == (3, 8)
    loaded = {name: release_from_dict(json.loads(one.to_json())) for name, one in answers(tc.Mean("stay")).items()}
    assert tc.combine(loaded).estimate().value > 0


WEIGHTED = tc.Schema({**dict(SCHEMA), "weight": tc.Real(0, 2), "who": tc.PrivacyUnit(max_rows=3)})


@pytest.mark.sample(4)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
@pytest.mark.parametrize("persons", [False, True])
def test_weights_and_persons_too(neighbors: str, persons: bool) -> None:
    """One party's answer in every form is what it said alone: standard errors to 1%, ends to a twentieth of one."""
    rng = np.random.default_rng(1)
    table = {
        "stay": rng.gamma(4, 3, 1_500),
        "sex": rng.choice(["f", "m"], 1_500),
        "dead": rng.random(1_500) < 0.3,
        "weight": rng.uniform(0, 2, 1_500),
        "who": np.arange(1_500) // 3,
    }
    columns = {name: column for name, column in WEIGHTED.items() if persons or name != "who"}
    budget = tc.Budget(epsilon=500, neighbors=neighbors)
    one = tc.Curator({name: table[name] for name in columns}, tc.Schema(columns), name="p", budget=budget)
    queries: list[Any] = [
        tc.Mean("stay", by="sex", weights="weight"),
        tc.Count(weights="weight"),
        tc.Sum("stay", weights="weight"),
        tc.Variance("stay", by="sex"),
        tc.Count(by="sex"),
    ]
    for query in [*queries, *([tc.Mean("stay", per="row")] if persons else [])]:
        release = one.release(query, epsilon=10)
        own, made = release.estimate(), tc.combine([release]).estimate()
        assert made.std_errors == pytest.approx(own.std_errors, rel=0.01)
        assert (np.abs(made.values - own.values) < 0.01 * own.std_errors).all()
        off = (made.intervals() - own.intervals()) / own.std_errors[:, None]
        assert (np.abs(off) < 0.05).all()
