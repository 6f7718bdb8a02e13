"""Which integer encoding a column of numbers is released in, from public facts alone."""

from __future__ import annotations

from dataclasses import replace

from tacit.method.shared import encoding as forms
from tacit.method.shared.encoding import Encoding
from tacit.rows.row_map import RowMap


def choose(
    at: RowMap, noise: forms.Noise, *, neighbors: str, grouped: bool, leaves: bool, fourth: bool = False
) -> Encoding:
    """The form of law 4, from public facts: the plain ones never where a record can enter or leave a cell.

    `leaves`: a row can be absent, its value missing and left out, or a condition not holding for it.
    """
    if fourth:
        return forms.bernstein(at.G, neighbors)
    binary = at.G == 1
    if grouped or neighbors == "add-remove":
        return forms.binary_group(neighbors) if binary else forms.group(at.G, noise, neighbors)
    if leaves:
        return forms.binary_exclusion(noise) if binary else forms.exclusion(at.G, noise)
    return forms.binary_plain() if binary else forms.plain(at.G, noise)


def resized(at: RowMap, G: int, *, fine: bool) -> RowMap:
    """The same column on at most G steps; `fine`: each of few steps is made of several, for values between them."""
    steps = min(at.steps, G)
    factor = G // steps if fine else 1
    made = replace(at, steps=steps, factor=factor)
    return made if at.missing is None else replace(made, missing=(2 * at.missing * made.G + at.G) // (2 * at.G))
