"""A public hash of 64-bit words, for draws within a block that are functions of the block alone.  No secrets here."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

ODD: Final = np.uint64(0x9E3779B97F4A7C15)
"""Multiples of it are far apart: counters times this number are the inputs of `mixed`."""
MIXES: Final = ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB), (31, 1))
"""Shifts and factors of splitmix64."""


def mixed(words: Any) -> Any:
    """Return splitmix64 of an array of unsigned 64-bit words, of NumPy or JAX; products wrap modulo 2**64.

    Source: Steele, Lea & Flood 2014, Fast splittable pseudorandom number generators.

    >>> [f"{one:x}" for one in mixed(np.zeros(1, dtype=np.uint64)).tolist()]
    ['e220a8397b1dcdaf']
    """
    made = words + ODD
    for shift, factor in MIXES:
        made = (made ^ (made >> np.uint64(shift))) * np.uint64(factor)
    return made
