"""Laws of noise as a document stores them: plain values -> the law they name.  Data-free."""

from __future__ import annotations

import re
from collections.abc import Mapping
from fractions import Fraction
from functools import lru_cache
from typing import Any, Final, cast

from tacit.base.json_text import shown
from tacit.noise.laws import LAWS, Law, NoiseError
from tacit.noise.selection_law import Selection

LONGEST_SCALE: Final = 2_600
"""Characters of a stored scale, at most: twice what a price may have (`privacy.exact_numbers`), and sensitivities."""
SCALE: Final = re.compile("[1-9][0-9]*(/[1-9][0-9]*)?")


def law_from_dict(words: Mapping[str, Any]) -> Law:
    """Inverse of `Law.to_dict`; NoiseError N02 for an unknown law, N01 for a scale that is none.

    >>> law_from_dict({"law": "discrete Laplace", "scale": "5/2"})
    DiscreteLaplace(scale=Fraction(5, 2))
    """
    name, text = words.get("law"), words.get("scale")
    if not isinstance(name, str) or name not in (*LAWS, Selection.name):
        raise NoiseError(f"noise {shown(str(name))} is not one of {', '.join(LAWS)}.", code="N02", state=None)
    if not isinstance(text, str) or len(text) > LONGEST_SCALE or SCALE.fullmatch(text) is None:
        said = shown(str(text)) if isinstance(text, str) else "it"
        raise NoiseError(f"scale {said} of noise is no fraction.", code="N01", hint='"5/2"', state=None)
    return cast(Any, Selection(1 / Fraction(text))) if name == Selection.name else _stored(name, text)


@lru_cache(maxsize=1024)
def _stored(name: str, text: str) -> Law:
    """A stored law: thousands of documents have the same few."""
    return LAWS[name](Fraction(text))
