"""The file that was probably meant, where a path leads to none."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from tacit.errors import nearest


def similar_file(path: str | PathLike[str], ending: str) -> str | None:
    """Return the path beside this one whose name is closest to it, of files with an ending; None where none is close.

    >>> similar_file("nowhere/people.tml", ".toml") is None
    True
    """
    meant = Path(path)
    try:
        names = sorted(one.name for one in meant.parent.iterdir() if one.suffix == ending and one.name != meant.name)
    except (OSError, ValueError):  # no such folder, or a null byte in its name
        return None
    found = nearest(meant.name, names)
    return None if found is None else str(meant.parent / found)
