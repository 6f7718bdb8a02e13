"""Encodings of norm-clipped rows of persons: pairs of persons on grids small and real, aside sums, every engine."""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations_with_replacement
from pathlib import Path
from typing import Any, cast

import numpy as np
import pyarrow as pa
import pytest
from every_engine import ODD_SCHEMA, assert_every_engine_adds_up, columns_of, odd_table
from test_split_forms import ball, largest

import tacit as tc
from tacit.curator.mechanisms import design
from tacit.method.regression.designs import norm_scores_design, norms_design
from tacit.method.regression.mechanism import next_question
from tacit.method.regression.row_sums import (
    norm_encoding,
    norm_person_encoding,
    norm_score_encoding,
    split_score_encoding,
)
from tacit.method.regression.row_sums.encoding import ProductEncoding
from tacit.method.regression.row_sums.product_parts import ProductPart
from tacit.method.shared.measurement import Public
from tacit.privacy import Cost
from tacit.rows.row_map import Unit
from tacit.rows.row_products import CrossProducts, Product, ProductOfMeans, averages
from tacit.source import open_source
from tacit.testing.simulated_regressions import RegressionRows, rows_of

Ints = np.ndarray
RELATIONS = ["replace-one", "add-remove"]
NORMAL, PURE = Cost.of(rho=1), Cost.of(epsilon=1)
FORMS: dict[str, tuple[str, Cost, int]] = {
    "norm-scores": ("linear", NORMAL, -1),
    "norm-scored, without squares": ("logistic", NORMAL, -2),
    "norm-scored, with squares": ("logistic", NORMAL, -1),
    "norm-weighed": ("poisson", NORMAL, -1),
    "score-matrices": ("linear", PURE, -1),
    "score-matrices, with sizes": ("logistic", PURE, -1),
    "score-matrices, with weights": ("poisson", PURE, -1),
}
"""Forms with products of mean scores: a model, a price, and which part it is."""
OWN_WEIGHT = ("norm-weighed", "score-matrices, with weights")
"""Those in which a row's weight is any number, whatever its score is."""
MEANS: dict[str, tuple[str, Cost, int]] = {
    "norm-products": ("linear", NORMAL, 1),
    "residual-vectors": ("linear", PURE, 2),
    "score-vectors": ("logistic", PURE, -2),
    "count-score-vectors": ("poisson", PURE, -2),
}
"""Forms of means alone."""
ALL = FORMS | MEANS
RESPONSES: dict[str, Any] = {"linear": tc.Real(0, 10), "logistic": tc.Boolean(), "poisson": tc.Integer(0, 16)}


def part_of(
    kind: tuple[str, Cost, int], relation: Any, formula: str = "y ~ a + b", *, persons: bool = True
) -> ProductPart:
    """The part of a regression of persons, or of rows."""
    model, price, place = kind
    columns = {"y": RESPONSES[model], "a": tc.Real(-1, 1), "b": tc.Real(-1, 1)}
    schema = tc.Schema(columns | ({"who": tc.PrivacyUnit(4)} if persons else {}))
    public = Public(schema, relation, 10 if relation == "replace-one" else None)
    return cast(ProductPart, design(tc.Regression(formula, model=model), public, price).columns[place])


def uncounted(rows: ProductPart) -> ProductEncoding:
    """The form of a part of rows without numbers of far responses or clipped residuals, which persons do not have."""
    if rows.form.name == norm_encoding.FAR_PRODUCTS:
        return norm_encoding.norm_products(rows.layout, "replace-one")
    if rows.form.name == norm_encoding.FAR_SCORES:
        return norm_encoding.norm_scores(rows.layout, "replace-one")
    if rows.form.name == split_score_encoding.FAR_MATRICES:
        return split_score_encoding.score_matrices(rows.layout, "replace-one", sizes=False)
    return cast(ProductEncoding, rows.form)


