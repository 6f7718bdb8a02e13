"""A note on columns whose values may be rounded: real numbers of which no multiples are declared, in round bins.

Values that are rounded to a unit u, down or to the nearest, lie at k u, k u + u, ... in a bin that begins at k u, not
evenly from its beginning to its end: their mean is u / 2 below the middle.  No count shows it, nor that a part of the
values is heaped at numbers of which every bin holds as many.  The note is printed wherever an estimate rests on where
values lie within bins.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction
from itertools import pairwise
from typing import Final

import numpy as np

from tacit.release.document import Released
from tacit.release.parts import Axis

ROUND: Final = tuple(Fraction(digits) * Fraction(10) ** k for k in range(12, -12, -1) for digits in ("5", "2", "1"))
"""Round numbers, falling."""
FINEST: Final = 100
"""Edges that are multiples of no round number above this part of the narrowest bin are not round."""
UNEVEN: Final = 50
"""The same where bins have several widths: automatic ones have as few decimals as are a hundredth of a bin."""
ALIKE: Final = 1.3
"""Widths of automatic bins are within this ratio."""
FEW: Final = 3
"""Multiples in a bin, at least, of a rounding that the note is about."""


def round_edges(edges: Sequence[float]) -> float | None:
    """Return the largest round number of which all inner edges are multiples; None where they are not round.

    >>> round_edges((18, 20, 25, 30, 33)), round_edges((0, 0.5, 1.0, 1.5)), round_edges((0, 4.1667, 8.3333, 12.5))
    (5.0, 0.5, None)
    >>> round_edges((0, 10.1, 19.7, 30.5, 39.9, 50))
    """
    inner = [Fraction(repr(float(edge))) for edge in edges[1:-1]]
    if not inner:
        return None
    narrowest = min(b - a for a, b in pairwise(edges))
    finest = UNEVEN if two_widths(edges) else FINEST
    for unit in ROUND:
        if unit * finest < narrowest:
            return None
        if all((edge / unit).denominator == 1 for edge in inner):
            return float(unit)
    return None


def two_widths(edges: Sequence[float]) -> bool:
    """Return whether bins are not all of one width, but of widths about as large, as automatic ones may be.

    >>> two_widths((0, 20.3, 39.3, 61.1, 79.9, 100)), two_widths((0, 20, 40, 60)), two_widths((0, 10, 40))
    (True, False, False)
    """
    widths = [b - a for a, b in pairwise(edges)]
    return 1 + 2 / FINEST < max(widths) / min(widths) <= ALIKE


def unknown_multiples(axes: Iterable[tuple[str, Axis]]) -> tuple[str, ...]:
    """Return the names of the columns of real numbers in round bins of which no multiples are declared."""
    return tuple(name for name, axis in axes if _untold(axis) and round_edges(axis.edges) is not None)


def _untold(axis: Axis) -> bool:
    """Return whether an axis is of real numbers of which neither multiples nor heaps are declared."""
    return axis.kind == "real" and axis.multiple_of is None and axis.heaped_at is None


def planned_notes(axes: Iterable[tuple[str, Axis]]) -> tuple[str, ...]:
    """Return the notes of a plan on columns of a histogram whose values may be rounded."""
    given = list(axes)
    uneven = [name for name, axis in given if _untold(axis) and two_widths(axis.edges)]
    return (*rounding_note([one for one in unknown_multiples(given) if one not in uneven]), *map(_planned, uneven))


def _planned(name: str) -> str:
    """Return the note of a plan on a column in bins of two widths.

    >>> print(_planned("age"))
    bins of age have two widths: were its values rounded, all or some, counts show it if they are large beside their \
noise, and intervals are then longer than planned: Real(…, multiple_of=…) of all, heaped_at=… of some
    """
    return (
        f"bins of {name} have two widths: were its values rounded, all or some, counts show it if they are large "
        "beside their noise, and intervals are then longer than planned: "
        "Real(…, multiple_of=…) of all, heaped_at=… of some"
    )


def rounding_note(names: Sequence[str]) -> tuple[str, ...]:
    """Return the note on these columns; none where there are none.

    >>> print(*rounding_note(["age"]))
    edges of age are round numbers: were its values rounded (to whole numbers, say), all or some, they would lie up to \
half a unit lower within bins than is taken here, which no count shows and no error includes: Real(…, multiple_of=1) \
of all, heaped_at=1 of some
    """
    if not names:
        return ()
    whose = "its" if len(names) == 1 else "their"
    return (
        f"edges of {' and '.join(names)} are round numbers: were {whose} values rounded (to whole numbers, say), all "
        "or some, they would lie up to half a unit lower within bins than is taken here, which no count shows and no "
        "error includes: Real(…, multiple_of=1) of all, heaped_at=1 of some",
    )


def rounding_notes(
    release: Released, columns: Iterable[str], error: Callable[[], float | None] = lambda: None
) -> tuple[str, ...]:
    """Return the note on columns of a released histogram, those that are no columns of it left out.

    error: gives, of one column, the standard error of what is told, in its units; asked where there is a note.  Half of
    a smaller unit would be little beside it; where fewer than FEW of these fit in a bin there is no note.
    """
    wanted = set(columns)
    axes: Sequence[Axis] = getattr(release, "axes", ())
    named = [(name, axis) for (name, _), axis in zip(release.levels, axes, strict=False) if name in wanted]
    names = unknown_multiples(named)
    found = error() if names else None
    if found is None:
        return rounding_note(names)
    narrowest = min(float(np.diff(axis.edges).min()) for name, axis in named if name in names)
    return () if found * FEW > narrowest else (coarser_note(names[0], found),)


def coarser_note(name: str, unit: float) -> str:
    """Return the note on a column, of which rounding to less than a unit would not matter.

    >>> print(coarser_note("income", 2_299.0))
    edges of income are round numbers: were its values rounded to multiples of 2,300 or more, all or some, they would \
lie lower within bins than is taken here, by half of one, which no count shows and no error includes: \
Real(…, multiple_of=…) of all, heaped_at=… of some
    """
    return (
        f"edges of {name} are round numbers: were its values rounded {coarser_than(unit)}, all or some, they would lie "
        "lower within bins than is taken here, by half of one, which no count shows and no error includes: "
        "Real(…, multiple_of=…) of all, heaped_at=… of some"
    )


def coarser_than(unit: float) -> str:
    """Return in words to what values would be rounded, if it mattered beside this error.

    >>> coarser_than(2_299.0)
    'to multiples of 2,300 or more'
    """
    return f"to multiples of {float(f'{unit:.2g}'):,g} or more"
