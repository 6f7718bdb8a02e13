"""Many quantiles from cuts and counts: exact probabilities on small tables, laws, prices, documents, coverage."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from itertools import combinations, pairwise
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from selection_outcomes import neighbours, outcomes_of

import tacit as tc
from tacit.method.quantiles import cut_errors, cut_tree, mechanism_cuts
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles.estimate import band
from tacit.method.quantiles.stored import wrong
from tacit.method.shared.measurement import Public
from tacit.method.shared.price_parts import price_parts
from tacit.noise.laws import DiscreteLaplace
from tacit.privacy import Cost
from tacit.privacy.bought import mu_squared_of, ranges_of, rho_of
from tacit.privacy.composition import bought_by
from tacit.privacy.gaussian import range_to_mu_squared
from tacit.release.document import release_from_dict
from tacit.release.sensitivity_checks import cut_weights
from tacit.testing import contract_selection
from tacit.testing.neighbouring_tables import pairs
from tacit.testing.simulated_quantiles import simulate_quantiles

SCHEMA = tc.Schema({"x": tc.Real(0, 100, missing=0), "sex": tc.Category(["f", "m"])})
TWENTY = [Fraction(i, 21) for i in range(1, 21)]
FIVE = [Fraction(i, 6) for i in range(1, 6)]
RELATIONS = ("replace-one", "add-remove")
PRICES: list[dict[str, Any]] = [{"epsilon": 1}, {"rho": "0.05"}, {"epsilon": 1, "delta": "1e-6"}]


def shape_of(relation: str = "replace-one", rows: int = 1_000, probs: Any = TWENTY, **price: Any) -> Any:
    public = Public(SCHEMA, relation, rows if relation == "replace-one" else None, rows)
    return quantiles_design.design(tc.Quantiles("x", probs), public, Cost.of(**(price or {"epsilon": 1})))


def small(relation: str, last: int, **price: Any) -> Any:
    """Cuts at three quarters of rows on steps 0 to `last`, with the rate that a price buys."""
    shape = shape_of(relation, **price)
    cutting, between = shape.columns
    w = cut_tree.weights(2, 1)
    form = replace(
        cutting.form,
        parameters={"G": last, "levels": 2, "even": 1, "reach": 4},
        l1=sum(w),
        l2_squared=sum(one * one for one in w),
    )
    law = replace(cutting.law, rate=cut_tree.rate_for(cutting.cost, w))
    return replace(shape, columns=(replace(cutting, form=form, law=law), between))


def outcomes(shape: Any, counts: dict[int, int]) -> dict[Any, float]:
    """The probability of each set of cuts: by the function of a release, draw by draw."""

    def parts(rows: int) -> np.ndarray:
        return np.zeros(rows, dtype=np.int64)

    return outcomes_of(lambda draw: mechanism_cuts.selected(shape.columns[0], shape, counts, draw, parts))


def laws(shape: Any, relation: str, steps: int, most: int) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """The probabilities of all outcomes under both tables of each pair of neighbours."""
    known = dict[Any, dict[Any, float]]()

    def law(rows: tuple[int, ...]) -> dict[Any, float]:
        held = tuple(sorted(v for v in rows if v >= 0))
        if held not in known:
            known[held] = outcomes(shape, Counter(held))
        return known[held]

    for one, other in neighbours(steps, most, relation):
        p, q = law(one), law(other)
        assert p.keys() == q.keys()
        yield np.array(list(p.values())), np.array([q[made] for made in p])


@pytest.mark.parametrize("relation", RELATIONS)
def test_no_cuts_are_likelier_than_the_price_allows(relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over all neighbouring tables of up to four rows on four steps.  Floats: 1e-9 is above their rounding.

    And no rate is far too small: the loss reaches a third of the price in the same tables.
    """
    monkeypatch.setattr(mechanism_cuts, "PARTS", 1)
    shape = small(relation, 3, epsilon=3)
    price = float(shape.columns[0].cost.epsilon)
    worst = max(float(np.abs(np.log(p / q)).max()) for p, q in laws(shape, relation, 4, 4))
    assert price / 3 < worst <= price + 1e-9


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("price", [{"rho": "0.5"}, {"epsilon": 3, "delta": "1e-6"}], ids=str)
def test_rho_of_cuts_is_within_their_price(price: Any, relation: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Renyi divergences of orders 1.5 to 30 over all neighbours; of a pair, mu**2 / 2."""
    monkeypatch.setattr(mechanism_cuts, "PARTS", 1)
    shape = small(relation, 3, **price)
    rho = float(shape.columns[0].cost.zcdp)
    for p, q in laws(shape, relation, 4, 3):
        for a in (1.5, 2.0, 5.0, 30.0):
            for x, y in ((p, q), (q, p)):
                assert math.log(float((x**a * y ** (1 - a)).sum())) / (a - 1) <= a * rho + 1e-9


def test_a_row_that_is_replaced_is_paid_for_in_both_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    """With M of added rows the same tables show more than the price: the check above is not blind."""
    monkeypatch.setattr(mechanism_cuts, "PARTS", 1)
    monkeypatch.setattr(mechanism_cuts, "moved", lambda _: 1)
    shape = small("replace-one", 3, epsilon=3)
    price = float(shape.columns[0].cost.epsilon)
    assert max(float(np.abs(np.log(p / q)).max()) for p, q in laws(shape, "replace-one", 4, 4)) > 1.05 * price


def test_rows_are_counted_between_the_cuts_that_they_lie_between() -> None:
    rng = np.random.default_rng(8)
    for _ in range(50):
        last = tuple(int(x) for x in np.sort(rng.choice(20, rng.integers(1, 6), replace=False)))
        rows = [int(x) for x in rng.integers(0, 22, 60)]
        ends = (-1, *last, 21)
        wanted = tuple(sum(a < x <= b for x in rows) for a, b in pairwise(ends))
        assert mechanism_cuts.numbers(Counter(rows), last) == wanted


@pytest.mark.parametrize("relation", RELATIONS)
def test_a_neighbour_changes_the_numbers_of_rows_by_what_is_declared(relation: str) -> None:
    """All pairs of tables of up to three rows on five steps, and all sets of edges; the bound is reached."""
    worst = 0
    for size in range(4):
        for last in combinations(range(4), size):
            for one, other in neighbours(5, 3, relation):
                counted = [mechanism_cuts.numbers(Counter(v for v in rows if v >= 0), last) for rows in (one, other)]
                worst = max(worst, sum(abs(x - y) for x, y in zip(*counted, strict=True)))
    form = shape_of(relation).columns[1].form
    assert worst == form.l1 == form.l2_squared == (2 if relation == "replace-one" else 1)


@pytest.mark.sample(2)
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("asked", [{}, {"by": "sex"}, {"where": "sex == 'f'"}], ids=str)
def test_the_contract_of_cuts(relation: Any, asked: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sensitivities are as declared and reached; prices hold; samples prove no more than the price.  Of seven cuts."""
    schema = tc.Schema({"x": tc.Integer(0, 9), "sex": tc.Category(["f", "m"])})
    query = tc.Quantiles("x", FIVE, **asked)
    plan = cut_tree.CutPlan(3, 2, Fraction(1, 2), reach=8)
    monkeypatch.setattr(quantiles_design, "cuts_plan", lambda *_, **__: plan)
    material = list(pairs(schema, relation, 60 if asked else 24, np.random.default_rng(0)))
    found = contract_selection.sensitivity(query, schema, relation, material)
    assert {one.form for one in found} == {"cuts", "between"}
    assert all(one.passed for one in found)
    for price in (Cost.of(epsilon=1), Cost.of(rho="0.1")):
        assert contract_selection.costs(query, schema, relation, price) == []
        assert contract_selection.audit(query, schema, relation, price, 150) == []


def test_draws_of_cuts_have_the_exact_law(monkeypatch: pytest.MonkeyPatch) -> None:
    """Chi-square over all outcomes with the sampler of a release: the right rate passes at 1e-6, another fails."""
    from scipy import stats

    from tacit.method.shared.mechanism_rank_selection import select

    monkeypatch.setattr(mechanism_cuts, "PARTS", 1)
    shape, counts, draws = small("replace-one", 3, epsilon=3), {0: 3, 2: 5, 3: 2}, 4_000
    cutting = shape.columns[0]
    none = lambda rows: np.zeros(rows, dtype=np.int64)  # noqa: E731
    drawn = Counter(mechanism_cuts.selected(cutting, shape, counts, select, none) for _ in range(draws))
    for factor, passes in ((1, True), (2, False)):
        law = replace(cutting.law, rate=cutting.law.rate * factor)
        wanted = outcomes(replace(shape, columns=(replace(cutting, law=law), shape.columns[1])), counts)
        expected, seen = draws * np.array(list(wanted.values())), np.array([drawn[made] for made in wanted])
        rare = expected < 10
        if rare.any():
            expected, seen = (np.append(x[~rare], x[rare].sum()) for x in (expected, seen))
        p = stats.chi2.sf(((seen - expected) ** 2 / expected).sum(), len(expected) - 1)
        assert bool(p > 1e-6) == passes


@pytest.mark.parametrize("price", PRICES, ids=str)
def test_every_ledger_charges_at_least_what_the_levels_cost(price: Any) -> None:
    """In mu**2 the sum over levels of what their ranges cost, in rho that of their squares; both parts are counted."""
    shape = shape_of(**price)
    cutting, between = shape.columns
    facts = cutting.form.parameters
    w = cut_tree.weights(facts["levels"], facts["even"])
    assert cut_weights(facts["levels"], facts["even"]) == w
    ranges = [2 * cutting.law.rate * one for one in w]
    bought = price_parts([shape])
    assert len(bought) == 2
    assert not ranges_of(bought[0])  # not composed by ranges that no level has
    if cutting.cost.kind != "pure":
        assert mu_squared_of(bought[:1]) >= sum(range_to_mu_squared(one) for one in ranges) * (1 - Fraction(1, 10**9))
        assert rho_of(bought[:1]) >= sum(one**2 for one in ranges) / 8 * (1 - Fraction(1, 10**9))
    else:
        assert sum(ranges) + between.form.l1 / between.law.scale == 1
    # a release says the same as its design
    part = SimpleNamespace(
        law=cutting.law, cost=cutting.cost, form="cuts", parameters=facts, integers=((1,) * 31,), kind="quantiles"
    )
    assert bought_by(SimpleNamespace(parts=(part,), cost=shape.cost)) == bought[:1]


def test_which_quantiles_are_read_from_cuts() -> None:
    """With intervals, of one cell, where the expected width is smaller; all others as before."""
    assert [one.form.name for one in shape_of().columns] == ["cuts", "between"]
    assert shape_of(rows=10_000).columns[0].form.name == "cuts"
    assert shape_of("add-remove", rows=10_000).columns[0].form.name == "cuts"
    assert shape_of(rows=10_000, rho="0.05").columns[0].form.name == "cuts"
    assert shape_of(rows=100_000, rho="0.5").columns[0].form.name != "cuts"  # sampling errors alone matter
    assert shape_of(rows=10_000, probs=FIVE).columns[0].form.name != "cuts"
    assert shape_of(probs=[0.25, 0.5, 0.75], rows=5_000).columns[0].form.name != "cuts"
    assert shape_of(rows=10**7).columns[0].form.name != "cuts"
    public = Public(SCHEMA, "replace-one", 1_000)
    query = tc.Quantiles("x", TWENTY, interval=False)
    assert quantiles_design.design(query, public, Cost.of(epsilon=1)).columns[0].form.name != "cuts"


def test_few_quantiles_of_few_rows_are_read_from_cuts() -> None:
    """Where selected ends would have a reason or be much wider, and something is known of the number of rows."""
    for rows, probs, price in ((200, [0.9], "0.05"), (1_000, [0.1, 0.5], "0.02"), (500, [0.5], "0.005")):
        assert shape_of(rows=rows, probs=probs, rho=price).columns[0].form.name == "cuts"
        assert shape_of(rows=100 * rows, probs=probs, rho=price).columns[0].form.name == "joint-4"
        asked, cost = tc.Quantiles("x", probs), Cost.of(rho=price)
        for said, form in ((None, "joint-4"), (rows, "cuts"), (100 * rows, "joint-4")):
            unknown = quantiles_design.design(asked, Public(SCHEMA, "add-remove", None, said), cost)
            assert unknown.columns[0].form.name == form


def test_few_quantiles_of_a_part_are_read_from_cuts_where_ends_would_not_do_of_all_rows() -> None:
    """How many rows a part has is not public: of 20 of 1,000 rows ends may be told where cuts for 1,000 are not."""
    for rows, p, price, form in (
        (200, 0.9, "0.05", "cuts"),
        (1_000, 0.5, "0.02", "joint-4"),
        (100, 0.5, "0.02", "cuts"),
    ):
        asked = tc.Quantiles("x", [p], where="sex == 'f'")
        for public in (Public(SCHEMA, "replace-one", rows, rows), Public(SCHEMA, "add-remove", None, rows)):
            assert quantiles_design.design(asked, public, Cost.of(rho=price)).columns[0].form.name == form


def test_a_quantile_of_few_rows_has_an_interval() -> None:
    """Where selected ends had none: 60 tables of 200 rows, of which 14 or fewer miss; by chance more in 2e-7."""
    schema, query = tc.Schema({"x": tc.Real(0, 100)}), tc.Quantiles("x", [0.9])
    rng, missed, truth = np.random.default_rng(8), 0, 50 + 15 * 1.2815515655446004
    for _ in range(60):
        table = {"x": rng.normal(50, 15, 200).clip(0, 100)}
        found = simulate_quantiles(query, table, schema, rho=0.05, rng=rng)
        assert found.release.parts[0].form == "cuts"
        assert found.reasons == (None,)
        missed += not found.limits[0, 0] <= truth <= found.limits[0, 1]
    assert missed <= 14


def test_two_groups_of_which_a_row_leaves_one_for_the_other_are_paid_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """The rate of replaced rows, over all pairs of tables of which one has a row more: half the price in each group."""
    monkeypatch.setattr(mechanism_cuts, "PARTS", 1)
    shape = small("replace-one", 3, epsilon=3)
    price = float(shape.columns[0].cost.epsilon)
    worst = max(float(np.abs(np.log(p / q)).max()) for p, q in laws(shape, "add-remove", 4, 4))
    assert price / 6 < worst <= price / 2 + 1e-9


def test_groups_of_few_rows_are_read_from_cuts() -> None:
    """Of 1,200 rows in three groups of unequal size; intervals and bands of all; read again; refused if cut short."""
    rng = np.random.default_rng(3)
    schema = tc.Schema({"x": tc.Real(0, 100), "g": tc.Category(["a", "b", "c"])})
    g = rng.choice(["a", "b", "c"], 1_200, p=[0.6, 0.3, 0.1])
    x = np.clip(rng.normal(50, 10, 1_200) + 10.0 * (g == "b"), 0, 100)
    query = tc.Quantiles("x", [0.25, 0.9], by="g")
    curator = tc.Curator({"x": x, "g": g}, schema, budget=tc.Budget(rho=1))
    plan = curator.plan(query, rho="0.05")
    made = curator.release(query, rho="0.05")
    assert [part.form for part in made.parts] == ["cuts", "between"]
    assert [len(part.integers) for part in made.parts] == [3, 3]
    found, band = made.estimate(), made.band()
    assert found.terms == ("a:0.25", "a:0.9", "b:0.25", "b:0.9", "c:0.25", "c:0.9")
    assert found.terms == tuple(one.term for one in plan.parts[0].terms)
    assert (band.limits[:, 0] <= found.limits[:, 0]).all()
    assert (band.limits[:, 1] >= found.limits[:, 1]).all()
    assert found["b:0.25"].values[0] == found.values[2]
    assert release_from_dict(words(made)).estimate().limits.tolist() == found.limits.tolist()
    # of rows at few values cuts fall on one another, in one group more than in others
    heaps = {"x": np.where(g == "a", 20.0 * np.rint(x / 20), x), "g": g}
    heaped = tc.Curator(heaps, schema, budget=tc.Budget(rho=1)).release(query, rho="0.05")
    assert len(set(map(len, heaped.parts[1].integers))) > 1
    assert release_from_dict(words(heaped)).estimate().limits.tolist() == heaped.estimate().limits.tolist()
    for part in (0, 1):
        false = words(made)
        false["parts"][part]["integers"][1] = false["parts"][part]["integers"][1][:-1]
        with pytest.raises(tc.TacitError):
            release_from_dict(false)


def test_persons_in_several_groups_have_no_cuts() -> None:
    """A person's rows may be in all groups: cuts are of persons in one."""
    columns = {"who": tc.PrivacyUnit(max_rows=2), "x": tc.Real(0, 100), "g": tc.Category(["a", "b"])}
    columns |= {"home": tc.Category(["a", "b"], constant=True)}
    for by, form in (("g", "joint-4"), ("home", "cuts")):
        query = tc.Quantiles("x", [0.5, 0.9], by=by)
        shape = quantiles_design.design(query, Public(tc.Schema(columns), "replace-one", 600), Cost.of(rho="0.02"))
        assert shape.columns[0].form.name == form


@pytest.mark.sample(1)
@pytest.mark.parametrize("seed", range(20))
def test_intervals_of_groups_of_few_rows_hold(seed: int) -> None:
    """Of three groups of 60, 250 and 590 rows, two quantiles each, 20 tables: 98 of 120 or more; fewer by 1e-7."""
    schema = tc.Schema({"x": tc.Real(0, 100), "g": tc.Category(["a", "b", "c"])})
    g, rng, held = np.repeat(["a", "b", "c"], [60, 250, 590]), np.random.default_rng(seed), 0
    truth = 50 + 15 * np.array([0.0, 1.2815515655446004] * 3)
    for _ in range(20):
        table = {"x": rng.normal(50, 15, 900).clip(0, 100), "g": g}
        found = simulate_quantiles(tc.Quantiles("x", [0.5, 0.9], by="g"), table, schema, rho=0.05, rng=rng)
        assert found.release.parts[0].form == "cuts"
        held += int(((found.limits[:, 0] <= truth) & (truth <= found.limits[:, 1])).sum())
    assert held >= 98


def test_plans_say_where_a_bound_may_end_an_interval() -> None:
    """Of 1,000 rows the upper limit of the .95 quantile is a cut in some releases, and the bound in others."""
    schema, query = tc.Schema({"x": tc.Real(0, 400)}), tc.Quantiles("x", [0.5, 0.95])
    rng = np.random.default_rng(11)
    curator = tc.Curator({"x": rng.normal(50, 10, 1_000)}, schema, budget=tc.Budget(rho=1))
    plan = curator.plan(query, rho="0.02", expect={"x": {"mean": 50, "sd": 10}})
    half, tail = (one.between for one in plan.parts[0].terms)
    found = []
    for _ in range(20):
        made = simulate_quantiles(query, {"x": rng.normal(50, 10, 1_000)}, schema, rho=0.02, rng=rng)
        assert made.release.parts[0].form == "cuts"
        found.append(np.diff(made.limits)[:, 0])
    assert half is not None
    assert tail is not None
    assert half[1] < 50
    assert max(one[1] for one in found) > 300
    assert tail[0] < min(one[1] for one in found) * 1.5
    assert tail[1] > 300


CASES = ("public", "unknown", "rho")


def heaps(rng: np.random.Generator, n: int) -> np.ndarray:
    """Six of ten rows at multiples of 5."""
    x = rng.normal(50, 15, n).clip(0, 100)
    return np.where(rng.random(n) < 0.6, 5 * np.rint(x / 5), x)


def gaps(rng: np.random.Generator, n: int) -> np.ndarray:
    """Ten clusters, and nothing between them."""
    return 10.0 * rng.integers(0, 10, n) + rng.random(n)


@pytest.mark.sample(3)
@pytest.mark.parametrize(
    ("draw", "case", "tables"),
    [
        (heaps, "public", 12),
        (gaps, "unknown", 12),
        (heaps, "rho", 12),
        *(pytest.param(one, case, 40, marks=pytest.mark.long) for one in (heaps, gaps) for case in CASES),
    ],
)
def test_intervals_and_bands_hold_at_heaps_and_gaps(draw: Any, case: str, tables: int) -> None:
    """Tables of 2,000 rows; quantiles of the law from a table of a million rows.

    20 intervals a table that hold with 95% each: they depend on each other, and are counted as two, so that of 24 at
    most 14 hold with probability 1e-6, of 80 at most 63 (binomial); of 12 bands at most 5, of 40 at most 28.
    """
    least = {12: (14 / 24, 5), 40: (63 / 80, 28)}[tables]
    rng, n = np.random.default_rng(3), 2_000
    q = np.quantile(draw(np.random.default_rng(4), 10**6), [float(p) for p in TWENTY], method="inverted_cdf")
    schema = tc.Schema({"x": tc.Real(0, 100, **({} if case == "unknown" else {"missing": 0}))})
    held, bands, widths = [], [], []
    for seed in range(tables):
        x = draw(rng, n)
        neighbors: Any = "add-remove" if case == "unknown" else "replace-one"
        price: Any = {"rho": "0.1"} if case == "rho" else {"epsilon": 1}
        found = simulate_quantiles(tc.Quantiles("x", TWENTY), {"x": x}, schema, neighbors=neighbors, rng=seed, **price)
        assert found.release.parts[0].form == "cuts"
        assert ((found.limits[:, 0] <= found.values) & (found.values <= found.limits[:, 1])).all()
        whole = band(found.release)
        assert whole.simultaneous
        assert (whole.limits[:, 0] <= found.limits[:, 0]).all()
        assert (whole.limits[:, 1] >= found.limits[:, 1]).all()
        held.append(((found.limits[:, 0] <= q + 1e-3) & (q - 1e-3 <= found.limits[:, 1])).mean())
        bands.append(((whole.limits[:, 0] <= q + 1e-3) & (q - 1e-3 <= whole.limits[:, 1])).all())
        low, high = (np.searchsorted(np.sort(x), found.limits[:, i], side) for i, side in ((0, "left"), (1, "right")))
        widths.append((high - low).mean())
    assert np.mean(held) > least[0]
    assert sum(bands) > least[1]
    # an equal part of the price each tells nothing of 20 quantiles of 2,000 rows at these prices
    assert np.mean(widths) < 500


def test_cornish_fisher_is_near_sums_of_laplace_errors() -> None:
    """97.5% quantiles of few noisy counts and of binomial numbers, by 400,000 draws: within 2.5%."""
    rng, law = np.random.default_rng(5), DiscreteLaplace(Fraction(20))
    for cells, n, p in ((1, 0, 0.5), (3, 0, 0.5), (4, 1_000, 0.05)):
        drawn = law.sample(400_000 * cells, rng).reshape(-1, cells).sum(axis=1) + rng.binomial(n, p, 400_000) - n * p
        v = n * p * (1 - p)
        variance = np.array([law.variance() * cells + v])
        fourth = np.array([cut_errors.excess(law) * law.variance() ** 2 * cells + v * (1 - 6 * p * (1 - p))])
        told = cut_errors.quantile(1.959964, variance, np.array([v * (1 - 2 * p)]), fourth)[0]
        assert told == pytest.approx(np.quantile(drawn, 0.975), rel=0.025)


def released(table: Any = None, schema: Any = None, **asked: Any) -> Any:
    table = table or {"x": [float(v % 100) for v in range(3_000)]}
    schema = schema or tc.Schema({"x": SCHEMA["x"]})
    return tc.Curator(table, schema, budget=tc.Budget(epsilon=9)).release(tc.Quantiles("x", TWENTY, **asked), epsilon=2)


def words(release: Any) -> dict[str, Any]:
    return {key: value for key, value in json.loads(release.to_json()).items() if key != "digest"}


def test_documents_of_cuts_are_read_again_and_false_ones_refused() -> None:
    made = released()
    again = release_from_dict(words(made))
    assert again.to_json() == made.to_json()
    assert list(wrong(again)) == []
    found, held = again.estimate(), made.estimate()
    assert found.values.tolist() == held.values.tolist() == sorted(found.values)
    assert found.values == pytest.approx([100 * float(p) for p in TWENTY], abs=10)
    assert made.band().limits.tolist() == again.band().limits.tolist()
    assert "limits are cuts" in str(made.summary())
    assert "read from cuts of the column" in tc.methods(found)
    assert "band holds for all" in str(made.band().summary())
    # nothing but noise is uncertain of the table itself
    assert np.diff(made.estimate("table").limits).mean() < np.diff(found.limits).mean()
    for part, key, value in (
        (0, "noise", {"law": "exponential-mechanism", "scale": "1"}),
        (0, "integers", [[1] * 3]),
        (0, "form", "point"),
        (1, "integers", [[5] * 3]),
        (1, "noise", {"law": "discrete Laplace", "scale": "1"}),
        (1, "sensitivity", {"l1": 1, "l2_squared": 1}),
    ):
        false = words(made)
        false["parts"][part][key] = value
        with pytest.raises(tc.TacitError):
            release_from_dict(false)


def test_cuts_of_persons_and_of_subgroups() -> None:
    """Persons are reduced to one row; of a subgroup the number of rows is in the noisy counts."""
    rng = np.random.default_rng(6)
    table = {"who": np.repeat(np.arange(1_500), 2), "x": rng.uniform(0, 100, 3_000)}
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=2), "x": tc.Real(0, 100)})
    made = released(table, schema)
    assert made.parts[0].form == "cuts"
    assert sum(made.parts[1].integers[0]) == pytest.approx(1_500, abs=150)
    low, high = made.estimate()["0.47619"].conf_int()
    own = np.quantile(table["x"].reshape(-1, 2).mean(axis=1), 0.47619)
    # wider by 5 either way: an interval misses in one release of 20
    assert low - 5 < own < high + 5
    part = released(where="x < 50")
    assert part.estimate().values[-1] < 55
    assert sum(part.parts[1].integers[0]) == pytest.approx(1_500, abs=150)