def added(part: ProductPart, w: Ints, psi: Ints, size: Ints, who: Ints, persons: int) -> Ints:
    """What each of so many persons adds: of shape (persons, integers); a person without rows adds nothing.

    w: vectors of rows, shape (rows, entries); psi, size: their scores and weights; who: the person of each row.
    """
    question = part.question
    means = averages([one.numpy(w, psi, size) for one in question.products], who)
    found = [*means[question.aside :], *(one.numpy(means) for one in question.between)]
    released = np.zeros((persons, len(found)), dtype=np.int64)
    released[np.unique(who)] = np.stack(found, axis=1)
    assert len(found) == len(part.form.matrix)
    return released * np.array([row[0] for row in part.form.matrix])


# All persons of one or two rows ---------------------------------------------------------------------------------------


def small_grid(monkeypatch: pytest.MonkeyPatch, most: int, clip: int) -> None:
    """Vectors of a norm of at most `most`, scores of at most `clip`, a power of two by which products are divided."""
    shift = clip.bit_length() - 1
    for module in (norm_encoding, norm_score_encoding, split_score_encoding, norm_person_encoding):
        monkeypatch.setattr(module, "MOST", most)
        monkeypatch.setattr(module, "CLIP", clip)
    for module in (norm_encoding, norm_person_encoding):
        monkeypatch.setattr(module, "SHIFT", 2 * shift)
    for module in (norms_design, norm_scores_design):
        monkeypatch.setattr(module, "SHIFTS", (shift, 2 * shift))


