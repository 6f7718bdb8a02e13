"""Notes on densities of real numbers: what is taken of the values that a column declares, or does not declare.

A smooth curve has no heaps.  Of declared multiples it is of the values spread over the unit around each, and what is
told of shares, quantiles and rows is of the values themselves.  Of declared heaps it is what it would be were they
spread out, and where errors do not allow for them a note says so.
"""

from __future__ import annotations

from tacit.release.parts import Axis, Variable


def recorded_notes(name: str, facts: Variable | Axis, *, allowed: bool = False) -> tuple[str, ...]:
    """Return the notes on a column; none on whole numbers and dates.

    allowed: whether errors allow for declared heaps.

    >>> print(*recorded_notes("fee", Variable("fee", "real", 0, 90, multiple_of=0.5)))
    values of fee are multiples of 0.5, as is declared: for a curve each is spread over the unit around it; shares, \
quantiles and sampled rows are of the values themselves
    >>> print(*recorded_notes("age", Variable("age", "real", 0, 90)))
    values of age are taken to be any real numbers: were they rounded (to whole numbers, say), the share at or below \
one of them may lack those at it, and the mean be half a unit off, which no error includes: Real(…, multiple_of=1)
    """
    if facts.kind != "real":
        return ()
    unit, heap, found = facts.multiple_of, facts.heaped_at, list[str]()
    if unit is not None:
        found.append(
            f"values of {name} are multiples of {unit:,.15g}, as is declared: for a curve each is spread over the unit "
            "around it; shares, quantiles and sampled rows are of the values themselves"
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
