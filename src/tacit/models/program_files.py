"""Files of compiled programs, and index entries that lead to them.  No data here.

A file is read only where its folder and it belong to this user and are closed to writers other than the owner, since
what it holds is run.  Files are written whole or not at all, and those least recently used make room.
"""

from __future__ import annotations

import hashlib
import os
import stat
import sys
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Final

PLACE: Final = "TACIT_CACHE"
OFF: Final = ("off", "0", "no", "false")
MOST: Final = 128
"""Files kept, programs and index entries; those that were not used for the longest time make room."""
PRIVATE: Final = 0o700
OTHERS_WRITE: Final = 0o022


def folder() -> Path | None:
    """Return the folder of compiled programs, which may not be there yet; None where nothing is kept."""
    said = os.environ.get(PLACE, "").strip()
    if said.lower() in OFF:
        return None
    if said:
        return Path(said)
    home = Path.home()
    if sys.platform == "darwin":
        return home / "Library" / "Caches" / "tacit" / "programs"
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or home / "AppData" / "Local") / "tacit" / "programs"
    return Path(os.environ.get("XDG_CACHE_HOME") or home / ".cache") / "tacit" / "programs"


def read(place: Path, head: bytes) -> bytes | None:
    """Return what follows `head` and the digest in a file, and mark it as used; None where it may not be trusted."""
    try:
        if not _closed(os.stat(place.parent)):
            return None
        handle = os.open(place, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0))
        with os.fdopen(handle, "rb") as file:
            if not _closed(os.fstat(file.fileno())):
                return None
            content = file.read()
        first = len(head) + 32
        if content[:first] != head + hashlib.sha256(content[first:]).digest():
            return None
        os.utime(place)  # it was used: others make room before it
        return content[first:]
    except OSError:
        return None


def write(place: Path, head: bytes, body: bytes) -> None:
    """Write a file, whole or not at all; nothing where the folder is not this user's alone."""
    with suppress(OSError):
        place.parent.mkdir(mode=PRIVATE, parents=True, exist_ok=True)
        if not _closed(os.stat(place.parent)):
            return
        # made with mode 600 in the same folder, then renamed
        handle, temporary = tempfile.mkstemp(dir=place.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(head + hashlib.sha256(body).digest() + body)
            os.replace(temporary, place)
        except BaseException:
            os.unlink(temporary)
            raise
        _make_room(place.parent)


def _make_room(where: Path) -> None:
    """Remove the files that were not used for the longest time, beyond MOST."""
    kept = [one for one in where.iterdir() if len(one.name) == 64]
    for one in sorted(kept, key=lambda one: one.stat().st_mtime)[: max(0, len(kept) - MOST)]:
        one.unlink()


def _closed(found: os.stat_result) -> bool:
    """Return whether a file or folder is this user's, and no other user may write to it."""
    if not hasattr(os, "getuid"):  # Windows: a user's own folder has an access list of its own
        return True
    return found.st_uid == os.getuid() and not stat.S_IMODE(found.st_mode) & OTHERS_WRITE
