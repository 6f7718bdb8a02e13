"""Whether the integers of a release can be what some table and its noise gave.  Public facts and released numbers only.

A hand that edits a file, or a program that writes one, may leave integers that no table has: counts far below 0, more
rows than there are.  Clipped at 0 they would be an estimate like others.  Noise exceeds FAR of its standard deviations
less often than once in 10**14 draws: of Laplace laws, whose tails are the widest here, exp(-FAR sqrt(2)) = 4e-16.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from tacit.release.document import Released
from tacit.release.packing import Packed
from tacit.release.parts import Part

FAR: Final = 25.0
"""Standard deviations of noise."""
COUNTS: Final = ("count", "histogram", "classes")
"""Forms to which a row adds 1 at most."""
NOT_NEGATIVE: Final = (*COUNTS, "group", "binary-group", "bernstein")
"""Forms to whose integers no row adds less than 0."""
ADDED_UP: Final = (*NOT_NEGATIVE, "plain", "binary-plain", "exclusion", "exclusion-2", "binary-exclusion", "total")
"""Forms to whose integers a row adds no more than their l1 sensitivity: an absent or extreme row differs by that."""


def impossible(release: Released) -> str | None:
    """Return why no table and noise give a release's integers, in words, or None."""
    for part in release.parts:
        if part.form not in ADDED_UP or not part.integers:
            continue
        least, most = _ends(part)
        noise = FAR * part.law.variance() ** 0.5
        if part.form in NOT_NEGATIVE and least < -noise:
            return f"{_named(part)} is {least:,.0f}, further below 0 than noise goes"
        # where persons are counted, a person may add to several cells, but to each at most as much
        if release.rows is None:
            continue
        whole = release.rows * (part.parameters.get("share", 1) if part.form in COUNTS else part.l1)
        if max(most, -least) > whole + noise:
            return (
                f"{_named(part)} is {most if most > -least else least:,.0f}, more than {release.rows:,} rows add up to"
            )
    return None


def _ends(part: Part) -> tuple[float, float]:
    """Return the least and the largest integer of a part."""
    if isinstance(part.integers, Packed):
        return float(part.integers.array.min()), float(part.integers.array.max())
    cells = np.array([[float(k) for k in cell] for cell in part.integers])
    return float(cells.min(initial=0.0)), float(cells.max(initial=0.0))


def _named(part: Part) -> str:
    return f"an integer of {part.label!r}" if part.label else "a number of rows"
