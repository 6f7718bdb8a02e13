"""Arrays of noisy integers, one a cell, for histograms with up to ten million cells.  No data here.

A document holds them as base64 of little-endian integers of the smallest width that nearly all of them fit, and lists
the few others by their indices.  Equal integers give equal texts, and the memory to read a text is a small multiple of
its length.
"""

from __future__ import annotations

import base64
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, TypeAlias, cast, overload

import numpy as np
from numpy.typing import NDArray

Ints: TypeAlias = NDArray[np.int64]

MANY: Final = 4_096
"""More cells than this are packed into an array; up to this many stay tuples of integers, readable as JSON lists."""
BITS: Final = (8, 16, 32, 64)
"""Widths of packed integers, in bits."""
RARE: Final = 64
"""At most one integer in this many is listed by its index because it exceeds the width."""


@dataclass(frozen=True, eq=False, repr=False)
class Packed(Sequence[tuple[int, ...]]):
    """One integer a cell, as a sequence that equals the tuple of one-integer tuples with the same content.

    array: shape (cells,), int64, read-only.

    >>> cells = Packed(np.array([3, -1]))
    >>> cells[1], len(cells), cells == ((3,), (-1,)), list(cells)
    ((-1,), 2, True, [(3,), (-1,)])
    """

    array: Ints

    def __post_init__(self) -> None:
        # a copy, so that nobody who holds the given array can change a release
        own = np.array(self.array, dtype=np.int64).reshape(-1)
        own.setflags(write=False)
        object.__setattr__(self, "array", own)

    def __len__(self) -> int:
        return len(self.array)

    @overload
    def __getitem__(self, index: int) -> tuple[int, ...]: ...

    @overload
    def __getitem__(self, index: slice) -> Packed: ...

    def __getitem__(self, index: int | slice) -> tuple[int, ...] | Packed:
        return Packed(self.array[index]) if isinstance(index, slice) else (int(self.array[index]),)

    def __iter__(self) -> Iterator[tuple[int, ...]]:
        # zip of one list gives tuples of one
        return zip(self.array.tolist(), strict=True)

    def __eq__(self, other: object) -> bool:
        if isinstance(other, Packed):
            return np.array_equal(self.array, other.array)
        if not isinstance(other, tuple):
            return NotImplemented
        cells = cast("tuple[object, ...]", other)
        return len(cells) == len(self) and tuple(self) == cells

    def __hash__(self) -> int:
        return hash(tuple(self))

    def __repr__(self) -> str:
        return f"Packed({len(self):,} integers)"

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        """Return an array of shape (cells, 1), the shape that NumPy gives the equal tuple."""
        return np.array(self.array.reshape(-1, 1), dtype=dtype)

    def to_dict(self) -> dict[str, Any]:
        """Return plain JSON values.

        >>> Packed(np.array([0, 1, -1])).to_dict()
        {'bits': 8, 'text': 'AAH/'}
        """
        bits, outside = _width(self.array)
        fitting = self.array.astype(f"<i{bits // 8}")
        # astype has wrapped them: a fixed value keeps the text canonical
        fitting[outside] = 0
        words: dict[str, Any] = {"bits": bits, "text": base64.b64encode(fitting.tobytes()).decode("ascii")}
        if len(outside):
            pairs = zip(outside.tolist(), self.array[outside].tolist(), strict=True)
            words["others"] = [[place, write_int(k)] for place, k in pairs]
        return words

    @classmethod
    def from_dict(cls, words: Mapping[str, Any]) -> Packed:
        """Read the result of `to_dict`; ValueError or TypeError for anything that `to_dict` would not write."""
        bits, text, others = words["bits"], words["text"], words.get("others", [])
        if bits not in BITS:
            raise ValueError(f"{bits!r} bits")
        raw = base64.b64decode(text, validate=True)
        array = np.frombuffer(raw, dtype=f"<i{bits // 8}").astype(np.int64)
        for place, k in others:
            if isinstance(place, bool) or not isinstance(place, int) or not 0 <= place < len(array):
                raise ValueError("a place beyond the cells")
            array[place] = np.int64(read_int(k))
        # Packing again proves the text canonical: one list of integers has one text, and so one digest and signature.
        made = cls(array)
        again = made.to_dict()
        if any(again.get(key, []) != words.get(key, []) for key in ("bits", "text", "others")):
            raise ValueError("integers that are not packed as they would be")
        return made


def _width(array: Ints) -> tuple[int, NDArray[np.intp]]:
    """Return the smallest width in bits that nearly all integers fit, and the indices of the others."""
    for bits in BITS[:-1]:
        limit = 2 ** (bits - 1)
        outside = np.flatnonzero((array < -limit) | (array >= limit))
        # noise has rare large values, which shall not double the width of all
        if len(outside) * RARE <= len(array):
            return bits, outside
    return BITS[-1], np.zeros(0, dtype=np.intp)


def packed(cells: Sequence[tuple[int, ...]]) -> Sequence[tuple[int, ...]]:
    """Return the cells in the form that a part holds: `Packed` for many cells of one 64-bit integer, else as they are.

    >>> type(packed([(0,)] * 5_000)).__name__, packed(Packed(np.array([7])))
    ('Packed', ((7,),))
    """
    if len(cells) <= MANY:
        return tuple(cells)
    if isinstance(cells, Packed) or not all(len(cell) == 1 and -(2**63) <= cell[0] < 2**63 for cell in cells):
        return cells
    # without a list of all integers, of which there may be millions
    return Packed(np.fromiter((cell[0] for cell in cells), np.int64, len(cells)))


def floats(cells: Sequence[tuple[int, ...]]) -> NDArray[np.float64]:
    """Return the first integer of every cell as floats, shape (cells,).

    >>> floats(((3, 1), (2**70, 1)))
    array([3.00000000e+00, 1.18059162e+21])
    """
    if isinstance(cells, Packed):
        return cells.array.astype(np.float64)
    return np.fromiter((float(cell[0]) for cell in cells), np.float64, len(cells))


def write_int(value: int) -> int | str:
    """Return an integer as a JSON value that every reader keeps exact: text beyond 2**53."""
    return value if abs(value) <= 2**53 else str(value)


def read_int(value: object) -> int:
    """Read the result of `write_int`; TypeError for anything but an integer or text."""
    if isinstance(value, bool) or not isinstance(value, int | str):
        raise TypeError(f"{value!r} is not an integer")
    return int(value)
