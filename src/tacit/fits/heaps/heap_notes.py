"""Notes on columns of a histogram with rows at points: as is declared, or as the counts show."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from tacit.fits.cells.released_cells import cells_of
from tacit.fits.heaps.bin_heaps import declared_heaps
from tacit.fits.heaps.hidden_heaps import heaped_rows
from tacit.release.document import Released


def heap_notes(release: Released, columns: Iterable[str]) -> tuple[str, ...]:
    """Return a note on each of these columns that has heaps, those that are no columns of the release left out.

    >>> import tacit as tc
    >>> table = {"x": [float(i % 101) for i in range(3_000)] + [42.0] * 1_000}
    >>> curator = tc.Curator(table, tc.Schema({"x": tc.Real(0, 100)}), budget=tc.Budget(rho=1))
    >>> print(*heap_notes(curator.release(tc.Histogram("x", bins={"x": 20}), rho=0.5), ["x"]))
    counts of x show heaps (25% of its rows): where in their bins these are is not known, and is in the errors; \
Real(…, heaped_at=…) where it is
    """
    cells, found = cells_of(release).project(), list[str]()
    for axis in cells.axes:
        if axis.name not in set(columns) or axis.kind != "continuous":
            continue
        heaps = declared_heaps(axis.bounds, axis.heaped_at)
        if heaps is not None:
            found.append(f"any share of {axis.name} may be at multiples of {heaps.unit:,.15g}, as is declared")
        one = cells.margin((axis.name,))
        counts = one.counts[: axis.bins]
        rows = heaped_rows(axis, counts, one.own_variance).parts(counts, axis.widths) * np.maximum(counts, 0.0)
        rows = rows if heaps is None else np.where(heaps.count > 0, 0.0, rows)
        if rows.any():
            part = 100 * rows.sum() / max(counts.sum(), 1.0)
            found.append(
                f"counts of {axis.name} show heaps ({part:.{0 if part >= 1 else 2}f}% of its rows): where "
                "in their bins these are is not known, and is in the errors; Real(…, heaped_at=…) where it is"
            )
    return tuple(found)
