"""What a room of a method of ours has: the files by which a question is asked, answered, and read from disk."""

from __future__ import annotations

from pathlib import Path

import pytest

import tacit
from tacit.release.registry import METHODS, Method

NEEDED = {"query.py", "design.py", "mechanism.py", "estimate.py", "stored.py"}
"""`stored.py` says what a document must say to be a release of this kind: without it, anything well-formed passes."""


@pytest.mark.parametrize("method", METHODS, ids=lambda one: one.room)
def test_a_room_has_every_file_it_needs(method: Method) -> None:
    folder = Path(tacit.__file__).parent / "method" / method.room
    assert {path.name for path in folder.glob("*.py")} >= NEEDED


def test_every_room_is_registered() -> None:
    folders = {path.parent.name for path in (Path(tacit.__file__).parent / "method").glob("*/query.py")}
    assert folders == {one.room for one in METHODS}
