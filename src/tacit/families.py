"""Families of laws, each with a box for its parameters: what `SampleAndAggregate` and other methods fit.

A family is a frozen dataclass of plain values; `[lower, upper]` is the box of a parameter, a number holds it fixed.
"""

from __future__ import annotations

from tacit.models.family_registry import FAMILIES
from tacit.models.family_registry import family as family

# Every registered family becomes a name of this module; `families.pyi` says the same to type checkers.
globals().update(FAMILIES)
__all__ = [*sorted(FAMILIES), "family"]  # pyright: ignore[reportUnsupportedDunderAll]
