"""`tc.explain`: of numbers, budgets, releases, ledgers and studies; the pages, the attack, the calculators."""

from __future__ import annotations

import itertools
import json
import math
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import tacit as tc
from tacit.errors import BudgetError, FileError, InferenceError
from tacit.meaning.checked import percent
from tacit.meaning.differencing import LARGEST, noise_of
from tacit.meaning.many_releases import many_releases
from tacit.meaning.promise import Promise
from tacit.privacy import Cost, mu_squared_to_epsilon, partition_table, zcdp_to_epsilon

PEOPLE = {"age": [30.0, 40.0, 50.0] * 20}
SCHEMA = tc.Schema({"age": tc.Real(0, 100)})


def test_a_price_in_every_way_it_can_be_stated():
    for price in ({"epsilon": 1}, {"epsilon": 1, "delta": 1e-6}, {"rho": 0.1}, {"mu": 0.5}):
        made = tc.explain(**price)
        low, high = made.posterior(0.1)
        assert low < 0.1 < high
        assert 0.5 < made.guessed_right() < 1
        assert made.power(0.05) > 0.05
        assert json.loads(json.dumps(made.to_dict()))["cases"][0]["guessed_right"] == made.guessed_right()
        assert made.title in made.to_text()
    assert (tc.explain(epsilon=1).except_with, tc.explain(rho=0.1).except_with) == (0, 1e-6)
    assert tc.explain(mu=0.5).guessed_right() == pytest.approx(0.598706, abs=1e-6)


def test_presence_and_values_under_add_remove():
    made = tc.explain(epsilon=1, neighbors="add-remove")
    presence, values = (one.promise for one in made.cases)
    assert presence.delta(0.0) == pytest.approx(math.tanh(0.5))
    assert values.delta(0.0) == pytest.approx(math.tanh(1.0))
    shown = made.summary()
    secret = next(row for row in shown.rows if "10,000" in str(row[0]))
    assert secret[1] == ""
    assert made.case("what one row says") == values
    # what a row says is guessed by a removal and an addition: twice the price
    twice = tc.explain(epsilon=2)
    assert made.found_among(10_000) == twice.found_among(10_000)
    assert made.point_mass(10, 1_000) == twice.point_mass(10, 1_000)
    assert made.population(100, 9).on_average == twice.population(100, 9).on_average


def test_figures_are_rounded_against_the_promise():
    # 73.1058 % is at most 73.2 %, and 26.894 % at least 26.8 %
    assert tc.explain(epsilon=1).summary().rows[0][1] == "26.8 % to 73.2 %"
    for x in np.random.default_rng(0).random(2_000):
        assert float(percent(x)[:-2]) >= 100 * x - 1e-9
        assert float(percent(x, up=False)[:-2]) <= 100 * x + 1e-9
    assert (percent(0.0), percent(1.0)) == ("0 %", "100 %")


def test_a_release_a_ledger_and_what_is_spent_of_it(tmp_path):
    ledger = tmp_path / "people.ledger"
    budget = tc.Budget(rho=0.5)
    curator = tc.Curator(PEOPLE, SCHEMA, name="people", budget=budget, ledger=ledger)
    release = curator.release(tc.Mean("age"), rho=0.1)
    made = tc.explain(release)
    # noise on sums has μ² = 2 ρ: less than what a price of ρ may buy
    assert made.guessed_right() < tc.explain(rho=0.1).guessed_right()
    assert made.guessed_right() == pytest.approx(tc.explain(mu=math.sqrt(0.2)).guessed_right(), abs=1e-6)
    release.save(tmp_path / "mean.json")
    assert tc.explain(tmp_path / "mean.json").title == made.title
    whole = tc.explain(str(ledger))
    assert [one.name for one in whole.cases] == [
        "the whole budget: what one row says",
        "spent so far: what one row says",
    ]
    assert whole.cases[1].promise.delta(0.0) < whole.cases[0].promise.delta(0.0)
    assert tc.explain(curator).cases[0].promise == whole.cases[0].promise
    several = curator.release({"mean": tc.Mean("age"), "var": tc.Variance("age")}, rho=0.1)
    assert tc.explain(several).guessed_right() < tc.explain(rho=0.2).guessed_right()


def test_a_budget_and_a_file(tmp_path):
    job = tmp_path / "job.toml"
    table = (
        '[table]\nname = "t"\nrows = 60\n[budget]\nrho = 1\n[schema]\nage = { type = "Real", lower = 0, upper = 100 }\n'
    )
    ask = '[ask.m]\nquery = "Mean"\ncolumns = "age"\n'
    job.write_text(f"tacit = 1\n{table}[spend]\nrho = 0.1\n{ask}")
    assert tc.explain(job).guessed_right() == tc.explain(rho=0.1).guessed_right()
    job.write_text(f"tacit = 1\n{table}{ask}")
    assert tc.explain(job).guessed_right() == tc.explain(tc.Budget(rho=1)).guessed_right()
    assert tc.explain(tc.Budget(epsilon=1)).guessed_right() == tc.explain(epsilon=1).guessed_right()


