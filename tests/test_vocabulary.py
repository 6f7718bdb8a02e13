"""The vocabulary lists each term once, every term is in use, and the texts avoid words that only insiders know."""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "reference" / "vocabulary.md"
TEXTS = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").rglob("*.md"))]
PRIVATE = (
    r"seats?|zygotes?|telling|told (?:by|from|to be)|bends?|bent|aims?|aimed|aiming"
    r"|rides? (?:free|along)|what leaves|leaves the house|the door|leaning|behind the wall"
)
"""Words for which the field has its own: places, fork server, distinguishing, kinks, pilot, at no further cost."""


def terms() -> list[str]:
    """Return the terms of the page, in its order: the lines before a definition."""
    return re.findall(r"^(\S.*)\n:   ", PAGE.read_text(encoding="utf-8"), re.MULTILINE)


@cache
def used() -> str:
    """Return all texts but the page, and all of the source."""
    paths = [*(path for path in TEXTS if path != PAGE), *sorted((ROOT / "src" / "tacit").rglob("*.py"))]
    return "\n".join(path.read_text(encoding="utf-8") for path in paths)


def test_every_term_is_listed_once_in_alphabetical_order() -> None:
    listed = terms()
    assert len(listed) > 60
    assert listed == sorted(set(listed), key=str.lower)


@pytest.mark.parametrize("term", terms())
def test_every_term_is_in_use(term: str) -> None:
    stem = re.escape(term).replace(r"\ ", r"\s+")
    assert re.search(rf"\b{stem}(?:e?s)?\b", used(), re.IGNORECASE)


@pytest.mark.parametrize("term", terms())
def test_a_definition_is_at_most_three_sentences(term: str) -> None:
    page = PAGE.read_text(encoding="utf-8")
    found = re.search(rf"^{re.escape(term)}\n:   ((?:.+\n)+)", page, re.MULTILINE)
    assert found is not None
    assert found[1].rstrip().endswith(".")
    assert len(re.findall(r"\.(?:\s|$)", found[1])) <= 3


@pytest.mark.parametrize("path", TEXTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_texts_are_free_of_private_words(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    found = [text[m.start() : m.end() + 30] for m in re.finditer(rf"\b(?:{PRIVATE})\b", text, re.IGNORECASE)]
    assert found == []
