"""Notes on densities of real numbers: what is taken of the values that a column declares, or does not declare.

A smooth curve has no heaps.  Of declared multiples it is of the values spread over the unit around each, and what is
told of shares, quantiles and rows is of the values themselves.  Of declared heaps it is what it would be were they
spread out, and where errors do not allow for them a note says so.
"""

from __future__ import annotations

from typing import Final

from tacit.release.parts import Axis, Variable

WIDER: Final = 1.5
"""Scale of a curve, in distances of heaps, from which heaps do not show in it: cells of a kernel are as wide."""


def recorded_as(name: str, multiple_of: float | None) -> str:
    """Return the name of a column in words of what is estimated: of its values as they are declared to be recorded.

    A declaration is not tested by any release.  Were it false, what is told would be of the nearest multiples.

    >>> recorded_as("fee", 0.5), recorded_as("fee", None)
    ('fee (rounded to multiples of 0.5, as is declared)', 'fee')
    """
    return f"{name} (rounded to multiples of {multiple_of:,.15g}, as is declared)" if multiple_of else name


def hidden_by_heaps(name: str, facts: Variable | Axis, scale: float, instead: str) -> str | None:
    """Return why limits of a density are not told where heaps are declared, or None.

    scale: on which the curve resolves the density, in the column's units: heaps that are further apart than a fraction
    of it are bumps, or counted unevenly by cells.  instead: what would not resolve them.

    >>> hidden_by_heaps("fee", Variable("fee", "real", 0, 90, heaped_at=5), 3.0, "a wider kernel")
    'any share of fee may be at multiples of 5, which limits of its density are not told from: a wider kernel'
    >>> hidden_by_heaps("fee", Variable("fee", "real", 0, 90, heaped_at=5), 8.0, "a wider kernel")
    """
    heap = facts.heaped_at
    if heap is None or scale >= WIDER * heap:
        return None
    words = f"any share of {name} may be at multiples of {heap:,.15g}, which limits of its density are not told from"
    return f"{words}: {instead}"


def recorded_notes(name: str, facts: Variable | Axis, *, allowed: bool = False) -> tuple[str, ...]:
    """Return the notes on a column; none on whole numbers and dates.

    allowed: whether errors allow for declared heaps.

    >>> print(*recorded_notes("fee", Variable("fee", "real", 0, 90, multiple_of=0.5)))
    values of fee are taken to be multiples of 0.5, as is declared, others count as the nearest: for a curve each is \
spread over the unit around it; shares, quantiles, sampled rows are of the multiples
    >>> print(*recorded_notes("age", Variable("age", "real", 0, 90)))
    values of age are taken to be any real numbers: were they rounded (to whole numbers, say), the share at or below \
one of them may lack those at it, and the mean be half a unit off, which no error includes: Real(…, multiple_of=1)
    """
    if facts.kind != "real":
        return ()
    unit, heap, found = facts.multiple_of, facts.heaped_at, list[str]()
    if unit is not None:
        found.append(
            f"values of {name} are taken to be multiples of {unit:,.15g}, as is declared, others count as the nearest: "
            "for a curve each is spread over the unit around it; shares, quantiles, sampled rows are of the multiples"
        )
    if heap is not None:
        declared = f"any share of {name} may be at multiples of {heap:,.15g}, as is declared"
        curve = (
            ": in the curve and its limits these are bumps, or spread out, which what was rounded has not; of the "
            "curve the share at or below a value near one of them may be off by as many"
        )
        found.append(declared + (", and is in the errors" if allowed else curve))
    if not found:
        found.append(
            f"values of {name} are taken to be any real numbers: were they rounded (to whole numbers, say), the share "
            "at or below one of them may lack those at it, and the mean be half a unit off, which no error includes: "
            "Real(…, multiple_of=1)"
        )
    return tuple(found)
