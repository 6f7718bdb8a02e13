"""Coordinates of a table's complete rows, read once and held for all parts of a regression.  INSIDE the wall.

Of a table in memory the coordinates are NumPy's from the first step on.  Otherwise the engine sends cells as floats,
or, where a condition is to be evaluated, makes the coordinates itself (`crossproduct_sums`).  All make the same
integers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final

import narwhals as nw
import numpy as np
from numpy.typing import NDArray

from tacit.rows.coordinates import H
from tacit.rows.row_map import Aggregate, RowMap
from tacit.rows.row_products import Coordinate, CrossProducts
from tacit.schema.predicates.typed_conditions import Predicate
from tacit.source.engine import Engine
from tacit.source.engine_sums.cell_counts import numbered_reading
from tacit.source.engine_sums.cell_expressions import SHORT
from tacit.source.engine_sums.cell_sums import map_reading
from tacit.source.engine_sums.crossproduct_sums import coordinates_of
from tacit.source.in_memory.grid_arrays import GridMaps, level_places
from tacit.source.in_memory.held_moments import MomentSums
from tacit.source.in_memory.held_products import ROWS, Held, ProductSums
from tacit.source.in_memory.held_vectors import VectorSums
from tacit.source.shared_blocks import Buffers, shared

MOST_HELD: Final = 2**30
"""Bytes that are held at most; rows of a larger table are read anew by each part, on the engine."""
READ: Final = 2**16
"""Rows whose cells are made coordinates at a time."""
LARGEST: Final = 2**14
"""Coordinates up to this size are held, as 16-bit integers."""


@dataclass(frozen=True)
class HeldRows:
    """rows: number of all rows.  z: coordinates of complete rows, arrays of shape (coordinates, some rows).

    Where rows have weights, these come after the coordinates.
    """

    rows: int
    z: tuple[Held, ...]

    def crossed(self, question: CrossProducts) -> Aggregate:
        """READS ROWS.  Return what `crossproduct_sums.crossed` returns for a question of the same coordinates."""
        question.check()
        if self.rows > question.most_rows:
            raise ArithmeticError("more rows than the sums are proven for")
        sums = MomentSums.of(question) or VectorSums.of(question) or ProductSums(question)
        blocks = [one[:, at : at + ROWS] for one in self.z for at in range(0, one.shape[1], ROWS)]
        total = np.zeros((2, len(question.products)), dtype=np.int64)
        for found in shared(blocks, sums.over, alone=True):
            total += found
        made = [one.rounded(*some) for one, some in zip(question.products, total.T.tolist(), strict=True)]
        return Aggregate(self.rows, (tuple(made[question.aside :]),))


def held(engine: Engine, question: CrossProducts, where: Predicate | None) -> HeldRows | None:
    """READS ROWS.  Return the coordinates of the question's complete rows; None where they are not to be held.

    So are rows of persons, of engines that hand out no rows, and of tables that are too large.
    """
    if question.unit is not None or max(one.half for one in question.coordinates) > LARGEST:
        return None
    if where is not None or any(len(key.levels) > SHORT for key in question.keys):
        return _made_by_engine(engine, question, where)
    readings = [*map(map_reading, question.maps), *map(numbered_reading, question.keys)]
    cells = RowCells(question)
    lying = engine.in_memory(readings)
    if lying is not None:
        if 2 * (len(question.coordinates) + (question.weight is not None)) * len(lying[0]) > MOST_HELD:
            return None
        return HeldRows(len(lying[0]), tuple(cells.coordinates(lying, whole=True)))
    return _made_of_floats(engine, readings, cells)


@dataclass(frozen=True)
class RowCells:
    """What makes coordinates of the cells of a question's columns: those of its maps, then those of its keys."""

    question: CrossProducts

    def coordinates(self, columns: Sequence[NDArray[Any]], *, whole: bool = False) -> list[Held]:
        """READS ROWS.  Return the coordinates of complete rows, of at most READ rows each; whole: see `shared`."""
        rows = len(columns[0])
        # one array for all: memory of this size is handed out faster in one piece
        z = np.empty((len(self.question.coordinates) + (self.question.weight is not None), rows), dtype=np.int16)

        def work(parts: Iterator[slice]) -> list[Held]:
            buffers = Buffers()
            return [self._made([one[part] for one in columns], z[:, part], buffers) for part in parts]

        parts = [slice(at, at + READ) for at in range(0, rows, READ)]
        return [one for some in shared(parts, work, whole=whole, alone=True) for one in some]

    def _made(self, cells: Sequence[NDArray[Any]], z: Held, buffers: Buffers) -> Held:
        """Set the coordinates of some rows, and return those of complete ones."""
        places = {
            key: level_places(key, one) for key, one in zip(self.question.keys, cells[len(self._grids) :], strict=True)
        }
        grid, gone = dict[RowMap, NDArray[np.int64]](), list[Any]()
        for (map_of_one, alone, again), one in zip(self._grids, cells[: len(self._grids)], strict=True):
            at, (whole, absent) = map_of_one.maps[0], map_of_one.whole([one], buffers)
            gone += absent.values()
            for j in alone:
                # modulo 2**16, where v has more bits: the difference lies within LARGEST
                np.subtract(whole[0], at.G // 2, out=z[j], casting="unsafe")
            if at == self.question.weight:
                np.copyto(z[-1], whole[0], casting="unsafe")
            if again:
                grid[at] = whole[0].astype(np.int64)
        for j, one in enumerate(self.question.coordinates):
            if not one.numbers and not one.marks:
                z[j].fill(H)
            elif not _alone(one):
                # a product, by the reference
                z[j] = one.numpy(grid, places, z.shape[1])
        missing = [*gone, *(at < 0 for at in places.values() if at.min(initial=0) < 0)]
        return z if not missing else np.ascontiguousarray(z[:, ~np.any(missing, axis=0)])

    @cached_property
    def _grids(self) -> list[tuple[GridMaps, list[int], bool]]:
        """For each map the coordinates that are its values alone, and whether another coordinate has them, too."""
        each, found = self.question.coordinates, list[tuple[GridMaps, list[int], bool]]()
        for at in self.question.maps:
            uses = [j for j, one in enumerate(each) if at in one.numbers]
            alone = [j for j in uses if _alone(each[j])]
            found.append((GridMaps((at,), short=True), alone, len(alone) < len(uses)))
        return found


def _alone(one: Coordinate) -> bool:
    """Whether a coordinate is the value of one column alone."""
    return len(one.numbers) == 1 and not one.marks


def _made_of_floats(engine: Engine, readings: Sequence[Any], cells: RowCells) -> HeldRows | None:
    """READS ROWS.  Let the engine send cells as floats, NaN where null, and make the coordinates of them here.

    What is no finite number is missing here as on engines (`GridMaps`, `level_places`).
    """
    names = [f"c{i}" for i in range(len(readings))]
    found = engine.batches(engine.read(readings).select(*(nw.col(name).cast(nw.Float64()) for name in names)))
    return None if found is None else _gathered(found, names, cells)


def _gathered(found: Iterator[dict[str, Any]], names: Sequence[str], cells: RowCells) -> HeldRows | None:
    """Return the complete rows of batches, or None where they are more than are held."""
    rows, size, z = 0, 0, list[Held]()
    for batch in found:
        columns = [np.asarray(batch[name], dtype=np.float64) for name in names]
        made = cells.coordinates(columns)
        rows, size = rows + len(columns[0]), size + sum(one.nbytes for one in made)
        if size > MOST_HELD:
            return None
        z += made
    return HeldRows(rows, tuple(z))


def _made_by_engine(engine: Engine, question: CrossProducts, where: Predicate | None) -> HeldRows | None:
    """READS ROWS.  Let the engine make the coordinates, and say which rows are complete and kept by a condition."""
    frame = coordinates_of(engine, question, where)
    names = [*(f"z{j}" for j in range(len(question.coordinates))), *(() if question.weight is None else ("a",))]
    # a row that is not complete still counts; its coordinates may be anything, and are made 0
    kept = nw.col("k") == nw.lit(1)
    columns = [nw.when(kept).then(nw.col(name)).otherwise(nw.lit(0)).cast(nw.Int16()).alias(name) for name in names]
    found = engine.batches(frame.select(nw.col("k").cast(nw.Int16()), *columns))
    if found is None:
        return None
    rows, size, z = 0, 0, list[Held]()
    for batch in found:
        complete = np.asarray(batch["k"]) == 1
        one = np.stack([np.asarray(batch[name], dtype=np.int16) for name in names])
        one = one if complete.all() else np.ascontiguousarray(one[:, complete])
        rows, size = rows + len(complete), size + one.nbytes
        if size > MOST_HELD:
            return None
        z.append(one)
    return HeldRows(rows, tuple(z))
