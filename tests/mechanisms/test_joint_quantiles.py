"""Three steps of a quantile selected together: their number by utility, sensitivity, draws, documents, intervals."""

from __future__ import annotations

import json
import math
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from itertools import combinations_with_replacement, product
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.method.quantiles import cube_errors, joint_errors
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles.estimate_steps import beyond_gap, out_of_order
from tacit.method.quantiles.joint_steps import JointSteps, joint_steps
from tacit.method.quantiles.mechanism import triples
from tacit.method.shared import rank_utilities
from tacit.method.shared.measurement import Public
from tacit.method.shared.mechanism_rank_selection import select
from tacit.noise.selection_law import Selection
from tacit.privacy import Cost
from tacit.release.document import release_from_dict
from tacit.testing import contract_joint
from tacit.testing.simulated_quantiles import simulate_quantiles

SCHEMA = tc.Schema({"x": tc.Real(0, 100, missing=0), "y": tc.Real(0, 100), "sex": tc.Category(["f", "m"])})
DRAWS = 200_000
KEPT = [[21.778488159179688, 26.005172729492188], [46.51222229003906, 51.35917663574219]]
"""Limits that the version before `cube_errors` told of its release in tests/documents."""


def chosen(column: str = "x", prob: Any = 0.5, rows: int | None = 1_000, **price: Any) -> Any:
    """The first part of a design."""
    relation = "add-remove" if rows is None else "replace-one"
    query = tc.Quantiles(column, [prob])
    return quantiles_design.design(query, Public(SCHEMA, relation, rows), Cost.of(**price)).columns[0]


# Triples ------------------------------------------------------------------------------------------------------------


def by_definition(
    counts: dict[int, int], steps: int, prob: Fraction, offset: int, limit: int, weight: int
) -> dict[Any, int]:
    """The utility of every triple, from the definition."""
    a, b, rows = prob.numerator, prob.denominator, sum(counts.values())
    below = [sum(n for v, n in counts.items() if v < t) for t in range(steps)]
    upto = [sum(n for v, n in counts.items() if v <= t) for t in range(steps)]
    targets = (a * rows - b * offset, a * rows, a * rows + b * offset)

    def utility(triple: tuple[int, ...]) -> int:
        far = [max(b * below[t] - y, y - b * upto[t]) for t, y in zip(triple, targets, strict=True)]
        if weight:
            far.append(weight * (2 * offset - (upto[triple[2]] - below[triple[0]])))
        return -min(max(*far, -limit), limit)

    return {triple: utility(triple) for triple in product(range(steps), repeat=3)}


@pytest.mark.parametrize("weighs", [True, False])
@pytest.mark.parametrize("seed", range(40))
def test_triples_are_those_of_the_definition(seed: int, weighs: bool) -> None:
    """As many at each utility, and each of them for exactly one number."""
    rng = np.random.default_rng(seed)
    steps, prob = int(rng.integers(1, 8)), Fraction(int(rng.integers(1, 4)), 4) if seed % 2 else Fraction(1, 3)
    counts: Counter[int] = Counter()
    for _ in range(int(rng.integers(0, 5))):
        counts[int(rng.integers(0, steps))] += int(rng.integers(1, 4))
    offset, limit = int(rng.integers(0, 4)), int(rng.integers(1, 30))
    weight = prob.denominator if weighs else 0
    made = joint_steps(counts, steps, prob, offset, limit, weight)
    wanted = by_definition(counts, steps, prob, offset, limit, weight)
    assert dict(zip(made.utility, made.points, strict=True)) == Counter(wanted.values())
    found = {
        made.chosen(run, place): utility
        for run, (utility, points) in enumerate(zip(made.utility, made.points, strict=True))
        for place in range(points)
    }
    assert found == wanted
    first, second, third = np.array(list(wanted)).T
    assert made.at(first, second, third).tolist() == list(wanted.values())