def test_an_equal_split_is_a_band_where_its_level_allows() -> None:
    curator = tc.Curator(
        {"x": [float(v % 100) for v in range(3_000)]}, tc.Schema({"x": SCHEMA["x"]}), budget=tc.Budget(epsilon=9)
    )
    three = curator.release(tc.Quantiles("x", [0.25, 0.5, 0.75], level=0.99), epsilon=1)
    assert three.band().level == pytest.approx(0.97)
    assert three.band().limits.tolist() == three.estimate().limits.tolist()
    assert "Bonferroni" in str(three.band().summary())
    points = curator.release(tc.Quantiles("x", [0.25, 0.5], interval=False), epsilon=1)
    with pytest.raises(tc.errors.InferenceError) as refused:
        points.band()
    assert refused.value.code == "I14"


def test_the_plan_says_what_cuts_tell() -> None:
    """Its widths are of the plan that the design has, and near those of simulated releases (within 15%)."""
    schema, rng = tc.Schema({"x": SCHEMA["x"]}), np.random.default_rng(7)
    page = tc.plan(tc.Quantiles("x", TWENTY), schema, rows=5_000, epsilon=1)
    told = np.mean([one.width for one in page.parts[0].terms])
    made = [
        simulate_quantiles(tc.Quantiles("x", TWENTY), {"x": rng.uniform(0, 100, 5_000)}, schema, epsilon=1, rng=i)
        for i in range(10)
    ]
    assert np.mean([np.diff(one.limits).mean() for one in made]) == pytest.approx(told, rel=0.15)
