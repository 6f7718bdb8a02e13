"""One small fault: a line of the package as it stands, the same line gone wrong, and the tests that must see it."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """`before` occurs exactly once in the module, given by its full dotted name; at least one of `tests` must fail."""

    module: str
    before: str
    after: str
    why: str
    """What would be wrong for a user."""
    tests: tuple[str, ...]
    """Test files, or node ids."""