STEPS = 3
TRIPLES = np.array(list(product(range(STEPS), repeat=3))).T
OFFSETS = ((0, 100), (1, 100), (2, 3))
"""Offsets, and limits of the utility."""


def utilities(rows: tuple[int, ...], prob: Fraction, offset: int, limit: int, weight: int) -> np.ndarray:
    """Utilities of all triples of a cell; rows at -1 are missing, or in another cell."""
    made: JointSteps = joint_steps(Counter(v for v in rows if v >= 0), STEPS, prob, offset, limit, weight)
    return made.at(*TRIPLES)


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("prob", [Fraction(1, 2), Fraction(1, 4), Fraction(2, 3)])
def test_a_neighbour_changes_a_triple_as_a_step(prob: Fraction, relation: Any) -> None:
    """Over all tables of up to three rows on three steps, missing ones among them: by no more than declared; attained.

    And the privacy loss of the exact law is at most epsilon, its range too.  Floats: 1e-10 is above their rounding.
    """
    worst, lost, epsilon = 0, 0.0, Fraction(3, 2)
    law = rank_utilities.law_for(Cost.of(epsilon=epsilon), prob, relation, grouped=False)
    weight = quantiles_design.between(prob, relation, grouped=False)
    for offset, limit in OFFSETS:
        for size in range(3):
            for rest in combinations_with_replacement(range(-1, STEPS), size):
                tables = [utilities((*rest, v), prob, offset, limit, weight) for v in range(-1, STEPS)]
                logs = [np.log(law.pmf(u, np.ones_like(u))) for u in tables]
                # the first has the row missing: of it and another, one is with a row more
                pairs = combinations_with_replacement(range(len(tables)), 2)
                for i, j in pairs if relation == "replace-one" else ((0, j) for j in range(len(tables))):
                    worst = max(worst, int(np.abs(tables[i] - tables[j]).max()))
                    lost = max(lost, float(np.ptp(logs[i] - logs[j])), float(np.abs(logs[i] - logs[j]).max()))
    assert worst == rank_utilities.sensitivity(prob, relation)
    assert lost <= float(epsilon) + 1e-10


@pytest.mark.parametrize("prob", [Fraction(1, 2), Fraction(1, 4)])
@pytest.mark.parametrize("share", [1, 2])
def test_a_row_that_changes_groups_costs_the_price_once(prob: Fraction, share: int) -> None:
    """Two groups: all ways in which a row, or a person's parts, may be replaced; changes, squares and losses add up."""
    most, squared = rank_utilities.reached(prob, "replace-one", grouped=True)
    epsilon, worst, worst_squared, lost = Fraction(3, 2), 0, 0, 0.0
    rate = rank_utilities.law_for(Cost.of(epsilon=epsilon), prob, "replace-one", grouped=True).rate / share
    law, offset = Selection(rate), 1
    assert quantiles_design.between(prob, "replace-one", grouped=True) == 0
    # a person has a step and a weight in each of two groups, together at most `share`
    persons = [
        ((v, w), (x, y))
        for v, x in product(range(STEPS), repeat=2)
        for w, y in product(range(share + 1), repeat=2)
        if w + y <= share
    ]
    for rest in ((), (1,), (0, 2)):
        counted = Counter(dict.fromkeys(rest, share))
        found: dict[tuple[int, int], np.ndarray] = {}
        for v, w in product(range(STEPS), range(share + 1)):
            counts = counted + Counter({v: w})
            found[v, w] = joint_steps(counts, STEPS, prob, offset * share, 100, 0).at(*TRIPLES)
        loss = {k: np.log(law.pmf(u, np.ones_like(u))) for k, u in found.items()}
        for one, other in combinations_with_replacement(persons, 2):
            moved = [int(np.abs(found[a] - found[b]).max()) for a, b in zip(one, other, strict=True)]
            worst, worst_squared = max(worst, sum(moved)), max(worst_squared, sum(m * m for m in moved))
            lost = max(lost, sum(float(np.abs(loss[a] - loss[b]).max()) for a, b in zip(one, other, strict=True)))
    assert worst == share * most
    assert worst_squared == share**2 * squared
    assert lost <= float(epsilon) + 1e-10


