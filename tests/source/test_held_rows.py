"""Rows held for all parts of a regression: the integers of `CrossProducts.numpy` and of engines, whatever is asked."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from every_engine import ODD_SCHEMA, columns_of, odd_table

import tacit as tc
from tacit.method.regression import mechanism as regression
from tacit.method.regression.mechanism_rows import exact_part, rows_held
from tacit.privacy import Cost
from tacit.rows.coordinates import EXACT, SHORT, H
from tacit.rows.norm_clip import NormClip
from tacit.rows.piecewise_score import FINE, PIECES, WIDTH, L, PiecewiseScore
from tacit.rows.row_map import RowMap, Unit
from tacit.rows.row_products import FINER, LARGEST, SUM_SHIFT, ClippedResidual, Coordinate, CrossProducts, Product
from tacit.rows.row_weight import STEPS
from tacit.source import open_source
from tacit.source.in_memory import held_rows as fast
from tacit.source.in_memory.block_factors import WHOLE, step_of
from tacit.source.in_memory.held_moments import MomentSums
from tacit.source.in_memory.held_products import ProductSums
from tacit.source.in_memory.held_vectors import VectorSums
from tacit.source.shared_blocks import Buffers
from tacit.testing.simulated_regressions import rows_of

CLIP = 512


def residual(rng: np.random.Generator, m: int) -> ClippedResidual:
    """Weights as large as are exact, or small ones."""
    most = int(rng.choice([3, 2**20, (EXACT // (2 * H)) // (m + 1)]))
    return ClippedResidual(
        tuple(int(x) for x in rng.integers(-most, most + 1, m)), int(rng.integers(1, 30)), int(rng.choice([1, CLIP]))
    )


def score(rng: np.random.Generator, m: int) -> PiecewiseScore:
    """Polygons of any shape, with or without a weight of their own; a predictor that often ends on the grid's ends."""
    one = residual(rng, m - 1)
    most = (EXACT // (8 * H)) // WIDTH
    slope, middle, weight = (
        tuple(int(x) * WIDTH for x in rng.integers(-size, size + 1, PIECES + 1)) for size in (most // 2, most, most)
    )
    if rng.random() < 0.5:
        # heights of psi's own size
        slope, middle = (tuple(x >> 12 << 8 for x in side) for side in (slope, middle))
    return PiecewiseScore((*one.weights, 0), one.shift, CLIP, slope, middle, weight if rng.random() < 0.5 else ())


def norm(rng: np.random.Generator, m: int) -> NormClip:
    entries, most = int(rng.integers(1, m + 1)), int(rng.choice([2, 2**12, (EXACT // (2 * H)) // m]))
    rows = tuple(tuple(int(x) for x in rng.integers(-most, most + 1, m)) for _ in range(entries))
    return NormClip(rows, int(rng.integers(1, 24)), int(rng.choice([1, 300, H])))


def question(rng: np.random.Generator, m: int) -> CrossProducts:
    """Products of every power, of none, one and two coordinates, each divided as far as it has to be."""
    clip = norm(rng, m) if rng.random() < 0.7 else None
    psi: Any = rng.choice([0, 1, 2])
    psi = None if psi == 0 else residual(rng, m) if psi == 1 else score(rng, m)
    entries, entry = (len(clip.weights), clip.most) if clip else (m, H)
    asked = list[Product]()
    # powers that no regression asks for, too
    for power in range(4 if psi else 1):
        for of in ((), (0,), (entries - 1,), (0, 0), (0, entries - 1), (entries - 1, entries // 2)):
            size = isinstance(psi, PiecewiseScore) and power > 0 and bool(rng.random() < 0.5)
            largest = entry ** len(of) * (psi.clip if psi else 1) ** power
            shift = max(0, (largest // LARGEST).bit_length()) + int(rng.integers(0, 3))
            # some are divided in their sum
            once = shift if shift <= SUM_SHIFT and rng.random() < 0.3 else 0
            asked.append(Product(of, power, shift - once, size, sum_shift=once))
    return CrossProducts((Coordinate(),) * m, tuple(asked), psi, norm=clip)


@pytest.mark.parametrize("seed", [0, 1, pytest.param(2, marks=pytest.mark.long)])
def test_any_question_has_the_integers_of_the_reference(seed: int) -> None:
    """Random rows with many at their bounds, and random constants up to those that engines compute exactly."""
    rng, asked = np.random.default_rng(seed), 0
    while asked < 60:
        m = int(rng.integers(2, 9))
        one = question(rng, m)
        try:
            one.check()
        except ArithmeticError:
            continue
        z = rng.integers(-H, H + 1, (300, m))
        z = np.where(rng.random(z.shape) < 0.3, rng.choice([-H, 0, H], z.shape), z)
        # batches that are no multiples of a block
        parts = [np.ascontiguousarray(part.T.astype(np.int16)) for part in (z[:7], z[7:], z[:0])]
        assert fast.HeldRows(300, tuple(parts)).crossed(one).cells == (one.sums(z),), one
        asked += 1


WEIGHT = RowMap("w", "w", "real", 0.0, 1.0, STEPS)


def all_products(rng: np.random.Generator, m: int, own: bool, weighed: bool) -> CrossProducts:
    """All products of two entries, and some of one and of none, with each power of the score and of the row's weight.

    own: each entry of the vector is of its own coordinate and of the constant alone, and the score of the last.
    """
    rows, most = np.zeros((m, m), dtype=np.int64), int(rng.choice([2**9, 2**20]))
    rows[np.arange(m), np.arange(m)] = rng.integers(1, most, m)
    rows[:, 0] += rng.integers(-most, most, m)
    if not own:
        rows[np.tril_indices(m)] = rng.integers(-most, most, m * (m + 1) // 2)
    clip = NormClip(tuple(map(tuple, rows.tolist())), int(rng.integers(1, 22)), int(rng.choice([7, H])))
    fit = [int(x) for x in rng.integers(-(2**20), 2**20, m)] if not own else [0] * (m - 1) + [2**20]
    fit[0] += int(rng.integers(-(2**20), 2**20)) * (m > 1)
    psi, asked, largest = ClippedResidual(tuple(fit), 20, CLIP), list[Product](), LARGEST * (FINER if weighed else 1)
    of = [(), (0,), (m - 1,), *((i, j) for i in range(m) for j in range(i, m))]
    for power, times in ((0, 0), (1, 0), (2, 0), (2, 1), (0, 2), (2, 2)) if weighed else ((0, 0), (1, 0), (2, 0)):
        for at in of:
            reached = clip.most ** len(at) * psi.clip**power * STEPS**times
            if reached < EXACT:
                shift = max(0, (reached // largest).bit_length()) + int(rng.integers(0, 2))
                asked.append(Product(at, power, shift, times=times, plus=int(rng.integers(0, 2)) if shift else 0))
    return CrossProducts((Coordinate(),) * m, tuple(asked), psi, norm=clip, weight=WEIGHT if weighed else None)


@pytest.mark.parametrize("weighed", [False, True])
@pytest.mark.parametrize("own", [False, True])
def test_all_pairs_of_entries_have_the_integers_of_the_reference(
    own: bool, weighed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Few entries and many, whole blocks and parts, with a constant and without: what BLAS adds up is not seen."""
    monkeypatch.setattr(fast, "ROWS", 2**11)
    rng = np.random.default_rng(own + 2 * weighed)
    for m in (1, 2, 3, 5, 7, 11, 12, 15, 16, 17, 19):
        one, rows = all_products(rng, m, own, weighed), int(rng.choice([1, 300, fast.ROWS + 1]))
        one.check()
        assert m < 3 or (ProductSums(one).own is not None) == own
        z = rng.integers(-H, H + 1, (rows, m))
        z = np.where(rng.random(z.shape) < 0.3, rng.choice([-H, 0, H], z.shape), z)
        a = rng.integers(0, STEPS + 1, rows)
        for constant in (True, False):
            if constant:
                z[:, 0] = H
            else:
                # one row of another constant: then none is taken for it
                z[rows // 2, 0] = -H
            held = np.column_stack([z, a]) if weighed else z
            found = fast.HeldRows(rows, (np.ascontiguousarray(held.T.astype(np.int16)),)).crossed(one)
            assert found.cells == (one.sums(z, a=a if weighed else None),), (m, constant)


def short_question(
    rng: np.random.Generator, m: int, own: bool, reached: int = SHORT - 1, half: int = 1
) -> CrossProducts:
    """All sums of a linear model's part, of a vector and a residual whose weights reach so far; own: see above.

    half: 0 for the products of entries, 1 for those of the residual times entries.
    """
    # few residuals are then clipped: products have remainders
    shift, apart = int(rng.integers(1, 14)), 15
    most = (reached - 2 ** (apart - 1)) // H

    def weights(row: int) -> tuple[int, ...]:
        share = rng.random(m) * (np.isin(np.arange(m), (0, row)) if own else 1)
        found = np.floor(most * share / share.sum()).astype(int)
        found[min(row, m - 1)] += most - found.sum()
        return tuple(int(x) for x in found * np.where(rng.random(m) < 0.5, -1, 1))

    clip = NormClip(tuple(weights(j) for j in range(m)), shift, int(rng.choice([7, 300, H])))
    psi = ClippedResidual(weights(m - 1), apart, CLIP)
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    asked = [Product((), 1, 9), Product((), 2), Product((), 3, 9), Product((), 0), Product((), 1)]
    asked += [Product((), 1, 10, plus=one) for one in (CLIP, CLIP - 1, 0)]
    asked += [Product(at, 2, sum_shift=18) if half else Product(at) for at in pairs]
    asked += [Product((j,), half) for j in range(m)]
    # numbers of rows far along an entry: half of the squared norm, and other parts
    most = clip.most**2
    axis = most.bit_length()
    parts = (most // 2, most // 3, most) if rng.random() < 0.7 else ()
    asked += [Product((j, j), shift=axis, plus=2**axis - 1 - part) for j in range(m) for part in parts]
    # in any order, and at a pure price without the pairs
    asked = [asked[i] for i in rng.permutation(len(asked))]
    if half and rng.random() < 0.3:
        asked = [one for one in asked if len(one.of) < 2]
    if not half and rng.random() < 0.3:
        asked = [one for one in asked if one.power == 0]
        return CrossProducts((Coordinate(),) * m, tuple(asked), norm=clip)
    return CrossProducts((Coordinate(),) * m, tuple(asked), psi, norm=clip)


@pytest.mark.parametrize("half", [0, 1])
@pytest.mark.parametrize("own", [False, True])
def test_vectors_in_float32_have_the_integers_of_the_reference(own: bool, half: int) -> None:
    """Weights as large as are exact, rows at their bounds, whole blocks and parts."""
    rng = np.random.default_rng(own + 2 * half)
    for m in (1, 2, 3, 7, 12, 17):
        for rows in (1, 300, fast.ROWS + 1):
            one = short_question(rng, m, own, half=half)
            one.check()
            vectors = VectorSums.of(one)
            assert vectors is not None
            z = rng.integers(-H, H + 1, (rows, m))
            z = np.where(rng.random(z.shape) < 0.3, rng.choice([-H, 0, H], z.shape), z)
            z[:, 0] = H
            held = np.ascontiguousarray(z.T.astype(np.int16))
            assert fast.HeldRows(rows, (held,)).crossed(one).cells == (one.sums(z),), (m, rows)
            # and those of the sums that are taken where weights are larger
            some = [held[:, at : at + fast.ROWS - 1] for at in range(0, rows, fast.ROWS - 1)]
            total = [sums.over(iter(some)).T.tolist() for sums in (ProductSums(one), vectors)]
            made = [[each.rounded(*x) for each, x in zip(one.products, found, strict=True)] for found in total]
            assert made[0] == made[1]


def test_vectors_beyond_float32_are_in_float64() -> None:
    rng = np.random.default_rng(0)
    for reached, fits in ((SHORT - 1, True), (SHORT + H, False)):
        assert (VectorSums.of(short_question(rng, 3, False, reached)) is not None) == fits
    plain = short_question(rng, 3, False)
    for other in (
        replace(plain, weight=WEIGHT),
        replace(plain, norm=None),
        replace(plain, score=score(rng, 3)),
        replace(plain, score=None),
        replace(plain, products=(Product((0, 1)), Product((0, 2), 2, sum_shift=18))),
        replace(plain, products=(Product((0, 1), 2, 18),)),
        replace(plain, products=(Product((0, 1)), Product((0,), 1))),
        replace(plain, products=(Product((), 1, 9),)),
    ):
        assert VectorSums.of(other) is None


@pytest.mark.parametrize("cost", [Cost.of(rho=1), Cost.of(epsilon=20)], ids=["normal", "pure"])
def test_parts_of_a_linear_model_are_in_float32(cost: Cost) -> None:
    """All that a release asks for after column moments, numbers of rows that are clipped or far included."""
    rng = np.random.default_rng(0)
    data = {"y": rng.normal(0, 1, 5_000), "a": rng.normal(0, 1, 5_000), "b": rng.exponential(1, 5_000)}
    schema = tc.Schema({"y": tc.Real(-20, 20), "a": tc.Real(-5, 5), "b": tc.Real(0, 30)})
    rows = rows_of(tc.Regression("y ~ a + b"), data, schema, cost)
    release = rows.release(rng)
    for i, one in enumerate(rows.shape.columns[1:], 1):
        asked = regression.next_question(one, release.parts[:i], rows.shape).question
        vectors = VectorSums.of(asked)
        assert vectors is not None
        counted = [at for at in asked.products if at.plus and at.of]
        assert len(vectors.counted) == len(counted) == (3 if i == len(rows.shape.columns) - 1 else 0)


def span_question(m: int, power: int) -> CrossProducts:
    """Sums of products of entries that are the coordinates themselves, and of psi, which is the last of them."""
    rows = tuple(tuple(2 * int(i == j) for i in range(m)) for j in range(m))
    pairs = [(i, j) for i in range(m) for j in range(i, m)]
    asked = [*(Product(at, power, sum_shift=18 if power else 0) for at in pairs), Product((0,), power // 2)]
    return CrossProducts(
        (Coordinate(),) * m,
        (*asked, Product((), 1, 9), Product((), 2)),
        ClippedResidual(rows[-1], 1, CLIP),
        norm=NormClip(rows, 1, H),
    )


@pytest.mark.parametrize("power", [0, 2])
def test_sums_of_squares_tell_where_float32_is_exact(power: int) -> None:
    """Spans whose squares add up to just below 2**24, to that and to more, of odd numbers."""
    rng, m = np.random.default_rng(power), 3
    one = span_question(m, power)
    one.check()
    assert VectorSums.of(one) is not None
    for size in (181, 255, 257, 300, 511):
        # 2**24 is the sum of 256 squares of 256, and odd numbers beside them differ in the last bit
        z = size + 2 * rng.integers(-1, 2, (2 * fast.ROWS + 1_000, m))
        z = np.where(rng.random(z.shape) < 0.5, -z, z) if size % 2 else z
        # some blocks have a few such rows alone, and some rows that are shortened
        z[fast.ROWS : fast.ROWS + 9_000] //= 5
        z[rng.integers(0, len(z), 40)] = H - 1
        found = fast.HeldRows(len(z), (np.ascontiguousarray(z.T.astype(np.int16)),)).crossed(one)
        assert found.cells == (one.sums(z),), size


def test_rows_set_aside_are_shortened_before_they_are_many() -> None:
    """Every row of three blocks is beyond the norm: as many as a sum is proven for are held at a time."""
    rng = np.random.default_rng(0)
    one = span_question(3, 2)
    z = rng.choice([-1, 1], (3 * fast.ROWS - 5, 3)) * rng.integers(700, H + 1, (3 * fast.ROWS - 5, 3))
    found = fast.HeldRows(len(z), (np.ascontiguousarray(z.T.astype(np.int16)),)).crossed(one)
    assert found.cells == (one.sums(z),)


def test_moments_of_coordinates_in_any_order() -> None:
    """Column moments of regressions, in blocks and parts of steps; questions that ask for more are others'."""
    rng, m = np.random.default_rng(0), 4
    of = [(2,), (0, 0), (), (3, 3), (0,), (2, 2)]
    one = CrossProducts((Coordinate(),) * m, tuple(Product(at) for at in of), aside=1)
    assert MomentSums.of(one) is not None
    for rows in (0, 1, 8_192, 2 * fast.ROWS + 77):
        z = np.where(rng.random((rows, m)) < 0.9, rng.choice([-H, H], (rows, m)), rng.integers(-H, H + 1, (rows, m)))
        found = fast.HeldRows(rows, (np.ascontiguousarray(z.T.astype(np.int16)),)).crossed(one)
        assert found.cells == (one.sums(z),)
    for asked in (Product((0, 1)), Product((0, 0), shift=1), Product((0, 0), sum_shift=1), Product((0, 0), times=1)):
        assert MomentSums.of(replace(one, products=(asked,))) is None
    short = short_question(rng, 4, False)
    for other in (replace(one, norm=short.norm), replace(one, score=short.score), replace(one, weight=WEIGHT)):
        assert MomentSums.of(other) is None


def test_sums_that_are_divided_once_may_be_beyond_64_bits() -> None:
    """2**26 rows of the largest summand, in the sums of quotients and in one with remainders."""
    weights = (2**10,)
    one = CrossProducts(
        (Coordinate(),),
        (Product((0, 0), 2, sum_shift=18), Product((0,), 2, sum_shift=17)),
        ClippedResidual(weights, 10, CLIP),
        norm=NormClip((weights,), 10, H),
    )
    one.check()
    z = np.full((1, fast.ROWS), H - 1, dtype=np.int16)
    many, entry, psi = 2**26 // fast.ROWS, H - 1, CLIP
    each = (psi**2 * entry**2, psi**2 * entry)
    assert each[0] * 2**26 > 2**63
    vectors = VectorSums.of(replace(one, products=one.products[:1]))
    assert vectors is not None
    for sums in (ProductSums(one), vectors):
        found = sums.over(iter([z] * many)).T.tolist()
        made = [made.rounded(*some) for made, some in zip(one.products, found, strict=False)]
        assert made == [2**26 * each[0] >> 18, 2**26 * each[1] >> 17][: len(found)]
    # what a reference or an engine would add up
    assert [made.total(np.full(9, x)) for made, x in zip(one.products, each, strict=True)] == [
        9 * each[0] >> 18,
        9 * each[1] >> 17,
    ]


@pytest.mark.parametrize("change", [{"unit": Unit("who", "who")}, {"weight": WEIGHT}, {"sum_shift": 19}])
def test_sums_are_divided_once_only_where_that_is_proven(change: dict[str, Any]) -> None:
    one = short_question(np.random.default_rng(0), 2, False)
    if "sum_shift" in change:
        change = {"products": tuple(replace(made, **change) if made.sum_shift else made for made in one.products)}
    with pytest.raises(ArithmeticError, match="divided"):
        replace(one, **change).check()


@pytest.mark.parametrize("clip", [CLIP, 2**11])
@pytest.mark.parametrize("shift", [0, 9, 18, 20, 24])
def test_remainders_that_do_not_fit_are_not_used(clip: int, shift: int) -> None:
    """Products of extreme factors of both signs, in a full block of the same rows, divided by little and by much."""
    rng = np.random.default_rng(shift)
    m, shift = 3, max(shift, (H * H * clip**2 // LARGEST).bit_length() - 1)
    of = [(), (0,), (2,), *((i, j) for i in range(m) for j in range(i, m))]
    one = CrossProducts(
        (Coordinate(),) * m, tuple(Product(at, 2, shift) for at in of), ClippedResidual((0, 0, clip), 10, clip)
    )
    one.check()
    rows = fast.ROWS + 1_000
    for z in (np.full((rows, m), -1) * np.array([H, 1, H - 1]), rng.integers(-H, H + 1, (rows, m))):
        held = fast.HeldRows(len(z), (np.ascontiguousarray(z.T.astype(np.int16)),))
        assert held.crossed(one).cells == (one.sums(z),)


def test_no_product_of_matrices_is_shared_among_threads_of_blas() -> None:
    """OpenBLAS starts threads of its own at 2**19 multiplications, which matrices of 16, 32 and 64 rows reached."""
    for left in range(1, 66):
        for right in range(1, 66):
            for rows in (1, 300, 3_000, fast.ROWS):
                step = step_of(left * right, rows)
                assert 0 < left * right * step < 2**19
                assert step >= min(rows, WHOLE)


def test_no_sum_of_products_of_two_factors_is_shared_among_threads_of_blas(monkeypatch: pytest.MonkeyPatch) -> None:
    """OpenBLAS starts threads of its own at 10,000 rows; a block has more."""
    rows, vecdot = list[int](), np.vecdot
    monkeypatch.setattr(np, "vecdot", lambda x, y: (rows.append(x.shape[-1]), vecdot(x, y))[1])
    z = np.random.default_rng(0).integers(-H, H + 1, (3, fast.ROWS)).astype(np.int16)
    one = CrossProducts((Coordinate(),) * 3, tuple(Product(of) for of in ((0,), (1,), (2,), (0, 0), (1, 2))))
    assert fast.HeldRows(fast.ROWS, (z,)).crossed(one).cells == (one.sums(z.T.astype(np.int64)),)
    assert fast.ROWS > 10_000 > max(rows)


def test_arrays_are_used_again_for_numbers_of_their_kind() -> None:
    """They begin where a line of the processor's cache does."""
    buffers = Buffers()
    for dtype in (np.float64, np.float32, np.float32, np.int16):
        made = buffers.array("x", (3, 100), dtype)
        assert (made.shape, made.dtype, made.ctypes.data % 64) == ((3, 100), dtype, 0)
        assert made.base is buffers.array("x", (3, 50), dtype).base


def test_many_blocks_add_up(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fast, "ROWS", 64)
    rng = np.random.default_rng(0)
    one = replace(
        question(rng, 4), score=ClippedResidual((5, -3, 2, 9), 3, CLIP), norm=None, products=(Product((0, 2)),)
    )
    z = rng.integers(-H, H + 1, (5_000, 4))
    found = fast.HeldRows(5_001, (np.ascontiguousarray(z.T.astype(np.int16)),)).crossed(one)
    assert (found.rows, found.cells) == (5_001, (one.sums(z),))


def test_predictors_at_the_ends_of_their_grid() -> None:
    """The last piece of a polygon ends at L."""
    slope = tuple(WIDTH * (i * i % 7) << 12 for i in range(PIECES + 1))
    one = PiecewiseScore(
        (2**14, 0), 10, CLIP, slope, (0,) * (PIECES + 1), tuple(2**FINE * i for i in range(PIECES + 1))
    )
    z = np.array([[x, y] for x in (-H, -H // 4, -1, 0, 1, H // 4, H) for y in (-H, 0, H)])
    assert {-L, L} <= set(one.place(z).tolist())
    asked = CrossProducts((Coordinate(),) * 2, tuple(Product((j,), p, 0) for j in (0, 1) for p in (0, 1)), one)
    held = fast.HeldRows(len(z), (np.ascontiguousarray(z.T.astype(np.int16)),))
    assert held.crossed(asked).cells == (asked.sums(z),)


def test_what_is_not_held_is_read_by_each_part(monkeypatch: pytest.MonkeyPatch) -> None:
    """Rows beyond the limit, of persons, and of frames that are scanned."""
    data, query = odd_table(), tc.Regression("x ~ m + g", where="y")
    rows = rows_of(query, columns_of(data), ODD_SCHEMA, Cost.of(rho=1), "add-remove")
    opened = open_source(data, ODD_SCHEMA)
    held = rows_held(rows.shape, opened)
    assert held is not None
    assert held.rows == 400
    assert sum(one.shape[1] for one in held.z) == len(rows.z) < 250
    lazy = open_source(pl.from_arrow(data).lazy(), ODD_SCHEMA)  # pyright: ignore
    assert rows_held(rows.shape, lazy) is None
    monkeypatch.setattr(fast, "MOST_HELD", 100)
    assert rows_held(rows.shape, opened) is None
    first = rows.shape.columns[0]
    assert exact_part(first, rows.shape, opened) == exact_part(first, rows.shape, opened, held)


KINDS = tc.Schema(
    {
        "y": tc.Real(-2, 2),
        "a": tc.Real(-2, 3, missing=0.25),
        "b": tc.Integer(0, 9),
        "c": tc.Category({3: "three", 7: "seven", -1: "none"}, missing="unknown"),
        "d": tc.Boolean(),
        "g": tc.Category(["a", "b"]),
    }
)
EDGES = [np.nan, np.inf, -np.inf, 0.0, -0.0, 2.0, -2.0, 3.0, np.nextafter(2.0, 3.0), np.nextafter(-2.0, 0.0), 1e300]


def test_cells_that_engines_send_are_missing_alike(tmp_path: Path) -> None:
    """Nulls, NaN, infinities, both zeros and ends of bounds, of floats of both sizes, whole numbers, text, codes."""
    rng, n = np.random.default_rng(4), 600

    def cells(values: Any, kind: pa.DataType) -> pa.Array:
        return pa.array(values, kind, mask=rng.random(n) < 0.1)

    numbers = [np.where(rng.random(n) < 0.4, rng.choice(EDGES, n), rng.normal(0, 2, n)) for _ in range(2)]
    data = pa.table(
        {
            "y": cells(numbers[0], pa.float64()),
            "a": cells(numbers[1].clip(-1e30, 1e30).astype(np.float32), pa.float32()),
            "b": cells(rng.integers(-3, 12, n), pa.int32()),
            "c": cells(rng.choice([3, 7, -1, 4], n), pa.int64()),
            "d": cells(rng.random(n) < 0.5, pa.bool_()),
            "g": cells(rng.choice(["a", "b", "z", ""], n), pa.string()),
        }
    )
    pq.write_table(data, tmp_path / "t.parquet")
    shape = rows_of(tc.Regression("y ~ a * d + b + c + g"), columns_of(data), KINDS, Cost.of(rho=1), "add-remove").shape
    by_engine = [exact_part(one, shape, open_source(data, KINDS)) for one in shape.columns]
    for source in (tmp_path / "t.parquet", data, pl.from_arrow(data), duckdb.connect().from_arrow(data)):
        opened = open_source(source, KINDS)
        held = rows_held(shape, opened)
        assert held is not None
        assert 100 < sum(one.shape[1] for one in held.z) < held.rows == n
        assert [exact_part(one, shape, opened, held) for one in shape.columns] == by_engine
