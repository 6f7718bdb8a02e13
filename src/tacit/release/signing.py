"""Ed25519 signatures [RFC 8032] over the canonical text of answers to a study.  Both sides import this; no rows here.

A study lists the public key of a party as "ed25519:" and the base64 of its SubjectPublicKeyInfo [RFC 8410].  The
private key is a PKCS #8 file that only its owner can read; it is read when an answer is signed and not stored.  Ed25519
is deterministic: the same text always has the same signature, so an answer that is written again is the same file.
"""

from __future__ import annotations

import base64
import binascii
import os
import stat
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tacit.errors import FileError, StudyError

KIND: Final = "ed25519:"
"""Prefix of public keys and signatures."""
HEAD: Final = bytes.fromhex("302a300506032b6570032100")
"""The DER header before the 32 bytes of a public key [RFC 8410, 10.1]."""
SUFFIX: Final = ".private"
"""File name extension of private keys."""
PRIME: Final = 2**255 - 19
"""The order of the curve's field [RFC 8032, 5.1]."""
D: Final = -121665 * pow(121666, -1, PRIME) % PRIME
"""The constant d of the curve -x**2 + y**2 = 1 + d x**2 y**2 [RFC 8032, 5.1]."""


@dataclass(frozen=True)
class Signer:
    """A private key in memory with its public half, as text; signs texts."""

    public: str
    key: Any = field(repr=False, compare=False)

    def sign(self, text: str) -> str:
        """Return the signature of a text (of its UTF-8 bytes)."""
        return KIND + base64.b64encode(self.key.sign(text.encode())).decode("ascii")


def is_public(text: str) -> bool:
    """Return whether a text is an Ed25519 public key as studies list it; needs no library.

    The text must be the key's canonical spelling, and the key not of small order: for a key such as the identity,
    anybody can make a valid signature of any text [RFC 8032, 5.1.7, 8.4].  Bytes that are no point of the curve are
    accepted, since nobody can sign for them; they can stand for a party that has no key yet.

    >>> is_public("ed25519:MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="), is_public("ed25519:AAAA")
    (True, False)
    """
    found = _decoded(text)
    if found is None or not found.startswith(HEAD) or len(found) != len(HEAD) + 32:
        return False
    return text == KIND + base64.b64encode(found).decode("ascii") and not _is_small(found[len(HEAD) :])


def _is_small(raw: bytes) -> bool:
    """Return whether 32 bytes are a point of order 1, 2, 4 or 8, or not reduced, where such points have more spellings.

    Points of small order have y = 1, -1 or 0, or, of order 8, d y**4 + 2 y**2 = 1: twice such a point has order 4, and
    so y = 0, which is where x**2 = -y**2; put into the equation of the curve, -x**2 + y**2 = 1 + d x**2 y**2.
    """
    # the top bit is the sign of x, no part of y
    y = int.from_bytes(raw, "little") & (1 << 255) - 1
    square = y * y % PRIME
    # the equation of the docstring modulo the prime, without computing x
    return y >= PRIME or y in (0, 1, PRIME - 1) or (D * square * square + 2 * square - 1) % PRIME == 0


def verified(public: str, signature: str, text: str) -> bool:
    """Return whether the private half of `public` signed the text so; StudyError C27 without the library."""
    library = _library()
    mark = _decoded(signature)
    if mark is None:
        return False
    # also here, since a key may come from a study that was not read by `parties_of`
    if not is_public(public):
        return False
    key: Any = library.Ed25519PublicKey.from_public_bytes((_decoded(public) or b"")[len(HEAD) :])
    try:
        key.verify(mark, text.encode())
    except _invalid():
        return False
    return True


def new_key(path: str | Path) -> str:
    """Make a private key in a new file that only its owner can read (mode 600); return its public half.

    FileError C28 for a file that exists or cannot be made; StudyError C27 without the library.
    """
    from cryptography.hazmat.primitives import serialization as forms

    library, target = _library(), Path(path)
    made: Any = library.Ed25519PrivateKey.generate()
    words = made.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
    # O_EXCL makes the file or fails, in one step: no key is overwritten, and the mode is set before the key is written.
    try:
        handle = os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        text = f"{target} is there already, and a key is never written over."
        raise FileError(text, code="C28", hint="another name, or `tacit keys show` for its public half") from None
    except OSError as problem:
        text = f"{target} cannot be made: {problem.strerror}."
        raise FileError(text, code="C28", hint="another place") from None
    with os.fdopen(handle, "wb") as file:
        file.write(words)
        file.flush()
        # on disk before its public half goes into a study
        os.fsync(file.fileno())
    return _public(made)


def signer(path: str | Path) -> Signer:
    """Return the private key that a file holds.

    FileError C29 for a file that cannot be read, that others can read, or that holds no Ed25519 private key without a
    password; StudyError C27 without the library.
    """
    library, place = _library(), Path(path)
    hint = "tacit keys new st-mary"
    try:
        # no permission for group or others
        if stat.S_IMODE(place.stat().st_mode) & 0o077:
            text = f"{place} is a private key that others than its owner may read or write."
            raise FileError(text, code="C29", hint=f"chmod 600 {place}; a new key, if others had access")
        words = place.read_bytes()
    except OSError as problem:
        raise FileError(f"{place} cannot be read: {problem.strerror}.", code="C29", hint=hint) from None
    from cryptography.hazmat.primitives import serialization as forms

    try:
        key: Any = forms.load_pem_private_key(words, password=None)
    except Exception:  # its message may quote the private file
        key = None
    if not isinstance(key, library.Ed25519PrivateKey):
        raise FileError(f"{place} holds no Ed25519 private key.", code="C29", hint=hint) from None
    return Signer(_public(key), key)


def _public(key: Any) -> str:
    """Return the public half of a private key, as studies list it."""
    return KIND + base64.b64encode(HEAD + key.public_key().public_bytes_raw()).decode("ascii")


def _decoded(text: str) -> bytes | None:
    """Return the bytes encoded after the prefix "ed25519:"; None without the prefix or for invalid base64."""
    if not text.startswith(KIND):
        return None
    try:
        return base64.b64decode(text.removeprefix(KIND), validate=True)
    except (binascii.Error, ValueError):
        return None


def _library() -> Any:
    """Return the Ed25519 module of `cryptography`, an optional package; StudyError C27 if it is not installed."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        text = "signatures need the package cryptography, which is not installed."
        raise StudyError(text, code="C27", hint='pip install "tacit[sign]"') from None
    return ed25519


def _invalid() -> Any:
    """Return the exception class that the library raises for a wrong signature."""
    from cryptography.exceptions import InvalidSignature

    return InvalidSignature
