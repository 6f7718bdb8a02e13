"""Estimates of blocks from exact sums: those of the rows themselves, whatever way and order the sums are taken in."""

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from tacit import families
from tacit.method.blocks import mechanism_equal_blocks as equal_blocks
from tacit.method.blocks import mechanism_labels as labels_of
from tacit.method.blocks.mechanism_block_sums import EXACT, PART, BlockSums, summed
from tacit.models import blocks, correction
from tacit.models.block_sums import statistic_sums
from tacit.source.engine_sums.row_arrays import RowArrays

FAMILIES: dict[str, tuple[Any, Any]] = {
    "gamma": (families.Gamma(shape=(0.5, 5), rate=(0.2, 5)), lambda rng, n: rng.gamma(2, 0.7, n)),
    "gamma of known rate": (families.Gamma(shape=(0.5, 5), rate=1.5), lambda rng, n: rng.gamma(2, 0.7, n)),
    "exponential": (families.Exponential(rate=(0.1, 10)), lambda rng, n: rng.exponential(0.5, n)),
    "pareto": (families.Pareto(shape=(0.5, 5)), lambda rng, n: 1 + rng.pareto(2, n)),
    "poisson": (families.Poisson(mean=(0.5, 20)), lambda rng, n: rng.poisson(3, n).astype(float)),
    "geometric": (families.Geometric(p=(0.05, 0.9)), lambda rng, n: rng.geometric(0.4, n) - 1.0),
    "binomial": (families.Binomial(p=(0.05, 0.9), trials=9), lambda rng, n: rng.binomial(9, 0.4, n).astype(float)),
}
BIASES = ("observed", "cox-snell", "none")
ODD = [np.nan, np.inf, -np.inf, -1.0, -0.0, 0.0, 5e-324, 1e9, 1e300]


