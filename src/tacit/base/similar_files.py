"""The file that was probably meant, where a path leads to none."""

from __future__ import annotations

import os

from tacit.errors import nearest


def similar_file(path: str | os.PathLike[str], ending: str) -> str | None:
    """Return the path beside this one whose name is closest to it, of files with an ending; None where none is close.

    >>> similar_file("nowhere/people.tml", ".toml") is None
    True
    """
    folder, name = os.path.split(os.fspath(path))
    try:
        names = sorted(one for one in os.listdir(folder or ".") if one.endswith(ending) and one != name)
    except (OSError, ValueError):  # no such folder, or a null byte in its name
        return None
    found = nearest(name, names)
    return None if found is None else os.path.join(folder, found)
