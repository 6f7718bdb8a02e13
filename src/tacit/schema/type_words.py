"""Names of an engine's types without the values that some of them list.  No data here."""

from __future__ import annotations

import re
from typing import Final

LISTS: Final = re.compile(r"\b(enum|categorical|dictionary|category)\s*\(.*", re.IGNORECASE | re.DOTALL)
"""Matches names of types that list their values in brackets."""


def without_values(words: str) -> str:
    """Return a type's name without values listed in it, as in ENUM('a', 'b'): they come from rows, and are not public.

    >>> without_values("STRUCT(a ENUM('x', 'y'), b INTEGER)"), without_values("DECIMAL(18,3)")
    ('STRUCT(a ENUM', 'DECIMAL(18,3)')
    """
    found = LISTS.search(words)
    return words if found is None else f"{words[: found.start()]}{found[1]}"
