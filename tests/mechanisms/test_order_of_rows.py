"""What a block holds is a function of its rows as a set, bit by bit: whatever order they come in."""

from itertools import permutations

import numpy as np
import pytest
from numpy.typing import NDArray

import tacit as tc
from tacit.method.blocks import mechanism_labels as blocks
from tacit.method.blocks import mechanism_user_statistics as fresh
from tacit.models.blocks import prepared
from tacit.source.engine_sums.row_arrays import RowArrays

OTHER_NAN = np.array([0xFFF8000000000123], dtype=np.uint64).view(np.float64)[0]
"""No number, with another payload and sign than NumPy's own."""
ODD = [-0.0, 0.0, np.nan, OTHER_NAN, 5e-324, -5e-324, np.inf, -np.inf, 1.0, 1.0]


def rows_of(columns: int) -> NDArray[np.float64]:
    rng = np.random.default_rng(columns)
    return rng.choice(np.array(ODD), (40, columns))


def words(rows: int) -> NDArray[np.uint64]:
    """Some words tie, so that rows of a full block are told apart by themselves."""
    return np.random.default_rng(7).integers(0, 2**64, 8, dtype=np.uint64)[np.arange(rows) % 8]


def contents(values: NDArray[np.float64], own: NDArray[np.uint64], room: int, pieces: int = 1) -> list[bytes]:
    group = blocks.Group(3, room, values.shape[1], 0, 3)
    for some in np.array_split(np.arange(len(values)), pieces):
        group.add(values[some], own[some])
    found = group.blocks()
    return [found.values.tobytes(), found.sizes.tobytes()]


@pytest.mark.parametrize("columns", [1, 2, 3])
@pytest.mark.parametrize("room", [60, 9])
@pytest.mark.parametrize("pieces", [1, 4])
def test_no_order_of_rows_changes_a_byte_of_any_block(columns: int, room: int, pieces: int) -> None:
    values, own = rows_of(columns), words(40)
    first = contents(values, own, room)
    rng = np.random.default_rng(1)
    for _ in range(15):
        order = rng.permutation(40)
        assert contents(values[order], own[order], room, pieces) == first


def test_every_order_of_a_small_block() -> None:
    values = np.array([[-0.0, 1.0], [0.0, -0.0], [0.0, 0.0], [np.nan, -0.0], [OTHER_NAN, 0.0]])
    own = np.zeros(5, dtype=np.uint64)
    assert len({tuple(contents(values[list(o)], own, room)) for o in permutations(range(5)) for room in (8,)}) == 1
    assert len({tuple(contents(values[list(o)], own, 3)) for o in permutations(range(5))}) == 1


@pytest.mark.parametrize("columns", [1, 2])
def test_rows_that_models_are_handed_have_no_order(columns: int) -> None:
    """`block_mle` sorts what comes in any order: the same bytes are compiled code's input."""
    model = tc.Model(lambda x, theta: -theta.a * x, a=(0.1, 1), columns=columns)
    rows = np.array([-0.0, 0.0, 5e-324, 1.0, -0.0, 2.0, 0.0, -1.0]).reshape(1, -1, columns)
    sizes = np.array([rows.shape[1]])

    def given(some: NDArray[np.float64]) -> bytes:
        values = some[:, :, 0] if columns == 1 else some
        return prepared(model, values, sizes, 8, ordered=False)[0].tobytes()

    rng = np.random.default_rng(2)
    assert {given(rows[:, rng.permutation(rows.shape[1])]) for _ in range(40)} == {given(rows)}


def test_a_function_sees_no_order_either() -> None:
    """A statistic that tells -0.0 from 0.0 by its place: the attack that was found."""

    def first_sign(rows: np.ndarray) -> float:
        return float(np.signbit(rows[0])) + 2 * float(np.signbit(rows).sum())

    model = tc.Statistic(first_sign, sign=(0, 10))
    found: set[float] = set()
    for values in ([-0.0, 0.0, 0.0], [0.0, -0.0, 0.0], [0.0, 0.0, -0.0]):
        rows = RowArrays(np.array(values)[:, None], None)
        packed = blocks.packed(rows, np.zeros(3, dtype=np.uint64), 2, 8)
        found.add(float(fresh.statistics(model, packed.values, packed.sizes)[0, 0]))
    assert found == {0.0}