@pytest.mark.parametrize("weight", [0, 2])
def test_draws_have_the_law_of_triples(weight: int) -> None:
    """Chi-square over all triples: the right rate passes at 1e-6, a quarter off fails."""
    from scipy import stats

    counts, steps, draws = {1: 2, 3: 3, 4: 1}, 6, 8_000
    made, law = joint_steps(counts, steps, Fraction(1, 2), 1, 40, weight), Selection(Fraction(2, 3))
    drawn = Counter(select(made, law) for _ in range(draws))
    grid = list(product(range(steps), repeat=3))
    utility = made.at(*np.array(grid).T)
    found = np.array([drawn[triple] for triple in grid])
    for factor, passes in ((Fraction(1), True), (Fraction(5, 4), False)):
        expected = draws * Selection(law.rate * factor).pmf(utility, np.ones_like(utility))
        # triples that are rarely drawn make one class
        rare = expected < 10
        seen = np.append(found[~rare], found[rare].sum())
        wanted = np.append(expected[~rare], expected[rare].sum())
        assert bool(stats.chi2.sf(((seen - wanted) ** 2 / wanted).sum(), len(seen) - 1) > 1e-6) == passes


def test_a_release_counts_all_triples_of_its_grid() -> None:
    column = chosen(epsilon=1)
    made = triples(column, {10: 300, 5_000: 1, 8_000: 700}, 40)
    assert sum(made.points) == (column.form.parameters["G"] + 1) ** 3
    assert made.utility == sorted(made.utility, reverse=True)
    # what is cut off has together a probability below exp(-40)
    p = column.law.pmf(made.utility, made.points)
    assert made.utility[-1] == -made.limit
    assert p[-1] < math.exp(-40)


def test_samples_of_a_selection_at_twice_the_price_are_noticed() -> None:
    """By the audit of the contract; a false alarm has probability 1e-6."""
    law = Selection(Fraction(3, 8))  # of a median: epsilon = 3/2

    def look(cell: Any) -> JointSteps:
        return joint_steps(cell, 4_097, Fraction(1, 2), 14, 200, 2)

    assert contract_joint.proven(law, 4_000, 4_096, look, Fraction(1)) <= 1.5
    sharper = Selection(2 * law.rate)
    assert contract_joint.proven(sharper, 4_000, 4_096, look, Fraction(1)) > 1.5


# Which selections, and their documents ------------------------------------------------------------------------------


def test_steps_are_selected_together_where_that_is_quick() -> None:
    """At every price and relation, and in groups; the law is that of one selection at the whole price."""
    assert chosen(epsilon=1).form.name == "joint-4"
    assert chosen("y", epsilon=1).form.name == "joint-4"
    assert chosen(epsilon=1).law == Selection(Fraction(1, 4))
    assert chosen(rho=1).form.name == chosen(rows=None, epsilon=1).form.name == "joint-4"
    assert chosen(rows=None, epsilon=1).law == Selection(Fraction(19, 40))  # 1/20 is for the number of rows
    assert float(chosen(rho="0.125").law.rate) == pytest.approx(1 / 4)
    assert chosen(epsilon="0.03").form.name == "ranks-2"
    public = Public(SCHEMA, "replace-one", 1_000)
    for query, form in (
        (tc.Quantiles("x", [0.5], by="sex"), "joint-4"),
        (tc.Quantiles("x", [0.5], interval=False), "point"),
    ):
        assert quantiles_design.design(query, public, Cost.of(epsilon=1)).columns[0].form.name == form
    many = Public(SCHEMA, "replace-one", 10_000)
    (grouped, _) = quantiles_design.design(tc.Quantiles("x", [0.25], by="sex"), many, Cost.of(epsilon=1)).columns
    # a row that changes groups moves utilities by 3 in each of the two
    assert grouped.law == Selection(Fraction(19, 20) / (2 * 6))
    assert grouped.form.l1 == 6
    assert (grouped.form.parameters["between"], chosen(epsilon=1).form.parameters["between"]) == (0, 2)


