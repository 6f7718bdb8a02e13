"""Yes and no in other languages: what would read a column of them that is declared a Boolean.  INSIDE the wall.

A Boolean is read from English words and from digits alone: what "da" or "no" means depends on a language that nobody
has declared, and a guess that is wrong would turn answers round.  A `Category` reads any two texts as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

PAIRS: Final = (
    ("nein", "ja"),
    ("non", "oui"),
    ("no", "sí"),
    ("no", "si"),
    ("no", "sì"),
    ("não", "sim"),
    ("nao", "sim"),
    ("nee", "ja"),
    ("nej", "ja"),
    ("nei", "ja"),
    ("nie", "tak"),
    ("ne", "ano"),
    ("ne", "da"),
    ("nu", "da"),
    ("нет", "да"),
    ("ei", "kyllä"),
    ("nem", "igen"),
    ("hayır", "evet"),
    ("όχι", "ναι"),
    ("いいえ", "はい"),
    ("否", "是"),
    ("아니요", "예"),
    ("falsch", "wahr"),
    ("faux", "vrai"),
    ("falso", "verdadero"),
    ("falso", "vero"),
)
"""No and yes, or false and true, in small letters; German, French, Spanish, Italian, Portuguese and others."""


def levels_of(texts: Sequence[str]) -> tuple[str, str] | None:
    """Return the texts of no and of yes, as they are written, of which some cannot be read; None where unknown.

    texts: distinct ones that are no Boolean.  Where "no" is read, it is not among them.

    >>> levels_of(["Ja", "Nein"]), levels_of(["sí"]), levels_of(["m", "f", "x"]), levels_of(["non"])
    (('Nein', 'Ja'), ('no', 'sí'), None, ('non', 'oui'))
    """
    small = {text.casefold(): text for text in texts}
    for no, yes in PAIRS:
        if set(small) <= {no, yes}:
            # the other one as the same hand would write it
            like = next(iter(texts))
            return small.get(no, _like(no, like)), small.get(yes, _like(yes, like))
    return None


def _like(word: str, other: str) -> str:
    """Return a word with the capitals of another."""
    return word.upper() if other.isupper() else word.title() if other.istitle() else word


def answer_advice(name: str, texts: Sequence[str]) -> str | None:
    """Return the line of [schema] that would read a column of such words, None where unknown.

    >>> answer_advice("ok", ["ja", "nein"])
    'ok = { type = "Category", levels = ["nein", "ja"] } in [schema]'
    """
    found = levels_of(texts) if texts else None
    if found is None:
        return None
    key = name if name.isidentifier() and name.isascii() else f'"{name}"'
    return f'{key} = {{ type = "Category", levels = ["{found[0]}", "{found[1]}"] }} in [schema]'