def test_groups_and_the_point_mass_of_the_notes():
    one = tc.explain(epsilon=0.1)
    assert one.of_people(10).guessed_right() == pytest.approx(tc.explain(epsilon=1).guessed_right())
    # all rows at one of m places: e^(n ε) / (m - 1 + e^(n ε)), which no n holds against enough places
    assert one.point_mass(rows=100, places=10**9) == pytest.approx(math.exp(10) / (10**9 - 1 + math.exp(10)))
    assert one.point_mass(rows=1_000, places=10**60) < 1e-15
    assert one.point_mass(rows=1_000, places=10**9) > 0.999


def test_the_trade_off_is_the_roc_turned_over(tmp_path):
    for made in (tc.explain(epsilon=1), tc.explain(rho=0.1), tc.explain(epsilon=1, delta=1e-6)):
        for alpha in (0.0, 0.05, 0.5, 1.0):
            assert made.misses(alpha) == pytest.approx(1 - made.power(alpha), abs=1e-12)
    drawn = tc.explain(epsilon=1).plot(curve="trade-off")
    assert np.allclose(drawn.values, 1 - np.array(tc.explain(epsilon=1).plot().values))
    drawn.save(tmp_path / "trade-off.svg")
    with pytest.raises(InferenceError, match="I08"):
        tc.explain(epsilon=1).plot(curve="lift")


def test_a_population_of_secrets_told_by_randomised_response(tmp_path):
    # the mechanism that tells most: everybody's value by k-ary response at ε, guessed as it was told
    made = tc.explain(epsilon=1).population(2_000, 5)
    each = math.e / (4 + math.e)
    assert made.on_average == pytest.approx(2_000 * each)
    assert made.by_chance == 400
    # the bound is the binomial quantile of just these guesses
    assert stats.binom(2_000, each).sf(made.at_most) <= 1e-6 < stats.binom(2_000, each).sf(made.at_most - 1)
    assert float(tc.local.KaryResponse(range(5), 1).channel.own) == pytest.approx(each, rel=1e-12)
    assert "hardly ever" in str(made)
    assert tc.explain(rho=0.1).population().at_most is None
    assert "hardly ever" not in str(tc.explain(rho=0.1).population())
    made.plot().save(tmp_path / "people.svg")


@pytest.mark.parametrize("epsilon", [0.5, 2.0])
def test_no_attacker_on_a_noisy_sum_guesses_more_of_three_people_than_the_bound(epsilon):
    # all tables of three bits, each alike; the answer is their sum with two-sided geometric noise of ratio e^-ε
    tables = np.array(list(itertools.product((0, 1), repeat=3)))
    answers = np.arange(-60, 64)
    law = np.exp(-epsilon * np.abs(answers - tables.sum(axis=1)[:, None]))
    law /= law.sum(axis=1, keepdims=True)
    right = (tables[:, None, :] == tables).sum(axis=2)  # of each guess (row) at each table
    each = tc.explain(epsilon=epsilon).found_among(2)
    for k in range(3):
        # for each answer the guess that gets more than k right most often
        reached = ((right > k) @ (law / 8)).max(axis=0).sum()
        assert reached <= stats.binom(3, each).sf(k) + 1e-12


def test_one_price_in_parts(tmp_path):
    made = tc.explain(epsilon=1, delta=1e-6).partition((1, 2, 50))
    table = partition_table(1, "1e-6", 50)
    assert made.rules == tuple(one.rule for one in table)
    assert all(made.variance(one.rule)[2] == one.average for one in table)
    assert made.variance("pure, ε / k each") == pytest.approx((2, 4, 100))
    assert tc.explain(epsilon=1).partition((2,), delta=1e-6).variance("normals, exact")[0] == table[-1].average
    assert "k = 50" in str(made)
    made.plot().save(tmp_path / "parts.svg")


def test_the_attack_without_and_with_noise():
    weak, strong = tc.explain(epsilon=100).differencing(), tc.explain(epsilon=1).differencing()
    blind = math.sqrt(np.mean((LARGEST / 2 - strong.scores) ** 2))
    assert np.abs(weak.guesses - weak.scores).mean() < 3
    best = math.sqrt(np.mean((strong.guesses - strong.scores) ** 2))
    # posterior means are never worse than the prior's: four standard deviations of the mean square over 10,000 classes
    assert 0.95 * blind < best < 1.02 * blind
    assert strong.summary().rows[0][1:] == ("0.0", "100.0 %")
    again = tc.explain(epsilon=1).differencing()
    assert (again.guesses == strong.guesses).all()


def test_the_attack_s_noise_keeps_the_promise():
    law, scale = noise_of(Promise(pure=Fraction(1)))
    assert (law, 2 * LARGEST / scale) == ("laplace", 1)
    law, scale = noise_of(Promise(rho=Fraction(1, 2)))
    # two sums of sensitivity L: ρ = 2 L² / (2 σ²)
    assert (law, LARGEST**2 / scale**2) == ("normal", pytest.approx(0.5))
    law, scale = noise_of(Promise(mu_squared=Fraction(1, 4)))
    assert math.sqrt(2) * LARGEST / scale == pytest.approx(0.5)


