"""Simulation of a bootstrap: sums over seeded bootstrap samples, which protect nobody."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

from tacit.method.bootstrap.price import weights_of
from tacit.method.shared.measurement import PartSpec
from tacit.testing.reference_persons import ReferenceRows

Ints: TypeAlias = NDArray[np.int64]


@dataclass(frozen=True)
class ReferencePatterns:
    """Rows (persons) that add the same to all columns, and what one draw of each adds.

    counts: rows with each pattern, shape (r,).  added: for each column, shape (r, cells, integers).
    """

    counts: Ints
    added: tuple[Ints, ...]

    def once(self) -> tuple[Ints, ...]:
        """Return the sums with every row drawn once, shape (cells, integers) a column."""
        return tuple(np.tensordot(self.counts, one, axes=1) for one in self.added)

    def drawn(self, replicates: int, neighbors: str, rng: np.random.Generator) -> tuple[Ints, ...]:
        """Return the sums of samples, each column of each replicate in turn, shape (cells, integers)."""
        size, rows = (replicates, len(self.counts)), int(self.counts.sum())
        if weights_of(neighbors) == "poisson":
            times = rng.poisson(self.counts, size=size)
        else:
            times = rng.multinomial(rows, self.counts / max(rows, 1), size=replicates)
        sums = [np.tensordot(times.astype(np.int64), one, axes=1) for one in self.added]
        return tuple(one[b] for b in range(replicates) for one in sums)


def patterns_of(
    columns: Sequence[PartSpec], rows: Sequence[ReferenceRows], cells: int, total: int
) -> ReferencePatterns:
    """Return the patterns of a table.

    rows: what each column adds up, with the index of the row or person.  total: number of all rows (persons).
    """
    added = [np.zeros((total, cells, len(column.form.matrix)), dtype=np.int64) for column in columns]
    for column, made, into in zip(columns, rows, added, strict=True):
        one = np.stack([p.numpy(made.v) for p in column.form.polynomials], axis=1)
        one = one * made.weight[:, None] if column.weight is not None else one
        # a person has one entry in a cell
        into[made.index, made.cell] = one @ np.array(column.form.matrix, dtype=np.int64).T
    flat = np.concatenate([one.reshape(total, -1) for one in added], axis=1)
    _, first, counts = np.unique(flat, axis=0, return_index=True, return_counts=True)
    return ReferencePatterns(counts.astype(np.int64), tuple(one[first] for one in added))
