"""Three steps of a quantile selected together: their number by utility, sensitivity, draws, documents, intervals."""

from __future__ import annotations

import json
import math
from collections import Counter
from fractions import Fraction
from itertools import combinations_with_replacement, product
from typing import Any

import numpy as np
import pytest

import tacit as tc
from tacit.method.quantiles import design as quantiles_design
from tacit.method.quantiles import joint_errors
from tacit.method.quantiles.estimate_steps import out_of_order
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


def chosen(column: str = "x", prob: Any = 0.5, rows: int | None = 1_000, **price: Any) -> Any:
    """The first part of a design."""
    relation = "add-remove" if rows is None else "replace-one"
    query = tc.Quantiles(column, [prob])
    return quantiles_design.design(query, Public(SCHEMA, relation, rows), Cost.of(**price)).columns[0]


# Triples ------------------------------------------------------------------------------------------------------------


def by_definition(counts: dict[int, int], steps: int, prob: Fraction, offset: int, limit: int) -> dict[Any, int]:
    """The utility of every triple, from the definition."""
    a, b, rows = prob.numerator, prob.denominator, sum(counts.values())
    below = [sum(n for v, n in counts.items() if v < t) for t in range(steps)]
    upto = [sum(n for v, n in counts.items() if v <= t) for t in range(steps)]
    targets = (a * rows - b * offset, a * rows, a * rows + b * offset)

    def utility(triple: tuple[int, ...]) -> int:
        far = [max(b * below[t] - y, y - b * upto[t]) for t, y in zip(triple, targets, strict=True)]
        far.append(2 * b * offset - b * (upto[triple[2]] - below[triple[0]]))
        return -min(max(*far, -limit), limit)

    return {triple: utility(triple) for triple in product(range(steps), repeat=3)}


@pytest.mark.parametrize("seed", range(40))
def test_triples_are_those_of_the_definition(seed: int) -> None:
    """As many at each utility, and each of them for exactly one number."""
    rng = np.random.default_rng(seed)
    steps, prob = int(rng.integers(1, 8)), Fraction(int(rng.integers(1, 4)), 4) if seed % 2 else Fraction(1, 3)
    counts: Counter[int] = Counter()
    for _ in range(int(rng.integers(0, 5))):
        counts[int(rng.integers(0, steps))] += int(rng.integers(1, 4))
    offset, limit = int(rng.integers(0, 4)), int(rng.integers(1, 30))
    made = joint_steps(counts, steps, prob, offset, limit)
    wanted = by_definition(counts, steps, prob, offset, limit)
    assert dict(zip(made.utility, made.points, strict=True)) == Counter(wanted.values())
    found = {
        made.chosen(run, place): utility
        for run, (utility, points) in enumerate(zip(made.utility, made.points, strict=True))
        for place in range(points)
    }
    assert found == wanted
    first, second, third = np.array(list(wanted)).T
    assert made.at(first, second, third).tolist() == list(wanted.values())


@pytest.mark.parametrize("prob", [Fraction(1, 2), Fraction(1, 4), Fraction(2, 3)])
def test_a_replaced_row_changes_a_triple_by_at_most_the_denominator(prob: Fraction) -> None:
    """Over all tables of up to three rows on three steps, missing ones among them; attained.

    And the privacy loss of the exact law is at most epsilon, its range too.  Floats: 1e-10 is above their rounding.
    """
    steps, worst, lost = 3, 0, 0.0
    epsilon = Fraction(3, 2)
    law = rank_utilities.law_for(Cost.of(epsilon=epsilon), prob, "replace-one", grouped=False)
    grid = np.array(list(product(range(steps), repeat=3))).T

    def utilities(rows: tuple[int, ...], offset: int, limit: int) -> np.ndarray:
        made: JointSteps = joint_steps(Counter(v for v in rows if v >= 0), steps, prob, offset, limit)
        return made.at(*grid)

    for offset, limit in ((0, 100), (1, 100), (2, 3)):
        for size in range(3):
            for rest in combinations_with_replacement(range(-1, steps), size):
                tables = [utilities((*rest, v), offset, limit) for v in range(-1, steps)]
                logs = [np.log(law.pmf(u, np.ones_like(u))) for u in tables]
                for i, j in combinations_with_replacement(range(len(tables)), 2):
                    worst = max(worst, int(np.abs(tables[i] - tables[j]).max()))
                    lost = max(lost, float(np.ptp(logs[i] - logs[j])), float(np.abs(logs[i] - logs[j]).max()))
    assert worst == prob.denominator
    assert lost <= float(epsilon) + 1e-10


