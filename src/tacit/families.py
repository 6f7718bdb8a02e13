"""Parametric families of distributions that `SampleAndAggregate` and other methods fit, with bounded parameters.

A family is a frozen dataclass of plain values: a parameter is given bounds as `[lower, upper]`, or fixed by a number.
"""

from __future__ import annotations

from tacit.models.family_registry import FAMILIES
from tacit.models.family_registry import family as family

# Every registered family becomes a name of this module; `families.pyi` says the same to type checkers.
globals().update(FAMILIES)
__all__ = [*sorted(FAMILIES), "family"]  # pyright: ignore[reportUnsupportedDunderAll]