@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ALL)
@pytest.mark.parametrize(
    ("formula", "most", "clip"),
    [
        ("y ~ 1", 4, 4),
        ("y ~ a", 2, 2),
        *(pytest.param(*grid, marks=pytest.mark.long) for grid in (("y ~ 1", 9, 2), ("y ~ a", 3, 2))),
    ],
)
def test_all_pairs_of_persons_of_one_or_two_rows(
    formula: str, most: int, clip: int, name: str, relation: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Every vector, every score, every weight; means are rounded, and products of them rounded down."""
    small_grid(monkeypatch, most, clip)
    part = part_of(ALL[name], relation, formula)
    scored = any(one.power for one in part.question.products)
    vectors = ball(part.layout.size + (name == "norm-products"), most)
    scores = [
        (psi, size)
        for psi in (range(-clip, clip + 1) if scored else [0])
        for size in (range(clip + 1) if name in OWN_WEIGHT else [abs(psi)])
    ]
    w, (psi, size) = np.repeat(vectors, len(scores), axis=0), np.tile(np.array(scores), (len(vectors), 1)).T
    # two equal rows have the mean of one
    one, other = np.array(list(combinations_with_replacement(range(len(w)), 2))).T
    rows, who = np.column_stack([one, other]).ravel(), np.repeat(np.arange(len(one)), 2)
    released = np.unique(added(part, w[rows], psi[rows], size[rows], who, len(one)), axis=0)
    reached = largest(released, relation)
    # the bound allows for rounding, which is much on a small grid
    assert 0.1 * part.form.l2_squared < reached <= part.form.l2_squared, reached / part.form.l2_squared


# Persons on the grid of releases --------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Persons:
    """Persons of up to four rows: w of shape (persons, 4, entries), psi and size, and how many of the rows count."""

    w: Ints
    psi: Ints
    size: Ints
    count: Ints

    def added(self, part: ProductPart) -> Ints:
        kept = np.arange(4) < self.count[:, None]
        who = np.repeat(np.arange(len(kept)), self.count)
        return added(part, self.w[kept], self.psi[kept], self.size[kept], who, len(kept))

    def of(self, chosen: Ints) -> Persons:
        return Persons(self.w[chosen], self.psi[chosen], self.size[chosen], self.count[chosen])

    def but(self, changed: Ints, other: Persons) -> Persons:
        """These, and those of `other` where they are changed."""
        rows = changed[:, None]
        w, psi = np.where(rows[..., None], other.w, self.w), np.where(rows, other.psi, self.psi)
        return Persons(w, psi, np.where(rows, other.size, self.size), np.where(changed, other.count, self.count))


def drawn(rng: np.random.Generator, n: int, entries: int, *, own: bool) -> Persons:
    """Persons whose rows are alike or not: many on axes, at the largest length, at a score's or a weight's end."""
    C, c = norm_encoding.MOST, norm_encoding.CLIP

    def often(share: float, *shape: int) -> Ints:
        return rng.random((n, *shape)) < share

    axes = np.eye(entries)[rng.integers(0, entries, (n, 4))]
    w = np.where(often(0.4, 1, 1), axes, rng.normal(0, 1, (n, 4, entries)))
    w = np.where(often(0.5, 1, 1), w[:, :1], w) * rng.choice([-1, 1], (n, 4, 1))
    length = C * np.where(often(0.8, 4, 1), 1.0, rng.random((n, 4, 1)))
    w = np.trunc(w / np.linalg.norm(w, axis=2, keepdims=True) * length).astype(np.int64)
    psi = np.where(often(0.7, 4), rng.choice([-c, c], (n, 4)), rng.integers(-c, c + 1, (n, 4)))
    size = np.where(often(0.7, 4), rng.choice([0, c], (n, 4)), rng.integers(0, c + 1, (n, 4)))
    psi, size = (np.where(often(0.5, 1), one[:, :1], one) for one in (psi, size))
    return Persons(w, psi, size if own else abs(psi), rng.choice(5, n, p=[0.05, 0.35, 0.3, 0.15, 0.15]))


def opposed(rng: np.random.Generator, one: Persons, *, own: bool) -> Persons:
    """Persons who are far from these: scores turned over, other axes, one row as part of two, nobody; or any others."""
    n, c = len(one.w), norm_encoding.CLIP
    made, kind = drawn(rng, n, one.w.shape[2], own=own), rng.integers(0, 7, n)
    size = c - one.size if own else one.size
    turned = Persons(one.w, -one.psi, size, one.count)
    made = made.but(kind == 0, turned)
    made = made.but(kind == 1, replace(turned, w=np.roll(one.w, 1, axis=2)))
    made = made.but(kind == 2, Persons(one.w, one.psi, size, one.count))
    # a row, and another of score 0, of the other sign, or of the other direction
    first = Persons(one.w[:, [0] * 4], one.psi[:, [0] * 4], one.size[:, [0] * 4], 0 * one.count + 2)
    made = made.but(
        kind == 3, replace(first, psi=first.psi * [1, 0, 1, 0], size=first.size * ([1, 1] * 2 if own else [1, 0] * 2))
    )
    made = made.but(kind == 4, replace(first, psi=first.psi * rng.choice([-1, 1], (n, 1)) * [1, -1, 1, -1]))
    return made.but(kind == 5, replace(one, count=0 * one.count))


def near(rng: np.random.Generator, one: Persons, *, own: bool) -> Persons:
    """Persons most of whom have a row that is another, or is changed a little."""
    n, c, C = len(one.w), norm_encoding.CLIP, norm_encoding.MOST
    fresh, anew = drawn(rng, n, one.w.shape[2], own=own), rng.random((n, 1)) < 0.5
    w = np.where(anew[..., None], fresh.w, one.w + fresh.w // 64)
    w = np.trunc(w * np.minimum(1, C / np.maximum(np.linalg.norm(w, axis=2, keepdims=True), 1))).astype(np.int64)
    psi = np.where(anew, fresh.psi, np.clip(one.psi + fresh.psi // 64, -c, c))
    size = np.where(anew, fresh.size, np.clip(one.size - fresh.size // 64, 0, c)) if own else abs(psi)
    rows = (np.arange(4) == rng.integers(0, 4, (n, 1))) & (rng.random((n, 1)) < 0.7)
    w, psi, size = np.where(rows[..., None], w, one.w), np.where(rows, psi, one.psi), np.where(rows, size, one.size)
    return Persons(w, psi, size, np.where(rng.random(n) < 0.2, fresh.count, one.count))


@pytest.mark.parametrize(("n", "rounds"), [(3_600, 4), pytest.param(60_000, 12, marks=pytest.mark.long)])
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("name", ALL)
def test_no_pair_of_persons_is_further_apart_than_declared(name: str, relation: str, n: int, rounds: int) -> None:
    """Pairs of persons of up to four rows: any, and then, round by round, those like the ones furthest apart.

    Both norms, as noise at a pure price may follow either.
    """
    part, rng, own = part_of(ALL[name], relation), np.random.default_rng(8), name in OWN_WEIGHT
    first = drawn(rng, n, part.layout.size + (name == "norm-products"), own=own)
    other = opposed(rng, first, own=own)
    reached = 0
    for _ in range(rounds):
        if relation == "add-remove":
            other = replace(other, count=0 * other.count)
        change = first.added(part) - other.added(part)
        assert abs(change).sum(axis=1).max() <= part.form.l1
        length = (change.astype(float) ** 2).sum(axis=1)
        best = length.argsort()[-n // 12 :]
        reached = max(reached, *(sum(int(x) ** 2 for x in change[i]) for i in best[-20:]))
        first, other = (near(rng, one.of(np.tile(best, 12)), own=own) for one in (first, other))
    assert 0.99 * part.form.l2_squared < reached <= part.form.l2_squared, reached / part.form.l2_squared


@pytest.mark.parametrize("name", ALL)
def test_what_rounding_changes_is_in_the_norm(name: str) -> None:
    """Of 4,000 persons, any two: integers as they are released against means, and products of means, as they are."""
    part, rows = (part_of(ALL[name], "replace-one", persons=persons) for persons in (True, False))
    rng, question = np.random.default_rng(9), part.question
    one = drawn(rng, 4_000, part.layout.size + (name == "norm-products"), own=name in OWN_WEIGHT)
    # rows' own integers are rounded down as they are of rows: exact here are their means
    counted = np.arange(4) < one.count[:, None]
    summands = (each.numpy(one.w.transpose(0, 2, 1), one.psi, one.size) for each in question.products)
    found = [np.where(counted, each, 0).sum(axis=1) / np.maximum(one.count, 1) for each in summands]
    between = [found[j] * found[k] / 2**each.shift for each in question.between for j, k in [each.of]]
    weights = np.array([row[0] for row in part.form.matrix], dtype=float)
    exact = np.stack([*found[question.aside :], *between], axis=1) * weights
    reached = largest(one.added(part) - exact, "replace-one") ** 0.5
    of_rows = uncounted(rows)
    added = part.form.l2_squared**0.5 - of_rows.l2_squared**0.5
    # products of mean scores are rounded down, for which the norm of rows allows
    down = float(np.linalg.norm(weights[len(weights) - len(between) :]))
    assert 0.2 * added < reached <= added + down, (reached, added, down)
    # and it costs next to nothing
    assert part.form.l2_squared < 1.003 * of_rows.l2_squared


# Sums of tables -------------------------------------------------------------------------------------------------------

PERSONS = tc.Schema({**ODD_SCHEMA, "who": tc.PrivacyUnit(3)})
LINEAR = tc.Regression("x ~ m + g")
LOGISTIC = tc.Regression("y ~ x*m + g", model="logistic")
POISSON = tc.Regression("k ~ x*m + g", model="poisson")


def visits(rows: int = 400) -> pa.Table:
    """Rows of 90 persons: of some one, of some many, of somebody without a name; the first has no complete row."""
    rng, data = np.random.default_rng(7), odd_table(rows)
    who = [500, *(None if u < 0.02 else int(90 * u**2) for u in rng.random(rows - 1))]
    return data.append_column("who", pa.array(who, pa.int64()))


def aimed(rows: RegressionRows) -> list[ProductPart]:
    """Each part's question as a release's integers aim it."""
    release = rows.release(np.random.default_rng(1))
    plain = [cast(ProductPart, one) for one in rows.shape.columns]
    asked = [next_question(one, release.parts[:i], rows.shape) for i, one in enumerate(plain)]
    # aimed, not the placeholders
    assert all(one.question.norm != other.question.norm for one, other in zip(asked[1:], plain[1:], strict=True))
    return asked


@pytest.mark.parametrize(
    ("query", "price", "first"),
    [
        (LINEAR, Cost.of(epsilon=60), 3),
        *(pytest.param(query, Cost.of(rho=8), 0, marks=pytest.mark.long) for query in (LINEAR, LOGISTIC, POISSON)),
        *(pytest.param(query, Cost.of(epsilon=60), 0, marks=pytest.mark.long) for query in (LINEAR, LOGISTIC, POISSON)),
    ],
)
def test_every_engine_adds_up_the_same_integers_of_persons(query: Any, price: Cost, first: int, tmp_path: Path) -> None:
    """A table with nulls, NaN, infinities and values beyond; persons of many rows, of none complete, without a name.

    first: the parts before are left out, for the time that each takes.
    """
    data = visits()
    rows = rows_of(query, columns_of(data), PERSONS, price, "add-remove")
    assert rows.who is not None
    assert 30 < len(np.unique(rows.who)) < rows.size == len(set(data["who"].to_pylist()))
    assert np.bincount(rows.who).max() > 15
    asked = aimed(rows)[first:]
    expected = [(rows.sums(one),) for one in asked]
    assert all(len({abs(x) for x in one[0]}) > 2 for one in expected)
    assert_every_engine_adds_up(expected, asked, rows.shape, data, PERSONS, tmp_path)


def test_first_products_are_left_aside() -> None:
    """Products of means stay as they are, whether these means are added up or not, in NumPy and on an engine."""
    z = np.array([[1024, 3], [1024, 8], [1024, -5]])
    asked = (Product((1,)), Product((0,), 0, 10), Product((1, 1)))
    whole = CrossProducts((), asked, None, Unit("who", "who"), (ProductOfMeans((0, 2), 1),))
    # means 6 and -5, 1 and 1, 37 (of 36.5) and 25
    assert whole.sums(z, np.array([4, 4, 2])) == (1, 2, 62, 111 - 63)
    assert replace(whole, aside=2).sums(z, np.array([4, 4, 2])) == (62, 48)
    assert replace(whole, aside=3).sums(z, np.array([4, 4, 2])) == (48,)
    assert replace(whole, aside=3).sums(z[:0], np.zeros(0, dtype=np.int64)) == (0,)
    data = visits()
    rows = rows_of(LINEAR, columns_of(data), PERSONS, Cost.of(epsilon=60), "add-remove")
    part = aimed(rows)[-1]
    assert part.question.aside == rows.layout.size
    every = replace(part.question, aside=0)
    expected = every.sums(rows.z, rows.who)
    opened = open_source(data, PERSONS)
    for aside in (0, 1, part.question.aside):
        assert opened.crossed(replace(every, aside=aside)).cells == (expected[aside:],)


def rounded(part: ProductPart) -> ProductPart:
    """The part with products that are divided in each row, not once in their sum."""
    products = tuple(replace(one, shift=one.shift + one.sum_shift, sum_shift=0) for one in part.question.products)
    return replace(part, question=replace(part.question, products=products))


@pytest.mark.parametrize("query", [LINEAR, LOGISTIC, POISSON], ids=["linear", "logistic", "poisson"])
def test_a_row_a_person_is_a_row(query: Any) -> None:
    """Where everybody has one row, a mean is the row's integer, and v_j v_k is psi**2 w_j w_k: all sums are equal."""
    data, c = odd_table(), norm_encoding.CLIP
    for price in (Cost.of(rho=8), Cost.of(epsilon=60)):
        alone = rows_of(query, columns_of(data), ODD_SCHEMA, price, "add-remove")
        named = columns_of(data.append_column("who", pa.array(range(400))))
        persons = rows_of(query, named, PERSONS, price, "add-remove")
        for one, other in zip(aimed(alone), persons.shape.columns, strict=True):
            made = cast(ProductPart, other)
            made = replace(made, question=replace(made.question, norm=one.question.norm, score=one.question.score))
            sums, weights = list(alone.sums(rounded(one))), list(one.form.matrix)
            if (
                "far" in one.form.parameters
            ):  # counted of rows alone: far responses last, clipped ones and those along axes after psi**2
                place = weights.index((one.form.parameters["far"],))
                responses = [Product((), 1, norm_encoding.SIGNED)]
                clipped = [Product((), 1, norm_encoding.CLIPPED, plus=c - below) for below in (0, 1)]
                plus = norm_encoding.MOST**2 // 2 - 1
                clipped += [Product((j, j), shift=norm_encoding.AXIS, plus=plus) for j in range(one.layout.size)]
                counts = responses if one.form.name == norm_encoding.FAR_PRODUCTS else clipped
                asked = slice(place, place + len(counts))
                assert list(one.question.products[asked]) == counts
                del sums[asked], weights[asked]
            assert tuple(sums) == persons.sums(made)
            assert tuple(weights) == made.form.matrix
