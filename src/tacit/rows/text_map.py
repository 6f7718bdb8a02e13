"""Text maps: the level, if any, that a cell of a column of text belongs to.  Public rules; no data here.

Engines differ in how they trim, fold and compare text.  They are only asked to group cells by their exact text; what
is done with a text is done here, in Python, so that it is the same on every engine.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final

REPLACED: Final = "\ufffd"
"""Stands for a character that could move the cursor, end a line or turn the direction of writing."""
_CONTROLS: Final = (
    *range(0x20),
    *range(0x7F, 0xA0),
    0x2028,
    0x2029,
    0x061C,
    0x200E,
    0x200F,
    *range(0x202A, 0x202F),
    *range(0x2066, 0x206A),
)
_TABLE: Final = dict.fromkeys(_CONTROLS, REPLACED)


@dataclass(frozen=True)
class TextMap:
    r"""The map from a cell to a level: a text of at most `max_length` code points; None where it has none.

    In this order: a cell that is no valid Unicode text is missing; with `trim`, white space at both ends is left out
    and each run of it inside becomes a space; control characters become U+FFFD; with `casefold`, upper and lower case
    are folded; an empty text is missing; a longer one is cut.  A missing cell stands for `missing`, as if that were its
    text, or has no level where that is None.

    >>> at = TextMap("d", "d", 8, trim=True, casefold=True, missing=None)
    >>> at.level("  Asthma\n bronchiale "), at.level("   "), at.level(None), at.level(b"GRIPPE")
    ('asthma b', None, None, 'grippe')
    """

    column: str
    """Name in the schema."""
    source: str
    """Name in the table."""
    max_length: int
    trim: bool
    casefold: bool
    missing: str | None

    def level(self, cell: Any) -> str | None:
        """Return the level of one cell, a text or its bytes in UTF-8."""
        found = self._of_text(_text(cell))
        return found if found is not None or self.missing is None else self._of_text(self.missing)

    def _of_text(self, text: str | None) -> str | None:
        if text is None:
            return None
        if self.trim:
            # before control characters are replaced: line ends and tabs are white space
            text = " ".join(text.split())
        text = text.translate(_TABLE)
        if self.casefold:
            text = text.casefold()
        text = text[: self.max_length]
        # a cut may leave a space at the end
        text = text.rstrip() if self.trim else text
        return text or None


def _text(cell: Any) -> str | None:
    """Return a cell as text; None for anything that is no text of valid Unicode."""
    if isinstance(cell, bytes | bytearray):
        try:
            return bytes(cell).decode("utf-8")
        except UnicodeDecodeError:
            return None
    if not isinstance(cell, str):
        return None
    try:
        cell.encode("utf-8")
    except UnicodeEncodeError:
        return None
    return str(cell)