@pytest.mark.parametrize(("epsilon", "form"), [("0.5", "joint-4"), ("0.05", "ranks-2")])
def test_persons_in_several_groups_are_selected_together_where_that_is_quick(epsilon: str, form: str) -> None:
    schema = tc.Schema({"x": tc.Real(0, 100), "sex": SCHEMA["sex"], "who": tc.PrivacyUnit(max_rows=3)})
    query = tc.Quantiles("x", [0.5], by="sex")
    shape = quantiles_design.design(query, Public(schema, "replace-one", 1_000), Cost.of(epsilon=epsilon))
    assert shape.columns[0].form.name == form
    assert shape.columns[0].form.l1 == 1_024 * 2
    scale = Fraction(2 * 2 * 1_024) / (Fraction(epsilon) * Fraction(19, 20)) * (3 if form == "ranks-2" else 1)
    assert shape.columns[0].law.scale == scale


def released(column: str = "x") -> Any:
    table = {"x": [float(v % 100) for v in range(3_000)], "y": [float(v % 90) for v in range(3_000)]}
    schema = tc.Schema({name: SCHEMA[name] for name in ("x", "y")})
    curator = tc.Curator(table, schema, budget=tc.Budget(epsilon=9))
    return curator.release(tc.Quantiles(column, ["1/4", 0.5]), epsilon=2)


def words(release: Any) -> dict[str, Any]:
    return {key: value for key, value in json.loads(release.to_json()).items() if key != "digest"}


@pytest.mark.parametrize("column", ["x", "y"])
def test_documents_are_read_again_and_false_ones_refused(column: str) -> None:
    made = released(column)
    again = release_from_dict(words(made))
    assert again.to_json() == made.to_json()
    assert (again.estimate().limits == made.estimate().limits).all()
    assert [part.form for part in made.parts][:2] == ["joint-4", "joint-4"]
    for place, value in (
        (("noise", "scale"), "1"),
        (("noise", "law"), "permute-and-flip"),
        (("sensitivity", "l1"), 1),
        (("form",), "ranks-2"),
        (("form",), "joint"),
        (("parameters", "between"), 0),
        (("integers",), [[1, 2]]),
    ):
        false = words(made)
        part = false["parts"][0]
        for key in place[:-1]:
            part = part[key]
        part[place[-1]] = value
        with pytest.raises(tc.TacitError):
            release_from_dict(false)
    added = {**words(made), "neighbors": "add-remove", "rows": None}
    with pytest.raises(tc.TacitError):
        release_from_dict(added)


def test_a_pure_release_of_before_is_read_as_before(monkeypatch: pytest.MonkeyPatch) -> None:
    """Three selections of their own, by permute-and-flip."""
    with monkeypatch.context() as patched:
        patched.setattr(quantiles_design, "is_joint", lambda *_: False)
        made = released()
        limits = made.estimate().limits
    assert {part.form for part in made.parts} == {"ranks-2"}
    again = release_from_dict(words(made))
    assert (again.estimate().limits == limits).all()


def test_a_release_of_three_steps_together_of_before_is_read_as_before() -> None:
    """The form "joint", of rows that are replaced at a pure price: its ends were selected for offsets of its own."""
    text = Path(__file__).parents[1] / "documents" / "quantiles_joint.json"
    made = release_from_dict(json.loads(text.read_text(encoding="utf-8")))
    assert {part.form for part in made.parts} == {"joint", "size"}
    found = made.estimate()
    assert found.limits.tolist() == KEPT
    part = made.parts[0]
    assert quantiles_design.offset_for(part.form, part.parameters) is joint_errors.offset
    # those of the form between the two had no least number of scales
    assert quantiles_design.offset_for("joint-2", {"between": 2}) is cube_errors.offset


