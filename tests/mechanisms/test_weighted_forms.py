"""Weights and persons: every integer sensitivity over all pairs of small grids, persons in several cells included."""

from __future__ import annotations

from dataclasses import replace
from itertools import product

import numpy as np
import pytest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.method.moments.estimate import estimate
from tacit.method.shared import encoding as forms
from tacit.method.shared import weighted_encoding as weighted
from tacit.method.shared.encoding import Encoding
from tacit.method.shared.measurement import Public
from tacit.method.shared.simulated_parts import empty_parts
from tacit.privacy import Cost
from tacit.release.simulated import SimulatedRelease
from tacit.rows.row_map import PersonWeight
from tacit.testing import contract
from tacit.testing.simulate import exact_integers

NOISES = ["laplace", "gaussian"]


def rows_of(form: Encoding, A: int) -> np.ndarray:
    G = form.parameters["G"]
    return np.array([form.row(v, a) for a in range(A + 1) for v in range(G + 1)], dtype=np.int64)


def spread(rows: np.ndarray, noise: str) -> tuple[int, int]:
    """Largest change under add-remove and under replace-one: in l1 for Laplace, in squared l2 for the normal."""
    power = 1 if noise == "laplace" else 2
    alone = int((np.abs(rows) ** power).sum(axis=1).max())
    step = max(1, len(rows) // 600)  # against all: the extreme rows, and every few others
    some = np.vstack([rows[::step], rows[-40:], rows[:40]])
    moved = max(int((np.abs(rows - row) ** power).sum(axis=1).max()) for row in some)
    return alone, max(moved, 2 * alone)  # or from one cell into another


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize(("G", "A"), [(1, 2), (1, 16), (1, 250), (32, 16), (33, 32), (48, 50), (100, 20)])
def test_weighted_rows_weigh_exactly_what_is_declared(G: int, A: int, noise: forms.Noise) -> None:
    for several in (False, True):
        form = weighted.weighted(G, A, noise, "add-remove", several=several)
        rows = rows_of(form, A)
        assert (rows >= 0).all()
        alone, moved = spread(rows, noise)
        assert alone == (form.l1 if noise == "laplace" else form.l2_squared)
        other = weighted.weighted(G, A, noise, "replace-one", several=several)
        assert moved == (other.l1 if noise == "laplace" else other.l2_squared)
        assert other.matrix == form.matrix
        otherwise = spread(rows, "gaussian" if noise == "laplace" else "laplace")
        stated = [(one.l2_squared if noise == "laplace" else one.l1) for one in (form, other)]
        assert (np.array(otherwise) <= stated).all()  # what the noise is not made for is a bound


@pytest.mark.parametrize("noise", NOISES)
def test_weights_of_one_person_in_several_cells(noise: forms.Noise) -> None:
    """All splits of at most A over two and three cells, at values of all kinds."""
    G, A = 32, 12
    power = 1 if noise == "laplace" else 2
    form = weighted.weighted(G, A, noise, "add-remove", several=True)
    mass = {(v, a): sum(x**power for x in form.row(v, a)) for v in (0, 1, 16, 31, 32) for a in range(A + 1)}
    worst = {a: max(m for (_, b), m in mass.items() if b == a) for a in range(A + 1)}
    splits = [split for split in product(range(A + 1), repeat=3) if sum(split) <= A]
    assert max(sum(worst[a] for a in split) for split in splits) == (form.l1 if power == 1 else form.l2_squared)


def test_every_weight_of_the_real_grid() -> None:
    """What `largest` remembers is true, and the middle of the range has room: 3 is not far from the most that holds."""
    A = weighted.WEIGHT
    b = weighted.rounded_square(A).numpy(np.arange(A + 1))
    a = np.arange(A + 1)
    assert (b <= a).all()
    assert (2 * a - b <= A).all()
    assert int((9 * (a - b) ** 2 + b**2).max()) == A * A == weighted.largest(A, 3)
    assert int((16 * (a - b) ** 2 + b**2).max()) > A * A


def weights_of(form: Encoding, A: int) -> np.ndarray:
    """What one row adds, weight by weight; that of weight 0 (of an absent row) first."""
    return np.array([form.row(0, a) for a in range(A + 1)], dtype=np.int64)


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("A", [50, 64, 100, 250, 512, 1000])
def test_weighted_counts_change_by_exactly_what_is_declared(A: int, noise: forms.Noise) -> None:
    """All pairs of weights, in one cell and from one cell into another; an absent row is one of weight 0."""
    power = 1 if noise == "laplace" else 2
    for cells, neighbors in product((1, 3), ("replace-one", "add-remove")):
        form = weighted.counted(A, noise, neighbors, cells=cells, several=False)
        rows = weights_of(form, A)
        assert (rows >= 0).all()
        assert not rows[0].any()
        inside = int((np.abs(rows[:, None] - rows[None]) ** power).sum(axis=2).max())
        alone = int((rows**power).sum(axis=1).max())
        reached = alone if neighbors == "add-remove" else inside if cells == 1 else max(inside, 2 * alone)
        assert reached == (form.l1 if power == 1 else form.l2_squared)
        other = 3 - power
        inside = int((np.abs(rows[:, None] - rows[None]) ** other).sum(axis=2).max())
        alone = int((rows**other).sum(axis=1).max())
        reached = alone if neighbors == "add-remove" else inside if cells == 1 else max(inside, 2 * alone)
        assert reached <= (form.l1 if other == 1 else form.l2_squared)


@pytest.mark.parametrize("noise", NOISES)
def test_weighted_counts_of_persons_in_several_cells(noise: forms.Noise) -> None:
    """Each cell weighs at most its part of the whole, for every weight; all splits of one person, moved into others."""
    power = 1 if noise == "laplace" else 2
    for A in (12, 50, 250):
        form = weighted.counted(A, noise, "replace-one", cells=3, several=True)
        mass = (weights_of(form, A) ** power).sum(axis=1)
        assert (mass <= np.arange(A + 1) * A ** (power - 1)).all()
        splits = [split for split in product(range(A + 1), repeat=2) if sum(split) <= A] if A < 60 else [(0, A)]
        most = max(int(mass[list(split)].sum()) for split in splits)
        assert 2 * most == (form.l1 if power == 1 else form.l2_squared)


def test_weighted_counts_on_the_real_grid() -> None:
    """What `furthest` remembers is true; 3 has room, and there is none for a weight on an odd grid."""
    A = weighted.COUNTED
    s = np.arange(1, A + 1, dtype=np.int64)
    rise = -(-((A - s) * s) // A)
    assert int(((A - s) ** 2 + 9 * rise**2).max()) <= A * A == weighted.furthest(A)
    a = np.arange(A + 1, dtype=np.int64)
    form = weighted.counted(A, "gaussian", "replace-one", cells=1, several=False)
    assert (form.weights[1].numpy(a) == a * (A - a) // A).all()
    assert weighted.furthest(100) == 100 * 100
    for bad in (51, 16):  # odd; too coarse for a proof
        with pytest.raises(ArithmeticError):
            weighted.counted(bad, "gaussian", "replace-one", cells=1, several=False)


def test_weights_of_a_person_never_exceed_the_whole() -> None:
    """Three rows of every weight in three cells: the proof's sum, and its maximum."""
    A = 6
    for cap in (1, 2, 3, 5):
        share, most = PersonWeight(A, cap), 0
        for rows in product(range(A + 1), repeat=3):
            for cells in product(range(3), repeat=3):
                given = [share.weighed(sum(a for a, c in zip(rows, cells, strict=True) if c == i), 3) for i in range(3)]
                most = max(most, sum(given))
        assert most == A * min(3, cap) // cap


@pytest.mark.parametrize("noise", NOISES)
@pytest.mark.parametrize("neighbors", ["replace-one", "add-remove"])
def test_a_shared_form_is_its_form_times_the_share(noise: forms.Noise, neighbors: str) -> None:
    A = 8
    form = forms.group(48, noise, neighbors)
    made = weighted.shared(form, A)
    assert (made.l1, made.l2_squared) == (A * form.l1, A * A * form.l2_squared)
    assert made.row(5, A) == tuple(A * x for x in form.row(5))
    power, declared = (1, made.l1) if noise == "laplace" else (2, made.l2_squared)
    rows = {a: max(sum(x**power for x in made.row(v, a)) for v in range(49)) for a in range(A + 1)}
    most = max(rows[a] + rows[A - a] for a in range(A + 1))
    assert most == declared // (2 if neighbors == "replace-one" else 1)


def test_shares_are_floors_that_never_exceed_the_whole() -> None:
    for cap in (None, 1, 3, 8):
        share = PersonWeight(24, cap)
        for counts in product(range(5), repeat=3):
            total = sum(counts)
            given = [share.value(c, total) for c in counts]
            assert sum(given) <= 24
            if total and max(counts) == total:
                assert sum(given) == 24 * min(total, cap or 1) // (cap or 1)


PEOPLE = tc.Schema(
    {
        "who": tc.PrivacyUnit(max_rows=3),
        "age": tc.Real(0, 100),
        "days": tc.Integer(0, 30, missing=0),
        "ok": tc.Boolean(),
        "sex": tc.Category(["f", "m"]),
    }
)
SURVEY = tc.Schema({"w": tc.Real(0, 50), "age": tc.Real(0, 100), "ok": tc.Boolean(), "sex": tc.Category(["f", "m"])})


@pytest.mark.sample(8)
@pytest.mark.parametrize(
    "query",
    [
        tc.Mean("age", by="sex"),
        tc.Mean("age", per="row"),
        tc.Mean("age", by="sex", per="row"),
        tc.Sum("days"),
        tc.Mean(["age", "days", "ok"]),
        tc.Count(by="sex"),
        tc.Variance("age", by="sex"),
    ],
    ids=lambda q: "-".join(map(str, q.to_dict().values())),
)
def test_the_contract_with_persons(query: tc.Query) -> None:
    """Neighbours differ in all rows of one person, of whom there may be more than max_rows."""
    contract(query, PEOPLE, tables=50, draws=20_000)


@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "query",
    [
        tc.Mean(["age", "ok"], weights="w"),
        tc.Sum("age", by="sex", weights="w"),
        tc.Count(weights="w"),
        tc.Count(by="sex", weights="w"),
        tc.Count(where="age > 50", weights="w"),
    ],
    ids=lambda q: "-".join(map(str, q.to_dict().values())),
)
def test_the_contract_with_weights(query: tc.Query) -> None:
    contract(query, SURVEY, tables=50, draws=20_000)


PANEL = tc.Schema({"who": tc.PrivacyUnit(max_rows=3), **SURVEY})


@pytest.mark.long
@pytest.mark.sample(6)
@pytest.mark.parametrize(
    "query",
    [
        tc.Mean(["age", "ok"], weights="w"),
        tc.Mean("age", by="sex", weights="w", per="row"),
        tc.Sum("age", weights="w"),
        tc.Count(weights="w"),
        tc.Count(by="sex", weights="w"),
    ],
    ids=lambda q: "-".join(map(str, q.to_dict().values())),
)
def test_the_contract_with_weights_of_persons(query: tc.Query) -> None:
    contract(query, PANEL, tables=50, draws=20_000)


def test_units_of_persons_who_count_by_their_rows() -> None:
    """Every cap up to the largest: even, as `rounded_square` asks, and a whole number of units for each row."""
    for cap in range(1, weighted.WEIGHT + 1):
        A = weighted.steps_of_rows(cap)
        assert A % 2 == 0
        assert weighted.WEIGHT // 2 <= A <= weighted.WEIGHT
        assert A % cap == 0 or A == weighted.WEIGHT < 2 * cap
    assert weighted.steps_of_rows(weighted.WEIGHT + 1) == weighted.WEIGHT
    for cap in (1, 3, 7, 100, 999):
        A = weighted.steps_of_rows(cap)
        assert weighted.largest(A, 3) <= A * A
        own = PersonWeight(A, cap)
        assert [own.value(c, c) for c in range(2 * cap)] == [A // cap * min(c, cap) for c in range(2 * cap)]


@pytest.mark.parametrize("relation", ["replace-one", "add-remove"])
@pytest.mark.parametrize("cap", [3, 7, 10])
def test_totals_and_counts_of_persons_lose_nothing_to_floors(cap: int, relation: str) -> None:
    """Exact integers, decoded: 4,000 persons of 1 to 12 rows each, in one cell and in cells of their rows."""
    rng, persons = np.random.default_rng(cap), 4_000
    size = rng.integers(1, 13, persons)
    who = np.repeat(np.arange(persons), size)
    x, k = np.repeat(rng.choice([0.0, 1.0], persons), size), rng.integers(0, 3, len(who))
    schema = tc.Schema({"who": tc.PrivacyUnit(max_rows=cap), "x": tc.Real(0, 1), "k": tc.Category([0, 1, 2])})
    public = Public(schema, relation, persons if relation == "replace-one" else None)
    own = 1 / size[who]
    for query, truth in (
        (tc.Sum("x"), [float((x * np.minimum(size, cap)[who] * own).sum())]),
        (tc.Count(by="k"), [float(own[k == level].sum()) for level in range(3)]),
    ):
        shape = design(query, public, Cost.of(rho=1))
        (exact,) = exact_integers(shape, {"who": who, "x": x, "k": k})
        (part,) = empty_parts(shape)
        part = replace(part, integers=tuple(map(tuple, exact.tolist())))
        made = SimulatedRelease(query, "t", relation, public.rows, shape.levels, (part,), shape.cost, cap)
        assert estimate(made, "table").values == pytest.approx(truth, rel=1e-9)