def test_draws_have_the_law_of_triples() -> None:
    """Chi-square over all triples: the right rate passes at 1e-6, a quarter off fails."""
    from scipy import stats

    counts, steps, draws = {1: 2, 3: 3, 4: 1}, 6, 8_000
    made, law = joint_steps(counts, steps, Fraction(1, 2), 1, 40), Selection(Fraction(2, 3))
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
    made = triples(column, {10: 300, 5_000: 1, 9_000: 700}, 40)
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
        return joint_steps(cell, 4_097, Fraction(1, 2), 14, 200)

    assert contract_joint.proven(law, 4_000, 4_096, look, Fraction(1)) <= 1.5
    sharper = Selection(2 * law.rate)
    assert contract_joint.proven(sharper, 4_000, 4_096, look, Fraction(1)) > 1.5


# Which selections, and their documents ------------------------------------------------------------------------------


def test_steps_are_selected_together_where_only_epsilon_is_shared() -> None:
    """At pure prices, of rows in one cell that are replaced; not where it would take long."""
    assert chosen(epsilon=1).form.name == "joint"
    assert chosen("y", epsilon=1).form.name == "joint"
    assert chosen(epsilon=1).law == Selection(Fraction(1, 4))
    assert chosen(rho=1).form.name == chosen(rows=None, epsilon=1).form.name == "ranks-2"
    assert chosen(epsilon="0.03").form.name == "ranks-2"
    public = Public(SCHEMA, "replace-one", 1_000)
    for query, form in (
        (tc.Quantiles("x", [0.5], by="sex"), "ranks-2"),
        (tc.Quantiles("x", [0.5], interval=False), "point"),
    ):
        assert quantiles_design.design(query, public, Cost.of(epsilon=1)).columns[0].form.name == form


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
    assert [part.form for part in made.parts][:2] == ["joint", "joint"]
    for place, value in (
        (("noise", "scale"), "1"),
        (("noise", "law"), "permute-and-flip"),
        (("sensitivity", "l1"), 1),
        (("form",), "ranks-2"),
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


# Errors -------------------------------------------------------------------------------------------------------------


def errors(rng: np.random.Generator) -> np.ndarray:
    """Draws of (d1, d2, d3), in scales, where rows are evenly spaced: the density exp(-g)."""
    cube = rng.uniform(-1, 1, (2 * DRAWS, 3))
    kept = cube[cube[:, 0] - cube[:, 2] <= 1][:DRAWS]
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


@pytest.mark.parametrize(
    ("p", "level", "size", "scale"), [(0.25, 0.95, 40_000, 0.5), (0.5, 0.95, 2_000, 10.0), (0.9, 0.8, 40_000, 20.0)]
)
def test_an_offset_covers_at_its_level(p: float, level: float, size: int, scale: float) -> None:
    """Ranks are binomial; each end is passed with (1 - level) / 2 at most, attained where sampling is most of it."""
    rng = np.random.default_rng(1)
    rank, drawn = rng.binomial(size, p, DRAWS), scale * errors(rng)
    far = joint_errors.offset(p, size, scale, level)
    miss = (1 - level) / 2
    missed = [np.mean(rank < p * size - far + drawn[:, 0]), np.mean(rank > p * size + far + drawn[:, 2])]
    deviation = math.hypot(math.sqrt(size * p * (1 - p)), scale)
    room = 6 * math.sqrt(miss / DRAWS) + 0.4 / deviation
    assert max(missed) <= miss + room
    if scale < 1:
        assert min(missed) >= miss - 2 * room
    # a gap that begins at the quantile, whose rank is the gap's edge
    edge = np.mean(rank < p * size - far + (joint_errors.GAP + math.log(0.05 / (1 - level))) * scale)
    assert edge <= 1 - level + 6 * math.sqrt((1 - level) / DRAWS) + 0.8 / deviation


def test_evenly_spaced_rows_are_rarely_out_of_order() -> None:
    """In less than 6% of draws at the least distance of the ends, seven scales; six standard errors."""
    steps = errors(np.random.default_rng(2)) + np.array([-joint_errors.GAP, 0, joint_errors.GAP])
    told = np.mean(out_of_order(steps, np.zeros(len(steps))))
    assert told < 0.06 + 6 * math.sqrt(0.06 / len(steps))


def test_intervals_hold_at_a_gap() -> None:
    """51% of rows on a fiftieth of the range, the others far off; 60 tables.

    Where 93% hold, fewer than 72% do with probability below 1e-6; three selections of their own held in 76%.
    """
    rng, held = np.random.default_rng(8), 0
    for _ in range(60):
        x = np.where(rng.random(1_000) < 0.51, rng.uniform(0, 2, 1_000), rng.uniform(50, 100, 1_000))
        low, high = simulate_quantiles(tc.Quantiles("x", [0.5]), {"x": x}, schema_of_x(), rng=rng, epsilon=1).conf_int()
        held += low <= 2 * 0.5 / 0.51 <= high
    assert held / 60 > 0.72


def schema_of_x() -> tc.Schema:
    return tc.Schema({"x": SCHEMA["x"]})