# Errors -------------------------------------------------------------------------------------------------------------


def errors(rng: np.random.Generator, *, between: bool = True) -> np.ndarray:
    """Draws of (d1, d2, d3), in scales, where rows are evenly spaced: the density exp(-g)."""
    cube = rng.uniform(-1, 1, (2 * DRAWS, 3))
    kept = cube[cube[:, 0] - cube[:, 2] <= 1][:DRAWS] if between else cube[:DRAWS]
    # a point of a ball, its radius by the Gamma law whose shape is the dimension and one
    return kept * rng.gamma(4, 1, (len(kept), 1))


def test_the_errors_of_ends_and_point() -> None:
    """Tails and moments against draws; six standard errors: a false alarm below 1e-6."""
    drawn = errors(np.random.default_rng(5))
    for x in (0.0, 1.0, 3.0, 5.0):
        for p, told in (
            (joint_errors.toward(x), drawn[:, 0] > x),
            (joint_errors.away(x), drawn[:, 0] < -x),
            (joint_errors.toward(x), drawn[:, 2] < -x),
        ):
            assert np.mean(told) == pytest.approx(p, abs=6 * math.sqrt(p / DRAWS))
    for variance, values in (
        (joint_errors.POINT, drawn[:, 1]),
        (joint_errors.MIDDLE, (drawn[:, 0] + drawn[:, 2]) / 2),
    ):
        squares = values**2
        assert np.mean(squares) == pytest.approx(variance, abs=6 * np.std(squares) / math.sqrt(len(squares)))
    middle = drawn[:, 1] * (drawn[:, 0] + drawn[:, 2])
    assert abs(np.mean(middle)) < 6 * np.std(middle) / math.sqrt(len(middle))


def test_the_errors_of_a_cube() -> None:
    """Of `cube_errors`, as above; where rows between the ends count, its tail toward the other end is a bound."""
    drawn = errors(np.random.default_rng(6), between=False)
    for x in (0.0, 1.0, 3.0, 5.0):
        p = cube_errors.tail(x)
        for told in (drawn[:, 0] > x, drawn[:, 0] < -x, drawn[:, 2] < -x):
            assert np.mean(told) == pytest.approx(p, abs=6 * math.sqrt(p / DRAWS))
        assert joint_errors.toward(x) <= p
    for variance, values in ((cube_errors.POINT, drawn[:, 1]), (cube_errors.MIDDLE, (drawn[:, 0] + drawn[:, 2]) / 2)):
        squares = values**2
        assert np.mean(squares) == pytest.approx(variance, abs=6 * np.std(squares) / math.sqrt(len(squares)))


@pytest.mark.parametrize("reach", [4.7, 6.0, 8.0, 12.0, 40.0])
def test_evenly_spaced_rows_seldom_widen_an_interval(reach: float) -> None:
    """In less than 12% of draws of random rows where the ends are nearest, else 9%; 5% where they are far off.

    Six standard errors: a false alarm below 1e-6.
    """
    rng = np.random.default_rng(4)
    ranks = errors(rng, between=False) + np.array([-reach, 0, reach])
    # positions of ranks of random rows, a scale being four rows: sums of exponential spacings
    place = np.sort(4 * ranks, axis=1)
    gaps = rng.gamma(np.maximum(np.diff(place, axis=1), 1e-9))
    sorted_steps = np.concatenate([np.zeros((len(gaps), 1)), np.cumsum(gaps, axis=1)], axis=1)
    steps = np.take_along_axis(sorted_steps, np.argsort(np.argsort(ranks, axis=1), axis=1), axis=1)
    part = cube_errors.least_part(4.0, 4 * reach)
    told = np.mean(out_of_order(steps, np.full(len(steps), -part)))
    most = 0.12 if reach < 6 else 0.09 if part < cube_errors.LARGEST_PART else 0.05
    assert told < most + 6 * math.sqrt(most / DRAWS)