def test_what_many_releases_cost():
    table = tc.explain(epsilon=0.1).composition((1, 10, 100))
    by = {one.rule: one.epsilon for one in table.rules}
    assert by["ε adds"] == pytest.approx((0.1, 1, 10))
    assert by["any ε-DP releases, optimal"][2] <= by["advanced composition"][2]
    assert by["Laplace releases, exact"][2] <= by["any ε-DP releases, optimal"][2] * (1 + 1e-6)
    assert by["each as ρ = ε²/2"][2] == pytest.approx(float(zcdp_to_epsilon("0.5", "1e-6")))
    pair = many_releases(Cost.of(epsilon=1, delta="1e-6"), (1, 4), 1e-6)
    assert pair.rules[0].delta == (1e-6, 4e-6)
    assert pair.rules[1].epsilon[0] == pytest.approx(1, abs=1e-9)
    rho = many_releases(Cost.of(rho="0.1"), (5,), 1e-6)
    assert rho.rules[1].epsilon[0] == pytest.approx(float(mu_squared_to_epsilon(1, "1e-6")))
    assert rho.rules[1].epsilon[0] < rho.rules[0].epsilon[0]


def test_what_privacy_costs_in_rows():
    made = tc.explain(epsilon=1).minimax(rows=(100, 10_000), columns=10)
    # independent Laplace noise on d means: scale d/(n ε), d variances of twice its square
    assert 2 * made.privacy(100) == pytest.approx(10 * 2 * (10 / 100) ** 2)
    assert made.enough == 100
    assert made.privacy(made.enough) == pytest.approx(made.sampling(made.enough))
    normal = tc.explain(mu=0.5).minimax(columns=10)
    # σ = √d / (n μ)
    assert normal.privacy(100) == pytest.approx(10 * (math.sqrt(10) / (100 * 0.5)) ** 2)


def test_pages_and_pictures(tmp_path):
    made = tc.explain(epsilon=1, neighbors="add-remove")
    for name in ("page.html", "page.txt"):
        made.save(tmp_path / name)
    html = (tmp_path / "page.html").read_text()
    assert "<svg" in html
    assert "smoker" in html
    assert html == made.to_html()
    drawn = made.plot()
    assert max(drawn.values) <= 1
    drawn.save(tmp_path / "roc.svg")
    made.differencing().plot().save(tmp_path / "attack.svg")
    tc.explain(epsilon=1).composition().plot().save(tmp_path / "many.svg")
    with pytest.raises(FileError, match="F10"):
        made.save(tmp_path / "page.gif")


@pytest.mark.parametrize(
    ("call", "code"),
    [
        (lambda: tc.explain(), "B19"),
        (lambda: tc.explain(1), "B19"),
        (lambda: tc.explain(tc.Cost.of(epsilon=1), epsilon=1), "B19"),
        (lambda: tc.explain("no such.ledger"), "B19"),
        (lambda: tc.explain(epsilon=0), "B01"),
        (lambda: tc.explain(epsilon=float("nan")), "B01"),
        (lambda: tc.explain(mu=-1), "B01"),
        (lambda: tc.explain(mu=1, rho=1), "B03"),
        (lambda: tc.explain(delta=1e-6), "B03"),
        (lambda: tc.explain(epsilon=1, neighbors="near"), "B05"),
        (lambda: tc.explain(eps=1), "B18"),
        (lambda: tc.explain(epsilon=1).posterior(1.5), "B20"),
        (lambda: tc.explain(epsilon=1).posterior(True), "B20"),
        (lambda: tc.explain(epsilon=1).posterior("0.5"), "B20"),
        (lambda: tc.explain(epsilon=1).found_among(1), "B20"),
        (lambda: tc.explain(epsilon=1).of_people(0), "B20"),
        (lambda: tc.explain(epsilon=1).case("nobody"), "B20"),
        (lambda: tc.explain(epsilon=1).composition((0,)), "B20"),
        (lambda: tc.explain(epsilon=1).composition((2,), delta=0), "B20"),
        (lambda: tc.explain(tc.Budget(epsilon=1)).composition(), "B20"),
        (lambda: tc.explain(rho=1).partition(), "B20"),
        (lambda: tc.explain(epsilon=1).partition((0,)), "B20"),
        (lambda: tc.explain(epsilon=1).partition((2,), delta=1), "B20"),
        (lambda: tc.explain(epsilon=1).population(0), "B20"),
        (lambda: tc.explain(epsilon=1).population(10, secrets=1), "B20"),
        (lambda: tc.explain(epsilon=1).misses(2), "B20"),
        (lambda: tc.explain(epsilon=1).minimax(columns=0), "B20"),
        (lambda: tc.explain(epsilon=1).differencing(rng=-1), "B20"),
    ],
)
def test_bad_arguments_are_told(call, code):
    with pytest.raises(BudgetError) as problem:
        call()
    assert problem.value.code == code
    assert problem.value.hint
