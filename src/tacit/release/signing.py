"""Signatures of answers: Ed25519 [RFC 8032] over the canonical text of a document.  Shared by both sides; sees no rows.

A study lists the public key of a party, "ed25519:" and the base64 of its SubjectPublicKeyInfo [RFC 8410].  The private
key is a PKCS #8 file that only its owner reads; it is opened where an answer is signed, and held nowhere.  The same
text has the same signature always, so that an answer that is handed out again is the same file again.
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
HEAD: Final = bytes.fromhex("302a300506032b6570032100")
"""What comes before the 32 bytes of a public key [RFC 8410, 10.1]."""
SUFFIX: Final = ".private"
PRIME: Final = 2**255 - 19
D: Final = -121665 * pow(121666, -1, PRIME) % PRIME
"""Of the curve [RFC 8032, 5.1]."""


@dataclass(frozen=True)
class Signer:
    """A private key, for as long as it is needed: its public half, and what it signs."""

    public: str
    key: Any = field(repr=False, compare=False)

    def sign(self, text: str) -> str:
        """The signature of a text (UTF-8)."""
        return KIND + base64.b64encode(self.key.sign(text.encode())).decode("ascii")


def is_public(text: str) -> bool:
    """Whether a text is an Ed25519 public key as studies list it; needs no library.

    In its one spelling, and of no small order: by a key such as the identity anybody can sign anything [RFC 8032,
    5.1.7, 8.4].  By bytes that are no point of the curve nobody can sign: a key of a party that has none yet.

    >>> is_public("ed25519:MCowBQYDK2VwAyEA11qYAYKxCrfVS/7TyWQHOg7hcvPapiMlrwIaaPcHURo="), is_public("ed25519:AAAA")
    (True, False)
    """
    found = _decoded(text)
    if found is None or not found.startswith(HEAD) or len(found) != len(HEAD) + 32:
        return False
    return text == KIND + base64.b64encode(found).decode("ascii") and not _is_small(found[len(HEAD) :])


def _is_small(raw: bytes) -> bool:
    """Whether 32 bytes are a point of order 1, 2, 4 or 8, or beyond the field, where such points have more spellings.

    Points of small order have y = 1, -1 or 0, or, of order 8, d y**4 + 2 y**2 = 1: twice such a point has order 4, and
    so y = 0, which is where x**2 = -y**2; put into the equation of the curve, -x**2 + y**2 = 1 + d x**2 y**2.
    """
    y = int.from_bytes(raw, "little") & (1 << 255) - 1
    square = y * y % PRIME
    return y >= PRIME or y in (0, 1, PRIME - 1) or (D * square * square + 2 * square - 1) % PRIME == 0


def verified(public: str, signature: str, text: str) -> bool:
    """Whether the signature is that of the text by the public key's other half; StudyError C27 without the library."""
    library = _library()
    mark = _decoded(signature)
    if mark is None:
        return False
    if not is_public(public):
        return False
    key: Any = library.Ed25519PublicKey.from_public_bytes((_decoded(public) or b"")[len(HEAD) :])
    try:
        key.verify(mark, text.encode())
    except _invalid():
        return False
    return True


def new_key(path: str | Path) -> str:
    """Make a private key in a new file that its owner alone can read (mode 600) -> its public half.

    FileError C28 for a file that is there already or cannot be made; StudyError C27 without the library.
    """
    from cryptography.hazmat.primitives import serialization as forms

    library, target = _library(), Path(path)
    made: Any = library.Ed25519PrivateKey.generate()
    words = made.private_bytes(forms.Encoding.PEM, forms.PrivateFormat.PKCS8, forms.NoEncryption())
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
        os.fsync(file.fileno())
    return _public(made)


def signer(path: str | Path) -> Signer:
    """The private key of a file.

    FileError C29 for a file that cannot be read, that others can read, or that holds no Ed25519 private key without a
    password; StudyError C27 without the library.
    """
    library, place = _library(), Path(path)
    hint = "tacit keys new st-mary"
    try:
        if stat.S_IMODE(place.stat().st_mode) & 0o077:
            text = f"{place} is a private key that others than its owner may read or write."
            raise FileError(text, code="C29", hint=f"chmod 600 {place}; a new key, if others had access")
        words = place.read_bytes()
    except OSError as problem:
        raise FileError(f"{place} cannot be read: {problem.strerror}.", code="C29", hint=hint) from None
    from cryptography.hazmat.primitives import serialization as forms

    try:
        key: Any = forms.load_pem_private_key(words, password=None)
    except Exception:  # whatever it says of a private file is not passed on
        key = None
    if not isinstance(key, library.Ed25519PrivateKey):
        raise FileError(f"{place} holds no Ed25519 private key.", code="C29", hint=hint) from None
    return Signer(_public(key), key)


def _public(key: Any) -> str:
    return KIND + base64.b64encode(HEAD + key.public_key().public_bytes_raw()).decode("ascii")


def _decoded(text: str) -> bytes | None:
    """What stands behind "ed25519:", or None where that is no base64."""
    if not text.startswith(KIND):
        return None
    try:
        return base64.b64decode(text.removeprefix(KIND), validate=True)
    except (binascii.Error, ValueError):
        return None


def _library() -> Any:
    """`cryptography`, which is needed where keys are used, and nowhere else."""
    try:
        from cryptography.hazmat.primitives.asymmetric import ed25519
    except ImportError:
        text = "signatures need the package cryptography, which is not installed."
        raise StudyError(text, code="C27", hint='pip install "tacit[sign]"') from None
    return ed25519


def _invalid() -> Any:
    from cryptography.exceptions import InvalidSignature

    return InvalidSignature