def test_limits_are_further_apart_where_the_value_is_near_one_end() -> None:
    """By the distance of the ends on either side, and four times where steps are out of order."""
    steps = np.array([[10.0, 13.0, 20.0], [10.0, 12.0, 20.0], [10.0, 21.0, 20.0], [10.0, 10.0, 20.0]])
    ends = np.sort(steps[:, [0, 2]])
    found = beyond_gap(steps, np.full(4, -0.25), ends).tolist()
    # two equal steps are those of equal rows
    assert found == [[10.0, 20.0], [0.0, 30.0], [-34.0, 65.0], [10.0, 20.0]]


@pytest.mark.parametrize(("law", "between"), [(cube_errors, False), (joint_errors, True)], ids=["joint-4", "joint"])
@pytest.mark.parametrize(
    ("p", "level", "size", "scale"), [(0.25, 0.95, 40_000, 0.5), (0.5, 0.95, 2_000, 10.0), (0.9, 0.8, 40_000, 20.0)]
)
def test_an_offset_covers_at_its_level(
    law: Any, between: bool, p: float, level: float, size: int, scale: float
) -> None:
    """Ranks are binomial; each end is passed with (1 - level) / 2 at most, attained where sampling is most of it.

    A gap at the quantile is GAP scales off as often as said.
    """
    rng = np.random.default_rng(1)
    rank, drawn = rng.binomial(size, p, DRAWS), scale * errors(rng, between=between)
    far = law.offset(p, size, scale, level)
    miss = (1 - level) / 2
    missed = [np.mean(rank < p * size - far + drawn[:, 0]), np.mean(rank > p * size + far + drawn[:, 2])]
    deviation = math.hypot(math.sqrt(size * p * (1 - p)), scale)
    room = 6 * math.sqrt(miss / DRAWS) + 0.4 / deviation
    assert max(missed) <= miss + room
    if scale < 1:
        assert min(missed) >= miss - 2 * room
    # a gap that begins at the quantile, whose rank is the gap's edge
    edge = np.mean(rank < p * size - far + (law.GAP + math.log(0.05 / (1 - level))) * scale)
    assert edge <= 1 - level + 6 * math.sqrt((1 - level) / DRAWS) + 0.8 / deviation


