"""Choose the integer encoding of a column of numbers, from public facts alone."""

from __future__ import annotations

from dataclasses import replace

from tacit.method.shared import encoding as forms
from tacit.method.shared.encoding import Encoding
from tacit.rows.row_map import RowMap


def choose(
    at: RowMap, noise: forms.Noise, *, neighbors: str, grouped: bool, leaves: bool, fourth: bool = False
) -> Encoding:
    """Return the encoding of a column; the plain ones never where a row can enter or leave a cell (law 4).

    grouped: whether there are several cells.  leaves: whether a row can be absent, its value being missing and left
    out, or a condition not holding for it.  fourth: whether the first four moments are needed, not two.
    """
    if fourth:
        return forms.bernstein(at.G, neighbors)
    binary = at.G == 1  # means of persons' Booleans lie between 0 and 1, on a finer grid: they are numbers
    if grouped or neighbors == "add-remove":
        return forms.binary_group(neighbors) if binary else forms.group(at.G, noise, neighbors)
    # from here on one cell under replace-one: a row stays in it, or `leaves` it for none
    if leaves:
        return forms.binary_exclusion(noise) if binary else forms.exclusion(at.G, noise)
    return forms.binary_plain() if binary else forms.plain(at.G, noise)


def resized(at: RowMap, G: int, *, fine: bool) -> RowMap:
    """Return the same column on at most G steps; fine: each of few steps is divided, for values between them."""
    steps = min(at.steps, G)
    factor = G // steps if fine else 1
    made = replace(at, steps=steps, factor=factor)
    # the place of a missing value on the new grid: missing * made.G / at.G to the nearest step, in integers
    return made if at.missing is None else replace(made, missing=(2 * at.missing * made.G + at.G) // (2 * at.G))
