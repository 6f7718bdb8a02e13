"""The files of a ledger: made with mode 0600, on a local disk; left-over logs and journals beside them."""

from __future__ import annotations

import os
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Final

from tacit.errors import LedgerError

NETWORK: Final = frozenset(
    {"nfs", "nfs4", "cifs", "smb", "smb2", "smb3", "smbfs", "fuse.sshfs", "afs", "ncpfs", "ceph"}
)
"""File systems whose locks SQLite cannot rely on."""
JOURNAL: Final = bytes.fromhex("d9d505f920a163d7")
"""The first bytes of an SQLite rollback journal."""


def size_of(path: Path) -> int:
    """Return the bytes of a file without opening it, 0 where there is none; LedgerError L06 where it cannot be reached.

    Closing any handle of a file drops the POSIX locks that SQLite holds on it in this process.
    """
    try:
        return path.stat().st_size
    except FileNotFoundError:
        return 0
    except (OSError, ValueError) as problem:
        words = getattr(problem, "strerror", None) or "not a path"
    raise LedgerError(f"ledger {path} cannot be reached: {words}.", code="L06", hint="check path and rights")


def refuse_left_over(path: Path) -> None:
    """Raise LedgerError L10 where an empty or missing ledger has a write-ahead log or a journal of existing pages."""
    wal, journal = Path(f"{path}-wal"), Path(f"{path}-journal")
    found = wal if size_of(wal) > 0 else journal if _has_pages(journal) else None
    if found is not None:
        message = f"{path} is empty, yet {found} lies beside it: this is no new ledger, it may have lost its file."
        hint = f"bring {path.name} back; if it is gone on purpose, remove {found.name} too"
        raise LedgerError(message, code="L10", hint=hint)


def refuse_links(path: Path) -> None:
    """Raise LedgerError L92 where the file of a ledger has several names, which are hard links.

    SQLite finds the journal of an interrupted commit by the name that the file was opened under.  Under another name
    the commit would count, and later be undone under the first one: a charge whose answer was given would be lost.
    """
    try:
        names = path.stat().st_nlink
    except OSError:  # a file that is gone, or cannot be reached, is refused when it is opened
        return
    if names > 1:
        message = f"the file of ledger {path} has {names} names (hard links), under which charges may be lost."
        raise LedgerError(message, code="L92", hint="keep one name; a copy: tacit budget LEDGER --backup FILE")


def _has_pages(journal: Path) -> bool:
    """Return whether a journal belongs to a file that had pages (its header counts them; an empty file has none)."""
    try:
        with journal.open("rb") as file:
            head = file.read(20)
    except OSError:
        return False
    # bytes 16 to 19 of a journal: the pages of the file before the transaction (SQLite file format, rollback journal)
    return head[:8] == JOURNAL and int.from_bytes(head[16:20], "big") > 0


def make_file(path: Path) -> None:
    """Make an empty file of mode 0600 and flush its name to the disk, unless another process made it first."""
    try:
        # the mode is set at creation, so others never have access; a file that is new holds no locks for close to drop
        os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        flush_folder(path)
        return
    except FileExistsError:
        return
    except OSError as problem:
        words = problem.strerror
    raise LedgerError(
        f"ledger {path} cannot be made: {words}.", code="L06", hint="a folder that exists and may be written"
    )


def flush_folder(path: Path) -> None:
    """Flush the names in a file's folder to the disk."""
    folder = os.open(path.parent, os.O_RDONLY)
    try:
        os.fsync(folder)
    finally:
        os.close(folder)


@contextmanager
def copied(target: Path) -> Generator[Path]:
    """Make a file of mode 0600 beside `target`, which gets its name when the block ends; LedgerError L16 if it cannot.

    No existing file is overwritten, and a block that raises leaves no file.
    """
    # in the same folder, hence on the same file system: a link or a rename needs no copy
    temporary = target.with_name(f".{target.name}.{os.getpid()}.part")
    words = None
    try:
        refuse_existing(target)
        os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
        yield temporary
        _named(temporary, target)
    except OSError as problem:
        words = problem.strerror or "no reason was given"
    finally:
        # after the link this removes the second name only; after a rename there is nothing to remove
        with suppress(OSError):
            os.unlink(temporary)
    # raised outside the handler, so that the error has no cause or context
    if words is not None:
        raise LedgerError(f"backup {target} cannot be made: {words}.", code="L16", hint="another path")


def refuse_existing(target: Path) -> None:
    """Raise LedgerError L16 where `target` exists."""
    if os.path.lexists(target):
        raise LedgerError(f"backup {target} is there already.", code="L16", hint="a new name for each backup")


def _named(temporary: Path, target: Path) -> None:
    """Flush the bytes to the disk, then name the file by a link, which never replaces an existing one."""
    # bytes first, name second: after a loss of power the name never belongs to a file that is half written
    handle = os.open(temporary, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
    try:
        os.link(temporary, target)
    except FileExistsError:
        refuse_existing(target)
    except OSError:  # a file system without links
        refuse_existing(target)
        # rename replaces: a file made since the check would be lost, which only a link excludes
        os.rename(temporary, target)
    flush_folder(target)


def refuse_network(path: Path, mounts: str | None = None) -> None:
    """Raise LedgerError L04 where `path` is on a network file system: unreliable locks could lose charges.

    mounts: text of /proc/self/mounts, read where not given.
    """
    if mounts is None:
        try:
            mounts = Path("/proc/self/mounts").read_text(encoding="utf-8", errors="surrogateescape")
        except OSError:  # no such list on this system: nothing can be said of the file system
            return
    place, kind = "", ""
    target = _resolved(path)
    for line in mounts.splitlines():
        _, mounted, found, *_ = [*line.split(" "), "", "", ""]
        # the list escapes a space as octal 040, since spaces separate its fields
        mounted = mounted.replace("\\040", " ")
        inside = target == mounted or target.startswith(mounted.rstrip("/") + "/")
        # the innermost mount holds the file; of two on one place the later hides the earlier
        if inside and len(mounted) >= len(place):
            place, kind = mounted, found
    if kind in NETWORK:
        message = f"ledger {path} is on a network file system ({kind}), whose locks are not reliable."
        raise LedgerError(message, code="L04", hint='a local disk, or ledger="postgresql://server/ledger"')


def _resolved(path: Path) -> str:
    """Return the absolute path without symbolic links; LedgerError L06 for a text that is no path."""
    try:
        return str(path.resolve())
    except (OSError, RuntimeError, ValueError):  # links in a circle, a NUL
        pass
    raise LedgerError(f"ledger {str(path)!r} is no path.", code="L06", hint='ledger="people.ledger"')


def address(path: Path, options: str) -> str:
    """Return SQLite's URI of a file, whose name may be any bytes."""
    from urllib.parse import quote

    return f"file:{quote(os.fsencode(path.resolve()))}?{options}"
