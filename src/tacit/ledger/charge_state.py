"""What errors say of a charge: by default nothing was spent, which is not so once it was recorded."""

from __future__ import annotations

from collections.abc import Generator
from contextlib import contextmanager
from typing import Final

from tacit.errors import CHARGE_STANDS, NOTHING_SPENT, LedgerError

UNSURE: Final = "Whether it was recorded, the ledger says when it opens again; the same question is not charged twice."
"""State of an error in a commit that the disk or a server may have done nevertheless."""


@contextmanager
def charge_stands() -> Generator[None]:
    """Let errors say that a charge stands, where they would say that nothing was spent."""
    try:
        yield
    except LedgerError as problem:
        problem.state = CHARGE_STANDS if problem.state == NOTHING_SPENT else problem.state
        raise
