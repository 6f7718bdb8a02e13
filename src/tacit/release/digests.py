"""Digests of documents: what is saved says by a hash what all of it says, and a reader holds it against that.

They find accidents and careless edits; whoever forges with care makes the digest anew.  No data here.
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
    """A document with the digest of what it says."""
    return {**words, SEAL: digest_of(words)}


def as_sealed(words: Mapping[str, Any]) -> bool:
    """Whether a document's digest is that of what it says."""
    try:
        return words[SEAL] == digest_of(words)
    except (ValueError, TypeError, RecursionError):  # a number beyond all floats; keys that are no text; lists in lists
        return False


def digest_of(words: Mapping[str, Any]) -> str:
    """SHA-256 (hex) of a document, but for the digest itself."""
    return hashlib.sha256(canonical({key: value for key, value in words.items() if key != SEAL}).encode()).hexdigest()


def body_of(words: Mapping[str, Any]) -> str:
    """What a signature is of: the canonical text of a document of several releases, without digest and signature."""
    return canonical({key: value for key, value in words.items() if key not in ("digest", "signature")})


def damaged(reason: str) -> ReleaseError:
    """The error of a document that is no release, and why."""
    return ReleaseError(f"this release is damaged: {reason}.", code="R05", state=None)


def changed(what: str) -> ReleaseError:
    """The error of a document that is not what its digest is of."""
    text = f"{what} was changed after it was saved: what it says is not what its digest is of."
    return ReleaseError(text, code="R05", hint="the file as it was saved", state=None)


@contextmanager
def naming(path: str | Path) -> Generator[None]:
    """Errors say which file they are about."""
    try:
        yield
    except TacitError as problem:
        problem.message = f"{path}: {problem.message}"
        raise