def table(name: str, seed: int, rows: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(seed)
    x = FAMILIES[name][1](rng, rows)
    odd = rng.integers(0, rows, rows // 200)
    x[odd] = rng.choice(ODD, len(odd))
    return np.asarray(x, dtype=np.float64)


@pytest.mark.sample(3)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", FAMILIES)
def test_sums_give_the_estimates_of_the_rows(name: str, bias: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Up to rounding far below the error of a block, of which 1e-5 of its value is no thousandth part."""
    model, draw = FAMILIES[name]
    x = draw(np.random.default_rng(3), (60, 400))
    x[0, :7], x[1, 3] = np.nan, -1.0
    sizes = np.full(60, 400)
    sizes[2:6] = 0, 1, 2, 3
    assert statistic_sums(model, 400, bias) is not None
    found = blocks.block_mle(model, x, sizes, bias=bias)
    monkeypatch.setattr(blocks, "statistic_sums", lambda *_: None)
    rows = blocks.block_mle(model, x, sizes, bias=bias)
    assert (found.fitted == rows.fitted).all()
    # of counts nothing is rounded but the sums of the slow way
    np.testing.assert_allclose(found.values, rows.values, rtol=1e-9 if model.support == "count" else 1e-5)


@pytest.mark.sample(3)
@pytest.mark.parametrize("bias", BIASES)
@pytest.mark.parametrize("name", FAMILIES)
def test_labelled_rows_have_the_sums_of_packed_blocks(name: str, bias: Any) -> None:
    """The fast way against the slow one, bit by bit, on odd rows, in any order, of one thread or several."""
    model, rows, k = FAMILIES[name][0], 9 * PART + 17, 300
    room = -(-rows // k)
    asked = statistic_sums(model, room, bias)
    assert asked is not None
    for seed in range(2):
        x = table(name, seed, rows)
        own = equal_blocks.drawn_labels(rows, k)
        words = equal_blocks.words_of_labels(own, k)
        packed = labels_of.packed(RowArrays(x[:, None], None), words, k, room)
        sums, counts = asked.of_packed(packed.values[:, :, 0], packed.sizes)
        for order in (np.arange(rows), np.random.default_rng(seed).permutation(rows)):
            for sizes in (None, equal_blocks.sizes(rows, k)):
                fast, many, most = summed(asked, RowArrays(x[order, None], None), own[order], k, sizes)
                assert (many == counts).all()
            assert (fast[counts > 0] == sums[counts > 0]).all()
            assert most == packed.sizes.max()
        values, fitted = asked.estimates(sums, counts, bias)
        again = blocks.block_mle(model, packed.values[:, :, 0], packed.sizes, bias=bias, ordered=True)
        assert values.tobytes() == again.values.tobytes()
        assert (fitted == again.fitted).all()


@pytest.mark.parametrize("name", ["gamma", "exponential", "pareto"])
def test_sizes_bound_the_statistics_they_are_said_to(name: str) -> None:
    """What lets sums be floats: the bounds on sums of sizes hold, of rows at the bounds of the model, too."""
    model, draw = FAMILIES[name]
    asked = statistic_sums(model, 100, "observed")
    assert asked is not None
    for x in (draw(np.random.default_rng(1), 3_000), np.full(9, asked.bounds[0] / 2), np.array([1.0]), np.zeros(0)):
        made, sizes, beyond = asked.steps(np.maximum(x, getattr(model, "minimum", 0.0)))
        assert beyond is None
        assert all((steps == np.trunc(steps)).all() for steps in made)
        assert all(sum(abs(int(one)) for one in steps) <= size for steps, size in zip(made, sizes, strict=True))


def test_sums_by_block_are_those_of_integers_however_large() -> None:
    """In floats, just below where these round, and beyond: sums are those of Python's integers."""
    rng, k = np.random.default_rng(0), 3
    total, exact = BlockSums(k), np.zeros(k, dtype=object)
    for largest in (10, 2**44, 2**50, 2**51, 2**52, 2**53, 3, 2**55, 2**60):
        own, steps = rng.integers(0, k, 4), np.rint(rng.uniform(-1, 1, 4) * largest)
        steps[own == 0] = largest - 1 if largest < 2**53 else largest
        reach = sum(abs(int(one)) for one in steps)
        total.add(own, steps, float(reach))
        np.add.at(exact, own, [int(one) for one in steps])
        assert reach < EXACT or largest > 2**50
    assert total.whole().tolist() == exact.tolist() == total.whole().tolist()
    for _ in range(3):  # each is exact in floats, and so is the sum of two; that of three is not
        total.add(np.array([1]), np.array([2.0**52 + 1]), 2.0**52 + 1)
        exact[1] += 2**52 + 1
    assert total.whole().tolist() == exact.tolist()


def test_a_row_beyond_its_bound_leaves_its_block_without_an_estimate() -> None:
    model = families.Exponential(rate=(0.1, 10))
    asked = statistic_sums(model, 100, "cox-snell")
    assert asked is not None
    x = np.random.default_rng(0).exponential(0.5, (3, 100))
    x[1, 0], x[2, 0] = np.nextafter(asked.bounds[0], np.inf), asked.bounds[0]
    assert blocks.block_mle(model, x, [100] * 3, bias="cox-snell").fitted.tolist() == [True, False, True]
    # all rows at the bounds of every statistic: the sums that are proven to stay within 64 bits
    for bias in BIASES:
        made = statistic_sums(model, 100, bias)
        assert made is not None
        reach = list(made.bounds) + [a * b for i, a in enumerate(made.bounds) for b in made.bounds[i:]]
        assert all(100 * (bound * 2.0**shift + 1) < 2**63 for bound, shift in zip(reach, made.shifts, strict=False))


def test_models_that_need_their_rows() -> None:
    class Own(families.Exponential):  # pyright: ignore[reportUntypedBaseClass]
        """A user's own family, whose likelihood may be any."""

    assert statistic_sums(families.Normal(), 100, "cox-snell") is None
    assert statistic_sums(families.Exponential(), 100, "split-half") is None
    # a box of which no step is fine enough: rates up to 0
    assert statistic_sums(families.Exponential(rate=(0.0, 10.0)), 100, "none") is None
    assert statistic_sums(Own(), 100, "none") is None


@pytest.mark.sample(3)
@pytest.mark.parametrize("name", ["gamma", "exponential", "pareto", pytest.param("poisson", marks=pytest.mark.long)])
def test_the_observed_correction_of_moments_is_that_of_the_rows(name: str) -> None:
    from tacit.models.jax_config import quiet

    model, draw = FAMILIES[name]
    x = draw(np.random.default_rng(5), 500)
    t = np.stack(model.numpy_statistics(x), axis=1)
    at = model.fallback
    with quiet():
        found = correction.observed_from_moments(model, t.mean(0), t.T @ t / len(t), at)
        rows = correction.weighted(model, x, np.ones(len(x)), at, lawful=False)
    np.testing.assert_allclose(np.asarray(found), np.asarray(rows), rtol=1e-8)


@pytest.mark.parametrize(("rows", "blocks_"), [(65_537, 1), (70_001, 7), (100_000, 4_000), (66_000, 2**14)])
def test_drawn_labels_make_blocks_of_equal_size(rows: int, blocks_: int) -> None:
    """Sizes are those of ranks, and any two rows are together as often as a uniform permutation has them."""
    own = equal_blocks.drawn_labels(rows, blocks_)
    assert (np.bincount(own, minlength=blocks_) == np.bincount(np.arange(rows) * blocks_ // rows)).all()
    read = labels_of._labels(equal_blocks.words_of_labels(own, blocks_), blocks_)  # pyright: ignore[reportPrivateUsage]
    assert (read == own).all()


def test_every_permutation_of_a_few_rows_is_as_likely() -> None:
    """4 rows in blocks of one: 24 orders, chi-square over 2,400 draws; 23 degrees above 77 has probability 1e-7."""
    draws = [tuple(equal_blocks.drawn_labels(4, 4).tolist()) for _ in range(2_400)]
    counts = np.unique(np.array(draws), axis=0, return_counts=True)[1]
    assert len(counts) == 24
    assert ((counts - 100.0) ** 2 / 100).sum() < 77


def test_equal_words_are_drawn_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """First all lower bits are equal; then two of the longer ones; then they differ."""
    given = iter([np.zeros(4), np.array([1, 2, 2, 3]) * 2.0**40, np.array([4, 1, 3, 2]) * 2.0**40])
    monkeypatch.setattr(equal_blocks, "system_random_words", lambda count: next(given).astype(np.uint64))
    order = equal_blocks._in_order(np.zeros(4, dtype=np.int64))  # pyright: ignore[reportPrivateUsage]
    assert order.tolist() == [1, 3, 2, 0]


@pytest.mark.parametrize(("rows", "blocks_", "uppers"), [(5_000, 37, 2**16), (5_000, 37, 60), (4_000, 4_000, 8)])
def test_lower_words_are_drawn_in_place_of_none_that_decide(
    monkeypatch: pytest.MonkeyPatch, rows: int, blocks_: int, uppers: int
) -> None:
    """Labels are those of ranks of words whose bits are drawn in three steps, however many share their upper ones."""
    rng = np.random.default_rng(2)
    upper = rng.integers(0, uppers, rows).astype(np.uint16)
    more, low = np.zeros(rows, dtype=np.uint8), np.zeros(rows, dtype=np.uint64)
    drawn = list[int]()

    def words(count: int) -> np.ndarray:
        """Give 16 bits to each row, then 8 to some, of which 4 are used, then 64 to some of these: all in order."""
        drawn.append(count)
        if len(drawn) == 1:
            return np.resize(upper, 4 * count).view(np.uint64)
        if len(drawn) == 2:
            more[:] = rng.integers(0, 2**8, rows)
            return more[: 8 * count].view(np.uint64)
        # only so many of the highest bits are used
        low[:] = (rng.permutation(2**13)[:rows].astype(np.uint64) + np.uint64(1)) << np.uint64(46)
        return low[:count].copy()

    monkeypatch.setattr(equal_blocks, "system_random_words", words)
    found = equal_blocks.drawn_labels(rows, blocks_)
    # by hand: the rows of ranges in which a block begins, and of the finer ones, in the order of the table
    counts = np.bincount(upper, minlength=2**16)
    first = np.cumsum(counts) - counts
    split = (first + np.maximum(counts, 1) - 1) * blocks_ // rows != first * blocks_ // rows
    word = upper.astype(object) * 2**68
    some = np.flatnonzero(split[upper])
    for place, row in enumerate(some):
        word[row] += int(more[place] % 16) * 2**64
    ranks = np.unique(word, return_inverse=True)[1]
    whole = np.bincount(ranks)
    start = np.cumsum(whole) - whole
    torn = (start * blocks_ // rows != (start + whole - 1) * blocks_ // rows)[ranks]
    for place, row in enumerate(np.flatnonzero(torn)):
        word[row] += int(low[place])
    rank = np.empty(rows, dtype=np.int64)
    rank[np.argsort(word, kind="stable")] = np.arange(rows)
    assert (found == rank * blocks_ // rows).all()
    assert drawn[1:] == [-(-len(some) // 8), torn.sum()]
    assert torn.sum() <= len(some)
    assert uppers == 2**16 or torn.sum() > 0
