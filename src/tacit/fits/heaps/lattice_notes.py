"""Notes on columns of real numbers: what counts tell of rounding, or, in bins of two widths, that they tell little.

In bins of one width no count shows rounding to a part of it; of these `estimates.rounded_values` has the notes.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from tacit.base.arrays import Array
from tacit.estimates.densities.rounded_values import FEW, coarser_than, round_edges, two_widths
from tacit.fits.cells.cell_arrays import CellAxis
from tacit.fits.cells.released_cells import cells_of
from tacit.fits.heaps.lattice_evidence import lattices_of, unequal, would_show
from tacit.release.document import Released


def told_notes(
    axis: CellAxis,
    groups: Sequence[Array],
    variance: float,
    included: bool = True,
    error: Callable[[], float | None] = lambda: None,
    mean: bool = False,
) -> tuple[str, ...]:
    """Return the note on a column from the counts of each group, shape (K,), with noise of a variance.

    included: whether what counts leave plausible is in the errors told.  error: as in `rounding_notes`.  mean: whether
    it is that of a mean, which multiples move by less than the places of values in a bin.

    >>> import numpy as np
    >>> from tacit.schema.autobins import uneven_edges
    >>> edges = np.array([0.0, *uneven_edges(0, 100, 20), 100.0])
    >>> told = np.histogram([2.5 * round(40 * (i / 9_999) ** 0.8) for i in range(10_000)], edges)[0]
    >>> print(*told_notes(CellAxis("x", "continuous", edges), [told.astype(float)], 8.0))
    counts of x leave it open whether values are told in steps of a number (of round numbers 2.5 fits best), all or \
some: where in bins these lie is not known, and is in the errors; Real(…, multiple_of=…) of all, heaped_at=… of some, \
if so
    """
    if axis.kind != "continuous" or axis.step or axis.heaped_at:
        return ()
    each = [lattices_of(axis, counts, variance) for counts in groups]
    found = [one for one in each if one is not None]
    if found:
        return (_found(axis.name, {one.clear for one in found}, included),)
    edges, known = axis.bounds.tolist(), error()
    narrow = known is None or known * FEW <= axis.widths.min()
    # in round bins it is the note on rounded values, where that is printed
    if round_edges(edges) is not None and (narrow or not unequal(axis.bounds)):
        return ()
    # without an error of its own (a fit's, say) a column in bins of one width has that note, and in typed bins of
    # widths that are far apart rounded values lie as often above as below
    if known is None and not two_widths(edges):
        return ()
    if not narrow and (two_widths(edges) or not unequal(axis.bounds)):
        return ()
    return () if all(would_show(axis, one, variance, known, mean) for one in groups) else (_unshown(axis.name, known),)


def release_notes(release: Released, columns: Sequence[str], included: bool) -> tuple[str, ...]:
    """Return the notes on these columns of a released histogram; included: as in `told_notes`."""
    cells, found = cells_of(release).project(), list[str]()
    for axis in cells.axes:
        if axis.name in columns and axis.kind == "continuous":
            one = cells.margin((axis.name,))
            found += told_notes(axis, [one.counts[: axis.bins]], one.own_variance, included)
    return tuple(found)


def _found(name: str, clear: set[float | None], included: bool) -> str:
    """Return the note on a column whose counts leave lattices plausible; clear: spacings that stand out in groups."""
    unit = next(iter(clear)) if len(clear) == 1 else None
    fits = "" if unit is None else f" (of round numbers {unit:,g} fits best)"
    where = "is in the errors" if included else "is in no error"
    return (
        f"counts of {name} leave it open whether values are told in steps of a number{fits}, all or some: where in "
        f"bins these lie is not known, and {where}; Real(…, multiple_of=…) of all, heaped_at=… of some, if so"
    )


def _unshown(name: str, known: float | None) -> str:
    """Return the note on a column whose counts are too few to show lattices; known: the error beside which they are."""
    what, told = ("(to whole numbers, say)", "1") if known is None else (coarser_than(known), "…")
    return (
        f"counts of {name} are too few to show whether its values were rounded: were they {what}, all or some, they "
        "would lie elsewhere within bins than is taken here, by up to half a unit, which no error includes: "
        f"Real(…, multiple_of={told}) of all, heaped_at={told} of some"
    )
