"""A note on means that lie at a bound of their column, which wrong units or bounds make.  A function of the release."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from tacit.base.table import format_number

if TYPE_CHECKING:
    from tacit.estimates.estimate import Estimate

NEAR: Final = 0.01
"""Part of the range between both bounds within which a mean is said to lie at one of them."""
NAMED: Final = 3
"""Terms that a note names, at most."""


def at_bounds(estimate: Estimate) -> tuple[str, ...]:
    """Return a sentence for each bound at which means lie; none for Booleans, whose shares may well be near 0 or 1."""
    release = estimate.release
    if type(release.query).__name__ != "Mean" or estimate.matrix is not None:
        return ()
    grids = {part.label: part.grid for part in release.parts}
    ends = [grids.get(block.label) for block in estimate.blocks for _ in block.value]
    found: dict[str, list[str]] = {}
    for term, value, reason, grid in zip(estimate.terms, estimate.values, estimate.reasons, ends, strict=True):
        if reason is not None or grid is None or grid.kind not in ("real", "integer"):
            continue
        near = NEAR * (grid.upper - grid.lower)
        for name, bound in (("lower", grid.lower), ("upper", grid.upper)):
            if abs(value - bound) <= near:
                units = f" {grid.units}" if grid.units else ""
                said = format_number(bound, decimals=0 if float(bound).is_integer() else 2)
                found.setdefault(f"the {name} bound, {said}{units}", []).append(term)
    return tuple(_sentence(terms, bound) for bound, terms in found.items())


def _sentence(terms: list[str], bound: str) -> str:
    named = ", ".join(terms[:NAMED]) + (f" and {len(terms) - NAMED} more" if len(terms) > NAMED else "")
    lie = "lies" if len(terms) == 1 else "lie"
    return f"{named} {lie} within 1% of {bound}: are the units and the bounds right?"
