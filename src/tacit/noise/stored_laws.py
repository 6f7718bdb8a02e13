"""Read noise laws from the plain values that a document stores.  No data here."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, cast

from tacit.base.json_text import shown
from tacit.noise.averaged_laplace import MOST_DRAWS, AveragedLaplace
from tacit.noise.laws import LAWS, Law, NoiseError
from tacit.noise.permute_and_flip import SELECTS
from tacit.noise.product import MOST_DIMENSIONS as MOST_OF_COLUMNS
from tacit.noise.product import ProductLaplace
from tacit.noise.spherical import MOST_DIMENSIONS, SphericalLaplace

LONGEST_SCALE: Final = 2_600
"""Largest number of characters of a stored scale: twice what a price may have, and room for a sensitivity."""
SELECTIONS: Final = {law.name: law for law in SELECTS}
VECTORS: Final = {SphericalLaplace.name: MOST_DIMENSIONS, ProductLaplace.name: MOST_OF_COLUMNS}
"""Laws of noise that is one vector, by name, and its most dimensions."""
SCALE: Final = re.compile("[1-9][0-9]*(/[1-9][0-9]*)?")


def law_from_dict(words: Mapping[str, Any]) -> Law:
    """Return the law that `Law.to_dict` wrote; NoiseError N02 for an unknown law, N01 for a malformed scale.

    >>> law_from_dict({"law": "discrete Laplace", "scale": "5/2"})
    DiscreteLaplace(scale=Fraction(5, 2))
    """
    name, text = words.get("law"), words.get("scale")
    if not isinstance(name, str) or name not in (*LAWS, AveragedLaplace.name, *VECTORS, *SELECTIONS):
        known = ", ".join((*LAWS, AveragedLaplace.name, *VECTORS))
        raise NoiseError(f"noise {shown(str(name))} is not one of {known}.", code="N02", state=None)
    # the length first: a document from elsewhere must not make an integer of a million digits
    if not isinstance(text, str) or len(text) > LONGEST_SCALE or SCALE.fullmatch(text) is None:
        said = shown(str(text)) if isinstance(text, str) else "it"
        raise NoiseError(f"scale {said} of noise is not a fraction.", code="N01", hint='"5/2"', state=None)
    for word, laws in (("dimension", VECTORS), ("size", (ProductLaplace.name,)), ("draws", (AveragedLaplace.name,))):
        if word in words and name not in laws:
            raise NoiseError(f"noise of {name} has no {word}.", code="N01", hint="leave it out", state=None)
    if name in VECTORS:
        return _vector(name, text, words.get("dimension"), words.get("size"))
    if name == AveragedLaplace.name:
        return _averaged(text, words.get("draws"))
    # documents store the scale of every law, and selections are made of their rate, the inverse
    return cast(Any, SELECTIONS[name](1 / Fraction(text))) if name in SELECTIONS else _stored(name, text)


@lru_cache(maxsize=1024)
def _stored(name: str, text: str) -> Law:
    """Return a law, cached because thousands of documents store the same few."""
    return LAWS[name](Fraction(text))


def _averaged(text: str, draws: Any) -> Law:
    """Return the law of a sum of so many draws; NoiseError N01 for a number that is none."""
    if type(draws) is not int or not 2 <= draws <= MOST_DRAWS:
        said = f"the draws of noise are no whole number from 2 to {MOST_DRAWS}."
        raise NoiseError(said, code="N01", hint="10", state=None)
    return AveragedLaplace(Fraction(text), draws)


def _vector(name: str, text: str, dimension: Any, size: Any) -> Law:
    """Return a law of noise that is one vector, in so many dimensions; size: of those of one column."""
    if type(dimension) is not int or not 1 <= dimension <= VECTORS[name]:
        text = f"the dimension of noise is no whole number from 1 to {VECTORS[name]:,}."
        raise NoiseError(text, code="N01", hint="3", state=None)
    if name == SphericalLaplace.name:
        return _spherical(text, dimension)
    if type(size) is not int or not 1 <= size <= dimension:
        text = f"the size of noise is no whole number from 1 to its dimension, {dimension:,}."
        raise NoiseError(text, code="N01", hint="2", state=None)
    return _product(text, size, dimension)


@lru_cache(maxsize=1024)
def _spherical(text: str, dimension: int) -> Law:
    return SphericalLaplace(Fraction(text), dimension)


@lru_cache(maxsize=1024)
def _product(text: str, size: int, dimension: int) -> Law:
    return ProductLaplace(Fraction(text), size, dimension)
