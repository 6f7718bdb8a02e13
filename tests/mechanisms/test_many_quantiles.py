"""Many quantiles by halving ranges: exact probabilities on small tables, laws, documents, and how far off they are."""

from __future__ import annotations

import json
import math
from collections import Counter, defaultdict
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest
from selection_outcomes import neighbours, outcomes_of

import tacit as tc
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import many_steps, mechanism_many
from tacit.method.quantiles.stored import wrong
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.release.sensitivity_checks import MOST_LEVELS
from tacit.testing import contract_selection
from tacit.testing.neighbouring_tables import pairs
from tacit.testing.simulated_quantiles import simulate_quantiles

SCHEMA = tc.Schema({"x": tc.Real(0, 100, missing=0), "sex": tc.Category(["f", "m"])})
TWENTY = [Fraction(i, 21) for i in range(1, 21)]
EPSILON = Fraction(3, 2)
SETS = {
    "thirds": (Fraction(1, 3), Fraction(1, 2), Fraction(4, 5)),
    "quarters": (Fraction(1, 4), Fraction(1, 2), Fraction(3, 4)),
    "four": (Fraction(1, 10), Fraction(1, 5), Fraction(1, 2), Fraction(9, 10)),
}


def part(probs: Any = TWENTY, relation: str = "replace-one", rows: int | None = 1_000, **price: Any) -> Any:
    """The first part of a design of points."""
    price = price or {"epsilon": EPSILON}
    query = tc.Quantiles("x", probs, interval=False)
    return quantiles_design.design(query, Public(SCHEMA, relation, rows), Cost.of(**price)).columns[0]


def small(probs: Any, relation: str, last: int) -> Any:
    """A part on steps 0 to `last`, with what a design declares."""
    from dataclasses import replace

    column = part(probs, relation, 1_000 if relation == "replace-one" else None)
    return replace(column, form=replace(column.form, parameters={**column.form.parameters, "G": last}))


def outcomes(column: Any, probs: Any, counts: dict[int, int], relation: str, parts: Any) -> dict[Any, float]:
    """The probability of each outcome, for given parts of steps: by the function of a release, draw by draw."""
    replaces = relation == "replace-one"
    return outcomes_of(lambda draw: mechanism_many.selected(column, probs, counts, replaces, draw, parts))


