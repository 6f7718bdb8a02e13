"""Digests of documents: a saved document holds the SHA-256 of its other fields, and a reader compares them.

A digest finds accidents and careless edits; a forger can compute a new one.  No data here.
"""

from __future__ import annotations

import hashlib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final

from tacit.base.json_text import canonical
from tacit.errors import ReleaseError, TacitError
from tacit.release.document_fields import SEAL

LOST: Final = "lost its digest, which every file of several releases has: it was changed"


def sealed(words: Mapping[str, Any]) -> dict[str, Any]:
    """Return a document with the digest of its fields."""
    return {**words, SEAL: digest_of(words)}


def as_sealed(words: Mapping[str, Any]) -> bool:
    """Whether a document's digest is that of its other fields."""
    try:
        return words[SEAL] == digest_of(words)
    except (ValueError, TypeError, RecursionError):  # numbers beyond the floats; keys that are not text; deep nesting
        return False


def digest_of(words: Mapping[str, Any]) -> str:
    """Return the SHA-256 (hex) of a document's canonical text without its digest."""
    # the canonical text has one spelling a document: layout and order of fields do not matter
    return hashlib.sha256(canonical({key: value for key, value in words.items() if key != SEAL}).encode()).hexdigest()


def body_of(words: Mapping[str, Any]) -> str:
    """Return the text that is signed: the canonical text of several releases without digest and signature."""
    return canonical({key: value for key, value in words.items() if key not in ("digest", "signature")})


def damaged(reason: str) -> ReleaseError:
    """Return the error for a document that is not a valid release, with the reason."""
    return ReleaseError(f"this release is damaged: {reason}.", code="R05", state=None)


def changed(what: str) -> ReleaseError:
    """Return the error for a document that does not match its digest."""
    text = f"{what} was changed after it was saved: what it says is not what its digest is of."
    return ReleaseError(text, code="R05", hint="the file as it was saved", state=None)


@contextmanager
def naming(path: str | Path) -> Generator[None]:
    """Put the file's path in front of the message of every TacitError raised inside."""
    try:
        yield
    except TacitError as problem:
        problem.message = f"{path}: {problem.message}"
        raise