@pytest.mark.parametrize("rows", [1_000, None], ids=["replaced", "added"])
def test_a_gap_beside_a_heap_rarely_draws_all_three_steps(rows: int | None) -> None:
    """Beside 51% equal rows, and a third of the bounds wide: in less than a tenth of releases, by the law itself.

    With ends as near as those of "joint-2" it is more than a fifth.
    """
    column, size = chosen(rows=rows, epsilon="0.3"), 1_000
    G, scale = column.form.parameters["G"], float(column.law.scale) / 2
    counts = {G // 4: 510} | {G // 4 + G // 3 + 3 * i: 1 for i in range(490)}
    near, far = cube_errors.offset(0.5, size, scale, 0.95), quantiles_design.reach(column, size, 0.95)
    assert all_beyond(column, counts, G // 4, far) < 0.1 < 0.2 < all_beyond(column, counts, G // 4, near)


@pytest.mark.parametrize("rows", [1_000, None], ids=["replaced", "added"])
@pytest.mark.parametrize("steps", [16, 76, 301, 1_001])
def test_of_few_steps_ends_are_nearer_and_a_gap_rarely_draws_all_three(rows: int | None, steps: int) -> None:
    """In less than a tenth of releases, by the law itself, and nearer than in a column of 4,096 steps."""
    column = chosen(rows=rows, epsilon="0.3")
    few, many = (
        replace(column, form=replace(column.form, parameters={**column.form.parameters, "G": one - 1}))
        for one in (steps, 4_096)
    )
    heap = steps // 4
    above = np.arange(heap + steps // 3, steps)
    counts = {heap: 510} | {
        int(at): len(rows) for at, rows in zip(above, np.array_split(range(490), len(above)), strict=True)
    }
    counts = {at: number for at, number in counts.items() if number}
    far = quantiles_design.reach(few, 1_000, 0.95)
    assert far < quantiles_design.reach(many, 1_000, 0.95)
    assert all_beyond(few, counts, heap, far) < 0.1


def test_only_the_form_that_says_so_has_ends_by_the_steps_of_its_grid() -> None:
    """Releases of "joint-3" have ends as far out as of the widest gap, whatever their grid."""
    facts = [{"between": 2, "G": G} for G in (75, 4_095, 2**18)]
    before, now = ([quantiles_design.offset_for(form, one)(0.5, 300, 7.0, 0.95) for one in facts] for form in FORMS)
    assert before == [cube_errors.far_offset(0.5, 300, 7.0, 0.95, between=True)] * 3
    assert now[0] < before[0]
    assert now[1:] == before[1:]


FORMS = ("joint-3", "joint-4")


def all_beyond(column: Any, counts: dict[int, int], heap: int, c: int) -> float:
    """Return the probability that all three steps are above the heap: of all triples, the law of utilities."""
    made = triples(column, counts, c)
    law = column.law.pmf(made.utility, made.points)
    inside = [_above(made, made.ball(-u), heap) for u in made.utility]
    shells = np.diff(np.array(inside, dtype=float), prepend=0.0) / np.array(made.points, dtype=float)
    return float(np.sum(law * shells))


def _above(made: Any, ball: Any, heap: int) -> int:
    """Return how many triples of a ball have all three steps above a step."""
    if ball.width <= 0:
        return 0
    runs = range(ball.low, ball.low + len(ball.start))
    own = [i for i in runs if int(made.runs.first[i]) > heap]
    second = max(0, ball.middle[1] - max(ball.middle[0], heap + 1))
    third = [max(0, ball.stop - max(int(ball.start[i - ball.low]), heap + 1)) for i in own]
    return second * sum(int(made.runs.points[i]) * many for i, many in zip(own, third, strict=True))


def test_evenly_spaced_rows_are_rarely_out_of_order() -> None:
    """In less than 6% of draws at the least distance of the ends, seven scales; six standard errors."""
    steps = errors(np.random.default_rng(2)) + np.array([-joint_errors.GAP, 0, joint_errors.GAP])
    told = np.mean(out_of_order(steps, np.zeros(len(steps))))
    assert told < 0.06 + 6 * math.sqrt(0.06 / len(steps))


@pytest.mark.parametrize(
    ("relation", "price"),
    [("replace-one", {"epsilon": 1}), ("replace-one", {"rho": "0.05"}), ("add-remove", {"epsilon": "0.5"})],
)
def test_intervals_hold_at_a_gap(relation: Any, price: dict[str, Any]) -> None:
    """51% of rows on a fiftieth of the range, the others far off; 60 tables.

    Where 93% hold, fewer than 72% do with probability below 1e-6; three selections of their own held in 76%.
    """
    rng, held = np.random.default_rng(8), 0
    query = tc.Quantiles("x", [0.5])
    for _ in range(60):
        x = np.where(rng.random(1_000) < 0.51, rng.uniform(0, 2, 1_000), rng.uniform(50, 100, 1_000))
        found = simulate_quantiles(query, {"x": x}, schema_of_x(), rng=rng, neighbors=relation, **price)
        low, high = found.conf_int()
        held += low <= 2 * 0.5 / 0.51 <= high
    assert held / 60 > 0.72


def schema_of_x() -> tc.Schema:
    return tc.Schema({"x": SCHEMA["x"]})