def loss(probs: Any, relation: str, steps: int, most: int, size: int = 1) -> float:
    """The largest log-ratio of an outcome's probabilities, over all pairs; size: parts of a step."""
    column, known = small(probs, relation, steps - 1), dict[Any, dict[Any, float]]()

    def law(rows: tuple[int, ...]) -> dict[Any, float]:
        held = tuple(sorted(v for v in rows if v >= 0))
        if held not in known:
            mixed: dict[Any, float] = defaultdict(float)
            for parts in product(range(size), repeat=len(held)):
                given = np.array(parts, dtype=np.int64)
                for made, p in outcomes(column, probs, Counter(held), relation, lambda _, g=given: g).items():
                    mixed[made] += p / size ** len(held)
            known[held] = mixed
        return known[held]

    worst = 0.0
    for one, other in neighbours(steps, most, relation):
        p, q = law(one), law(other)
        assert p.keys() == q.keys()
        assert sum(p.values()) == pytest.approx(1)
        worst = max(worst, *(abs(math.log(p[made] / q[made])) for made in p))
    return worst


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("name", list(SETS))
def test_no_outcome_is_likelier_than_the_price_allows(
    name: str, relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Over all neighbouring tables of up to four rows on four steps.  Floats: 1e-9 is above their rounding.

    And no rate is far too small: the loss reaches a third of the price in the same tables.
    """
    monkeypatch.setattr(mechanism_many, "PARTS", 1)
    monkeypatch.setattr(many_steps, "is_nearer", lambda *_, **__: True)
    found = loss(SETS[name], relation, 4, 4)
    assert float(EPSILON) / 3 < found <= float(EPSILON) + 1e-9


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_rows_divided_over_parts_of_steps_lose_no_more(relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Two steps of two parts, mixed over the parts of all rows."""
    monkeypatch.setattr(mechanism_many, "PARTS", 2)
    monkeypatch.setattr(many_steps, "is_nearer", lambda *_, **__: True)
    assert loss(SETS["thirds"], relation, 2, 3, size=2) <= float(EPSILON) + 1e-9


def test_a_row_that_is_replaced_is_paid_for_in_both_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without it the same tables show more than the price: the check above is not blind."""
    monkeypatch.setattr(mechanism_many, "PARTS", 1)
    monkeypatch.setattr(many_steps, "is_nearer", lambda *_, **__: True)

    def once(one: Any, *, replaces: bool) -> Fraction:
        # half the change that is declared
        return Fraction(max(one.share.numerator, one.share.denominator - one.share.numerator), 2)

    monkeypatch.setattr(many_steps.Halving, "most", once)
    assert loss(SETS["quarters"], "replace-one", 4, 4) > float(EPSILON) * 1.05


@pytest.mark.sample(2)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("name", list(SETS))
def test_the_declared_change_of_a_level_is_reached(name: str, relation: str) -> None:
    """Ranges of one row against another, at given cuts: at most 1 in all at each level, and 1 at the most."""
    probs, replaces, steps = SETS[name], relation == "replace-one", 5
    made, worst = many_steps.halvings(probs), Counter[int]()

    @cache
    def candidates(half: many_steps.Halving, rows: tuple[int, ...], low: int, high: int) -> Any:
        return mechanism_many.candidates(half, np.array(sorted(v for v in rows if v >= 0)), low, high)

    for cuts in combinations_with_replacement(range(steps + 1), len(probs)):
        cut = {-1: 0, len(probs): steps, **dict(enumerate(cuts))}
        for one, other in neighbours(steps, 3, relation):
            change: Counter[int] = Counter()
            for half in made:
                low, high = cut[half.low], cut[half.high]
                if high > low:
                    runs = [candidates(half, rows, low, high) for rows in (one, other)]
                    moved = contract_selection.change(*runs)
                    change[half.level] += Fraction(moved, half.most(replaces=replaces))
            worst |= change
    assert all(worst[level] <= 1 for level in range(many_steps.levels(len(probs))))
    assert worst[0] == 1
    assert replaces or worst[1] == 1


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_the_parts_cost_the_price(relation: Any) -> None:
    """By their declared sensitivities, and half the price widens the law."""
    query = tc.Quantiles("x", TWENTY, interval=False)
    assert contract_selection.costs(query, SCHEMA, relation, Cost.of(epsilon=1)) == []
    column = part(TWENTY, relation, 1_000 if relation == "replace-one" else None)
    assert 2 * column.law.rate * column.form.l1 == EPSILON
    # the sensitivities are those of levels, not of one selection
    assert column.form.l1 == column.form.parameters["levels"] == 5


SMALL = tc.Schema({"x": tc.Integer(0, 9)})


@pytest.mark.sample(2)
@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
def test_the_contract_of_halving(relation: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sensitivities are as declared and reached over all levels; samples prove no more than the price."""
    monkeypatch.setattr(many_steps, "is_nearer", lambda *_, **__: True)
    query = tc.Quantiles("x", SETS["quarters"], interval=False)
    material = list(pairs(SMALL, relation, 72, np.random.default_rng(0)))
    found = contract_selection.sensitivity(query, SMALL, relation, material)
    assert {one.form for one in found} == {"halved", "point"}
    assert all(one.passed for one in found)
    assert contract_selection.audit(query, SMALL, relation, Cost.of(epsilon=1), 1_000) == []


def test_draws_have_the_exact_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chi-square over all outcomes with the sampler of a release: the right rate passes at 1e-6, another fails."""
    from dataclasses import replace

    from scipy import stats

    from tacit.method.shared.mechanism_rank_selection import select

    monkeypatch.setattr(mechanism_many, "PARTS", 1)
    monkeypatch.setattr(many_steps, "is_nearer", lambda *_, **__: True)
    probs, counts, draws = SETS["quarters"], {0: 3, 2: 5, 3: 2}, 6_000
    column = small(probs, "replace-one", 3)
    none = lambda rows: np.zeros(rows, dtype=np.int64)  # noqa: E731
    drawn = Counter(mechanism_many.selected(column, probs, counts, True, select, none) for _ in range(draws))
    for factor, passes in ((1, True), (2, False)):
        wanted = outcomes(
            replace(column, law=replace(column.law, rate=column.law.rate * factor)), probs, counts, "replace-one", none
        )
        expected = draws * np.array(list(wanted.values()))
        found = np.array([drawn[made] for made in wanted])
        rare = expected < 10
        if rare.any():
            found = np.append(found[~rare], found[rare].sum())
            expected = np.append(expected[~rare], expected[rare].sum())
        p = stats.chi2.sf(((found - expected) ** 2 / expected).sum(), len(expected) - 1)
        assert bool(p > 1e-6) == passes


def test_parts_of_steps_are_even() -> None:
    """Chi-square over the 16 high and the 16 low digits of 2**15 parts, each at 1e-6 / 2."""
    from scipy import stats

    parts = mechanism_many.secret_parts(2**15)
    assert parts.min() >= 0
    assert parts.max() < mechanism_many.PARTS
    for digit in (parts // 4096, parts % 16):
        assert stats.chisquare(np.bincount(digit, minlength=16)).pvalue > 5e-7


def test_which_quantiles_are_halved() -> None:
    """Points at pure prices in one cell, where fewer ranks are expected; all others as before."""
    assert part().form.name == part(relation="add-remove", rows=None).form.name == "halved"
    assert part([Fraction(i, 8) for i in range(1, 8)]).form.name == "halved"
    assert part([Fraction(i, 6) for i in range(1, 6)]).form.name == "point"
    assert part([0.25, 0.75]).form.name == part([0.5]).form.name == "point"
    assert part(rho=1).form.name == part(epsilon=1, delta="1e-6").form.name == "point"
    public = Public(SCHEMA, "replace-one", 1_000)
    for query in (tc.Quantiles("x", TWENTY, by="sex", interval=False), tc.Quantiles("x", TWENTY)):
        column = quantiles_design.design(query, public, Cost.of(epsilon=1)).columns[0]
        assert column.form.name != "halved"
    assert many_steps.levels(20) <= MOST_LEVELS


def test_rank_errors_are_as_told_and_at_most_half_of_an_equal_split() -> None:
    """10,000 rows, 20 quantiles, epsilon 1, 25 tables: of even and of bell-shaped rows, and with an atom.

    The mean absolute error told is that of a Laplace variable of the standard deviation.  At 25 tables of 20 quantiles
    the mean varies by less than 10%, so that 40% is four of its standard errors; permute-and-flip errs by less.
    """
    rng = np.random.default_rng(4)
    n, schema = 10_000, tc.Schema({"x": SCHEMA["x"]})
    told = many_steps.rank_errors(TWENTY, part(epsilon=1).law.rate, replaces=True)
    alone = 2 * 20 * math.sqrt(2)
    assert np.mean(told) < alone / 2
    for rows in (rng.uniform(0, 100, n), rng.normal(50, 10, n).clip(0, 100), np.where(rng.random(n) < 0.6, 30, 70)):
        errors = []
        for seed in range(25):
            query = tc.Quantiles("x", TWENTY, interval=False)
            found = simulate_quantiles(query, {"x": rows}, schema, epsilon=1, rng=seed).values
            half = 100 / 2**15
            below, upto = ((rows < found[:, None] + side).sum(axis=1) for side in (-half, half))
            at = n * np.array([float(p) for p in TWENTY])
            errors.append(np.maximum(0, np.maximum(below - at, at - upto)))
        assert np.mean(errors) < 1.4 * np.mean(told) / math.sqrt(2)
        assert np.mean(errors) < alone / math.sqrt(2) / 2


def released() -> Any:
    table = {"x": [float(v % 100) for v in range(3_000)]}
    schema = tc.Schema({"x": SCHEMA["x"]})
    return tc.Curator(table, schema, budget=tc.Budget(epsilon=9)).release(
        tc.Quantiles("x", TWENTY, interval=False), epsilon=2
    )


def words(release: Any) -> dict[str, Any]:
    return {key: value for key, value in json.loads(release.to_json()).items() if key != "digest"}


def test_documents_are_read_again_and_false_ones_refused() -> None:
    made = released()
    again = release_from_dict(words(made))
    assert again.to_json() == made.to_json()
    found = again.estimate()
    assert found.values.tolist() == made.estimate().values.tolist() == sorted(found.values)
    assert found.values == pytest.approx([100 * float(p) for p in TWENTY], abs=8)
    assert np.isnan(found.limits).all()
    assert list(wrong(again)) == []
    for place, value in (
        (("noise", "scale"), "1"),
        (("noise", "law"), "exponential-mechanism"),
        (("sensitivity", "l1"), 4),
        (("levels",), 4),
        (("form",), "point"),
        (("integers",), [[1] * 19]),
        (("integers",), [[2**20 + 1] * 20]),
    ):
        false = words(made)
        inside = false["parts"][0]
        for key in place[:-1]:
            inside = inside[key]
        if place == ("levels",):
            inside = inside["parameters"] if "parameters" in inside else inside["constants"]
        inside[place[-1]] = value
        with pytest.raises(tc.TacitError):
            release_from_dict(false)
    whole = words(made)
    whole["query"] = {**whole["query"], "probs": whole["query"]["probs"][:7]}
    with pytest.raises(tc.TacitError):
        release_from_dict(whole)


def test_the_plan_says_what_halving_errs_by() -> None:
    """Its widths are of sampling and selection errors, each by their standard deviations in ranks."""
    schema = tc.Schema({"x": SCHEMA["x"]})
    page = tc.plan(tc.Quantiles("x", TWENTY, interval=False), schema, rows=10_000, epsilon=1)
    told = many_steps.rank_errors(TWENTY, part(epsilon=1).law.rate, replaces=True)
    p = np.array([float(one) for one in TWENTY])
    wanted = 2 * 1.959964 * np.sqrt(10_000 * p * (1 - p) + told**2) / 10_000 * 100
    assert [one.width for one in page.parts[0].terms] == pytest.approx(wanted, rel=1e-3)
