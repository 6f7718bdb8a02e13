"""Several words in one sentence."""

from __future__ import annotations

from collections.abc import Sequence


def listed(words: Sequence[str], joint: str = "and") -> str:
    """Return words with commas between them, and `joint` before the last.

    >>> listed(["a", "b", "c"]), listed(["a", "b"], "or"), listed(["a"]), listed([])
    ('a, b and c', 'a or b', 'a', '')
    """
    return f" {joint} ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
